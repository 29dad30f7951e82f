// SPDX-License-Identifier: MIT
// What bulk copies and products of warp groups see of shared memory. They go another way to it (the
// async proxy) than loads and stores, and see what these have stored only after a fence.
//
// Here a copy of the block's shared memory is kept as it was at the latest fence. Where that
// differs from the memory, somebody has stored since.
#pragma once

#include <cstddef>
#include <vector>

#include "../../engine/state/block.h"

namespace cuda_cpu {

class AsyncProxy {
 public:
  /// fence.proxy.async: all that is stored is seen. One fence after the other costs time, so some
  /// are made up for at the next one or when somebody looks: they count for stores that came
  /// meanwhile.
  void fence(const Block& block, bool at_once);

  /// It has brought these bytes itself.
  void has_written(const Block& block, const void* to, std::size_t bytes);

  /// Whether it sees what is stored there.
  bool sees(const Block& block, const void* from, std::size_t bytes);

  void clear();

 private:
  /// One shared array.
  struct View {
    std::uint32_t serial = 0;  // of the block
    std::vector<char> bytes;
  };
  View& view_of(const Block& block, unsigned number);
  /// What is seen of these bytes; null where they are in no shared array.
  char* seen_at(const Block& block, const void* address, std::size_t bytes);

  std::vector<View> views_;
  bool is_behind_ = false;  // by a fence
};

/// The number of the running block's shared array that holds all these bytes, or -1.
int shared_array_of(const Block& block, const void* address, std::size_t bytes);

}  // namespace cuda_cpu
