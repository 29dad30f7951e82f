// SPDX-License-Identifier: MIT
#include "marked_pointers.h"

#include <sys/mman.h>

#include <mutex>
#include <set>

#include "../../report/program_image.h"
#include "../../types/the_only.h"
#include "../state/current.h"
#include "../state/pages.h"
#include "../state/sanitizers.h"
#include "memory.h"

namespace cuda_cpu {
namespace {

constexpr int kShift = 48;
constexpr std::uintptr_t kAddressBits = (std::uintptr_t{1} << kShift) - 1;
// A host's pointer is larger. Smaller words are mostly numbers: a count, two integers with a 0.
constexpr std::uintptr_t kLowest = std::uintptr_t{1} << 32;

struct Marked {
  std::mutex mutex;
  std::set<std::uintptr_t> pointers;  // as they stand in device memory
};

std::uintptr_t with_mark(std::uintptr_t address, Mark mark) {
  return (address & kAddressBits) | static_cast<std::uintptr_t>(mark) << kShift;
}

bool is_mapped(std::uintptr_t address) {
#if defined(__APPLE__)
  char resident = 0;
#else
  unsigned char resident = 0;
#endif
  void* const page = reinterpret_cast<void*>(address / page_bytes() * page_bytes());
  return mincore(page, 1, &resident) == 0;
}

/// Whether kernels must not follow it. Functions and constants of the program are no data of the
/// host: a kernel may call a function through a pointer.
bool points_to_the_host(std::uintptr_t address) {
  if (address < kLowest || address > kAddressBits / 2) return false;
  const void* const pointer = reinterpret_cast<const void*>(address);
  if (is_device_address(pointer) || is_host_visible_address(pointer)) return false;
  return is_mapped(address) && !is_constant_in_program(pointer) && !is_kernel_accessible(pointer);
}

std::uintptr_t* first_word(void* begin) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  return reinterpret_cast<std::uintptr_t*>(round_up(address, sizeof(std::uintptr_t)));
}

std::uintptr_t* last_word(void* begin, std::size_t bytes) {
  const auto end = reinterpret_cast<std::uintptr_t>(begin) + bytes;
  return reinterpret_cast<std::uintptr_t*>(end / sizeof(std::uintptr_t) * sizeof(std::uintptr_t));
}

std::uintptr_t marked_if_host(std::uintptr_t word, Mark mark) {
  if (kAsan || !points_to_the_host(word)) return word;
  const std::uintptr_t result = with_mark(word, mark);
  const auto [m, lock] = locked<Marked>();
  m.pointers.insert(result);
  return result;
}

void mark_words(void* begin, std::size_t bytes, Mark mark) {
  if constexpr (kAsan) return;
  std::uintptr_t* const end = last_word(begin, bytes);
  for (std::uintptr_t* word = first_word(begin); word < end; ++word) {
    if (*word - kLowest > kAddressBits / 2 - kLowest) continue;
    *word = marked_if_host(*word, mark);
  }
}

}  // namespace

Mark mark_of(std::uintptr_t address, std::uintptr_t* plain) {
  *plain = address & kAddressBits;
#if defined(__aarch64__)
  const std::uintptr_t kept = 0xff;  // the uppermost byte is not always told
#else
  const std::uintptr_t kept = 0xffff;
#endif
  for (const Mark mark : {Mark::kMisaligned, Mark::kHost, Mark::kHostArgument, Mark::kHostShared}) {
    if ((address >> kShift & kept) == (static_cast<std::uintptr_t>(mark) & kept)) return mark;
  }
  return Mark::kNone;
}

std::uintptr_t mark_misaligned(std::uintptr_t address) {
  if (current_thread == nullptr || address >> kShift != 0) return address;
  return with_mark(address, Mark::kMisaligned);
}

std::uintptr_t mark_host_argument(std::uintptr_t word) {
  return marked_if_host(word, Mark::kHostArgument);
}

void mark_host_pointers(void* begin, std::size_t bytes) { mark_words(begin, bytes, Mark::kHost); }

void mark_shared_pointers() {
  if constexpr (kAsan) return;
  for_shared_holders_of_pointers([](const MemoryRange& range) {
    mark_words(reinterpret_cast<void*>(range.base), range.size, Mark::kHostShared);
  });
}

void restore_shared_pointers() {
  if constexpr (kAsan) return;
  for_shared_holders_of_pointers([](const MemoryRange& range) {
    restore_host_pointers(reinterpret_cast<void*>(range.base), range.size);
  });
}

void restore_host_pointers(void* begin, std::size_t bytes) {
  const auto [m, lock] = locked<Marked>();
  if (m.pointers.empty()) return;
  std::uintptr_t* const end = last_word(begin, bytes);
  for (std::uintptr_t* word = first_word(begin); word < end; ++word) {
    const auto mark = static_cast<Mark>(*word >> kShift);
    if (mark != Mark::kHost && mark != Mark::kHostArgument && mark != Mark::kHostShared) continue;
    if (m.pointers.count(*word) != 0) *word &= kAddressBits;
  }
}

}  // namespace cuda_cpu
