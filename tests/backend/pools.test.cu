// SPDX-License-Identifier: MIT
// Memory pools, and advice about managed memory.
#include <cuda_runtime.h>

#include "../catch.hpp"

namespace {

__global__ void store(int* x, int value) { *x = value; }

unsigned long long number(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  unsigned long long value = 77;
  CHECK(cudaMemPoolGetAttribute(pool, attribute, &value) == cudaSuccess);
  return value;
}

cudaMemPool_t new_pool(std::size_t limit = 0) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = limit;
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
  return pool;
}

}  // namespace

TEST_CASE("the default pool has a threshold, and refuses what it does not know") {
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  CHECK(number(pool, cudaMemPoolAttrReleaseThreshold) == 0);
  unsigned long long bytes = 1234567890123;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes) == cudaSuccess);
  CHECK(number(pool, cudaMemPoolAttrReleaseThreshold) == 1234567890123);
  bytes = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes) == cudaSuccess);
  CHECK(cudaMemPoolSetAttribute(nullptr, cudaMemPoolAttrReleaseThreshold, &bytes) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(99), &bytes) ==
        cudaErrorInvalidValue);
  int reuse = 7;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse) == cudaSuccess);
  CHECK(reuse == 1);
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 1) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetDefaultMemPool(nullptr, 0) == cudaErrorInvalidValue);
  cudaGetLastError();
}

// FEATURE: memory: memory pools
TEST_CASE("a pool counts what was taken from it, in the order of the stream") {
  const cudaMemPool_t pool = new_pool();
  int* x = nullptr;
  REQUIRE(cudaMallocFromPoolAsync(&x, 400, pool, nullptr) == cudaSuccess);
  store<<<1, 1>>>(x, 12);
  CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) == 400);
  int* y = nullptr;
  REQUIRE(cudaMallocAsync(&y, 100, pool, nullptr) == cudaSuccess);
  CHECK(number(pool, cudaMemPoolAttrUsedMemHigh) == 500);
  int value = 0;
  CHECK(cudaMemcpyAsync(&value, x, sizeof(int), cudaMemcpyDeviceToHost, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(x, nullptr) == cudaSuccess);
  CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) == 500);  // the stream has not come so far
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(value == 12);
  CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) == 100);
  CHECK(number(pool, cudaMemPoolAttrReservedMemCurrent) == 100);
  CHECK(number(pool, cudaMemPoolAttrUsedMemHigh) == 500);
  unsigned long long zero = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero) == cudaSuccess);
  CHECK(number(pool, cudaMemPoolAttrUsedMemHigh) == 100);
  CHECK(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
  CHECK(cudaFree(y) == cudaSuccess);  // the other way to free it
  CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
}

TEST_CASE("a pool may have a limit, and may be the one that cudaMallocAsync takes from") {
  const cudaMemPool_t pool = new_pool(1000);
  cudaMemPool_t standard = nullptr, now = nullptr;
  REQUIRE(cudaDeviceGetDefaultMemPool(&standard, 0) == cudaSuccess);
  REQUIRE(cudaDeviceSetMemPool(0, pool) == cudaSuccess);
  REQUIRE(cudaDeviceGetMemPool(&now, 0) == cudaSuccess);
  CHECK(now == pool);
  int *x = nullptr, *y = nullptr;
  CHECK(cudaMallocAsync(&x, 800, nullptr) == cudaSuccess);
  CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) == 800);
  CHECK(cudaMallocAsync(&y, 201, nullptr) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaMallocAsync(&y, 200, nullptr) == cudaSuccess);
  CHECK(number(standard, cudaMemPoolAttrUsedMemCurrent) == 0);
  // What was taken outlives its pool.
  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
  REQUIRE(cudaDeviceGetMemPool(&now, 0) == cudaSuccess);
  CHECK(now == standard);
  store<<<1, 1>>>(x, 3);
  CHECK(cudaFreeAsync(x, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(y, nullptr) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("pools that are not there are refused") {
  cudaMemPoolProps properties{};
  cudaMemPool_t pool = nullptr;
  CHECK(cudaMemPoolCreate(&pool, &properties) == cudaErrorInvalidValue);
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeHost, 0};
  CHECK(cudaMemPoolCreate(&pool, &properties) == cudaErrorNotSupported);
  properties.location = {cudaMemLocationTypeDevice, 1};
  CHECK(cudaMemPoolCreate(&pool, &properties) == cudaErrorInvalidDevice);
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  CHECK(cudaMemPoolCreate(&pool, &properties) == cudaErrorNotSupported);
  CHECK(pool == nullptr);

  pool = new_pool();
  cudaMemAccessDesc access{{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
  CHECK(cudaMemPoolSetAccess(pool, &access, 1) == cudaSuccess);
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  CHECK(cudaMemPoolGetAccess(&flags, pool, &access.location) == cudaSuccess);
  CHECK(flags == cudaMemAccessFlagsProtReadWrite);
  access.flags = cudaMemAccessFlagsProtNone;
  CHECK(cudaMemPoolSetAccess(pool, &access, 1) == cudaErrorInvalidValue);
  access.location.id = 1;
  CHECK(cudaMemPoolSetAccess(pool, &access, 1) == cudaErrorInvalidDevice);

  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
  int* x = nullptr;
  CHECK(cudaMallocFromPoolAsync(&x, 4, pool, nullptr) == cudaErrorInvalidValue);
  CHECK(x == nullptr);
  CHECK(cudaMemPoolDestroy(pool) == cudaErrorInvalidValue);
  cudaMemPool_t standard = nullptr;
  REQUIRE(cudaDeviceGetDefaultMemPool(&standard, 0) == cudaSuccess);
  CHECK(cudaMemPoolDestroy(standard) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("advice about managed memory is taken, in CUDA 12's form too, and wrong advice refused") {
  int* x = nullptr;
  REQUIRE(cudaMallocManaged(&x, 400) == cudaSuccess);
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0};
  CHECK(cudaMemAdvise(x, 400, cudaMemAdviseSetReadMostly, device) == cudaSuccess);
  CHECK(cudaMemAdvise(x, 400, cudaMemAdviseSetPreferredLocation, host) == cudaSuccess);
  CHECK(cudaMemAdvise(x, 400, cudaMemAdviseSetAccessedBy, 0) == cudaSuccess);
  CHECK(cudaMemAdvise(x, 400, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId) == cudaSuccess);
  CHECK(cudaMemPrefetchAsync(x, 400, 0) == cudaSuccess);
  CHECK(cudaMemPrefetchAsync(x, 400, cudaCpuDeviceId, nullptr) == cudaSuccess);
  CHECK(cudaMemPrefetchAsync(x, 400, 1, nullptr) == cudaErrorInvalidDevice);

  CHECK(cudaMemAdvise(x, 400, cudaMemAdviseSetAccessedBy, 1) == cudaErrorInvalidDevice);
  CHECK(cudaMemAdvise(x, 401, cudaMemAdviseSetReadMostly, 0) == cudaErrorInvalidValue);
  CHECK(cudaMemAdvise(x, 400, static_cast<cudaMemoryAdvise>(7), 0) == cudaErrorInvalidValue);
  int* d = nullptr;
  REQUIRE(cudaMalloc(&d, 400) == cudaSuccess);
  CHECK(cudaMemAdvise(d, 400, cudaMemAdviseSetReadMostly, 0) == cudaErrorInvalidValue);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaFree(d) == cudaSuccess);
  CHECK(cudaFree(x) == cudaSuccess);
  cudaGetLastError();
}
