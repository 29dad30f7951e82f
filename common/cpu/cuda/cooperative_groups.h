// SPDX-License-Identifier: MIT
// Stands in for <cooperative_groups.h>: thread_block, tiles of a warp, coalesced groups, the grid
// of a cooperative launch. cooperative_groups/reduce.h and scan.h add collective arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../engine/arithmetic/device_functions.h"
#include "../engine/meeting/barriers.h"
#include "../engine/meeting/phase_barriers.h"
#include "../engine/meeting/warp.h"
#include "../engine/state/current.h"
#include "../types/site.h"

namespace cooperative_groups {

namespace details {

inline unsigned thread_rank_in_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
inline unsigned threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned lane() { return thread_rank_in_block() % 32; }

/// The lanes that exist in the calling thread's warp: fewer than 32 in the last warp of some
/// blocks.
inline unsigned existing_lanes() {
  const unsigned behind = threads_in_block() - (thread_rank_in_block() - lane());
  return behind >= 32 ? 0xffffffffu : (1u << behind) - 1;
}

/// The `size` lanes, a power of two, that the calling lane shares a tile with.
inline unsigned tile_mask(unsigned size) {
  const unsigned first = lane() / size * size;
  const unsigned ones = size >= 32 ? 0xffffffffu : (1u << size) - 1;
  return (ones << first) & existing_lanes();
}

inline unsigned rank_in(unsigned mask) {
  return static_cast<unsigned>(__popc(mask & ((1u << lane()) - 1)));
}

/// Lane of the thread with a given rank in the group.
inline unsigned lane_of(unsigned mask, unsigned rank) {
  for (; rank > 0; --rank) mask &= mask - 1;
  return static_cast<unsigned>(__ffs(static_cast<int>(mask))) - 1;
}

/// Of the parts with `size` lanes each, in the order of ranks, the one that the calling lane is in.
inline unsigned part_of(unsigned mask, unsigned size) {
  const unsigned mine = rank_in(mask) / size;
  unsigned part = 0;
  unsigned rank = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1, ++rank) {
    if (rank / size == mine) part |= rest & (0u - rest);
  }
  return part;
}

/// Reads `value` of another lane, any trivially copyable type, 8 bytes at a time.
template <class T>
inline T read_lane(unsigned mask, const T& value, unsigned source, const char* file, int line) {
  static_assert(std::is_trivially_copyable_v<T>,
                "a shuffle moves bytes: its type must be trivially copyable");
  constexpr std::size_t kWords = (sizeof(T) + 7) / 8;
  unsigned long long words[kWords] = {};
  std::memcpy(words, &value, sizeof(T));
  for (std::size_t i = 0; i < kWords; ++i) {
    words[i] = __shfl_sync(mask, words[i], static_cast<int>(source), 32, file, line);
  }
  T result;
  std::memcpy(&result, words, sizeof(T));
  return result;
}

/// The common part of all groups inside one warp. Ranks count the mask's lanes upwards.
class warp_group {
 public:
  unsigned num_threads() const { return static_cast<unsigned>(__popc(mask_)); }
  unsigned size() const { return num_threads(); }
  unsigned thread_rank() const { return rank_in(mask_); }
  unsigned meta_group_size() const { return groups_; }
  unsigned meta_group_rank() const { return group_; }

  void sync(CUDA_CPU_HERE) const { __syncwarp(mask_, file, line); }
  int any(int predicate, CUDA_CPU_HERE) const { return __any_sync(mask_, predicate, file, line); }
  int all(int predicate, CUDA_CPU_HERE) const { return __all_sync(mask_, predicate, file, line); }
  unsigned ballot(int predicate, CUDA_CPU_HERE) const {
    return by_rank(__ballot_sync(mask_, predicate, file, line));
  }
  template <class T>
  unsigned match_any(T value, CUDA_CPU_HERE) const {
    return by_rank(__match_any_sync(mask_, value, file, line));
  }
  template <class T>
  unsigned match_all(T value, int& predicate, CUDA_CPU_HERE) const {
    return by_rank(__match_all_sync(mask_, value, &predicate, file, line));
  }

