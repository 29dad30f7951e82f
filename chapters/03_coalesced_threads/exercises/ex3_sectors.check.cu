// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the warp asks for
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

// Sectors that the loads of one warp ask for, request by request.
template <class T, class U>
double sectors(void (*kernel)(const T*, U*)) {
  const lab::Array<T> x(256);
  const lab::Array<U> y(32);
  const auto launches = xray::count([&] {
    kernel<<<1, 32>>>(x.get(), y.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  return static_cast<double>(
      launches.at(0).total(xray::Space::kGlobal, xray::Operation::kLoad).sectors);
}

}  // namespace

TEST_CASE("the predictions are what the warp asks for") {
  const std::string idea = "chapters/03_coalesced_threads/README.md: Lines and sectors";
  lab::predict("kBackwards", kBackwards, sectors(backwards), idea);
  lab::predict("kOffset5", kOffset5, sectors(offset_5), idea);
  lab::predict("kDoubles", kDoubles, sectors(doubles), idea);
  lab::predict("kPoints", kPoints, sectors(points), idea);
  lab::predict("kTail", kTail, sectors(tail), idea);
  lab::predict("kTwoRows", kTwoRows, sectors(two_rows), idea);
  lab::predict("kChunked", kChunked, sectors(chunked), idea);
  lab::predict("kDealt", kDealt, sectors(dealt), idea);
}
