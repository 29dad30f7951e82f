// SPDX-License-Identifier: MIT
// What does a multiprocessor lose if each block asks for one byte more of shared memory?

#include "../../../common/common.cuh"

constexpr int kParkingBlock = 256;  // threads

// Adds ints, one load at a time: the time is the memory's latency, over all threads that wait
// beside each other. Every thread parks its sum in a slot of its own; the launch asks for as many
// bytes as it likes.
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

// Shared memory is handed out in portions, and the system takes some for itself in each block.
std::size_t portion_of(const cudaDeviceProp& sm) { return sm.major == 7 ? 256 : 128; }

// How many blocks an SM holds, as far as threads and shared memory decide.
int blocks_by_shared(const cudaDeviceProp& sm, int threads, std::size_t bytes) {
  if (bytes > sm.sharedMemPerBlockOptin) return 0;
  const std::size_t portions = div_up(bytes + sm.reservedSharedMemPerBlock, portion_of(sm));
  const std::size_t held = sm.sharedMemPerMultiprocessor / (portions * portion_of(sm));
  const int by_threads = sm.maxThreadsPerMultiProcessor / 32 / ((threads + 31) / 32);
  return std::min({static_cast<int>(held), by_threads, sm.maxBlocksPerMultiProcessor});
}

// The most bytes that a block can ask for while an SM holds so many.
std::size_t most_bytes_for(const cudaDeviceProp& sm, std::size_t blocks) {
  const std::size_t portions = sm.sharedMemPerMultiprocessor / blocks / portion_of(sm);
  return std::min(portions * portion_of(sm) - sm.reservedSharedMemPerBlock,
                  sm.sharedMemPerBlockOptin);
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "12_one_byte_more", "what does one byte more per block cost?",
                    {{"n", &n, 1, 8_Gi, "ints"}});
  ResultTable table(opt, n * sizeof(int), 1_Mi, {"shared_bytes", "predicted", "by_api"});
  const Device& device = table.device;
  const std::vector<int> ints = random_ints(n, 0, 9, opt.seed);
  const long long expected = std::accumulate(ints.begin(), ints.end(), 0LL);
  const DeviceArray<int> x(ints);
  CUDA_CHECK(cudaFuncSetAttribute(sum_parked, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  device.sharedMemPerBlockOptin));
  for (const std::size_t blocks : {8, 4, 3, 2}) {
    for (const bool one_more : {false, true}) {
      const std::string name = text("room_for_", blocks, one_more ? "_and_a_byte" : "");
      const std::size_t bytes = most_bytes_for(device, blocks) + one_more;
      if (bytes > device.sharedMemPerBlockOptin) continue;  // where one block may have it all
      const int predicted = blocks_by_shared(device, kParkingBlock, bytes);
      const unsigned grid = blocks_held(sum_parked, kParkingBlock, bytes);  // all at once
      const int by_api = grid / device.multiProcessorCount;
      const DeviceArray<long long> sums(grid);
      table.next_row_has(bytes, predicted, by_api);
      table.add(
          name, sums, [&] { sum_parked<<<grid, kParkingBlock, bytes>>>(x, n, sums); },
          [&] {
            const std::vector<long long> s = sums.download();
            return equals(name, std::accumulate(s.begin(), s.end(), 0LL), expected) &&
                   predicted == by_api;
          },
          one_more ? "each block asks for one byte more"
                   : "the largest block of which so many fit");
    }
  }
  return table.finish();
}
