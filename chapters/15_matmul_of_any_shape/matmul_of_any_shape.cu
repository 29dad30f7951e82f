// SPDX-License-Identifier: MIT
// Chapter 15: what does the last wave cost?
// C = A * B in float, row-major: A is m x k, B is k x n.
// whole_tiles  a block for each tile of 128 x 256 elements of C, as chapter 14 ended
// small_tiles  tiles of 64 x 128
// split_k      a block for each part of a tile's steps; a second kernel adds the parts
// even_shares  as many steps for each block (stream-K)
// few_rows     8 rows of A at a time, past which all of B is streamed
// chosen       of these the one whose predicted time is the least
// cublas       the library, which chooses as well
// Run: make run CH=15

#include "../../common/common.cuh"
#include "cublas_product.cuh"
#include "shares.cuh"  // multiply_tiles: a block for each tile; multiply_shares: even shares

// As multiply_tiles, but block (x, y) walks along part y of the steps of tile x. Each part has a C
// of its own, `apart` elements behind the one before.
template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    multiply_parts(Matrix a, Matrix b, Matrix c, std::size_t apart, unsigned down,
                   unsigned across) {
  extern __shared__ __align__(128) float4 dynamic[];  // where copies land, in whole sectors
  float* const slices = reinterpret_cast<float*>(dynamic);
  const Place corner = corner_in_groups<T>(blockIdx.x, down, across);
  const Place place = place_of_thread<T>();
  const unsigned steps = (a.width + T::kDepth - 1) / T::kDepth;
  const unsigned first = steps * blockIdx.y / gridDim.y;
  const unsigned end = steps * (blockIdx.y + 1) / gridDim.y;
  c.data += blockIdx.y * apart;
  Sums<T> sums;
  walk_any<T>(sums, slices, a, b, corner, place, first, end - first);
  store_any(sums, slices, c, corner, place);
}

// A thread for each element of C.
__global__ void add_parts(Matrix c, const float* sums, std::size_t apart, unsigned parts) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= apart) return;
  float sum = 0;
  for (unsigned part = 0; part < parts; ++part) sum += sums[part * apart + i];
  c.at(static_cast<unsigned>(i / c.width), static_cast<unsigned>(i % c.width)) = sum;
}

constexpr unsigned kRowsAtOnce = 8, kThinBlock = 128;
constexpr unsigned kChunk = 64;  // terms of A's rows that are in shared memory at a time

// Block (x, y, z): columns from 128 x on, the `depth` terms of part y, rows from 8 z on. A thread
// has a column, reads its elements of B, and multiplies each by 8 of A.
__global__ void __launch_bounds__(kThinBlock)
    multiply_few_rows(Matrix a, Matrix b, Matrix c, std::size_t apart, unsigned depth) {
  __shared__ float of_a[kChunk][kRowsAtOnce];
  const unsigned column = blockIdx.x * kThinBlock + threadIdx.x, row = blockIdx.z * kRowsAtOnce;
  const unsigned first = blockIdx.y * depth, end = min(first + depth, a.width);
  float sums[kRowsAtOnce] = {};
  for (unsigned k = first; k < end; k += kChunk) {
    const unsigned count = min(kChunk, end - k);
    for (unsigned i = threadIdx.x; i < kRowsAtOnce * kChunk; i += kThinBlock)
      of_a[i % kChunk][i / kChunk] = at_or_zero(a, row + i / kChunk, k + i % kChunk);
    __syncthreads();  // the chunk is complete before anyone reads it
    if (column < b.width) {
#pragma unroll 16
      for (unsigned l = 0; l < count; ++l) {
        const float x = b.at(k + l, column);
#pragma unroll
        for (unsigned r = 0; r < kRowsAtOnce; ++r) sums[r] += of_a[l][r] * x;
      }
    }
    __syncthreads();  // everyone has read before anyone stores the next chunk over this one
  }
  c.data += blockIdx.y * apart;
#pragma unroll
  for (unsigned r = 0; r < kRowsAtOnce; ++r)
    if (row + r < c.height && column < c.width) c.at(row + r, column) = sums[r];
}

// ---- who gets what -----------------------------------------------------------------------------

// C = A * B on so many multiprocessors: how the work is divided, and memory for sums of parts.
struct AnyShape : MatrixProduct {
  unsigned sms;
  unsigned steps = blocks_for(a.width, Large::kDepth);  // of a tile, 16 terms each
  std::size_t apart = std::size_t{c.height} * c.width;  // from a part's C to the next
  unsigned parts = parts_of_tile(), parts_of_few_rows = parts_of_column();
  Shares shares = even_shares();
  DeviceArray<float> sums{
      std::max({room_for(parts), room_for(parts_of_few_rows),
                std::size_t{2} * shares.blocks* Large::kRows* Large::kColumns})};
  DeviceArray<unsigned> tickets{std::vector<unsigned>(shares.tiles - shares.dealt, 0)};

