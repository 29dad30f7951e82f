// SPDX-License-Identifier: MIT
#include "memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "../../types/the_only.h"
#include "../state/device_limits.h"
#include "../state/leaving.h"
#include "../state/pages.h"
#include "../state/sanitizers.h"
#include "../state/settings.h"
#include "memory_notes.h"
#include "unwritten.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

namespace cuda_cpu {
namespace {

// The least alignment of allocations: an access just past the end of most arrays faults.
constexpr std::size_t kAlignment = 16;
constexpr std::size_t kGuardMin = std::size_t{64} << 10;
constexpr std::size_t kGuardMax = std::size_t{16} << 20;
// Freed allocations beyond this many are forgotten, oldest first, so that a loop of allocations
// does not fill the host's memory with their names.
constexpr std::size_t kQuarantineMax = 16384;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// A range and, for allocations, the pages it was cut from. Span = pages and the guard after
/// them.
struct Holding {
  MemoryRange range;
  std::uintptr_t pages = 0;
  std::size_t page_bytes = 0;
  std::size_t span_bytes = 0;
};

/// Pages that are open to kernels of their device alone.
struct Closable {
  std::size_t bytes;
  int device;
};

/// Address space that allocations are cut from.
struct Reserve {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  std::uintptr_t next = 0;
  std::map<std::uintptr_t, std::size_t> spans;  // given back, by address, coalesced
  std::deque<std::uintptr_t> quarantine;        // bases of freed allocations, oldest first

  bool holds(const void* address) const {
    const auto a = reinterpret_cast<std::uintptr_t>(address);
    return base != 0 && a >= base && a < base + bytes;
  }
};

/// What `ulimit -v` allows.
std::size_t address_space_limit() {
  rlimit limit{};
  const bool is_known = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_known ? limit.rlim_cur : std::numeric_limits<std::size_t>::max();
}

struct AllMemory {
  std::mutex mutex;
  std::map<std::uintptr_t, Holding> holdings;
  std::map<std::uintptr_t, Closable> closable;  // of live device allocations, by their pages
  std::set<std::uintptr_t> shared_holders;      // of pointers; some are freed
  Reserve device, host_visible;
  std::size_t live_device_bytes[kMaxDevices] = {};
  std::vector<DeviceSet> opened;  // by each that has opened memory; the last holds all others
  std::size_t total = memory_of_this_machine() / 2 / static_cast<std::size_t>(device_count());

  bool is_open(int device) const { return !opened.empty() && (opened.back() & only(device)) != 0; }

  static std::size_t memory_of_this_machine() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    std::size_t bytes = pages > 0 ? static_cast<std::size_t>(pages) *
                                        static_cast<std::size_t>(sysconf(_SC_PAGESIZE))
                                  : std::size_t{4} << 30;
    // The limits of a container and of the shell count as well.
    for (const char* path :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
      if (std::FILE* file = std::fopen(path, "r")) {
        unsigned long long limit = 0;
        if (std::fscanf(file, "%llu", &limit) == 1 && limit > 0) {
          bytes = std::min<unsigned long long>(bytes, limit);
        }
        std::fclose(file);
      }
    }
    return std::min(bytes, address_space_limit());
  }
};

/// The last range that begins at the address or before it; null when none does.
const MemoryRange* last_range_from(const AllMemory& s, std::uintptr_t address) {
  const auto behind = s.holdings.upper_bound(address);
  return behind == s.holdings.begin() ? nullptr : &std::prev(behind)->second.range;
}

/// Whether it is of the memory that cudaMemGetInfo counts.
bool is_on_device(Space space) { return space == Space::kGlobal || space == Space::kManaged; }

void* as_pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

void make_reserve(Reserve* reserve) {
  std::size_t bytes = std::size_t{256} << 30;
  bytes = std::min(bytes, round_up(address_space_limit() / 4, std::size_t{1} << 20));
  for (; bytes >= (std::size_t{16} << 20); bytes /= 2) {
    void* const base =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) continue;
    reserve->base = reinterpret_cast<std::uintptr_t>(base);
    reserve->bytes = bytes;
    // A guard before the first allocation: an index that wraps below 0 leads there, too. Of 256 GiB
    // that are 32, as far as an int leads among elements of 16 bytes.
    reserve->next = reserve->base + bytes / 8;
    return;
  }
  die("no address space for device memory; raise the limit that `ulimit -v` shows");
}

Reserve& reserve_of(AllMemory& s, Space space) {
  Reserve& reserve = space == Space::kGlobal ? s.device : s.host_visible;
  if (reserve.base == 0) make_reserve(&reserve);
  return reserve;
}

