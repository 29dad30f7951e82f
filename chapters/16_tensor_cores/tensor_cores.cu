// SPDX-License-Identifier: MIT
// Chapter 16: how are tensor cores kept busy?
// C = A * B, row-major: A is m x k, B is k x n, all of BF16; sums are kept in FP32.
// mma_from_global    a warp multiplies 16 x 16 by 16 x 8 elements, straight from global memory
// mma_from_shared    a block brings 128 x 32 of A and 32 x 128 of B to shared memory first
// mma_swizzled       pieces of 16 bytes lie so that no bank conflicts; ldmatrix loads 32 at once
// mma_pipelined      the next three slices are on their way
// warp_groups        four warps multiply 64 x 16 by 16 x 256, from shared memory (wgmma)
// bulk_copies        one thread begins copies of whole boxes, and barriers count their bytes (TMA)
// producer_consumer  a warp that only copies, two groups that only multiply
// clusters           two blocks share what they copy of B
// persistent         blocks that stay for many tiles, and store one behind the next
// chosen             of several tiles and splits the one whose predicted time is the least
// cublaslt_first     the first algorithm that the library names
// cublaslt           the fastest that it offers, with sums in FP32
// Run: make run CH=16

#include <cuda_bf16.h>
#include <cuda_pipeline.h>

#include <array>
#include <map>

#include "../../common/common.cuh"
#include "choice.cuh"
#include "instructions.cuh"
#include "product.cuh"

#ifndef __CUDA_CPU__
#include "cublaslt.cuh"
#endif

constexpr unsigned kWarp = 32;

// ---- mma_from_global ---------------------------------------------------------------------------

// Two neighbours in a row, as the 32 bits that an operand's register holds.
__device__ unsigned pair_along(const Bf16Matrix& m, unsigned row, unsigned column) {
  return *reinterpret_cast<const unsigned*>(&m.at(row, column));
}

// Two neighbours in a column; the upper one in the lower half.
__device__ unsigned pair_down(const Bf16& upper, const Bf16& lower) {
  return __bfloat16_as_ushort(upper) | static_cast<unsigned>(__bfloat16_as_ushort(lower)) << 16;
}

// Two neighbours, rounded to BF16, as 32 bits.
__device__ unsigned pair_of(float x, float y) {
  return pair_down(__float2bfloat16(x), __float2bfloat16(y));
}

// Two neighbours of C, rounded to BF16, in one store.
__device__ void store_pair(const Bf16Matrix& c, unsigned row, unsigned column, float x, float y) {
  *reinterpret_cast<__nv_bfloat162*>(&c.at(row, column)) = __floats2bfloat162_rn(x, y);
}

// A warp computes 16 x 8 elements of C, a block eight such pieces side by side. A lane loads what
// the instruction wants it to hold: of A pairs along its rows, of B pairs down its column.
constexpr unsigned kPieceRows = 16, kPieceColumns = 8, kTerms = 16;  // of one mma
constexpr unsigned kBlock = 256, kWarps = kBlock / kWarp;

__global__ void __launch_bounds__(kBlock)
    multiply_from_global(Bf16Matrix a, Bf16Matrix b, Bf16Matrix c) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned row = blockIdx.y * kPieceRows + lane / 4, pair = lane % 4 * 2;
  const unsigned first_column = (blockIdx.x * kWarps + warp) * kPieceColumns;
  const unsigned column = first_column + lane / 4;
  float sum[4] = {};
  for (unsigned k = 0; k < a.width; k += kTerms) {
    const unsigned of_a[4] = {pair_along(a, row, k + pair), pair_along(a, row + 8, k + pair),
                              pair_along(a, row, k + pair + 8),
                              pair_along(a, row + 8, k + pair + 8)};
    const unsigned of_b[2] = {pair_down(b.at(k + pair, column), b.at(k + pair + 1, column)),
                              pair_down(b.at(k + pair + 8, column), b.at(k + pair + 9, column))};
    ptx::mma_m16n8k16(sum, of_a, of_b);
  }
  store_pair(c, row, first_column + pair, sum[0], sum[1]);
  store_pair(c, row + 8, first_column + pair, sum[2], sum[3]);
}

// ---- mma_from_shared ---------------------------------------------------------------------------

// A block computes 128 x 128 elements of C, in steps of 32 along k: eight warps in two rows of
// four, 64 x 32 elements each, which are 4 x 4 pieces.
constexpr unsigned kTile = 128, kStep = 32;
constexpr unsigned kWarpRows = 64, kWarpColumns = 32;
constexpr unsigned kDown = kWarpRows / kPieceRows, kAcross = kWarpColumns / kPieceColumns;

constexpr unsigned kPiece = 8;  // elements of 16 bytes, which one load brings
constexpr unsigned kPiecesPerThread = kTile * kStep / kPiece / kBlock;  // of either matrix
constexpr unsigned kInRowOfA = kStep / kPiece, kInRowOfB = kTile / kPiece;

// Which pieces of a slice a thread brings: the piece's row, and its number in that row.
struct Piece {
  unsigned row, number;
};
__device__ Piece piece_of_a(unsigned i) {
  const unsigned e = i * kBlock + threadIdx.x;
  return {e / kInRowOfA, e % kInRowOfA};
}
__device__ Piece piece_of_b(unsigned i) {
  const unsigned e = i * kBlock + threadIdx.x;
  return {e / kInRowOfB, e % kInRowOfB};
}

__device__ uint4& sixteen_bytes(Bf16* at) { return *reinterpret_cast<uint4*>(at); }

// What a warp has computed, and where it belongs.
struct Pieces {
  float sum[kDown][kAcross][4] = {};
};
__device__ unsigned first_row_of_warp() { return threadIdx.x / kWarp / 4 * kWarpRows; }
__device__ unsigned first_column_of_warp() { return threadIdx.x / kWarp % 4 * kWarpColumns; }

__device__ void store_pieces(const Pieces& pieces, const Bf16Matrix& c) {
  const unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (unsigned i = 0; i < kDown; ++i) {
#pragma unroll
    for (unsigned j = 0; j < kAcross; ++j) {
      const float(&sum)[4] = pieces.sum[i][j];
      const unsigned row = blockIdx.y * kTile + first_row_of_warp() + i * kPieceRows + lane / 4;
      const unsigned column =
          blockIdx.x * kTile + first_column_of_warp() + j * kPieceColumns + lane % 4 * 2;
      store_pair(c, row, column, sum[0], sum[1]);
      store_pair(c, row + 8, column, sum[2], sum[3]);
    }
  }
}

// The slices lie row behind row. Eight lanes that load a pair each from eight rows of A meet in
// two groups of banks: rows are 64 bytes apart, so every other row begins at the same bank.
__global__ void __launch_bounds__(kBlock)
    multiply_from_shared(Bf16Matrix a, Bf16Matrix b, Bf16Matrix c) {
  __shared__ alignas(16) Bf16 slice_a[kTile][kStep];
  __shared__ alignas(16) Bf16 slice_b[kStep][kTile];
  const unsigned lane = threadIdx.x % kWarp, pair = lane % 4 * 2;
  Pieces pieces;
  for (unsigned first = 0; first < a.width; first += kStep) {
#pragma unroll
    for (unsigned i = 0; i < kPiecesPerThread; ++i) {
      const Piece of_a = piece_of_a(i), of_b = piece_of_b(i);
      sixteen_bytes(&slice_a[of_a.row][of_a.number * kPiece]) =
          sixteen_bytes(&a.at(blockIdx.y * kTile + of_a.row, first + of_a.number * kPiece));
      sixteen_bytes(&slice_b[of_b.row][of_b.number * kPiece]) =
          sixteen_bytes(&b.at(first + of_b.row, blockIdx.x * kTile + of_b.number * kPiece));
    }
    __syncthreads();  // both slices are complete before anyone reads them
#pragma unroll
    for (unsigned k = 0; k < kStep; k += kTerms) {
      unsigned of_a[kDown][4], of_b[kAcross][2];
#pragma unroll
      for (unsigned i = 0; i < kDown; ++i) {
        const unsigned row = first_row_of_warp() + i * kPieceRows + lane / 4;
#pragma unroll
        for (unsigned r = 0; r < 4; ++r)
          of_a[i][r] =
              *reinterpret_cast<const unsigned*>(&slice_a[row + r % 2 * 8][k + pair + r / 2 * 8]);
      }
#pragma unroll
      for (unsigned j = 0; j < kAcross; ++j) {
        const unsigned column = first_column_of_warp() + j * kPieceColumns + lane / 4;
#pragma unroll
        for (unsigned r = 0; r < 2; ++r)
          of_b[j][r] =
              pair_down(slice_b[k + pair + r * 8][column], slice_b[k + pair + r * 8 + 1][column]);
      }
#pragma unroll
      for (unsigned i = 0; i < kDown; ++i) {
#pragma unroll
        for (unsigned j = 0; j < kAcross; ++j)
          ptx::mma_m16n8k16(pieces.sum[i][j], of_a[i], of_b[j]);
      }
    }
    __syncthreads();  // everyone has read before anyone brings the next slices over these
  }
  store_pieces(pieces, c);
}

