// SPDX-License-Identifier: MIT
// What do spills cost in a loop, where every round needs the spilled variables again?

#include <algorithm>
#include <numeric>
#include <vector>

#include "../../../common/common.cuh"

constexpr unsigned kHoldingBlock = 128;  // threads per block
constexpr unsigned kCells = 160;         // of a rod: more than half of the 255 registers
constexpr unsigned kRounds = 32;

// Threads that an SM holds: 2048 on some chips, at least 1024 on all others.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ <= 720 || __CUDA_ARCH__ == 800 || \
    __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
constexpr unsigned kMostBlocks = 2048 / kHoldingBlock;
#else
constexpr unsigned kMostBlocks = 1024 / kHoldingBlock;
#endif

// Element k of this thread, or 0 past the end of x. Elements of neighbouring threads are
// neighbours.
__device__ int element_or_zero(const int* x, std::size_t n, unsigned k) {
  const std::size_t i =
      (static_cast<std::size_t>(blockIdx.x) * kCells + k) * blockDim.x + threadIdx.x;
  return i < n ? x[i] : 0;
}

// In every round each cell of a thread's rod becomes the sum of its neighbours; beyond the ends
// there are zeros. Leaves a sum in which every cell has a weight of its own.
template <unsigned kBlocks>
__global__ void __launch_bounds__(kHoldingBlock, std::min(kBlocks, kMostBlocks))
    sum_neighbours(const int* x, std::size_t n, unsigned rounds, unsigned* sums) {
  unsigned cell[kCells];
#pragma unroll
  for (unsigned k = 0; k < kCells; ++k) cell[k] = element_or_zero(x, n, k);
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    unsigned left = 0;
#pragma unroll
    for (unsigned k = 0; k < kCells; ++k) {
      const unsigned before = cell[k];
      cell[k] = left + (k + 1 < kCells ? cell[k + 1] : 0);
      left = before;
    }
  }
  unsigned sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kCells; ++k) sum += (k + 1) * cell[k];
  sums[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

// How many blocks an SM holds, as far as threads and registers decide. The registers of a warp are
// handed out in portions of 256, eight for each lane, and all lie in the same quarter of the SM.
int blocks_by_registers(const cudaDeviceProp& sm, int threads, int registers) {
  constexpr int kPortion = 256, kQuarters = 4;
  const int warps = (threads + 31) / 32;
  const int per_warp = (registers * 32 + kPortion - 1) / kPortion * kPortion;
  const int warps_to_start = (warps + kQuarters - 1) / kQuarters * kQuarters;
  if (registers > 255 || per_warp * warps_to_start > sm.regsPerBlock) return 0;
  const int warps_held = sm.regsPerMultiprocessor / kQuarters / per_warp * kQuarters;
  const int by_threads = sm.maxThreadsPerMultiProcessor / 32 / warps;
  return std::min({warps_held / warps, by_threads, sm.maxBlocksPerMultiProcessor});
}

// How much each cell of the beginning counts at the end. A round is a symmetric matrix, so the
// weights can go through the rounds in place of the cells. Beyond each end there is a zero.
std::vector<unsigned> weights_of_cells(unsigned rounds) {
  std::vector<unsigned> weights(kCells + 2, 0);
  std::iota(weights.begin() + 1, weights.end() - 1, 1u);
  for (unsigned round = 0; round < rounds; ++round) {
    const std::vector<unsigned> before = weights;
    for (unsigned k = 1; k <= kCells; ++k) weights[k] = before[k - 1] + before[k + 1];
  }
  return {weights.begin() + 1, weights.end() - 1};
}

// What each thread has to leave.
std::vector<unsigned> sums_of_threads(const std::vector<int>& x, unsigned grid) {
  const std::vector<unsigned> weights = weights_of_cells(kRounds);
  std::vector<unsigned> sums(std::size_t{grid} * kHoldingBlock, 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / kHoldingBlock;  // of kCells rows for each block
    const std::size_t thread = row / kCells * kHoldingBlock + i % kHoldingBlock;
    sums[thread] += weights[row % kCells] * static_cast<unsigned>(x[i]);
  }
  return sums;
}

// The same kernel, named after the most registers that its bound leaves on an SM of 65536.
struct BoundVersion {
  const char* name;
  void (*kernel)(const int* x, std::size_t n, unsigned rounds, unsigned* sums);
};
const BoundVersion kVersions[] = {
    {"rod_255", sum_neighbours<1>}, {"rod_168", sum_neighbours<3>}, {"rod_128", sum_neighbours<4>},
    {"rod_96", sum_neighbours<5>},  {"rod_80", sum_neighbours<6>},  {"rod_64", sum_neighbours<8>},
    {"rod_32", sum_neighbours<16>},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "12_spilled_cells", "what do spills cost in a loop?",
                    {{"n", &n, 1, 8_Gi, "ints"}});
  const Device device = open_device(opt);
  ResultTable table(opt, device, n * sizeof(int), n / kCells * sizeof(unsigned),
                    {"registers", "local_bytes", "predicted", "by_api"});
  const std::vector<int> ints = random_ints(n, -1000, 1000, opt.seed);
  const unsigned grid = blocks_for(n, kCells * kHoldingBlock);
  const std::vector<unsigned> expected = sums_of_threads(ints, grid);
  const DeviceArray<int> x(ints);
  const DeviceArray<unsigned> sums(expected.size());
  for (const BoundVersion& v : kVersions) {
    cudaFuncAttributes frame;
    CUDA_CHECK(cudaFuncGetAttributes(&frame, v.kernel));
    const int predicted = blocks_by_registers(device, kHoldingBlock, frame.numRegs);
    const auto held = static_cast<int>(blocks_held(device, v.kernel, kHoldingBlock));
    const int by_api = held / device.multiProcessorCount;
    table.next_row_has({std::to_string(frame.numRegs), std::to_string(frame.localSizeBytes),
                        std::to_string(predicted), std::to_string(by_api)});
    table.add(
        v.name, 0, [&] { sums.poison(); },
        [&] { v.kernel<<<grid, kHoldingBlock>>>(x, n, kRounds, sums); },
        [&] {
          return all_equal(v.name, sums.download().data(), expected.data(), sums.size()) &&
                 predicted == by_api;
        },
        "a rod of 160 cells");
  }
  return table.finish();
}
