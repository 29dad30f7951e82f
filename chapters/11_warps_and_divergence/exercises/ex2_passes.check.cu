// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the warps do
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

// A pass shows in the request that the warp makes there.
xray::Counts requests(xray::Operation operation, const std::function<void()>& launch) {
  const auto launches = xray::count([&] {
    launch();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  return launches.at(0).total(xray::Space::kGlobal, operation);
}

}  // namespace

TEST_CASE("the predictions are what the warps do") {
  const lab::Array<int> x(random_ints(16 * kThreads, 0, 9, 7)), out(4 * kThreads);
  const std::string notes = "chapters/11_warps_and_divergence/README.md: ";
  const auto paths = [&](unsigned width) {
    const auto stores =
        requests(xray::Operation::kStore, [&] { four_paths<<<1, kThreads>>>(width, out.get()); });
    return static_cast<double>(stores.requests);
  };
  lab::predict("kEveryLane", kEveryLane, paths(1), notes + "A path for each lane");
  lab::predict("kEverySixteen", kEverySixteen, paths(16), notes + "A path for each lane");
  lab::predict("kEveryWarp", kEveryWarp, paths(32), notes + "A path for each lane");

  const auto loop =
      requests(xray::Operation::kLoad, [&] { odd_lengths<<<1, kThreads>>>(x.get(), out.get()); });
  lab::predict("kPassesOfLoop", kPassesOfLoop, static_cast<double>(loop.requests),
               notes + "Short branches, and loops");
  lab::predict("kLanesOfLoop", kLanesOfLoop, static_cast<double>(loop.lanes),
               notes + "Short branches, and loops");

  const auto any =
      requests(xray::Operation::kLoad, [&] { until<false><<<1, kThreads>>>(x.get(), out.get()); });
  const auto all =
      requests(xray::Operation::kLoad, [&] { until<true><<<1, kThreads>>>(x.get(), out.get()); });
  lab::predict("kUntilAny", kUntilAny, static_cast<double>(any.requests),
               notes + "From lane to lane, a vote");
  lab::predict("kUntilAll", kUntilAll, static_cast<double>(all.requests),
               notes + "From lane to lane, a vote");
}
