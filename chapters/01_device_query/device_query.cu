// SPDX-License-Identifier: MIT
// Chapter 01: what machine am I programming?
//
// Prints the properties of every device and the peaks that follow from them, then measures:
// start_driver    the program's first runtime call
// create_context  the first call that needs the device itself
// second_call     both once more
// copy            cudaMemcpyAsync from device memory to device memory
// copy_kernel     the same by a kernel, 16 bytes per thread
// read            a kernel that reads everything and writes nothing
// cub             a read by a library, on a GPU
// Run: make run CH=01
//      make run CH=01 ARGS="--show capabilities"   generations, product lines, rates
//      make run CH=01 ARGS="--show choice"         which device is picked for a wish
//      make run CH=01 ARGS="--show locality"       the host: lines of cache used, or wasted
//      make run CH=01 ARGS="--show arithmetic"     multiply-adds, beside the peak

#include <algorithm>
#include <vector>

#include "../../common/common.cuh"
#include "arithmetic.cuh"          // what multiply-adds reach
#include "capabilities.cuh"        // what a compute capability stands for
#include "device_description.cuh"  // what a device says of itself
#include "locality.cuh"            // what the order of addresses costs on the host

constexpr std::size_t kMaxBlock = 1024;  // threads per block, a limit of the hardware
constexpr std::size_t kMaxN = 4_Gi;      // ints: 16 GiB; a grid has room for as many words

// The data repeats after a prime number of ints, so that the host need not keep 4 GiB, and so that
// no error in an address that is a power of two finds the right value by luck.
constexpr std::size_t kPeriod = 16777213;

// One 16-byte word per thread: the widest load every GPU has, so the fewest of them.
__global__ void copy_words(const uint4* from, uint4* to, std::size_t words) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < words) to[i] = from[i];  // the last block may reach past the end
}

// read_everything, which loads all of it and keeps nothing, stands in common/yardstick.cuh.

// ---- the versions ------------------------------------------------------------------------------

// What happens before the first kernel, in this order. Nothing may call the runtime earlier.
const Version<Options> kStart[] = {
    {"start_driver", "the program's first runtime call: cudaGetDeviceCount",
     [](const Options& opt) { require_device(opt); }},
    {"create_context", "the first call that needs the device: cudaFree(nullptr)",
     [](const Options& opt) {
       CUDA_CHECK(cudaSetDevice(static_cast<int>(opt.device)));  // from CUDA 12 on this one does
       CUDA_CHECK(cudaFree(nullptr));  // frees nothing; before CUDA 12 this creates the context
     }},
    {"second_call", "both once more",
     [](const Options& opt) {
       kStart[0].launch(opt);
       kStart[1].launch(opt);
     }},
};

std::size_t words_for(std::size_t n) { return div_up(n, sizeof(uint4) / sizeof(int)); }

// What the others copy or read: n ints in device memory, and a place for a copy of them. Both are
// whole 16-byte words, the last one padded with 0.
struct Arrays {
  Arrays(const std::vector<int>& pattern, std::size_t ints, std::size_t threads, unsigned blocks)
      : n(ints), block(static_cast<unsigned>(threads)), read_grid(blocks) {
    CUDA_CHECK(cudaMalloc(&from, words() * sizeof(uint4)));
    CUDA_CHECK(cudaMalloc(&to, words() * sizeof(uint4)));
    CUDA_CHECK(cudaMalloc(&bits, sizeof(unsigned)));
    CUDA_CHECK(cudaMemset(from, 0, words() * sizeof(uint4)));  // 0 changes no exclusive-or
    for (std::size_t at = 0; at < n; at += pattern.size()) {   // the pattern, again and again
      const std::size_t count = std::min(pattern.size(), n - at);
      CUDA_CHECK(cudaMemcpy(reinterpret_cast<int*>(from) + at, pattern.data(), count * sizeof(int),
                            cudaMemcpyHostToDevice));
    }
  }
  ~Arrays() {
    CUDA_CHECK(cudaFree(from));
    CUDA_CHECK(cudaFree(to));
    CUDA_CHECK(cudaFree(bits));
  }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  std::size_t words() const { return words_for(n); }

  // Forgets the last result: every bit set in the copy, none in the exclusive-or.
  void poison() const {
    CUDA_CHECK(cudaMemset(to, 0xff, words() * sizeof(uint4)));
    CUDA_CHECK(cudaMemset(bits, 0, sizeof(unsigned)));
  }

  std::size_t n;
  unsigned block;      // threads per block
  unsigned read_grid;  // blocks of read_everything: as many as the device holds at once
  uint4 *from = nullptr, *to = nullptr;
  unsigned* bits = nullptr;  // exclusive-or of all words
};

const Version<Arrays> kVersions[] = {
    {"copy", "cudaMemcpyAsync, device to device",
     [](const Arrays& a) {
       CUDA_CHECK(cudaMemcpyAsync(a.to, a.from, a.n * sizeof(int), cudaMemcpyDeviceToDevice));
     }},
    {"copy_kernel", "the same by a kernel, 16 bytes per thread",
     [](const Arrays& a) {
       const auto grid = static_cast<unsigned>(div_up(a.words(), a.block));
       copy_words<<<grid, a.block>>>(a.from, a.to, a.words());
     }},
    {"read", "a kernel that reads and writes nothing",
     [](const Arrays& a) { read_everything<<<a.read_grid, a.block>>>(a.from, a.words(), a.bits); }},
};

