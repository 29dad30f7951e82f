// SPDX-License-Identifier: MIT
// How much does a long chain of float additions lose, and what repairs it?
// One warp adds.
// float_one_warp     32 threads, each adds a long chain of floats
// pairwise_one_warp  the same threads, each adds in pairs, pairs of pairs, ...
// kahan_one_warp     the same threads, each keeps what its additions lose

#include "../../../common/common.cuh"
#include "rounding.cuh"

constexpr unsigned kWarp = 32;

__device__ float square(int v) { return static_cast<float>(v) * static_cast<float>(v); }

// One addition after the other, in the order of i.
__global__ void add_chains(const int* x, std::size_t n, float* out) {
  float sum = 0;
  for (std::size_t i = first_index(); i < n; i += stride()) sum += square(x[i]);
  leave_block_sum(sum, out);
}

// A binary counter: level k holds a sum of 2^k squares until another one of that size comes and
// both move up together. Every square goes through log2 additions at most.
__global__ void add_in_pairs(const int* x, std::size_t n, float* out) {
  float level[40] = {};
  std::size_t count = 0;
  for (std::size_t i = first_index(); i < n; i += stride(), ++count) {
    float sum = square(x[i]);
    unsigned k = 0;
    for (; (count >> k & 1) != 0; ++k) sum += level[k];
    level[k] = sum;
  }
  float sum = 0;
  for (unsigned k = 0; count >> k != 0; ++k) {
    if ((count >> k & 1) != 0) sum += level[k];
  }
  leave_block_sum(sum, out);
}

// Kahan, 1965: what the last addition added too much is taken off the next term.
__global__ void add_compensated(const int* x, std::size_t n, float* out) {
  float sum = 0, too_much = 0;
  for (std::size_t i = first_index(); i < n; i += stride()) {
    const float wanted = square(x[i]) - too_much;
    const float next = sum + wanted;
    too_much = (next - sum) - wanted;  // 0, if additions were exact
    sum = next;
  }
  leave_block_sum(sum, out);
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 4_Mi : 256_Ki;
  const Options opt(argc, argv, "10_long_chains", "what does a long chain of additions lose?",
                    {{"n", &n, 1, 1_Gi, "ints"}});
  ResultTable table(opt, n * sizeof(int));
  const Input in(random_ints(n, 1, kLargest, opt.seed));
  add_row<float>(table, {"float_one_warp", "each thread adds a long chain", div_up(n, kWarp)},
                 in.exact, [&](float* r) { add_chains<<<1, kWarp>>>(in.x, n, r); });
  add_row<float>(table, {"pairwise_one_warp", "each thread adds in pairs, pairs of pairs, ...", 0},
                 in.exact, [&](float* r) { add_in_pairs<<<1, kWarp>>>(in.x, n, r); });
  add_row<float>(table, {"kahan_one_warp", "each thread keeps what its additions lose", 0},
                 in.exact, [&](float* r) { add_compensated<<<1, kWarp>>>(in.x, n, r); });
  return table.finish();
}
