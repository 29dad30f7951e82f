// SPDX-License-Identifier: MIT
// Asynchronous copies in flight, as the engine keeps them (meeting/async_copies.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "../../types/site.h"

namespace cuda_cpu {

struct AsyncCopy {
  char* to;
  const char* from;
  std::uint32_t bytes, zeros;  // the last `zeros` bytes of the destination become 0
  std::uint32_t thread;        // of its block, that began it
  std::uint32_t group;         // commit groups that the thread had closed, or a barrier's phase
  Site site;
  bool is_bulk = false;  // a piece of a bulk copy

  std::size_t read() const { return bytes - zeros; }
};

/// In the order in which they began.
using AsyncCopies = std::deque<AsyncCopy>;

/// Those of a thread.
struct CopyQueue {
  AsyncCopies copies;
  std::uint32_t groups = 0;  // commit groups that it has closed so far
};

}  // namespace cuda_cpu
