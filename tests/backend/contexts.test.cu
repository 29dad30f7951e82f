// SPDX-License-Identifier: MIT
// Contexts of the driver API on the CPU backend: each host thread's stack, what a context owns, who
// uses the primary one. What happens before cuInit is in zoo/contexts.cu.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "../catch.hpp"
#include "handles.cuh"

namespace {

__global__ void store(int* x, int value) { *x = value; }

// A context of the test's own, and none below it on the stack.
struct Context {
  Context() {
    REQUIRE(cuInit(0) == CUDA_SUCCESS);
    while (current() != nullptr) REQUIRE(cuCtxPopCurrent(nullptr) == CUDA_SUCCESS);
    REQUIRE(cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS);
  }
  ~Context() {
    if (context != nullptr) cuCtxDestroy(context);
    cuda_cpu::reset_diagnostics();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  static CUcontext current() {
    CUcontext current = nullptr;
    REQUIRE(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
    return current;
  }
  CUcontext context = nullptr;
};

CUdeviceptr allocated(size_t bytes = 4) {
  CUdeviceptr pointer = 0;
  REQUIRE(cuMemAlloc(&pointer, bytes) == CUDA_SUCCESS);
  return pointer;
}
int* as_ints(CUdeviceptr pointer) { return reinterpret_cast<int*>(pointer); }

bool primary_is_active() {
  unsigned flags = 1;
  int active = -1;
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active) == CUDA_SUCCESS);
  CHECK(flags == 0);
  return active == 1;
}

void in_another_thread(const std::function<void()>& work) { std::thread(work).join(); }

}  // namespace

// FEATURE: host: `<cuda.h>`: contexts of the driver API, their memory and streams
TEST_CASE("a context is made current by its creation, and by push, pop and set") {
  Context first;
  CHECK(Context::current() == first.context);
  CUcontext second = nullptr, popped = nullptr;
  REQUIRE(cuCtxCreate(&second, nullptr, CU_CTX_SCHED_SPIN, 0) == CUDA_SUCCESS);
  CHECK(second != first.context);
  CHECK(Context::current() == second);
  CHECK(cuCtxPopCurrent(&popped) == CUDA_SUCCESS);
  CHECK(popped == second);
  CHECK(Context::current() == first.context);
  CHECK(cuCtxPushCurrent(second) == CUDA_SUCCESS);
  CHECK(cuCtxPushCurrent(second) == CUDA_SUCCESS);  // a stack may hold one twice
  CHECK(cuCtxPopCurrent(nullptr) == CUDA_SUCCESS);
  CHECK(Context::current() == second);
  CHECK(cuCtxSetCurrent(first.context) == CUDA_SUCCESS);  // takes the place of the top
  CHECK(Context::current() == first.context);
  CHECK(cuCtxSetCurrent(nullptr) == CUDA_SUCCESS);  // pops
  CHECK(Context::current() == first.context);
  CHECK(cuCtxPopCurrent(&popped) == CUDA_SUCCESS);
  CHECK(popped == first.context);
  CHECK(Context::current() == nullptr);
  CHECK(cuCtxSetCurrent(nullptr) == CUDA_SUCCESS);
  CHECK(cuCtxDestroy(second) == CUDA_SUCCESS);
}

TEST_CASE("every host thread has a stack of its own, and a context goes from one to another") {
  Context here;
  const CUdeviceptr x = allocated();
  CUcontext handed = nullptr;
  REQUIRE(cuCtxPopCurrent(&handed) == CUDA_SUCCESS);
  in_another_thread([&] {
    CHECK(Context::current() == nullptr);
    CHECK(cuCtxPushCurrent(handed) == CUDA_SUCCESS);
    store<<<1, 1>>>(as_ints(x), 5);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(cuCtxPopCurrent(nullptr) == CUDA_SUCCESS);
  });
  REQUIRE(cuCtxPushCurrent(handed) == CUDA_SUCCESS);
  int value = 0;
  CHECK(cuMemcpyDtoH(&value, x, 4) == CUDA_SUCCESS);
  CHECK(value == 5);
  // Nor does a push have to come after a pop: one context can be current to several threads.
  in_another_thread([&] {
    CHECK(cuCtxSetCurrent(handed) == CUDA_SUCCESS);
    CHECK(cuMemFree(x) == CUDA_SUCCESS);
  });
}

