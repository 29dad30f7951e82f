// SPDX-License-Identifier: MIT
// Contexts: suspended computations with a stack of their own, and the few instructions that switch.
#pragma once

extern "C" {

/// Suspends the running context, leaves a handle to it in `*save`, and goes on with `load`, a
/// handle made by an earlier switch or by cuda_cpu_new_context. Returns when somebody switches back
/// to `*save`. Saves what the calling convention obliges a callee to keep; the floating point
/// environment is shared.
void cuda_cpu_switch_context(void** save, void* load);

/// A context that will call entry(argument) on the stack that ends at `top`. `entry` must not
/// return.
void* cuda_cpu_new_context(void* top, void (*entry)(void*), void* argument);
}
