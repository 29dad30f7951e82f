// SPDX-License-Identifier: MIT
// What does it cost to split the inner loop over threads that all add to the same element of C?
//
// one_sum       a thread per element of C: it adds all terms in a register and stores the sum
// slices_of_32  a thread per element and 32 terms: it adds those in a register, then to C
// slices_of_8   the same with 8 terms
// each_term     a thread per term: the loop is gone, and each product goes to C by itself
// Where several threads add to an element, the additions must be atomic. C is set to 0 before.

#include "../../../common/common.cuh"

constexpr unsigned kBlockX = 32, kBlockY = 8;

// What a thread adds up: `terms` of them, or what is left of its row of A.
__device__ float sum_of_slice(const Matrix& a, const Matrix& b, unsigned row, unsigned column,
                              unsigned first, unsigned terms) {
  const unsigned end = min(first + terms, a.width);
  float sum = 0;
  for (unsigned i = first; i < end; ++i) sum += a.at(row, i) * b.at(i, column);
  return sum;
}

// Neighbouring lanes have neighbouring columns, as in the lesson's columns_along_x.
__global__ void multiply_one_sum(Matrix a, Matrix b, Matrix c) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= c.height || column >= c.width) return;  // no barrier follows
  c.at(row, column) = sum_of_slice(a, b, row, column, 0, a.width);
}

// The grid has a third dimension: blocks with the same x and y take one slice after the other of
// the same dot products. In which order they add is left to chance, and so is the rounding.
template <unsigned kTerms>
__global__ void multiply_slices(Matrix a, Matrix b, Matrix c) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= c.height || column >= c.width) return;  // no barrier follows
  atomicAdd(&c.at(row, column), sum_of_slice(a, b, row, column, kTerms * blockIdx.z, kTerms));
}

dim3 grid_over(const MatrixProduct& p, unsigned slices) {
  return dim3(blocks_for(p.c.width, kBlockX), blocks_for(p.c.height, kBlockY), slices);
}

// Every launch begins at 0, and leaves what lies between the rows of C alone.
void set_to_zero(const Matrix& c) {
  CUDA_CHECK(cudaMemset2DAsync(c.data, c.stride * sizeof(float), 0, c.width * sizeof(float),
                               c.height, nullptr));
}

template <unsigned kTerms>
void launch_slices(const MatrixProduct& p) {
  set_to_zero(p.c);
  multiply_slices<kTerms>
      <<<grid_over(p, blocks_for(p.a.width, kTerms)), dim3(kBlockX, kBlockY)>>>(p.a, p.b, p.c);
}

const Version<MatrixProduct> kVersions[] = {
    {"one_sum", "a thread per element, no atomics",
     [](const MatrixProduct& p) {
       multiply_one_sum<<<grid_over(p, 1), dim3(kBlockX, kBlockY)>>>(p.a, p.b, p.c);
     }},
    {"slices_of_32", "a thread per 32 terms", launch_slices<32>},
    {"slices_of_8", "a thread per 8 terms", launch_slices<8>},
    {"each_term", "a thread per term", launch_slices<1>},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 1024 : 64;
  // A grid has at most 65535 blocks in z, which are slices of a row here.
  const Options opt(argc, argv, "07_atomic_terms",
                    "what if many threads add to one element of the product?",
                    {{"n", &n, 1, 8_Ki, "rows and columns of all three matrices"}});
  ResultTable table(opt, 3 * n * n * sizeof(float));
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  const MatrixProduct product(n, n, n, opt.seed);
  table.each_launch_does(product.amount());
  for (const auto& version : kVersions) table.add(version, product);
  return table.finish();
}
