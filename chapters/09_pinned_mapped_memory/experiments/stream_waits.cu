// SPDX-License-Identifier: MIT
// When does each of three kernels run, if one of them is in the default stream?

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
  Thirds(std::size_t words, unsigned rounds_per_word, unsigned stream_flags, std::uint64_t seed)
      : n(words), rounds(rounds_per_word), data(n), d_data(n), d_y(n) {
    for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<unsigned>(random_bits(seed, i));
    CUDA_CHECK(cudaMemcpy(d_data, data.data(), n * kWord, cudaMemcpyHostToDevice));
    for (cudaStream_t& stream : others) {
      CUDA_CHECK(cudaStreamCreateWithFlags(&stream, stream_flags));
    }
  }
  ~Thirds() {
    for (cudaStream_t stream : others) CUDA_CHECK(cudaStreamDestroy(stream));
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
  cudaStream_t others[2];  // for the first and the third kernel
};

// An event in a stream: it is reached when all work put there before it has ended.
cudaEvent_t mark(cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  CUDA_CHECK(cudaEventCreate(&event));
  CUDA_CHECK(cudaEventRecord(event, stream));
  return event;
}

// The kernel of each third goes into its stream, the second one into the default stream. Returns a
// mark before all, and two for each kernel: its stream had come to it, it was computed.
std::vector<cudaEvent_t> run_thirds(const Thirds& t) {
  const cudaStream_t streams[] = {t.others[0], nullptr, t.others[1]};
  std::vector<cudaEvent_t> marks = {mark(nullptr)};
  const std::size_t words = div_up(t.n, 3);
  for (std::size_t k = 0, begin = 0; begin < t.n; ++k, begin += words) {
    const std::size_t count = std::min(words, t.n - begin);
    const unsigned grid = blocks_for(count, kBlock);
    marks.push_back(mark(streams[k]));
    mix<<<grid, kBlock, 0, streams[k]>>>(t.d_data + begin, count, kRound, t.rounds, true,
                                         t.d_y + begin);
    CUDA_CHECK_LAUNCH();
    marks.push_back(mark(streams[k]));
  }
  return marks;
}

// Waits for the marks. Returns when each was reached, in ms since the earliest. That need not be
// the first: a non-blocking stream does not wait for the default stream.
std::vector<double> when_reached(const std::vector<cudaEvent_t>& marks) {
  CUDA_CHECK(cudaDeviceSynchronize());
  std::vector<double> reached;
  for (cudaEvent_t event : marks) {
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, marks[0], event));
    reached.push_back(ms);
  }
  for (cudaEvent_t event : marks) CUDA_CHECK(cudaEventDestroy(event));
  const double earliest = *std::min_element(reached.begin(), reached.end());
  for (double& ms : reached) ms -= earliest;
  return reached;
}

struct Row {
  const char *name, *summary;
  unsigned stream_flags;
};
const Row kRows[] = {
    {"default_between", "1 and 3 in streams that take turns with the default stream",
     cudaStreamDefault},
    {"default_beside", "1 and 3 in streams made with cudaStreamNonBlocking", cudaStreamNonBlocking},
};

// A row, and below the table a line for each kernel. The marks go into the CSV.
void draw(ResultTable& table, const std::string& name, const std::vector<double>& ms, bool right) {
  const double last = std::max(1e-3, *std::max_element(ms.begin(), ms.end()));
  const auto columns = [&](double until) { return static_cast<std::size_t>(60 * until / last); };
  table.row(name, {last, last, last, 1}, 0, right);
  table.note(name, ": k until the kernel has ended");
  for (std::size_t k = 0; 2 * k + 2 < ms.size(); ++k) {
    const double begin = ms[2 * k + 1], computed = ms[2 * k + 2];
    std::string line(columns(begin), ' ');
    line.resize(std::max(line.size(), columns(computed)), 'k');
    table.measured(name + " kernel=" + std::to_string(k) + " begin", begin, "ms");
    table.measured(name + " kernel=" + std::to_string(k) + " computed", computed, "ms", "  kernel ",
                   k + 1, " |", line);
  }
}

int main(int argc, char** argv) {
  std::size_t n = 24_Ki, rounds = kOnGpu ? 64_Ki : 16;  // 0.15 ms: longer than three launches
  const Options opt(argc, argv, "09_stream_waits", "when does each of three kernels run?",
                    {{"n", &n, 3, 1_Gi, "words of 4 bytes, a third for each kernel"},
                     {"rounds", &rounds, 1, 1_Mi, "the kernels' work per word"}});
  ResultTable table(opt, n * kWord, n * kWord);
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    const Thirds t(n, static_cast<unsigned>(rounds), row.stream_flags, opt.seed);
    when_reached(run_thirds(t));  // warms up
    t.poison();
    const std::vector<double> ms = when_reached(run_thirds(t));
    draw(table, row.name, ms, t.is_right(row.name));
  }
  return table.finish();
}
