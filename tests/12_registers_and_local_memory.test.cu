// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/12_registers_and_local_memory/registers_and_local_memory.cu"
#undef main

#include <functional>

#include "../chapters/12_registers_and_local_memory/experiments/latencies.cuh"
#include "../chapters/12_registers_and_local_memory/experiments/register_bounds.cuh"
#include "kernel_testing.cuh"

#define main experiment_main
namespace carveout {
#include "../chapters/12_registers_and_local_memory/experiments/carveout.cu"
}
namespace launch_bounds {
#include "../chapters/12_registers_and_local_memory/experiments/launch_bounds.cu"
}
namespace memory_latency {
#include "../chapters/12_registers_and_local_memory/experiments/memory_latency.cu"
}
namespace one_byte_more {
#include "../chapters/12_registers_and_local_memory/experiments/one_byte_more.cu"
}
namespace operation_latency {
#include "../chapters/12_registers_and_local_memory/experiments/operation_latency.cu"
}
namespace spilled_cells {
#include "../chapters/12_registers_and_local_memory/experiments/spilled_cells.cu"
}
#undef main

#include <cstdlib>

namespace {

// Words that show a wrong counter, a wrong digit or a wrong word.
struct NamedWords {
  std::string name;
  std::vector<unsigned> values;
};
std::vector<NamedWords> words_of_every_kind(std::size_t n) {
  std::vector<unsigned> indices(n), one_digit(n);
  for (std::size_t i = 0; i < n; ++i) {
    indices[i] = static_cast<unsigned>(i) * 0x9e3779b1u;  // no two alike
    one_digit[i] = static_cast<unsigned>(i % 16) * 0x11111111u;
  }
  return {{"random", words_to_count(n, 1, 3)},
          {"lanes agree", words_to_count(n, 32, 4)},
          {"index-valued", indices},
          {"one digit per word", one_digit},
          {"all f", std::vector<unsigned>(n, 0xffffffffu)}};
}

// Sums that a kernel leaves, one per thread, where poison was before.
template <class Launch>
std::vector<unsigned> sums_left(std::size_t threads, Launch&& launch) {
  const DeviceArray<unsigned> sums(threads);
  launch(sums.get());
  CUDA_CHECK_LAUNCH();
  return sums.download();
}

// What a device that is not here says of itself.
struct Chip {
  int capability;
  cudaDeviceProp sm;
};
cudaDeviceProp supply(int threads, int blocks, std::size_t shared_kib, std::size_t block_kib,
                      std::size_t reserved, int major = 9, int minor = 0) {
  cudaDeviceProp sm = {};
  sm.major = major;
  sm.minor = minor;
  sm.maxThreadsPerMultiProcessor = threads;
  sm.maxBlocksPerMultiProcessor = blocks;
  sm.regsPerMultiprocessor = sm.regsPerBlock = 65536;
  sm.sharedMemPerMultiprocessor = shared_kib * 1024;
  sm.sharedMemPerBlockOptin = block_kib * 1024;
  sm.reservedSharedMemPerBlock = reserved;
  return sm;
}
std::vector<Chip> chips() {
  return {
      {75, supply(1024, 16, 64, 64, 0, 7, 5)},      {80, supply(2048, 32, 164, 163, 1024, 8, 0)},
      {86, supply(1536, 16, 100, 99, 1024, 8, 6)},  {89, supply(1536, 24, 100, 99, 1024, 8, 9)},
      {90, supply(2048, 32, 228, 227, 1024, 9, 0)}, {100, supply(2048, 32, 228, 227, 1024, 10, 0)},
      {120, supply(1536, 24, 100, 99, 1024, 12, 0)}};
}

// The whole rule: registers in one experiment, shared memory in another; the least counts.
int predicted_blocks(const cudaDeviceProp& sm, int threads, int registers, std::size_t bytes) {
  const int by_registers = blocks_by_registers(sm, threads, registers);
  if (bytes + sm.reservedSharedMemPerBlock == 0) return by_registers;  // it wants none
  return std::min(by_registers, one_byte_more::blocks_by_shared(sm, threads, bytes));
}
template <class Kernel>
int predicted_blocks(const cudaDeviceProp& sm, Kernel* kernel, int threads, std::size_t bytes) {
  cudaFuncAttributes frame;
  CUDA_CHECK(cudaFuncGetAttributes(&frame, kernel));
  return predicted_blocks(sm, threads, frame.numRegs, frame.sharedSizeBytes + bytes);
}
template <class Kernel>
int blocks_by_api(Kernel* kernel, int threads, std::size_t bytes) {
  int blocks = -1;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes));
  return blocks;
}

