// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/11_warps_and_divergence/warps_and_divergence.cu"
#undef main

#include "kernel_testing.cuh"

#include <cstring>
#include <set>

namespace {

// Whole warps, as every kernel here wants them; some are no power of two.
std::vector<unsigned> blocks_to_test() { return {32, 64, 96, 256, 1024}; }

// A version with what it leaves and how it is checked.
struct Runner {
  std::string name;
  void (*launch)(const Sums&);
  std::size_t ints_of_block;  // per thread; 0: it leaves sums of warps
};

std::vector<Runner> runners() {
  const Device device = describe_device(0);
  std::vector<Runner> all;
  for (const auto& v : kVersions) {
    if (is_there(v, device)) all.push_back({v.name, v.launch, 0});
  }
  for (const auto& v : block_sums::kOneEach) all.push_back({v.name, v.launch, 1});
  for (const auto& v : block_sums::kWide) all.push_back({v.name, v.launch, kItems});
  if (kOnGpu) all.push_back({"cub_warp", block_sums::kCubWarp[0].launch, 0});
  if (kOnGpu) all.push_back({"cub_block", block_sums::cub_block_version(256).launch, kItems});
  return all;
}

// The sums of `count` neighbours, then the poison of places that nobody has.
template <class T>
std::vector<T> expected_sums(const std::vector<int>& x, std::size_t count, std::size_t written,
                             std::size_t places) {
  std::vector<T> sums(places, T{-1});  // what poison() writes
  for (std::size_t k = 0; k < written; ++k) {
    long long sum = 0;
    for (std::size_t i = k * count; i < std::min((k + 1) * count, x.size()); ++i) sum += x[i];
    sums[k] = static_cast<T>(sum);
  }
  return sums;
}

bool leaves_the_right_sums(const Runner& r, const Sums& d, const std::vector<int>& x) {
  d.poison();
  r.launch(d);
  CUDA_CHECK_LAUNCH();
  const std::size_t warps = d.of_warps.size();
  if (r.ints_of_block == 0) {
    return d.of_warps.download() == expected_sums<int>(x, kWarp, warps, warps) &&
           d.of_blocks.download() == std::vector<long long>(d.grid, -1);
  }
  const std::size_t ints = r.ints_of_block * d.block;
  const std::size_t written = std::max<std::size_t>(1, (x.size() + ints - 1) / ints);
  return d.of_warps.download() == std::vector<int>(warps, -1) &&
         d.of_blocks.download() == expected_sums<long long>(x, ints, written, d.grid);
}

__global__ void all_lanes(const int* x, int* xor_sums, long long* down_sums) {
  xor_sums[threadIdx.x] = sum_xor(x[threadIdx.x]);
  down_sums[threadIdx.x] = sum_down(static_cast<long long>(x[threadIdx.x]) * (1LL << 32));
}

__global__ void scan_one_warp(const int* x, int* sums) {
  sums[threadIdx.x] = votes::scan_of_warp(x[threadIdx.x]);
}

bool vote_is_right(const Version<votes::Segments>& row, const std::vector<int>& x, unsigned block) {
  const votes::SegmentMemory m(x, block);
  m.poison();
  row.launch(m.segments);
  CUDA_CHECK_LAUNCH();
  return votes::check(row.name, m, votes::expect(row.name, x));
}

}  // namespace

TEST_CASE(
    "every warp and every block leaves the sum of its own elements, and writes nothing else") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      if (n > 10000 && input.name != "index-valued") continue;  // the kind that shows most
      const Sums d(input.values, 256);
      for (const Runner& r : runners()) {
        INFO(r.name << ", n = " << n << ", " << input.name);
        CHECK(leaves_the_right_sums(r, d, input.values));
      }
    }
  }
}

TEST_CASE("every version works with any number of warps in a block") {
  for (const unsigned block : blocks_to_test()) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{33}, std::size_t{2053}}) {
      const std::vector<int> x = random_ints(n, -99, 99, block);
      const Sums d(x, block);
      for (const Runner& r : runners()) {
        if (r.name == "cub_block" && block != 256) continue;
        INFO(r.name << ", block " << block << ", n = " << n);
        CHECK(leaves_the_right_sums(r, d, x));
      }
    }
  }
}

