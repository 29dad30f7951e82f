// SPDX-License-Identifier: MIT
// What does it cost to feed a tensor core?
//
// Products of what lies in shared memory already, again and again: nothing is copied, and no block
// waits for another. The versions differ in how factors come to the tensor core.

#include "../../../common/common.cuh"
#include "../product.cuh"

constexpr unsigned kWarp = 32, kGroup = 128, kThreads = 256;
constexpr unsigned kRows = 128, kTerms = 64;  // of a block's tile
constexpr unsigned kTermsOfProduct = 16, kPiece = 8;
constexpr unsigned kEightRows = 8 * kBox * sizeof(Bf16);

// Rows of 128 bytes. Swizzled: in row r, the piece of 16 bytes with number p lies at place p ^ r %
// 8. Otherwise a column of pieces lies in the same banks.
template <bool kSwizzled>
struct alignas(1024) Box {
  Bf16 at[kBox][kBox];

  __device__ Bf16* piece(unsigned row, unsigned number) {
    return &at[row][(kSwizzled ? number ^ row % 8 : number) * kPiece];
  }
};

// 64 x 64 elements, by all threads of the block.
template <bool kSwizzled>
__device__ void bring(Box<kSwizzled>& box, const Bf16Matrix& m, unsigned row, unsigned column) {
  constexpr unsigned kInRow = kBox / kPiece;
  for (unsigned i = threadIdx.x; i < kBox * kInRow; i += blockDim.x)
    *reinterpret_cast<uint4*>(box.piece(i / kInRow, i % kInRow)) =
        *reinterpret_cast<const uint4*>(&m.at(row + i / kInRow, column + i % kInRow * kPiece));
}

template <bool kSwizzled, unsigned kColumns>
struct Factors {
  Box<kSwizzled> a[kRows / kBox], b[kColumns / kBox];

  __device__ void bring_all(const Bf16Matrix& of_a, const Bf16Matrix& of_b) {
    for (unsigned i = 0; i < kRows / kBox; ++i) bring(a[i], of_a, i * kBox, 0);
    for (unsigned i = 0; i < kColumns / kBox; ++i) bring(b[i], of_b, 0, i * kBox);
    ptx::fence_async();  // wgmma sees what this thread has stored
    __syncthreads();     // and what all have
  }
};

// ---- by warps ----------------------------------------------------------------------------------

// Eight warps in two rows of four, 64 x 32 elements each: 4 x 4 products of 16 terms.
constexpr unsigned kColumnsOfWarps = 128, kDown = 4, kAcross = 4;
enum class From { kRegisters, kShared };

// The factors of 16 terms, from `first` on: 6 loads of 4 wavefronts each where none conflicts.
template <bool kSwizzled>
__device__ void load_factors(unsigned (&of_a)[kDown][4], unsigned (&of_b)[kAcross / 2][4],
                             Factors<kSwizzled, kColumnsOfWarps>& factors, unsigned first) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
#pragma unroll
  for (unsigned i = 0; i < kDown; ++i)
    ptx::load_matrices(of_a[i],
                       factors.a[warp / 4].piece(i * 16 + lane % 16, first / kPiece + lane / 16));
#pragma unroll
  for (unsigned j = 0; j < kAcross / 2; ++j)
    ptx::load_matrices_transposed(
        of_b[j],
        factors.b[warp % 4 / 2].piece(first + lane % 16, warp % 2 * kAcross + 2 * j + lane / 16));
}

