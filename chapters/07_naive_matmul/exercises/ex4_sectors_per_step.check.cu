// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the warps ask for, and what the roofline says
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

// Sectors of the two loads of a step. The product has to be right, or the count would be of
// something else.
template <class Kernel>
double sectors(Kernel kernel, dim3 block, unsigned stride = kSide) {
  const std::vector<float> a = random_floats(kSide * kDepth, -1, 1, 1);
  const std::vector<float> b = random_floats(kDepth * stride, -1, 1, 2);
  const lab::Array<float> d_a(a), d_b(b), d_c(kSide * kSide);
  const auto launches = xray::count([&] {
    kernel<<<dim3(kSide / block.x, kSide / block.y), block>>>(d_a.get(), d_b.get(), stride,
                                                              d_c.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  const std::vector<float> c = d_c.download();
  for (std::size_t i = 0; i < c.size(); ++i) {
    double expected = 0;
    for (unsigned k = 0; k < kDepth; ++k) {
      expected += static_cast<double>(a[i / kSide * kDepth + k]) * b[k * stride + i % kSide];
    }
    if (!is_close(c[i], expected, 1e-5)) FAIL("wrong product");
  }
  const auto loads = launches.at(0).total(xray::Space::kGlobal, xray::Operation::kLoad);
  return 2 * loads.per_request(loads.sectors);
}

int smallest_side() {
  int n = 1;
  while (2.0 * n * n * n / (4.0 * 3 * n * n) < 14) ++n;
  return n;
}

}  // namespace

TEST_CASE("the predictions are what the warps ask for, and what the roofline says") {
  const std::string idea = "chapters/07_naive_matmul/README.md: Neighbours in a row";
  const std::string bound = "chapters/07_naive_matmul/README.md: A hit is not free";
  const std::string sector = "chapters/03_coalesced_threads/README.md: Lines and sectors";
  lab::predict("kBlock32x8", kBlock32x8, sectors(columns_along_x, dim3(32, 8)), idea);
  lab::predict("kBlock16x16", kBlock16x16, sectors(columns_along_x, dim3(16, 16)), idea);
  lab::predict("kBlock8x32", kBlock8x32, sectors(columns_along_x, dim3(8, 32)), idea);
  lab::predict("kRowsAlongX32x8", kRowsAlongX32x8, sectors(rows_along_x, dim3(32, 8)), idea);
  lab::predict("kOddStride32x8", kOddStride32x8, sectors(columns_along_x, dim3(32, 8), 65), sector);
  lab::predict("kSmallestSide", kSmallestSide, smallest_side(), bound + ", the roofline");
}
