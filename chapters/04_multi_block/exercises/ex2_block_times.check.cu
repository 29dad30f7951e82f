// SPDX-License-Identifier: MIT
// STARTER FAILS: spans are right on SMs whose counters began at different times
#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// What a GPU might note, at 2 cycles per ns: {sm, start_ns, end_ns, start_cycles, end_cycles}.
struct Case {
  const char* what;
  std::vector<BlockRecord> blocks;
  double launch_ns, slowest_block_cycles;
};

const std::uint64_t kNow = 1700000000000000000u;
const std::vector<Case> kCases = {
    {"one block", {{0, kNow + 50, kNow + 250, 7000, 7400}}, 200, 400},
    {"one SM, two blocks one after the other",
     {{0, kNow, kNow + 100, 500, 700}, {0, kNow + 100, kNow + 250, 700, 1000}},
     250,
     300},
    {"two SMs at the same time",
     {{0, kNow, kNow + 300, 1000000, 1000600}, {1, kNow + 20, kNow + 120, 40, 240}},
     300,
     600},
    {"three SMs, the first block starts last and the last ends first",
     {{2, kNow + 90, kNow + 190, 9000000000, 9000000200},
      {0, kNow + 10, kNow + 400, 123, 903},
      {1, kNow, kNow + 80, 5000000, 5000160}},
     400,
     780},
    {"the slowest block is the last one",
     {{0, kNow, kNow + 10, 300, 320}, {1, kNow + 5, kNow + 75, 90000, 90140}},
     75,
     140}};

}  // namespace

TEST_CASE("spans are right on SMs whose counters began at different times") {
  lab::once([] {
    for (const Case& c : kCases) {
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
      .sizes({1, 64, 1000})
      .blocks({32, 96, 256})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        constexpr unsigned kGrid = 3;
        const std::size_t threads = std::size_t{kGrid} * at.block;
        const std::vector<int> x = lab::ints_of(at);
        std::vector<long long> expected(threads, 0);
        for (std::size_t i = 0; i < at.n; ++i) expected[i % threads] += x[i];

        const lab::Array<int> d_x(x);
        const lab::Array<long long> partial(threads);
        const lab::Array<ThreadTimes> d_times(threads);
        const lab::Array<BlockRecord> d_records(kGrid);
        sum_recorded<<<kGrid, at.block>>>(d_x.get(), at.n, partial.get(), d_times.get(),
                                          d_records.get());
        CUDA_CHECK_LAUNCH();
        lab::expect_equal("partial", partial.download(), expected);
        const std::vector<ThreadTimes> times = d_times.download();
        const std::vector<BlockRecord> records = d_records.download();
        const auto before = [](std::uint64_t ns, std::uint64_t other) {
          return std::to_string(other - ns) + " ns before it";
        };
        for (std::size_t g = 0; g < threads; ++g) {
          const BlockRecord& r = records[g / at.block];
          const std::string block = "records[" + std::to_string(g / at.block) + "].";
          const std::string who = "thread " + std::to_string(g % at.block) + " of the block";
          lab::expect(r.end_ns != ~std::uint64_t{0}, block + "end_ns", "written", "never written");
          lab::expect(r.start_ns <= times[g].begin_ns, block + "start_ns",
                      "not after " + who + " begins",
                      "the thread began " + before(times[g].begin_ns, r.start_ns));
          lab::expect(times[g].end_ns <= r.end_ns, block + "end_ns", "not before " + who + " ends",
                      before(r.end_ns, times[g].end_ns));
          lab::expect(r.start_cycles <= r.end_cycles, block + "end_cycles",
                      "not before start_cycles", "before start_cycles");
        }
      });
}
