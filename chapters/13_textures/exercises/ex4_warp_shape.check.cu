// SPDX-License-Identifier: MIT
// STARTER FAILS: every pixel comes from its place, and a warp reads few sectors at every angle
#include <cmath>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

struct Angle {
  std::string degrees;
  int cosine, sine;
};

// Any angle, in parts of 1024.
Angle drawn_angle() {
  const unsigned degrees = lab::drawn(1, 359);
  const double radians = degrees * std::acos(-1.0) / 180;
  return {std::to_string(degrees), static_cast<int>(std::lround(1024 * std::cos(radians))),
          static_cast<int>(std::lround(1024 * std::sin(radians)))};
}

std::vector<float> turned_on_host(const std::vector<float>& image, const lab::Trial& at,
                                  const Angle& angle) {
  std::vector<float> result(image.size(), 0.0f);
  const double w = static_cast<double>(at.columns), h = static_cast<double>(at.rows);
  const double c = angle.cosine / 1024.0, s = angle.sine / 1024.0;
  for (std::size_t y = 0; y < at.rows; ++y) {
    for (std::size_t x = 0; x < at.columns; ++x) {
      const double right = static_cast<double>(x) + 0.5 - w / 2;
      const double down = static_cast<double>(y) + 0.5 - h / 2;
      const double column = std::floor(c * right + s * down + w / 2);
      const double row = std::floor(c * down - s * right + h / 2);
      if (column < 0 || row < 0 || column >= w || row >= h) continue;
      result[y * at.columns + x] = image[static_cast<std::size_t>(row * w + column)];
    }
  }
  return result;
}

}  // namespace

TEST_CASE("every pixel comes from its place, and a warp reads few sectors at every angle") {
  const std::vector<Angle> angles = {{"90", 0, 1024},   {"0", 1024, 0},   {"45", 724, 724},
                                     {"30", 887, 512},  {"60", 512, 887}, {"180", -1024, 0},
                                     {"270", 0, -1024}, drawn_angle(),    drawn_angle()};
  // Images that are narrower and wider than the usual, small ones and, at one of the angles, a
  // large one. No sectors are counted where an image is mostly edge.
  const lab::Trials::Shape usual = {64, 128, 0};
  const std::size_t narrow = 8 * lab::drawn(8, 12), wide = lab::drawn(129, 220);
  const std::size_t with_large = lab::drawn(0, 2);  // an angle at which rows take many sectors
  for (const Angle& angle : angles) {
    std::vector<lab::Trials::Shape> shapes = {usual,
                                              {lab::drawn(64, 120), wide, 0},
                                              {lab::drawn(64, 120), narrow, 0},
                                              {lab::drawn(20, 63), lab::drawn(20, 63), 0},
                                              {33, 31, 0},
                                              {8, 32, 0},
                                              {1, 1, 0},
                                              {7, 100, 0}};
    if (&angle == &angles[2 * with_large])
      shapes.push_back({lab::drawn(125, 260), lab::drawn(225, 500), 0});
    lab::Trials().shapes(shapes).blocks({kWide * kHigh}).run([&](const lab::Trial& at) {
      const Turn turn{static_cast<int>(at.columns), static_cast<int>(at.rows), angle.cosine,
                      angle.sine};
      const std::vector<float> image = random_floats(at.rows * at.columns, -1, 1, 5);
      const std::vector<float> expected = turned_on_host(image, at, angle);

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
                "result, turned by " + angle.degrees + " degrees", result.download(), expected,
                [](std::size_t) { return 0.0; }, at.columns);
          },
          [&](const auto& seen) {
            lab::exactly("lanes that store a pixel", seen.stores().lanes, image.size(),
                         "each pixel has one thread");
            lab::at_most("pixels that one thread stores",
                         seen.bytes_stored_by_busiest_thread() / sizeof(float), 1,
                         "each pixel has one thread");
            lab::at_most("lanes that load", seen.loads().lanes, image.size(),
                         "a pixel of the result comes from one of the image, and pixel_of() "
                         "loads nothing");
            lab::at_most("requests of warps to load", seen.loads().requests,
                         std::size_t{grid.x} * grid.y * kWide * kHigh / 32,
                         "the lanes of a warp load together");
            if (at.rows < 20 || at.columns < 20) return;
            // Where rows of the image, or the angle, are any, a rectangle touches a few more.
            const bool is_usual = at.rows == usual.rows && at.columns == usual.columns &&
                                  &angle < &angles[angles.size() - 2];
            const unsigned most_loads = is_usual ? 11 : 12;
            const unsigned most_stores = at.columns % 8 == 0 ? 8 : 12;
            const auto loads = seen.loads(), stores = seen.stores();
            const std::string turned = ", turned by " + angle.degrees + " degrees";
            lab::at_most("sectors of all loads" + turned, loads.sectors,
                         most_loads * loads.requests,
                         std::to_string(most_loads) + " in each of a warp's " +
                             std::to_string(loads.requests) + " requests, on average");
            lab::at_most("sectors of all stores" + turned, stores.sectors,
                         most_stores * stores.requests,
                         std::to_string(most_stores) + " in each of a warp's " +
                             std::to_string(stores.requests) + " requests");
          });
    });
  }
}
