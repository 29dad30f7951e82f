// SPDX-License-Identifier: MIT
// In which context the calls of a host thread work. The driver API is compiled only for programs
// that use it (libs/driver); without it there is one context, which is null here.
#pragma once

struct CUctx_st;

namespace cuda_cpu {

/// Replaced before main where the driver API is compiled.
struct ContextRules {
  /// Begins a call of the runtime that needs a context: where none is current, the primary one
  /// becomes it. Returns the call's error, 0 when all is well.
  int (*enter)() = [] { return 0; };
  /// The host thread's current context.
  CUctx_st* (*current)() = []() -> CUctx_st* { return nullptr; };
  /// The primary context becomes the current one (cudaSetDevice).
  void (*choose_primary)() = [] {};
  /// Ends what the primary context owns, and nothing else (cudaDeviceReset). False: the runtime
  /// does it, for there is no other.
  bool (*reset_primary)() = [] { return false; };
};
inline ContextRules context_rules;

}  // namespace cuda_cpu