TEST_CASE("a call without a current context returns CUDA_ERROR_INVALID_CONTEXT and is explained") {
  Context any;
  in_another_thread([] {
    CUdeviceptr x = 0;
    CHECK(cuMemAlloc(&x, 4) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(is_explained("error: cuMemAlloc: no context is current in this host thread"));
    CUstream stream = nullptr;
    CHECK(cuStreamCreate(&stream, 0) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
    CUdevice device = -1;
    CHECK(cuCtxGetDevice(&device) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuCtxPopCurrent(nullptr) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(is_explained("error: cuCtxPopCurrent: the stack of this host thread is empty"));
    CHECK(cudaGetLastError() == cudaSuccess);  // the driver's errors are not the runtime's
  });
}

TEST_CASE("the runtime works in the current context, and in the primary one where none is") {
  Context own;
  int* x = nullptr;
  REQUIRE(cudaMalloc(&x, 4) == cudaSuccess);
  CUcontext owner = nullptr;
  const auto address = reinterpret_cast<CUdeviceptr>(x);
  CHECK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address) == CUDA_SUCCESS);
  CHECK(owner == own.context);
  in_another_thread([&] {
    int* y = nullptr;
    REQUIRE(cudaMalloc(&y, 4) == cudaSuccess);
    CUcontext primary = nullptr, other = nullptr;
    CHECK(cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS);
    CHECK(Context::current() == primary);  // the runtime made it so
    CHECK(primary_is_active());
    CHECK(cuPointerGetAttribute(&other, CU_POINTER_ATTRIBUTE_CONTEXT,
                                reinterpret_cast<CUdeviceptr>(y)) == CUDA_SUCCESS);
    CHECK(other == primary);
    CHECK(cudaFree(y) == cudaSuccess);
    CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
  });
  CHECK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, 64) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cudaSetDevice(0) == cudaSuccess);  // in the place of the own one
  CHECK(Context::current() != own.context);
}

