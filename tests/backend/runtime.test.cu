// SPDX-License-Identifier: MIT
// The runtime API of the CPU backend behaves as the toolkit documents it: codes, names, limits,
// streams, events, occupancy. Memory and copies are in memory.test.cu.
#include <cuda_runtime.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../catch.hpp"
#include "handles.cuh"
#include "report/diagnostics.h"

namespace {

__global__ void store(int* x, int value) { *x = value; }
__global__ void add_to(int* x, int value) { *x += value; }
__global__ void append(int* log, int* length, int value) { log[(*length)++] = value; }

template <class T>
__global__ void scale(T* x, T factor) {
  x[threadIdx.x] *= factor;
}

}  // namespace

TEST_CASE("error names and texts are the toolkit's") {
  const auto name = [](int code) {
    return std::string(cudaGetErrorName(static_cast<cudaError_t>(code)));
  };
  const auto text = [](int code) {
    return std::string(cudaGetErrorString(static_cast<cudaError_t>(code)));
  };
  CHECK(name(0) == "cudaSuccess");
  CHECK(text(0) == "no error");
  CHECK(name(1) == "cudaErrorInvalidValue");
  CHECK(text(1) == "invalid argument");
  CHECK(name(2) == "cudaErrorMemoryAllocation");
  CHECK(text(2) == "out of memory");
  CHECK(text(9) == "invalid configuration argument");
  CHECK(text(600) == "device not ready");
  CHECK(text(700) == "an illegal memory access was encountered");
  CHECK(text(702) == "the launch timed out and was terminated");
  CHECK(text(720) == "too many blocks in cooperative launch");
  CHECK(name(999) == "cudaErrorUnknown");
  CHECK(name(12345) == "unrecognized error code");
  CHECK(text(12345) == "unrecognized error code");
}

// FEATURE: host: errors of calls
TEST_CASE("cudaGetLastError gives the last error once, cudaPeekAtLastError keeps it") {
  CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a successful call does not clear the last error") {
  CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("the last error belongs to the host thread that made it") {
  CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
  cudaError_t other = cudaErrorUnknown;
  std::thread([&] { other = cudaGetLastError(); }).join();
  CHECK(other == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("there is one device, and other ordinals are refused") {
  int count = 0, device = -1;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 1);
  CHECK(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 0);
  CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 1) == cudaErrorInvalidDevice);
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0) == cudaErrorInvalidValue);
  CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(100000), 0) ==
        cudaErrorInvalidValue);
  cudaGetLastError();
}