// ---- mma_swizzled ------------------------------------------------------------------------------

// Where a piece lies. The banks of 128 bytes hold two rows of A's slice, or half a row of B's.
// Eight pieces that one ldmatrix loads are in eight rows, one below the other: so that they are in
// eight groups of banks, a piece's number is changed by its row.
__device__ unsigned place_in_a(unsigned row, unsigned number) {
  return (row * kInRowOfA + (number ^ row / 2 % kInRowOfA)) * kPiece;
}
__device__ unsigned place_in_b(unsigned row, unsigned number) {
  return (row * kInRowOfB + (number ^ row % 8)) * kPiece;
}

// All products of one step. Lane i names row i % 16 of a piece, and its first or second half.
__device__ void multiply_slices(Pieces& pieces, const Bf16* slice_a, const Bf16* slice_b) {
  const unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (unsigned k = 0; k < kStep; k += kTerms) {
    unsigned of_a[kDown][4], of_b[kAcross / 2][4];
#pragma unroll
    for (unsigned i = 0; i < kDown; ++i) {
      const unsigned row = first_row_of_warp() + i * kPieceRows + lane % 16;
      ptx::load_matrices(of_a[i], slice_a + place_in_a(row, k / kPiece + lane / 16));
    }
#pragma unroll
    for (unsigned j = 0; j < kAcross / 2; ++j) {
      const unsigned number = first_column_of_warp() / kPiece + 2 * j + lane / 16;
      ptx::load_matrices_transposed(of_b[j], slice_b + place_in_b(k + lane % 16, number));
    }
#pragma unroll
    for (unsigned i = 0; i < kDown; ++i) {
#pragma unroll
      for (unsigned j = 0; j < kAcross; ++j) {
        const unsigned pair_of_b[2] = {of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]};
        ptx::mma_m16n8k16(pieces.sum[i][j], of_a[i], pair_of_b);
      }
    }
  }
}

// Eight elements of a row; zeros, which change no sum, where there are none.
__device__ uint4 piece_or_zeros(const Bf16Matrix& m, unsigned row, unsigned column, bool wide) {
  if (wide && row < m.height && column + kPiece <= m.width)
    return sixteen_bytes(&m.at(row, column));
  alignas(16) Bf16 elements[kPiece];
#pragma unroll
  for (unsigned e = 0; e < kPiece; ++e)
    elements[e] =
        row < m.height && column + e < m.width ? m.at(row, column + e) : __float2bfloat16(0.0f);
  return sixteen_bytes(elements);
}

__device__ void store_guarded(const Pieces& pieces, const Bf16Matrix& c) {
  const unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (unsigned i = 0; i < kDown; ++i) {
#pragma unroll
    for (unsigned j = 0; j < kAcross; ++j) {
#pragma unroll
      for (unsigned e = 0; e < 4; ++e) {
        const unsigned row =
            blockIdx.y * kTile + first_row_of_warp() + i * kPieceRows + lane / 4 + e / 2 * 8;
        const unsigned column =
            blockIdx.x * kTile + first_column_of_warp() + j * kPieceColumns + lane % 4 * 2 + e % 2;
        if (row < c.height && column < c.width)
          c.at(row, column) = __float2bfloat16(pieces.sum[i][j][e]);
      }
    }
  }
}

// kGuarded: any shape, and rows that begin anywhere.
template <bool kGuarded>
__global__ void __launch_bounds__(kBlock)
    multiply_swizzled(Bf16Matrix a, Bf16Matrix b, Bf16Matrix c) {
  __shared__ alignas(128) Bf16 slice_a[kTile * kStep];
  __shared__ alignas(128) Bf16 slice_b[kStep * kTile];
  const bool wide_a = !kGuarded || is_wide(a), wide_b = !kGuarded || is_wide(b);
  Pieces pieces;
  for (unsigned first = 0; first < a.width; first += kStep) {
#pragma unroll
    for (unsigned i = 0; i < kPiecesPerThread; ++i) {
      const Piece of_a = piece_of_a(i), of_b = piece_of_b(i);
      const unsigned row_a = blockIdx.y * kTile + of_a.row, row_b = first + of_b.row;
      const unsigned column_a = first + of_a.number * kPiece;
      const unsigned column_b = blockIdx.x * kTile + of_b.number * kPiece;
      sixteen_bytes(&slice_a[place_in_a(of_a.row, of_a.number)]) =
          kGuarded ? piece_or_zeros(a, row_a, column_a, wide_a)
                   : sixteen_bytes(&a.at(row_a, column_a));
      sixteen_bytes(&slice_b[place_in_b(of_b.row, of_b.number)]) =
          kGuarded ? piece_or_zeros(b, row_b, column_b, wide_b)
                   : sixteen_bytes(&b.at(row_b, column_b));
    }
    __syncthreads();  // both slices are complete before anyone reads them
    multiply_slices(pieces, slice_a, slice_b);
    __syncthreads();  // everyone has read before anyone brings the next slices over these
  }
  if (kGuarded) {
    store_guarded(pieces, c);
  } else {
    store_pieces(pieces, c);
  }
}

// ---- mma_pipelined -----------------------------------------------------------------------------

// The slices of a step; kSlices of them are in shared memory.
struct Slices {
  Bf16 a[kTile * kStep];
  Bf16 b[kStep * kTile];
};
constexpr unsigned kSlices = 4;

// A thread's pieces are copied past its registers, and it goes on. While one step is multiplied,
// the copies of the next three are on their way.
__global__ void __launch_bounds__(kBlock, 2)
    multiply_pipelined(Bf16Matrix a, Bf16Matrix b, Bf16Matrix c) {
  extern __shared__ __align__(1024) uint4 dynamic[];
  auto* const slices = reinterpret_cast<Slices*>(dynamic);
  const unsigned steps = a.width / kStep;
  const auto bring = [&](unsigned step) {
    Slices& to = slices[step % kSlices];
#pragma unroll
    for (unsigned i = 0; i < kPiecesPerThread; ++i) {
      const Piece of_a = piece_of_a(i), of_b = piece_of_b(i);
      __pipeline_memcpy_async(
          &to.a[place_in_a(of_a.row, of_a.number)],
          &a.at(blockIdx.y * kTile + of_a.row, step * kStep + of_a.number * kPiece), 16);
      __pipeline_memcpy_async(
          &to.b[place_in_b(of_b.row, of_b.number)],
          &b.at(step * kStep + of_b.row, blockIdx.x * kTile + of_b.number * kPiece), 16);
    }
  };
  for (unsigned step = 0; step < kSlices - 1; ++step) {
    if (step < steps) bring(step);
    __pipeline_commit();
  }
  Pieces pieces;
  for (unsigned step = 0; step < steps; ++step) {
    __pipeline_wait_prior(kSlices - 2);  // what this thread copies for this step has arrived
    __syncthreads();  // and what all copy; and everyone has read the slices that are filled now
    if (step + kSlices - 1 < steps) bring(step + kSlices - 1);
    __pipeline_commit();
    multiply_slices(pieces, slices[step % kSlices].a, slices[step % kSlices].b);
  }
  store_pieces(pieces, c);
}

// ---- warp_groups -------------------------------------------------------------------------------

