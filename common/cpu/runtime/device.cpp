// SPDX-License-Identifier: MIT
#include "device.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "../engine/arithmetic/device_functions.h"
#include "../engine/memory/memory.h"
#include "../engine/memory/stacks.h"
#include "../engine/memory/symbols.h"
#include "../engine/state/current.h"
#include "../engine/state/device_limits.h"
#include "../engine/state/settings.h"
#include "../report/diagnostics.h"
#include "../report/text.h"
#include "capture.h"
#include "contexts.h"
#include "errors.h"
#include "functions.h"
#include "pools.h"
#include "streams.h"
#include "work_queues.h"

#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace cuda_cpu {
namespace {

constexpr char kBusId[] = "0000:%02x:00.0";

std::atomic<unsigned> device_flags{cudaDeviceScheduleAuto | cudaDeviceMapHost};
std::atomic<std::size_t> printf_fifo{std::size_t{1} << 20};

/// Size of the CPU's last-level cache; 0 when the system does not say.
int last_level_cache() {
  std::size_t bytes = 0;
#if defined(__APPLE__)
  std::size_t size = sizeof(bytes);
  for (const char* name : {"hw.l3cachesize", "hw.l2cachesize"}) {
    if (sysctlbyname(name, &bytes, &size, nullptr, 0) == 0 && bytes != 0) break;
  }
#else
  for (int index = 0; index < 8; ++index) {
    std::FILE* const file =
        std::fopen(format("/sys/devices/system/cpu/cpu0/cache/index%d/size", index).c_str(), "r");
    if (file == nullptr) break;
    std::size_t kibibytes = 0;  // "512K"
    if (std::fscanf(file, "%zu", &kibibytes) == 1) bytes = std::max(bytes, kibibytes << 10);
    std::fclose(file);
  }
#endif
  return static_cast<int>(std::min<std::size_t>(bytes, 0x7fffffff));
}

/// An attribute, and where a structure of properties has it.
struct Attribute {
  int name, value;
  int cudaDeviceProp::*number = nullptr;
  std::size_t cudaDeviceProp::*size = nullptr;