// FEATURE: host: properties and attributes of the device
TEST_CASE("properties and attributes agree") {
  cudaDeviceProp p;
  REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  const auto attribute = [](cudaDeviceAttr a) {
    int value = -1;
    CHECK(cudaDeviceGetAttribute(&value, a, 0) == cudaSuccess);
    return value;
  };
  CHECK(std::string(p.name).rfind("CPU backend (", 0) == 0);
  CHECK(p.major == attribute(cudaDevAttrComputeCapabilityMajor));
  CHECK(p.minor == attribute(cudaDevAttrComputeCapabilityMinor));
  CHECK(p.warpSize == 32);
  CHECK(p.warpSize == attribute(cudaDevAttrWarpSize));
  CHECK(p.maxThreadsPerBlock == attribute(cudaDevAttrMaxThreadsPerBlock));
  CHECK(p.maxThreadsDim[2] == attribute(cudaDevAttrMaxBlockDimZ));
  CHECK(p.maxGridSize[0] == attribute(cudaDevAttrMaxGridDimX));
  CHECK(p.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount));
  CHECK(p.maxThreadsPerMultiProcessor == attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
  CHECK(p.maxBlocksPerMultiProcessor == attribute(cudaDevAttrMaxBlocksPerMultiprocessor));
  CHECK(p.regsPerBlock == attribute(cudaDevAttrMaxRegistersPerBlock));
  CHECK(static_cast<int>(p.sharedMemPerBlock) == attribute(cudaDevAttrMaxSharedMemoryPerBlock));
  CHECK(static_cast<int>(p.sharedMemPerBlockOptin) ==
        attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  CHECK(static_cast<int>(p.totalConstMem) == attribute(cudaDevAttrTotalConstantMemory));
  CHECK(p.l2CacheSize == attribute(cudaDevAttrL2CacheSize));
  CHECK(p.unifiedAddressing == attribute(cudaDevAttrUnifiedAddressing));
  CHECK(p.managedMemory == attribute(cudaDevAttrManagedMemory));
  CHECK(p.cooperativeLaunch == attribute(cudaDevAttrCooperativeLaunch));
  CHECK(p.totalGlobalMem > 0);
  // The memory's clock and bus are not known, so a peak bandwidth cannot be computed either.
  CHECK(attribute(cudaDevAttrMemoryClockRate) == 0);
  CHECK(attribute(cudaDevAttrGlobalMemoryBusWidth) == 0);
  CHECK(attribute(cudaDevAttrClockRate) > 0);
}

TEST_CASE("versions are those of CUDA 13.0") {
  int driver = 0, runtime = 0;
  CHECK(cudaDriverGetVersion(&driver) == cudaSuccess);
  CHECK(cudaRuntimeGetVersion(&runtime) == cudaSuccess);
  CHECK(driver == 13000);
  CHECK(runtime == CUDART_VERSION);
}

TEST_CASE("limits and flags are answered") {
  std::size_t stack = 0;
  CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize) == cudaSuccess);
  CHECK(stack >= 1024);
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 2048) == cudaSuccess);
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 22) == cudaSuccess);
  std::size_t fifo = 0;
  CHECK(cudaDeviceGetLimit(&fifo, cudaLimitPrintfFifoSize) == cudaSuccess);
  CHECK(fifo == 1 << 22);
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 1) == cudaErrorUnsupportedLimit);
  CHECK(cudaSetDeviceFlags(cudaDeviceScheduleSpin) == cudaSuccess);
  CHECK(cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield) ==
        cudaErrorInvalidValue);
  unsigned flags = 0;
  CHECK(cudaGetDeviceFlags(&flags) == cudaSuccess);
  CHECK((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleSpin);
  CHECK(cudaInitDevice(0, 0, 0) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("work of one stream runs in its order") {
  const PinnedInt length;
  int* log = nullptr;
  REQUIRE(cudaMallocHost(&log, 10 * sizeof(int)) == cudaSuccess);
  const Stream stream(cudaStreamNonBlocking);
  for (int i = 0; i < 10; ++i) append<<<1, 1, 0, stream.s>>>(log, length.p, i);
  CHECK(cudaStreamSynchronize(stream.s) == cudaSuccess);
  REQUIRE(*length.p == 10);
  for (int i = 0; i < 10; ++i) CHECK(log[i] == i);
  cudaFreeHost(log);
}

TEST_CASE("synchronising one stream does not wait for an independent one") {
  // Not under a random schedule, where other streams may run early.
  const char* const schedule = std::getenv("CUDA_CPU_SCHEDULE");
  if (schedule != nullptr && std::strncmp(schedule, "random", 6) == 0) return;
  const PinnedInt x, y;
  const Stream one(cudaStreamNonBlocking), other(cudaStreamNonBlocking);
  store<<<1, 1, 0, one.s>>>(x.p, 1);
  store<<<1, 1, 0, other.s>>>(y.p, 1);
  CHECK(cudaStreamSynchronize(one.s) == cudaSuccess);
  CHECK(*x.p == 1);
  CHECK(*y.p == 0);
  CHECK(cudaStreamSynchronize(other.s) == cudaSuccess);
  CHECK(*y.p == 1);
}

TEST_CASE("the legacy default stream takes turns with blocking streams") {
  const PinnedInt length;
  int* log = nullptr;
  REQUIRE(cudaMallocHost(&log, 4 * sizeof(int)) == cudaSuccess);
  const Stream a, b;
  append<<<1, 1, 0, a.s>>>(log, length.p, 1);
  append<<<1, 1>>>(log, length.p, 2);
  append<<<1, 1, 0, b.s>>>(log, length.p, 3);
  append<<<1, 1>>>(log, length.p, 4);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(*length.p == 4);
  for (int i = 0; i < 4; ++i) CHECK(log[i] == i + 1);
  cudaFreeHost(log);
}

TEST_CASE("cudaMemcpy waits for earlier work of blocking streams") {
  const Stream stream;
  int *x = nullptr, h_x = 0;
  REQUIRE(cudaMalloc(&x, sizeof(int)) == cudaSuccess);
  store<<<1, 1, 0, stream.s>>>(x, 9);
  CHECK(cudaMemcpy(&h_x, x, sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(h_x == 9);
  cudaFree(x);
}

// FEATURE: streams and graphs: streams and events
TEST_CASE("cudaStreamWaitEvent orders two streams") {
  const PinnedInt length;
  int* log = nullptr;
  REQUIRE(cudaMallocHost(&log, 2 * sizeof(int)) == cudaSuccess);
  const Stream producer(cudaStreamNonBlocking), consumer(cudaStreamNonBlocking);
  const Event ready(cudaEventDisableTiming);
  append<<<1, 1, 0, producer.s>>>(log, length.p, 1);
  CHECK(cudaEventRecord(ready.e, producer.s) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(consumer.s, ready.e) == cudaSuccess);
  append<<<1, 1, 0, consumer.s>>>(log, length.p, 2);
  CHECK(cudaStreamSynchronize(consumer.s) == cudaSuccess);
  REQUIRE(*length.p == 2);
  CHECK(log[0] == 1);
  CHECK(log[1] == 2);
  cudaFreeHost(log);
}

TEST_CASE("a wait captures the event as it was recorded at the call") {
  const PinnedInt x;
  const Stream stream(cudaStreamNonBlocking), other(cudaStreamNonBlocking);
  const Event event;
  // Never recorded: there is nothing to wait for.
  CHECK(cudaStreamWaitEvent(stream.s, event.e) == cudaSuccess);
  store<<<1, 1, 0, other.s>>>(x.p, 1);
  CHECK(cudaEventRecord(event.e, other.s) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream.s) == cudaSuccess);
  CHECK(cudaEventSynchronize(event.e) == cudaSuccess);
  CHECK(*x.p == 1);
}

TEST_CASE("a stream query says not ready first, and then gets on") {
  const PinnedInt x;
  const Stream stream;
  CHECK(cudaStreamQuery(stream.s) == cudaSuccess);
  store<<<1, 1, 0, stream.s>>>(x.p, 3);
  CHECK(cudaStreamQuery(stream.s) == cudaErrorNotReady);
  cudaGetLastError();
  while (cudaStreamQuery(stream.s) == cudaErrorNotReady) {
  }
  CHECK(*x.p == 3);
  cudaGetLastError();
}

TEST_CASE("an event query says not ready first, and then gets on") {
  const PinnedInt x;
  const Event event;
  CHECK(cudaEventQuery(event.e) == cudaSuccess);  // never recorded
  store<<<1, 1>>>(x.p, 3);
  CHECK(cudaEventRecord(event.e) == cudaSuccess);
  CHECK(cudaEventQuery(event.e) == cudaErrorNotReady);
  while (cudaEventQuery(event.e) == cudaErrorNotReady) {
  }
  CHECK(*x.p == 3);
  CHECK(cudaGetLastError() == cudaErrorNotReady);
}

// FEATURE: streams and graphs: the time between two events
TEST_CASE("the time between two events is that of the work between them") {
  const PinnedInt x;
  const Event start, stop;
  CHECK(cudaEventRecord(start.e) == cudaSuccess);
  for (int i = 0; i < 10; ++i) add_to<<<1, 1>>>(x.p, 1);
  CHECK(cudaEventRecord(stop.e) == cudaSuccess);
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start.e, stop.e) == cudaErrorNotReady);
  CHECK(cudaEventSynchronize(stop.e) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start.e, stop.e) == cudaSuccess);
  CHECK(milliseconds >= 0.0f);
  CHECK(milliseconds < 10000.0f);
  CHECK(*x.p == 10);
  cudaGetLastError();
}

