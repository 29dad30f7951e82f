// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/04_multi_block/multi_block.cu"
#undef main

#include <climits>
#include <cmath>
#include <cstring>
#include <numeric>

#include "kernel_testing.cuh"

#define main experiment_main
namespace shapes {  // apart from the program, whose names grid_stride.cuh has, too
#include "../chapters/04_multi_block/experiments/grid_stride.cuh"
namespace block_sizes {
#include "../chapters/04_multi_block/experiments/block_sizes.cu"
}
namespace grid_sizes {
#include "../chapters/04_multi_block/experiments/grid_sizes.cu"
}
}  // namespace shapes
namespace load_latency {
#include "../chapters/04_multi_block/experiments/load_latency.cu"
}
namespace load_widths {
#include "../chapters/04_multi_block/experiments/load_widths.cu"
}
namespace waiting_blocks {
#include "../chapters/04_multi_block/experiments/waiting_blocks.cu"
}
namespace warp_issue {
#include "../chapters/04_multi_block/experiments/warp_issue.cu"
}
namespace records {  // for the same reason
#include "../chapters/04_multi_block/experiments/block_records.cuh"
namespace blocks_over_time {
#include "../chapters/04_multi_block/experiments/blocks_over_time.cu"
}
namespace three_clocks {
#include "../chapters/04_multi_block/experiments/three_clocks.cu"
}
}  // namespace records
#undef main

namespace block_sizes = shapes::block_sizes;
namespace grid_sizes = shapes::grid_sizes;
namespace blocks_over_time = records::blocks_over_time;
namespace three_clocks = records::three_clocks;
using records::BlockRecord;
using records::Launch;
using records::whole_launch;

namespace {

using Kernel = void (*)(const int* x, std::size_t n, long long* partial);

// A kernel that leaves a partial sum per thread, and how many ints it takes at a time.
struct Summing {
  std::string name;
  Kernel kernel;
};

const std::vector<Summing> kOfTheProgram = {{"sum_grid_stride", sum_grid_stride},
                                            {"sum_four_in_flight", sum_four_in_flight},
                                            {"sum_one_wide_load", sum_one_wide_load},
                                            {"sum_eight_wide_loads", sum_eight_wide_loads}};
const std::vector<Summing> kOfShapes = {{"sum_grid_stride", shapes::sum_grid_stride},
                                        {"sum_four_in_flight", shapes::sum_four_in_flight}};

std::vector<Summing> of_load_widths() {
  std::vector<Summing> kernels;
  for (const load_widths::Ladder& l : load_widths::kLadder) kernels.push_back({l.name, l.kernel});
  return kernels;
}

// What the threads of a launch leave, and two places more, which they must not touch.
std::vector<long long> partial_sums(Kernel kernel, const std::vector<int>& x, unsigned grid,
                                    unsigned block) {
  const DeviceArray<int> d_x(x);
  const DeviceArray<long long> partial(std::size_t{grid} * block + 2);
  kernel<<<grid, block>>>(d_x, x.size(), partial);
  CUDA_CHECK_LAUNCH();
  return partial.download();
}

// The two places are as they were, every thread wrote a sum, and all sums together are right.
bool adds_up(Kernel kernel, const std::vector<int>& x, unsigned grid, unsigned block) {
  std::vector<long long> sums = partial_sums(kernel, x, grid, block);
  for (int k = 0; k < 2; ++k) {
    if (sums.back() != -1) return false;
    sums.pop_back();
  }
  const bool all_wrote = *std::min_element(sums.begin(), sums.end()) >= 0;
  return all_wrote && std::accumulate(sums.begin(), sums.end(), 0LL) == sum_of_squares(x);
}

// Right for any grid and block, for sizes that leave any number for the last round, for any values.
void check_any_shape(const std::vector<Summing>& kernels) {
  const std::size_t largest = small_sizes() ? 1003 : 5003, step = small_sizes() ? 13 : 1;
  for (const Summing& s : kernels) {
    for_blocks_of_every_size(largest, [&](const std::vector<int>& values, unsigned block) {
      for (const unsigned grid : {1u, 2u, 3u, 7u}) {
        INFO(s.name << ", grid " << grid);
        CHECK(adds_up(s.kernel, values, grid, block));
      }
    });
    for (const NamedInts& input : ints_of_every_kind(largest)) {
      INFO(s.name << ", " << input.name);
      CHECK(adds_up(s.kernel, input.values, 3, 250));
    }
    for (std::size_t n = 0; n <= 300;
         n += step) {  // a full round is up to 8 loads of 8 threads: 256
      INFO(s.name << ", n = " << n);
      CHECK(adds_up(s.kernel, random_ints(n, 1, 9, n), 2, 4));
      CHECK(adds_up(s.kernel, random_ints(n, 1, 9, n), 1, 1));
    }
  }
}

// A thread's sum is that of its own elements, and a zero where it has none.
void check_zeros(const std::vector<Summing>& kernels) {
  for (const Summing& s : kernels) {
    const std::vector<long long> sums = partial_sums(s.kernel, random_ints(5, 1, 9, 5), 2, 64);
    INFO(s.name);
    for (std::size_t i = 5; i < 128; ++i) REQUIRE(sums[i] == 0);
    CHECK(sums[128] == -1);  // and nothing is written behind the last thread's sum
  }
}

// Larger sums would pass 64 bits.
void check_large_values(const std::vector<Summing>& kernels) {
  for (const Summing& s : kernels) {
    INFO(s.name);
    CHECK(adds_up(s.kernel, {2000000000, -2000000000}, 1, 1));
    CHECK(adds_up(s.kernel, {INT_MIN}, 1, 1));
    CHECK(adds_up(s.kernel, {1000000000, -1000000000, 999999999, 5, -1000000000}, 1, 2));
  }
}

Device this_device() { return describe_device(0); }

unsigned sm_count() { return static_cast<unsigned>(this_device().multiProcessorCount); }

std::size_t thread_slots_per_sm() {
  return static_cast<std::size_t>(this_device().maxThreadsPerMultiProcessor);
}

ThreadSums sums_of(const std::vector<int>& x, unsigned block = 256) {
  static const Device device = this_device();
  ThreadSums sums{device, DeviceArray<int>(x), sum_of_squares(x), block};
  CUDA_CHECK(cudaOccupancyMaxPotentialBlockSize(&sums.api_grid, &sums.api_block, sum_grid_stride));
  return sums;
}

}  // namespace