void give_span_back(Reserve& reserve, std::uintptr_t base, std::size_t bytes) {
  auto next = reserve.spans.lower_bound(base);
  if (next != reserve.spans.end() && base + bytes == next->first) {
    bytes += next->second;
    next = reserve.spans.erase(next);
  }
  if (next != reserve.spans.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == base) {
      previous->second += bytes;
      return;
    }
  }
  reserve.spans[base] = bytes;
}

void forget_oldest(AllMemory& s, Reserve& reserve) {
  const std::uintptr_t base = reserve.quarantine.front();
  reserve.quarantine.pop_front();
  const auto found = s.holdings.find(base);
  if (found == s.holdings.end()) return;
  give_span_back(reserve, found->second.pages, found->second.span_bytes);
  s.holdings.erase(found);
}

std::uintptr_t take_span(AllMemory& s, Reserve& reserve, std::size_t bytes) {
  const std::uintptr_t end = reserve.base + reserve.bytes;
  const std::uintptr_t base = bytes >= kHugePage ? round_up(reserve.next, kHugePage) : reserve.next;
  if (base <= end && bytes <= end - base) {
    reserve.next = base + bytes;
    return base;
  }
  // The reserve is used up, so freed memory is handed out again, the longest freed first.
  for (;;) {
    for (auto it = reserve.spans.begin(); it != reserve.spans.end(); ++it) {
      if (it->second < bytes) continue;
      const std::uintptr_t first = it->first;
      const std::size_t rest = it->second - bytes;
      reserve.spans.erase(it);
      if (rest != 0) reserve.spans[first + bytes] = rest;
      return first;
    }
    if (reserve.quarantine.empty()) return 0;
    forget_oldest(s, reserve);
  }
}

void poison_slack(const Holding& holding) {
  asan_poison(as_pointer(holding.pages), holding.range.base - holding.pages);
  asan_poison(as_pointer(holding.range.end()),
              holding.pages + holding.page_bytes - holding.range.end());
}

/// First byte of [from, to) that is not 0xff; `to` when there is none. Reads memory that ASan
/// guards.
CUDA_CPU_NOT_SEEN_BY_ASAN std::uintptr_t first_changed(std::uintptr_t from, std::uintptr_t to) {
  while (from < to && from % sizeof(std::uint64_t) != 0) {
    if (*reinterpret_cast<const volatile unsigned char*>(from) != kPoison) return from;
    ++from;
  }
  while (to - from >= sizeof(std::uint64_t)) {
    if (*reinterpret_cast<const volatile std::uint64_t*>(from) != ~std::uint64_t{0}) break;
    from += sizeof(std::uint64_t);
  }
  while (from < to && *reinterpret_cast<const volatile unsigned char*>(from) == kPoison) ++from;
  return from;
}

/// Where the slack of an allocation was written to, after its end or before it; 0 if nowhere.
std::uintptr_t find_damage(const Holding& holding) {
  const std::uintptr_t pages_end = holding.pages + holding.page_bytes;
  const std::uintptr_t behind = first_changed(holding.range.end(), pages_end);
  if (behind != pages_end) return behind;
  const std::uintptr_t before = first_changed(holding.pages, holding.range.base);
  return before != holding.range.base ? before : 0;
}

CUDA_CPU_NOT_SEEN_BY_ASAN void refill_slack(const Holding& holding) {
  for (std::uintptr_t a = holding.pages; a < holding.range.base; ++a) {
    *reinterpret_cast<volatile unsigned char*>(a) = kPoison;
  }
  for (std::uintptr_t a = holding.range.end(); a < holding.pages + holding.page_bytes; ++a) {
    *reinterpret_cast<volatile unsigned char*>(a) = kPoison;
  }
}

void protect(std::uintptr_t pages, std::size_t bytes, int protection) {
  if (mprotect(as_pointer(pages), bytes, protection) != 0) {
    die("mprotect of device memory failed; too many allocations for this system's map limit?");
  }
}