  template <class T>
  unsigned down() const {
    return blocks_for(c.height, T::kRows);
  }
  template <class T>
  unsigned across() const {
    return blocks_for(c.width, T::kColumns);
  }
  template <class T>
  unsigned tiles() const {
    return down<T>() * across<T>();
  }

  // Where there are parts, each stores its own C.
  Matrix c_of_parts(unsigned count) const {
    return count == 1 ? c : dense_matrix(sums, c.height, c.width);
  }
  void add(unsigned count) const {
    constexpr unsigned kBlock = 256;
    if (count > 1) add_parts<<<blocks_for(apart, kBlock), kBlock>>>(c, sums, apart, count);
  }

 private:
  std::size_t room_for(unsigned count) const { return count == 1 ? 0 : count * apart; }

  // As many as fit into one wave, of two steps at least.
  unsigned parts_of_tile() const { return std::max(1u, std::min(sms / tiles<Large>(), steps / 2)); }

  // So that every multiprocessor gets 8 blocks.
  unsigned parts_of_column() const {
    const std::size_t blocks = div_up(c.width, kThinBlock) * div_up(c.height, kRowsAtOnce);
    return static_cast<unsigned>(std::min(div_up(8 * sms, blocks), div_up(a.width, kChunk)));
  }

  // For a block on each multiprocessor, but of eight steps at least: smaller ones are not worth
  // putting together.
  Shares even_shares() const {
    const std::size_t worth = std::size_t{tiles<Large>()} * steps / 8;
    const std::size_t blocks = std::min(std::max<std::size_t>(worth, 1), std::size_t{sms});
    return divide_work(down<Large>(), across<Large>(), steps, static_cast<unsigned>(blocks));
  }
};

// ---- the model: waves and bytes ----------------------------------------------------------------

// What a tile takes of a multiprocessor, in microseconds: before and after its steps, for each step
// of 16 terms, and how much longer a step is of the first tile that is there at a time. All numbers
// here are an H200's; another GPU has others. How they were fitted: common/tools/measure/
// fit_any_shape.py and the lab notes.
struct TileTimes {
  double ends, step, first = 0;
};
constexpr TileTimes kLargeTimes = {3.1, 2.59}, kSmallTimes = {0.5, 0.60, 0.25};
constexpr TileTimes kShareTimes = {3.1, 2.86};    // Large, in the kernel that shares tiles
constexpr double kPart = 0.72;                    // adding a part of a shared tile
constexpr TileTimes kRowsTimes = {0.15, 0.0065};  // 8 x 128 elements of few_rows, a term: estimated
constexpr double kLaunch = 3.4;                   // microseconds
constexpr double kMemory = 4.2e6, kL2 = 6e6;      // bytes per microsecond; kL2: of sums of parts
constexpr double kAgain = 4.7e6;                  // of B, where few_rows reads it once more

// A launch, then waves or bytes, whichever take longer. The fullest multiprocessor has `tiles`.
double predicted_us(double tiles, double steps, TileTimes t, double bytes) {
  return kLaunch + std::max(tiles * (t.ends + steps * t.step), bytes / kMemory);
}

double bytes_of(const AnyShape& p) {
  return sizeof(float) * (1.0 * p.a.height * p.a.width + 1.0 * p.b.height * p.b.width + p.apart);
}

// A second kernel adds parts that were written and are read again.
double us_of_adding(const AnyShape& p, unsigned parts) {
  return parts > 1 ? kLaunch + 2.0 * sizeof(float) * parts * p.apart / kL2 : 0;
}

template <class T>
double us_of_tiles(const AnyShape& p, TileTimes t) {
  const std::size_t tiles = div_up(p.tiles<T>(), p.sms), rounds = div_up(tiles, T::kBlocksPerSm);
  t.step += t.first * static_cast<double>(rounds) / static_cast<double>(tiles);
  return predicted_us(tiles, p.steps, t, bytes_of(p));
}

double us_of_split_k(const AnyShape& p) {
  return predicted_us(div_up(p.tiles<Large>() * p.parts, p.sms), div_up(p.steps, p.parts),
                      kLargeTimes, bytes_of(p)) +
         us_of_adding(p, p.parts);
}

// A block has the same steps as every other; and the ends of whole tiles, and of two parts. The
// last block of a shared tile adds its parts.
double us_of_even_shares(const AnyShape& p) {
  const Shares& s = p.shares;
  const bool any_shared = s.dealt < s.tiles;
  const double visits = s.dealt / s.blocks + (any_shared ? 2 : 0);
  const double steps = std::ceil(1.0 * s.tiles * s.steps / s.blocks);
  const double parts = any_shared ? 1.0 * s.blocks / (s.tiles - s.dealt) : 0;
  return predicted_us(visits, steps / visits, kShareTimes, bytes_of(p)) + parts * kPart;
}

