// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/12_registers_and_local_memory/registers_and_local_memory.cu"
#undef main

#include "kernel_testing.cuh"

#ifndef __CUDA_CPU__
#include <cuda_occupancy.h>  // the toolkit's own calculator
#endif

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
  return {{"random", words_to_count(n, false, 3)},
          {"lanes agree", words_to_count(n, true, 4)},
          {"index-valued", indices},
          {"one digit per word", one_digit},
          {"all f", std::vector<unsigned>(n, 0xffffffffu)}};
}

bool runs_right(const DigitVersion& v, const DigitCounts& d, const std::vector<unsigned>& words) {
  d.counts.poison();
  v.launch(d);
  CUDA_CHECK_LAUNCH();
  return check(v.name, d, reference(words, d));
}

// What cudaOccupancyMaxActiveBlocksPerMultiprocessor says of a device that is not here.
struct Chip {
  int capability;
  SmSupply sm;
};
SmSupply supply(unsigned threads, unsigned blocks, std::size_t shared_kib, std::size_t block_kib,
                std::size_t reserved, std::size_t portion) {
  return {threads / 32,      blocks,           65536,    65536,  255,
          shared_kib * 1024, block_kib * 1024, reserved, portion};
}
std::vector<Chip> chips() {
  return {{75, supply(1024, 16, 64, 64, 0, 256)},      {80, supply(2048, 32, 164, 163, 1024, 128)},
          {86, supply(1536, 16, 100, 99, 1024, 128)},  {89, supply(1536, 24, 100, 99, 1024, 128)},
          {90, supply(2048, 32, 228, 227, 1024, 128)}, {100, supply(2048, 32, 228, 227, 1024, 128)},
          {120, supply(1536, 24, 100, 99, 1024, 128)}};
}
// Runs a chain and says where it ended and that the clock went on.
template <class Value, class Launch>
Value end_of_chain(Launch&& launch) {
  const DeviceArray<ChainEnd<Value>> end(1);
  launch(end.get());
  CUDA_CHECK_LAUNCH();
  const ChainEnd<Value> found = end.download()[0];
  CHECK(found.cycles > 0);
  return found.value;
}

}  // namespace

TEST_CASE("every version counts every digit of every thread at awkward sizes, whatever the words") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedWords& input : words_of_every_kind(n)) {
      if (n > 3000 && input.name != "index-valued") continue;  // the kind that shows most
      const DigitCounts d(input.values, 256);
      for (const DigitVersion& v : kVersions) {
        INFO(v.name << ", n = " << n << ", " << input.name);
        CHECK(runs_right(v, d, input.values));
      }
    }
  }
}

TEST_CASE("every version works with any block size, whole warps or not") {
  for (const unsigned block : {1u, 31u, 32u, 33u, 96u, 250u, 256u, 512u}) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{257}, std::size_t{5003}}) {
      const std::vector<unsigned> words = words_to_count(n, false, block);
      const DigitCounts d(words, block);
      for (const DigitVersion& v : kVersions) {
        INFO(v.name << ", block " << block << ", n = " << n);
        CHECK(runs_right(v, d, words));
      }
    }
  }
}

TEST_CASE("a launch leaves nothing behind that the next one trips over") {
  const std::vector<unsigned> words = words_to_count(small_sizes() ? 1031 : 10007, false, 5);
  const DigitCounts d(words, 256);
  for (const DigitVersion& v : kVersions) {
    for (int repeat = 0; repeat < repeats(20); ++repeat) v.launch(d);
    CUDA_CHECK_LAUNCH();
    INFO(v.name);
    CHECK(check(v.name, d, reference(words, d)));
  }
}

TEST_CASE("the reference counts each thread's own words") {
  // Threads 0 and 1 of a block of two have the even and the odd words: 16 each, then another block.
  std::vector<unsigned> words(34, 0x00000001u);
  words[1] = 0xfedcba98u, words[32] = 0x22222222u;
  const std::vector<unsigned char> counts = reference(words, DigitCounts(words, 2));
  REQUIRE(counts.size() == 4 * 16);
  CHECK(int{counts[0]} == 16 * 7);
  CHECK(int{counts[1]} == 16);
  CHECK(int{counts[16 + 15]} == 1);
  CHECK(int{counts[16 + 1]} == 15);
  CHECK(int{counts[32 + 2]} == 8);
  CHECK(int{counts[48 + 0]} == 7);
}