TEST_CASE(
    "events around work of the host measure it, and what it does behind them does not count") {
  using std::chrono::milliseconds;
  const PinnedInt x;
  const Event start, around, kernel, end;
  CHECK(cudaEventRecord(start.e) == cudaSuccess);
  std::this_thread::sleep_for(milliseconds(200));
  CHECK(cudaEventRecord(around.e) == cudaSuccess);
  add_to<<<1, 1>>>(x.p, 1);
  CHECK(cudaEventRecord(kernel.e) == cudaSuccess);
  std::this_thread::sleep_for(milliseconds(2000));
  CHECK(cudaEventRecord(end.e) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  float of_host = 0, of_kernel = 0, of_both = 0;
  CHECK(cudaEventElapsedTime(&of_host, start.e, around.e) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&of_kernel, around.e, kernel.e) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&of_both, around.e, end.e) == cudaSuccess);
  CHECK(of_host >= 200.0f);
  CHECK(of_kernel > 0.0f);
  CHECK(of_kernel < 1500.0f);
  CHECK(of_both >= 2000.0f);
}

TEST_CASE("elapsed time needs two recorded events that keep time") {
  const Event never, silent(cudaEventDisableTiming), recorded;
  CHECK(cudaEventRecord(silent.e) == cudaSuccess);
  CHECK(cudaEventRecord(recorded.e) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, never.e, recorded.e) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventElapsedTime(&milliseconds, silent.e, recorded.e) ==
        cudaErrorInvalidResourceHandle);
  CHECK(cudaEventElapsedTime(nullptr, recorded.e, recorded.e) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("invalid handles are refused") {
  cudaStream_t gone = nullptr;
  REQUIRE(cudaStreamCreate(&gone) == cudaSuccess);
  CHECK(cudaStreamDestroy(gone) == cudaSuccess);
  CHECK(cudaStreamSynchronize(gone) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(gone) == cudaErrorInvalidResourceHandle);
  cudaEvent_t event = nullptr;
  CHECK(cudaEventRecord(event) == cudaErrorInvalidResourceHandle);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaEventSynchronize(event) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamCreateWithFlags(&gone, 0x10) == cudaErrorInvalidValue);
  CHECK(cudaEventCreateWithFlags(&event, 0x100) == cudaErrorInvalidValue);
  CHECK(cudaStreamCreate(nullptr) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("work of a destroyed stream still runs") {
  const PinnedInt x;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  store<<<1, 1, 0, stream>>>(x.p, 4);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*x.p == 4);
}

// FEATURE: streams and graphs: priorities of streams
TEST_CASE("streams know their flags and priorities") {
  int least = -1, greatest = 1;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(least == 0);
  CHECK(greatest < least);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100) == cudaSuccess);
  int priority = 1;
  unsigned flags = 0;
  unsigned long long id = 0;
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == greatest);  // clamped
  CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamNonBlocking);
  CHECK(cudaStreamGetId(stream, &id) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

// FEATURE: streams and graphs: the default stream of a thread
TEST_CASE("the per-thread default stream is a stream of its own") {
  const PinnedInt x;
  store<<<1, 1, 0, cudaStreamPerThread>>>(x.p, 8);
  CHECK(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
  CHECK(*x.p == 8);
  store<<<1, 1, 0, cudaStreamLegacy>>>(x.p, 9);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(*x.p == 9);
}

// FEATURE: streams and graphs: managed memory for one stream, a window for the L2 cache
TEST_CASE(
    "a stream takes managed memory and a window for the L2 cache, which are only about speed") {
  int* x = nullptr;
  REQUIRE(cudaMallocManaged(&x, sizeof(int)) == cudaSuccess);
  *x = 1;
  const Stream stream;
  CHECK(cudaStreamAttachMemAsync(stream.s, x) == cudaSuccess);
  cudaStreamAttrValue value{}, back{};
  value.accessPolicyWindow = {x, sizeof(int), 1.0F, cudaAccessPropertyPersisting,
                              cudaAccessPropertyStreaming};
  CHECK(cudaStreamSetAttribute(stream.s, cudaStreamAttributeAccessPolicyWindow, &value) ==
        cudaSuccess);
  CHECK(cudaStreamGetAttribute(stream.s, cudaStreamAttributeAccessPolicyWindow, &back) ==
        cudaSuccess);
  CHECK(back.accessPolicyWindow.base_ptr == x);
  CHECK(back.accessPolicyWindow.num_bytes == sizeof(int));
  add_to<<<1, 1, 0, stream.s>>>(x, 2);
  CHECK(cudaStreamSynchronize(stream.s) == cudaSuccess);
  CHECK(*x == 3);
  CHECK(cudaFree(x) == cudaSuccess);
}

// FEATURE: streams and graphs: host functions in a stream
TEST_CASE("a host function runs in stream order and may not call the runtime") {
  struct Seen {
    int* x;
    int value = -1;
    cudaError_t error = cudaSuccess;
  };
  const PinnedInt x;
  Seen seen{x.p};
  store<<<1, 1>>>(x.p, 6);
  CHECK(cudaLaunchHostFunc(
            nullptr,
            [](void* data) {
              auto* const s = static_cast<Seen*>(data);
              s->value = *s->x;
              s->error = cudaDeviceSynchronize();
            },
            &seen) == cudaSuccess);
  store<<<1, 1>>>(x.p, 7);
  CHECK(seen.value == -1);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(seen.value == 6);
  CHECK(seen.error == cudaErrorNotPermitted);
  CHECK(*x.p == 7);
  cudaGetLastError();
}

TEST_CASE("a host function may not launch a kernel") {
  cudaError_t error = cudaSuccess;
  CHECK(cudaLaunchHostFunc(
            nullptr,
            [](void* data) {
              *static_cast<cudaError_t*>(data) = cudaLaunchKernel(store, dim3(1), dim3(1), nullptr);
            },
            &error) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(error == cudaErrorNotPermitted);
  cudaGetLastError();
}

TEST_CASE("more launches than a queue holds all run") {
  const PinnedInt x;
  for (int i = 0; i < 3000; ++i) add_to<<<1, 1>>>(x.p, 1);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*x.p == 3000);
}

// FEATURE: host: several host threads
TEST_CASE("several host threads may use the device at once") {
  const int threads = 4, launches = 50;
  std::vector<std::unique_ptr<PinnedInt>> counters;
  for (int t = 0; t < threads; ++t) counters.push_back(std::make_unique<PinnedInt>());
  std::vector<cudaError_t> errors(threads, cudaErrorUnknown);
  std::vector<std::thread> hosts;
  for (int t = 0; t < threads; ++t) {
    hosts.emplace_back([&, t] {
      cudaStream_t stream = nullptr;
      errors[t] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      for (int i = 0; i < launches; ++i) add_to<<<1, 1, 0, stream>>>(counters[t]->p, 1);
      if (errors[t] == cudaSuccess) errors[t] = cudaStreamSynchronize(stream);
      if (errors[t] == cudaSuccess) errors[t] = cudaStreamDestroy(stream);
    });
  }
  for (std::thread& host : hosts) host.join();
  for (int t = 0; t < threads; ++t) {
    CHECK(errors[t] == cudaSuccess);
    CHECK(*counters[t]->p == launches);
  }
}

TEST_CASE("a kernel's attributes are those of the imitated device") {
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, scale<float>) == cudaSuccess);
  CHECK(attributes.maxThreadsPerBlock == 1024);
  CHECK(attributes.maxDynamicSharedSizeBytes == 48 * 1024);
  CHECK(cudaFuncSetAttribute(scale<float>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             64 * 1024) == cudaSuccess);
  CHECK(cudaFuncGetAttributes(&attributes, scale<float>) == cudaSuccess);
  CHECK(attributes.maxDynamicSharedSizeBytes == 64 * 1024);
  CHECK(cudaFuncSetAttribute(scale<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) ==
        cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(scale<float>, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared) == cudaSuccess);
  CHECK(cudaFuncSetCacheConfig(scale<float>, cudaFuncCachePreferL1) == cudaSuccess);
  cudaGetLastError();
}

