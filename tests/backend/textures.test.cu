// SPDX-License-Identifier: MIT
// Texture objects, CUDA arrays and surfaces of the CPU backend: what a fetch returns beside an
// H200's stored samples, and what the runtime refuses.
#include <cuda_runtime.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "../catch.hpp"
#include "handles.cuh"
#include "runtime/errors.h"
#include "stored_samples.h"
#include "texture_samples.cuh"

namespace {

using texture_samples::Mode;

constexpr int kWidth = 37, kHeight = 23;

std::vector<float> numbers(std::size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 100.0f);
  return v;
}

cudaChannelFormatDesc of_floats() { return cudaCreateChannelDesc<float>(); }

/// An array that holds 100, 101, ...
cudaArray_t array_of_numbers(std::size_t width, std::size_t height, unsigned flags = 0) {
  const cudaChannelFormatDesc format = of_floats();
  cudaArray_t array = nullptr;
  REQUIRE(cudaMallocArray(&array, &format, width, height, flags) == cudaSuccess);
  const std::size_t rows = std::max<std::size_t>(height, 1);
  const std::vector<float> texels = numbers(width * rows);
  REQUIRE(cudaMemcpy2DToArray(array, 0, 0, texels.data(), width * 4, width * 4, rows,
                              cudaMemcpyHostToDevice) == cudaSuccess);
  return array;
}

cudaResourceDesc over(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaResourceDesc over(float* memory, std::size_t bytes) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory, of_floats(), bytes};
  return resource;
}

cudaResourceDesc over(float* memory, std::size_t width, std::size_t height, std::size_t pitch) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {memory, of_floats(), width, height, pitch};
  return resource;
}

cudaTextureDesc clamped() {
  cudaTextureDesc texture{};
  for (cudaTextureAddressMode& mode : texture.addressMode) mode = cudaAddressModeClamp;
  return texture;
}

cudaError_t create(const cudaResourceDesc& resource, const cudaTextureDesc& description) {
  cudaTextureObject_t texture = 0;
  const cudaError_t error = cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  if (error == cudaSuccess) {
    REQUIRE(cudaDestroyTextureObject(texture) == cudaSuccess);
  }
  cudaGetLastError();
  return error;
}

cudaError_t taken(cudaError_t error) {
  cudaGetLastError();
  return error;
}

std::vector<float> contents(cudaArray_t array, std::size_t width, std::size_t rows) {
  std::vector<float> texels(width * rows);
  REQUIRE(cudaMemcpy2DFromArray(texels.data(), width * 4, array, 0, 0, width * 4, rows,
                                cudaMemcpyDeviceToHost) == cudaSuccess);
  return texels;
}

__global__ void gather_at(cudaTextureObject_t texture, float x, float y, float4* result) {
  *result = tex2Dgather<float4>(texture, x, y);
}

__global__ void read_at(cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode mode,
                        float* result) {
  *result = surf2Dread<float>(surface, x, y, mode);
}
__global__ void write_at(cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode mode) {
  surf2Dwrite(-7.0f, surface, x, y, mode);
}
__global__ void reverse_row(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar4 texel;
  surf1Dread(&texel, from, i * 4);
  surf1Dwrite(make_uchar4(texel.w, texel.z, texel.y, texel.x), to, (n - 1 - i) * 4);
}

}  // namespace

// FEATURE: textures and surfaces: texture objects over arrays and linear memory, filtered
TEST_CASE("every fetch returns what an H200 returns") {
  auto stored = stored_samples("tests/backend/texture_samples.csv");
  const std::vector<Mode> modes = texture_samples::stored_modes();
  REQUIRE(modes.size() > 300);
  for (const Mode& mode : modes) {
    const std::string name = texture_samples::name_of(mode);
    INFO(name);
    REQUIRE(stored.count(name) == 1);
    const std::string digest = texture_samples::digest(texture_samples::samples(mode));
    REQUIRE(digest.size() == stored[name].size());
    int wrong = 0;
    for (std::size_t i = 0; i < digest.size(); i += 4) {
      wrong += digest.compare(i, 4, stored[name], i, 4) != 0;
    }
    INFO("groups of 100 fetches");
    CHECK(wrong == 0);
  }
}

