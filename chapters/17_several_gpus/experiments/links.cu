// SPDX-License-Identifier: MIT
// How fast is a copy from one device to another?
//
// By its size, and by its way.

#include "../../../common/common.cuh"
#include "../devices.cuh"

using Word = uint4;

// Of whichever device's memory. A device that reads another one's memory needs peer access.
__global__ void copy_words(const Word* from, Word* to, std::size_t words) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += stride)
    to[i] = from[i];
}

__global__ void fill(Word* x, std::size_t words, unsigned salt) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += stride)
    x[i] = make_uint4(static_cast<unsigned>(i), salt, static_cast<unsigned>(i >> 32), ~salt);
}
__global__ void count_wrong(const Word* x, std::size_t words, unsigned salt, unsigned* wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += stride) {
    const bool right = x[i].x == static_cast<unsigned>(i) && x[i].y == salt &&
                       x[i].z == static_cast<unsigned>(i >> 32) && x[i].w == ~salt;
    if (!right) atomicAdd(wrong, 1u);
  }
}

constexpr unsigned kGrid = kOnGpu ? 1056 : 8, kBlock = 256;

// What each of two devices has: what it gives, and what it gets of the other one.
struct End {
  DeviceArray<Word> given, got;
  DeviceArray<unsigned> wrong;
};

struct Link {
  Link(const Ranks& two, std::size_t most) : ranks(two) {
    ranks.each([&](const Rank& rank) {
      ends.push_back({DeviceArray<Word>(most), DeviceArray<Word>(most), DeviceArray<unsigned>(1)});
      fill<<<kGrid, kBlock>>>(ends.back().given, most, salt_of(rank));
      CUDA_CHECK_LAUNCH();
      CUDA_CHECK(cudaEventCreateWithFlags(&arrived[rank.number], cudaEventDisableTiming));
    });
    CUDA_CHECK(cudaHostAlloc(&on_host, most * sizeof(Word), cudaHostAllocPortable));
  }
  ~Link() {
    cudaFreeHost(on_host);
    for (const cudaEvent_t event : arrived) cudaEventDestroy(event);
  }
  Link(const Link&) = delete;

  static unsigned salt_of(const Rank& rank) { return 17u + static_cast<unsigned>(rank.number); }

  void poison() const {
    ranks.each([&](const Rank& rank) { ends[rank.number].got.poison(); });
    ranks.wait();  // nothing orders one device's memset before another one's copy
  }
  // Whether the first words that a rank got are those that the other one gives.
  bool has_got(std::size_t number, std::size_t words) const {
    ranks.wait();
    unsigned wrong = 1;
    ranks.each([&](const Rank& rank) {
      if (rank.number != number) return;
      const End& end = ends[number];
      CUDA_CHECK(cudaMemset(end.wrong, 0, sizeof(unsigned)));
      count_wrong<<<kGrid, kBlock>>>(end.got, words, salt_of(ranks[1 - number]), end.wrong);
      CUDA_CHECK_LAUNCH();
      wrong = end.wrong.download()[0];
    });
    return equals(text("wrong words of rank ", number), wrong, 0u);
  }

  // To rank `to` from the other one, in the stream of the one that gives.
  void copy(std::size_t to, std::size_t words) const {
    const Rank &giver = ranks[1 - to], &getter = ranks[to];
    CUDA_CHECK(cudaMemcpyPeerAsync(ends[to].got, getter.device, ends[giver.number].given,
                                   giver.device, words * sizeof(Word), giver.stream));
  }
  void staged(std::size_t words) const {
    const std::size_t bytes = words * sizeof(Word);
    CUDA_CHECK(
        cudaMemcpyAsync(on_host, ends[0].given, bytes, cudaMemcpyDeviceToHost, ranks[0].stream));
    CUDA_CHECK(cudaEventRecord(arrived[0], ranks[0].stream));
    CUDA_CHECK(cudaSetDevice(ranks[1].device));
    CUDA_CHECK(cudaStreamWaitEvent(ranks[1].stream, arrived[0], 0));  // all of it is there
    CUDA_CHECK(
        cudaMemcpyAsync(ends[1].got, on_host, bytes, cudaMemcpyHostToDevice, ranks[1].stream));
    CUDA_CHECK(cudaEventRecord(arrived[1], ranks[1].stream));
    CUDA_CHECK(cudaSetDevice(ranks[0].device));
    CUDA_CHECK(cudaStreamWaitEvent(ranks[0].stream, arrived[1], 0));  // on_host is free again
  }
  // A kernel of rank 1 reads the memory of rank 0.
  void read_by_kernel(std::size_t words) const {
    CUDA_CHECK(cudaSetDevice(ranks[1].device));
    copy_words<<<kGrid, kBlock, 0, ranks[1].stream>>>(ends[0].given, ends[1].got, words);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaSetDevice(ranks[0].device));
  }

  const Ranks& ranks;
  std::vector<End> ends;
  cudaEvent_t arrived[2] = {};
  void* on_host = nullptr;
};

// A way, at each size.
template <class Copy>
void add(ResultTable& table, const Link& link, std::size_t most, const std::string& way,
         double times, Copy copy) {
  for (std::size_t bytes = 4_Ki; bytes <= most; bytes *= 4) {
    const std::string name = text(way, " size=", bytes_text(bytes));
    if (!table.wants(name, way)) continue;
    const std::size_t words = bytes / sizeof(Word);
    const auto is_right = [&] {
      return link.has_got(1, words) && (times < 2 || link.has_got(0, words));
    };
    link.poison();
    copy(words);
    const bool right_at_first = is_right();
    const Timing t = time_calls(bytes < 64_Mi ? table.opt.samples : 5, [&](std::size_t calls) {
      return ms_of_calls(link.ranks, calls, [&] { copy(words); });
    });
    table.row(name, t, times * static_cast<double>(bytes) / t.median_ms / 1e6,
              right_at_first && is_right());
  }
}

int main(int argc, char** argv) {
  std::size_t most = kOnGpu ? 1_Gi : 64_Ki;
  const Options opt(argc, argv, "17_links", "how fast is a copy between devices?",
                    {{"bytes", &most, 4_Ki, 16_Gi, "of the largest copy", 4_Ki}});
  std::vector<int> devices = devices_of(opt, 0);
  ResultTable table(opt, 2 * most);
  table.longest_name("read_by_kernel size=256 MiB");
  table.without_speedup();
  if (devices.size() < 2) {
    table.note("one device: there is nobody to copy to");
    return table.finish();
  }
  devices.resize(2);
  const Ranks two(devices);
  const Link link(two, most / sizeof(Word));
  table.rate_in("GB/s");
  add(table, link, most, "staged", 1, [&](std::size_t words) { link.staged(words); });
  // The runtime finds a way of its own while no device may use the other one's memory.
  add(table, link, most, "not_enabled", 1, [&](std::size_t words) { link.copy(1, words); });
  if (!enable_peers(devices)) {
    table.note("no peer access between these devices: no direct copies");
    return table.finish();
  }
  add(table, link, most, "direct", 1, [&](std::size_t words) { link.copy(1, words); });
  add(table, link, most, "both_ways", 2, [&](std::size_t words) {
    link.copy(1, words);
    link.copy(0, words);
  });
  add(table, link, most, "read_by_kernel", 1,
      [&](std::size_t words) { link.read_by_kernel(words); });
  // The host waits for each copy, and for both devices.
  add(table, link, most, "waited_for", 1, [&](std::size_t words) {
    link.copy(1, words);
    two.wait();
  });
  return table.finish();
}
