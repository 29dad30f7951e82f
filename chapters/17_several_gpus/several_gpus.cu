// SPDX-License-Identifier: MIT
// Chapter 17: how do GPUs work together?
//
// copy_staged      from one device's memory to another's, by way of the host
// copy_direct      the same by the link between them
// sum_one          chapter 10's sum on one device
// sum_all          its array in parts, one on each device; all-reduce adds the parts' sums
// sum_threads      the same, called by a host thread for each device
// product_one      chapter 08's product on one device
// product_all      rows of A and C in parts; B is broadcast first
// stencil_one      steps of a stencil on one device
// stencil_in_turn  its array in parts; before each step halos cross between neighbours
// stencil_overlap  halos cross while the inner elements are computed
// stencil_threads  the same, called by a host thread for each device
// halos            halos cross, and nothing is computed
// Run: make run CH=17

#include <nccl.h>

#include <array>
#include <climits>

#include "../../common/common.cuh"
#include "devices.cuh"

// ---- a sum: little crosses ---------------------------------------------------------------------

constexpr unsigned kWarp = 32, kSumBlock = 512, kAllLanes = 0xffffffffu;
constexpr unsigned kInFlight = 4;  // 16-byte loads of a thread
using Sum = unsigned long long;    // the 64-bit integer that atomicAdd takes

// A square in 64 bits. It is never negative, so unsigned sums are right.
__device__ Sum square(int v) { return static_cast<Sum>(static_cast<long long>(v) * v); }

// Adds the squares of n ints to *sum, as chapter 10 does: four loads of 16 bytes in flight, a warp
// adds by shuffles, its block by atomics in shared memory, and the grid by one of each block.
__global__ void add_squares(const int* x, std::size_t n, Sum* sum) {
  const auto* quads = reinterpret_cast<const int4*>(x);
  const std::size_t tile = std::size_t{kInFlight} * blockDim.x, tiles = n / 4 / tile;
  Sum mine = 0;
  for (std::size_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int4* from = quads + t * tile + threadIdx.x;
    int4 v[kInFlight];  // in registers: the two loops below are unrolled
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) v[k] = from[k * blockDim.x];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) {
      mine += square(v[k].x) + square(v[k].y) + square(v[k].z) + square(v[k].w);
    }
  }
  // And the rest, which fills no tile.
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  std::size_t i = tiles * tile * 4 + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i < n; i += threads) mine += square(x[i]);
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    mine += __shfl_down_sync(kAllLanes, mine, distance);
  }
  __shared__ Sum of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();  // nobody adds before it is 0
  if (threadIdx.x % kWarp == 0) atomicAdd(&of_block, mine);
  __syncthreads();  // thread 0 reads it when all have added
  if (threadIdx.x == 0) atomicAdd(sum, of_block);
}

// ---- a product: one matrix crosses -------------------------------------------------------------

// The matrix continued by zeros: a tile at its edge is filled up with what changes no sum.
__device__ float at_or_zero(const Matrix& m, unsigned row, unsigned column) {
  return row < m.height && column < m.width ? m.at(row, column) : 0.0f;
}

// A block computes kMicroTile x kMicroTile elements of C, a thread 8 x 8 of them, in registers.
constexpr unsigned kPerThread = 8, kSide = 16, kMicroTile = kPerThread * kSide, kDepth = 16;
constexpr unsigned kWide = 4, kGroups = kPerThread / kWide;  // 4 floats are 16 bytes

// Where group `group` begins of a thread that stands at `place` of kSide.
__device__ unsigned first_of(unsigned group, unsigned place) {
  return (group * kSide + place) * kWide;
}