// Runs a chain, whose steps are counted in the end's cycles, and says where it ended.
template <class End, class Launch>
auto end_of_chain(Launch&& launch) {
  const DeviceArray<End> end(1);
  launch(end.get());
  CUDA_CHECK_LAUNCH();
  const End found = end.download()[0];
  CHECK(found.cycles > 0);
  return found.value;
}

// Chains of one step in each thread of a block. The step of thread `slow` waits for so many cycles.
__global__ void time_slow_step(ChainEnd<unsigned>* ends, unsigned slow, long long cycles) {
  const bool waits = threadIdx.x == slow;
  time_chain(ends + threadIdx.x, threadIdx.x, 1, [=](unsigned v) {
    for (const long long begin = clock64(); waits && clock64() - begin < cycles;) continue;
    return v + 1;
  });
}

// How much a cell of the beginning counts at the end, by another way: without ends there are as
// many ways over d cells in so many rounds as a binomial coefficient says; a zero beyond each end
// is a mirror that turns the sign.
std::vector<unsigned> weights_by_mirrors(unsigned rounds) {
  constexpr unsigned kCells = spilled_cells::kCells;
  std::vector<unsigned> ways(rounds + 1, 0);  // to go right so many times
  ways[0] = 1;
  for (unsigned round = 1; round <= rounds; ++round) {
    for (unsigned right = round; right > 0; --right) ways[right] += ways[right - 1];
  }
  constexpr int kPeriod = 2 * (kCells + 1);
  std::vector<unsigned> weights(kCells, 0);
  for (int from = 0; from < static_cast<int>(kCells); ++from) {
    for (int right = 0; right <= static_cast<int>(rounds); ++right) {
      const int place = from + 1 + 2 * right - static_cast<int>(rounds);  // an end is at 0
      const int folded = (place % kPeriod + kPeriod) % kPeriod;
      const bool mirrored = folded > static_cast<int>(kCells) + 1;
      const int end = mirrored ? kPeriod - folded : folded;  // 0 and kCells + 1 are zeros
      if (end == static_cast<int>(kCells) + 1) continue;
      const auto weight = static_cast<unsigned>(end) * ways[static_cast<unsigned>(right)];
      weights[static_cast<unsigned>(from)] += mirrored ? 0 - weight : weight;
    }
  }
  return weights;
}

// The pair that is so many steps further in Fibonacci's series, by doubling: from the numbers k and
// k + 1 of the series 0, 1, 1, 2, ... follow those with twice the index.
operation_latency::Pair fibonacci_after(operation_latency::Pair pair, unsigned steps) {
  unsigned a = 0, b = 1;  // numbers k and k + 1, where k is made of the leading bits of `steps`
  for (unsigned bit = 1u << 31; bit != 0; bit /= 2) {
    const unsigned even = a * (2 * b - a), odd = a * a + b * b;
    a = (steps & bit) != 0 ? odd : even;
    b = (steps & bit) != 0 ? even + odd : odd;
  }
  return {pair.last * (b - a) + pair.next * a, pair.last * a + pair.next * b};
}

}  // namespace

TEST_CASE("every version counts every digit of every thread at awkward sizes, whatever the words") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedWords& input : words_of_every_kind(n)) {
      if (n > 3000 && input.name != "index-valued") continue;  // the kind that shows most
      INFO("n = " << n << ", " << input.name);
      check_all(kVersions, DigitCounts(input.values, 256));
    }
  }
}

TEST_CASE("every version works with any block size, whole warps or not") {
  for (const unsigned block : {1u, 31u, 32u, 33u, 96u, 250u, 256u, 512u}) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{257}, std::size_t{5003}}) {
      INFO("block " << block << ", n = " << n);
      check_all(kVersions, DigitCounts(words_to_count(n, 1, block), block));
    }
  }
}