// From here on A and B lie in boxes of 64 x 64 elements, rows of 128 bytes, as wgmma reads them: in
// row r, the piece with number p lies at place p ^ r % 8.
struct alignas(1024) Box {
  Bf16 at[kBox][kBox];

  __device__ Bf16* piece(unsigned row, unsigned number) {
    return &at[row][(number ^ row % 8) * kPiece];
  }
};
constexpr unsigned kGroup = 128;  // threads of a warp group

// What a step of 64 terms wants: a box of A for each group of warps, below each other, and kN / 64
// boxes of B side by side. A group computes 64 x kN elements of C, a block kRows x kN.
template <unsigned kGroupsOfTile, unsigned kColumnsOfTile>
struct TileOf {
  static constexpr unsigned kGroups = kGroupsOfTile, kN = kColumnsOfTile;
  static constexpr unsigned kRows = kGroups * kBox, kColumns = kN, kBoxes = kN / kBox;
  struct Stage {
    Box a[kGroups];
    Box b[kBoxes];
  };
  using Sums = float[kN / 2];  // of a thread
};
using Large = TileOf<2, 256>;
constexpr unsigned kStages = 4;  // of 48 KiB

// The four products of a step. From one to the next, A's descriptor goes 16 columns on, 32 bytes,
// and B's 16 rows, 2,048 bytes. B's boxes are sizeof(Box) apart, and eight rows are 1,024 bytes.
template <unsigned kGroupsOfTile, unsigned kN>
__device__ void multiply_boxes(TileOf<kGroupsOfTile, kN>, float (&sums)[kN / 2],
                               const typename TileOf<kGroupsOfTile, kN>::Stage& stage,
                               unsigned group, bool add) {
  constexpr unsigned kEightRows = 8 * kBox * sizeof(Bf16);
  const std::uint64_t a = ptx::describe(&stage.a[group], sizeof(Box), kEightRows);
  const std::uint64_t b = ptx::describe(stage.b, sizeof(Box), kEightRows);
#pragma unroll
  for (unsigned i = 0; i < kBox / kTerms; ++i)
    ptx::wgmma_m64k16<kN>(sums, a + i * (kTerms * sizeof(Bf16) / 16), b + i * (2 * kEightRows / 16),
                          add || i > 0);
}

// A warp of a group has 16 of its 64 rows, a lane two of them, 8 apart, and of every 8 columns a
// pair. Stores nothing outside of C, whose rows begin at multiples of 16 bytes; `first_row` and
// `first_column` are the group's.
template <class T>
__device__ void store_sums(const typename T::Sums& sums, const Bf16Matrix& c, unsigned first_row,
                           unsigned first_column) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x % kGroup / kWarp;
  const unsigned row = first_row + warp * kPieceRows + lane / 4;
  const unsigned column = first_column + lane % 4 * 2;
#pragma unroll
  for (unsigned j = 0; j < T::kN / 8; ++j) {
    if (column + j * 8 + 1 < c.width) {
      if (row < c.height) store_pair(c, row, column + j * 8, sums[4 * j], sums[4 * j + 1]);
      if (row + 8 < c.height)
        store_pair(c, row + 8, column + j * 8, sums[4 * j + 2], sums[4 * j + 3]);
    } else if (column + j * 8 < c.width) {  // the last column of an odd number
      if (row < c.height) c.at(row, column + j * 8) = __float2bfloat16(sums[4 * j]);
      if (row + 8 < c.height) c.at(row + 8, column + j * 8) = __float2bfloat16(sums[4 * j + 2]);
    }
  }
}

// As the pipeline above, with larger tiles: 128 x 256 elements of C per block, two groups. The
// threads' copies go one way to shared memory, wgmma's loads another: a fence stands between.
__global__ void __launch_bounds__(Large::kGroups* kGroup, 1)
    multiply_warp_groups(Bf16Matrix a, Bf16Matrix b, Bf16Matrix c) {
  extern __shared__ __align__(1024) uint4 dynamic[];
  auto* const stages = reinterpret_cast<Large::Stage*>(dynamic);
  const unsigned t = threadIdx.x, group = t / kGroup;
  const unsigned first_row = blockIdx.y * Large::kRows, first_column = blockIdx.x * Large::kN;
  constexpr unsigned kInRow = kBox / kPiece, kRowsAtOnce = Large::kGroups * kGroup / kInRow;
  const unsigned row = t / kInRow, number = t % kInRow;
  const unsigned steps = a.width / kBox;
  const auto bring = [&](unsigned step) {
    Large::Stage& to = stages[step % kStages];
#pragma unroll
    for (unsigned r = row; r < kBox; r += kRowsAtOnce) {
#pragma unroll
      for (unsigned i = 0; i < Large::kGroups; ++i)
        __pipeline_memcpy_async(to.a[i].piece(r, number),
                                &a.at(first_row + i * kBox + r, step * kBox + number * kPiece), 16);
#pragma unroll
      for (unsigned i = 0; i < Large::kBoxes; ++i)
        __pipeline_memcpy_async(to.b[i].piece(r, number),
                                &b.at(step * kBox + r, first_column + i * kBox + number * kPiece),
                                16);
    }
  };
  for (unsigned step = 0; step < kStages - 1; ++step) {
    if (step < steps) bring(step);
    __pipeline_commit();
  }
  Large::Sums sums;
  for (unsigned step = 0; step < steps; ++step) {
    __pipeline_wait_prior(kStages - 2);  // what this thread copies for this step has arrived
    ptx::fence_async();                  // and is there for wgmma
    __syncthreads();  // what all copy, too; and both groups have read the stage that is filled now
    if (step + kStages - 1 < steps) bring(step + kStages - 1);
    __pipeline_commit();
    const Large::Stage& stage = stages[step % kStages];
    ptx::wgmma_fence();
    multiply_boxes(Large(), sums, stage, group, step > 0);
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::wgmma_hold(sums);
  }
  store_sums<Large>(sums, c, first_row + group * kBox, first_column);
}

// ---- bulk_copies -------------------------------------------------------------------------------

// Stages, and for each a barrier: its phase ends when all bytes of the stage have come.
struct BulkShared {
  Large::Stage stages[kStages];
  std::uint64_t full[kStages];
};

// A cluster (below) is kDown x kAcross blocks, whose tiles lie so in C; without one both are 1.
template <unsigned kDown, unsigned kAcross>
struct Cluster {
  static constexpr unsigned kBlocks = kDown * kAcross;
  unsigned row, column;  // of this block

  __device__ explicit Cluster(unsigned rank = 0) : row(rank / kAcross), column(rank % kAcross) {}
  // Bits of the blocks of this one's row, which need the same of A; and of its column, of B.
  __device__ unsigned short in_row() const { return ((1u << kAcross) - 1) << row * kAcross; }
  __device__ unsigned short in_column() const {
    unsigned bits = 0;
    for (unsigned i = 0; i < kDown; ++i) bits |= 1u << (i * kAcross + column);
    return static_cast<unsigned short>(bits);
  }
};

// Begins the copy of a box to one block, or to all that need it.
template <bool kToMany>
__device__ void copy_box(void* to, const CUtensorMap* map, unsigned x, unsigned y,
                         std::uint64_t* bar, unsigned short blocks) {
  if constexpr (kToMany) {
    ptx::copy_tile_multicast(to, map, static_cast<int>(x), static_cast<int>(y), bar, blocks);
  } else {
    ptx::copy_tile(to, map, static_cast<int>(x), static_cast<int>(y), bar);
  }
}

// Rows of A in a box, where kAcross blocks share those of a tile.
template <class T, unsigned kAcross>
constexpr unsigned kRowsOfABox = T::kRows / kAcross % kBox == 0 ? kBox : T::kRows / kAcross;

