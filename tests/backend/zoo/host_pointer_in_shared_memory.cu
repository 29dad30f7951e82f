// SPDX-License-Identifier: MIT
// Managed and pinned memory have one address for both sides. What a pointer in them points to does
// not, if it is on the heap or the stack of the host.
// EXPECT: {file}:{managed}: error: memory of the host reached through a pointer in memory that both share in kernel 'scale', block (0,0,0), thread (0,0,0)
// EXPECT: an address that is the host's alone
// EXPECT: what it points to must be shared as well
// EXPECT: {file}:{pinned}: error: memory of the host reached through a pointer in memory that both share in kernel 'sum_rows', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{variable}: error: memory of the host reached through a pointer in memory that both share in kernel 'use_variable', block (0,0,0), thread (0,0,0)
// EXPECT-STDOUT: cudaErrorIllegalAddress 3, the host reads 7
#include <cstdio>
#include <vector>

struct Image {
  int width;
  float* pixels;
};

__managed__ int* counter;
int host_counter = 1;

__global__ void scale(const Image* image) {
  image->pixels[threadIdx.x] *= 2;  // @managed
}
__global__ void sum_rows(float** rows, float* sum) {
  *sum = rows[0][1];  // @pinned
}
__global__ void use_variable() {
  *counter = 2;  // @variable
}

int found = 0;

void expect_error() {
  if (cudaDeviceSynchronize() == cudaErrorIllegalAddress) ++found;
}

int main() {
  std::vector<float> pixels(64, 7.0f);
  Image* image;
  cudaMallocManaged(&image, sizeof(Image));
  *image = {64, pixels.data()};
  scale<<<1, 64>>>(image);
  expect_error();
  const int read = static_cast<int>(image->pixels[3]);  // the host may follow it
  cudaDeviceReset();

  float **rows, *sum;
  cudaMallocHost(&rows, sizeof(float*));
  cudaMallocHost(&sum, sizeof(float));
  rows[0] = pixels.data();
  sum_rows<<<1, 1>>>(rows, sum);
  expect_error();
  cudaDeviceReset();

  counter = &host_counter;
  use_variable<<<1, 1>>>();
  expect_error();
  std::printf("%s %d, the host reads %d\n", cudaGetErrorName(cudaErrorIllegalAddress), found, read);
  return 1;
}
