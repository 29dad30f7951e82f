// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/11_warps_and_divergence/warps_and_divergence.cu"
#undef main

#include <cuda/atomic>
#include <set>

#include "kernel_testing.cuh"

#define main experiment_main
namespace lockstep {
#include "../chapters/11_warps_and_divergence/experiments/lockstep.cu"
}
namespace message_order {
#include "../chapters/11_warps_and_divergence/experiments/message_order.cu"
}
namespace seen_flags {
#include "../chapters/11_warps_and_divergence/experiments/seen_flags.cu"
}
namespace take_turns {
#include "../chapters/11_warps_and_divergence/experiments/take_turns.cu"
}
// Apart from the program, whose kWarp forks.cuh has, too.
namespace forks {
#include "../chapters/11_warps_and_divergence/experiments/forks.cuh"
namespace divergent_paths {
#include "../chapters/11_warps_and_divergence/experiments/divergent_paths.cu"
}
namespace loops_and_branches {
#include "../chapters/11_warps_and_divergence/experiments/loops_and_branches.cu"
}
}  // namespace forks
// And these the ints in segments.
namespace segments {
#include "../chapters/11_warps_and_divergence/experiments/segments.cuh"
namespace active_mask {
#include "../chapters/11_warps_and_divergence/experiments/active_mask.cu"
}
namespace votes_at_work {
#include "../chapters/11_warps_and_divergence/experiments/votes_at_work.cu"
}
namespace warp_votes {
#include "../chapters/11_warps_and_divergence/experiments/warp_votes.cu"
}
}  // namespace segments
namespace active_mask = segments::active_mask;
namespace votes_at_work = segments::votes_at_work;
namespace warp_votes = segments::warp_votes;
#undef main

namespace {

// Whole warps, as every kernel here wants them; some are no power of two.
std::vector<unsigned> blocks_to_test() { return {32, 64, 96, 256, 1024}; }

// Those of the chapter, and CUB's where there are any.
std::vector<Version<Sums>> all_versions(unsigned block) {
  std::vector<Version<Sums>> versions(std::begin(kVersions), std::end(kVersions));
  for (const auto& version : cub_versions(block)) versions.push_back(version);
  return versions;
}

// The sums of every `count` neighbours.
template <class T>
std::vector<T> sums_of_each(const std::vector<int>& x, std::size_t count, std::size_t places) {
  std::vector<T> sums(places);
  for (std::size_t k = 0; k < places; ++k) {
    for (std::size_t i = k * count; i < std::min((k + 1) * count, x.size()); ++i) sums[k] += x[i];
  }
  return sums;
}

// Whether a version leaves the right sums of warps or blocks, and the poison wherever else it could
// have written.
bool leaves_the_right_sums(const Version<Sums>& version, const Sums& d) {
  std::vector<int> warps(d.of_warps.size(), -1);  // what poison() writes
  std::vector<long long> blocks(d.grid, -1);
  const auto blocks_hold = [&](std::size_t count) {
    blocks = sums_of_each<long long>(d.host_x, count, blocks_for(d.n, count));
    blocks.resize(d.grid, -1);
  };
  if (version.is_right == &Sums::blocks_are_right<1>) blocks_hold(d.block);
  if (version.is_right == &Sums::blocks_are_right<kItems>) blocks_hold(kItems * d.block);
  if (version.is_right == &Sums::is_right) warps = sums_of_each<int>(d.host_x, kWarp, warps.size());
  return runs_right(version, d) && d.of_warps.download() == warps &&
         d.of_blocks.download() == blocks;
}

__global__ void all_lanes(const int* x, int* xor_sums, long long* down_sums) {
  xor_sums[threadIdx.x] = sum_xor(x[threadIdx.x]);
  down_sums[threadIdx.x] = sum_down(static_cast<long long>(x[threadIdx.x]) * (1LL << 32));
}

// No turns, and not the order of turns.
__global__ void no_turns(unsigned*) {}
__global__ void turns_from_the_last(unsigned* order) { order[threadIdx.x] = 31 - threadIdx.x; }

__global__ void scan_one_warp(const int* x, int* sums) {
  sums[threadIdx.x] = votes_at_work::scan_of_warp(x[threadIdx.x]);
}

// Whether the CPU backend runs the threads of a block in this order, each to its next wait.
bool runs_threads(const std::string& order) {
  const char* const schedule = std::getenv("CUDA_CPU_SCHEDULE");
  return !kOnGpu && order == (schedule == nullptr ? "forward" : schedule);
}

// Every vote, count, search, compaction and scan of these ints against the host's.
void check_all_votes(const std::vector<int>& x, unsigned block) {
  const warp_votes::Segments asked{{x, block}};
  for (const auto& version : warp_votes::kVersions) {
    INFO(version.name);
    CHECK(runs_right(version, asked));
    const bool counts = version.is_right == &warp_votes::Segments::counts_are_right;
    const auto words = asked.votes.download();  // what a version does not write keeps its poison
    if (counts) CHECK(words == std::vector<unsigned>(words.size(), ~0u));
    if (!counts) CHECK(asked.counts.download() == std::vector<int>(x.size(), -1));
  }
  check_all(votes_at_work::kVersions, votes_at_work::Segments{{x, block}});
}

}  // namespace

