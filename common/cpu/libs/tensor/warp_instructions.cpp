// SPDX-License-Identifier: MIT
#include "warp_instructions.h"

#include <cstdint>

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
  bool transposed;
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

/// The figures of the PTX ISA: a register of a and b holds `kInOne` neighbours along k, of `kBits`
/// bits each. With row = lane / 4 and k = lane % 4 * kInOne: a[0] is of row and k, a[1] of row + 8,
/// a[2] and a[3] of k + 4 * kInOne; b[0] of k and column lane / 4, b[1] of k + 4 * kInOne; d[0] and
/// d[1] are of row and columns lane % 4 * 2 and the next, d[2] and d[3] of row + 8.
template <TensorFormat kFormat, unsigned kInOne>
void multiply_for_all(const std::uint64_t* lanes) {
  constexpr unsigned kK = 8 * kInOne, kBits = 32 / kInOne;
  constexpr std::uint32_t kMask = kBits == 32 ? ~0u : (1u << kBits % 32) - 1;
  // Of an instruction with a larger k, a block of 16 is added after the other: of 8 bits, which
  // Hopper has no mma for, the lower two of each register's four as halves, then the upper two.
  // They begin with zero, and d is added as floats are.
  constexpr unsigned kBlock = kK < 16 ? kK : 16;
  constexpr bool kInHalves = kFormat == TensorFormat::kE4m3InHalves;
  const auto place_of = [](unsigned k) {
    return kInHalves ? k % 4 / 2 * kBlock + k / 4 * 2 + k % 2 : k;
  };
  float a_values[kK / kBlock][16 * kBlock], a_exponents[kK / kBlock][16 * kBlock];
  float b_values[kK * 8], b_exponents[kK * 8], d[16 * 8];
  const Factors b{b_values, b_exponents};
  for (unsigned i = 0; i < 32; ++i) {
    const auto& lane = lane_at<LaneOfProduct>(lanes[i]);
    const unsigned row = i / 4, first = i % 4 * kInOne;
    for (unsigned one = 0; one < kInOne; ++one) {
      for (unsigned r = 0; r < 4; ++r) {
        const unsigned k = place_of(first + one + r / 2 * 4 * kInOne);
        const Factors a{a_values[k / kBlock], a_exponents[k / kBlock]};
        a.put((row + r % 2 * 8) * kBlock + k % kBlock, kFormat, lane.a[r] >> one * kBits & kMask);
      }
      for (unsigned r = 0; r < 2; ++r) {
        const unsigned k = place_of(first + one + r * 4 * kInOne);
        b.put(k * 8 + row, kFormat, lane.b[r] >> one * kBits & kMask);
      }
    }
    for (unsigned r = 0; r < 4; ++r)
      d[(row + r / 2 * 8) * 8 + i % 4 * 2 + r % 2] = kInHalves ? 0.0f : lane.d[r];
  }
  for (unsigned block = 0; block < kK / kBlock; ++block) {
    const unsigned begin = block * kBlock * 8;
    add_products(d, {a_values[block], a_exponents[block]}, {b_values + begin, b_exponents + begin},
                 16, 8, kBlock);
  }
  for (unsigned i = 0; i < 32; ++i) {
    float* const mine = lane_at<LaneOfProduct>(lanes[i]).d;
    for (unsigned r = 0; r < 4; ++r) {
      const float sum = d[(i / 4 + r / 2 * 8) * 8 + i % 4 * 2 + r % 2];
      mine[r] = kInHalves ? sum + mine[r] : sum;
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

void check_matrix_row(const void* row, Site site) {
  if (current_thread == nullptr) die("ldmatrix called outside of a kernel");
  if (reinterpret_cast<std::uintptr_t>(row) % sizeof(MatrixRow) != 0) {
    stop_grid(report_here("ldmatrix of a row at a misaligned address", site,
                          cudaErrorMisalignedAddress, {format("%p is no multiple of 16", row)},
                          "a row is 16 bytes: align the array, alignas(16), and make its rows "
                          "multiples of 8 elements"));
  }
  if (is_shared_address(current_block, row)) return;
  stop_grid(report_here("ldmatrix of a row that is not in shared memory of this block", site,
                        cudaErrorIllegalAddress, {}, "each lane names a row in shared memory"));
}

void exchange_rows(unsigned (&r)[4], const MatrixRow& row, bool transposed, Site site) {
  const auto for_all = transposed ? exchange_for_all<true> : exchange_for_all<false>;
  meet(WarpOperation::kTensorLoad, LaneOfLoad{{for_all}, r, row, transposed}, site);
}

}  // namespace cuda_cpu
