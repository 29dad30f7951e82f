// SPDX-License-Identifier: MIT
// Numbers packed into bytes without padding are read through pointers that were cast. The CPU would
// do it; a GPU does not. A 64-bit number, an int written with a cast of C, and an atomic.
// EXPECT: {file}:{int}: error: misaligned address in kernel 'read_int', block (0,0,0), thread (1,0,0)
// EXPECT: {file}:{long}: error: misaligned address in kernel 'write_long', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{atomic}: error: misaligned address in kernel 'count', block (0,0,0), thread (0,0,0)
// EXPECT: a type of 2, 4, 8 or 16 bytes (short, int, double, float4, ...) must lie at a multiple of its size
// EXPECT: {file}:{index}: error: misaligned address in kernel 'read_index', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{macro}: error: misaligned address in kernel 'read_macro', block (0,0,0), thread (0,0,0)
// EXPECT-STDOUT: cudaErrorMisalignedAddress 5
#include <cstdio>

#define INT_AT(p) (*reinterpret_cast<const int*>(p))

__global__ void read_int(const char* bytes, int* out) {
  out[threadIdx.x] = *reinterpret_cast<const int*>(bytes + 6 * threadIdx.x);  // @int
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

int main() {
  run([](char* bytes, int* out) { read_int<<<1, 4>>>(bytes, out); });
  run([](char* bytes, int*) { write_long<<<1, 1>>>(bytes); });
  run([](char* bytes, int*) { count<<<1, 1>>>(bytes); });
  run([](char* bytes, int* out) { read_index<<<1, 1>>>(bytes, out, 2); });
  const cudaError_t error = run([](char* bytes, int* out) { read_macro<<<1, 1>>>(bytes, out); });
  std::printf("%s %d\n", cudaGetErrorName(error), misaligned);
  return 1;
}
