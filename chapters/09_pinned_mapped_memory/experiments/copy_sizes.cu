// SPDX-License-Identifier: MIT
// From which size on is a copy limited by the bus, and how long does a small one take?

#include <cstring>

#include "../../../common/common.cuh"

constexpr std::size_t kWord = sizeof(unsigned);  // sizes are counted in words of 4 bytes

// One kind of host memory, device memory, and the words that go from one to the other.
struct Copies {
  Copies(std::size_t words, bool is_pinned, std::uint64_t seed)
      : n(words), pinned(is_pinned), data(n), d_words(n) {
    for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<unsigned>(random_bits(seed, i));
    if (pinned) CUDA_CHECK(cudaMallocHost(&host, n * kWord));
    if (!pinned) host = new unsigned[n];
  }
  ~Copies() {
    if (pinned) CUDA_CHECK(cudaFreeHost(host));
    if (!pinned) delete[] host;
  }

  // The first `count` words, either way.
  void to_device(std::size_t count) const {
    CUDA_CHECK(cudaMemcpyAsync(d_words, host, count * kWord, cudaMemcpyHostToDevice));
  }
  void to_host(std::size_t count) const {
    CUDA_CHECK(cudaMemcpyAsync(host, d_words, count * kWord, cudaMemcpyDeviceToHost));
  }

  // Puts the data where a copy begins, and the byte 0xff where it ends.
  void before_to_device(std::size_t count) const {
    std::memcpy(host, data.data(), count * kWord);
    CUDA_CHECK(cudaMemset(d_words, 0xff, count * kWord));
  }
  void before_to_host(std::size_t count) const {
    CUDA_CHECK(cudaMemcpy(d_words, data.data(), count * kWord, cudaMemcpyHostToDevice));
    std::memset(host, 0xff, count * kWord);
  }
  bool came_to_device(const std::string& name, std::size_t count) const {
    return all_equal(name, d_words.download(count), {data.begin(), data.begin() + count});
  }
  bool came_to_host(const std::string& name, std::size_t count) const {
    CUDA_CHECK(cudaDeviceSynchronize());
    return all_equal<unsigned>(name, {host, host + count}, {data.begin(), data.begin() + count});
  }

  std::size_t n;
  bool pinned;
  std::vector<unsigned> data;
  unsigned* host = nullptr;
  DeviceArray<unsigned> d_words;
};

struct Series {
  const char* name;
  bool pinned;
  void (Copies::*prepare)(std::size_t count) const;
  void (Copies::*run)(std::size_t count) const;
  bool (Copies::*is_right)(const std::string& name, std::size_t count) const;
};
const Series kSeries[] = {
    {"h2d_pageable", false, &Copies::before_to_device, &Copies::to_device, &Copies::came_to_device},
    {"h2d_pinned", true, &Copies::before_to_device, &Copies::to_device, &Copies::came_to_device},
    {"d2h_pageable", false, &Copies::before_to_host, &Copies::to_host, &Copies::came_to_host},
    {"d2h_pinned", true, &Copies::before_to_host, &Copies::to_host, &Copies::came_to_host},
};

// 1 KiB and its doubles, as long as they are smaller than all n words; then these.
std::vector<std::size_t> sizes_up_to(std::size_t n) {
  std::vector<std::size_t> sizes;
  for (std::size_t count = 1_Ki / kWord; count < n; count *= 2) sizes.push_back(count);
  sizes.push_back(n);
  return sizes;
}

// By the host's clock, from the call until the bytes are there.
Timing time_copy(const Series& series, const Copies& c, std::size_t count, std::size_t samples) {
  return time_on_host(samples, [&] {
    (c.*series.run)(count);
    CUDA_CHECK(cudaDeviceSynchronize());
  });
}

void add_copy(ResultTable& table, const Series& series, const Copies& c, std::size_t count,
              std::size_t samples) {
  const std::string name = std::string(series.name) + " size=" + bytes_text(count * kWord);
  if (!table.wants(name)) return;
  (c.*series.prepare)(count);
  (c.*series.run)(count);
  const bool right_at_first = (c.*series.is_right)(name, count);
  const Timing time = time_copy(series, c, count, samples);
  table.row(name, time, static_cast<double>(count * kWord) / time.median_ms / 1e6,
            (c.*series.is_right)(name, count) && right_at_first);
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 256_Mi : 256_Ki;
  const Options opt(argc, argv, "09_copy_sizes", "from which size on is the bus the limit?",
                    {{"n", &n, 1, 4_Gi, "words of 4 bytes in the largest copy"}});
  ResultTable table(opt, n * kWord);
  table.longest_name("h2d_pageable size=256 KiB");
  table.without_speedup();
  if (kOnGpu) {
    const Copies all(n, true, opt.seed);
    const double ms = time_copy(kSeries[1], all, n, opt.samples).median_ms;
    table.rate_in("GB/s", "pinned", static_cast<double>(n * kWord) / ms / 1e6);
  }
  for (const Series& series : kSeries) {
    const Copies copies(n, series.pinned, opt.seed);
    for (const std::size_t count : sizes_up_to(n))
      add_copy(table, series, copies, count, opt.samples);
  }
  return table.finish();
}
