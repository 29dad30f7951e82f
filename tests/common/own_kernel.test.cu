// SPDX-License-Identifier: MIT
// The judge of chapters/your_own_kernel: it takes plain right solutions, and no wrong one.
#include "../../chapters/your_own_kernel/judge.cuh"

#include "../catch.hpp"

namespace {

// How a solution is wrong, if it is.
enum class Bug { kNone, kDoesNothing, kEdge, kRounding, kTail, kKeepsOld, kChangesInput, kFirst };

template <Bug kBug>
__global__ void blur_kernel(const unsigned char* in, unsigned char* out, unsigned width,
                            unsigned height) {
  const auto x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const auto y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const auto last_x = static_cast<int>(width) - 1, last_y = static_cast<int>(height) - 1;
  if (x > last_x || y > last_y || kBug == Bug::kDoesNothing) return;
  unsigned sum = kBug == Bug::kRounding ? 0 : 12;
  for (int row = y - 2; row <= y + 2; ++row) {
    for (int column = x - 2; column <= x + 2; ++column) {
      if (kBug == Bug::kEdge && (column < 0 || column > last_x)) continue;
      const auto from = static_cast<std::size_t>(min(max(row, 0), last_y)) * width;
      sum += in[from + static_cast<std::size_t>(min(max(column, 0), last_x))];
    }
  }
  out[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)] =
      static_cast<unsigned char>(sum / 25);
}

template <Bug kBug>
void blur(const unsigned char* in, unsigned char* out, unsigned width, unsigned height) {
  const dim3 grid((width + 31) / 32,
                  kBug == Bug::kTail ? std::max(height / 8, 1u) : (height + 7) / 8);
  blur_kernel<kBug><<<grid, dim3(32, 8)>>>(in, out, width, height);
}

__global__ void count(const unsigned char* in, std::size_t n, unsigned* counts) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[in[i]], 1u);
}

template <Bug kBug>
void histogram(const unsigned char* in, std::size_t n, unsigned* counts) {
  static bool first = true;
  if (kBug != Bug::kKeepsOld || first) CUDA_CHECK(cudaMemset(counts, 0, 256 * sizeof *counts));
  first = false;
  const auto blocks = static_cast<unsigned>(kBug == Bug::kTail ? std::max<std::size_t>(n / 256, 1)
                                                               : div_up(n, 256));
  count<<<blocks, 256>>>(in, n, counts);
  if (kBug == Bug::kChangesInput) {
    CUDA_CHECK(cudaMemset(const_cast<unsigned char*>(in), 0, n));
  }
}

template <Bug kBug>
__global__ void add_up(const unsigned* in, std::size_t n, unsigned* out) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (kBug == Bug::kFirst) out[i] = sum;
    sum += in[i];
    if (kBug != Bug::kFirst) out[i] = sum;
  }
}

// The scratch memory is used for nothing but to see that all of it is there.
template <Bug kBug>
void prefix_sum(const unsigned* in, std::size_t n, unsigned* out, unsigned long long* scratch) {
  CUDA_CHECK(cudaMemset(scratch, 1, scratch_size(n) * sizeof *scratch));
  add_up<kBug><<<1, 1>>>(in, n, out);
}

// The exit status of a program that ends with judge_blur, judge_histogram or judge_prefix_sum.
template <class Judge, class Solution>
int status_of(Judge judge, Solution solution, const char* option) {
  std::string words[] = {"own", option, "999", "--samples", "1"};
  char* arguments[] = {&words[0][0], &words[1][0], &words[2][0],
                       &words[3][0], &words[4][0], nullptr};
  return judge(5, arguments, solution);
}

}  // namespace

TEST_CASE("a blur of one pixel per thread is right, one with a bug is not") {
  CHECK(status_of(judge_blur, blur<Bug::kNone>, "--side") == kExitOk);
  CHECK(status_of(judge_blur, blur<Bug::kDoesNothing>, "--side") == kExitWrong);
  CHECK(status_of(judge_blur, blur<Bug::kEdge>, "--side") == kExitWrong);
  CHECK(status_of(judge_blur, blur<Bug::kRounding>, "--side") == kExitWrong);
  CHECK(status_of(judge_blur, blur<Bug::kTail>, "--side") == kExitWrong);
}

TEST_CASE("a histogram by atomics is right, one with a bug is not") {
  CHECK(status_of(judge_histogram, histogram<Bug::kNone>, "--n") == kExitOk);
  CHECK(status_of(judge_histogram, histogram<Bug::kTail>, "--n") == kExitWrong);
  CHECK(status_of(judge_histogram, histogram<Bug::kKeepsOld>, "--n") == kExitWrong);
  CHECK(status_of(judge_histogram, histogram<Bug::kChangesInput>, "--n") == kExitWrong);
}

TEST_CASE("a prefix sum by one thread is right, an exclusive one is not") {
  CHECK(status_of(judge_prefix_sum, prefix_sum<Bug::kNone>, "--n") == kExitOk);
  CHECK(status_of(judge_prefix_sum, prefix_sum<Bug::kFirst>, "--n") == kExitWrong);
}

TEST_CASE("the blur's reference is the definition, by hand") {
  // One row: the edges count as often as they are stepped over.
  const std::vector<judge::Byte> row = {10, 20, 30, 40};
  const std::vector<judge::Byte> expected = {
      static_cast<judge::Byte>((10 * 3 + 20 + 30) / 5.0 + 0.5),
      static_cast<judge::Byte>((10 * 2 + 20 + 30 + 40) / 5.0 + 0.5),
      static_cast<judge::Byte>((10 + 20 + 30 + 40 * 2) / 5.0 + 0.5),
      static_cast<judge::Byte>((20 + 30 + 40 * 3) / 5.0 + 0.5)};
  CHECK(judge::blurred(row, 4, 1) == expected);
  CHECK(judge::blurred(row, 1, 4) == expected);
}
