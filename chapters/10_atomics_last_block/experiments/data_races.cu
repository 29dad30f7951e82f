// SPDX-License-Identifier: MIT
// What goes wrong without atomics, and without fences?
//
// lost_updates     many threads count by x = x + 1
// no_lost_updates  the same by atomicAdd
// stale_read       blocks read what another has just written, without a fence
// other_sector     the same, but what they have read before lies in another sector
// past_l1          as stale_read, but they read it from the L2
// fenced_read      as stale_read, with a fence
// one_element      every block writes its number to one word: whose stays?

#include <set>

#include "../../../common/common.cuh"
#include "wrong_results.cuh"

// Reads, adds, writes: three steps, and others may come between them. volatile only makes sure that
// each happens in every turn, and not once at the end.
__global__ void count_plainly(unsigned* x, unsigned turns) {
  volatile unsigned* const word = x;
  for (unsigned k = 0; k < turns; ++k) *word = *word + 1;
}

__global__ void count_by_atomics(unsigned* x, unsigned turns) {
  for (unsigned k = 0; k < turns; ++k) atomicAdd(x, 1u);
}

enum Reading { kPlain, kOtherSector, kPastL1, kFenced };

template <Reading kReading>
constexpr unsigned kWritten = kReading == kOtherSector ? 8 : 1;  // which word of `data`

// Block 0 writes data[1] when all others have read data[0], which lies beside it: the L1 of each SM
// fetches 32 bytes at a time, so that each now holds an old copy of data[1], too. Then a flag says
// that data[1] is written. seen[b]: what block b reads when it has seen the flag. All blocks must
// be on the chip at once: they wait for each other.
template <Reading kReading>
__global__ void read_behind_flag(unsigned* data, unsigned* readers, unsigned* flag,
                                 unsigned* seen) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    while (atomicAdd(readers, 0u) != gridDim.x - 1) {
    }
    data[kWritten<kReading>] = 1;
    __threadfence();  // who sees the flag raised could see the word, too
    atomicExch(flag, 1u);
    return;
  }
  atomicAdd(readers, 1 + data[0]);  // data[0] is 0; adding it makes the atomic wait for it
  unsigned raised = 0;
  while (raised == 0) raised = atomicAdd(flag, 0u);
  if (kReading == kFenced) __threadfence();  // nothing below is read early, nor from an old copy
  const unsigned* word = data + kWritten<kReading> * raised;
  seen[blockIdx.x] = kReading == kPastL1 ? __ldcg(word) : *word;
}

__global__ void write_own_number(unsigned* x) {
  if (threadIdx.x == 0) *x = blockIdx.x + 1;
}

Found lost_updates(bool atomically, unsigned grid, unsigned block, unsigned turns) {
  const DeviceArray<unsigned> x(std::vector<unsigned>{0});
  const auto kernel = atomically ? count_by_atomics : count_plainly;
  kernel<<<grid, block>>>(x, turns);
  CUDA_CHECK_LAUNCH();
  const std::size_t all = std::size_t{grid} * block * turns, arrived = x.download()[0];
  // One at least: somebody writes last, and what it wrote was more than 0.
  return {all - arrived, all, arrived >= 1 && arrived <= all && !(atomically && arrived != all)};
}

template <Reading kReading>
Found stale_reads(unsigned grid) {
  const DeviceArray<unsigned> words(std::vector<unsigned>(128, 0)), seen(grid);
  unsigned *data = words.get(), *readers = data + 64, *flag = data + 96, *all_seen = seen.get();
  void* arguments[] = {&data, &readers, &flag, &all_seen};
  CUDA_CHECK(cudaLaunchCooperativeKernel(read_behind_flag<kReading>, grid, 32, arguments));
  Found found = {0, grid - 1, words.download()[kWritten<kReading>] == 1};
  const std::vector<unsigned> values = seen.download();
  for (unsigned b = 1; b < grid; ++b) {
    found.wrong += values[b] == 0;
    found.plausible =
        found.plausible && (values[b] == 1 || (values[b] == 0 && kReading != kFenced));
  }
  return found;
}

// `wrong`: how many different numbers stayed, in `runs` runs.
Found one_element(unsigned grid, std::size_t runs) {
  const DeviceArray<unsigned> x(1);
  std::set<unsigned> numbers;
  for (std::size_t k = 0; k < runs; ++k) {
    x.poison();
    write_own_number<<<grid, 32>>>(x);
    CUDA_CHECK_LAUNCH();
    numbers.insert(x.download()[0]);
  }
  return {numbers.size(), runs, *numbers.begin() >= 1 && *numbers.rbegin() <= grid};
}

int main(int argc, char** argv) {
  std::size_t block = 512;
  const Options opt(argc, argv, "10_data_races", "what goes wrong without atomics and fences?",
                    {{"block", &block, 1, 1024, "threads per block that count"}});
  ResultTable table(opt, 4_Ki);
  table.without_speedup();
  const unsigned grid = blocks_held(count_plainly, block);
  const unsigned sms = std::max(2, table.device.multiProcessorCount);  // blocks that meet
  const char* const lost = "additions lost of";
  const char* const old = "old values read, of";
  const char* const left = "different numbers left behind, in runs:";
  add_found(table, "lost_updates", lost, "lost", lost,
            [&] { return lost_updates(false, grid, block, 100); });
  add_found(table, "no_lost_updates", lost, "ok", lost,
            [&] { return lost_updates(true, grid, block, 100); });
  add_found(table, "stale_read", old, "stale", old, [&] { return stale_reads<kPlain>(sms); });
  add_found(table, "other_sector", old, "stale", old,
            [&] { return stale_reads<kOtherSector>(sms); });
  add_found(table, "past_l1", old, "stale", old, [&] { return stale_reads<kPastL1>(sms); });
  add_found(table, "fenced_read", old, "ok", old, [&] { return stale_reads<kFenced>(sms); });
  add_found(table, "one_element", left, "any", left,
            [&] { return one_element(grid, kOnGpu ? 1000 : 20); });
  return table.finish();
}