TEST_CASE("no launch trips over what earlier ones left, and doing nothing is not right") {
  const std::vector<unsigned> words = words_to_count(small_sizes() ? 1031 : 10007, 1, 5);
  check_repeated(kVersions, DigitCounts(words, 256));
}

TEST_CASE("the reference counts each thread's own words") {
  // Threads 0 and 1 of a block of two have the even and the odd words: 16 each, then another block.
  std::vector<unsigned> words(34, 0x00000001u);
  words[1] = 0xfedcba98u, words[32] = 0x22222222u;
  const std::vector<unsigned char> counts = DigitCounts(words, 2).expected;
  REQUIRE(counts.size() == 4 * 16);
  CHECK(int{counts[0]} == 16 * 7);
  CHECK(int{counts[1]} == 16);
  CHECK(int{counts[16 + 15]} == 1);
  CHECK(int{counts[16 + 1]} == 15);
  CHECK(int{counts[32 + 2]} == 8);
  CHECK(int{counts[48 + 0]} == 7);
}

TEST_CASE("the checker rejects one wrong count") {
  std::vector<unsigned> words = words_to_count(1000, 1, 5);
  const DigitCounts d(words, 256);
  REQUIRE(runs_right(kVersions[0], d));
  words[999] ^= 1;
  CHECK_FALSE(DigitCounts(words, 256).expected == d.expected);
  CUDA_CHECK(cudaMemcpy(d.x, words.data(), d.x.bytes(), cudaMemcpyHostToDevice));
  CHECK_FALSE(runs_right(kVersions[0], d));
}

TEST_CASE("lanes that agree have one word per warp, others have not") {
  const std::vector<unsigned> agree = words_to_count(96, 32, 1);
  const std::vector<unsigned> differ = words_to_count(96, 1, 1);
  for (std::size_t i = 0; i < 96; ++i) CHECK(agree[i] == agree[i / 32 * 32]);
  CHECK(agree[0] != agree[32]);
  CHECK(differ[0] != differ[1]);
}

namespace {

// At awkward sizes, with any values, for all bounds. A thread holds so many values;
// `launch(version, grid, x, sums)` leaves what sums_of_threads() expects.
template <class Versions, class Expected, class Launch>
void check_sums_of_threads(const Versions& versions, unsigned held, Expected sums_of_threads,
                           Launch launch) {
  for (const std::size_t n : sizes_to_test()) {
    if (n > 100000) continue;
    const unsigned grid = blocks_for(n, held * kHoldingBlock);
    for (const NamedInts& input : ints_of_every_kind(n)) {
      const DeviceArray<int> x(input.values);
      const std::vector<unsigned> expected = sums_of_threads(input.values, grid);
      for (const auto& v : versions) {
        if (!kOnGpu && n != 257 && &v != versions) continue;  // all alike there
        INFO(v.name << ", n = " << n << ", " << input.name);
        CHECK(sums_left(expected.size(), [&](unsigned* sums) { launch(v, grid, x, sums); }) ==
              expected);
      }
    }
  }
}

}  // namespace

TEST_CASE("sums of pairs are right at awkward sizes, with any values, for all bounds",
          "[launch_bounds]") {
  check_sums_of_threads(launch_bounds::kVersions, launch_bounds::kHeld,
                        launch_bounds::sums_of_threads,
                        [](const auto& v, unsigned grid, const auto& x, unsigned* sums) {
                          v.kernel<<<grid, kHoldingBlock>>>(x, x.size(), sums);
                        });
}

TEST_CASE("sums of rods are right at awkward sizes, with any values, for all bounds",
          "[spilled_cells]") {
  using namespace spilled_cells;
  check_sums_of_threads(spilled_cells::kVersions, kCells, spilled_cells::sums_of_threads,
                        [](const auto& v, unsigned grid, const auto& x, unsigned* sums) {
                          v.kernel<<<grid, kHoldingBlock>>>(x, x.size(), kRounds, sums);
                        });
}

