// SPDX-License-Identifier: MIT
// Asynchronous copies in flight, as the engine keeps them (meeting/async_copies.h).
#pragma once

#include <cstddef>
#include <cstdint>

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

/// Copies that are in flight, in the order in which they began.
struct CopyQueue {
  AsyncCopy* copies = nullptr;
  std::uint32_t first = 0, end = 0, room = 0;  // in flight are [first, end)
  std::uint32_t groups = 0;                    // commit groups that a thread has closed so far

  bool empty() const { return first == end; }
  void put(const AsyncCopy& copy);
  void clear() { first = end = 0; }
};

}  // namespace cuda_cpu
