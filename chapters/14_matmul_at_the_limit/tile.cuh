// SPDX-License-Identifier: MIT
// Chapter 14: what the kernels are made of. A block computes a tile of C, a warp a part of it, a
// thread some elements of that. The block walks along A and B in steps, and keeps a slice of either
// in shared memory: of A kDepth columns, stored as rows, of B kDepth rows.
#pragma once

#include <cuda_pipeline.h>

#include "../../common/common.cuh"

constexpr unsigned kWide = 4;  // floats in 16 bytes: the widest load there is

/// The shapes. kLanesDown lanes of a warp lie one below the other, the others beside them.
template <unsigned kRowsOfTile, unsigned kColumnsOfTile, unsigned kDepthOfStep,
          unsigned kRowsOfWarp, unsigned kColumnsOfWarp, unsigned kLanesBelow,
          unsigned kSlicesAtOnce, unsigned kBlocks, bool kSerpentine = false>
struct Tile {
  static constexpr unsigned kRows = kRowsOfTile, kColumns = kColumnsOfTile, kDepth = kDepthOfStep;
  static constexpr unsigned kWarpRows = kRowsOfWarp, kWarpColumns = kColumnsOfWarp;
  static constexpr unsigned kLanesDown = kLanesBelow, kLanesAcross = 32 / kLanesDown;
  static constexpr unsigned kWarpsAcross = kColumns / kWarpColumns;
  static constexpr unsigned kThreads = kRows / kWarpRows * kWarpsAcross * 32;
  /// Elements of C per thread: rows, columns, both in groups of four neighbours.
  static constexpr unsigned kDown = kWarpRows / kLanesDown, kAcross = kWarpColumns / kLanesAcross;
  static constexpr unsigned kElements = kDown * kAcross;
  /// Slices of either matrix that the last versions keep in shared memory at a time.
  static constexpr unsigned kStages = kSlicesAtOnce;
  /// Whether add_products() goes along the rows of the elements to and fro.
  static constexpr bool kTurns = kSerpentine;
  /// Blocks that share a multiprocessor, and so the registers of a thread.
  static constexpr unsigned kBlocksPerSm = kBlocks;
  /// A row of the slice of A: padded by 16 bytes, so that lanes which store into rows of their own
  /// meet in no bank, and each row still begins at a multiple of 16 bytes.
  static constexpr unsigned kRowOfA = kRows + kWide;
  static constexpr unsigned kSliceOfA = kDepth * kRowOfA;  ///< in floats
  static constexpr unsigned kSliceOfB = kDepth * kColumns, kSlice = kSliceOfA + kSliceOfB;
  static constexpr unsigned kSliceBytes = kSlice * sizeof(float);
  /// Pieces of 16 bytes that each thread brings in a step.
  static constexpr unsigned kPiecesOfA = kRows * kDepth / kWide / kThreads;
  static constexpr unsigned kPiecesOfB = kDepth * kColumns / kWide / kThreads;

  static_assert(kPiecesOfA * kWide * kThreads == kRows * kDepth, "threads share A's slice evenly");
  static_assert(kPiecesOfB * kWide * kThreads == kDepth * kColumns, "and B's");
  static_assert(kDown % kWide == 0 && kAcross % kWide == 0, "a thread's elements: groups of four");
  static_assert(kDepth % (2 * kWide) == 0, "two lanes bring 32 bytes of a row of A");
};

// The shapes of this chapter: tile, depth of a step, warp, lanes down, slices, blocks per SM.
using Flat = Tile<128, 128, 16, 16, 128, 2, 1, 1>;   // a warp is two rows of 16 threads
using Square = Tile<128, 128, 16, 64, 32, 8, 3, 2>;  // 8 x 4 threads
using Large = Tile<128, 256, 16, 64, 64, 8, 3, 1>;   // 8 x 16 elements per thread
using Turning = Tile<128, 256, 16, 64, 64, 8, 3, 1, true>;
using Small = Tile<64, 128, 16, 32, 64, 4, 2, 3, true>;

/// A row and a column.
struct Place {
  unsigned row, column;
};

/// Where in the tile the thread's first group of elements is.
template <class T>
__device__ Place place_of_thread() {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return {warp / T::kWarpsAcross * T::kWarpRows + lane / T::kLanesAcross * kWide,
          warp % T::kWarpsAcross * T::kWarpColumns + lane % T::kLanesAcross * kWide};
}

/// How far element `i` of a thread is from its first, in rows or columns; `lanes` lie that way.
__device__ constexpr unsigned distance(unsigned i, unsigned lanes) {
  return i / kWide * lanes * kWide + i % kWide;
}

