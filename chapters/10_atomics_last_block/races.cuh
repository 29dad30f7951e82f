// SPDX-License-Identifier: MIT
// Chapter 10, --show races: what goes wrong without atomics, without fences, and with a ticket that
// two launches share or that one has left behind. Each bug stands beside its cure. Included by
// atomics_last_block.cu, whose ticket it misuses. make sanitize leaves these rows out: it would
// rightly call them races.
//
// lost_updates     many threads count by x = x + 1
// no_lost_updates  the same by atomicAdd
// stale_read       blocks read what another has just written, without a fence
// fenced_read      the same with a fence
// one_element      every block writes its number to one word: whose stays?
// shared_ticket    last_block on two streams, which draw from one ticket
// own_tickets      the same, a ticket for each
// ticket_left      last_block after a launch in which some blocks drew no ticket
// ticket_cleared   the same, the ticket set to 0 before
#pragma once

#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace races {

// Reads, adds, writes: three steps, and others may come between them. volatile only makes sure that
// each happens in every turn, and not once at the end.
__global__ void count_plainly(unsigned* x, unsigned turns) {
  volatile unsigned* const word = x;
  for (unsigned k = 0; k < turns; ++k) *word = *word + 1;
}

__global__ void count_by_atomics(unsigned* x, unsigned turns) {
  for (unsigned k = 0; k < turns; ++k) atomicAdd(x, 1u);
}

// Block 0 writes data[1] when all others have read data[0], which lies beside it: the L1 of each SM
// fetches 32 bytes at a time, so that each now holds an old copy of data[1], too. Then a flag says
// that data[1] is written. seen[b]: what block b reads when it has seen the flag. All blocks must
// be on the chip at once: they wait for each other.
template <bool kFence>
__global__ void read_behind_flag(unsigned* data, unsigned* readers, unsigned* flag,
                                 unsigned* seen) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    while (atomicAdd(readers, 0u) != gridDim.x - 1) {
    }
    data[1] = 1;
    __threadfence();  // who sees the flag raised could see data[1], too
    atomicExch(flag, 1u);
    return;
  }
  atomicAdd(readers, 1 + data[0]);  // data[0] is 0; adding it makes the atomic wait for it
  unsigned raised = 0;
  while (raised == 0) raised = atomicAdd(flag, 0u);
  if (kFence) __threadfence();  // nothing below is read before the flag was, nor from an old copy
  seen[blockIdx.x] = data[raised];
}

__global__ void write_own_number(unsigned* x) {
  if (threadIdx.x == 0) *x = blockIdx.x + 1;
}

// ---- the rows ----------------------------------------------------------------------------------

// What one row found, in as many runs as it had.
struct Found {
  std::size_t wrong = 0, of = 0;
  bool plausible = true;  // within what can happen at all; of a cure: right
};

inline Found lost_updates(bool atomically, unsigned grid, unsigned block, unsigned turns) {
  const DeviceArray<unsigned> x(std::vector<unsigned>{0});
  if (atomically) {
    count_by_atomics<<<grid, block>>>(x.get(), turns);
  } else {
    count_plainly<<<grid, block>>>(x.get(), turns);
  }
  CUDA_CHECK_LAUNCH();
  const std::size_t all = std::size_t{grid} * block * turns, arrived = x.download()[0];
  // One at least: somebody writes last, and what it wrote was more than 0.
  return {all - arrived, all, arrived >= 1 && arrived <= all && !(atomically && arrived != all)};
}

template <bool kFence>
Found stale_reads(unsigned grid) {
  const DeviceArray<unsigned> words(std::vector<unsigned>(128, 0)), seen(grid);
  unsigned *data = words.get(), *readers = data + 64, *flag = data + 96, *all_seen = seen.get();
  void* arguments[] = {&data, &readers, &flag, &all_seen};
  CUDA_CHECK(cudaLaunchCooperativeKernel(read_behind_flag<kFence>, grid, 32, arguments));
  Found found{0, grid - 1, words.download()[1] == 1};
  const std::vector<unsigned> values = seen.download();
  for (unsigned b = 1; b < grid; ++b) {
    found.wrong += values[b] == 0;
    found.plausible = found.plausible && (values[b] == 1 || (values[b] == 0 && !kFence));
  }
  return found;
}

// `wrong`: how many different numbers stayed, in `runs` runs.
inline Found one_element(unsigned grid, std::size_t runs) {
  const DeviceArray<unsigned> x(1);
  Found found{0, runs};
  std::set<unsigned> numbers;
  for (std::size_t k = 0; k < runs; ++k) {
    x.poison();
    write_own_number<<<grid, 32>>>(x.get());
    CUDA_CHECK_LAUNCH();
    const unsigned number = x.download()[0];
    found.plausible = found.plausible && number >= 1 && number <= grid;
    numbers.insert(number);
  }
  found.wrong = numbers.size();
  return found;
}

