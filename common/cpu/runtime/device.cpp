// SPDX-License-Identifier: MIT
#include "device.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "../engine/current.h"
#include "../engine/device_functions.h"
#include "../engine/device_limits.h"
#include "../engine/memory.h"
#include "../engine/settings.h"
#include "../engine/stacks.h"
#include "../engine/symbols.h"
#include "call.h"
#include "capture.h"
#include "events.h"
#include "functions.h"
#include "pools.h"
#include "work_queues.h"

#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace cuda_cpu {
namespace {

std::atomic<unsigned> device_flags{cudaDeviceScheduleAuto | cudaDeviceMapHost};
std::atomic<int> cache_config{cudaFuncCachePreferNone};
std::atomic<std::size_t> printf_fifo{std::size_t{1} << 20};

/// Size of the CPU's last-level cache; 0 when the system does not say.
std::size_t last_level_cache() {
#if defined(__APPLE__)
  std::size_t bytes = 0, size = sizeof(bytes);
  for (const char* name : {"hw.l3cachesize", "hw.l2cachesize"}) {
    if (sysctlbyname(name, &bytes, &size, nullptr, 0) == 0 && bytes != 0) return bytes;
  }
  return 0;
#else
  std::size_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    const std::string path = format("/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    std::FILE* const file = std::fopen(path.c_str(), "r");
    if (file == nullptr) break;
    unsigned long kibibytes = 0;
    if (std::fscanf(file, "%luK", &kibibytes) == 1) {
      largest = std::max(largest, static_cast<std::size_t>(kibibytes) << 10);
    }
    std::fclose(file);
  }
  return largest;
#endif
}

int cache_bytes() {
  static const std::size_t bytes = last_level_cache();
  return static_cast<int>(std::min<std::size_t>(bytes, 0x7fffffff));
}

int as_int(std::size_t value) { return static_cast<int>(value); }

/// An attribute, and where a structure of properties has it as an int.
struct Attribute {
  int name, value;
  int cudaDeviceProp::*member = nullptr;
};

const std::vector<Attribute>& known_attributes() {
  using P = cudaDeviceProp;
  static const std::vector<Attribute> kKnown = {
      {cudaDevAttrMaxThreadsPerBlock, as_int(kMaxThreadsPerBlock), &P::maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, as_int(kMaxBlockX)},
      {cudaDevAttrMaxBlockDimY, as_int(kMaxBlockY)},
      {cudaDevAttrMaxBlockDimZ, as_int(kMaxBlockZ)},
      {cudaDevAttrMaxGridDimX, as_int(kMaxGridX)},
      {cudaDevAttrMaxGridDimY, as_int(kMaxGridY)},
      {cudaDevAttrMaxGridDimZ, as_int(kMaxGridZ)},
      {cudaDevAttrMaxSharedMemoryPerBlock, as_int(kSharedPerBlock)},
      {cudaDevAttrTotalConstantMemory, as_int(kConstantMemory)},
      {cudaDevAttrWarpSize, as_int(kWarpSize), &P::warpSize},
      {cudaDevAttrMaxPitch, as_int(kMaxPitch)},
      {cudaDevAttrMaxRegistersPerBlock, as_int(kRegistersPerBlock), &P::regsPerBlock},
      {cudaDevAttrClockRate, kClockKhz},
      {cudaDevAttrTextureAlignment, as_int(kTextureAlignment)},
      {cudaDevAttrTexturePitchAlignment, as_int(kTexturePitchAlignment)},
      {cudaDevAttrSurfaceAlignment, as_int(kSurfaceAlignment)},
      {cudaDevAttrMaxTexture1DWidth, as_int(kMaxTextureWidth)},
      {cudaDevAttrMaxTexture2DWidth, as_int(kMaxTextureWidth)},
      {cudaDevAttrMaxTexture2DHeight, as_int(kMaxTextureHeight)},
      {cudaDevAttrMaxTexture3DWidth, as_int(kMaxTexture3D)},
      {cudaDevAttrMaxTexture3DHeight, as_int(kMaxTexture3D)},
      {cudaDevAttrMaxTexture3DDepth, as_int(kMaxTexture3D)},
      {cudaDevAttrMaxTexture2DGatherWidth, as_int(kMaxTextureGather)},
      {cudaDevAttrMaxTexture2DGatherHeight, as_int(kMaxTextureGather)},
      {cudaDevAttrMaxTexture1DLinearWidth, as_int(kMaxTexture1DLinear)},
      {cudaDevAttrMaxTexture2DLinearWidth, as_int(kMaxTextureWidth)},
      {cudaDevAttrMaxTexture2DLinearHeight, as_int(kMaxPitchedHeight)},
      {cudaDevAttrMaxTexture2DLinearPitch, as_int(kMaxTexturePitch)},
      {cudaDevAttrMaxSurface1DWidth, as_int(kMaxSurface1D), &P::maxSurface1D},
      {cudaDevAttrMaxSurface2DWidth, as_int(kMaxTextureWidth)},
      {cudaDevAttrMaxSurface2DHeight, as_int(kMaxTextureHeight)},
      {cudaDevAttrMaxSurface3DWidth, as_int(kMaxTexture3D)},
      {cudaDevAttrMaxSurface3DHeight, as_int(kMaxTexture3D)},
      {cudaDevAttrMaxSurface3DDepth, as_int(kMaxTexture3D)},
      {cudaDevAttrIntegrated, 1, &P::integrated},
      {cudaDevAttrCanMapHostMemory, 1, &P::canMapHostMemory},
      {cudaDevAttrComputeMode, cudaComputeModeDefault},
      {cudaDevAttrL2CacheSize, cache_bytes(), &P::l2CacheSize},
      {cudaDevAttrMaxThreadsPerMultiProcessor, as_int(kMaxThreadsPerWorker)},
      {cudaDevAttrUnifiedAddressing, 1, &P::unifiedAddressing},
      {cudaDevAttrComputeCapabilityMajor, kMajor, &P::major},
      {cudaDevAttrComputeCapabilityMinor, kMinor, &P::minor},
      {cudaDevAttrStreamPrioritiesSupported, 1, &P::streamPrioritiesSupported},
      {cudaDevAttrGlobalL1CacheSupported, 1, &P::globalL1CacheSupported},
      {cudaDevAttrLocalL1CacheSupported, 1, &P::localL1CacheSupported},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, as_int(kSharedPerWorker)},
      {cudaDevAttrMaxRegistersPerMultiprocessor, as_int(kRegistersPerWorker)},
      {cudaDevAttrManagedMemory, 1, &P::managedMemory},
      {cudaDevAttrHostNativeAtomicSupported, 1, &P::hostNativeAtomicSupported},
      {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
      {cudaDevAttrConcurrentManagedAccess, 1, &P::concurrentManagedAccess},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, 1, &P::canUseHostPointerForRegisteredMem},
      {cudaDevAttrCooperativeLaunch, 1, &P::cooperativeLaunch},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, as_int(kSharedPerBlockOptIn)},
      {cudaDevAttrHostRegisterSupported, 1, &P::hostRegisterSupported},
      {cudaDevAttrMaxBlocksPerMultiprocessor, as_int(kMaxBlocksPerWorker)},
      {cudaDevAttrReservedSharedMemoryPerBlock, as_int(kSharedReservedPerBlock)},
      {cudaDevAttrMemoryPoolsSupported, 1, &P::memoryPoolsSupported},
      {cudaDevAttrMemSyncDomainCount, 1},
      {cudaDevAttrHostNumaId, -1, &P::hostNumaId},
      {cudaDevAttrNumaId, -1, &P::deviceNumaId},
  };
  return kKnown;
}