  /// Lanes of the warp that belong to the group.
  unsigned cuda_cpu_mask() const { return mask_; }

 protected:
  warp_group(unsigned mask, unsigned groups, unsigned group)
      : mask_(mask), groups_(groups), group_(group) {}

  // A lane mask of the warp, with the group's lanes moved together.
  unsigned by_rank(unsigned lanes) const {
    unsigned result = 0;
    unsigned rank = 0;
    for (unsigned rest = mask_; rest != 0; rest &= rest - 1, ++rank) {
      if ((lanes & rest & (0u - rest)) != 0) result |= 1u << rank;
    }
    return result;
  }

  unsigned mask_;
  unsigned groups_;
  unsigned group_;
};

}  // namespace details

/// All threads of the block.
class thread_block {
 public:
  static void sync(CUDA_CPU_HERE, std::uint8_t which = 0) { __syncthreads(file, line, which); }
  static unsigned thread_rank() { return details::thread_rank_in_block(); }
  static unsigned num_threads() { return details::threads_in_block(); }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return dim3(blockIdx); }
  static dim3 thread_index() { return dim3(threadIdx); }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }

 private:
  friend thread_block this_thread_block();
  thread_block() = default;
};

inline thread_block this_thread_block() { return thread_block(); }

/// A group of any kind; which one is known at run time.
class thread_group {
 public:
  unsigned long long num_threads() const {
    return mask_ == 0 ? details::threads_in_block() : static_cast<unsigned>(__popc(mask_));
  }
  unsigned long long size() const { return num_threads(); }
  unsigned long long thread_rank() const {
    return mask_ == 0 ? details::thread_rank_in_block() : details::rank_in(mask_);
  }
  void sync(CUDA_CPU_HERE, std::uint8_t which = 0) const {
    if (mask_ == 0) {
      __syncthreads(file, line, which);
    } else {
      __syncwarp(mask_, file, line);
    }
  }

  thread_group(const thread_block&) : mask_(0) {}
  thread_group(const details::warp_group& group) : mask_(group.cuda_cpu_mask()) {}

 private:
  friend thread_group tiled_partition(const thread_group& parent, unsigned size);
  explicit thread_group(unsigned mask) : mask_(mask) {}
  unsigned mask_;  // 0: the block
};

/// The lanes that happen to be together. Ranks count them upwards, wherever in the warp they are.
class coalesced_group : public details::warp_group {
 public:
  template <class T>
  T shfl(T value, int source_rank, CUDA_CPU_HERE) const {
    const unsigned rank = static_cast<unsigned>(source_rank) % num_threads();
    return details::read_lane(mask_, value, details::lane_of(mask_, rank), file, line);
  }
  /// The value from `delta` ranks below or above; a thread without such a partner keeps its own.
  template <class T>
  T shfl_up(T value, unsigned delta, CUDA_CPU_HERE) const {
    const unsigned rank = thread_rank();
    const unsigned source = delta <= rank ? rank - delta : rank;
    return details::read_lane(mask_, value, details::lane_of(mask_, source), file, line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, CUDA_CPU_HERE) const {
    const unsigned rank = thread_rank();
    const unsigned source = delta < num_threads() - rank ? rank + delta : rank;
    return details::read_lane(mask_, value, details::lane_of(mask_, source), file, line);
  }

  explicit coalesced_group(unsigned cuda_cpu_mask, unsigned groups = 1, unsigned group = 0)
      : warp_group(cuda_cpu_mask, groups, group) {}
};

/// The lanes of the warp that are at this line. As on a GPU, how many come together is not
/// promised.
inline coalesced_group coalesced_threads(CUDA_CPU_HERE) {
  return coalesced_group(__activemask(file, line));
}

namespace details {

/// `Size` neighbouring lanes of a warp. In a block whose size is no multiple of `Size` the last
/// tile is smaller, and num_threads() still says `Size`, as in CUDA.
template <unsigned Size>
class warp_tile : public warp_group {
 public:
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  unsigned thread_rank() const { return lane() % Size; }