TEST_CASE("every version adds every element at awkward sizes, whatever the values") {
  for_ints_of_every_size(
      [](const std::vector<int>& values) { check_all(kVersions, sums_of(values)); });
}

TEST_CASE("every version works with any block size, powers of two or not") {
  for_blocks_of_every_size(20011, [](const std::vector<int>& values, unsigned block) {
    check_all(kVersions, sums_of(values, block));
  });
}

TEST_CASE("every version runs on as many threads as its name says") {
  const ThreadSums sums = sums_of(std::vector<int>(1, 3));
  const auto threads_of = [&](const char* name) -> std::size_t {
    for (const auto& version : kVersions) {
      if (std::strcmp(version.name, name) != 0) continue;
      REQUIRE(runs_right(version, sums));
      const std::vector<long long> partial = sums.partial.download();
      return partial.size() -
             static_cast<std::size_t>(std::count(partial.begin(), partial.end(), -1));
    }
    return 0;
  };
  CHECK(threads_of("one_block_512") == 512);
  CHECK(threads_of("eight_blocks_64") == 512);
  CHECK(threads_of("one_block_per_sm") == sm_count() * 256);
  CHECK(threads_of("occupancy_grid") == sums.wave * 256);
  CHECK(threads_of("occupancy_api_block") == std::size_t(sums.api_grid) * sums.api_block);
  CHECK(threads_of("four_in_flight") == threads_of("occupancy_grid"));
  CHECK(threads_of("one_wide_load") == threads_of("occupancy_grid"));
  CHECK(threads_of("eight_wide_loads") == threads_of("one_block_per_sm"));
}

TEST_CASE("all kernels cover any n with any grid and block, powers of two or not") {
  check_any_shape(kOfTheProgram);
}

TEST_CASE("a thread without an element writes a zero") { check_zeros(kOfTheProgram); }

TEST_CASE("a sum of squares past 32 bits is exact, of the most negative int too") {
  check_large_values(kOfTheProgram);
}

TEST_CASE("no launch trips over what earlier ones left, and doing nothing is not right") {
  check_repeated(kVersions, sums_of(random_ints(10007, 0, 9, 5)));
}

TEST_CASE("one wave fits on the chip, and one more block per SM does not") {
  for (const unsigned block : awkward_blocks()) {
    const unsigned wave = sums_of({1}, block).wave;
    INFO("block " << block << ", grid " << wave);
    CHECK(wave % sm_count() == 0);
    CHECK(std::size_t{wave} * block <= sm_count() * thread_slots_per_sm());
    if (block >= 250) {  // smaller ones run out of block slots before they run out of thread slots
      const std::size_t warps = div_up(block, 32);  // a block takes up whole warps
      CHECK((wave / sm_count() + 1) * warps * 32 > thread_slots_per_sm());
    }
  }
}