// Four neighbours in one load. They must begin at a multiple of 16 bytes.
__device__ void load_four(const float* from, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

// C = A * B for any shape: chapter 08's last version, micro_tile_pairs. At each step the block
// brings kDepth columns of A, transposed, and rows of B to shared memory.
__global__ void __launch_bounds__(kSide* kSide) multiply(Matrix a, Matrix b, Matrix c) {
  __shared__ alignas(16) float tile_a[kDepth][kMicroTile + kWide];
  __shared__ alignas(16) float tile_b[kDepth][kMicroTile];
  const unsigned first_row = blockIdx.y * kMicroTile, first_column = blockIdx.x * kMicroTile;
  const unsigned t = threadIdx.x;
  // Two neighbouring lanes stand one above the other in C, and want the same of B.
  const unsigned x = t / 32 % 2 * 8 + t / 2 % 8, y = t / 64 * 4 + t / 16 % 2 * 2 + t % 2;
  float sum[kPerThread][kPerThread] = {};
  for (unsigned first = 0; first < a.width; first += kDepth) {
    for (unsigned e = t; e < kMicroTile * kDepth; e += kSide * kSide) {
      tile_a[e % kDepth][e / kDepth] = at_or_zero(a, first_row + e / kDepth, first + e % kDepth);
      tile_b[e / kMicroTile][e % kMicroTile] =
          at_or_zero(b, first + e / kMicroTile, first_column + e % kMicroTile);
    }
    __syncthreads();  // both tiles are complete before anyone reads them
#pragma unroll
    for (unsigned i = 0; i < kDepth; ++i) {
      float from_a[kPerThread], from_b[kPerThread];
#pragma unroll
      for (unsigned g = 0; g < kGroups; ++g) {
        load_four(&tile_a[i][first_of(g, y)], &from_a[g * kWide]);
        load_four(&tile_b[i][first_of(g, x)], &from_b[g * kWide]);
      }
#pragma unroll
      for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
        for (unsigned q = 0; q < kPerThread; ++q) sum[r][q] += from_a[r] * from_b[q];
      }
    }
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
    for (unsigned q = 0; q < kPerThread; ++q) {
      const unsigned row = first_row + first_of(r / kWide, y) + r % kWide;
      const unsigned column = first_column + first_of(q / kWide, x) + q % kWide;
      if (row < c.height && column < c.width) c.at(row, column) = sum[r][q];
    }
  }
}

// ---- a stencil: an element crosses at each step ------------------------------------------------

constexpr unsigned kStepBlock = 256, kPerStep = 4;  // threads, and elements of each

// A step for elements begin to end - 1: each becomes twice itself plus its neighbours, modulo 2^32.
// x and y have a halo, an element of a neighbouring part, at either end. A thread has all its loads
// in flight before it stores.
__global__ void step(const unsigned* x, unsigned* y, std::size_t begin, std::size_t end) {
  const std::size_t first = begin + std::size_t{blockIdx.x} * kStepBlock * kPerStep + threadIdx.x;
  unsigned next[kPerStep];
#pragma unroll
  for (unsigned k = 0; k < kPerStep; ++k) {
    const std::size_t i = first + k * kStepBlock;
    next[k] = i < end ? x[i - 1] + 2 * x[i] + x[i + 1] : 0;
  }
#pragma unroll
  for (unsigned k = 0; k < kPerStep; ++k) {
    const std::size_t i = first + k * kStepBlock;
    if (i < end) y[i] = next[k];
  }
}

// The same for the first and the last one, which need the halos.
__global__ void step_edges(const unsigned* x, unsigned* y, std::size_t count) {
  const std::size_t i = threadIdx.x == 0 ? 1 : count;
  if (threadIdx.x == 0 || count > 1) y[i] = x[i - 1] + 2 * x[i] + x[i + 1];
}

// ---- test data, made where it is needed --------------------------------------------------------

// Element first + i of all is low to high, whichever device has it.
template <class T>
__global__ void fill(T* x, std::size_t count, std::size_t first, int low, int high,
                     std::uint64_t seed) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    x[i] = static_cast<T>(random_int(low, high, seed, first + i));
}

template <class T>
void fill_share(T* x, const Share& share, int low, int high, std::uint64_t seed) {
  const unsigned blocks = std::min(blocks_for(share.count, 256), 4096u);
  fill<<<blocks, 256>>>(x, share.count, share.first, low, high, seed);
  CUDA_CHECK_LAUNCH();
}

// work(first, end) for parts of 0 to n - 1, by all cores of the host.
template <class Work>
void on_all_cores(std::size_t n, Work work) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::size_t core = 0; core < cores; ++core) {
    const Share mine = share_of(n, core, cores);
    threads.emplace_back([=, &work] { work(mine.first, mine.first + mine.count); });
  }
  for (std::thread& thread : threads) thread.join();
}

// ---- the sum -----------------------------------------------------------------------------------

class SumOfSquares {
 public:
  // n ints from 0 to 9, a part on each device.
  SumOfSquares(const Ranks& on, std::size_t n, std::uint64_t seed) : ranks_(on) {
    ranks_.each([&](const Rank& rank) {
      const Share mine = share_of(n, rank.number, ranks_.size());
      parts_.push_back({DeviceArray<int>(mine.count), DeviceArray<Sum>(1), DeviceArray<Sum>(1),
                        std::min(blocks_for(mine.count, 4 * kInFlight * kSumBlock),
                                 blocks_held(add_squares, kSumBlock))});
      fill_share(parts_.back().x.get(), mine, 0, 9, seed);
    });
    std::mutex adding;
    on_all_cores(n, [&](std::size_t first, std::size_t end) {
      Sum sum = 0;
      for (std::size_t i = first; i < end; ++i) {
        const long long v = random_int(0, 9, seed, i);
        sum += static_cast<Sum>(v * v);
      }
      const std::lock_guard<std::mutex> lock(adding);
      expected_ += sum;
    });
  }

