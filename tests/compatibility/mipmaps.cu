// SPDX-License-Identifier: MIT
// FEATURE: textures and surfaces: mipmapped arrays
#include "program.h"

int main() {
  cudaMipmappedArray_t mipmaps;
  cudaArray_t level;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  MUST(cudaMallocMipmappedArray(&mipmaps, &format, make_cudaExtent(8, 8, 0), 3));
  MUST(cudaGetMipmappedArrayLevel(&level, mipmaps, 1));
  cudaExtent extent;
  MUST(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
  return answer(extent.width == 4 && extent.height == 4);
}
