// SPDX-License-Identifier: MIT
#include "launch_calls.h"

#include <map>
#include <mutex>

#include "../report/diagnostics.h"
#include "../types/the_only.h"

namespace cuda_cpu {
namespace {

struct Remembered {
  std::mutex mutex;
  std::map<const void*, LaunchByAddress> launches;
};

/// How the kernel is launched; null if its type was not remembered.
LaunchByAddress remembered(const void* kernel) {
  const auto [all, lock] = locked<Remembered>();
  const auto found = all.launches.find(kernel);
  return found != all.launches.end() ? found->second : nullptr;
}

}  // namespace

void remember_kernel(const void* kernel, LaunchByAddress launch) {
  const auto [all, lock] = locked<Remembered>();
  all.launches[kernel] = launch;
}

LaunchConfig config_of(const LocatedConfig& located, int* error) {
  const cudaLaunchConfig_t* const asked = located.value;
  if (asked == nullptr || (asked->numAttrs > 0 && asked->attrs == nullptr)) {
    *error = cudaErrorInvalidValue;
    return {dim3(), dim3()};
  }
  LaunchConfig config(asked->gridDim, asked->blockDim, asked->dynamicSmemBytes, asked->stream);
  for (unsigned i = 0; i < asked->numAttrs; ++i) {
    const cudaLaunchAttributeValue& value = asked->attrs[i].val;
    switch (asked->attrs[i].id) {
      case cudaLaunchAttributeCooperative:
        config.cooperative = value.cooperative != 0;
        break;
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributePreferredSharedMemoryCarveout:
        break;
      case cudaLaunchAttributeProgrammaticStreamSerialization:  // one after the other is right, too
        config.may_start_early = value.programmaticStreamSerializationAllowed != 0;
        break;
      case cudaLaunchAttributeClusterDimension:
        if (value.clusterDim.x == 1 && value.clusterDim.y == 1 && value.clusterDim.z == 1) break;
        *error = misuse(located.site, cudaErrorNotSupported,
                        "a launch in clusters of blocks is not supported");
        break;
      default:
        *error = misuse(
            located.site, cudaErrorNotSupported,
            format("launch attribute %d is not supported", static_cast<int>(asked->attrs[i].id)));
    }
  }
  return config;
}

cudaError_t launch_by_address(const LaunchConfig& config, const void* kernel, void** arguments,
                              const char* call, Site site) {
  CUDA_CPU_BEGIN_CALL();
  const LaunchByAddress launch = remembered(kernel);
  if (launch == nullptr) {
    return finish(misuse(site, cudaErrorInvalidDeviceFunction,
                         format("%s of an address that is not known as a kernel's", call),
                         {format("the address is %p", kernel)}, {},
                         "pass the kernel itself, or (void*)kernel"));
  }
  const LaunchedKernel launched{function_name(kernel, call), site.file, site.line};
  return finish(launch(config, launched, kernel, arguments));
}

}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaLaunchKernel(KernelAddress kernel, dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_bytes, cudaStream_t stream, Site site) {
  return launch_by_address(LaunchConfig(grid, block, dynamic_bytes, stream), kernel.address,
                           arguments, "cudaLaunchKernel", site);
}

cudaError_t cudaLaunchCooperativeKernel(KernelAddress kernel, dim3 grid, dim3 block,
                                        void** arguments, size_t dynamic_bytes, cudaStream_t stream,
                                        Site site) {
  LaunchConfig config(grid, block, dynamic_bytes, stream);
  config.cooperative = true;
  return launch_by_address(config, kernel.address, arguments, "cudaLaunchCooperativeKernel", site);
}

cudaError_t cudaLaunchKernelExC(LocatedConfig located, KernelAddress kernel, void** arguments) {
  CUDA_CPU_BEGIN_CALL();
  int error = 0;
  const LaunchConfig config = config_of(located, &error);
  if (error != 0) return finish(error);
  return launch_by_address(config, kernel.address, arguments, "cudaLaunchKernelExC", located.site);
}
