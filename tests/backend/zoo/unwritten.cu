// SPDX-License-Identifier: MIT
// Device memory that nobody has written, read under the race detector; and right programs whose
// memory is written in all the ways there are.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
#include <cstdio>

#include "cases.cuh"

constexpr int kCount = 64;

__global__ void twice(const float* x, float* y) {
  y[threadIdx.x] = 2 * x[threadIdx.x];  // @twice
}
__global__ void far(const float* x, int row, float* y) {
  const int i = row * 1000 + threadIdx.x;
  y[threadIdx.x] = x[i];  // @far
}
__global__ void count(const int* x, int* bins) {
  atomicAdd(&bins[x[threadIdx.x] % 8], 1);  // @count
}
__global__ void sum4(const float4* x, float* y) {
  const float4 v = x[threadIdx.x];  // @sum4
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

struct Buffers {
  float *x, *y;
  Buffers() {
    cudaMalloc(&x, kCount * sizeof(float));  // @x
    cudaMalloc(&y, kCount * sizeof(float));
  }
  ~Buffers() {
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(x);
    cudaFree(y);
  }
};

// CASE: copy_forgotten
// EXPECT: {file}:{twice}: error: read of device memory that nobody has written yet in kernel 'twice'
// EXPECT: {file}:{x}: note: allocated here by cudaMalloc
// EXPECT: help: device memory does not start with zeros: copy the data there (cudaMemcpy)
CASE(copy_forgotten) {
  Buffers b;
  twice<<<1, kCount>>>(b.x, b.y);
}

// The backend keeps in memory, too, which words are unwritten: a wrong index must not lead there.
// This one is what an int becomes that wraps.
// CASE: index_far_below
// EXPECT: {file}:{far}: error: read of memory that was never allocated in kernel 'far'
CASE(index_far_below) {
  Buffers b;
  far<<<1, kCount>>>(b.x, -2000000, b.y);
}

// CASE: histogram_of_garbage
// EXPECT: {file}:{count}: error: read of device memory that nobody has written yet in kernel 'count'
// EXPECT: it is element 3 of device memory
CASE(histogram_of_garbage) {
  int *x, *bins;
  cudaMalloc(&x, kCount * sizeof(int));
  cudaMalloc(&bins, 8 * sizeof(int));
  cudaMemset(x, 3, kCount * sizeof(int));  // 0x03030303 % 8 is 3
  count<<<1, kCount>>>(x, bins);
  cudaDeviceSynchronize();
}

// A fill counts bytes: three quarters of the elements stay as they were.
// CASE: filled_in_part
// EXPECT: {file}:{twice}: error: read of device memory that nobody has written yet in kernel 'twice'
// EXPECT-NOT: thread (0,0,0)
CASE(filled_in_part) {
  Buffers b;
  cudaMemset(b.x, 0, kCount);
  twice<<<1, kCount>>>(b.x, b.y);
}

// A copy within the device brings what was never written, and a freed allocation's words do not
// count for the next.
// CASE: copied_unwritten
// EXPECT: {file}:{twice}: error: read of device memory that nobody has written yet in kernel 'twice'
// EXPECT-NOT: kernel 'twice', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{sum4}: error: read of device memory that nobody has written yet in kernel 'sum4'
CASE(copied_unwritten) {
  Buffers a;
  cudaMemset(a.x, 0, sizeof(float));
  {
    Buffers b;
    cudaMemset(b.x, 0, kCount * sizeof(float));
    cudaMemcpyAsync(b.x, a.x, kCount * sizeof(float), cudaMemcpyDeviceToDevice);
    twice<<<1, kCount>>>(b.x, b.y);
    cudaMemsetAsync(b.y, 0, kCount * sizeof(float));
  }
  Buffers c;
  sum4<<<1, kCount / 4>>>(reinterpret_cast<float4*>(c.x), c.y);
}

struct Padded {
  char letter;
  double number;
};
__global__ void fill_padded(Padded* p, int* first, unsigned char* bytes) {
  p[threadIdx.x].letter = 'a';
  p[threadIdx.x].number = 1;
  if (threadIdx.x % 4 == 0) bytes[threadIdx.x] = 1;
  atomicExch(&first[threadIdx.x], 1);
}
__global__ void use_padded(const Padded* p, int* first, const unsigned char* bytes, Padded* out) {
  out[threadIdx.x] = p[threadIdx.x];
  atomicAdd(&first[threadIdx.x], bytes[threadIdx.x / 4 * 4]);
}
__global__ void first_of_four(const float4* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x].x;
  const float4 all = x[threadIdx.x];  // one load of 16 bytes; three quarters are not used
  y[threadIdx.x] += all.x;
}
__global__ void fill_first_of_four(float* x) { x[4 * threadIdx.x] = 1; }

