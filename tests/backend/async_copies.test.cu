// SPDX-License-Identifier: MIT
// Asynchronous copies from global to shared memory: what arrives, and when. Some kernels look on
// purpose before they have waited, which the race detector would report.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <algorithm>
#include <utility>
#include <vector>

#include "../kernel_testing.cuh"

namespace {

using Bytes = std::vector<unsigned char>;

// ---- the functions of C -------------------------------------------------------------------------

constexpr unsigned kThreads = 70;

/// Each thread copies `bytes` bytes, and the last `zeros` of them become 0.
__global__ void copy_bytes(const unsigned char* x, unsigned char* y, unsigned bytes,
                           unsigned zeros) {
  __shared__ alignas(16) unsigned char tile[16 * kThreads];
  const unsigned at = bytes * threadIdx.x;
  // What is not read need not be there.
  __pipeline_memcpy_async(tile + at, zeros == bytes ? nullptr : x + at, bytes, zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  const unsigned other = bytes * (kThreads - 1 - threadIdx.x);
  for (unsigned i = 0; i < bytes; ++i) y[at + i] = tile[other + i];
}

/// Begins `batches` batches of two copies, and waits for all but `left`. Counts the copies that
/// have arrived: those of whole batches must have.
__global__ void leave_batches(const int* x, unsigned* arrived, int* before, unsigned batches,
                              unsigned left) {
  __shared__ int tile[2 * 40];
  for (unsigned i = 0; i < 2 * 40; ++i) tile[i] = 1000;
  for (unsigned i = 0; i < batches; ++i) {
    __pipeline_memcpy_async(&tile[2 * i], &x[2 * i], sizeof(int));
    __pipeline_memcpy_async(&tile[2 * i + 1], &x[2 * i + 1], sizeof(int));
    __pipeline_commit();
  }
  *before = tile[0];
  __pipeline_wait_prior(left);
  unsigned count = 0;
  for (unsigned i = 0; i < 2 * batches; ++i) count += tile[i] == x[i];
  *arrived = count;
  __pipeline_wait_prior(0);
  for (unsigned i = 0; i < 2 * batches; ++i) count += tile[i] != x[i];
  if (count != *arrived) *arrived = ~0u;
}

/// An empty batch is one, too.
__global__ void empty_batches(const int* x, int* seen) {
  __shared__ int tile;
  __pipeline_commit();
  __pipeline_memcpy_async(&tile, x, sizeof(int));
  __pipeline_wait_prior(0);  // for the empty one
  seen[0] = tile;
  __pipeline_commit();
  __pipeline_wait_prior(1);
  seen[1] = tile;
  __pipeline_commit();
  __pipeline_wait_prior(1);
  seen[2] = tile;
}

/// What the source holds at the wait is what arrives.
__global__ void change_source(int* x, int* seen) {
  __shared__ int tile;
  __pipeline_memcpy_async(&tile, x, sizeof(int));
  __pipeline_commit();
  *x = 2;
  __pipeline_wait_prior(0);
  *seen = tile;
}

/// Thread 0 copies and does not wait before the barrier; the others look.
__global__ void look_too_early(const int* x, int* seen) {
  __shared__ int tile;
  if (threadIdx.x == 0) tile = 5;
  __syncthreads();
  if (threadIdx.x == 0) {
    __pipeline_memcpy_async(&tile, x, sizeof(int));
    __pipeline_commit();
  }
  __syncthreads();
  seen[threadIdx.x] = tile;
  __syncthreads();
  __pipeline_wait_prior(0);
}

__device__ int device_numbers[4] = {1, 2, 3, 4};

__global__ void copy_variable(int* y) {
  __shared__ int tile[4];
  __pipeline_memcpy_async(&tile[threadIdx.x], &device_numbers[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[threadIdx.x] = tile[threadIdx.x];
}

/// Many blocks use the memory of the same worker one after the other.
__global__ void copy_in_blocks(const int* x, int* y) {
  extern __shared__ int tile[];
  const unsigned first = 4 * (blockIdx.x * blockDim.x);
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned at = i * blockDim.x + threadIdx.x;
    __pipeline_memcpy_async(&tile[at], &x[first + at], sizeof(int));
    __pipeline_commit();
  }
  for (unsigned i = 0; i < 4; ++i) {
    __pipeline_wait_prior(3 - i);
    __syncthreads();
    const unsigned at = i * blockDim.x + threadIdx.x;
    y[first + at] = tile[i * blockDim.x + blockDim.x - 1 - threadIdx.x];
  }
}

}  // namespace

TEST_CASE(
    "asynchronous copies bring 4, 8 or 16 bytes a thread, and fill the last ones with zeros") {
  Bytes x(16 * kThreads);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i * 7 + i / 50);
  const DeviceArray<unsigned char> d_x(x);
  for (const unsigned bytes : {4u, 8u, 16u}) {
    for (unsigned zeros = 0; zeros <= bytes; ++zeros) {
      DeviceArray<unsigned char> d_y(Bytes(x.size(), 0xff));
      copy_bytes<<<1, kThreads>>>(d_x.get(), d_y.get(), bytes, zeros);
      Bytes expected(x.size(), 0xff);
      for (unsigned t = 0; t < kThreads; ++t) {
        for (unsigned i = 0; i < bytes; ++i) {
          expected[bytes * t + i] =
              i < bytes - zeros ? x[bytes * (kThreads - 1 - t) + i] : static_cast<unsigned char>(0);
        }
      }
      INFO(bytes << " bytes, " << zeros << " of them zeros");
      CHECK(d_y.download() == expected);
    }
  }
}

// FEATURE: asynchronous copies: `__pipeline_memcpy_async`
TEST_CASE("a wait is for all batches but the last ones, of which eight count") {
  std::vector<int> x(80);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i);
  const DeviceArray<int> d_x(x);
  for (const unsigned batches : {1u, 2u, 9u, 40u}) {
    for (const unsigned left : {0u, 1u, 2u, 8u, 9u, 100u}) {
      DeviceArray<unsigned> arrived(1);
      DeviceArray<int> before(1);
      leave_batches<<<1, 1>>>(d_x.get(), arrived.get(), before.get(), batches, left);
      INFO(batches << " batches, all but " << left);
      CHECK(arrived.download()[0] == 2 * (batches - std::min({batches, left, 8u})));
      CHECK(before.download()[0] == -1);  // neither what was there nor what comes
    }
  }
}