TEST_CASE(
    "every warp and every block leaves the sum of its own elements, and writes nothing else") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      if (n > 10000 && input.name != "index-valued") continue;  // the kind that shows most
      const Sums d{input.values, 256};
      for (const auto& version : all_versions(256)) {
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(leaves_the_right_sums(version, d));
      }
    }
  }
}

TEST_CASE("every version works with any number of warps in a block") {
  for (const unsigned block : blocks_to_test()) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{33}, std::size_t{2053}}) {
      const Sums d{random_ints(n, -99, 99, block), block};
      for (const auto& version : all_versions(block)) {
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(leaves_the_right_sums(version, d));
      }
    }
  }
}

TEST_CASE("the last block of block_wide may have any number of ints") {
  for (const std::size_t n : {16u * 64u - 1u, 16u * 64u, 16u * 64u + 1u, 2u * 16u * 64u + 63u}) {
    const Sums d{random_ints(n, 1, 1000, n), 64};
    for (const auto& version : kVersions) {
      if (version.is_right != &Sums::blocks_are_right<kItems>) continue;
      INFO("n = " << n);
      CHECK(leaves_the_right_sums(version, d));
    }
  }
}

TEST_CASE("a block's sum past 32 bits is exact") {
  const Sums d{std::vector<int>(5000, 2000000000), 256};
  for (const auto& version : all_versions(256)) {
    INFO(version.name);
    if (version.is_right != &Sums::is_right) CHECK(leaves_the_right_sums(version, d));
  }
}

TEST_CASE("sum_xor gives every lane the sum of its warp, sum_down the first lane, in 64 bits too") {
  const std::vector<int> x = random_ints(64, -9, 9, 3);
  const DeviceArray<int> d_x(x), xors(64);
  const DeviceArray<long long> downs(64);
  all_lanes<<<1, 64>>>(d_x, xors, downs);
  CUDA_CHECK_LAUNCH();
  const auto sums = sums_of_each<int>(x, kWarp, 2);
  for (unsigned t = 0; t < 64; ++t) CHECK(xors.download()[t] == sums[t / kWarp]);
  for (unsigned w = 0; w < 2; ++w) {
    CHECK(downs.download()[w * kWarp] == static_cast<long long>(sums[w]) * (1LL << 32));
  }
}

TEST_CASE("no launch trips over what earlier ones left, and doing nothing is not right") {
  check_repeated(all_versions(256), Sums{random_ints(small_sizes() ? 1031 : 10007, 0, 9, 5), 256});
}