template <From kFrom, bool kSwizzled>
__global__ void __launch_bounds__(kThreads, 2)
    multiply_by_warps(float* d, Bf16Matrix a, Bf16Matrix b, unsigned turns) {
  extern __shared__ __align__(1024) uint4 dynamic[];
  auto& factors = *reinterpret_cast<Factors<kSwizzled, kColumnsOfWarps>*>(dynamic);
  factors.bring_all(a, b);
  float sum[kDown][kAcross][4] = {};
  unsigned of_a[kDown][4], of_b[kAcross / 2][4];
  load_factors(of_a, of_b, factors, 0);
  for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (unsigned first = 0; first < kTerms; first += kTermsOfProduct) {
      if (kFrom == From::kShared) load_factors(of_a, of_b, factors, first);
#pragma unroll
      for (unsigned i = 0; i < kDown; ++i) {
#pragma unroll
        for (unsigned j = 0; j < kAcross; ++j) {
          const unsigned pair_of_b[2] = {of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]};
          ptx::mma_m16n8k16(sum[i][j], of_a[i], pair_of_b);
        }
      }
    }
  }
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  float* const tile = d + std::size_t{blockIdx.x} * kRows * kColumnsOfWarps;
#pragma unroll
  for (unsigned e = 0; e < kDown * kAcross * 4; ++e) {
    const unsigned row = warp / 4 * 64 + e / (kAcross * 4) * 16 + lane / 4 + e % 4 / 2 * 8;
    const unsigned column = warp % 4 * 32 + e / 4 % kAcross * 8 + lane % 4 * 2 + e % 2;
    tile[row * kColumnsOfWarps + column] = sum[e / (kAcross * 4)][e / 4 % kAcross][e % 4];
  }
}

// ---- by groups of warps ------------------------------------------------------------------------

// Two groups, 64 x kN elements each. A product reads 64 x 16 elements of A and 16 x kN of B.
template <unsigned kN>
__global__ void __launch_bounds__(kThreads, 1)
    multiply_by_groups(float* d, Bf16Matrix a, Bf16Matrix b, unsigned turns) {
  extern __shared__ __align__(1024) uint4 dynamic[];
  auto& factors = *reinterpret_cast<Factors<true, kN>*>(dynamic);
  factors.bring_all(a, b);
  const unsigned group = threadIdx.x / kGroup;
  const std::uint64_t of_a = ptx::describe(&factors.a[group], sizeof(Box<true>), kEightRows);
  const std::uint64_t of_b = ptx::describe(factors.b, sizeof(Box<true>), kEightRows);
  float sums[kN / 2];
  for (unsigned turn = 0; turn < turns; ++turn) {
    ptx::wgmma_fence();
#pragma unroll
    for (unsigned i = 0; i < kTerms / kTermsOfProduct; ++i)
      ptx::wgmma_m64k16<kN>(sums, of_a + i * (kTermsOfProduct * sizeof(Bf16) / 16),
                            of_b + i * (2 * kEightRows / 16), turn > 0 || i > 0);
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();  // the turn before has ended
  }
  ptx::wgmma_wait<0>();
  ptx::wgmma_hold(sums);
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x % kGroup / kWarp;
  float* const tile = d + std::size_t{blockIdx.x} * kRows * kN;
#pragma unroll
  for (unsigned e = 0; e < kN / 2; ++e) {
    const unsigned row = group * 64 + warp * 16 + lane / 4 + e % 4 / 2 * 8;
    tile[row * kN + e / 4 * 8 + lane % 4 * 2 + e % 2] = sums[e];
  }
}

// ---- the versions ------------------------------------------------------------------------------

using Kernel = void (*)(float*, Bf16Matrix, Bf16Matrix, unsigned);
struct Way {
  const char *name, *summary;
  Kernel kernel;
  unsigned columns, blocks_per_sm;
  bool needs_hopper, is_registers, is_zeros;
};
const Way kWays[] = {
    {"registers", "mma, of factors that stay in registers",
     multiply_by_warps<From::kRegisters, true>, 128, 2, false, true, false},
    {"ldmatrix", "mma, of factors that ldmatrix loads each time",
     multiply_by_warps<From::kShared, true>, 128, 2, false, false, false},
    {"conflicts", "the same, where eight rows lie in the same banks",
     multiply_by_warps<From::kShared, false>, 128, 2, false, false, false},
    {"groups_64", "wgmma of 64 x 64", multiply_by_groups<64>, 64, 1, true, false, false},
    {"groups_128", "wgmma of 64 x 128", multiply_by_groups<128>, 128, 1, true, false, false},
    {"groups_256", "wgmma of 64 x 256", multiply_by_groups<256>, 256, 1, true, false, false},
    {"groups_256_zeros", "the same, of zeros", multiply_by_groups<256>, 256, 1, true, false, true},
};