  Attribute(int its_name, int its_value, int cudaDeviceProp::*member = nullptr)
      : name(its_name), value(its_value), number(member) {}
  Attribute(int its_name, int its_value, std::size_t cudaDeviceProp::*member)
      : name(its_name), value(its_value), size(member) {}
};

const std::vector<Attribute>& known_attributes() {
  using P = cudaDeviceProp;
  static const std::vector<Attribute> kKnown = {
      {cudaDevAttrMaxThreadsPerBlock, kMaxThreadsPerBlock, &P::maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, kMaxBlockX},
      {cudaDevAttrMaxBlockDimY, kMaxBlockY},
      {cudaDevAttrMaxBlockDimZ, kMaxBlockZ},
      {cudaDevAttrMaxGridDimX, kMaxGridX},
      {cudaDevAttrMaxGridDimY, kMaxGridY},
      {cudaDevAttrMaxGridDimZ, kMaxGridZ},
      {cudaDevAttrMaxSharedMemoryPerBlock, kSharedPerBlock, &P::sharedMemPerBlock},
      {cudaDevAttrTotalConstantMemory, kConstantMemory, &P::totalConstMem},
      {cudaDevAttrWarpSize, kWarpSize, &P::warpSize},
      {cudaDevAttrMaxPitch, kMaxPitch, &P::memPitch},
      {cudaDevAttrMaxRegistersPerBlock, kRegistersPerBlock, &P::regsPerBlock},
      {cudaDevAttrClockRate, kClockKhz},
      {cudaDevAttrTextureAlignment, kTextureAlignment, &P::textureAlignment},
      {cudaDevAttrTexturePitchAlignment, kTexturePitchAlignment, &P::texturePitchAlignment},
      {cudaDevAttrSurfaceAlignment, kSurfaceAlignment, &P::surfaceAlignment},
      {cudaDevAttrMaxTexture1DWidth, kMaxTextureWidth, &P::maxTexture1D},
      {cudaDevAttrMaxTexture2DWidth, kMaxTextureWidth},
      {cudaDevAttrMaxTexture2DHeight, kMaxTextureHeight},
      {cudaDevAttrMaxTexture3DWidth, kMaxTexture3D},
      {cudaDevAttrMaxTexture3DHeight, kMaxTexture3D},
      {cudaDevAttrMaxTexture3DDepth, kMaxTexture3D},
      {cudaDevAttrMaxTexture2DGatherWidth, kMaxTextureGather},
      {cudaDevAttrMaxTexture2DGatherHeight, kMaxTextureGather},
      {cudaDevAttrMaxTexture1DLinearWidth, kMaxTexture1DLinear},
      {cudaDevAttrMaxTexture2DLinearWidth, kMaxTextureWidth},
      {cudaDevAttrMaxTexture2DLinearHeight, kMaxPitchedHeight},
      {cudaDevAttrMaxTexture2DLinearPitch, kMaxTexturePitch},
      {cudaDevAttrMaxSurface1DWidth, kMaxSurface1D, &P::maxSurface1D},
      {cudaDevAttrMaxSurface2DWidth, kMaxTextureWidth},
      {cudaDevAttrMaxSurface2DHeight, kMaxTextureHeight},
      {cudaDevAttrMaxSurface3DWidth, kMaxTexture3D},
      {cudaDevAttrMaxSurface3DHeight, kMaxTexture3D},
      {cudaDevAttrMaxSurface3DDepth, kMaxTexture3D},
      {cudaDevAttrIntegrated, 1, &P::integrated},
      {cudaDevAttrCanMapHostMemory, 1, &P::canMapHostMemory},
      {cudaDevAttrComputeMode, cudaComputeModeDefault},
      {cudaDevAttrL2CacheSize, last_level_cache(), &P::l2CacheSize},
      {cudaDevAttrMaxThreadsPerMultiProcessor, kMaxThreadsPerWorker,
       &P::maxThreadsPerMultiProcessor},
      {cudaDevAttrUnifiedAddressing, 1, &P::unifiedAddressing},
      {cudaDevAttrComputeCapabilityMajor, kMajor, &P::major},
      {cudaDevAttrComputeCapabilityMinor, kMinor, &P::minor},
      {cudaDevAttrStreamPrioritiesSupported, 1, &P::streamPrioritiesSupported},
      {cudaDevAttrGlobalL1CacheSupported, 1, &P::globalL1CacheSupported},
      {cudaDevAttrLocalL1CacheSupported, 1, &P::localL1CacheSupported},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, kSharedPerWorker,
       &P::sharedMemPerMultiprocessor},
      {cudaDevAttrMaxRegistersPerMultiprocessor, kRegistersPerWorker, &P::regsPerMultiprocessor},
      {cudaDevAttrManagedMemory, 1, &P::managedMemory},
      {cudaDevAttrHostNativeAtomicSupported, 1, &P::hostNativeAtomicSupported},
      {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
      {cudaDevAttrConcurrentManagedAccess, 1, &P::concurrentManagedAccess},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, 1, &P::canUseHostPointerForRegisteredMem},
      {cudaDevAttrCooperativeLaunch, 1, &P::cooperativeLaunch},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, kSharedPerBlockOptIn, &P::sharedMemPerBlockOptin},
      {cudaDevAttrHostRegisterSupported, 1, &P::hostRegisterSupported},
      {cudaDevAttrMaxBlocksPerMultiprocessor, kMaxBlocksPerWorker, &P::maxBlocksPerMultiProcessor},
      {cudaDevAttrReservedSharedMemoryPerBlock, kSharedReservedPerBlock,
       &P::reservedSharedMemPerBlock},
      {cudaDevAttrMemoryPoolsSupported, 1, &P::memoryPoolsSupported},
      {cudaDevAttrMemSyncDomainCount, 1},
      {cudaDevAttrHostNumaId, -1, &P::hostNumaId},
      {cudaDevAttrNumaId, -1, &P::deviceNumaId},
  };
  return kKnown;
}

/// Which device may use whose memory: a row for each device.
std::atomic<DeviceSet> peers[kMaxDevices] = {};

