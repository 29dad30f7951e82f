// SPDX-License-Identifier: MIT
// Kernels that X-ray was not made with: what a GPU counts of them beside what X-ray predicts.
//
// rows_of_csr      a sparse matrix's rows, a thread for each: loops end early, warps too
// scan_by_threes   a scan in shared memory, each level with two loads that some lanes make
// softmax_rows     a warp for each row, one loop unrolled as nvcc likes, two by 4
// tile_with_edges  a tile with a halo that whole warps do not load, and one condition in another
// copy_of_limits   loads and stores guarded by a row and a column, four to a thread
// count_in_bins    an atomic, and a store by a few lanes, each behind a condition
//
// held_out.cu runs them. h200_held_out.csv is what an H200 counted, sm90_held_out.tsv what
// nvcc 13.0 made of each line (common/tools/measure/accesses.py).
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace held_out {

constexpr unsigned kBlock = 256, kWarp = 32;

__global__ void rows_of_csr(const unsigned* begins, const unsigned* columns, const float* values,
                            const float* x, float* y, unsigned rows) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (unsigned k = begins[row]; k < begins[row + 1]; ++k) {
    sum += values[k] * x[columns[k]];
  }
  y[row] = sum;
}

// Each level adds the sums that end at a third and at two thirds of what is then summed.
__global__ void scan_by_threes(const int* x, int* y) {
  __shared__ int sums[kBlock];
  const unsigned t = threadIdx.x, i = blockIdx.x * kBlock + t;
  sums[t] = x[i];
  __syncthreads();
  for (unsigned distance = 1; distance < kBlock; distance *= 3) {
    int sum = sums[t];
    if (t >= distance) sum += sums[t - distance];
    if (t >= 2 * distance) sum += sums[t - 2 * distance];
    __syncthreads();  // everyone has read this level before anyone stores the next
    sums[t] = sum;
    __syncthreads();
  }
  y[i] = sums[t];
}

__global__ void softmax_rows(const float* x, float* y, unsigned rows, unsigned width) {
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned row = blockIdx.x * (kBlock / kWarp) + threadIdx.x / kWarp;
  if (row >= rows) return;
  const float* const from = x + row * width;
  float most = -1e30f;
  for (unsigned i = lane; i < width; i += kWarp) most = fmaxf(most, from[i]);
  for (unsigned d = kWarp / 2; d > 0; d /= 2) {
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  }
  float sum = 0;
#pragma unroll 4
  for (unsigned i = lane; i < width; i += kWarp) sum += expf(from[i] - most);
  for (unsigned d = kWarp / 2; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
#pragma unroll 4
  for (unsigned i = lane; i < width; i += kWarp) {
    y[row * width + i] = expf(from[i] - most) / sum;
  }
}

constexpr unsigned kHalo = 3;

// The mean of 7 neighbours; what lies outside of x is 0.
__global__ void tile_with_edges(const float* x, float* y, unsigned n) {
  __shared__ float tile[kBlock + 2 * kHalo];
  const unsigned t = threadIdx.x, i = blockIdx.x * kBlock + t;
  tile[t + kHalo] = i < n ? x[i] : 0;
  if (t < kHalo) {
    tile[t] = i >= kHalo ? x[i - kHalo] : 0;
  }
  if (t >= kBlock - kHalo) {
    tile[t + 2 * kHalo] = i + kHalo < n ? x[i + kHalo] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (unsigned k = 0; k <= 2 * kHalo; ++k) sum += tile[t + k];
  if (i < n) y[i] = sum / 7;
}

// A warp has 32 columns of four rows.
__global__ void copy_of_limits(const float* x, float* y, unsigned rows, unsigned columns) {
  const unsigned column = blockIdx.x * kWarp + threadIdx.x % kWarp;
  const unsigned first = 4 * (blockIdx.y * (kBlock / kWarp) + threadIdx.x / kWarp);
  float values[4] = {};
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    if (first + k < rows && column < columns) values[k] = x[(first + k) * columns + column];
  }
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    if (first + k < rows && column < columns) y[(first + k) * columns + column] = 2 * values[k];
  }
}

