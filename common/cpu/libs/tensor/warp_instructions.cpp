// SPDX-License-Identifier: MIT
#include "warp_instructions.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "../../engine/arithmetic/device_functions.h"
#include "../../engine/meeting/warp.h"
#include "../../engine/memory/shared.h"
#include "../../engine/state/leaving.h"
#include "../../types/error_codes.h"

namespace cuda_cpu {
namespace {

struct LaneOfProduct : LanesWork {
  float* d;
  const unsigned* a;
  const unsigned* b;
};

struct LaneOfLoad : LanesWork {
  unsigned* r;
  MatrixRow row;
};

struct LaneOfStore : LanesWork {
  const unsigned* r;
  MatrixRow* row;
};

template <class Lane>
const Lane& lane_at(std::uint64_t address) {
  return *reinterpret_cast<const Lane*>(static_cast<std::uintptr_t>(address));
}

template <class Lane>
void meet(WarpOperation operation, const Lane& lane, Site site) {
  const auto address = reinterpret_cast<std::uintptr_t>(&lane);
  whole_warp_collective(operation, std::uint64_t{address}, site.file, site.line);
}

/// As a GPU adds them: it has one NaN.
float sum_of_floats(float x, float y) {
  const float sum = x + y;
  return std::isnan(sum) ? bit_copy<float>(0x7fffffffu) : sum;
}

/// The figures of the PTX ISA: a register of a and b holds `kInOne` neighbours along k, of `kBits`
/// bits each. With row = lane / 4 and k = lane % 4 * kInOne: a[0] is of row and k, a[1] of row + 8,
/// a[2] and a[3] of k + 4 * kInOne; b[0] of k and column lane / 4, b[1] of k + 4 * kInOne; d[0] and
/// d[1] are of row and columns lane % 4 * 2 and the next, d[2] and d[3] of row + 8.
template <TensorFormat kFormat, unsigned kInOne>
void multiply_for_all(const std::uint64_t* lanes) {
  constexpr unsigned kK = 8 * kInOne, kBits = 32 / kInOne;
  constexpr std::uint32_t kMask = kBits == 32 ? ~0u : (1u << kBits % 32) - 1;
  // Hopper has no instruction for FP8: of each register the lower two become halves, for a product
  // of 16 with nothing added, then the upper two, for one that adds to it; then it adds d.
  constexpr unsigned kBlocks = kInOne == 4 ? 2 : 1, kBlock = kK / kBlocks, kPair = kInOne / kBlocks;
  const auto block_of = [](unsigned k) { return k / kPair % kBlocks; };
  const auto place_of = [](unsigned k) { return k / kInOne * kPair + k % kPair; };
  float a_values[kBlocks][16 * kBlock], a_exponents[kBlocks][16 * kBlock];
  float b_values[kBlocks][kBlock * 8], b_exponents[kBlocks][kBlock * 8], d[16 * 8], sums[16 * 8];
  for (unsigned i = 0; i < 32; ++i) {
    const auto& lane = lane_at<LaneOfProduct>(lanes[i]);
    const unsigned row = i / 4, first = i % 4 * kInOne;
    for (unsigned one = 0; one < kInOne; ++one) {
      for (unsigned r = 0; r < 4; ++r) {
        const unsigned k = first + one + r / 2 * 4 * kInOne, block = block_of(k);
        const Factors a{a_values[block], a_exponents[block]};
        a.put((row + r % 2 * 8) * kBlock + place_of(k), kFormat, lane.a[r] >> one * kBits & kMask);
      }
      for (unsigned r = 0; r < 2; ++r) {
        const unsigned k = first + one + r * 4 * kInOne, block = block_of(k);
        const Factors b{b_values[block], b_exponents[block]};
        b.put(place_of(k) * 8 + row, kFormat, lane.b[r] >> one * kBits & kMask);
      }
    }
    for (unsigned r = 0; r < 4; ++r) d[(row + r / 2 * 8) * 8 + i % 4 * 2 + r % 2] = lane.d[r];
  }
  for (unsigned i = 0; i < 16 * 8; ++i) sums[i] = kBlocks == 1 ? d[i] : 0.0f;
  for (unsigned block = 0; block < kBlocks; ++block) {
    add_products(sums, {a_values[block], a_exponents[block]}, {b_values[block], b_exponents[block]},
                 16, 8, kBlock);
  }
  for (unsigned i = 0; i < 32; ++i) {
    float* const mine = lane_at<LaneOfProduct>(lanes[i]).d;
    for (unsigned r = 0; r < 4; ++r) {
      const unsigned at = (i / 4 + r / 2 * 8) * 8 + i % 4 * 2 + r % 2;
      mine[r] = kBlocks == 1 ? sums[at] : sum_of_floats(d[at], sums[at]);
    }
  }
}

/// Lane i has row i % 8 of matrix i / 8. In register j it gets two neighbours of matrix j: of row
/// i / 4, or transposed of column i / 4.
template <bool kTransposed>
void exchange_for_all(const std::uint64_t* lanes) {
  const auto element = [&](unsigned matrix, unsigned row, unsigned column) {
    const MatrixRow& of_lane = lane_at<LaneOfLoad>(lanes[8 * matrix + row]).row;
    return of_lane.words[column / 2] >> column % 2 * 16 & 0xffff;
  };
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned one = i / 4, two = i % 4 * 2;
    for (unsigned j = 0; j < 4; ++j) {
      lane_at<LaneOfLoad>(lanes[i]).r[j] =
          kTransposed ? element(j, two, one) | element(j, two + 1, one) << 16
                      : element(j, one, two) | element(j, one, two + 1) << 16;
    }
  }
}

/// The way back of exchange_for_all<true>.
void collect_for_all(const std::uint64_t* lanes) {
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned matrix = i / 8, row = i % 8;
    const auto element = [&](unsigned column) {
      return lane_at<LaneOfStore>(lanes[4 * column + row / 2]).r[matrix] >> row % 2 * 16 & 0xffff;
    };
    MatrixRow* const whole = lane_at<LaneOfStore>(lanes[i]).row;
    for (unsigned w = 0; w < 4; ++w) whole->words[w] = element(2 * w) | element(2 * w + 1) << 16;
  }
}

}  // namespace