// FEATURE: kernels: the occupancy API
TEST_CASE("occupancy follows threads, blocks and shared memory") {
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<double>, 256, 0) ==
        cudaSuccess);
  CHECK(blocks == 8);  // 2048 threads
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<double>, 32, 0) ==
        cudaSuccess);
  CHECK(blocks == 32);  // the limit of blocks
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<double>, 33, 0) ==
        cudaSuccess);
  CHECK(blocks == 32);  // two warps each
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<double>, 256, 45 * 1024) ==
        cudaSuccess);
  CHECK(blocks == 4);  // 228 KiB over 46
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<double>, 1025, 0) ==
        cudaSuccess);
  CHECK(blocks == 0);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<double>, 0, 0) ==
        cudaErrorInvalidValue);
  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale<double>) == cudaSuccess);
  cudaDeviceProp p;
  REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  CHECK(block == 1024);
  CHECK(grid == 2 * p.multiProcessorCount);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale<double>, 0, 200) == cudaSuccess);
  CHECK(block <= 200);
  CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, scale<double>,
                                                       [](int threads) { return threads * 100; }) ==
        cudaSuccess);
  CHECK(block * 100 <= 48 * 1024);
  std::size_t dynamic = 0;
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, scale<double>, 8, 256) == cudaSuccess);
  CHECK(dynamic > 26 * 1024);
  CHECK(dynamic < 29 * 1024);
  cudaGetLastError();
}

