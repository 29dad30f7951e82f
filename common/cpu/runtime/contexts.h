// SPDX-License-Identifier: MIT
// On which device the calls of a host thread work, and in which context. The driver API is compiled
// only for programs that use it (libs/driver); without it each device has one context, which is
// null here.
#pragma once

#include "../engine/memory/memory.h"
#include "../engine/state/settings.h"

struct CUctx_st;

namespace cuda_cpu {

inline thread_local int chosen_device = 0;

/// Replaced before main where the driver API is compiled.
struct ContextRules {
  /// Begins a call of the runtime that needs a context: where none is current, the primary one
  /// becomes it. Returns the call's error, 0 when all is well.
  int (*enter)() = [] { return 0; };
  /// The host thread's current context.
  CUctx_st* (*current)() = []() -> CUctx_st* { return nullptr; };
  /// The device of that context.
  int (*current_device)() = [] { return chosen_device; };
  /// The primary context of a device becomes the current one (cudaSetDevice).
  void (*choose_primary)(int device) = [](int device) { chosen_device = device; };
  /// Ends what the current device's primary context owns, and nothing else (cudaDeviceReset).
  /// False: the runtime does it, for there is no other.
  bool (*reset_primary)() = [] { return false; };
};
inline ContextRules context_rules;

inline int current_device() { return context_rules.current_device(); }
inline bool is_device(int device) { return device >= 0 && device < device_count(); }

/// The devices whose memory kernels of `device` may use: its own, and those to which
/// cudaDeviceEnablePeerAccess gave them access.
DeviceSet reachable_from(int device);

}  // namespace cuda_cpu
