// SPDX-License-Identifier: MIT
// For experiments: what ranks give each other, and whether it has arrived.
#pragma once

#include "../../../common/common.cuh"

// What a rank gives. Sums of such numbers are exact in float.
__host__ __device__ inline float given_by(std::size_t rank, std::size_t i) {
  return static_cast<float>(random_int(-1000, 1000, rank, i));
}

// What a rank gets by a collective.
enum class Got { kSumOfAll, kOfFirst, kOfPrevious };

__host__ __device__ inline float expected_by(Got got, std::size_t rank, std::size_t ranks,
                                             std::size_t i) {
  if (got == Got::kOfFirst) return given_by(0, i);
  if (got == Got::kOfPrevious) return given_by((rank + ranks - 1) % ranks, i);
  float sum = 0;
  for (std::size_t other = 0; other < ranks; ++other) sum += given_by(other, i);
  return sum;
}

__global__ void fill_given(float* x, std::size_t count, std::size_t rank) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    x[i] = given_by(rank, i);
}

// NaN is wrong as well.
__global__ void count_wrong(const float* x, std::size_t count, Got got, std::size_t rank,
                            std::size_t ranks, unsigned* wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    if (!(x[i] == expected_by(got, rank, ranks, i))) atomicAdd(wrong, 1u);
}

// In the default stream of the current device.
inline void give(float* x, std::size_t count, std::size_t rank) {
  fill_given<<<std::min(blocks_for(count, 256), 2048u), 256>>>(x, count, rank);
  CUDA_CHECK_LAUNCH();
}
inline bool has_got(Got got, const float* x, std::size_t count, std::size_t rank, std::size_t ranks,
                    const DeviceArray<unsigned>& wrong) {
  CUDA_CHECK(cudaMemset(wrong, 0, sizeof(unsigned)));
  count_wrong<<<std::min(blocks_for(count, 256), 2048u), 256>>>(x, count, got, rank, ranks, wrong);
  CUDA_CHECK_LAUNCH();
  return equals(text("wrong elements of rank ", rank), wrong.download()[0], 0u);
}