TEST_CASE("the checkers reject one wrong element") {
  const std::vector<int> x = random_ints(1000, 0, 9, 5);
  Sums other{x, 256};
  for (const auto& version : all_versions(256)) {
    INFO(version.name);
    other.host_x = x;
    CHECK(runs_right(version, other));
    other.host_x[999] -= 1;
    CHECK_FALSE(runs_right(version, other));
  }
}

// What is right by luck is right under one order of threads: from the last to the first, each runs
// to its end, so that a lane finds what it adds. That tells whether the trees are what they seem.
// It holds at every size, but not in a program built for X-ray or races: there a volatile read in
// 1024 lets other threads run (common/cpu/engine/scheduling/yielding.h), and luck has an end.
#if defined(CUDA_CPU_XRAY)
constexpr bool kReadsLetOthersRun = true;
#else
constexpr bool kReadsLetOthersRun = false;
#endif

TEST_CASE("the trees in lockstep add up if lanes run one after the other from the last",
          "[lockstep]") {
  if (!runs_threads("reverse") || races_are_looked_for()) return;
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{33}, std::size_t{257}, std::size_t{2053}, std::size_t{50000}}) {
    for (const int step : {1, 4}) {  // with a step of 4 no lane is late
      std::vector<int> x = random_ints(n, 1, 99, n);
      for (int& value : x) value *= step;
      const lockstep::WarpSums d{x};
      for (const auto& row : lockstep::kRows) {
        const bool late = row.kernel == lockstep::sum_tree_late;
        if (kReadsLetOthersRun && (late || row.kernel == lockstep::sum_tree_volatile)) continue;
        d.sums.poison();
        row.kernel<<<d.grid, lockstep::kBlock>>>(d.x, d.n, d.sums);
        CUDA_CHECK_LAUNCH();
        INFO(row.name << ", n = " << n << ", step " << step);
        if (!late || step == 4)
          CHECK(d.sums.download() == sums_of_each<int>(x, kWarp, d.sums.size()));
        if (!late || step == 4) CHECK(d.count_wrong() == 0);
        if (late && step == 1 && n > 1000) CHECK(d.count_wrong() > d.sums.size() / 2);
      }
    }
  }
}

TEST_CASE("the trees in lockstep are wrong if lanes run one after the other from the first",
          "[lockstep]") {
  if (!runs_threads("forward") || races_are_looked_for()) return;
  const lockstep::WarpSums d{random_ints(2048, 1, 9, 5)};
  for (const auto& row : lockstep::kRows) {
    if (row.is_promised) continue;
    row.kernel<<<d.grid, lockstep::kBlock>>>(d.x, d.n, d.sums);
    CUDA_CHECK_LAUNCH();
    INFO(row.name);
    CHECK(d.count_wrong() == d.sums.size());
  }
}

TEST_CASE("trees with __syncwarp add up in any order of lanes, late ones too", "[lockstep]") {
  int promised = 0;
  for (const auto& row : lockstep::kRows) {
    if (!row.is_promised) continue;
    ++promised;
    for (const std::size_t n :
         {std::size_t{1}, std::size_t{33}, std::size_t{257}, std::size_t{2053}}) {
      const std::vector<int> x = random_ints(n, 1, 99, n);
      const lockstep::WarpSums d{x};
      d.sums.poison();
      row.kernel<<<d.grid, lockstep::kBlock>>>(d.x, d.n, d.sums);
      CUDA_CHECK_LAUNCH();
      INFO(row.name << ", n = " << n);
      CHECK(d.sums.download() == sums_of_each<int>(x, kWarp, d.sums.size()));
      CHECK(d.count_wrong() == 0);
    }
  }
  CHECK(promised == 2);
}

TEST_CASE("the trees in lockstep leave something for every warp, right or not", "[lockstep]") {
  const lockstep::WarpSums d{random_ints(2053, 0, 9, 5)};
  for (const auto& row : lockstep::kRows) {
    if (!row.is_promised && races_are_looked_for()) continue;  // they are races
    CUDA_CHECK(cudaMemset(d.sums, 0x55, d.sums.bytes()));
    row.kernel<<<d.grid, lockstep::kBlock>>>(d.x, d.n, d.sums);
    CUDA_CHECK_LAUNCH();
    INFO(row.name);
    for (const int sum : d.sums.download()) CHECK(sum != 0x55555555);
  }
}

