// SPDX-License-Identifier: MIT
#include "memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "diagnostics.h"

#if defined(CUDA_CPU_ASAN)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) (static_cast<void>(0))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) (static_cast<void>(0))
#endif

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

namespace cuda_cpu {
namespace {

constexpr unsigned char kPoison = 0xff;
constexpr std::size_t kGuardMin = std::size_t{64} << 10;
constexpr std::size_t kGuardMax = std::size_t{16} << 20;
// Freed allocations beyond this many are forgotten, oldest first, so that a loop of allocations
// does not fill the host's memory with their names.
constexpr std::size_t kQuarantineMax = 16384;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// A region and, for allocations, the pages it was cut from. Span = pages and the guard behind
/// them.
struct Record {
  Region region;
  std::uintptr_t pages = 0;
  std::size_t page_bytes = 0;
  std::size_t span_bytes = 0;
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

struct InitialValue {
  std::uintptr_t base;
  std::vector<unsigned char> bytes;  // empty: zeros
  std::size_t size;
};

struct State {
  std::mutex mutex;
  std::map<std::uintptr_t, Record> records;
  std::map<std::uintptr_t, std::size_t> closable;  // pages of live device allocations
  Reserve device, host_visible;
  std::vector<InitialValue> symbols;
  std::size_t live_device_bytes = 0;
  int open_depth = 0;
  std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t total = 0;
  std::size_t alignment = 16;

  State() {
    total = memory_of_this_machine() / 2;
    if (const char* text = std::getenv("CUDA_CPU_ALIGN")) {
      char* end = nullptr;
      const unsigned long value = std::strtoul(text, &end, 10);
      if (*text == '\0' || *end != '\0' || value < 16 || value > page || (value & (value - 1))) {
        die("CUDA_CPU_ALIGN=%s: expected a power of two from 16 to %zu", text, page);
      }
      alignment = value;
    }
  }

  static std::size_t memory_of_this_machine() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    std::size_t bytes = pages > 0 ? static_cast<std::size_t>(pages) *
                                        static_cast<std::size_t>(sysconf(_SC_PAGESIZE))
                                  : std::size_t{4} << 30;
    // A container's limit and the shell's count as well.
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
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
      bytes = std::min<std::size_t>(bytes, limit.rlim_cur);
    }
    return bytes;
  }
};

// Never destroyed: static objects of the program may still free memory when it ends.
State& state() {
  static State* const s = new State;
  return *s;
}

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void* as_pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

void make_reserve(Reserve* reserve) {
  std::size_t bytes = std::size_t{256} << 30;
#if defined(CUDA_CPU_TSAN)
  bytes = std::size_t{16} << 30;
#endif
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    bytes = std::min<std::size_t>(bytes, round_up(limit.rlim_cur / 4, std::size_t{1} << 20));
  }
  for (; bytes >= (std::size_t{16} << 20); bytes /= 2) {
    void* const base =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) continue;
    reserve->base = reinterpret_cast<std::uintptr_t>(base);
    reserve->bytes = bytes;
    reserve->next = reserve->base + kGuardMin;  // a guard before the first allocation
    return;
  }
  die("no address space for device memory; raise the limit that `ulimit -v` shows");
}

