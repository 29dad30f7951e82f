// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/13_textures/textures.cu"
#undef main

#include <functional>
#include <limits>
#include <set>

#include "kernel_testing.cuh"

#define main experiment_main
// Apart from the program, whose kParts images.cuh has, too.
namespace images {
#include "../chapters/13_textures/experiments/images.cuh"
#include "../chapters/13_textures/experiments/mixing.cuh"
#include "../chapters/13_textures/experiments/turning.cuh"
namespace address_modes {
#include "../chapters/13_textures/experiments/address_modes.cu"
}
namespace angles {
#include "../chapters/13_textures/experiments/angles.cu"
}
namespace angles_of_four {
#include "../chapters/13_textures/experiments/angles_of_four.cu"
}
namespace filter_weights {
#include "../chapters/13_textures/experiments/filter_weights.cu"
}
namespace image_walks {
#include "../chapters/13_textures/experiments/image_walks.cu"
}
namespace integer_texels {
#include "../chapters/13_textures/experiments/integer_texels.cu"
}
namespace mixed_square {
#include "../chapters/13_textures/experiments/mixed_square.cu"
}
namespace stale_fetches {
#include "../chapters/13_textures/experiments/stale_fetches.cu"
}
namespace surface_writes {
#include "../chapters/13_textures/experiments/surface_writes.cu"
}
}  // namespace images
namespace address_modes = images::address_modes;
namespace angles = images::angles;
namespace angles_of_four = images::angles_of_four;
namespace filter_weights = images::filter_weights;
namespace image_walks = images::image_walks;
namespace integer_texels = images::integer_texels;
namespace mixed_square = images::mixed_square;
namespace stale_fetches = images::stale_fetches;
namespace surface_writes = images::surface_writes;
#undef main

namespace {

struct Shape {
  unsigned width, height;
  std::size_t pixels() const { return std::size_t{width} * height; }
  std::string text() const { return std::to_string(width) + " x " + std::to_string(height); }
};

// One pixel, one row, one column, primes, whole blocks of either shape, one more than those.
std::vector<Shape> awkward_shapes() {
  std::vector<Shape> shapes = {{1, 1},   {1, 37},   {67, 1},   {33, 31},
                               {32, 32}, {64, 128}, {65, 129}, {7, 300}};
  if (!small_sizes()) shapes.insert(shapes.end(), {{2, 2}, {251, 101}, {300, 9}});
  return shapes;
}

std::vector<std::size_t> awkward_angles() {
  if (small_sizes()) return {0, 30, 90, 137};
  return {0, 1, 30, 45, 90, 137, 180, 270, 359, 360};
}

// No two pixels alike, all between 0 and 1.
std::vector<float> index_valued(const Shape& shape) {
  std::vector<float> pixels(shape.pixels());
  const double last = static_cast<double>(std::max<std::size_t>(1, pixels.size() - 1));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<float>(static_cast<double>(i) / last);
  }
  return pixels;
}

// ---- what must come out, on the host and in whole numbers --------------------------------------

constexpr std::int64_t kSteps = 2 * kParts;  // coordinates are multiples of 1 / kSteps

// A coordinate, counted in steps: the pixel it lies in, and how many steps into it.
struct Split {
  std::int64_t whole, rest;
};
Split split(std::int64_t steps) {
  const std::int64_t rest = ((steps % kSteps) + kSteps) % kSteps;
  return {(steps - rest) / kSteps, rest};
}

double mixed(const Four& four, std::int64_t a, std::int64_t b) {
  const double right = static_cast<double>(a) / kSteps, down = static_cast<double>(b) / kSteps;
  return four.p + right * (four.q - four.p) + down * (four.r - four.p) +
         right * down * (four.p - four.q - four.r + four.s);
}

// A fraction in 256ths, rounded: half of one goes up.
std::int64_t in_256ths(std::int64_t numerator, std::int64_t denominator) {
  return (2 * 256 * numerator + denominator) / (2 * denominator);
}

