// SPDX-License-Identifier: MIT
// Chapter 13: what does the texture unit still buy?
// An image is turned by an angle.
//
// nearest_plain     the nearest pixel by a plain load; a warp covers 32 x 1 pixels of the result
// nearest_squarish  the same kernel; a warp covers 8 x 4 pixels
// nearest_ldg, nearest_fetch  the same memory through __ldg, and through a texture's tex1Dfetch
// nearest_pitched, nearest_array    tex2D, over rows with a pitch and over a cudaArray
// bilinear_plain, bilinear_squarish  four pixels mixed by hand
// bilinear_pitched, bilinear_array   four pixels mixed by the texture unit
// array_to_array    nearest_array, written through a surface into another cudaArray
// four_...          four pixels per thread: several_pixels.cuh
// Run: make run CH=13, with ARGS="--sweep angle" or "--show walks|modes|weights|written" for more

#include <vector>

#include "../../common/common.cuh"

constexpr int kParts = 512;             // cosine and sine are multiples of 1 / kParts
constexpr std::size_t kMaxSide = 8192;  // so that every coordinate is exact in a float, see Turn

struct Place {
  float x, y;  // in pixels from the upper left corner; the first pixel reaches from 0 to 1
};

// A turn around the middle of the image. Half sides and the centres of pixels are multiples of 1/2,
// cosine and sine of 1/512: every coordinate is a multiple of 1/1024 below 2^14, which fits the 24
// bits of a float. Nothing rounds, so the nearest pixel is the same one whoever computes it.
struct Turn {
  unsigned width, height;
  float cosine, sine;

  // Where the centre of pixel (x, y) of the result lies in the image.
  __device__ Place source(unsigned x, unsigned y) const {
    const float middle_x = 0.5f * width, middle_y = 0.5f * height;
    const float right = x + 0.5f - middle_x, down = y + 0.5f - middle_y;
    return {cosine * right + sine * down + middle_x, cosine * down - sine * right + middle_y};
  }
  __device__ bool has(int column, int row) const {
    return column >= 0 && row >= 0 && column < static_cast<int>(width) &&
           row < static_cast<int>(height);
  }
  __device__ std::size_t index(unsigned column, unsigned row) const {
    return static_cast<std::size_t>(row) * width + column;
  }
};

// A thread per pixel of the result. Outside of the image everything is 0.
__global__ void rotate_plain(const float* image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= turn.width || y >= turn.height) return;
  const Place from = turn.source(x, y);
  const int column = static_cast<int>(floorf(from.x)), row = static_cast<int>(floorf(from.y));
  result[turn.index(x, y)] = turn.has(column, row) ? image[turn.index(column, row)] : 0.0f;
}

// The same through the read-only path. The compiler takes it by itself where it can prove that the
// kernel does not write what it reads (const and __restrict__).
__global__ void rotate_ldg(const float* image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= turn.width || y >= turn.height) return;
  const Place from = turn.source(x, y);
  const int column = static_cast<int>(floorf(from.x)), row = static_cast<int>(floorf(from.y));
  result[turn.index(x, y)] = turn.has(column, row) ? __ldg(&image[turn.index(column, row)]) : 0.0f;
}

// A texture over the same memory: the unit is given an index and returns an element, no more.
__global__ void rotate_fetch(cudaTextureObject_t pixels, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= turn.width || y >= turn.height) return;
  const Place from = turn.source(x, y);
  const int column = static_cast<int>(floorf(from.x)), row = static_cast<int>(floorf(from.y));
  const int index = row * static_cast<int>(turn.width) + column;  // tex1Dfetch takes an int
  result[turn.index(x, y)] = turn.has(column, row) ? tex1Dfetch<float>(pixels, index) : 0.0f;
}

// A texture in two dimensions is given the coordinates as they are. Which pixel that is, what lies
// outside, whether one pixel is read or four are mixed: all that stands in the texture object.
__global__ void rotate_texture(cudaTextureObject_t image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= turn.width || y >= turn.height) return;
  const Place from = turn.source(x, y);
  result[turn.index(x, y)] = tex2D<float>(image, from.x, from.y);
}

