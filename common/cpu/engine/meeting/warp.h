// SPDX-License-Identifier: MIT
// Warp operations: shuffles, votes, matches, reductions, __syncwarp, __activemask.
//
// There is no lockstep: lanes run one after the other, and an operation is complete when every lane
// that its mask names has called it. The last one computes everybody's result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../state/block.h"
#include "../state/current.h"
#include "../state/uninstrumented.h"
#include "../state/warp_operation.h"

namespace cuda_cpu {

/// Waits for the lanes in `mask` and returns the calling lane's result. `operand` is the source
/// lane of a shuffle.
std::uint64_t warp_collective(WarpOperation operation, unsigned mask, std::uint64_t value,
                              unsigned operand, const char* file, int line);

/// The lane that a shuffle reads from; the caller's own where the rules say that it keeps its
/// value.
unsigned shuffle_source(WarpOperation operation, unsigned distance, int width, const char* file,
                        int line);

/// The lanes of the warp that are at this very line, as far as they can meet: a thread waits until
/// nothing else in its block can run. Under CUDA_CPU_SCHEDULE=random a group may be split, as a GPU
/// may.
unsigned active_mask(const char* file, int line);

/// Lanes of the block that wait in __activemask() are grouped by line and released. False if there
/// are none.
bool release_active_mask(Block* block);

/// The same by all lanes of a warp that has to be whole.
std::uint64_t whole_warp_collective(WarpOperation operation, std::uint64_t value, const char* file,
                                    int line);

/// What a lane hands over to an operation of a tensor core, by its address: a structure that begins
/// with this. The last lane calls the function with the addresses of all 32; they have to name the
/// same one.
struct LanesWork {
  void (*for_all)(const std::uint64_t* lanes);
};

/// The rules for the memory of a tile of <mma.h>: the same for all lanes, 32 bytes aligned, rows or
/// columns a multiple of 16 bytes apart. CUDA states the last rule for elements of 2 and 4 bytes.
void check_matrix_memory(WarpOperation operation, const void* pointer, unsigned ldm,
                         std::size_t element_size, const char* file, int line);

/// Emitted by the pre-pass before a shuffle whose value goes into an expression, or into memory.
/// One from a lane that takes no part is a mistake then.
CUDA_CPU_UNINSTRUMENTED inline void shuffle_is_used() {
  if (current_thread != nullptr) current_thread->use = Use::kExpression;
}
CUDA_CPU_UNINSTRUMENTED inline void shuffle_is_stored() {
  if (current_thread != nullptr) current_thread->use = Use::kMemory;
}

/// Values travel as 8 bytes; the upper half of a 4-byte one is zero, so that equal values have
/// equal bits. A lane that others read nothing from may hand over what it has not written yet.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
template <class T>
inline std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
inline T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

template <class T>
inline T shuffle(WarpOperation operation, unsigned mask, T value, unsigned distance, int width,
                 const char* file, int line) {
  const unsigned source = shuffle_source(operation, distance, width, file, line);
  return from_bits<T>(warp_collective(operation, mask, to_bits(value), source, file, line));
}

}  // namespace cuda_cpu

inline void __syncwarp(unsigned mask = 0xffffffffu, CUDA_CPU_HERE) {
  cuda_cpu::warp_collective(cuda_cpu::WarpOperation::kSync, mask, 0, 0, file, line);
}

inline unsigned __activemask(CUDA_CPU_HERE) { return cuda_cpu::active_mask(file, line); }

// Overloads rather than templates: an argument converts as it does under nvcc.
// `from`: the source lane, the distance to it, or for xor the mask of lanes.
#define CUDA_CPU_SHUFFLE(name, operation, T, From)                                  \
  inline T name(unsigned mask, T value, From from, int width = 32, CUDA_CPU_HERE) { \
    return cuda_cpu::shuffle(cuda_cpu::WarpOperation::operation, mask, value,       \
                             static_cast<unsigned>(from), width, file, line);       \
  }

