// SPDX-License-Identifier: MIT
// Chapter 06, --show copies: every way to and from a symbol, and how much of it the host waits for.
// Included by constant_memory.cu.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace symbol_rows {

// The words at the places they are copied from, and places to copy them to.
struct Words {
  explicit Words(const std::vector<int>& of_table) : words(of_table), on_device(of_table) {
    CUDA_CHECK(cudaMallocHost(&pinned, sizeof(constant_words)));
    std::copy(words.begin(), words.end(), pinned);
  }
  ~Words() { cudaFreeHost(pinned); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  const std::vector<int>& words;
  DeviceArray<int> on_device;
  int* pinned = nullptr;  // memory of the host that the device reads by itself: chapter 09
};

constexpr std::size_t kAll = sizeof(constant_words);

// The last argument is the direction. In the asynchronous forms a stream follows, here the default.
const Version<Words> kTo[] = {
    {"to_symbol", "from ordinary memory of the host",
     [](const Words& w) { CUDA_CHECK(cudaMemcpyToSymbol(constant_words, w.words.data(), kAll)); }},
    {"to_symbol_async", "from pinned memory of the host, asynchronously",
     [](const Words& w) {
       CUDA_CHECK(
           cudaMemcpyToSymbolAsync(constant_words, w.pinned, kAll, 0, cudaMemcpyHostToDevice));
     }},
    {"to_symbol_device", "from global memory",
     [](const Words& w) {
       CUDA_CHECK(cudaMemcpyToSymbol(constant_words, w.on_device.get(), kAll, 0,
                                     cudaMemcpyDeviceToDevice));
     }},
    {"to_symbol_device_async", "from global memory, asynchronously",
     [](const Words& w) {
       CUDA_CHECK(cudaMemcpyToSymbolAsync(constant_words, w.on_device.get(), kAll, 0,
                                          cudaMemcpyDeviceToDevice));
     }},
};

const Version<Words> kFrom[] = {
    {"from_symbol", "to pinned memory of the host",
     [](const Words& w) { CUDA_CHECK(cudaMemcpyFromSymbol(w.pinned, constant_words, kAll)); }},
    {"from_symbol_async", "to pinned memory of the host, asynchronously",
     [](const Words& w) {
       CUDA_CHECK(
           cudaMemcpyFromSymbolAsync(w.pinned, constant_words, kAll, 0, cudaMemcpyDeviceToHost));
     }},
    {"from_symbol_device", "to global memory",
     [](const Words& w) {
       CUDA_CHECK(cudaMemcpyFromSymbol(w.on_device.get(), constant_words, kAll, 0,
                                       cudaMemcpyDeviceToDevice));
     }},
    {"from_symbol_device_async", "to global memory, asynchronously",
     [](const Words& w) {
       CUDA_CHECK(cudaMemcpyFromSymbolAsync(w.on_device.get(), constant_words, kAll, 0,
                                            cudaMemcpyDeviceToDevice));
     }},
};

void name_rows(Options& opt) {
  opt.versions(kTo);
  opt.versions(kFrom);
}

// Copies other words over the ones that the version is to copy.
void poison_constant_memory() {
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, std::vector<int>(kWords, -1).data(), kAll));
}

// True if the version leaves the words in constant memory.
bool brings_words(const Version<Words>& version, const Words& w) {
  poison_constant_memory();
  version.launch(w);
  CUDA_CHECK(cudaDeviceSynchronize());
  return constant_memory_holds(w.words);
}

// True if the version copies the words of constant memory to where it says, and nowhere else.
bool fetches_words(const Version<Words>& version, const Words& w) {
  const bool to_device = std::string(version.name).find("device") != std::string::npos;
  upload_words(w.words);
  std::fill(w.pinned, w.pinned + kWords, -1);
  w.on_device.poison();
  version.launch(w);
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::vector<int> host(w.pinned, w.pinned + kWords), device = w.on_device.download();
  const std::vector<int> untouched(kWords, -1);
  return all_equal(version.name, host.data(), (to_device ? untouched : w.words).data(), kWords) &&
         all_equal(version.name, device.data(), (to_device ? w.words : untouched).data(), kWords);
}

// Prints the rows: the time until the words are there, and for how much of it the call holds up the
// host. Returns the exit status of the program.
int run(const Options& opt, const Device& device, const std::vector<int>& words) {
  ResultTable table(opt, device, "copies of " + bytes_text(kAll), kAll);
  if (kOnGpu) table.rate_in("us of call");
  table.without_speedup();
  const Words w(words);
  const auto add = [&](const Version<Words>& version, auto&& is_right) {
    if (!opt.wants(version.name)) return;
    bool ok = is_right(version, w);
    const auto copy = [&] { version.launch(w); };
    const Timing done = time_until_done(opt.samples, copy), call = time_calls(opt.samples, copy);
    ok &= is_right(version, w);
    table.add_with_rate(version.name, done, 1000 * call.median_ms, ok);
  };
  for (const auto& version : kTo) add(version, brings_words);
  for (const auto& version : kFrom) add(version, fetches_words);
  return table.finish();
}

}  // namespace symbol_rows