TEST_CASE("each thread holds its own values, a block's threads side by side",
          "[launch_bounds][spilled_cells]") {
  // Two blocks; the second has values for its first two threads only.
  const std::size_t of_block = launch_bounds::kHeld * kHoldingBlock;
  std::vector<int> x(of_block + 2, 0);
  x[kHoldingBlock + 3] = 5;  // the second value of thread 3, and 63 zeros
  x[of_block + 1] = -7;
  const std::vector<unsigned> pairs = launch_bounds::sums_of_threads(x, 2);
  for (std::size_t t = 0; t < pairs.size(); ++t) {
    CHECK(pairs[t] == (t == 3 ? 63 * 5u : t == kHoldingBlock + 1 ? 63 * 7u : 0u));
  }
  const std::size_t of_rods = spilled_cells::kCells * kHoldingBlock;
  std::vector<int> cells(of_rods + 2, 0);
  cells[kHoldingBlock + 3] = 5;
  cells[of_rods + 1] = 7;
  const std::vector<unsigned> weights = weights_by_mirrors(spilled_cells::kRounds);
  const std::vector<unsigned> rods = spilled_cells::sums_of_threads(cells, 2);
  for (std::size_t t = 0; t < rods.size(); ++t) {
    const bool first_of_second = t == kHoldingBlock + 1;
    CHECK(rods[t] == (t == 3 ? 5 * weights[1] : first_of_second ? 7 * weights[0] : 0u));
  }
}

TEST_CASE("distances by sorting are those of all pairs", "[launch_bounds]") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{64}}) {
    const std::vector<int> values = random_ints(count, -50, 50, count);
    int sum = 0;
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < a; ++b) sum += std::abs(values[a] - values[b]);
    }
    CHECK(launch_bounds::sum_of_distances(values) == static_cast<unsigned>(sum));
  }
}

TEST_CASE("the weights of a rod's cells are those of its rounds, also when ends are met often",
          "[spilled_cells]") {
  for (const unsigned rounds : {0u, 1u, 2u, 33u, 161u, 500u}) {
    INFO(rounds << " rounds");
    CHECK(spilled_cells::weights_of_cells(rounds) == weights_by_mirrors(rounds));
  }
}

TEST_CASE("parked sums are right for any grid, any n and any bytes of shared memory",
          "[one_byte_more][carveout]") {
  constexpr unsigned kThreads = one_byte_more::kParkingBlock;
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{5003}}) {
    const std::vector<int> ints = random_ints(n, -9, 9, 3);
    const DeviceArray<int> x(ints);
    for (const unsigned grid : {1u, 3u, 31u}) {
      std::vector<long long> expected(grid + 1, 0);
      for (std::size_t i = 0; i < n; ++i) expected[i / kThreads % grid] += ints[i];
      expected[grid] = -1;  // poison: nothing behind the last block's place
      for (const std::size_t bytes : {kThreads * sizeof(long long), std::size_t{48} * 1024}) {
        INFO("n = " << n << ", grid " << grid << ", " << bytes << " bytes");
        for (const auto kernel : {one_byte_more::sum_parked, carveout::sum_parked<1>}) {
          const DeviceArray<long long> sums(grid + 1);
          kernel<<<grid, kThreads, bytes>>>(x, n, sums);
          CUDA_CHECK_LAUNCH();
          CHECK(sums.download() == expected);
        }
      }
    }
  }
}

TEST_CASE("the sums over the table are those of every thread", "[carveout]") {
  const std::vector<int> table = random_ints(64, 0, 1000, 3);
  const DeviceArray<int> d_table(table), d_sums(5 * 33 + 1);
  for (const unsigned reads : {0u, 1u, 2u, 17u}) {
    d_sums.poison();
    carveout::sum_of_table<1><<<5, 33>>>(d_table, 63, reads, carveout::kRound, d_sums);
    CUDA_CHECK_LAUNCH();
    std::vector<int> expected(5 * 33 + 1, 0);
    expected.back() = -1;
    for (unsigned thread = 0; thread < 5 * 33; ++thread) {
      unsigned v = thread;
      for (unsigned k = 0; k < reads; ++k) {
        v = v * 1664525u + 1013904223u;
        expected[thread] += table[v / 1024 % 64];
      }
    }
    INFO(reads << " reads");
    CHECK(d_sums.download() == expected);
  }
}

