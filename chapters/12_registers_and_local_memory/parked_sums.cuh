// SPDX-License-Identifier: MIT
// Chapter 12, --sweep shared and --show carveout: shared memory decides how many blocks a
// multiprocessor holds, and takes from the L1 what it gets. Included by other_rows.cuh.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "../../common/rounds.cuh"
#include "blocks_per_sm.cuh"

constexpr unsigned kParkingBlock = 256;  // threads

// Adds ints, one load at a time: the time is the memory's latency, over all threads that wait
// beside each other. Every thread parks its sum in a slot of its own; the launch asks for as many
// bytes as it likes. kCopy makes kernels of their own, with attributes of their own.
template <unsigned kCopy>
__global__ void sum_parked(const int* x, std::size_t n, long long* sums) {
  extern __shared__ long long parked[];
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  long long sum = 0;
#pragma unroll 1
  for (std::size_t i = first; i < n; i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    sum += x[i];
  }
  parked[threadIdx.x] = sum;
  __syncthreads();  // thread 0 is about to read every slot
  if (threadIdx.x != 0) return;
  for (unsigned t = 1; t < blockDim.x; ++t) sum += parked[t];
  sums[blockIdx.x] = sum;
}

// Every thread reads `reads` elements of a table, here and there: what counts is how much of the
// table the L1 holds. `mask` is the number of elements less one, a power of two.
template <unsigned kCopy>
__global__ void sum_of_table(const int* table, unsigned mask, unsigned reads, Round round,
                             int* sums) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = thread;
  int sum = 0;
  for (unsigned k = 0; k < reads; ++k) {
    v = round(v);
    sum += table[v >> 10 & mask];  // the lower bits of such numbers are less random
  }
  sums[thread] = sum;
}

namespace parked_sums {

// What the kernels read and write.
struct ParkedSums {
  ParkedSums(const Device& on, const std::vector<int>& values)
      : device(on), x(values), sums(static_cast<std::size_t>(on.sm_count) * kMostBlocks) {
    for (const int v : values) expected += v;
  }
  bool is_right(const std::string& name, unsigned grid) const {
    long long sum = 0;
    for (const long long of_block : sums.download(grid)) sum += of_block;
    return equals(name, sum, expected);
  }

  static constexpr unsigned kMostBlocks = 32;  // that an SM holds, on any GPU
  const Device& device;
  DeviceArray<int> x;
  DeviceArray<long long> sums;  // one per block
  long long expected = 0;
};

// One row: a grid of as many blocks as the device holds at once. Its prediction has to be right,
// too, unless there is none.
template <class Kernel>
void add_row(ResultTable& table, const std::string& name, Kernel* kernel, const ParkedSums& p,
             std::size_t bytes, int carveout = -1, bool predictable = true) {
  if (!table.options().wants(name)) return;
  const BlocksHeld held = blocks_per_sm(p.device, kernel, kParkingBlock, bytes, carveout);
  const unsigned grid = static_cast<unsigned>(p.device.sm_count) * std::max(1u, held.by_api);
  table.next_row_has({std::to_string(bytes), predictable ? std::to_string(held.predicted) : "-",
                      std::to_string(held.by_api)});
  add_measured_row(
      table, name, static_cast<double>(p.x.bytes()), [&] { p.sums.poison(); },
      [&] { kernel<<<grid, kParkingBlock, bytes>>>(p.x.get(), p.x.size(), p.sums.get()); },
      [&] { return p.is_right(name, grid) && (held.equal() || !predictable); });
}

// The rows of sweep "shared": the largest block of which so many fit on an SM, and one byte more.
constexpr unsigned kRoomFor[] = {8, 4, 3, 2};
std::string row_name(unsigned blocks, bool one_more) {
  return "room_for_" + std::to_string(blocks) + (one_more ? "_and_a_byte" : "");
}
void name_rows(Options& opt) {
  for (const unsigned blocks : kRoomFor) {
    opt.version(row_name(blocks, false), "the largest block of which so many fit");
    opt.version(row_name(blocks, true), "each block asks for one byte more");
  }
}

// The most bytes that a block can ask for while an SM holds `blocks` of them.
std::size_t most_bytes_for(const SmSupply& sm, unsigned blocks) {
  const std::size_t share = sm.shared_bytes / blocks / sm.shared_portion * sm.shared_portion;
  return std::min(share - sm.reserved_shared_bytes, sm.shared_per_block);
}

void add_rows(ResultTable& table, const Device& device, std::size_t n) {
  const ParkedSums p(device, random_ints(n, 0, 9, table.options().seed));
  const SmSupply sm = supply_of(device);
  const auto kernel = sum_parked<0>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(sm.shared_per_block)));
  for (const unsigned blocks : kRoomFor) {
    for (const bool one_more : {false, true}) {
      const std::size_t bytes = most_bytes_for(sm, blocks) + one_more;
      if (bytes > sm.shared_per_block) continue;  // where one block may have all that there is
      add_row(table, row_name(blocks, one_more), kernel, p, bytes);
    }
  }
}