  void poison() const {
    ranks_.each([&](const Rank& rank) {
      parts_[rank.number].sum.poison();
      parts_[rank.number].total.poison();
    });
  }

  // A device sums what it has.
  void sum_part(const Rank& rank) const {
    const Part& mine = parts_[rank.number];
    CUDA_CHECK(cudaMemsetAsync(mine.sum, 0, sizeof(Sum), rank.stream));
    add_squares<<<mine.blocks, kSumBlock, 0, rank.stream>>>(mine.x, mine.x.size(), mine.sum);
    CUDA_CHECK_LAUNCH();
  }
  // And it gets the sum of all sums, as all others do.
  void all_reduce(const Rank& rank) const {
    const Part& mine = parts_[rank.number];
    NCCL_CHECK(ncclAllReduce(mine.sum, mine.total, 1, ncclUint64, ncclSum, rank.communicator,
                             rank.stream));
  }

  void sum_parts() const {
    ranks_.each([&](const Rank& rank) { sum_part(rank); });
  }
  // One host thread calls for all ranks. In a group: otherwise the first call could wait for the
  // second one, which is never made.
  void sum_all() const {
    sum_parts();
    NCCL_CHECK(ncclGroupStart());
    ranks_.each([&](const Rank& rank) { all_reduce(rank); });
    NCCL_CHECK(ncclGroupEnd());
  }
  // A host thread of this rank's own calls.
  void sum_of_rank(const Rank& rank) const {
    sum_part(rank);
    all_reduce(rank);
  }

  Sum expected() const { return expected_; }

  bool one_is_right() const {
    ranks_.wait();
    return equals("sum of one", parts_[0].sum.download()[0], expected_);
  }
  bool all_are_right() const {
    ranks_.wait();
    bool right = true;
    ranks_.each([&](const Rank& rank) {
      right = equals(text("sum of rank ", rank.number), parts_[rank.number].total.download()[0],
                     expected_) &&
              right;
    });
    return right;
  }

 private:
  struct Part {
    DeviceArray<int> x;
    DeviceArray<Sum> sum, total;
    unsigned blocks;
  };
  const Ranks& ranks_;
  std::vector<Part> parts_;
  Sum expected_ = 0;
};

// ---- the product -------------------------------------------------------------------------------

// C = A * B, A is m x k, B is k x n. All elements of A and B are whole numbers from -2 to 2, so all
// sums are whole numbers below 2^24, which floats add without an error in whatever order.
class Product {
 public:
  // Each rank has rows of A and of C, and room for B. The first one has B.
  Product(const Ranks& on, std::size_t m, std::size_t n, std::size_t k, std::uint64_t seed)
      : ranks_(on), m_(m), n_(n), k_(k), seed_(seed) {
    ranks_.each([&](const Rank& rank) {
      const Share rows = share_of(m, rank.number, ranks_.size());
      parts_.push_back({rows, DeviceArray<float>(rows.count * k), DeviceArray<float>(k * n),
                        DeviceArray<float>(rows.count * n)});
      const Part& mine = parts_.back();
      fill_share(mine.a.get(), {rows.first * k, rows.count * k}, -2, 2, seed_);
      if (rank.number == 0) fill_share(mine.b.get(), {0, k * n}, -2, 2, seed_ + 1);
    });
  }

  // C, and all copies of B.
  void poison() const {
    ranks_.each([&](const Rank& rank) {
      parts_[rank.number].c.poison();
      if (rank.number > 0) parts_[rank.number].b.poison();
    });
  }

  // Each device multiplies its rows of A by its B.
  void multiply_parts() const {
    ranks_.each([&](const Rank& rank) {
      const Part& mine = parts_[rank.number];
      if (mine.rows.count == 0 || n_ == 0) return;
      const dim3 grid(blocks_for(n_, kMicroTile), blocks_for(mine.rows.count, kMicroTile));
      multiply<<<grid, kSide * kSide, 0, rank.stream>>>(dense_matrix(mine.a, mine.rows.count, k_),
                                                        dense_matrix(mine.b, k_, n_),
                                                        dense_matrix(mine.c, mine.rows.count, n_));
      CUDA_CHECK_LAUNCH();
    });
  }

