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
  const std::string votes = "chapters/11_warps_and_divergence/lab_notes.md: ";
  const auto paths = [&](unsigned width) {
    const auto stores =
        requests(xray::Operation::kStore, [&] { four_paths<<<1, kThreads>>>(width, out.get()); });
    return static_cast<double>(stores.requests);
  };
  lab::predict("kEveryLane", kEveryLane, paths(1), notes + "For speed, one instruction for all");
  lab::predict("kEverySixteen", kEverySixteen, paths(16),
               notes + "For speed, one instruction for all");
  lab::predict("kEveryWarp", kEveryWarp, paths(32), notes + "For speed, one instruction for all");

  const auto loop =
      requests(xray::Operation::kLoad, [&] { odd_lengths<<<1, kThreads>>>(x.get(), out.get()); });
  lab::predict("kPassesOfLoop", kPassesOfLoop, static_cast<double>(loop.requests),
               notes + "For speed, one instruction for all");
  lab::predict("kLanesOfLoop", kLanesOfLoop, static_cast<double>(loop.lanes),
               notes + "For speed, one instruction for all");

  const auto any =
      requests(xray::Operation::kLoad, [&] { until<false><<<1, kThreads>>>(x.get(), out.get()); });
  const auto all =
      requests(xray::Operation::kLoad, [&] { until<true><<<1, kThreads>>>(x.get(), out.get()); });
  lab::predict("kUntilAny", kUntilAny, static_cast<double>(any.requests),
               votes + "What lanes can ask each other, a vote");
  lab::predict("kUntilAll", kUntilAll, static_cast<double>(all.requests),
               votes + "What lanes can ask each other, a vote");
}
