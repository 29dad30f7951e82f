// SPDX-License-Identifier: MIT
// What does the host wait for when it gives memory back while a kernel runs that does not use it?
//
// kernel             the kernel alone, from its launch to its end
// free               cudaFree of memory from cudaMalloc
// free_of_async      cudaFree of memory from cudaMallocAsync
// free_async         cudaFreeAsync of memory from cudaMallocAsync
// The last three are the times of that one call.

#include "../../../common/common.cuh"
#include "rounds.cuh"

// Words that a kernel works on while other memory is given back.
struct Work {
  Work(std::size_t words, unsigned rounds_per_word, std::uint64_t seed)
      : n(words), rounds(rounds_per_word), data(n) {
    fill_with_random_words(data.data(), n, seed);
    CUDA_CHECK(cudaMemcpy(d_data, data.data(), n * kWord, cudaMemcpyHostToDevice));
  }

  void start() const {
    mix<<<blocks_for(n, kBlock), kBlock>>>(d_data, n, kRound, rounds, true, d_y);
    CUDA_CHECK_LAUNCH();
  }
  void poison() const { d_y.poison(); }
  bool is_right(const std::string& name) const { return is_mixed(name, d_y, data.data(), rounds); }

  std::size_t n;
  unsigned rounds;
  std::vector<unsigned> data;
  DeviceArray<unsigned> d_data{n}, d_y{n};
};

// How the memory that no kernel uses is got and given back. A row without it only waits.
struct Row {
  const char *name, *summary;
  void (*get)(unsigned** words, std::size_t bytes);
  void (*give_back)(unsigned* words);
};

void by_malloc(unsigned** words, std::size_t bytes) { CUDA_CHECK(cudaMalloc(words, bytes)); }
void by_malloc_async(unsigned** words, std::size_t bytes) {
  CUDA_CHECK(cudaMallocAsync(words, bytes, nullptr));
}
void by_free(unsigned* words) { CUDA_CHECK(cudaFree(words)); }
void by_free_async(unsigned* words) { CUDA_CHECK(cudaFreeAsync(words, nullptr)); }

const Row kRows[] = {
    {"kernel", "the kernel alone, until it has ended", nullptr, nullptr},
    {"free", "cudaFree of memory from cudaMalloc", by_malloc, by_free},
    {"free_of_async", "cudaFree of memory from cudaMallocAsync", by_malloc_async, by_free},
    {"free_async", "cudaFreeAsync of the same", by_malloc_async, by_free_async},
};

// Milliseconds of the call that gives memory back, just after the kernel was launched; or of the
// whole kernel.
double time_call(const Work& work, const Row& row) {
  unsigned* other = nullptr;
  if (row.get != nullptr) row.get(&other, work.n * kWord);
  CUDA_CHECK(cudaDeviceSynchronize());  // it is there, and nothing runs
  double begin = host_ms(), ms = 0;
  work.start();
  if (row.get != nullptr) {
    begin = host_ms();
    row.give_back(other);
    ms = host_ms() - begin;
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  return row.get != nullptr ? ms : host_ms() - begin;
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 1_Mi : 4_Ki, rounds = kOnGpu ? 128_Ki : 1_Ki;  // some 10 ms on a GPU
  const Options opt(argc, argv, "09_what_free_waits_for", "what does giving memory back wait for?",
                    {{"n", &n, 1, 1_Gi, "words of 4 bytes"},
                     {"rounds", &rounds, 1, 1_Mi, "the kernel's work per word"}});
  ResultTable table(opt, n * kWord, 3 * n * kWord);
  table.without_speedup();  // three calls and a kernel
  const Work work(n, static_cast<unsigned>(rounds), opt.seed);
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    work.poison();
    time_call(work, row);  // warm up
    std::vector<double> ms;
    while (ms.size() < opt.samples) ms.push_back(time_call(work, row));
    table.row(row.name, timing_of(ms), 0, work.is_right(row.name));
  }
  return table.finish();
}
