// SPDX-License-Identifier: MIT
#include "locals.h"

#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "../engine/memory/stacks.h"
#include "../engine/state/block.h"
#include "../engine/state/current.h"
#include "../engine/state/grid.h"
#include "../engine/state/leaving.h"
#include "../report/diagnostics.h"
#include "../report/source_lines.h"
#include "../types/error_codes.h"
#include "access.h"

namespace races {
namespace {

using cuda_cpu::format;
using cuda_cpu::Report;

struct GuardedArray {
  std::size_t bytes;
  const cuda_cpu::LocalArray* declared;
};

/// Those of all threads, by the address; one worker runs them.
std::map<std::uintptr_t, GuardedArray>& guarded() {
  static auto* const arrays = new std::map<std::uintptr_t, GuardedArray>;
  return *arrays;
}

void fill_guard(std::uintptr_t at) {
  for (std::size_t i = 0; i < sizeof(cuda_cpu::Guard); ++i) {
    *reinterpret_cast<unsigned char*>(at + i) = guard_byte(at + i);
  }
}

[[noreturn]] void end_grid(Report r, const void* place) {
  r.site = cuda_cpu::piece_of(place, cuda_cpu::current_worker->grid->launch->kernel.file).line;
  r.where = cuda_cpu::where();
  r.cuda_error = cudaErrorIllegalAddress;
  const int error = cuda_cpu::report(r);
  inside = false;
  cuda_cpu::abandon_grid(error);
}

/// The thread whose stack it is, if it waits on it: "thread (1,0,0)".
std::string owner_of(std::uintptr_t stack) {
  for (const cuda_cpu::Block* const block : cuda_cpu::current_worker->live) {
    for (std::uint32_t i = 0; i < block->started; ++i) {
      const cuda_cpu::Thread& thread = block->threads[block->order[i]];
      if (thread.finished || &thread == cuda_cpu::current_thread) continue;
      if (cuda_cpu::stack_at(thread.context) != stack) continue;
      std::string text = "thread " + cuda_cpu::to_text(thread.index);
      if (block == cuda_cpu::current_block) return text;
      return "block " + cuda_cpu::to_text(block->index) + ", " + text;
    }
  }
  return "a thread that has ended";
}

}  // namespace

void guard(void* array, std::size_t bytes, const cuda_cpu::LocalArray* declared) {
  if (!cuda_cpu::in_kernel()) return;
  const Inside in;
  const auto begin = reinterpret_cast<std::uintptr_t>(array);
  guarded()[begin] = {bytes, declared};
  fill_guard(begin - sizeof(cuda_cpu::Guard));
  fill_guard(begin + bytes);
}

void unguard(const void* array) {
  if (!cuda_cpu::in_kernel()) return;
  const Inside in;
  guarded().erase(reinterpret_cast<std::uintptr_t>(array));
}

void forget_guards() { guarded().clear(); }

void check_guards(const void* address, bool writes, const void* place) {
  if (inside || !cuda_cpu::in_kernel()) return;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto next = guarded().upper_bound(at);
  const bool is_before = next != guarded().end() && at + sizeof(cuda_cpu::Guard) >= next->first;
  if (!is_before && next == guarded().begin()) return;
  const auto& [begin, array] = is_before ? *next : *std::prev(next);
  const std::uintptr_t end = begin + array.bytes;
  if (!is_before && (at < end || at >= end + sizeof(cuda_cpu::Guard))) return;
  inside = true;
  const auto element = static_cast<long>(array.declared->element_bytes);
  const long offset = static_cast<long>(at - begin);
  const long length = static_cast<long>(array.bytes) / element;
  Report r;
  r.headline = format("out-of-bounds %s", writes ? "write" : "read");
  r.details.push_back(format("element %ld of the local array '%s', which has %ld",
                             offset >= 0 ? offset / element : -((element - 1 - offset) / element),
                             array.declared->name, length));
  r.notes.push_back({array.declared->declared, "declared here"});
  r.help = "check the pointer's way through the array: its last element is " +
           std::to_string(length - 1);
  end_grid(std::move(r), place);
}

void check_stack(const void* address, bool writes, const void* place) {
  const std::uintptr_t stack = cuda_cpu::stack_at(address);
  if (stack == 0 || stack == cuda_cpu::stack_at(__builtin_frame_address(0))) return;
  Report r;
  r.headline = format("%s a local variable of another thread", writes ? "write to" : "read of");
  r.details.push_back("it is on the stack of " + owner_of(stack));
  r.help =
      "a pointer to a local variable means something in its own thread only: hand the value itself "
      "over, in shared memory or by a shuffle";
  end_grid(std::move(r), place);
}

}  // namespace races
