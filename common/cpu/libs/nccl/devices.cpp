// SPDX-License-Identifier: MIT
// A program with NCCL is about several devices: it finds four, unless CUDA_CPU_DEVICES says
// otherwise. Processes that it starts find as many.
#include <cstdlib>

namespace {

// Before settings are read.
__attribute__((constructor(101))) void find_four_devices() { setenv("CUDA_CPU_DEVICES", "4", 0); }

}  // namespace