void release_locked(AllMemory& s, Holding& holding, Site site) {
  MemoryRange& range = holding.range;
  Reserve& reserve = reserve_of(s, range.space);
  s.closable.erase(holding.pages);
  set_unwritten(as_pointer(range.base), range.size, false);
  if (is_on_device(range.space)) s.live_device_bytes[range.device] -= range.size;
  asan_unpoison(as_pointer(holding.pages), holding.page_bytes);
  // A fresh mapping drops the pages and leaves nothing to touch.
  if (mmap(as_pointer(holding.pages), holding.page_bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    die("releasing device memory failed");
  }
  range.live = false;
  range.freed = site;
  reserve.quarantine.push_back(range.base);
  if (reserve.quarantine.size() > kQuarantineMax) forget_oldest(s, reserve);
}

bool is_allocation(const Holding& holding) { return holding.pages != 0; }

// Between them lies all that is registered of what host code and kernels share.
std::atomic<std::uintptr_t> lowest_shared{~std::uintptr_t{0}}, highest_shared{0};
bool is_of_both(Space space) { return space == Space::kManaged || space == Space::kHostRegistered; }

/// Something else may begin where a holder did.
void note_holder(AllMemory& s, const MemoryRange& range) {
  const bool is_shared = range.space == Space::kManaged || range.space == Space::kHostPinned;
  if (is_shared && range.may_hold_pointers) {
    s.shared_holders.insert(range.base);
  } else {
    s.shared_holders.erase(range.base);
  }
}

}  // namespace

void register_range(const MemoryRange& range) {
  const auto [s, lock] = locked<AllMemory>();
  if (is_of_both(range.space)) {
    lowest_shared = std::min(lowest_shared.load(), range.base);
    highest_shared = std::max(highest_shared.load(), range.end());
  }
  s.holdings[range.base] = Holding{range};
  note_holder(s, range);
}

void unregister_range(std::uintptr_t base) {
  const auto [s, lock] = locked<AllMemory>();
  s.holdings.erase(base);
}

bool find_range(const void* address, MemoryRange* found, std::size_t reach) {
  const auto [s, lock] = locked<AllMemory>();
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const auto behind = s.holdings.upper_bound(a);
  std::size_t best = reach + 1;
  if (behind != s.holdings.begin()) {
    const MemoryRange& before = std::prev(behind)->second.range;
    if (a < before.end() || a == before.base) {
      *found = before;
      return true;
    }
    if (a - before.end() < best) {
      best = a - before.end();
      *found = before;
    }
  }
  if (behind != s.holdings.end() && behind->second.range.base - a < best) {
    best = behind->second.range.base - a;
    *found = behind->second.range;
  }
  return best <= reach;
}

bool find_live_range(const void* address, MemoryRange* found) {
  const auto [s, lock] = locked<AllMemory>();
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const MemoryRange* const range = last_range_from(s, a);
  if (range == nullptr || !range->live || !(a < range->end() || a == range->base)) return false;
  *found = *range;
  return true;
}

bool find_symbol_named(const char* name, MemoryRange* found) {
  const auto [s, lock] = locked<AllMemory>();
  for (const auto& entry : s.holdings) {
    const MemoryRange& range = entry.second.range;
    if (range.space == Space::kShared || std::strcmp(range.name, name) != 0) continue;
    *found = range;
    return true;
  }
  return false;
}

bool overlaps_range(const void* address, std::size_t bytes, Space space) {
  const auto [s, lock] = locked<AllMemory>();
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  for (const auto& entry : s.holdings) {
    const MemoryRange& range = entry.second.range;
    if (range.live && range.space == space && a < range.end() && range.base < a + bytes) {
      return true;
    }
  }
  return false;
}

void* allocate(const AllocationRequest& request) {
  const auto [s, lock] = locked<AllMemory>();
  const std::size_t used = is_on_device(request.space) ? s.live_device_bytes[request.device] : 0;
  if (request.size > s.total - std::min(s.total, used)) return nullptr;
  Reserve& reserve = reserve_of(s, request.space);
  const std::size_t alignment = std::min(std::max(kAlignment, request.alignment), page_bytes());
  const std::size_t aligned_bytes = round_up(std::max<std::size_t>(request.size, 1), alignment);
  const std::size_t mapped_bytes = round_up(aligned_bytes, page_bytes());
  const std::size_t guard = round_up(std::clamp(mapped_bytes, kGuardMin, kGuardMax), page_bytes());
  const std::uintptr_t pages = take_span(s, reserve, mapped_bytes + guard);
  if (pages == 0) return nullptr;
  if (mprotect(as_pointer(pages), mapped_bytes, PROT_READ | PROT_WRITE) != 0) {
    give_span_back(reserve, pages, mapped_bytes + guard);
    return nullptr;
  }
#if defined(MADV_HUGEPAGE)
  // With fewer pages the first fill is cheap, and so is opening and closing the memory around a
  // kernel.
  if (mapped_bytes >= kHugePage) madvise(as_pointer(pages), mapped_bytes, MADV_HUGEPAGE);
#endif
  Holding holding;
  holding.pages = pages;
  holding.page_bytes = mapped_bytes;
  holding.span_bytes = mapped_bytes + guard;
  holding.range = request;
  holding.range.base = pages + mapped_bytes - aligned_bytes;
  std::memset(as_pointer(pages), kPoison, mapped_bytes);
  poison_slack(holding);
  if (request.row_bytes < request.pitch) rows_are_padded = true;
  if (is_on_device(request.space)) s.live_device_bytes[request.device] += request.size;
  if (request.space == Space::kGlobal) {
    s.closable[pages] = {mapped_bytes, request.device};
    set_unwritten(as_pointer(holding.range.base), request.size, true);
    if (!s.is_open(request.device)) protect(pages, mapped_bytes, PROT_NONE);
  }
  s.holdings[holding.range.base] = holding;
  note_holder(s, holding.range);
  return as_pointer(holding.range.base);
}

