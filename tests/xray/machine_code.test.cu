// SPDX-License-Identifier: MIT
// Where nvcc's machine code was read, the counts are those of the machine code, and the listing
// says below a line what nvcc made of it.
#include <cuda_pipeline.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "xray/machine_code.h"
#include "xray_testing.cuh"

namespace {

__constant__ float table[64];

__global__ void same_constant_in_a_loop(float* y, int turns) {
  const unsigned t = threadIdx.x;
  for (int k = 0; k < turns; ++k) {
    y[t] += table[t % 4];   // line: same constant
    y[t + 32] += table[k];  // line: another constant in every turn
  }
}

__global__ void same_constant_across_barriers(float* y, int turns) {
  const unsigned t = threadIdx.x;
  for (int k = 0; k < turns; ++k) {
    y[t] += table[t % 4];  // line: same constant after a barrier
    __syncthreads();
  }
}

__global__ void rows_of_unequal_length(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < t % 11; ++k) sum += x[32 * k + t];  // line: unequal turns
  y[t] = sum;
}

__global__ void strided_by_32(const float* x, float* y, unsigned n) {
  float sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += 32) sum += x[i];  // line: strided by 32
  y[threadIdx.x] = sum;
}

__global__ void members(const float4* x, float* y) {
  const unsigned t = threadIdx.x;
  const float4 first_and_last = x[t];  // line: x and w, and nothing of y
  y[t] = first_and_last.w - first_and_last.x;
  const float4 middle = x[t + 32];  // line: y and z
  y[t] += middle.y * middle.z * middle.y;
}

__global__ void neighbours_in_shared(const float* x, float* y) {
  __shared__ float s[128];
  const unsigned t = threadIdx.x;
  for (unsigned i = 0; i < 4; ++i) s[t + 32 * i] = x[t + 32 * i];
  __syncthreads();
  float sum = 0;
  for (unsigned i = 0; i < 4; ++i) sum += s[4 * t + i];  // line: neighbours
  y[t] = sum;                                            // line: sum
}

__global__ void pairs_in_two_lines(float* y) {
  __shared__ float s[64];
  const unsigned t = threadIdx.x;
  s[2 * t] = y[t];       // line: first of a pair
  s[2 * t + 1] = -y[t];  // line: second of a pair
  __syncthreads();
  y[t] = s[t] + s[t + 32];
}

__global__ void copies_in_two_lines(const float4* x, float4* y) {
  __shared__ float4 s[2 * kWarp];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &x[t], sizeof(float4));                  // line: first copy
  __pipeline_memcpy_async(&s[t + kWarp], &x[t + kWarp], sizeof(float4));  // line: second copy
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[t] = s[t + kWarp];
}

__global__ void filled(float* y, int turns) {
  __shared__ float s[64];
  for (int i = 0; i < turns; ++i) s[i] = y[i];  // line: filled
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}

__global__ void constants_of_an_unrolled_loop(float* y) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {        // line: unrolled
    sum += y[threadIdx.x] * table[i];  // line: its constants
  }
  y[threadIdx.x] = sum;
}

__global__ void own_arrays(float* y, unsigned shift) {
  const unsigned t = threadIdx.x;
  float own[8];
  for (unsigned i = 0; i < 8; ++i) own[(i + shift) % 8] = y[i];  // line: in local memory
  float sum = 0;
  for (unsigned turn = 0; turn < 3; ++turn) {
    for (unsigned i = 0; i < 8; ++i) sum += own[(i + t) % 8];  // line: loaded once
  }
  float other[8];
  for (unsigned i = 0; i < 8; ++i) other[(i + shift) % 8] = sum;  // line: in registers
  y[t] = other[t % 8];
}

__global__ void prints(const float* x) {
  if (x[threadIdx.x] == 1234.5f) printf("%d\n", 1);  // line: printed
}

__global__ void stores_in_branches(float* y) {
  const unsigned t = threadIdx.x;
  if (t % 3 == 0) {
    y[t] = 1;  // line: one branch
  } else {
    y[t] = 2;  // line: other branch
  }
}

