// SPDX-License-Identifier: MIT
// Before Thrust's own <thrust/detail/execution_policy.h>: every algorithm of Thrust asks
// strip_const for its policy first. The host's system then works on device memory by itself, at
// once: what was launched before must have ended, and the memory must be open.
#pragma once

#include <cuda_runtime_api.h>

#define strip_const strip_const_and_no_more
#include_next <thrust/detail/execution_policy.h>
#undef strip_const

namespace cuda_cpu {
void open_device_memory(unsigned devices);
void keep_unwritten_memory(bool on);
}  // namespace cuda_cpu

namespace thrust::detail {

template <class Policy>
execution_policy_base<Policy>& strip_const(const execution_policy_base<Policy>& policy) {
  [[maybe_unused]] static const bool is_open =
      (cuda_cpu::open_device_memory(~0u), cuda_cpu::keep_unwritten_memory(false), true);
  cudaDeviceSynchronize();
  return const_cast<execution_policy_base<Policy>&>(policy);
}

}  // namespace thrust::detail
