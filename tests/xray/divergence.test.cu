// SPDX-License-Identifier: MIT
// X-ray counts how often warps go through a line, and with how many lanes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <sstream>

#include "branch_patterns.cuh"
#include "xray_testing.cuh"

namespace {

constexpr unsigned kBlock = 2 * kWarp;

// ---- branches -----------------------------------------------------------------------------------

enum class By { kWarp, kLane };

template <By kBy>
__global__ void branch(const float* x, float* y) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned chooser = kBy == By::kWarp ? threadIdx.x / kWarp : threadIdx.x;
  float v = x[t];
  if (chooser % 2 == 0) {
    for (int i = 0; i < 3; ++i) v = v * 1.5f + 1;  // line: even
  } else {
    for (int i = 0; i < 5; ++i) v = v * 0.5f - 1;
  }
  y[t] = v;
}

// Each of two lines has several pieces of code.
__global__ void pieces_of_a_line(const int* x, int* y, int turns) {
  const int t = static_cast<int>(threadIdx.x);
  int sum = 0;
  // clang-format off
  for (int k = 0; k < turns; ++k) if (x[32 * k + t] > k) sum += 3 * k;  // line: loop and branch
  // clang-format on
  y[t] = sum;
}

__device__ float polynomial(float v, int degree) {
  float sum = 1;
  for (int i = 0; i < degree; ++i) {
    sum = sum * v + 2;  // line: in a function
  }
  return sum;
}

__global__ void calls_twice(const float* x, float* y) {
  float v = x[threadIdx.x];
  v = polynomial(v, 3);
  if (threadIdx.x % 4 == 0) v = polynomial(v, 5);
  y[threadIdx.x] = v;
}

// ---- loops --------------------------------------------------------------------------------------

// Nothing is loaded, so no request tells of the turns.
__device__ unsigned mixed(unsigned v, unsigned turns) {
  for (unsigned i = 0; i < turns; ++i) {
    v = v * 1664525u + i;
  }
  return v;
}

__global__ void turns_of_lane(unsigned* y) {
  const unsigned v = mixed(threadIdx.x, threadIdx.x % kWarp);
  y[threadIdx.x] = v;  // line: all have turned
}

// ---- lanes that are not there -------------------------------------------------------------------

__global__ void guarded(float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float v = 0;
  for (int k = 0; k < 4; ++k) {
    v = v * 0.5f + static_cast<float>(i);  // line: by all, guarded or not
  }
  if (i < n) {
    y[i] = v;  // line: by those that are left
  }
}

// Only lane 0 uses memory. The others work as much.
__global__ void one_lane_stores(float* y, int turns) {
  float v = static_cast<float>(threadIdx.x);
  for (int k = 0; k < turns; ++k) {
    v = v * 0.5f + 1;  // line: without access
  }
  if (threadIdx.x == 0) {
    y[0] = v;  // line: lane 0
  }
}

__global__ void between_barriers(float* y, int turns) {
  __shared__ float s[kBlock];
  const unsigned t = threadIdx.x;
  s[t] = 0;
  for (int k = 0; k < turns; ++k) {
    if (t < 8) {
      s[t] += s[t + 8];  // line: eight lanes
    }
    __syncthreads();  // line: at the barrier
  }
  y[t] = s[t];
}

// The lower half of a warp meets in shuffles, whether it uses memory or not.
__global__ void half_meets(float* y, bool stores) {
  float v = static_cast<float>(threadIdx.x);
  if (threadIdx.x < 16) {
    v += __shfl_xor_sync(0x0000ffffu, v, 1);
    if (stores) y[threadIdx.x] = v;
  }
  for (int k = 0; k < 3; ++k) {
    v = v * 0.5f + 1;  // line: after the half has met
  }
  if (stores || v > 1e30f) y[threadIdx.x] = v;
}

void check_passage(const xray::Launch& launch, const char* name, std::uint64_t visits,
                   std::uint64_t lanes) {
  INFO(name);
  const xray::Passage p = launch.passage_of_line(line_of(__FILE__, name));
  CHECK(p.visits == visits);
  CHECK(p.lanes == lanes);
}

}  // namespace

