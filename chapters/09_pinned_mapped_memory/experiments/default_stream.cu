// SPDX-License-Identifier: MIT
// Which streams wait for the default stream, although nobody asked them to?
//
// The time of three kernels, and when each of them ran.

#include <array>

#include "../../../common/common.cuh"
#include "marks.cuh"
#include "rounds.cuh"

// Three kernels that have nothing to do with each other: each has a third of the words, so few
// blocks that all three could run side by side.
struct Thirds {
  Thirds(std::size_t words, unsigned rounds_per_word, std::uint64_t seed)
      : n(words), rounds(rounds_per_word), data(n), d_data(n), d_y(n) {
    fill_with_random_words(data.data(), n, seed);
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
    return is_mixed(name, d_y, data.data(), rounds);
  }

  std::size_t n;
  unsigned rounds;
  std::vector<unsigned> data;
  DeviceArray<unsigned> d_data, d_y;
  cudaStream_t blocking[2], nonblocking[2];  // do, and do not, take turns with the default stream
};

// One stream for the kernel of each third.
using Streams = std::array<cudaStream_t, 3>;

Streams default_three_times(const Thirds&) { return {}; }
// Streams from cudaStreamCreate: the default stream waits for them, and they wait for it.
Streams default_between(const Thirds& t) { return {t.blocking[0], nullptr, t.blocking[1]}; }
// With cudaStreamNonBlocking neither waits for the other.
Streams default_beside(const Thirds& t) { return {t.nonblocking[0], nullptr, t.nonblocking[1]}; }
// Each thread of the host has a default stream of its own, too, which waits for none of these.
Streams per_thread_beside(const Thirds& t) {
  return {t.blocking[0], cudaStreamPerThread, t.blocking[1]};
}

// Adds two marks for each kernel: its stream had come to it, it was computed.
void run_thirds(const Thirds& t, const Streams& streams, std::vector<cudaEvent_t>* marks) {
  const std::size_t words = div_up(t.n, 3);
  for (std::size_t k = 0, begin = 0; begin < t.n; ++k, begin += words) {
    const std::size_t count = std::min(words, t.n - begin);
    const unsigned grid = blocks_for(count, kBlock);
    if (marks) marks->push_back(mark(streams[k]));
    mix<<<grid, kBlock, 0, streams[k]>>>(t.d_data + begin, count, kRound, t.rounds, true,
                                         t.d_y + begin);
    CUDA_CHECK_LAUNCH();
    if (marks) marks->push_back(mark(streams[k]));
  }
}

struct Row {
  const char *name, *summary;
  Streams (*streams)(const Thirds&);
};
const Row kRows[] = {
    {"default_three_times", "all in the default stream", default_three_times},
    {"default_between", "the middle one in the default stream", default_between},
    {"default_beside", "the same, the others in non-blocking streams", default_beside},
    {"per_thread_beside", "the middle one in the thread's own default stream", per_thread_beside},
};

// Below the table a line for each kernel of one run. Its marks go into the CSV.
void draw(ResultTable& table, const std::string& name, const std::vector<double>& ms) {
  const double last = std::max(1e-3, *std::max_element(ms.begin(), ms.end()));
  const auto columns = [&](double until) { return static_cast<std::size_t>(60 * until / last); };
  table.note(name, ": k until the kernel has ended");
  for (std::size_t k = 0; 2 * k + 1 < ms.size(); ++k) {
    const double begin = ms[2 * k], computed = ms[2 * k + 1];
    std::string line(columns(begin), ' ');
    line.resize(std::max(line.size(), columns(computed)), 'k');
    table.measured(name + " kernel=" + std::to_string(k) + " begin", begin, "ms");
    table.measured(name + " kernel=" + std::to_string(k) + " computed", computed, "ms", "  kernel ",
                   k + 1, " |", line);
  }
}

int main(int argc, char** argv) {
  std::size_t n = 24_Ki, rounds = kOnGpu ? 64_Ki : 16;  // 0.15 ms: longer than three launches
  const Options opt(argc, argv, "09_default_stream", "which streams wait for the default stream?",
                    {{"n", &n, 1, 1_Gi, "words of 4 bytes, a third for each kernel"},
                     {"rounds", &rounds, 1, 1_Mi, "the kernels' work per word"}});
  ResultTable table(opt, n * kWord, n * kWord);
  const Thirds t(n, static_cast<unsigned>(rounds), opt.seed);
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    const auto run = [&](std::vector<cudaEvent_t>* marks) {
      run_thirds(t, row.streams(t), marks);
      CUDA_CHECK(cudaDeviceSynchronize());  // by the host's clock: no stream waits for all others
    };
    t.poison();
    run(nullptr);
    const bool right_at_first = t.is_right(row.name);
    const Timing time = time_on_host(opt.samples, [&] { run(nullptr); });
    std::vector<cudaEvent_t> marks;
    run(&marks);
    table.row(row.name, time, 0, t.is_right(row.name) && right_at_first);
    draw(table, row.name, when_reached(marks));
  }
  return table.finish();
}
