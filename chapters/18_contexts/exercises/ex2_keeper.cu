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
    // TODO: become a user of the primary context, and put the values there
    // end of TODO
  }

  ~Keeper() {
    // TODO: leave nothing behind
    // end of TODO
  }
  Keeper(const Keeper&) = delete;

  std::vector<int> values() const {
    std::vector<int> values(n_);
    // TODO: fetch them
    // end of TODO
    return values;
  }

  CUdeviceptr address() const { return d_values_; }

 private:
  CUdevice device_;
  CUcontext primary_ = nullptr;
  CUdeviceptr d_values_ = 0;
  std::size_t n_;
};
