// SPDX-License-Identifier: MIT
// A barrier of the program's own, as the engine keeps it (meeting/phase_barriers.h).
#pragma once

#include <cstdint>
#include <memory>

#include "../../types/site.h"
#include "copy_queue.h"

namespace cuda_cpu {

/// What begins anew with each init.
struct PhaseProgress {
  const void* object = nullptr;  // a number that is no address for a tile's
  std::uint32_t expected = 0;    // arrivals in each phase
  std::uint32_t missing = 0;     // in this one
  Site made{nullptr, 0};         // none: a tile's
  std::uint32_t phase = 0;       // that goes on; waiting threads look at it
  bool counts_bytes = false;     // an mbarrier
  bool is_fenced = false;        // since its init, so that bulk copies may use it
  bool is_awaited = false;       // somebody waits for this phase
  bool is_heard = true;          // somebody waits, or has waited, for the phase before
  std::int64_t bytes = 0;  // that are expected in this phase, less those of copies that have begun
  std::uint32_t waiting = 0;  // threads
};

/// What the engine keeps of one; the object in shared memory holds its number.
struct PhaseBarrier : PhaseProgress {
  AsyncCopies copies;
  std::unique_ptr<const void*[]> brought;  // a tile's: by its threads, to this meeting
};

}  // namespace cuda_cpu
