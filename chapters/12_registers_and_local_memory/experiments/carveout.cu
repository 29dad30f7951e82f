// SPDX-License-Identifier: MIT
// How is one memory split into L1 and shared memory, and what does a wrong wish cost?

#include "../../../common/common.cuh"

constexpr int kParkingBlock = 256;               // threads that park their sums
constexpr std::size_t kParkedBytes = 24 * 1024;  // per block: eight of them want 200 KiB
constexpr unsigned kTableInts = 32 * 1024;       // 128 KiB, read by all blocks
constexpr unsigned kTableBlock = 1024;           // threads that read the table
constexpr unsigned kReads = kOnGpu ? 1024 : 16;  // of each of them

// Adds ints; every thread parks its sum in shared memory. Each kCopy is a kernel of its own.
template <unsigned kCopy>
__global__ void sum_parked(const int* x, std::size_t n, long long* sums) {
  extern __shared__ long long parked[];
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  long long sum = 0;
#pragma unroll 1
  for (std::size_t i = first; i < n; i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    sum += x[i];
  }
  parked[threadIdx.x] = sum;
  __syncthreads();  // thread 0 is about to read every slot
  if (threadIdx.x != 0) return;
  for (unsigned t = 1; t < blockDim.x; ++t) sum += parked[t];
  sums[blockIdx.x] = sum;
}

struct Round {  // to the next random number (Press et al., "Numerical Recipes")
  unsigned factor, step;
  __host__ __device__ unsigned operator()(unsigned v) const { return v * factor + step; }
};
constexpr Round kRound{1664525, 1013904223};

// Every thread reads `reads` elements of a table, here and there: what counts is how much of the
// table the L1 holds. `mask` is the number of elements, a power of two, less one.
template <unsigned kCopy>
__global__ void sum_of_table(const int* table, unsigned mask, unsigned reads, Round round,
                             int* sums) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = thread;
  int sum = 0;
  for (unsigned k = 0; k < reads; ++k) {
    v = round(v);
    sum += table[v >> 10 & mask];  // the lower bits of such numbers are less random
  }
  sums[thread] = sum;
}

// The shared memory of an SM whose blocks want so many bytes, with a wish in per cent of the most
// that there is (-1: none): the smallest split that has the wish and one block. (The CUDA C++
// Programming Guide lists the splits at "Shared Memory" of each compute capability.)
std::size_t chosen_split(const cudaDeviceProp& sm, std::size_t block_bytes, int percent) {
  const std::size_t most = sm.sharedMemPerMultiprocessor;
  if (percent < 0 || sm.major < 7 || sm.major > 12) return most;  // no wish, or no list for it
  std::size_t wanted = std::max(most * static_cast<std::size_t>(percent) / 100, block_bytes);
  if (sm.major == 7 && sm.minor == 5) wanted = std::max(wanted, 32_Ki);  // it has 32 and 64 KiB
  for (const std::size_t kib : {0, 8, 16, 32, 64, 100, 132, 164, 196})
    if (kib * 1024 >= wanted) return std::min(kib * 1024, most);
  return most;
}

// How many blocks that park their sums an SM holds, as far as threads and shared memory decide.
int blocks_predicted(const cudaDeviceProp& sm, std::size_t bytes, int percent) {
  const std::size_t portion = sm.major == 7 ? 256 : 128;
  const std::size_t of_block = div_up(bytes + sm.reservedSharedMemPerBlock, portion) * portion;
  const int held = chosen_split(sm, of_block, percent) / of_block;
  return std::min(
      {held, sm.maxThreadsPerMultiProcessor / kParkingBlock, sm.maxBlocksPerMultiProcessor});
}

