// SPDX-License-Identifier: MIT
// X-ray puts the accesses of single lanes together to requests of a warp.
#include <cooperative_groups.h>

#include "xray_testing.cuh"

using xray::Operation;
using xray::Space;

namespace {

// ---- barriers and warp operations ---------------------------------------------------------------

constexpr int kRowsRead = 4;

__device__ int phase_length(int lane, int phase) { return (lane + phase) % kRowsRead; }

// Between two meetings the lanes go round the loop 0 to 3 times.
enum class Meeting { kBlock, kWarp, kShuffle, kVote, kNone };

template <Meeting kMeeting>
__global__ void uneven_phases(const int* x, int* out, int phases) {
  const int t = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int p = 0; p < phases; ++p) {
    for (int k = 0; k < phase_length(t, p); ++k) sum += x[t + 64 * k];
    if (kMeeting == Meeting::kBlock) __syncthreads();
    if (kMeeting == Meeting::kWarp) __syncwarp();
    if (kMeeting == Meeting::kShuffle) sum += __shfl_down_sync(kAllLanes, sum, 1);
    if (kMeeting == Meeting::kVote) sum += __any_sync(kAllLanes, sum == 7);
  }
  out[t] = sum;
}

template <Meeting kMeeting>
void check_phases() {
  constexpr int kPhases = 5;
  constexpr unsigned kThreads = 64;
  const DeviceArray<int> x(64 * kRowsRead), out(kThreads);
  const xray::Launch launch =
      launch_of([&] { uneven_phases<kMeeting><<<1, kThreads>>>(x.get(), out.get(), kPhases); });
  std::vector<Touched> requests;
  for (unsigned warp = 0; warp < kThreads; warp += kWarp) {
    for (int p = 0; p < kPhases; ++p) {
      for (int k = 0; k < kRowsRead; ++k) {
        Touched request;
        for (unsigned t = warp; t < warp + kWarp; ++t) {
          if (k < phase_length(static_cast<int>(t), p)) {
            request.at.push_back(4 * (t + 64 * static_cast<unsigned>(k)));
          }
        }
        requests.push_back(request);
      }
    }
  }
  check_sectors(launch.total(Space::kGlobal, Operation::kLoad), sum_of(requests));
  check_sectors(launch.total(Space::kGlobal, Operation::kStore), neighbours(kThreads));
  CHECK(launch.barriers == (kMeeting == Meeting::kBlock ? kPhases : 0));
}

// Not a multiple of a sector, so that requests that mix turns would cost something else.
constexpr unsigned kTurnStep = 20;

__global__ void half_meets_in_turns(const int* x, int* out, unsigned turns) {
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (unsigned turn = 0; turn < turns; ++turn) {
    sum += x[turn * kTurnStep + t];  // line: before the half meets
    if (t < 16) sum += __shfl_xor_sync(0x0000ffffu, sum, 1);
    out[t] = sum;  // line: after the half has met
    __syncwarp();
    sum += x[turn * kTurnStep + t + 1];  // line: after all have met
  }
  out[t] = sum;
}

// In every turn one lane of each tile of 8 works.
__global__ void lanes_in_turn(const int* x, int* out) {
  namespace cg = cooperative_groups;
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int sum = 0;
  for (unsigned turn = 0; turn < 8; ++turn) {
    if (tile.thread_rank() == turn) sum = x[threadIdx.x];  // line: one lane of each tile
    tile.sync();
  }
  out[threadIdx.x] = sum;
}

// Tiles of 8 lanes; each goes round as often as it likes, and meets in each turn.
__global__ void tiles_meet(const int* x, int* out) {
  namespace cg = cooperative_groups;
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int t = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int turn = 0; turn <= t / 8 % 4; ++turn) {
    for (int k = 0; k < phase_length(t, turn); ++k) sum += x[t + 64 * k];
    tile.sync();
  }
  out[t] = sum;
}

template <int kKind>
__global__ void barriers_of_kind(int* out, int count) {
  int votes = 0;
  for (int i = 0; i < count; ++i) {
    if (kKind == 0) __syncthreads();
    if (kKind == 1) votes += __syncthreads_count(1);
    if (kKind == 2) votes += __syncthreads_and(1);
    if (kKind == 3) votes += __syncthreads_or(0);
    if (kKind == 4) cooperative_groups::this_thread_block().sync();
  }
  out[threadIdx.x] = votes;
}

