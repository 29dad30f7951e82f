// SPDX-License-Identifier: MIT
#include "async_copies.h"

#include <cstring>

#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "../memory/memory.h"
#include "../memory/memory_notes.h"
#include "../memory/shared.h"
#include "../state/current.h"
#include "../state/device_limits.h"
#include "../state/leaving.h"
#include "../state/observer.h"
#include "../state/pages.h"
#include "../state/phase_barrier.h"

namespace cuda_cpu {

CopyQueue& copy_queue_of(Block* block, const Thread* thread) {
  if (block->copy_queues == nullptr) block->copy_queues = new CopyQueue[kMaxThreadsPerBlock];
  return block->copy_queues[thread - block->threads];
}

namespace {

// ---- wrong copies -------------------------------------------------------------------------------

/// "element 3 of the __shared__ array 'tile'"; "memory that no kernel shares" where nothing is
/// known.
std::string text_of(const void* address, std::size_t bytes, Report* notes) {
  MemoryRange range;
  if (!find_live_range(address, &range)) return "memory of this thread alone, or of the host";
  notes->notes.push_back(origin_note(range));
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) - range.base;
  const std::size_t size = range.element_size > 1 ? range.element_size : bytes;
  if (offset % size != 0) return format("byte %zu of %s", offset, memory_name(range).c_str());
  return format("element %zu of %s", offset / size, memory_name(range).c_str());
}

void check_size(std::size_t bytes, std::size_t zeros, Site site) {
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes) {
    stop_grid(
        report_here("asynchronous copy of a size that there is not", site, cudaErrorLaunchFailure,
                    {zeros > bytes ? format("it fills %zu of %zu bytes with zeros", zeros, bytes)
                                   : format("it copies %zu bytes", bytes)},
                    "a thread copies 4, 8 or 16 bytes at a time"));
  }
}

void check_alignment(const void* to, const void* from, std::size_t bytes, bool reads, Site site) {
  const bool to_is_wrong = reinterpret_cast<std::uintptr_t>(to) % bytes != 0;
  const bool from_is_wrong = reads && reinterpret_cast<std::uintptr_t>(from) % bytes != 0;
  if (!to_is_wrong && !from_is_wrong) return;
  const void* const address = to_is_wrong ? to : from;
  Report it = report_here(
      to_is_wrong ? "asynchronous copy to a misaligned address"
                  : "asynchronous copy from a misaligned address",
      site, cudaErrorMisalignedAddress,
      {format("a copy of %zu bytes needs addresses that are multiples of %zu; %p is none", bytes,
              bytes, address)},
      "copy fewer bytes at a time, or align the array: alignas(16)");
  it.details.push_back("it is " + text_of(address, bytes, &it));
  stop_grid(it);
}

bool is_global(const void* address) {
  if (is_device_address(address) || is_host_visible_address(address)) return true;
  MemoryRange range;
  return find_live_range(address, &range) && range.space != Space::kShared &&
         range.space != Space::kConstant;
}

[[noreturn]] void stop_wrong_space(const char* headline, const void* address, std::size_t bytes,
                                   Site site) {
  Report it = report_here(headline, site, cudaErrorIllegalAddress, {},
                          "asynchronous copies go from global to shared memory, and no other way");
  it.details.push_back("it is " + text_of(address, bytes, &it));
  stop_grid(it);
}

/// A fault here is the program's: the memory is not there.
void touch(const void* memory, std::size_t bytes) {
  const auto* const byte = static_cast<const volatile char*>(memory);
  static_cast<void>(byte[0]);
  static_cast<void>(byte[bytes - 1]);
}

// ---- copies -------------------------------------------------------------------------------------

[[noreturn]] void stop_written(const AsyncCopy& copy) {
  Report it = report_here(
      "shared memory was written while an asynchronous copy to it was under way", copy.site,
      cudaErrorLaunchFailure, {},
      "the copy may come before or after that write, which may be another copy: wait for the one "
      "(__pipeline_wait_prior, then __syncthreads() if other threads write) before the other");
  it.where = where_is(current_block, &current_block->threads[copy.thread]);
  it.details.push_back("it is " + text_of(copy.to, copy.bytes, &it));
  stop_grid(it);
}

void begin(void* to, const void* from, std::size_t bytes, std::size_t zeros, Site site) {
  AsyncCopy copy = begin_unmade_copy(to, from, bytes, zeros, site);
  CopyQueue& queue = copy_queue_of(current_block, current_thread);
  copy.group = queue.groups;
  queue.copies.push_back(copy);
}

}  // namespace

AsyncCopy begin_unmade_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros,
                            Site site) {
  if (bytes > zeros) touch(from, bytes - zeros);
  std::memset(to, kPoison, bytes);
  ++current_block->copies_under_way;
  return AsyncCopy{static_cast<char*>(to),
                   static_cast<const char*>(from),
                   static_cast<std::uint32_t>(bytes),
                   static_cast<std::uint32_t>(zeros),
                   number_in_block(),
                   0,
                   site};
}

