// SPDX-License-Identifier: MIT
// Loops that lanes leave at different times, or parts of which some skip, against an NVIDIA H200
// (driver 13.0, nvcc 13.0, 22 November 2026): l1tex__t_requests_pipe_lsu_mem_global_op_ld and _st,
// and the sectors of the same. The kernels were these.
#include <ctime>

#include "xray_testing.cuh"

using xray::Operation;
using xray::Space;

namespace {

constexpr int kTurns = 61;
constexpr int kPhases = 13;

__global__ void sum_rows(const int* row, const float* values, float* y, int rows) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float sum = 0;
  const int end = i < rows ? row[i + 1] : 0;
#pragma unroll 1
  for (int k = i < rows ? row[i] : 0; k < end; ++k) sum += values[k];  // line: uneven turns
  if (i < rows) y[i] = sum;
}

__global__ void strided_tail(const float* x, float* y, int n) {
  float sum = 0;
  const int all = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += all)
    sum += x[i];
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void keeps_some(const int* x, int* out, int turns) {
  const int lane = static_cast<int>(threadIdx.x);
  int kept = 0;
#pragma unroll 1
  for (int k = 0; k < turns; ++k) {
    const int v = x[k * 32 + lane];
    if (v % 3 == 0) {
      out[lane * 64 + kept] = v;
      ++kept;
    }
  }
  out[4096 + lane] = kept;
}

// As above, but lanes that skip a turn access nothing in it.
__global__ void keeps_bits(int* out, unsigned long long bits, int turns) {
  const int lane = static_cast<int>(threadIdx.x);
  const unsigned long long mine = bits * (2 * static_cast<unsigned>(lane) + 1);
  int kept = 0;
#pragma unroll 1
  for (int k = 0; k < turns; ++k) {
    if ((mine >> k & 1) != 0) {
      out[lane * 64 + kept] = k;
      ++kept;
    }
  }
  out[4096 + lane] = kept;
}

__global__ void reads_either(const int* x, const int* z, int* out, int turns) {
  const int lane = static_cast<int>(threadIdx.x);
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < turns; ++k) {
    const int v = x[k * 32 + lane];
    if (v % 3 == 0) {
      sum += z[v & 1023];
    } else {
      sum += z[1024 + (v & 511)] * 3;
    }
  }
  out[lane] = sum;
}

__global__ void loop_in_loop(const int* x, int* out, int phases) {
  const int t = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int p = 0; p < phases; ++p) {
#pragma unroll 1
    for (int k = 0; k < (t + p) % 7; ++k) sum += x[t + 64 * k + p];
  }
  out[t] = sum;
}

__global__ void continues(const int* x, const int* z, int* out, int turns) {
  const int lane = static_cast<int>(threadIdx.x);
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < turns; ++k) {
    if ((lane * 7 + k) % 5 == 0) continue;
    sum += x[k * 32 + lane];
    if ((lane + k) % 3 == 0) continue;
    sum += z[k * 32 + lane];
  }
  out[lane] = sum;
}

__global__ void breaks(const int* x, int* out, int turns) {
  const int lane = static_cast<int>(threadIdx.x);
  int k = 0;
#pragma unroll 1
  for (; k < turns; ++k) {
    if (x[k * 32 + lane] % 11 == 0) break;
  }
  out[lane] = k;
}

// Every lane works in two of eight turns, none in the same as its neighbour.
__global__ void work_in_turn(const int* x, int* out) {
  const unsigned lane = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (unsigned k = 0; k < 8; ++k) {
    sum += x[k * 32 + lane];                                // line: all lanes in every turn
    if (k % 4 == lane % 4) sum += x[k * 32 + lane + 1024];  // line: lanes in turn
  }
  out[lane] = sum;
}

// Every lane goes round the inner loop ten times, in one of four turns of the outer one, so more
// often than round that.
__global__ void inner_loop_in_turn(const int* x, int* out) {
  const unsigned lane = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (unsigned k = 0; k < 4; ++k) {
    sum += x[k * 32 + lane];  // line: outer loop
    if (k == lane % 4) {
#pragma unroll 1
      for (unsigned i = 0; i < 10; ++i) sum += x[i * 32 + lane + 1024];  // line: inner loop
    }
  }
  out[lane] = sum;
}

