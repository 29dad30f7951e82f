// SPDX-License-Identifier: MIT
// A barrier of the program's own, as the engine keeps it (meeting/phase_barriers.h).
#pragma once

#include <cstdint>
#include <memory>

#include "../../types/site.h"
#include "copy_queue.h"

namespace cuda_cpu {

/// What the engine keeps of one; the object in shared memory holds its number.
struct PhaseBarrier {
  const void* object = nullptr;  // a number that is no address for a tile's
  std::uint32_t phase = 0;       // that goes on; waiting threads look at it
  std::uint32_t missing = 0;     // arrivals in this phase
  std::uint32_t expected = 0;
  Site made{nullptr, 0};  // none: a tile's
  CopyQueue copies;
  std::unique_ptr<const void*[]> brought;  // a tile's: by its threads, to this meeting
};

}  // namespace cuda_cpu
