// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 18, write the code: one user more of the primary context.
//
// A Keeper keeps ints in the device's memory while it lives, and uses the driver API alone. Its
// memory is in the primary context, which it shares with whoever else is there. When it ends,
// nothing of it is left: it has freed its memory, and the primary context has one user less.
// Any host thread may make, ask or end a Keeper, whatever is on that thread's stack; afterwards it
// is there again.
// Check it: make lab CH=18 EX=2      A hint: make hint CH=18 EX=2
#include <cuda.h>

#include "common/common.cuh"

#define DRIVER_CHECK(call) CUDA_CHECK(static_cast<cudaError_t>(call))  // the codes have one meaning

class Keeper {
 public:
  Keeper(CUdevice device, const std::vector<int>& values) : device_(device), n_(values.size()) {
    DRIVER_CHECK(cuDevicePrimaryCtxRetain(&primary_, device_));
    DRIVER_CHECK(cuCtxPushCurrent(primary_));
    DRIVER_CHECK(cuMemAlloc(&d_values_, n_ * sizeof(int)));
    DRIVER_CHECK(cuMemcpyHtoD(d_values_, values.data(), n_ * sizeof(int)));
    DRIVER_CHECK(cuCtxPopCurrent(nullptr));
  }

  ~Keeper() {
    cuCtxPushCurrent(primary_);
    cuMemFree(d_values_);
    cuCtxPopCurrent(nullptr);
    cuDevicePrimaryCtxRelease(device_);
  }
  Keeper(const Keeper&) = delete;

  std::vector<int> values() const {
    std::vector<int> values(n_);
    DRIVER_CHECK(cuCtxPushCurrent(primary_));
    DRIVER_CHECK(cuMemcpyDtoH(values.data(), d_values_, n_ * sizeof(int)));
    DRIVER_CHECK(cuCtxPopCurrent(nullptr));
    return values;
  }

  CUdeviceptr address() const { return d_values_; }

 private:
  CUdevice device_;
  CUcontext primary_ = nullptr;
  CUdeviceptr d_values_ = 0;
  std::size_t n_;
};
