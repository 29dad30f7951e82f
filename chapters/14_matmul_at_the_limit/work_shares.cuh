// SPDX-License-Identifier: MIT
// Chapter 14: the work divided by steps, not by tiles.
//
// 512 tiles on 132 multiprocessors are 3.88 rounds, and four are paid. Here every block gets the
// same number of steps along k. Most tiles are computed by one block from end to end; the others by
// several, whose sums are put together by the last of them to finish (chapter 10's ticket).
#pragma once

#include "walk.cuh"

/// Who computes what. A turn of a block is one tile, or a part of one.
struct Shares {
  unsigned blocks;        ///< of the launch
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

/// Leaves the thread's part of `sums` for whoever is last of those who compute this tile. The last
/// one adds them all, in the order of the blocks, and returns true.
template <class T>
__device__ bool is_last_and_has_all(Sums<T>& sums, const Shares& s, Shares::Part part) {
  // A block has at most two parts of tiles: slot 0 for one that it continues, 1 for one it begins.
  const auto slot = [&](unsigned block, bool continues) {
    return reinterpret_cast<float4*>(s.partial_sums) +
           (block * 2 + (continues ? 0 : 1)) * (T::kElements * T::kThreads / kWide) + threadIdx.x;
  };
  float4* const mine = slot(blockIdx.x, part.first > 0);
#pragma unroll
  for (unsigned e = 0; e < T::kElements; e += kWide) {
    const float* const four = &sums.of[e / T::kAcross][e % T::kAcross];
    mine[e / kWide * T::kThreads] = {four[0], four[1], four[2], four[3]};
  }
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
    const float4* const theirs = slot(block, block != first);
#pragma unroll
    for (unsigned e = 0; e < T::kElements; e += kWide) {
      float* const four = &sums.of[e / T::kAcross][e % T::kAcross];
      const float4 more = theirs[e / kWide * T::kThreads];
      four[0] += more.x, four[1] += more.y, four[2] += more.z, four[3] += more.w;
    }
  }
  return true;
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    multiply_even_shares(Matrix a, Matrix b, Matrix c, Shares shares) {
  extern __shared__ __align__(128) float4 dynamic[];  // where copies land, in whole sectors
  float* const slices = reinterpret_cast<float*>(dynamic);
  const Place place = place_of_thread<T>();
  for (unsigned turn = 0;; ++turn) {
    const Shares::Part part = shares.part(blockIdx.x, turn);
    if (part.count == 0) return;
    const Place corner = corner_in_groups<T>(part.tile, shares.down, shares.across);
    Sums<T> sums;
    walk_guarding_edges<T>(sums, slices, a, b, corner, place, part.first, part.count);
    if (part.count == shares.steps || is_last_and_has_all(sums, shares, part))
      sums.store(c, corner, place, true);
  }
}

// ---- the host's side ---------------------------------------------------------------------------

/// The work of `down` x `across` tiles, so many steps each, for so many blocks. Whole tiles are
/// dealt out as long as there is one for each block; what is left of one to two rounds is shared
/// step by step.
inline Shares divide_work(unsigned down, unsigned across, unsigned steps, unsigned blocks) {
  const unsigned tiles = down * across, rounds = tiles / blocks;
  const unsigned dealt = tiles % blocks == 0 ? tiles : (rounds > 0 ? rounds - 1 : 0) * blocks;
  return {blocks, steps, tiles, dealt, down, across, nullptr, nullptr};
}

/// Memory for multiply_even_shares<T> on the current device, and how its work is divided.
template <class T>
struct EvenShares {
  static constexpr unsigned kBytes = T::kStages * T::kSliceBytes;  ///< of dynamic shared memory

  unsigned blocks = blocks_at_once();  ///< that the device holds
  DeviceArray<float> partial_sums{std::size_t{2} * blocks * T::kRows * T::kColumns};
  DeviceArray<unsigned> tickets{std::vector<unsigned>(std::size_t{2} * blocks, 0)};

  static unsigned blocks_at_once() {
    CUDA_CHECK(cudaFuncSetAttribute(multiply_even_shares<T>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    return blocks_held(multiply_even_shares<T>, T::kThreads, kBytes);
  }

  Shares of(const Matrix& a, const Matrix& c) const {
    constexpr std::uint64_t kLeastSteps = 8;  // smaller shares are not worth putting together
    Shares s = divide_work(blocks_for(c.height, T::kRows), blocks_for(c.width, T::kColumns),
                           blocks_for(a.width, T::kDepth), blocks);
    if (s.dealt == 0) {
      const std::uint64_t worth = std::uint64_t{s.tiles} * s.steps / kLeastSteps;
      s.blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(worth, 1, s.blocks));
    }
    s.partial_sums = partial_sums;
    s.tickets = tickets;
    return s;
  }

  void launch(const Matrix& a, const Matrix& b, const Matrix& c) const {
    const Shares s = of(a, c);
    multiply_even_shares<T><<<s.blocks, T::kThreads, kBytes>>>(a, b, c, s);
  }
};
