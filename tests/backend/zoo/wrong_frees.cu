// SPDX-License-Identifier: MIT
// Memory that is freed wrongly, twice, too early or not at all.
//
// CASE: wrong_free
// Each kind of memory has its own free.
// EXPECT-STATUS: 0
// EXPECT: {file}:{pinned}: error: cudaFree of memory that cudaMallocHost allocated
// EXPECT: help: free it with cudaFreeHost
// EXPECT: {file}:{device}: error: cudaFreeHost of memory that cudaMalloc allocated
// EXPECT: {file}:{heap}: error: cudaFree of memory that no CUDA call allocated
// EXPECT: {file}:{middle}: error: cudaFree of a pointer into the middle of an allocation
// EXPECT-STDOUT: cudaErrorInvalidValue x4, and it was asked for: 1
//
// CASE: wrong_free_registered
// Registered memory must be unregistered, and pinned memory freed. Here it is the other way round.
// EXPECT-STATUS: 0
// EXPECT: {file}:{registered}: error: cudaFreeHost of memory that cudaHostRegister allocated
// EXPECT: help: free it with cudaHostUnregister
// EXPECT-STDOUT: cudaFreeHost of registered memory: cudaErrorInvalidValue
// EXPECT-STDOUT: cudaHostUnregister of pinned memory: cudaErrorHostMemoryNotRegistered
// EXPECT-STDOUT: cudaHostUnregister twice: cudaErrorHostMemoryNotRegistered
//
// CASE: double_free
// Memory is freed twice and nobody looks at the second error: the run still ends with a failing
// status.
// EXPECT: {file}:{again}: error: double free with cudaFree
// EXPECT: {file}:{double_free_alloc}: note: allocated here by cudaMalloc
// EXPECT: {file}:{double_free_free}: note: freed here
//
// CASE: freed_by_a_copy
// The destructor of an object frees, and a kernel's parameter is a copy of it.
// EXPECT: {file}:{destructor}: error: double free with cudaFree
// EXPECT: help: in a destructor: each copy of the object frees what all of them name
//
// CASE: use_after_free
// The kernel still uses memory that was freed.
// EXPECT: {file}:{read}: error: use after free (read) in kernel 'read_first'
// EXPECT: block (0,0,0), thread (0,0,0)
// EXPECT: the address is byte 0 of freed device memory (256 elements of 4 bytes)
// EXPECT: {file}:{use_after_free_alloc}: note: allocated here by cudaMalloc
// EXPECT: {file}:{use_after_free_free}: note: freed here
//
// CASE: kernel_prints_freed_string
// A kernel's printf reads a freed string. The library holds its lock then: the process ends here.
// EXPECT: {file}:{print}: error: use after free (read) in kernel 'greet'
// EXPECT: {file}:{kernel_prints_freed_string_free}: note: freed here
//
// CASE: memory_not_freed
// The program ends well and leaves memory behind: one line says how much, and where most of it is
// from.
// EXPECT-STATUS: 0
// EXPECT: {file}:{large}: note: device memory not freed when the program ended: 2 allocations, 4400 bytes; the largest was allocated here

#include <cstdio>
#include <vector>

#include "../../../common/check.cuh"
#include "cases.cuh"

CASE(wrong_free) {
  float *pinned, *device;
  std::vector<float> heap(16);
  CUDA_CHECK(cudaMallocHost(&pinned, 64));
  CUDA_CHECK(cudaMalloc(&device, 64));
  const cudaError_t errors[] = {
      cudaFree(pinned),       // @pinned
      cudaFreeHost(device),   // @device
      cudaFree(heap.data()),  // @heap
      cudaFree(device + 1),   // @middle
  };
  int invalid = 0;
  for (const cudaError_t error : errors) invalid += error == cudaErrorInvalidValue;
  // The program asks for the error, so its status is its own again.
  const cudaError_t last = cudaGetLastError();
  std::printf("%s x%d, and it was asked for: %d\n", cudaGetErrorName(last), invalid, last != 0);
  CUDA_CHECK(cudaFreeHost(pinned));
  CUDA_CHECK(cudaFree(device));
}

void show(const char* what, cudaError_t error) {
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  cudaGetLastError();  // asking clears it
}

CASE(wrong_free_registered) {
  std::vector<float> heap(4096);
  float* pinned;
  CUDA_CHECK(cudaMallocHost(&pinned, 4096));
  CUDA_CHECK(cudaHostRegister(heap.data(), 16384, cudaHostRegisterDefault));
  show("cudaFreeHost of registered memory", cudaFreeHost(heap.data()));  // @registered
  show("cudaHostUnregister of pinned memory", cudaHostUnregister(pinned));
  CUDA_CHECK(cudaHostUnregister(heap.data()));
  show("cudaHostUnregister twice", cudaHostUnregister(heap.data()));
  CUDA_CHECK(cudaFreeHost(pinned));
}

CASE(double_free) {
  float* x;
  CUDA_CHECK(cudaMalloc(&x, 1024));  // @double_free_alloc
  cudaFree(x);                       // @double_free_free
  cudaFree(x);                       // @again
}

__global__ void read_first(const int* x, int* y) {
  *y = x[0];  // @read
}

CASE(use_after_free) {
  int *x, *y;
  CUDA_CHECK(cudaMalloc(&x, 256 * sizeof(int)));  // @use_after_free_alloc
  CUDA_CHECK(cudaMalloc(&y, sizeof(int)));
  CUDA_CHECK(cudaFree(x));  // @use_after_free_free
  read_first<<<1, 1>>>(x, y);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}

__global__ void greet(const char* name) {
  printf("hello %s\n", name);  // @print
}

CASE(kernel_prints_freed_string) {
  char* name;
  CUDA_CHECK(cudaMalloc(&name, 4096));
  CUDA_CHECK(cudaMemset(name, 0, 4096));
  CUDA_CHECK(cudaFree(name));  // @kernel_prints_freed_string_free
  greet<<<8, 32>>>(name);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}

CASE(memory_not_freed) {
  float *d_x, *d_y, *d_freed;
  CUDA_CHECK(cudaMalloc(&d_x, 400));
  CUDA_CHECK(cudaMallocManaged(&d_y, 4000));  // @large
  CUDA_CHECK(cudaMalloc(&d_freed, 40000));
  CUDA_CHECK(cudaFree(d_freed));
}

struct Owner {
  int* x = nullptr;
  Owner() { cudaMalloc(&x, sizeof *x); }
  ~Owner() { cudaFree(x); }  // @destructor
};
__global__ void use_owner(Owner owner) { owner.x[0] = 1; }
CASE(freed_by_a_copy) {
  const Owner owner;
  use_owner<<<1, 1>>>(owner);
  cudaDeviceSynchronize();
}
