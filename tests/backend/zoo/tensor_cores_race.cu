// SPDX-License-Identifier: MIT
// Races with what tensor cores read and bulk copies write. tensor_cores_right.cu is the right twin.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
#include <tensor_instructions.h>

#include <cstdint>

#include "cases.cuh"

using Element = __nv_bfloat16;
constexpr unsigned kSide = 64, kTiles = 7, kStages = 3, kGroup = 128;

enum Mistake { kNotReleased, kReleasedEarly, kNotFull, kStoredEarly };

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

void run(Mistake mistake) {
  run_on<Element>((kTiles + 1) * kSide * kSide, [&](Element* x) {
    constexpr auto kSwizzle = ptx::Swizzle::k128Bytes;
    sum_of_squares<<<1, kGroup + 32>>>(
        ptx::tile_map(x, kTiles * kSide, kSide, kSide, kSide, kSide, kSwizzle),
        ptx::tile_map(x + kTiles * kSide * kSide, kSide, kSide, kSide, 16, kSide, kSwizzle),
        mistake);
  });
}

// CASE: released_early
// EXPECT: {file}:{copy}: error: race: a write while an asynchronous copy from it is under way in kernel 'sum_of_squares'
// EXPECT: of element 0 of the __shared__ array 'places'
// EXPECT: {file}:{product}: note: the copy began here
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