  // First, all get B from rank 0.
  void multiply_all() const {
    NCCL_CHECK(ncclGroupStart());
    ranks_.each([&](const Rank& rank) {
      const Part& mine = parts_[rank.number];
      NCCL_CHECK(
          ncclBroadcast(mine.b, mine.b, k_ * n_, ncclFloat, 0, rank.communicator, rank.stream));
    });
    NCCL_CHECK(ncclGroupEnd());
    multiply_parts();
  }

  // The rows of C that a rank has computed.
  const DeviceArray<float>& rows_of(const Rank& rank) const { return parts_[rank.number].c; }

  // C w = A (B w) for a column w of random 64-bit numbers, modulo 2^64 (Freivalds, 1977). Each
  // element of C counts, and a difference that is not 0 is divisible by 2^24 at most. So a wrong C
  // passes with a probability of at most 2^-40.
  bool is_right() const {
    ranks_.wait();
    std::vector<std::uint64_t> bw(k_);
    on_all_cores(k_, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        for (std::size_t j = 0; j < n_; ++j) bw[i] += element(seed_ + 1, i * n_ + j) * weight(j);
    });
    std::vector<std::uint64_t> expected(m_), actual(m_);
    on_all_cores(m_, [&](std::size_t first, std::size_t end) {
      for (std::size_t row = first; row < end; ++row)
        for (std::size_t i = 0; i < k_; ++i) expected[row] += element(seed_, row * k_ + i) * bw[i];
    });
    bool whole = true;
    ranks_.each([&](const Rank& rank) {
      const Part& mine = parts_[rank.number];
      const std::vector<float> c = mine.c.download();
      std::vector<char> is_whole(mine.rows.count, true);
      on_all_cores(mine.rows.count, [&](std::size_t first, std::size_t end) {
        for (std::size_t row = first; row < end; ++row)
          for (std::size_t j = 0; j < n_; ++j) {
            const float value = c[row * n_ + j];  // as A's and B's sums are, or nothing is right
            if (!(std::abs(value) < 0x1p24f && value == std::trunc(value)))
              is_whole[row] = false;
            else
              actual[mine.rows.first + row] +=
                  static_cast<std::uint64_t>(std::int64_t(value)) * weight(j);
          }
      });
      for (const char row : is_whole) whole = whole && row;
    });
    return equals("whole numbers", whole, true) && all_equal("C w", actual, expected);
  }

 private:
  std::uint64_t weight(std::size_t column) const { return random_bits(seed_ + 2, column); }
  static std::uint64_t element(std::uint64_t seed, std::size_t i) {
    return static_cast<std::uint64_t>(std::int64_t{random_int(-2, 2, seed, i)});
  }

  struct Part {
    Share rows;
    DeviceArray<float> a, b, c;
  };
  const Ranks& ranks_;
  std::size_t m_, n_, k_;
  std::uint64_t seed_;
  std::vector<Part> parts_;
};

// ---- the stencil -------------------------------------------------------------------------------

class Stencil {
 public:
  // Steps of an array of `cells` elements in parts. What lies beyond its two ends is 0.
  Stencil(const Ranks& on, std::size_t cells, std::size_t steps, std::uint64_t seed)
      : ranks_(on), cells_(cells), steps_(steps), seed_(seed) {
    ranks_.each([&](const Rank& rank) {
      const Share mine = share_of(cells, rank.number, ranks_.size());
      const bool has_right = rank.number + 1 < ranks_.size() &&
                             share_of(cells, rank.number + 1, ranks_.size()).count > 0;
      const std::size_t with_halos = mine.count + 2;
      parts_.push_back({mine,
                        rank.number > 0 && mine.count > 0,
                        has_right,
                        {DeviceArray<unsigned>(with_halos), DeviceArray<unsigned>(with_halos),
                         DeviceArray<unsigned>(with_halos)}});
      const Part& made = parts_.back();
      CUDA_CHECK(cudaEventCreateWithFlags(&parts_.back().inner_done, cudaEventDisableTiming));
      CUDA_CHECK(cudaEventCreateWithFlags(&parts_.back().edges_done, cudaEventDisableTiming));
      fill_share(made.x[0] + 1, mine, INT_MIN, INT_MAX, seed_);
    });
    poison();
  }
  ~Stencil() {
    for (const Part& part : parts_)
      cudaEventDestroy(part.inner_done), cudaEventDestroy(part.edges_done);
  }
  Stencil(const Stencil&) = delete;

