// SPDX-License-Identifier: MIT
// Which is the better way to more bytes in flight: more loads per thread, or wider ones?
//
// 16Bx8 are eight loads of 16 bytes; /r32: with 32 registers per thread, so that 2048 fit on an SM.

#include "../../../common/common.cuh"

constexpr unsigned kMaxBlock = 1024;  // threads per block, a limit of the hardware

// This thread's number in the whole grid, and how many there are. Widened before multiplying: the
// product of two unsigned ints wraps at 2^32.
__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t grid_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

__device__ long long squares(int v) { return static_cast<long long>(v) * v; }
__device__ long long squares(const int4& v) {
  return squares(v.x) + squares(v.y) + squares(v.z) + squares(v.w);
}

// Blocks of kMaxBlock threads that an SM has places for: two where it takes 2048 threads, one where
// it takes 1024 or 1536 (compute capability 7.5, 8.6 to 8.9, 11 and later).
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 750 || __CUDA_ARCH__ >= 1100 || \
                               (__CUDA_ARCH__ >= 860 && __CUDA_ARCH__ < 900))
constexpr unsigned kMostBlocks = 1;
#else
constexpr unsigned kMostBlocks = 2;
#endif

// A Word is an int, 4 bytes, or an int4: four neighbours in one load of 16 bytes. kLoads words are
// asked for before the first is used. Their values wait in registers, so the compiler must know how
// many it may take: as many as leave room for kBlocks blocks of kMaxBlock threads on an SM. For one
// block that is 64 registers per thread, for two 32. (A chip without places for two has 64 for
// both.)
template <class Word, unsigned kLoads, unsigned kBlocks>
__global__ void __launch_bounds__(kMaxBlock, kBlocks < kMostBlocks ? kBlocks : kMostBlocks)
    sum_words(const int* x, std::size_t n, long long* partial) {
  constexpr std::size_t kInts = sizeof(Word) / sizeof(int);
  const Word* const words = reinterpret_cast<const Word*>(x);  // cudaMalloc aligns to 256 bytes
  const std::size_t count = n / kInts, stride = grid_threads();
  std::size_t i = global_index();
  long long sum = 0;
#pragma unroll 1
  for (; i + (kLoads - 1) * stride < count; i += kLoads * stride) {
    Word v[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) v[k] = words[i + k * stride];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) sum += squares(v[k]);
  }
#pragma unroll 1
  for (; i < count; i += stride) sum += squares(words[i]);  // fewer than kLoads left
  // Up to three ints follow the last whole int4.
  for (std::size_t k = count * kInts + global_index(); k < n; k += stride) sum += squares(x[k]);
  partial[global_index()] = sum;
}

struct Ladder {
  const char* name;
  void (*kernel)(const int* x, std::size_t n, long long* partial);
};

const Ladder kLadder[] = {
    {"4Bx1", sum_words<int, 1, 1>},       {"4Bx2", sum_words<int, 2, 1>},
    {"4Bx4", sum_words<int, 4, 1>},       {"4Bx8", sum_words<int, 8, 1>},
    {"16Bx1", sum_words<int4, 1, 1>},     {"16Bx2", sum_words<int4, 2, 1>},
    {"16Bx4", sum_words<int4, 4, 1>},     {"16Bx8", sum_words<int4, 8, 1>},
    {"16Bx8/r32", sum_words<int4, 8, 2>},
};

bool adds_up(const std::string& name, const std::vector<long long>& partial, long long expected) {
  return equals(name, std::accumulate(partial.begin(), partial.end(), 0LL), expected);
}

// Every kernel with one block per SM, then with as many as its registers leave room for.
int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000, block = 256;
  const Options opt(
      argc, argv, "04_load_widths", "more loads per thread, or wider ones?",
      {{"n", &n, 1, 16_Gi, "ints"}, {"block", &block, 1, kMaxBlock, "threads per block"}});
  ResultTable table(opt, n * sizeof(int), 16_Mi);
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const unsigned sms = table.device.multiProcessorCount;
  const std::vector<int> values = random_ints(n, 0, 9, opt.seed);
  const long long expected = std::inner_product(values.begin(), values.end(), values.begin(), 0LL);
  const DeviceArray<int> x(values);
  for (const bool whole_wave : {false, true}) {
    for (const Ladder& l : kLadder) {
      const unsigned grid = whole_wave ? blocks_held(l.kernel, block) : sms;
      const DeviceArray<long long> partial(grid * block);
      const std::string name = text(l.name, " grid=", grid);
      table.add(
          name, partial, [&] { l.kernel<<<grid, block>>>(x, n, partial); },
          [&] { return adds_up(name, partial.download(), expected); });
    }
  }
  if (!kOnGpu || opt.list) return table.finish();  // the CPU backend has no registers to count
  for (const Ladder& l : kLadder) {
    cudaFuncAttributes of_kernel;
    CUDA_CHECK(cudaFuncGetAttributes(&of_kernel, l.kernel));
    const std::size_t per_sm = blocks_held(l.kernel, block) / sms;
    table.measured(text(l.name, " registers"), of_kernel.numRegs, "registers", l.name, ": ",
                   of_kernel.numRegs, " registers per thread, ", per_sm, " blocks of ", block,
                   " on an SM, ", 100 * per_sm * block / table.device.maxThreadsPerMultiProcessor,
                   " % of its places for threads");
  }
  return table.finish();
}