double mixed_by_unit(const Four& four, std::int64_t a, std::int64_t b) {
  const std::int64_t right = in_256ths(a, kSteps), down = in_256ths(b, kSteps);
  const std::int64_t of_s = in_256ths(right * down, 256 * 256);
  const std::int64_t of_q = right - of_s, of_r = down - of_s, of_p = 256 - right - of_r;
  return (static_cast<double>(of_p) * four.p + static_cast<double>(of_q) * four.q +
          static_cast<double>(of_r) * four.r + static_cast<double>(of_s) * four.s) /
         256;
}

struct Turned {
  std::vector<float> nearest, mixed, mixed_by_unit;
  std::size_t inside = 0;  // pixels of the result that the image reaches
};

Turned turned_on_host(const std::vector<float>& pixels, const Turn& turn) {
  const std::int64_t width = turn.width, height = turn.height;
  const std::int64_t cosine = std::llround(turn.cosine * kParts);
  const std::int64_t sine = std::llround(turn.sine * kParts);
  const auto is_inside = [&](std::int64_t column, std::int64_t row) {
    return column >= 0 && column < width && row >= 0 && row < height;
  };
  const auto pixel = [&](std::int64_t column, std::int64_t row) {
    return is_inside(column, row) ? pixels[static_cast<std::size_t>(row * width + column)] : 0.0f;
  };
  Turned turned;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      // Twice the distance from the middle is a whole number.
      const std::int64_t right = 2 * x + 1 - width, down = 2 * y + 1 - height;
      const std::int64_t from_x = cosine * right + sine * down + width * kParts;
      const std::int64_t from_y = cosine * down - sine * right + height * kParts;
      const std::int64_t column = split(from_x).whole, row = split(from_y).whole;
      turned.nearest.push_back(pixel(column, row));
      turned.inside += is_inside(column, row);
      // Half a pixel to the left and above lies the corner of the pixel whose centre comes first.
      const auto [left, a] = split(from_x - kParts);
      const auto [top, b] = split(from_y - kParts);
      const Four four = {pixel(left, top), pixel(left + 1, top), pixel(left, top + 1),
                         pixel(left + 1, top + 1)};
      turned.mixed.push_back(static_cast<float>(mixed(four, a, b)));
      turned.mixed_by_unit.push_back(static_cast<float>(mixed_by_unit(four, a, b)));
    }
  }
  return turned;
}

bool as_on_host(const std::vector<float>& got, const std::vector<float>& expected, double error) {
  return got.size() == expected.size() &&
         all_close("on the host", got, expected, [&](std::size_t) { return error; });
}

using IsRight = bool (Rotation::*)(const std::string&) const;

// An image in all of its homes, turned, with what has to come out.
struct Case {
  Case(const Shape& of, std::size_t degrees, const std::vector<float>& of_pixels)
      : shape(of),
        pixels(of_pixels),
        rotation(pixels, turn_by(degrees, of.width, of.height)),
        turned(turned_on_host(pixels, rotation.turn)) {}
  Case(const Shape& of, std::size_t degrees)
      : Case(of, degrees, random_floats(of.pixels(), 0, 1, 7)) {}

  Shape shape;
  std::vector<float> pixels;
  Rotation rotation;
  Turned turned;

  // By the program's own reference, and by the host's.
  bool is_right(IsRight check) const {
    const bool exact = check == &Rotation::is_right;
    return (rotation.*check)("a version") &&
           as_on_host(rotation.result.download(),
                      exact                          ? turned.nearest
                      : check == &Rotation::is_mixed ? turned.mixed
                                                     : turned.mixed_by_unit,
                      exact ? 0 : kRounding);
  }
  template <class Launch>
  bool launched_right(IsRight check, Launch&& launch) const {
    rotation.poison();
    launch();
    CUDA_CHECK_LAUNCH();
    return is_right(check);
  }
  bool runs_right(const Version<Rotation>& version) const {
    return launched_right(version.is_right, [&] { version.launch(rotation); });
  }
};

// What the kernels take for the source of a few pixels.
__global__ void sources(Turn turn, const unsigned* x, const unsigned* y, unsigned n,
                        float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 from = turn.source(x[i], y[i]);
  result[2 * i] = from.x;
  result[2 * i + 1] = from.y;
}

}  // namespace