TEST_CASE("the runtime's choice can be launched and fills every SM") {
  const ThreadSums sums = sums_of(random_ints(99991, 0, 9, 5));
  const std::size_t grid = std::size_t(sums.api_grid), block = std::size_t(sums.api_block);
  CHECK(grid >= sm_count());
  CHECK(grid * block <= sm_count() * thread_slots_per_sm());
  CHECK(adds_up(sum_grid_stride, random_ints(9991, 0, 9, 5), sums.api_grid, sums.api_block));
}

TEST_CASE("the checker rejects one wrong element, and one missing partial sum") {
  std::vector<int> x = random_ints(1000, 1, 9, 5);
  const ThreadSums sums = sums_of(x);
  REQUIRE(runs_right(kVersions[0], sums));
  CUDA_CHECK(cudaMemset(sums.partial + 17, 0xff, sizeof(long long)));
  CHECK_FALSE(sums.is_right("one sum is missing"));
  x[999] += 1;
  CUDA_CHECK(cudaMemcpy(sums.x, x.data(), sums.x.bytes(), cudaMemcpyHostToDevice));
  CHECK_FALSE(runs_right(kVersions[0], sums));
}

TEST_CASE("the kernels add every element in any grid and block", "[grid_sizes][block_sizes]") {
  check_any_shape(kOfShapes);
  check_zeros(kOfShapes);
  check_large_values(kOfShapes);
}

TEST_CASE("the grids grow, through one per SM and one wave, to four waves", "[grid_sizes]") {
  for (const unsigned block : awkward_blocks()) {
    const unsigned wave = blocks_held(shapes::sum_grid_stride, block);
    const std::vector<unsigned> grids = grid_sizes::grids(sm_count(), wave);
    INFO("block " << block);
    CHECK(grids.front() == 1);
    CHECK(grids.back() == 4 * wave);
    for (const unsigned grid : {sm_count(), wave, 2 * wave})
      CHECK(std::count(grids.begin(), grids.end(), grid) == 1);
    for (std::size_t i = 1; i < grids.size(); ++i) CHECK(grids[i] > grids[i - 1]);
  }
}

TEST_CASE("every grid has a row for one load and one for four, and all are right", "[grid_sizes]") {
  const std::vector<std::string> lines =
      lines_of_csv(grid_sizes::experiment_main, {"--n", "5000", "--samples", "1"});
  const unsigned wave = blocks_held(shapes::sum_grid_stride, 256);
  CHECK(lines.size() == 1 + 2 * grid_sizes::grids(sm_count(), wave).size());
}

TEST_CASE("every block size has a row for one load and one for four, all right", "[block_sizes]") {
  const std::vector<std::string> lines =
      lines_of_csv(block_sizes::experiment_main, {"--n", "5000", "--samples", "1"});
  CHECK(lines.size() == 1 + 2 * std::size(block_sizes::kBlocks));
}

TEST_CASE("loads of any width and number add every element, whatever is left for the last round",
          "[load_widths]") {
  check_any_shape(of_load_widths());
}

TEST_CASE("a wide load's kernel leaves a zero for a thread without an element, and nothing behind",
          "[load_widths]") {
  check_zeros(of_load_widths());
}

TEST_CASE("squares of large ints are exact in loads of any width and number", "[load_widths]") {
  check_large_values(of_load_widths());
}

TEST_CASE("a wide load's kernel gets the registers it was promised, and a wave of it fits",
          "[load_widths]") {
  for (const load_widths::Ladder& l : load_widths::kLadder) {
    INFO(l.name);
    cudaFuncAttributes of_kernel;
    CUDA_CHECK(cudaFuncGetAttributes(&of_kernel, l.kernel));
    CHECK(of_kernel.numRegs <= (std::strstr(l.name, "/r32") == nullptr ? 64 : 32));
    CHECK(of_kernel.localSizeBytes == 0);  // every value in flight has a register
    const unsigned wave = blocks_held(l.kernel, 256);
    CHECK(wave % sm_count() == 0);
    const std::size_t per_sm = std::size_t{wave} * 256 / sm_count();
    CHECK(per_sm <= thread_slots_per_sm());
    CHECK(per_sm * static_cast<std::size_t>(of_kernel.numRegs) <= 65536);
  }
  cudaFuncAttributes of_eight;
  CUDA_CHECK(cudaFuncGetAttributes(&of_eight, sum_eight_wide_loads));
  CHECK(of_eight.numRegs <= 64);
  CHECK(of_eight.localSizeBytes == 0);
}

