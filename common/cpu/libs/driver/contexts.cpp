// SPDX-License-Identifier: MIT
#include "contexts.h"

#include <mutex>
#include <vector>

#include "../../engine/memory/memory.h"
#include "../../engine/memory/symbols.h"
#include "../../engine/state/device_limits.h"
#include "../../runtime/contexts.h"
#include "../../runtime/handles.h"
#include "../../runtime/work_queues.h"
#include "../../types/error_codes.h"

namespace cuda_cpu {
namespace {

struct Primary {
  std::mutex mutex;
  CUctx_st context;
  unsigned retained = 0;
  bool runtime_uses_it = false;

  Primary() { context.is_primary = true; }
};

// Never destroyed, like all objects of the backend.
Primary& primary(int device) {
  static auto* const all = new Primary[kMaxDevices];
  all[device].context.device = device;
  return all[device];
}

bool initialised = false;

std::vector<CUctx_st*>& stack() {
  thread_local std::vector<CUctx_st*> contexts;
  return contexts;
}

void use_by_runtime(int device) {
  initialise();
  Primary& p = primary(device);
  const std::lock_guard<std::mutex> lock(p.mutex);
  p.runtime_uses_it = true;
}

/// The runtime works in any context that is current, and makes the primary one current where none
/// is.
int enter() {
  if (in_driver_call) return 0;
  if (stack().empty()) stack().push_back(primary_context(0));
  const CUctx_st* const top = stack().back();
  if (top->is_primary) use_by_runtime(top->device);
  return top->is_destroyed ? cudaErrorContextIsDestroyed : cudaSuccess;
}

/// What takes the place of the top, as cuCtxSetCurrent does.
void choose_primary(int device) {
  use_by_runtime(device);
  if (!stack().empty()) stack().pop_back();
  stack().push_back(primary_context(device));
}

CUctx_st* current() { return stack().empty() ? primary_context(0) : stack().back(); }

__attribute__((constructor(101))) void tell_the_runtime() {
  context_rules.enter = enter;
  context_rules.current = current;
  context_rules.current_device = [] { return current()->device; };
  context_rules.choose_primary = choose_primary;
  context_rules.reset_primary = [] {
    reset_primary(current()->device, {nullptr, 0});
    return true;
  };
}

}  // namespace

bool is_initialised() { return initialised; }
void initialise() { initialised = true; }

CUctx_st* primary_context(int device) { return &primary(device).context; }

CUctx_st* create_context(int device, unsigned flags, Site site) {
  auto* const context = new CUctx_st;
  context->device = device;
  context->flags = flags;
  context->created = site;
  handles<CUctx_st>().add(context);
  return context;
}

CUctx_st* find_context(CUctx_st* handle) {
  for (int device = 0; device < device_count(); ++device) {
    if (handle == primary_context(device)) return handle;
  }
  return handles<CUctx_st>().has(handle) ? handle : nullptr;
}

CUctx_st* top_context() { return stack().empty() ? nullptr : stack().back(); }
void push_context(CUctx_st* context) { stack().push_back(context); }
void pop_context() { stack().pop_back(); }

void end_resources_of(const CUctx_st* context, Site site) {
  run_all_streams();
  destroy_streams_of(context->device, context);
  release_all_of(context->device, context, site);
}

void destroy_context(CUctx_st* context, Site site) {
  end_resources_of(context, site);
  context->is_destroyed = true;
  context->destroyed = site;
  if (top_context() == context) pop_context();
}

void retain_primary(int device) {
  Primary& p = primary(device);
  const std::lock_guard<std::mutex> lock(p.mutex);
  ++p.retained;
}

bool release_primary(int device, Site site) {
  Primary& p = primary(device);
  const std::lock_guard<std::mutex> lock(p.mutex);
  if (p.retained == 0) return false;
  if (--p.retained == 0 && !p.runtime_uses_it) end_resources_of(&p.context, site);
  return true;
}

void reset_primary(int device, Site site) {
  Primary& p = primary(device);
  const std::lock_guard<std::mutex> lock(p.mutex);
  p.runtime_uses_it = false;
  end_resources_of(&p.context, site);
  restore_symbols(device);
}

bool primary_is_active(int device) {
  Primary& p = primary(device);
  const std::lock_guard<std::mutex> lock(p.mutex);
  return p.retained != 0 || p.runtime_uses_it;
}

}  // namespace cuda_cpu