TEST_CASE("chains end where their steps lead, however many there are", "[operation_latency]") {
  using namespace operation_latency;
  for (const unsigned steps : {0u, 1u, 2u, 17u, 128u, 300u}) {
    INFO(steps << " steps");
    Pair pair{2, 5};
    unsigned number = 7;
    for (unsigned k = 0; k < steps; ++k) {
      pair = {pair.next, pair.last + pair.next};
      number = number * 1664525u + 1013904223u;
    }
    const float counted = 3.0f + static_cast<float>(steps);
    CHECK(fibonacci_after({2, 5}, steps) == pair);
    CHECK(end_of_chain<ChainEnd<Pair>>([&](auto* end) {
            chain_int_adds<<<1, 1>>>(end, {2, 5}, steps);
          }) == pair);
    CHECK(end_of_chain<ChainEnd<unsigned>>(
              [&](auto* end) { chain_int_rounds<<<1, 1>>>(end, 7, steps, kRound); }) == number);
    CHECK(end_of_chain<ChainEnd<float>>(
              [&](auto* end) { chain_float_adds<<<1, 1>>>(end, 3.0f, steps); }) == counted);
    CHECK(end_of_chain<ChainEnd<float>>(
              [&](auto* end) { chain_float_fmas<<<1, 1>>>(end, 3.0f, steps, 1.0f); }) == counted);
    CHECK(end_of_chain<ChainEnd<double>>(
              [&](auto* end) { chain_double_adds<<<1, 1>>>(end, 3.0, steps); }) == 3.0 + steps);
  }
  CHECK(end_of_chain<ChainEnd<float>>([&](auto* end) {
          chain_float_fmas<<<1, 1>>>(end, 3.0f, 2, 2.0f);
        }) == 15.0f);  // 2 * (2 * 3 + 1) + 1
}

TEST_CASE("walks end where their links lead, in every memory", "[memory_latency]") {
  using namespace memory_latency;
  std::vector<unsigned> ring(kRing);
  for (unsigned k = 0; k < kRing; ++k) ring[k] = (k * 5 + 3) % kRing;  // a ring through all places
  const DeviceArray<unsigned> d_links(ring);
  const Links links{d_links, texture_over(d_links)};
  CUDA_CHECK(cudaMemcpyToSymbol(constant_ring, ring.data(), kRing * sizeof(unsigned)));
  for (const unsigned steps : {0u, 1u, 2u, 17u, 128u, 300u}) {
    unsigned at = 11;
    for (unsigned k = 0; k < steps; ++k) at = ring[at];
    for (const Memory& memory : kMemories) {
      INFO(memory.name << ", " << steps << " steps");
      CHECK(end_of_chain<WalkEnd>(
                [&](auto* end) { memory.walk<<<1, 1>>>(end, 11, steps, links); }) == at);
    }
  }
  CUDA_CHECK(cudaDestroyTextureObject(links.texture));
}

TEST_CASE("a walk from DRAM meets no line twice", "[memory_latency]") {
  using namespace memory_latency;
  for (const Memory& memory : kMemories) {
    if (!memory.from_dram) continue;
    const std::size_t lines = memory.bytes / (kFarApart * sizeof(unsigned));
    const std::size_t longest = 2 * longest_from_dram(memory);
    const std::vector<unsigned> links = ring_of(memory.bytes, memory.step);
    std::vector<bool> met(lines);
    for (unsigned at = 0, k = 0; k < longest; ++k, at = links[at]) {
      CHECK_FALSE(met[at / kFarApart]);
      met[at / kFarApart] = true;
    }
    CHECK(longest == lines);
  }
}

TEST_CASE("barriers of any number of warps are counted", "[operation_latency]") {
  for (const unsigned warps : {1u, 2u, 32u}) {
    for (const unsigned steps : {0u, 1u, 128u, 300u}) {
      INFO(warps << " warps, " << steps << " steps");
      CHECK(end_of_chain<ChainEnd<unsigned>>([&](auto* end) {
              operation_latency::chain_barriers<<<1, 32 * warps>>>(end, 7, steps);
            }) == 7 + steps);
    }
  }
}

