// SPDX-License-Identifier: MIT
#include "shared.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "../report/diagnostics.h"
#include "../runtime/error_codes.h"
#include "memory.h"
#include "pages.h"
#include "sanitizers.h"
#include "worker.h"

namespace cuda_cpu {

namespace {

// Bytes before an array (and behind dynamic memory, up to its 16-byte alignment) that nobody may
// write.
constexpr std::size_t kMargin = 64;

std::atomic<int> declarations{1};  // place 0 is the dynamic memory
std::atomic<std::size_t> dynamic_limit{kSharedPerBlock};

// Maps whole pages for `bytes` and the margin, between two guard pages.
void map_pages(SharedPlace* place, std::size_t bytes) {
  const std::size_t page = page_bytes();
  place->page_bytes = round_up(bytes + kMargin, page);
  void* const mapped =
      mmap(nullptr, place->page_bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) die("out of memory for __shared__ arrays");
  place->pages = static_cast<char*>(mapped) + page;
  if (mprotect(place->pages, place->page_bytes, PROT_READ | PROT_WRITE) != 0) {
    die("out of memory for __shared__ arrays");
  }
}

// The array ends where the guard page begins, or as close to it as its alignment lets it.
void lay_out(SharedPlace* place, std::size_t bytes, std::size_t alignment) {
  place->size = bytes;
  place->address = place->pages + place->page_bytes - round_up(bytes, alignment);
}

SharedPlace* place_in(Block* block, unsigned number) {
  if (number >= block->shared_count) {
    const unsigned count = number + 8;
    auto* const grown = static_cast<SharedPlace*>(std::calloc(count, sizeof(SharedPlace)));
    if (grown == nullptr) die("out of memory for __shared__ arrays");
    if (block->shared_count > 0) {
      std::memcpy(grown, block->shared, block->shared_count * sizeof(SharedPlace));
      std::free(block->shared);
    }
    block->shared = grown;
    block->shared_count = count;
  }
  return &block->shared[number];
}

void announce(SharedPlace* place, const char* name, Site site) {
  place->name = name;
  place->site = site;
  MemoryRange range;
  range.base = reinterpret_cast<std::uintptr_t>(place->address);
  range.size = place->size;
  range.space = Space::kShared;
  range.name = name;
  range.allocated = site;
  register_range(range);
}

void start_using(Block* block, SharedPlace* place) {
  char* const begin = static_cast<char*>(place->address) - kMargin;
  std::memset(begin, kPoison, static_cast<std::size_t>(place->pages + place->page_bytes - begin));
  place->serial = block->serial;
}

void check_total(const Block* block, const char* name, Site site) {
  const std::size_t total = block->static_shared_bytes + block->dynamic_shared_bytes;
  if (total <= dynamic_shared_limit()) return;
  Report r;
  r.headline = "too much shared memory";
  r.site = site;
  r.where = where();
  r.details.push_back(format(
      "with '%s' the block uses %zu bytes of __shared__ arrays and %zu bytes of dynamic "
      "shared memory; it has %zu",
      name, block->static_shared_bytes, block->dynamic_shared_bytes, dynamic_shared_limit()));
  r.cuda_error = cudaErrorInvalidValue;
  abandon_grid(report(r));
}

bool all_poison(const char* begin, const char* end) {
  for (const char* byte = begin; byte < end; ++byte) {
    if (static_cast<unsigned char>(*byte) != kPoison) return false;
  }
  return true;
}

int report_margin(const Block* block, const SharedPlace& place, bool before) {
  Report r;
  r.headline = before ? "out-of-bounds write before a __shared__ array"
                      : "out-of-bounds write past the end of a __shared__ array";
  r.site = place.site;
  r.where = where_is(block, block->threads);
  r.names_thread = false;
  r.details.push_back(format("found when block %s had ended: '%s' has %zu bytes",
                             to_text(block->index).c_str(), place.name, place.size));
  r.help = before ? "is an index negative in the first threads, as in s[threadIdx.x - 1]?"
                  : "is the third launch argument the size in bytes?";
  r.cuda_error = cudaErrorIllegalAddress;
  return report(r);
}

}  // namespace

std::size_t dynamic_shared_limit() { return dynamic_limit.load(std::memory_order_relaxed); }

void raise_dynamic_shared_limit(std::size_t bytes) {
  std::size_t current = dynamic_limit.load();
  while (current < bytes && !dynamic_limit.compare_exchange_weak(current, bytes)) {
  }
}

void* touch_shared(SharedDeclaration& declaration, Site site, const char* name) {
  const TsanBlindfold unseen;
  int number = __atomic_load_n(&declaration.number, __ATOMIC_RELAXED);
  if (number < 0) {
    // Two workers may both be first: one number wins, the other stays unused.
    const int fresh = declarations.fetch_add(1);
    int none = -1;
    number = __atomic_compare_exchange_n(&declaration.number, &none, fresh, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED)
                 ? fresh
                 : none;
  }
  Block* const block = current_block;
  SharedPlace* const place = place_in(block, static_cast<unsigned>(number));
  if (place->pages == nullptr) {
    map_pages(place, declaration.size);
    lay_out(place, declaration.size, declaration.alignment);
    announce(place, name, site);
  }
  block->static_shared_bytes += declaration.size;
  check_total(block, name, site);
  start_using(block, place);
  return place->address;
}

void* touch_dynamic_shared(const char* name, Site site) {
  const TsanBlindfold unseen;
  constexpr std::size_t kAlignment = 16;
  Block* const block = current_block;
  if (*name == '\0') name = "extern __shared__";
  SharedPlace* const place = place_in(block, 0);
  if (place->pages == nullptr) map_pages(place, kSharedPerBlockOptIn);
  if (place->address == nullptr || place->size != block->dynamic_shared_bytes ||
      place->name != name) {
    if (place->address != nullptr)
      unregister_range(reinterpret_cast<std::uintptr_t>(place->address));
    lay_out(place, block->dynamic_shared_bytes, kAlignment);
    announce(place, name, site);
  }
  check_total(block, name, site);
  start_using(block, place);
  return place->address;
}

void begin_shared(Block* block) {
  if constexpr (!kTsan) return;
  // New pages in the old place: TSan forgets the accesses of the block before, which are no race
  // with this block's.
  const TsanBlindfold unseen;
  for (unsigned i = 0; i < block->shared_count; ++i) {
    const SharedPlace& place = block->shared[i];
    if (place.pages == nullptr || place.serial + 1 != block->serial) continue;
    mmap(place.pages, place.page_bytes, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
}

int finish_shared(Block* block) {
  for (unsigned i = 0; i < block->shared_count; ++i) {
    const SharedPlace& place = block->shared[i];
    if (place.pages == nullptr || place.serial != block->serial) continue;
    const char* const begin = static_cast<char*>(place.address);
    if (!all_poison(begin - kMargin, begin)) return report_margin(block, place, true);
    if (!all_poison(begin + place.size, place.pages + place.page_bytes)) {
      return report_margin(block, place, false);
    }
  }
  return 0;
}

}  // namespace cuda_cpu