TEST_CASE("the last block of block_wide may have any number of ints") {
  for (const std::size_t n : {16u * 64u - 1u, 16u * 64u, 16u * 64u + 1u, 2u * 16u * 64u + 63u}) {
    const std::vector<int> x = random_ints(n, 1, 1000, n);
    const Sums d(x, 64);
    for (const Runner& r : runners()) {
      if (r.name != "block_wide") continue;
      INFO("n = " << n);
      CHECK(leaves_the_right_sums(r, d, x));
    }
  }
}

TEST_CASE("a block's sum past 32 bits is exact") {
  const std::vector<int> x(5000, 2000000000);
  const Sums d(x, 256);
  for (const Runner& r : runners()) {
    INFO(r.name);
    if (r.ints_of_block > 0) CHECK(leaves_the_right_sums(r, d, x));
  }
}

TEST_CASE("sum_xor gives every lane the sum of its warp, sum_down the first lane, in 64 bits too") {
  const std::vector<int> x = random_ints(64, -9, 9, 3);
  const DeviceArray<int> d_x(x), xors(64);
  const DeviceArray<long long> downs(64);
  all_lanes<<<1, 64>>>(d_x.get(), xors.get(), downs.get());
  CUDA_CHECK_LAUNCH();
  const auto sums = expected_sums<int>(x, kWarp, 2, 2);
  for (unsigned t = 0; t < 64; ++t) CHECK(xors.download()[t] == sums[t / kWarp]);
  for (unsigned w = 0; w < 2; ++w) {
    CHECK(downs.download()[w * kWarp] == static_cast<long long>(sums[w]) * (1LL << 32));
  }
}

TEST_CASE("a launch leaves nothing behind that the next one trips over") {
  const std::vector<int> x = random_ints(small_sizes() ? 1031 : 10007, 0, 9, 5);
  const Sums d(x, 256);
  for (const Runner& r : runners()) {
    for (int repeat = 0; repeat < repeats(20); ++repeat) r.launch(d);
    INFO(r.name);
    CHECK(leaves_the_right_sums(r, d, x));
  }
}

TEST_CASE("the checkers reject a kernel that does nothing and one wrong element") {
  std::vector<int> x = random_ints(1000, 0, 9, 5);
  const Sums d(x, 256);
  const auto of_warps = sums_of_each<int>(x, kWarp, d.of_warps.size());
  d.poison();
  CHECK_FALSE(check("nothing", d, of_warps));
  CHECK_FALSE(block_sums::is_right("nothing", d, sums_of_each<long long>(x, 256, d.grid)));
  CHECK(broken_sums::count_wrong(d, of_warps) == of_warps.size());
  kVersions[0].launch(d);
  block_sums::kOneEach[0].launch(d);
  CUDA_CHECK_LAUNCH();
  CHECK(check("right", d, of_warps));
  CHECK(broken_sums::count_wrong(d, of_warps) == 0);
  x[999] += 1;
  CHECK_FALSE(check("one wrong", d, sums_of_each<int>(x, kWarp, d.of_warps.size())));
  CHECK(broken_sums::count_wrong(d, sums_of_each<int>(x, kWarp, d.of_warps.size())) == 1);
  CHECK_FALSE(block_sums::is_right("one wrong", d, sums_of_each<long long>(x, 256, d.grid)));
}

TEST_CASE("the broken sums leave something for every warp, right or not") {
  if (races_are_looked_for()) return;  // they are races
  const Sums d(random_ints(2053, 0, 9, 5), 96);
  for (const auto& v : broken_sums::kVersions) {
    CUDA_CHECK(cudaMemset(d.of_warps.get(), 0x55, d.of_warps.bytes()));
    v.launch(d);
    CUDA_CHECK_LAUNCH();
    INFO(v.name);
    for (const int sum : d.of_warps.download()) CHECK(sum != 0x55555555);
  }
}

TEST_CASE(
    "a warp whose lanes choose has as many paths as asked for, one whose warps choose has one") {
  for (unsigned paths = 1; paths <= kPaths; paths *= 2) {
    for (unsigned warp = 0; warp < 70; ++warp) {
      std::set<unsigned> by_lane, by_warp, by_block;
      for (unsigned lane = 0; lane < kWarp; ++lane) {
        const unsigned t = warp * kWarp + lane;
        by_lane.insert(Fork{1, paths, 8, 1}.path_of(t));
        by_warp.insert(Fork{kWarp, paths, 8, 1}.path_of(t));
        by_block.insert(Fork{256, paths, 8, 1}.path_of(t));
      }
      CHECK(by_lane.size() == paths);
      CHECK(by_warp.size() == 1);
      CHECK(by_block.size() == 1);
      CHECK(*by_lane.rbegin() == paths - 1);
    }
  }
}