// What a kernel can be told about the split. The wishes of 2010 go to copies that hear no other.
struct Wish {
  const char* name;
  int percent;  // -1: none
  cudaFuncCache cache = cudaFuncCachePreferNone;
  bool is_of_device = false;  // the wish of 2010 is told to the device, and to no kernel
  void (*table)(const int*, unsigned, unsigned, Round, int*) = sum_of_table<1>;
  void (*parked)(const int*, std::size_t, long long*) = sum_parked<1>;
};
const Wish kWishes[] = {
    {"default", -1},
    {"carveout_0", 0},
    {"carveout_25", 25},
    {"carveout_50", 50},
    {"carveout_75", 75},
    {"carveout_100", 100},
    {"prefer_l1", -1, cudaFuncCachePreferL1, false, sum_of_table<2>, sum_parked<2>},
    {"prefer_shared", -1, cudaFuncCachePreferShared, false, sum_of_table<3>, sum_parked<3>},
    {"device_l1", -1, cudaFuncCachePreferL1, true, sum_of_table<4>, sum_parked<4>},
    {"device_shared", -1, cudaFuncCachePreferShared, true, sum_of_table<5>, sum_parked<5>},
};

template <class Kernel>
void tell(Kernel* kernel, const Wish& wish) {
  CUDA_CHECK(cudaDeviceSetCacheConfig(wish.is_of_device ? wish.cache : cudaFuncCachePreferNone));
  if (wish.is_of_device) return;
  CUDA_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, wish.percent));
  if (wish.cache != cudaFuncCachePreferNone) CUDA_CHECK(cudaFuncSetCacheConfig(kernel, wish.cache));
}

// What each thread that reads the table has to leave.
std::vector<int> sums_of_table(const std::vector<int>& values, unsigned threads) {
  std::vector<int> sums(threads, 0);
  for (unsigned thread = 0; thread < threads; ++thread) {
    unsigned v = thread;
    for (unsigned k = 0; k < kReads; ++k)
      sums[thread] += values[(v = kRound(v)) / 1024 % kTableInts];
  }
  return sums;
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "12_carveout", "L1 or shared memory: what does a wrong wish cost?",
                    {{"n", &n, 1, 8_Gi, "ints"}});
  ResultTable table(opt, n * sizeof(int), 4_Mi, {"shared_bytes", "predicted", "by_api"});
  table.without_speedup();
  const unsigned sms = table.device.multiProcessorCount;
  const std::vector<int> ints = random_ints(n, 0, 9, opt.seed);
  const long long sum = std::accumulate(ints.begin(), ints.end(), 0LL);
  const std::vector<int> values = random_ints(kTableInts, 0, 1000, opt.seed);
  const std::vector<int> sums = sums_of_table(values, sms * kTableBlock);
  const DeviceArray<int> x(ints), d_values(values), d_sums(sums.size());
  for (const Wish& wish : kWishes) {
    const std::string reads = text("table_", wish.name), parks = text("parked_", wish.name);
    tell(wish.table, wish);
    table.next_row_has(0, "-", "-");
    table.add(
        reads, d_sums,
        [&] { wish.table<<<sms, kTableBlock>>>(d_values, kTableInts - 1, kReads, kRound, d_sums); },
        [&] { return all_equal(reads, d_sums.download(), sums); },
        "reads all over 128 KiB, wants them in the L1");
    tell(wish.parked, wish);
    const unsigned grid = blocks_held(wish.parked, kParkingBlock, kParkedBytes);
    const int rule = blocks_predicted(table.device, kParkedBytes, wish.percent),
              by_api = grid / sms;
    const bool has_rule = wish.cache == cudaFuncCachePreferNone;
    table.next_row_has(kParkedBytes, has_rule ? text(rule) : "-", by_api);
    const DeviceArray<long long> parked(grid);
    table.add(
        parks, parked, [&] { wish.parked<<<grid, kParkingBlock, kParkedBytes>>>(x, n, parked); },
        [&] {
          const std::vector<long long> s = parked.download();
          return equals(parks, std::accumulate(s.begin(), s.end(), 0LL), sum) &&
                 (!has_rule || rule == by_api);
        },
        "24 KiB of shared memory per block");
  }
  return table.finish();
}
