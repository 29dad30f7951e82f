// SPDX-License-Identifier: MIT
// GROUP: kernels
#include "program.h"

// FEATURE: assertion: `assert` in device code ends the kernel
#include <cassert>

__global__ void show(int x) { assert(x == 1); }

int main() {
  show<<<1, 1>>>(1);
  wait();
  show<<<1, 1>>>(2);
  const cudaError_t code = cudaDeviceSynchronize();
  std::_Exit(answer(code == cudaErrorAssert));
}

// FEATURE: clocks: `clock64`, `__nanosleep`, `%globaltimer`
__global__ void show(int* out) {
  const long long begin = clock64();
  __nanosleep(1000);
  out[threadIdx.x] = clock64() > begin && clock() != 0;
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 1);
}

// FEATURE: cpp17: C++17 in device code
struct Pair {
  int first, second;
};
template <class T>
__device__ int size_of() {
  if constexpr (sizeof(T) == 8) {
    return 8;
  } else {
    return 4;
  }
}
__global__ void show(int* out) {
  auto [a, b] = Pair{int(threadIdx.x), 2};
  if (const int sum = a + b; sum > 0) out[threadIdx.x] = sum + size_of<double>();
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[3] == 13);
}

// FEATURE: device_heap: `malloc`, `new` and `delete` in device code
__global__ void show(int* out) {
  int* const one = new int(threadIdx.x);
  int* const two = static_cast<int*>(malloc(4 * sizeof(int)));
  two[3] = *one + 1;
  out[threadIdx.x] = two[3];
  delete one;
  free(two);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[8] == 9);
}

// FEATURE: device_heap_limit: `malloc` in device code gives what cudaLimitMallocHeapSize allows
__global__ void take(int* out) {
  void* const block = malloc(1 << 20);
  if (block != nullptr) atomicAdd(out, 1);
}

int main() {
  int* out = numbers();
  MUST(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20));
  take<<<1, 32>>>(out);
  wait();
  return answer(0 < *out && *out < 32);
}

// FEATURE: device_printf: `printf` in device code
__global__ void show(int* out) {
  if (threadIdx.x == 3) out[0] = printf("%d %.1f %s\n", 3, 1.5, "three");
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 3);
}

// FEATURE: function_pointers: pointers to device functions
__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
__device__ int (*const functions[])(int) = {twice, square};
__global__ void show(int* out) { out[threadIdx.x] = functions[threadIdx.x % 2](threadIdx.x); }

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[4] == 8 && out[5] == 25);
}

// FEATURE: inline_ptx: inline PTX
__global__ void show(int* out) {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  out[threadIdx.x] = lane;
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[17] == 17);
}

// FEATURE: recursion: recursion in device code
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void show(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[11] == 89);
}

// FEATURE: restrict: `__restrict__` and `__ldg`
__global__ void show(int* __restrict__ out) {
  const int* const in = out + 32;
  out[threadIdx.x] = __ldg(in + threadIdx.x) + 1;
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[9] == 1);
}

// FEATURE: trap: `__trap` ends the kernel
__global__ void show(int x) {
  if (x == 2) __trap();
}

int main() {
  show<<<1, 1>>>(1);
  wait();
  show<<<1, 1>>>(2);
  const cudaError_t code = cudaDeviceSynchronize();
  std::_Exit(answer(code != cudaSuccess));
}

// FEATURE: virtual_functions: virtual functions of objects made in the kernel
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
