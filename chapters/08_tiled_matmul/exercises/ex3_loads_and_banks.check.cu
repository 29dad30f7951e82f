// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the kernels ask for
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

double wavefronts_of_column(void (*kernel)(float*), unsigned side) {
  const lab::Array<float> out(side * side);
  const auto launches = xray::count([&] {
    kernel<<<1, dim3(side, side)>>>(out.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  const auto stores = launches.at(0).total(xray::Space::kShared, xray::Operation::kStore);
  return stores.per_request(stores.wavefronts);
}

}  // namespace

TEST_CASE("the predictions are what the kernels ask for") {
  const lab::Array<float> a(random_floats(kM * kK, -1, 1, 5)), b(random_floats(kK * kN, -1, 1, 6));
  const lab::Array<float> c(kM * kN);
  const auto launches = xray::count([&] {
    const dim3 grid(div_up(kN, kTile), div_up(kM, kTile));
    multiply_tiled<<<grid, dim3(kTile, kTile)>>>(a.get(), b.get(), c.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  // The only loads from device memory, in the order of their lines: A's, then B's.
  std::vector<double> loads;
  for (const xray::Access& access : launches.at(0).accesses) {
    if (access.space == xray::Space::kGlobal && access.operation == xray::Operation::kLoad)
      loads.push_back(static_cast<double>(access.counts.lanes));
  }
  REQUIRE(loads.size() == 2);
  const std::string notes = "chapters/08_tiled_matmul/README.md: ";
  lab::predict("kLoadsOfA", kLoadsOfA, loads[0], notes + "Fetched together");
  lab::predict("kLoadsOfB", kLoadsOfB, loads[1], notes + "Fetched together");
  lab::predict("kBarriers", kBarriers, static_cast<double>(launches.at(0).barriers),
               notes + "Fetched together");
  const std::string banks = notes + "Four in one load";
  lab::predict("kRowsOf16", kRowsOf16, wavefronts_of_column(store_column<16, 0>, 16), banks);
  lab::predict("kRowsOf17", kRowsOf17, wavefronts_of_column(store_column<16, 1>, 16), banks);
  lab::predict("kRowsOf36", kRowsOf36, wavefronts_of_column(store_column<32, 4>, 32), banks);
}
