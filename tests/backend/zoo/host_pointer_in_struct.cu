// SPDX-License-Identifier: MIT
// A structure is copied to the device, but not what it points to. A table of rows on the heap, and
// a pointer variable that is set to a host variable, are the same mistake.
// EXPECT: {file}:{struct}: error: memory of the host reached through a pointer in device memory in kernel 'scale', block (0,0,0), thread (0,0,0)
// EXPECT: an address of the host
// EXPECT: copy what it points to as well
// EXPECT: {file}:{table}: error: memory of the host reached through a pointer in device memory in kernel 'sum_rows', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{symbol}: error: memory of the host reached through a pointer in device memory in kernel 'use_symbol', block (0,0,0), thread (0,0,0)
// EXPECT-STDOUT: cudaErrorIllegalAddress 3
#include <cstdio>
#include <vector>

struct Image {
  int width;
  float* pixels;
};

__device__ int* counter;
int host_counter = 1;

__global__ void scale(const Image* image) {
  image->pixels[threadIdx.x] *= 2;  // @struct
}
__global__ void sum_rows(float** rows, float* sum) {
  *sum = rows[0][1] + rows[1][1];  // @table
}
__global__ void use_symbol() {
  *counter = 2;  // @symbol
}

int found = 0;

void expect_error() {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaErrorIllegalAddress) ++found;
  cudaDeviceReset();
}

int main() {
  std::vector<float> pixels(64, 1.0f);
  const Image image{64, pixels.data()};
  Image* d_image;
  cudaMalloc(&d_image, sizeof(Image));
  cudaMemcpy(d_image, &image, sizeof(Image), cudaMemcpyHostToDevice);
  scale<<<1, 64>>>(d_image);
  expect_error();

  float row[2] = {};
  float* rows[2] = {row, pixels.data()};
  float **d_rows, *d_sum;
  cudaMalloc(&d_rows, sizeof(rows));
  cudaMalloc(&d_sum, sizeof(float));
  cudaMemcpy(d_rows, rows, sizeof(rows), cudaMemcpyHostToDevice);
  sum_rows<<<1, 1>>>(d_rows, d_sum);
  expect_error();

  int* const pointer = &host_counter;
  cudaMemcpyToSymbol(counter, &pointer, sizeof(pointer));
  use_symbol<<<1, 1>>>();
  expect_error();
  std::printf("%s %d\n", cudaGetErrorName(cudaErrorIllegalAddress), found);
  return 1;
}
