// SPDX-License-Identifier: MIT
// What do fewer registers per thread cost, and what are the blocks worth that then fit besides?

#include <algorithm>
#include <vector>

#include "../../../common/common.cuh"

constexpr unsigned kHoldingBlock = 128;  // threads per block
constexpr unsigned kHeld = 64;           // ints that a thread holds

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
      (static_cast<std::size_t>(blockIdx.x) * kHeld + k) * blockDim.x + threadIdx.x;
  return i < n ? x[i] : 0;
}

// The sum of |a - b| over all pairs of a thread's values: 2016 pairs, every value is read 63 times.
// The second bound promises that an SM is to hold so many blocks: the compiler keeps the promise by
// using no more registers than they leave each thread.
template <unsigned kBlocks>
__global__ void __launch_bounds__(kHoldingBlock, std::min(kBlocks, kMostBlocks))
    sum_pair_distances(const int* x, std::size_t n, unsigned* sums) {
  int held[kHeld];
#pragma unroll
  for (unsigned k = 0; k < kHeld; ++k) held[k] = element_or_zero(x, n, k);
  unsigned sum = 0;
#pragma unroll
  for (unsigned a = 0; a < kHeld; ++a) {
#pragma unroll
    for (unsigned b = a + 1; b < kHeld; ++b) sum += abs(held[a] - held[b]);
  }
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

// By another way: sorted, value k is the larger one in k pairs and the smaller one in the others.
unsigned sum_of_distances(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<long long>(values.size()) - 1;
  long long sum = 0;
  for (long long k = 0; k <= last; ++k) sum += (2 * k - last) * values[std::size_t(k)];
  return static_cast<unsigned>(sum);
}

// What each thread has to leave: the sum over the values that it holds.
std::vector<unsigned> sums_of_threads(const std::vector<int>& x, unsigned grid) {
  std::vector<std::vector<int>> held(std::size_t{grid} * kHoldingBlock);
  for (std::size_t i = 0; i < x.size(); ++i) {
    held[i / (kHeld * kHoldingBlock) * kHoldingBlock + i % kHoldingBlock].push_back(x[i]);
  }
  std::vector<unsigned> sums;
  for (std::vector<int>& values : held) {
    values.resize(kHeld, 0);  // past the end of x
    sums.push_back(sum_of_distances(values));
  }
  return sums;
}

// The same kernel, named after the most registers that its bound leaves on an SM of 65536.
struct BoundVersion {
  const char* name;
  void (*kernel)(const int* x, std::size_t n, unsigned* sums);
};
const BoundVersion kVersions[] = {
    {"pairs_255", sum_pair_distances<1>}, {"pairs_168", sum_pair_distances<3>},
    {"pairs_128", sum_pair_distances<4>}, {"pairs_96", sum_pair_distances<5>},
    {"pairs_80", sum_pair_distances<6>},  {"pairs_72", sum_pair_distances<7>},
    {"pairs_64", sum_pair_distances<8>},  {"pairs_56", sum_pair_distances<9>},
    {"pairs_48", sum_pair_distances<10>}, {"pairs_40", sum_pair_distances<12>},
    {"pairs_32", sum_pair_distances<16>},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "12_launch_bounds", "what do fewer registers per thread cost?",
                    {{"n", &n, 1, 8_Gi, "ints"}});
  const Device device = open_device(opt);
  ResultTable table(opt, device, n * sizeof(int), n / kHeld * sizeof(unsigned),
                    {"registers", "local_bytes", "predicted", "by_api"});
  const std::vector<int> ints = random_ints(n, -1000, 1000, opt.seed);
  const unsigned grid = blocks_for(n, kHeld * kHoldingBlock);
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
        v.name, 0, [&] { sums.poison(); }, [&] { v.kernel<<<grid, kHoldingBlock>>>(x, n, sums); },
        [&] {
          return all_equal(v.name, sums.download().data(), expected.data(), sums.size()) &&
                 predicted == by_api;
        },
        "64 values for a thread to hold");
  }
  return table.finish();
}
