// SPDX-License-Identifier: MIT
// Contexts of the driver API that are used wrongly.
//
// CASE: driver_not_initialised
// The first call is not cuInit, and the program asks what its error means.
// EXPECT-STATUS: 0
// EXPECT: {file}:{early}: error: cuCtxCreate before cuInit
// EXPECT: help: the first call of the driver API is cuInit(0)
// EXPECT-STDOUT: CUDA_ERROR_NOT_INITIALIZED: initialization error
//
// CASE: thread_without_context
// A context that one host thread has made is not current in another one.
// EXPECT: {file}:{elsewhere}: error: cuMemAlloc: no context is current in this host thread
// EXPECT: help: each host thread has its own: cuCtxPushCurrent or cuCtxSetCurrent makes one current
//
// CASE: pointer_of_another_context
// An H200 with driver 580 runs this kernel and reports nothing.
// EXPECT: {file}:{launch}: error: memory of another context is passed to kernel 'store'
// EXPECT: no error is promised: an H200 lets such a kernel run to its end
// EXPECT: {file}:{foreign}: note: allocated here by cuMemAlloc
// EXPECT: help: make the context current that owns the memory, or copy from one to the other
//
// CASE: memory_gone_with_its_context
// EXPECT: {file}:{write}: error: use after free (write) in kernel 'store'
// EXPECT: {file}:{owned}: note: allocated here by cuMemAlloc
// EXPECT: {file}:{end}: note: freed here
//
// CASE: stream_gone_with_its_context
// EXPECT: {file}:{late}: error: kernel 'store' cannot be launched with <<<(1,1,1), (1,1,1)>>>
// EXPECT: a stream that does not exist; was it destroyed before?
//
// CASE: stream_of_another_context
// An H200 with driver 580 takes this launch.
// EXPECT: {file}:{astray}: error: kernel 'store' cannot be launched with <<<(1,1,1), (1,1,1)>>>
// EXPECT: the stream belongs to another context than the current one; no error is promised
//
// CASE: destroyed_and_pushed
// An H200 with driver 580 returns CUDA_SUCCESS.
// EXPECT: {file}:{revived}: error: cuCtxPushCurrent of a destroyed context
// EXPECT: {file}:{made}: note: created here
// EXPECT: {file}:{ended}: note: destroyed here
//
// CASE: contexts_that_are_right
// Handed from thread to thread, memory of one copied by way of the other, what is left freed by
// cuCtxDestroy.
// EXPECT-STDOUT: 42

#include <cuda.h>

#include <cstdio>
#include <thread>

#include "../../../common/check.cuh"
#include "cases.cuh"

__global__ void store(int* x, int value) {
  *x = value;  // @write
}

CUcontext created() {
  CUcontext context = nullptr;
  cuInit(0);
  cuCtxCreate(&context, nullptr, 0, 0);  // @made
  return context;
}

CASE(driver_not_initialised) {
  CUcontext context = nullptr;
  const CUresult error = cuCtxCreate(&context, nullptr, 0, 0);  // @early
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(error, &name);
  cuGetErrorString(error, &text);
  std::printf("%s: %s\n", name, text);
}

CASE(thread_without_context) {
  created();
  std::thread([] {
    CUdeviceptr x = 0;
    cuMemAlloc(&x, 4);  // @elsewhere
  }).join();
}

CASE(pointer_of_another_context) {
  created();
  CUdeviceptr x = 0;
  cuMemAlloc(&x, 4);  // @foreign
  created();
  store<<<1, 1>>>(reinterpret_cast<int*>(x), 1);  // @launch
  cuCtxSynchronize();
}

CASE(memory_gone_with_its_context) {
  const CUcontext context = created();
  CUdeviceptr x = 0;
  cuMemAlloc(&x, 4);      // @owned
  cuCtxDestroy(context);  // @end
  store<<<1, 1>>>(reinterpret_cast<int*>(x), 1);
  cudaDeviceSynchronize();
}

CASE(stream_gone_with_its_context) {
  const CUcontext outer = created(), inner = created();
  CUstream stream = nullptr;
  cuStreamCreate(&stream, CU_STREAM_DEFAULT);
  cuCtxDestroy(inner);
  CUdeviceptr x = 0;
  cuMemAlloc(&x, 4);
  store<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(x), 1);  // @late
  cuCtxDestroy(outer);
}

CASE(stream_of_another_context) {
  const CUcontext outer = created();
  CUstream stream = nullptr;
  cuStreamCreate(&stream, CU_STREAM_DEFAULT);
  const CUcontext inner = created();
  CUdeviceptr x = 0;
  cuMemAlloc(&x, 4);
  store<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(x), 1);  // @astray
  cuCtxDestroy(inner);
  cuCtxDestroy(outer);
}

CASE(destroyed_and_pushed) {
  const CUcontext context = created();
  cuCtxDestroy(context);      // @ended
  cuCtxPushCurrent(context);  // @revived
}

CASE(contexts_that_are_right) {
  const CUcontext first = created();
  CUdeviceptr x = 0;
  cuMemAlloc(&x, 4);
  cuCtxPopCurrent(nullptr);
  std::thread([&] {
    cuCtxPushCurrent(first);
    store<<<1, 1>>>(reinterpret_cast<int*>(x), 42);
    cuCtxSynchronize();
    cuCtxPopCurrent(nullptr);
  }).join();
  const CUcontext second = created();
  int value = 0;
  cuMemcpyDtoH(&value, x, 4);
  std::printf("%d\n", value);
  cuCtxDestroy(second);
  cuCtxDestroy(first);
  CUcontext primary = nullptr;
  cuDevicePrimaryCtxRetain(&primary, 0);
  cuDevicePrimaryCtxRelease(0);
}
