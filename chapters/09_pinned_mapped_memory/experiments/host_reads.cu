// SPDX-License-Identifier: MIT
// How fast does the host read its own pinned memory, write-combined or not?

#include <cstring>
#include <vector>

#include "../../../common/common.cuh"

constexpr std::size_t kWord = sizeof(unsigned);  // sizes are counted in words of 4 bytes

// The kinds differ by what cudaHostAlloc is asked for.
struct Kind {
  const char *name, *summary;
  unsigned flags;
};
const Kind kKinds[] = {
    {"host_read_pinned", "the host reads pinned memory", cudaHostAllocDefault},
    {"host_read_write_combined", "the host reads memory that goes past the CPU's caches",
     cudaHostAllocWriteCombined},
};

// Words in pinned memory, and plain memory that the host reads them to.
struct PinnedWords {
  PinnedWords(const std::vector<unsigned>& words, unsigned flags)
      : data(words), seen(words.size(), 0xffffffffu) {
    CUDA_CHECK(cudaHostAlloc(&pinned, bytes(), flags));
    std::memcpy(pinned, data.data(), bytes());
  }
  ~PinnedWords() { CUDA_CHECK(cudaFreeHost(pinned)); }
  PinnedWords(const PinnedWords&) = delete;
  PinnedWords& operator=(const PinnedWords&) = delete;

  std::size_t bytes() const { return data.size() * kWord; }
  void read() { std::memcpy(seen.data(), pinned, bytes()); }
  bool is_right(const std::string& name) const {
    return all_equal(name, seen.data(), data.data(), data.size());
  }

  std::vector<unsigned> data, seen;
  unsigned* pinned = nullptr;
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 1_Mi : 256_Ki;  // 4 MiB are enough of what is slow
  const Options opt(argc, argv, "09_host_reads", "how fast does the host read pinned memory?",
                    {{"n", &n, 1, 1_Gi, "words of 4 bytes"}});
  ResultTable table(opt, n * kWord);
  table.rate_in("GB/s");
  table.without_speedup();
  std::vector<unsigned> data(n);
  for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<unsigned>(random_bits(opt.seed, i));
  for (const Kind& kind : kKinds) {
    if (!table.wants(kind.name, kind.summary)) continue;
    PinnedWords words(data, kind.flags);
    const Timing time = time_on_host(opt.samples, [&] { words.read(); });
    table.row(kind.name, time, static_cast<double>(words.bytes()) / time.median_ms / 1e6,
              words.is_right(kind.name));
  }
  return table.finish();
}
