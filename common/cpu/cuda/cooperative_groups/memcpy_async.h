// SPDX-License-Identifier: MIT
// Stands in for <cooperative_groups/memcpy_async.h>: a group copies together, and waits together.
#pragma once

#include <algorithm>

#include "../cooperative_groups.h"
#include "../cuda/barrier"

namespace cooperative_groups {

/// All threads of the group call it. Each call is a commit group of its own. `bytes`: a number of
/// bytes, or cuda::aligned_size_t.
template <class Group, class Size>
CUDA_CPU_TELLING void memcpy_async(const Group& group, void* to, const void* from, Size bytes,
                                   CUDA_CPU_HERE) {
  cuda_cpu::begin_copy(static_cast<unsigned>(group.thread_rank()),
                       static_cast<unsigned>(group.size()), to, from, bytes, {file, line});
  cuda_cpu::commit_async_copies();
}

/// The same with numbers of elements; the smaller of the two is copied.
template <class Group, class T>
CUDA_CPU_TELLING void memcpy_async(const Group& group, T* to, std::size_t room, const T* from,
                                   std::size_t count, CUDA_CPU_HERE) {
  memcpy_async(group, to, from, std::min(room, count) * sizeof(T), file, line);
}

/// Waits for all copies of the group but the last kStage calls.
template <unsigned kStage, class Group>
inline void wait_prior(const Group& group, CUDA_CPU_HERE) {
  __pipeline_wait_prior(kStage);
  group.sync(file, line);
}

/// Waits for all copies of the group.
template <class Group>
inline void wait(const Group& group, CUDA_CPU_HERE) {
  wait_prior<0>(group, file, line);
}

}  // namespace cooperative_groups
