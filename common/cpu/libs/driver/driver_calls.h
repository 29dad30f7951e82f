// SPDX-License-Identifier: MIT
// The driver API's calls for contexts, and for what lives in them. A wrong call returns the code
// that the driver does, and a report explains it. Where CUDA leaves open what happens, the call
// fails, though a driver may let it pass.
#pragma once

#include <cstddef>

#include "../../types/site.h"
#include "driver_types.h"

CUresult cuInit(unsigned int flags);
CUresult cuGetErrorName(CUresult error, const char** name);
CUresult cuGetErrorString(CUresult error, const char** text);

CUresult cuDeviceGetCount(int* count, CUDA_CPU_SITE);
CUresult cuDeviceGet(CUdevice* device, int ordinal, CUDA_CPU_SITE);
CUresult cuDeviceGetName(char* name, int length, CUdevice device, CUDA_CPU_SITE);
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device,
                              CUDA_CPU_SITE);

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device, CUDA_CPU_SITE);
CUresult cuDevicePrimaryCtxRelease(CUdevice device, CUDA_CPU_SITE);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active,
                                    CUDA_CPU_SITE);
CUresult cuDevicePrimaryCtxReset(CUdevice device, CUDA_CPU_SITE);

CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags,
                     CUdevice device, CUDA_CPU_SITE);
/// The form of CUDA 12.
CUresult cuCtxCreate(CUcontext* context, unsigned int flags, CUdevice device, CUDA_CPU_SITE);
CUresult cuCtxDestroy(CUcontext context, CUDA_CPU_SITE);
CUresult cuCtxPushCurrent(CUcontext context, CUDA_CPU_SITE);
CUresult cuCtxPopCurrent(CUcontext* context, CUDA_CPU_SITE);
CUresult cuCtxSetCurrent(CUcontext context, CUDA_CPU_SITE);
CUresult cuCtxGetCurrent(CUcontext* context, CUDA_CPU_SITE);
CUresult cuCtxGetDevice(CUdevice* device, CUDA_CPU_SITE);
CUresult cuCtxSynchronize(CUDA_CPU_SITE);

CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes, CUDA_CPU_SITE);
CUresult cuMemFree(CUdeviceptr pointer, CUDA_CPU_SITE);
CUresult cuMemcpyHtoD(CUdeviceptr destination, const void* source, size_t bytes, CUDA_CPU_SITE);
CUresult cuMemcpyDtoH(void* destination, CUdeviceptr source, size_t bytes, CUDA_CPU_SITE);
CUresult cuMemGetInfo(size_t* free, size_t* total, CUDA_CPU_SITE);
CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer,
                               CUDA_CPU_SITE);

CUresult cuStreamCreate(CUstream* stream, unsigned int flags, CUDA_CPU_SITE);
CUresult cuStreamSynchronize(CUstream stream, CUDA_CPU_SITE);
CUresult cuStreamDestroy(CUstream stream, CUDA_CPU_SITE);