void release(std::uintptr_t base, Site site) {
  const auto [s, lock] = locked<AllMemory>();
  const auto found = s.holdings.find(base);
  if (found == s.holdings.end() || !found->second.range.live) return;
  release_locked(s, found->second, site);
}

void release_everything() {
  const auto [s, lock] = locked<AllMemory>();
  std::vector<std::uintptr_t> allocations, registrations;
  for (const auto& entry : s.holdings) {
    if (!entry.second.range.live) continue;
    if (is_allocation(entry.second)) allocations.push_back(entry.first);
    if (entry.second.range.space == Space::kHostRegistered) registrations.push_back(entry.first);
  }
  for (const std::uintptr_t base : allocations) {
    release_locked(s, s.holdings.at(base), Site{nullptr, 0});
  }
  for (const std::uintptr_t base : registrations) s.holdings.erase(base);
}

void release_all_of(int device, const CUctx_st* context, Site site) {
  const auto [s, lock] = locked<AllMemory>();
  std::vector<std::uintptr_t> allocations;
  for (const auto& [base, holding] : s.holdings) {
    const MemoryRange& range = holding.range;
    const bool is_its_own =
        range.device == device && range.context == context && range.pool == nullptr;
    if (range.live && is_its_own && is_allocation(holding)) allocations.push_back(base);
  }
  for (const std::uintptr_t base : allocations) release_locked(s, s.holdings.at(base), site);
}

std::size_t device_memory_total() { return the_only<AllMemory>().total; }

std::size_t device_memory_free(int device) {
  const auto [s, lock] = locked<AllMemory>();
  return s.total - std::min(s.total, s.live_device_bytes[device]);
}

LeftMemory device_memory_left() {
  const auto [s, lock] = locked<AllMemory>();
  LeftMemory left;
  for (const auto& entry : s.holdings) {
    const MemoryRange& range = entry.second.range;
    if (!is_allocation(entry.second) || !range.live || !is_on_device(range.space)) continue;
    if (range.is_heap) continue;  // it lasts as long as the program
    ++left.count;
    left.bytes += range.size;
    if (range.size > left.largest.size) left.largest = range;
  }
  return left;
}

void for_shared_holders_of_pointers(void (*use)(const MemoryRange& range)) {
  std::vector<MemoryRange> found;
  {
    const auto [s, lock] = locked<AllMemory>();
    for (const std::uintptr_t base : s.shared_holders) {
      const auto holding = s.holdings.find(base);
      if (holding != s.holdings.end() && holding->second.range.live) {
        found.push_back(holding->second.range);
      }
    }
  }
  for (const MemoryRange& range : found) use(range);  // which may ask for ranges itself
}

bool is_device_address(const void* address) { return the_only<AllMemory>().device.holds(address); }

bool is_host_visible_address(const void* address) {
  return the_only<AllMemory>().host_visible.holds(address);
}

bool is_shared_with_host(const void* address) {
  if (is_host_visible_address(address)) return true;
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  if (a < lowest_shared || a >= highest_shared) return false;
  MemoryRange range;
  return find_live_range(address, &range) && is_of_both(range.space);
}

bool is_kernel_accessible(const void* address) {
  if (address == nullptr || is_device_address(address) || is_host_visible_address(address)) {
    return true;
  }
  const auto [s, lock] = locked<AllMemory>();
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const MemoryRange* const range = last_range_from(s, a);
  return range != nullptr && range->live && a <= range->end();  // one past the end may be passed
}

