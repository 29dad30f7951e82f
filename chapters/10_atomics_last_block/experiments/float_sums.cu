// SPDX-License-Identifier: MIT
// Every addition of floats rounds: how far off is a sum, and is it the same every time?

#include "../../../common/common.cuh"
#include "rounding.cuh"

constexpr std::size_t kLargeFactor = kOnGpu ? 64 : 1;  // the trees' second rows: more data by that

// What one value contributes: the square of an element, or a block's sum as it is.
template <class T>
__device__ T term(int v) {
  return static_cast<T>(v) * static_cast<T>(v);
}
template <class T>
__device__ T term(T v) {
  return v;
}

template <class T>
__global__ void add_by_atomics(const int* x, std::size_t n, T* result) {
  for (std::size_t i = first_index(); i < n; i += stride()) atomicAdd(result, term<T>(x[i]));
}

// One addition after the other, in the order of i.
template <class X, class T>
__global__ void add_chains(const X* x, std::size_t n, T* out) {
  T sum = 0;
  for (std::size_t i = first_index(); i < n; i += stride()) sum += term<T>(x[i]);
  leave_block_sum(sum, out);
}

// Sets the result to 0. The kernels that add to it need that; the others do the same, so that the
// times can be compared.
template <class T>
T* cleared(T* result) {
  CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(T)));
  return result;
}

// The sum by a whole grid: shares, blocks, then the blocks' sums in the order of their numbers.
template <class T>
void add_tree_row(ResultTable& table, const char* name, const Input& in, unsigned grid,
                  unsigned block) {
  const DeviceArray<T> partials(grid);
  const std::size_t share = div_up(in.x.size(), std::size_t{grid} * block);
  const Row row = {name, "a whole grid, in a fixed order", share + div_up(grid, block)};
  add_row<T>(table, row, in.exact, [&](T* r) {
    cleared(r);
    add_chains<<<grid, block>>>(in.x.get(), in.x.size(), partials.get());
    add_chains<<<1, block>>>(partials.get(), grid, r);
  });
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 4_Mi : 256_Ki, block = 512;
  const Options opt(argc, argv, "10_float_sums", "is a sum of floats the same every time?",
                    {{"n", &n, 1, 1_Gi, "ints"}, {"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, n * sizeof(int), kLargeFactor * n * sizeof(int));
  table.without_speedup();  // they do not all do the same work
  const unsigned held = blocks_held(add_chains<int, double>, block);
  const unsigned grid = std::min(held, blocks_for(n, 16 * block));
  const Input in(random_ints(n, 1, kLargest, opt.seed));
  add_row<Exact>(table, {"int_atomics", "64-bit integers, as they come", n}, in.exact,
                 [&](Exact* r) { add_by_atomics<<<grid, block>>>(in.x.get(), n, cleared(r)); });
  add_row<float>(table, {"float_atomics", "one float, as they come", n, false}, in.exact,
                 [&](float* r) { add_by_atomics<<<grid, block>>>(in.x.get(), n, cleared(r)); });
  add_tree_row<float>(table, "float_tree", in, grid, block);
  add_tree_row<double>(table, "double_tree", in, grid, block);
  const Input large(random_ints(std::min(kLargeFactor * n, 1_Gi), 1, kLargest, opt.seed));
  add_tree_row<float>(table, "float_tree_large", large, grid, block);
  add_tree_row<double>(table, "double_tree_large", large, grid, block);
  return table.finish();
}