__global__ void used_by_some(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  float sum = 0;
  for (unsigned i = 0; i < 2; ++i) sum += x[t + 64 * i];  // line: all load
  if (t < 32) y[t] = sum;                                 // line: some store
}

__global__ void largest_and_sum(const float* x, float* y) {
  __shared__ float largest, sum;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    largest = x[t];  // line: one lane's first
    sum = x[t + 1];  // line: one lane's second
  }
  __syncthreads();
  y[t] = largest + sum;
}

__global__ void stored_twice(const float* x, float* y) {
  __shared__ float s[64];
  const unsigned t = threadIdx.x;
  s[t] = 0;     // line: overwritten
  s[t] = x[t];  // line: that overwrites
  __syncthreads();
  y[t] = s[63 - t];
}

// The tree of chapter 05's first threads.
__global__ void first_threads_add(int* y) {
  __shared__ int s[256];
  const unsigned t = threadIdx.x;
  s[t] = y[t];
  __syncthreads();
  for (unsigned distance = 1; distance < 256; distance *= 2) {
    const unsigned left = 2 * distance * t;
    if (left + distance < 256) s[left] += s[left + distance];  // line: added
    __syncthreads();
  }
  y[t] = s[t];
}

__global__ void within_limits(const float* x, float* y, unsigned rows, unsigned columns) {
  const unsigned column = threadIdx.x % kWarp, first = threadIdx.x / kWarp * 4;
  float sum = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned row = first + k;
    if (row < rows && column < columns) sum += x[row * columns + column];  // line: both limits
  }
  if (threadIdx.x < 40 || sum < 0) y[threadIdx.x] = sum;  // line: either
}

__global__ void loop_of_turns(const float* x, float* y, unsigned turns) {
  float sum = 0;
  for (unsigned k = threadIdx.x; k < turns; k += 64) sum += x[k];  // line: turns
  y[threadIdx.x] = sum;
}

__global__ void counts_in_one_place(int* total, const int* x) {
  if (x[threadIdx.x] > 0) atomicAdd(total, 2);  // line: one place
}

// Rows as accesses.py writes them, for kernels of this file.
struct MachineCode {
  std::string rows = "kernel\n";

  MachineCode& row(const char* kernel, const char* kind, const std::string& line,
                   const std::string& cells) {
    rows += std::string(kernel) + "\t" + __FILE__ + "\t" + kind + "\t" +
            std::to_string(line_of(__FILE__, line)) + "\t" + cells + "\n";
    return *this;
  }
  void read() const {
    char name[] = "/tmp/machine_code.XXXXXX";
    std::fclose(fdopen(mkstemp(name), "w"));
    std::ofstream(name) << rows;
    CHECK(xray::read_machine_code(name));
    std::remove(name);
  }
};

xray::Counts at(const xray::Launch& launch, const std::string& name) {
  return launch.total_of_line(line_of(__FILE__, name));
}

// What the listing remarks below the line that ends with the comment `// line: NAME`; "" if
// nothing.
std::string remark(const std::string& listing, const std::string& name) {
  const std::string wanted = "// line: " + name;
  std::string found;
  bool below = false;
  for (const std::string& line : split(listing, '\n')) {
    if (ends_with(line, wanted)) {
      below = true;
    } else if (below && line.compare(0, 4, "  ~ ") == 0) {
      found += line.substr(4);
    } else if (line.find(" | ") != std::string::npos && line.back() != ' ') {
      below = false;  // the next line of the source
    }
  }
  return found;
}

}  // namespace

