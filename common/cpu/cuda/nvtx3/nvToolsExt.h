// SPDX-License-Identifier: MIT
// Stands in for <nvtx3/nvToolsExt.h> on the CPU backend: names for a profiler's time line, which
// change nothing in the program. No profiler looks here, so they go nowhere.
#pragma once

#include <cstddef>
#include <cstdint>

#define NVTX_VERSION 3

enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
};
enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
};

struct nvtxDomainRegistration_st;
struct nvtxStringRegistration_st;
typedef nvtxDomainRegistration_st* nvtxDomainHandle_t;
typedef nvtxStringRegistration_st* nvtxStringHandle_t;
typedef std::uint64_t nvtxRangeId_t;

union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
};
union nvtxPayloadValue_t {
  std::uint64_t ullValue;
  std::int64_t llValue;
  double dValue;
  std::uint32_t uiValue;
  std::int32_t iValue;
  float fValue;
};
struct nvtxEventAttributes_t {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t colorType;
  std::uint32_t color;
  std::int32_t payloadType, reserved0;
  nvtxPayloadValue_t payload;
  std::int32_t messageType;
  nvtxMessageValue_t message;
};
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE \
  std::uint16_t { sizeof(nvtxEventAttributes_t) }

namespace cuda_cpu {
inline thread_local int open_nvtx_ranges = 0;
}

/// Ranges within one another: how many are open around the new one, or the one that ends.
inline int nvtxRangePushEx(const nvtxEventAttributes_t*) { return cuda_cpu::open_nvtx_ranges++; }
inline int nvtxRangePushA(const char*) { return cuda_cpu::open_nvtx_ranges++; }
inline int nvtxRangePushW(const wchar_t*) { return cuda_cpu::open_nvtx_ranges++; }
inline int nvtxRangePop() {
  return cuda_cpu::open_nvtx_ranges > 0 ? --cuda_cpu::open_nvtx_ranges : -1;
}
inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t*) { return 1; }
inline nvtxRangeId_t nvtxRangeStartA(const char*) { return 1; }
inline nvtxRangeId_t nvtxRangeStartW(const wchar_t*) { return 1; }
inline void nvtxRangeEnd(nvtxRangeId_t) {}
inline void nvtxMarkEx(const nvtxEventAttributes_t*) {}
inline void nvtxMarkA(const char*) {}
inline void nvtxMarkW(const wchar_t*) {}
inline void nvtxNameOsThreadA(std::uint32_t, const char*) {}
inline void nvtxNameCategoryA(std::uint32_t, const char*) {}
inline nvtxDomainHandle_t nvtxDomainCreateA(const char*) { return nullptr; }
inline void nvtxDomainDestroy(nvtxDomainHandle_t) {}
inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t, const char*) {
  return nullptr;
}
inline int nvtxDomainRangePushEx(nvtxDomainHandle_t, const nvtxEventAttributes_t*) {
  return cuda_cpu::open_nvtx_ranges++;
}
inline int nvtxDomainRangePop(nvtxDomainHandle_t) { return nvtxRangePop(); }
inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t, const nvtxEventAttributes_t*) {
  return 1;
}
inline void nvtxDomainRangeEnd(nvtxDomainHandle_t, nvtxRangeId_t) {}
inline void nvtxDomainMarkEx(nvtxDomainHandle_t, const nvtxEventAttributes_t*) {}

#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
