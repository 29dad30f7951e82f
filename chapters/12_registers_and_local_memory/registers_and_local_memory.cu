// SPDX-License-Identifier: MIT
// Chapter 12: where do a thread's own variables live? Each thread counts hex digits in 16 counters.
//
// run_time_index   the digit is the index of the counter: the array goes to local memory
// not_unrolled     every counter is looked at, in a loop of unknown length: local memory again
// constant_index   the same loop, of known length and unrolled: the counters are registers
// select_chain     an array of registers with a run-time index, imitated by 16 selects
// shifted_counts   the counters are fields of one 64-bit register, the index becomes a shift
// shared_rows      shared memory, the 16 counters of a thread side by side: banks conflict
// shared_slots     shared memory, counters of neighbouring threads side by side: a bank per lane
// Run: make run CH=12, with ARGS="--sweep registers" (or shared) or ARGS="--show latency"

#include <string>
#include <vector>

#include "../../common/common.cuh"

constexpr std::size_t kMaxN = 8_Gi;
constexpr std::size_t kMaxBlock = 512;  // threads per block: 32 KiB of counters in shared memory
constexpr unsigned kCounters = 16;      // the values of a hex digit
constexpr unsigned kWords = 16;         // words per thread: no count passes 128, a byte holds it

// What a kernel reads: n words of eight digits. `counters` is 16, but the compiler does not know.
struct Words {
  const unsigned* x;
  std::size_t n;
  unsigned counters;
};

// Where word k of this thread stands: words of neighbouring threads are neighbours.
__device__ std::size_t word_index(unsigned k) {
  return (static_cast<std::size_t>(blockIdx.x) * kWords + k) * blockDim.x + threadIdx.x;
}

// Leaves this thread's counts as 16 bytes. Every index is a constant once both loops are unrolled.
__device__ void store_as_bytes(const unsigned (&count)[kCounters], uint4* counts) {
  unsigned four[4] = {};
#pragma unroll
  for (unsigned c = 0; c < kCounters; ++c) four[c / 4] |= count[c] << 8 * (c % 4);
  counts[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] =
      make_uint4(four[0], four[1], four[2], four[3]);
}

// Which counter is next, only the data says. Registers have no addresses: the compiler puts the
// array into local memory, where it can compute one.
__global__ void count_run_time_index(Words words, uint4* counts) {
  unsigned count[kCounters];
  for (unsigned& of_digit : count) of_digit = 0;
  for (unsigned k = 0; k < kWords; ++k) {
    const std::size_t i = word_index(k);
    if (i >= words.n) break;  // nobody waits for this thread: there are no barriers here
    for (unsigned shift = 0; shift < 32; shift += 4) ++count[words.x[i] >> shift & 15];
  }
  store_as_bytes(count, counts);
}

// Adds 0 to every counter but one. How often the inner loop turns is known at the launch only, so
// that it cannot be unrolled and c stays an index known at run time.
__global__ void count_not_unrolled(Words words, uint4* counts) {
  unsigned count[kCounters];
  for (unsigned& of_digit : count) of_digit = 0;
  for (unsigned k = 0; k < kWords; ++k) {
    const std::size_t i = word_index(k);
    if (i >= words.n) break;
    for (unsigned shift = 0; shift < 32; shift += 4) {
      const unsigned digit = words.x[i] >> shift & 15;
      for (unsigned c = 0; c < words.counters; ++c) count[c] += digit == c;
    }
  }
  store_as_bytes(count, counts);
}

// The same additions. Unrolled, the loop is 16 lines with an index that is a constant in each.
__global__ void count_constant_index(Words words, uint4* counts) {
  unsigned count[kCounters];
  for (unsigned& of_digit : count) of_digit = 0;
  for (unsigned k = 0; k < kWords; ++k) {
    const std::size_t i = word_index(k);
    if (i >= words.n) break;
    for (unsigned shift = 0; shift < 32; shift += 4) {
      const unsigned digit = words.x[i] >> shift & 15;
#pragma unroll
      for (unsigned c = 0; c < kCounters; ++c) count[c] += digit == c;
    }
  }
  store_as_bytes(count, counts);
}

// Reads count[digit] and writes it back through selects: this works for whatever is to be done with
// the element, and costs two instructions per element of the array each way.
__global__ void count_select_chain(Words words, uint4* counts) {
  unsigned count[kCounters];
  for (unsigned& of_digit : count) of_digit = 0;
  for (unsigned k = 0; k < kWords; ++k) {
    const std::size_t i = word_index(k);
    if (i >= words.n) break;
    for (unsigned shift = 0; shift < 32; shift += 4) {
      const unsigned digit = words.x[i] >> shift & 15;
      unsigned chosen = 0;
#pragma unroll
      for (unsigned c = 0; c < kCounters; ++c) chosen = digit == c ? count[c] : chosen;
      ++chosen;
#pragma unroll
      for (unsigned c = 0; c < kCounters; ++c) count[c] = digit == c ? chosen : count[c];
    }
  }
  store_as_bytes(count, counts);
}

#include "shared_counters.cuh"  // count_shared_rows, count_shared_slots
#include "shifted_counts.cuh"   // count_shifted

// ---- the versions ------------------------------------------------------------------------------

// Words, and a place for the counts of each thread.
struct DigitCounts {
  DigitCounts(const std::vector<unsigned>& values, std::size_t threads)
      : x(values),
        words{x.get(), x.size(), kCounters},
        grid(static_cast<unsigned>(std::max<std::size_t>(1, div_up(x.size(), threads * kWords)))),
        block(static_cast<unsigned>(threads)),
        counts(grid * threads) {}

