// SPDX-License-Identifier: MIT
#include "stacks.h"

#include <sys/mman.h>

#include <atomic>

#include "../../report/diagnostics.h"
#include "../state/pages.h"

namespace cuda_cpu {

namespace {

// All stacks lie in a few mappings, known here so that the fault handler can tell an overflow.
constexpr std::size_t kStacksPerSlab = 32;
constexpr std::size_t kMaxSlabs = 4096;
std::atomic<char*> stack_slabs[kMaxSlabs];  // where each begins
std::atomic<std::size_t> stack_slab_count{0};

// From a stack to the next: its guard page comes first.
std::size_t stack_step() { return page_bytes() + kStackBytes; }

// Where in its slab an address lies.
constexpr std::size_t kNowhere = ~std::size_t{0};
std::size_t offset_in_slab(const void* address) {
  const auto byte = reinterpret_cast<std::uintptr_t>(address);
  const std::size_t count = stack_slab_count.load();
  for (std::size_t i = 0; i < count && i < kMaxSlabs; ++i) {
    const auto begin = reinterpret_cast<std::uintptr_t>(stack_slabs[i].load());
    if (begin != 0 && byte - begin < stack_step() * kStacksPerSlab) return byte - begin;
  }
  return kNowhere;
}

}  // namespace

std::vector<Stack*> map_stacks() {
  const std::size_t guard = page_bytes(), step = stack_step();
  const std::size_t number = stack_slab_count.fetch_add(1);
  if (number >= kMaxSlabs) die("out of memory for stacks");
  void* const mapped = mmap(nullptr, step * kStacksPerSlab + kAboveStack, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) die("out of memory for stacks");
  char* const base = static_cast<char*>(mapped);
  const auto close = [](char* begin, std::size_t bytes) {
    if (mprotect(begin, bytes, PROT_NONE) == 0) return;
    die("no guard page at a stack (vm.max_map_count too small?); try CUDA_CPU_WORKERS=1");
  };
  close(base + step * kStacksPerSlab, kAboveStack);
  stack_slabs[number].store(base);
  std::vector<Stack*> stacks;
  for (std::size_t i = 0; i < kStacksPerSlab; ++i) {
    close(base + i * step, guard);
    auto* const stack = new Stack;
    stack->bottom = base + i * step + guard;
    stacks.push_back(stack);
  }
  return stacks;
}

bool is_stack_guard(const void* address) {
  const std::size_t offset = offset_in_slab(address);
  return offset != kNowhere && offset % stack_step() < page_bytes();
}

std::uintptr_t stack_at(const void* address) {
  const std::size_t offset = offset_in_slab(address);
  if (offset == kNowhere) return 0;
  return reinterpret_cast<std::uintptr_t>(address) - offset % stack_step();
}

}  // namespace cuda_cpu