Reserve& reserve_of(State& s, Space space) {
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

void forget_oldest(State& s, Reserve& reserve) {
  const std::uintptr_t base = reserve.quarantine.front();
  reserve.quarantine.pop_front();
  const auto found = s.records.find(base);
  if (found == s.records.end()) return;
  give_span_back(reserve, found->second.pages, found->second.span_bytes);
  s.records.erase(found);
}

std::uintptr_t take_span(State& s, Reserve& reserve, std::size_t bytes) {
  const std::uintptr_t end = reserve.base + reserve.bytes;
  const std::uintptr_t base = bytes >= kHugePage ? round_up(reserve.next, kHugePage) : reserve.next;
  if (base <= end && bytes <= end - base) {
    reserve.next = base + bytes;
    return base;
  }
  // The reserve is used up: only now is freed memory handed out again, the longest freed first.
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

void poison_slack(const Record& record) {
  ASAN_POISON_MEMORY_REGION(as_pointer(record.pages), record.region.base - record.pages);
  ASAN_POISON_MEMORY_REGION(as_pointer(record.region.end()),
                            record.pages + record.page_bytes - record.region.end());
  static_cast<void>(record);
}

/// First byte of [from, to) that is not 0xff; `to` when there is none. Reads memory that ASan
/// guards.
#if defined(CUDA_CPU_ASAN)
__attribute__((no_sanitize("address")))
#endif
std::uintptr_t
first_changed(std::uintptr_t from, std::uintptr_t to) {
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

/// Where the slack of an allocation was written: before it (negative), behind its end, or nowhere.
enum class Damage { kNone, kBefore, kBehind };
Damage find_damage(const Record& record, std::uintptr_t* where) {
  const std::uintptr_t pages_end = record.pages + record.page_bytes;
  *where = first_changed(record.region.end(), pages_end);
  if (*where != pages_end) return Damage::kBehind;
  *where = first_changed(record.pages, record.region.base);
  return *where != record.region.base ? Damage::kBefore : Damage::kNone;
}

#if defined(CUDA_CPU_ASAN)
__attribute__((no_sanitize("address")))
#endif
void refill_slack(const Record& record) {
  for (std::uintptr_t a = record.pages; a < record.region.base; ++a) {
    *reinterpret_cast<volatile unsigned char*>(a) = kPoison;
  }
  for (std::uintptr_t a = record.region.end(); a < record.pages + record.page_bytes; ++a) {
    *reinterpret_cast<volatile unsigned char*>(a) = kPoison;
  }
}

void protect(std::uintptr_t pages, std::size_t bytes, int protection) {
  if (mprotect(as_pointer(pages), bytes, protection) != 0) {
    die("mprotect of device memory failed; too many allocations for this system's map limit?");
  }
}

void release_locked(State& s, Record& record, Site site) {
  Region& region = record.region;
  Reserve& reserve = reserve_of(s, region.space);
  if (region.space == Space::kGlobal) {
    s.closable.erase(record.pages);
    s.live_device_bytes -= region.size;
  } else if (region.space == Space::kManaged) {
    s.live_device_bytes -= region.size;
  }
  ASAN_UNPOISON_MEMORY_REGION(as_pointer(record.pages), record.page_bytes);
  // A fresh mapping drops the pages and leaves nothing to touch.
  if (mmap(as_pointer(record.pages), record.page_bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    die("releasing device memory failed");
  }
  region.live = false;
  region.freed = site;
  reserve.quarantine.push_back(region.base);
  if (reserve.quarantine.size() > kQuarantineMax) forget_oldest(s, reserve);
}

bool is_allocation(const Record& record) { return record.pages != 0; }

}  // namespace

void register_region(const Region& region) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.records[region.base] = Record{region};
}

void unregister_region(std::uintptr_t base) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.records.erase(base);
}

bool find_region(const void* address, Region* found, std::size_t reach) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const auto behind = s.records.upper_bound(a);
  std::size_t best = reach + 1;
  if (behind != s.records.begin()) {
    const Region& before = std::prev(behind)->second.region;
    if (a < before.end() || a == before.base) {
      *found = before;
      return true;
    }
    if (a - before.end() < best) {
      best = a - before.end();
      *found = before;
    }
  }
  if (behind != s.records.end() && behind->second.region.base - a < best) {
    best = behind->second.region.base - a;
    *found = behind->second.region;
  }
  return best <= reach;
}

bool find_live_region(const void* address, Region* found) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const auto behind = s.records.upper_bound(a);
  if (behind == s.records.begin()) return false;
  const Region& region = std::prev(behind)->second.region;
  if (!region.live || !(a < region.end() || a == region.base)) return false;
  *found = region;
  return true;
}

bool overlaps_region(const void* address, std::size_t bytes, Space space) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  for (const auto& entry : s.records) {
    const Region& region = entry.second.region;
    if (region.live && region.space == space && a < region.end() && region.base < a + bytes) {
      return true;
    }
  }
  return false;
}

