// SPDX-License-Identifier: MIT
// Textures that are gone, missing, or not what the kernel takes them for.
//
// CASE: unbound
// The object is passed to the kernel before it was made. A GPU reads 0 and says nothing.
// EXPECT: {file}:{fetch_2d}: error: tex2D of a texture object that was never made in kernel 'copy_row', block (0,0,0), thread (0,0,0)
// EXPECT: the object is 0: no texture is bound to it
// EXPECT: help: did cudaCreateTextureObject fail, or come later?
// EXPECT: {file}:{launch}: note: kernel launched here
//
// CASE: destroyed
// The object is destroyed before the kernel that uses it is launched.
// EXPECT: {file}:{fetch_linear}: error: tex1Dfetch of an object that was destroyed in kernel 'copy_all', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{over_memory}: note: the object was created here
// EXPECT: {file}:{destroy}: note: destroyed here
//
// CASE: array_freed
// The array under a texture is freed, and the object used once more.
// EXPECT: {file}:{fetch_2d}: error: tex2D: the array was freed in kernel 'copy_row', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{array_alloc}: note: allocated here by cudaMallocArray
// EXPECT: {file}:{array_freed_free}: note: freed here
// EXPECT: {file}:{over_array}: note: the object was created here
//
// CASE: memory_freed
// Linear memory under a texture is freed before the kernel reads it.
// EXPECT: {file}:{fetch_linear}: error: use after free
// EXPECT: in kernel 'copy_all', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{memory_alloc}: note: allocated here by cudaMalloc
// EXPECT: {file}:{memory_freed_free}: note: freed here
//
// CASE: out_of_range
// A kernel without a guard fetches past the end of linear memory. A GPU returns 0 there.
// EXPECT: {file}:{fetch_linear}: error: tex1Dfetch out of range in kernel 'copy_all', block (3,0,0), thread (4,0,0)
// EXPECT: texel 100 is asked for; the texture has 100
// EXPECT: {file}:{over_memory}: note: the object was created here
// EXPECT: help: a GPU returns 0 there and says nothing; guard the index
//
// CASE: wrong_type
// Texels of four bytes are read as floats, without asking for normalized floats.
// EXPECT: {file}:{wrong_type_fetch}: error: tex2D with a type that the texture does not hold in kernel 'copy_row_of_four', block (0,0,0), thread (0,0,0)
// EXPECT: the texture returns integers, the program reads floats
// EXPECT: a texel has 4 components: 8-bit unsigned integers

#include "cases.cuh"

__global__ void copy_row(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f);  // @fetch_2d
}
__global__ void copy_all(cudaTextureObject_t texture, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = tex1Dfetch<float>(texture, i);  // @fetch_linear
}
__global__ void copy_row_of_four(cudaTextureObject_t texture, float4* y) {
  y[threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5f, 0.5f);  // @wrong_type_fetch
}

cudaTextureObject_t texture_over(float* memory, std::size_t elements) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = elements * sizeof(float);
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);  // @over_memory
  return texture;
}

cudaTextureObject_t texture_over(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);  // @over_array
  return texture;
}

template <class T>
cudaArray_t new_array() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 32, 4);  // @array_alloc
  return array;
}

/// So many floats of device memory; the process ends before anyone frees them.
float* new_memory(std::size_t elements) {
  float* memory = nullptr;
  cudaMalloc(&memory, elements * sizeof(float));  // @memory_alloc
  return memory;
}

CASE(unbound) {
  const cudaTextureObject_t texture = 0;
  copy_row<<<1, 32>>>(texture, new_memory(32));  // @launch
  cudaDeviceSynchronize();
}

CASE(destroyed) {
  const cudaTextureObject_t texture = texture_over(new_memory(32), 32);
  cudaDestroyTextureObject(texture);  // @destroy
  copy_all<<<1, 32>>>(texture, new_memory(32));
  cudaDeviceSynchronize();
}

CASE(array_freed) {
  const cudaArray_t array = new_array<float>();
  const cudaTextureObject_t texture = texture_over(array);
  cudaFreeArray(array);  // @array_freed_free
  copy_row<<<1, 32>>>(texture, new_memory(32));
  cudaDeviceSynchronize();
}

CASE(memory_freed) {
  float* const memory = new_memory(32);
  const cudaTextureObject_t texture = texture_over(memory, 32);
  cudaFree(memory);  // @memory_freed_free
  copy_all<<<1, 32>>>(texture, new_memory(32));
  cudaDeviceSynchronize();
}

CASE(out_of_range) {
  const cudaTextureObject_t texture = texture_over(new_memory(128), 100);
  copy_all<<<4, 32>>>(texture, new_memory(128));
  cudaDeviceSynchronize();
}

CASE(wrong_type) {
  const cudaTextureObject_t texture = texture_over(new_array<uchar4>());
  copy_row_of_four<<<1, 32>>>(texture, reinterpret_cast<float4*>(new_memory(128)));
  cudaDeviceSynchronize();
}
