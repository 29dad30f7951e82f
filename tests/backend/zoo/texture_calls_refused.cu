// SPDX-License-Identifier: MIT
// Texture objects over memory that a texture cannot lie over, and an array that is freed twice.
// EXPECT-STATUS: 0
// EXPECT: {file}:{offset}: error: cudaCreateTextureObject over memory that is not aligned
// EXPECT: it begins 4 bytes into its allocation; that must be a multiple of 512
// EXPECT: {file}:{pitch}: error: cudaCreateTextureObject with a pitch that is not aligned
// EXPECT: the pitch is 148 bytes; it must be a multiple of 32
// EXPECT: {file}:{filter}: error: linear filtering of a texture that returns integers
// EXPECT: {file}:{twice}: error: cudaFreeArray of an array that was freed
// EXPECT-STDOUT: refused 4

#include <cstdio>

int main() {
  float* d_x = nullptr;
  cudaMalloc(&d_x, 37 * 37 * sizeof(float));
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  int refused = 0;

  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = d_x + 1;
  linear.res.linear.desc = cudaCreateChannelDesc<float>();
  linear.res.linear.sizeInBytes = 64;
  refused += cudaCreateTextureObject(&texture, &linear, &description, nullptr) != 0;  // @offset

  cudaResourceDesc rows{};
  rows.resType = cudaResourceTypePitch2D;
  rows.res.pitch2D.devPtr = d_x;
  rows.res.pitch2D.desc = cudaCreateChannelDesc<int>();
  rows.res.pitch2D.width = rows.res.pitch2D.height = 37;
  rows.res.pitch2D.pitchInBytes = 37 * sizeof(float);
  refused += cudaCreateTextureObject(&texture, &rows, &description, nullptr) != 0;  // @pitch

  rows.res.pitch2D.pitchInBytes = 160;
  description.filterMode = cudaFilterModeLinear;
  refused += cudaCreateTextureObject(&texture, &rows, &description, nullptr) != 0;  // @filter

  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 32, 4);
  cudaFreeArray(array);
  refused += cudaFreeArray(array) != 0;  // @twice

  cudaGetLastError();
  cudaFree(d_x);
  std::printf("refused %d\n", refused);
}