  std::size_t slot_bytes() const { return block * kCounters * sizeof(unsigned); }

  DeviceArray<unsigned> x;
  Words words;
  unsigned grid, block;
  DeviceArray<uint4> counts;
};

struct DigitVersion {
  const char *name, *summary;
  void (*kernel)(Words words, uint4* counts);  // its registers are asked for
  void (*launch)(const DigitCounts& d);
};
const DigitVersion kVersions[] = {
    {"run_time_index", "the digit is the index: local memory", count_run_time_index,
     [](const DigitCounts& d) {
       count_run_time_index<<<d.grid, d.block>>>(d.words, d.counts.get());
     }},
    {"not_unrolled", "a loop of unknown length: local memory", count_not_unrolled,
     [](const DigitCounts& d) {
       count_not_unrolled<<<d.grid, d.block>>>(d.words, d.counts.get());
     }},
    {"constant_index", "unrolled: every counter a register", count_constant_index,
     [](const DigitCounts& d) {
       count_constant_index<<<d.grid, d.block>>>(d.words, d.counts.get());
     }},
    {"select_chain", "a run-time index by selects", count_select_chain,
     [](const DigitCounts& d) {
       count_select_chain<<<d.grid, d.block>>>(d.words, d.counts.get());
     }},
    {"shifted_counts", "16 counters in one 64-bit register", count_shifted,
     [](const DigitCounts& d) { count_shifted<<<d.grid, d.block>>>(d.words, d.counts.get()); }},
    {"shared_rows", "a thread's counters side by side", count_shared_rows,
     [](const DigitCounts& d) {
       count_shared_rows<<<d.grid, d.block, d.slot_bytes()>>>(d.words, d.counts.get());
     }},
    {"shared_slots", "each lane keeps to its own bank", count_shared_slots,
     [](const DigitCounts& d) {
       count_shared_slots<<<d.grid, d.block, d.slot_bytes()>>>(d.words, d.counts.get());
     }},
};

// 16 counts for each thread of the grid, by division: word i belongs to thread i % block of its
// block.
std::vector<unsigned char> reference(const std::vector<unsigned>& x, const DigitCounts& d) {
  std::vector<unsigned char> counts(d.counts.bytes(), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t thread = i / (kWords * d.block) * d.block + i % d.block;
    unsigned rest = x[i];
    for (unsigned digits = 0; digits < 8; ++digits, rest /= 16) ++counts[thread * 16 + rest % 16];
  }
  return counts;
}

bool check(const std::string& version, const DigitCounts& d,
           const std::vector<unsigned char>& expected) {
  const std::vector<uint4> counts = d.counts.download();
  return all_equal(version, reinterpret_cast<const unsigned char*>(counts.data()), expected.data(),
                   expected.size());
}

// Random words. Where the lanes agree, the 32 words that a warp loads at once are the same.
std::vector<unsigned> words_to_count(std::size_t n, bool lanes_agree, std::uint64_t seed) {
  std::vector<unsigned> words(n);
  for (std::size_t i = 0; i < n; ++i) {
    words[i] = static_cast<unsigned>(random_bits(seed, lanes_agree ? i / 32 : i) >> 32);
  }
  return words;
}

#include "other_rows.cuh"  // --sweep and --show

int add_rows(ResultTable& table, const Device& device, const std::vector<unsigned>& x,
             const DigitCounts& d) {
  if (kOnGpu) table.rate_in_gbps("read", measure_yardstick(device, d.x.bytes()).read_gbps);
  const std::vector<unsigned char> expected = reference(x, d);
  for (const DigitVersion& v : kVersions) {
    if (!table.options().wants(v.name)) continue;
    table.next_row_has(frame_cells(v.kernel));
    add_measured_row(
        table, v.name, static_cast<double>(d.x.bytes()), [&] { d.counts.poison(); },
        [&] { v.launch(d); }, [&] { return check(v.name, d, expected); });
  }
  return table.finish();
}

int main(int argc, char** argv) {
  Options opt("12_registers_and_local_memory", "where do a thread's own variables live?");
  std::size_t n = kOnGpu ? 64_Mi : 250000, block = 256;
  std::string lanes = "differ", sweep, show;
  opt.add("n", &n, 1, kMaxN, "words to count, or ints of a sweep");
  opt.add("block", &block, 1, kMaxBlock, "threads per block");
  opt.add("lanes", &lanes, {"differ", "agree"}, "whether the lanes of a warp load different words");
  opt.add("sweep", &sweep, {"registers", "shared"}, "what limits the blocks of a multiprocessor");
  opt.add("show", &show, {"carveout", "latency"}, "L1 against shared memory; how long things take");
  opt.parse(argc, argv, [&] {
    if (!sweep.empty() && !show.empty()) opt.usage_error("--sweep and --show: one or the other");
    name_rows(opt, sweep + show);
  });
  const Device device = open_device(opt);
  if (!sweep.empty() || !show.empty()) return run_other_rows(opt, device, sweep + show, n);
  const std::size_t bytes = n * sizeof(unsigned);
  require_device_memory(opt, "--n " + std::to_string(n),
                        2 * bytes + (kWords + 1) * block * sizeof(uint4));
  const std::vector<unsigned> x = words_to_count(n, lanes == "agree", opt.seed);
  const DigitCounts data(x, block);
  ResultTable table(
      opt, device,
      "n = " + std::to_string(n) + " · block " + std::to_string(block) + " · lanes " + lanes, bytes,
      {"registers", "local_bytes"});
  return add_rows(table, device, x, data);
}
