// SPDX-License-Identifier: MIT
// Chapter 13: what does the texture unit still buy?
// An image is turned by an angle.
//
// nearest_plain     the nearest pixel by a plain load; a warp covers 32 x 1 pixels of the result
// nearest_squarish  the same kernel; a warp covers 8 x 4 pixels
// nearest_ldg, nearest_fetch         the same memory through __ldg, and a texture's tex1Dfetch
// nearest_pitched, nearest_array     tex2D, over rows with a pitch and over a cudaArray
// bilinear_plain, bilinear_squarish  four pixels mixed by hand
// bilinear_pitched, bilinear_array   four pixels mixed by the texture unit
// four_...                           the same with four pixels per thread
// Run: make run CH=13

#include "../../common/common.cuh"

constexpr int kParts = 512;             // cosine and sine are multiples of 1 / kParts
constexpr std::size_t kMaxSide = 8192;  // so that every coordinate is exact in a float, see Turn
constexpr unsigned kPixels = 4;         // per thread, blockDim.y rows apart, from four_plain on

// A turn around the middle of the image. Half sides and the centres of pixels are multiples of 1/2,
// cosine and sine of 1/512: every coordinate is a multiple of 1/1024 below 2^14, which fits the 24
// bits of a float. Nothing rounds, so the nearest pixel is the same one whoever computes it.
struct Turn {
  unsigned width, height;
  float cosine, sine;
  // Where the centre of pixel (x, y) of the result lies in the image, in pixels from the upper left
  // corner. The first pixel reaches from 0 to 1.
  __device__ float2 source(unsigned x, unsigned y) const {
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
  const float2 from = turn.source(x, y);
  const int column = static_cast<int>(floorf(from.x)), row = static_cast<int>(floorf(from.y));
  result[turn.index(x, y)] = turn.has(column, row) ? image[turn.index(column, row)] : 0.0f;
}

// The same through the read-only path. The compiler takes it by itself where it can prove that the
// kernel does not write what it reads (const and __restrict__).
__global__ void rotate_ldg(const float* image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= turn.width || y >= turn.height) return;
  const float2 from = turn.source(x, y);
  const int column = static_cast<int>(floorf(from.x)), row = static_cast<int>(floorf(from.y));
  result[turn.index(x, y)] = turn.has(column, row) ? __ldg(&image[turn.index(column, row)]) : 0.0f;
}

// A texture over the same memory: the unit is given an index and returns an element, no more.
__global__ void rotate_fetch(cudaTextureObject_t pixels, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= turn.width || y >= turn.height) return;
  const float2 from = turn.source(x, y);
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
  const float2 from = turn.source(x, y);
  result[turn.index(x, y)] = tex2D<float>(image, from.x, from.y);
}

__device__ float pixel_or_zero(const float* image, const Turn& turn, int column, int row) {
  return turn.has(column, row) ? image[turn.index(column, row)] : 0.0f;
}

// What the unit does in its linear mode, by hand: the four pixels whose centres lie around the
// place, each weighted by how near it is. A centre lies half a pixel from the pixel's corner.
__device__ float mixed_at(const float* image, const Turn& turn, float2 from) {
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

// Four pixels per thread: their loads do not wait for each other, four are under way at once.
__global__ void rotate_plain_four(const float* image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = blockIdx.y * blockDim.y * kPixels + threadIdx.y;
  float pixels[kPixels];
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const float2 from = turn.source(x, first + k * blockDim.y);
    const int column = static_cast<int>(floorf(from.x)), row = static_cast<int>(floorf(from.y));
    pixels[k] = turn.has(column, row) ? image[turn.index(column, row)] : 0.0f;
  }
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const unsigned y = first + k * blockDim.y;
    if (x < turn.width && y < turn.height) result[turn.index(x, y)] = pixels[k];
  }
}

