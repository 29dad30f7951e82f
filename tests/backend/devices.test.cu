// SPDX-License-Identifier: MIT
// Several devices on the CPU backend (CUDA_CPU_DEVICES): each has memory, streams and variables of
// its own. What is reported is in zoo/devices.cu.
#include <cuda_runtime.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "../catch.hpp"
#include "engine/state/settings.h"
#include "report/diagnostics.h"

namespace {

// Before the backend reads its settings.
__attribute__((constructor(101))) void ask_for_devices() { setenv("CUDA_CPU_DEVICES", "3", 1); }
constexpr int kDevices = 3;

__device__ int counter = 5;
__managed__ int shared_by_all = 0;

__global__ void count(int by) {
  counter += by;
  atomicAdd(&shared_by_all, by);
}

__global__ void iota(int* x, int n, int first) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] = first + i;
}

__global__ void add(const int* a, int* b, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) b[i] += a[i];
}

// Every test begins and ends on device 0, with no peers and nothing left on any device.
struct Machine {
  Machine() { clear(); }
  ~Machine() { clear(); }
  static void clear() {
    for (int device = kDevices - 1; device >= 0; --device) {
      cudaSetDevice(device);
      for (int peer = 0; peer < kDevices; ++peer) cudaDeviceDisablePeerAccess(peer);
      cudaDeviceReset();
    }
    cuda_cpu::reset_diagnostics();
  }
};

int* numbers_on(int device, int n, int first) {
  REQUIRE(cudaSetDevice(device) == cudaSuccess);
  int* x = nullptr;
  REQUIRE(cudaMalloc(&x, sizeof(int) * static_cast<std::size_t>(n)) == cudaSuccess);
  iota<<<static_cast<unsigned>(n + 127) / 128, 128>>>(x, n, first);
  return x;
}

std::vector<int> on_host(const int* x, int n) {
  std::vector<int> values(static_cast<std::size_t>(n));
  REQUIRE(cudaMemcpy(values.data(), x, sizeof(int) * values.size(), cudaMemcpyDefault) ==
          cudaSuccess);
  return values;
}

int counter_here() {
  int value = 0;
  REQUIRE(cudaMemcpyFromSymbol(&value, counter, sizeof value) == cudaSuccess);
  return value;
}

}  // namespace

// FEATURE: host: several devices, with `CUDA_CPU_DEVICES=2`
TEST_CASE("each host thread has a current device, which is 0 at first") {
  const Machine machine;
  int count_of_devices = 0, device = -1;
  REQUIRE(cudaGetDeviceCount(&count_of_devices) == cudaSuccess);
  CHECK(count_of_devices == kDevices);
  REQUIRE(cudaSetDevice(2) == cudaSuccess);
  CHECK(cudaSetDevice(kDevices) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice);
  REQUIRE(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 2);
  int elsewhere = -1;
  std::thread([&] { cudaGetDevice(&elsewhere); }).join();
  CHECK(elsewhere == 0);
}

TEST_CASE("devices have names on the bus of their own") {
  const Machine machine;
  char ids[2][16];
  for (int device = 0; device < 2; ++device) {
    REQUIRE(cudaDeviceGetPCIBusId(ids[device], sizeof ids[device], device) == cudaSuccess);
    int found = -1;
    REQUIRE(cudaDeviceGetByPCIBusId(&found, ids[device]) == cudaSuccess);
    CHECK(found == device);
  }
  CHECK(std::string(ids[0]) != ids[1]);
  CHECK(cudaDeviceGetPCIBusId(ids[0], 12, 0) == cudaErrorInvalidValue);
  CHECK(cudaDeviceGetPCIBusId(ids[0], 13, 0) == cudaSuccess);
}

TEST_CASE("memory belongs to the device that was current") {
  const Machine machine;
  std::size_t before = 0, after = 0, elsewhere = 0, all = 0;
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&elsewhere, &all) == cudaSuccess);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&before, &all) == cudaSuccess);
  int* x = nullptr;
  REQUIRE(cudaMalloc(&x, 1 << 20) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&after, &all) == cudaSuccess);
  CHECK(before - after == 1 << 20);
  cudaPointerAttributes attributes{};
  REQUIRE(cudaPointerGetAttributes(&attributes, x) == cudaSuccess);
  CHECK(attributes.device == 1);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  std::size_t now = 0;
  REQUIRE(cudaMemGetInfo(&now, &all) == cudaSuccess);
  CHECK(now == elsewhere);
  CHECK(cudaFree(x) == cudaSuccess);  // from any device
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&now, &all) == cudaSuccess);
  CHECK(now == before);
}