template <class T, class Value>
cudaError_t give(const Value& value, T* to) {
  if (to == nullptr) return finish(cudaErrorInvalidValue);
  *to = static_cast<T>(value);
  return cudaSuccess;
}

}  // namespace

DeviceSet reachable_from(int device) {
  return device_count() == 1 ? kAllDevices : only(device) | peers[device];
}

}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaGetDeviceCount(int* count) { return give(device_count(), count); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  CUDA_CPU_BEGIN_QUERY();
  if (properties == nullptr) return finish(cudaErrorInvalidValue);
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  cudaDeviceProp p{};
  for (const Attribute& known : known_attributes()) {
    if (known.number != nullptr) p.*known.number = known.value;
    if (known.size != nullptr) p.*known.size = static_cast<std::size_t>(known.value);
  }
  const unsigned workers = worker_count();
  std::snprintf(p.name, sizeof(p.name), "CPU backend (%u worker%s)", workers,
                workers == 1 ? "" : "s");
  std::memcpy(p.uuid.bytes, "cuda-cpu-backend", sizeof(p.uuid.bytes));
  p.uuid.bytes[0] = static_cast<char>(p.uuid.bytes[0] + device);
  p.pciBusID = device;
  p.totalGlobalMem = device_memory_total();
  p.maxThreadsDim[0] = kMaxBlockX;
  p.maxThreadsDim[1] = kMaxBlockY;
  p.maxThreadsDim[2] = kMaxBlockZ;
  p.maxGridSize[0] = kMaxGridX;
  p.maxGridSize[1] = kMaxGridY;
  p.maxGridSize[2] = kMaxGridZ;
  p.maxTexture2D[0] = p.maxTexture2DLinear[0] = kMaxTextureWidth;
  p.maxTexture2D[1] = kMaxTextureHeight;
  p.maxTexture2DLinear[1] = kMaxPitchedHeight;
  p.maxTexture2DLinear[2] = kMaxTexturePitch;
  for (int i = 0; i < 2; ++i) {
    p.maxTexture2DGather[i] = kMaxTextureGather;
    p.maxSurface2D[i] = p.maxTexture2D[i];
  }
  for (int i = 0; i < 3; ++i) {
    p.maxTexture3D[i] = p.maxSurface3D[i] = kMaxTexture3D;
  }
  p.multiProcessorCount = multiprocessor_count();
  *properties = p;
  return cudaSuccess;
}

/// The value is 0 for everything that the backend lacks: layered and mipmapped textures, IPC,
/// graphics and the PCI bus; a known clock and bus of the memory; copy engines that run beside the
/// kernels.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  CUDA_CPU_BEGIN_QUERY();
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  *value = 0;
  if (attribute == cudaDevAttrMultiProcessorCount) {  // which a test may change
    return give(multiprocessor_count(), value);
  }
  for (const Attribute& known : known_attributes()) {
    if (known.name == attribute) return give(known.value, value);
  }
  constexpr int kUnused[] = {44,  92,  93,  94,  96,  102, 103, 104, 105, 107, 110, 122,
                             123, 124, 127, 128, 129, 132, 136, 137, 141, 145, 146};
  const bool exists =
      attribute >= 1 && attribute < cudaDevAttrMax &&
      std::find(std::begin(kUnused), std::end(kUnused), attribute) == std::end(kUnused);
  return finish(exists ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  CUDA_CPU_BEGIN_QUERY();
  if (properties == nullptr) return finish(cudaErrorInvalidValue);
  return give(0, device);
}

cudaError_t cudaSetDevice(int device) {
  CUDA_CPU_BEGIN_QUERY();
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  context_rules.choose_primary(device);
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  CUDA_CPU_BEGIN_QUERY();
  return give(current_device(), device);
}

