// SPDX-License-Identifier: MIT
#include "contexts.h"

#include <mutex>
#include <vector>

#include "../../engine/memory/memory.h"
#include "../../engine/memory/symbols.h"
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
Primary& primary() {
  static auto* const p = new Primary;
  return *p;
}

bool initialised = false;
thread_local bool in_driver_call = false;

std::vector<CUctx_st*>& stack() {
  thread_local std::vector<CUctx_st*> contexts;
  return contexts;
}

void use_by_runtime() {
  initialise();
  const std::lock_guard<std::mutex> lock(primary().mutex);
  primary().runtime_uses_it = true;
}

/// The runtime works in any context that is current, and makes the primary one current where none
/// is.
int enter() {
  if (in_driver_call) return 0;
  if (stack().empty()) stack().push_back(primary_context());
  const CUctx_st* const top = stack().back();
  if (top->is_primary) use_by_runtime();
  return top->is_destroyed ? cudaErrorContextIsDestroyed : cudaSuccess;
}

/// What takes the place of the top, as cuCtxSetCurrent does.
void choose_primary() {
  use_by_runtime();
  if (!stack().empty()) stack().pop_back();
  stack().push_back(primary_context());
}

CUctx_st* current() { return stack().empty() ? primary_context() : stack().back(); }

__attribute__((constructor(101))) void tell_the_runtime() {
  context_rules.enter = enter;
  context_rules.current = current;
  context_rules.choose_primary = choose_primary;
  context_rules.reset_primary = [] {
    reset_primary({nullptr, 0});
    return true;
  };
}

}  // namespace

bool is_initialised() { return initialised; }
void initialise() { initialised = true; }

DriverCall::DriverCall() { in_driver_call = true; }
DriverCall::~DriverCall() { in_driver_call = false; }

CUctx_st* primary_context() { return &primary().context; }

CUctx_st* create_context(unsigned flags, Site site) {
  auto* const context = new CUctx_st;
  context->flags = flags;
  context->created = site;
  handles<CUctx_st>().add(context);
  return context;
}

CUctx_st* find_context(CUctx_st* handle) {
  return handle == primary_context() || handles<CUctx_st>().has(handle) ? handle : nullptr;
}

CUctx_st* top_context() { return stack().empty() ? nullptr : stack().back(); }
void push_context(CUctx_st* context) { stack().push_back(context); }
void pop_context() { stack().pop_back(); }

void end_resources_of(const CUctx_st* context, Site site) {
  run_all_streams();
  destroy_streams_of(context);
  release_all_of(context, site);
}

void destroy_context(CUctx_st* context, Site site) {
  end_resources_of(context, site);
  context->is_destroyed = true;
  context->destroyed = site;
  if (top_context() == context) pop_context();
}

void retain_primary() {
  const std::lock_guard<std::mutex> lock(primary().mutex);
  ++primary().retained;
}

bool release_primary(Site site) {
  Primary& p = primary();
  const std::lock_guard<std::mutex> lock(p.mutex);
  if (p.retained == 0) return false;
  if (--p.retained == 0 && !p.runtime_uses_it) end_resources_of(&p.context, site);
  return true;
}

void reset_primary(Site site) {
  Primary& p = primary();
  const std::lock_guard<std::mutex> lock(p.mutex);
  p.runtime_uses_it = false;
  end_resources_of(&p.context, site);
  restore_symbols();
}

bool primary_is_active() {
  const std::lock_guard<std::mutex> lock(primary().mutex);
  return primary().retained != 0 || primary().runtime_uses_it;
}

}  // namespace cuda_cpu
