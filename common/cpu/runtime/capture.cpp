// SPDX-License-Identifier: MIT
#include "capture.h"

#include "work_queues.h"

namespace cuda_cpu {

const CaptureRules* capture_rules = nullptr;

bool capture_work(CUstream_st* stream, Work* work, int* error) {
  return capture_rules != nullptr && capture_rules->take_work(stream, work, error);
}

bool is_captured(CUstream_st* handle) {
  const CUstream_st* const stream = find_stream(handle);
  return stream != nullptr && (stream->recorder != nullptr || stream->capture != nullptr);
}

int unsafe_in_capture(const char* call) {
  return capture_rules == nullptr ? 0 : capture_rules->unsafe(call);
}

int never_in_capture(const char* call) {
  return capture_rules == nullptr ? 0 : capture_rules->never(call);
}

int never_in_capture_of(CUstream_st* stream, const char* call) {
  return capture_rules == nullptr ? 0 : capture_rules->never_of(stream, call);
}

int unsupported_in_capture(CUstream_st* stream, const char* call) {
  return capture_rules == nullptr ? 0 : capture_rules->unsupported(stream, call);
}

int event_in_capture(const Moment* moment, const char* call) {
  return capture_rules == nullptr ? 0 : capture_rules->event(moment, call);
}

void forget_captures() {
  if (capture_rules != nullptr) capture_rules->forget();
}

}  // namespace cuda_cpu