__global__ void rotate_texture_four(cudaTextureObject_t image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = blockIdx.y * blockDim.y * kPixels + threadIdx.y;
  float pixels[kPixels];
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const float2 from = turn.source(x, first + k * blockDim.y);
    pixels[k] = tex2D<float>(image, from.x, from.y);
  }
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const unsigned y = first + k * blockDim.y;
    if (x < turn.width && y < turn.height) result[turn.index(x, y)] = pixels[k];
  }
}

__global__ void rotate_mixing_four(const float* image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = blockIdx.y * blockDim.y * kPixels + threadIdx.y;
  float pixels[kPixels];
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    pixels[k] = mixed_at(image, turn, turn.source(x, first + k * blockDim.y));
  }
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const unsigned y = first + k * blockDim.y;
    if (x < turn.width && y < turn.height) result[turn.index(x, y)] = pixels[k];
  }
}

// The turn by so many degrees, its cosine and sine rounded to the steps that Turn asks for.
Turn turn_by(std::size_t degrees, unsigned width, unsigned height) {
  const double angle = static_cast<double>(degrees) * std::acos(-1.0) / 180;
  const auto rounded = [](double v) { return static_cast<float>(std::round(v * kParts) / kParts); };
  return {width, height, rounded(std::cos(angle)), rounded(std::sin(angle))};
}

// ---- what must come out ------------------------------------------------------------------------

// Pixels side by side: p q above r s.
struct Four {
  double p, q, r, s;
};

// A value among their centres. `right` is the weight of q and s together, `down` that of r and s,
// `both` that of s alone.
__host__ __device__ double weighted(const Four& four, double right, double down, double both) {
  return (1 - right - down + both) * four.p + (right - both) * four.q + (down - both) * four.r +
         both * four.s;
}

// How the unit of an H200 does it: it rounds both weights to 256ths, and then their product. The
// weights of the four follow, so that they add up to 1.
__host__ __device__ double weighted_by_unit(const Four& four, double right, double down) {
  const auto in_256ths = [](double weight) { return floor(256 * weight + 0.5) / 256; };
  const double a = in_256ths(right), b = in_256ths(down);
  return weighted(four, a, b, in_256ths(a * b));
}

// The reference: by the nearest pixel, by four mixed, and by the unit's weights. Coordinates are
// whole numbers here, of 1/1024 pixel. (The tests compare it with one on the host.)
__global__ void expect(const float* image, Turn turn, float* nearest, float* mixed,
                       float* by_unit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int width = turn.width, height = turn.height;
  if (x >= width || y >= height) return;
  const int cosine = lrintf(kParts * turn.cosine), sine = lrintf(kParts * turn.sine);
  const int right = 2 * x + 1 - width, down = 2 * y + 1 - height;  // twice the way from the middle
  const int from_x = cosine * right + sine * down + kParts * width;
  const int from_y = cosine * down - sine * right + kParts * height;
  const auto pixel = [=](int column, int row) {
    const bool inside = column >= 0 && column < width && row >= 0 && row < height;
    return inside ? image[row * width + column] : 0.0f;
  };
  nearest[y * width + x] = pixel(from_x >> 10, from_y >> 10);
  // Half a pixel to the left and above lies the corner of the pixel whose centre comes first.
  const int left = from_x - kParts, top = from_y - kParts, column = left >> 10, row = top >> 10;
  const double a = (left & 1023) / 1024.0, b = (top & 1023) / 1024.0;
  const Four four = {pixel(column, row), pixel(column + 1, row), pixel(column, row + 1),
                     pixel(column + 1, row + 1)};
  mixed[y * width + x] = static_cast<float>(weighted(four, a, b, a * b));
  by_unit[y * width + x] = static_cast<float>(weighted_by_unit(four, a, b));
}

// Pixels lie between 0 and 1, and so do all sums on the way to a mixed one. At most six operations
// round on that way, the reference rounds once, each by at most 2^-25.
constexpr double kRounding = 7 * 0x1p-25;

constexpr unsigned kThreads = 256;  // of a block