/// Where piece `i` of the thread is in a slice: at a distance from its first that is the same for
/// all threads. Of A, two neighbouring lanes bring 32 bytes of a row, a sector, and the lanes store
/// into 32 different banks.
template <class T>
__device__ Place piece_of_a(unsigned i) {
  constexpr unsigned kPairs = T::kThreads / 2;
  static_assert(kPairs % T::kRows == 0 || T::kRows % kPairs == 0, "distances depend on the thread");
  const Place first = {threadIdx.x / 2 % T::kRows,
                       (threadIdx.x % 2 + threadIdx.x / (2 * T::kRows) * 2) * kWide};
  return {first.row + i * kPairs % T::kRows, first.column + i * kPairs / T::kRows * 2 * kWide};
}

/// Of B, neighbouring lanes bring neighbouring pieces of a row.
template <class T>
__device__ Place piece_of_b(unsigned i) {
  constexpr unsigned kPiecesOfRow = T::kColumns / kWide;
  static_assert(T::kThreads % kPiecesOfRow == 0, "distances depend on the thread");
  return {threadIdx.x / kPiecesOfRow + i * (T::kThreads / kPiecesOfRow),
          threadIdx.x % kPiecesOfRow * kWide};
}

/// The matrix continued by zeros, element by element.
__device__ inline float at_or_zero(const Matrix& m, unsigned row, unsigned column) {
  return row < m.height && column < m.width ? m.at(row, column) : 0.0f;
}

/// Whether every row begins at a multiple of 16 bytes.
__host__ __device__ inline bool is_wide(const Matrix& m) {
  return reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0 && m.stride % kWide == 0;
}

/// How what a block needs of A and B may be read.
struct Access {
  bool inside;  ///< all of it lies in the matrices: no guard
  bool wide;    ///< 16 bytes at a time
};

/// For the tile's rows of A and columns of B.
template <class T>
__device__ Access access_for(const Matrix& a, const Matrix& b, Place corner) {
  return {corner.row + T::kRows <= a.height && corner.column + T::kColumns <= b.width,
          is_wide(a) && is_wide(b)};
}

/// For the step at `k` of that tile: the last one may reach past the end of the rows of A.
template <class T>
__device__ Access access_at(Access tile, const Matrix& a, unsigned k) {
  return {tile.inside && k + T::kDepth <= a.width, tile.wide};
}

/// Four neighbours in a row, of the matrix continued by zeros.
__device__ inline float4 four_of(const Matrix& m, unsigned row, unsigned column, Access access) {
  if (!access.inside) {
    return {at_or_zero(m, row, column), at_or_zero(m, row, column + 1),
            at_or_zero(m, row, column + 2), at_or_zero(m, row, column + 3)};
  }
  const float* const from = &m.at(row, column);
  if (access.wide) return *reinterpret_cast<const float4*>(from);
  return {from[0], from[1], from[2], from[3]};
}

/// Stores four neighbours of a row, as far as they lie in the matrix; if `wide` with one store,
/// where that is possible.
__device__ inline void store_four(const Matrix& m, unsigned row, unsigned column, float4 four,
                                  bool wide = true) {
  if (row >= m.height) return;
  if (wide && is_wide(m) && column + kWide <= m.width) {
    *reinterpret_cast<float4*>(&m.at(row, column)) = four;
    return;
  }
  const float each[] = {four.x, four.y, four.z, four.w};
#pragma unroll
  for (unsigned i = 0; i < kWide; ++i)
    if (column + i < m.width) m.at(row, column + i) = each[i];
}

/// Corner of a tile of C, of `down` x `across`. Tiles are counted in groups of 8 rows, down and
/// then across: tiles that are computed at the same time share rows of A and columns of B in the
/// L2.
template <class T>
__device__ Place corner_in_groups(unsigned tile, unsigned down, unsigned across) {
  constexpr unsigned kGroup = 8;
  const unsigned above = tile / (kGroup * across) * kGroup, in_group = tile % (kGroup * across);
  const unsigned height = min(kGroup, down - above);
  return {(above + in_group % height) * T::kRows, in_group / height * T::kColumns};
}

/// Loads the thread's pieces of A's slice from column `first` on into registers.
template <class T>
__device__ void fetch_a(float4 (&pieces)[T::kPiecesOfA], const Matrix& a, unsigned first_row,
                        unsigned first, Access access) {
#pragma unroll
  for (unsigned i = 0; i < T::kPiecesOfA; ++i) {
    const Place p = piece_of_a<T>(i);
    pieces[i] = four_of(a, first_row + p.row, first + p.column, access);
  }
}

/// Stores them as columns: what was a row of A goes down a column of the slice.
template <class T>
__device__ void store_a(float* slice_of_a, const float4 (&pieces)[T::kPiecesOfA]) {
#pragma unroll
  for (unsigned i = 0; i < T::kPiecesOfA; ++i) {
    const Place p = piece_of_a<T>(i);
    float* const to = &slice_of_a[p.column * T::kRowOfA + p.row];
    to[0] = pieces[i].x;
    to[T::kRowOfA] = pieces[i].y;
    to[2 * T::kRowOfA] = pieces[i].z;
    to[3 * T::kRowOfA] = pieces[i].w;
  }
}

