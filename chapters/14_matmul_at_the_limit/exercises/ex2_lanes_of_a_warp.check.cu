// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the warps ask for
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

xray::Counts reads_of(void (*kernel)(float*)) {
  const lab::Array<float> out(32);
  const auto launches = xray::count([&] {
    kernel<<<1, 32>>>(out.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  return launches.at(0).total(xray::Space::kShared, xray::Operation::kLoad);
}

double floats_of(void (*kernel)(float*)) {
  return static_cast<double>(reads_of(kernel).bytes) / sizeof(float);
}

double wavefronts_of(void (*kernel)(float*)) {
  return static_cast<double>(reads_of(kernel).wavefronts);
}

}  // namespace

TEST_CASE("the predictions are what the warps ask for") {
  const std::string file = "the comment above the predictions";
  lab::predict("kFloatsOfRows", kFloatsOfRows, floats_of(read_rows), file);
  lab::predict("kFloatsOfSquare", kFloatsOfSquare, floats_of(read_square), file);
  lab::predict("kWavefrontsOfRows", kWavefrontsOfRows, wavefronts_of(read_rows), file);
  lab::predict("kWavefrontsOfSquare", kWavefrontsOfSquare, wavefronts_of(read_square), file);
  lab::predict("kWavefrontsOfPairs", kWavefrontsOfPairs, wavefronts_of(read_pairs), file);
  lab::predict("kWavefrontsByWords", kWavefrontsByWords, wavefronts_of(read_words), file);
}
