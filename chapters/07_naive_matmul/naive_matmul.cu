// SPDX-License-Identifier: MIT
// Chapter 07: what bounds a kernel?
//
// row_per_thread    a thread computes a whole row of C: too few threads
// rows_along_x      a thread per element, neighbouring threads in a column: uncoalesced
// columns_along_x   a thread per element, neighbouring threads in a row: coalesced
// split_inner_loop  the lanes of a warp share one dot product: the wrong loop to split
// cublas            the library (GPU only)
// C = A * B in float, row-major: A is m x k, B is k x n.
// Run: make run CH=07

#include <algorithm>
#include <climits>
#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "../../common/matrix.cuh"

constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr std::size_t kMaxSide = std::size_t{1} << 18;  // grids stay within their limits

struct Problem {
  Matrix a, b, c;
  unsigned block;  // threads per block; 2D blocks are 32 wide
};

// ---- kernels -----------------------------------------------------------------------------------

// The dot product of a row of A and a column of B: two loads for every multiplication and addition.
__device__ float dot(const Matrix& a, const Matrix& b, unsigned row, unsigned column) {
  float sum = 0;
  for (unsigned i = 0; i < a.width; ++i) sum += a.at(row, i) * b.at(i, column);
  return sum;
}

// m threads in all, in a handful of blocks: most multiprocessors get none.
__global__ void multiply_row_per_thread(Matrix a, Matrix b, Matrix c) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= c.height) return;  // no barrier follows
  for (unsigned column = 0; column < c.width; ++column) {
    c.at(row, column) = dot(a, b, row, column);
  }
}

// Neighbouring lanes hold neighbouring rows. For every i a warp loads from 32 rows of A,
// a stride apart: 32 lines for 32 floats. All lanes want the same element of B.
__global__ void multiply_rows_along_x(Matrix a, Matrix b, Matrix c) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < c.height && column < c.width) c.at(row, column) = dot(a, b, row, column);
}

// The same with x and y exchanged. For every i a warp loads one element of A, the same for
// all lanes, and 32 neighbours of B: one line for each of the two loads.
__global__ void multiply_columns_along_x(Matrix a, Matrix b, Matrix c) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < c.height && column < c.width) c.at(row, column) = dot(a, b, row, column);
}

// One element of C per warp: each lane takes every 32nd term of the dot product. The loads of
// A are neighbours now, those of B lie a row of B apart, and no two lanes want the same
// element of either. Then the lanes add up by shuffles, and 31 of them have nothing to store.
__global__ void multiply_split_inner_loop(Matrix a, Matrix b, Matrix c) {
  // 64-bit: with 32 threads per element of C, thread numbers pass 2^32 from 11586 x 11586 on.
  const std::size_t warp =
      static_cast<std::size_t>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  const unsigned lane = threadIdx.x % kWarp;
  // Whole warps leave: the shuffles below miss nobody.
  if (warp >= static_cast<std::size_t>(c.height) * c.width) return;
  const auto row = static_cast<unsigned>(warp / c.width);
  const auto column = static_cast<unsigned>(warp % c.width);
  float sum = 0;
  for (unsigned i = lane; i < a.width; i += kWarp) sum += a.at(row, i) * b.at(i, column);
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(kAllLanes, sum, distance);
  }
  if (lane == 0) c.at(row, column) = sum;
}

// ---- the ladder --------------------------------------------------------------------------------

unsigned blocks_for(std::size_t count, std::size_t size) {
  return static_cast<unsigned>(div_up(count, size));
}

const Version<Problem> kVersions[] = {
    {"row_per_thread", "a thread computes a whole row of C",
     [](const Problem& p) {
       multiply_row_per_thread<<<blocks_for(p.c.height, p.block), p.block>>>(p.a, p.b, p.c);
     }},
    {"rows_along_x", "a thread per element, neighbours in a column",
     [](const Problem& p) {
       const dim3 block(kWarp, p.block / kWarp);
       const dim3 grid(blocks_for(p.c.height, block.x), blocks_for(p.c.width, block.y));
       multiply_rows_along_x<<<grid, block>>>(p.a, p.b, p.c);
     }},
    {"columns_along_x", "a thread per element, neighbours in a row",
     [](const Problem& p) {
       const dim3 block(kWarp, p.block / kWarp);
       const dim3 grid(blocks_for(p.c.width, block.x), blocks_for(p.c.height, block.y));
       multiply_columns_along_x<<<grid, block>>>(p.a, p.b, p.c);
     }},
    {"split_inner_loop", "a warp per element, its lanes share the dot product",
     [](const Problem& p) {
       const std::size_t warps_per_block = p.block / kWarp;
       multiply_split_inner_loop<<<blocks_for(static_cast<std::size_t>(p.c.height) * p.c.width,
                                              warps_per_block),
                                   p.block>>>(p.a, p.b, p.c);
     }},
};

