// SPDX-License-Identifier: MIT
// Chapter 14: kernels for products of any shape: a tile's walk along k for rows of any alignment,
// tiles split along k, and kernels for products that are thin.
#pragma once

#include "work_shares.cuh"

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
  __device__ void advance_fetch(unsigned depth) {
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfA; ++i) of_a[i] += depth;
  }
  __device__ void advance_copy(unsigned depth) {
#pragma unroll
    for (unsigned i = 0; i < T::kPiecesOfB; ++i) of_b[i] += std::size_t{depth} * stride_of_b;
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
  __device__ void advance_fetch(unsigned) const {}
  __device__ void advance_copy(unsigned depth) {
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
/// T::kDepth. As walk(), but no slice is asked where it lies. If kEarly, the thread waits at the
/// last k of a step for the next slices and loads its first fragments of them before it multiplies;
/// else a step begins with that wait.
template <class T, bool kEarly, class Slices>
__device__ void walk_steps(Sums<T>& sums, float* slices, Slices next, Place place, unsigned depth,
                           unsigned count) {
  constexpr unsigned kStages = T::kStages;
  next.bring_first(slices, depth);
  __pipeline_commit();
  next.advance_copy(depth), next.advance_fetch(depth);
#pragma unroll
  for (unsigned step = 1; step + 1 < kStages; ++step) {
    if (step < count) {
      if (step > 1) next.advance_copy(T::kDepth), next.advance_fetch(T::kDepth);
      float* const slice = slices + step * T::kSlice;
      next.copy(slice), next.fetch(), next.store(slice);
    }
    __pipeline_commit();
  }
  if (kStages - 1 < count) {
    if (kStages > 2) next.advance_copy(T::kDepth), next.advance_fetch(T::kDepth);
    next.fetch();
  }
  Fragments<T> f[2];
  const float* slice = slices;
  if (kEarly) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
    f[0].load(slice, slice + T::kSliceOfA, 0, place);
  }
  unsigned stage = 0, free_stage = kStages - 1;
  for (unsigned step = 0; step < count; ++step) {
    if (!kEarly) {
      __pipeline_wait_prior(kStages - 2);  // this thread's copies for the step have arrived ...
      __syncthreads();  // ... and everyone's; and everyone has read the stage that is filled next
      f[0].load(slice, slice + T::kSliceOfA, 0, place);
    }
    if (step + kStages - 1 < count) {
      float* const filled = slices + free_stage * T::kSlice;
      next.copy(filled), next.store(filled);
      next.advance_copy(T::kDepth), next.advance_fetch(T::kDepth);
      if (step + kStages < count) next.fetch();
    }
    __pipeline_commit();
    free_stage = stage;
    stage = stage + 1 == kStages ? 0 : stage + 1;
#pragma unroll
    for (unsigned k = 0; k < T::kDepth; ++k) {
      if (k + 1 < T::kDepth) {
        f[(k + 1) % 2].load(slice, slice + T::kSliceOfA, k + 1, place);
      } else {
        slice = slices + stage * T::kSlice;
        if (kEarly && step + 1 < count) {
          __pipeline_wait_prior(kStages - 2);
          __syncthreads();
          f[0].load(slice, slice + T::kSliceOfA, 0, place);
        }
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
template <class T, bool kEarly = false>
__device__ void walk_any(Sums<T>& sums, float* slices, const Matrix& a, const Matrix& b,
                         Place corner, Place place, unsigned first, unsigned count) {
  const unsigned left = first_depth<T>(a.width);
  const unsigned k = first == 0 ? 0 : left + (first - 1) * T::kDepth;
  const unsigned depth = first == 0 ? left : T::kDepth;
  if (rows_are_aligned(a, b)) {
    walk_steps<T, kEarly>(sums, slices, WideSlices<T>(a, b, corner, k), place, depth, count);
  } else {
    walk_steps<T, kEarly>(sums, slices, NarrowSlices<T>(a, b, corner, k), place, depth, count);
  }
}

/// Stores the sums. Where rows of C are not aligned, a thread's four neighbours would be four
/// stores of a warp that each touch all of its sectors; so a warp's rows pass through shared
/// memory, and neighbouring lanes store neighbours. `room` holds the slices, which no thread reads
/// any more.
template <class T>
__device__ void store_any(const Sums<T>& sums, float* room, const Matrix& c, Place corner,
                          Place place) {
  if (is_wide(c)) return sums.store(c, corner, place, true);
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

template <class T, bool kEarly = false>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    multiply_any(Matrix a, Matrix b, Matrix c, unsigned down, unsigned across) {
  extern __shared__ __align__(128) float4 dynamic[];
  float* const slices = reinterpret_cast<float*>(dynamic);
  const Place corner = corner_in_groups<T>(blockIdx.x, down, across);
  const Place place = place_of_thread<T>();
  Sums<T> sums;
  walk_any<T, kEarly>(sums, slices, a, b, corner, place, 0, (a.width + T::kDepth - 1) / T::kDepth);
  store_any(sums, slices, c, corner, place);
}

/// Where the thread's part of a tile's sums lies between the blocks that share the tile, or between
/// the first pass and the second.
template <class T>
__device__ float4* slot_of(const Shares& s, unsigned block, bool continues) {
  return reinterpret_cast<float4*>(s.partial_sums) +
         (std::size_t{block} * 2 + (continues ? 0 : 1)) * (T::kElements * T::kThreads / kWide) +
         threadIdx.x;
}

/// Even shares (stream-K). Of a tile that several blocks share, the last of them puts the sums
/// together if `with_tickets`; else put_together() does, in a second pass.
template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    multiply_any_shares(Matrix a, Matrix b, Matrix c, Shares shares, bool with_tickets) {
  extern __shared__ __align__(128) float4 dynamic[];  // where copies land, in whole sectors
  float* const slices = reinterpret_cast<float*>(dynamic);
  const Place place = place_of_thread<T>();
  for (unsigned turn = 0;; ++turn) {
    const Shares::Part part = shares.part(blockIdx.x, turn);
    if (part.count == 0) return;
    const Place corner = corner_in_groups<T>(part.tile, shares.down, shares.across);
    Sums<T> sums;
    walk_any<T>(sums, slices, a, b, corner, place, part.first, part.count);
    if (part.count == shares.steps || (with_tickets && is_last_and_has_all(sums, shares, part))) {
      store_any(sums, slices, c, corner, place);
      __syncthreads();  // all have stored before anyone brings another tile's slices
    } else if (!with_tickets) {
      float4* const mine = slot_of<T>(shares, blockIdx.x, part.first > 0);
#pragma unroll
      for (unsigned e = 0; e < T::kElements; e += kWide) {
        const float* const four = &sums.of[e / T::kAcross][e % T::kAcross];
        mine[e / kWide * T::kThreads] = {four[0], four[1], four[2], four[3]};
      }
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

// ---- thin products: one matrix is streamed, the thin one lies in shared memory -----------------

constexpr unsigned kThinThreads = 256;
/// The terms that a block takes at most, where a thin matrix has `thin` rows or columns: they lie
/// in shared memory, at most 32 KiB of it.
__host__ __device__ constexpr unsigned most_of_k(unsigned thin) {
  return thin > 8 ? 512 : thin > 4 ? 1024 : thin > 2 ? 2048 : 4096;
}

/// Where blocks leave sums that others complete.
struct Parts {
  float* sums;        ///< for each part along k a matrix like C, dense
  unsigned* tickets;  ///< one for each group of rows or columns
  unsigned depth;     ///< of a block's part

  /// Where the block stores its sums: in C, if no other block has a part of them.
  __device__ Matrix target(const Matrix& c) const {
    if (gridDim.y == 1) return c;
    const std::size_t all = std::size_t{c.height} * c.width;
    return {sums + blockIdx.y * all, c.height, c.width, c.width};
  }
};

/// Adds what the blocks of a group (blockIdx.x) have left, if this is the last of them. Called by
/// all threads; [row, row + rows) x [column, column + columns) of C belongs to the group.
__device__ inline void add_parts(const Matrix& c, const Parts& parts, unsigned row, unsigned rows,
                                 unsigned column, unsigned columns) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(&parts.tickets[blockIdx.x], 1u) + 1 == gridDim.y;
    if (is_last) parts.tickets[blockIdx.x] = 0;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  const std::size_t all = std::size_t{c.height} * c.width;
  for (unsigned i = threadIdx.x; i < rows * columns; i += kThinThreads) {
    const unsigned r = row + i / columns, q = column + i % columns;
    float sum = 0;
#pragma unroll 8
    for (unsigned part = 0; part < gridDim.y; ++part)
      sum += parts.sums[part * all + std::size_t{r} * c.width + q];
    c.at(r, q) = sum;
  }
}

/// C has at most M rows. A block has kColumns columns; its threads are that many in each of kAlong
/// groups, which share k. Loads of B run one step ahead of the products, and the first ones begin
/// before A's part is copied.
template <unsigned M, unsigned kColumns>
__global__ void __launch_bounds__(kThinThreads)
    multiply_few_rows(Matrix a, Matrix b, Matrix c, Parts parts) {
  constexpr unsigned kAlong = kThinThreads / kColumns;
  constexpr unsigned kAhead = M <= 4 ? 16 : 8, kStep = kAhead * kAlong;
  static_assert(most_of_k(M) % kStep == 0, "a part fits, rounded up to whole steps");
  __shared__ alignas(16) float of_a[most_of_k(M)][M];
  const unsigned along = threadIdx.x / kColumns, mine = threadIdx.x % kColumns;
  const unsigned first = blockIdx.y * parts.depth, count = min(parts.depth, a.width - first);
  const unsigned corner = blockIdx.x * kColumns;
  const float* from = &b.at(first + along, min(corner + mine, b.width - 1));
  const std::size_t row = std::size_t{kAlong} * b.stride;
  const auto load = [&](float(&x)[kAhead], unsigned k) {
#pragma unroll
    for (unsigned i = 0; i < kAhead; ++i) x[i] = k + i * kAlong < count ? from[i * row] : 0;
    from += kAhead * row;
  };
  float x[kAhead], sums[M] = {};
  load(x, along);
  // Behind the part there are zeros, up to a whole step.
  for (unsigned k = threadIdx.x; k < (count + kStep - 1) / kStep * kStep; k += kThinThreads)
#pragma unroll
    for (unsigned r = 0; r < M; ++r) of_a[k][r] = k < count ? at_or_zero(a, r, first + k) : 0;
  __syncthreads();
  for (unsigned k = along; k < count; k += kStep) {
    float next[kAhead];
    load(next, k + kStep);
#pragma unroll
    for (unsigned i = 0; i < kAhead; ++i) {
#pragma unroll
      for (unsigned r = 0; r < M; ++r) sums[r] += of_a[k + i * kAlong][r] * x[i];
      x[i] = next[i];
    }
  }
  static_assert(kAlong * kColumns <= most_of_k(M), "the sums of warps fit where A was");
  auto& of_warps = reinterpret_cast<float(&)[kAlong][M][kColumns]>(of_a);
  __syncthreads();  // everyone has read A's part
#pragma unroll
  for (unsigned r = 0; r < M; ++r) of_warps[along][r][mine] = sums[r];
  __syncthreads();
  const unsigned columns = min(kColumns, c.width - corner);
  const Matrix out = parts.target(c);
  for (unsigned i = threadIdx.x; i < c.height * kColumns; i += kThinThreads) {
    const unsigned r = i / kColumns, q = i % kColumns;
    float sum = 0;
#pragma unroll
    for (unsigned w = 0; w < kAlong; ++w) sum += of_warps[w][r][q];
    if (q < columns) out.at(r, corner + q) = sum;
  }
  if (gridDim.y > 1) add_parts(c, parts, 0, c.height, corner, columns);
}

/// C has at most N columns. kSharers threads share k, and have kRows rows of A: 8 lanes where rows
/// are short, a block where they are few.
template <unsigned N, unsigned kSharers, unsigned kRows>
__global__ void __launch_bounds__(kThinThreads)
    multiply_few_columns(Matrix a, Matrix b, Matrix c, Parts parts) {
  constexpr unsigned kGroups = kThinThreads / kSharers, kRowsOfBlock = kGroups * kRows;
  constexpr unsigned kFit = most_of_k(N) / kSharers, kWanted = (N <= 2 ? 16 : 8) / kRows;
  constexpr unsigned kAhead = kFit < kWanted ? kFit : kWanted, kStep = kAhead * kSharers;
  static_assert(most_of_k(N) % kStep == 0, "a part fits, rounded up to whole steps");
  __shared__ float of_b[N][most_of_k(N)];
  const unsigned group = threadIdx.x / kSharers, mine = threadIdx.x % kSharers;
  const unsigned first = blockIdx.y * parts.depth, count = min(parts.depth, a.width - first);
  const unsigned corner = blockIdx.x * kRowsOfBlock, row = corner + group * kRows;
  const float* from[kRows];
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) from[r] = &a.at(min(row + r, a.height - 1), first);
  const auto load = [&](float(&x)[kRows][kAhead], unsigned k) {
#pragma unroll
    for (unsigned i = 0; i < kAhead; ++i)
#pragma unroll
      for (unsigned r = 0; r < kRows; ++r)
        x[r][i] = k + i * kSharers < count ? from[r][k + i * kSharers] : 0;
  };
  float x[kRows][kAhead], sums[kRows][N] = {};
  load(x, mine);
  for (unsigned k = threadIdx.x; k < (count + kStep - 1) / kStep * kStep; k += kThinThreads)
#pragma unroll
    for (unsigned q = 0; q < N; ++q) of_b[q][k] = k < count ? at_or_zero(b, first + k, q) : 0;
  __syncthreads();  // all of B's part is there
  for (unsigned k = mine; k < count; k += kStep) {
    float next[kRows][kAhead];
    load(next, k + kStep);
#pragma unroll
    for (unsigned i = 0; i < kAhead; ++i) {
#pragma unroll
      for (unsigned q = 0; q < N; ++q) {
        const float factor = of_b[q][k + i * kSharers];
#pragma unroll
        for (unsigned r = 0; r < kRows; ++r) sums[r][q] += x[r][i] * factor;
      }
#pragma unroll
      for (unsigned r = 0; r < kRows; ++r) x[r][i] = next[r][i];
    }
  }
  const Matrix out = parts.target(c);
  constexpr unsigned kLanes = kSharers < 32 ? kSharers : 32, kWarps = kSharers / kLanes;
  __shared__ float of_warps[kWarps][kRows][N];
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r)
#pragma unroll
    for (unsigned q = 0; q < N; ++q) {
      float sum = sums[r][q];
#pragma unroll
      for (unsigned step = kLanes / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
      if (kWarps > 1 && mine % 32 == 0) of_warps[mine / 32][r][q] = sum;
      if (kWarps == 1 && mine == 0 && row + r < c.height && q < c.width) out.at(row + r, q) = sum;
    }
  if (kWarps > 1) {  // the block has kRows rows
    __syncthreads();
    const unsigned r = threadIdx.x / N, q = threadIdx.x % N;
    if (r < kRows && row + r < c.height && q < c.width) {
      float sum = 0;
#pragma unroll
      for (unsigned w = 0; w < kWarps; ++w) sum += of_warps[w][r][q];
      out.at(row + r, q) = sum;
    }
  }
  if (gridDim.y > 1) add_parts(c, parts, corner, min(kRowsOfBlock, c.height - corner), 0, c.width);
}

/// Few terms: what takes time is to write C. A lane has columns that are 32 apart.
static __global__ void __launch_bounds__(kThinThreads)
    multiply_few_terms(Matrix a, Matrix b, Matrix c) {
  constexpr unsigned kDown = 4, kAcross = 4;
  const unsigned row = (blockIdx.y * (kThinThreads / 32) + threadIdx.x / 32) * kDown;
  const unsigned column = blockIdx.x * 32 * kAcross + threadIdx.x % 32;
  if (row >= c.height) return;
  float sums[kDown][kAcross] = {};
  for (unsigned k = 0; k < a.width; ++k) {
    float x[kDown], y[kAcross];
#pragma unroll
    for (unsigned r = 0; r < kDown; ++r) x[r] = a.at(min(row + r, a.height - 1), k);
#pragma unroll
    for (unsigned q = 0; q < kAcross; ++q) y[q] = b.at(k, min(column + q * 32, b.width - 1));
#pragma unroll
    for (unsigned r = 0; r < kDown; ++r)
#pragma unroll
      for (unsigned q = 0; q < kAcross; ++q) sums[r][q] += x[r] * y[q];
  }
#pragma unroll
  for (unsigned r = 0; r < kDown; ++r)
#pragma unroll
    for (unsigned q = 0; q < kAcross; ++q)
      if (row + r < c.height && column + q * 32 < c.width)
        c.at(row + r, column + q * 32) = sums[r][q];
}