void multiply_in_warp(TensorFormat format, float (&d)[4], const unsigned (&a)[4],
                      const unsigned (&b)[2], Site site) {
  const auto for_all =
      format == TensorFormat::kBfloat16 ? multiply_for_all<TensorFormat::kBfloat16, 2>
      : format == TensorFormat::kHalf   ? multiply_for_all<TensorFormat::kHalf, 2>
      : format == TensorFormat::kTf32   ? multiply_for_all<TensorFormat::kTf32, 1>
                                        : multiply_for_all<TensorFormat::kE4m3InHalves, 4>;
  meet(WarpOperation::kTensorMultiply, LaneOfProduct{{for_all}, d, a, b}, site);
}

void check_matrix_row(const void* row, Site site, const char* instruction) {
  if (current_thread == nullptr) die("%s called outside of a kernel", instruction);
  if (reinterpret_cast<std::uintptr_t>(row) % sizeof(MatrixRow) != 0) {
    stop_grid(report_here(instruction + std::string(" of a row at a misaligned address"), site,
                          cudaErrorMisalignedAddress, {format("%p is no multiple of 16", row)},
                          "a row is 16 bytes: align the array, alignas(16), and make its rows "
                          "multiples of 8 elements"));
  }
  if (is_shared_address(current_block, row)) return;
  stop_grid(
      report_here(instruction + std::string(" of a row that is not in shared memory of this block"),
                  site, cudaErrorIllegalAddress, {}, "each lane names a row in shared memory"));
}

void exchange_rows(unsigned (&r)[4], const MatrixRow& row, bool transposed, Site site) {
  const auto for_all = transposed ? exchange_for_all<true> : exchange_for_all<false>;
  meet(WarpOperation::kTensorLoad, LaneOfLoad{{for_all}, r, row}, site);
}

MatrixRow row_of_columns(const unsigned (&r)[4], Site site) {
  MatrixRow row;
  meet(WarpOperation::kTensorStore, LaneOfStore{{collect_for_all}, r, &row}, site);
  return row;
}

}  // namespace cuda_cpu
