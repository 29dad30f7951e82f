// SPDX-License-Identifier: MIT
// Launches without `<<<>>>`.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../report/program_image.h"
#include "errors.h"
#include "functions.h"
#include "launch.h"
#include "types.h"

namespace cuda_cpu {

/// Launches a kernel of a certain type by its address.
using LaunchByAddress = int (*)(const LaunchConfig& config, const LaunchedKernel& launched,
                                const void* kernel, void** arguments);
void remember_kernel(const void* kernel, LaunchByAddress launch);
/// Launches a kernel whose type was remembered; `call` is the name for reports.
cudaError_t launch_by_address(const LaunchConfig& config, const void* kernel, void** arguments,
                              const char* call, Site site);

/// Emitted by the pre-pass where a kernel is cast to void*: notes how it is launched.
template <class... Parameters>
void* kernel_address(void (*kernel)(Parameters...)) {
  void* const address = reinterpret_cast<void*>(kernel);
  remember_kernel(address, [](const LaunchConfig& config, const LaunchedKernel& launched,
                              const void* same, void** arguments) {
    const auto typed = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(same));
    return launch_function(config, launched, typed, arguments,
                           std::index_sequence_for<Parameters...>{});
  });
  return address;
}
/// For a name that was not a kernel's after all.
template <class T>
void* kernel_address(T* pointer) {
  return (void*)pointer;
}

/// A kernel's address, with which its type is remembered. By an address alone it was before, where
/// the pre-pass made `(void*)kernel` tell: the type says how to read the arguments.
struct KernelAddress {
  const void* address;

  KernelAddress(const void* known) : address(known) {}
  template <class... Parameters>
  KernelAddress(void (*kernel)(Parameters...)) : address(kernel_address(kernel)) {}
};

}  // namespace cuda_cpu

/// The launches without `<<<>>>`; `arguments` holds the address of each.
cudaError_t cudaLaunchKernel(cuda_cpu::KernelAddress kernel, dim3 grid, dim3 block,
                             void** arguments, size_t dynamic_bytes = 0,
                             cudaStream_t stream = nullptr, CUDA_CPU_SITE);
cudaError_t cudaLaunchCooperativeKernel(cuda_cpu::KernelAddress kernel, dim3 grid, dim3 block,
                                        void** arguments, size_t dynamic_bytes = 0,
                                        cudaStream_t stream = nullptr, CUDA_CPU_SITE);

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
};

namespace cuda_cpu {

using LocatedConfig = Located<const cudaLaunchConfig_t*>;

/// What the structure asks for. *error is set if it cannot be read, or its attributes ask for
/// something that is not supported, which is reported.
LaunchConfig config_of(const LocatedConfig& located, int* error);

}  // namespace cuda_cpu

/// The launch with attributes. Those that only say how fast it may go are taken; clusters and
/// events within a launch are refused.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(cuda_cpu::LocatedConfig located, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  int error = 0;
  const cuda_cpu::LaunchConfig config = cuda_cpu::config_of(located, &error);
  if (error != 0) return cuda_cpu::finish(error);
  const char* const name =
      cuda_cpu::function_name(cuda_cpu::KernelKey(kernel), "cudaLaunchKernelEx");
  return cuda_cpu::finish(cuda_cpu::enqueue_call(
      config, cuda_cpu::LaunchedKernel{name, located.site.file, located.site.line},
      reinterpret_cast<const void*>(kernel), kernel, cuda_cpu::Function<Parameters...>{kernel},
      std::forward<Arguments>(arguments)...));
}

cudaError_t cudaLaunchKernelExC(cuda_cpu::LocatedConfig located, cuda_cpu::KernelAddress kernel,
                                void** arguments);