// FEATURE: textures and surfaces: `tex2Dgather`
TEST_CASE("a gather returns the four texels that linear filtering would use") {
  const cudaArray_t array = array_of_numbers(kWidth, kHeight, cudaArrayTextureGather);
  const cudaResourceDesc resource = over(array);
  const cudaTextureDesc description = clamped();
  cudaTextureObject_t texture = 0;
  REQUIRE(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaSuccess);
  float4* result = nullptr;
  REQUIRE(cudaMalloc(&result, sizeof(float4)) == cudaSuccess);
  const struct {
    float x, y;
    int texels[4];  // measured on an H200
  } cases[] = {{3.0f, 5.5f, {224, 225, 188, 187}},   {3.498f, 5.5f, {224, 225, 188, 187}},
               {3.499f, 5.5f, {225, 226, 189, 188}}, {0.0f, 5.5f, {222, 222, 185, 185}},
               {36.9f, 5.5f, {258, 258, 221, 221}},  {3.7f, 5.0f, {188, 189, 152, 151}},
               {3.7f, 22.9f, {817, 818, 818, 817}}};
  for (const auto& c : cases) {
    gather_at<<<1, 1>>>(texture, c.x, c.y, result);
    float4 got;
    REQUIRE(cudaMemcpy(&got, result, sizeof(got), cudaMemcpyDeviceToHost) == cudaSuccess);
    INFO("x " << c.x << ", y " << c.y);
    CHECK(got.x == static_cast<float>(c.texels[0] + 100));
    CHECK(got.y == static_cast<float>(c.texels[1] + 100));
    CHECK(got.z == static_cast<float>(c.texels[2] + 100));
    CHECK(got.w == static_cast<float>(c.texels[3] + 100));
  }
  REQUIRE(cudaDestroyTextureObject(texture) == cudaSuccess);
  REQUIRE(cudaFreeArray(array) == cudaSuccess);
  REQUIRE(cudaFree(result) == cudaSuccess);
}

TEST_CASE("an array tells its format, extent and flags") {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array = nullptr;
  REQUIRE(cudaMallocArray(&array, &format, 5, 3, cudaArraySurfaceLoadStore) == cudaSuccess);
  cudaChannelFormatDesc told{};
  cudaExtent extent{};
  unsigned flags = 0;
  REQUIRE(cudaArrayGetInfo(&told, &extent, &flags, array) == cudaSuccess);
  CHECK((told.x == 8 && told.y == 8 && told.z == 8 && told.w == 8));
  CHECK(told.f == cudaChannelFormatKindUnsigned);
  CHECK((extent.width == 5 && extent.height == 3 && extent.depth == 0));
  CHECK(flags == cudaArraySurfaceLoadStore);
  REQUIRE(cudaFreeArray(array) == cudaSuccess);
  CHECK(cudaFreeArray(array) != cudaSuccess);
  CHECK(explained("cudaFreeArray of an array that was freed"));
  CHECK(cudaFreeArray(nullptr) == cudaSuccess);
  CHECK(taken(cudaGetChannelDesc(&told, nullptr)) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("arrays of sizes and formats that do not exist are refused as on an H200") {
  cudaArray_t array = nullptr;
  cudaChannelFormatDesc format = of_floats();
  CHECK(taken(cudaMallocArray(&array, &format, 0, 3)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMallocArray(&array, &format, 131073)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMallocArray(&array, &format, 37, 65537)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMallocArray(nullptr, &format, 3, 3)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMallocArray(&array, nullptr, 3, 3)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMallocArray(&array, &format, 4, 4, cudaArrayLayered)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMalloc3DArray(&array, &format, make_cudaExtent(13, 0, 7))) ==
        cudaErrorInvalidValue);
  CHECK(taken(cudaMalloc3DArray(&array, &format, make_cudaExtent(13, 11, 7), cudaArrayLayered)) ==
        cudaErrorNotSupported);
  for (const int bits : {0, 24, 64, 8}) {
    format.x = bits;
    INFO(bits << "-bit floats");
    CHECK(taken(cudaMallocArray(&array, &format, 4, 4)) == cudaErrorInvalidChannelDescriptor);
  }
  for (const cudaChannelFormatDesc& wrong :
       {cudaCreateChannelDesc<float3>(), cudaCreateChannelDesc<double>(),
        cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat),
        cudaCreateChannelDesc(32, 16, 0, 0, cudaChannelFormatKindSigned),
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindNone)}) {
    CHECK(taken(cudaMallocArray(&array, &wrong, 4, 4)) == cudaErrorInvalidChannelDescriptor);
  }
}

