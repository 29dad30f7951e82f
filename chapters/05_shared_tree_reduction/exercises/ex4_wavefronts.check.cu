// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the kernels ask for
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

// What the loads of one level ask of shared memory.
template <class Kernel>
xray::Counts loads(Kernel kernel, unsigned distance) {
  const lab::Array<int> sums(kThreads);
  const auto launches = xray::count([&] {
    kernel<<<1, kThreads>>>(distance, sums.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  return launches.at(0).total(xray::Space::kShared, xray::Operation::kLoad);
}

}  // namespace

TEST_CASE("the predictions are what the kernels ask for") {
  const std::string idea = "chapters/05_shared_tree_reduction/README.md: The first threads";
  const auto wavefronts = [](const xray::Counts& c) { return c.per_request(c.wavefronts); };
  lab::predict("kInterleavedAt1", kInterleavedAt1, wavefronts(loads(level_interleaved, 1)), idea);
  lab::predict("kInterleavedAt8", kInterleavedAt8, wavefronts(loads(level_interleaved, 8)), idea);
  lab::predict("kSequentialAt256", kSequentialAt256, wavefronts(loads(level_sequential, 256)),
               idea);
  // Each warp that adds makes two requests.
  const std::string divergence = "chapters/05_shared_tree_reduction/README.md: The first threads";
  const auto warps = [](const xray::Counts& c) { return static_cast<double>(c.requests) / 2; };
  lab::predict("kWarpsInterleavedAt2", kWarpsInterleavedAt2, warps(loads(level_interleaved, 2)),
               divergence);
  lab::predict("kWarpsSequentialAt64", kWarpsSequentialAt64, warps(loads(level_sequential, 64)),
               divergence);
}
