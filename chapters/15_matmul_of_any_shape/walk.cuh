// SPDX-License-Identifier: MIT
// Chapter 15: what a block does for a tile, or for a part of one: it walks along k, for rows of any
// alignment, and stores the sums.
#pragma once

#include <cuda_pipeline.h>

#include "tile.cuh"

// ---- how the slices of a tile are brought, piece by piece --------------------------------------
//
// The first slice may be shorter than a step: it takes what is left over, so that all others are
// whole and need no bounds check. For rows of A and columns of B that do not exist others are read
// instead: no sum that is stored holds them. Neighbouring lanes read different ones, because lanes
// that copy one word asynchronously to several places take turns.

/// Terms of the first step, if all `terms` are walked in steps of T::kDepth.
template <class T>
__device__ unsigned first_depth(unsigned terms) {
  return (terms - 1) % T::kDepth + 1;
}

/// `row`, or one of the first four if it does not exist: four neighbours read four rows.
__device__ inline unsigned existing_row(unsigned row, unsigned height) {
  return row < height ? row : min(row % 4, height - 1);
}

/// 16 bytes at a time. A's rows become columns on the way, through registers.
template <class T>
struct WideSlices {
  const float *of_a[T::kPiecesOfA], *of_b[T::kPiecesOfB];
  unsigned stride_of_b;
  float4 pieces[T::kPiecesOfA];  ///< of A's next slice

  /// From column `k` of A, row `k` of B on.
  __device__ WideSlices(const Matrix& a, const Matrix& b, Place corner, unsigned k)
      : stride_of_b(b.stride) {
    for (unsigned i = 0; i < T::kPiecesOfA; ++i) {
      const Place p = piece_of_a<T>(i);
      of_a[i] = &a.at(min(corner.row + p.row, a.height - 1), k + p.column);
    }
    for (unsigned i = 0; i < T::kPiecesOfB; ++i) {
      const Place p = piece_of_b<T>(i);
      of_b[i] = &b.at(k + p.row, (corner.column + p.column) % b.width);
    }
  }

  /// Brings the first slice, of `depth` terms; beyond them it is zero.
  __device__ void bring_first(float* slice, unsigned depth) {
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfA; ++i)
      pieces[i] = piece_of_a<T>(i).column < depth ? *reinterpret_cast<const float4*>(of_a[i])
                                                  : float4{0, 0, 0, 0};
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfB; ++i)
      copy_b(slice + T::kSliceOfA, i, piece_of_b<T>(i).row < depth ? 0 : sizeof(float4));
    store(slice);
  }

  __device__ void fetch() {
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfA; ++i)
      pieces[i] = *reinterpret_cast<const float4*>(of_a[i]);
  }
  __device__ void store(float* slice) const { store_a<T>(slice, pieces); }
  __device__ void copy(float* slice) const {
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfB; ++i) copy_b(slice + T::kSliceOfA, i, 0);
  }

  /// To the next slices, `depth` terms further.
  __device__ void advance(unsigned depth) {
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfB; ++i) of_b[i] += std::size_t{depth} * stride_of_b;
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfA; ++i) of_a[i] += depth;
  }

 private:
  __device__ void copy_b(float* slice, unsigned i, std::size_t zeros) const {
    const Place p = piece_of_b<T>(i);
    __pipeline_memcpy_async(&slice[p.row * T::kColumns + p.column], of_b[i], sizeof(float4), zeros);
  }
};

/// 4 bytes at a time, so that rows may begin anywhere. Of A each element is copied straight into
/// its column: 8 neighbouring lanes bring 32 bytes of a row, and the warp stores into 32 banks.
template <class T>
struct NarrowSlices {
  static constexpr unsigned kLanesOfRow = 8, kRowsAtOnce = T::kThreads / kLanesOfRow;
  static constexpr unsigned kRowsOfThread = T::kRows > kRowsAtOnce ? T::kRows / kRowsAtOnce : 1;
  static constexpr unsigned kColumnsAtOnce = kRowsAtOnce * kRowsOfThread / T::kRows * kLanesOfRow;
  static constexpr unsigned kRowsOfB = T::kThreads / T::kColumns;
  static_assert(T::kDepth % kColumnsAtOnce == 0 && T::kDepth % kRowsOfB == 0, "even shares");
  static_assert(kRowsOfB * T::kColumns == T::kThreads, "of B a thread copies parts of one column");