TEST_CASE("copies move parts of arrays, and not more than there is") {
  const cudaArray_t a = array_of_numbers(kWidth, kHeight), b = array_of_numbers(kWidth, kHeight);
  std::vector<float> host(kWidth * kHeight, -1.0f);
  const std::size_t row = kWidth * 4;
  // A block of 2 columns and 3 rows, to column 4 of row 5.
  REQUIRE(cudaMemcpy2DToArray(a, 4 * 4, 5, host.data(), 8, 8, 3, cudaMemcpyHostToDevice) ==
          cudaSuccess);
  std::vector<float> expected = numbers(kWidth * kHeight);
  for (int y = 5; y < 8; ++y) {
    for (int x = 4; x < 6; ++x) expected[static_cast<std::size_t>(y * kWidth + x)] = -1;
  }
  CHECK(contents(a, kWidth, kHeight) == expected);
  REQUIRE(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, row, kHeight) == cudaSuccess);
  CHECK(contents(b, kWidth, kHeight) == expected);
  // Bytes that run on from row to row, from column 2 of row 2.
  std::vector<float> run(kWidth * 3);
  REQUIRE(cudaMemcpyFromArray(run.data(), b, 8, 2, row * 3, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(run ==
        std::vector<float>(expected.begin() + 2 * kWidth + 2, expected.begin() + 5 * kWidth + 2));
  REQUIRE(cudaMemcpyToArray(a, 8, 2, host.data(), row * 3, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(contents(a, kWidth, kHeight)[5 * kWidth + 1] == -1);

  const auto to = [&](std::size_t x, std::size_t y, std::size_t pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind) {
    return taken(cudaMemcpy2DToArray(a, x, y, host.data(), pitch, width, height, kind));
  };
  CHECK(to(4, 0, row, row, kHeight, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(to(0, 1, row, row, kHeight, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(to(0, 0, 100, row, 2, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  CHECK(to(0, 0, row, row, kHeight, cudaMemcpyDeviceToHost) == cudaErrorInvalidMemcpyDirection);
  CHECK(to(0, 0, row, row, kHeight, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
  CHECK(taken(cudaMemcpyToArray(a, 8, 2, host.data(), row * 21, cudaMemcpyHostToDevice)) ==
        cudaErrorInvalidValue);
  CHECK(taken(cudaMemcpy2DToArray(nullptr, 0, 0, host.data(), row, row, 1,
                                  cudaMemcpyHostToDevice)) == cudaErrorInvalidResourceHandle);
  REQUIRE(cudaFreeArray(a) == cudaSuccess);
  REQUIRE(cudaFreeArray(b) == cudaSuccess);
}

TEST_CASE("an asynchronous copy to an array is done when its stream is") {
  const cudaArray_t array = array_of_numbers(kWidth, kHeight);
  float* pinned = nullptr;
  const std::size_t row = kWidth * 4;
  REQUIRE(cudaMallocHost(&pinned, row * kHeight) == cudaSuccess);
  std::fill(pinned, pinned + kWidth * kHeight, 3.0f);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaMemcpy2DToArrayAsync(array, 0, 0, pinned, row, row, kHeight, cudaMemcpyHostToDevice,
                                   stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(contents(array, kWidth, kHeight) == std::vector<float>(kWidth * kHeight, 3.0f));
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
  REQUIRE(cudaFreeArray(array) == cudaSuccess);
}

TEST_CASE("texture objects are refused as on an H200") {
  float* memory = nullptr;
  std::size_t pitch = 0;
  REQUIRE(cudaMallocPitch(&memory, &pitch, kWidth * 4, kHeight) == cudaSuccess);
  CHECK(pitch == 512);
  CHECK(create(over(memory, 400), clamped()) == cudaSuccess);
  CHECK(create(over(memory, kWidth, kHeight, pitch), clamped()) == cudaSuccess);
  CHECK(create(over(nullptr, 400), clamped()) == cudaErrorInvalidValue);
  CHECK(create(over(memory + 64, 64), clamped()) == cudaErrorInvalidValue);  // 256 bytes in
  CHECK(explained("it begins 256 bytes into its allocation; that must be a multiple of 512"));
  CHECK(create(over(memory + 128, 64), clamped()) == cudaSuccess);  // 512
  CHECK(create(over(memory, kWidth, kHeight, 148), clamped()) == cudaErrorInvalidValue);
  CHECK(explained("the pitch is 148 bytes; it must be a multiple of 32"));
  CHECK(create(over(memory, kWidth, kHeight, 160), clamped()) == cudaSuccess);
  std::vector<float> host(16);
  CHECK(create(over(host.data(), 64), clamped()) == cudaErrorInvalidValue);

  cudaResourceDesc resource = over(memory, kWidth, kHeight, pitch);
  cudaTextureDesc description = clamped();
  description.readMode = cudaReadModeNormalizedFloat;
  CHECK(create(resource, description) == cudaErrorInvalidNormSetting);
  resource.res.pitch2D.desc = cudaCreateChannelDesc<int>();
  CHECK(create(resource, description) == cudaErrorInvalidNormSetting);
  description.filterMode = cudaFilterModeLinear;
  CHECK(create(resource, description) == cudaErrorInvalidFilterSetting);
  resource.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
  CHECK(create(resource, description) == cudaSuccess);
  description.readMode = cudaReadModeElementType;
  CHECK(create(resource, description) == cudaErrorInvalidFilterSetting);
  CHECK(explained("linear filtering of a texture that returns integers"));
  description = clamped();
  description.addressMode[0] = static_cast<cudaTextureAddressMode>(7);
  CHECK(create(resource, description) == cudaErrorInvalidValue);
  CHECK(create(over(nullptr), clamped()) == cudaErrorInvalidResourceHandle);
  REQUIRE(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("a texture object tells what it was made from") {
  const cudaArray_t array = array_of_numbers(kWidth, kHeight);
  const cudaResourceDesc resource = over(array);
  cudaTextureDesc description = clamped();
  description.normalizedCoords = 1;
  cudaTextureObject_t texture = 0;
  REQUIRE(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaSuccess);
  cudaResourceDesc told{};
  REQUIRE(cudaGetTextureObjectResourceDesc(&told, texture) == cudaSuccess);
  CHECK(told.res.array.array == array);
  cudaTextureDesc how{};
  REQUIRE(cudaGetTextureObjectTextureDesc(&how, texture) == cudaSuccess);
  CHECK(how.normalizedCoords == 1);
  REQUIRE(cudaDestroyTextureObject(texture) == cudaSuccess);
  CHECK(cudaDestroyTextureObject(texture) == cudaSuccess);  // as on a GPU
  CHECK(taken(cudaGetTextureObjectResourceDesc(&told, texture)) == cudaErrorInvalidValue);
  CHECK(taken(cudaGetTextureObjectTextureDesc(&how, 0)) == cudaErrorInvalidValue);
  REQUIRE(cudaFreeArray(array) == cudaSuccess);
}

// FEATURE: textures and surfaces: surface objects
TEST_CASE("surfaces read 0 and write nothing outside, or use the nearest element") {
  float* result = nullptr;
  REQUIRE(cudaMalloc(&result, sizeof(float)) == cudaSuccess);
  const struct {
    int x, y, clamped_x, clamped_y;
  } cases[] = {{12, 1, 3, 1}, {148, 0, 36, 0}, {-4, 0, 0, 0}, {0, 23, 0, 22}, {1000000, -7, 36, 0}};
  for (const auto& c : cases) {
    for (const auto mode : {cudaBoundaryModeZero, cudaBoundaryModeClamp}) {
      INFO("x " << c.x << ", y " << c.y << ", mode " << mode);
      const cudaArray_t array = array_of_numbers(kWidth, kHeight, cudaArraySurfaceLoadStore);
      const cudaResourceDesc resource = over(array);
      cudaSurfaceObject_t surface = 0;
      REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
      const bool inside = c.x == 12;
      const auto at = static_cast<std::size_t>(c.clamped_y * kWidth + c.clamped_x);
      std::vector<float> expected = numbers(kWidth * kHeight);
      read_at<<<1, 1>>>(surface, c.x, c.y, mode, result);
      float got = -1;
      REQUIRE(cudaMemcpy(&got, result, sizeof(got), cudaMemcpyDeviceToHost) == cudaSuccess);
      CHECK(got == (inside || mode == cudaBoundaryModeClamp ? expected[at] : 0.0f));
      write_at<<<1, 1>>>(surface, c.x, c.y, mode);
      if (inside || mode == cudaBoundaryModeClamp) expected[at] = -7;
      CHECK(contents(array, kWidth, kHeight) == expected);
      REQUIRE(cudaDestroySurfaceObject(surface) == cudaSuccess);
      REQUIRE(cudaFreeArray(array) == cudaSuccess);
    }
  }
  REQUIRE(cudaFree(result) == cudaSuccess);
}

TEST_CASE("a kernel reads one surface and writes another") {
  constexpr int n = 33;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t arrays[2];
  cudaSurfaceObject_t surfaces[2];
  for (int i = 0; i < 2; ++i) {
    REQUIRE(cudaMallocArray(&arrays[i], &format, n, 0, cudaArraySurfaceLoadStore) == cudaSuccess);
    const cudaResourceDesc resource = over(arrays[i]);
    REQUIRE(cudaCreateSurfaceObject(&surfaces[i], &resource) == cudaSuccess);
  }
  std::vector<unsigned char> in(n * 4), out(n * 4);
  std::iota(in.begin(), in.end(), 0);
  REQUIRE(cudaMemcpy2DToArray(arrays[0], 0, 0, in.data(), n * 4, n * 4, 1,
                              cudaMemcpyHostToDevice) == cudaSuccess);
  reverse_row<<<2, 32>>>(surfaces[0], surfaces[1], n);
  REQUIRE(cudaMemcpy2DFromArray(out.data(), n * 4, arrays[1], 0, 0, n * 4, 1,
                                cudaMemcpyDeviceToHost) == cudaSuccess);
  std::reverse(in.begin(), in.end());
  CHECK(out == in);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(cudaDestroySurfaceObject(surfaces[i]) == cudaSuccess);
    REQUIRE(cudaFreeArray(arrays[i]) == cudaSuccess);
  }
}