/// Begins to copy B's slice, from row `first` on, into shared memory. It passes no register. Where
/// the matrix ends zeros are written. What cannot be copied in pieces of 16 bytes goes element by
/// element, neighbouring lanes bringing neighbours.
template <class T>
__device__ void copy_b_async(float* slice_of_b, const Matrix& b, unsigned first,
                             unsigned first_column, Access access) {
  if (access.inside && access.wide) {
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfB; ++i) {
      const Place p = piece_of_b<T>(i);
      __pipeline_memcpy_async(&slice_of_b[p.row * T::kColumns + p.column],
                              &b.at(first + p.row, first_column + p.column), sizeof(float4));
    }
    return;
  }
#pragma unroll
  for (unsigned e = threadIdx.x; e < T::kSliceOfB; e += T::kThreads) {
    const unsigned row = first + e / T::kColumns, column = first_column + e % T::kColumns;
    const bool exists = access.inside || (row < b.height && column < b.width);
    __pipeline_memcpy_async(&slice_of_b[e], exists ? &b.at(row, column) : b.data, sizeof(float),
                            exists ? 0 : sizeof(float));
  }
}

/// What a thread multiplies at one k: its rows' elements of A, its columns' of B.
template <class T>
struct Fragments {
  float a[T::kDown], b[T::kAcross];

  /// Loads them from row `k` of the slices, 16 bytes at a time. `place` is the thread's.
  __device__ void load(const float* slice_of_a, const float* slice_of_b, unsigned k, Place place) {
#pragma unroll
    for (unsigned q = 0; q < T::kAcross; q += kWide)
      load_four(&slice_of_b[k * T::kColumns + place.column + distance(q, T::kLanesAcross)], &b[q]);
#pragma unroll
    for (unsigned r = 0; r < T::kDown; r += kWide)
      load_four(&slice_of_a[k * T::kRowOfA + place.row + distance(r, T::kLanesDown)], &a[r]);
  }

 private:
  __device__ static void load_four(const float* from, float* to) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  }
};

/// The thread's elements of C.
template <class T>
struct Sums {
  float of[T::kDown][T::kAcross] = {};

  /// Where a row ends the next one begins below it, if T::kTurns: then two products that follow
  /// each other always have a factor in common, which need not be read from the register file
  /// twice.
  __device__ void add_products(const Fragments<T>& f) {
#pragma unroll
    for (unsigned r = 0; r < T::kDown; ++r) {
#pragma unroll
      for (unsigned i = 0; i < T::kAcross; ++i) {
        const unsigned q = T::kTurns && r % 2 == 1 ? T::kAcross - 1 - i : i;
        of[r][q] += f.a[r] * f.b[q];
      }
    }
  }

  /// Adds what one step brought: at each k the fragments are loaded, and multiplied.
  __device__ void add_step(const float* slice_of_a, const float* slice_of_b, Place place) {
#pragma unroll
    for (unsigned k = 0; k < T::kDepth; ++k) {
      Fragments<T> f;
      f.load(slice_of_a, slice_of_b, k, place);
      add_products(f);
    }
  }

  /// The same, but at each k the next fragments are loaded before the present ones are multiplied.
  __device__ void add_step_ahead(const float* slice_of_a, const float* slice_of_b, Place place) {
    Fragments<T> f[2];
    f[0].load(slice_of_a, slice_of_b, 0, place);
#pragma unroll
    for (unsigned k = 0; k < T::kDepth; ++k) {
      if (k + 1 < T::kDepth) f[(k + 1) % 2].load(slice_of_a, slice_of_b, k + 1, place);
      add_products(f[k % 2]);
    }
  }

  /// Stores them where they belong; if `wide_stores`, 16 bytes at a time where that is possible.
  __device__ void store(const Matrix& c, Place corner, Place place, bool wide_stores) const {
#pragma unroll
    for (unsigned r = 0; r < T::kDown; ++r) {
      const unsigned row = corner.row + place.row + distance(r, T::kLanesDown);
#pragma unroll
      for (unsigned q = 0; q < T::kAcross; q += kWide) {
        const unsigned column = corner.column + place.column + distance(q, T::kLanesAcross);
        store_four(c, row, column, {of[r][q], of[r][q + 1], of[r][q + 2], of[r][q + 3]},
                   wide_stores);
      }
    }
  }
};

// ---- the host's side ---------------------------------------------------------------------------

constexpr std::size_t kMostSide = 256_Ki;  ///< of a matrix: grids stay within their limits
