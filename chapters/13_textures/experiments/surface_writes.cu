// SPDX-License-Identifier: MIT
// What does it cost to write a cudaArray?

#include "../../../common/common.cuh"
#include "turning.cuh"

// A kernel cannot store into a cudaArray by an address: nobody says how it is laid out. A surface
// object can. Its first coordinate counts bytes.
__global__ void rotate_to_surface(cudaTextureObject_t image, Turn turn,
                                  cudaSurfaceObject_t result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= turn.width || y >= turn.height) return;
  const float2 from = turn.source(x, y);
  surf2Dwrite(tex2D<float>(image, from.x, from.y), result, static_cast<int>(x * sizeof(float)),
              static_cast<int>(y));
}

// The image in one cudaArray, with a texture over it; the result in another, with a surface.
struct Rotation : TurnedImage {
  Rotation(const std::vector<float>& pixels, unsigned columns, unsigned rows)
      : TurnedImage(pixels, columns, rows) {
    const cudaChannelFormatDesc one_float = cudaCreateChannelDesc<float>();
    CUDA_CHECK(cudaMallocArray(&array, &one_float, width, height, cudaArraySurfaceLoadStore));
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypeArray;
    memory.res.array.array = array;
    CUDA_CHECK(cudaCreateSurfaceObject(&surface, &memory));
  }
  ~Rotation() {
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
  }

  // The result is copied to the array before a launch, and from it afterwards.
  void poison() const {
    result.poison();
    CUDA_CHECK(cudaMemcpy2DToArray(array, 0, 0, result, row_bytes, row_bytes, height,
                                   cudaMemcpyDeviceToDevice));
  }
  bool is_right(const std::string& name) const {
    CUDA_CHECK(cudaMemcpy2DFromArray(result, row_bytes, array, 0, 0, row_bytes, height,
                                     cudaMemcpyDeviceToDevice));
    return MovedImage::is_right(name);
  }

  ArrayTexture image{pixels, width, height, nearest_or_zero()};
  std::size_t row_bytes = width * sizeof(float);
  cudaArray_t array = nullptr;
  cudaSurfaceObject_t surface = 0;
};

const Version<Rotation> kArrayToArray = {
    "array_to_array", "nearest_array, written through a surface", [](const Rotation& r) {
      rotate_to_surface<<<r.grid(k32x1), k32x1>>>(r.image.object, r.turn, r.surface);
    }};

int main(int argc, char** argv) {
  std::size_t width = kOnGpu ? 8192 : 203, height = kOnGpu ? 8192 : 149, angle = 30;
  const Options opt(argc, argv, "13_surface_writes", "what does it cost to write a cudaArray?",
                    {{"width", &width, 1, 8192, "pixels in a row of the image"},
                     {"height", &height, 1, 8192, "rows of the image"},
                     {"angle", &angle, 0, 360, "degrees to turn it by"}});
  const std::size_t bytes = 2 * width * height * sizeof(float);  // the image and the result
  ResultTable table(opt, bytes, bytes);
  table.rate_in("GB/s", "copy", measured_copy_gbps(bytes));
  Rotation r(random_floats(width * height, 0, 1, opt.seed), width, height);
  r.turn_by(angle);
  table.each_launch_does(r.amount());
  table.add(kArrayToArray, r);
  return table.finish();
}
