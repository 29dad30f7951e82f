// SPDX-License-Identifier: MIT
// Races with what tensor cores read and bulk copies write; the case `right` is the right twin of
// these and of tensor_cores.cu.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
#include <tensor_instructions.h>

#include <cstdint>
#include <cstdio>

#include "cases.cuh"

using Element = __nv_bfloat16;
constexpr unsigned kSide = 64, kTiles = 7, kStages = 3, kGroup = 128;

enum Mistake { kNone, kNotReleased, kReleasedEarly, kNotFull, kStoredEarly };

/// Adds up the squares of matrices of 64 x 64: a warp brings them by bulk copies, a group of four
/// warps multiplies, and stores what is less than 256 by bulk copies again.
__global__ void sum_of_squares(const __grid_constant__ CUtensorMap from,
                               const __grid_constant__ CUtensorMap to, Mistake mistake) {
  __shared__ alignas(1024) Element places[kStages][kSide * kSide];
  __shared__ alignas(1024) Element result[kSide * kSide];
  __shared__ std::uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], 4);
    }
    ptx::mbarrier_fence_init();
  }
  __syncthreads();
  if (threadIdx.x >= kGroup) {
    if (threadIdx.x > kGroup) return;
    for (unsigned i = 0; i < kTiles; ++i) {
      const unsigned stage = i % kStages;
      if (mistake != kNotReleased) ptx::mbarrier_wait(&empty[stage], i / kStages % 2 ^ 1);
      ptx::mbarrier_expect(&full[stage], sizeof(places[0]));  // @expect
      ptx::copy_tile(places[stage], &from, 0, static_cast<int>(kSide * i), &full[stage]);  // @copy
    }
    return;
  }
  float d[32] = {};
  for (unsigned i = 0; i < kTiles; ++i) {
    const unsigned stage = i % kStages;
    if (mistake != kNotFull || threadIdx.x < 32) ptx::mbarrier_wait(&full[stage], i / kStages % 2);
    ptx::wgmma_fence();
    for (unsigned k = 0; k < kSide; k += 16) {
      const std::uint64_t a = ptx::describe(places[stage] + k, 0, 1024);
      const std::uint64_t b = ptx::describe(places[stage] + k * kSide, 0, 1024);
      ptx::wgmma_m64k16<64>(d, a, b, true);  // @product
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();
    const unsigned done = mistake == kReleasedEarly ? i : i - 1;
    if ((i > 0 || mistake == kReleasedEarly) && threadIdx.x % 32 == 0)
      ptx::mbarrier_arrive(&empty[done % kStages]);
  }
  ptx::wgmma_wait<0>();
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned e = 0; e < 32; ++e) {
    const unsigned row = 16 * warp + lane / 4 + e % 4 / 2 * 8;
    const unsigned column = e / 4 * 8 + lane % 4 * 2 + e % 2;
    const unsigned at = row * kSide + (column / 8 ^ row % 8) * 8 + column % 8;
    result[at] = d[e];  // @result
  }
  ptx::fence_async();
  if (mistake != kStoredEarly) __syncwarp();
  if (lane == 0) {
    ptx::store_tile(&to, 0, static_cast<int>(16 * warp), result + 16 * warp * kSide);  // @store
    ptx::store_commit();
    ptx::store_wait_read<0>();
  }
}

void run(Element* x, Element* y, Mistake mistake) {
  constexpr auto kSwizzle = ptx::Swizzle::k128Bytes;
  sum_of_squares<<<1, kGroup + 32>>>(
      ptx::tile_map(x, kTiles * kSide, kSide, kSide, kSide, kSide, kSwizzle),
      ptx::tile_map(y, kSide, kSide, kSide, 16, kSide, kSwizzle), mistake);
}
void run(Mistake mistake) {
  run_on<Element>((kTiles + 1) * kSide * kSide,
                  [&](Element* x) { run(x, x + kTiles * kSide * kSide, mistake); });
}

// CASE: released_early
// EXPECT: {file}:{copy}: error: race: a write while an asynchronous copy from it is under way in kernel 'sum_of_squares'
// EXPECT: of element 0 of the __shared__ array 'places'
// EXPECT: {file}:{product}: note: the copy began here, by thread (
// EXPECT: help: the thread that copies waits for it first (__pipeline_commit, then __pipeline_wait_prior)
CASE(released_early) { run(kReleasedEarly); }

// CASE: not_full
// EXPECT: {file}:{copy}: error: race: a write while an asynchronous copy from it is under way in kernel 'sum_of_squares'
// EXPECT: {file}:{product}: note: the copy began here
CASE(not_full) { run(kNotFull); }

// CASE: stored_early
// EXPECT: {file}:{result}: error: race: a write in kernel 'sum_of_squares'
// EXPECT: {file}:{store}: note: a read by thread
CASE(stored_early) { run(kStoredEarly); }

