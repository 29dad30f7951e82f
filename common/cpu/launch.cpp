// SPDX-License-Identifier: MIT
#include "launch.h"

#include <string>

#include "diagnostics.h"
#include "memory.h"
#include "streams.h"

namespace cuda_cpu {

namespace {

std::uint64_t product(const dim3& d) { return std::uint64_t{d.x} * d.y * d.z; }

// Says in words what is wrong with a launch, and returns the toolkit's code for it; 0 when all is
// well.
int check_configuration(const LaunchConfig& config, bool cooperative, const void* function,
                        std::string* problem) {
  const dim3 &grid = config.grid, &block = config.block;
  if (product(grid) == 0 || product(block) == 0) {
    *problem = "a dimension of the grid or the block is 0";
    return kErrorInvalidConfiguration;
  }
  if (product(block) > kMaxThreadsPerBlock) {
    *problem = format("a block of %llu threads; the limit is %u",
                      static_cast<unsigned long long>(product(block)), kMaxThreadsPerBlock);
    return kErrorInvalidConfiguration;
  }
  if (block.z > 64) {
    *problem = format("a block with blockDim.z = %u; the limit is 64", block.z);
    return kErrorInvalidConfiguration;
  }
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
    *problem = "the limits of a grid are (2147483647,65535,65535) blocks";
    return kErrorInvalidConfiguration;
  }
  const std::size_t limit = dynamic_shared_limit(function);
  if (config.dynamic_shared_bytes > limit) {
    *problem = format("%zu bytes of dynamic shared memory; the limit is %zu%s",
                      config.dynamic_shared_bytes, limit,
                      limit < kSharedPerBlockOptIn ? " without cudaFuncSetAttribute" : "");
    return kErrorInvalidValue;
  }
  if (cooperative) {
    const std::uint64_t by_threads = kMaxThreadsPerWorker / product(block);
    const std::uint64_t per_worker =
        by_threads < kMaxBlocksPerWorker ? by_threads : kMaxBlocksPerWorker;
    if (product(grid) > per_worker * worker_count()) {
      *problem = format("a cooperative grid of %llu blocks; %llu can be resident together",
                        static_cast<unsigned long long>(product(grid)),
                        static_cast<unsigned long long>(per_worker * worker_count()));
      return kErrorCooperativeLaunchTooLarge;
    }
  }
  return 0;
}

int refuse(const LaunchConfig& config, const KernelSite& site, std::string problem, int error) {
  Report r;
  r.headline = format("kernel '%s' cannot be launched with <<<%s, %s>>>", site.name,
                      to_text(config.grid).c_str(), to_text(config.block).c_str());
  r.site = {site.file, site.line};
  r.details.push_back(std::move(problem));
  r.cuda_error = error;
  set_last_error(misuse(r));
  return error;
}

}  // namespace

int enqueue_grid(const LaunchConfig& config, const KernelSite& site, bool cooperative,
                 KernelCall call) {
  if (in_kernel())
    die("%s:%d: a kernel launches a kernel; that is not supported", site.file, site.line);
  std::string problem;
  if (const int error = check_configuration(config, cooperative, call.function, &problem)) {
    return refuse(config, site, std::move(problem), error);
  }
  GridLaunch launch;
  launch.kernel = site;
  launch.grid = config.grid;
  launch.block = config.block;
  launch.dynamic_shared_bytes = config.dynamic_shared_bytes;
  launch.cooperative = cooperative;
  launch.body = call.body;
  launch.closure = call.closure;
  launch.function = call.function;
  launch.arguments = std::move(call.arguments);
  launch.arguments_hash = call.arguments_hash;
  const int error = enqueue(
      config.stream,
      [launch, owner = std::move(call.owner)] {
        open_device_memory();
        int failure = run_grid(launch);
        if (failure == 0) failure = check_slack(launch.kernel);
        close_device_memory();
        return failure;
      },
      WorkLabel{"kernel", Site{site.file, site.line}, site.name});
  if (error != 0) set_last_error(error);
  return error;
}

int run_grid_now(const LaunchConfig& config, const KernelSite& site, KernelCall call) {
  if (const int error = enqueue_grid(config, site, false, std::move(call))) return error;
  return run_stream(config.stream);
}

void ArgumentText::add_pointer(const void* pointer) {
  text += '*';
  Region region;
  if (pointer == nullptr || !find_live_region(pointer, &region)) return;
  // Another array matters where it is other memory: its pages, its size.
  add_bytes(&region.space, sizeof(region.space));
  add_bytes(&region.size, sizeof(region.size));
  if (region.space == Space::kHostPinned || region.space == Space::kHostRegistered) text += "host";
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(pointer) - region.base;
  if (offset != 0) text += format("+%zu", static_cast<std::size_t>(offset));
}

void ArgumentText::add_number(double value) {
  text += format("%g", value);
  add_bytes(&value, sizeof(value));
}

void ArgumentText::add_bytes(const void* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
  }
}

bool check_pointer_argument(const KernelSite& site, std::size_t position, const void* pointer) {
  // A freed device pointer passes: the access itself is reported, with more to say.
  if (is_kernel_accessible(pointer) || is_device_address(pointer)) return true;
  Report r;
  r.headline = format("a host pointer is passed to kernel '%s'", site.name);
  r.site = {site.file, site.line};
  r.details.push_back(
      format("argument %zu, %p, is no address that kernels can reach", position + 1, pointer));
  r.help =
      "allocate with cudaMalloc and copy with cudaMemcpy, or use cudaMallocHost or "
      "cudaMallocManaged";
  r.cuda_error = kErrorIllegalAddress;
  set_last_error(report(r));
  return false;
}

}  // namespace cuda_cpu