// Begins the copies of A's boxes and of B's, of which `bar` gets to know. Of blocks that need the
// same boxes each copies its share; of A these are boxes of 64 rows, or one of 96 where two blocks
// share 192.
template <unsigned kGroupsOfTile, unsigned kN, unsigned kDown, unsigned kAcross>
__device__ void copy_a(TileOf<kGroupsOfTile, kN>, typename TileOf<kGroupsOfTile, kN>::Stage& to,
                       const CUtensorMap* map_a, unsigned first_row, unsigned step,
                       std::uint64_t* bar, Cluster<kDown, kAcross> here) {
  constexpr unsigned kShare = kGroupsOfTile * kBox / kAcross;
  constexpr unsigned kEach = kRowsOfABox<TileOf<kGroupsOfTile, kN>, kAcross>;
  for (unsigned row = here.column * kShare; row < (here.column + 1) * kShare; row += kEach)
    copy_box<(kAcross > 1)>(to.a[row / kBox].at[row % kBox], map_a, step * kBox, first_row + row,
                            bar, here.in_row());
}
template <class T, unsigned kDown, unsigned kAcross>
__device__ void copy_b(T, typename T::Stage& to, const CUtensorMap* map_b, unsigned first_column,
                       unsigned step, std::uint64_t* bar, Cluster<kDown, kAcross> here) {
  static_assert(T::kColumns / kBox % kDown == 0, "boxes are dealt out whole");
  constexpr unsigned kShare = T::kColumns / kBox / kDown;
  for (unsigned i = here.row * kShare; i < (here.row + 1) * kShare; ++i)
    copy_box<(kDown > 1)>(&to.b[i], map_b, first_column + i * kBox, step * kBox, bar,
                          here.in_column());
}

// A stage, by one thread of each block that copies to it.
template <unsigned kDown = 1>
__device__ void bring_boxes(Large::Stage& to, const CUtensorMap* map_a, const CUtensorMap* map_b,
                            unsigned first_row, unsigned first_column, unsigned step,
                            std::uint64_t* bar, unsigned rank = 0) {
  const Cluster<kDown, 1> here(rank);
  ptx::mbarrier_expect(bar, sizeof to);
  copy_a(Large(), to, map_a, first_row, step, bar, here);
  copy_b(Large(), to, map_b, first_column, step, bar, here);
}

// Thread 0 begins all copies. Boxes may reach past the matrices: what is not there comes as zeros.
__global__ void __launch_bounds__(Large::kGroups* kGroup, 1)
    multiply_bulk_copies(const __grid_constant__ CUtensorMap map_a,
                         const __grid_constant__ CUtensorMap map_b, Bf16Matrix c, unsigned steps) {
  extern __shared__ __align__(1024) uint4 dynamic[];
  auto& shared = *reinterpret_cast<BulkShared*>(dynamic);
  const unsigned group = threadIdx.x / kGroup;
  const unsigned first_row = blockIdx.y * Large::kRows, first_column = blockIdx.x * Large::kN;
  const auto bring = [&](unsigned step) {
    bring_boxes(shared.stages[step % kStages], &map_a, &map_b, first_row, first_column, step,
                &shared.full[step % kStages]);
  };
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < kStages; ++i) ptx::mbarrier_init(&shared.full[i], 1);
    ptx::mbarrier_fence_init();
    for (unsigned step = 0; step < min(kStages, steps); ++step) bring(step);
  }
  __syncthreads();  // the barriers are there before anyone waits at one
  Large::Sums sums;
  for (unsigned step = 0; step < steps; ++step) {
    const Large::Stage& stage = shared.stages[step % kStages];
    ptx::mbarrier_wait(&shared.full[step % kStages], step / kStages % 2);
    ptx::wgmma_fence();
    multiply_boxes(Large(), sums, stage, group, step > 0);
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::wgmma_hold(sums);
    __syncthreads();  // both groups have read the stage before it is filled again
    if (threadIdx.x == 0 && step + kStages < steps) bring(step + kStages);
  }
  store_sums<Large>(sums, c, first_row + group * kBox, first_column);
}

// ---- producer_consumer -------------------------------------------------------------------------

// A stage is handed to and fro by two barriers. full: its bytes have come. empty: all warps that
// multiply have read it, those of all blocks that this one copies to.
template <class T, unsigned kStagesOfTile>
struct Ring {
  typename T::Stage stages[kStagesOfTile];
  std::uint64_t full[kStagesOfTile], empty[kStagesOfTile];

  __device__ void init(unsigned blocks, unsigned producers = 1) {
    for (unsigned i = 0; i < kStagesOfTile; ++i) {
      ptx::mbarrier_init(&full[i], producers);
      ptx::mbarrier_init(&empty[i], blocks * T::kGroups * kGroup / kWarp);
    }
    ptx::mbarrier_fence_init();
  }
};

// Whose turn it is: a stage, and how often it was used, as a parity.
template <unsigned kStagesOfTile>
struct Turn {
  unsigned stage = 0, parity = 0;

  __device__ void next() {
    stage = stage + 1 == kStagesOfTile ? 0 : stage + 1;
    if (stage == 0) parity ^= 1;
  }
};

// The multiplying groups need registers for their sums, 128 of a thread; the copying one hardly
// any. 3 x 128 threads begin with 168 each; then one group gives up, and the others take.
constexpr int kRegistersOfProducer = 40, kRegistersOfConsumer = 232;
constexpr int kProducerBesideThree = 32, kConsumerOfThree = 160;  // where three groups multiply
constexpr unsigned kInFlight = 1;  // steps whose products may go on while the next one begins

// All steps of a tile. `release(stage)` says that the warp has read a stage.
template <class T, unsigned kStagesOfTile, class Release>
__device__ void consume(typename T::Sums& sums, Ring<T, kStagesOfTile>& ring,
                        Turn<kStagesOfTile>& turn, unsigned group, unsigned steps,
                        Release release) {
  Turn<kStagesOfTile> behind = turn;
  for (unsigned step = 0; step < steps; ++step) {
    ptx::mbarrier_wait(&ring.full[turn.stage], turn.parity);
    ptx::wgmma_fence();
    multiply_boxes(T(), sums, ring.stages[turn.stage], group, step > 0);
    ptx::wgmma_commit();
    turn.next();
    ptx::wgmma_wait<kInFlight>();  // the step before has ended
    if (step >= kInFlight) {
      release(behind.stage);
      behind.next();
    }
  }
  ptx::wgmma_wait<0>();
  ptx::wgmma_hold(sums);
  for (; behind.stage != turn.stage; behind.next()) release(behind.stage);
}

// The last group copies, and nothing else: one thread of it.
__global__ void __launch_bounds__((Large::kGroups + 1) * kGroup, 1)
    multiply_producer_consumer(const __grid_constant__ CUtensorMap map_a,
                               const __grid_constant__ CUtensorMap map_b, Bf16Matrix c,
                               unsigned steps) {
  extern __shared__ __align__(1024) uint4 dynamic[];
  auto& ring = *reinterpret_cast<Ring<Large, kStages>*>(dynamic);
  const unsigned group = threadIdx.x / kGroup;
  const unsigned first_row = blockIdx.y * Large::kRows, first_column = blockIdx.x * Large::kN;
  if (threadIdx.x == 0) ring.init(1);
  __syncthreads();  // the barriers are there before anyone waits at one
  Turn<kStages> turn;
  if (group == Large::kGroups) {
    ptx::registers_down<kRegistersOfProducer>();
    if (threadIdx.x % kGroup == 0) {
      for (unsigned step = 0; step < steps; ++step) {
        ptx::mbarrier_wait(&ring.empty[turn.stage], turn.parity ^ 1);  // at first nobody has to
        bring_boxes(ring.stages[turn.stage], &map_a, &map_b, first_row, first_column, step,
                    &ring.full[turn.stage]);
        turn.next();
      }
    }
  } else {
    ptx::registers_up<kRegistersOfConsumer>();
    Large::Sums sums;
    consume<Large>(sums, ring, turn, group, steps, [&](unsigned stage) {
      if (threadIdx.x % kWarp == 0) ptx::mbarrier_arrive(&ring.empty[stage]);
    });
    store_sums<Large>(sums, c, first_row + group * kBox, first_column);
  }
}

// ---- clusters ----------------------------------------------------------------------------------

// Two blocks of a cluster compute tiles one below the other, for which they need the same boxes of
// B. Each block copies half of these, to both. So a stage is filled by both producers, and free
// when the consumers of both have read it.
constexpr unsigned kClusterBlocks = 2;

