// SPDX-License-Identifier: MIT
// The row of a surface has 32 floats; the kernel writes one more. On a GPU the kernel is stopped.
// EXPECT: {file}:{write}: error: surf2Dwrite outside the surface in kernel 'fill', block (0,0,0), thread (32,0,0)
// EXPECT: at byte 128 of row 0; the surface has 128 bytes in each of 4 rows
// EXPECT: help: x counts bytes, y rows

__global__ void fill(cudaSurfaceObject_t surface) {
  surf2Dwrite(1.0f, surface, static_cast<int>(threadIdx.x * sizeof(float)), 0);  // @write
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 32, 4, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &resource);
  fill<<<1, 33>>>(surface);
  cudaDeviceSynchronize();
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);
  return 0;
}
