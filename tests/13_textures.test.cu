// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/13_textures/textures.cu"
#undef main

#include <functional>
#include <set>
#include <stdexcept>

#include "kernel_testing.cuh"

namespace {

struct Shape {
  unsigned width, height;
  std::size_t pixels() const { return std::size_t{width} * height; }
  std::string text() const { return std::to_string(width) + " x " + std::to_string(height); }
};

// One pixel, one row, one column, primes, whole blocks of either shape, one more than those.
std::vector<Shape> awkward_shapes() {
  std::vector<Shape> shapes = {{1, 1}, {1, 37}, {67, 1}, {33, 31}, {32, 32}, {64, 128}, {65, 129}};
  if (!small_sizes()) shapes.insert(shapes.end(), {{2, 2}, {251, 101}, {7, 300}, {300, 9}});
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

  bool launched_right(const std::string& name, const std::function<void()>& launch) const {
    poison(rotation);
    launch();
    CUDA_CHECK_LAUNCH();
    return check(name, rotation, turned);
  }
  bool runs_right(const Version<Rotation>& version) const {
    return launched_right(version.name, [&] { version.launch(rotation); });
  }
};

// The rows of the table, those of several_pixels.cuh too.
std::vector<Version<Rotation>> all_versions() {
  std::vector<Version<Rotation>> versions(std::begin(kVersions), std::end(kVersions));
  versions.insert(versions.end(), std::begin(several_pixels::kVersions),
                  std::end(several_pixels::kVersions));
  return versions;
}

Version<Rotation> named(const std::string& name) {
  for (const auto& version : all_versions()) {
    if (name == version.name) return version;
  }
  throw std::runtime_error("no version " + name);
}

// What the kernels take for the source of a few pixels.
__global__ void sources(Turn turn, const unsigned* x, const unsigned* y, unsigned n,
                        float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Place from = turn.source(x[i], y[i]);
  result[2 * i] = from.x;
  result[2 * i + 1] = from.y;
}

}  // namespace

