// SPDX-License-Identifier: MIT
// STARTER FAILS: C is right, and no bank conflicts
#include "chapters/16_tensor_cores/product.cuh"
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/matrices.cuh"
// the learner's file:
#include LAB_FILE

namespace {

/// `kInRow`: pieces of 16 bytes in a row.
template <unsigned kInRow>
void multiply_and_count() {
  constexpr unsigned kSide = 64, kWidth = kInRow * 8, kWarps = 4;
  const std::vector<float> a = lab::quarters(kSide * kWidth, 1 + lab::drawn(0, 1000));
  std::vector<float> across(a.size());
  for (unsigned i = 0; i < a.size(); ++i) across[i % kWidth * kSide + i / kWidth] = a[i];
  const Bf16Array d_a(to_bf16(a), kSide, kWidth, 8);
  const lab::DeviceMatrix c(kSide, kSide, 2);
  const std::string rows = " (rows of " + std::to_string(kInRow) + " pieces)";
  lab::count(
      [&] {
        multiply_by_itself<kInRow><<<1, 32 * kWarps>>>(d_a.view, c.view());
        CUDA_CHECK_LAUNCH();
      },
      [&] {
        lab::expect_close(
            "C" + rows, c.download("C"), multiply_on_host(a, across, kSide, kSide, kWidth),
            [](std::size_t) { return 0.0; }, kSide);
      },
      [&](const auto& seen) {
        // 32 x 16 bytes are four times what the banks hold.
        constexpr std::uint64_t kLoads = kWarps * (kInRow / 2) * 5, kStores = kSide * kInRow / 32;
        lab::exactly("wavefronts of ldmatrix" + rows, seen.shared_loads().wavefronts, 4 * kLoads,
                     "4 for each of " + std::to_string(kLoads) +
                         ": eight lanes at a time, which want 16 bytes each, in eight rows");
        lab::exactly("wavefronts of the stores that fill the tile" + rows,
                     seen.shared_stores().wavefronts, 4 * kStores,
                     "4 for each of " + std::to_string(kStores) +
                         ": eight lanes at a time, which bring pieces that are neighbours");
      });
}

}  // namespace

TEST_CASE("C is right, and no bank conflicts") {
  lab::Trials()
      .sizes({2, 4, 8, 16})
      .inputs({lab::Input::kRandom})
      .diagnose("rows of 128 bytes are right, shorter ones are not: several rows share the banks",
                [](const lab::Trial& r) { return r.n < 8; })
      .diagnose("rows of 128 bytes are right, longer ones are not: the banks hold eight pieces",
                [](const lab::Trial& r) { return r.n > 8; })
      .run([](const lab::Trial& at) {
        if (at.n == 2) return multiply_and_count<2>();
        if (at.n == 4) return multiply_and_count<4>();
        if (at.n == 8) return multiply_and_count<8>();
        multiply_and_count<16>();
      });
}
