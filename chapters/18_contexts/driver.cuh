// SPDX-License-Identifier: MIT
// The driver API's errors, and a context of one's own: for the program and its experiments.
#pragma once

#include <cuda.h>

#include "../../common/common.cuh"

// The name of an answer. The driver knows no name for the code of a later one.
std::string name_of(CUresult answer) {
  const char* name = nullptr;
  cuGetErrorName(answer, &name);
  return name == nullptr ? text("error ", static_cast<int>(answer)) : name;
}

// The driver API has codes and texts of its own.
void check_driver(CUresult status, const char* call, const char* file, int line) {
  if (status == CUDA_SUCCESS) return;
  const char* what = nullptr;
  cuGetErrorString(status, &what);
  on_cuda_failure(text(file, ":", line, ": ", call, " failed: ", name_of(status),
                       what == nullptr ? "" : text(": ", what)));
}
#define DRIVER_CHECK(call) check_driver((call), #call, __FILE__, __LINE__)

// Leaves it on top of this host thread's stack.
CUresult try_to_create(CUcontext* context, CUdevice device) {
#if CUDA_VERSION >= 13000
  return cuCtxCreate(context, nullptr, CU_CTX_SCHED_AUTO, device);
#else
  return cuCtxCreate(context, CU_CTX_SCHED_AUTO, device);
#endif
}
CUcontext create_context(CUdevice device) {
  CUcontext context = nullptr;
  DRIVER_CHECK(try_to_create(&context, device));
  return context;
}

// The device of --device.
CUdevice device_of(const Options& opt) {
  CUdevice device = 0;
  DRIVER_CHECK(cuInit(0));
  DRIVER_CHECK(cuDeviceGet(&device, static_cast<int>(opt.device)));
  return device;
}