  template <class T>
  T shfl(T value, int source_rank, CUDA_CPU_HERE) const {
    return read(value, static_cast<unsigned>(source_rank) % Size, file, line);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, CUDA_CPU_HERE) const {
    const unsigned rank = thread_rank();
    return read(value, delta <= rank ? rank - delta : rank, file, line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, CUDA_CPU_HERE) const {
    const unsigned rank = thread_rank();
    return read(value, delta < Size - rank ? rank + delta : rank, file, line);
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask, CUDA_CPU_HERE) const {
    const unsigned source = thread_rank() ^ lane_mask;
    return read(value, source < Size ? source : thread_rank(), file, line);
  }

 protected:
  warp_tile(unsigned groups, unsigned group) : warp_group(tile_mask(Size), groups, group) {}

 private:
  template <class T>
  T read(const T& value, unsigned rank, const char* file, int line) const {
    const unsigned first = lane() / Size * Size;
    return read_lane(mask_, value, first + rank, file, line);
  }
};

/// A tile of several warps.
template <unsigned Size>
class large_tile {
 public:
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  unsigned thread_rank() const { return thread_rank_in_block() % Size; }
  unsigned meta_group_size() const { return groups_; }
  unsigned meta_group_rank() const { return group_; }
  void sync(CUDA_CPU_HERE) const { meet({"sync() of a tile", file, line}); }
  template <class T>
  T shfl(T value, int source_rank, CUDA_CPU_HERE) const {
    const unsigned source = static_cast<unsigned>(source_rank) % Size;
    T result = value;
    for_each(value, {"shfl() of a tile", file, line}, [&](unsigned rank, const T& other) {
      if (rank == source) result = other;
    });
    return result;
  }
  int any(int predicate, CUDA_CPU_HERE) const {
    int result = 0;
    for_each(predicate, {"any() of a tile", file, line},
             [&](unsigned, int other) { result |= other != 0; });
    return result;
  }
  int all(int predicate, CUDA_CPU_HERE) const { return !any(!predicate, file, line); }

  /// Calls use(rank, value) for what each thread of the tile brings, in the order of ranks.
  template <class T, class Use>
  void for_each(const T& value, const cuda_cpu::PhaseCall& call, Use use) const {
    const void* const* const brought = meet(call, &value);
    for (unsigned rank = 0; rank < threads(); ++rank) {
      use(rank, *static_cast<const T*>(brought[rank]));
    }
    meet(call);  // until then the others read it
  }

  /// Scans and partitions ask for it.
  template <unsigned kMost = 32>
  unsigned cuda_cpu_mask() const {
    static_assert(Size <= kMost, "CUDA has this for tiles of up to 32 threads");
    return 0;
  }

 protected:
  large_tile(unsigned groups, unsigned group) : groups_(groups), group_(group) {}

 private:
  static unsigned first() { return thread_rank_in_block() / Size * Size; }
  static unsigned threads() {
    const unsigned left = threads_in_block() - first();
    return left < Size ? left : Size;
  }
  const void* const* meet(const cuda_cpu::PhaseCall& call, const void* brings = nullptr) const {
    return cuda_cpu::sync_large_tile(Size, first(), threads(), call, brings);
  }

  unsigned groups_;
  unsigned group_;
};

template <unsigned Size>
using tile_of = std::conditional_t<(Size > 32), large_tile<Size>, warp_tile<Size>>;

}  // namespace details

/// `Size` neighbouring threads of the block.
template <unsigned Size, class Parent = void>
class thread_block_tile : public details::tile_of<Size> {
  static_assert(Size >= 1 && (Size & (Size - 1)) == 0, "a tile's size is a power of two");
  static_assert(Size <= 512, "a tile has 512 threads at most");

 public:
  /// Tiles of one size are one type to a function that takes thread_block_tile<Size>.
  template <class OtherParent>
  thread_block_tile(const thread_block_tile<Size, OtherParent>& other)
      : thread_block_tile(other.meta_group_size(), other.meta_group_rank()) {}