struct Expected {
  unsigned bits = 0;             // exclusive-or of all ints
  long long sum_of_squares = 0;  // for the library's row
};

// Of n ints that repeat the pattern.
Expected reference(const std::vector<int>& pattern, std::size_t n) {
  Expected e;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::size_t times = n / pattern.size() + (i < n % pattern.size());
    if (times % 2 == 1) e.bits ^= static_cast<unsigned>(pattern[i]);  // even: it cancels out
    e.sum_of_squares += static_cast<long long>(times) * pattern[i] * pattern[i];
  }
  return e;
}

// Whether a version, launched once after poison(), left the right result: every int of a copy, or
// the bits of a read.
bool check(const std::string& version, const Arrays& a, const std::vector<int>& pattern,
           const Expected& expected) {
  if (version == "read") {
    unsigned bits = 0;
    CUDA_CHECK(cudaMemcpy(&bits, a.bits, sizeof bits, cudaMemcpyDeviceToHost));
    return equals(version, bits, expected.bits);
  }
  const int* d_copy = reinterpret_cast<const int*>(a.to);
  std::vector<int> copy(pattern.size());
  for (std::size_t at = 0; at < a.n; at += copy.size()) {
    const std::size_t count = std::min(copy.size(), a.n - at);
    CUDA_CHECK(cudaMemcpy(copy.data(), d_copy + at, count * sizeof(int), cudaMemcpyDeviceToHost));
    const std::string part = version + ", from int " + std::to_string(at) + " on";
    if (!all_equal(part, copy.data(), pattern.data(), count)) return false;
  }
  return true;
}

bool runs_right(const Version<Arrays>& version, const Arrays& a, const std::vector<int>& pattern,
                const Expected& expected) {
  a.poison();
  version.launch(a);
  CUDA_CHECK_LAUNCH();
  return check(version.name, a, pattern, expected);
}

void add_rows(ResultTable& table, std::size_t n, std::size_t block, unsigned grid) {
  const Options& opt = table.options();
  const std::vector<int> pattern = random_ints(std::min(n, kPeriod), -9999, 9999, opt.seed);
  const Expected expected = reference(pattern, n);
  const Arrays arrays(pattern, n, block, grid);
  for (const auto& version : kVersions) {
    if (!opt.wants(version.name)) continue;
    const bool copies = std::string(version.name) != "read";
    const double amount = static_cast<double>((copies ? 2 : 1) * n * sizeof(int));  // in and out
    // A second read would cancel out the bits of the first: each check looks at one launch.
    add_measured_row(
        table, version.name, amount, [&] { arrays.poison(); }, [&] { version.launch(arrays); },
        [&] { return runs_right(version, arrays, pattern, expected); });
  }
  add_cub_row(table, opt, reinterpret_cast<const int*>(arrays.from), n, expected.sum_of_squares);
}

// What --show asks for. Returns the exit status of the program.
int run_show(const std::string& show, const Options& opt, std::size_t n) {
  if (!opt.only.empty()) opt.usage_error("--show and --only: one or the other");
  if (show == "capabilities") print_capabilities(opt);
  if (show == "choice") require_device(opt), print_choices(opt);
  if (show == "arithmetic") return arithmetic::run(opt, open_device(opt));
  if (show == "locality") {
    if (n > locality::kMostN) opt.usage_error("--n: with --show locality at most 1Gi");
    return locality::run(opt, open_device(opt), n > 0 ? n : locality::kUsualN);
  }
  return kExitOk;
}

int main(int argc, char** argv) {
  Options opt("01_device_query", "what machine am I programming?");
  opt.versions(kStart);
  opt.versions(kVersions);
  if (kOnGpu) opt.version(kCubRow, "a read by a library: cub::DeviceReduce sums squares");
  std::size_t n = kOnGpu ? 0 : 1_Mi;  // 0: chosen when the device is known
  std::size_t block = 512;
  opt.add("n", &n, 1, kMaxN,
          "ints to copy and read; if left out on a GPU: 4 GiB, or a quarter of what is free");
  opt.add("block", &block, 1, kMaxBlock, "threads per block");
  std::string show;
  opt.add("show", &show, {"capabilities", "choice", "locality", "arithmetic"},
          "something else instead");
  opt.parse(argc, argv);
  if (!show.empty()) return run_show(show, opt, n);

  // Nothing has called the runtime yet: what the first calls cost can be measured only here.
  double start_ms[3];
  for (int i = 0; i < 3; ++i) start_ms[i] = time_once([&] { kStart[i].launch(opt); }).median_ms;

  const Device device = open_device(opt);
  if (n == 0) n = std::min(1_Gi, free_device_bytes() / 4 / sizeof(int));
  const std::size_t bytes = words_for(n) * sizeof(uint4);
  require_device_memory(opt, "--n " + std::to_string(n), 2 * bytes + sizeof(unsigned));
  ResultTable table(opt, device, "n = " + std::to_string(n) + " · block " + std::to_string(block),
                    bytes);
  table.rate_in_gbps("peak", device.peak_dram_gbps());
  table.without_speedup();  // the rows do different things
  for (int ordinal = 0; ordinal < require_device(opt); ++ordinal) print(describe(ordinal));
  for (int i = 0; i < 3; ++i) table.add_once(kStart[i].name, start_ms[i], 0, true);
  add_rows(table, n, block, read_grid(device, static_cast<unsigned>(block)));
  return table.finish();
}