#ifndef __CUDA_CPU__  // which has no clusters
// Tiles go down along x, so that the blocks of a cluster are neighbours there.
__global__ void __launch_bounds__((Large::kGroups + 1) * kGroup, 1)
    multiply_clusters(const __grid_constant__ CUtensorMap map_a,
                      const __grid_constant__ CUtensorMap map_b, Bf16Matrix c, unsigned steps) {
  extern __shared__ __align__(1024) uint4 dynamic[];
  auto& ring = *reinterpret_cast<Ring<Large, kStages>*>(dynamic);
  const unsigned group = threadIdx.x / kGroup, rank = ptx::cluster_rank();
  const unsigned first_row = blockIdx.x * Large::kRows, first_column = blockIdx.y * Large::kN;
  if (threadIdx.x == 0) ring.init(kClusterBlocks);
  ptx::cluster_sync();  // the barriers of both blocks are there
  Turn<kStages> turn;
  if (group == Large::kGroups) {
    ptx::registers_down<kRegistersOfProducer>();
    if (threadIdx.x % kGroup == 0) {
      for (unsigned step = 0; step < steps; ++step) {
        ptx::mbarrier_wait(&ring.empty[turn.stage], turn.parity ^ 1);
        bring_boxes<kClusterBlocks>(ring.stages[turn.stage], &map_a, &map_b, first_row,
                                    first_column, step, &ring.full[turn.stage], rank);
        turn.next();
      }
    }
    __syncwarp();
  } else {
    ptx::registers_up<kRegistersOfConsumer>();
    Large::Sums sums;
    consume<Large>(sums, ring, turn, group, steps, [&](unsigned stage) {
      const unsigned lane = threadIdx.x % kWarp;
      if (lane < kClusterBlocks) ptx::mbarrier_arrive_at(&ring.empty[stage], lane);
    });
    store_sums<Large>(sums, c, first_row + group * kBox, first_column);
  }
  ptx::cluster_sync();  // no block ends while the other still copies to it, or arrives there
}
#endif

// ---- persistent --------------------------------------------------------------------------------

// A warp's 16 rows of C leave through shared memory, 64 columns at a time: a bulk store takes them
// from there while the warp goes on. So two such boxes for each warp.
constexpr unsigned kStoreBoxes = 2;
struct alignas(1024) StoreBox {
  Bf16 at[kRowsStored][kBox];
};

// All that a block has in shared memory: up to twelve stages, as there is room beside the rest.
constexpr unsigned kMostShared = 227 * 1024;
template <class T>
struct PersistentShared {
  static constexpr unsigned kWarpsOfTile = T::kGroups * kGroup / kWarp;
  static constexpr unsigned kStoreBytes = kWarpsOfTile * kStoreBoxes * sizeof(StoreBox);
  static constexpr unsigned kFit = (kMostShared - kStoreBytes - 1024) / sizeof(typename T::Stage);
  static constexpr unsigned kStagesOfTile = kFit < 12 ? kFit : 12;

  Ring<T, kStagesOfTile> ring;
  std::uint64_t written[T::kGroups];  // a group's warps have: for tiles that are turned
  StoreBox store[kWarpsOfTile][kStoreBoxes];
};

// How tiles are dealt out: `down` x `across` of them, or of what a cluster's blocks take together;
// each in `parts` parts of its steps, which are items of their own.
struct Work {
  unsigned down, across, steps, parts;

  __host__ __device__ unsigned items() const { return down * across * parts; }
};
struct Item {
  unsigned row, column;         // of tiles, or of clusters' tiles
  unsigned part, first, count;  // steps
};

// Neighbouring items are in kTogether rows of tiles, one below the other, so that blocks which run
// at the same time read few rows and few columns, from the L2.
constexpr unsigned kTogether = 8;
__host__ __device__ inline Item item_of(const Work& work, unsigned number) {
  unsigned tile = number, part = 0, first = 0, count = work.steps;
  if (work.parts > 1) {
    const unsigned tiles = work.down * work.across;
    part = number / tiles, tile = number - part * tiles;
    first = work.steps * part / work.parts;
    count = work.steps * (part + 1) / work.parts - first;
  }
  const unsigned group = tile / (kTogether * work.across), above = group * kTogether;
  const unsigned in_group = tile - above * work.across;
  const unsigned height = work.down - above < kTogether ? work.down - above : kTogether;
  const unsigned column = in_group / height;
  return {above + in_group - column * height, column, part, first, count};
}

// Of each 64 columns: a box is free, the warp writes its sums there, and lane 0 begins the store.
// Swizzled, lanes in eight rows write to eight groups of four banks: no two to the same bank. Boxes
// take turns, also from one tile to the next: `turn` is the next one's number.
template <unsigned kGroupsOfTile, unsigned kN>
__device__ void store_behind(TileOf<kGroupsOfTile, kN>, const float (&sums)[kN / 2],
                             PersistentShared<TileOf<kGroupsOfTile, kN>>& shared, unsigned& turn,
                             const CUtensorMap* map_c, unsigned tile_row, unsigned first_column) {
  static_assert(kStoreBoxes == 2, "two boxes take turns");
  const unsigned lane = threadIdx.x % kWarp, row = lane / 4, warp = threadIdx.x / kWarp;
  const unsigned first_row = tile_row + warp * kRowsStored;
#pragma unroll
  for (unsigned i = 0; i < kN / kBox; ++i) {
    StoreBox& box = shared.store[warp][turn];
    if (lane == 0) ptx::store_wait_read<kStoreBoxes - 1>();  // the box's last store has read
    __syncwarp();
#pragma unroll
    for (unsigned j = 0; j < kBox / kPiece; ++j) {
      const float* const s = &sums[(i * (kBox / kPiece) + j) * 4];
      const unsigned column = (j ^ row) * kPiece + lane % 4 * 2;
      *reinterpret_cast<__nv_bfloat162*>(&box.at[row][column]) = __floats2bfloat162_rn(s[0], s[1]);
      *reinterpret_cast<__nv_bfloat162*>(&box.at[row + 8][column]) =
          __floats2bfloat162_rn(s[2], s[3]);
    }
    ptx::fence_async();  // bulk copies see what this lane wrote
    __syncwarp();        // and what all lanes wrote
    if (lane == 0) {
      ptx::store_tile(map_c, static_cast<int>(first_column + i * kBox), static_cast<int>(first_row),
                      &box);
      ptx::store_commit();
    }
    turn ^= 1;
  }
}

// The same for C^T = B^T A^T: 64 columns of C for each group, and any multiple of 16 rows. So a
// tile can be as high as a flat C is, and fewer of its rows are wasted. What was A is now the
// second factor, in rows without a gap; what was B is the first, and its k runs down the rows.
template <unsigned kGroupsOfTile, unsigned kRowsOfTile>
struct TurnedOf {
  static constexpr unsigned kGroups = kGroupsOfTile, kN = kRowsOfTile;
  static constexpr unsigned kRows = kN, kColumns = kGroups * kBox;
  struct alignas(1024) Stage {
    Bf16 a[kN][kBox];
    Box b[kGroups];
  };
  using Sums = float[kN / 2];
};

template <unsigned kGroupsOfTile, unsigned kN>
__device__ void multiply_boxes(TurnedOf<kGroupsOfTile, kN>, float (&sums)[kN / 2],
                               const typename TurnedOf<kGroupsOfTile, kN>::Stage& stage,
                               unsigned group, bool add) {
  constexpr unsigned kEightRows = 8 * kBox * sizeof(Bf16);
  const std::uint64_t b = ptx::describe(&stage.b[group], sizeof(Box), kEightRows);
  const std::uint64_t a = ptx::describe(stage.a, sizeof(Box), kEightRows);
#pragma unroll
  for (unsigned i = 0; i < kBox / kTerms; ++i)
    ptx::wgmma_m64k16<kN, ptx::Layout::kDownRows, ptx::Layout::kAlongRows>(
        sums, b + i * (2 * kEightRows / 16), a + i * (kTerms * sizeof(Bf16) / 16), add || i > 0);
}

template <unsigned kGroupsOfTile, unsigned kN, unsigned kDown, unsigned kAcross>
__device__ void copy_a(TurnedOf<kGroupsOfTile, kN>, typename TurnedOf<kGroupsOfTile, kN>::Stage& to,
                       const CUtensorMap* map_a, unsigned first_row, unsigned step,
                       std::uint64_t* bar, Cluster<kDown, kAcross> here) {
  const unsigned share = kN / kAcross * here.column;
  copy_box<(kAcross > 1)>(to.a[share], map_a, step * kBox, first_row + share, bar, here.in_row());
}