__device__ float pixel_or_zero(const float* image, const Turn& turn, int column, int row) {
  return turn.has(column, row) ? image[turn.index(column, row)] : 0.0f;
}

// What the unit does in its linear mode, by hand: the four pixels whose centres lie around the
// place, each weighted by how near it is. A centre lies half a pixel from the pixel's corner.
__device__ float mixed_at(const float* image, const Turn& turn, Place from) {
  const float left = floorf(from.x - 0.5f), top = floorf(from.y - 0.5f);
  const float a = from.x - 0.5f - left, b = from.y - 0.5f - top;
  const int column = static_cast<int>(left), row = static_cast<int>(top);
  const float upper = (1 - a) * pixel_or_zero(image, turn, column, row) +
                      a * pixel_or_zero(image, turn, column + 1, row);
  const float lower = (1 - a) * pixel_or_zero(image, turn, column, row + 1) +
                      a * pixel_or_zero(image, turn, column + 1, row + 1);
  return (1 - b) * upper + b * lower;
}

__global__ void rotate_mixing(const float* image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= turn.width || y >= turn.height) return;
  result[turn.index(x, y)] = mixed_at(image, turn, turn.source(x, y));
}

// A kernel cannot store into a cudaArray by an address: nobody says how it is laid out. A surface
// object can. Its first coordinate counts bytes.
__global__ void rotate_to_surface(cudaTextureObject_t image, Turn turn,
                                  cudaSurfaceObject_t result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= turn.width || y >= turn.height) return;
  const Place from = turn.source(x, y);
  surf2Dwrite(tex2D<float>(image, from.x, from.y), result, static_cast<int>(x * sizeof(float)),
              static_cast<int>(y));
}

#include "image_homes.cuh"  // Rotation: the image in three kinds of memory, textures over them

// ---- the versions ------------------------------------------------------------------------------

const dim3 kFlat(32, 8), kSquarish(8, 32);  // threads of a block; a warp has 32 x 1 or 8 x 4

void launch_plain(const Rotation& r, dim3 block) {
  rotate_plain<<<r.grid(block), block>>>(r.plain.get(), r.turn, r.result.get());
}
void launch_mixing(const Rotation& r, dim3 block) {
  rotate_mixing<<<r.grid(block), block>>>(r.plain.get(), r.turn, r.result.get());
}
void launch_texture(const Rotation& r, const Texture& texture, dim3 block) {
  rotate_texture<<<r.grid(block), block>>>(texture.get(), r.turn, r.result.get());
}

const Version<Rotation> kVersions[] = {
    {"nearest_plain", "the nearest pixel by a plain load",
     [](const Rotation& r) { launch_plain(r, kFlat); }},
    {"nearest_squarish", "the same kernel, 8 x 4 pixels per warp",
     [](const Rotation& r) { launch_plain(r, kSquarish); }},
    {"nearest_ldg", "through the read-only path",
     [](const Rotation& r) {
       rotate_ldg<<<r.grid(kFlat), kFlat>>>(r.plain.get(), r.turn, r.result.get());
     }},
    {"nearest_fetch", "tex1Dfetch from the same memory",
     [](const Rotation& r) {
       rotate_fetch<<<r.grid(kFlat), kFlat>>>(r.fetch.get(), r.turn, r.result.get());
     }},
    {"nearest_pitched", "tex2D from rows with a pitch",
     [](const Rotation& r) { launch_texture(r, r.pitched_nearest, kFlat); }},
    {"nearest_array", "tex2D from a cudaArray",
     [](const Rotation& r) { launch_texture(r, r.array_nearest, kFlat); }},
    {"bilinear_plain", "four plain loads, mixed by hand",
     [](const Rotation& r) { launch_mixing(r, kFlat); }},
    {"bilinear_squarish", "the same kernel, 8 x 4 pixels per warp",
     [](const Rotation& r) { launch_mixing(r, kSquarish); }},
    {"bilinear_pitched", "mixed by the unit, rows with a pitch",
     [](const Rotation& r) { launch_texture(r, r.pitched_linear, kFlat); }},
    {"bilinear_array", "mixed by the unit, a cudaArray",
     [](const Rotation& r) { launch_texture(r, r.array_linear, kFlat); }},
    {"array_to_array", "nearest_array, written through a surface",
     [](const Rotation& r) {
       rotate_to_surface<<<r.grid(kFlat), kFlat>>>(r.array_nearest.get(), r.turn, r.surface.get());
     }},
};