// Copies C and compares every element with the reference.
bool check(const std::string& version, const Problem& p, const std::vector<double>& expected,
           const DotProductBound& tolerance) {
  std::vector<float> c(static_cast<std::size_t>(p.c.height) * p.c.width);
  CUDA_CHECK(cudaMemcpy2D(c.data(), p.c.width * sizeof(float), p.c.data, p.c.stride * sizeof(float),
                          p.c.width * sizeof(float), p.c.height, cudaMemcpyDeviceToHost));
  return all_close(version, c.data(), expected.data(), c.size(), tolerance);
}

int main(int argc, char** argv) {
  Options opt("07_naive_matmul", "what bounds a kernel?");
  opt.versions(kVersions);
  name_cublas_row(opt);
  const std::size_t side = kOnGpu ? 2048 : 100;
  std::size_t m = side, n = side, k = side, block = 256;
  opt.add("m", &m, 1, kMaxSide, "rows of A and C");
  opt.add("n", &n, 1, kMaxSide, "columns of B and C");
  opt.add("k", &k, 1, kMaxSide, "columns of A, rows of B");
  opt.add("block", &block, kWarp, 1024, "threads per block, a multiple of 32");
  opt.parse(argc, argv);
  if (block % kWarp != 0) {
    opt.usage_error("--block " + std::to_string(block) + ": expected a multiple of 32");
  }
  const std::size_t rows_per_block = block / kWarp;
  if (div_up(std::max(m, n), rows_per_block) > 65535 || div_up(m * n, rows_per_block) > INT_MAX) {
    opt.usage_error("--m, --n: too many blocks for a grid; take a larger --block");
  }
  const Device device = open_device(opt);
  const std::size_t bytes = (m * k + k * n + m * n) * sizeof(float);
  require_device_memory(opt, "--m, --n, --k", bytes);

  const std::vector<float> a = random_floats(m * k, -1, 1, opt.seed);
  const std::vector<float> b = random_floats(k * n, -1, 1, opt.seed + 1);
  const std::vector<double> expected = multiply_on_host(a, b, m, n, k);
  const DotProductBound tolerance(a, b, m, n, k);

  const auto rows_c = static_cast<unsigned>(m), columns_c = static_cast<unsigned>(n),
             depth = static_cast<unsigned>(k);
  Problem p{{nullptr, rows_c, depth, depth},
            {nullptr, depth, columns_c, columns_c},
            {nullptr, rows_c, columns_c, columns_c},
            static_cast<unsigned>(block)};
  CUDA_CHECK(cudaMalloc(&p.a.data, m * k * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&p.b.data, k * n * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&p.c.data, m * n * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(p.a.data, a.data(), m * k * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(p.b.data, b.data(), k * n * sizeof(float), cudaMemcpyHostToDevice));

  const std::string shape =
      std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
  ResultTable table(opt, device, "m x n x k = " + shape + " · block " + std::to_string(block),
                    bytes);
  table.rate_in_gflops("peak", device.peak_fp32_gflops());
  const double flop =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const auto right = [&](const std::string& version) {
    return check(version, p, expected, tolerance);
  };
  for (const auto& version : kVersions) {
    if (!opt.wants(version.name)) continue;
    CUDA_CHECK(cudaMemset(p.c.data, 0xff, m * n * sizeof(float)));  // poison: NaN in every element
    add_measured_row(
        table, opt, version.name, flop, [&] { version.launch(p); },
        [&] { return right(version.name); });
  }
  add_cublas_row(table, opt, p.a, p.b, p.c, right);

  CUDA_CHECK(cudaFree(p.a.data));
  CUDA_CHECK(cudaFree(p.b.data));
  CUDA_CHECK(cudaFree(p.c.data));
  return table.finish();
}
