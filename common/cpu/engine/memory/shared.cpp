// SPDX-License-Identifier: MIT
#include "shared.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "../state/leaving.h"
#include "../state/pages.h"
#include "memory.h"

namespace cuda_cpu {

namespace {

// Bytes before an array (and after dynamic memory, up to its alignment) that nobody may write.
constexpr std::size_t kMargin = 64;

std::atomic<int> declarations{1};  // number 0 is the dynamic memory
std::atomic<std::size_t> dynamic_limit{kSharedPerBlock};
std::atomic<std::size_t> dynamic_alignment{16};

void raise(std::atomic<std::size_t>* value, std::size_t least) {
  std::size_t current = value->load();
  while (current < least && !value->compare_exchange_weak(current, least)) {
  }
}

// Maps whole pages for `bytes` and the margin, between two guard pages.
void map_pages(SharedArray* array, std::size_t bytes) {
  const std::size_t page = page_bytes();
  array->page_bytes = round_up(bytes + kMargin, page);
  void* const mapped =
      mmap(nullptr, array->page_bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) die("out of memory for __shared__ arrays");
  array->pages = static_cast<char*>(mapped) + page;
  if (mprotect(array->pages, array->page_bytes, PROT_READ | PROT_WRITE) != 0) {
    die("out of memory for __shared__ arrays");
  }
}

// The array ends where the guard page begins, or as close to it as its alignment lets it.
void lay_out(SharedArray* array, std::size_t bytes, std::size_t alignment) {
  array->size = bytes;
  array->address = array->pages + array->page_bytes - round_up(bytes, alignment);
}

SharedArray* array_of(Block* block, unsigned number) {
  if (number >= block->shared_count) {
    const unsigned count = number + 8;
    auto* const grown =
        static_cast<SharedArray*>(std::realloc(block->shared, count * sizeof(SharedArray)));
    if (grown == nullptr) die("out of memory for __shared__ arrays");
    std::fill(grown + block->shared_count, grown + count, SharedArray{});
    block->shared = grown;
    block->shared_count = count;
  }
  return &block->shared[number];
}

void announce(SharedArray* array, const char* name, Site site) {
  array->name = name;
  array->site = site;
  const auto base = reinterpret_cast<std::uintptr_t>(array->address);
  register_range({base, array->size, Space::kShared, name, site});
}

void start_using(Block* block, SharedArray* array) {
  char* const begin = static_cast<char*>(array->address) - kMargin;
  std::memset(begin, kPoison, static_cast<std::size_t>(array->pages + array->page_bytes - begin));
  array->serial = block->serial;
}

/// What a block may have in all, with that much static memory. A program that has asked for more
/// than 48 KiB has asked for dynamic memory, and the static memory comes on top of it.
std::size_t shared_limit(std::size_t static_bytes) {
  const std::size_t dynamic = dynamic_shared_limit();
  if (dynamic <= kSharedPerBlock || static_bytes > kSharedPerBlock) return kSharedPerBlock;
  return std::min(kSharedPerBlockOptIn, dynamic + static_bytes);
}

void check_total(const Block* block, const char* name, Site site) {
  const std::size_t total = block->static_shared_bytes + block->dynamic_shared_bytes;
  const std::size_t limit = shared_limit(block->static_shared_bytes);
  if (total <= limit) return;
  stop_grid(report_here(
      "too much shared memory", site, cudaErrorInvalidValue,
      {format("with '%s' the block uses %zu bytes of __shared__ arrays and %zu bytes of dynamic "
              "shared memory; it has %zu",
              name, block->static_shared_bytes, block->dynamic_shared_bytes, limit)}));
}

int report_margin(const Block* block, const SharedArray& array, bool before) {
  Report r =
      report_here(before ? "out-of-bounds write before a __shared__ array"
                         : "out-of-bounds write past the end of a __shared__ array",
                  array.site, cudaErrorIllegalAddress,
                  {format("found when block %s had ended: '%s' has %zu bytes",
                          to_text(block->index).c_str(), array.name, array.size)},
                  before ? "is an index negative in the first threads, as in s[threadIdx.x - 1]?"
                         : "is the third launch argument the size in bytes?");
  r.where = where_is(block, block->threads);
  r.names_thread = false;
  return report(r);
}

}  // namespace

bool is_shared_address(const Block* block, const void* address) {
  const std::size_t page = page_bytes();
  for (unsigned i = 0; i < block->shared_count; ++i) {
    const SharedArray& array = block->shared[i];
    if (array.pages == nullptr) continue;
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(array.pages) - page;
    if (reinterpret_cast<std::uintptr_t>(address) - begin < array.page_bytes + 2 * page) {
      return true;
    }
  }
  return false;
}

std::size_t dynamic_shared_limit() { return dynamic_limit.load(std::memory_order_relaxed); }

void raise_dynamic_shared_limit(std::size_t bytes) { raise(&dynamic_limit, bytes); }

bool align_dynamic_shared(std::size_t alignment) {
  raise(&dynamic_alignment, alignment);
  return true;
}

void* touch_shared(SharedDeclaration& declaration, Site site, const char* name) {
  int number = __atomic_load_n(&declaration.number, __ATOMIC_RELAXED);
  if (number < 0) {
    // Two workers may both be the first to ask: one number wins, the other stays unused.
    const int fresh = declarations.fetch_add(1);
    int none = -1;
    number = __atomic_compare_exchange_n(&declaration.number, &none, fresh, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED)
                 ? fresh
                 : none;
  }
  Block* const block = current_block;
  SharedArray* const array = array_of(block, static_cast<unsigned>(number));
  if (array->pages == nullptr) {
    map_pages(array, declaration.size);
    lay_out(array, declaration.size, declaration.alignment);
    announce(array, name, site);
  }
  block->static_shared_bytes += declaration.size;
  check_total(block, name, site);
  start_using(block, array);
  return array->address;
}

void* touch_dynamic_shared(const char* name, Site site) {
  Block* const block = current_block;
  if (*name == '\0') name = "extern __shared__";
  SharedArray* const array = array_of(block, 0);
  if (array->pages == nullptr) map_pages(array, kSharedPerBlockOptIn);
  if (array->size != block->dynamic_shared_bytes || array->name != name) {
    // At first its address is null, where no range begins.
    unregister_range(reinterpret_cast<std::uintptr_t>(array->address));
    lay_out(array, block->dynamic_shared_bytes, dynamic_alignment.load(std::memory_order_relaxed));
    announce(array, name, site);
  }
  check_total(block, name, site);
  start_using(block, array);
  return array->address;
}

int finish_shared(Block* block) {
  for (unsigned i = 0; i < block->shared_count; ++i) {
    const SharedArray& array = block->shared[i];
    if (array.pages == nullptr || array.serial != block->serial) continue;
    const char* const begin = static_cast<char*>(array.address);
    if (!is_all_poison(begin - kMargin, begin)) return report_margin(block, array, true);
    if (!is_all_poison(begin + array.size, array.pages + array.page_bytes)) {
      return report_margin(block, array, false);
    }
  }
  return 0;
}

}  // namespace cuda_cpu
