// SPDX-License-Identifier: MIT
// STARTER FAILS: every pixel comes from its place, and a warp reads few sectors at every angle
#include <cmath>

#include "common/labs/counts.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every pixel comes from its place, and a warp reads few sectors at every angle") {
  struct Angle {
    const char* name;
    int cosine, sine;
  };
  const Angle angles[] = {{"90", 0, 1024},  {"0", 1024, 0},   {"45", 724, 724},
                          {"30", 887, 512}, {"60", 512, 887}, {"180", -1024, 0}};
  for (const Angle& angle : angles) {
    lab::Trials()
        .shapes({{64, 128, 0}, {33, 31, 0}, {8, 32, 0}, {1, 1, 0}, {7, 100, 0}})
        .blocks({256})
        .run([&angle](const lab::Trial& at) {
          const Turn turn{static_cast<int>(at.columns), static_cast<int>(at.rows), angle.cosine,
                          angle.sine};
          const std::vector<float> image = random_floats(at.rows * at.columns, -1, 1, 5);
          std::vector<float> expected(image.size(), 0.0f);
          for (std::size_t y = 0; y < at.rows; ++y) {
            for (std::size_t x = 0; x < at.columns; ++x) {
              const double w = static_cast<double>(at.columns), h = static_cast<double>(at.rows);
              const double right = static_cast<double>(x) + 0.5 - w / 2;
              const double down = static_cast<double>(y) + 0.5 - h / 2;
              const double c = angle.cosine / 1024.0, s = angle.sine / 1024.0;
              const double column = std::floor(c * right + s * down + w / 2);
              const double row = std::floor(c * down - s * right + h / 2);
              if (column < 0 || row < 0 || column >= w || row >= h) continue;
              expected[y * at.columns + x] = image[static_cast<std::size_t>(row * w + column)];
            }
          }

          const lab::Array<float> d_image(image), result(image.size());
          const dim3 grid(static_cast<unsigned>(div_up(at.columns, kWide)),
                          static_cast<unsigned>(div_up(at.rows, kHigh)));
          lab::count(
              [&] {
                rotate<<<grid, kWide * kHigh>>>(d_image.get(), turn, result.get());
                CUDA_CHECK_LAUNCH();
              },
              [&] {
                lab::expect_close(
                    "result", result.download(), expected, [](std::size_t) { return 0.0; },
                    at.columns);
              },
              [&](const auto& seen) {
                lab::exactly("lanes that store a pixel", seen.stores().lanes, image.size(),
                             "each pixel has one thread");
                if (image.size() < 64 * 128) return;  // small images are mostly edge
                const auto loads = seen.loads(), stores = seen.stores();
                const std::string turned = std::string(", turned by ") + angle.name + " degrees";
                lab::at_most("sectors of all loads" + turned, loads.sectors, 11 * loads.requests,
                             "11 in each of a warp's " + std::to_string(loads.requests) +
                                 " requests, on average");
                lab::at_most(
                    "sectors of all stores" + turned, stores.sectors, 8 * stores.requests,
                    "8 in each of a warp's " + std::to_string(stores.requests) + " requests");
              });
        });
  }
}