// 64 rows at a time, in boxes of 16: the warps of a group write them, turned back, and when all
// have, one thread begins the stores. It arrives only when those of the time before have read.
template <unsigned kGroupsOfTile, unsigned kN>
__device__ void store_behind(TurnedOf<kGroupsOfTile, kN>, const float (&sums)[kN / 2],
                             PersistentShared<TurnedOf<kGroupsOfTile, kN>>& shared,
                             unsigned& parity, const CUtensorMap* map_c, unsigned first_row,
                             unsigned first_column) {
  const unsigned group = threadIdx.x / kGroup, lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x % kGroup / kWarp;
  const unsigned row = lane / 16 * 8 + lane % 8, piece = 2 * warp + lane / 8 % 2;
  constexpr unsigned kAtOnce = kBox / kRowsStored, kAll = kN / kRowsStored;
#pragma unroll
  for (unsigned first = 0; first < kAll; first += kAtOnce) {
    StoreBox* const boxes = &shared.store[group * 4][0] + parity * kAtOnce;
    const unsigned end = kAll - first < kAtOnce ? kAll - first : kAtOnce;
#pragma unroll
    for (unsigned i = 0; i < end; ++i) {
      const float* const s = &sums[(first + i) * 8];
      const unsigned turned[4] = {pair_of(s[0], s[1]), pair_of(s[2], s[3]), pair_of(s[4], s[5]),
                                  pair_of(s[6], s[7])};
      ptx::store_matrices_transposed(&boxes[i].at[row][(piece ^ row % 8) * kPiece], turned);
    }
    ptx::fence_async();  // bulk copies see what this lane wrote
    __syncwarp();
    if (lane == 0) {
      if (warp == 0) ptx::store_wait_read<0>();
      ptx::mbarrier_arrive(&shared.written[group]);
    }
    ptx::mbarrier_wait(&shared.written[group], parity);
    if (warp == 0 && lane == 0) {
      for (unsigned i = 0; i < end; ++i)
        ptx::store_tile(map_c, static_cast<int>(first_column + group * kBox),
                        static_cast<int>(first_row + (first + i) * kRowsStored), &boxes[i]);
      ptx::store_commit();
    }
    parity ^= 1;
  }
}

template <class T>
constexpr bool kIsTurned = false;
template <unsigned kGroupsOfTile, unsigned kN>
constexpr bool kIsTurned<TurnedOf<kGroupsOfTile, kN>> = true;

// A part's sums, in FP32, to a matrix of their own.
template <class T>
__device__ void store_part(const typename T::Sums& sums, float* part, const Bf16Matrix& c,
                           unsigned first_row, unsigned first_column) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
#pragma unroll
  for (unsigned e = 0; e < T::kN / 2; ++e) {
    const unsigned in_groups = (kIsTurned<T> ? first_column : first_row) + warp * kRowsStored +
                               lane / 4 + e % 4 / 2 * 8;  // 64 of each group
    const unsigned in_n =
        (kIsTurned<T> ? first_row : first_column) + e / 4 * 8 + lane % 4 * 2 + e % 2;
    const unsigned row = kIsTurned<T> ? in_n : in_groups;
    const unsigned column = kIsTurned<T> ? in_groups : in_n;
    if (row < c.height && column < c.width)
      part[static_cast<std::size_t>(row) * c.width + column] = sums[e];
  }
}

// As many clusters of kDown x kAcross blocks as there is room for. A cluster's next item is as many
// items on as there are clusters.
template <class T, unsigned kDown, unsigned kAcross>
__global__ void __launch_bounds__((T::kGroups + 1) * kGroup, 1)
    multiply_persistent(const __grid_constant__ CUtensorMap map_a,
                        const __grid_constant__ CUtensorMap map_b,
                        const __grid_constant__ CUtensorMap map_c, Bf16Matrix c, Work work,
                        float* parts) {
  using Shared = PersistentShared<T>;
  extern __shared__ __align__(1024) uint4 dynamic[];
  auto& shared = *reinterpret_cast<Shared*>(dynamic);
  auto& ring = shared.ring;
  constexpr unsigned kBlocks = kDown * kAcross;
  // Blocks that copy to this one, or that this one copies to: those of its row and its column.
  constexpr unsigned kPartners = kDown + kAcross - 1;
  const Cluster<kDown, kAcross> here(blockIdx.x % kBlocks);
  const unsigned group = threadIdx.x / kGroup;
  const unsigned first = blockIdx.x / kBlocks, stride = gridDim.x / kBlocks;
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < T::kGroups; ++i)
      ptx::mbarrier_init(&shared.written[i], kGroup / kWarp);
    ring.init(kPartners, 2);
  }
  if (threadIdx.x == T::kGroups * kGroup) ptx::prefetch_map(&map_a);
  if (threadIdx.x == T::kGroups * kGroup + kWarp) ptx::prefetch_map(&map_b);
  Item item = {};
  if (group == T::kGroups) item = item_of(work, first);  // while thread 0 makes the barriers
  if constexpr (kBlocks > 1) {
    ptx::cluster_sync();
  } else {
    __syncthreads();
  }
  Turn<Shared::kStagesOfTile> turn;
  if (group == T::kGroups) {
    ptx::registers_down<(T::kGroups < 3 ? kRegistersOfProducer : kProducerBesideThree)>();
    // One warp copies A, another B: each of them expects its own bytes.
    const unsigned warp = threadIdx.x % kGroup / kWarp;
    if (warp < 2 && threadIdx.x % kWarp == 0) {
      for (unsigned number = first; number < work.items(); number += stride) {
        if (number != first) item = item_of(work, number);
        const unsigned first_row = (item.row * kDown + here.row) * T::kRows;
        const unsigned first_column = (item.column * kAcross + here.column) * T::kColumns;
        for (unsigned step = item.first; step < item.first + item.count; ++step) {
          auto& to = ring.stages[turn.stage];
          std::uint64_t* const full = &ring.full[turn.stage];
          ptx::mbarrier_wait(&ring.empty[turn.stage], turn.parity ^ 1);
          if (warp == 0) {
            ptx::mbarrier_expect(full, sizeof to.a);
            copy_a(T(), to, &map_a, first_row, step, full, here);
          } else {
            ptx::mbarrier_expect(full, sizeof to.b);
            copy_b(T(), to, &map_b, first_column, step, full, here);
          }
          turn.next();
        }
      }
    }
    __syncwarp();
  } else {
    ptx::registers_up<(T::kGroups < 3 ? kRegistersOfConsumer : kConsumerOfThree)>();
    const unsigned lane = threadIdx.x % kWarp;
    // The partner that this lane tells of a free stage: first those of the row, then the others.
    const unsigned below = lane - kAcross;
    const unsigned partner = lane < kAcross ? here.row * kAcross + lane
                                            : (below + (below >= here.row)) * kAcross + here.column;
    unsigned parity = 0;  // of the group's next stores
    typename T::Sums sums;
    for (unsigned number = first; number < work.items(); number += stride) {
      item = item_of(work, number);
      const unsigned first_row = (item.row * kDown + here.row) * T::kRows;
      const unsigned first_column = (item.column * kAcross + here.column) * T::kColumns;
      consume<T>(sums, ring, turn, group, item.count, [&](unsigned stage) {
        if constexpr (kBlocks > 1) {
          if (lane < kPartners) ptx::mbarrier_arrive_at(&ring.empty[stage], partner);
        } else {
          if (lane == 0) ptx::mbarrier_arrive(&ring.empty[stage]);
        }
      });
      if (work.parts > 1) {
        const std::size_t apart = static_cast<std::size_t>(c.height) * c.width;
        store_part<T>(sums, parts + item.part * apart, c, first_row, first_column);
      } else if (kIsTurned<T> || c.width % kPiece == 0) {
        store_behind(T(), sums, shared, parity, &map_c, first_row, first_column);
      } else if constexpr (!kIsTurned<T>) {  // bulk stores end at multiples of 16 bytes
        store_sums<T>(sums, c, first_row + group * kBox, first_column);
      }
    }
    if (lane == 0) ptx::store_wait_read<0>();  // shared memory stays until it was read
    __syncwarp();
  }
  if constexpr (kBlocks > 1) ptx::cluster_sync();
}

