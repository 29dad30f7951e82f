// SPDX-License-Identifier: MIT
// The last block adds the partial sums of all, and a ticket tells which block that is. Only
// ThreadSanitizer sees whether anything orders the sums and the ticket.
// BUILD: cpu-tsan
//
// CASE: no_fence_before_ticket
// The last block adds the partial sums of all. No fence stands between a partial sum and the
// ticket, so a block that sees the ticket need not see the partial sum. The blocks of this run came
// one after the other and the result is right; ThreadSanitizer, which is told what fences and
// atomics order, knows better.
// RUN: TSAN_OPTIONS=exitcode=66
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=reverse
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{write}
// EXPECT: {file}:{read}
//
// CASE: no_fence_after_ticket
// The last block adds the partial sums of all. No fence stands between its ticket and its reads, so
// nothing keeps those from being made before the ticket was drawn. The blocks of this run came one
// after the other and the result is right; ThreadSanitizer, which is told what fences and atomics
// order, knows better.
// RUN: TSAN_OPTIONS=exitcode=66
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=reverse
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{write}
// EXPECT: {file}:{read}
//
// CASE: relaxed_ticket
// The last block adds the partial sums of all, with a ticket by cuda::atomic_ref that orders
// nothing: memory_order_relaxed. It is still an atomic, so the tickets are right; what they stand
// for need not be there yet.
// RUN: TSAN_OPTIONS=exitcode=66
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=reverse
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{write}
// EXPECT: {file}:{read}
//
// CASE: narrow_scope
// The last block adds the partial sums of all. The ticket acquires and releases, but only between
// the threads of one block: thread_scope_block. The blocks need thread_scope_device.
// RUN: TSAN_OPTIONS=exitcode=66
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=reverse
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{write}
// EXPECT: {file}:{read}
//
// CASE: scoped_ticket
// No bug, and nothing to report: the ticket itself releases what came before it and acquires what
// others released. No fence is needed.
// RUN: TSAN_OPTIONS=exitcode=66
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=reverse
// EXPECT-STATUS: 0
// EXPECT-NOT: ThreadSanitizer
// EXPECT-STDOUT: sum 28
#include <cuda/atomic>

#include <cstdio>

#include "cases.cuh"

enum Ticket { kNoFenceBefore, kNoFenceAfter, kRelaxed, kNarrowScope, kScoped };

template <Ticket kTicket>
__device__ unsigned draw(unsigned* ticket) {
  unsigned drawn = 0;
  if constexpr (kTicket == kNoFenceBefore || kTicket == kNoFenceAfter) {
    if (kTicket == kNoFenceAfter) __threadfence();
    drawn = atomicInc(ticket, gridDim.x - 1);
    if (kTicket == kNoFenceBefore) __threadfence();
  } else if constexpr (kTicket == kNarrowScope) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> tickets(*ticket);
    drawn = tickets.fetch_add(1, cuda::memory_order_acq_rel);
  } else {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> tickets(*ticket);
    drawn = tickets.fetch_add(
        1, kTicket == kRelaxed ? cuda::memory_order_relaxed : cuda::memory_order_acq_rel);
  }
  return drawn;
}

template <Ticket kTicket>
__global__ void sum_block_numbers(int* partial, unsigned* ticket, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<int>(blockIdx.x);  // @write
    last = draw<kTicket>(ticket) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];  // @read
    *sum = total;
  }
}

template <Ticket kTicket>
int program() {
  constexpr unsigned kBlocks = 8;
  int *d_partial = nullptr, sum = 0;
  unsigned* d_ticket = nullptr;
  cudaMalloc(&d_partial, (kBlocks + 1) * sizeof(int));
  cudaMalloc(&d_ticket, sizeof(unsigned));
  cudaMemset(d_ticket, 0, sizeof(unsigned));
  sum_block_numbers<kTicket><<<kBlocks, 64>>>(d_partial, d_ticket, d_partial + kBlocks);
  cudaMemcpy(&sum, d_partial + kBlocks, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("sum %d\n", sum);
  cudaFree(d_partial);
  cudaFree(d_ticket);
  return sum == 28 ? 0 : 1;
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {
                      {"no_fence_before_ticket", program<kNoFenceBefore>},
                      {"no_fence_after_ticket", program<kNoFenceAfter>},
                      {"relaxed_ticket", program<kRelaxed>},
                      {"narrow_scope", program<kNarrowScope>},
                      {"scoped_ticket", program<kScoped>},
                  });
}