void* allocate(const Allocation& allocation) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const bool on_device = allocation.space == Space::kGlobal || allocation.space == Space::kManaged;
  if (on_device && allocation.bytes > s.total - std::min(s.total, s.live_device_bytes)) {
    return nullptr;
  }
  if (!on_device && allocation.bytes > s.total) return nullptr;
  Reserve& reserve = reserve_of(s, allocation.space);
  const std::size_t alignment = std::min(std::max(s.alignment, allocation.alignment), s.page);
  const std::size_t aligned_bytes = round_up(std::max<std::size_t>(allocation.bytes, 1), alignment);
  const std::size_t page_bytes = round_up(aligned_bytes, s.page);
  const std::size_t guard = round_up(std::clamp(page_bytes, kGuardMin, kGuardMax), s.page);
  const std::uintptr_t pages = take_span(s, reserve, page_bytes + guard);
  if (pages == 0) return nullptr;
  if (mprotect(as_pointer(pages), page_bytes, PROT_READ | PROT_WRITE) != 0) {
    give_span_back(reserve, pages, page_bytes + guard);
    return nullptr;
  }
#if defined(MADV_HUGEPAGE)
  // Fewer pages make the first fill, and opening and closing the memory around a kernel, cheap.
  if (page_bytes >= kHugePage) madvise(as_pointer(pages), page_bytes, MADV_HUGEPAGE);
#endif
  Record record;
  record.pages = pages;
  record.page_bytes = page_bytes;
  record.span_bytes = page_bytes + guard;
  record.region.base = pages + page_bytes - aligned_bytes;
  record.region.size = allocation.bytes;
  record.region.space = allocation.space;
  record.region.allocated = allocation.site;
  record.region.call = allocation.call;
  record.region.host_flags = allocation.host_flags;
  record.region.element_size = allocation.element_size;
  std::memset(as_pointer(pages), kPoison, page_bytes);
  poison_slack(record);
  if (on_device) s.live_device_bytes += allocation.bytes;
  if (allocation.space == Space::kGlobal) {
    s.closable[pages] = page_bytes;
    if (s.open_depth == 0) protect(pages, page_bytes, PROT_NONE);
  }
  s.records[record.region.base] = record;
  return as_pointer(record.region.base);
}

void* allocate_device(std::size_t bytes, Space space, const char* call, Site site) {
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.space = space;
  allocation.call = call;
  allocation.site = site;
  return allocate(allocation);
}

void release(std::uintptr_t base, Site site) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto found = s.records.find(base);
  if (found == s.records.end() || !found->second.region.live) return;
  release_locked(s, found->second, site);
}

void release_everything() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  std::vector<std::uintptr_t> allocations, registrations;
  for (const auto& entry : s.records) {
    if (!entry.second.region.live) continue;
    if (is_allocation(entry.second)) allocations.push_back(entry.first);
    if (entry.second.region.space == Space::kHostRegistered) registrations.push_back(entry.first);
  }
  for (const std::uintptr_t base : allocations) {
    release_locked(s, s.records.at(base), Site{nullptr, 0});
  }
  for (const std::uintptr_t base : registrations) s.records.erase(base);
  for (const InitialValue& value : s.symbols) {
    if (value.bytes.empty()) {
      std::memset(as_pointer(value.base), 0, value.size);
    } else {
      std::memcpy(as_pointer(value.base), value.bytes.data(), value.size);
    }
  }
}

std::size_t device_memory_total() { return state().total; }

std::size_t device_memory_free() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.total - std::min(s.total, s.live_device_bytes);
}

bool is_device_address(const void* address) { return state().device.holds(address); }

bool is_host_visible_address(const void* address) { return state().host_visible.holds(address); }

bool is_kernel_accessible(const void* address) {
  if (address == nullptr || is_device_address(address) || is_host_visible_address(address)) {
    return true;
  }
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const auto behind = s.records.upper_bound(a);
  if (behind == s.records.begin()) return false;
  const Region& region = std::prev(behind)->second.region;
  return region.live && a <= region.end();  // one past the end is a fine thing to pass
}

void open_device_memory() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (s.open_depth++ != 0) return;
  for (const auto& pages : s.closable) protect(pages.first, pages.second, PROT_READ | PROT_WRITE);
}