  // All but the first state's elements. A halo that no neighbour writes is 0.
  void poison() const {
    ranks_.each([&](const Rank& rank) {
      const Part& mine = parts_[rank.number];
      mine.x[1].poison(), mine.x[2].poison();
      for (const DeviceArray<unsigned>& x : mine.x) {
        CUDA_CHECK(cudaMemset(x, mine.has_left ? 0xff : 0, sizeof(unsigned)));
        CUDA_CHECK(
            cudaMemset(x + mine.share.count + 1, mine.has_right ? 0xff : 0, sizeof(unsigned)));
      }
    });
  }

  void run_parts() const {
    for (std::size_t s = 0; s < steps_; ++s) {
      ranks_.each([&](const Rank& rank) { step_all(rank, s); });
    }
  }

  // Halos cross first, then comes the step.
  void run_in_turn() const {
    for (std::size_t s = 0; s < steps_; ++s) {
      exchange_all(s, &Rank::stream);
      ranks_.each([&](const Rank& rank) { step_all(rank, s); });
    }
  }

  // Halos cross beside the step.
  void run_overlapped() const {
    for (std::size_t s = 0; s < steps_; ++s) {
      exchange_all(s, &Rank::beside);
      ranks_.each([&](const Rank& rank) { step_beside_halos(rank, s); });
    }
  }
  // The same by a host thread of this rank's own.
  void run_rank(const Rank& rank) const {
    for (std::size_t s = 0; s < steps_; ++s) {
      exchange(rank, s, rank.beside);
      step_beside_halos(rank, s);
    }
  }

  void only_exchange() const {
    for (std::size_t s = 0; s < steps_; ++s) exchange_all(0, &Rank::stream);
  }

  bool is_right() const {
    if (expected_.empty()) expected_ = on_host();
    std::vector<unsigned> actual;
    ranks_.wait();
    ranks_.each([&](const Rank& rank) {
      const Part& mine = parts_[rank.number];
      const std::vector<unsigned> x = before(mine, steps_).download();
      actual.insert(actual.end(), x.begin() + 1, x.end() - 1);
    });
    return all_equal("cells", actual, expected_);
  }

  // Each halo of the first state is what the neighbour has there, or 0.
  bool halos_are_right() const {
    bool right = true;
    ranks_.wait();
    ranks_.each([&](const Rank& rank) {
      const Part& mine = parts_[rank.number];
      const std::vector<unsigned> x = mine.x[0].download();
      const std::string whose = text(" halo of rank ", rank.number);
      const unsigned left = mine.has_left ? cell(mine.share.first - 1) : 0;
      const unsigned right_one = mine.has_right ? cell(mine.share.first + mine.share.count) : 0;
      right = equals("left" + whose, x.front(), left) && right;
      right = equals("right" + whose, x.back(), right_one) && right;
    });
    return right;
  }

 private:
  struct Part {
    Share share;
    bool has_left, has_right;  // a neighbour with elements
    // The first state, which stays, and two that take turns. Each is halo, elements, halo.
    std::array<DeviceArray<unsigned>, 3> x;
    cudaEvent_t inner_done = nullptr, edges_done = nullptr;
  };

  // What step number s reads, and what it writes.
  static const DeviceArray<unsigned>& before(const Part& part, std::size_t s) {
    return part.x[s == 0 ? 0 : 2 - s % 2];
  }
  static const DeviceArray<unsigned>& after(const Part& part, std::size_t s) {
    return before(part, s + 1);
  }

  void step_range(const Rank& rank, std::size_t s, std::size_t begin, std::size_t end) const {
    if (begin >= end) return;
    const Part& mine = parts_[rank.number];
    const unsigned blocks = blocks_for(end - begin, kStepBlock * kPerStep);
    step<<<blocks, kStepBlock, 0, rank.stream>>>(before(mine, s), after(mine, s), begin, end);
    CUDA_CHECK_LAUNCH();
  }
  void step_all(const Rank& rank, std::size_t s) const {
    step_range(rank, s, 1, parts_[rank.number].share.count + 1);
  }

  // The inner elements need no halo: they do not wait for what goes on beside them. The two outer
  // elements follow the halos there. The next step begins when all of this one is done.
  void step_beside_halos(const Rank& rank, std::size_t s) const {
    const Part& mine = parts_[rank.number];
    step_range(rank, s, 2, mine.share.count);
    if (mine.share.count > 0) {
      step_edges<<<1, 2, 0, rank.beside>>>(before(mine, s), after(mine, s), mine.share.count);
      CUDA_CHECK_LAUNCH();
    }
    CUDA_CHECK(cudaEventRecord(mine.inner_done, rank.stream));
    CUDA_CHECK(cudaEventRecord(mine.edges_done, rank.beside));
    CUDA_CHECK(cudaStreamWaitEvent(rank.stream, mine.edges_done, 0));
    CUDA_CHECK(cudaStreamWaitEvent(rank.beside, mine.inner_done, 0));
  }

