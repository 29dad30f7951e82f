// SPDX-License-Identifier: MIT
// Chapter 15: who computes what: a block for each tile, or as many steps for each block (stream-K).
//
// 144 tiles on 132 multiprocessors are 1.09 waves, and two are paid. Where every block gets the
// same number of steps along k, none waits. Most tiles are then still computed by one block from
// end to end; the others by several, whose sums are put together by the last of them to finish
// (chapter 10's ticket) or in a second pass.
#pragma once

#include <algorithm>
#include <cstdint>

#include "walk.cuh"

/// A block for each tile of C, of `down` x `across`.
template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    multiply_tiles(Matrix a, Matrix b, Matrix c, unsigned down, unsigned across) {
  extern __shared__ __align__(128) float4 dynamic[];  // where copies land, in whole sectors
  float* const slices = reinterpret_cast<float*>(dynamic);
  const Place corner = corner_in_groups<T>(blockIdx.x, down, across);
  const Place place = place_of_thread<T>();
  Sums<T> sums;
  walk_any<T>(sums, slices, a, b, corner, place, 0, (a.width + T::kDepth - 1) / T::kDepth);
  store_any(sums, slices, c, corner, place);
}

/// Who computes what. A turn of a block is one tile, or a part of one.
struct Shares {
  unsigned blocks;        ///< of the launch; each has a step at least
  unsigned steps;         ///< along k, for one tile
  unsigned tiles, dealt;  ///< of C; of these, dealt out whole, one to each block in each round
  unsigned down, across;  ///< tiles of C
  float* partial_sums;    ///< two tiles for each block
  unsigned* tickets;      ///< one for each tile, 0 before and after a launch

  struct Part {
    unsigned tile, first, count;  ///< the steps [first, first + count) of a tile; no count: no more
  };

  /// Where the share of a block begins, in steps of all tiles that are not dealt out.
  __host__ __device__ unsigned begin_of(unsigned block) const {
    const auto shared = static_cast<std::uint64_t>(tiles - dealt) * steps;
    return static_cast<unsigned>(shared * block / blocks);
  }

  __host__ __device__ Part part(unsigned block, unsigned turn) const {
    const unsigned rounds = dealt / blocks;
    if (turn < rounds) return {turn * blocks + block, 0, steps};
    const unsigned begin = begin_of(block), end = begin_of(block + 1);
    const unsigned tile = begin / steps + turn - rounds;
    const unsigned low = tile * steps, from = begin > low ? begin : low;
    const unsigned high = low + steps, to = end < high ? end : high;
    if (from >= to) return {0, 0, 0};
    return {dealt + tile, from - low, to - from};
  }

  /// The block whose share holds the step, of all tiles that are not dealt out.
  __device__ unsigned block_of(unsigned step) const {
    const auto shared = static_cast<std::uint64_t>(tiles - dealt) * steps;
    auto block = static_cast<unsigned>(static_cast<std::uint64_t>(step) * blocks / shared);
    while (begin_of(block + 1) <= step) ++block;
    return block;
  }
};

/// Where the thread's part of a tile's sums lies, for the blocks that share the tile or the second
/// pass. A block has at most two parts: slot 0 for one that it continues, 1 for one it begins.
template <class T>
__device__ float4* slot_of(const Shares& s, unsigned block, bool continues) {
  return reinterpret_cast<float4*>(s.partial_sums) +
         (block * 2 + (continues ? 0 : 1)) * (T::kElements * T::kThreads / kWide) + threadIdx.x;
}

template <class T>
__device__ void leave(const Sums<T>& sums, float4* slot) {
#pragma unroll
  for (unsigned e = 0; e < T::kElements; e += kWide) {
    const float* const four = &sums.of[e / T::kAcross][e % T::kAcross];
    slot[e / kWide * T::kThreads] = {four[0], four[1], four[2], four[3]};
  }
}