/// Value of an attribute; false for one that does not exist. It is 0 for everything that the
/// backend lacks: layered and mipmapped textures, IPC, graphics and the PCI bus; a known clock and
/// bus of the memory; copy engines that run beside the kernels.
bool attribute_value(int attribute, int* value) {
  if (attribute == cudaDevAttrMultiProcessorCount) {  // which a test may change
    *value = multiprocessor_count();
    return true;
  }
  for (const Attribute& known : known_attributes()) {
    if (known.name != attribute) continue;
    *value = known.value;
    return true;
  }
  *value = 0;
  constexpr int kUnused[] = {44,  92,  93,  94,  96,  102, 103, 104, 105, 107, 110, 122,
                             123, 124, 127, 128, 129, 132, 136, 137, 141, 145, 146};
  return attribute >= 1 && attribute < cudaDevAttrMax &&
         std::find(std::begin(kUnused), std::end(kUnused), attribute) == std::end(kUnused);
}

bool is_device(int device) { return device >= 0 && device < kDevices; }

template <class T, class Value>
cudaError_t give(const Value& value, T* to) {
  if (to == nullptr) return finish(cudaErrorInvalidValue);
  *to = static_cast<T>(value);
  return cudaSuccess;
}

}  // namespace
}  // namespace cuda_cpu

using cuda_cpu::finish;
using cuda_cpu::give;

