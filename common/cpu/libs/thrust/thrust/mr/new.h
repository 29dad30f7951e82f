// SPDX-License-Identifier: MIT
// Before Thrust's own <thrust/mr/new.h>: with its system for the host a device_vector's elements
// come from here. They are device memory, so that kernels may have them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <new>

#define new_delete_resource new_delete_resource_of_the_host
#include_next <thrust/mr/new.h>
#undef new_delete_resource

namespace cuda_cpu {
void open_device_memory(unsigned devices);
void keep_unwritten_memory(bool on);
}  // namespace cuda_cpu

namespace thrust::mr {

class new_delete_resource final : public memory_resource<> {
 public:
  void* do_allocate(std::size_t bytes, std::size_t) override {
    [[maybe_unused]] static const bool is_open =
        (cuda_cpu::open_device_memory(~0u), cuda_cpu::keep_unwritten_memory(false), true);
    void* memory = nullptr;
    if (bytes > 0 && cudaMalloc(&memory, bytes) != cudaSuccess) throw std::bad_alloc();
    return memory;
  }
  void do_deallocate(void* memory, std::size_t, std::size_t) override { cudaFree(memory); }
};

}  // namespace thrust::mr
