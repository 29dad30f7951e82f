// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the kernels ask for
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

// What the loads of one launch ask for, in constant or in shared memory.
template <class Launch>
xray::Counts loads(xray::Space space, Launch launch) {
  const lab::Array<int> found(1024);
  const auto launches = xray::count([&] {
    launch(found.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  return launches.at(0).total(space, xray::Operation::kLoad);
}

double requests_at(unsigned step) {
  const auto c = loads(xray::Space::kConstant,
                       [&](int* found) { look_up_constant<<<1, kThreads>>>(step, found); });
  return c.per_request(c.words);
}

double wavefronts_at(unsigned step) {
  const auto c = loads(xray::Space::kShared,
                       [&](int* found) { look_up_shared<<<1, kThreads>>>(step, found); });
  return c.per_request(c.wavefronts);
}

}  // namespace

TEST_CASE("the predictions are what the kernels ask for") {
  const std::string idea = "chapters/06_constant_memory/README.md: One word at a time";
  const std::string banks = "chapters/05_shared_tree_reduction/README.md: The first threads";
  lab::predict("kConstantAtStep1", kConstantAtStep1, requests_at(1), idea);
  lab::predict("kSharedAtStep1", kSharedAtStep1, wavefronts_at(1), banks);
  lab::predict("kConstantAtStep8", kConstantAtStep8, requests_at(8), idea);
  lab::predict("kSharedAtStep8", kSharedAtStep8, wavefronts_at(8), banks);
  const auto rows =
      loads(xray::Space::kConstant, [](int* found) { look_up_rows<<<1, dim3(8, 12)>>>(found); });
  lab::predict("kConstantRows", kConstantRows, rows.per_request(rows.words), idea);
  const auto runs =
      loads(xray::Space::kConstant, [](int* found) { look_up_runs<<<1, 48>>>(found); });
  lab::predict("kConstantRuns", kConstantRuns, runs.per_request(runs.words), idea);
}