void close_device_memory() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (--s.open_depth != 0 || s.closable.empty()) return;
  // One call over all of it: the guards between the allocations are closed already.
  const auto& last = *s.closable.rbegin();
  const std::uintptr_t first = s.closable.begin()->first;
  protect(first, last.first + last.second - first, PROT_NONE);
}

OpenAllocation::OpenAllocation(const void* address) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (s.open_depth != 0 || !s.device.holds(address)) return;
  const auto behind = s.closable.upper_bound(reinterpret_cast<std::uintptr_t>(address));
  if (behind == s.closable.begin()) return;
  const auto& pages = *std::prev(behind);
  pages_ = pages.first;
  protect(pages.first, pages.second, PROT_READ | PROT_WRITE);
}

OpenAllocation::~OpenAllocation() {
  if (pages_ == 0) return;
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto found = s.closable.find(pages_);
  if (found != s.closable.end() && s.open_depth == 0) {
    protect(found->first, found->second, PROT_NONE);
  }
}

int check_slack(const KernelSite& kernel) {
  State& s = state();
  Report report_it;
  open_device_memory();
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    for (const auto& pages : s.closable) {
      // The record's base lies in the first page; records are keyed by base.
      const Record& record = s.records.lower_bound(pages.first)->second;
      std::uintptr_t where = 0;
      const Damage damage = find_damage(record, &where);
      if (damage == Damage::kNone) continue;
      const Region& region = record.region;
      const bool behind = damage == Damage::kBehind;
      report_it.headline = format("write %s an allocation in kernel '%s', found when it had ended",
                                  behind ? "past the end of" : "before the start of", kernel.name);
      report_it.site = Site{kernel.file, kernel.line};
      report_it.details.push_back(
          behind && where == region.end()
              ? format("the byte right behind the end of a %zu-byte allocation was written",
                       region.size)
              : format("a byte was written %zu bytes %s of a %zu-byte allocation",
                       behind ? where - region.end() : region.base - where,
                       behind ? "past the end" : "before the start", region.size));
      report_it.notes.push_back({region.allocated, format("allocated here by %s", region.call)});
      report_it.help = "guard the index; make sanitize BACKEND=cpu names the line that wrote";
      refill_slack(record);
      break;
    }
  }
  close_device_memory();
  if (report_it.headline.empty()) return 0;
  report_it.cuda_error = 700;  // cudaErrorIllegalAddress
  return report(report_it);
}

bool slack_is_damaged(std::uintptr_t base, const char** where_text) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto found = s.records.find(base);
  if (found == s.records.end() || !is_allocation(found->second)) return false;
  const bool closed = found->second.region.space == Space::kGlobal && s.open_depth == 0;
  if (closed) protect(found->second.pages, found->second.page_bytes, PROT_READ | PROT_WRITE);
  std::uintptr_t where = 0;
  const Damage damage = find_damage(found->second, &where);
  if (closed) protect(found->second.pages, found->second.page_bytes, PROT_NONE);
  *where_text = damage == Damage::kBehind ? "past the end of" : "before the start of";
  return damage != Damage::kNone;
}

SymbolRegistrar::SymbolRegistrar(const volatile void* address, std::size_t size, Space space,
                                 const char* name, const char* file, int line) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  Record record;
  record.region.base = reinterpret_cast<std::uintptr_t>(address);
  record.region.size = size;
  record.region.space = space;
  record.region.name = name;
  record.region.allocated = Site{file, line};
  s.records[record.region.base] = record;
  InitialValue value{record.region.base, {}, size};
  const auto* const bytes = reinterpret_cast<const unsigned char*>(record.region.base);
  if (std::any_of(bytes, bytes + size, [](unsigned char b) { return b != 0; })) {
    value.bytes.assign(bytes, bytes + size);
  }
  s.symbols.push_back(std::move(value));

  // One variable that is too large fails to compile; together they are known only here.
  static std::size_t constant_bytes = 0;
  constexpr std::size_t kConstantMemory = 64 * 1024;
  if (space == Space::kConstant) constant_bytes += size;
  if (space == Space::kConstant && constant_bytes > kConstantMemory) {
    die("%s:%d: with '%s' the __constant__ variables take %zu bytes; constant memory has %zu", file,
        line, name, constant_bytes, kConstantMemory);
  }
}

}  // namespace cuda_cpu