TEST_CASE("what a chain needs is done before each, and each goes on where the last one ended") {
  CommandLine typed({"--samples", "2"});
  const Options opt(typed.argc(), typed.argv.data(), "12_example", "how long?", {});
  ResultTable table(opt, 1);
  table.rate_in("cycles/step");
  std::string order;
  add_latency(
      table, 4, "adds", 1.0f, [](float v) { return v + 1; },
      [&](ChainEnd<float>* end, float v, unsigned many) {
        order += std::to_string(static_cast<int>(v)) + "+" + std::to_string(many) + " ";
        operation_latency::chain_float_adds<<<1, 1>>>(end, v, many);
      },
      [&] { order += "before "; });
  CHECK(order == "before 1+4 before 5+8 before 13+4 before 17+8 before 25+4 before 29+8 ");
  CHECK(table.finish() == kExitOk);
}

TEST_CASE("every thread's clock is read before the first step and behind the last",
          "[operation_latency][memory_latency]") {
  constexpr unsigned kThreads = 64;
  constexpr long long kCycles = 200000;
  for (const unsigned slow : {0u, 1u, 31u, 32u, kThreads - 1}) {
    const DeviceArray<ChainEnd<unsigned>> d_ends(kThreads);
    const double began_ms = host_ms();
    time_slow_step<<<1, kThreads>>>(d_ends, slow, kCycles);
    CUDA_CHECK_LAUNCH();
    const std::vector<ChainEnd<unsigned>> ends = d_ends.download();
    const double most = 1e7 * (host_ms() - began_ms);  // cycles in that time, of a clock of 10 GHz
    for (unsigned t = 0; t < kThreads; ++t) {
      INFO("thread " << t << ", the slow one is " << slow);
      CHECK(ends[t].value == t + 1);
      // A warp of a GPU may read its clock while it still waits at a barrier for another warp.
      if (!kOnGpu || t / 32 == slow / 32) CHECK(ends[t].cycles >= kCycles);
      CHECK(static_cast<double>(ends[t].cycles) <= most);
    }
  }
}

TEST_CASE("a ring leads through every place of its step and back", "[memory_latency]") {
  const std::vector<unsigned> ring = memory_latency::ring_of(128 * sizeof(unsigned), 32);
  REQUIRE(ring.size() == 128);
  CHECK(ring[0] == 32);
  CHECK(ring[96] == 0);
  CHECK(ring[127] == 31);
}

TEST_CASE("predicted blocks are the runtime's, for every kernel, block and amount of memory",
          "[launch_bounds][spilled_cells][one_byte_more]") {
  const Device device = describe_device(0);
  for (const int block :
       {1, 31, 32, 33, 64, 96, 128, 160, 250, 256, 384, 512, 640, 768, 1000, 1024}) {
    INFO("block " << block);
    for (const DigitVersion& v : kVersions) {
      for (const std::size_t bytes : {0, 1, 127, 128, 1000, 16384, 16385, 45000, 49152}) {
        INFO(v.name << ", " << bytes << " bytes");
        CHECK(predicted_blocks(device, v.kernel, block, bytes) ==
              blocks_by_api(v.kernel, block, bytes));
      }
    }
    if (block > static_cast<int>(kHoldingBlock)) continue;
    const auto check = [&](const auto& v) {
      INFO(v.name);
      CHECK(predicted_blocks(device, v.kernel, block, 0) == blocks_by_api(v.kernel, block, 0));
    };
    for (const auto& v : launch_bounds::kVersions) check(v);
    for (const auto& v : spilled_cells::kVersions) check(v);
  }
  const auto kernel = one_byte_more::sum_parked;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(device.sharedMemPerBlockOptin)));
  for (const int blocks : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const std::size_t most =
        one_byte_more::most_bytes_for(device, static_cast<std::size_t>(blocks));
    for (std::size_t bytes = most - 2; bytes <= std::min(most + 2, device.sharedMemPerBlockOptin);
         ++bytes) {
      const int held = blocks_by_api(kernel, one_byte_more::kParkingBlock, bytes);
      INFO(blocks << " blocks, " << bytes << " bytes");
      CHECK(predicted_blocks(device, kernel, one_byte_more::kParkingBlock, bytes) == held);
      if (bytes <= most) CHECK(held >= blocks);
      if (bytes > most) CHECK(held < blocks);
    }
  }
}