void open_device_memory(DeviceSet devices) {
  const auto [s, lock] = locked<AllMemory>();
  const DeviceSet before = s.opened.empty() ? 0 : s.opened.back();
  s.opened.push_back(before | devices);
  for (const auto& [pages, of] : s.closable) {
    if ((devices & ~before & only(of.device)) != 0) {
      protect(pages, of.bytes, PROT_READ | PROT_WRITE);
    }
  }
}

void close_device_memory() {
  const auto [s, lock] = locked<AllMemory>();
  const DeviceSet closed = s.opened.back();
  s.opened.pop_back();
  const DeviceSet left = s.opened.empty() ? 0 : s.opened.back();
  if (closed == left || s.closable.empty()) return;
  if (left == 0) {
    // One call covers all of it, since the guards between the allocations are closed already.
    const auto& [last, of_last] = *s.closable.rbegin();
    const std::uintptr_t first = s.closable.begin()->first;
    return protect(first, last + of_last.bytes - first, PROT_NONE);
  }
  for (const auto& [pages, of] : s.closable) {
    if ((closed & ~left & only(of.device)) != 0) protect(pages, of.bytes, PROT_NONE);
  }
}

void keep_unwritten_memory(bool on) {
  const auto [s, lock] = locked<AllMemory>();
  const Reserve& reserve = reserve_of(s, Space::kGlobal);
  const std::size_t room = round_up(reserve.bytes / 32, page_bytes());
  if (unwritten_words.bits != nullptr) munmap(unwritten_words.bits, room);
  unwritten_words = UnwrittenWords{};
  if (!on) return;
  void* const bits = mmap(nullptr, room, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bits == MAP_FAILED) return;
  unwritten_words = {reserve.base, reserve.bytes, static_cast<std::uint64_t*>(bits)};
}

OpenAllocation::OpenAllocation(const void* address) {
  const auto [s, lock] = locked<AllMemory>();
  if (!s.device.holds(address)) return;
  const auto behind = s.closable.upper_bound(reinterpret_cast<std::uintptr_t>(address));
  if (behind == s.closable.begin()) return;
  const auto& [pages, of] = *std::prev(behind);
  if (s.is_open(of.device)) return;
  pages_ = pages;
  protect(pages, of.bytes, PROT_READ | PROT_WRITE);
}

OpenAllocation::~OpenAllocation() {
  if (pages_ == 0) return;
  const auto [s, lock] = locked<AllMemory>();
  const auto found = s.closable.find(pages_);
  if (found != s.closable.end() && !s.is_open(found->second.device)) {
    protect(found->first, found->second.bytes, PROT_NONE);
  }
}

int check_slack(const LaunchedKernel& kernel) {
  Report damage;
  open_device_memory();
  {
    const auto [s, lock] = locked<AllMemory>();
    for (const auto& pages : s.closable) {
      // The range begins in the first page; holdings are found by where their range begins.
      const Holding& holding = s.holdings.lower_bound(pages.first)->second;
      const std::uintptr_t where = find_damage(holding);
      if (where == 0) continue;
      const MemoryRange& range = holding.range;
      const bool behind = where >= range.end();
      const char* const side = behind ? "past the end" : "before the start";
      damage = report_here(
          format("write %s of an allocation in kernel '%s', found when it had ended", side,
                 kernel.name),
          {kernel.file, kernel.line}, cudaErrorIllegalAddress,
          {where == range.end()
               ? format("the byte right after the end of a %zu-byte allocation was written",
                        range.size)
               : format("a byte was written %zu bytes %s of a %zu-byte allocation",
                        behind ? where - range.end() : range.base - where, side, range.size)},
          "guard the index; make sanitize BACKEND=cpu names the line that wrote",
          {origin_note(range)});
      refill_slack(holding);
      break;
    }
  }
  close_device_memory();
  return damage.headline.empty() ? 0 : report(damage);
}

bool slack_is_damaged(const MemoryRange& range, Site site, Report* report) {
  const auto [s, lock] = locked<AllMemory>();
  const auto found = s.holdings.find(range.base);
  if (found == s.holdings.end() || !is_allocation(found->second)) return false;
  const std::uintptr_t where = find_damage(found->second);
  if (where == 0) return false;
  *report = report_here(
      format("something wrote %s memory from %s, found when it was freed",
             where >= range.end() ? "past the end of" : "before the start of", range.call),
      site, cudaErrorIllegalAddress, {format("the allocation has %zu bytes", range.size)},
      "guard the index; make sanitize BACKEND=cpu names the line that wrote", {origin_note(range)});
  return true;
}

}  // namespace cuda_cpu