// CASE: all_is_written
// EXPECT-STDOUT: no error
CASE(all_is_written) {
  {
    Buffers b;
    float host[kCount] = {};
    cudaMemcpy(b.x, host, sizeof host, cudaMemcpyHostToDevice);
    twice<<<1, kCount>>>(b.x, b.y);
    twice<<<1, kCount>>>(b.y, b.x);  // what a kernel wrote
    cudaMemset2D(b.x, 16, 0, 16, kCount / 4);
    sum4<<<1, kCount / 4>>>(reinterpret_cast<float4*>(b.x), b.y);
  }
  {
    Buffers b, c;
    fill_first_of_four<<<1, kCount / 4>>>(b.x);
    cudaMemcpy(c.x, b.x, kCount * sizeof(float), cudaMemcpyDeviceToDevice);
    first_of_four<<<1, kCount / 4>>>(reinterpret_cast<float4*>(c.x), c.y);
  }
  Padded *p, *out;
  int* first;
  unsigned char* bytes;
  cudaMalloc(&p, kCount * sizeof *p);
  cudaMalloc(&out, kCount * sizeof *out);
  cudaMallocAsync(&first, kCount * sizeof *first, nullptr);
  cudaMallocManaged(&bytes, kCount);
  for (int i = 0; i < kCount; ++i) bytes[i] = 2;  // by the host
  fill_padded<<<1, kCount>>>(p, first, bytes);
  use_padded<<<1, kCount>>>(p, first, bytes, out);
  cudaFreeAsync(first, nullptr);
  cudaDeviceSynchronize();
  for (void* memory : {static_cast<void*>(p), static_cast<void*>(out), static_cast<void*>(bytes)}) {
    cudaFree(memory);
  }
}

// A flat index over padded rows writes between them.
__global__ void fill_flat(float* x, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] = 1;  // @flat
}
__global__ void fill_rows(char* x, std::size_t pitch, unsigned width) {
  float* const row = reinterpret_cast<float*>(x + blockIdx.x * pitch);
  if (threadIdx.x < width) row[threadIdx.x] = 1;
}
struct Rows {
  char* x;
  std::size_t pitch;
  Rows() { cudaMallocPitch(&x, &pitch, 30 * sizeof(float), 4); }  // @rows
  ~Rows() {
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(x);
  }
};

// CASE: rows_taken_for_flat
// EXPECT: {file}:{flat}: error: write into the padding of a row in kernel 'fill_flat'
// EXPECT: of row 0; rows of 120 bytes begin every
// EXPECT: {file}:{rows}: note: allocated here by cudaMallocPitch
CASE(rows_taken_for_flat) {
  const Rows rows;
  fill_flat<<<4, 32>>>(reinterpret_cast<float*>(rows.x), 4 * 30);
}

// CASE: rows_by_their_pitch
// EXPECT-STDOUT: no error
CASE(rows_by_their_pitch) {
  const Rows rows;
  cudaMemset(rows.x, 0, 4 * rows.pitch);
  fill_rows<<<4, 32>>>(rows.x, rows.pitch, 30);
  Buffers b;
  fill_flat<<<4, 32>>>(b.x, kCount);
}