// FEATURE: memory: `cudaMemcpyPeer`
TEST_CASE("copies go from device to device, with peer access and without") {
  const Machine machine;
  constexpr int kN = 1000;
  int* const a = numbers_on(0, kN, 7);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  int* const b = numbers_on(1, kN, 0);
  REQUIRE(cudaMemcpyPeer(b, 1, a, 0, kN * sizeof(int)) == cudaSuccess);
  CHECK(on_host(b, kN) == on_host(a, kN));
  CHECK(cudaMemcpyPeer(b, kDevices, a, 0, kN * sizeof(int)) == cudaErrorInvalidDevice);
  CHECK(cudaMemcpyPeerAsync(b, 1, a, -1, kN * sizeof(int)) == cudaErrorInvalidDevice);
  int* const c = numbers_on(2, kN, 0);
  REQUIRE(cudaMemcpy(c, a, kN * sizeof(int), cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(on_host(c, kN) == on_host(a, kN));
  int host = 0;
  CHECK(cudaMemcpyPeerAsync(&host, 0, a, 0, sizeof host) != cudaSuccess);
  CHECK(cudaMemcpyPeerAsync(c + 1, 2, a, 0, sizeof host) == cudaSuccess);
  CHECK(on_host(c, kN)[1] == 7);
}

TEST_CASE("a copy between two devices comes behind all that they have to do, and before the rest") {
  const Machine machine;
  constexpr int kN = 1000;
  for (const int current : {0, 1, 2}) {
    int* const a = numbers_on(0, kN, 7);
    int* const b = numbers_on(1, kN, 0);
    REQUIRE(cudaSetDevice(current) == cudaSuccess);
    REQUIRE(cudaMemcpyPeer(b, 1, a, 0, kN * sizeof(int)) == cudaSuccess);
    REQUIRE(cudaFree(a) == cudaSuccess);
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    const std::vector<int> values = on_host(b, kN);
    CHECK(values[0] == 7);
    CHECK(values[kN - 1] == kN + 6);
  }
}

TEST_CASE("with peer access a kernel uses memory of another device") {
  const Machine machine;
  int* const a = numbers_on(0, 100, 1);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  int* const b = numbers_on(1, 100, 1000);
  int can = -1;
  CHECK(cudaDeviceCanAccessPeer(&can, 1, 1) == cudaSuccess);
  CHECK(can == 0);
  CHECK(cudaDeviceCanAccessPeer(&can, 1, 0) == cudaSuccess);
  CHECK(can == 1);
  CHECK(cudaDeviceCanAccessPeer(&can, 1, kDevices) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);  // itself
  CHECK(cudaDeviceEnablePeerAccess(0, 1) == cudaErrorInvalidValue);
  CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
  REQUIRE(cudaDeviceEnablePeerAccess(0, 0) == cudaSuccess);
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
  add<<<1, 128>>>(a, b, 100);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  std::vector<int> expected(100);
  for (int i = 0; i < 100; ++i) expected[static_cast<std::size_t>(i)] = 1001 + 2 * i;
  CHECK(on_host(b, 100) == expected);
  CHECK(cudaDeviceDisablePeerAccess(0) == cudaSuccess);
  add<<<1, 128>>>(a, b, 100);  // reported
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

TEST_CASE("peer access goes one way") {
  const Machine machine;
  int* const a = numbers_on(0, 10, 1);
  REQUIRE(cudaDeviceEnablePeerAccess(1, 0) == cudaSuccess);  // 0 may use 1's memory
  int* const b = numbers_on(1, 10, 1);
  add<<<1, 32>>>(a, b, 10);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

TEST_CASE("each device has variables of its own; a managed one is there once") {
  const Machine machine;
  shared_by_all = 0;
  for (int device = 0; device < kDevices; ++device) {
    REQUIRE(cudaSetDevice(device) == cudaSuccess);
    count<<<1, 1>>>(device + 1);
  }
  for (int device = 0; device < kDevices; ++device) {
    REQUIRE(cudaSetDevice(device) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(counter_here() == 5 + device + 1);
  }
  CHECK(shared_by_all == 6);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  const int nine = 9;
  REQUIRE(cudaMemcpyToSymbol(counter, &nine, sizeof nine) == cudaSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  CHECK(counter_here() == 6);
  REQUIRE(cudaDeviceReset() == cudaSuccess);
  CHECK(counter_here() == 5);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  CHECK(counter_here() == 9);
}

TEST_CASE("one waits for the current device alone") {
  const Machine machine;
  int* mapped = nullptr;
  REQUIRE(cudaHostAlloc(&mapped, 2 * sizeof(int), cudaHostAllocPortable) == cudaSuccess);
  mapped[0] = mapped[1] = -1;
  for (int device = 0; device < 2; ++device) {
    REQUIRE(cudaSetDevice(device) == cudaSuccess);
    iota<<<1, 1>>>(mapped + device, 1, 10);
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(mapped[1] == 10);
  // In a random order work that nobody waits for may run as well.
  if (cuda_cpu::schedule().kind != cuda_cpu::Schedule::Kind::kRandom) CHECK(mapped[0] == -1);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(mapped[0] == 10);
  REQUIRE(cudaFreeHost(mapped) == cudaSuccess);
}

TEST_CASE("streams and events belong to a device, and one may wait for another's") {
  const Machine machine;
  cudaStream_t streams[2];
  cudaEvent_t events[2];
  for (int device = 0; device < 2; ++device) {
    REQUIRE(cudaSetDevice(device) == cudaSuccess);
    REQUIRE(cudaStreamCreate(&streams[device]) == cudaSuccess);
    REQUIRE(cudaEventCreate(&events[device]) == cudaSuccess);
    int of = -1;
    REQUIRE(cudaStreamGetDevice(streams[device], &of) == cudaSuccess);
    CHECK(of == device);
  }
  // Device 1 is current. A copy may go to any stream; a kernel and an event may not.
  int* const a = numbers_on(1, 10, 3);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  int host[10] = {};
  CHECK(cudaMemcpyAsync(host, a, sizeof host, cudaMemcpyDefault, streams[0]) == cudaSuccess);
  CHECK(cudaEventRecord(events[1], streams[0]) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(events[0], streams[0]) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(streams[1], events[0], 0) == cudaSuccess);
  CHECK(cudaEventRecord(events[1], streams[1]) == cudaSuccess);
  CHECK(cudaEventSynchronize(events[1]) == cudaSuccess);
  CHECK(host[9] == 12);
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, events[0], events[1]) == cudaErrorInvalidResourceHandle);
  iota<<<1, 1, 0, streams[0]>>>(a, 1, 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

TEST_CASE("cudaDeviceReset ends what one device has") {
  const Machine machine;
  int* const a = numbers_on(0, 10, 3);
  int* const b = numbers_on(1, 10, 5);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  cudaEvent_t here = nullptr, there = nullptr;
  REQUIRE(cudaEventCreate(&here) == cudaSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  REQUIRE(cudaEventCreate(&there) == cudaSuccess);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  REQUIRE(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaEventRecord(here) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(there) == cudaSuccess);
  cudaPointerAttributes attributes{};
  REQUIRE(cudaPointerGetAttributes(&attributes, b) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  CHECK(on_host(a, 10)[9] == 12);
}

TEST_CASE("each device has a memory pool") {
  const Machine machine;
  cudaMemPool_t pools[2];
  for (int device = 0; device < 2; ++device) {
    REQUIRE(cudaDeviceGetDefaultMemPool(&pools[device], device) == cudaSuccess);
  }
  CHECK(pools[0] != pools[1]);
  CHECK(cudaDeviceSetMemPool(0, pools[1]) == cudaErrorInvalidValue);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  int* x = nullptr;
  REQUIRE(cudaMallocAsync(&x, 64, nullptr) == cudaSuccess);
  std::uint64_t used[2];
  for (int device = 0; device < 2; ++device) {
    REQUIRE(cudaMemPoolGetAttribute(pools[device], cudaMemPoolAttrUsedMemCurrent, &used[device]) ==
            cudaSuccess);
  }
  CHECK(used[0] == 0);
  CHECK(used[1] == 64);
  CHECK(cudaFreeAsync(x, nullptr) == cudaSuccess);
}
