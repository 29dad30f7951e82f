// SPDX-License-Identifier: MIT
// For experiments: contexts with a word and a stream each, as in the chapter's program.
#pragma once

#include <cuda.h>

#include "../../../common/common.cuh"

// The name of an answer of the driver API, or of the runtime.
std::string name_of(CUresult answer) {
  const char* name = nullptr;
  cuGetErrorName(answer, &name);
  return name == nullptr ? text("CUDA_ERROR ", static_cast<int>(answer)) : name;
}
std::string name_of(cudaError_t answer) { return cudaGetErrorName(answer); }

void expect_success(CUresult status, const char* call, const char* file, int line) {
  if (status == CUDA_SUCCESS) return;
  on_cuda_failure(text(file, ":", line, ": ", call, " failed: ", name_of(status)));
}
#define DRIVER_CHECK(call) expect_success((call), #call, __FILE__, __LINE__)

CUcontext create_context(CUdevice device) {
  CUcontext context = nullptr;
#if CUDA_VERSION >= 13000
  DRIVER_CHECK(cuCtxCreate(&context, nullptr, CU_CTX_SCHED_AUTO, device));
#else
  DRIVER_CHECK(cuCtxCreate(&context, CU_CTX_SCHED_AUTO, device));
#endif
  return context;
}

CUdevice device_of(const Options& opt) {
  DRIVER_CHECK(cuInit(0));
  CUdevice device = 0;
  DRIVER_CHECK(cuDeviceGet(&device, static_cast<int>(opt.device)));
  return device;
}

// A word and a stream of the context that is current when they are made.
struct Belongings {
  Belongings() {
    DRIVER_CHECK(cuMemAlloc(&word, sizeof(unsigned)));
    DRIVER_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }
  unsigned* pointer() const { return reinterpret_cast<unsigned*>(word); }

  CUdeviceptr word = 0;
  CUstream stream = nullptr;
};