__global__ void two_loops(const int* x, int* out, int turns) {
  const int lane = static_cast<int>(threadIdx.x);
  int kept = 0;
#pragma unroll 1
  for (int k = 0; k < turns; ++k) {
    if (x[k * 32 + lane] % 3 == 0) {
      out[lane * 64 + kept] = k;
      ++kept;
    }
  }
#pragma unroll 1
  for (int k = 0; k < turns / 2; ++k) {
    if (x[k * 32 + lane] % 5 == 0) {
      out[lane * 64 + kept] = k;
      ++kept;
    }
  }
  out[4096 + lane] = kept;
}

// Some of the last turns have fewer lanes.
__global__ void tail_keeps_some(const int* x, int* out, int n) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int kept = 0;
#pragma unroll 1
  for (int i = t; i < n; i += static_cast<int>(gridDim.x * blockDim.x)) {
    const int v = x[i];
    if (v % 3 == 0) {
      out[t * 64 + kept] = v;
      ++kept;
    }
  }
  out[8192 + t] = kept;
}

// The experiment's numbers.
class Random {
 public:
  int below(unsigned limit) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<int>((state_ >> 8) % limit);
  }

 private:
  unsigned state_ = 12345;
};

__global__ void one_lane_alone(int* out, int turns) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < turns; ++i) out[i % 64] = i;
}

// The warp meets 32 times in each turn, and what lanes do in between is not the same.
__global__ void asks_in_turn(const int* x, int* out, int turns) {
  const unsigned lane = threadIdx.x;
  for (int i = 0; i < turns; ++i) {
    const int mine = x[(i + lane) % 1024];
    int below = 0;
    for (unsigned other = 0; other < kWarp; ++other) {
      const int theirs = __shfl_sync(kAllLanes, mine, static_cast<int>(other));
      if (other < lane) below += theirs;
    }
    if (mine % 2 != 0) out[lane] = below;
  }
}

struct Experiment {
  static constexpr int kRows = 300;

  Random random;
  DeviceArray<int> ints{numbers(1 << 16, 1024)}, row{begins()}, out{1 << 16};
  DeviceArray<float> floats{1 << 16};

  std::vector<int> numbers(std::size_t count, unsigned limit) {
    std::vector<int> values(count);
    for (int& v : values) v = random.below(limit);
    return values;
  }
  // Where rows of 0 to 40 elements begin.
  std::vector<int> begins() {
    std::vector<int> values{0};
    for (const int length : numbers(kRows, 41)) values.push_back(values.back() + length);
    return values;
  }
};

xray::Counts loads(const xray::Launch& launch) {
  return launch.total(Space::kGlobal, Operation::kLoad);
}
std::uint64_t more_unrolled(const xray::Launch& launch) {
  return launch.change(Space::kGlobal, Operation::kLoad, xray::Way::kUnrolled).requests;
}
xray::Counts stores(const xray::Launch& launch) {
  return launch.total(Space::kGlobal, Operation::kStore);
}

}  // namespace

TEST_CASE("lanes that leave a loop wait for the others, as on the H200") {
  Experiment e;
  const xray::Launch launch = launch_of([&] {
    sum_rows<<<3, 128>>>(e.row.get(), e.floats.get(), e.floats.get(), Experiment::kRows);
  });
  CHECK(loads(launch).requests == 415);
  CHECK(loads(launch).sectors == 5866);
}

TEST_CASE("how many requests more an unrolled loop asks for is what the H200 counted") {
  Experiment e;
  // Without `#pragma unroll 1` the H200 counted 490 and 91.
  const xray::Launch rows = launch_of([&] {
    sum_rows<<<3, 128>>>(e.row.get(), e.floats.get(), e.floats.get(), Experiment::kRows);
  });
  CHECK(loads(rows).requests + more_unrolled(rows) == 490);
  const xray::Launch nested =
      launch_of([&] { loop_in_loop<<<1, kWarp>>>(e.ints.get(), e.out.get(), kPhases); });
  CHECK(loads(nested).requests + more_unrolled(nested) == 91);
}

TEST_CASE("the tail of a strided loop costs nothing more") {
  Experiment e;
  const unsigned block = 64;
  for (const unsigned n : {20u, 64 * 3 + 20u, 64 * 7 + 20u, 64 * 8 + 20u, 64 * 17 + 40u, 2565u}) {
    INFO("n = " << n);
    const xray::Launch launch = launch_of(
        [&] { strided_tail<<<1, block>>>(e.floats.get(), e.floats.get(), static_cast<int>(n)); });
    check_sectors(loads(launch), neighbours(n));
  }
}

