// SPDX-License-Identifier: MIT
// What does it cost when pages move to the side that touches them?
//
// Managed memory has one pointer for both sides. A page fault brings a page over when it is
// touched; cudaMemPrefetchAsync asks for pages before that.

#include <cstring>

#include "../../../common/common.cuh"
#include "rounds.cuh"

// Words in managed memory, and what a kernel makes of them.
struct Managed {
  Managed(std::size_t words, unsigned rounds_per_word, std::uint64_t seed)
      : n(words), rounds(rounds_per_word), data(n), d_y(n) {
    fill_with_random_words(data.data(), n, seed);
    CUDA_CHECK(cudaMallocManaged(&x, n * kWord));
    host_writes();
  }
  ~Managed() { CUDA_CHECK(cudaFree(x)); }

  // The host writes it anew: its pages come to the host. A fill on the device takes them there.
  void host_writes() const { std::memcpy(x, data.data(), n * kWord); }
  void device_fills() const { CUDA_CHECK(cudaMemset(x, 0xff, n * kWord)); }
  void nothing() const {}

  // The kernel gets the same pointer that the host wrote by.
  void read() const {
    mix<<<blocks_for(n, kBlock), kBlock>>>(x, n, kRound, rounds, true, d_y);
    CUDA_CHECK_LAUNCH();
  }
  // Asks for the pages to be moved to the current device, in the default stream. Where pages cannot
  // move by themselves (Windows, WSL: they all come with the launch), there is nothing to ask for.
  void prefetch() const {
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    if (device_attribute(cudaDevAttrConcurrentManagedAccess, device) == 0) return;
#if CUDART_VERSION >= 13000  // the destination is a place now: a device, the host, a NUMA node
    cudaMemLocation place{};
    place.type = cudaMemLocationTypeDevice;
    place.id = device;
    CUDA_CHECK(cudaMemPrefetchAsync(x, n * kWord, place, 0, nullptr));
#else
    CUDA_CHECK(cudaMemPrefetchAsync(x, n * kWord, device, nullptr));
#endif
  }
  void prefetch_and_read() const { prefetch(), read(); }

  bool device_is_right(const std::string& name) const {
    return is_mixed(name, d_y, data.data(), rounds);
  }
  bool host_is_right(const std::string& name) const { return all_equal(name, {x, x + n}, data); }

  std::size_t n;
  unsigned rounds;
  std::vector<unsigned> data;
  unsigned* x = nullptr;
  DeviceArray<unsigned> d_y;
};

using Step = void (Managed::*)() const;

// Times `work`, until all is done, by the host's clock. Before each run `prepare` is done, while
// the clock stands.
template <class Prepare, class Work>
Timing time_prepared(std::size_t samples, Prepare&& prepare, Work&& work) {
  std::vector<double> ms;
  for (std::size_t i = 0; i <= samples; ++i) {  // the first one warms up
    prepare();
    CUDA_CHECK(cudaDeviceSynchronize());
    const double begin = host_ms();
    work();
    CUDA_CHECK(cudaDeviceSynchronize());
    if (i > 0) ms.push_back(host_ms() - begin);
  }
  return timing_of(ms);
}

struct Row {
  const char *name, *summary;
  Step prepare, run;
  bool (Managed::*is_right)(const std::string& name) const;
};
const Row kRows[] = {
    {"managed_read", "from the host: pages come when they are touched", &Managed::host_writes,
     &Managed::read, &Managed::device_is_right},
    {"managed_prefetched", "from the host: pages are asked for, then the kernel",
     &Managed::host_writes, &Managed::prefetch_and_read, &Managed::device_is_right},
    {"managed_read_again", "on the device since the run before", &Managed::nothing, &Managed::read,
     &Managed::device_is_right},
    {"managed_host_write", "the host writes what is on the device", &Managed::device_fills,
     &Managed::host_writes, &Managed::host_is_right},
    {"managed_host_write_again", "the host writes what is with the host", &Managed::nothing,
     &Managed::host_writes, &Managed::host_is_right},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 16_Mi : 256_Ki, rounds = kOnGpu ? 1024 : 16;
  const Options opt(argc, argv, "09_managed_memory", "what does it cost when pages move?",
                    {{"n", &n, 1, 4_Gi, "words of 4 bytes"},
                     {"rounds", &rounds, 1, 1_Mi, "the kernel's work per word"}});
  ResultTable table(opt, 2 * n * kWord);
  table.rate_in("GB/s");
  table.longest_name("managed_host_write_again");
  table.without_speedup();
  const Managed m(n, static_cast<unsigned>(rounds), opt.seed);
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    const auto timed = [&](std::size_t samples) {
      return time_prepared(
          samples, [&] { (m.*row.prepare)(); }, [&] { (m.*row.run)(); });
    };
    m.d_y.poison();
    timed(1);
    const bool right_at_first = (m.*row.is_right)(row.name);
    const Timing time = timed(opt.samples);
    table.row(row.name, time, static_cast<double>(n * kWord) / time.median_ms / 1e6,
              (m.*row.is_right)(row.name) && right_at_first);
  }
  return table.finish();
}