// ---- loops and branches -------------------------------------------------------------------------

__device__ int square_of(const int* p) {
  return *p * *p;  // line: in a function
}

__attribute__((noinline)) __device__ int read_far(const int* p, int more) {
  return *p + more;  // line: in a function that is called
}

// Two ways lead to the same place: the lanes are not there together.
__global__ void calls_on_both_sides(const int* x, int* out) {
  const unsigned t = threadIdx.x;
  int value;
  if (t % 2 == 0) {
    value = read_far(&x[t], 1) + 5;
  } else {
    value = read_far(&x[t], 2) * 7;
  }
  out[t] = value;
}

__global__ void calls_twice(const int* x, int* out) {
  int sum = square_of(&x[threadIdx.x]);
  sum += square_of(&x[threadIdx.x + kWarp]);
  out[threadIdx.x] = sum;
}

__global__ void twice_in_a_line(const int* x, int* out) {
  out[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x + kWarp];  // line: two loads
}

// Decides in which of 64 turns a lane works: as good as random, and no two lanes alike.
__host__ __device__ unsigned long long turns_of(unsigned lane) {
  unsigned long long x = lane + 1;
  for (int i = 0; i < 3; ++i) x = (x ^ x >> 29) * 0x9e3779b97f4a7c15ull;
  return x;
}

__host__ __device__ bool works(unsigned lane, unsigned turn) {
  return (turns_of(lane) >> turn & 1) != 0;
}

// One load in the code, reached by a chain of calls that is longer in every turn.
__attribute__((noinline)) __device__ int deeper(const int* x, unsigned turn) {
  const unsigned t = threadIdx.x;
  int sum = works(t, turn) ? x[turn * kWarp + t] : 0;  // line: a load in every depth
  if (turn < 63) sum += deeper(x, turn + 1) + 1;
  return sum;
}

__global__ void works_in_every_depth(const int* x, int* out) { out[threadIdx.x] = deeper(x, 0); }

// A load of its own for every turn, all in one line.
template <unsigned kTurn = 0>
__device__ int one_of_many(const int* x) {
  const unsigned t = threadIdx.x;
  int sum = works(t, kTurn) ? x[kTurn * kWarp + t] : 0;  // line: 64 loads
  if constexpr (kTurn < 63) sum += one_of_many<kTurn + 1>(x);
  return sum;
}

__global__ void works_in_many_places(const int* x, int* out) { out[threadIdx.x] = one_of_many(x); }

// One load in a loop; the lanes meet in every turn, all or those of each half.
template <unsigned kMeeting>
__global__ void works_between_meetings(const int* x, int* out) {
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (unsigned turn = 0; turn < 64; ++turn) {
    if (works(t, turn)) sum += x[turn * kWarp + t];  // line: a load in every turn
    __syncwarp(kMeeting == kAllLanes || t < 16 ? kMeeting : ~kMeeting);
  }
  out[t] = sum;
}

constexpr int kHalf = 7;  // of a filter's 2 * 7 + 1 coefficients

// A lane's neighbourhood ends where x does, so it skips the first turns or the last ones. Lanes
// past the end have returned, or skip the loop and store a 0.
template <bool kReturns>
__global__ void neighbourhoods(const int* x, int n, int* y) {
  const int i = static_cast<int>(threadIdx.x);
  if (kReturns && i >= n) return;
  int sum = 0;
  if (i < n) {
#pragma unroll 1
    for (int k = 0; k <= 2 * kHalf; ++k) {
      if (i + k >= kHalf && i + k - kHalf < n) sum += x[i + k - kHalf];  // line: neighbours
    }
  }
  y[i] = sum;
}

}  // namespace

TEST_CASE("the lanes of a warp start afresh after every barrier of the block") {
  check_phases<Meeting::kBlock>();
}

TEST_CASE("the lanes of a warp start afresh after every operation of the whole warp") {
  check_phases<Meeting::kWarp>();
  check_phases<Meeting::kShuffle>();
  check_phases<Meeting::kVote>();
}