TEST_CASE("predicted blocks follow a wish for the split of L1 and shared memory", "[carveout]") {
  const Device device = describe_device(0);
  const auto kernel = carveout::sum_parked<7>;
  for (int percent = -1; percent <= 100; ++percent) {
    CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
    for (const std::size_t bytes : {std::size_t{2048}, std::size_t{8000}, std::size_t{24576}}) {
      INFO("carve-out " << percent << ", " << bytes << " bytes");
      CHECK(carveout::blocks_predicted(device, bytes, percent) ==
            blocks_by_api(kernel, carveout::kParkingBlock, bytes));
    }
  }
}

TEST_CASE("the rule holds for chips that are not here, as the toolkit's calculator has it",
          "[launch_bounds][spilled_cells][one_byte_more]") {
  const std::vector<Chip> all = chips();
  struct Needs {
    int threads, registers;
    std::size_t shared_bytes;
  };
  struct Sample {
    Needs needs;
    int blocks[7];  // on each of the chips
  };
  const Sample samples[] = {
      // computed by cuda_occupancy.h of CUDA 13.0
      {{32, 24, 0}, {16, 32, 16, 24, 32, 32, 24}}, {{33, 40, 0}, {16, 24, 16, 24, 24, 24, 24}},
      {{64, 255, 0}, {4, 4, 4, 4, 4, 4, 4}},       {{96, 72, 0}, {9, 9, 9, 9, 9, 9, 9}},
      {{128, 32, 0}, {8, 16, 12, 12, 16, 16, 12}}, {{128, 63, 0}, {8, 8, 8, 8, 8, 8, 8}},
      {{128, 168, 1}, {3, 3, 3, 3, 3, 3, 3}},      {{160, 48, 0}, {6, 8, 8, 8, 8, 8, 8}},
      {{192, 80, 0}, {4, 4, 4, 4, 4, 4, 4}},       {{256, 32, 0}, {4, 8, 6, 6, 8, 8, 6}},
      {{256, 33, 0}, {4, 6, 6, 6, 6, 6, 6}},       {{256, 64, 0}, {4, 4, 4, 4, 4, 4, 4}},
      {{256, 65, 0}, {3, 3, 3, 3, 3, 3, 3}},       {{256, 128, 0}, {2, 2, 2, 2, 2, 2, 2}},
      {{256, 32, 16384}, {4, 8, 5, 5, 8, 8, 5}},   {{384, 56, 0}, {2, 3, 3, 3, 3, 3, 3}},
      {{512, 32, 32768}, {2, 4, 3, 3, 4, 4, 3}},   {{512, 128, 0}, {1, 1, 1, 1, 1, 1, 1}},
      {{640, 96, 0}, {1, 1, 1, 1, 1, 1, 1}},       {{768, 40, 0}, {1, 2, 2, 2, 2, 2, 2}},
      {{1000, 56, 0}, {1, 1, 1, 1, 1, 1, 1}},      {{1024, 32, 0}, {1, 2, 1, 1, 2, 2, 1}},
      {{1024, 64, 0}, {1, 1, 1, 1, 1, 1, 1}},      {{1024, 65, 0}, {0, 0, 0, 0, 0, 0, 0}},
      {{256, 24, 28160}, {2, 5, 3, 3, 8, 8, 3}},   {{256, 24, 28161}, {2, 5, 3, 3, 7, 7, 3}},
      {{256, 24, 49152}, {1, 3, 2, 2, 4, 4, 2}},
  };
  for (const Sample& s : samples) {
    for (std::size_t c = 0; c < all.size(); ++c) {
      INFO("capability " << all[c].capability << ", " << s.needs.threads << " threads, "
                         << s.needs.registers << " registers, " << s.needs.shared_bytes
                         << " bytes");
      CHECK(predicted_blocks(all[c].sm, s.needs.threads, s.needs.registers, s.needs.shared_bytes) ==
            s.blocks[c]);
    }
  }
}

