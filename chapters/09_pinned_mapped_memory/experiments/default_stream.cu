// SPDX-License-Identifier: MIT
// Which streams wait for the default stream, although nobody asked them to?

#include "../../../common/common.cuh"

constexpr std::size_t kWord = sizeof(unsigned);  // sizes are counted in words of 4 bytes
constexpr unsigned kBlock = 256;

// One round of work: v becomes v * factor + step, modulo 2^32.
struct Round {
  unsigned factor, step;
  __host__ __device__ unsigned operator()(unsigned v) const { return v * factor + step; }
};
constexpr Round kRound{1664525, 1013904223};

// Every word of x goes through `rounds` rounds.
__global__ void mix(const unsigned* x, std::size_t n, Round round, unsigned rounds, bool first,
                    unsigned* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned v = first ? x[i] : y[i] ^ x[i];
    for (unsigned r = 0; r < rounds; ++r) v = round(v);
    y[i] = v;
  }
}

// Three kernels that have nothing to do with each other: each has a third of the words, so few
// blocks that all three could run side by side.
struct Thirds {
  Thirds(std::size_t words, unsigned rounds_per_word, std::uint64_t seed)
      : n(words), rounds(rounds_per_word), data(n), d_data(n), d_y(n) {
    for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<unsigned>(random_bits(seed, i));
    CUDA_CHECK(cudaMemcpy(d_data, data.data(), n * kWord, cudaMemcpyHostToDevice));
    for (cudaStream_t& stream : blocking) CUDA_CHECK(cudaStreamCreate(&stream));
    for (cudaStream_t& stream : nonblocking) {
      CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
  }
  ~Thirds() {
    for (cudaStream_t stream : blocking) CUDA_CHECK(cudaStreamDestroy(stream));
    for (cudaStream_t stream : nonblocking) CUDA_CHECK(cudaStreamDestroy(stream));
  }

  void poison() const {
    d_y.poison();
    CUDA_CHECK(cudaDeviceSynchronize());  // non-blocking streams would overtake the poison
  }
  bool is_right(const std::string& name) const {
    CUDA_CHECK(cudaDeviceSynchronize());  // a copy would not wait for non-blocking streams either
    Round all{1, 0};                      // all rounds in one
    for (unsigned r = 0; r < rounds; ++r) all = {all.factor * kRound.factor, kRound(all.step)};
    std::vector<unsigned> expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = all(data[i]);
    return all_equal(name, d_y.download(), expected);
  }

  std::size_t n;
  unsigned rounds;
  std::vector<unsigned> data;
  DeviceArray<unsigned> d_data, d_y;
  cudaStream_t blocking[2], nonblocking[2];  // do, and do not, take turns with the default stream
};

// The kernel of each third goes into its stream.
void run_thirds(const Thirds& t, cudaStream_t first, cudaStream_t second, cudaStream_t third) {
  const cudaStream_t streams[] = {first, second, third};
  const std::size_t words = div_up(t.n, 3);
  for (std::size_t k = 0, begin = 0; begin < t.n; ++k, begin += words) {
    const std::size_t count = std::min(words, t.n - begin);
    const unsigned grid = blocks_for(count, kBlock);
    mix<<<grid, kBlock, 0, streams[k]>>>(t.d_data + begin, count, kRound, t.rounds, true,
                                         t.d_y + begin);
    CUDA_CHECK_LAUNCH();
  }
}

void default_three_times(const Thirds& t) { run_thirds(t, nullptr, nullptr, nullptr); }
// Streams from cudaStreamCreate: the default stream waits for them, and they wait for it.
void default_between(const Thirds& t) { run_thirds(t, t.blocking[0], nullptr, t.blocking[1]); }
// With cudaStreamNonBlocking neither waits for the other.
void default_beside(const Thirds& t) { run_thirds(t, t.nonblocking[0], nullptr, t.nonblocking[1]); }
// Each thread of the host has a default stream of its own, too, which waits for none of these.
void per_thread_beside(const Thirds& t) {
  run_thirds(t, t.blocking[0], cudaStreamPerThread, t.blocking[1]);
}

const Version<Thirds> kVersions[] = {
    {"default_three_times", "all in the default stream", default_three_times},
    {"default_between", "the middle one in the default stream", default_between},
    {"default_beside", "the same, the others in non-blocking streams", default_beside},
    {"per_thread_beside", "the middle one in the thread's own default stream", per_thread_beside},
};

int main(int argc, char** argv) {
  std::size_t n = 24_Ki, rounds = kOnGpu ? 64_Ki : 16;  // 0.15 ms: longer than three launches
  const Options opt(argc, argv, "09_default_stream", "which streams wait for the default stream?",
                    {{"n", &n, 1, 1_Gi, "words of 4 bytes, a third for each kernel"},
                     {"rounds", &rounds, 1, 1_Mi, "the kernels' work per word"}});
  ResultTable table(opt, n * kWord, n * kWord);
  const Thirds t(n, static_cast<unsigned>(rounds), opt.seed);
  for (const auto& version : kVersions) {
    if (!table.wants(version.name, version.summary)) continue;
    const auto run = [&] {  // by the host's clock: no stream waits for all the others
      version.launch(t);
      CUDA_CHECK(cudaDeviceSynchronize());
    };
    t.poison();
    run();
    const bool right_at_first = t.is_right(version.name);
    const Timing time = time_on_host(opt.samples, run);
    table.row(version.name, time, 0, t.is_right(version.name) && right_at_first);
  }
  return table.finish();
}