TEST_CASE("requests are those of the machine code where that is known") {
  const DeviceArray<float> x(32 * 11), y(64 + 4 * kWarp);
  const DeviceArray<float4> four(192);
  const DeviceArray<int> total(1), ones(std::vector<int>(kWarp, 1));
  MachineCode()
      .row("neighbours_in_shared", "shared\tload", "neighbours", "1 16 1 0 0 0 1 1 0 - 0")
      .row("neighbours_in_shared", "global\tstore", "sum", "1 4 1 0 0 0 1 0 0 - 0")
      .row("pairs_in_two_lines", "shared\tstore", "second of a pair", "1 8 1 0 0 0 1 0 0 - 0")
      .row("rows_of_unequal_length", "global\tload", "unequal turns", "29 4 1 0 16 0 0 0 0 - 0")
      .row("members", "global\tload", "x and w, and nothing of y", "2 4 2 0 0 0 1 0 0 - 0")
      .row("members", "global\tload", "y and z", "1 16 1 0 0 0 1 0 0 - 0")
      .row("stores_in_branches", "global\tstore", "other branch", "1 4 1 0 0 0 1 0 0 - 0")
      .row("counts_in_one_place", "global\tatomic", "one place", "1 1 1 0 0 1 1 0 0 - 0")
      .row("same_constant_in_a_loop", "const\tload", "same constant", "1 4 1 0 0 0 1 0 0 - 0")
      .row("same_constant_in_a_loop", "const\tload", "another constant in every turn",
           "0 0 0 1 0 0 1 0 0 - 0")
      .row("same_constant_in_a_loop", "arguments\tload", "same constant", "3 0 0 0 0 0 0 0 0 - 0")
      .read();
  const auto joined = launch_of([&] { neighbours_in_shared<<<1, kWarp>>>(x.get(), y.get()); });
  CHECK(at(joined, "neighbours").requests == 1);
  CHECK(at(joined, "neighbours").wavefronts == 4);
  const auto pairs = launch_of([&] { pairs_in_two_lines<<<1, kWarp>>>(y.get()); });
  const auto stored = pairs.total(xray::Space::kShared, xray::Operation::kStore);
  CHECK(stored.requests == 1);  // of 8 bytes: two wavefronts
  CHECK(stored.wavefronts == 2);
  CHECK(at(launch_of([&] { rows_of_unequal_length<<<1, kWarp>>>(x.get(), y.get()); }),
           "unequal turns")
            .requests == 15);
  const auto branches = launch_of([&] { stores_in_branches<<<1, kWarp>>>(y.get()); });
  CHECK(at(branches, "one branch").requests == 0);
  CHECK(at(branches, "other branch").requests == 1);
  CHECK(at(branches, "other branch").lanes == kWarp);
  CHECK(at(branches, "other branch").sectors == 4);
  const auto counted =
      launch_of([&] { counts_in_one_place<<<1, kWarp>>>(total.get(), ones.get()); });
  const auto atomic = counted.total(xray::Space::kGlobal, xray::Operation::kAtomic);
  CHECK(atomic.requests == 1);
  CHECK(atomic.sectors == 1);
  const auto constants = launch_of([&] { same_constant_in_a_loop<<<1, kWarp>>>(y.get(), 20); });
  // Hoisted: four words once, and three arguments. The other one takes the uniform datapath.
  CHECK(constants.total(xray::Space::kConstant, xray::Operation::kLoad).words == 4 + 3);
#if !defined(__clang__)
  const auto parts = launch_of([&] { members<<<1, kWarp>>>(four.get(), y.get()); });
  CHECK(at(parts, "x and w, and nothing of y").requests == 2);
  CHECK(at(parts, "x and w, and nothing of y").sectors == 32);
  CHECK(at(parts, "y and z").requests == 1);
#endif
}

TEST_CASE("of an unrolled loop only the turns that are a multiple of 4 are joined") {
  MachineCode()
      .row("filled", "global\tload", "filled", "29 4 4 0 -16 0 0 0 0 - 0")
      .row("filled", "shared\tstore", "filled", "8 16 1 0 -16 0 0 0 0 - 0")
      .read();
  const DeviceArray<float> y(64);
  for (const int turns : {3, 6, 8}) {
    INFO(turns << " turns");
    const auto launch = launch_of([&] { filled<<<1, kWarp>>>(y.get(), turns); });
    const xray::Counts stored = launch.total(xray::Space::kShared, xray::Operation::kStore);
    CHECK(stored.requests == static_cast<unsigned>(turns / 4 + turns % 4));
    CHECK(launch.total(xray::Space::kGlobal, xray::Operation::kLoad).requests ==
          static_cast<unsigned>(turns));
  }
}