TEST_CASE("every version turns images of awkward shapes by any angle, pixel by pixel") {
  for (const Shape& shape : awkward_shapes()) {
    for (const std::size_t degrees : awkward_angles()) {
      const Case c(shape, degrees);
      for (const auto& version : kVersions) {
        INFO(version.name << ", " << shape.text() << ", " << degrees << " degrees");
        CHECK(c.runs_right(version));
      }
    }
  }
}

TEST_CASE("no turn gives the image back, a right angle its columns, two of them the reverse") {
  const Shape shape = {45, 45};
  const std::vector<float> image = index_valued(shape);
  std::vector<float> columns, reverse(image.rbegin(), image.rend());
  for (unsigned y = 0; y < 45; ++y) {
    for (unsigned x = 0; x < 45; ++x) columns.push_back(image[(44 - x) * 45 + y]);
  }
  // Turned back by 90 degrees a result pixel (x, y) comes from column y and row 44 - x.
  for (const auto& [degrees, expected] :
       {std::make_pair(0, image), std::make_pair(360, image), std::make_pair(90, columns),
        std::make_pair(180, reverse)}) {
    const Case c(shape, static_cast<std::size_t>(degrees), image);
    for (const auto& version : kVersions) {
      REQUIRE(c.runs_right(version));
      INFO(version.name << ", " << degrees << " degrees");
      CHECK(c.rotation.result.download() == expected);
    }
  }
}

TEST_CASE("blocks of any shape will do, and blocks to spare write nothing") {
  const Case c({37, 41}, 30);
  const Rotation& r = c.rotation;
  for (const dim3 block : {dim3(1, 1), dim3(5, 3), dim3(32, 32), dim3(64, 2), dim3(1, 37)}) {
    for (const unsigned spare : {0u, 1u}) {
      const auto covering = [&](unsigned pixels) {
        const dim3 grid = r.grid(block, pixels);
        return dim3(grid.x + spare, grid.y + spare);
      };
      const dim3 grid = covering(1), of_four = covering(kPixels);
      INFO("blocks of " << block.x << " x " << block.y << ", " << spare << " to spare");
      CHECK(c.launched_right(&Rotation::is_right,
                             [&] { rotate_plain<<<grid, block>>>(r.plain, r.turn, r.result); }));
      CHECK(c.launched_right(&Rotation::is_right,
                             [&] { rotate_ldg<<<grid, block>>>(r.plain, r.turn, r.result); }));
      CHECK(c.launched_right(&Rotation::is_right,
                             [&] { rotate_fetch<<<grid, block>>>(r.fetch, r.turn, r.result); }));
      CHECK(c.launched_right(&Rotation::is_right, [&] {
        rotate_texture<<<grid, block>>>(r.array_nearest, r.turn, r.result);
      }));
      CHECK(c.launched_right(&Rotation::is_mixed,
                             [&] { rotate_mixing<<<grid, block>>>(r.plain, r.turn, r.result); }));
      CHECK(c.launched_right(&Rotation::is_right, [&] {
        rotate_plain_four<<<of_four, block>>>(r.plain, r.turn, r.result);
      }));
      CHECK(c.launched_right(&Rotation::is_mixed, [&] {
        rotate_mixing_four<<<of_four, block>>>(r.plain, r.turn, r.result);
      }));
      CHECK(c.launched_right(&Rotation::is_mixed_by_unit, [&] {
        rotate_texture_four<<<of_four, block>>>(r.array_linear, r.turn, r.result);
      }));
    }
  }
}