TEST_CASE("lanes that leave an inner loop wait for the others, with or without a meeting") {
  check_phases<Meeting::kNone>();
}

TEST_CASE("half of the lanes meet in every turn of a loop that all go round") {
  constexpr unsigned kTurns = 3;
  const DeviceArray<int> x(kWarp * kTurns), out(kWarp);
  const xray::Launch launch =
      launch_of([&] { half_meets_in_turns<<<1, kWarp>>>(x.get(), out.get(), kTurns); });
  std::vector<Touched> before, stores, after;
  for (unsigned turn = 0; turn < kTurns; ++turn) {
    const unsigned first = turn * kTurnStep;
    before.push_back(touched(kAllLanes, 4, [&](unsigned t) { return 4 * (first + t); }));
    stores.push_back(touched(kAllLanes, 4, [&](unsigned t) { return 4 * t; }));
    after.push_back(touched(kAllLanes, 4, [&](unsigned t) { return 4 * (first + t + 1); }));
  }
  const auto line = [&](const char* name) { return launch.total_of_line(line_of(__FILE__, name)); };
  check_sectors(line("before the half meets"), sum_of(before));
  check_sectors(line("after the half has met"), sum_of(stores));
  check_sectors(line("after all have met"), sum_of(after));
}

TEST_CASE("tiles that meet apart, and not equally often, share what they do in the same turn") {
  const DeviceArray<int> x(64 * kRowsRead), out(64);
  const xray::Launch launch = launch_of([&] { tiles_meet<<<1, 64>>>(x.get(), out.get()); });
  std::vector<Touched> requests;
  for (int warp = 0; warp < 64; warp += 32) {
    for (int turn = 0; turn < 4; ++turn) {
      for (int k = 0; k < kRowsRead; ++k) {
        Touched request;
        for (int t = warp; t < warp + 32; ++t) {
          if (turn <= t / 8 % 4 && k < phase_length(t, turn)) {
            request.at.push_back(4 * static_cast<std::uint64_t>(t + 64 * k));
          }
        }
        requests.push_back(request);
      }
    }
  }
  check_sectors(launch.total(Space::kGlobal, Operation::kLoad), sum_of(requests));
  check_sectors(launch.total(Space::kGlobal, Operation::kStore), neighbours(64));
}

TEST_CASE("lanes of a tile that take turns, with a meeting in each, do not share a request") {
  const DeviceArray<int> x(kWarp), out(kWarp);
  const xray::Launch launch = launch_of([&] { lanes_in_turn<<<1, kWarp>>>(x.get(), out.get()); });
  const xray::Counts c = launch.total_of_line(line_of(__FILE__, "one lane of each tile"));
  CHECK(c.requests == 8);
  CHECK(c.lanes == kWarp);
  CHECK(c.sectors == 8 * 4);  // four tiles, one sector each
}

TEST_CASE("barriers of every kind are counted, of one block") {
  const DeviceArray<int> out(64);
  for (const int count : {0, 1, 7}) {
    for (const unsigned threads : {1u, 33u, 64u}) {
      const std::vector<xray::Launch> launches = launches_of([&] {
        barriers_of_kind<0><<<2, threads>>>(out.get(), count);
        barriers_of_kind<1><<<2, threads>>>(out.get(), count);
        barriers_of_kind<2><<<2, threads>>>(out.get(), count);
        barriers_of_kind<3><<<2, threads>>>(out.get(), count);
        barriers_of_kind<4><<<2, threads>>>(out.get(), count);
      });
      REQUIRE(launches.size() == 5);
      INFO(count << " barriers, " << threads << " threads");
      for (const xray::Launch& launch : launches) {
        CHECK(launch.barriers == static_cast<unsigned>(count));
      }
    }
  }
}

// ---- loops and branches -------------------------------------------------------------------------