 private:
  template <unsigned N, class P>
  friend thread_block_tile<N, P> tiled_partition(const P& parent);
  thread_block_tile(unsigned groups, unsigned group) : details::tile_of<Size>(groups, group) {}
};

/// Calls f(arguments...) in one thread of the group. On a GPU it may be any.
template <class Group, class F, class... Arguments>
void invoke_one(const Group& group, F&& f, Arguments&&... arguments) {
  if (group.thread_rank() == 0) static_cast<F&&>(f)(static_cast<Arguments&&>(arguments)...);
}
/// The same for lanes of a warp, and all of them get what it returns.
template <class Group, class F, class... Arguments>
auto invoke_one_broadcast(const Group& group, F&& f, Arguments&&... arguments) {
  decltype(static_cast<F&&>(f)(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) {
    result = static_cast<F&&>(f)(static_cast<Arguments&&>(arguments)...);
  }
  return group.shfl(result, 0);
}

/// Shared memory that tiles of several warps work with on GPUs before compute capability 8.0.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  unsigned long long unused[MaxBlockSize / 32 + 1];
};
template <unsigned MaxBlockSize>
inline thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
  return this_thread_block();
}

/// Splits a block, or a tile into smaller ones.
template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  static_assert(!std::is_same_v<Parent, coalesced_group>,
                "a coalesced group has no tiles of a fixed size: use tiled_partition(group, size)");
  const unsigned threads = static_cast<unsigned>(parent.num_threads());
  return thread_block_tile<Size, Parent>((threads + Size - 1) / Size,
                                         static_cast<unsigned>(parent.thread_rank()) / Size);
}

/// The same with a size known at run time only.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0) __trap();
  return thread_group(parent.mask_ == 0 ? details::tile_mask(size)
                                        : details::part_of(parent.mask_, size));
}

inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  if (size == 0 || (size & (size - 1)) != 0) __trap();
  return coalesced_group(details::part_of(parent.cuda_cpu_mask(), size),
                         (parent.num_threads() + size - 1) / size, parent.thread_rank() / size);
}

/// The group's threads that have the same label, or the same truth value.
template <class Group, class Label>
inline coalesced_group labeled_partition(const Group& group, Label label, CUDA_CPU_HERE) {
  return coalesced_group(__match_any_sync(group.cuda_cpu_mask(), label, file, line));
}
template <class Group>
inline coalesced_group binary_partition(const Group& group, bool predicate, CUDA_CPU_HERE) {
  const unsigned yes = __ballot_sync(group.cuda_cpu_mask(), predicate, file, line);
  return coalesced_group(predicate ? yes : group.cuda_cpu_mask() & ~yes, 2, predicate ? 1 : 0);
}

/// All threads of the grid. sync() needs a launch by cudaLaunchCooperativeKernel.
class grid_group {
 public:
  static bool is_valid() { return cuda_cpu::grid_is_cooperative(); }
  static void sync(CUDA_CPU_HERE, std::uint8_t which = 0) {
    cuda_cpu::grid_sync(file, line, which);
  }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
  }
  static unsigned long long num_threads() { return num_blocks() * details::threads_in_block(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() {
    return block_rank() * details::threads_in_block() + details::thread_rank_in_block();
  }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
  static dim3 block_index() { return dim3(blockIdx); }

 private:
  friend grid_group this_grid();
  grid_group() = default;
};

inline grid_group this_grid() { return grid_group(); }

// ---- the same as functions ----

template <class Group>
inline void sync(const Group& group, CUDA_CPU_HERE) {
  group.sync(file, line);
}
/// Of a block, a grid or a group of any kind, where the pre-pass numbers the barriers of a line.
template <class Group>
inline void sync(const Group& group, const char* file, int line, std::uint8_t which) {
  group.sync(file, line, which);
}
template <class Group>
inline auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
inline auto group_size(const Group& group) {
  return group.size();
}

}  // namespace cooperative_groups