TEST_CASE("what lanes do in different turns of a loop is not one request, as on the H200") {
  Experiment e;
  const xray::Launch some =
      launch_of([&] { keeps_some<<<1, kWarp>>>(e.ints.get(), e.out.get(), kTurns); });
  CHECK(loads(some).requests == 61);
  CHECK(stores(some).requests == 62);
  const xray::Launch bits =
      launch_of([&] { keeps_bits<<<1, kWarp>>>(e.out.get(), 0x9e3779b97f4a7c15ull, kTurns); });
  CHECK(stores(bits).requests == 61);
  const xray::Launch either = launch_of(
      [&] { reads_either<<<1, kWarp>>>(e.ints.get(), e.ints.get() + 5000, e.out.get(), kTurns); });
  CHECK(loads(either).requests == 183);
  CHECK(loads(either).sectors == 1970);
  const xray::Launch inner =
      launch_of([&] { loop_in_loop<<<1, kWarp>>>(e.ints.get(), e.out.get(), kPhases); });
  CHECK(loads(inner).requests == 78);
  CHECK(loads(inner).sectors == 368);
  const xray::Launch skips = launch_of(
      [&] { continues<<<1, kWarp>>>(e.ints.get(), e.ints.get() + 9000, e.out.get(), kTurns); });
  CHECK(loads(skips).requests == 122);
  CHECK(loads(skips).sectors == 488);
  const xray::Launch leaves =
      launch_of([&] { breaks<<<1, kWarp>>>(e.ints.get(), e.out.get(), kTurns); });
  CHECK(loads(leaves).requests == 37);
}

TEST_CASE("each of two loops has turns of its own, as on the H200") {
  Experiment e;
  const xray::Launch launch =
      launch_of([&] { two_loops<<<1, kWarp>>>(e.ints.get(), e.out.get(), 30); });
  CHECK(loads(launch).requests == 45);
  CHECK(stores(launch).requests == 46);
  CHECK(stores(launch).sectors == 406);
}

TEST_CASE("lanes skip a part of turns that not all make, as on the H200") {
  Experiment e;
  struct Tail {
    int n;
    unsigned stores, sectors;
  };
  for (const Tail tail :
       {Tail{20, 3, 15}, {212, 9, 68}, {468, 17, 153}, {1128, 38, 373}, {2565, 83, 840}}) {
    INFO("n = " << tail.n);
    const xray::Launch launch =
        launch_of([&] { tail_keeps_some<<<1, 64>>>(e.ints.get(), e.out.get(), tail.n); });
    CHECK(stores(launch).requests == tail.stores);
    CHECK(stores(launch).sectors == tail.sectors);
  }
}

TEST_CASE("what all lanes do equally often, but in turns of their own, is not one request") {
  Experiment e;
  const xray::Launch launch =
      launch_of([&] { work_in_turn<<<1, kWarp>>>(e.ints.get(), e.out.get()); });
  const auto line = [&](const char* name) { return launch.total_of_line(line_of(__FILE__, name)); };
  CHECK(line("all lanes in every turn").requests == 8);
  CHECK(line("all lanes in every turn").sectors == 8 * 4);
  CHECK(line("lanes in turn").requests == 8);
  CHECK(line("lanes in turn").lanes == 2 * kWarp);
  const xray::Launch inner =
      launch_of([&] { inner_loop_in_turn<<<1, kWarp>>>(e.ints.get(), e.out.get()); });
  CHECK(inner.total_of_line(line_of(__FILE__, "outer loop")).requests == 4);
  CHECK(inner.total_of_line(line_of(__FILE__, "inner loop")).requests == 40);
}

TEST_CASE("a long loop is counted in a time in proportion to its turns") {
  Experiment e;
  const std::clock_t begin = std::clock();
  const xray::Launch alone = launch_of([&] { one_lane_alone<<<1, kWarp>>>(e.out.get(), 100'000); });
  CHECK(stores(alone).requests == 100'000);
  const xray::Launch in_turn =
      launch_of([&] { asks_in_turn<<<1, kWarp>>>(e.ints.get(), e.out.get(), 2'000); });
  CHECK(in_turn.total(Space::kGlobal, Operation::kLoad).requests == 2'000);
  // Of a processor: about one on a machine of 2024, and minutes where each turn is compared with
  // all others.
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 20);
}