// The image in three kinds of memory, textures over them, and what must come out.
struct Rotation {
  Rotation(const std::vector<float>& pixels, const Turn& by) : turn(by), plain(pixels) {
    // The rules of reading.
    cudaTextureDesc point = {};
    point.addressMode[0] = point.addressMode[1] = cudaAddressModeBorder;  // 0 outside of the image
    point.filterMode = cudaFilterModePoint;                               // the nearest texel
    point.readMode = cudaReadModeElementType;  // floats are returned as they are
    point.normalizedCoords = 0;                // coordinates count pixels
    cudaTextureDesc linear = point;
    linear.filterMode = cudaFilterModeLinear;  // four texels mixed

    const cudaChannelFormatDesc one_float = cudaCreateChannelDesc<float>();
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypeLinear;  // the image as it is, row after row
    memory.res.linear = {plain, one_float, plain.bytes()};
    CUDA_CHECK(cudaCreateTextureObject(&fetch, &memory, &point, nullptr));

    const std::size_t row_bytes = turn.width * sizeof(float);
    std::size_t pitch = 0;  // bytes from one row to the next
    CUDA_CHECK(cudaMallocPitch(&pitched, &pitch, row_bytes, turn.height));  // pitch >= row_bytes
    CUDA_CHECK(cudaMemcpy2D(pitched, pitch, pixels.data(), row_bytes, row_bytes, turn.height,
                            cudaMemcpyHostToDevice));
    memory.resType = cudaResourceTypePitch2D;
    memory.res.pitch2D = {pitched, one_float, turn.width, turn.height, pitch};
    CUDA_CHECK(cudaCreateTextureObject(&rows_nearest, &memory, &point, nullptr));
    CUDA_CHECK(cudaCreateTextureObject(&rows_linear, &memory, &linear, nullptr));

    CUDA_CHECK(cudaMallocArray(&array, &one_float, turn.width, turn.height));
    CUDA_CHECK(cudaMemcpy2DToArray(array, 0, 0, pixels.data(), row_bytes, row_bytes, turn.height,
                                   cudaMemcpyHostToDevice));
    memory.resType = cudaResourceTypeArray;  // its layout is the driver's secret
    memory.res.array.array = array;
    CUDA_CHECK(cudaCreateTextureObject(&array_nearest, &memory, &point, nullptr));
    CUDA_CHECK(cudaCreateTextureObject(&array_linear, &memory, &linear, nullptr));

    const dim3 block(32, kThreads / 32);
    expect<<<grid(block), block>>>(plain, turn, nearest, mixed, by_unit);
    CUDA_CHECK_LAUNCH();
  }
  ~Rotation() {  // an object does not keep its memory alive: it goes first
    for (const auto t : {fetch, rows_nearest, rows_linear, array_nearest, array_linear})
      cudaDestroyTextureObject(t);
    cudaFree(pitched);
    cudaFreeArray(array);
  }
  // Bytes of the result, and of the pixels that it needs: it is 0 where it needs none.
  double amount() const {
    const std::vector<float> pixels = nearest.download();
    return 2.0 * result.bytes() - sizeof(float) * std::count(pixels.begin(), pixels.end(), 0.0f);
  }
  void poison() const { result.poison(); }
  bool is_right(const std::string& name) const { return matches(name, nearest, 0); }
  bool is_mixed(const std::string& name) const { return matches(name, mixed, kRounding); }
  bool is_mixed_by_unit(const std::string& name) const { return matches(name, by_unit, kRounding); }
  bool matches(const std::string& name, const DeviceArray<float>& pixels, double error) const {
    return all_close(name, result.download(), pixels.download(),
                     [&](std::size_t) { return error; });
  }
  // Blocks that cover the result, with so many pixels per thread.
  dim3 grid(dim3 block, unsigned pixels = 1) const {
    return dim3(blocks_for(turn.width, block.x), blocks_for(turn.height, block.y * pixels));
  }

  Turn turn;
  DeviceArray<float> plain, result{plain.size()};
  DeviceArray<float> nearest{plain.size()}, mixed{plain.size()}, by_unit{plain.size()};
  void* pitched = nullptr;
  cudaArray_t array = nullptr;
  cudaTextureObject_t fetch, rows_nearest, rows_linear, array_nearest, array_linear;
};

