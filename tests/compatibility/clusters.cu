// SPDX-License-Identifier: MIT
// FEATURE: kernels: clusters of blocks, and the shared memory of another block
#include <cooperative_groups.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) show(int* out) {
  __shared__ int mine;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = cluster.block_rank() + 10;
  cluster.sync();
  const int* const other = cluster.map_shared_rank(&mine, 1 - cluster.block_rank());
  if (threadIdx.x == 0) out[blockIdx.x] = *other;
  cluster.sync();
}

int main() {
  int* out = numbers();
  show<<<2, 32>>>(out);
  wait();
  return answer(out[0] == 11 && out[1] == 10);
}
