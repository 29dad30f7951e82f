// SPDX-License-Identifier: MIT
// STARTER FAILS: after a copy that was refused everything goes on with the weights from before
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// Weighs 200 numbers with each of the weights.
void expect_weights(const std::string& when, const std::vector<int>& values) {
  const std::vector<int> x = random_ints(200, -99, 99, 5);
  const lab::Array<int> d_x(x), d_y(x.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    try {
      launch_weigh(d_x.get(), x.size(), static_cast<unsigned>(k), d_y.get());
    } catch (const lab::CudaFailure& failure) {  // say it beside what the CPU backend said before
      throw lab::Wrong{when + ": the next launch", "no error", failure.text, ""};
    }
    std::vector<int> expected;
    for (const int v : x) expected.push_back(v * values[k]);
    lab::expect_equal(when + ": y with weight " + std::to_string(k), d_y.download(), expected);
  }
}

const char* text_of(bool b) { return b ? "true" : "false"; }

void expect_upload(const std::vector<int>& values, bool fits) {
  const std::string call = "try_upload(values, " + std::to_string(values.size()) + ")";
  void* there = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&there, weights));
  bool uploaded = false;
  lab::watch_copies(
      [&] { uploaded = try_upload(values.data(), values.size()); },
      [&] { lab::expect(uploaded == fits, call, text_of(fits), text_of(uploaded)); },
      [&](const auto& made) {
        lab::exactly(call + ": bytes copied to the weights",
                     made.written(there, sizeof(weights)).bytes,
                     fits ? values.size() * sizeof(int) : 0,
                     fits ? "all weights, once" : "the weights there stay as they are meanwhile");
        lab::exactly(call + ": bytes copied from the weights",
                     made.read(there, sizeof(weights)).bytes, 0,
                     "nobody needs to put them back who leaves them there");
      });
}

std::vector<int> some(std::size_t count, std::uint64_t seed) {
  return random_ints(count, -1000, 1000, seed);
}

}  // namespace

TEST_CASE("after a copy that was refused everything goes on with the weights from before") {
  lab::once([] {
    std::vector<int> values = some(kMaxWeights, 1);
    const std::vector<int> others = some(100, 6);
    const lab::Array<int> d_others(others);
    expect_upload(values, true);
    expect_weights("32 weights", values);
    for (const std::size_t too_many :
         {kMaxWeights + 1, 10 * kMaxWeights, kMaxWeights + lab::drawn(2, 200),
          std::size_t{lab::drawn(65600, 66000)}}) {
      expect_upload(some(too_many, 2), false);
      expect_weights("after " + std::to_string(too_many) + " were refused", values);
      lab::expect_equal("an array of somebody else", d_others.download(), others);
    }
    // Nobody has so many. Whoever asks the runtime is refused before it looks at them.
    lab::expect(!try_upload(values.data(), (std::size_t{1} << 32) + 5),
                "try_upload(values, 2^32 + 5)", text_of(false), text_of(true));
    expect_weights("after 2^32 + 5 were refused", values);
    for (const unsigned count : {lab::drawn(2, 31), 1u, 0u}) {
      const std::vector<int> fewer = some(count, 3 + count);
      expect_upload(fewer, true);
      std::copy(fewer.begin(), fewer.end(), values.begin());
      expect_weights("the first " + std::to_string(count) + " replaced", values);
    }
  });
}

TEST_CASE("an error from before is still there after an upload") {
  lab::once([] {
    if (small_sizes()) return;  // compute-sanitizer would report these calls
    const auto expect_kept = [](const std::string& what) {
      const cudaError_t before = cudaPeekAtLastError();
      REQUIRE(before != cudaSuccess);
      // Not watched: that waits, and waiting asks for errors.
      const std::vector<int> values = some(7, 4);
      lab::expect(try_upload(values.data(), values.size()), "try_upload(values, 7)", "true",
                  "false");
      const cudaError_t after = cudaGetLastError();
      lab::expect(after == before, "the last error, after " + what + " and 7 weights uploaded",
                  cudaGetErrorName(before), cudaGetErrorName(after));
    };
    weigh<<<1, 2048>>>(nullptr, 0, 0, nullptr);  // more threads than a block may have
    expect_kept("a launch was refused");
    cudaFuncSetAttribute(weigh, cudaFuncAttributeMaxDynamicSharedMemorySize, -1);
    expect_kept("an attribute was refused");
  });
}