  // Halos of what step number s reads: the neighbours' outer elements. Sends and receives of a rank
  // are a group, or the first one could wait for one behind it.
  void exchange(const Rank& rank, std::size_t s, cudaStream_t stream) const {
    const Part& mine = parts_[rank.number];
    unsigned* const x = before(mine, s);
    const std::size_t n = mine.share.count;
    const int left = static_cast<int>(rank.number) - 1, right = left + 2;
    NCCL_CHECK(ncclGroupStart());
    if (mine.has_left) {
      NCCL_CHECK(ncclSend(x + 1, 1, ncclUint32, left, rank.communicator, stream));
      NCCL_CHECK(ncclRecv(x, 1, ncclUint32, left, rank.communicator, stream));
    }
    if (mine.has_right) {
      NCCL_CHECK(ncclSend(x + n, 1, ncclUint32, right, rank.communicator, stream));
      NCCL_CHECK(ncclRecv(x + n + 1, 1, ncclUint32, right, rank.communicator, stream));
    }
    NCCL_CHECK(ncclGroupEnd());
  }
  // For all ranks by one host thread: a group around their groups.
  void exchange_all(std::size_t s, cudaStream_t Rank::*stream) const {
    NCCL_CHECK(ncclGroupStart());
    ranks_.each([&](const Rank& rank) { exchange(rank, s, rank.*stream); });
    NCCL_CHECK(ncclGroupEnd());
  }

  unsigned cell(std::size_t i) const {  // of the first state
    return static_cast<unsigned>(random_int(INT_MIN, INT_MAX, seed_, i));
  }

  std::vector<unsigned> on_host() const {
    std::vector<unsigned> x(cells_), next(cells_);
    on_all_cores(cells_, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) x[i] = cell(i);
    });
    for (std::size_t s = 0; s < steps_; ++s) {
      on_all_cores(cells_, [&](std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < end; ++i)
          next[i] = (i > 0 ? x[i - 1] : 0) + 2 * x[i] + (i + 1 < cells_ ? x[i + 1] : 0);
      });
      x.swap(next);
    }
    return x;
  }

  const Ranks& ranks_;
  std::size_t cells_, steps_;
  std::uint64_t seed_;
  std::vector<Part> parts_;
  mutable std::vector<unsigned> expected_;  // computed when it is first asked for
};

// ---- a copy ------------------------------------------------------------------------------------

// From rank 0's memory to rank 1's.
class Copy {
 public:
  Copy(const Ranks& ranks, std::size_t bytes, std::uint64_t seed)
      : one_(ranks[0]), other_(ranks[1]), ranks_(ranks), bytes_(bytes), seed_(seed) {
    ranks.each([&](const Rank& rank) {
      if (rank.number > 1) return;
      memory_.emplace_back(bytes);
      CUDA_CHECK(cudaEventCreateWithFlags(&done_[rank.number], cudaEventDisableTiming));
    });
    fill_share(memory_[0].get(), {0, bytes}, 0, 255, seed);
    CUDA_CHECK(cudaHostAlloc(&on_host_, bytes, cudaHostAllocPortable));  // pinned for all devices
  }
  ~Copy() {
    for (const cudaEvent_t event : done_) cudaEventDestroy(event);
    cudaFreeHost(on_host_);
  }
  Copy(const Copy&) = delete;

  void poison() const {
    CUDA_CHECK(cudaSetDevice(other_.device));
    memory_[1].poison();
    CUDA_CHECK(cudaSetDevice(one_.device));
  }

  // Through the link, if each may use the other's memory.
  void direct() const {
    CUDA_CHECK(cudaMemcpyPeerAsync(memory_[1], other_.device, memory_[0], one_.device, bytes_,
                                   one_.stream));
  }

  // One device to the host, then the host to the other one.
  void staged() const {
    CUDA_CHECK(cudaMemcpyAsync(on_host_, memory_[0], bytes_, cudaMemcpyDeviceToHost, one_.stream));
    CUDA_CHECK(cudaEventRecord(done_[0], one_.stream));
    CUDA_CHECK(cudaSetDevice(other_.device));
    CUDA_CHECK(cudaStreamWaitEvent(other_.stream, done_[0], 0));  // all of it is there
    CUDA_CHECK(
        cudaMemcpyAsync(memory_[1], on_host_, bytes_, cudaMemcpyHostToDevice, other_.stream));
    CUDA_CHECK(cudaEventRecord(done_[1], other_.stream));
    CUDA_CHECK(cudaSetDevice(one_.device));
    CUDA_CHECK(cudaStreamWaitEvent(one_.stream, done_[1], 0));  // the next one may overwrite it
  }