TEST_CASE("a copy belongs to the batch that is closed next, and an empty batch counts") {
  const DeviceArray<int> x(std::vector<int>{7});
  DeviceArray<int> seen(3);
  empty_batches<<<1, 1>>>(x.get(), seen.get());
  CHECK(seen.download() == std::vector<int>{-1, -1, 7});
}

TEST_CASE("the source is read when the copy is waited for") {
  DeviceArray<int> x(std::vector<int>{1}), seen(1);
  change_source<<<1, 1>>>(x.get(), seen.get());
  CHECK(seen.download()[0] == 2);
}

TEST_CASE("under no order of threads does anybody see a copy before its thread waits") {
  const DeviceArray<int> x(std::vector<int>{7});
  DeviceArray<int> seen(64);
  look_too_early<<<1, 64>>>(x.get(), seen.get());
  CHECK(seen.download() == std::vector<int>(64, -1));
}

TEST_CASE("device variables can be copied asynchronously") {
  DeviceArray<int> y(4);
  copy_variable<<<1, 4>>>(y.get());
  CHECK(y.download() == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("each block has its own asynchronous copies") {
  constexpr unsigned kBlocks = 50, kBlock = 96;
  std::vector<int> x(4 * kBlocks * kBlock), expected(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * i % 10007);
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected[i] = x[i / kBlock * kBlock + kBlock - 1 - i % kBlock];
  }
  const DeviceArray<int> d_x(x);
  DeviceArray<int> d_y(x.size());
  copy_in_blocks<<<kBlocks, kBlock, 4 * kBlock * sizeof(int)>>>(d_x.get(), d_y.get());
  CHECK(d_y.download() == expected);
}

// ---- groups -------------------------------------------------------------------------------------

namespace {

namespace cg = cooperative_groups;

constexpr unsigned kMostBytes = 700;

/// The groups of a block copy `bytes` bytes each, `offset` bytes behind an aligned address.
template <unsigned kSize>
__global__ void copy_by_tiles(const unsigned char* x, unsigned char* y, unsigned bytes,
                              unsigned offset) {
  __shared__ alignas(16) unsigned char tiles[4][kMostBytes + 20];
  const auto tile = cg::tiled_partition<kSize>(cg::this_thread_block());
  unsigned char* const mine = tiles[tile.meta_group_rank()] + offset;
  cg::memcpy_async(tile, mine, x + offset, bytes);
  cg::wait(tile);
  for (unsigned i = tile.thread_rank(); i < bytes; i += kSize) {
    y[tile.meta_group_rank() * bytes + i] = mine[bytes - 1 - i];
  }
}

/// The block copies tile after tile, one ahead of what it reads.
__global__ void copy_ahead(const int* x, int* y, unsigned n, unsigned per_tile) {
  extern __shared__ int memory[];
  const cg::thread_block block = cg::this_thread_block();
  const auto begin_tile = [&](unsigned number) {
    const unsigned first = number * per_tile;
    cg::memcpy_async(block, memory + number % 2 * per_tile, per_tile, x + first, n - first);
  };
  const unsigned count = (n + per_tile - 1) / per_tile;
  begin_tile(0);
  for (unsigned i = 0; i < count; ++i) {
    if (i + 1 < count) {
      begin_tile(i + 1);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    for (unsigned j = threadIdx.x; j < per_tile && i * per_tile + j < n; j += blockDim.x) {
      y[i * per_tile + j] = memory[i % 2 * per_tile + j] + 1;
    }
    block.sync();
  }
}

__global__ void aligned_copy(const int4* x, int4* y) {
  __shared__ int4 tile[32];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, x, cuda::aligned_size_t<16>(sizeof(tile)));
  cg::wait(block);
  y[threadIdx.x] = tile[31 - threadIdx.x];
}

}  // namespace

// FEATURE: cooperative groups: `cg::memcpy_async`
TEST_CASE("groups copy any number of bytes between any addresses") {
  Bytes x(kMostBytes + 20);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i * 13 + i / 40);
  const DeviceArray<unsigned char> d_x(x);
  for (const unsigned bytes : {0u, 1u, 3u, 16u, 31u, 64u, 100u, 256u, 513u, 700u}) {
    for (const unsigned offset : {0u, 1u, 2u, 4u, 8u, 12u}) {
      const DeviceArray<unsigned char> by_warps(2 * bytes), by_eights(4 * bytes);
      copy_by_tiles<32><<<1, 64>>>(d_x.get(), by_warps.get(), bytes, offset);
      copy_by_tiles<8><<<1, 32>>>(d_x.get(), by_eights.get(), bytes, offset);
      Bytes expected;
      for (int tile = 0; tile < 4; ++tile) {
        for (unsigned i = 0; i < bytes; ++i) expected.push_back(x[offset + bytes - 1 - i]);
      }
      INFO(bytes << " bytes, offset " << offset);
      CHECK(by_eights.download() == expected);
      expected.resize(2 * bytes);
      CHECK(by_warps.download() == expected);
    }
  }
}

