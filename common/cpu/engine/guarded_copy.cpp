// SPDX-License-Identifier: MIT
#include "guarded_copy.h"

#include <setjmp.h>

#include <cstring>

#include "faults.h"

namespace cuda_cpu {
namespace {

thread_local sigjmp_buf* copy_escape = nullptr;
thread_local const void* copy_fault = nullptr;

/// Calls `write`. False when it touched memory that is not there, with the address in `fault`.
template <class Write>
bool guarded(Write write, const void** fault) {
  prepare_thread_for_faults();
  sigjmp_buf escape;
  if (sigsetjmp(escape, 1) != 0) {
    copy_escape = nullptr;
    *fault = copy_fault;
    return false;
  }
  copy_escape = &escape;
  write();
  copy_escape = nullptr;
  return true;
}

}  // namespace

bool guarded_copy(void* destination, const void* source, std::size_t bytes, const void** fault) {
  return guarded([&] { std::memmove(destination, source, bytes); }, fault);
}

bool guarded_fill(void* destination, int value, std::size_t bytes, const void** fault) {
  return guarded([&] { std::memset(destination, value, bytes); }, fault);
}

void leave_guarded_copy(const void* address) {
  if (copy_escape == nullptr) return;
  copy_fault = address;
  siglongjmp(*copy_escape, 1);
}

}  // namespace cuda_cpu