void begin_async_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros, Site site) {
  if (current_thread == nullptr) die("an asynchronous copy began outside of a kernel");
  check_size(bytes, zeros, site);
  const std::size_t read = bytes - zeros;
  if (read > 0) touch(from, read);
  if (!is_shared_address(current_block, to)) {
    touch(to, 1);
    stop_wrong_space("asynchronous copy to memory that is not shared memory of this block", to,
                     bytes, site);
  }
  check_alignment(to, from, bytes, read > 0, site);
  if (read > 0 && !is_global(from)) {
    stop_wrong_space("asynchronous copy from memory that is not global", from, bytes, site);
  }
  begin(to, from, bytes, zeros, site);
}

void begin_piece(void* to, const void* from, std::size_t bytes, Site site) {
  if (current_thread == nullptr) die("an asynchronous copy began outside of a kernel");
  begin(to, from, bytes, 0, site);
}

void check_copy_is_aligned(const void* to, const void* from, std::size_t bytes,
                           std::size_t alignment, Site site) {
  if (current_thread == nullptr) die("an asynchronous copy began outside of a kernel");
  check_alignment(to, from, alignment, true, site);
  if (bytes % alignment == 0) return;
  stop_grid(report_here(
      "asynchronous copy of a size that is not aligned", site, cudaErrorMisalignedAddress,
      {format("%zu bytes are no multiple of the %zu that the program names", bytes, alignment)}));
}

void make_first_copy(Block* block, AsyncCopies* copies, const void* barrier) {
  const AsyncCopy copy = copies->front();
  if (!is_all_poison(copy.to, copy.to + copy.bytes)) stop_written(copy);
  if (copy.read() > 0) std::memcpy(copy.to, copy.from, copy.read());  // from may be null
  std::memset(copy.to + copy.read(), 0, copy.zeros);
  if (copy.is_bulk && bulk_piece_has_come != nullptr) bulk_piece_has_come(block, copy);
  if (block->observation != nullptr) observer->copy_arrives(*block, copy, barrier);
  copies->pop_front();
  --block->copies_under_way;
}

void commit_async_copies() {
  if (current_thread == nullptr) die("__pipeline_commit called outside of a kernel");
  if (current_block->copy_queues != nullptr) {
    ++copy_queue_of(current_block, current_thread).groups;
  }
}

void wait_for_async_copies(std::size_t left) {
  if (current_thread == nullptr) die("__pipeline_wait_prior called outside of a kernel");
  Block* const block = current_block;
  if (block->copies_under_way == 0 || block->copy_queues == nullptr) return;
  CopyQueue& queue = copy_queue_of(block, current_thread);
  while (!queue.copies.empty() && queue.groups - queue.copies.front().group > left) {
    make_first_copy(block, &queue.copies, nullptr);
  }
}

void begin_async_copies(Block* block) {
  if (block->copies_under_way == 0) return;
  for (unsigned i = 0; block->copy_queues != nullptr && i < kMaxThreadsPerBlock; ++i) {
    block->copy_queues[i].copies.clear();
  }
  block->copies_under_way = 0;
}

int finish_async_copies(Block* block) {
  if (block->copies_under_way == 0) return 0;
  const AsyncCopy* found = nullptr;       // of the first thread
  const PhaseBarrier* barrier = nullptr;  // whose phase it belongs to
  const auto look_at = [&](const AsyncCopies& copies, const PhaseBarrier* of) {
    for (const AsyncCopy& copy : copies) {
      if (found != nullptr && found->thread <= copy.thread) continue;
      found = &copy;
      barrier = of;
    }
  };
  for (unsigned i = 0; block->copy_queues != nullptr && i < block->count; ++i) {
    look_at(block->copy_queues[i].copies, nullptr);
  }
  for (unsigned i = 0; i < block->phase_barrier_count; ++i) {
    look_at(block->phase_barriers[i]->copies, block->phase_barriers[i]);
  }
  const char* help =
      "the thread that copies calls __pipeline_commit(), and __pipeline_wait_prior(0) before "
      "anybody reads what it has copied; after its last copies, too";
  if (barrier != nullptr) {
    help = barrier->counts_bytes
               ? "who reads what was copied waits at the copy's mbarrier first, with the parity of "
                 "its phase: 0, 1, 0, 1, ..."
               : "who reads what was copied waits at the copy's barrier first: its wait, with the "
                 "token of its arrive; or consumer_wait of its pipeline";
  }
  // On a GPU the data may be there in time all the same. Only X-ray builds see who reads it, so in
  // all others this is what tells of a wait that was forgotten.
  Report it =
      report_here(barrier != nullptr ? "asynchronous copy whose barrier nobody has waited at"
                                     : "asynchronous copy that its thread has never waited for",
                  found->site, cudaErrorLaunchFailure,
                  {format("found when the block had ended: %u of its copies were never made",
                          block->copies_under_way)},
                  help);
  it.where = where_is(block, &block->threads[found->thread]);
  if (barrier == nullptr && found->group == block->copy_queues[found->thread].groups) {
    it.details.push_back("it is in no commit group: no commit follows it, so no wait is for it");
  }
  return report(it);
}

}  // namespace cuda_cpu
