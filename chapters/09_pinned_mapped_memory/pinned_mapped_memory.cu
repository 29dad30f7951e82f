// SPDX-License-Identifier: MIT
// Chapter 09: how does data get there?
//
// h2d_*, d2h_*  one copy, to the device or back, for four kinds of host memory
// mapped_*      a kernel reads or writes host memory: no copy at all
// copied_*      the same kernel on device memory, and a copy before or after it
// kernel_alone  the same kernel: everything is in device memory already
// overlapped*   chunks over streams: the next one is copied while the kernel works on this one
// Run: make run CH=09

#include <cstring>

#include "../../common/common.cuh"

constexpr std::size_t kWord = sizeof(unsigned);  // sizes are counted in words of 4 bytes
constexpr unsigned kBlock = 256;

// One round of work: v becomes v * factor + step, modulo 2^32. The kernel gets it as an argument,
// because the compiler could fold many rounds with constants into one.
struct Round {
  unsigned factor, step;
  __host__ __device__ unsigned operator()(unsigned v) const { return v * factor + step; }
};
constexpr Round kRound{1664525, 1013904223};  // scatters well: Press et al., "Numerical Recipes"

// One pass. Whether x and y are in the device's memory or in the host's, the code is the same.
__global__ void mix(const unsigned* x, std::size_t n, Round round, unsigned rounds, bool first,
                    unsigned* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned v = first ? x[i] : y[i] ^ x[i];
    for (unsigned r = 0; r < rounds; ++r) v = round(v);
    y[i] = v;
  }
}

// ---- kinds of host memory: how to get each, and the one right way to give it back --------------

unsigned* new_pinned(std::size_t n) {
  unsigned* words = nullptr;
  CUDA_CHECK(cudaMallocHost(&words, n * kWord));
  return words;
}
unsigned* new_write_combined(std::size_t n) {
  unsigned* words = nullptr;
  CUDA_CHECK(cudaHostAlloc(&words, n * kWord, cudaHostAllocWriteCombined));
  return words;
}
void free_pinned(unsigned* words) { CUDA_CHECK(cudaFreeHost(words)); }

// Memory that was there already, pinned where it lies: what a library does to its caller's.
unsigned* new_registered(std::size_t n) {
  unsigned* const words = new unsigned[n];
  CUDA_CHECK(cudaHostRegister(words, n * kWord, cudaHostRegisterDefault));
  return words;
}
void delete_registered(unsigned* words) {
  CUDA_CHECK(cudaHostUnregister(words));  // first: the heap must not get pinned pages back
  delete[] words;
}

struct HostMemory {
  unsigned* (*get)(std::size_t n);
  void (*give_back)(unsigned*);
};
const HostMemory kPageable{[](std::size_t n) { return new unsigned[n]; },
                           [](unsigned* words) { delete[] words; }};
const HostMemory kPinned{new_pinned, free_pinned};
const HostMemory kWriteCombined{new_write_combined, free_pinned};
const HostMemory kRegistered{new_registered, delete_registered};

// ---- what is sent, and all the memory that it may pass through ---------------------------------

// `count` rounds in a row are one such round again: this one.
Round repeated(Round round, unsigned count) {
  Round all{1, 0};
  for (unsigned k = 0; k < count; ++k) all = {all.factor * round.factor, round(all.step)};
  return all;
}

// What `passes` passes of the kernel make of x, with all rounds of a pass in one step.
std::vector<unsigned> reference(const std::vector<unsigned>& x, unsigned rounds, unsigned passes) {
  const Round all = repeated(kRound, rounds);
  std::vector<unsigned> y(x.size(), 0);
  for (unsigned pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = all(y[i] ^ x[i]);
  }
  return y;
}

std::vector<unsigned> random_words(std::size_t n, std::uint64_t seed) {
  std::vector<unsigned> words(n);
  for (std::size_t i = 0; i < n; ++i) words[i] = static_cast<unsigned>(random_bits(seed, i));
  return words;
}

struct Transfer {
  Transfer(const std::vector<unsigned>& words, unsigned rounds_per_word, std::size_t chunk_count,
           std::size_t stream_count)
      : data(words), rounds(rounds_per_word), chunks(chunk_count), streams(stream_count) {
    // Kernels can reach any pinned memory. By which address? Nearly always by the host's own.
    CUDA_CHECK(cudaHostGetDevicePointer(&mapped_x, h_x, 0));
    CUDA_CHECK(cudaHostGetDevicePointer(&mapped_y, h_y, 0));
    std::memcpy(h_x, data.data(), n * kWord);
    for (cudaStream_t& stream : streams) CUDA_CHECK(cudaStreamCreate(&stream));
  }
  ~Transfer() {
    free_pinned(h_x);
    free_pinned(h_y);
    for (cudaStream_t stream : streams) CUDA_CHECK(cudaStreamDestroy(stream));
  }

  double amount() const { return static_cast<double>(n * kWord); }
  unsigned rounds_in_each_of(unsigned passes) const { return std::max(1u, rounds / passes); }

