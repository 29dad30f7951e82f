// SPDX-License-Identifier: MIT
// How much does a long chain of float additions lose, and what repairs it?
// One warp adds.
// float_one_warp     32 threads, each adds a long chain of floats
// pairwise_one_warp  the same threads, each adds in pairs, pairs of pairs, ...
// kahan_one_warp     the same threads, each keeps what its additions lose

#include <cfloat>
#include <set>

#include "../../../common/common.cuh"

// The values are 1 ... kLargest. Their squares have up to 36 bits, so that a float must round them;
// in 64 bits the sum is exact, for up to 1 Gi values.
using Exact = unsigned long long;
constexpr int kLargest = 200000;
constexpr unsigned kMaxBlock = 1024, kWarp = 32;

__device__ float square(int v) { return static_cast<float>(v) * static_cast<float>(v); }

__device__ std::size_t first_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t stride() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

// Adds over the block by the tree of chapter 05; its sum goes to out[blockIdx.x].
__device__ void leave_block_sum(float mine, float* out) {
  __shared__ float partial[kMaxBlock];
  partial[threadIdx.x] = mine;
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  for (unsigned count = blockDim.x; count > 1; count = (count + 1) / 2) {
    const unsigned half = (count + 1) / 2;
    if (threadIdx.x < count - half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();  // the next level reads what other threads have just written
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

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

// The squares' sum by one warp, and the exact one.
struct ChainSum {
  ChainSum(const std::vector<int>& values, unsigned threads)
      : x(values), n(values.size()), block(threads) {
    for (const int v : values) exact += static_cast<Exact>(v) * static_cast<Exact>(v);
  }

  void poison() const { result.poison(); }
  // As a share of the right result. NaN for NaN.
  double relative_error() const {
    return std::abs(static_cast<double>(result.download()[0] / 1.0L / exact - 1));
  }
  // An addition rounds by at most epsilon / 2 of its result, and no sum on the way is larger than
  // the last, as all terms are positive. So k in a row are off by k * epsilon / 2 at most; the
  // block's tree and pairs add less than 100 to k. A bound of 1 would allow a 0.
  bool is_within(const std::string& version, std::size_t in_a_row) const {
    const double most = std::min(static_cast<double>(in_a_row + 100) * FLT_EPSILON / 2, 0.999);
    return relative_error() <= most || report_wrong(version, "", result.download()[0], exact);
  }
  bool is_right(const std::string& v) const { return is_within(v, 0); }
  bool chain_is_right(const std::string& v) const { return is_within(v, div_up(n, block)); }

  DeviceArray<int> x;
  std::size_t n;
  unsigned block;
  DeviceArray<float> result{1};
  Exact exact = 0;
};

const Version<ChainSum> kVersions[] = {
    {"float_one_warp", "each thread adds a long chain",
     [](const ChainSum& d) { add_chains<<<1, d.block>>>(d.x, d.n, d.result); },
     &ChainSum::chain_is_right},
    {"pairwise_one_warp", "each thread adds in pairs, pairs of pairs, ...",
     [](const ChainSum& d) { add_in_pairs<<<1, d.block>>>(d.x, d.n, d.result); }},
    {"kahan_one_warp", "each thread keeps what its additions lose",
     [](const ChainSum& d) { add_compensated<<<1, d.block>>>(d.x, d.n, d.result); }},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 4_Mi : 256_Ki;
  const Options opt(argc, argv, "10_long_chains", "what does a long chain of additions lose?",
                    {{"n", &n, 1, 1_Gi, "ints"}});
  const Device device = open_device(opt);
  ResultTable table(opt, device, n * sizeof(int));
  const ChainSum sum(random_ints(n, 1, kLargest, opt.seed), kWarp);
  for (const auto& version : kVersions) {
    if (!table.wants(version.name, version.summary)) continue;
    std::set<float> results;  // an order of additions that is always the same leaves one
    bool ok = true;
    const auto run = [&] {
      version.launch(sum);
      CUDA_CHECK_LAUNCH();
    };
    for (std::size_t k = 0; k < opt.samples; ++k) {
      sum.poison();
      run();
      results.insert(sum.result.download()[0]);
      ok = ok && (sum.*version.is_right)(version.name);
    }
    const double error = sum.relative_error();
    const Timing t = time_launches(opt.samples, run);
    ok = ok && (sum.*version.is_right)(version.name) && results.size() == 1;
    table.row(version.name, t, 0, ok);
    char text[96];
    std::snprintf(text, sizeof text, "%s: relative error %.1e", version.name, error);
    table.measured(version.name, error, "relative error", text);
    table.measured(version.name, static_cast<double>(results.size()), "different results", "");
  }
  return table.finish();
}
