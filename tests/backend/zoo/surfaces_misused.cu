// SPDX-License-Identifier: MIT
// A surface is written where it is not.
//
// CASE: column_for_bytes
// x of a surface counts bytes; the kernel passes the column.
// EXPECT: {file}:{column_for_bytes_write}: error: misaligned surf2Dwrite in kernel 'fill_columns', block (0,0,0), thread (1,0,0)
// EXPECT: x counts bytes: 1 is no multiple of 4
// EXPECT: help: multiply the column by sizeof of the element
//
// CASE: outside
// The row of a surface has 32 floats; the kernel writes one more. On a GPU the kernel is stopped.
// EXPECT: {file}:{outside_write}: error: surf2Dwrite outside the surface in kernel 'fill', block (0,0,0), thread (32,0,0)
// EXPECT: at byte 128 of row 0; the surface has 128 bytes in each of 4 rows
// EXPECT: help: x counts bytes, y rows

#include "cases.cuh"

// Launches on a surface of 4 rows of 32 floats.
template <class Launch>
void try_on_surface(Launch launch) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 32, 4, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &resource);
  launch(surface);
  cudaDeviceSynchronize();
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);
}

__global__ void fill_columns(cudaSurfaceObject_t surface) {
  surf2Dwrite(1.0f, surface, threadIdx.x, 0);  // @column_for_bytes_write
}

CASE(column_for_bytes) {
  try_on_surface([](cudaSurfaceObject_t surface) { fill_columns<<<1, 32>>>(surface); });
}

__global__ void fill(cudaSurfaceObject_t surface) {
  surf2Dwrite(1.0f, surface, static_cast<int>(threadIdx.x * sizeof(float)), 0);  // @outside_write
}

CASE(outside) {
  try_on_surface([](cudaSurfaceObject_t surface) { fill<<<1, 33>>>(surface); });
}