  void poison() const {
    std::memset(h_y, 0xff, n * kWord);
    d_x.poison();
    d_y.poison();
  }
  bool is_mixed(const std::string& version, const unsigned* y, unsigned passes) const {
    const std::vector<unsigned> expected = reference(data, rounds_in_each_of(passes), passes);
    return all_equal(version, {y, y + n}, expected);
  }
  bool is_right(const std::string& version) const {
    return is_mixed(version, d_y.download().data(), 1);
  }
  bool two_passes_are_right(const std::string& version) const {
    return is_mixed(version, d_y.download().data(), 2);
  }
  bool host_is_right(const std::string& version) const {
    CUDA_CHECK(cudaDeviceSynchronize());  // until here anything may stand in h_y
    return is_mixed(version, h_y, 1);
  }

  std::vector<unsigned> data;  // pageable
  std::size_t n = data.size();
  unsigned rounds;                                      // per word, over all passes of the kernel
  std::size_t chunks;                                   // of the overlapped versions
  std::vector<cudaStream_t> streams;                    // over which the chunks go
  DeviceArray<unsigned> d_data{data};                   // the data, on the device beforehand
  DeviceArray<unsigned> d_x{n}, d_y{n};                 // gets the data; gets results
  unsigned *h_x = new_pinned(n), *h_y = new_pinned(n);  // holds the data; gets results
  unsigned *mapped_x = nullptr, *mapped_y = nullptr;    // the same two by their device addresses
};

// ---- one copy, by the host's clock -------------------------------------------------------------

// Async: the calls may return before the bytes are there.
void h2d(const Transfer& t, unsigned* host) {
  CUDA_CHECK(cudaMemcpyAsync(t.d_y, host, t.n * kWord, cudaMemcpyHostToDevice));
}
void d2h(const Transfer& t, unsigned* host) {
  CUDA_CHECK(cudaMemcpyAsync(host, t.d_data, t.n * kWord, cudaMemcpyDeviceToHost));
}
void h2d_pinned_for_it(const Transfer& t, unsigned* host) {
  CUDA_CHECK(cudaHostRegister(host, t.n * kWord, cudaHostRegisterDefault));
  h2d(t, host);
  CUDA_CHECK(cudaStreamSynchronize(nullptr));  // the pages must stay until the copy is done
  CUDA_CHECK(cudaHostUnregister(host));
}

using Run = void (*)(const Transfer&, unsigned* host);
enum class Way { kToDevice, kToHost };

struct Copy {
  const char *name, *summary;
  Way way;
  const HostMemory& kind;
  Run run;
};

const Copy kCopies[] = {
    {"h2d_pageable", "to the device: plain memory, from new", Way::kToDevice, kPageable, h2d},
    {"h2d_pinned", "to the device: pages that stay where they are", Way::kToDevice, kPinned, h2d},
    {"h2d_write_combined", "to the device: pinned, and past the CPU's caches", Way::kToDevice,
     kWriteCombined, h2d},
    {"h2d_registered", "to the device: plain memory, pinned afterwards", Way::kToDevice,
     kRegistered, h2d},
    {"h2d_pinned_for_it", "to the device: pinned before, and unpinned after, each time",
     Way::kToDevice, kPageable, h2d_pinned_for_it},
    {"d2h_pageable", "to the host: plain memory, from new", Way::kToHost, kPageable, d2h},
    {"d2h_pinned", "to the host: pages that stay where they are", Way::kToHost, kPinned, d2h},
    {"d2h_write_combined", "to the host: pinned, and past the CPU's caches", Way::kToHost,
     kWriteCombined, d2h},
    {"d2h_registered", "to the host: plain memory, pinned afterwards", Way::kToHost, kRegistered,
     d2h},
};

// Puts the data where the copy begins, and the byte 0xff where it ends.
void prepare(const Copy& copy, const Transfer& t, unsigned* host) {
  t.poison();
  if (copy.way == Way::kToDevice) std::memcpy(host, t.data.data(), t.n * kWord);
  if (copy.way == Way::kToHost) std::memset(host, 0xff, t.n * kWord);
}

// The host may take seconds to read write-combined memory. So what came to the host goes back to
// the device, and from there to plain memory.
bool has_arrived(const Copy& copy, const Transfer& t, const unsigned* host) {
  if (copy.way == Way::kToHost) {
    CUDA_CHECK(cudaMemcpy(t.d_y, host, t.n * kWord, cudaMemcpyHostToDevice));
  }
  return all_equal(copy.name, t.d_y.download(), t.data);
}

// From the call until the bytes are there.
Timing time_copy(Run run, const Transfer& t, unsigned* host, std::size_t samples) {
  return time_on_host(samples, [&] {
    run(t, host);
    CUDA_CHECK(cudaDeviceSynchronize());
  });
}

