// SPDX-License-Identifier: MIT
#include "last_words.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>

#include "../engine/state/pages.h"
#include "../engine/state/settings.h"
#include "../report/diagnostics.h"
#include "../report/text.h"
#include "../types/the_only.h"
#include "errors.h"
#include "work_queues.h"

namespace cuda_cpu {
namespace {

// The first few elements of a short array may well be all that a program wants.
constexpr std::size_t kFewest = 64;

struct Transfers {
  bool all_short = true, all_whole = true;
  std::size_t bytes = 0;
  std::size_t element_size = 0;
  const char* call = "";
  Site site{nullptr, 0};
};

struct LastWords {
  std::mutex mutex;
  std::map<std::uintptr_t, std::array<Transfers, 3>> transfers;  // by allocation
};

/// Whether something wrote the last element: what nobody wrote holds 0xff.
bool is_written_to_the_end(std::uintptr_t base, const Transfers& transfers) {
  const auto* const begin = reinterpret_cast<const unsigned char*>(base);
  const OpenAllocation open(begin);
  const unsigned char* const end = begin + transfers.bytes * transfers.element_size;
  return std::any_of(end - transfers.element_size, end,
                     [](unsigned char byte) { return byte != kPoison; });
}

/// An array may be longer than what a program needs of it. It is a mistake to move a part of an
/// element, or a part of an array that was written as a whole, or is used as a whole.
void judge(std::uintptr_t base, const std::array<Transfers, 3>& kinds) {
  const Transfers& from = kinds[static_cast<std::size_t>(Transfer::kFromDevice)];
  const bool comes_back_whole = from.bytes != 0 && from.all_whole;
  for (const Transfers& transfers : kinds) {
    if (!transfers.all_short || transfers.bytes == 0) continue;
    if (transfers.bytes % transfers.element_size == 0 && !comes_back_whole &&
        !is_written_to_the_end(base, transfers)) {
      continue;
    }
    say_note(transfers.site,
             format("%s of %zu bytes, and the allocation has %zu elements of %zu bytes",
                    transfers.call, transfers.bytes, transfers.bytes, transfers.element_size),
             "a size counts bytes: multiply the number of elements by sizeof");
  }
}

void note_memory_left() {
  const LeftMemory left = device_memory_left();
  if (left.count == 0) return;
  say_note(left.largest.allocated,
           format("device memory not freed when the program ended: %zu allocation%s, %zu bytes; %s",
                  left.count, left.count == 1 ? "" : "s", left.bytes,
                  left.count == 1 ? "allocated here" : "the largest was allocated here"),
           "");
}

void judge_all_transfers() {
  const auto [w, lock] = locked<LastWords>();
  for (const auto& [base, kinds] : w.transfers) judge(base, kinds);
  w.transfers.clear();
}

/// Runs when the process ends, after the program's own code: a program with a report must not end
/// in success.
void end_of_process(int status, void*) {
  if (cuda_cpu_has_failed() == 0) {
    if (status == 0) note_unfinished_work();
    judge_all_transfers();
    const bool errors_are_handled = unhandled_misuses() <= 0;
    if (status == 0 && errors_are_handled && leaks_are_noted()) note_memory_left();
    if (errors_are_handled) return;
  }
  if (status != 0) return;
  std::cout.flush();
  std::fflush(nullptr);
  _exit(1);
}

#if defined(__GLIBC__)
__attribute__((constructor(101))) void watch_the_end() { on_exit(end_of_process, nullptr); }
#else
__attribute__((constructor(101))) void watch_the_end() {
  std::atexit([] { end_of_process(0, nullptr); });
}
#endif

}  // namespace

void note_transfer(Transfer kind, const MemoryRange& range, const void* pointer, std::size_t bytes,
                   const char* call, Site site) {
  const std::size_t size = range.element_size;
  if (size <= 1 || range.size / size < kFewest) return;
  const auto [w, lock] = locked<LastWords>();
  Transfers& transfers = w.transfers[range.base][static_cast<std::size_t>(kind)];
  const bool is_short =
      reinterpret_cast<std::uintptr_t>(pointer) == range.base && bytes * size == range.size;
  transfers.all_short = transfers.all_short && is_short;
  transfers.all_whole = transfers.all_whole && bytes == range.size;
  transfers.bytes = bytes;
  transfers.element_size = size;
  transfers.call = call;
  transfers.site = site;
}

void judge_transfers(std::uintptr_t base) {
  const auto [w, lock] = locked<LastWords>();
  const auto found = w.transfers.find(base);
  if (found == w.transfers.end()) return;
  judge(base, found->second);
  w.transfers.erase(found);
}

}  // namespace cuda_cpu
