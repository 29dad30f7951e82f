// SPDX-License-Identifier: MIT
// How many chunks are best?
//
// More of them overlap better, and each costs the start of a copy and of a kernel. Which of the two
// costs more, the copies alone and the kernels alone tell.

#include "../../../common/common.cuh"
#include "rounds.cuh"

// The words, once more on the device, and the streams over which their chunks go.
struct Chunks : PinnedWords {
  Chunks(std::size_t words, unsigned rounds_per_word, std::size_t stream_count, std::uint64_t seed)
      : PinnedWords(words, rounds_per_word, seed), streams(stream_count), d_data(n) {
    CUDA_CHECK(cudaMemcpy(d_data, h_x, n * kWord, cudaMemcpyHostToDevice));
    for (cudaStream_t& stream : streams) CUDA_CHECK(cudaStreamCreate(&stream));
  }
  ~Chunks() {
    for (cudaStream_t stream : streams) CUDA_CHECK(cudaStreamDestroy(stream));
  }

  bool is_right(const std::string& name) const { return is_mixed(name, d_y, h_x, rounds); }
  bool words_came(const std::string& name) const {
    return all_equal(name, d_x.download(), {h_x, h_x + n});
  }

  std::vector<cudaStream_t> streams;
  DeviceArray<unsigned> d_data;  // the words, on the device beforehand
};

// A chunk's copy and its kernel are in one stream, the next chunk's in the next stream.
template <bool copies, bool kernels>
void run_chunks(const Chunks& c, std::size_t chunks) {
  const unsigned* const x = copies ? c.d_x : c.d_data;
  const std::size_t chunk_words = div_up(c.n, chunks);
  for (std::size_t begin = 0, chunk = 0; begin < c.n; begin += chunk_words, ++chunk) {
    const std::size_t count = std::min(chunk_words, c.n - begin);
    const unsigned grid = blocks_for(count, kBlock);
    const cudaStream_t stream = c.streams[chunk % c.streams.size()];
    if (copies) {
      CUDA_CHECK(cudaMemcpyAsync(c.d_x + begin, c.h_x + begin, count * kWord,
                                 cudaMemcpyHostToDevice, stream));
    }
    if (!kernels) continue;
    mix<<<grid, kBlock, 0, stream>>>(x + begin, count, kRound, c.rounds, true, c.d_y + begin);
    CUDA_CHECK_LAUNCH();
  }
}

struct Series {
  const char* name;
  void (*run)(const Chunks&, std::size_t chunks);
  bool (Chunks::*is_right)(const std::string& name) const;
};
const Series kSeries[] = {{"overlapped", run_chunks<true, true>, &Chunks::is_right},
                          {"copies_alone", run_chunks<true, false>, &Chunks::words_came},
                          {"kernels_alone", run_chunks<false, true>, &Chunks::is_right}};

// Nothing is faster than its slowest part: that is the ideal of overlapping.
double ideal_ms(double copy_ms, double kernel_ms) { return std::max(copy_ms, kernel_ms); }

// The speed of the ideal in GB/s: copy and kernel are timed alone, each on all words.
double measured_ideal_gbps(const Chunks& c, std::size_t samples) {
  const double copy_ms =
      time_launches(samples, [&] {
        CUDA_CHECK(cudaMemcpyAsync(c.d_x, c.h_x, c.n * kWord, cudaMemcpyHostToDevice));
      }).median_ms;
  const double kernel_ms =
      time_launches(samples, [&] {
        mix<<<blocks_for(c.n, kBlock), kBlock>>>(c.d_x, c.n, kRound, c.rounds, true, c.d_y);
        CUDA_CHECK_LAUNCH();
      }).median_ms;
  return static_cast<double>(c.n * kWord) / ideal_ms(copy_ms, kernel_ms) / 1e6;
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, rounds = kOnGpu ? 1024 : 16, streams = 4, most = 256;
  const Options opt(argc, argv, "09_chunk_counts", "how many chunks are best?",
                    {{"n", &n, 1, 4_Gi, "words of 4 bytes"},
                     {"rounds", &rounds, 1, 1_Mi, "the kernel's work per word"},
                     {"chunks", &most, 1, 64_Ki, "the most chunks"},
                     {"streams", &streams, 1, 32, "streams, over which the chunks go"}});
  ResultTable table(opt, n * kWord, 2 * n * kWord);
  table.longest_name("kernels_alone chunks=1024");
  const Chunks c(n, static_cast<unsigned>(rounds), streams, opt.seed);
  table.rate_in("GB/s", "ideal", kOnGpu ? measured_ideal_gbps(c, opt.samples) : 0);
  for (const Series& series : kSeries) {
    for (std::size_t chunks = 1; chunks <= most; chunks *= 2) {
      const std::string name = std::string(series.name) + " chunks=" + std::to_string(chunks);
      table.add(
          name, c, [&] { series.run(c, chunks); }, [&] { return (c.*series.is_right)(name); });
    }
  }
  return table.finish();
}