TEST_CASE("a block that asks for more than there is cannot start",
          "[launch_bounds][spilled_cells][one_byte_more]") {
  const cudaDeviceProp sm = supply(2048, 32, 228, 227, 1024);
  CHECK(predicted_blocks(sm, 1024, 65, 0) == 0);
  CHECK(predicted_blocks(sm, 1024, 64, 0) == 1);
  CHECK(predicted_blocks(sm, 32, 256, 0) == 0);
  CHECK(predicted_blocks(sm, 32, 16, 227 * 1024 + 1) == 0);
  CHECK(predicted_blocks(sm, 32, 16, 227 * 1024) == 1);
}

TEST_CASE("threads limit the blocks in whole warps, whatever else a block needs",
          "[launch_bounds][spilled_cells][one_byte_more]") {
  const cudaDeviceProp sm = supply(2048, 32, 228, 227, 1024);
  for (const int threads : {65, 96}) {  // three warps
    INFO(threads << " threads");
    CHECK(blocks_by_registers(sm, threads, 16) == 21);
    CHECK(one_byte_more::blocks_by_shared(sm, threads, 0) == 21);
  }
  CHECK(one_byte_more::blocks_by_shared(sm, 1, 0) == 32);  // the most blocks
  CHECK(one_byte_more::blocks_by_shared(sm, 256, 28160) == 8);
  CHECK(one_byte_more::blocks_by_shared(sm, 256, 28161) == 7);
}

TEST_CASE("a wish for shared memory is rounded up to a split, and no block is left without",
          "[carveout]") {
  using carveout::chosen_split;
  const cudaDeviceProp sm = supply(2048, 32, 228, 227, 1024, 9, 0);
  const std::size_t most = 228 * 1024;
  CHECK(chosen_split(sm, 1024, -1) == most);
  CHECK(chosen_split(sm, 0, 0) == 0);
  CHECK(chosen_split(sm, 1024, 0) == 8 * 1024);
  CHECK(chosen_split(sm, 8 * 1024 + 1, 0) == 16 * 1024);
  CHECK(chosen_split(sm, 1024, 50) == 132 * 1024);
  CHECK(chosen_split(sm, 1024, 100) == most);
  CHECK(chosen_split(supply(1024, 16, 64, 64, 0, 7, 5), 1024, 25) == 32 * 1024);
  CHECK(chosen_split(supply(1024, 16, 64, 64, 0, 7, 5), 1024, 0) == 32 * 1024);
  CHECK(chosen_split(supply(2048, 32, 96, 96, 0, 7, 0), 1024, 80) == 96 * 1024);
  CHECK(chosen_split(supply(2048, 32, 164, 163, 1024, 8, 0), 1024, 70) == 132 * 1024);
  CHECK(chosen_split(supply(1536, 16, 100, 99, 1024, 8, 6), 1024, 70) == 100 * 1024);
  CHECK(chosen_split(supply(2048, 32, 228, 227, 1024, 99, 9), 1024, 0) == most);  // nobody knows
  CHECK(chosen_split(supply(2048, 32, 96, 48, 0, 6, 1), 1024, 0) == 96 * 1024);   // no split
}

TEST_CASE("blocks with a wish are those of the split that it gets", "[carveout]") {
  const cudaDeviceProp sm = supply(2048, 32, 228, 227, 1024, 9, 0);
  CHECK(carveout::blocks_predicted(sm, 24 * 1024, -1) == 8);
  CHECK(carveout::blocks_predicted(sm, 24 * 1024, 0) == 1);   // 32 KiB for 25
  CHECK(carveout::blocks_predicted(sm, 24 * 1024, 25) == 2);  // 64 KiB
  CHECK(carveout::blocks_predicted(sm, 24 * 1024, 50) == 5);  // 132 KiB
  CHECK(carveout::blocks_predicted(sm, 24 * 1024 + 1, 100) == 8);
  CHECK(carveout::blocks_predicted(sm, 28 * 1024 - 512, 100) == 8);  // 28.5 KiB each
  CHECK(carveout::blocks_predicted(sm, 28 * 1024 - 511, 100) == 7);
  CHECK(carveout::blocks_predicted(supply(1024, 16, 64, 64, 0, 7, 5), 16 * 1024, 100) == 4);
  CHECK(carveout::blocks_predicted(supply(1024, 16, 64, 64, 0, 7, 5), 16 * 1024 + 1, 100) == 3);
}
