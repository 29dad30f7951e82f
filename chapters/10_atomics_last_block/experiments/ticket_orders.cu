// SPDX-License-Identifier: MIT
// What does the order of a ticket cost?
//
// Every version is last_block; they differ in what is ordered around the ticket, and how.
// two_fences      last_block as it is: __threadfence(), atomicInc, __threadfence()
// fences_and_add  the same fences around the atomic of scoped_ticket
// lighter_fences  the same atomic between fences that acquire and release, and no more
// ordered_ticket  scoped_ticket as it is: the atomic acquires and releases
// whole_system    the same, for all threads of the system
// no_order        the atomic alone: nothing is promised, and the sums need not be right

#include <cuda/atomic>

#include "../../../common/common.cuh"
#include "sum_memory.cuh"

enum Order { kTwoFences, kFencesAndAdd, kLighterFences, kOrderedTicket, kWholeSystem, kNoOrder };

template <Order kOrder>
__device__ void fence() {
  if constexpr (kOrder == kTwoFences || kOrder == kFencesAndAdd) __threadfence();
  if constexpr (kOrder == kLighterFences)
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
}

// Draws the next number. The last one sets the ticket back to 0 where the atomic does not wrap.
template <Order kOrder>
__device__ unsigned draw(unsigned* ticket) {
  if constexpr (kOrder == kTwoFences) return atomicInc(ticket, gridDim.x - 1);
  constexpr auto kScope =
      kOrder == kWholeSystem ? cuda::thread_scope_system : cuda::thread_scope_device;
  constexpr auto kMemoryOrder = kOrder == kOrderedTicket || kOrder == kWholeSystem
                                    ? cuda::memory_order_acq_rel
                                    : cuda::memory_order_relaxed;
  cuda::atomic_ref<unsigned, kScope> counter(*ticket);
  const unsigned drawn = counter.fetch_add(1, kMemoryOrder);
  if (drawn == gridDim.x - 1) counter.store(0, cuda::memory_order_relaxed);
  return drawn;
}

template <Order kOrder>
__global__ void sum_with_ticket(GridSum p) {
  __shared__ bool last;
  const Sum sum = block_sum(sum_of_share(p));
  if (threadIdx.x == 0) {
    p.partials[blockIdx.x] = sum;
    fence<kOrder>();
    last = draw<kOrder>(p.ticket) == gridDim.x - 1;
    fence<kOrder>();
  }
  __syncthreads();  // all threads learn what thread 0 drew
  if (last) add_partials(p);
}

struct TicketMemory : SumMemory {
  // All that can be said where nothing is ordered.
  bool ticket_is_back(const std::string& version) const {
    return equals(version + ", the ticket", ticket.download()[0], 0u);
  }
};

template <Order kOrder>
void launch(const TicketMemory& m) {
  sum_with_ticket<kOrder><<<m.sum.grid, m.sum.block>>>(m.sum);
}

const Version<TicketMemory> kVersions[] = {
    {"two_fences", "last_block as it is", launch<kTwoFences>},
    {"fences_and_add", "the same fences around fetch_add", launch<kFencesAndAdd>},
    {"lighter_fences", "fetch_add between fences that acquire and release", launch<kLighterFences>},
    {"ordered_ticket", "scoped_ticket as it is", launch<kOrderedTicket>},
    {"whole_system", "the same with thread_scope_system", launch<kWholeSystem>},
};
const Version<TicketMemory> kNothingOrdered = {"no_order", "fetch_add alone", launch<kNoOrder>,
                                               &TicketMemory::ticket_is_back};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 1_Mi : 256_Ki, block = 512;
  const Options opt(argc, argv, "10_ticket_orders", "what does the order of a ticket cost?",
                    {{"n", &n, 1, 16_Gi, "ints to sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block", kWarp}});
  ResultTable table(opt, n * sizeof(int), 2_Mi);
  const unsigned held = blocks_held(sum_with_ticket<kTwoFences>, block);
  const unsigned grid = std::min(held, blocks_for(n, 16 * block));
  const TicketMemory memory{{random_ints(n, 0, 9, opt.seed), grid, static_cast<unsigned>(block)}};
  for (const auto& version : kVersions) table.add(version, memory);
  table.add(kNothingOrdered, memory, "any");
  return table.finish();
}