// A thread for each four elements of a row of C, or what is left of it; of several rows, where C
// has more than 8,192. Its blocks may start when those of the kernel before have ended, and before
// that kernel is complete: so they wait.
constexpr dim3 kBlockOfAdding = {32, 8};
constexpr unsigned kAddedAtOnce = 4;
__global__ void add_parts(Bf16Matrix c, const float* sums, unsigned parts) {
#if defined(__CUDA_CPU__) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
  cudaGridDependencySynchronize();
#endif
  const unsigned column = (blockIdx.x * blockDim.x + threadIdx.x) * kAddedAtOnce;
  const std::size_t apart = static_cast<std::size_t>(c.height) * c.width;
  if (column >= c.width) return;
  for (unsigned row = blockIdx.y * blockDim.y + threadIdx.y; row < c.height;
       row += gridDim.y * blockDim.y) {
    const float* const first = sums + static_cast<std::size_t>(row) * c.width + column;
    if (c.width % kAddedAtOnce == 0) {  // rows of the parts begin at whole fours, as C's do
      float4 sum = {0, 0, 0, 0};
#pragma unroll 4
      for (unsigned part = 0; part < parts; ++part) {
        const float4 x = *reinterpret_cast<const float4*>(first + part * apart);
        sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
      }
      *reinterpret_cast<uint2*>(&c.at(row, column)) = {pair_of(sum.x, sum.y),
                                                       pair_of(sum.z, sum.w)};
    } else {
      for (unsigned i = 0; i < kAddedAtOnce && column + i < c.width; ++i) {
        float sum = 0;
        for (unsigned part = 0; part < parts; ++part) sum += first[part * apart + i];
        c.at(row, column + i) = __float2bfloat16(sum);
      }
    }
  }
}

// ---- the versions ------------------------------------------------------------------------------

template <class Kernel>
void allow(Kernel* kernel, std::size_t bytes) {  // more shared memory than a block gets unasked
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
}

// Any shape, and rows that begin anywhere.
void launch_guarded(const TensorProduct& p) {
  const dim3 grid(blocks_for(p.c.width, kTile), blocks_for(p.c.height, kTile));
  multiply_swizzled<true><<<grid, kBlock>>>(p.a, p.b, p.c);
}

// Whether sides are multiples of the tile's, and rows begin at multiples of 16 bytes.
bool is_whole(const TensorProduct& p, unsigned rows, unsigned columns, unsigned terms) {
  return p.c.height % rows == 0 && p.c.width % columns == 0 && p.a.width % terms == 0 &&
         is_wide(p.a) && is_wide(p.b) && is_wide(p.c);
}

void launch_from_global(const TensorProduct& p) {
  constexpr unsigned kColumns = kWarps * kPieceColumns;
  if (!is_whole(p, kPieceRows, kColumns, kTerms)) return launch_guarded(p);
  const dim3 grid(p.c.width / kColumns, p.c.height / kPieceRows);
  multiply_from_global<<<grid, kBlock>>>(p.a, p.b, p.c);
}

// One block per kTile x kTile elements of C, where such tiles are whole.
template <auto kKernel, unsigned kBytes = 0>
void launch_tiles(const TensorProduct& p) {
  if (!is_whole(p, kTile, kTile, kStep)) return launch_guarded(p);
  if (kBytes > 48_Ki) allow(kKernel, kBytes);
  const dim3 grid(p.c.width / kTile, p.c.height / kTile);
  kKernel<<<grid, kBlock, kBytes>>>(p.a, p.b, p.c);
}

void launch_warp_groups(const TensorProduct& p) {
  if (!is_whole(p, Large::kRows, Large::kN, kBox)) return launch_guarded(p);
  constexpr std::size_t kBytes = kStages * sizeof(Large::Stage);
  allow(multiply_warp_groups, kBytes);
  const dim3 grid(p.c.width / Large::kN, p.c.height / Large::kRows);
  multiply_warp_groups<<<grid, Large::kGroups * kGroup, kBytes>>>(p.a, p.b, p.c);
}

// Bulk copies want rows at multiples of 16 bytes; sides can be any.
bool has_boxes(const TensorProduct& p) { return is_wide(p.a) && is_wide(p.b) && is_wide(p.c); }

void launch_bulk_copies(const TensorProduct& p) {
  if (!has_boxes(p)) return launch_guarded(p);
  allow(multiply_bulk_copies, sizeof(BulkShared));
  const dim3 grid(blocks_for(p.c.width, Large::kN), blocks_for(p.c.height, Large::kRows));
  multiply_bulk_copies<<<grid, Large::kGroups * kGroup, sizeof(BulkShared)>>>(
      p.maps().a, p.maps().b, p.c, blocks_for(p.a.width, kBox));
}

void launch_producer_consumer(const TensorProduct& p) {
  if (!has_boxes(p)) return launch_guarded(p);
  constexpr std::size_t kBytes = sizeof(Ring<Large, kStages>);
  allow(multiply_producer_consumer, kBytes);
  const dim3 grid(blocks_for(p.c.width, Large::kN), blocks_for(p.c.height, Large::kRows));
  multiply_producer_consumer<<<grid, (Large::kGroups + 1) * kGroup, kBytes>>>(
      p.maps().a, p.maps().b, p.c, blocks_for(p.a.width, kBox));
}

// A launch with one attribute.
cudaLaunchConfig_t config_with(cudaLaunchAttribute& attribute, dim3 grid, dim3 block,
                               std::size_t bytes) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return config;
}

#ifndef __CUDA_CPU__
// Clusters of so many blocks, which an attribute of the kernel could say as well, were it not
// compiled for GPUs without clusters, too.
cudaLaunchAttribute clusters_of(unsigned blocks) {
  cudaLaunchAttribute cluster;
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {blocks, 1, 1};
  return cluster;
}
#endif

template <class... Parameters, class... Arguments>
void launch_in_clusters(unsigned blocks, void (*kernel)(Parameters...), dim3 grid, unsigned threads,
                        std::size_t bytes, const Arguments&... arguments) {
  allow(kernel, bytes);
#ifndef __CUDA_CPU__
  cudaLaunchAttribute clusters = clusters_of(blocks);
  const cudaLaunchConfig_t config = config_with(clusters, grid, threads, bytes);
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
#else
  static_cast<void>(blocks);  // one
  kernel<<<grid, threads, bytes>>>(arguments...);
#endif
}

#ifndef __CUDA_CPU__
void launch_clusters(const TensorProduct& p) {
  if (!has_boxes(p)) return launch_guarded(p);
  const unsigned pairs = blocks_for(p.c.height, kClusterBlocks * Large::kRows);
  const dim3 grid(pairs * kClusterBlocks, blocks_for(p.c.width, Large::kN));
  launch_in_clusters(kClusterBlocks, multiply_clusters, grid, (Large::kGroups + 1) * kGroup,
                     sizeof(Ring<Large, kStages>), p.maps().a, p.maps().b, p.c,
                     blocks_for(p.a.width, kBox));
}
#endif

// How many clusters of a kernel run at once: multiprocessors lie in groups, and no cluster reaches
// from one group to the next.
template <class T, unsigned kDown, unsigned kAcross>
unsigned clusters_at_once(const TensorProduct& p) {
  constexpr unsigned kBlocks = kDown * kAcross;
  if (kBlocks == 1) return p.sms;
#ifndef __CUDA_CPU__
  static const unsigned at_once = [] {
    const auto kernel = multiply_persistent<T, kDown, kAcross>;
    allow(kernel, sizeof(PersistentShared<T>));
    cudaLaunchAttribute clusters = clusters_of(kBlocks);
    const cudaLaunchConfig_t config =
        config_with(clusters, kBlocks, (T::kGroups + 1) * kGroup, sizeof(PersistentShared<T>));
    int most = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveClusters(&most, kernel, &config));
    return static_cast<unsigned>(std::max(1, most));
  }();
  return at_once;
#else
  return p.sms;
#endif
}

