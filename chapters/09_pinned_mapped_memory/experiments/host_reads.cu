// SPDX-License-Identifier: MIT
// How fast do the host and a kernel read pinned memory, write-combined or not?

#include <cstring>

#include "../../../common/common.cuh"

constexpr std::size_t kWord = sizeof(unsigned);  // sizes are counted in words of 4 bytes
constexpr unsigned kBlock = 256;

// A kernel reads the host's words where they are, over the bus.
__global__ void copy_words(const unsigned* x, std::size_t n, unsigned* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

// The kinds differ by what cudaHostAlloc is asked for.
struct Kind {
  const char *host_name, *host_summary;
  const char *kernel_name, *kernel_summary;
  unsigned flags;
};
const Kind kKinds[] = {
    {"host_read_pinned", "the host reads pinned memory", "kernel_read_pinned",
     "a kernel reads the same memory, mapped", cudaHostAllocDefault},
    {"host_read_write_combined", "the host reads memory that goes past the CPU's caches",
     "kernel_read_write_combined", "a kernel reads the same memory, mapped",
     cudaHostAllocWriteCombined},
};

// Words in pinned memory, and where they are read to: plain memory of the host's, and the device's.
struct PinnedWords {
  PinnedWords(const std::vector<unsigned>& words, unsigned flags)
      : data(words), seen(words.size(), 0xffffffffu), d_seen(words.size()) {
    CUDA_CHECK(cudaHostAlloc(&pinned, bytes(), flags));
    CUDA_CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0));
    std::memcpy(pinned, data.data(), bytes());
    d_seen.poison();
  }
  ~PinnedWords() { CUDA_CHECK(cudaFreeHost(pinned)); }
  PinnedWords(const PinnedWords&) = delete;
  PinnedWords& operator=(const PinnedWords&) = delete;

  std::size_t bytes() const { return data.size() * kWord; }
  void read() { std::memcpy(seen.data(), pinned, bytes()); }
  bool is_right(const std::string& name) const { return all_equal(name, seen, data); }
  void read_by_kernel() const {
    copy_words<<<blocks_for(data.size(), kBlock), kBlock>>>(mapped, data.size(), d_seen);
    CUDA_CHECK_LAUNCH();
  }
  bool kernel_is_right(const std::string& name) const {
    return all_equal(name, d_seen.download(), data);
  }

  std::vector<unsigned> data, seen;
  DeviceArray<unsigned> d_seen;
  unsigned *pinned = nullptr, *mapped = nullptr;  // the same words, by the host's address and
                                                  // by the device's
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 1_Mi : 256_Ki;  // 4 MiB are enough of what is slow
  const Options opt(argc, argv, "09_host_reads", "how fast do host and kernel read pinned memory?",
                    {{"n", &n, 1, 1_Gi, "words of 4 bytes"}});
  ResultTable table(opt, n * kWord);
  table.longest_name("kernel_read_write_combined");
  table.rate_in("GB/s");
  table.without_speedup();
  std::vector<unsigned> data(n);
  for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<unsigned>(random_bits(opt.seed, i));
  for (const Kind& kind : kKinds) {
    if (!table.wants(kind.host_name, kind.host_summary)) continue;
    PinnedWords words(data, kind.flags);
    const Timing time = time_on_host(opt.samples, [&] { words.read(); });
    table.row(kind.host_name, time, static_cast<double>(words.bytes()) / time.median_ms / 1e6,
              words.is_right(kind.host_name));
  }
  for (const Kind& kind : kKinds) {
    if (!table.wants(kind.kernel_name, kind.kernel_summary)) continue;
    const PinnedWords words(data, kind.flags);
    const Timing time = time_launches(opt.samples, [&] { words.read_by_kernel(); });
    table.row(kind.kernel_name, time, static_cast<double>(words.bytes()) / time.median_ms / 1e6,
              words.kernel_is_right(kind.kernel_name));
  }
  return table.finish();
}