// Many launches on each of two streams, which sum different halves of x. Two at a time run side by
// side, and their blocks draw whenever they have finished.
inline Found two_streams(const std::vector<int>& x, unsigned grid, unsigned block, bool own,
                         std::size_t launches) {
  const std::size_t half = std::min(x.size() / 2, std::size_t{256_Ki});
  const std::vector<int> values[2] = {{x.begin(), x.begin() + half},
                                      {x.begin() + half, x.begin() + 2 * half}};
  const SumMemory memory[2] = {{values[0], grid, block, launches},
                               {values[1], grid, block, launches}};
  cudaStream_t streams[2];
  for (cudaStream_t& s : streams) CUDA_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (const SumMemory& m : memory) m.poison();
  CUDA_CHECK(cudaDeviceSynchronize());  // these streams do not wait for the default stream
  for (std::size_t k = 0; k < launches; ++k) {
    for (int s = 0; s < 2; ++s) {
      GridSum sum = memory[s].sum;
      sum.result += k;
      if (!own) sum.ticket = memory[0].sum.ticket, sum.partials = memory[0].sum.partials;
      sum_last_block<<<grid, block, 0, streams[s]>>>(sum);
    }
  }
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  Found found{0, 2 * launches};
  for (int s = 0; s < 2; ++s) {
    const Sum expected = reference(values[s].data(), half);
    for (const Sum sum : memory[s].results.download()) found.wrong += sum != expected;
    CUDA_CHECK(cudaStreamDestroy(streams[s]));
  }
  found.plausible = !own || found.wrong == 0;
  return found;
}

// As after a launch in which only a third of the blocks drew: the others had left the kernel early.
// `wrong` counts results, but not the ticket, which is displaced for good.
inline Found left_ticket(const SumMemory& memory, const std::vector<int>& x, bool clear,
                         std::size_t runs) {
  const GridSum& p = memory.sum;
  const unsigned left = p.grid / 3;
  const Sum expected = reference(x.data(), x.size());
  CUDA_CHECK(cudaMemcpy(p.ticket, &left, sizeof left, cudaMemcpyHostToDevice));
  Found found{0, runs};
  for (std::size_t k = 0; k < runs; ++k) {
    memory.poison();
    if (clear) CUDA_CHECK(cudaMemsetAsync(p.ticket, 0, sizeof *p.ticket));
    sum_last_block<<<p.grid, p.block>>>(p);
    CUDA_CHECK_LAUNCH();
    found.wrong += memory.results.download(1)[0] != expected;
    found.plausible = found.plausible && memory.ticket.download()[0] == (clear ? 0 : left);
  }
  CUDA_CHECK(cudaMemset(p.ticket, 0, sizeof *p.ticket));
  if (clear) found.plausible = found.plausible && found.wrong == 0;
  return found;
}

// One row, and below the table what was found. `bug` is the check's word for it.
inline void add_row(ResultTable& table, const std::string& name, const char* bug,
                    const std::string& what, const std::function<Found()>& run) {
  Found found;
  const Timing t = time_once([&] { found = run(); });
  table.add_with_rate(name, t, 0, found.plausible, found.wrong > 0 ? bug : "ok");
  table.measured(name, static_cast<double>(found.wrong), "wrong", "");
  table.measured(name, static_cast<double>(found.of - found.wrong), "right", "");
  table.measured(
      name, static_cast<double>(found.of), "of",
      name + ": " + std::to_string(found.wrong) + " " + what + " " + std::to_string(found.of));
}

inline void add_rows(ResultTable& table, const Device& device, const std::vector<int>& x,
                     const SumMemory& memory) {
  const unsigned grid = memory.sum.grid, block = memory.sum.block;
  const auto per_sm = static_cast<unsigned>(std::max(2, device.sm_count));  // blocks that meet
  const std::size_t runs = kOnGpu ? 1000 : 20;
  const std::string updates = "additions lost of", reads = "old values read, of";
  const std::string stayed = "different numbers left behind, in runs:", results = "wrong sums of";
  table.without_speedup();
  add_row(table, "lost_updates", "lost", updates,
          [&] { return lost_updates(false, grid, block, 100); });
  add_row(table, "no_lost_updates", "ok", updates,
          [&] { return lost_updates(true, grid, block, 100); });
  add_row(table, "stale_read", "stale", reads, [&] { return stale_reads<false>(per_sm); });
  add_row(table, "fenced_read", "ok", reads, [&] { return stale_reads<true>(per_sm); });
  add_row(table, "one_element", "any", stayed, [&] { return one_element(grid, runs); });
  add_row(table, "shared_ticket", "mixed up", results,
          [&] { return two_streams(x, 64, block, false, runs); });
  add_row(table, "own_tickets", "ok", results,
          [&] { return two_streams(x, 64, block, true, runs); });
  add_row(table, "ticket_left", "early", results,
          [&] { return left_ticket(memory, x, false, runs / 10); });
  add_row(table, "ticket_cleared", "ok", results,
          [&] { return left_ticket(memory, x, true, runs / 10); });
}

}  // namespace races