TEST_CASE("a ring has a link in every line to the next one, and the last leads to the first",
          "[load_latency]") {
  for (const unsigned lines : {1u, 2u, 5u}) {
    const unsigned count = 32 * lines;
    const DeviceArray<unsigned> next(count + 1);
    load_latency::link_ring<<<1, 192>>>(next, count);
    CUDA_CHECK_LAUNCH();
    const std::vector<unsigned> links = next.download();
    for (unsigned i = 0; i < count; ++i) CHECK(links[i] == (i < count - 32 ? i + 32 : i % 32));
    CHECK(links[count] == ~0u);  // behind the ring
  }
}

TEST_CASE("a walk along the ring ends where it has to", "[load_latency]") {
  CommandLine typed({"--samples", "2"});
  const Options opt(typed.argc(), typed.argv.data(), "04", "where does a walk end?", {});
  for (const std::size_t bytes : {std::size_t{128}, std::size_t{4096}, std::size_t{1} << 20}) {
    ResultTable table(opt, bytes);
    INFO(bytes << " bytes");
    CHECK(load_latency::add_ring(table, bytes) > 0);
    CHECK(table.finish() == kExitOk);
  }
}

TEST_CASE("the bytes in flight of a launch are those of each thread, and bound its speed",
          "[load_latency]") {
  using load_latency::in_flight;
  CHECK(in_flight("a", 8, 64, 4, 335.5, 4254) ==
        "  a: 8 x 64 threads, 0.002048 MB in flight, at most 6.104 GB/s");
  CHECK(in_flight("b", 1056, 256, 16, 335.5, 4254) ==
        "  b: 1056 x 256 threads, 4.325 MB in flight, at most 4254 GB/s");
}

TEST_CASE("a walk goes on where the last one ended", "[load_latency]") {
  const DeviceArray<unsigned> next(std::vector<unsigned>{2, 0, 4, 1, 3});
  const DeviceArray<unsigned> position(std::vector<unsigned>{0});
  for (const unsigned expected : {2u, 4u, 3u}) {
    load_latency::follow_links<<<1, 1>>>(next, position, 1);
    CUDA_CHECK_LAUNCH();
    CHECK(position.download()[0] == expected);
  }
  load_latency::follow_links<<<1, 1>>>(next, position, 7);  // five bring it back, and then two
  CUDA_CHECK_LAUNCH();
  CHECK(position.download()[0] == 0);
}

TEST_CASE("every chain makes every step, in blocks of any size, and its cycles are plausible",
          "[warp_issue]") {
  for (const unsigned chains : {1u, warp_issue::kMostChains}) {
    for (const unsigned threads : awkward_blocks()) {
      INFO(chains << " chains, " << threads << " threads");
      const warp_issue::Chains c{chains, threads};
      c.poison();
      CHECK_FALSE(c.is_right("poison"));
      CHECK_FALSE(c.took_cycles(1));
      EventTimer timer;
      timer.start();
      c.launch();
      const double ms = timer.stop_ms();
      CHECK(c.is_right("chains"));
      CHECK(c.took_cycles(ms));
      const auto cycles = static_cast<double>(c.cycles.download()[0]);
      CHECK(cycles >= warp_issue::kSteps / 64.0);  // the clock was read on both sides of the steps
      if (chains * threads < c.ends.size()) {
        CHECK(std::isnan(c.ends.download()[std::size_t{chains} * threads]));
      }
    }
  }
}

TEST_CASE("counts of cycles that no launch can have left are not plausible", "[warp_issue]") {
  const warp_issue::Chains c{1, 32};
  for (const long long count : {0LL, -1000LL, 10000001LL, LLONG_MAX, 10000000LL}) {
    CUDA_CHECK(cudaMemcpy(c.cycles, &count, sizeof count, cudaMemcpyHostToDevice));
    INFO(count);
    CHECK(c.took_cycles(1) == (count == 10000000));  // 10 GHz for a millisecond
  }
}