TEST_CASE("wrong sums are counted, each of them", "[lockstep]") {
  const std::vector<int> x = random_ints(2053, 0, 9, 5);
  const lockstep::WarpSums d{x};
  CHECK(d.count_wrong() == d.sums.size());  // nothing ran: poison
  std::vector<int> sums = sums_of_each<int>(x, kWarp, d.sums.size());
  for (const std::size_t wrong : {0, 1, 2}) {
    if (wrong > 0) sums[sums.size() - wrong] += 1;
    CUDA_CHECK(cudaMemcpy(d.sums, sums.data(), d.sums.bytes(), cudaMemcpyHostToDevice));
    CHECK(d.count_wrong() == wrong);
  }
}

TEST_CASE(
    "a warp whose lanes choose has as many paths as asked for, one whose warps choose has one",
    "[divergent_paths]") {
  using forks::Fork;
  for (unsigned paths = 1; paths <= forks::kPaths; paths *= 2) {
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

TEST_CASE("every path ends where the host says, and no other", "[divergent_paths]") {
  using namespace forks::divergent_paths;
  using forks::kPaths;
  for (const unsigned block : {32u, 96u, 256u}) {
    for (unsigned paths = 1; paths <= kPaths; paths *= 2) {
      for (const unsigned share : {1u, 32u, block}) {
        INFO(paths << " paths, " << share << " neighbours share one, block " << block);
        const forks::Walks walks{take_paths, end_of_path, {share, paths, 128}, 5, block};
        CHECK_FALSE(walks.is_right("nothing ran"));
        walks.run();
        CHECK(walks.is_right("a path"));
        std::vector<unsigned> expected(5 * block);  // once more, apart from the experiment's check
        for (unsigned t = 0; t < expected.size(); ++t) {
          expected[t] = t % 32;
          for (unsigned k = 0; k < 128; ++k)
            expected[t] = (expected[t] ^ (walks.fork.path_of(t) + 1)) * 1664525;
        }
        const std::vector<unsigned> ends = walks.ends.download();
        CHECK(ends == expected);
        // Paths end in different places, so that a wrong one shows.
        const std::set<unsigned> different(ends.begin(), ends.end());
        if (share == 1 && paths == 32 && block == 256) CHECK(different.size() > 900);
      }
    }
  }
}

TEST_CASE("every loop and branch ends where the host says", "[loops_and_branches]") {
  using namespace forks::loops_and_branches;
  std::set<std::string> names;
  for (const Pair& pair : kPairs) {
    for (const unsigned share : {kWarp, 1u}) {
      const forks::Fork fork{share, pair.paths, 2 * kSteps / pair.paths};
      const forks::Walks walks{pair.kernel, pair.end_of, fork, 5, forks::kBlock};
      INFO(pair.summary << ", " << share << " neighbours go one way");
      CHECK_FALSE(walks.is_right("nothing ran"));
      walks.run();
      CHECK(walks.is_right("a row"));
      const std::vector<unsigned> found = walks.ends.download();
      const std::set<unsigned> different(found.begin(), found.end());
      CHECK(different.size() > (pair.paths == forks::kPaths ? 900 : 60));  // a wrong way shows
    }
    names.insert({pair.agree, pair.differ});
  }
  CHECK(names.size() == 6);
}

TEST_CASE("loops and branches do what their names say", "[loops_and_branches]") {
  // Worked out here once more, apart from the experiment's own check.
  using namespace forks::loops_and_branches;
  using forks::kBlock;
  const auto step = [](unsigned path, unsigned v) { return (v ^ (path + 1)) * 3; };
  const DeviceArray<unsigned> ends(kBlock);
  const forks::Fork fork{1, 4, 32, 3};
  std::vector<unsigned> loops(kBlock), shorts(kBlock), longs(kBlock);
  for (unsigned t = 0; t < kBlock; ++t) {
    const unsigned path = (5 * t + 13 * (t / 32)) % 4;
    loops[t] = shorts[t] = longs[t] = t % 32;
    for (unsigned k = 0; k < 32 * (path + 1); ++k) loops[t] = step(0, loops[t]);
    for (unsigned k = 0; k < 32; ++k) {
      shorts[t] = (path + k) % 2 == 0 ? shorts[t] * 3 : shorts[t] ^ 3;
      longs[t] = step((path + k / 16) % 2, longs[t]);
    }
  }
  take_loops<<<1, kBlock>>>(fork, ends);
  CHECK(ends.download() == loops);
  take_short_branches<<<1, kBlock>>>(fork, ends);
  CHECK(ends.download() == shorts);
  take_long_branches<<<1, kBlock>>>(fork, ends);
  CHECK(ends.download() == longs);
}

TEST_CASE("every vote, search, compaction and scan is the host's, at awkward sizes",
          "[warp_votes][votes_at_work]") {
  for (const std::size_t n : sizes_to_test()) {
    if (n > 100000) continue;
    INFO("n = " << n);
    check_all_votes(random_ints(n, 0, segments::kValues - 1, n), 64);
  }
  for (const unsigned block : blocks_to_test()) {
    INFO("block " << block);
    check_all_votes(random_ints(5003, 0, segments::kValues - 1, block), block);
  }
}

TEST_CASE("votes at the edges: nobody, everybody, only the first, only the last",
          "[warp_votes][votes_at_work]") {
  for (const std::size_t n : {std::size_t{32}, std::size_t{1024}, std::size_t{1055}}) {
    for (const int usual : {0, 2, 3, 5, 996, 997, 998, 999}) {
      for (const std::size_t where : {std::size_t{0}, n / 2, n - 1}) {
        for (const int other : {usual, 0, 777, 999}) {
          std::vector<int> x(n, usual);
          x[where] = other;
          INFO("n = " << n << ", " << usual << ", at " << where << ": " << other);
          check_all_votes(x, 32);
          if (small_sizes()) return;
        }
      }
    }
  }
}

TEST_CASE("each vote and each count is that of its 32 ints", "[warp_votes]") {
  // Worked out here once more, apart from the experiment's own check.
  const std::vector<int> x = random_ints(1055, 0, 999, 8);
  const warp_votes::Segments s{{x, 64}};
  for (const auto& version : warp_votes::kVersions) version.launch(s);
  CUDA_CHECK_LAUNCH();
  const std::vector<unsigned> votes = s.votes.download();
  const std::vector<int> counts = s.counts.download();
  REQUIRE(votes.size() == 3 * 33);
  for (std::size_t row = 0; row < 33; ++row) {
    const std::vector<int> ints(x.begin() + 32 * static_cast<long>(row),
                                x.begin() + std::min<long>(32 * static_cast<long>(row) + 32, 1055));
    unsigned odd = 0;
    for (std::size_t k = 0; k < ints.size(); ++k) {
      odd |= (ints[k] % 2 != 0 ? 1u : 0u) << k;
      CHECK(counts[32 * row + k] == std::count_if(ints.begin(), ints.end(), [&](int other) {
              return other / 100 == ints[k] / 100;
            }));
    }
    const auto [least, most] = std::minmax_element(ints.begin(), ints.end());
    CHECK(votes[3 * row] == (*least < 3 ? 1u : 0u));
    CHECK(votes[3 * row + 1] == (*most < 997 ? 1u : 0u));
    CHECK(votes[3 * row + 2] == odd);
  }
}

TEST_CASE("a search ends at the first of several, also where the second comes sooner in its row",
          "[votes_at_work]") {
  using namespace votes_at_work;
  for (const std::size_t first :
       {std::size_t{31}, std::size_t{32}, std::size_t{63}, std::size_t{700}}) {
    std::vector<int> x(2048, 1);
    for (std::size_t i = first; i < 1024; i += 33) x[i] = kWanted;
    x[1024 + first] = kWanted;
    const Segments s{{x, 64}};
    for (const auto& version : votes_at_work::kVersions) {
      INFO(version.name << ", first at " << first);
      CHECK(runs_right(version, s));
      if (version.is_right == &Segments::search_is_right)
        CHECK(s.of_warps.download() == std::vector<int>(2, static_cast<int>(first)));
    }
  }
}

TEST_CASE("odd values are packed in their order, sums begin anew in each segment",
          "[votes_at_work]") {
  // Worked out here by hand: 1500 ints 0, 1, 2, ... in segments of 1024.
  using namespace votes_at_work;
  std::vector<int> x(1500);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i % 1000);
  const Segments s{{x, 64}};
  CHECK(runs_right(votes_at_work::kVersions[2], s));
  const std::vector<int> kept = s.of_ints.download();
  CHECK(s.of_warps.download() == std::vector<int>{512, 238});
  for (unsigned k = 0; k < 500; ++k) CHECK(kept[k] == static_cast<int>(2 * k + 1));
  for (unsigned k = 0; k < 238; ++k) CHECK(kept[1024 + k] == static_cast<int>(2 * k + 25));
  CHECK(kept[512] == -1);
  CHECK(kept[1262] == -1);
  CHECK(runs_right(votes_at_work::kVersions[3], s));
  const std::vector<int> sums = s.of_ints.download();
  CHECK(sums[0] == 0);
  CHECK(sums[999] == 499500);
  CHECK(sums[1023] == 499500 + 276);
  CHECK(sums[1024] == 24);
  CHECK(sums[1026] == 24 + 25 + 26);
}

TEST_CASE("the scan of a warp holds the sum up to each lane", "[votes_at_work]") {
  const std::vector<int> x = random_ints(kWarp, -9, 9, 4);
  const DeviceArray<int> d_x(x), sums(kWarp);
  scan_one_warp<<<1, kWarp>>>(d_x, sums);
  CUDA_CHECK_LAUNCH();
  int sum = 0;
  for (unsigned t = 0; t < kWarp; ++t) {
    sum += x[t];
    CHECK(sums.download()[t] == sum);
  }
}

TEST_CASE("the checkers of votes reject what was not written, and one wrong place",
          "[warp_votes][votes_at_work]") {
  const std::vector<int> x = random_ints(1055, 0, segments::kValues - 1, 6);
  std::vector<int> other = x;
  other[1054] = x[1054] == votes_at_work::kWanted ? 0 : votes_at_work::kWanted;
  other[1053] = x[1053] < 500 ? x[1053] + 101 : x[1053] - 101;
  const auto check = [&](const auto& versions, auto segments) {
    for (const auto& version : versions) {
      INFO(version.name);
      segments.poison();
      CHECK_FALSE((segments.*version.is_right)("nothing ran"));
      segments.host_x = other;
      CHECK_FALSE(runs_right(version, segments));
      segments.host_x = x;
      CHECK(runs_right(version, segments));
    }
  };
  check(warp_votes::kVersions, warp_votes::Segments{{x, 64}});
  check(votes_at_work::kVersions, votes_at_work::Segments{{x, 64}});
}

TEST_CASE("active_mask leaves three words for every 32 ints, and its surprises are counted",
          "[active_mask]") {
  for (const unsigned block : blocks_to_test()) {
    const std::vector<int> x = random_ints(1055, 0, segments::kValues - 1, 6);
    const active_mask::Looks looks{{x, block}};
    CHECK(runs_right(active_mask::kActiveMask, looks));
    const std::vector<unsigned> rows = looks.surprised.download();
    REQUIRE(rows.size() == 3 * 33);
    std::vector<std::size_t> expected(3);
    for (std::size_t k = 0; k < rows.size(); ++k) expected[k % 3] += rows[k] != 0;
    CHECK(looks.surprises() == expected);
    for (std::size_t row = 0; row < 33; ++row) {
      unsigned odd = 0;
      for (std::size_t i = 32 * row; i < std::min<std::size_t>(32 * row + 32, x.size()); ++i) {
        odd |= (x[i] % 2 != 0 ? 1u : 0u) << (i % 32);
      }
      CHECK((rows[3 * row] & ~odd) == 0);  // only lanes in the branch can be surprised there
    }
  }
}

TEST_CASE("where the lanes of a warp agree no look is a surprise, where they differ one is",
          "[active_mask]") {
  if (!runs_threads("forward") && !runs_threads("reverse")) return;  // others may split a warp
  using namespace active_mask;
  const std::vector<std::size_t> none(3, 0);
  for (const int value : {0, 1, 2, 3, 4, 777}) {
    const Looks looks{{std::vector<int>(2048, value), 64}};
    CHECK(runs_right(kActiveMask, looks));
    INFO("all lanes hold " << value);
    CHECK(looks.surprises() == none);
    CHECK(looks.surprised.download() == std::vector<unsigned>(3 * 64, 0));
  }
  for (const int step : {2, 4}) {  // 0 and step in turn: all even, and for 4 also the same turn
    std::vector<int> x(2048);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 0 : step;
    const Looks looks{{x, 64}};
    CHECK(runs_right(kActiveMask, looks));
    INFO("0 and " << step << " in turn");
    CHECK(looks.surprises()[0] == 0);
    CHECK((looks.surprises()[1] == 64) == (step == 2));
  }
}

bool has_atomic_flags(const message_order::Row& row) {
  using namespace message_order;
  return row.kernel == hand_over<Way::kBlockScope> || row.kernel == hand_over<Way::kDeviceScope>;
}

TEST_CASE("with an order that reaches far enough every message is there when its flag is",
          "[message_order]") {
  using namespace message_order;
  const std::size_t messages = kOnGpu ? 1000 : 20;
  for (const Row& row : kRows) {
    if (!row.is_ordered) continue;
    // No fence orders the reader's looks before its own flag.
    if (races_are_looked_for() && !has_atomic_flags(row)) continue;
    INFO(row.name);
    const Tally tally = hand_over_all(row, messages, 20000000000);
    CHECK(tally.delivered == messages);
    CHECK(tally.old == 0);
  }
}

TEST_CASE("who waits in vain for a flag gives up, and says what came", "[message_order]") {
  if (races_are_looked_for() || (!runs_threads("forward") && !runs_threads("reverse"))) return;
  using namespace message_order;
  for (const Row& row : kRows) {
    if (has_atomic_flags(row) || row.blocks == 2) continue;
    INFO(row.name);
    const Tally tally = hand_over_all(row, 20, 0);  // too short to let the other thread run
    CHECK(tally.delivered == 0);
    CHECK(tally.old == 0);
  }
}

TEST_CASE("a row of messages is right when it keeps what is promised", "[message_order]") {
  using namespace message_order;
  const auto accepts = [](bool ordered, unsigned old, unsigned delivered) {
    const Row row{"row", "", hand_over<Way::kVolatile>, 1, ordered};
    return message_order::is_right(row, Tally{old, delivered}, 20);
  };
  CHECK(accepts(true, 0, 20));
  CHECK(accepts(true, 0, 19) == !kOnGpu);  // there a thread that waits may wait in vain
  CHECK_FALSE(accepts(true, 1, 20));
  CHECK_FALSE(accepts(true, 0, 21));
  CHECK(accepts(false, 20, 20));
  CHECK(accepts(false, 0, 0));
  CHECK_FALSE(accepts(false, 20, 19));
  CHECK_FALSE(accepts(false, ~0u, ~0u));  // poison: nothing ran
}

TEST_CASE("an atomic flag is seen, an ordinary one is not read twice", "[seen_flags]") {
  const unsigned turns = kOnGpu ? 1000000 : 100000;
  for (const auto& row : seen_flags::kRows) {
    if (races_are_looked_for() && &row != &seen_flags::kRows[2]) continue;  // the others are races
    INFO(row.name);
    const unsigned turn = seen_flags::turn_seen(row, turns);
    CHECK(turn <= turns);
    if (row.is_seen) CHECK(turn < turns);
    // On the CPU backend the first thread looks before the flag is up, or after; and while it looks
    // at a plain or volatile one, nobody raises it.
    const bool is_atomic = &row == &seen_flags::kRows[2];
    if (runs_threads("forward")) CHECK((is_atomic ? turn > 0 : turn == turns));
    if (runs_threads("reverse")) CHECK(turn == 0);
  }
}

TEST_CASE("lanes that wait by atomics, or inside the loop, have their turns in order",
          "[take_turns]") {
  using namespace take_turns;
  CHECK(run_here(kCases[2]).status == kRight.status);
  CHECK(run_here(kCases[4]).status == kRight.status);
  const Case nothing{"nothing", "", no_turns, false};
  CHECK(run_here(nothing).status == kWrongOrder.status);
  const Case reversed{"reversed", "", turns_from_the_last, false};
  CHECK(run_here(reversed).status == kWrongOrder.status);
}

TEST_CASE("lanes that run one after the other from the first need not wait for their turns",
          "[take_turns]") {
  using namespace take_turns;
  if (!runs_threads("forward") || races_are_looked_for()) return;
  CHECK(run_here(kCases[0]).status == kRight.status);
  CHECK(run_here(kCases[1]).status == kRight.status);
  const DeviceArray<unsigned> order(take_turns::kWarp);
  take_turns_reconverged<<<1, 1>>>(order);  // a lane alone meets nobody
  CUDA_CHECK_LAUNCH();
  std::vector<unsigned> expected(take_turns::kWarp, ~0u);
  expected[0] = 0;
  CHECK(order.download() == expected);
}

TEST_CASE("a case that is watched ends: by itself, or stopped where lanes wait in vain",
          "[take_turns]") {
  const char* const programs = std::getenv("PROGRAMS_DIR");  // set by make test
  if (programs == nullptr || small_sizes() || races_are_looked_for()) return;
  if (!kOnGpu && !runs_threads("reverse")) return;
  setenv("CUDA_CPU_TIMEOUT", "0.7", 1);
  const std::string program = std::string(programs) + "/11_take_turns";
  using namespace take_turns;
  const auto ends_as = [&](std::size_t number) {
    return run_watched(program.c_str(), number, 0).status;
  };
  const int in_vain = kOnGpu ? kHangs.status : kStopped.status;
  CHECK(ends_as(1) == in_vain);
  CHECK(ends_as(2) == kRight.status);
  CHECK(ends_as(3) == kRight.status);
  CHECK(ends_as(4) == in_vain);
  CHECK(ends_as(5) == kRight.status);
  CHECK(ends_as(6) == kFailed.status);  // there is no such case
  CHECK(run_watched("/no/such/program", 3, 0).status == kFailed.status);
}

TEST_CASE("the race detector sees the turns that nothing orders, and no race before the first turn",
          "[take_turns]") {
  const char* const programs = std::getenv("PROGRAMS_DIR");
  if (programs == nullptr || small_sizes() || !runs_threads("forward")) return;
  // Two pairs of lines race in `plain` and `volatile`: who waits or counts, and who counted. A lost
  // barrier behind s = 0 makes it more.
  const std::vector<unsigned> expected = {2, 2, 0, 0, 0};
  for (unsigned number = 1; number <= 5; ++number) {
    const std::string command = "CUDA_CPU_RACES=1 CUDA_CPU_TIMEOUT=0.7 " + std::string(programs) +
                                "/11_take_turns --case " + std::to_string(number) +
                                " 2>&1 | grep -c 'error: race'";
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    unsigned races = ~0u;
    CHECK(std::fscanf(pipe, "%u", &races) == 1);
    pclose(pipe);
    INFO("case " << number);
    CHECK(races == expected[number - 1]);
  }
}
