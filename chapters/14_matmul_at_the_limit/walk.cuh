// SPDX-License-Identifier: MIT
// Chapter 14: the walk along k with copies under way. Included by matmul_at_the_limit.cu.
#pragma once

#include "tile.cuh"

/// Adds to `sums` the products of `count` steps from step `first` on, with T::kStages slices of A
/// and of B in shared memory: while one is multiplied, the next ones are on their way. B's are
/// copied asynchronously. A's are turned on the way, rows to columns, and so pass through
/// registers. `access(k)` says whether the step at k needs none.
template <class T, class AccessAt>
__device__ void walk(Sums<T>& sums, float* slices, const Matrix& a, const Matrix& b, Place corner,
                     Place place, unsigned first, unsigned count, AccessAt access) {
  constexpr unsigned kStages = T::kStages;
  float4 of_a[T::kPiecesOfA];
  const auto fetch = [&](unsigned step) {
    const unsigned k = (first + step) * T::kDepth;
    fetch_a<T>(of_a, a, corner.row, k, access(k));
  };
  const auto bring = [&](unsigned step, unsigned stage) {  // what fetch() loaded, and B's slice
    const unsigned k = (first + step) * T::kDepth;
    float* const slice = slices + stage * T::kSlice;
    store_a<T>(slice, of_a);
    copy_b_async<T>(slice + T::kSliceOfA, b, k, corner.column, access(k));
  };
#pragma unroll
  for (unsigned step = 0; step + 1 < kStages; ++step) {
    if (step < count) fetch(step), bring(step, step);
    __pipeline_commit();
  }
  if (kStages - 1 < count) fetch(kStages - 1);
  unsigned stage = 0, free_stage = kStages - 1;
  for (unsigned step = 0; step < count; ++step) {
    __pipeline_wait_prior(kStages - 2);  // this thread's copies for the step have arrived ...
    __syncthreads();  // ... and everyone's; and everyone has read the stage that is filled next
    if (step + kStages - 1 < count) {
      bring(step + kStages - 1, free_stage);
      if (step + kStages < count) fetch(step + kStages);
    }
    __pipeline_commit();
    const float* const slice = slices + stage * T::kSlice;
    sums.add_step_ahead(slice, slice + T::kSliceOfA, place);
    free_stage = stage;
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
  __syncthreads();  // everyone has read before anyone brings another tile's first slices
}

/// The same. A tile inside of C, with whole steps only, is walked without a guard: the question is
/// asked once, not for each load.
template <class T>
__device__ void walk_guarding_edges(Sums<T>& sums, float* slices, const Matrix& a, const Matrix& b,
                                    Place corner, Place place, unsigned first, unsigned count) {
  const Access tile = access_for<T>(a, b, corner);
  if (tile.inside && tile.wide && (first + count) * T::kDepth <= a.width) {
    walk<T>(sums, slices, a, b, corner, place, first, count, [](unsigned) {
      return Access{true, true};
    });
  } else {
    walk<T>(sums, slices, a, b, corner, place, first, count,
            [&](unsigned k) { return access_at<T>(tile, a, k); });
  }
}
