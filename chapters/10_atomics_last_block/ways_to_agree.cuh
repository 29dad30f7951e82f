// SPDX-License-Identifier: MIT
// Chapter 10, three more ways for blocks to agree. Included by atomics_last_block.cu, behind its
// kernels and before its versions.
//
// two_launches   partial sums; a second launch, of one block, adds them
// scoped_ticket  last_block with cuda::atomic_ref: the ticket itself says what it orders
// grid_sync_ex   grid_sync, launched by cudaLaunchKernelEx
#pragma once

#include <cuda/atomic>

__global__ void leave_partials(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (threadIdx.x == 0) p.partials[blockIdx.x] = sum;
}

// A launch of one block. It needs no fence: a kernel sees all that earlier ones of its stream
// wrote.
__global__ void add_left_partials(GridSum p) { add_partials(p); }

void launch_two(const GridSum& p) {
  leave_partials<<<p.grid, p.block>>>(p);
  add_left_partials<<<1, p.block>>>(p);
}

// draws_last_ticket without fences. Release: what this thread wrote before is visible to whoever
// draws later; acquire: what they wrote who drew before is visible to this thread. For all threads
// of the device: with thread_scope_block only those of its own block would count.
__device__ bool draws_last_scoped_ticket(const GridSum& p, Sum sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    p.partials[blockIdx.x] = sum;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ticket(*p.ticket);
    last = ticket.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    if (last) ticket.store(0, cuda::memory_order_relaxed);  // fetch_add does not wrap
  }
  __syncthreads();  // all threads learn what thread 0 drew
  return last;
}

__global__ void sum_scoped_ticket(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (draws_last_scoped_ticket(p, sum)) add_partials(p);
}

// The newer way to a launch with a property that <<<>>> cannot name: a list of attributes. The
// arguments are passed as in a call, and the compiler checks their types. CUDA 11.8 and later.
cudaError_t launch_with_attributes(const GridSum& p) {
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = p.grid;
  config.blockDim = p.block;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, sum_grid_sync, p);
}