// CASE: not_released
// EXPECT: {file}:{expect}: error: more arrivals at an mbarrier than it expects in kernel 'sum_of_squares'
// EXPECT: {file}:{copy}: error: race: a write while an asynchronous copy to it is under way in kernel 'sum_of_squares'
CASE(not_released) { run(kNotReleased); }

/// The second warp loads what the first one stores.
__global__ void load_early() {
  __shared__ alignas(16) unsigned rows[32][4];
  if (threadIdx.x < 32) {
    for (unsigned i = 0; i < 4; ++i) rows[threadIdx.x][i] = i;  // @rows
    return;
  }
  unsigned r[4];
  ptx::load_matrices(r, rows[threadIdx.x % 32]);  // @load
}

/// The second warp stores matrices over rows that the first one reads.
__global__ void store_late(unsigned* out) {
  __shared__ alignas(16) unsigned rows[32][4];
  for (unsigned i = threadIdx.x; i < 128; i += 64) rows[i / 4][i % 4] = i;
  __syncthreads();
  if (threadIdx.x < 32) {
    out[threadIdx.x] = rows[threadIdx.x][0];  // @read
    return;
  }
  const unsigned r[4] = {};
  ptx::store_matrices_transposed(rows[threadIdx.x % 32], r);  // @matrices
}

// CASE: stored_beside_a_read
// EXPECT: {file}:{matrices}: error: race: a write in kernel 'store_late'
// EXPECT: {file}:{read}: note: a read by thread
CASE(stored_beside_a_read) {
  run_on<unsigned>(32, [](unsigned* out) { store_late<<<1, 64>>>(out); });
}

// CASE: loaded_early
// EXPECT: {file}:{load}: error: race: a read in kernel 'load_early'
// EXPECT: {file}:{rows}: note: a write by thread
CASE(loaded_early) {
  run_on<unsigned>(1, [](unsigned*) { load_early<<<1, 64>>>(); });
}

/// One warp multiplies the first 16 rows with the first 8 columns, of 16 of k.
__global__ void by_a_warp(const Element* x, float* out) {
  __shared__ alignas(16) Element rows[16][16];
  for (unsigned i = threadIdx.x; i < 256; i += 32)
    rows[i / 16][i % 16] = x[i / 16 * kSide + i % 16];
  __syncwarp();
  unsigned a[4], of_b[4];
  const unsigned row = threadIdx.x % 16, column = threadIdx.x / 16 * 8;
  ptx::load_matrices(a, &rows[row][column]);
  ptx::load_matrices_transposed(of_b, &rows[row][column]);
  const unsigned b[2] = {of_b[0], of_b[1]};
  float d[4] = {};
  ptx::mma_m16n8k16(d, a, b);
  for (unsigned e = 0; e < 4; ++e) {
    out[(threadIdx.x / 4 + e / 2 * 8) * 8 + threadIdx.x % 4 * 2 + e % 2] = d[e];
  }
}

// CASE: right
// RUN: CUDA_CPU_RACES=0
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT-STDOUT: 4096 of 4096 are right, 128 of 128 by a warp
CASE(right) {
  static Element x[kTiles * kSide * kSide], y[kSide * kSide];
  for (unsigned i = 0; i < kTiles * kSide * kSide; ++i) x[i] = i * i % 5 == 1 ? 1.0f : 0.0f;
  Element *d_x, *d_y;
  float *d_out, out[128];
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_y, sizeof(y));
  cudaMalloc(&d_out, sizeof(out));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  run(d_x, d_y, kNone);
  by_a_warp<<<1, 32>>>(d_x, d_out);
  cudaMemcpy(y, d_y, sizeof(y), cudaMemcpyDeviceToHost);
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  cudaFree(d_y);
  cudaFree(d_out);
  int right = 0, right_by_warp = 0;
  for (unsigned i = 0; i < kSide * kSide; ++i) {
    float sum = 0.0f;
    for (unsigned l = 0; l < kTiles * kSide; ++l) {
      const unsigned tile = l / kSide * kSide * kSide;
      sum += static_cast<float>(x[tile + i / kSide * kSide + l % kSide]) *
             static_cast<float>(x[tile + l % kSide * kSide + i % kSide]);
    }
    right += static_cast<float>(y[i]) == sum;
  }
  for (unsigned i = 0; i < 128; ++i) {
    float sum = 0.0f;
    for (unsigned l = 0; l < 16; ++l) {
      sum += static_cast<float>(x[i / 8 * kSide + l]) * static_cast<float>(x[l * kSide + i % 8]);
    }
    right_by_warp += out[i] == sum;
  }
  std::printf("%d of 4096 are right, %d of 128 by a warp\n", right, right_by_warp);
}