void add_copy(ResultTable& table, const Copy& copy, const Transfer& t, std::size_t samples) {
  if (!table.wants(copy.name, copy.summary)) return;
  unsigned* const host = copy.kind.get(t.n);
  prepare(copy, t, host);
  copy.run(t, host);
  const bool right_at_first = has_arrived(copy, t, host);
  const Timing time = time_copy(copy.run, t, host, samples);
  const bool right_at_last = has_arrived(copy, t, host);
  table.row(copy.name, time, t.amount() / time.median_ms / 1e6, right_at_first && right_at_last);
  copy.kind.give_back(host);
}

// ---- no copy, a copy, and copies in chunks -----------------------------------------------------

// The arithmetic is the same for any number of passes, but each pass reads all of x again.
void run_passes(const Transfer& t, unsigned passes, const unsigned* x, unsigned* y) {
  const unsigned grid = blocks_for(t.n, kBlock);
  for (unsigned pass = 0; pass < passes; ++pass) {
    mix<<<grid, kBlock>>>(x, t.n, kRound, t.rounds_in_each_of(passes), pass == 0, y);
    CUDA_CHECK_LAUNCH();
  }
}

void copy_and_run_passes(const Transfer& t, unsigned passes) {
  CUDA_CHECK(cudaMemcpyAsync(t.d_x, t.h_x, t.n * kWord, cudaMemcpyHostToDevice));
  run_passes(t, passes, t.d_x, t.d_y);
}

void run_and_copy_back(const Transfer& t) {
  run_passes(t, 1, t.d_data, t.d_y);
  CUDA_CHECK(cudaMemcpyAsync(t.h_y, t.d_y, t.n * kWord, cudaMemcpyDeviceToHost));
}

// A chunk's copy and its kernel are in one stream: the kernel waits for its copy. The next chunk
// is in the next stream and waits for neither: its copy goes on while this kernel works.
void run_chunks(const Transfer& t, const unsigned* host_x) {
  const std::size_t chunk_words = div_up(t.n, t.chunks);
  for (std::size_t begin = 0, chunk = 0; begin < t.n; begin += chunk_words, ++chunk) {
    const std::size_t count = std::min(chunk_words, t.n - begin);
    const unsigned grid = blocks_for(count, kBlock);
    const cudaStream_t stream = t.streams[chunk % t.streams.size()];
    CUDA_CHECK(cudaMemcpyAsync(t.d_x + begin, host_x + begin, count * kWord, cudaMemcpyHostToDevice,
                               stream));
    mix<<<grid, kBlock, 0, stream>>>(t.d_x + begin, count, kRound, t.rounds, true, t.d_y + begin);
    CUDA_CHECK_LAUNCH();
  }
}

// By events on the default stream: streams made by cudaStreamCreate take turns with it, so that
// their work lies between the events.
const Version<Transfer> kVersions[] = {
    {"mapped_read", "the kernel reads host memory",
     [](const Transfer& t) { run_passes(t, 1, t.mapped_x, t.d_y); }},
    {"copied_read", "a copy, then the kernel",
     [](const Transfer& t) { copy_and_run_passes(t, 1); }},
    {"mapped_read_twice", "half the work per pass, two passes",
     [](const Transfer& t) { run_passes(t, 2, t.mapped_x, t.d_y); },
     &Transfer::two_passes_are_right},
    {"copied_read_twice", "half the work per pass, two passes",
     [](const Transfer& t) { copy_and_run_passes(t, 2); }, &Transfer::two_passes_are_right},
    {"mapped_write", "the kernel writes host memory",
     [](const Transfer& t) { run_passes(t, 1, t.d_data, t.mapped_y); }, &Transfer::host_is_right},
    {"copied_write", "the kernel, then a copy", run_and_copy_back, &Transfer::host_is_right},
    {"kernel_alone", "all is on the device",
     [](const Transfer& t) { run_passes(t, 1, t.d_data, t.d_y); }},
    {"overlapped", "chunks over streams", [](const Transfer& t) { run_chunks(t, t.h_x); }},
    {"overlapped_pageable", "chunks of plain memory",
     [](const Transfer& t) { run_chunks(t, t.data.data()); }},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, rounds = kOnGpu ? 1024 : 16, chunks = 16, streams = 4;
  const Options opt(argc, argv, "09_pinned_mapped_memory", "how does data get there?",
                    {{"n", &n, 1, 4_Gi, "words of 4 bytes"},
                     {"rounds", &rounds, 1, 1_Mi, "the kernel's work per word"},
                     {"chunks", &chunks, 1, 64_Ki, "chunks of the overlapped versions"},
                     {"streams", &streams, 1, 32, "streams of the overlapped versions"}});
  ResultTable table(opt, n * kWord, 2 * n * kWord);
  table.without_speedup();  // the rows do not all do the same

  const Transfer t(random_words(n, opt.seed), static_cast<unsigned>(rounds), chunks, streams);
  const Timing pinned = time_copy(h2d, t, t.h_x, opt.samples);
  table.rate_in("GB/s", "pinned", kOnGpu ? t.amount() / pinned.median_ms / 1e6 : 0);
  for (const Copy& copy : kCopies) add_copy(table, copy, t, opt.samples);
  for (const auto& version : kVersions) table.add(version, t);
  return table.finish();
}