TEST_CASE("coordinates are exact, in the corners of the largest image too") {
  const std::vector<Shape> shapes = {{1, 1}, {2, 1}, {8192, 8192}, {8191, 8192}, {8192, 3}};
  for (const Shape& shape : shapes) {
    const unsigned right = shape.width - 1, bottom = shape.height - 1;
    const std::vector<unsigned> x = {0, right, 0, right, right / 2, right / 3};
    const std::vector<unsigned> y = {0, 0, bottom, bottom, bottom / 2, bottom / 5};
    const DeviceArray<unsigned> d_x(x), d_y(y);
    const DeviceArray<float> result(2 * x.size());
    for (std::size_t degrees = 0; degrees <= 360; degrees += small_sizes() ? 30 : 1) {
      const Turn turn = turn_by(degrees, shape.width, shape.height);
      const auto n = static_cast<unsigned>(x.size());
      sources<<<1, 32>>>(turn, d_x.get(), d_y.get(), n, result.get());
      CUDA_CHECK_LAUNCH();
      const std::vector<float> got = result.download();
      const long cosine = std::lround(turn.cosine * 512), sine = std::lround(turn.sine * 512);
      INFO(shape.text() << ", " << degrees << " degrees");
      bool all_exact = true;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const long from_middle_x = 2L * x[i] + 1 - shape.width;
        const long from_middle_y = 2L * y[i] + 1 - shape.height;
        const long u = cosine * from_middle_x + sine * from_middle_y + 512L * shape.width;
        const long v = cosine * from_middle_y - sine * from_middle_x + 512L * shape.height;
        all_exact &= static_cast<double>(got[2 * i]) == static_cast<double>(u) / 1024;
        all_exact &= static_cast<double>(got[2 * i + 1]) == static_cast<double>(v) / 1024;
      }
      CHECK(all_exact);
    }
  }
}

TEST_CASE("the sine and the cosine of a turn are the angle's, as near as steps of 1/512 come") {
  for (std::size_t degrees = 0; degrees <= 360; ++degrees) {
    const Turn turn = turn_by(degrees, 3, 5);
    const double angle = static_cast<double>(degrees) * 3.14159265358979 / 180;
    CHECK(is_close(static_cast<double>(turn.cosine), std::cos(angle), 1.0 / 1024));
    CHECK(is_close(static_cast<double>(turn.sine), std::sin(angle), 1.0 / 1024));
    CHECK(turn.width == 3);
    CHECK(turn.height == 5);
  }
}

TEST_CASE("launches one after the other give the same result, also with another angle between") {
  const Shape shape = {70, 40};
  Case c(shape, 30);
  for (const auto& version : kVersions) {
    INFO(version.name);
    const Turn thirty = c.rotation.turn;
    for (int repeat = 0; repeat < repeats(10); ++repeat) {
      c.rotation.turn = turn_by(45, shape.width, shape.height);
      version.launch(c.rotation);
      c.rotation.turn = thirty;
      version.launch(c.rotation);
    }
    CUDA_CHECK_LAUNCH();
    CHECK(c.is_right(version.is_right));
  }
}

TEST_CASE("the checker rejects a kernel that does nothing, a NaN, and one wrong pixel") {
  const Case c({33, 34}, 30);
  c.rotation.poison();
  for (const auto& version : kVersions) {
    INFO(version.name);
    CHECK_FALSE((c.rotation.*version.is_right)(version.name));
  }
  for (const auto& version : kVersions) {
    REQUIRE(c.runs_right(version));
    const std::vector<float> right = c.rotation.result.download();
    for (const float wrong : {right[500] + 1e-6f, right[500] - 1e-6f, std::nanf("")}) {
      std::vector<float> other = right;
      other[500] = wrong;
      CUDA_CHECK(cudaMemcpy(c.rotation.result, other.data(), c.rotation.result.bytes(),
                            cudaMemcpyHostToDevice));
      INFO(version.name << ", " << wrong << " for " << right[500]);
      CHECK_FALSE((c.rotation.*version.is_right)(version.name));
    }
  }
}

TEST_CASE("the checker tells the unit's weights from exact ones") {
  const Case c({33, 34}, 30);
  for (const auto& version : kVersions) {
    if (version.is_right == &Rotation::is_right) continue;
    REQUIRE(c.runs_right(version));
    const bool by_hand = version.is_right == &Rotation::is_mixed;
    INFO(version.name);
    CHECK(by_hand == c.rotation.is_mixed(version.name));
    CHECK(by_hand != c.rotation.is_mixed_by_unit(version.name));
    CHECK_FALSE(c.rotation.is_right(version.name));
  }
}