/// Whether this block is the last of those who compute the tile to come here; all have left their
/// sums. If so `sums` become those of all, added in the order of the blocks.
template <class T>
__device__ bool is_last_and_has_all(Sums<T>& sums, const Shares& s, Shares::Part part) {
  const unsigned first_step = (part.tile - s.dealt) * s.steps;
  const unsigned first = s.block_of(first_step), last = s.block_of(first_step + s.steps - 1);
  __shared__ bool is_last;
  __threadfence();  // my part is seen by whoever sees the ticket that is drawn below
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(&s.tickets[part.tile - s.dealt], 1u) == last - first;
    if (is_last) s.tickets[part.tile - s.dealt] = 0;  // for the next launch
  }
  __syncthreads();
  if (!is_last) return false;
  __threadfence();  // what the others wrote before they drew their tickets is seen from here on
  sums = {};
  for (unsigned block = first; block <= last; ++block) {
    const float4* const theirs = slot_of<T>(s, block, block != first);
#pragma unroll
    for (unsigned e = 0; e < T::kElements; e += kWide) {
      float* const four = &sums.of[e / T::kAcross][e % T::kAcross];
      const float4 more = theirs[e / kWide * T::kThreads];
      four[0] += more.x, four[1] += more.y, four[2] += more.z, four[3] += more.w;
    }
  }
  return true;
}

/// Even shares: a block walks along its steps, from tile to tile. What it has of a tile that others
/// compute, too, it leaves for whoever puts the sums together: the last of them if `with_tickets`,
/// else put_together(), in a second pass.
template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    multiply_shares(Matrix a, Matrix b, Matrix c, Shares shares, bool with_tickets) {
  extern __shared__ __align__(128) float4 dynamic[];  // where copies land, in whole sectors
  float* const slices = reinterpret_cast<float*>(dynamic);
  const Place place = place_of_thread<T>();
  for (unsigned turn = 0;; ++turn) {
    const Shares::Part part = shares.part(blockIdx.x, turn);
    if (part.count == 0) return;
    const Place corner = corner_in_groups<T>(part.tile, shares.down, shares.across);
    Sums<T> sums;
    walk_any<T>(sums, slices, a, b, corner, place, part.first, part.count);
    const bool has_all = part.count == shares.steps;
    if (!has_all) leave(sums, slot_of<T>(shares, blockIdx.x, part.first > 0));
    if (has_all || (with_tickets && is_last_and_has_all(sums, shares, part))) {
      store_any(sums, slices, c, corner, place);
      __syncthreads();  // all have stored before anyone brings another tile's slices
    }
  }
}

/// The second pass: block (x, y) adds the parts of four elements of each thread of tile x.
template <class T>
__global__ void __launch_bounds__(T::kThreads) put_together(Matrix c, Shares s) {
  const unsigned e = blockIdx.y * kWide, first_step = blockIdx.x * s.steps;
  const unsigned first = s.block_of(first_step), last = s.block_of(first_step + s.steps - 1);
  if (first == last) return;  // it was stored
  float4 sum = {};
#pragma unroll 8
  for (unsigned block = first; block <= last; ++block) {
    const bool continues = block != first;
    const float4 more = slot_of<T>(s, block, continues)[e / kWide * T::kThreads];
    sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
  }
  const Place corner = corner_in_groups<T>(s.dealt + blockIdx.x, s.down, s.across);
  const Place place = place_of_thread<T>();
  store_four(c, corner.row + place.row + distance(e / T::kAcross, T::kLanesDown),
             corner.column + place.column + distance(e % T::kAcross, T::kLanesAcross), sum);
}

// ---- the host's side ---------------------------------------------------------------------------

/// The work of `down` x `across` tiles, so many steps each, for at most so many blocks. Whole tiles
/// are dealt out as long as there is one for each block; what is left of one to two rounds is
/// shared step by step. No block's share is empty: a tile's tickets count the blocks between its
/// first and its last, and each of them has to draw one.
inline Shares divide_work(unsigned down, unsigned across, unsigned steps, unsigned most_blocks) {
  const unsigned tiles = down * across;
  const auto all_steps = std::uint64_t{tiles} * steps;
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(most_blocks, all_steps));
  const unsigned rounds = tiles / blocks;
  const unsigned dealt = tiles % blocks == 0 ? tiles : (rounds > 0 ? rounds - 1 : 0) * blocks;
  return {blocks, steps, tiles, dealt, down, across, nullptr, nullptr};
}