TEST_CASE("every version turns images of awkward shapes by any angle, pixel by pixel") {
  for (const Shape& shape : awkward_shapes()) {
    for (const std::size_t degrees : awkward_angles()) {
      const Case c(shape, degrees);
      for (const auto& version : all_versions()) {
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
    for (const auto& version : all_versions()) {
      REQUIRE(c.runs_right(version));
      const bool in_array = version.name == std::string("array_to_array");
      INFO(version.name << ", " << degrees << " degrees");
      CHECK((in_array ? c.rotation.result_array.download() : c.rotation.result.download()) ==
            expected);
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
      CHECK(c.launched_right("nearest_plain", [&] {
        rotate_plain<<<grid, block>>>(r.plain.get(), r.turn, r.result.get());
      }));
      CHECK(c.launched_right("nearest_ldg", [&] {
        rotate_ldg<<<grid, block>>>(r.plain.get(), r.turn, r.result.get());
      }));
      CHECK(c.launched_right("nearest_fetch", [&] {
        rotate_fetch<<<grid, block>>>(r.fetch.get(), r.turn, r.result.get());
      }));
      CHECK(c.launched_right("nearest_array", [&] {
        rotate_texture<<<grid, block>>>(r.array_nearest.get(), r.turn, r.result.get());
      }));
      CHECK(c.launched_right("bilinear_plain", [&] {
        rotate_mixing<<<grid, block>>>(r.plain.get(), r.turn, r.result.get());
      }));
      CHECK(c.launched_right("array_to_array", [&] {
        rotate_to_surface<<<grid, block>>>(r.array_nearest.get(), r.turn, r.surface.get());
      }));
      CHECK(c.launched_right("four_plain", [&] {
        rotate_plain_four<<<of_four, block>>>(r.plain.get(), r.turn, r.result.get());
      }));
      CHECK(c.launched_right("four_bilinear_plain", [&] {
        rotate_mixing_four<<<of_four, block>>>(r.plain.get(), r.turn, r.result.get());
      }));
      CHECK(c.launched_right("four_bilinear_array", [&] {
        rotate_texture_four<<<of_four, block>>>(r.array_linear.get(), r.turn, r.result.get());
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
  for (const auto& version : all_versions()) {
    INFO(version.name);
    const Turn thirty = c.rotation.turn;
    for (int repeat = 0; repeat < repeats(10); ++repeat) {
      c.rotation.turn = turn_by(45, shape.width, shape.height);
      version.launch(c.rotation);
      c.rotation.turn = thirty;
      version.launch(c.rotation);
    }
    CUDA_CHECK_LAUNCH();
    CHECK(check(version.name, c.rotation, c.turned));
  }
}

TEST_CASE("the checker rejects a kernel that does nothing, a NaN, and one wrong pixel") {
  const Case c({33, 34}, 30);
  poison(c.rotation);
  for (const auto& version : all_versions()) {
    INFO(version.name);
    CHECK_FALSE(check(version.name, c.rotation, c.turned));
  }
  for (const char* name : {"nearest_plain", "bilinear_plain", "bilinear_array"}) {
    REQUIRE(c.runs_right(named(name)));
    const std::vector<float> right = c.rotation.result.download();
    for (const float wrong : {right[500] + 1e-6f, right[500] - 1e-6f, std::nanf("")}) {
      std::vector<float> other = right;
      other[500] = wrong;
      CUDA_CHECK(cudaMemcpy(c.rotation.result.get(), other.data(), c.rotation.result.bytes(),
                            cudaMemcpyHostToDevice));
      INFO(name << ", " << wrong << " for " << right[500]);
      CHECK_FALSE(check(name, c.rotation, c.turned));
    }
  }
}

TEST_CASE("the checker tells the unit's weights from exact ones") {
  const Case c({33, 34}, 30);
  REQUIRE(c.runs_right(named("bilinear_plain")));
  CHECK_FALSE(check("bilinear_array", c.rotation, c.turned));
  REQUIRE(c.runs_right(named("bilinear_array")));
  CHECK_FALSE(check("bilinear_plain", c.rotation, c.turned));
}

TEST_CASE("the reference mixes by the exact weights, and by those that a unit of 8 bits has") {
  const Four four = {1, 2, 4, 16};
  CHECK(mixed(four, 0, 0) == 1);
  CHECK(mixed(four, kSteps / 2, 0) == 1.5);
  CHECK(mixed(four, 0, kSteps / 4) == 1.75);
  CHECK(mixed(four, kSteps / 2, kSteps / 2) == (1 + 2 + 4 + 16) / 4.0);
  CHECK(mixed_by_unit(four, kSteps / 2, kSteps / 2) == (1 + 2 + 4 + 16) / 4.0);
  // 3 and 5 of 256: their product, 15/256, is rounded away.
  const std::int64_t step = kSteps / 256;
  CHECK(mixed_by_unit(four, 3 * step, 5 * step) == (248 * 1 + 3 * 2 + 5 * 4) / 256.0);
  // 16 and 8: a product of half a step goes up to a whole one.
  CHECK(mixed_by_unit(four, 16 * step, 8 * step) == (233 * 1 + 15 * 2 + 7 * 4 + 16) / 256.0);
  // Half a step goes up to a whole one, and the last half reaches the next pixel.
  CHECK(mixed_by_unit(four, step / 2, 0) == (255 * 1 + 2) / 256.0);
  CHECK(mixed_by_unit(four, kSteps - step / 2, 0) == 2);
}

TEST_CASE("each walk comes past every pixel once, and every version of it returns them in order") {
  for (const Shape& shape : awkward_shapes()) {
    std::set<std::pair<unsigned, unsigned>> columns, diagonals;
    for (unsigned i = 0; i < shape.pixels(); ++i) {
      const auto c = walks::spot<walks::Walk::kColumn>(i, shape.width, shape.height);
      const auto d = walks::spot<walks::Walk::kDiagonal>(i, shape.width, shape.height);
      columns.insert({c.column, c.row});
      diagonals.insert({d.column, d.row});
    }
    INFO(shape.text());
    CHECK(columns.size() == shape.pixels());
    CHECK(diagonals.size() == shape.pixels());
    const Case c(shape, 30, index_valued(shape));
    for (const auto& version : walks::kVersions) {
      const auto expected = walks::expected(version.name, c.pixels, shape.width, shape.height);
      poison(c.rotation);
      INFO(version.name << ", " << shape.text());
      CHECK_FALSE(walks::check(version.name, c.rotation, expected));
      version.launch(c.rotation);
      CUDA_CHECK_LAUNCH();
      CHECK(walks::check(version.name, c.rotation, expected));
    }
  }
}

TEST_CASE("a walk by a diagonal goes one to the right and one down, and on at the left") {
  const std::vector<float> pixels = {0, 1, 2, 3, 4, 5};  // two rows of three
  CHECK(walks::expected("row_plain", pixels, 3, 2) == pixels);
  CHECK(walks::expected("column_plain", pixels, 3, 2) == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK(walks::expected("diagonal_plain", pixels, 3, 2) == std::vector<float>{0, 4, 1, 5, 2, 3});
}

TEST_CASE("the sweep turns by each of its angles") {
  const Shape shape = {61, 47};
  Case c(shape, 0);
  for (std::size_t degrees = 0; degrees <= 90; degrees += angles::kStep) {
    c.rotation.turn = turn_by(degrees, shape.width, shape.height);
    const Turned turned = turned_on_host(c.pixels, c.rotation.turn);
    for (const auto& version : angles::kVersions) {
      poison(c.rotation);
      version.launch(c.rotation);
      CUDA_CHECK_LAUNCH();
      INFO(version.name << ", " << degrees << " degrees");
      CHECK(check(angles::row_name(version.name, degrees), c.rotation, turned));
    }
  }
  CHECK(angles::row_name("plain", 30) == "plain@30");
}

TEST_CASE("what is needed of the image is counted: all of it without a turn, less with one") {
  const Case straight({40, 30}, 0), turned({40, 30}, 30);
  CHECK(straight.turned.inside == 40 * 30);
  CHECK(bytes_moved(straight.turned) == 2.0 * 40 * 30 * 4);
  CHECK(turned.turned.inside < 40 * 30);
  CHECK(turned.turned.inside > 40 * 30 / 2);
}

TEST_CASE("in every mode the unit returns what comes out by hand, inside and outside") {
  std::vector<float> places;
  for (int quarter = -40; quarter <= 60; ++quarter) places.push_back(0.25f * quarter);
  for (const auto& mode : modes::kModes) {
    const std::vector<float> values = modes::by_unit(modes::kTexels, places, mode);
    for (std::size_t i = 0; i < places.size(); ++i) {
      INFO(mode.name << " at " << places[i]);
      const auto place = static_cast<double>(places[i]);
      CHECK(static_cast<double>(values[i]) == modes::by_hand(modes::kTexels, place, mode));
    }
  }
}

TEST_CASE("by hand the four modes are what the guide says of them") {
  const auto& texels = modes::kTexels;
  const auto at = [&](std::size_t mode, double place) {
    return modes::by_hand(texels, place, modes::kModes[mode]);
  };
  CHECK(at(0, -7) == 10);
  CHECK(at(0, 17) == 40);
  CHECK(at(1, -0.5) == 0);
  CHECK(at(1, 4) == 0);
  CHECK(at(1, 3.9) == 40);
  CHECK(at(2, 4.5) == 10);
  CHECK(at(2, -0.5) == 40);
  CHECK(at(3, -0.5) == 10);
  CHECK(at(3, 4.5) == 40);
  CHECK(at(3, 7.5) == 10);
  CHECK(at(4, 1) == 15);
  CHECK(at(5, 0) == 5);
  CHECK(at(6, 0) == 25);
  CHECK(at(7, 0) == 10);
  CHECK(at(8, 4.5) == 40);
}

TEST_CASE("integers are read as floats up to 1, and down to -1") {
  const auto nearest = modes::kModes[0];
  const std::vector<float> first = {0.5f};
  for (int texel = 0; texel <= 255; ++texel) {
    const auto byte = static_cast<unsigned char>(texel);
    CHECK(modes::by_unit(std::vector<unsigned char>{byte}, first, nearest)[0] ==
          modes::normalized(byte));
    if (small_sizes() && texel > 5) break;
  }
  CHECK(modes::normalized<unsigned char>(255) == 1);
  CHECK(modes::normalized<signed char>(-128) == -1);
  CHECK(modes::normalized<signed char>(-127) == -1);
  CHECK(modes::normalized<unsigned short>(65535) == 1);
  CHECK(modes::normalized<unsigned char>(51) == 0.2f);
  CHECK(modes::normalized(2.5f) == 2.5f);
}

TEST_CASE("the unit's weights are 256ths, the exact ones rounded") {
  const weights::LineSummary line = weights::summary_of(weights::weights_on_line());
  CHECK(line.different == 257);
  CHECK(line.rounded == weights::kLineSteps + 1);
  CHECK(line.largest_error == 0.5);
}

TEST_CASE("a line of exact weights, or one that is cut off, is not taken for the unit's") {
  std::vector<float> exact, cut;
  for (unsigned k = 0; k <= weights::kLineSteps; ++k) {
    exact.push_back(static_cast<float>(k) / weights::kLineSteps);
    cut.push_back(static_cast<float>(k / 16) / 256);
  }
  CHECK(weights::summary_of(exact).different == weights::kLineSteps + 1);
  CHECK(weights::summary_of(exact).largest_error == 0);
  CHECK(weights::summary_of(exact).rounded == 257);
  CHECK(weights::summary_of(cut).largest_error > 0.9);
}

TEST_CASE("the picture of the weights' error is small, and is not nothing") {
  const double error = weights::largest_error(weights::picture());
  CHECK(error < 1.0 / 256);
  CHECK(error > 1.0 / 1024);
}

TEST_CASE("what a kernel writes is seen by loads at once, by a texture in the next launch") {
  if (races_are_looked_for()) return;  // the fetch in the same launch is one
  const written::Found found = written::look(3);
  CHECK(found.loaded.new_values == written::kElements);
  CHECK(found.loaded.old_values == 0);
  CHECK(found.fetched.known() == written::kElements);
  CHECK(found.next_launch.new_values == written::kElements);
  CHECK(found.next_launch.old_values == 0);
  CHECK(found.ok());
}

TEST_CASE("a value that is neither old nor new is noticed") {
  const std::vector<int> before = {1, 2, 3, 4};
  const std::vector<int> after = {2, 1 + written::kNew, 7, 3};
  const written::Ages ages = written::ages_of(after, before, 1);
  CHECK(ages.old_values == 2);
  CHECK(ages.new_values == 1);
  CHECK(ages.known() == 3);
}
