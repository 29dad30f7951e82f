// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what twelve blocks do
#include "common/labs/testing.cuh"
#include "xray/counts.h"
#include "xray/launches.h"
// the learner's file:
#include LAB_FILE

namespace {

constexpr unsigned kMultiprocessors = 12, kSteps = 256 / 16;

struct Division {
  unsigned tiles, parts;  // of each tile along k; 0: even shares of all steps
};

// A block is a multiprocessor, and a load is a step. What it has of a tile is added to c.
__global__ void walk(Division of, const float* x, float* c) {
  if (of.parts > 0) {
    for (unsigned i = blockIdx.x; i < of.tiles * of.parts; i += gridDim.x) {
      const unsigned tile = i / of.parts, part = i % of.parts;
      float sum = 0;
      for (unsigned s = kSteps * part / of.parts; s < kSteps * (part + 1) / of.parts; ++s)
        sum += x[tile * kSteps + s];
      atomicAdd(&c[tile], sum);
    }
    return;
  }
  const unsigned all = of.tiles * kSteps, end = all * (blockIdx.x + 1) / gridDim.x;
  for (unsigned s = all * blockIdx.x / gridDim.x; s < end;) {
    const unsigned tile = s / kSteps;
    float sum = 0;
    for (; s < end && s / kSteps == tile; ++s) sum += x[s];
    atomicAdd(&c[tile], sum);
  }
}

xray::Launch launch_of(Division of) {
  const lab::Array<float> x(std::vector<float>(std::size_t{of.tiles} * kSteps, 1.0f));
  const lab::Array<float> c(std::vector<float>(of.tiles, 0.0f));
  const auto launches = xray::count([&] {
    walk<<<kMultiprocessors, 1>>>(of, x.get(), c.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  return launches.at(0);
}

double steps_of_busiest(Division of) {
  return static_cast<double>(launch_of(of).lanes_of_busiest_warp(
      xray::Space::kGlobal, xray::Operation::kLoad, sizeof(float)));
}

double additions(Division of) {
  return static_cast<double>(
      launch_of(of).total(xray::Space::kGlobal, xray::Operation::kAtomic).requests);
}

unsigned tiles_of(unsigned m, unsigned n, unsigned rows, unsigned columns) {
  return blocks_for(m, rows) * blocks_for(n, columns);
}

double elements_loaded(unsigned m, unsigned n, unsigned rows, unsigned columns) {
  return 256.0 * tiles_of(m, n, rows, columns) * (rows + columns);
}

}  // namespace

TEST_CASE("the predictions are what twelve blocks do") {
  const std::string waves = "chapters/15_matmul_of_any_shape/README.md";
  lab::predict("kFullWave", kFullWave, steps_of_busiest({tiles_of(384, 1024, 128, 256), 1}), waves);
  lab::predict("kFourMore", kFourMore, steps_of_busiest({tiles_of(384, 1028, 128, 256), 1}), waves);
  lab::predict("kSmallTiles", kSmallTiles, steps_of_busiest({tiles_of(384, 1028, 64, 128), 1}),
               waves);
  lab::predict("kSplit", kSplit, steps_of_busiest({tiles_of(128, 512, 128, 256), 6}), waves);
  const Division even = {tiles_of(384, 1028, 128, 256), 0};
  lab::predict("kEvenShares", kEvenShares, steps_of_busiest(even), waves);
  lab::predict("kAdditions", kAdditions, additions(even), waves);
  lab::predict("kTimesAsMany", kTimesAsMany,
               elements_loaded(384, 1024, 64, 128) / elements_loaded(384, 1024, 128, 256), waves);
}
