// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/04_multi_block/multi_block.cu"
#undef main

#include <climits>
#include <cmath>
#include <cstring>

#include "kernel_testing.cuh"

namespace {

std::size_t thread_slots_per_sm() {
  return static_cast<std::size_t>(device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor, 0));
}

Setting setting(unsigned block = 256) {
  return {static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount, 0)), block};
}

// What the versions read and write, partial sums poisoned.
ThreadSums sums_of(const std::vector<int>& x) {
  const std::size_t places = 4 * thread_slots_per_sm() * setting().sm_count;
  return {DeviceArray<int>(x), DeviceArray<long long>(places), reference(x)};
}

bool runs_right(const ThreadSums& d, Shape shape) {
  d.partial.poison();
  launch(d, shape);
  CUDA_CHECK_LAUNCH();
  return check("sum", d, shape);
}

bool runs_right(const ThreadSums& d, const wide_loads::Ladder& l, Shape shape) {
  d.partial.poison();
  l.launch(d, shape);
  CUDA_CHECK_LAUNCH();
  return check("sum", d, shape);
}

}  // namespace

TEST_CASE("every version adds every element at awkward sizes, whatever the values") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      const ThreadSums sums = sums_of(input.values);
      for (const ShapeVersion& v : kVersions) {
        INFO(v.name << ", n = " << n << ", " << input.name);
        CHECK(runs_right(sums, v.shape(setting())));
      }
    }
  }
}

TEST_CASE("both kernels cover any n with any grid and block, powers of two or not") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{257}, std::size_t{20011}}) {
    const ThreadSums sums = sums_of(random_ints(n, -9, 9, 3));
    for (const unsigned block : awkward_blocks()) {
      for (const unsigned grid : {1u, 2u, 3u, 7u}) {
        for (const unsigned loads : {1u, kInFlight}) {
          INFO("grid " << grid << ", block " << block << ", n = " << n << ", loads " << loads);
          CHECK(runs_right(sums, {grid, block, loads}));
        }
      }
    }
  }
}

TEST_CASE("four loads in flight leave no remainder behind, whatever is left for the last round") {
  const Shape shape{3, 32, kInFlight};  // 96 threads: a full round takes 384 elements
  for (std::size_t n = 3 * 96 - 2; n <= 5 * 96 + 2; ++n) {
    INFO("n = " << n);
    CHECK(runs_right(sums_of(random_ints(n, 1, 9, n)), shape));
  }
}

TEST_CASE("loads of any width and number add every element, whatever is left for the last round") {
  for (const NamedInts& input : ints_of_every_kind(5003)) {
    for (const unsigned block : awkward_blocks()) {
      const ThreadSums sums = sums_of(input.values);
      for (const wide_loads::Ladder& l : wide_loads::kLadder) {
        for (const unsigned grid : {1u, 3u}) {
          INFO(l.name() << ", grid " << grid << ", block " << block << ", " << input.name);
          CHECK(runs_right(sums, l, {grid, block}));
        }
      }
    }
  }
  for (std::size_t n = 0; n <= 300; ++n) {  // 8 rounds of 8 threads: 64 ints, or 256
    const ThreadSums sums = sums_of(random_ints(n, 1, 9, n));
    for (const wide_loads::Ladder& l : wide_loads::kLadder) {
      INFO(l.name() << ", n = " << n);
      CHECK(runs_right(sums, l, {2, 4}));
    }
  }
}

TEST_CASE(
    "a wide load's kernel leaves a zero for a thread without an element, and nothing behind") {
  const ThreadSums sums = sums_of(random_ints(5, 1, 9, 5));
  for (const wide_loads::Ladder& l : wide_loads::kLadder) {
    INFO(l.name());
    REQUIRE(runs_right(sums, l, {2, 64}));
    const std::vector<long long> partial = sums.partial.download();
    for (std::size_t i = 5; i < 128; ++i) REQUIRE(partial[i] == 0);
    CHECK(partial[128] == -1);
  }
}

TEST_CASE("a wide load's kernel gets the registers it was promised, and a wave of it fits") {
  for (const wide_loads::Ladder& l : wide_loads::kLadder) {
    INFO(l.name());
    cudaFuncAttributes of_kernel;
    CUDA_CHECK(l.attributes(&of_kernel));
    CHECK(of_kernel.numRegs <= (l.blocks == 1 ? 64 : 32));
    CHECK(of_kernel.localSizeBytes == 0);  // every value in flight has a register
    const Shape wave = l.wave(setting());
    CHECK(wave.grid % setting().sm_count == 0);
    const std::size_t per_sm = wave.threads() / setting().sm_count;
    CHECK(per_sm <= thread_slots_per_sm());
    CHECK(per_sm * static_cast<std::size_t>(of_kernel.numRegs) <= 65536);
  }
}