cudaError_t cudaInitDevice(int device, unsigned int flags, unsigned int how) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  if ((how & ~unsigned{cudaInitDeviceFlagsAreValid}) != 0) return finish(cudaErrorInvalidValue);
  return how == 0 ? cudaSuccess : cudaSetDeviceFlags(flags);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  CUDA_CPU_BEGIN_QUERY();
  const unsigned order = flags & cudaDeviceScheduleMask;
  if ((flags & ~unsigned{cudaDeviceMask}) != 0 || (order & (order - 1)) != 0) {
    return finish(cudaErrorInvalidValue);
  }
  device_flags = flags | cudaDeviceMapHost;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  CUDA_CPU_BEGIN_QUERY();
  return give(device_flags, flags);
}

cudaError_t cudaDeviceSynchronize() {
  CUDA_CPU_BEGIN_CALL();
  if (const int error = capture_rules.never("cudaDeviceSynchronize")) return finish(error);
  return finish(run_device(current_device()));
}

cudaError_t cudaDeviceReset() {
  if (in_kernel() || running_host_function) {
    CUDA_CPU_BEGIN_CALL();
  }
  capture_rules.forget();
  run_all_streams();  // so that the output of the last kernel is not lost
  if (!context_rules.reset_primary()) {
    forget_streams();
    forget_events(current_device());
    if (device_count() == 1) {
      release_everything();
    } else {
      release_all_of(current_device(), nullptr, Site{nullptr, 0});
    }
    forget_pools();
    restore_symbols(current_device());
  }
  reset_diagnostics(false);
  return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  CUDA_CPU_BEGIN_CALL();
  switch (static_cast<int>(limit)) {
    case cudaLimitStackSize:
      // A CUDA thread's stack has one size here: less is granted, more is refused.
      return finish(value <= kStackBytes ? cudaSuccess : cudaErrorMemoryAllocation);
    case cudaLimitPrintfFifoSize:
      printf_fifo = value;
      return cudaSuccess;
    case cudaLimitMallocHeapSize:
      device_heap_bytes = value;
      return cudaSuccess;
    default:
      return finish(cudaErrorUnsupportedLimit);
  }
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  CUDA_CPU_BEGIN_CALL();
  switch (static_cast<int>(limit)) {
    case cudaLimitStackSize:
      return give(kStackBytes, value);
    case cudaLimitPrintfFifoSize:
      return give(printf_fifo, value);
    case cudaLimitMallocHeapSize:
      return give(device_heap_bytes, value);
    default:
      return finish(cudaErrorUnsupportedLimit);
  }
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  CUDA_CPU_BEGIN_CALL();
  const bool known = config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual;
  return finish(known ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  CUDA_CPU_BEGIN_QUERY();
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  const std::string id = format(kBusId, static_cast<unsigned>(device));
  if (text == nullptr || length <= static_cast<int>(id.size())) {
    return finish(cudaErrorInvalidValue);
  }
  std::memcpy(text, id.c_str(), id.size() + 1);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  CUDA_CPU_BEGIN_QUERY();
  if (device == nullptr || text == nullptr) return finish(cudaErrorInvalidValue);
  for (int one = 0; one < device_count(); ++one) {
    if (text == format(kBusId, static_cast<unsigned>(one))) return give(one, device);
  }
  return finish(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  CUDA_CPU_BEGIN_QUERY();
  if (can == nullptr) return finish(cudaErrorInvalidValue);
  if (!is_device(device) || !is_device(peer)) return finish(cudaErrorInvalidDevice);
  *can = device != peer ? 1 : 0;  // a device is not its own peer
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  if (flags != 0) return finish(cudaErrorInvalidValue);
  if (!is_device(peer) || peer == current_device()) return finish(cudaErrorInvalidDevice);
  const DeviceSet before = peers[current_device()].fetch_or(only(peer));
  return finish((before & only(peer)) != 0 ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_device(peer) || peer == current_device()) return finish(cudaErrorInvalidDevice);
  if (const int error = run_device(current_device())) return finish(error);
  const DeviceSet before = peers[current_device()].fetch_and(~only(peer));
  return finish((before & only(peer)) == 0 ? cudaErrorPeerAccessNotEnabled : cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int* version) { return give(kToolkitVersion, version); }

cudaError_t cudaRuntimeGetVersion(int* version) { return give(kToolkitVersion, version); }
