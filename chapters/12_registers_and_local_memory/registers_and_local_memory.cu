// SPDX-License-Identifier: MIT
// Chapter 12: where do a thread's own variables live?
// Each thread counts hex digits in 16 counters.
// run_time_index   the digit is the index of the counter: the array goes to local memory
// not_unrolled     every counter is looked at, in a loop of unknown length: local memory again
// constant_index   the same loop, of known length and unrolled: the counters are registers
// select_chain     an array of registers with a run-time index, imitated by 16 selects
// shifted_counts   the counters are fields of one 64-bit variable, the index becomes a shift
// shared_rows      shared memory, the 16 counters of a thread side by side: banks conflict
// shared_slots     shared memory, counters of neighbouring threads side by side: a bank per lane
// Run: make run CH=12

#include "../../common/common.cuh"

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
// the element, and costs a select per element of the array each way, and comparisons.
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

// A word has eight digits, so that no count within it passes 8: 16 counters of four bits fill one
// 64-bit variable. Behind each word they are added to bytes, those of even and of odd digits apart.
__global__ void count_shifted(Words words, uint4* counts) {
  constexpr unsigned long long kEven = 0x0f0f0f0f0f0f0f0full;
  unsigned long long even = 0, odd = 0;
  for (unsigned k = 0; k < kWords; ++k) {
    const std::size_t i = word_index(k);
    if (i >= words.n) break;
    unsigned long long in_word = 0;
    for (unsigned shift = 0; shift < 32; shift += 4) {
      in_word += 1ull << 4 * (words.x[i] >> shift & 15);
    }
    even += in_word & kEven;
    odd += in_word >> 4 & kEven;
  }
  unsigned count[kCounters];
#pragma unroll
  for (unsigned c = 0; c < kCounters; ++c) count[c] = (c % 2 ? odd : even) >> 8 * (c / 2) & 255;
  store_as_bytes(count, counts);
}

// Counts in shared memory: counter c of this thread is slots[c * step]. No other thread touches
// them, so that no barrier is needed.
__device__ void count_in_slots(Words words, unsigned* slots, unsigned step, uint4* counts) {
  for (unsigned c = 0; c < kCounters; ++c) slots[c * step] = 0;
  for (unsigned k = 0; k < kWords; ++k) {
    const std::size_t i = word_index(k);
    if (i >= words.n) break;
    const unsigned word = words.x[i];
    for (unsigned shift = 0; shift < 32; shift += 4) ++slots[(word >> shift & 15) * step];
  }
  unsigned count[kCounters];
#pragma unroll
  for (unsigned c = 0; c < kCounters; ++c) count[c] = slots[c * step];
  store_as_bytes(count, counts);
}

// Lane t has banks 16t ... 16t + 15 of 32: all even lanes share one half of the banks.
__global__ void count_shared_rows(Words words, uint4* counts) {
  extern __shared__ unsigned all_slots[];
  count_in_slots(words, all_slots + threadIdx.x * kCounters, 1, counts);
}

// Whatever the digit, lane t is in bank t, provided that the block is whole warps.
__global__ void count_shared_slots(Words words, uint4* counts) {
  extern __shared__ unsigned all_slots[];
  count_in_slots(words, all_slots + threadIdx.x, blockDim.x, counts);
}

// ---- the versions ------------------------------------------------------------------------------

// Random words; so many in a row are alike. With 32 the lanes of a warp meet the same digits.
std::vector<unsigned> words_to_count(std::size_t n, std::size_t alike, std::uint64_t seed) {
  std::vector<unsigned> words(n);
  for (std::size_t i = 0; i < n; ++i)
    words[i] = static_cast<unsigned>(random_bits(seed, i / alike) >> 32);
  return words;
}

// Words, and 16 bytes for the counts of each thread.
struct DigitCounts {
  // What is expected, by division: word i belongs to thread i % block of its block.
  DigitCounts(const std::vector<unsigned>& values, unsigned threads)
      : x(values), block(threads), expected(counts.bytes(), 0) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t thread = i / (kWords * block) * block + i % block;
      unsigned rest = values[i];
      for (unsigned k = 0; k < 8; ++k, rest /= 16) ++expected[thread * 16 + rest % 16];
    }
  }

  void poison() const { counts.poison(); }
  bool is_right(const std::string& version) const {
    const std::vector<uint4> found = counts.download();
    const auto* const bytes = reinterpret_cast<const unsigned char*>(found.data());
    return all_equal(version, {bytes, bytes + counts.bytes()}, expected);
  }

  DeviceArray<unsigned> x;
  unsigned block;
  unsigned grid = blocks_for(x.size(), kWords* block);
  Words words{x, x.size(), kCounters};
  DeviceArray<uint4> counts{std::size_t{grid} * block};
  std::vector<unsigned char> expected;
};

// A version, and its kernel once more: the table shows its registers and its local memory.
struct DigitVersion : Version<DigitCounts> {
  void (*kernel)(Words words, uint4* counts);
};

// Launches its kernel with so many counters per thread in shared memory.
template <auto kKernel, unsigned kSlots = 0>
DigitVersion version(const char* name, const char* summary) {
  const auto launch = [](const DigitCounts& d) {
    kKernel<<<d.grid, d.block, d.block * kSlots * sizeof(unsigned)>>>(d.words, d.counts);
  };
  return {{name, summary, launch}, kKernel};
}

const DigitVersion kVersions[] = {
    version<count_run_time_index>("run_time_index", "the digit is the index: local memory"),
    version<count_not_unrolled>("not_unrolled", "a loop of unknown length: local memory"),
    version<count_constant_index>("constant_index", "unrolled: every counter a register"),
    version<count_select_chain>("select_chain", "a run-time index by selects"),
    version<count_shifted>("shifted_counts", "16 counters in one 64-bit variable"),
    version<count_shared_rows, kCounters>("shared_rows", "a thread's counters side by side"),
    version<count_shared_slots, kCounters>("shared_slots", "each lane keeps to its own bank"),
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000, block = 256, alike = 1;
  const Options opt(argc, argv, "12_registers_and_local_memory",
                    "where do a thread's own variables live?",
                    {{"n", &n, 1, 8_Gi, "words to count"},
                     {"block", &block, 1, kMaxBlock, "threads per block"},
                     {"alike", &alike, 1, 1_Ki, "words in a row that are alike; 32: a warp's"}});
  const std::size_t bytes = n * sizeof(unsigned);
  ResultTable table(opt, bytes, n + kWords * block * sizeof(uint4), {"registers", "local_bytes"});
  table.rate_in("GB/s", "read", measured_read_gbps(bytes));

  const DigitCounts d(words_to_count(n, alike, opt.seed), block);
  for (const DigitVersion& v : kVersions) {
    cudaFuncAttributes frame;  // where the compiler has put this kernel's variables
    CUDA_CHECK(cudaFuncGetAttributes(&frame, v.kernel));
    table.next_row_has(frame.numRegs, frame.localSizeBytes);
    table.add(v, d);
  }
  return table.finish();
}