__global__ void count_in_bins(const unsigned* x, unsigned* bins, unsigned* seen, unsigned limit) {
  __shared__ unsigned counts[kWarp];
  const unsigned t = threadIdx.x, i = blockIdx.x * kBlock + t;
  if (t < kWarp) counts[t] = 0;
  __syncthreads();
  const unsigned value = x[i];
  if (value < limit) atomicAdd(&counts[value % kWarp], 1);
  if (t % 64 == 0) seen[i / 64] = value;
  __syncthreads();
  if (t < kWarp) atomicAdd(&bins[t], counts[t]);
}

struct Sparse {
  std::vector<unsigned> begins{0}, columns;
  std::vector<float> values;
};

// Rows of 0 to 40 elements; each seventh warp has none.
Sparse sparse_rows(unsigned rows) {
  Sparse m;
  for (unsigned row = 0; row < rows; ++row) {
    const unsigned length = row / kWarp % 7 == 3 ? 0 : row * 2654435761u % 41;
    for (unsigned k = 0; k < length; ++k) {
      m.columns.push_back((row * 31 + k * 97) % rows);
      m.values.push_back(static_cast<float>(k % 5));
    }
    m.begins.push_back(static_cast<unsigned>(m.columns.size()));
  }
  return m;
}

template <class T>
std::vector<T> numbers(std::size_t count) {
  std::vector<T> found(count);
  for (std::size_t i = 0; i < count; ++i) found[i] = static_cast<T>(i * 2654435761u % 1000);
  return found;
}

template <class T>
void print_sum(const char* kernel, const DeviceArray<T>& y) {
  double sum = 0;
  for (const T value : y.download()) sum += static_cast<double>(value);
  std::printf("%-16s %.6g\n", kernel, sum);
}

inline void run_all() {
  constexpr unsigned kRows = 1000;
  const Sparse sparse = sparse_rows(kRows);
  const DeviceArray<unsigned> begins(sparse.begins), columns(sparse.columns);
  const DeviceArray<float> values(sparse.values), x(numbers<float>(kRows)), y(kRows);
  rows_of_csr<<<4, kBlock>>>(begins.get(), columns.get(), values.get(), x.get(), y.get(), kRows);
  CUDA_CHECK_LAUNCH();
  print_sum("rows_of_csr", y);

  const DeviceArray<int> whole(numbers<int>(4 * kBlock)), sums(4 * kBlock);
  scan_by_threes<<<4, kBlock>>>(whole.get(), sums.get());
  CUDA_CHECK_LAUNCH();
  print_sum("scan_by_threes", sums);

  constexpr unsigned kWidth = 300;
  const DeviceArray<float> scores(numbers<float>(20 * kWidth)), shares(20 * kWidth);
  softmax_rows<<<3, kBlock>>>(scores.get(), shares.get(), 20, kWidth);
  CUDA_CHECK_LAUNCH();
  print_sum("softmax_rows", shares);

  const DeviceArray<float> smooth(kRows);
  tile_with_edges<<<4, kBlock>>>(x.get(), smooth.get(), kRows);
  CUDA_CHECK_LAUNCH();
  print_sum("tile_with_edges", smooth);

  constexpr unsigned kHigh = 77, kWide = 45;
  const DeviceArray<float> plane(numbers<float>(kHigh * kWide)), copy(kHigh * kWide);
  copy_of_limits<<<dim3(3, 4), kBlock>>>(plane.get(), copy.get(), kHigh, kWide);
  CUDA_CHECK_LAUNCH();
  print_sum("copy_of_limits", copy);

  const DeviceArray<unsigned> samples(numbers<unsigned>(4 * kBlock)), seen(16);
  const DeviceArray<unsigned> bins(std::vector<unsigned>(kWarp, 0));
  count_in_bins<<<4, kBlock>>>(samples.get(), bins.get(), seen.get(), 300);
  CUDA_CHECK_LAUNCH();
  print_sum("count_in_bins", bins);
}

}  // namespace held_out