// Each row of the .csv is a launch of branch_patterns::all, in that order, and what the GPU
// counted:
//   multiply_adds            smsp__inst_executed_pipe_fp64
//   lanes                    smsp__sass_thread_inst_executed_op_dfma_pred_on
//   divergent_branches       smsp__sass_branch_targets_threads_divergent
//   threads_per_instruction  smsp__thread_inst_executed_per_inst_executed, over all instructions of
//                            the kernel: X-ray, which does not know them, predicts nothing of it
TEST_CASE("warps go through lines as often, and with as many lanes, as on the H200") {
  std::ifstream file("tests/xray/h200_branch_patterns.csv");
  std::string line;
  REQUIRE(std::getline(file, line));
  const DeviceArray<double> out(branch_patterns::kBlock);
  std::set<int> lines;
  std::ifstream source("tests/xray/branch_patterns.cuh");
  for (int number = 1; std::getline(source, line); ++number) {
    if (line.find("  // multiply-add") != std::string::npos) lines.insert(number);
  }
  REQUIRE(lines.size() > 40);
  int rows = 0;
  branch_patterns::all(out.get(), [&](const char* name, int parameter, const auto& launch) {
    INFO(name << " " << parameter);
    REQUIRE(std::getline(file, line));
    const std::vector<std::string> cells = split(line, ',');
    REQUIRE(cells.size() == 11);
    REQUIRE(cells[5] == name);
    REQUIRE(std::stoi(cells[6]) == parameter);
    ++rows;
    const xray::Launch counted = launch_of(launch);
    std::uint64_t visits = 0, lanes = 0;
    for (const xray::Passage& p : counted.passages) {
      if (p.file != "tests/xray/branch_patterns.cuh" || lines.count(p.line) == 0) continue;
      visits += p.visits;
      lanes += p.lanes;
    }
#if defined(__clang__)
    // It does not tell the lines of a macro's uses apart, and makes no branch of the short one.
    if (cells[5] == "by_switch" || cells[5] == "predicated") return;
#endif
    CHECK(visits == std::stoul(cells[7]));
    if (cells[5] == "predicated") {
      // nvcc lets all lanes multiply and a half of them forget the result. There is no branch.
      CHECK(lanes == kWarp);
      CHECK(std::stoul(cells[8]) == 2 * kWarp);
      CHECK(counted.partings == 2);
      CHECK(std::stoul(cells[9]) == 0);
      return;
    }
    CHECK(lanes == std::stoul(cells[8]));
    CHECK(counted.partings == std::stoul(cells[9]));
  });
  CHECK(rows == 33);
  CHECK(!std::getline(file, line));
}

TEST_CASE("of a line with several pieces of code the one that is run most counts") {
  const DeviceArray<int> x(std::vector<int>(32 * 7, 3)), y(kWarp);
  const xray::Launch launch =
      launch_of([&] { pieces_of_a_line<<<1, kWarp>>>(x.get(), y.get(), 7); });
#if defined(__clang__)  // comes by the condition once more, at the end
  check_passage(launch, "loop and branch", 8, 8 * kWarp);
#else
  check_passage(launch, "loop and branch", 7, 7 * kWarp);
#endif
}

TEST_CASE("a function that is called from two places counts for both") {
  const DeviceArray<float> x(kBlock), y(kBlock);
  const xray::Launch launch = launch_of([&] { calls_twice<<<1, kBlock>>>(x.get(), y.get()); });
  check_passage(launch, "in a function", 2 * (3 + 5), 2 * (3 * 32 + 5 * 8));
}

