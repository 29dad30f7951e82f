// SPDX-License-Identifier: MIT
// What a captured stream takes, and which calls are not allowed during a capture. Graphs are
// compiled only for programs that use them (graphs/capture.cpp); without them nothing is captured.
#pragma once

struct CUstream_st;

namespace cuda_cpu {

struct Work;
struct Moment;

/// Replaced before main where graphs are compiled.
struct CaptureRules {
  /// Takes work that is put on a stream, if the stream is captured; or refuses it because of a
  /// capture. False: it is to be queued as always. *error is what the call returns.
  bool (*take_work)(CUstream_st* stream, Work* work, int* error) = [](auto...) { return false; };

  // The codes of calls that are not allowed during a capture; they end it. 0 where all is well.

  /// Where the mode forbids it.
  int (*unsafe)(const char* call) = [](auto...) { return 0; };
  /// Not while any stream is captured.
  int (*never)(const char* call) = [](auto...) { return 0; };
  /// Not while that stream is, nor one that it waits for.
  int (*never_of)(CUstream_st* stream, const char* call) = [](auto...) { return 0; };
  /// Not while that stream is, here; a GPU can do it.
  int (*unsupported)(CUstream_st* stream, const char* call) = [](auto...) { return 0; };
  /// Not for an event that was recorded in one.
  int (*event)(const Moment* moment, const char* call) = [](auto...) { return 0; };

  /// Ends every capture and graph (cudaDeviceReset).
  void (*forget)() = [] {};
};
inline CaptureRules capture_rules;

}  // namespace cuda_cpu