// Turns one of the image's homes. A block is kWide threads wide: with 32 a warp has 32 x 1 pixels,
// with 8 it has 8 x 4.
template <auto kKernel, auto kImage, unsigned kWide = 32, unsigned kPixelsEach = 1>
void launch(const Rotation& r) {
  const dim3 block(kWide, kThreads / kWide);
  kKernel<<<r.grid(block, kPixelsEach), block>>>(r.*kImage, r.turn, r.result);
}

const Version<Rotation> kVersions[] = {
    {"nearest_plain", "the nearest pixel by a plain load", launch<rotate_plain, &Rotation::plain>},
    {"nearest_squarish", "the same kernel, 8 x 4 pixels per warp",
     launch<rotate_plain, &Rotation::plain, 8>},
    {"nearest_ldg", "through the read-only path", launch<rotate_ldg, &Rotation::plain>},
    {"nearest_fetch", "tex1Dfetch from the same memory", launch<rotate_fetch, &Rotation::fetch>},
    {"nearest_pitched", "tex2D from rows with a pitch",
     launch<rotate_texture, &Rotation::rows_nearest>},
    {"nearest_array", "tex2D from a cudaArray", launch<rotate_texture, &Rotation::array_nearest>},
    {"bilinear_plain", "four plain loads, mixed by hand", launch<rotate_mixing, &Rotation::plain>,
     &Rotation::is_mixed},
    {"bilinear_squarish", "the same kernel, 8 x 4 pixels per warp",
     launch<rotate_mixing, &Rotation::plain, 8>, &Rotation::is_mixed},
    {"bilinear_pitched", "mixed by the unit, rows with a pitch",
     launch<rotate_texture, &Rotation::rows_linear>, &Rotation::is_mixed_by_unit},
    {"bilinear_array", "mixed by the unit, a cudaArray",
     launch<rotate_texture, &Rotation::array_linear>, &Rotation::is_mixed_by_unit},
    {"four_plain", "nearest_plain, four pixels per thread",
     launch<rotate_plain_four, &Rotation::plain, 32, kPixels>},
    {"four_squarish", "nearest_squarish, four pixels per thread",
     launch<rotate_plain_four, &Rotation::plain, 8, kPixels>},
    {"four_array", "nearest_array, four pixels per thread, 8 x 4 per warp",
     launch<rotate_texture_four, &Rotation::array_nearest, 8, kPixels>},
    {"four_bilinear_plain", "bilinear_plain, four pixels per thread",
     launch<rotate_mixing_four, &Rotation::plain, 32, kPixels>, &Rotation::is_mixed},
    {"four_bilinear_squarish", "bilinear_squarish, four pixels per thread",
     launch<rotate_mixing_four, &Rotation::plain, 8, kPixels>, &Rotation::is_mixed},
    {"four_bilinear_array", "bilinear_array, four pixels per thread, 8 x 4 per warp",
     launch<rotate_texture_four, &Rotation::array_linear, 8, kPixels>, &Rotation::is_mixed_by_unit},
};

int main(int argc, char** argv) {
  std::size_t width = kOnGpu ? kMaxSide : 203, height = kOnGpu ? kMaxSide : 149, angle = 30;
  const Options opt(argc, argv, "13_textures", "what does the texture unit still buy?",
                    {{"width", &width, 1, kMaxSide, "pixels in a row of the image"},
                     {"height", &height, 1, kMaxSide, "rows of the image"},
                     {"angle", &angle, 0, 360, "degrees to turn it by"}});
  const std::size_t bytes = 2 * width * height * sizeof(float);  // the image and the result
  ResultTable table(opt, bytes, 5 * bytes / 2 + 512 * height);   // in all: seven images
  table.rate_in("GB/s", "copy", measured_copy_gbps(bytes));
  const Rotation r(random_floats(width * height, 0, 1, opt.seed), turn_by(angle, width, height));
  table.each_launch_does(r.amount());
  for (const auto& version : kVersions) table.add(version, r);
  return table.finish();
}