TEST_CASE("the program's reference is the host's, for awkward shapes and all angles") {
  const auto agrees = [](const Shape& shape, std::size_t degrees) {
    const Case c(shape, degrees);
    return as_on_host(c.rotation.nearest.download(), c.turned.nearest, 0) &&
           as_on_host(c.rotation.mixed.download(), c.turned.mixed, 0x1p-24) &&
           as_on_host(c.rotation.by_unit.download(), c.turned.mixed_by_unit, 0x1p-24);
  };
  for (const Shape& shape : awkward_shapes()) {
    for (const std::size_t degrees : awkward_angles()) {
      INFO(shape.text() << ", " << degrees << " degrees");
      CHECK(agrees(shape, degrees));
    }
  }
  for (std::size_t degrees = 0; degrees <= 360; degrees += small_sizes() ? 60 : 7) {
    INFO(degrees << " degrees");
    CHECK(agrees({35, 23}, degrees));
  }
}

TEST_CASE("the reference mixes by the exact weights, and by those that a unit of 8 bits has") {
  const Four four = {1, 2, 4, 16};
  CHECK(weighted(four, 0, 0, 0) == 1);
  CHECK(weighted(four, 0.5, 0, 0) == 1.5);
  CHECK(weighted(four, 0, 0.25, 0) == 1.75);
  CHECK(weighted(four, 0.5, 0.5, 0.25) == (1 + 2 + 4 + 16) / 4.0);
  CHECK(weighted_by_unit(four, 0.5, 0.5) == (1 + 2 + 4 + 16) / 4.0);
  // 3 and 5 of 256: their product, 15/256, is rounded away.
  const double step = 1.0 / 256;
  CHECK(weighted_by_unit(four, 3 * step, 5 * step) == (248 * 1 + 3 * 2 + 5 * 4) / 256.0);
  // 16 and 8: a product of half a step goes up to a whole one.
  CHECK(weighted_by_unit(four, 16 * step, 8 * step) == (233 * 1 + 15 * 2 + 7 * 4 + 16) / 256.0);
  // Half a step goes up to a whole one, and the last half reaches the next pixel.
  CHECK(weighted_by_unit(four, step / 2, 0) == (255 * 1 + 2) / 256.0);
  CHECK(weighted_by_unit(four, 1 - step / 2, 0) == 2);
}

TEST_CASE("each walk comes past every pixel once, and every version of it returns them in order",
          "[image_walks]") {
  using namespace image_walks;
  for (const Shape& shape : awkward_shapes()) {
    std::set<std::pair<unsigned, unsigned>> columns, diagonals;
    for (unsigned i = 0; i < shape.pixels(); ++i) {
      const auto c = spot<Walk::kColumn>(i, shape.width, shape.height);
      const auto d = spot<Walk::kDiagonal>(i, shape.width, shape.height);
      columns.insert({c.column, c.row});
      diagonals.insert({d.column, d.row});
    }
    INFO(shape.text());
    CHECK(columns.size() == shape.pixels());
    CHECK(diagonals.size() == shape.pixels());
    const Image image(index_valued(shape), shape.width, shape.height);
    check_repeated(image_walks::kVersions, image, 1);
  }
}

TEST_CASE("a walk by a diagonal goes one to the right and one down, and on at the left",
          "[image_walks]") {
  const std::vector<float> pixels = {0, 1, 2, 3, 4, 5};  // two rows of three
  const image_walks::Image image(pixels, 3, 2);
  const std::vector<std::vector<float>> walked = {pixels, {0, 3, 1, 4, 2, 5}, {0, 4, 1, 5, 2, 3}};
  for (std::size_t v = 0; v < 9; ++v) {
    const auto& version = image_walks::kVersions[v];
    REQUIRE(runs_right(version, image));
    INFO(version.name);
    CHECK(image.result.download() == walked[v / 3]);
  }
}

TEST_CASE("a walk leaves what lies behind its last pixel alone", "[image_walks]") {
  using namespace image_walks;
  const Image image(index_valued({17, 11}), 17, 11);
  const DeviceArray<float> longer(3 * kBlock);
  const auto stays_within = [&](auto&& launch) {
    longer.poison();
    launch();
    CUDA_CHECK_LAUNCH();
    const std::vector<float> left = longer.download();
    return left[17 * 11 - 1] >= 0 && std::isnan(left[17 * 11]) && std::isnan(left.back());
  };
  CHECK(stays_within(
      [&] { walk_plain<Walk::kRow><<<3, kBlock>>>(image.plain, 17, 11, longer.get()); }));
  CHECK(stays_within([&] {
    walk_texture<Walk::kRow><<<3, kBlock>>>(image.over_array.object, 17, 11, longer.get());
  }));
}