#include "several_pixels.cuh"  // the rows at the top of the ladder

#include "reference.cuh"  // the same on the host, in whole numbers, and the check

#include "angles.cuh"   // --sweep angle
#include "modes.cuh"    // --show modes
#include "walks.cuh"    // --show walks
#include "weights.cuh"  // --show weights
#include "written.cuh"  // --show written

// Prints a row for each version. Returns the exit status of the program.
int run(ResultTable& table, const std::vector<float>& pixels, const Rotation& rotation) {
  const Turned turned = turned_on_host(pixels, rotation.turn);
  const auto add = [&](const auto& versions) {
    add_version_rows(
        table, versions, rotation, bytes_moved(turned), [&] { poison(rotation); },
        [&](const char* version) { return check(version, rotation, turned); });
  };
  add(kVersions);
  add(several_pixels::kVersions);
  return table.finish();
}

void name_rows(Options& opt, const std::string& sweep, const std::string& show) {
  if (!sweep.empty() && !show.empty()) opt.usage_error("--sweep " + sweep + ": not with --show");
  if (sweep == "angle") return angles::name_rows(opt);
  if (show == "walks") return opt.versions(walks::kVersions);
  if (show.empty()) return opt.versions(kVersions), opt.versions(several_pixels::kVersions);
  if (!opt.only.empty()) opt.usage_error("--show " + show + ": not with --only");
}

int main(int argc, char** argv) {
  Options opt("13_textures", "what does the texture unit still buy?");
  std::size_t width = kOnGpu ? kMaxSide : 203, height = kOnGpu ? kMaxSide : 149, angle = 30;
  std::string sweep, show, picture;
  opt.add("width", &width, 1, kMaxSide, "pixels in a row of the image");
  opt.add("height", &height, 1, kMaxSide, "rows of the image");
  opt.add("angle", &angle, 0, 360, "degrees to turn it by");
  opt.add("sweep", &sweep, {"angle"}, "turn by 0 to 90 degrees");
  opt.add("show", &show, {"walks", "modes", "weights", "written"}, "what else a texture does");
  opt.add_file("picture-csv", &picture, "where --show weights writes its picture");
  opt.parse(argc, argv, [&] { name_rows(opt, sweep, show); });
  const Device device = open_device(opt);
  CsvFile picture_csv;
  picture_csv.open(opt, "--picture-csv", picture);
  require_device_memory(opt, "--width, --height", bytes_needed(width, height));

  const std::size_t bytes = 2 * width * height * sizeof(float);  // the image and the result
  ResultTable table(opt, device, workload_text(width, height, angle, sweep, show), bytes);
  if (show == "modes") return modes::run(table);
  if (show == "weights") return weights::run(table, picture_csv);
  if (show == "written") return written::run(table);
  const std::vector<float> pixels = random_floats(width * height, 0, 1, opt.seed);
  Rotation rotation(pixels, turn_by(angle, width, height));
  if (kOnGpu) table.rate_in_gbps("copy", measure_yardstick(device, bytes).copy_gbps);
  if (show == "walks") return walks::run(table, pixels, rotation);
  if (sweep == "angle") return angles::run(table, pixels, rotation);
  return run(table, pixels, rotation);
}
