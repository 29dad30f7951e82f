// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the walk asks for
#include <set>

#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

xray::Counts loads(unsigned stride) {
  const lab::Array<int> x(std::size_t{kLoads} * stride);
  const lab::Array<long long> sum(1);
  const auto launches = xray::count([&] {
    walk<<<1, 1>>>(x.get(), stride, sum.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  return launches.at(0).total(xray::Space::kGlobal, xray::Operation::kLoad);
}

// How many loads need a piece of `bytes` bytes that no earlier load has brought in.
int misses(unsigned stride, std::size_t bytes) {
  std::set<std::size_t> cache;
  int count = 0;
  for (std::size_t i = 0; i < kLoads; ++i) {
    count += cache.insert(i * stride * sizeof(int) / bytes).second ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("the predictions are what the walk asks for") {
  const std::string notes = "chapters/02_single_thread_sum/README.md: ";
  const std::string requests = "chapters/02_single_thread_sum/lab_notes.md: The counters";
  const xray::Counts asked = loads(1);
  lab::predict("kRequests", kRequests, static_cast<double>(asked.requests), requests);
  lab::predict("kLanes", kLanes, asked.per_request(asked.lanes), requests);
  lab::predict("kSectorsAsked", kSectorsAsked, static_cast<double>(asked.sectors), requests);
  const std::string sectors = notes + "What a load costs";
  lab::predict("kMissesAt1", kMissesAt1, misses(1, 32), sectors);
  lab::predict("kMissesAt3", kMissesAt3, misses(3, 32), sectors);
  lab::predict("kMissesAt20", kMissesAt20, misses(20, 32), sectors);
  lab::predict("kMissesAt20ByLine", kMissesAt20ByLine, misses(20, 128), sectors);
  const int missed = misses(3, 32), hit = static_cast<int>(kLoads) - missed;
  lab::predict("kCyclesAt3", kCyclesAt3, 250 * missed + 50 * hit, sectors);
}
