// SPDX-License-Identifier: MIT
#include "phase_barriers.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "../memory/shared.h"
#include "../scheduling/scheduler.h"
#include "../scheduling/yielding.h"
#include "../state/block.h"
#include "../state/current.h"
#include "../state/leaving.h"
#include "../state/observer.h"
#include "../state/worker.h"
#include "async_copies.h"

namespace cuda_cpu {
namespace {

/// What the object in shared memory holds. Fresh memory holds none of its block.
struct Held {
  std::uint32_t number, serial;
};

// As many arrivals as the GPU's own can count.
constexpr std::ptrdiff_t kMostArrivals = (1 << 20) - 1;

constexpr std::size_t kMostThreadsOfTile = 512;

[[noreturn]] void refuse(std::string headline, const PhaseCall& call,
                         std::vector<std::string> details, std::string help,
                         const PhaseBarrier* barrier = nullptr) {
  Report it = report_here(std::move(headline), {call.file, call.line}, cudaErrorLaunchFailure,
                          std::move(details), std::move(help));
  if (barrier != nullptr) it.notes = {{barrier->made, "initialised here"}};
  stop_grid(it);
}

bool is_of_mbarrier(const PhaseCall& call) {
  return std::strncmp(call.name, "mbarrier", 8) == 0 || std::strncmp(call.name, "cp.async", 8) == 0;
}

std::string kind_of(const PhaseCall& call) {
  return is_of_mbarrier(call) ? "mbarrier" : "cuda::barrier";
}

/// The barrier, or null if the object holds none.
PhaseBarrier* known(const Block* block, const void* object) {
  Held held;
  std::memcpy(&held, object, sizeof(held));
  if (held.serial != block->serial || held.number >= block->phase_barrier_count) return nullptr;
  PhaseBarrier* const barrier = block->phase_barriers[held.number];
  return barrier->object == object ? barrier : nullptr;
}

PhaseBarrier& barrier_of(const void* object, const PhaseCall& call) {
  if (current_thread == nullptr) die("%s called outside of a kernel", call.name);
  PhaseBarrier* const barrier = known(current_block, object);
  if (barrier != nullptr) return *barrier;
  refuse(kind_of(call) + " is used before it is initialised", call,
         {std::string("by ") + call.name},
         is_of_mbarrier(call)
             ? "one thread initialises it and fences that, and __syncthreads() comes before the "
               "first use"
             : "one thread calls init(&barrier, count), and __syncthreads() comes before the first "
               "use");
}

PhaseBarrier* new_barrier(Block* block) {
  if (block->phase_barrier_count == block->phase_barrier_room) {
    const std::uint32_t room = block->phase_barrier_room + 8;
    auto** const grown = static_cast<PhaseBarrier**>(
        std::realloc(block->phase_barriers, room * sizeof(PhaseBarrier*)));
    if (grown == nullptr) die("out of memory for barriers");
    for (std::uint32_t i = block->phase_barrier_room; i < room; ++i) grown[i] = new PhaseBarrier;
    block->phase_barriers = grown;
    block->phase_barrier_room = room;
  }
  return block->phase_barriers[block->phase_barrier_count++];
}

/// How far the barrier is beyond a phase; 0: the phase goes on.
std::int32_t beyond(const PhaseBarrier& barrier, std::uint32_t phase) {
  return static_cast<std::int32_t>(barrier.phase - phase);
}

/// A GPU knows of a phase only whether its number is odd.
void check_token(const PhaseBarrier& barrier, std::uint32_t phase, const PhaseCall& call) {
  if (beyond(barrier, phase) <= 1) return;
  refuse("wait at a cuda::barrier for a phase that is not the last one", call,
         {format("%d more phases have ended since the arrival that gave the token",
                 beyond(barrier, phase) - 1)},
         "wait before others can end the next phase: each of them needs this thread's arrival");
}

/// The running thread goes on since the phase has ended. It makes the copies that belong to it,
/// unless another thread came before.
void pass(PhaseBarrier* barrier, std::uint32_t phase) {
  Block* const block = current_block;
  if (beyond(*barrier, phase) == 1) barrier->is_heard = true;
  AsyncCopies& copies = barrier->copies;
  while (!copies.empty() && static_cast<std::int32_t>(copies.front().group - phase) <= 0) {
    make_first_copy(block, &copies, barrier->object);
  }
  if (block->observation != nullptr) observer->phase_is_passed(*block, barrier->object, phase);
}

[[noreturn]] void refuse_bytes(const PhaseBarrier& barrier, const PhaseCall& call) {
  refuse("more bytes are copied for an mbarrier than it expects", call,
         {format(
             "phase %u: all arrivals have come, and copies bring %lld bytes more than those expect",
             barrier.phase, static_cast<long long>(-barrier.bytes))},
         "mbarrier_expect names the bytes of all copies of the phase: those of whole tiles, also "
         "where they lie outside of the matrix",
         &barrier);
}

/// PTX: before anybody arrives in a phase, a wait for the one before has to be over. Who waits for
/// a parity cannot tell a phase from the second one after it. A thread that still waits when a
/// phase ends has heard of it here; what is done too early then is a race, if it does harm.
[[noreturn]] void refuse_unheard(const PhaseBarrier& barrier, const PhaseCall& call) {
  refuse(
      "arrival in an mbarrier's next phase before anybody has waited for the last one", call,
      {format("phase %u has ended after the %u arrivals that it expects, and no thread has waited "
              "for that",
              barrier.phase - 1, barrier.expected)},
      "arrive as often as mbarrier_init says, and again when a thread has waited for that phase",
      &barrier);
}

/// Ends the phase if nothing is missing. While nobody waits the copies of an mbarrier's phase have
/// not come.
void end_if_complete(PhaseBarrier* barrier, const PhaseCall& call) {
  if (barrier->missing != 0) return;
  if (barrier->bytes < 0) refuse_bytes(*barrier, call);
  if (barrier->bytes > 0) return;
  if (barrier->counts_bytes && barrier->waiting == 0 && !barrier->copies.empty()) return;
  barrier->missing = barrier->expected;
  barrier->is_heard = std::exchange(barrier->is_awaited, false);
  ++barrier->phase;
  ++current_worker->barriers;
}

/// Returns the phase.
std::uint32_t arrive(PhaseBarrier* barrier, std::uint32_t times, bool drops,
                     const PhaseCall& call) {
  Block* const block = current_block;
  const std::uint32_t phase = barrier->phase;
  if (block->observation != nullptr) observer->phase_is_reached(*block, barrier->object, phase);
  if (drops) --barrier->expected;
  barrier->missing -= times;
  end_if_complete(barrier, call);
  return phase;
}

void wait(PhaseBarrier* barrier, std::uint32_t phase, const PhaseCall& call) {
  ++barrier->waiting;
  if (beyond(*barrier, phase) == 0) end_if_complete(barrier, call);
  if (beyond(*barrier, phase) == 0) {
    barrier->is_awaited = true;
    Thread* const self = current_thread;
    self->begin_wait(Wait::kPhase, &barrier->phase, phase, call.file, call.line);
    self->pc = call.name;
    reschedule(self);
  }
  --barrier->waiting;
  pass(barrier, phase);
}

}  // namespace

void make_phase_barrier(void* object, std::ptrdiff_t expected, const PhaseCall& call) {
  if (current_thread == nullptr) die("%s called outside of a kernel", call.name);
  Block* const block = current_block;
  if (!is_shared_address(block, object)) {
    refuse(kind_of(call) + " of a block that is not in its shared memory", call, {},
           "declare it __shared__");
  }
  if (expected < 1 || expected > kMostArrivals) {
    refuse(kind_of(call) + " that expects no number of arrivals that there is", call,
           {format("it is to expect %td; 1 to %td are allowed", expected, kMostArrivals)}, "");
  }
  PhaseBarrier* barrier = known(block, object);
  if (barrier == nullptr) {
    const Held held{block->phase_barrier_count, block->serial};
    std::memcpy(object, &held, sizeof(held));
    barrier = new_barrier(block);
  }
  const auto arrivals = static_cast<std::uint32_t>(expected);
  static_cast<PhaseProgress&>(*barrier) = {object, arrivals, arrivals, {call.file, call.line}};
  barrier->counts_bytes = is_of_mbarrier(call);
}

std::uint32_t arrive_at_phase(const void* object, std::ptrdiff_t times, bool drops,
                              const PhaseCall& call, unsigned bytes) {
  PhaseBarrier& barrier = barrier_of(object, call);
  if (times < 1 || times > static_cast<std::ptrdiff_t>(barrier.missing)) {
    refuse("more arrivals at " + std::string(is_of_mbarrier(call) ? "an " : "a ") + kind_of(call) +
               " than it expects",
           call,
           {format("%td more arrive, and %u of %u are missing in this phase", times,
                   barrier.missing, barrier.expected)},
           "", &barrier);
  }
  if (!barrier.is_heard && barrier.counts_bytes) refuse_unheard(barrier, call);
  barrier.bytes += bytes;
  return arrive(&barrier, static_cast<std::uint32_t>(times), drops, call);
}

void wait_for_phase(const void* object, std::uint32_t phase, const PhaseCall& call) {
  PhaseBarrier& barrier = barrier_of(object, call);
  check_token(barrier, phase, call);
  wait(&barrier, phase, call);
}

const void* const* sync_large_tile(unsigned size, unsigned first, unsigned threads,
                                   const PhaseCall& call, const void* brings) {
  if (current_thread == nullptr) die("%s called outside of a kernel", call.name);
  Block* const block = current_block;
  const void* const tile = reinterpret_cast<const void*>(std::uintptr_t{size} << 16 | first);
  PhaseBarrier* barrier = nullptr;
  for (std::uint32_t i = 0; i < block->phase_barrier_count && barrier == nullptr; ++i) {
    if (block->phase_barriers[i]->object == tile) barrier = block->phase_barriers[i];
  }
  if (barrier == nullptr) {
    barrier = new_barrier(block);
    static_cast<PhaseProgress&>(*barrier) = {tile, threads, threads};
  }
  if (barrier->brought == nullptr) {
    barrier->brought = std::make_unique<const void*[]>(kMostThreadsOfTile);
  }
  if (brings != nullptr) barrier->brought[number_in_block() - first] = brings;
  wait(barrier, arrive(barrier, 1, false, call), call);
  return barrier->brought.get();
}

bool phase_has_ended(const void* object, std::uint32_t phase, const PhaseCall& call) {
  PhaseBarrier& barrier = barrier_of(object, call);
  check_token(barrier, phase, call);
  if (beyond(barrier, phase) == 0) {
    yield();
    return false;
  }
  pass(&barrier, phase);
  return true;
}

void wait_for_parity(const void* object, bool odd, const PhaseCall& call) {
  const std::uint32_t phase = barrier_of(object, call).phase;
  wait_for_phase(object, (phase % 2 == 1) == odd ? phase : phase - 1, call);
}

void hand_copies_to_phase(const void* object, const PhaseCall& call) {
  PhaseBarrier& barrier = barrier_of(object, call);
  if (current_block->copy_queues == nullptr) return;
  CopyQueue& mine = copy_queue_of(current_block, current_thread);
  const auto end = mine.copies.end();
  const auto open = std::find_if(mine.copies.begin(), end,
                                 [&](const AsyncCopy& copy) { return copy.group == mine.groups; });
  for (auto copy = open; copy != end; ++copy) {
    copy->group = barrier.phase;
    barrier.copies.push_back(*copy);
  }
  mine.copies.erase(open, end);
}

void fence_phase_barriers() {
  Block* const block = current_block;
  for (std::uint32_t i = 0; i < block->phase_barrier_count; ++i) {
    block->phase_barriers[i]->is_fenced = true;
  }
}

void begin_bulk_copy(const void* object, std::size_t bytes, UncountedCopies pieces,
                     const PhaseCall& call) {
  PhaseBarrier& barrier = barrier_of(object, call);
  if (!barrier.is_fenced) {
    refuse("a bulk copy uses an mbarrier whose init was not fenced", call, {},
           "the thread that initialises it calls mbarrier_fence_init() after that", &barrier);
  }
  barrier.bytes -= static_cast<std::int64_t>(bytes);
  if (barrier.missing == 0 && barrier.bytes < 0) refuse_bytes(barrier, call);
  for (std::size_t i = 0; i < pieces.count; ++i) {
    const UncountedCopy& piece = pieces.begin[i];
    AsyncCopy copy = begin_unmade_copy(const_cast<void*>(piece.to), piece.from, piece.bytes,
                                       piece.bytes - piece.read, {call.file, call.line});
    copy.group = barrier.phase;
    copy.is_bulk = true;
    barrier.copies.push_back(copy);
  }
  // Threads that wait go on, and the first of them makes the pieces.
  end_if_complete(&barrier, call);
}

void begin_phase_barriers(Block* block) {
  for (std::uint32_t i = 0; i < block->phase_barrier_count; ++i) {
    block->phase_barriers[i]->copies.clear();
  }
  block->phase_barrier_count = 0;
}

}  // namespace cuda_cpu