TEST_CASE("lanes that access nothing are counted like the others") {
  const DeviceArray<float> y(kBlock);
  const xray::Launch tail = launch_of([&] { guarded<<<1, kBlock>>>(y.get(), 40); });
  check_passage(tail, "by all, guarded or not", 2 * 4, 2 * 4 * kWarp);
  check_passage(tail, "by those that are left", 2, 40);
  const xray::Launch one = launch_of([&] { one_lane_stores<<<1, kBlock>>>(y.get(), 6); });
  check_passage(one, "without access", 2 * 6, 2 * 6 * kWarp);
  check_passage(one, "lane 0", 1, 1);
  const xray::Launch barriers = launch_of([&] { between_barriers<<<1, kBlock>>>(y.get(), 5); });
  check_passage(barriers, "eight lanes", 5, 5 * 8);
  check_passage(barriers, "at the barrier", 2 * 5, 2 * 5 * kWarp);
}

TEST_CASE("lanes that met among themselves go on with the others") {
  const DeviceArray<float> y(kWarp);
  for (const bool stores : {false, true}) {
    INFO(stores);
    const xray::Launch launch = launch_of([&] { half_meets<<<1, kWarp>>>(y.get(), stores); });
    check_passage(launch, "after the half has met", 3, 3 * kWarp);
  }
}

namespace {
__global__ void round_to_16_bits(const float* x, float* y) {
  const __nv_bfloat16 rounded = __float2bfloat16(x[threadIdx.x]);
  y[threadIdx.x] = __bfloat162float(rounded) + __half2float(__float2half(x[threadIdx.x]));
}
}  // namespace

TEST_CASE("rounding to 16 bits is no branch, whatever the numbers are") {
  const DeviceArray<float> y(kWarp);
  std::vector<float> kinds(kWarp);
  for (unsigned i = 0; i < kWarp; ++i) {
    const float some[] = {0.0f, 1.0f, -1e-30f, 1e-40f, 1e38f, INFINITY, NAN, 1.001f};
    kinds[i] = some[i % 8];
  }
  const DeviceArray<float> x(kinds);
  const xray::Launch launch = launch_of([&] { round_to_16_bits<<<1, kWarp>>>(x.get(), y.get()); });
  CHECK(launch.partings == 0);
}

TEST_CASE("the lanes of a block's last warp are those that it has") {
  const DeviceArray<unsigned> y(kBlock);
  const xray::Launch launch = launch_of([&] { turns_of_lane<<<3, 40>>>(y.get()); });
  const xray::Passage p = launch.passage_of_line(line_of(__FILE__, "all have turned"));
  CHECK(p.visits == 6);
  CHECK(p.lanes == 120);
  CHECK(p.lanes_of_warps == 120);
}

TEST_CASE("the listing names lanes where some are missing and no access tells") {
  const DeviceArray<float> x(kBlock), y(kBlock);
  const auto line_with = [](const std::string& listing, const std::string& end) {
    for (const std::string& line : split(listing, '\n')) {
      if (ends_with(line, end)) return line;
    }
    return std::string();
  };
  const std::string apart = listing_of([&] { branch<By::kLane><<<1, kBlock>>>(x.get(), y.get()); });
  CHECK(line_with(apart, "// line: even").find(" 16.0 of 32 lanes, 6 passes |") !=
        std::string::npos);
  CHECK(apart.find("branches: lanes of a warp went different ways 2 times") != std::string::npos);
  const std::string whole = listing_of([&] { branch<By::kWarp><<<1, kBlock>>>(x.get(), y.get()); });
  CHECK(whole.find(" lanes, ") == std::string::npos);
  CHECK(whole.find("branches") == std::string::npos);
  // The access's own row tells.
  CHECK(listing_of([&] { one_lane_stores<<<1, kBlock>>>(y.get(), 6); }).find(" lanes, ") ==
        std::string::npos);
}

TEST_CASE("passages are handed to programs as CSV") {
  const DeviceArray<float> x(kBlock), y(kBlock);
  const std::string csv = xray::passages_csv_of(
      launches_of([&] { branch<By::kLane><<<1, kBlock>>>(x.get(), y.get()); }));
  CHECK(csv.find(",partings,file,line,visits,lanes,lanes_of_warps\n") != std::string::npos);
  const int even = line_of(__FILE__, "even");
  CHECK(csv.find(",2,\"" + std::string("tests/xray/divergence.test.cu") + "\"," +
                 std::to_string(even) + ",6,96,192\n") != std::string::npos);
}