namespace {

// Every version of a sweep turns images of every shape as the host does, at each of these angles.
template <class Rotation, class Versions>
void check_sweep(const Versions& versions, const std::vector<std::size_t>& turns) {
  for (const Shape& shape : awkward_shapes()) {
    const std::vector<float> pixels = random_floats(shape.pixels(), 0, 1, 7);
    Rotation r(pixels, shape.width, shape.height);
    for (const std::size_t degrees : turns) {
      r.turn_by(degrees);
      const Turned turned = turned_on_host(pixels, turn_by(degrees, shape.width, shape.height));
      CHECK(r.amount() == 4.0 * (turned.inside + shape.pixels()));
      for (const auto& version : versions) {
        INFO(version.name << ", " << shape.text() << ", " << degrees << " degrees");
        CHECK(runs_right(version, r));
        CHECK(as_on_host(r.result.download(), turned.nearest, 0));
        r.poison();
        CHECK_FALSE(r.is_right("nothing ran"));
      }
    }
  }
}

// Those of the sweeps.
std::vector<std::size_t> quarter_turn() {
  if (small_sizes()) return {0, 30, 60, 90};
  return {0, 15, 30, 45, 60, 75, 90};
}

}  // namespace

TEST_CASE("the sweep turns by each of its angles", "[angles]") {
  check_sweep<angles::Rotation>(angles::kVersions, quarter_turn());
}

TEST_CASE("the sweep of four pixels per thread turns by each of its angles", "[angles_of_four]") {
  check_sweep<angles_of_four::Rotation>(angles_of_four::kVersions, quarter_turn());
}

TEST_CASE("a surface is written pixel by pixel, whatever the blocks", "[surface_writes]") {
  using namespace surface_writes;
  check_sweep<surface_writes::Rotation>(std::vector{kArrayToArray}, awkward_angles());
  const std::vector<float> pixels = random_floats(37 * 41, 0, 1, 7);
  surface_writes::Rotation r(pixels, 37, 41);
  r.turn_by(30);
  for (const dim3 block : {dim3(1, 1), dim3(5, 3), dim3(32, 32), dim3(64, 2), dim3(1, 37)}) {
    for (const unsigned spare : {0u, 1u}) {
      const dim3 grid(r.grid(block).x + spare, r.grid(block).y + spare);
      INFO("blocks of " << block.x << " x " << block.y << ", " << spare << " to spare");
      r.poison();
      surface_writes::rotate_to_surface<<<grid, block>>>(r.image.object, r.turn, r.surface);
      CUDA_CHECK_LAUNCH();
      CHECK(r.is_right("a surface"));
    }
  }
}

TEST_CASE("what is needed of the image is counted: all of it without a turn, less with one") {
  const Case straight({40, 30}, 0), turned({40, 30}, 30);
  CHECK(straight.turned.inside == 40 * 30);
  CHECK(straight.rotation.amount() == 2.0 * 40 * 30 * 4);
  CHECK(turned.turned.inside < 40 * 30);
  CHECK(turned.turned.inside > 40 * 30 / 2);
  CHECK(turned.rotation.amount() == 4.0 * (40 * 30 + turned.turned.inside));
}

TEST_CASE("in every mode the unit returns what comes out by hand, inside and outside",
          "[address_modes]") {
  std::vector<float> places;
  for (int quarter = -40; quarter <= 60; ++quarter) places.push_back(0.25f * quarter);
  for (const auto& [name, rules] : address_modes::kModes) {
    INFO(name);
    CHECK(address_modes::by_unit(places, rules) == address_modes::by_hand(places, rules));
  }
}