  bool is_right() const {
    ranks_.wait();
    CUDA_CHECK(cudaSetDevice(other_.device));
    const std::vector<unsigned char> arrived = memory_[1].download();
    CUDA_CHECK(cudaSetDevice(one_.device));
    for (std::size_t i = 0; i < bytes_; ++i) {
      const int expected = random_int(0, 255, seed_, i);
      if (arrived[i] != expected)
        return report_wrong("copy", text(" at [", i, "]"), arrived[i], expected);
    }
    return true;
  }

 private:
  const Rank &one_, &other_;
  const Ranks& ranks_;
  std::size_t bytes_;
  std::uint64_t seed_;
  std::vector<DeviceArray<unsigned char>> memory_;  // one of each
  cudaEvent_t done_[2] = {};
  void* on_host_ = nullptr;
};

// ---- the rows ----------------------------------------------------------------------------------

// What the program was asked for. `one` is the first rank alone.
struct Program {
  ResultTable& table;
  const Ranks &one, &all;
  std::size_t bytes, n, rows, side, cells, steps;

  bool has_several() const { return all.size() > 1; }
};

// Milliseconds of so many runs in a row, called by one host thread, or by one for each rank.
template <class Work>
double ms_of(const Ranks& ranks, std::size_t calls, const Work& work, void (Work::*run)() const) {
  return ms_of_calls(ranks, calls, [&] { (work.*run)(); });
}
template <class Work>
double ms_of(const Ranks& ranks, std::size_t calls, const Work& work,
             void (Work::*run)(const Rank&) const) {
  return ms_of_threads(ranks, calls, [&](const Rank& rank) { (work.*run)(rank); });
}

// A row: how long a run takes on `ranks`, how many bytes a second if there is a number of them, and
// how many times as fast it is as the same on one device. Returns the time.
template <class Work, class Run>
double add(const Program& p, const Ranks& ranks, const char* name, const Work& work, Run run,
           bool (Work::*is_right)() const, double bytes = 0, double ms_of_one = 0) {
  work.poison();
  ms_of(ranks, 1, work, run);  // waits first: nothing orders a memset before another device's copy
  const bool right_at_first = (work.*is_right)();
  const Timing t = time_calls(p.table.opt.samples,
                              [&](std::size_t calls) { return ms_of(ranks, calls, work, run); });
  const bool right_at_last = (work.*is_right)();
  p.table.next_row_has(ranks.size(), bytes > 0 ? text(bytes / t.median_ms / 1e6) : "-",
                       ms_of_one > 0 ? text(ms_of_one / t.median_ms) : "-");
  p.table.row(name, t, 0, right_at_first && right_at_last);
  return t.median_ms;
}

void add_copies(const Program& p) {
  const auto bytes = static_cast<double>(p.bytes);
  const bool staged = p.table.wants("copy_staged", "device, host, other device");
  const bool direct = p.table.wants("copy_direct", "device to device, by the link");
  if (!staged && !direct) return;
  const Copy copy(p.all, p.bytes, p.table.opt.seed);
  if (staged) add(p, p.all, "copy_staged", copy, &Copy::staged, &Copy::is_right, bytes);
  if (direct) add(p, p.all, "copy_direct", copy, &Copy::direct, &Copy::is_right, bytes);
}

void add_sums(const Program& p) {
  const double bytes = static_cast<double>(p.n) * sizeof(int);
  double ms_of_one = 0;
  if (p.table.wants("sum_one", "n ints on one device")) {
    const SumOfSquares sum(p.one, p.n, p.table.opt.seed);
    ms_of_one =
        add(p, p.one, "sum_one", sum, &SumOfSquares::sum_parts, &SumOfSquares::one_is_right, bytes);
  }
  if (!p.has_several()) return;
  const bool all = p.table.wants("sum_all", "a part on each; all-reduce adds the sums");
  const bool threads = p.table.wants("sum_threads", "called by a host thread for each device");
  if (!all && !threads) return;
  const SumOfSquares sum(p.all, p.n, p.table.opt.seed);
  if (all)
    add(p, p.all, "sum_all", sum, &SumOfSquares::sum_all, &SumOfSquares::all_are_right, bytes,
        ms_of_one);
  if (threads)
    add(p, p.all, "sum_threads", sum, &SumOfSquares::sum_of_rank, &SumOfSquares::all_are_right,
        bytes, ms_of_one);
}

