// SPDX-License-Identifier: MIT
// STARTER FAILS: every result is what the texture unit returns, from four loads
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

// What the unit itself returns.
__global__ void fetch(cudaTextureObject_t image, const float2* at, std::size_t n, float* result) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) result[i] = tex2D<float>(image, at[i].x, at[i].y);
}

namespace {

std::vector<float> fetched(const std::vector<float>& pixels, std::size_t width, std::size_t height,
                           const lab::Array<float2>& at) {
  cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  cudaResourceDesc image{};
  image.resType = cudaResourceTypeArray;
  CUDA_CHECK(cudaMallocArray(&image.res.array.array, &floats, width, height));
  CUDA_CHECK(cudaMemcpy2DToArray(image.res.array.array, 0, 0, pixels.data(), width * sizeof(float),
                                 width * sizeof(float), height, cudaMemcpyHostToDevice));
  cudaTextureDesc how{};
  how.filterMode = cudaFilterModeLinear;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CUDA_CHECK(cudaCreateTextureObject(&texture, &image, &how, nullptr));
  const lab::Array<float> result(at.size());
  const auto blocks = static_cast<unsigned>(std::max<std::size_t>(1, div_up(at.size(), 128)));
  fetch<<<blocks, 128>>>(texture, at.get(), at.size(), result.get());
  CUDA_CHECK_LAUNCH();
  std::vector<float> values = result.download();
  CUDA_CHECK(cudaDestroyTextureObject(texture));
  CUDA_CHECK(cudaFreeArray(image.res.array.array));
  return values;
}

// Positions in parts of 2048 of a pixel, inside and a little outside, some far outside. Every other
// one in parts of 512: in half of those the unit has to decide between two steps.
std::vector<float2> positions(std::size_t n, std::size_t width, std::size_t height) {
  const auto along = [n](std::size_t size, unsigned seed) {
    return random_ints(n, -3 * 2048, static_cast<int>(size + 3) * 2048, seed);
  };
  // A float has 24 bits: far out in parts of 128 only, of which all roundings are the same.
  const bool is_large = std::max(width, height) > 2048;
  const std::vector<int> x = along(width, 11), y = along(height, 12);
  std::vector<float2> at;
  for (std::size_t i = 0; i < n; ++i) {
    const int grid = is_large ? 16 : i % 2 == 0 ? 1 : 4;
    const int far = i % 16 > 1 ? 0 : i % 16 == 1 ? 900 * 2048 : -900 * 2048;
    at.push_back(make_float2(static_cast<float>((x[i] + far) / grid * grid) / 2048,
                             static_cast<float>((y[i] + far) / grid * grid) / 2048));
  }
  return at;
}

std::vector<float> pixels_of(std::size_t width, std::size_t height) {
  std::vector<float> pixels;
  for (const int p : random_ints(width * height, 0, 255, 5))
    pixels.push_back(static_cast<float>(p));
  return pixels;
}

// What each thread does, as far as it can be seen in some of the blocks.
template <class Seen>
void expect_own_pixels(const Seen& seen) {
  lab::at_most("bytes that one thread loads", seen.bytes_loaded_by_busiest_thread(),
               6 * sizeof(float), "its position, of two floats, and its four pixels");
  lab::at_most("bytes that one thread stores", seen.bytes_stored_by_busiest_thread(), sizeof(float),
               "its result");
  lab::at_most("shuffles and votes of one thread", seen.exchanges_of_busiest_thread, 2,
               "each thread loads its own four pixels");
}

}  // namespace

TEST_CASE("every result is what the texture unit returns, from four loads") {
  for (const std::size_t width : {37u, 1u, 8u, lab::drawn(40, 300)}) {
    const std::size_t height = width == 37  ? 23
                               : width == 8 ? lab::drawn(260, 400)
                                            : lab::drawn(1, 40);
    lab::Trials()
        .sizes({1000, 33, lab::drawn(1001, 4000), 1, 0, lab::drawn(66000, 68000)})
        .blocks({32, 96})
        .inputs({lab::Input::kRandom})
        .run([width, height](const lab::Trial& at) {
          const std::vector<float> pixels = pixels_of(width, height);
          const lab::Array<float2> places(positions(at.n, width, height));
          const std::vector<float> expected = fetched(pixels, width, height, places);

          const lab::Array<float> image(pixels), result(at.n);
          const auto blocks =
              static_cast<unsigned>(std::max<std::size_t>(1, div_up(at.n, at.block)));
          lab::count(
              [&] {
                bilinear<<<blocks, at.block>>>(image.get(), static_cast<int>(width),
                                               static_cast<int>(height), places.get(), at.n,
                                               result.get());
                CUDA_CHECK_LAUNCH();
              },
              [&] { lab::expect_equal("result", result.download(), expected); },
              [&](const auto& seen) {
                expect_own_pixels(seen);
                lab::at_most("lanes that load", seen.loads().lanes, 6 * at.n,
                             "each thread loads its position, of two floats, and four pixels");
                lab::at_most("requests of warps to load", seen.loads().requests,
                             6 * div_up(at.n, 32), "the lanes of a warp load together");
                lab::at_most("pixels that the busiest warp loads",
                             seen.loads_of_busiest_warp(sizeof(float)), 4 * 32 + 2 * 32,
                             "each thread has one result");
                lab::exactly("atomics", seen.atomics().requests, 0);
                lab::exactly("lanes that store a result", seen.stores().lanes, at.n);
                lab::exactly("requests to shared memory", seen.shared().requests, 0);
              });
        });
  }
}

TEST_CASE("an image of more than 2^15 columns, or rows, is right") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const std::size_t many = lab::drawn(33000, 40000), n = 4000;
    for (const bool is_wide : {true, false}) {
      const std::size_t width = is_wide ? many : 2, height = is_wide ? 2 : many;
      const std::vector<float> pixels = pixels_of(width, height);
      const lab::Array<float2> places(positions(n, width, height));
      const lab::Array<float> image(pixels), result(n);
      const std::vector<float> expected = fetched(pixels, width, height, places);
      lab::count(
          [&] {
            bilinear<<<static_cast<unsigned>(div_up(n, 128)), 128>>>(
                image.get(), static_cast<int>(width), static_cast<int>(height), places.get(), n,
                result.get());
            CUDA_CHECK_LAUNCH();
          },
          [&] {
            lab::expect_equal(
                "result of an image of " + std::to_string(width) + " x " + std::to_string(height),
                result.download(), expected);
          },
          [&](const auto& seen) { expect_own_pixels(seen); });
    }
  });
}
