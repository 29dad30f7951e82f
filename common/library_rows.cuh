// SPDX-License-Identifier: MIT
// The row at the end of a sum's table: the same sum by CUB, the library a user would pick instead.
// CUB needs a GPU; on the CPU backend the row is left out.
#pragma once

#include "backend.cuh"
#include "check.cuh"
#include "device_array.cuh"
#include "options.cuh"
#include "result_table.cuh"
#include "timer.cuh"
#include "verify.cuh"

#ifndef __CUDA_CPU__
// Not all of CUB, which takes nvcc half as long again, for each architecture.
#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda/std/functional>
#if CUB_VERSION < 200300
#include <cub/iterator/transform_input_iterator.cuh>
#endif

/// Squares one element in 64 bits.
struct SquareOf {
  __host__ __device__ long long operator()(int x) const { return static_cast<long long>(x) * x; }
};

/// Sums the squares of x[0..n) with cub::DeviceReduce into *result (device memory), on `stream`.
/// With scratch == nullptr only *scratch_bytes is set, as CUB's own functions do.
inline cudaError_t cub_sum_of_squares(void* scratch, std::size_t& scratch_bytes, const int* x,
                                      std::size_t n, long long* result,
                                      cudaStream_t stream = nullptr) {
  const auto count = static_cast<std::int64_t>(n);
#if CUB_VERSION >= 200300
  return cub::DeviceReduce::TransformReduce(scratch, scratch_bytes, x, result, count,
                                            cuda::std::plus<>{}, SquareOf{}, 0LL, stream);
#else
  cub::TransformInputIterator<long long, SquareOf, const int*> squares(x, SquareOf{});
  return cub::DeviceReduce::Sum(scratch, scratch_bytes, squares, result, count, stream);
#endif
}

/// The sum of `value` over the kThreads threads of a block (a block of one dimension), for thread
/// 0.
template <unsigned kThreads>
__device__ long long cub_block_sum(long long value) {
  using Reduce = cub::BlockReduce<long long, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  return Reduce(storage).Sum(value);
}
#else
/// Only for the compiler: rows that call it are left out on the CPU backend.
template <unsigned kThreads>
__device__ long long cub_block_sum(long long value) {
  return value;
}
#endif

/// Name of the row, also for --only and --list.
constexpr const char* kCubRow = "cub";

/// Adds CUB's row for the sum of squares of d_x[0..n), checked against `expected`, as `name`.
inline void add_cub_row(ResultTable& table, const Options& opt, const int* d_x, std::size_t n,
                        long long expected, const std::string& name = kCubRow) {
#ifndef __CUDA_CPU__
  if (!opt.wants(kCubRow)) return;
  const DeviceArray<long long> d_sum(1);
  std::size_t scratch_bytes = 0;
  CUDA_CHECK(cub_sum_of_squares(nullptr, scratch_bytes, d_x, n, d_sum.get()));
  const DeviceArray<char> scratch(scratch_bytes);
  const Timing t = time_launches(opt.sampling(), [&] {
    CUDA_CHECK(cub_sum_of_squares(scratch.get(), scratch_bytes, d_x, n, d_sum.get()));
  });
  const bool ok = equals(name, d_sum.download()[0], expected);
  table.add(name, t, static_cast<double>(n) * sizeof(int), ok);
#else
  (void)table, (void)opt, (void)d_x, (void)n, (void)expected, (void)name;
#endif
}

/// Makes the row known to --only and --list where there is one.
inline void name_cub_row(Options& opt) {
  if (kOnGpu) opt.version(kCubRow, "the same sum by cub::DeviceReduce");
}
