// SPDX-License-Identifier: MIT
// GROUP: cooperative groups
#include <cooperative_groups.h>

#include "program.h"

namespace cg = cooperative_groups;

// FEATURE: group_block: `this_thread_block`
__global__ void show(int* out) {
  __shared__ int x[64];
  const cg::thread_block block = cg::this_thread_block();
  x[block.thread_rank()] = block.thread_rank();
  block.sync();
  out[block.thread_rank()] = x[block.size() - 1 - block.thread_rank()];
}

int main() {
  int* out = numbers();
  show<<<1, 64>>>(out);
  wait();
  return answer(out[0] == 63);
}

// FEATURE: group_coalesced: `coalesced_threads`
__global__ void show(int* out) {
  if (threadIdx.x % 4 == 1) {
    const cg::coalesced_group active = cg::coalesced_threads();
    out[threadIdx.x] = active.size() * 100 + active.thread_rank();
  }
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[5] % 100 == (out[5] / 100 == 8 ? 1 : 0));
}

// FEATURE: group_copies: `cg::memcpy_async`
#include <cooperative_groups/memcpy_async.h>

__global__ void show(int* out) {
  __shared__ int x[32];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, x, out + 32, sizeof(x));
  cg::wait(block);
  out[threadIdx.x] = x[31 - threadIdx.x] + 1;
}

int main() {
  int* out = numbers();
  for (int i = 0; i < 64; ++i) out[i] = i;
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 64);
}

// FEATURE: group_grid: `this_grid` and its `sync`
__global__ void show(int* out) {
  const cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) out[1 + blockIdx.x] = blockIdx.x + 1;
  grid.sync();
  if (grid.thread_rank() == 0) out[0] = out[1] + out[2];
}

int main() {
  int* out = numbers();
  void* arguments[] = {&out};
  MUST(cudaLaunchCooperativeKernel((void*)show, dim3(2), dim3(32), arguments, 0, nullptr));
  wait();
  return answer(out[0] == 3);
}

// FEATURE: group_invoke: `cg::invoke_one`
__global__ void show(int* out) {
  cg::invoke_one(cg::this_thread_block(), [&] { atomicAdd(out, 1); });
}

int main() {
  int* out = numbers();
  show<<<1, 31>>>(out);
  wait();
  return answer(out[0] == 1);
}

// FEATURE: group_large_tiles: tiles of several warps
__global__ void show(int* out) {
  __shared__ cg::block_tile_memory<128> memory;
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  out[threadIdx.x] = 1;
  tile.sync();
  if (tile.thread_rank() == 0) {
    for (int i = 1; i < 64; ++i) out[threadIdx.x] += out[threadIdx.x + i];
  }
}

int main() {
  int* out = numbers();
  show<<<1, 128>>>(out);
  wait();
  return answer(out[0] == 64 && out[64] == 64);
}

// FEATURE: group_large_reduce: `cg::reduce` over a tile of several warps
#include <cooperative_groups/reduce.h>

__global__ void show(int* out) {
  __shared__ cg::block_tile_memory<128> memory;
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  out[threadIdx.x] = cg::reduce(tile, int(threadIdx.x), cg::plus<int>());
}

int main() {
  int* out = numbers();
  show<<<1, 128>>>(out);
  wait();
  return answer(out[5] == 2016 && out[127] == 6112);
}

// FEATURE: group_reduce: `cg::reduce`
#include <cooperative_groups/reduce.h>

__global__ void show(int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  out[threadIdx.x] = cg::reduce(warp, int(threadIdx.x), cg::plus<int>());
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[3] == 496);
}

// FEATURE: group_scan: `cg::inclusive_scan`
#include <cooperative_groups/scan.h>

__global__ void show(int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  out[threadIdx.x] = cg::inclusive_scan(warp, int(threadIdx.x), cg::plus<int>());
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[3] == 6 && out[31] == 496);
}

// FEATURE: group_tiles: `tiled_partition` of up to 32 threads
__global__ void show(int* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int x = tile.thread_rank();
  for (int step = 4; step > 0; step /= 2) x += tile.shfl_xor(x, step);
  out[threadIdx.x] = x + tile.meta_group_rank();
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[31] == 31);
}