TEST_CASE("every chain makes every step, in blocks of any size, and its cycles are plausible") {
  const warp_issue::Chains c;
  for (const unsigned chains : {1u, warp_issue::kMostChains}) {
    for (const unsigned threads : awkward_blocks()) {
      INFO(chains << " chains, " << threads << " threads");
      c.poison();
      CHECK_FALSE(warp_issue::check("poison", c, chains, threads));
      EventTimer timer;
      timer.start();
      c.launch(chains, threads);
      const double ms = timer.stop_ms();
      CHECK(warp_issue::check("chains", c, chains, threads));
      const auto cycles = static_cast<double>(c.cycles.download()[0]);
      CHECK(cycles_fit(cycles, ms));
      CHECK(cycles >= warp_issue::kSteps / 64.0);  // the clock was read on both sides of the steps
      if (chains * threads < c.ends.size()) {
        CHECK(std::isnan(c.ends.download()[std::size_t{chains} * threads]));
      }
    }
  }
}

TEST_CASE("the cycles of chains span the work of all warps of the block, not that of the first") {
  // Thread 0 has a thousandth of the work: a span of its own would be short, when it comes first or
  // when it comes last. Many steps, or the barriers would take most of the time. The best of some
  // launches: others use the machine, too.
  const warp_issue::Chains c;
  double best = 0;
  for (int repeat = 0; repeat < 10 && best < 0.25; ++repeat) {
    EventTimer timer;
    timer.start();
    run_chains<warp_issue::kMostChains>
        <<<1, 1024>>>(32 * warp_issue::kSteps, c.ends.get(), c.cycles.get());
    CUDA_CHECK_LAUNCH();
    const double ms = timer.stop_ms();
    best = std::max(best, static_cast<double>(c.cycles.download()[0]) / sm_clock_mhz() / 1e3 / ms);
  }
  CHECK(best >= 0.25);
}

TEST_CASE("blocks that all fit at once see the last one begin") {
  for (const unsigned block : {1u, 256u, 1024u}) {
    const Shape wave = one_wave<wait_for_last_block>(setting(block));
    for (const unsigned grid : {1u, 2u, wave.grid}) {
      double ms = 0;
      const Waiting w = waiting_blocks::run({grid, block}, waiting_blocks::kLongNs, &ms);
      INFO("grid " << grid << ", block " << block);
      CHECK(w.last_has_begun == 1);
      CHECK(w.gave_up == 0);
    }
  }
}

TEST_CASE("blocks that do not fit at once give up and do not hang") {
  const Shape wave = one_wave<wait_for_last_block>(setting());
  // No order of blocks is promised. But where blocks give up, and only there, a launch takes as
  // long as a block is patient. Once is enough: on a busy machine any launch may take long.
  bool as_long_as_it_waited = false;
  for (int repeat = 0; repeat < 10 && !as_long_as_it_waited; ++repeat) {
    double ms = 0;
    const Waiting w =
        waiting_blocks::run({wave.grid + 1, wave.block}, waiting_blocks::kShortNs, &ms);
    CHECK(w.last_has_begun == 1);  // in the end it had its place
    CHECK(w.gave_up <= wave.grid);
    as_long_as_it_waited = (w.gave_up > 0) == (ms * 1e6 > waiting_blocks::kShortNs);
  }
  CHECK(as_long_as_it_waited);
}

TEST_CASE("a thread without an element writes a zero") {
  const ThreadSums sums = sums_of(random_ints(5, 1, 9, 5));
  for (const unsigned loads : {1u, kInFlight}) {
    REQUIRE(runs_right(sums, {2, 64, loads}));
    const std::vector<long long> partial = sums.partial.download();
    for (std::size_t i = 5; i < 128; ++i) REQUIRE(partial[i] == 0);
    CHECK(partial[128] == -1);  // and nothing is written behind the last thread's sum
  }
}

TEST_CASE("a launch leaves nothing behind that the next one trips over") {
  const ThreadSums sums = sums_of(random_ints(10007, 0, 9, 5));
  for (const ShapeVersion& v : kVersions) {
    const Shape shape = v.shape(setting());
    for (int repeat = 0; repeat < repeats(20); ++repeat) launch(sums, shape);
    CUDA_CHECK_LAUNCH();
    INFO(v.name);
    CHECK(check(v.name, sums, shape));
  }
}