// ---- the split of L1 and shared memory ---------------------------------------------------------

constexpr std::size_t kParkedBytes = 24 * 1024;  // per block: eight of them want 200 KiB
constexpr unsigned kTableInts = 32 * 1024;       // 128 KiB, read by all blocks
constexpr unsigned kTableBlock = 1024;           // threads
constexpr unsigned kReads = kOnGpu ? 1024 : 16;

// A table that all blocks read; one block per SM.
struct Table {
  Table(const Device& device, std::uint64_t seed)
      : values(random_ints(kTableInts, 0, 1000, seed)),
        table(values),
        grid(static_cast<unsigned>(device.sm_count)),
        sums(std::size_t{grid} * kTableBlock) {
    for (std::size_t thread = 0; thread < sums.size(); ++thread) {
      unsigned v = static_cast<unsigned>(thread);
      int sum = 0;
      for (unsigned k = 0; k < kReads; ++k) sum += values[(v = kRound(v)) / 1024 % kTableInts];
      expected.push_back(sum);
    }
  }

  template <unsigned kCopy>
  void launch() const {
    sum_of_table<kCopy>
        <<<grid, kTableBlock>>>(table.get(), kTableInts - 1, kReads, kRound, sums.get());
  }
  bool is_right(const std::string& name) const {
    return all_equal(name, sums.download().data(), expected.data(), expected.size());
  }

  std::vector<int> values;
  DeviceArray<int> table;
  unsigned grid;
  DeviceArray<int> sums;
  std::vector<int> expected;
};

// What a kernel can be told about the split.
struct Wish {
  const char* name;
  int carveout;  // per cent, -1: none
  cudaFuncCache config;
};
const Wish kCarveouts[] = {
    {"default", -1, cudaFuncCachePreferNone},     {"carveout_0", 0, cudaFuncCachePreferNone},
    {"carveout_25", 25, cudaFuncCachePreferNone}, {"carveout_50", 50, cudaFuncCachePreferNone},
    {"carveout_75", 75, cudaFuncCachePreferNone}, {"carveout_100", 100, cudaFuncCachePreferNone},
};
const Wish kConfigs[] = {{"prefer_l1", -1, cudaFuncCachePreferL1},
                         {"prefer_shared", -1, cudaFuncCachePreferShared}};

template <class Kernel>
void tell(Kernel* kernel, const Wish& wish) {
  CUDA_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, wish.carveout));
  if (wish.config != cudaFuncCachePreferNone) {
    CUDA_CHECK(cudaFuncSetCacheConfig(kernel, wish.config));
  }
}

// Two rows for each wish: the kernel that wants the L1, and the one that wants shared memory.
std::string table_row(const Wish& wish) { return std::string("table_") + wish.name; }
std::string parked_row(const Wish& wish) { return std::string("parked_") + wish.name; }

template <unsigned kCopy>
void add_pair_of_rows(ResultTable& table, const ParkedSums& p, const Table& t, const Wish& wish) {
  if (table.options().wants(table_row(wish))) {
    tell(sum_of_table<kCopy>, wish);
    table.next_row_has({"0", "-", "-"});
    add_measured_row(
        table, table_row(wish), 0.0, [&] { t.sums.poison(); }, [&] { t.launch<kCopy>(); },
        [&] { return t.is_right(table_row(wish)); });
  }
  tell(sum_parked<kCopy>, wish);
  add_row(table, parked_row(wish), sum_parked<kCopy>, p, kParkedBytes, wish.carveout,
          wish.config == cudaFuncCachePreferNone);
}

// Show "carveout". Copy 1 is told by attribute, copies 2 and 3 by what came before that.
void add_carveout_rows(ResultTable& table, const Device& device, std::size_t n) {
  const ParkedSums p(device, random_ints(n, 0, 9, table.options().seed));
  const Table t(device, table.options().seed);
  table.without_speedup();
  for (const Wish& wish : kCarveouts) add_pair_of_rows<1>(table, p, t, wish);
  add_pair_of_rows<2>(table, p, t, kConfigs[0]);
  add_pair_of_rows<3>(table, p, t, kConfigs[1]);
}
void name_carveout_rows(Options& opt) {
  const auto name = [&](const Wish& wish) {
    opt.version(table_row(wish), "reads all over 128 KiB, wants them in the L1");
    opt.version(parked_row(wish), "24 KiB of shared memory per block");
  };
  for (const Wish& wish : kCarveouts) name(wish);
  for (const Wish& wish : kConfigs) name(wish);
}

}  // namespace parked_sums