TEST_CASE("destroying a context frees its memory and its streams, and no others") {
  size_t before = 0, between = 0, after = 0, total = 0;
  Context outer;
  const CUdeviceptr kept = allocated(1000);
  REQUIRE(cuMemGetInfo(&before, &total) == CUDA_SUCCESS);
  CUcontext inner = nullptr;
  REQUIRE(cuCtxCreate(&inner, 0, 0) == CUDA_SUCCESS);  // the form of CUDA 12
  const CUdeviceptr gone = allocated(5000);
  int* by_runtime = nullptr;
  REQUIRE(cudaMalloc(&by_runtime, 3000) == cudaSuccess);
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(cuMemGetInfo(&between, &total) == CUDA_SUCCESS);
  CHECK(before - between == 8000);
  CHECK(cuCtxDestroy(inner) == CUDA_SUCCESS);
  CHECK(Context::current() == outer.context);  // it was popped as well
  REQUIRE(cuMemGetInfo(&after, &total) == CUDA_SUCCESS);
  CHECK(after == before);
  int value = 7;
  CHECK(cuMemcpyHtoD(kept, &value, 4) == CUDA_SUCCESS);
  CHECK(cuMemcpyHtoD(gone, &value, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(is_explained("error: cuMemcpyHtoD: the destination was freed"));
  CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuStreamDestroy(stream) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuMemFree(gone) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemFree(kept) == CUDA_SUCCESS);
}

TEST_CASE("work of a context that is destroyed has run") {
  Context own;
  static int* pinned = nullptr;
  CUcontext inner = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 4) == cudaSuccess);  // of the outer one
  *pinned = 0;
  REQUIRE(cuCtxCreate(&inner, nullptr, 0, 0) == CUDA_SUCCESS);
  store<<<1, 1>>>(pinned, 3);
  CHECK(cuCtxDestroy(inner) == CUDA_SUCCESS);
  CHECK(*pinned == 3);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("a destroyed context cannot be used, and stays current to other threads") {
  Context own;
  const CUcontext gone = own.context;
  std::thread other;
  bool has_it = false, is_gone = false;
  const auto wait_for = [](const bool& flag) {
    while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) std::this_thread::yield();
  };
  const auto say = [](bool& flag) { __atomic_store_n(&flag, true, __ATOMIC_RELEASE); };
  CUresult driver = CUDA_SUCCESS;
  cudaError_t runtime = cudaSuccess;
  other = std::thread([&] {
    cuCtxPushCurrent(gone);
    say(has_it);
    wait_for(is_gone);
    driver = cuCtxSynchronize();
    int* x = nullptr;
    runtime = cudaMalloc(&x, 4);
  });
  wait_for(has_it);
  CHECK(cuCtxDestroy(std::exchange(own.context, nullptr)) == CUDA_SUCCESS);
  say(is_gone);
  other.join();
  CHECK(driver == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(runtime == cudaErrorContextIsDestroyed);
  CHECK(Context::current() == nullptr);
  CHECK(cuCtxPushCurrent(gone) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(is_explained("error: cuCtxPushCurrent of a destroyed context"));
  CHECK(cuCtxSetCurrent(gone) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuCtxDestroy(gone) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(is_explained("error: cuCtxDestroy of a destroyed context"));
  CHECK(cuCtxPushCurrent(nullptr) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("the primary context ends with its last user") {
  Context own;
  REQUIRE(cudaDeviceReset() == cudaSuccess);  // the runtime lets it go
  CHECK(!primary_is_active());
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(is_explained("cuDevicePrimaryCtxRelease more often than cuDevicePrimaryCtxRetain"));
  CUcontext primary = nullptr, again = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxRetain(&again, 0) == CUDA_SUCCESS);
  CHECK(primary == again);
  CHECK(Context::current() == own.context);  // retaining does not push
  REQUIRE(cuCtxPushCurrent(primary) == CUDA_SUCCESS);
  const CUdeviceptr x = allocated();
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
  CHECK(primary_is_active());
  int value = 4;
  CHECK(cuMemcpyHtoD(x, &value, 4) == CUDA_SUCCESS);
  CHECK(cuCtxDestroy(primary) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(is_explained("error: cuCtxDestroy of the primary context"));
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
  CHECK(!primary_is_active());
  CHECK(Context::current() == primary);  // releasing does not pop, either
  CHECK(cuMemFree(x) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(is_explained("the primary context is current, and nobody retains it"));
  REQUIRE(cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS);
  CHECK(cuMemFree(x) == CUDA_ERROR_INVALID_VALUE);  // it went with the context
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
}

TEST_CASE("the runtime is one of the primary context's users") {
  Context own;
  in_another_thread([] {
    int* x = nullptr;
    REQUIRE(cudaMalloc(&x, 4) == cudaSuccess);
    CUcontext primary = nullptr;
    REQUIRE(cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS);
    REQUIRE(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
    CHECK(primary_is_active());
    CHECK(cudaMemset(x, 0, 4) == cudaSuccess);
    CHECK(cuDevicePrimaryCtxReset(0) == CUDA_SUCCESS);
    CHECK(!primary_is_active());
    CHECK(cudaMemset(x, 0, 4) == cudaErrorInvalidValue);
    cudaGetLastError();
  });
  CHECK(Context::current() == own.context);  // a reset ends nothing of the others
  CHECK(cuMemFree(allocated()) == CUDA_SUCCESS);
}

TEST_CASE("a kernel gets the memory and the streams of its own context only") {
  Context own;
  const CUdeviceptr x = allocated();
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0) == CUDA_SUCCESS);
  CUcontext inner = nullptr;
  REQUIRE(cuCtxCreate(&inner, nullptr, 0, 0) == CUDA_SUCCESS);
  const CUdeviceptr y = allocated();
  store<<<1, 1, 0, stream>>>(as_ints(y), 1);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  CHECK(is_explained("the stream belongs to another context than the current one"));
  store<<<1, 1, 0, cudaStreamPerThread>>>(as_ints(y), 1);
  CHECK(cudaGetLastError() == cudaSuccess);
  // A copy may: the driver knows whose an address is.
  int value = 8, copied = 0;
  CHECK(cuMemcpyHtoD(x, &value, 4) == CUDA_SUCCESS);
  CHECK(cuMemcpyDtoH(&copied, x, 4) == CUDA_SUCCESS);
  CHECK(copied == 8);
  store<<<1, 1>>>(as_ints(x), 1);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(is_explained("error: memory of another context is passed to kernel 'store'"));
  CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);  // it sticks
  cuda_cpu::reset_diagnostics();
  CHECK(cuCtxDestroy(inner) == CUDA_SUCCESS);
  store<<<1, 1, 0, stream>>>(as_ints(x), 1);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
}

TEST_CASE("memory from a pool belongs to no context") {
  Context own;
  int* x = nullptr;
  REQUIRE(cudaMallocAsync(&x, 4, nullptr) == cudaSuccess);
  REQUIRE(cuCtxDestroy(std::exchange(own.context, nullptr)) == CUDA_SUCCESS);
  CUcontext next = nullptr;
  REQUIRE(cuCtxCreate(&next, nullptr, 0, 0) == CUDA_SUCCESS);
  store<<<1, 1>>>(x, 6);
  int value = 0;
  CHECK(cudaMemcpy(&value, x, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(value == 6);
  CHECK(cudaFreeAsync(x, nullptr) == cudaSuccess);
  CHECK(cuCtxDestroy(next) == CUDA_SUCCESS);
}

TEST_CASE("the driver's questions have the runtime's answers") {
  Context own;
  int count = 0, value = 0;
  CUdevice device = -1;
  CHECK(cuDeviceGetCount(&count) == CUDA_SUCCESS);
  CHECK(count == 1);
  CHECK(cuDeviceGet(&device, 0) == CUDA_SUCCESS);
  CHECK(device == 0);
  CHECK(cuDeviceGet(&device, 1) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(cuCtxGetDevice(&device) == CUDA_SUCCESS);
  char name[256], few[4];
  cudaDeviceProp properties;
  REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  CHECK(cuDeviceGetName(name, sizeof(name), 0) == CUDA_SUCCESS);
  CHECK(std::string(name) == properties.name);
  CHECK(cuDeviceGetName(few, sizeof(few), 0) == CUDA_SUCCESS);
  CHECK(std::string(few) == std::string(properties.name).substr(0, 3));
  CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0) ==
        CUDA_SUCCESS);
  CHECK(value == properties.major);
  CHECK(cuCtxCreate(&own.context, nullptr, 0, 1) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(cuInit(1) == CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr x = 0;
  CHECK(cuMemAlloc(&x, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAlloc(&x, size_t{1} << 60) == CUDA_ERROR_OUT_OF_MEMORY);
  const char* text = nullptr;
  CHECK(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &text) == CUDA_SUCCESS);
  CHECK(std::string(text) == "CUDA_ERROR_INVALID_CONTEXT");
  CHECK(cuGetErrorString(CUDA_ERROR_INVALID_CONTEXT, &text) == CUDA_SUCCESS);
  CHECK(std::string(text) == "invalid device context");
  CHECK(cuGetErrorName(static_cast<CUresult>(12345), &text) == CUDA_ERROR_INVALID_VALUE);
  CHECK(text == nullptr);
}