TEST_CASE("a sum of squares past 32 bits is exact, of the most negative int too") {
  // Larger sums would pass 64 bits.
  for (const std::vector<int>& x : {std::vector<int>{2000000000, -2000000000}, {INT_MIN}}) {
    const ThreadSums sums = sums_of(x);
    CHECK(runs_right(sums, {1, 1}));
    CHECK(runs_right(sums, {1, 1, kInFlight}));
  }
}

TEST_CASE("squares of large ints are exact in loads of any width and number") {
  const ThreadSums sums = sums_of({1000000000, -1000000000, 999999999, 5, -1000000000});
  for (const wide_loads::Ladder& l : wide_loads::kLadder) {
    INFO(l.name());
    CHECK(runs_right(sums, l, {1, 2}));
  }
}

TEST_CASE("one wave fits on the chip, and one more block per SM does not") {
  const unsigned sm_count = setting().sm_count;
  for (const unsigned block : awkward_blocks()) {
    const Shape wave = one_wave<sum_grid_stride>({sm_count, block});
    INFO("block " << block << ", grid " << wave.grid);
    CHECK(wave.block == block);
    CHECK(wave.grid % sm_count == 0);
    CHECK(wave.threads() <= sm_count * thread_slots_per_sm());
    if (block >= 250) {  // smaller ones run out of block slots before they run out of thread slots
      const std::size_t warps = div_up(block, 32);  // a block takes up whole warps
      CHECK((wave.grid / sm_count + 1) * warps * 32 > thread_slots_per_sm());
    }
  }
}

TEST_CASE("the runtime's choice can be launched and fills every SM") {
  const Shape shape = api_choice<sum_grid_stride>(setting());
  CHECK(shape.grid >= setting().sm_count);
  CHECK(shape.threads() <= setting().sm_count * thread_slots_per_sm());
  CHECK(runs_right(sums_of(random_ints(99991, 0, 9, 5)), shape));
}

TEST_CASE("the shapes of a sweep fit the array of partial sums and grow") {
  const std::size_t places = sums_of({1}).partial.size();
  for (const unsigned block : awkward_blocks()) {
    for (const char* sweep : {"grid", "block"}) {
      const std::vector<Shape> shapes = bytes_in_flight::shapes_of(sweep, setting(block));
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        INFO(sweep << " sweep, block " << block << ", row " << i);
        CHECK(shapes[i].threads() <= places);
        if (i > 0 && sweep == std::string("grid")) CHECK(shapes[i].grid > shapes[i - 1].grid);
        if (i > 0 && sweep == std::string("block")) CHECK(shapes[i].block > shapes[i - 1].block);
      }
    }
  }
}

TEST_CASE("the bytes in flight of a launch are an int for each load of each thread") {
  CHECK(Shape{8, 64}.bytes_in_flight() == 2048);
  CHECK(Shape{1056, 256, kInFlight}.bytes_in_flight() == 4325376);
}

TEST_CASE(
    "every block leaves one plausible record, blocks of one thread too, and the sum is right") {
  const ThreadSums sums = sums_of(random_ints(99991, 0, 9, 5));
  for (const unsigned block : awkward_blocks()) {
    for (const unsigned grid : {1u, 5u, 50u}) {
      double event_ms = 0;
      const Shape shape{grid, block};
      if (shape.threads() > sums.partial.size()) continue;
      sums.partial.poison();
      const std::vector<BlockRecord> blocks = record_blocks(sums, shape, &event_ms);
      INFO("grid " << grid << ", block " << block);
      CHECK(check("recorded", sums, shape));
      CHECK(event_ms > 0);
      REQUIRE(blocks.size() == grid);
      CHECK(records_are_plausible(blocks, event_ms));
      const BlockRecord all = whole_launch(blocks);
      for (const BlockRecord& b : blocks) {
        CHECK((all.start_ns <= b.start_ns && b.end_ns <= all.end_ns));
      }
    }
  }
}

TEST_CASE("a record spans the work of all threads of its block, not that of the first") {
  // One block does everything, so its record takes up most of the launch. Of 1024 threads one has a
  // thousandth of the work: a record of one thread's work would be short, when this thread comes
  // first or when it comes last. The best of some launches: others use the machine, too.
  const ThreadSums sums = sums_of(random_ints(small_sizes() ? 200003 : 2000003, 0, 9, 5));
  double best = 0;
  for (int repeat = 0; repeat < 10 && best < 0.5; ++repeat) {
    double event_ms = 0;
    const BlockRecord b = record_blocks(sums, {1, 1024}, &event_ms)[0];
    const double cycles_per_ns = b.cycles() / static_cast<double>(b.end_ns - b.start_ns);
    INFO("record " << b.ms() << " ms, events " << event_ms << " ms");
    CHECK(cycles_per_ns > 0.05);  // both clocks saw the same span
    best = std::max(best, b.ms() / event_ms);
  }
  CHECK(best >= 0.5);
}