TEST_CASE("every path, loop and branch ends where the host says") {
  for (const unsigned block : {32u, 96u, 256u}) {
    std::set<std::string> names;
    for (const auto& row : divergent_paths::rows_of(block, 128)) {
      INFO(row.name << ", block " << block);
      CHECK(names.insert(row.name).second);
      CHECK(divergent_paths::measure(row, {1, false}, 5, block).ok);
    }
    CHECK(names.size() == 22);
  }
}

TEST_CASE("paths end in different places, so that a wrong one shows") {
  for (const auto& row : divergent_paths::rows_of(64, 128)) {
    if (row.name != "by_lane=32" && row.name != "loop_by_lane") continue;
    const auto ends = divergent_paths::expected_ends(row, 64);
    INFO(row.name);
    CHECK(std::set<unsigned>(ends.begin(), ends.end()).size() > 60);
  }
}

TEST_CASE("every vote, search, compaction and scan is the host's, at awkward sizes") {
  for (const std::size_t n : sizes_to_test()) {
    if (n > 100000) continue;
    const std::vector<int> x = random_ints(n, 0, votes::kValues - 1, n);
    for (const auto& row : votes::kRows) {
      INFO(row.name << ", n = " << n);
      CHECK(vote_is_right(row, x, 64));
    }
  }
  for (const unsigned block : blocks_to_test()) {
    const std::vector<int> x = random_ints(5003, 0, votes::kValues - 1, block);
    for (const auto& row : votes::kRows) {
      INFO(row.name << ", block " << block);
      CHECK(vote_is_right(row, x, block));
    }
  }
}

TEST_CASE("votes at the edges: nobody, everybody, only the first, only the last") {
  for (const std::size_t n : {std::size_t{32}, std::size_t{1024}, std::size_t{1055}}) {
    for (const int usual : {0, 2, 3, 5, 996, 997, 998, 999}) {
      for (const std::size_t where : {std::size_t{0}, n / 2, n - 1}) {
        for (const int other : {usual, 0, 777, 999}) {
          std::vector<int> x(n, usual);
          x[where] = other;
          for (const auto& row : votes::kRows) {
            INFO(row.name << ", n = " << n << ", " << usual << ", at " << where << ": " << other);
            CHECK(vote_is_right(row, x, 32));
          }
          if (small_sizes()) return;
        }
      }
    }
  }
}

TEST_CASE("a search ends at the first of several, also where the second comes sooner in its row") {
  for (const std::size_t first :
       {std::size_t{31}, std::size_t{32}, std::size_t{63}, std::size_t{700}}) {
    std::vector<int> x(2048, 1);
    for (std::size_t i = first; i < 1024; i += 33) x[i] = votes::kWanted;
    x[1024 + first] = votes::kWanted;
    for (const auto& row : votes::kRows) CHECK(vote_is_right(row, x, 64));
    CHECK(votes::expect("search_exit", x).per_warp == std::vector<int>(2, static_cast<int>(first)));
  }
}

TEST_CASE("the scan of a warp holds the sum up to each lane") {
  const std::vector<int> x = random_ints(kWarp, -9, 9, 4);
  const DeviceArray<int> d_x(x), sums(kWarp);
  scan_one_warp<<<1, kWarp>>>(d_x.get(), sums.get());
  CUDA_CHECK_LAUNCH();
  int sum = 0;
  for (unsigned t = 0; t < kWarp; ++t) {
    sum += x[t];
    CHECK(sums.download()[t] == sum);
  }
}

TEST_CASE("active_mask leaves three counts for every 32 ints, and its surprises are counted") {
  const std::vector<int> x = random_ints(1055, 0, votes::kValues - 1, 6);
  const votes::SegmentMemory m(x, 64);
  m.poison();
  votes::kRows[6].launch(m.segments);
  CUDA_CHECK_LAUNCH();
  REQUIRE(votes::kRows[6].name == std::string("active_mask"));
  const std::vector<unsigned> rows = m.per_row.download();
  REQUIRE(rows.size() == 3 * 33);
  std::vector<std::size_t> expected(3);
  for (std::size_t k = 0; k < rows.size(); ++k) expected[k % 3] += rows[k] != 0;
  CHECK(votes::surprises(m) == expected);
  for (std::size_t row = 0; row < 33; ++row) {
    unsigned odd = 0;
    for (std::size_t i = 32 * row; i < std::min<std::size_t>(32 * row + 32, x.size()); ++i) {
      odd |= (x[i] % 2 != 0 ? 1u : 0u) << (i % 32);
    }
    CHECK((rows[3 * row] & ~odd) == 0);  // only lanes in the branch can be surprised there
  }
}

