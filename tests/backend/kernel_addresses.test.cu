// SPDX-License-Identifier: MIT
// Kernels by their address, as void* and in tables, and launched with attributes.
#include <cuda_runtime.h>

#include "../catch.hpp"
#include "handles.cuh"

namespace {

__global__ void store(int* x, int value) { *x = value; }
__global__ void store_twice(int* x, int value) { *x = 2 * value; }

template <class T, int kFactor>
__global__ void scale(T* x, T value) {
  *x = value * kFactor;
}

namespace inner {
__global__ void add(int* x, int a, double b) { *x += a + static_cast<int>(b); }
}  // namespace inner

#define LAUNCH(kernel, arguments) cudaLaunchKernel((void*)kernel, dim3(1), dim3(1), arguments)

const void* const table[] = {(const void*)store, reinterpret_cast<const void*>(&store_twice)};

}  // namespace

// FEATURE: kernels: `cudaLaunchKernel`
TEST_CASE("cudaLaunchKernel takes a kernel's address as void*") {
  const PinnedInt x;
  int* pointer = x.p;
  int value = 5;
  void* arguments[] = {&pointer, &value};
  const auto result = [&] {
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    return *x.p;
  };
  CHECK(cudaLaunchKernel((void*)store, dim3(1), dim3(1), arguments) == cudaSuccess);
  value = 6;  // copied at the launch
  CHECK(result() == 5);
  CHECK(cudaLaunchKernel((const void*)scale<int, 3>, 1, 1, arguments, 0, nullptr) == cudaSuccess);
  CHECK(result() == 18);
  CHECK(cudaLaunchKernel(reinterpret_cast<void*>(&store_twice), 1, 1, arguments) == cudaSuccess);
  CHECK(result() == 12);
  CHECK(LAUNCH(store, arguments) == cudaSuccess);
  CHECK(result() == 6);
  CHECK(cudaLaunchKernel(store_twice, 1, 1, arguments) == cudaSuccess);
  CHECK(result() == 12);
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaLaunchKernel(table[i], dim3(1), dim3(1), arguments) == cudaSuccess);
    CHECK(result() == 6 + 6 * i);
  }
  void* later = (void*)inner::add;
  double b = 2.5;
  void* three[] = {&pointer, &value, &b};
  CHECK(cudaLaunchCooperativeKernel(later, dim3(1), dim3(1), three) == cudaSuccess);
  CHECK(result() == 20);
  CHECK(cudaLaunchKernel(later, dim3(1), dim3(2000), three) == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
}

TEST_CASE("an address that is no kernel's is refused") {
  int x = 0;
  void* arguments[] = {&x};
  CHECK(cudaLaunchKernel((void*)&x, dim3(1), dim3(1), arguments) == cudaErrorInvalidDeviceFunction);
  CHECK(is_explained("not known as a kernel's"));
  const void* nothing = nullptr;
  CHECK(cudaLaunchKernel(nothing, 1, 1, arguments) == cudaErrorInvalidDeviceFunction);
  CHECK(cudaGetLastError() == cudaErrorInvalidDeviceFunction);
}

// FEATURE: kernels: attributes of launches that are about speed
TEST_CASE("attributes of a launch that are only about speed are taken, others refused") {
  const PinnedInt x;
  int* pointer = x.p;
  int value = 9;
  void* arguments[] = {&pointer, &value};
  cudaLaunchAttribute attributes[4] = {};
  attributes[0].id = cudaLaunchAttributePriority;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  attributes[2].id = cudaLaunchAttributeClusterDimension;
  attributes[2].val.clusterDim = {1, 1, 1};
  attributes[3].id = cudaLaunchAttributeCooperative;
  attributes[3].val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = 1;
  config.attrs = attributes;
  config.numAttrs = 4;
  CHECK(cudaLaunchKernelExC(&config, (void*)store, arguments) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*x.p == 9);
  value = 10;
  CHECK(cudaLaunchKernelExC(&config, store, arguments) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*x.p == 10);

  attributes[2].val.clusterDim.x = 2;
  CHECK(cudaLaunchKernelExC(&config, (void*)store, arguments) == cudaErrorNotSupported);
  CHECK(is_explained("clusters"));
  CHECK(cudaLaunchKernelEx(&config, store, x.p, 3) == cudaErrorNotSupported);
  attributes[2].id = cudaLaunchAttributeProgrammaticEvent;
  CHECK(cudaLaunchKernelEx(&config, store, x.p, 3) == cudaErrorNotSupported);
  CHECK(is_explained("attribute 7"));
  CHECK(cudaLaunchKernelExC(nullptr, (void*)store, arguments) == cudaErrorInvalidValue);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*x.p == 10);
  cudaGetLastError();
}