TEST_CASE("records that no launch can have left are not plausible") {
  const BlockRecord good{0, 1000000, 1500000, 500, 900500};  // half a millisecond at 1.8 GHz
  CHECK(records_are_plausible({good}, 0.6));
  CHECK_FALSE(records_are_plausible({good}, 0.4));  // longer than the launch
  const auto spoilt = [&](auto&& spoil) {
    BlockRecord b = good;
    spoil(b);
    return !records_are_plausible({good, b}, 0.6);
  };
  CHECK(spoilt([](BlockRecord& b) { std::memset(static_cast<void*>(&b), 0xff, sizeof b); }));
  CHECK(spoilt([](BlockRecord& b) { std::swap(b.start_ns, b.end_ns); }));
  CHECK(spoilt([](BlockRecord& b) { std::swap(b.start_cycles, b.end_cycles); }));
  CHECK(spoilt([](BlockRecord& b) { b.start_cycles = -b.end_cycles * 100; }));
  CHECK(spoilt([](BlockRecord& b) { b.end_ns += 1000000; }));
  CHECK(spoilt([](BlockRecord& b) { b.start_ns = 0; }));
}

TEST_CASE("no more blocks run at a time than fit at once") {
  const ThreadSums sums = sums_of(random_ints(99991, 0, 9, 5));
  const Shape wave = one_wave<sum_recorded>(setting(256));
  double event_ms = 0;
  const std::vector<BlockRecord> blocks = record_blocks(sums, {wave.grid * 5 / 2, 256}, &event_ms);
  // At equal times ends sort before starts: a block's slot is free again when it has ended.
  std::vector<std::pair<std::uint64_t, int>> events;
  for (const BlockRecord& b : blocks) {
    events.push_back({b.start_ns, b.end_ns > b.start_ns ? 1 : 0});
    events.push_back({b.end_ns, b.end_ns > b.start_ns ? -1 : 0});
  }
  std::sort(events.begin(), events.end());
  int running = 0, most = 0;
  for (const auto& event : events) most = std::max(most, running += event.second);
  CHECK(most <= static_cast<int>(wave.grid));
}

TEST_CASE("the span of a launch is from the first start to the last end") {
  const std::vector<BlockRecord> blocks = {
      {0, 20, 40, 7, 9}, {1, 10, 30, 1000, 1004}, {0, 25, 60, 9, 12}};
  const BlockRecord all = whole_launch(blocks);
  CHECK(all.ms() == 50 / 1e6);
  CHECK(all.cycles() == 997);  // what the counters of two SMs make of it
}

TEST_CASE("a walk along the ring ends where it has to") {
  CHECK(measure_latency(4_Ki, 3).ok);
  CHECK(measure_latency(4_Ki, 1).per_load.median_ms > 0);
}

TEST_CASE("the checker rejects a kernel that does nothing") {
  const ThreadSums sums = sums_of(random_ints(1000, 0, 9, 5));
  for (const ShapeVersion& v : kVersions) {
    INFO(v.name);
    CHECK_FALSE(check(v.name, sums, v.shape(setting())));
  }
}

TEST_CASE("the checker rejects one wrong element, and one missing partial sum") {
  std::vector<int> x = random_ints(1000, 1, 9, 5);
  ThreadSums sums = sums_of(x);
  const Shape shape{3, 64};
  REQUIRE(runs_right(sums, shape));
  CHECK_FALSE(check("sum", sums, {2, 64}));
  x[999] += 1;
  sums.expected = reference(x);
  CHECK_FALSE(check("sum", sums, shape));
}

TEST_CASE("a block of more threads than the hardware has is refused at the launch") {
  const ThreadSums sums = sums_of(random_ints(1000, 0, 9, 5));
  launch(sums, {1, 1025});
  CHECK(refuses_configuration(cudaGetLastError()));
  CHECK(cudaGetLastError() == cudaSuccess);  // asking clears it
}

TEST_CASE("a grid of no blocks is refused at the launch") {
  launch(sums_of(random_ints(1000, 0, 9, 5)), {0, 64});
  CHECK(refuses_configuration(cudaGetLastError()));
}