TEST_CASE("the checker rejects a kernel that does nothing, and one wrong count") {
  std::vector<unsigned> words = words_to_count(1000, false, 5);
  const DigitCounts d(words, 256);
  for (const DigitVersion& v : kVersions) {
    d.counts.poison();
    INFO(v.name);
    CHECK_FALSE(check(v.name, d, reference(words, d)));
  }
  REQUIRE(runs_right(kVersions[0], d, words));
  words[999] ^= 1;
  CHECK_FALSE(check("one other digit", d, reference(words, d)));
}

TEST_CASE("lanes that agree have one word per warp, others have not") {
  const std::vector<unsigned> agree = words_to_count(96, true, 1);
  const std::vector<unsigned> differ = words_to_count(96, false, 1);
  for (std::size_t i = 0; i < 96; ++i) CHECK(agree[i] == agree[i / 32 * 32]);
  CHECK(agree[0] != agree[32]);
  CHECK(differ[0] != differ[1]);
}

TEST_CASE("the kernels of the register sweep are right at awkward sizes and with any values") {
  for (const std::size_t n : sizes_to_test()) {
    if (n > 100000) continue;
    for (const NamedInts& input : ints_of_every_kind(n)) {
      for (const unsigned held : {kHeld, kCells}) {
        const launch_bounds::HeldInts d(input.values, held);
        const std::vector<unsigned> expected = launch_bounds::reference(input.values, d);
        for (const auto& v : launch_bounds::kVersions) {
          if (v.held != held || (!kOnGpu && v.blocks != 1 && v.blocks != 8)) continue;
          d.sums.poison();
          v.launch(d);
          CUDA_CHECK_LAUNCH();
          INFO(v.name() << ", n = " << n << ", " << input.name);
          CHECK(launch_bounds::check(v.name(), d, expected));
        }
      }
    }
  }
}

TEST_CASE("distances by sorting are those of all pairs") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{64}}) {
    std::vector<long long> values;
    for (const int v : random_ints(count, -50, 50, count)) values.push_back(v);
    long long sum = 0;
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < a; ++b) sum += std::abs(values[a] - values[b]);
    }
    CHECK(launch_bounds::sum_of_distances(values) == static_cast<unsigned>(sum));
  }
}

TEST_CASE("the weights of a rod's cells are those of its rounds, also when ends are met often") {
  for (const unsigned rounds : {0u, 1u, 2u, 33u, 161u, 500u}) {
    std::vector<unsigned> weights(kCells + 2, 0);  // rounds on the weights: the matrix is symmetric
    for (unsigned k = 1; k <= kCells; ++k) weights[k] = k;
    for (unsigned round = 0; round < rounds; ++round) {
      std::vector<unsigned> next(kCells + 2, 0);
      for (unsigned k = 1; k <= kCells; ++k) next[k] = weights[k - 1] + weights[k + 1];
      weights.swap(next);
    }
    INFO(rounds << " rounds");
    CHECK(launch_bounds::weights_of_cells(rounds) ==
          std::vector<unsigned>(weights.begin() + 1, weights.end() - 1));
  }
}

TEST_CASE("parked sums are right for any grid, any n and any bytes of shared memory") {
  Device device = describe_device(0);
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{5003}}) {
    const parked_sums::ParkedSums p(device, random_ints(n, -9, 9, 3));
    for (const unsigned grid : {1u, 3u, 31u}) {
      for (const std::size_t bytes : {kParkingBlock * sizeof(long long), std::size_t{48} * 1024}) {
        p.sums.poison();
        sum_parked<0><<<grid, kParkingBlock, bytes>>>(p.x.get(), n, p.sums.get());
        CUDA_CHECK_LAUNCH();
        INFO("n = " << n << ", grid " << grid << ", " << bytes << " bytes");
        CHECK(p.is_right("parked", grid));
        CHECK(p.sums.download(grid + 1)[grid] == -1);  // nothing behind the last block's place
      }
    }
  }
}

TEST_CASE("the sums over the table are those of every thread") {
  const Device device = describe_device(0);
  const parked_sums::Table t(device, 3);
  t.sums.poison();
  CHECK_FALSE(t.is_right("poison"));
  t.launch<1>();
  CUDA_CHECK_LAUNCH();
  CHECK(t.is_right("table"));
}

