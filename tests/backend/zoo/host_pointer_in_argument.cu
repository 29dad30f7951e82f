// SPDX-License-Identifier: MIT
// Structures that are passed by value hold the host's pointers: a plain one, one inside another
// with an array, a class with a constructor, and one that cudaLaunchKernel passes.
// EXPECT: {file}:{plain}: error: memory of the host reached through a pointer in an argument in kernel 'scale', block (0,0,0), thread (0,0,0)
// EXPECT: the structure that is passed to the kernel holds
// EXPECT: copy what it points to as well
// EXPECT: {file}:{inner}: error: memory of the host reached through a pointer in an argument in kernel 'sum_rows', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{class}: error: memory of the host reached through a pointer in an argument in kernel 'use_view', block (0,0,0), thread (0,0,0)
// EXPECT-STDOUT: cudaErrorIllegalAddress 4
#include <cstdio>
#include <vector>

struct Image {
  int width;
  float* pixels;
};
struct Rows {
  Image first;
  double weights[2];
  const float* rows[2];
};
class View {
 public:
  View(float* data, int n) : data_(data), n_(n) {}
  __device__ float& operator[](int i) const { return data_[i < n_ ? i : 0]; }

 private:
  float* data_;
  int n_;
};

__global__ void scale(Image image) {
  image.pixels[threadIdx.x] *= 2;  // @plain
}
__global__ void sum_rows(const Rows all, float* sum) {
  *sum = all.first.pixels[0] + all.rows[1][1];  // @inner
}
__global__ void use_view(View view) {
  view[0] = 1;  // @class
}

int found = 0;

void expect_error() {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaErrorIllegalAddress) ++found;
  cudaDeviceReset();
}

int main() {
  std::vector<float> pixels(64, 1.0f);
  Image image{64, pixels.data()};
  scale<<<1, 64>>>(image);
  expect_error();

  float *d_pixels, *d_sum;
  cudaMalloc(&d_pixels, 64 * sizeof(float));
  cudaMalloc(&d_sum, sizeof(float));
  const float row[2] = {};
  const Rows rows{{64, d_pixels}, {1, 2}, {d_pixels, row}};
  sum_rows<<<1, 1>>>(rows, d_sum);
  expect_error();

  use_view<<<1, 1>>>(View(pixels.data(), 64));
  expect_error();

  void* arguments[] = {&image};
  cudaLaunchKernel(scale, dim3(1), dim3(64), arguments, 0, nullptr);
  expect_error();
  std::printf("%s %d\n", cudaGetErrorName(cudaErrorIllegalAddress), found);
  return 1;
}