  const float *of_a[kRowsOfThread], *of_b;
  unsigned stride_of_b, depth_of_a, depth_of_b, to_a;

  __device__ NarrowSlices(const Matrix& a, const Matrix& b, Place corner, unsigned k)
      : stride_of_b(b.stride) {
    const unsigned group = threadIdx.x / kLanesOfRow;
    const unsigned row = group % T::kRows;
    depth_of_a = group / T::kRows * kLanesOfRow + threadIdx.x % kLanesOfRow;
    depth_of_b = threadIdx.x / T::kColumns;
    to_a = depth_of_a * T::kRowOfA + row;
    for (unsigned r = 0; r < kRowsOfThread; ++r)
      of_a[r] = &a.at(existing_row(corner.row + row + r * kRowsAtOnce, a.height), k + depth_of_a);
    of_b = &b.at(k + depth_of_b, (corner.column + threadIdx.x % T::kColumns) % b.width);
  }

  __device__ void bring_first(float* slice, unsigned depth) {
    bring(slice, [&](unsigned k) -> std::size_t { return k < depth ? 0 : sizeof(float); });
  }
  __device__ void copy(float* slice) const {
    bring(slice, [](unsigned) -> std::size_t { return 0; });
  }
  __device__ void fetch() const {}
  __device__ void store(float*) const {}
  __device__ void advance(unsigned depth) {
#pragma unroll
    for (unsigned r = 0; r < kRowsOfThread; ++r) of_a[r] += depth;
    of_b += std::size_t{depth} * stride_of_b;
  }

 private:
  template <class Zeros>
  __device__ void bring(float* slice, Zeros zeros) const {
    float* const a = slice + to_a;
#pragma unroll
    for (unsigned k = 0; k < T::kDepth; k += kColumnsAtOnce)
#pragma unroll
      for (unsigned r = 0; r < kRowsOfThread; ++r)
        __pipeline_memcpy_async(&a[k * T::kRowOfA + r * kRowsAtOnce], of_a[r] + k, sizeof(float),
                                zeros(depth_of_a + k));
    float* const b = slice + T::kSliceOfA + threadIdx.x;
    const float* from = of_b;
#pragma unroll
    for (unsigned k = 0; k < T::kDepth; k += kRowsOfB, from += std::size_t{kRowsOfB} * stride_of_b)
      __pipeline_memcpy_async(&b[k * T::kColumns], from, sizeof(float), zeros(depth_of_b + k));
  }
};