TEST_CASE("a copy of which the machine code has nothing in its line is in another one's") {
  MachineCode()
      .row("copies_in_two_lines", "global\tload", "second copy", "2 16 1 0 0 0 1 0 0 - 0")
      .read();
  const DeviceArray<float4> x(2 * kWarp), y(kWarp);
  const auto launch = launch_of([&] { copies_in_two_lines<<<1, kWarp>>>(x.get(), y.get()); });
  CHECK(launch.total(xray::Space::kGlobal, xray::Operation::kLoad).requests == 2);
  CHECK(at(launch, "first copy").sectors == 16);
}

TEST_CASE("what one lane stores in two places may be one store, and what is overwritten none") {
  MachineCode()
      .row("largest_and_sum", "shared\tstore", "one lane's first", "1 8 1 0 0 0 1 0 0 - 0")
      .row("stored_twice", "shared\tstore", "that overwrites", "1 4 1 0 0 0 1 0 0 - 0")
      .read();
  const DeviceArray<float> x(64), y(64);
  const auto both = [&] { largest_and_sum<<<1, 64>>>(x.get(), y.get()); };
  const auto stores = launch_of(both).total(xray::Space::kShared, xray::Operation::kStore);
  CHECK(stores.requests == 1);
  CHECK(stores.wavefronts == 1);
  CHECK(remark(listing_of(both), "one lane's second").find("joined with its neighbour") !=
        std::string::npos);
  const auto twice = [&] { stored_twice<<<1, 64>>>(x.get(), y.get()); };
  CHECK(launch_of(twice).total(xray::Space::kShared, xray::Operation::kStore).requests == 2);
  CHECK(remark(listing_of(twice), "overwritten") ==
        "left out by nvcc: nothing reads what it stores");
}

TEST_CASE("what nvcc has in the line of a function far away counts as the source says") {
  MachineCode().row("strided_by_32", "global\tload", "one place", "29 16 1 0 0 0 1 0 0 - 0").read();
  const DeviceArray<float> x(256), y(kWarp);
  CHECK(at(launch_of([&] { strided_by_32<<<1, kWarp>>>(x.get(), y.get(), 256); }), "strided by 32")
            .requests == 8);
}

TEST_CASE("constants that nvcc fetches in a line near by by the uniform datapath do not count") {
  const DeviceArray<float> y(kWarp);
  const auto work = [&] { constants_of_an_unrolled_loop<<<1, kWarp>>>(y.get()); };
  CHECK(at(launch_of(work), "its constants").words == 4);
  MachineCode()
      .row("constants_of_an_unrolled_loop", "const\tload", "unrolled", "0 0 0 4 0 0 1 0 0 - 0")
      .row("constants_of_an_unrolled_loop", "arguments\tload", "unrolled", "1 0 0 0 0 0 0 0 0 - 0")
      .read();
  CHECK(launch_of(work).total(xray::Space::kConstant, xray::Operation::kLoad).words == 1);
}

#if !defined(__clang__)  // which does not report accesses to local memory
TEST_CASE("local memory is that of the machine code line by line, in words") {
  const DeviceArray<float> y(64);
  const auto work = [&] { own_arrays<<<1, 64>>>(y.get(), 3); };
  CHECK(at(launch_of(work), "in registers").requests == 16);
  // Two warps; of the loads two instructions of 16 bytes are left, in no loop.
  MachineCode()
      .row("own_arrays", "local\tstore", "in local memory", "8 4 1 0 0 0 0 0 0 - 0")
      .row("own_arrays", "local\tload", "loaded once", "8 16 1 0 0 0 1 0 0 - 0")
      .read();
  const auto launch = launch_of(work);
  CHECK(launch.total(xray::Space::kLocal, xray::Operation::kStore).requests == 16);
  CHECK(launch.total(xray::Space::kLocal, xray::Operation::kLoad).requests == 16);
  CHECK(remark(listing_of(work), "in registers").find("no local memory here") != std::string::npos);
}
#endif