// Blocks of a persistent kernel: as many as find room at a time, one on each multiprocessor, in
// whole clusters.
template <class T, unsigned kDown, unsigned kAcross>
void launch_persistent(const TensorProduct& p, unsigned parts) {
  if (!has_boxes(p)) return launch_guarded(p);
  constexpr unsigned kBlocks = kDown * kAcross;
  const Work work = {blocks_for(p.c.height, kDown * T::kRows),
                     blocks_for(p.c.width, kAcross * T::kColumns), blocks_for(p.a.width, kBox),
                     parts};
  const unsigned grid = std::min(clusters_at_once<T, kDown, kAcross>(p), work.items()) * kBlocks;
  float* const sums = parts > 1 ? p.room_for(parts) : nullptr;
  launch_in_clusters(kBlocks, multiply_persistent<T, kDown, kAcross>, grid,
                     (T::kGroups + 1) * kGroup, sizeof(PersistentShared<T>),
                     p.map_of_a(kIsTurned<T> ? T::kRows / kAcross : kRowsOfABox<T, kAcross>),
                     p.maps().b, p.maps().c, p.c, work, sums);
  if (parts > 1) {
    CUDA_CHECK_LAUNCH();
    cudaLaunchAttribute early;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    const dim3 grid_of_adding(blocks_for(p.c.width, kAddedAtOnce * kBlockOfAdding.x),
                              std::min(1024u, blocks_for(p.c.height, kBlockOfAdding.y)));
    const cudaLaunchConfig_t config = config_with(early, grid_of_adding, kBlockOfAdding, 0);
    CUDA_CHECK(cudaLaunchKernelEx(&config, add_parts, p.c, static_cast<const float*>(sums), parts));
  }
}

constexpr unsigned kTwo = kOnGpu ? 2 : 1;  // the CPU backend has no clusters
constexpr unsigned kFour = kOnGpu ? 4 : 1;
// A shape's plan is kept: to find one can take longer than the product.
Plan choose(const TensorProduct& p) {
  static std::map<std::array<unsigned, 4>, Plan> kept;
  const std::array<unsigned, 4> shape = {p.c.height, p.c.width, p.a.width, p.sms};
  const auto found = kept.find(shape);
  if (found != kept.end()) return found->second;
  return kept[shape] = best_plan(p.c.height, p.c.width, p.a.width, p.sms, kTwo > 1);
}
// The tile and the split of the plan; tiles stand here in the order of kTileTimes.
void launch_plan(const TensorProduct& p, const Plan& plan) {
  static constexpr decltype(&launch_persistent<Large, 1, 1>) kLaunches[] = {
      launch_persistent<TileOf<2, 128>, kTwo, kTwo>,
      launch_persistent<TileOf<2, 256>, kTwo, 1>,
      launch_persistent<TileOf<2, 256>, 1, 1>,
      launch_persistent<TileOf<3, 192>, 1, 1>,
      launch_persistent<TileOf<3, 128>, 1, kTwo>,
      launch_persistent<TileOf<3, 128>, 1, 1>,
      launch_persistent<TileOf<2, 192>, 1, 1>,
      launch_persistent<TileOf<2, 128>, 1, 1>,
      launch_persistent<TileOf<1, 128>, 1, 1>,
      launch_persistent<TileOf<1, 64>, 1, 1>,
      launch_persistent<TurnedOf<2, 96>, kTwo, kFour>,
      launch_persistent<TurnedOf<2, 224>, kTwo, kTwo>,
      launch_persistent<TurnedOf<2, 96>, kTwo, kTwo>,
      launch_persistent<TurnedOf<2, 256>, 1, kTwo>,
      launch_persistent<TurnedOf<2, 224>, 1, kTwo>,
      launch_persistent<TurnedOf<2, 176>, 1, kTwo>,
      launch_persistent<TurnedOf<2, 160>, 1, kTwo>,
      launch_persistent<TurnedOf<2, 144>, 1, kTwo>,
      launch_persistent<TurnedOf<2, 112>, 1, kTwo>,
      launch_persistent<TurnedOf<2, 144>, kTwo, 1>,
      launch_persistent<TurnedOf<2, 112>, kTwo, 1>,
      launch_persistent<TurnedOf<3, 160>, 1, 1>,
      launch_persistent<TurnedOf<2, 160>, 1, 1>,
      launch_persistent<TurnedOf<2, 96>, 1, 1>,
      launch_persistent<TurnedOf<1, 96>, 1, 1>,
      launch_persistent<TurnedOf<1, 48>, 1, 1>,
      launch_persistent<TurnedOf<1, 16>, 1, 1>};
  static_assert(std::size(kTileTimes) == std::size(kLaunches), "one for each");
  // No part is without a step: its sums would be what the registers held before.
  kLaunches[plan.tile](p, std::min(plan.parts, blocks_for(p.a.width, kBox)));
}

// A version, and whether it needs instructions that only Hopper has.
struct Rung {
  Version<TensorProduct> version;
  bool needs_hopper;
};
const Rung kRungs[] = {
    {{"mma_from_global", "operands straight from global memory", launch_from_global}, false},
    {{"mma_from_shared", "operands from shared memory, row behind row",
      launch_tiles<multiply_from_shared>},
     false},
    {{"mma_swizzled", "ldmatrix, and no bank conflicts", launch_tiles<multiply_swizzled<false>>},
     false},
    {{"mma_pipelined", "copies of the next three steps are on their way",
      launch_tiles<multiply_pipelined, kSlices * sizeof(Slices)>},
     false},
    {{"warp_groups", "wgmma: four warps multiply from shared memory", launch_warp_groups}, true},
    {{"bulk_copies", "one thread begins copies of whole boxes", launch_bulk_copies}, true},
    {{"producer_consumer", "a group that copies, two that multiply", launch_producer_consumer},
     true},
#ifndef __CUDA_CPU__
    {{"clusters", "two blocks share what they copy of B", launch_clusters}, true},
#endif
    {{"persistent", "blocks that stay, and store behind the next product",
      [](const TensorProduct& p) { launch_persistent<Large, kTwo, 1>(p, 1); }},
     true},
    {{"chosen", "the tile and the split whose predicted time is the least",
      [](const TensorProduct& p) { launch_plan(p, choose(p)); }},
     true},
};

// What the code that the driver has picked for this device can do. 0: nothing; 1: mma of BF16;
// 2: all of Hopper's.
__global__ void ask_for_instructions(int* level) { *level = ptx::kSm90a ? 2 : ptx::kSm80 ? 1 : 0; }
int instructions_here() {
  const DeviceArray<int> level(1);
  ask_for_instructions<<<1, 1>>>(level);
  CUDA_CHECK_LAUNCH();
  return level.download()[0];
}

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 4096 : 128, n = kOnGpu ? m : 256, k = kOnGpu ? m : 128;
  const Options opt(argc, argv, "16_tensor_cores", "how are tensor cores kept busy?",
                    {{"m", &m, 1, 256_Ki, "rows of A and C"},
                     {"n", &n, 1, 256_Ki, "columns of B and C"},
                     {"k", &k, 1, 256_Ki, "columns of A, rows of B"}});
  ResultTable table(opt, (m * k + k * n + m * n) * sizeof(Bf16), m * n * sizeof(float));
  table.rate_in("GFLOP/s", "peak", peak_bf16_gflops(table.device));
  if (opt.list) m = n = k = 1;  // nothing runs, so nothing has to be multiplied on the host
  TensorProduct product(m, n, k, opt.seed);
  product.sms = static_cast<unsigned>(table.device.multiProcessorCount);
  table.each_launch_does(product.amount());
  const int level = opt.list ? 2 : instructions_here();
  std::string left_out;
  for (const auto& [version, needs_hopper] : kRungs) {
    if (level >= (needs_hopper ? 2 : 1)) {
      table.add(version, product);
    } else {
      left_out += std::string(left_out.empty() ? "" : ", ") + version.name;
    }
  }
#ifndef __CUDA_CPU__
  add_cublaslt(table, product);
#else
  if (!opt.list) table.note("left out, since the CPU backend has no clusters of blocks: clusters");
#endif
  if (!left_out.empty())
    table.note("left out, since ", table.device.name,
               " or this build has no such instructions: ", left_out);
  table.note("chosen: ", text_of(choose(product)));
  return table.finish();
}
