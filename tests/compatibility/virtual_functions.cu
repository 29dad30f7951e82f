// SPDX-License-Identifier: MIT
// FEATURE: kernels: virtual functions of objects made in the kernel
#include "program.h"

struct Shape {
  __device__ virtual int corners() const = 0;
};
struct Triangle : Shape {
  __device__ int corners() const override { return 3; }
};
struct Square : Shape {
  __device__ int corners() const override { return 4; }
};
__global__ void show(int* out) {
  const Triangle triangle;
  const Square square;
  const Shape* const shape = threadIdx.x % 2 == 0 ? static_cast<const Shape*>(&triangle) : &square;
  out[threadIdx.x] = shape->corners();
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 3 && out[1] == 4);
}