TEST_CASE("a block copies the next tile while it reads one") {
  std::vector<int> x(1000), expected(1000);
  for (int i = 0; i < 1000; ++i) x[i] = i * i, expected[i] = i * i + 1;
  const DeviceArray<int> d_x(x);
  for (const unsigned per_tile : {1u, 64u, 100u, 333u, 1000u, 2000u}) {
    const DeviceArray<int> d_y(1000);
    copy_ahead<<<1, 64, 2 * per_tile * sizeof(int)>>>(d_x.get(), d_y.get(), 1000, per_tile);
    CHECK(d_y.download() == expected);
  }
}

TEST_CASE("a copy may name its alignment") {
  std::vector<int> x(128), expected(128);
  for (int i = 0; i < 128; ++i) x[i] = i, expected[i] = (31 - i / 4) * 4 + i % 4;
  const DeviceArray<int> d_x(x), d_y(128);
  aligned_copy<<<1, 32>>>(reinterpret_cast<const int4*>(d_x.get()),
                          reinterpret_cast<int4*>(d_y.get()));
  CHECK(d_y.download() == expected);
}

// ---- barriers of the program's own --------------------------------------------------------------

namespace {

using Barrier = cuda::barrier<cuda::thread_scope_block>;
static_assert(sizeof(Barrier) == 8 && alignof(Barrier) == 8);

/// Each thread adds its neighbour's number of the turn before, between two phases.
__global__ void pass_round(int* y, unsigned turns) {
  __shared__ Barrier barrier;
  __shared__ int numbers[2][100];
  const unsigned t = threadIdx.x, n = blockDim.x;
  if (t == 0) init(&barrier, n);
  numbers[0][t] = static_cast<int>(t);
  __syncthreads();
  for (unsigned i = 0; i < turns; ++i) {
    numbers[(i + 1) % 2][t] = numbers[i % 2][(t + 1) % n] + 1;
    if (i % 3 == 0) {
      barrier.arrive_and_wait();
    } else if (i % 3 == 1) {
      Barrier::arrival_token token = barrier.arrive();
      barrier.wait(std::move(token));
    } else {
      auto token = barrier.arrive();
      while (!barrier.try_wait_for(std::move(token), cuda::std::chrono::nanoseconds(1))) {
      }
    }
  }
  y[t] = numbers[turns % 2][t];
}

/// Warp 0 fills and the others empty: some arrive without waiting.
__global__ void hand_over(const int* x, int* y, unsigned rounds) {
  __shared__ Barrier full, empty;
  __shared__ int data[32];
  if (threadIdx.x == 0) {
    init(&full, blockDim.x);
    init(&empty, blockDim.x);
  }
  __syncthreads();
  for (unsigned i = 0; i < rounds; ++i) {
    if (threadIdx.x < 32) {
      data[threadIdx.x] = x[32 * i + threadIdx.x];
      (void)full.arrive();
      empty.arrive_and_wait();
    } else {
      full.arrive_and_wait();
      if (threadIdx.x < 64) y[32 * i + threadIdx.x - 32] = data[63 - threadIdx.x];
      (void)empty.arrive();
    }
  }
}

/// A thread after the other leaves; one arrives for many.
__global__ void drop_out(int* turns) {
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x + 5);
  __syncthreads();
  int count = 0;
  for (unsigned i = 0; i < threadIdx.x; ++i, ++count) {
    if (threadIdx.x == blockDim.x - 1) (void)barrier.arrive(5);
    barrier.arrive_and_wait();
  }
  turns[threadIdx.x] = count;
  if (threadIdx.x == blockDim.x - 1) (void)barrier.arrive(5);
  barrier.arrive_and_drop();
}