TEST_CASE("a cooperative grid has as many blocks as occupancy says") {
  int multiprocessors = 0;
  REQUIRE(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0) ==
          cudaSuccess);
  const std::pair<std::size_t, int> bytes_and_blocks[] = {
      {0, 16},                      // of 4 warps each, in 64
      {std::size_t{40} << 10, 5}};  // of 41 KiB each, in 228
  for (const auto& [bytes, expected] : bytes_and_blocks) {
    int blocks = 0;
    REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, store, 100, bytes) ==
            cudaSuccess);
    CHECK(blocks == expected);
    const auto most = static_cast<unsigned>(blocks * multiprocessors);
    const PinnedInt x;
    int value = 7;
    int* pointer = x.p;
    void* arguments[] = {&pointer, &value};
    CHECK(cudaLaunchCooperativeKernel(store, dim3(most), dim3(100), arguments, bytes) ==
          cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(*x.p == 7);
    CHECK(cudaLaunchCooperativeKernel(store, dim3(most + 1), dim3(100), arguments, bytes) ==
          cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  }
}

TEST_CASE("occupancy follows a kernel's wish for the split of L1 and shared memory") {
  // Of these blocks each takes 25 KiB, with the one that is reserved: as on an H200.
  const std::vector<std::pair<int, int>> expected = {{0, 1},  {25, 2},  {50, 5},
                                                     {75, 7}, {100, 8}, {-1, 8}};
  for (const auto& [carveout, blocks] : expected) {
    int held = 0;
    CHECK(cudaFuncSetAttribute(scale<int>, cudaFuncAttributePreferredSharedMemoryCarveout,
                               carveout) == cudaSuccess);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, scale<int>, 256, 24 * 1024) ==
          cudaSuccess);
    INFO("carve-out " << carveout);
    CHECK(held == blocks);
  }
}