TEST_CASE("chains end where their steps lead, however many there are") {
  std::vector<unsigned> ring(kRing);
  for (unsigned k = 0; k < kRing; ++k) ring[k] = (k * 5 + 3) % kRing;  // a ring through all places
  const DeviceArray<unsigned> links(ring);
  CUDA_CHECK(cudaMemcpyToSymbol(constant_ring, ring.data(), sizeof constant_ring));
  for (const unsigned steps : {0u, 1u, 2u, 17u, 128u, 300u}) {
    INFO(steps << " steps");
    Pair pair{2, 5};
    unsigned number = 7, at = 11;
    for (unsigned k = 0; k < steps; ++k) {
      pair = {pair.next, pair.last + pair.next};
      number = number * kRound.factor + kRound.step;
      at = ring[at];
    }
    CHECK(latency_ladder::fibonacci_after({2, 5}, steps) == pair);
    CHECK(end_of_chain<Pair>([&](auto* end) {
            chain_int_adds<<<1, 1>>>(end, {2, 5}, steps);
          }) == pair);
    CHECK(end_of_chain<unsigned>(
              [&](auto* end) { chain_int_rounds<<<1, 1>>>(end, 7, steps, kRound); }) == number);
    CHECK(end_of_chain<float>([&](auto* end) { chain_float_adds<<<1, 1>>>(end, 3.0f, steps); }) ==
          3.0f + static_cast<float>(steps));
    CHECK(end_of_chain<float>([&](auto* end) {
            chain_float_fmas<<<1, 1>>>(end, 3.0f, steps, 1.0f);
          }) == 3.0f + static_cast<float>(steps));
    CHECK(end_of_chain<float>([&](auto* end) { chain_float_fmas<<<1, 1>>>(end, 3.0f, 2, 2.0f); }) ==
          15.0f);  // 2 * (2 * 3 + 1) + 1
    CHECK(end_of_chain<double>([&](auto* end) { chain_double_adds<<<1, 1>>>(end, 3.0, steps); }) ==
          3.0 + steps);
    CHECK(end_of_chain<unsigned>(
              [&](auto* end) { walk_constant_ring<<<1, 1>>>(end, 11, steps); }) == at);
    CHECK(end_of_chain<unsigned>(
              [&](auto* end) { walk_shared_ring<<<1, 1>>>(end, 11, steps, links.get()); }) == at);
    CHECK(end_of_chain<unsigned>(
              [&](auto* end) { walk_local_ring<<<1, 1>>>(end, 11, steps, links.get()); }) == at);
    CHECK(end_of_chain<unsigned>(
              [&](auto* end) { walk_global_ring<<<1, 1>>>(end, 11, steps, links.get()); }) == at);
  }
}

TEST_CASE("a ring leads through every place of its step and back") {
  const std::vector<unsigned> ring = latency_ladder::ring_of(128, 32);
  CHECK(ring[0] == 32);
  CHECK(ring[96] == 0);
  CHECK(ring[127] == 31);
}

TEST_CASE("predicted blocks are the runtime's, for every kernel, block and amount of memory") {
  const Device device = describe_device(0);
  const SmSupply sm = supply_of(device);
  for (const unsigned block : {1u, 31u, 32u, 33u, 64u, 96u, 128u, 160u, 250u, 256u, 384u, 512u,
                               640u, 768u, 1000u, 1024u}) {
    INFO("block " << block);
    for (const DigitVersion& v : kVersions) {
      for (const std::size_t bytes : {0, 1, 127, 128, 1000, 16384, 16385, 45000, 49152}) {
        INFO(v.name << ", " << bytes << " bytes");
        const BlocksHeld held = blocks_per_sm(device, v.kernel, block, bytes);
        CHECK(held.predicted == held.by_api);
      }
    }
    if (block <= kHoldingBlock) {
      for (const auto& v : launch_bounds::kVersions) {
        INFO(v.name());
        const BlocksHeld held = blocks_per_sm(device, v.kernel, block, 0);
        CHECK(held.predicted == held.by_api);
      }
    }
  }
  const auto kernel = sum_parked<0>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(sm.shared_per_block)));
  for (const unsigned blocks : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
    const std::size_t most = parked_sums::most_bytes_for(sm, blocks);
    for (std::size_t bytes = most - 2; bytes <= std::min(most + 2, sm.shared_per_block); ++bytes) {
      const BlocksHeld held = blocks_per_sm(device, kernel, kParkingBlock, bytes);
      INFO(blocks << " blocks, " << bytes << " bytes");
      CHECK(held.predicted == held.by_api);
      if (bytes <= most) CHECK(held.by_api >= blocks);
      if (bytes > most) CHECK(held.by_api < blocks);
    }
  }
}

TEST_CASE("predicted blocks follow a wish for the split of L1 and shared memory") {
  const Device device = describe_device(0);
  const auto kernel = sum_parked<7>;
  for (int carveout = -1; carveout <= 100; ++carveout) {
    CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, carveout));
    for (const std::size_t bytes : {std::size_t{2048}, std::size_t{8000}, std::size_t{24576}}) {
      const BlocksHeld held = blocks_per_sm(device, kernel, kParkingBlock, bytes, carveout);
      INFO("carve-out " << carveout << ", " << bytes << " bytes");
      CHECK(held.predicted == held.by_api);
    }
  }
}

