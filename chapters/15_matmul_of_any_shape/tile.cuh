// SPDX-License-Identifier: MIT
// Chapter 15: a tile of C. A block computes it, a warp a part of it, a thread some elements of
// that, as in chapter 14. The block walks along A and B in steps, and keeps a slice of either in
// shared memory: of A kDepth columns, stored as rows, of B kDepth rows.
#pragma once

#include "../../common/common.cuh"

constexpr unsigned kWide = 4;    ///< floats in 16 bytes
constexpr unsigned kSlices = 3;  ///< of either matrix that a block keeps in shared memory

/// The shapes. kLanesDown lanes of a warp lie one below the other, the others beside them.
template <unsigned kRowsOfTile, unsigned kColumnsOfTile, unsigned kDepthOfStep,
          unsigned kRowsOfWarp, unsigned kColumnsOfWarp, unsigned kLanesBelow, unsigned kBlocks>
struct Tile {
  static constexpr unsigned kRows = kRowsOfTile, kColumns = kColumnsOfTile, kDepth = kDepthOfStep;
  static constexpr unsigned kWarpRows = kRowsOfWarp, kWarpColumns = kColumnsOfWarp;
  static constexpr unsigned kLanesDown = kLanesBelow, kLanesAcross = 32 / kLanesDown;
  static constexpr unsigned kWarpsAcross = kColumns / kWarpColumns;
  static constexpr unsigned kThreads = kRows / kWarpRows * kWarpsAcross * 32;
  /// Elements of C per thread: rows, columns, both in groups of four neighbours.
  static constexpr unsigned kDown = kWarpRows / kLanesDown, kAcross = kWarpColumns / kLanesAcross;
  static constexpr unsigned kElements = kDown * kAcross;
  /// Blocks that share a multiprocessor, and so the registers of a thread.
  static constexpr unsigned kBlocksPerSm = kBlocks;
  /// A row of the slice of A: padded by 16 bytes, so that lanes which store into rows of their own
  /// meet in no bank, and each row still begins at a multiple of 16 bytes.
  static constexpr unsigned kRowOfA = kRows + kWide;
  static constexpr unsigned kSliceOfA = kDepth * kRowOfA;  ///< in floats
  static constexpr unsigned kSliceOfB = kDepth * kColumns, kSlice = kSliceOfA + kSliceOfB;
  /// Of dynamic shared memory.
  static constexpr unsigned kBytes = kSlices * kSlice * sizeof(float);
  /// Pieces of 16 bytes that each thread brings in a step.
  static constexpr unsigned kPiecesOfA = kRows * kDepth / kWide / kThreads;
  static constexpr unsigned kPiecesOfB = kDepth * kColumns / kWide / kThreads;

  static_assert(kPiecesOfA * kWide * kThreads == kRows * kDepth, "threads share A's slice evenly");
  static_assert(kPiecesOfB * kWide * kThreads == kDepth * kColumns, "and B's");
  static_assert(kDown % kWide == 0 && kAcross % kWide == 0, "a thread's elements: groups of four");
  static_assert(kDepth % (2 * kWide) == 0, "two lanes bring 32 bytes of a row of A");
};

// Two tiles: depth of a step, warp, lanes down, blocks per multiprocessor. A Large one has 8 x 16
// elements per thread, a Small one 8 x 8.
using Large = Tile<128, 256, 16, 64, 64, 8, 1>;
using Small = Tile<64, 128, 16, 32, 64, 4, 3>;

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

/// Stores four neighbours of a row, as far as they lie in the matrix, and with one store where that
/// is possible.
__device__ inline void store_four(const Matrix& m, unsigned row, unsigned column, float4 four) {
  if (row >= m.height) return;
  if (is_wide(m) && column + kWide <= m.width) {
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

/// Stores the thread's pieces of A as columns: what was a row of A goes down a column of the slice.
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

  /// To and fro along the rows: two products that follow each other have a factor in common, which
  /// need not be read from the register file twice.
  __device__ void add_products(const Fragments<T>& f) {
#pragma unroll
    for (unsigned r = 0; r < T::kDown; ++r) {
#pragma unroll
      for (unsigned i = 0; i < T::kAcross; ++i) {
        const unsigned q = r % 2 == 1 ? T::kAcross - 1 - i : i;
        of[r][q] += f.a[r] * f.b[q];
      }
    }
  }

  /// Stores them where they belong.
  __device__ void store(const Matrix& c, Place corner, Place place) const {
#pragma unroll
    for (unsigned r = 0; r < T::kDown; ++r) {
      const unsigned row = corner.row + place.row + distance(r, T::kLanesDown);
#pragma unroll
      for (unsigned q = 0; q < T::kAcross; q += kWide) {
        const unsigned column = corner.column + place.column + distance(q, T::kLanesAcross);
        store_four(c, row, column, {of[r][q], of[r][q + 1], of[r][q + 2], of[r][q + 3]});
      }
    }
  }
};

// ---- the host's side ---------------------------------------------------------------------------

constexpr std::size_t kMostSide = 256_Ki;  ///< of a matrix: grids stay within their limits

/// Among how many multiprocessors work is divided. The CPU backend has as many as the host has
/// cores: four at least here, so that tiles are shared and split there, too.
inline unsigned multiprocessors(const Device& device) {
  const auto count = static_cast<unsigned>(device.multiProcessorCount);
  return kOnGpu ? count : std::max(count, 4u);
}
