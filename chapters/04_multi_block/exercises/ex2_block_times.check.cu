// SPDX-License-Identifier: MIT
// STARTER FAILS: spans are right on SMs whose counters began at different times
#include <algorithm>

#include "common/labs/counts.cuh"
#include "common/labs/dealt.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// What a GPU might note: {start_ns, end_ns, start_cycles, end_cycles}. Its clock rate is given
// as 2 cycles per ns, and some of its SMs are slower than that.
struct Case {
  const char* what;
  std::vector<BlockRecord> blocks;
  double launch_ns, slowest_block_cycles;
};

const std::uint64_t kNow = 1700000000000000000u;
const std::vector<Case> kCases = {
    {"one block", {{kNow + 50, kNow + 250, 7000, 7400}}, 200, 400},
    {"one SM, two blocks one after the other",
     {{kNow, kNow + 100, 500, 700}, {kNow + 100, kNow + 250, 700, 1000}},
     250,
     300},
    {"two SMs at the same time",
     {{kNow, kNow + 300, 1000000, 1000600}, {kNow + 20, kNow + 120, 40, 240}},
     300,
     600},
    {"three SMs, the first block starts last and the last ends first",
     {{kNow + 90, kNow + 190, 9000000000, 9000000200},
      {kNow + 10, kNow + 400, 123, 903},
      {kNow, kNow + 80, 5000000, 5000160}},
     400,
     780},
    {"the slowest block is the last one",
     {{kNow, kNow + 10, 300, 320}, {kNow + 5, kNow + 75, 90000, 90140}},
     75,
     140},
    {"one SM that has been slowed down",
     {{kNow, kNow + 200, 1000, 1250}, {kNow + 210, kNow + 300, 1260, 1360}},
     300,
     250},
    {"two SMs of different speeds",
     {{kNow, kNow + 100, 10, 110}, {kNow + 10, kNow + 90, 5000, 5150}},
     100,
     150},
    {"a block that takes a minute, and cycles that 32 bits do not count",
     {{kNow, kNow + 60000000001, 17, 120000000020}, {kNow + 3, kNow + 60000000000, 5, 99000000002}},
     60000000001,
     120000000003}};

// Nanoseconds by which two readings of the shared clock may be out of order: on a GPU its ticks do
// not come to all warps of a block at once (64 ns apart on an H100).
constexpr std::uint64_t kTick = kOnGpu ? 2000 : 0;

__global__ void note_time(std::uint64_t* ns) { *ns = global_timer_ns(); }

std::uint64_t time_on_the_device() {
  const lab::Array<std::uint64_t> ns(1);
  note_time<<<1, 1>>>(ns.get());
  CUDA_CHECK_LAUNCH();
  return ns.download()[0];
}

// Any number of blocks, each at its own time and pace, by a counter that began at any time.
Case drawn_case() {
  Case drawn = {"blocks that are drawn anew", {}, 0, 0};
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  long long slowest = 0;
  for (unsigned left = lab::drawn(2, 90); left > 0; --left) {
    const std::uint64_t start = kNow + lab::drawn(0, 50000), ns = lab::drawn(1, 20000);
    const long long cycles = lab::drawn(static_cast<unsigned>(ns), static_cast<unsigned>(2 * ns));
    const long long counter = 1000LL * lab::drawn(0, 4000000000u);
    drawn.blocks.push_back({start, start + ns, counter, counter + cycles});
    first = std::min(first, start), last = std::max(last, start + ns);
    slowest = std::max(slowest, cycles);
  }
  drawn.launch_ns = static_cast<double>(last - first);
  drawn.slowest_block_cycles = static_cast<double>(slowest);
  return drawn;
}

}  // namespace

TEST_CASE("spans are right on SMs whose counters began at different times") {
  lab::once([] {
    std::vector<Case> cases = kCases;
    for (int again = 0; again < 20; ++again) cases.push_back(drawn_case());
    for (const Case& c : cases) {
      const Spans spans = spans_of(c.blocks, 2);
      const std::string what = std::string(c.what) + ": ";
      lab::expect_equal(what + "launch_ns", spans.launch_ns, c.launch_ns);
      lab::expect_equal(what + "slowest_block_cycles", spans.slowest_block_cycles,
                        c.slowest_block_cycles);
    }
  });
}

