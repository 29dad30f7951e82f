// SPDX-License-Identifier: MIT
// What does it cost to get scratch memory for every use of it, and to give it back?

#include "../../../common/common.cuh"
#include "rounds.cuh"

// Words on the device, and what a round makes of them by way of scratch memory.
struct Scratch {
  Scratch(std::size_t words, std::uint64_t seed) : n(words), data(n) {
    fill_with_random_words(data.data(), n, seed);
    CUDA_CHECK(cudaMemcpy(d_data, data.data(), n * kWord, cudaMemcpyHostToDevice));
  }

  void poison() const { kept.poison(), d_y.poison(); }
  bool is_right(const std::string& name) const { return is_mixed(name, d_y, data.data(), 1); }

  std::size_t n;
  std::vector<unsigned> data;
  DeviceArray<unsigned> d_data{n}, kept{n}, d_y{n};
};

// The work that needs it: a copy into it, and a kernel that reads it. Default stream.
void work_in(const Scratch& s, unsigned* scratch) {
  CUDA_CHECK(cudaMemcpyAsync(scratch, s.d_data, s.n * kWord, cudaMemcpyDeviceToDevice));
  mix<<<blocks_for(s.n, kBlock), kBlock>>>(scratch, s.n, kRound, 1, true, s.d_y);
  CUDA_CHECK_LAUNCH();
}

void scratch_kept(const Scratch& s) { work_in(s, s.kept); }

void scratch_malloc(const Scratch& s) {
  unsigned* scratch = nullptr;
  CUDA_CHECK(cudaMalloc(&scratch, s.n * kWord));
  work_in(s, scratch);
  CUDA_CHECK(cudaFree(scratch));  // waits until the work is done
}

// In the order of a stream: the memory is there for what follows in it, and it is given back when
// the stream has got to that point. Neither call waits.
void scratch_async(const Scratch& s) {
  unsigned* scratch = nullptr;
  CUDA_CHECK(cudaMallocAsync(&scratch, s.n * kWord, nullptr));
  work_in(s, scratch);
  CUDA_CHECK(cudaFreeAsync(scratch, nullptr));
}

// The pool that cudaMallocAsync takes from gives back what it holds beyond this many bytes whenever
// the host waits for the device.
void pool_keeps(std::uint64_t bytes) {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes));
}

struct Row {
  const char *name, *summary;
  std::uint64_t pool_bytes;  // that the pool keeps; 0 is how it is at the start
  void (*run)(const Scratch&);
};
const Row kRows[] = {
    {"scratch_kept", "got once", 0, scratch_kept},
    {"scratch_malloc", "by cudaMalloc and cudaFree each time", 0, scratch_malloc},
    {"scratch_async", "by cudaMallocAsync and cudaFreeAsync each time", 0, scratch_async},
    {"scratch_async_kept", "the same, and the pool keeps what it has", UINT64_MAX, scratch_async},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 1_Mi : 256_Ki;
  const Options opt(argc, argv, "09_scratch_memory", "what does scratch memory cost each time?",
                    {{"n", &n, 1, 1_Gi, "words of 4 bytes"}});
  ResultTable table(opt, n * kWord, 3 * n * kWord);
  const Scratch s(n, opt.seed);
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    const auto use = [&] {  // by the host's clock, from the first call until all is done
      row.run(s);
      CUDA_CHECK(cudaDeviceSynchronize());
    };
    pool_keeps(row.pool_bytes);
    s.poison();
    use();
    const bool right_at_first = s.is_right(row.name);
    const Timing time = time_on_host(opt.samples, use);
    table.row(row.name, time, 0, s.is_right(row.name) && right_at_first);
  }
  return table.finish();
}