cudaError_t cudaGetDeviceCount(int* count) { return give(cuda_cpu::kDevices, count); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  CUDA_CPU_BEGIN_CALL();
  if (properties == nullptr) return finish(cudaErrorInvalidValue);
  if (!cuda_cpu::is_device(device)) return finish(cudaErrorInvalidDevice);
  cudaDeviceProp p{};
  for (const cuda_cpu::Attribute& known : cuda_cpu::known_attributes()) {
    if (known.member != nullptr) p.*known.member = known.value;
  }
  const unsigned workers = cuda_cpu::worker_count();
  std::snprintf(p.name, sizeof(p.name), "CPU backend (%u worker%s)", workers,
                workers == 1 ? "" : "s");
  std::memcpy(p.uuid.bytes, "cuda-cpu-backend", sizeof(p.uuid.bytes));
  p.totalGlobalMem = cuda_cpu::device_memory_total();
  p.sharedMemPerBlock = cuda_cpu::kSharedPerBlock;
  p.memPitch = cuda_cpu::kMaxPitch;
  p.maxThreadsDim[0] = cuda_cpu::as_int(cuda_cpu::kMaxBlockX);
  p.maxThreadsDim[1] = cuda_cpu::as_int(cuda_cpu::kMaxBlockY);
  p.maxThreadsDim[2] = cuda_cpu::as_int(cuda_cpu::kMaxBlockZ);
  p.maxGridSize[0] = cuda_cpu::as_int(cuda_cpu::kMaxGridX);
  p.maxGridSize[1] = cuda_cpu::as_int(cuda_cpu::kMaxGridY);
  p.maxGridSize[2] = cuda_cpu::as_int(cuda_cpu::kMaxGridZ);
  p.totalConstMem = cuda_cpu::kConstantMemory;
  p.textureAlignment = cuda_cpu::kTextureAlignment;
  p.texturePitchAlignment = cuda_cpu::kTexturePitchAlignment;
  p.surfaceAlignment = cuda_cpu::kSurfaceAlignment;
  p.maxTexture1D = p.maxTexture2D[0] = cuda_cpu::as_int(cuda_cpu::kMaxTextureWidth);
  p.maxTexture2D[1] = cuda_cpu::as_int(cuda_cpu::kMaxTextureHeight);
  p.maxTexture2DLinear[0] = p.maxTexture1D;
  p.maxTexture2DLinear[1] = cuda_cpu::as_int(cuda_cpu::kMaxPitchedHeight);
  p.maxTexture2DLinear[2] = cuda_cpu::as_int(cuda_cpu::kMaxTexturePitch);
  for (int i = 0; i < 2; ++i) {
    p.maxTexture2DGather[i] = cuda_cpu::as_int(cuda_cpu::kMaxTextureGather);
    p.maxSurface2D[i] = p.maxTexture2D[i];
  }
  for (int i = 0; i < 3; ++i) {
    p.maxTexture3D[i] = p.maxSurface3D[i] = cuda_cpu::as_int(cuda_cpu::kMaxTexture3D);
  }
  p.multiProcessorCount = cuda_cpu::multiprocessor_count();
  p.maxThreadsPerMultiProcessor = cuda_cpu::as_int(cuda_cpu::kMaxThreadsPerWorker);
  p.sharedMemPerMultiprocessor = cuda_cpu::kSharedPerWorker;
  p.regsPerMultiprocessor = cuda_cpu::as_int(cuda_cpu::kRegistersPerWorker);
  p.sharedMemPerBlockOptin = cuda_cpu::kSharedPerBlockOptIn;
  p.maxBlocksPerMultiProcessor = cuda_cpu::as_int(cuda_cpu::kMaxBlocksPerWorker);
  p.reservedSharedMemPerBlock = cuda_cpu::kSharedReservedPerBlock;
  *properties = p;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  CUDA_CPU_BEGIN_CALL();
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  if (!cuda_cpu::is_device(device)) return finish(cudaErrorInvalidDevice);
  return finish(cuda_cpu::attribute_value(attribute, value) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  CUDA_CPU_BEGIN_CALL();
  if (device == nullptr || properties == nullptr) return finish(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  CUDA_CPU_BEGIN_CALL();
  return finish(cuda_cpu::is_device(device) ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDevice(int* device) {
  CUDA_CPU_BEGIN_CALL();
  return give(0, device);
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  CUDA_CPU_BEGIN_CALL();
  if (count < 0 || (devices == nullptr && count > 0)) return finish(cudaErrorInvalidValue);
  for (int i = 0; i < count; ++i) {
    if (!cuda_cpu::is_device(devices[i])) return finish(cudaErrorInvalidDevice);
  }
  return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned int flags, unsigned int how) {
  CUDA_CPU_BEGIN_CALL();
  if (!cuda_cpu::is_device(device)) return finish(cudaErrorInvalidDevice);
  if ((how & ~unsigned{cudaInitDeviceFlagsAreValid}) != 0) return finish(cudaErrorInvalidValue);
  return how == 0 ? cudaSuccess : cudaSetDeviceFlags(flags);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  const unsigned order = flags & cudaDeviceScheduleMask;
  if ((flags & ~unsigned{cudaDeviceMask}) != 0 || (order & (order - 1)) != 0) {
    return finish(cudaErrorInvalidValue);
  }
  cuda_cpu::device_flags = flags | cudaDeviceMapHost;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  CUDA_CPU_BEGIN_CALL();
  return give(cuda_cpu::device_flags, flags);
}

cudaError_t cudaDeviceSynchronize() {
  CUDA_CPU_BEGIN_CALL();
  if (const int error = cuda_cpu::never_in_capture("cudaDeviceSynchronize")) return finish(error);
  return finish(cuda_cpu::run_all_streams());
}

cudaError_t cudaDeviceReset() {
  if (cuda_cpu::in_kernel() || cuda_cpu::in_host_function()) {
    CUDA_CPU_BEGIN_CALL();
  }
  cuda_cpu::forget_captures();
  cuda_cpu::run_all_streams();  // so that the output of the last kernel is not lost
  cuda_cpu::forget_streams();
  cuda_cpu::forget_events();
  cuda_cpu::release_everything();
  cuda_cpu::forget_pools();
  cuda_cpu::restore_symbols();
  cuda_cpu::reset_diagnostics(false);
  return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  CUDA_CPU_BEGIN_CALL();
  switch (static_cast<int>(limit)) {
    case cudaLimitStackSize:
      // A CUDA thread's stack has one size here: less is granted, more is refused.
      return finish(value <= cuda_cpu::stack_bytes_per_thread() ? cudaSuccess
                                                                : cudaErrorMemoryAllocation);
    case cudaLimitPrintfFifoSize:
      cuda_cpu::printf_fifo = value;
      return cudaSuccess;
    case cudaLimitMallocHeapSize:
      cuda_cpu::device_heap_bytes = value;
      return cudaSuccess;
    default:
      return finish(cudaErrorUnsupportedLimit);
  }
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  CUDA_CPU_BEGIN_CALL();
  switch (static_cast<int>(limit)) {
    case cudaLimitStackSize:
      return give(cuda_cpu::stack_bytes_per_thread(), value);
    case cudaLimitPrintfFifoSize:
      return give(cuda_cpu::printf_fifo, value);
    case cudaLimitMallocHeapSize:
      return give(cuda_cpu::device_heap_bytes, value);
    default:
      return finish(cudaErrorUnsupportedLimit);
  }
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  CUDA_CPU_BEGIN_CALL();
  return give(cuda_cpu::cache_config.load(), config);
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  CUDA_CPU_BEGIN_CALL();
  if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) {
    return finish(cudaErrorInvalidValue);
  }
  cuda_cpu::cache_config = config;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  CUDA_CPU_BEGIN_CALL();
  constexpr char kBusId[] = "0000:00:00.0";
  const int needed = sizeof(kBusId);
  if (text == nullptr || length < needed) return finish(cudaErrorInvalidValue);
  if (!cuda_cpu::is_device(device)) return finish(cudaErrorInvalidDevice);
  std::memcpy(text, kBusId, sizeof(kBusId));
  return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  CUDA_CPU_BEGIN_CALL();
  if (device == nullptr || text == nullptr) return finish(cudaErrorInvalidValue);
  if (std::strcmp(text, "0000:00:00.0") != 0) return finish(cudaErrorInvalidDevice);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  CUDA_CPU_BEGIN_CALL();
  if (can == nullptr) return finish(cudaErrorInvalidValue);
  if (!cuda_cpu::is_device(device) || !cuda_cpu::is_device(peer)) {
    return finish(cudaErrorInvalidDevice);
  }
  *can = 0;  // a device is not its own peer
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) {
  CUDA_CPU_BEGIN_CALL();
  return finish(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int) {
  CUDA_CPU_BEGIN_CALL();
  return finish(cudaErrorInvalidDevice);
}

cudaError_t cudaDriverGetVersion(int* version) { return give(cuda_cpu::kToolkitVersion, version); }

cudaError_t cudaRuntimeGetVersion(int* version) { return give(cuda_cpu::kToolkitVersion, version); }