TEST_CASE("the record of a block spans the work of all its threads") {
  lab::Trials()
      // At the last size a block takes so long that an end noted too early is far too early.
      .sizes({1, 64, 1000, lab::drawn(100'000, 200'000)})
      .blocks({32, 96, 256, lab::drawn(257, 1024)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        static const unsigned kGrid = lab::drawn(3, 6);
        const std::size_t threads = std::size_t{kGrid} * at.block;
        const std::vector<int> x = lab::ints_of(at);
        std::vector<long long> expected(threads, 0);
        for (std::size_t i = 0; i < at.n; ++i) expected[i % threads] += x[i];

        const lab::Array<int> d_x(x);
        const lab::Array<long long> partial(threads);
        const lab::Array<ThreadTimes> d_times(threads);
        const lab::Array<BlockRecord> d_records(kGrid);
        std::uint64_t earliest = 0, latest = 0;
        const auto compare = [&] {
          lab::expect_equal("partial", partial.download(), expected);
          const std::vector<ThreadTimes> times = d_times.download();
          const std::vector<BlockRecord> records = d_records.download();
          const auto before = [](std::uint64_t ns, std::uint64_t other) {
            return std::to_string(other - ns) + " ns before it";
          };
          std::size_t have_cycles = 0;  // threads of blocks with about as many as nanoseconds
          for (std::size_t g = 0; g < threads; ++g) {
            const BlockRecord& r = records[g / at.block];
            const std::string block = "records[" + std::to_string(g / at.block) + "].";
            const std::string who = "thread " + std::to_string(g % at.block) + " of the block";
            lab::expect(r.end_ns != ~std::uint64_t{0}, block + "end_ns", "written",
                        "never written");
            lab::expect(r.start_ns <= times[g].begin_ns + kTick, block + "start_ns",
                        "not after " + who + " begins",
                        "the thread began " + before(times[g].begin_ns, r.start_ns));
            lab::expect(times[g].end_ns <= r.end_ns + kTick, block + "end_ns",
                        "not before " + who + " ends", before(r.end_ns, times[g].end_ns));
            lab::expect(r.start_ns + kTick >= earliest, block + "start_ns", "not before the launch",
                        before(r.start_ns, earliest));
            lab::expect(r.end_ns <= latest + kTick, block + "end_ns",
                        "not after the launch has ended",
                        std::to_string(r.end_ns - latest) + " ns after it");
            lab::expect(r.start_cycles <= r.end_cycles, block + "end_cycles",
                        "not before start_cycles", "before start_cycles");
            // At most 10 cycles per ns; two microseconds for the ticks of the shared clock.
            const auto cycles = static_cast<double>(r.end_cycles - r.start_cycles);
            lab::expect(cycles >= 0 && cycles < 10.0 * (r.end_ns - r.start_ns + 2000),
                        block + "end_cycles",
                        "after as many cycles as the block's nanoseconds hold",
                        std::to_string(r.end_cycles - r.start_cycles) + " cycles after the start");
            have_cycles += 10 * cycles + 20000 > static_cast<double>(r.end_ns - r.start_ns);
          }
          // Of more than half of the blocks: a thread that the system stops between its two notes
          // spoils one.
          lab::expect(2 * have_cycles > threads, "end_cycles of the records",
                      "after the work of all threads, as end_ns is", "noted much earlier");
        };
        earliest = time_on_the_device();
        lab::count(
            [&] {
              sum_recorded<<<kGrid, at.block>>>(d_x.get(), at.n, partial.get(), d_times.get(),
                                                d_records.get());
              CUDA_CHECK_LAUNCH();
            },
            [&] {
              latest = time_on_the_device();
              compare();
            },
            [&](const auto& seen) {
              lab::between("barriers that each thread comes to", seen.barriers, 2, 4,
                           "one holds the work back until the start is noted, one holds the end "
                           "back until the work is done");
              lab::exactly("atomics", seen.atomics().requests + seen.shared_atomics().requests, 0,
                           "the threads work at the same time, and wait at the barriers alone");
              lab::at_most("elements that all threads together load",
                           lab::loads_of_ints(seen).lanes, at.n, "the work is done once");
            });
      });
}