TEST_CASE("the checker of votes rejects what was not written, and one wrong place") {
  const std::vector<int> x = random_ints(1055, 0, votes::kValues - 1, 6);
  for (const auto& row : votes::kRows) {
    if (row.name == std::string("active_mask")) continue;
    const votes::SegmentMemory m(x, 64);
    m.poison();
    INFO(row.name);
    CHECK_FALSE(votes::check(row.name, m, votes::expect(row.name, x)));
    row.launch(m.segments);
    CUDA_CHECK_LAUNCH();
    std::vector<int> other = x;
    other[1054] = x[1054] == votes::kWanted ? 0 : votes::kWanted;
    other[1053] = x[1053] < 500 ? x[1053] + 101 : x[1053] - 101;
    CHECK_FALSE(votes::check(row.name, m, votes::expect(row.name, other)));
  }
}

TEST_CASE("with an order that reaches far enough every message is there when its flag is") {
  for (const auto& row : visibility::kMessageRows) {
    const bool scoped = std::strstr(row.name, "scope") != nullptr;
    // On the CPU backend a thread that reads a volatile flag lets nobody else run.
    if (!row.is_ordered || (!kOnGpu && !scoped)) continue;
    INFO(row.name);
    const Tally tally = visibility::hand_over_all(row, 20000000000);
    CHECK(tally.delivered == visibility::kMessages);
    CHECK(tally.old == 0);
  }
}

TEST_CASE("an atomic flag is seen, an ordinary one is not read twice") {
  for (const auto& row : visibility::kFlagRows) {
    if (races_are_looked_for() && std::strcmp(row.name, "flag_relaxed") != 0) continue;
    INFO(row.name);
    const unsigned turn = visibility::turn_seen(row);
    CHECK(turn <= visibility::kTurns);
    if (row.is_seen) CHECK(turn < visibility::kTurns);
  }
}

TEST_CASE("lanes that wait by atomics, or inside the loop, have their turns in order") {
  for (const auto& c : reconvergence::kCases) {
    if (std::strcmp(c.name, "atomic") != 0 && std::strcmp(c.name, "inside_loop") != 0) continue;
    const DeviceArray<unsigned> order(kWarp);
    c.launch(order.get());
    CUDA_CHECK_LAUNCH();
    INFO(c.name);
    CHECK(reconvergence::in_order(order.download()));
    setenv(reconvergence::kVariable, c.name, 1);
    CHECK(reconvergence::is_child());
    CHECK(reconvergence::run_case() == reconvergence::kRight);
    unsetenv(reconvergence::kVariable);
  }
  CHECK_FALSE(reconvergence::in_order({0, 2, 1}));
  CHECK_FALSE(reconvergence::in_order({1, 1, 2}));
}

TEST_CASE("each case of the deadlock ends: by itself, or stopped with a report") {
  const char* const programs = std::getenv("PROGRAMS_DIR");  // set by make test
  const char* const schedule = std::getenv("CUDA_CPU_SCHEDULE");
  if (programs == nullptr || small_sizes()) return;
  if (schedule != nullptr && std::strcmp(schedule, "reverse") != 0) return;  // the order that waits
  setenv("CUDA_CPU_TIMEOUT", "0.5", 1);
  const std::string program = std::string(programs) + "/11_warps_and_divergence";
  using namespace reconvergence;
  const auto ends_as = [&](const char* name) { return outcome_of(program.c_str(), name); };
  CHECK(ends_as("inside_loop") == kRight);
  CHECK(ends_as("atomic") == kRight);
  CHECK(ends_as("reconverged") == (kOnGpu ? kHangs : kStopped));
  CHECK(ends_as("plain") != kRight);
  CHECK(ends_as("volatile") == (kOnGpu ? kRight : kStopped));
  CHECK(ends_as("no such case") == kExitWrong);
  CHECK(outcome_of("/no/such/program", "atomic") == kExitWrong);
  CHECK_FALSE(is_child());
}