#define CUDA_CPU_SHUFFLES(T)                                    \
  CUDA_CPU_SHUFFLE(__shfl_sync, kShuffle, T, int)               \
  CUDA_CPU_SHUFFLE(__shfl_up_sync, kShuffleUp, T, unsigned)     \
  CUDA_CPU_SHUFFLE(__shfl_down_sync, kShuffleDown, T, unsigned) \
  CUDA_CPU_SHUFFLE(__shfl_xor_sync, kShuffleXor, T, int)

#define CUDA_CPU_SHUFFLES_AND_MATCHES(T)                                                     \
  CUDA_CPU_SHUFFLES(T)                                                                       \
  inline unsigned __match_any_sync(unsigned mask, T value, CUDA_CPU_HERE) {                  \
    return static_cast<unsigned>(cuda_cpu::warp_collective(                                  \
        cuda_cpu::WarpOperation::kMatchAny, mask, cuda_cpu::to_bits(value), 0, file, line)); \
  }                                                                                          \
  inline unsigned __match_all_sync(unsigned mask, T value, int* predicate, CUDA_CPU_HERE) {  \
    const auto lanes = static_cast<unsigned>(cuda_cpu::warp_collective(                      \
        cuda_cpu::WarpOperation::kMatchAll, mask, cuda_cpu::to_bits(value), 0, file, line)); \
    *predicate = lanes != 0;                                                                 \
    return lanes;                                                                            \
  }

CUDA_CPU_SHUFFLES_AND_MATCHES(int)
CUDA_CPU_SHUFFLES_AND_MATCHES(unsigned)
CUDA_CPU_SHUFFLES_AND_MATCHES(long)
CUDA_CPU_SHUFFLES_AND_MATCHES(unsigned long)
CUDA_CPU_SHUFFLES_AND_MATCHES(long long)
CUDA_CPU_SHUFFLES_AND_MATCHES(unsigned long long)
CUDA_CPU_SHUFFLES_AND_MATCHES(float)
CUDA_CPU_SHUFFLES_AND_MATCHES(double)

#undef CUDA_CPU_SHUFFLES_AND_MATCHES  // the others are for short_floats.h

#define CUDA_CPU_VOTE(name, Result, operation)                                                     \
  inline Result name(unsigned mask, int predicate, CUDA_CPU_HERE) {                                \
    return static_cast<Result>(cuda_cpu::warp_collective(cuda_cpu::WarpOperation::operation, mask, \
                                                         predicate != 0, 0, file, line));          \
  }

CUDA_CPU_VOTE(__all_sync, int, kAll)
CUDA_CPU_VOTE(__any_sync, int, kAny)
CUDA_CPU_VOTE(__ballot_sync, unsigned, kBallot)

#undef CUDA_CPU_VOTE

#define CUDA_CPU_REDUCE(name, T, operation)                                                  \
  inline T name(unsigned mask, T value, CUDA_CPU_HERE) {                                     \
    return cuda_cpu::from_bits<T>(cuda_cpu::warp_collective(                                 \
        cuda_cpu::WarpOperation::operation, mask, cuda_cpu::to_bits(value), 0, file, line)); \
  }

CUDA_CPU_REDUCE(__reduce_add_sync, int, kReduceAddSigned)
CUDA_CPU_REDUCE(__reduce_add_sync, unsigned, kReduceAddUnsigned)
CUDA_CPU_REDUCE(__reduce_min_sync, int, kReduceMinSigned)
CUDA_CPU_REDUCE(__reduce_min_sync, unsigned, kReduceMinUnsigned)
CUDA_CPU_REDUCE(__reduce_max_sync, int, kReduceMaxSigned)
CUDA_CPU_REDUCE(__reduce_max_sync, unsigned, kReduceMaxUnsigned)
CUDA_CPU_REDUCE(__reduce_and_sync, unsigned, kReduceAnd)
CUDA_CPU_REDUCE(__reduce_or_sync, unsigned, kReduceOr)
CUDA_CPU_REDUCE(__reduce_xor_sync, unsigned, kReduceXor)

#undef CUDA_CPU_REDUCE
#pragma GCC diagnostic pop
