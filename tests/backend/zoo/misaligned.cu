// SPDX-License-Identifier: MIT
// Addresses that are no multiple of what their type needs.
//
// CASE: argument
// The host casts the address of packed bytes and passes it on.
// EXPECT: {file}:{launch}: error: a misaligned pointer is passed to kernel 'twice'
// EXPECT: is no multiple of 4, the alignment of its type
// EXPECT-STDOUT: cudaErrorMisalignedAddress
//
// CASE: vector
// A float4 read from an address that is no multiple of 16.
// EXPECT: {file}:{read}: error: misaligned address in kernel 'load', block (0,0,0), thread (0,0,0)
// ARCH: x86_64
//
// CASE: packed
// Numbers packed into bytes without padding are read through pointers that were cast. The CPU would
// do it; a GPU does not. A 64-bit number, an int written with a cast of C, and an atomic.
// EXPECT: {file}:{int_int}: error: misaligned address in kernel 'read_int', block (0,0,0), thread (1,0,0)
// EXPECT: {file}:{long}: error: misaligned address in kernel 'write_long', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{atomic}: error: misaligned address in kernel 'count', block (0,0,0), thread (0,0,0)
// EXPECT: a type of 2, 4, 8 or 16 bytes (short, int, double, float4, ...) must lie at a multiple of its size
// EXPECT: {file}:{index}: error: misaligned address in kernel 'read_index', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{macro}: error: misaligned address in kernel 'read_macro', block (0,0,0), thread (0,0,0)
// EXPECT-STDOUT: cudaErrorMisalignedAddress 5
//
// CASE: aligned
// Casts that are right: aligned, not followed, undone, or copied with memcpy. Products and sizes
// look like casts to a reader in a hurry.
// EXPECT-STDOUT: 7 7 1 21 12 3 1 4

#include <cstdint>
#include <cstdio>

#include "../../../common/check.cuh"
#include "cases.cuh"

__global__ void twice(int* x) { x[threadIdx.x] *= 2; }

CASE(argument) {
  char* d_bytes;
  cudaMalloc(&d_bytes, 256);
  twice<<<1, 32>>>(reinterpret_cast<int*>(d_bytes + 3));  // @launch
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_bytes);
}

__global__ void load(const float* x, float4* y) {
  *y = *reinterpret_cast<const float4*>(x + 1);  // @read
}

CASE(vector) {
  run_on<float4>(8, [](float4* y) { load<<<1, 1>>>(reinterpret_cast<const float*>(y), y + 7); });
}

#define INT_AT(p) (*reinterpret_cast<const int*>(p))

__global__ void read_int(const char* bytes, int* out) {
  out[threadIdx.x] = *reinterpret_cast<const int*>(bytes + 6 * threadIdx.x);  // @int_int
}
__global__ void write_long(char* bytes) {
  *(long long*)(bytes + 4) = 1;  // @long
}
__global__ void count(char* bytes) {
  atomicAdd(reinterpret_cast<unsigned*>(bytes + 2), 1u);  // @atomic
}
__global__ void read_index(const char* bytes, int* out, int i) {
  const int* const ints = (const int*)&bytes[1];
  if (i < 0) return;
  out[0] = ints[i];  // @index
}
__global__ void read_macro(const char* bytes, int* out) {
  out[0] = INT_AT(bytes + 3);  // @macro
}

int misaligned = 0;

template <class Launch>
cudaError_t run(Launch launch) {
  char* d_bytes;
  int* d_out;
  cudaMalloc(&d_bytes, 1024);
  cudaMalloc(&d_out, 1024);
  launch(d_bytes, d_out);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaErrorMisalignedAddress) ++misaligned;
  cudaDeviceReset();
  return error;
}

CASE(packed) {
  run([](char* bytes, int* out) { read_int<<<1, 4>>>(bytes, out); });
  run([](char* bytes, int*) { write_long<<<1, 1>>>(bytes); });
  run([](char* bytes, int*) { count<<<1, 1>>>(bytes); });
  run([](char* bytes, int* out) { read_index<<<1, 1>>>(bytes, out, 2); });
  const cudaError_t error = run([](char* bytes, int* out) { read_macro<<<1, 1>>>(bytes, out); });
  std::printf("%s %d\n", cudaGetErrorName(error), misaligned);
}

struct Pair {
  int a, b;
};

__device__ int first(const int* p) { return *p; }

__global__ void look(char* bytes, int* out, int n) {
  *reinterpret_cast<int*>(bytes + 4) = 7;
  out[0] = *(int*)(bytes + 4);
  out[1] = ((Pair*)bytes)->b;
  auto* const wide = reinterpret_cast<const float4*>(bytes + 4);  // may be misaligned
  if (reinterpret_cast<std::uintptr_t>(wide) % 16 == 0) out[2] = static_cast<int>(wide->x);
  out[2] = *reinterpret_cast<const char*>(wide) == 7 && *(const short*)wide == 7;
  int unpacked;
  bytes[9] = 21, bytes[10] = bytes[11] = bytes[12] = 0;
  memcpy(&unpacked, reinterpret_cast<const int*>(reinterpret_cast<const char*>(bytes) + 8) + 0, 4);
  memcpy(&unpacked, bytes + 9, 4);
  out[3] = unpacked;
  const int sizeof_sum = static_cast<int>(sizeof(int*) + sizeof(int));
  out[4] = sizeof_sum;
  out[5] = (n) * (n) / (n)*n / n;
  int& alias = reinterpret_cast<int&>(bytes[16]);
  alias = 1;
  atomicAdd((int*)(void*)&alias, 3);
  out[6] = (const char*)&alias == bytes + 16;
  out[7] = first((const int*)(std::uintptr_t)(bytes + 16));
}

CASE(aligned) {
  int out[8] = {};
  char* d_bytes;
  int* d_out;
  CUDA_CHECK(cudaMalloc(&d_bytes, 256));
  CUDA_CHECK(cudaMalloc(&d_out, sizeof(out)));
  CUDA_CHECK(cudaMemset(d_bytes, 0, 256));
  look<<<1, 1>>>(d_bytes, d_out, 3);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  for (const int value : out) std::printf("%d ", value);
  std::printf("\n");
  CUDA_CHECK(cudaFree(d_bytes));
  CUDA_CHECK(cudaFree(d_out));
}