TEST_CASE("the cycles of chains span the work of all warps of the block, not that of the first",
          "[warp_issue]") {
  // Thread 0 has a thousandth of the work: a span of its own would be short, when it comes first or
  // when it comes last. Many steps, or the barriers would take most of the time. The best of some
  // launches: others use the machine, too.
  const warp_issue::Chains c{warp_issue::kMostChains, 1024};
  double best = 0;
  for (int repeat = 0; repeat < 10 && best < 0.25; ++repeat) {
    EventTimer timer;
    timer.start();
    warp_issue::run_chains<warp_issue::kMostChains>
        <<<1, 1024>>>(32 * warp_issue::kSteps, c.ends, c.cycles);
    CUDA_CHECK_LAUNCH();
    const double ms = timer.stop_ms();
    best = std::max(best, static_cast<double>(c.cycles.download()[0]) / sm_clock_mhz() / 1e3 / ms);
  }
  CHECK(best >= 0.25);
}

TEST_CASE("blocks that all fit at once see the last one begin", "[waiting_blocks]") {
  for (const unsigned block : {1u, 256u, 1024u}) {
    const unsigned wave = blocks_held(waiting_blocks::wait_for_last_block, block);
    for (const unsigned grid : {1u, 2u, wave}) {
      const auto w = waiting_blocks::run(grid, block, waiting_blocks::kLongNs).first;
      INFO("grid " << grid << ", block " << block);
      CHECK(w.last_has_begun == 1);
      CHECK(w.gave_up == 0);
    }
  }
}

TEST_CASE("blocks that do not fit at once give up and do not hang", "[waiting_blocks]") {
  const unsigned wave = blocks_held(waiting_blocks::wait_for_last_block, 256);
  // No order of blocks is promised. But where blocks give up, and only there, a launch takes as
  // long as a block is patient. Once is enough: on a busy machine any launch may take long.
  bool as_long_as_it_waited = false;
  for (int repeat = 0; repeat < 10 && !as_long_as_it_waited; ++repeat) {
    const auto [w, ms] = waiting_blocks::run(wave + 1, 256, waiting_blocks::kShortNs);
    CHECK(w.last_has_begun == 1);  // in the end it had its place
    CHECK(w.gave_up <= wave);
    as_long_as_it_waited = (w.gave_up > 0) == (ms * 1e6 > waiting_blocks::kShortNs);
  }
  CHECK(as_long_as_it_waited);
}

TEST_CASE("every block leaves one plausible record, blocks of one thread too, and the sum is right",
          "[three_clocks]") {
  for (const unsigned block : awkward_blocks()) {
    for (const unsigned grid : {1u, 5u, 50u}) {
      const Launch launch(records::sum_recorded, random_ints(small_sizes() ? 9991 : 99991, 0, 9, 5),
                          grid, block);
      INFO("grid " << grid << ", block " << block);
      CHECK(three_clocks::is_right(launch));
      CHECK(launch.event_ms > 0);
      REQUIRE(launch.blocks.size() == grid);
      const auto all = whole_launch(launch.blocks);
      for (const auto& b : launch.blocks) {
        CHECK((all.start_ns <= b.start_ns && b.end_ns <= all.end_ns));
        CHECK(b.sm < sm_count());
      }
    }
  }
}

TEST_CASE("a record spans the work of all threads of its block, not that of the first",
          "[three_clocks]") {
  // One block does everything, so its record takes up most of the launch. Of 1024 threads one has a
  // thousandth of the work: a record of one thread's work would be short, when this thread comes
  // first or when it comes last. The best of some launches: others use the machine, too.
  const std::vector<int> x = random_ints(small_sizes() ? 200003 : 2000003, 0, 9, 5);
  double best = 0;
  for (int repeat = 0; repeat < 10 && best < 0.5; ++repeat) {
    const Launch launch(records::sum_recorded, x, 1, 1024);
    const auto& b = launch.blocks[0];
    const double cycles_per_ns = b.cycles() / static_cast<double>(b.end_ns - b.start_ns);
    INFO("record " << b.ms() << " ms, events " << launch.event_ms << " ms");
    CHECK(cycles_per_ns > 0.05);  // both clocks saw the same span
    best = std::max(best, b.ms() / launch.event_ms);
  }
  CHECK(best >= 0.5);
}