/// Each thread copies a number, then one copies for all, then all together.
__global__ void copy_with_barrier(const int* x, int* y) {
  __shared__ Barrier barrier;
  __shared__ alignas(16) int tiles[3][64];
  const unsigned t = threadIdx.x;
  const cg::thread_block block = cg::this_thread_block();
  if (t == 0) init(&barrier, 64);
  block.sync();
  cuda::memcpy_async(&tiles[0][t], &x[t], sizeof(int), barrier);
  barrier.arrive_and_wait();
  y[t] = tiles[0][63 - t];
  if (t == 5) {
    cuda::memcpy_async(tiles[1], x + 64, cuda::aligned_size_t<4>(64 * sizeof(int)), barrier);
  }
  cuda::memcpy_async(block, tiles[2], x + 128, 64 * sizeof(int), barrier);
  auto token = barrier.arrive();
  const int early = tiles[1][t];
  barrier.wait(std::move(token));
  y[64 + t] = early == -1 ? tiles[1][63 - t] : early;
  y[128 + t] = tiles[2][63 - t];
}

std::vector<int> numbers(std::size_t n) {
  std::vector<int> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<int>(i * 7 % 1009);
  return x;
}

/// Every `group` numbers are turned around.
std::vector<int> turned_around(std::vector<int> x, std::size_t group) {
  for (std::size_t i = 0; i + group <= x.size(); i += group) {
    std::reverse(x.begin() + static_cast<std::ptrdiff_t>(i),
                 x.begin() + static_cast<std::ptrdiff_t>(i + group));
  }
  return x;
}

}  // namespace

// FEATURE: asynchronous copies: `cuda::barrier`
TEST_CASE("a phase of a barrier ends when all have arrived, and the next one begins") {
  for (const unsigned turns : {1u, 2u, 3u, 50u}) {
    for (const unsigned threads : {1u, 2u, 33u, 100u}) {
      const DeviceArray<int> y(threads);
      pass_round<<<1, threads>>>(y.get(), turns);
      std::vector<int> expected(threads);
      for (unsigned t = 0; t < threads; ++t) {
        expected[t] = static_cast<int>((t + turns) % threads + turns);
      }
      CHECK(y.download() == expected);
    }
  }
}

TEST_CASE("a thread may arrive and go on, and another one waits for it") {
  const DeviceArray<int> x(numbers(32 * 20)), y(32 * 20);
  hand_over<<<1, 96>>>(x.get(), y.get(), 20);
  CHECK(y.download() == turned_around(numbers(32 * 20), 32));
}

TEST_CASE("who drops out is not expected any more, and one may arrive for many") {
  const DeviceArray<int> turns(70);
  drop_out<<<1, 70>>>(turns.get());
  std::vector<int> expected(70);
  for (int t = 0; t < 70; ++t) expected[t] = t;
  CHECK(turns.download() == expected);
}