void add_products(const Program& p) {
  double ms_of_one = 0;
  if (p.table.wants("product_one", "matrices of side x side on one device")) {
    const Product product(p.one, p.rows, p.side, p.side, p.table.opt.seed);
    ms_of_one = add(p, p.one, "product_one", product, &Product::multiply_parts, &Product::is_right);
  }
  if (p.has_several() && p.table.wants("product_all", "rows of A and C on each; B is broadcast")) {
    const Product product(p.all, p.rows, p.side, p.side, p.table.opt.seed);
    add(p, p.all, "product_all", product, &Product::multiply_all, &Product::is_right, 0, ms_of_one);
  }
}

void add_stencils(const Program& p) {
  // Each step reads each element, and writes it.
  const double bytes = 2.0 * sizeof(unsigned) * static_cast<double>(p.cells * p.steps);
  double ms_of_one = 0;
  if (p.table.wants("stencil_one", "steps of a stencil on one device")) {
    const Stencil stencil(p.one, p.cells, p.steps, p.table.opt.seed);
    ms_of_one =
        add(p, p.one, "stencil_one", stencil, &Stencil::run_parts, &Stencil::is_right, bytes);
  }
  if (!p.has_several()) return;
  const bool in_turn = p.table.wants("stencil_in_turn", "halos cross, then a step");
  const bool overlap = p.table.wants("stencil_overlap", "halos cross beside the inner elements");
  const bool threads = p.table.wants("stencil_threads", "called by a host thread for each device");
  const bool halos = p.table.wants("halos", "halos cross, and nothing is computed");
  if (!in_turn && !overlap && !threads && !halos) return;
  const Stencil stencil(p.all, p.cells, p.steps, p.table.opt.seed);
  if (in_turn)
    add(p, p.all, "stencil_in_turn", stencil, &Stencil::run_in_turn, &Stencil::is_right, bytes,
        ms_of_one);
  if (overlap)
    add(p, p.all, "stencil_overlap", stencil, &Stencil::run_overlapped, &Stencil::is_right, bytes,
        ms_of_one);
  if (threads)
    add(p, p.all, "stencil_threads", stencil, &Stencil::run_rank, &Stencil::is_right, bytes,
        ms_of_one);
  if (halos) add(p, p.all, "halos", stencil, &Stencil::only_exchange, &Stencil::halos_are_right);
}

int main(int argc, char** argv) {
  std::size_t devices = 0, bytes = kOnGpu ? 256_Mi : 64_Ki, n = kOnGpu ? 2_Gi : 64_Ki;
  std::size_t side = kOnGpu ? 16_Ki : 130, rows = 0, cells = kOnGpu ? 64_Mi : 4_Ki,
              steps = kOnGpu ? 10 : 4;
  const Options opt(argc, argv, "17_several_gpus", "how do GPUs work together?",
                    {{"devices", &devices, 1, 1024, "from --device on; usually all there are"},
                     {"n", &n, 1, 16_Gi, "ints to sum"},
                     {"side", &side, 1, 64_Ki, "of the matrices"},
                     {"rows", &rows, 1, 64_Ki, "of A and C; usually the side"},
                     {"cells", &cells, 1, 16_Gi, "of the stencil's array"},
                     {"steps", &steps, 1, 1024, "of the stencil"},
                     {"bytes", &bytes, 1, 16_Gi, "to copy"}});
  const std::vector<int> ordinals = devices_of(opt, devices);
  devices = ordinals.size();
  if (rows == 0) rows = side;
  ResultTable table(opt,
                    std::max({bytes, n * sizeof(int), (2 * rows + side) * side * sizeof(float),
                              3 * (cells + 2) * sizeof(unsigned)}),
                    0, {"devices", "gbps", "over_one"});
  table.without_speedup();
  Ranks one({ordinals[0]}), all(ordinals);
  if (all.size() > 1) all.connect();
  const Program p{table, one, all, bytes, n, rows, side, cells, steps};
  if (!p.has_several()) {
    table.note("one device: left out are copies between devices, and all rows of several devices");
  } else if (!enable_peers(ordinals)) {
    table.note("no peer access between all devices: copies go by way of the host");
  }
  if (p.has_several()) add_copies(p);
  add_sums(p);
  add_products(p);
  add_stencils(p);
  return table.finish();
}
