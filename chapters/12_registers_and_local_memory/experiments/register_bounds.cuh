// SPDX-License-Identifier: MIT
// Chapter 12: what the experiments on launch bounds need around their kernels: the blocks that
// registers leave room for, and a row with them.
#pragma once

#include "../../../common/common.cuh"

constexpr unsigned kHoldingBlock = 128;  ///< threads per block

// Threads that an SM holds: 2048 on some chips, at least 1024 on all others.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ <= 720 || __CUDA_ARCH__ == 800 || \
    __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
constexpr unsigned kMostBlocks = 2048 / kHoldingBlock;
#else
constexpr unsigned kMostBlocks = 1024 / kHoldingBlock;
#endif

/// Element k of the kEach that a thread holds, or 0 past the end of x. Elements of neighbouring
/// threads are neighbours.
template <unsigned kEach>
__device__ int element_or_zero(const int* x, std::size_t n, unsigned k) {
  const std::size_t i =
      (static_cast<std::size_t>(blockIdx.x) * kEach + k) * blockDim.x + threadIdx.x;
  return i < n ? x[i] : 0;
}

/// How many blocks an SM holds, as far as threads and registers decide. The registers of a warp are
/// handed out in portions of 256, eight for each lane, and all lie in the same quarter of the SM.
inline int blocks_by_registers(const cudaDeviceProp& sm, int threads, int registers) {
  constexpr int kPortion = 256, kQuarters = 4;
  const int warps = (threads + 31) / 32;
  const int per_warp = (registers * 32 + kPortion - 1) / kPortion * kPortion;
  const int warps_to_start = (warps + kQuarters - 1) / kQuarters * kQuarters;
  if (registers > 255 || per_warp * warps_to_start > sm.regsPerBlock) return 0;
  const int warps_held = sm.regsPerMultiprocessor / kQuarters / per_warp * kQuarters;
  const int by_threads = sm.maxThreadsPerMultiProcessor / 32 / warps;
  return std::min({warps_held / warps, by_threads, sm.maxBlocksPerMultiProcessor});
}

/// The columns of such a row.
const std::vector<std::string> kBoundColumns = {"registers", "local_bytes", "predicted", "by_api"};

/// A kernel, named after the most registers that its bound leaves on an SM of 65536.
template <class Kernel>
struct BoundVersion {
  const char* name;
  Kernel* kernel;
};

/// Adds its row: `launch(sums)` launches the kernel, which leaves a sum in each thread. The row is
/// right if the sums are, and if as many blocks fit on an SM as predicted.
template <class Kernel, class Launch>
void add_bound(ResultTable& table, const BoundVersion<Kernel>& v, const char* summary,
               const std::vector<unsigned>& expected, Launch launch) {
  cudaFuncAttributes frame;
  CUDA_CHECK(cudaFuncGetAttributes(&frame, v.kernel));
  const int predicted = blocks_by_registers(table.device, kHoldingBlock, frame.numRegs);
  const int by_api = blocks_held(v.kernel, kHoldingBlock) / table.device.multiProcessorCount;
  table.next_row_has(frame.numRegs, frame.localSizeBytes, predicted, by_api);
  const DeviceArray<unsigned> sums(expected.size());
  table.add(
      v.name, sums, [&] { launch(sums); },
      [&] { return all_equal(v.name, sums.download(), expected) && predicted == by_api; }, summary);
}
