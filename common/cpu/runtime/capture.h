// SPDX-License-Identifier: MIT
// What a captured stream takes, and which calls are not allowed during a capture. Graphs are
// compiled only for programs that use them (graphs/capture.cpp); without them nothing is captured.
#pragma once

struct CUstream_st;

namespace cuda_cpu {

struct Work;
struct Moment;

/// The answers of graphs/capture.cpp. Codes are 0 where all is well.
struct CaptureRules {
  bool (*take_work)(CUstream_st* stream, Work* work, int* error);
  int (*unsafe)(const char* call);
  int (*never)(const char* call);
  int (*never_of)(CUstream_st* stream, const char* call);
  int (*unsupported)(CUstream_st* stream, const char* call);
  int (*event)(const Moment* moment, const char* call);
  void (*forget)();
};
extern const CaptureRules* capture_rules;

/// Takes work that is put on a stream, if the stream is captured; or refuses it because of a
/// capture. False: it is to be queued as always. *error is what the call returns.
bool capture_work(CUstream_st* stream, Work* work, int* error);

/// Whether what is put on the stream now runs when a graph does, if at all.
bool is_captured(CUstream_st* stream);

/// The codes of calls that are not allowed during a capture; they end it.
int unsafe_in_capture(const char* call);  ///< where the mode forbids it
int never_in_capture(const char* call);   ///< not while any stream is captured
int never_in_capture_of(CUstream_st* stream, const char* call);     ///< waiting for one that is
int unsupported_in_capture(CUstream_st* stream, const char* call);  ///< here; a GPU can do it
int event_in_capture(const Moment* moment, const char* call);

/// Ends every capture and graph (cudaDeviceReset).
void forget_captures();

}  // namespace cuda_cpu
