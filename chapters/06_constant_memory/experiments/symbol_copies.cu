// SPDX-License-Identifier: MIT
// Which ways lead to a symbol and from it, and how long does each hold up the host?
//
// The time is that until the words are there, by the host's clock; beside it stands the call alone.

#include "../../../common/common.cuh"

constexpr std::size_t kWords = 16384;  // ints in the table: 64 KiB, all there is
constexpr unsigned kBlock = 256;

__constant__ int constant_words[kWords];

constexpr std::size_t kAll = sizeof(constant_words);

// What kernels see: a thread for each word.
__global__ void read_words(int* words) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  words[i] = constant_words[i];
}

// Two tables of words, and the places that they are copied from or to.
struct Places {
  std::vector<int> words, others;
  int *pinned, *fetched;  // memory of the host that the device reads by itself: chapter 09
  std::vector<int> nowhere = std::vector<int>(kWords, -1);
  DeviceArray<int> on_device{words}, received{kWords}, seen{kWords};

  // The other words in constant memory, and none where copies from there go.
  void poison() const {
    CUDA_CHECK(cudaMemcpyToSymbol(constant_words, others.data(), kAll));
    std::copy(words.begin(), words.end(), pinned);
    std::fill(fetched, fetched + kWords, -1);
    received.poison();
  }

  // What has arrived where. A kernel after the copy on the same stream finds the new words; the
  // host need not wait for the copy, only for what it reads itself.
  bool hold(const std::string& version, const std::vector<int>& constant,
            const std::vector<int>& at_host, const std::vector<int>& at_device) const {
    read_words<<<kWords / kBlock, kBlock>>>(seen);
    CUDA_CHECK_LAUNCH();
    return all_equal(version, seen.download(), constant) &&
           all_equal(version, {fetched, fetched + kWords}, at_host) &&
           all_equal(version, received.download(), at_device);
  }
  bool brought(const std::string& version) const { return hold(version, words, nowhere, nowhere); }
  bool at_host(const std::string& version) const { return hold(version, others, others, nowhere); }
  bool at_device(const std::string& version) const {
    return hold(version, others, nowhere, others);
  }
};

// The last argument is the direction. In the asynchronous forms a stream follows, here the default.
void to_symbol(const int* source, cudaMemcpyKind direction) {
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, source, kAll, 0, direction));
}
void to_symbol_async(const int* source, cudaMemcpyKind direction) {
  CUDA_CHECK(cudaMemcpyToSymbolAsync(constant_words, source, kAll, 0, direction));
}
void from_symbol(int* destination, cudaMemcpyKind direction) {
  CUDA_CHECK(cudaMemcpyFromSymbol(destination, constant_words, kAll, 0, direction));
}
void from_symbol_async(int* destination, cudaMemcpyKind direction) {
  CUDA_CHECK(cudaMemcpyFromSymbolAsync(destination, constant_words, kAll, 0, direction));
}

const Version<Places> kVersions[] = {
    {"to_symbol", "from ordinary memory of the host",
     [](auto& p) { to_symbol(p.words.data(), cudaMemcpyHostToDevice); }, &Places::brought},
    {"to_symbol_async", "from pinned memory of the host, asynchronously",
     [](auto& p) { to_symbol_async(p.pinned, cudaMemcpyHostToDevice); }, &Places::brought},
    {"to_symbol_device", "from global memory",
     [](auto& p) { to_symbol(p.on_device, cudaMemcpyDeviceToDevice); }, &Places::brought},
    {"to_symbol_device_async", "from global memory, asynchronously",
     [](auto& p) { to_symbol_async(p.on_device, cudaMemcpyDeviceToDevice); }, &Places::brought},
    {"from_symbol", "to pinned memory of the host",
     [](auto& p) { from_symbol(p.fetched, cudaMemcpyDeviceToHost); }, &Places::at_host},
    {"from_symbol_async", "to pinned memory of the host, asynchronously",
     [](auto& p) { from_symbol_async(p.fetched, cudaMemcpyDeviceToHost); }, &Places::at_host},
    {"from_symbol_device", "to global memory",
     [](auto& p) { from_symbol(p.received, cudaMemcpyDeviceToDevice); }, &Places::at_device},
    {"from_symbol_device_async", "to global memory, asynchronously",
     [](auto& p) { from_symbol_async(p.received, cudaMemcpyDeviceToDevice); }, &Places::at_device},
};

int main(int argc, char** argv) {
  const Options opt(argc, argv, "06_symbol_copies", "which ways lead to a symbol and from it?", {});
  ResultTable table(opt, kAll, 2 * kAll);
  table.rate_in("us of call");
  table.longest_name("from_symbol_device_async");
  table.without_speedup();
  int* pinned = nullptr;
  CUDA_CHECK(cudaMallocHost(&pinned, 2 * kAll));
  const Places places{random_ints(kWords, -999999, 999999, opt.seed),
                      random_ints(kWords, -999999, 999999, opt.seed + 1), pinned, pinned + kWords};
  for (const auto& version : kVersions) {
    if (!table.wants(version.name, version.summary)) continue;
    places.poison();
    version.launch(places);
    const bool right = (places.*version.is_right)(version.name);
    const Timing done = time_on_host(opt.samples, [&] {
      version.launch(places);
      CUDA_CHECK(cudaDeviceSynchronize());
    });
    std::vector<double> call_us;  // how long each call alone holds up the host
    while (call_us.size() < opt.samples) {
      const double begin = host_ms();
      version.launch(places);
      call_us.push_back(1000 * (host_ms() - begin));
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    table.row(version.name, done, median_of(call_us),
              (places.*version.is_right)(version.name) && right);
  }
  CUDA_CHECK(cudaFreeHost(pinned));
  return table.finish();
}