// An H200 executed 129 loads of shared memory in a block of 05's interleaved_predicated, of
// interleaved_branch 25 (results/h200_profile.csv); one of both is the result's.
TEST_CASE("what nvcc made predicates of is executed by warps without a lane for it, too") {
  MachineCode()
      .row("first_threads_add", "shared\tload", "added", "2 4 1 0 0 0 0 0 0 - 2")
      .row("first_threads_add", "shared\tstore", "added", "1 4 1 0 0 0 0 0 0 - 0")
      .row("within_limits", "global\tload", "both limits", "4 4 1 0 0 0 1 0 0 - 3")
      .row("within_limits", "global\tstore", "either", "1 4 1 0 0 0 1 0 0 - 1")
      .row("loop_of_turns", "global\tload", "turns", "4 4 1 0 0 0 0 0 0 - 4")
      .read();
  const DeviceArray<int> numbers(256);
  const auto adds = [&] { first_threads_add<<<1, 256>>>(numbers.get()); };
  const xray::Launch added = launch_of(adds);
  const auto loads = added.total(xray::Space::kShared, xray::Operation::kLoad);
  CHECK(loads.requests == 24);
  CHECK(loads.switched_off == 2 * 52);
  CHECK(added.total(xray::Space::kShared, xray::Operation::kStore).switched_off == 0);
  const std::string listing = listing_of(adds);
  CHECK(remark(listing, "added").find("104 more are executed for no lane") != std::string::npos);
  CHECK(listing.find("104 more for no lane, a wavefront each") != std::string::npos);
  // Two warps have 4 rows each, 5 of these 8 are there. With the columns two branches are passed.
  const DeviceArray<float> x(kWarp * kWarp), y(256);
  const auto limits = [&](unsigned columns) {
    return launch_of([&] { within_limits<<<1, 64>>>(x.get(), y.get(), 5, columns); });
  };
  CHECK(at(limits(20), "both limits").requests == 5);
  CHECK(at(limits(20), "both limits").switched_off == 3 * 3 / 4);
  // After an || it is not known.
  CHECK(at(limits(20), "either").switched_off == 0);
  // That the last lanes leave a loop is no branch.
  CHECK(at(launch_of([&] { loop_of_turns<<<1, 64>>>(x.get(), y.get(), 300); }), "turns")
            .switched_off == 0);
}

TEST_CASE("what stands in a piece of code with a store is requested as often") {
  const DeviceArray<float> x(128), y(64);
  const auto work = [&] { used_by_some<<<1, 64>>>(x.get(), y.get()); };
  CHECK(at(launch_of(work), "all load").requests == 4);
  MachineCode()
      .row("used_by_some", "global\tload", "all load",
           "2 4 1 0 0 0 1 1 " + std::to_string(line_of(__FILE__, "some store")) + " global 0")
      .row("used_by_some", "global\tstore", "some store", "1 4 1 0 0 0 1 0 0 - 0")
      .read();
  const auto some = launch_of(work);
  CHECK(at(some, "all load").requests == 2);
  CHECK(at(some, "all load").sectors == 8);
  CHECK(remark(listing_of(work), "all load") == "nvcc has 2 requests here, not 4");
}

TEST_CASE("a line with printf says that what this asks for is not counted") {
  const DeviceArray<float> x(kWarp);
  CHECK(remark(listing_of([&] { prints<<<1, kWarp>>>(x.get()); }), "printed") ==
        "what printf asks of memory for itself is not counted: each call of a warp makes some "
        "200 stores on an H200, a sector for every lane, and 3 loads for each character");
}

TEST_CASE("a kernel of which no machine code is known is counted as its source says") {
  MachineCode().row("another", "global\tload", "all load", "1 4 1 0 0 0 1 0 0 - 0").read();
  const DeviceArray<float> y(kWarp);
  CHECK(launch_of([&] { same_constant_across_barriers<<<1, kWarp>>>(y.get(), 10); })
            .total(xray::Space::kConstant, xray::Operation::kLoad)
            .words == 40);
  CHECK_FALSE(xray::read_machine_code("/no/such/table"));
}