// B is read once for every 8 rows: from memory, and then again from the L2.
double us_of_few_rows(const AnyShape& p) {
  const std::size_t groups = div_up(p.c.height, kRowsAtOnce);
  const std::size_t blocks = div_up(p.c.width, kThinBlock) * groups;
  const double again = sizeof(float) * (groups - 1.0) * p.b.height * p.b.width;
  return predicted_us(div_up(blocks * p.parts_of_few_rows, p.sms),
                      div_up(p.a.width, p.parts_of_few_rows), kRowsTimes,
                      bytes_of(p) + again * kMemory / kAgain) +
         us_of_adding(p, p.parts_of_few_rows);
}

// ---- the ways ----------------------------------------------------------------------------------

template <class Kernel>
void allow(Kernel* kernel, unsigned bytes) {  // more shared memory than a block gets unasked
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

template <class T>
void launch_tiles(const AnyShape& p) {
  allow(multiply_tiles<T>, T::kBytes);
  multiply_tiles<T>
      <<<p.tiles<T>(), T::kThreads, T::kBytes>>>(p.a, p.b, p.c, p.down<T>(), p.across<T>());
}

void launch_split_k(const AnyShape& p) {
  allow(multiply_parts<Large>, Large::kBytes);
  const dim3 grid(p.tiles<Large>(), p.parts);
  multiply_parts<Large><<<grid, Large::kThreads, Large::kBytes>>>(
      p.a, p.b, p.c_of_parts(p.parts), p.apart, p.down<Large>(), p.across<Large>());
  p.add(p.parts);
}

void launch_even_shares(const AnyShape& p) {
  allow(multiply_shares<Large>, Large::kBytes);
  Shares shares = p.shares;
  shares.partial_sums = p.sums;
  shares.tickets = p.tickets;
  multiply_shares<Large>
      <<<shares.blocks, Large::kThreads, Large::kBytes>>>(p.a, p.b, p.c, shares, true);
}

void launch_few_rows(const AnyShape& p) {
  const unsigned parts = p.parts_of_few_rows;
  const auto depth = static_cast<unsigned>(div_up(p.a.width, parts));
  const dim3 grid(blocks_for(p.c.width, kThinBlock), parts, blocks_for(p.c.height, kRowsAtOnce));
  multiply_few_rows<<<grid, kThinBlock>>>(p.a, p.b, p.c_of_parts(parts), p.apart, depth);
  p.add(parts);
}

// A way to compute the product, and how long that takes, in microseconds, by the model.
struct Way {
  Version<AnyShape> version;
  double (*us)(const AnyShape&);
};

const Way kWays[] = {
    {{"whole_tiles", "a block for each tile of 128 x 256", launch_tiles<Large>},
     [](const AnyShape& p) { return us_of_tiles<Large>(p, kLargeTimes); }},
    {{"small_tiles", "tiles of 64 x 128", launch_tiles<Small>},
     [](const AnyShape& p) { return us_of_tiles<Small>(p, kSmallTimes); }},
    {{"split_k", "a block for each part of a tile's steps", launch_split_k}, us_of_split_k},
    {{"even_shares", "as many steps for each block", launch_even_shares}, us_of_even_shares},
    {{"few_rows", "B streamed past 8 rows of A", launch_few_rows}, us_of_few_rows},
};

const Way& best_way(const AnyShape& p) {
  return *std::min_element(std::begin(kWays), std::end(kWays),
                           [&](const Way& x, const Way& y) { return x.us(p) < y.us(p); });
}

const Way kChosen = {{"chosen", "the way whose predicted time is the least",
                      [](const AnyShape& p) { best_way(p).version.launch(p); }},
                     [](const AnyShape& p) { return best_way(p).us(p); }};

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 1536 : 100, n = kOnGpu ? 2820 : 100, k = kOnGpu ? 4096 : 100;
  const Options opt(argc, argv, "15_matmul_of_any_shape", "what does the last wave cost?",
                    {{"m", &m, 1, kMostSide, "rows of A and C"},
                     {"n", &n, 1, kMostSide, "columns of B and C"},
                     {"k", &k, 1, kMostSide, "columns of A, rows of B"}});
  const std::size_t bytes = (m * k + k * n + m * n) * sizeof(float);
  ResultTable table(opt, bytes, bytes, {"predicted_ms"});
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  if (opt.list) m = n = k = 1;  // nothing runs, so nothing has to be multiplied on the host

  const unsigned sms = multiprocessors(table.device);
  const AnyShape product{{m, n, k, opt.seed}, sms};
  table.each_launch_does(product.amount());
  const auto add_row = [&](const Way& way) {
    const Version<AnyShape>& v = way.version;
    const auto is_right = [&] {
      table.next_row_has(way.us(product) / 1e3);
      return product.is_right(v.name);
    };
    table.add(
        v.name, product, [&] { v.launch(product); }, is_right, v.summary);
  };
  for (const Way& way : kWays) add_row(way);
  add_row(kChosen);
  table.add(kCublas<AnyShape>, product);
  const unsigned tiles = product.tiles<Large>();
  table.note(tiles, " large tiles on ", sms, " multiprocessors: ", div_up(tiles, sms),
             " for the fullest; chosen: ", best_way(product).version.name);
  return table.finish();
}
