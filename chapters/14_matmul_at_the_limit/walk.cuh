// SPDX-License-Identifier: MIT
// Chapter 14: the walk along k with copies in flight.
#pragma once

#include "tile.cuh"

/// The slices of a tile that can lie anywhere, one after the other: for each it is asked how it may
/// be read.
template <class T>
struct GuardedSlices {
  const Matrix &a, &b;
  Place corner;
  Access tile;
  unsigned k_of_a, k_of_b;  ///< where the next slice begins

  /// Loads the thread's pieces of A's slice.
  __device__ void fetch_a(float4 (&pieces)[T::kPiecesOfA]) const {
    ::fetch_a<T>(pieces, a, corner.row, k_of_a, access_at<T>(tile, a, k_of_a));
  }

  /// Begins to copy B's slice.
  __device__ void copy_b(float* slice_of_b) const {
    copy_b_async<T>(slice_of_b, b, k_of_b, corner.column, access_at<T>(tile, a, k_of_b));
  }

  /// To the next slice.
  __device__ void advance_a() { k_of_a += T::kDepth; }
  __device__ void advance_b() { k_of_b += T::kDepth; }
};

template <class T>
__device__ GuardedSlices<T> guarded_slices(const Matrix& a, const Matrix& b, Place corner,
                                           unsigned first_step) {
  const unsigned k = first_step * T::kDepth;
  return {a, b, corner, access_for<T>(a, b, corner), k, k};
}

/// The slices of a tile that lies inside, with whole steps only and rows that are aligned: nothing
/// is asked, and the addresses of the next slice are those of this one, a step further.
template <class T>
struct InsideSlices {
  const float *of_a[T::kPiecesOfA], *of_b[T::kPiecesOfB];  ///< the thread's pieces
  unsigned stride_of_b;

  __device__ InsideSlices(const Matrix& a, const Matrix& b, Place corner, unsigned first_step)
      : stride_of_b(b.stride) {
    const unsigned k = first_step * T::kDepth;
    for (unsigned i = 0; i < T::kPiecesOfA; ++i) {
      const Place p = piece_of_a<T>(i);
      of_a[i] = &a.at(corner.row + p.row, k + p.column);
    }
    for (unsigned i = 0; i < T::kPiecesOfB; ++i) {
      const Place p = piece_of_b<T>(i);
      of_b[i] = &b.at(k + p.row, corner.column + p.column);
    }
  }

  __device__ void fetch_a(float4 (&pieces)[T::kPiecesOfA]) const {
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfA; ++i)
      pieces[i] = *reinterpret_cast<const float4*>(of_a[i]);
  }

  __device__ void copy_b(float* slice_of_b) const {
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfB; ++i) {
      const Place p = piece_of_b<T>(i);
      __pipeline_memcpy_async(&slice_of_b[p.row * T::kColumns + p.column], of_b[i], sizeof(float4));
    }
  }

  __device__ void advance_a() {
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfA; ++i) of_a[i] += T::kDepth;
  }
  __device__ void advance_b() {
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfB; ++i) of_b[i] += std::size_t{T::kDepth} * stride_of_b;
  }
};

/// Adds to `sums` the products of `count` steps, with T::kStages slices of A and of B in shared
/// memory: while one is multiplied, copies of the next are in flight. B's are asynchronous.
/// A's are turned on the way, rows to columns, and so pass through registers.
///
/// A load reads its address late, when it gets its turn. An instruction that changes it has to wait
/// for that. So addresses advance a step later, just before they are used again.
template <class T, class Slices>
__device__ void walk(Sums<T>& sums, float* slices, Slices next, Place place, unsigned count) {
  constexpr unsigned kStages = T::kStages;
  float4 of_a[T::kPiecesOfA];
#pragma unroll
  for (unsigned step = 0; step + 1 < kStages; ++step) {
    if (step < count) {
      if (step > 0) next.advance_a(), next.advance_b();
      float* const slice = slices + step * T::kSlice;
      next.copy_b(slice + T::kSliceOfA);
      next.fetch_a(of_a);
      store_a<T>(slice, of_a);
    }
    __pipeline_commit();
  }
  if (kStages - 1 < count) next.advance_a(), next.fetch_a(of_a);
  unsigned stage = 0, free_stage = kStages - 1;
  for (unsigned step = 0; step < count; ++step) {
    __pipeline_wait_prior(kStages - 2);  // this thread's copies for the step have arrived ...
    __syncthreads();  // ... and everyone's; and everyone has read the stage that is filled next
    if (step + kStages - 1 < count) {
      float* const slice = slices + free_stage * T::kSlice;
      next.advance_b(), next.copy_b(slice + T::kSliceOfA);
      store_a<T>(slice, of_a);
      next.advance_a();
      if (step + kStages < count) next.fetch_a(of_a);
    }
    __pipeline_commit();
    const float* const slice = slices + stage * T::kSlice;
    sums.add_step_ahead(slice, slice + T::kSliceOfA, place);
    free_stage = stage;
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
  __syncthreads();  // everyone has read before anyone brings another tile's first slices
}

/// The same for the steps [first, first + count) of a tile. Where it lies is asked once, not for
/// each slice.
template <class T>
__device__ void walk_guarding_edges(Sums<T>& sums, float* slices, const Matrix& a, const Matrix& b,
                                    Place corner, Place place, unsigned first, unsigned count) {
  const Access tile = access_for<T>(a, b, corner);
  if (tile.inside && tile.wide && (first + count) * T::kDepth <= a.width) {
    walk<T>(sums, slices, InsideSlices<T>(a, b, corner, first), place, count);
  } else {
    walk<T>(sums, slices, guarded_slices<T>(a, b, corner, first), place, count);
  }
}
