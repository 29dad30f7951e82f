// SPDX-License-Identifier: MIT
// x of a surface counts bytes; the kernel passes the column.
// EXPECT: {file}:{write}: error: misaligned surf2Dwrite in kernel 'fill', block (0,0,0), thread (1,0,0)
// EXPECT: x counts bytes: 1 is no multiple of 4
// EXPECT: help: multiply the column by sizeof of the element

__global__ void fill(cudaSurfaceObject_t surface) {
  surf2Dwrite(1.0f, surface, threadIdx.x, 0);  // @write
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
  fill<<<1, 32>>>(surface);
  cudaDeviceSynchronize();
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);
  return 0;
}
