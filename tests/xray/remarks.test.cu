// SPDX-License-Identifier: MIT
// Where nvcc makes something else of a line than the source says, the listing says so below it.
#include <sstream>

#include "xray/listing.h"
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

__global__ void members(const float4* x, float* y) {
  const unsigned t = threadIdx.x;
  const float4 first_and_last = x[t];  // line: x and w, and nothing of y
  y[t] = first_and_last.w - first_and_last.x;
  const float4 middle = x[t + 32];  // line: y and z
  y[t] += middle.y * middle.z * middle.y;
  const float4 half = x[t + 64];  // line: x and y
  y[t] += half.x + half.y;
  const float4 most = x[t + 96];  // line: x, y and z
  y[t] += most.x + most.y + most.z;
  const float4 whole = x[t + 128];  // line: the whole
  y[t] += whole.x + whole.w;
  *reinterpret_cast<float4*>(&y[4 * t + 64]) = whole;
  const float4 one = x[t + 160];  // line: w
  y[t] += one.w;
  // first_and_last.y and half.z stand in a comment only
}

template <class Work>
std::vector<std::string> listing_of(Work work) {
  std::istringstream text(xray::listing_of(launches_of(work), false));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// What the listing remarks below the line that ends with the comment `// line: NAME`; "" if
// nothing.
std::string remark(const std::vector<std::string>& listing, const std::string& name) {
  const std::string wanted = "// line: " + name;
  std::string found;
  bool below = false;
  for (const std::string& line : listing) {
    const bool ends = line.size() >= wanted.size() &&
                      line.compare(line.size() - wanted.size(), wanted.size(), wanted) == 0;
    if (ends) {
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

TEST_CASE("a constant that every turn of a loop wants again is probably fetched before the loop") {
  const DeviceArray<float> y(64);
  const auto once = listing_of([&] { same_constant_in_a_loop<<<1, kWarp>>>(y.get(), 20); });
  CHECK(remark(once, "same constant") ==
        "const load: nvcc probably fetches this once, before the loop: 19 of 20 requests are for "
        "the words of the one before");
  CHECK(remark(once, "another constant in every turn").empty());
  const auto synced = listing_of([&] { same_constant_across_barriers<<<2, 64>>>(y.get(), 10); });
  CHECK(remark(synced, "same constant after a barrier").find(": 36 of 40 requests") !=
        std::string::npos);
}

TEST_CASE("a loop that lanes leave after different turns may be unrolled") {
  const DeviceArray<float> x(32 * 11), y(kWarp);
  const auto listing = listing_of([&] { rows_of_unequal_length<<<1, kWarp>>>(x.get(), y.get()); });
  // 0 to 10 turns: three single ones, then 8, then 4.
  CHECK(remark(listing, "unequal turns") ==
        "lanes leave this loop after different turns: if nvcc can tell their number beforehand and "
        "unrolls it, 15 requests instead of 10; #pragma unroll 1 prevents that");
}

TEST_CASE("two members of a float4 that are no pair are probably two loads") {
  const DeviceArray<float4> x(192);
  const DeviceArray<float> y(64 + 4 * kWarp);
  const auto listing = listing_of([&] { members<<<1, kWarp>>>(x.get(), y.get()); });
#if !defined(__clang__)  // which loads the members one by one, and so X-ray counts them
  CHECK(remark(listing, "x and w, and nothing of y") ==
        "of first_and_last only .x and .w are used, so nvcc probably loads each by itself: 2 "
        "requests for 1");
  CHECK(remark(listing, "y and z").find("only .y and .z") != std::string::npos);
#endif
  for (const char* const fine : {"x and y", "x, y and z", "the whole", "w"}) {
    INFO(fine);
    CHECK(remark(listing, fine).empty());
  }
}
