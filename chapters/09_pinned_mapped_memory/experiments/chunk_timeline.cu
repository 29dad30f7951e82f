// SPDX-License-Identifier: MIT
// When was each chunk copied, and when was it computed?

#include "../../../common/common.cuh"
#include "marks.cuh"
#include "rounds.cuh"

// The words, once more in plain memory, and the streams over which their chunks go.
struct Chunks : PinnedWords {
  Chunks(std::size_t words, unsigned rounds_per_word, std::size_t stream_count, std::uint64_t seed)
      : PinnedWords(words, rounds_per_word, seed), data(h_x, h_x + n), streams(stream_count) {
    for (cudaStream_t& stream : streams) CUDA_CHECK(cudaStreamCreate(&stream));
  }
  ~Chunks() {
    for (cudaStream_t stream : streams) CUDA_CHECK(cudaStreamDestroy(stream));
  }

  bool is_right(const std::string& name) const { return is_mixed(name, d_y, data.data(), rounds); }

  std::vector<unsigned> data;
  std::vector<cudaStream_t> streams;
};

// Sends the chunks and mixes them. Returns a mark before all, and three for each chunk: its stream
// had come to it, it was copied, it was computed.
std::vector<cudaEvent_t> run_chunks(const Chunks& c, const unsigned* host_x, std::size_t chunks) {
  std::vector<cudaEvent_t> marks = {mark(nullptr)};
  const std::size_t chunk_words = div_up(c.n, chunks);
  for (std::size_t begin = 0, chunk = 0; begin < c.n; begin += chunk_words, ++chunk) {
    const std::size_t count = std::min(chunk_words, c.n - begin);
    const unsigned grid = blocks_for(count, kBlock);
    const cudaStream_t stream = c.streams[chunk % c.streams.size()];
    marks.push_back(mark(stream));
    CUDA_CHECK(cudaMemcpyAsync(c.d_x + begin, host_x + begin, count * kWord, cudaMemcpyHostToDevice,
                               stream));
    marks.push_back(mark(stream));
    mix<<<grid, kBlock, 0, stream>>>(c.d_x + begin, count, kRound, c.rounds, true, c.d_y + begin);
    CUDA_CHECK_LAUNCH();
    marks.push_back(mark(stream));
  }
  return marks;
}

struct Row {
  const char *name, *summary;
  bool pinned, in_chunks;
};
const Row kRows[] = {{"overlapped", "chunks of pinned memory over streams", true, true},
                     {"overlapped_pageable", "chunks of plain memory", false, true},
                     {"one_chunk", "all in a single chunk", true, false}};

// A row, and below the table a line for each chunk. The marks go into the CSV.
void draw(ResultTable& table, const Row& row, const Chunks& c, const std::vector<double>& ms) {
  const double last = std::max(1e-3, *std::max_element(ms.begin(), ms.end()));
  const auto columns = [&](double until) { return static_cast<std::size_t>(60 * until / last); };
  table.row(row.name, {last, last, last, 1}, 0, c.is_right(row.name));
  table.note(row.name, ": c until it is copied, k until it is computed");
  for (std::size_t k = 0; 3 * k + 3 < ms.size(); ++k) {
    const double begin = ms[3 * k + 1], copied = ms[3 * k + 2], computed = ms[3 * k + 3];
    const std::string stream = std::to_string(k % c.streams.size());
    const std::string name = row.name + (" chunk=" + std::to_string(k)) + " stream=" + stream + " ";
    table.measured(name + "begin", begin, "ms");
    table.measured(name + "copied", copied, "ms");
    std::string line(columns(begin), ' ');
    line.resize(std::max(line.size(), columns(copied)), 'c');
    line.resize(std::max(line.size(), columns(computed)), 'k');
    table.measured(name + "computed", computed, "ms", "  stream ", stream, " |", line);
  }
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, rounds = kOnGpu ? 1024 : 16, chunks = 16, streams = 4;
  const Options opt(argc, argv, "09_chunk_timeline", "when was each chunk copied and computed?",
                    {{"n", &n, 1, 4_Gi, "words of 4 bytes"},
                     {"rounds", &rounds, 1, 1_Mi, "the kernel's work per word"},
                     {"chunks", &chunks, 1, 1_Ki, "chunks"},
                     {"streams", &streams, 1, 32, "streams, over which the chunks go"}});
  ResultTable table(opt, n * kWord, n * kWord);
  const Chunks c(n, static_cast<unsigned>(rounds), streams, opt.seed);
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    const auto* const from = row.pinned ? c.h_x : c.data.data();
    const std::size_t pieces = row.in_chunks ? chunks : 1;
    when_reached(run_chunks(c, from, pieces));  // warms up
    c.poison();
    const std::vector<double> ms = when_reached(run_chunks(c, from, pieces));
    draw(table, row, c, ms);
  }
  return table.finish();
}