TEST_CASE("by hand the four modes are what the guide says of them", "[address_modes]") {
  const auto at = [&](std::size_t mode, float place) {
    return address_modes::by_hand({place}, address_modes::kModes[mode].second)[0];
  };
  CHECK(at(0, -7) == 10);
  CHECK(at(0, 17) == 40);
  CHECK(at(1, -0.5f) == 0);
  CHECK(at(1, 4) == 0);
  CHECK(at(1, 3.875f) == 40);
  CHECK(at(2, 4.5f) == 10);
  CHECK(at(2, -0.5f) == 40);
  CHECK(at(3, -0.5f) == 10);
  CHECK(at(3, 4.5f) == 40);
  CHECK(at(3, 7.5f) == 10);
  CHECK(at(4, 1) == 15);
  CHECK(at(5, 0) == 5);
  CHECK(at(6, 0) == 25);
  CHECK(at(7, 0) == 10);
  CHECK(at(8, 4.5f) == 40);
}

TEST_CASE("kernels that take places one by one leave the others alone", "[address_modes]") {
  using namespace address_modes;
  const DeviceArray<float> texels(kTexels), places(kPlaces), result(64);
  sample_by_hand<<<2, 32>>>(texels, 4, kModes[0].second, places, 11, result);
  CUDA_CHECK_LAUNCH();
  const std::vector<float> left = result.download();
  CHECK(left[10] == 40);
  for (std::size_t i = 11; i < 64; ++i) CHECK(std::isnan(left[i]));
}

TEST_CASE("integers are read as floats up to 1, and down to -1", "[integer_texels]") {
  using namespace integer_texels;
  std::vector<unsigned char> bytes;
  std::vector<signed char> signed_bytes;
  for (int texel = 0; texel <= 255; ++texel) {
    bytes.push_back(static_cast<unsigned char>(texel));
    signed_bytes.push_back(static_cast<signed char>(texel - 128));
  }
  CHECK(by_unit(bytes) == integer_texels::by_hand(bytes));
  CHECK(by_unit(signed_bytes) == integer_texels::by_hand(signed_bytes));
  CHECK(integer_texels::by_hand(std::vector<unsigned char>{255, 51, 0}) ==
        std::vector<float>{1, 0.2f, 0});
  CHECK(integer_texels::by_hand(std::vector<signed char>{-128, -127, 127}) ==
        std::vector<float>{-1, -1, 1});
  CHECK(integer_texels::by_hand(std::vector<unsigned short>{65535}) == std::vector<float>{1});
  for (const std::size_t n : {1, 31, 32, 33}) {  // none but its own places
    const DeviceArray<unsigned char> texels(std::vector<unsigned char>(n, 255));
    const DeviceArray<float> result(96);
    integer_texels::normalize<<<3, 32>>>(texels.get(), 255, static_cast<unsigned>(n), result.get());
    CUDA_CHECK_LAUNCH();
    INFO("n = " << n);
    CHECK(result.download()[n - 1] == 1);
    CHECK(std::isnan(result.download()[n]));
  }
}

TEST_CASE("the unit's weights are 256ths, the exact ones rounded", "[filter_weights]") {
  using namespace filter_weights;
  const std::vector<float> weights = weights_on_line();
  const LineSummary line(weights);
  CHECK(line.different == 257);
  CHECK(line.rounded == kLineSteps + 1);
  CHECK(line.largest_error == 0.5);
  CHECK(weights.front() == 0);
  CHECK(weights.back() == 1);
}

TEST_CASE("a line of exact weights, or one that is cut off, is not taken for the unit's",
          "[filter_weights]") {
  using namespace filter_weights;
  std::vector<float> exact, cut;
  for (unsigned k = 0; k <= kLineSteps; ++k) {
    exact.push_back(static_cast<float>(k) / kLineSteps);
    cut.push_back(static_cast<float>(k / 16) / 256);
  }
  CHECK(LineSummary(exact).different == kLineSteps + 1);
  CHECK(LineSummary(exact).largest_error == 0);
  CHECK(LineSummary(exact).rounded == 257);
  CHECK(LineSummary(cut).largest_error > 0.9);
}