TEST_CASE("copies that belong to a phase are there when somebody has waited for it") {
  const DeviceArray<int> x(numbers(192)), y(192);
  copy_with_barrier<<<1, 64>>>(x.get(), y.get());
  CHECK(y.download() == turned_around(numbers(192), 64));
}

// ---- pipelines ----------------------------------------------------------------------------------

namespace {

/// One thread, three stages ahead.
__global__ void thread_pipeline(const int* x, int* y, unsigned n) {
  __shared__ int tiles[4];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  unsigned begun = 0;
  for (unsigned i = 0; i < n; ++i) {
    for (; begun < n && begun < i + 3; ++begun) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tiles[begun % 4], &x[begun], sizeof(int), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    y[i] = tiles[i % 4];
    pipe.consumer_release();
  }
  pipe.consumer_wait();  // there is nothing to wait for
}

__global__ void thread_pipeline_prior(const int* x, int* y) {
  __shared__ int tiles[3];
  __shared__ Barrier barrier;
  init(&barrier, 1);
  auto pipe = cuda::make_pipeline();
  for (int i = 0; i < 2; ++i) {
    cuda::memcpy_async(&tiles[i], &x[i], sizeof(int), pipe);
    pipe.producer_commit();
  }
  cuda::pipeline_consumer_wait_prior<1>(pipe);
  y[0] = tiles[0], y[1] = tiles[1];
  pipe.consumer_wait();
  y[2] = tiles[1];
  cuda::memcpy_async(&tiles[2], &x[2], sizeof(int), pipe);
  cuda::pipeline_producer_commit(pipe, barrier);
  barrier.arrive_and_wait();
  y[3] = tiles[2];
}

constexpr unsigned kStages = 3;

/// All threads produce and consume.
__global__ void block_pipeline(const int* x, int* y, unsigned count) {
  __shared__ int tiles[kStages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  unsigned begun = 0;
  for (unsigned i = 0; i < count; ++i) {
    for (; begun < count && begun < i + kStages; ++begun) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tiles[begun % kStages], x + 64 * begun, 64 * sizeof(int), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    y[64 * i + threadIdx.x] = tiles[i % kStages][63 - threadIdx.x];
    pipe.consumer_release();
  }
}

/// The first warp copies, two others read; each thread says what it does, or the number does.
__global__ void split_pipeline(const int* x, int* y, unsigned count, bool by_role) {
  __shared__ int tiles[kStages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const cg::thread_block block = cg::this_thread_block();
  const bool produces = threadIdx.x < 32;
  const auto role = produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe =
      by_role ? cuda::make_pipeline(block, &state, role) : cuda::make_pipeline(block, &state, 32);
  for (unsigned i = 0; i < count; ++i) {
    if (produces) {
      pipe.producer_acquire();
      const unsigned at = 2 * threadIdx.x;
      cuda::memcpy_async(&tiles[i % kStages][at], &x[64 * i + at], 2 * sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      const unsigned t = threadIdx.x - 32;
      y[64 * i + t] = tiles[i % kStages][63 - t];
      pipe.consumer_release();
    }
  }
}

}  // namespace

// FEATURE: asynchronous copies: `cuda::pipeline`
TEST_CASE("a thread's pipeline waits for its oldest stage") {
  for (const unsigned n : {1u, 2u, 3u, 4u, 300u}) {
    const DeviceArray<int> x(numbers(n)), y(n);
    thread_pipeline<<<1, 1>>>(x.get(), y.get(), n);
    CHECK(y.download() == numbers(n));
  }
  const DeviceArray<int> x(std::vector<int>{1, 2, 3}), y(4);
  thread_pipeline_prior<<<1, 1>>>(x.get(), y.get());
  CHECK(y.download() == std::vector<int>{1, -1, 2, 3});
}

TEST_CASE("threads of a block fill and empty the stages of a pipeline") {
  for (const unsigned count : {1u, 2u, 3u, 4u, 20u}) {
    const std::vector<int> expected = turned_around(numbers(64 * count), 64);
    const DeviceArray<int> x(numbers(64 * count));
    const DeviceArray<int> together(64 * count), by_number(64 * count), by_role(64 * count);
    block_pipeline<<<1, 64>>>(x.get(), together.get(), count);
    split_pipeline<<<1, 96>>>(x.get(), by_number.get(), count, false);
    split_pipeline<<<1, 96>>>(x.get(), by_role.get(), count, true);
    CHECK(together.download() == expected);
    CHECK(by_number.download() == expected);
    CHECK(by_role.download() == expected);
  }
}
