// SPDX-License-Identifier: MIT
// The contexts of the devices, and each host thread's stack of them.
#pragma once

#include "../../runtime/errors.h"
#include "../../types/site.h"

/// A CUcontext points to this. For ever: a destroyed one stays, so that no other gets its address
/// while the program still holds the handle.
struct CUctx_st {
  int device = 0;
  bool is_primary = false;
  bool is_destroyed = false;
  unsigned flags = 0;
  cuda_cpu::Site created{nullptr, 0}, destroyed{nullptr, 0};
};

namespace cuda_cpu {

/// Whether cuInit was called, or the runtime, which calls it.
bool is_initialised();
void initialise();

CUctx_st* primary_context(int device);
CUctx_st* create_context(int device, unsigned flags, Site site);

/// Null for a handle that no call has returned. A destroyed context is found.
CUctx_st* find_context(CUctx_st* handle);

/// The top of this host thread's stack, destroyed or not; null when the stack is empty.
CUctx_st* top_context();
void push_context(CUctx_st* context);
void pop_context();

/// Waits, and ends the memory and the streams that a context owns.
void end_resources_of(const CUctx_st* context, Site site);
void destroy_context(CUctx_st* context, Site site);

// The users of a device's primary context: calls of cuDevicePrimaryCtxRetain, and the runtime. When
// the last one goes, so does what the context owns.
void retain_primary(int device);
bool release_primary(int device, Site site);  ///< False when nobody has retained it.
void reset_primary(int device, Site site);
bool primary_is_active(int device);

/// While it lives, calls of the runtime are the driver API's: they do not use the primary context
/// on the runtime's behalf, nor leave it their error.
struct DriverCall {
  DriverCall() { in_driver_call = true; }
  ~DriverCall() { in_driver_call = false; }
  DriverCall(const DriverCall&) = delete;
  DriverCall& operator=(const DriverCall&) = delete;
};

}  // namespace cuda_cpu