TEST_CASE("the rule holds for chips that are not here, as the toolkit's calculator has it") {
  const std::vector<Chip> all = chips();
  struct Sample {
    BlockNeeds needs;
    unsigned blocks[7];  // on each of the chips
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
      CHECK(predicted_limits(s.needs, all[c].sm).blocks() == s.blocks[c]);
    }
  }
}

TEST_CASE("a block that asks for more than there is cannot start") {
  const SmSupply sm = supply(2048, 32, 228, 227, 1024, 128);
  CHECK(predicted_limits({1024, 65, 0}, sm).blocks() == 0);
  CHECK(predicted_limits({1024, 64, 0}, sm).blocks() == 1);
  CHECK(predicted_limits({32, 256, 0}, sm).blocks() == 0);
  CHECK(predicted_limits({32, 16, 227 * 1024 + 1}, sm).blocks() == 0);
  CHECK(predicted_limits({32, 16, 227 * 1024}, sm).blocks() == 1);
}

TEST_CASE("a wish for shared memory is rounded up to a split, and no block is left without") {
  const std::size_t most = 228 * 1024;
  CHECK(chosen_split(90, most, 1024, -1) == most);
  CHECK(chosen_split(90, most, 0, 0) == 0);
  CHECK(chosen_split(90, most, 1024, 0) == 8 * 1024);
  CHECK(chosen_split(90, most, 8 * 1024 + 1, 0) == 16 * 1024);
  CHECK(chosen_split(90, most, 1024, 50) == 132 * 1024);
  CHECK(chosen_split(90, most, 1024, 100) == most);
  CHECK(chosen_split(75, 64 * 1024, 1024, 25) == 32 * 1024);
  CHECK(chosen_split(999, most, 1024, 0) == most);  // a capability that nobody knows
}

#ifndef __CUDA_CPU__
TEST_CASE("the rule is that of the toolkit's calculator") {
  for (const Chip& chip : chips()) {
    const SmSupply& sm = chip.sm;
    cudaOccDeviceProp properties;
    properties.computeMajor = chip.capability / 10;
    properties.computeMinor = chip.capability % 10;
    properties.maxThreadsPerBlock = 1024;
    properties.maxThreadsPerMultiprocessor = static_cast<int>(sm.warps * 32);
    properties.regsPerBlock = static_cast<int>(sm.registers_per_block);
    properties.regsPerMultiprocessor = static_cast<int>(sm.registers);
    properties.warpSize = 32;
    properties.sharedMemPerBlock = 48 * 1024;
    properties.sharedMemPerMultiprocessor = sm.shared_bytes;
    properties.numSms = 1;
    properties.sharedMemPerBlockOptin = sm.shared_per_block;
    properties.reservedSharedMemPerBlock = sm.reserved_shared_bytes;
    bool equal = true;
    for (unsigned threads = 1; threads <= 1024; threads += threads < 130 ? 1 : 37) {
      for (unsigned registers = 16; registers <= 255; ++registers) {
        for (const std::size_t bytes : {0, 1, 4096, 9000, 33000, 49152, 98304, 101376, 160000}) {
          if (bytes > sm.shared_per_block) continue;
          cudaOccFuncAttributes attributes;
          attributes.maxThreadsPerBlock = 1024;
          attributes.numRegs = static_cast<int>(registers);
          attributes.sharedSizeBytes = 0;
          attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
          attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
          attributes.maxDynamicSharedSizeBytes = sm.shared_per_block;
          attributes.numBlockBarriers = 1;
          const cudaOccDeviceState state;
          cudaOccResult result = {};
          REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
                                                          static_cast<int>(threads),
                                                          bytes) == CUDA_OCC_SUCCESS);
          const unsigned predicted = predicted_limits({threads, registers, bytes}, sm).blocks();
          equal = equal && predicted == static_cast<unsigned>(result.activeBlocksPerMultiprocessor);
          if (!equal) {
            INFO(chip.capability << ": " << threads << " threads, " << registers << " registers, "
                                 << bytes << " bytes: " << predicted << ", calculator "
                                 << result.activeBlocksPerMultiprocessor);
            REQUIRE(equal);
          }
        }
      }
    }
    CHECK(equal);
  }
}

TEST_CASE("a launch of more threads than the launch bounds allow is refused") {
  const launch_bounds::HeldInts d(random_ints(1000, 0, 9, 5), kHeld);
  sum_pair_distances<1><<<1, 2 * kHoldingBlock>>>(d.x.get(), d.x.size(), d.sums.get());
  CHECK(cudaGetLastError() != cudaSuccess);
}
#endif