TEST_CASE("frees can be deleters") {
  float *d = nullptr, *h = nullptr;
  REQUIRE(cudaMalloc(&d, 4) == cudaSuccess);
  REQUIRE(cudaMallocHost(&h, 4) == cudaSuccess);
  { const std::unique_ptr<float, decltype(&cudaFree)> device(d, &cudaFree); }
  { const std::unique_ptr<float, decltype(&cudaFreeHost)> host(h, cudaFreeHost); }
  CHECK(cudaFree(d) == cudaErrorInvalidValue);
  cudaGetLastError();
  const std::function<cudaError_t(void*)> free_it = cudaFree;
  CHECK(free_it(nullptr) == cudaSuccess);
  CHECK(cudaFree(0) == cudaSuccess);
}

// FEATURE: host: errors of kernels
TEST_CASE("the error of a failed kernel sticks until the device is reset") {
  int* freed = nullptr;
  REQUIRE(cudaMalloc(&freed, sizeof(int)) == cudaSuccess);
  REQUIRE(cudaFree(freed) == cudaSuccess);
  store<<<1, 1>>>(freed, 1);
  CHECK(cudaGetLastError() == cudaSuccess);  // it has not run yet
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  int* p = nullptr;
  CHECK(cudaMalloc(&p, 4) == cudaErrorIllegalAddress);
  store<<<1, 1>>>(freed, 1);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMalloc(&p, 4) == cudaSuccess);
  CHECK(cudaFree(p) == cudaSuccess);
  cuda_cpu::reset_diagnostics();
}

TEST_CASE("cudaDeviceReset runs what was launched before it") {
  static int seen;
  seen = 0;
  CHECK(cudaLaunchHostFunc(
            nullptr, [](void*) { seen = 1; }, nullptr) == cudaSuccess);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(seen == 1);
}
