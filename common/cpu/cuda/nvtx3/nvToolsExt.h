// SPDX-License-Identifier: MIT
// Stands in for <nvtx3/nvToolsExt.h> on the CPU backend: ranges and marks for a profiler's time
// line. They change nothing in a program, and no profiler looks here, so they go nowhere.
// Published programs have them in the middle of what they compute; the rest of NVTX is refused by
// name (prepass/refused.h).
#pragma once

#include <cstdint>

#define NVTX_VERSION 3

enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum nvtxMessageType_t { NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1 };
typedef std::uint64_t nvtxRangeId_t;

struct nvtxEventAttributes_t {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t colorType;
  std::uint32_t color;
  std::int32_t payloadType, reserved0;
  union {
    std::uint64_t ullValue;
  } payload;
  std::int32_t messageType;
  union {
    const char* ascii;
  } message;
};
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE \
  std::uint16_t { sizeof(nvtxEventAttributes_t) }

inline int nvtxRangePushEx(const nvtxEventAttributes_t*) { return 0; }
inline int nvtxRangePushA(const char*) { return 0; }
inline int nvtxRangePop() { return 0; }
inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t*) { return 1; }
inline nvtxRangeId_t nvtxRangeStartA(const char*) { return 1; }
inline void nvtxRangeEnd(nvtxRangeId_t) {}
inline void nvtxMarkA(const char*) {}

#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA
