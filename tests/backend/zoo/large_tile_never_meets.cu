// SPDX-License-Identifier: MIT
// Of a tile of two warps only a part comes to its sync(); the other tile is complete.
// EXPECT: {file}:{sync}: error: sync() of a tile of several warps waits for threads that never come in kernel 'meet', block (0,0,0), thread (64,0,0)
// EXPECT: 14 of its 64 threads are missing
// EXPECT: {file}:{sync}: note: threads 64-113 waiting here in sync() of a tile
// EXPECT: help: every thread of the tile must come to its sync()
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void meet() {
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  if (threadIdx.x < 114) tile.sync();  // @sync
}

int main() {
  meet<<<1, 128>>>();
  cudaDeviceSynchronize();
}