TEST_CASE("lanes that skip turns go round together while others have left or pass by") {
  const DeviceArray<int> x(64), y(64);
  for (const int n : {1, 2, 5, 8, 20, 31, 32, 33, 45, 63, 64}) {
    for (const bool returns : {true, false}) {
      CAPTURE(n, returns);
      const xray::Launch launch = launch_of([&] {
        returns ? neighbourhoods<true><<<1, 64>>>(x.get(), n, y.get())
                : neighbourhoods<false><<<1, 64>>>(x.get(), n, y.get());
      });
      std::vector<Touched> requests;
      for (int first = 0; first < n; first += 32) {
        for (int k = 0; k <= 2 * kHalf; ++k) {
          Touched request;
          for (int i = first; i < std::min(n, first + 32); ++i) {
            const int at = i + k - kHalf;
            if (at >= 0 && at < n) request.at.push_back(4 * static_cast<unsigned>(at));
          }
          if (!request.at.empty()) requests.push_back(request);
        }
      }
      const std::size_t warps = returns ? div_up(static_cast<std::size_t>(n), 32) : 2;
      check_sectors(launch.total(Space::kGlobal, Operation::kLoad), sum_of(requests));
      CHECK(launch.total(Space::kGlobal, Operation::kStore).requests == warps);
    }
  }
}

TEST_CASE("a device function that is called twice makes its line count twice") {
  const DeviceArray<int> x(64), out(kWarp);
  const xray::Launch launch = launch_of([&] { calls_twice<<<1, kWarp>>>(x.get(), out.get()); });
  const xray::Counts c = launch.total_of_line(line_of(__FILE__, "in a function"));
  CHECK(c.requests == 2);
  CHECK(c.sectors == 8);
}

TEST_CASE("lanes that call a function from different places are not in it together") {
  const DeviceArray<int> x(kWarp), out(kWarp);
  const xray::Launch launch =
      launch_of([&] { calls_on_both_sides<<<1, kWarp>>>(x.get(), out.get()); });
  const xray::Counts c = launch.total_of_line(line_of(__FILE__, "in a function that is called"));
  CHECK(c.requests == 2);
  CHECK(c.lanes == kWarp);
  CHECK(c.sectors == 2 * 4);
  check_sectors(launch.total(Space::kGlobal, Operation::kStore), neighbours(kWarp));
}

TEST_CASE(
    "lanes that work in turns of their own share the requests of those turns, and no others") {
  const DeviceArray<int> x(64 * kWarp), out(kWarp);
  std::vector<Touched> requests;
  for (unsigned turn = 0; turn < 64; ++turn) {
    unsigned mask = 0;
    for (unsigned lane = 0; lane < kWarp; ++lane) mask |= unsigned(works(lane, turn)) << lane;
    requests.push_back(touched(mask, 4, [&](unsigned t) { return 4 * (turn * kWarp + t); }));
  }
  const xray::Counts expected = sum_of(requests);
  REQUIRE(expected.requests == 64);
  const auto check = [&](const xray::Launch& launch, const char* line) {
    INFO(line);
    check_sectors(launch.total_of_line(line_of(__FILE__, line)), expected);
  };
  // Turns differ by calls, by the place in the code, or by meetings of all lanes or of some.
  check(launch_of([&] { works_in_every_depth<<<1, kWarp>>>(x.get(), out.get()); }),
        "a load in every depth");
  check(launch_of([&] { works_in_many_places<<<1, kWarp>>>(x.get(), out.get()); }), "64 loads");
  check(launch_of([&] { works_between_meetings<kAllLanes><<<1, kWarp>>>(x.get(), out.get()); }),
        "a load in every turn");
  check(launch_of([&] { works_between_meetings<0xffffu><<<1, kWarp>>>(x.get(), out.get()); }),
        "a load in every turn");
}

TEST_CASE("two loads in a line are two requests, and one access to memory each") {
  const DeviceArray<int> x(64), out(kWarp);
  const xray::Launch launch = launch_of([&] { twice_in_a_line<<<1, kWarp>>>(x.get(), out.get()); });
  const int line = line_of(__FILE__, "two loads");
  const xray::Counts loads = launch.total(Space::kGlobal, Operation::kLoad);
  CHECK(loads.requests == 2);
  CHECK(loads.sectors == 8);
  CHECK(launch.total_of_line(line).requests == 3);  // and the store
  for (const xray::Access& a : launch.accesses) {
    CHECK(a.line == line);
    CHECK(a.file == __FILE__);
  }
}
