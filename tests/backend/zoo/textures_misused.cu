// SPDX-License-Identifier: MIT
// Textures that are gone, missing, or not what the kernel takes them for.
//
// CASE: unbound
// The object is passed to the kernel before it was made. A GPU reads 0 and says nothing.
// EXPECT: {file}:{unbound_fetch}: error: tex2D of a texture object that was never made in kernel 'copy_row', block (0,0,0), thread (0,0,0)
// EXPECT: the object is 0: no texture is bound to it
// EXPECT: help: did cudaCreateTextureObject fail, or come later?
// EXPECT: {file}:{launch}: note: kernel launched here
//
// CASE: destroyed
// The object is destroyed before the kernel that uses it is launched.
// EXPECT: {file}:{destroyed_fetch}: error: tex1Dfetch of an object that was destroyed in kernel 'copy_all', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{destroyed_create}: note: the object was created here
// EXPECT: {file}:{destroy}: note: destroyed here
//
// CASE: array_freed
// The array under a texture is freed, and the object used once more.
// EXPECT: {file}:{array_freed_fetch}: error: tex2D: the array was freed in kernel 'copy_row', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{array_freed_alloc}: note: allocated here by cudaMallocArray
// EXPECT: {file}:{array_freed_free}: note: freed here
// EXPECT: {file}:{array_freed_create}: note: the object was created here
//
// CASE: memory_freed
// Linear memory under a texture is freed before the kernel reads it.
// EXPECT: {file}:{memory_freed_fetch}: error: use after free
// EXPECT: in kernel 'copy_all', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{memory_freed_alloc}: note: allocated here by cudaMalloc
// EXPECT: {file}:{memory_freed_free}: note: freed here
//
// CASE: out_of_range
// A kernel without a guard fetches past the end of linear memory. A GPU returns 0 there.
// EXPECT: {file}:{out_of_range_fetch}: error: tex1Dfetch out of range in kernel 'copy_all', block (3,0,0), thread (4,0,0)
// EXPECT: texel 100 is asked for; the texture has 100
// EXPECT: {file}:{out_of_range_create}: note: the object was created here
// EXPECT: help: a GPU returns 0 there and says nothing; guard the index
//
// CASE: wrong_type
// Texels of four bytes are read as floats, without asking for normalized floats.
// EXPECT: {file}:{wrong_type_fetch}: error: tex2D with a type that the texture does not hold in kernel 'copy_row', block (0,0,0), thread (0,0,0)
// EXPECT: the texture returns integers, the program reads floats
// EXPECT: a texel has 4 components: 8-bit unsigned integers

#include "cases.cuh"

namespace unbound {

__global__ void copy_row(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f);  // @unbound_fetch
}

int program() {
  float* d_y = nullptr;
  cudaMalloc(&d_y, 32 * sizeof(float));
  cudaTextureObject_t texture = 0;
  copy_row<<<1, 32>>>(texture, d_y);  // @launch
  cudaDeviceSynchronize();
  cudaFree(d_y);
  return 0;
}

}  // namespace unbound

namespace destroyed {

__global__ void copy_all(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);  // @destroyed_fetch
}

int program() {
  float *d_x = nullptr, *d_y = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cudaMalloc(&d_y, 32 * sizeof(float));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_x;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 32 * sizeof(float);
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);  // @destroyed_create
  cudaDestroyTextureObject(texture);                                    // @destroy
  copy_all<<<1, 32>>>(texture, d_y);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  cudaFree(d_y);
  return 0;
}

}  // namespace destroyed

namespace array_freed {

__global__ void copy_row(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f);  // @array_freed_fetch
}

int program() {
  float* d_y = nullptr;
  cudaMalloc(&d_y, 32 * sizeof(float));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 32, 4);  // @array_freed_alloc
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);  // @array_freed_create
  cudaFreeArray(array);                                                 // @array_freed_free
  copy_row<<<1, 32>>>(texture, d_y);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
  cudaFree(d_y);
  return 0;
}

}  // namespace array_freed

namespace memory_freed {

__global__ void copy_all(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);  // @memory_freed_fetch
}

int program() {
  float *d_x = nullptr, *d_y = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(float));  // @memory_freed_alloc
  cudaMalloc(&d_y, 32 * sizeof(float));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_x;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 32 * sizeof(float);
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  cudaFree(d_x);  // @memory_freed_free
  copy_all<<<1, 32>>>(texture, d_y);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
  cudaFree(d_y);
  return 0;
}

}  // namespace memory_freed

namespace out_of_range {

__global__ void copy_all(cudaTextureObject_t texture, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = tex1Dfetch<float>(texture, i);  // @out_of_range_fetch
}

int program() {
  float *d_x = nullptr, *d_y = nullptr;
  cudaMalloc(&d_x, 128 * sizeof(float));
  cudaMalloc(&d_y, 128 * sizeof(float));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_x;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 100 * sizeof(float);
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);  // @out_of_range_create
  copy_all<<<4, 32>>>(texture, d_y);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
  cudaFree(d_x);
  cudaFree(d_y);
  return 0;
}

}  // namespace out_of_range

namespace wrong_type {

__global__ void copy_row(cudaTextureObject_t texture, float4* y) {
  y[threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5f, 0.5f);  // @wrong_type_fetch
}

int program() {
  float4* d_y = nullptr;
  cudaMalloc(&d_y, 32 * sizeof(float4));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 32, 4);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  copy_row<<<1, 32>>>(texture, d_y);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
  cudaFree(d_y);
  return 0;
}

}  // namespace wrong_type

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {
                      {"unbound", unbound::program},
                      {"destroyed", destroyed::program},
                      {"array_freed", array_freed::program},
                      {"memory_freed", memory_freed::program},
                      {"out_of_range", out_of_range::program},
                      {"wrong_type", wrong_type::program},
                  });
}