TEST_CASE("records that no launch can have left are not plausible", "[three_clocks]") {
  const BlockRecord good{0, 1000000, 1500000, 500, 900500};  // half a millisecond at 1.8 GHz
  CHECK(three_clocks::are_plausible({good}, 0.6));
  CHECK_FALSE(three_clocks::are_plausible({good}, 0.4));  // longer than the launch
  const auto spoilt = [&](auto&& spoil) {
    BlockRecord b = good;
    spoil(b);
    return !three_clocks::are_plausible({good, b}, 0.6);
  };
  CHECK(spoilt([](BlockRecord& b) { std::memset(static_cast<void*>(&b), 0xff, sizeof b); }));
  CHECK(spoilt([](BlockRecord& b) { b.sm = ~0u; }));
  CHECK(spoilt([](BlockRecord& b) { std::swap(b.start_ns, b.end_ns); }));
  CHECK(spoilt([](BlockRecord& b) { std::swap(b.start_cycles, b.end_cycles); }));
  CHECK(spoilt([](BlockRecord& b) { b.end_cycles = b.start_cycles; }));
  CHECK(spoilt([](BlockRecord& b) { b.start_cycles = -b.end_cycles * 100; }));
  CHECK(spoilt([](BlockRecord& b) { b.end_ns += 1000000; }));
  CHECK(spoilt([](BlockRecord& b) { b.start_ns = 0; }));
}

TEST_CASE("a launch that left a wrong sum is not right", "[three_clocks]") {
  Launch launch(records::sum_recorded, random_ints(1000, 0, 9, 5), 3, 64);
  REQUIRE(three_clocks::is_right(launch));
  launch.sum += 1;
  CHECK_FALSE(three_clocks::is_right(launch));
}

TEST_CASE("the span of a launch is from the first start to the last end", "[three_clocks]") {
  const std::vector<BlockRecord> blocks = {
      {0, 20, 40, 7, 9}, {1, 10, 30, 1000, 1004}, {0, 25, 60, 9, 12}};
  const auto all = whole_launch(blocks);
  CHECK(all.ms() == 50 / 1e6);
  CHECK(all.cycles() == 997);  // what the counters of two SMs make of it
}

TEST_CASE("the counters of all SMs are read as if they were one clock", "[three_clocks]") {
  Launch launch(records::sum_recorded, random_ints(1000, 0, 9, 5), 2, 64);
  launch.blocks = {{0, 1000, 41000, 700, 900}, {1, 11000, 51000, 5700, 5900}};
  CHECK(whole_launch(launch.blocks).ms() == 0.05);
  // 5200 cycles from one SM's counter to the other's; a cycle of the first block takes 200 ns.
  CHECK(std::abs(three_clocks::counter_ms(launch.blocks) - 1.04) < 1e-12);
}

namespace {

// The records of a launch whose sum is right.
std::vector<BlockRecord> record_blocks(const std::vector<int>& x, unsigned grid, unsigned block) {
  const Launch launch(records::sum_recorded, x, grid, block);
  REQUIRE(launch.sum == launch.expected);
  return launch.blocks;
}

}  // namespace

TEST_CASE("no more blocks run at a time than fit at once", "[blocks_over_time]") {
  using namespace blocks_over_time;
  const unsigned wave = blocks_held(records::sum_recorded, 256);
  const auto blocks = record_blocks(random_ints(20011, 0, 9, 5), wave * 5 / 2, 256);
  // At equal times ends sort before starts: a block's slot is free again when it has ended.
  std::vector<std::pair<std::uint64_t, int>> events;
  for (const auto& b : blocks) {
    events.push_back({b.start_ns, b.end_ns > b.start_ns ? 1 : 0});
    events.push_back({b.end_ns, b.end_ns > b.start_ns ? -1 : 0});
  }
  std::sort(events.begin(), events.end());
  int running = 0, most = 0;
  for (const auto& event : events) most = std::max(most, running += event.second);
  CHECK(most <= static_cast<int>(wave));
}

TEST_CASE("--csv has a line for every block, from the first start on", "[blocks_over_time]") {
  const std::vector<std::string> lines = lines_of_csv(
      blocks_over_time::experiment_main, {"--n", "5000", "--grid", "7", "--block", "32"});
  REQUIRE(lines.size() == 8);
  CHECK(lines[0] == "block,sm,start_ns,end_ns");
  unsigned long long first = ULLONG_MAX;
  for (unsigned i = 0; i < 7; ++i) {
    unsigned block = 0, sm = 0;
    unsigned long long start = 0, end = 0;
    REQUIRE(std::sscanf(lines[i + 1].c_str(), "%u,%u,%llu,%llu", &block, &sm, &start, &end) == 4);
    CHECK(block == i);
    CHECK(sm < sm_count());
    CHECK(start <= end);
    first = std::min(first, start);
  }
  CHECK(first == 0);
}