/// Adds to `sums` the products of `count` steps, of which the first has `depth` terms, the others
/// T::kDepth. While a slice is multiplied, copies of the next two are in flight (chapter 14).
template <class T, class Slices>
__device__ void walk_steps(Sums<T>& sums, float* slices, Slices next, Place place, unsigned depth,
                           unsigned count) {
  next.bring_first(slices, depth);
  __pipeline_commit();
  next.advance(depth);
#pragma unroll
  for (unsigned step = 1; step + 1 < kSlices; ++step) {
    if (step < count) {
      if (step > 1) next.advance(T::kDepth);
      float* const slice = slices + step * T::kSlice;
      next.copy(slice);
      next.fetch();
      next.store(slice);
    }
    __pipeline_commit();
  }
  if (kSlices - 1 < count) {
    next.advance(T::kDepth);
    next.fetch();
  }
  Fragments<T> f[2];
  const float* slice = slices;
  unsigned stage = 0, free_stage = kSlices - 1;
  for (unsigned step = 0; step < count; ++step) {
    __pipeline_wait_prior(kSlices - 2);  // this thread's copies for the step have arrived ...
    __syncthreads();  // ... and everyone's; and everyone has read the slice that is filled next
    f[0].load(slice, slice + T::kSliceOfA, 0, place);
    if (step + kSlices - 1 < count) {
      float* const filled = slices + free_stage * T::kSlice;
      next.copy(filled);
      next.store(filled);
      next.advance(T::kDepth);
      if (step + kSlices < count) next.fetch();
    }
    __pipeline_commit();
    free_stage = stage;
    stage = stage + 1 == kSlices ? 0 : stage + 1;
#pragma unroll
    for (unsigned k = 0; k < T::kDepth; ++k) {
      if (k + 1 < T::kDepth) {
        f[(k + 1) % 2].load(slice, slice + T::kSliceOfA, k + 1, place);
      } else {
        slice = slices + stage * T::kSlice;
      }
      sums.add_products(f[k % 2]);
    }
  }
  __syncthreads();  // everyone has read before anyone brings another tile's first slices
}

/// Whether both can be read 16 bytes at a time, to the end of each row.
__host__ __device__ inline bool rows_are_aligned(const Matrix& a, const Matrix& b) {
  return is_wide(a) && is_wide(b) && a.width % kWide == 0 && b.width % kWide == 0;
}

/// The steps [first, first + count) of a tile, the first of which takes what is left over. Whether
/// rows are aligned is asked once.
template <class T>
__device__ void walk_any(Sums<T>& sums, float* slices, const Matrix& a, const Matrix& b,
                         Place corner, Place place, unsigned first, unsigned count) {
  const unsigned left = first_depth<T>(a.width);
  const unsigned k = first == 0 ? 0 : left + (first - 1) * T::kDepth;
  const unsigned depth = first == 0 ? left : T::kDepth;
  if (rows_are_aligned(a, b)) {
    walk_steps<T>(sums, slices, WideSlices<T>(a, b, corner, k), place, depth, count);
  } else {
    walk_steps<T>(sums, slices, NarrowSlices<T>(a, b, corner, k), place, depth, count);
  }
}

/// Stores the sums. Where rows of C are not aligned, a thread's four neighbours would be four
/// stores of a warp that each touch all of its sectors; so a warp's rows pass through shared
/// memory, and neighbouring lanes store neighbours. `room` holds the slices, which no thread reads
/// any more.
template <class T>
__device__ void store_any(const Sums<T>& sums, float* room, const Matrix& c, Place corner,
                          Place place) {
  if (is_wide(c)) return sums.store(c, corner, place);
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float* const rows = room + warp * T::kLanesDown * T::kWarpColumns;
  const unsigned first_row = corner.row + warp / T::kWarpsAcross * T::kWarpRows;
  const unsigned first_column = corner.column + warp % T::kWarpsAcross * T::kWarpColumns;
#pragma unroll
  for (unsigned r = 0; r < T::kDown; ++r) {
#pragma unroll
    for (unsigned q = 0; q < T::kAcross; q += kWide) {
      const float* const four = &sums.of[r][q];
      const unsigned column = lane % T::kLanesAcross * kWide + distance(q, T::kLanesAcross);
      *reinterpret_cast<float4*>(&rows[lane / T::kLanesAcross * T::kWarpColumns + column]) = {
          four[0], four[1], four[2], four[3]};
    }
    __syncwarp();  // the rows are complete before any lane reads them
#pragma unroll
    for (unsigned i = lane; i < T::kLanesDown * T::kWarpColumns; i += 32) {
      const unsigned row = first_row + i / T::kWarpColumns * kWide + distance(r, T::kLanesDown);
      const unsigned column = first_column + i % T::kWarpColumns;
      if (row < c.height && column < c.width) c.at(row, column) = rows[i];
    }
    __syncwarp();  // every lane has read before the next rows are stored over these
  }
}