TEST_CASE("the square's places are neighbours, an eighth of a step apart", "[filter_weights]") {
  using namespace filter_weights;
  using images::kSide;
  const unsigned places = kSide * kSide, spare = 100;
  const DeviceArray<float> x(places + spare), y(places + spare);
  const DeviceArray<double> exact(places + spare);
  images::enlarge_middle<<<blocks_for(places + spare, 256), 256>>>(x, y, exact);
  CUDA_CHECK_LAUNCH();
  const std::vector<float> columns = x.download(), rows = y.download();
  for (unsigned i = 0; i < places; ++i) {
    REQUIRE(2048 * (columns[i] - 1) == i % kSide + 0.5f - kSide / 2.0f);
    REQUIRE(2048 * (rows[i] - 1) == i / kSide + 0.5f - kSide / 2.0f);
  }
  CHECK(std::isnan(columns[places]));
  CHECK(std::isnan(rows[places]));
  CHECK(std::isnan(exact.download()[places]));
}

TEST_CASE("places are mixed one by one, and what lies behind the last is left alone",
          "[mixed_square]") {
  const Case c({33, 34}, 0);
  const DeviceArray<float> x(std::vector<float>(64, 3.5f)), y(std::vector<float>(64, 2.5f));
  const DeviceArray<float> result(64);
  images::sample_places<<<2, 32>>>(c.rotation.array_linear, x, y, 33, result);
  CUDA_CHECK_LAUNCH();
  const std::vector<float> left = result.download();
  CHECK(left[32] == c.pixels[2 * 33 + 3]);
  for (std::size_t i = 33; i < 64; ++i) CHECK(std::isnan(left[i]));
}

TEST_CASE("the picture of the weights' error is small, and is not nothing", "[filter_weights]") {
  const images::Picture square;
  const double error = square.largest_error();
  CHECK(error < 1.0 / 256);
  CHECK(error > 1.0 / 1024);
}

TEST_CASE("the picture has the exact mixture, and that of the unit's weights", "[mixed_square]") {
  using namespace mixed_square;
  const images::Picture square;
  using images::kSide;
  REQUIRE(square.unit.size() == kSide * kSide);
  REQUIRE(square.exact.size() == kSide * kSide);
  const ::Four four = {0, 1, 0.75, 0.25};
  for (unsigned i = 0; i < kSide * kSide; ++i) {
    const double a = 0.5 + (i % kSide + 0.5 - kSide / 2.0) / 2048;
    const double b = 0.5 + (i / kSide + 0.5 - kSide / 2.0) / 2048;
    INFO("place " << i);
    REQUIRE(is_close(square.exact[i], weighted(four, a, b, a * b), 1e-12));
    REQUIRE(is_close(square.unit[i], weighted_by_unit(four, a, b), 1e-6));
  }
}

TEST_CASE("what a kernel writes is seen by loads at once, by a texture in the next launch",
          "[stale_fetches]") {
  if (races_are_looked_for()) return;  // the fetch in the same launch is one
  const stale_fetches::Found found = stale_fetches::look(3);
  CHECK(found.loaded.new_values == stale_fetches::kElements);
  CHECK(found.loaded.old_values == 0);
  CHECK(found.fetched.old_values + found.fetched.new_values == stale_fetches::kElements);
  CHECK(found.next_launch.new_values == stale_fetches::kElements);
  CHECK(found.next_launch.old_values == 0);
  CHECK(found.ok());
}

TEST_CASE("a value that is neither old nor new is noticed", "[stale_fetches]") {
  const std::vector<int> before = {1, 2, 3, 4};
  const std::vector<int> after = {2, 1 + stale_fetches::kNew, 7, 3};
  const stale_fetches::Ages ages(after, before, 1);
  CHECK(ages.old_values == 2);
  CHECK(ages.new_values == 1);
  constexpr std::size_t kAll = stale_fetches::kElements;
  const auto some = [](std::size_t old_values, std::size_t new_values) {
    stale_fetches::Ages ages({}, {}, 0);
    ages.old_values = old_values, ages.new_values = new_values;
    return ages;
  };
  CHECK(stale_fetches::Found{some(kAll - 1, 1), some(0, kAll), some(0, kAll)}.ok());
  CHECK_FALSE(stale_fetches::Found{some(kAll - 1, 0), some(0, kAll), some(0, kAll)}.ok());
  CHECK_FALSE(stale_fetches::Found{some(kAll, 0), some(1, kAll - 1), some(0, kAll)}.ok());
  CHECK_FALSE(stale_fetches::Found{some(kAll, 0), some(0, kAll), some(1, kAll - 1)}.ok());
}