std::vector<float> values(std::size_t count, bool is_zeros, std::uint64_t seed) {
  return is_zeros ? std::vector<float>(count)
                  : to_floats(to_bf16(random_floats(count, -1, 1, seed)));
}

// The same product in all blocks, `turns` times.
struct Products {
  Way way;
  unsigned blocks, turns;
  std::vector<float> host_a = values(kRows * kTerms, way.is_zeros, 1);
  std::vector<float> host_b = values(kTerms * way.columns, way.is_zeros, 2);
  TensorProduct one{kRows, way.columns, kTerms, host_a, host_b};
  DeviceArray<float> sums{std::size_t{blocks} * kRows * way.columns};

  double amount() const { return 2.0 * turns * sums.size() * kTerms; }
  void poison() const { sums.poison(); }
  void launch(unsigned turns_now) const {
    const std::size_t bytes = (kRows + way.columns) * kTerms * sizeof(Bf16);
    CUDA_CHECK(cudaFuncSetAttribute(way.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
    way.kernel<<<blocks, kThreads, bytes>>>(sums, one.a, one.b, turns_now);
  }

  // After two turns all sums are twice those of the product: of its first 16 terms four times as
  // many where factors stay. The bound is eight times that of a product that is rounded to BF16.
  bool is_right() const {
    poison();
    launch(2);
    CUDA_CHECK_LAUNCH();
    const std::vector<float> two = sums.download();
    std::vector<double> expected(two.size());
    const std::size_t tile = one.expected.size();
    for (std::size_t i = 0; i < two.size(); ++i)
      expected[i] = 2 * (way.is_registers ? 4 * of_first_terms(i % tile) : one.expected[i % tile]);
    return all_close(way.name, two, expected,
                     [&](std::size_t i) { return 8 * one.tolerance[i % tile] + 1e-6; });
  }

  double of_first_terms(std::size_t i) const {
    double sum = 0;
    for (unsigned k = 0; k < kTermsOfProduct; ++k)
      sum += 1.0 * host_a[i / way.columns * kTerms + k] * host_b[k * way.columns + i % way.columns];
    return sum;
  }
};

__global__ void ask_for_groups(bool* has) { *has = ptx::kSm90a; }
bool has_groups() {
  const DeviceArray<bool> has(1);
  ask_for_groups<<<1, 1>>>(has);
  CUDA_CHECK_LAUNCH();
  bool answer = false;
  CUDA_CHECK(cudaMemcpy(&answer, has, sizeof answer, cudaMemcpyDeviceToHost));
  return answer;
}

int main(int argc, char** argv) {
  std::size_t turns = kOnGpu ? 20000 : 2;
  const Options opt(argc, argv, "16_products_alone", "what does it cost to feed a tensor core?",
                    {{"turns", &turns, 1, 1000000, "times 64 terms"}});
  ResultTable table(opt, std::size_t{64} << 20);
  table.rate_in("GFLOP/s", "peak", peak_bf16_gflops(table.device));
  const bool with_groups = opt.list || has_groups();
  const auto sms = static_cast<unsigned>(kOnGpu ? table.device.multiProcessorCount : 1);
  for (const Way& way : kWays) {
    if (way.needs_hopper && !with_groups) {
      table.note("left out, since this GPU or build has no products of warp groups: ", way.name);
    } else if (table.wants(way.name, way.summary)) {
      const Products products{way, sms * way.blocks_per_sm, static_cast<unsigned>(turns)};
      table.each_launch_does(products.amount());
      table.add(
          way.name, products, [&] { products.launch(products.turns); },
          [&] { return products.is_right(); }, way.summary);
    }
  }
  return table.finish();
}
