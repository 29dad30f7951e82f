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

#include <algorithm>
#include <utility>
#include <vector>

#include "../../common/common.cuh"

constexpr std::size_t kMaxBlock = 1024;  // threads per block, a limit of the hardware
constexpr std::size_t kMaxN = 4_Gi;      // ints: 16 GiB; a grid has room for as many words

// The data repeats after a prime number of ints, so that the host need not keep 4 GiB, and so that
// no error in an address that is a power of two finds the right value by luck.
constexpr std::size_t kPeriod = 16777213;

// What a version copies or reads. Both arrays are whole 16-byte words, the last one padded with 0.
struct Problem {
  const uint4* from;
  uint4* to;
  std::size_t n;       // ints
  unsigned block;      // threads per block
  unsigned read_grid;  // blocks of read_everything: as many as the device holds at once
  unsigned* bits;      // exclusive-or of all words
};

std::size_t words_for(std::size_t n) { return div_up(n, sizeof(uint4) / sizeof(int)); }

// ---- what the device says ----------------------------------------------------------------------

using Field = std::pair<std::string, std::string>;         // name, value
using Group = std::pair<std::string, std::vector<Field>>;  // title, fields

// The CPU backend stands in for a device, but has no clocks, caches or engines of a GPU.
std::string gpu_only(const std::string& value) { return kOnGpu ? value : "means nothing here"; }

// How many operations the multiprocessors can do in the time in which the memory delivers one
// float. A program that does fewer per float waits for memory. 0 when either peak is unknown.
double operations_per_float(double gflops, double gbps) {
  return gbps > 0 ? gflops / (gbps / sizeof(float)) : 0;
}

std::string peak_dram_text(const Device& d) {
  if (d.peak_dram_gbps() == 0) return "unknown: the device does not tell its memory clock";
  return digits_text(d.peak_dram_gbps()) + " GB/s";
}

std::string peak_fp32_text(const Device& d) {
  if (d.peak_fp32_gflops() == 0) {
    return "unknown: compute capability " + d.capability() + " is not in common/device.cuh";
  }
  return digits_text(d.peak_fp32_gflops() / 1e3) + " TFLOP/s";
}

std::string balance_text(const Device& d) {
  const double balance = operations_per_float(d.peak_fp32_gflops(), d.peak_dram_gbps());
  return balance > 0 ? digits_text(balance) + " operations" : "unknown, as a peak is";
}

// Everything about one device, in groups. Attributes instead of the fields of cudaDeviceProp, some
// of which are gone in CUDA 13 (clockRate, memoryClockRate, deviceOverlap).
std::vector<Group> describe(int ordinal) {
  const Device d = describe_device(ordinal);
  const auto value = [&](cudaDeviceAttr attribute) { return device_attribute(attribute, ordinal); };
  const auto count = [&](cudaDeviceAttr attribute) { return std::to_string(value(attribute)); };
  const auto bytes = [&](cudaDeviceAttr attribute) {
    return bytes_text(static_cast<std::size_t>(value(attribute)));
  };
  const auto yes_no = [&](cudaDeviceAttr attribute) { return value(attribute) ? "yes" : "no"; };
  const auto extent = [&](cudaDeviceAttr x, cudaDeviceAttr y, cudaDeviceAttr z) {
    return count(x) + " x " + count(y) + " x " + count(z);
  };
  const auto megahertz = [](int khz) { return digits_text(khz / 1e3) + " MHz"; };
  const int cores = fp32_cores_per_sm(d.major, d.minor);
  return {
      {"device " + std::to_string(ordinal),
       {{"name", d.name},
        {"compute capability", gpu_only(d.capability())},
        {"CUDA of the driver", gpu_only(Device::version_text(d.driver_version))},
        {"CUDA of this program", Device::version_text(d.runtime_version)}}},
      {"multiprocessors (SMs)",
       {{"SMs", std::to_string(d.sm_count)},
        {"FP32 cores per SM", gpu_only(cores > 0 ? std::to_string(cores) : "unknown")},
        {"boost clock", gpu_only(megahertz(d.core_khz))},
        {"threads per SM", count(cudaDevAttrMaxThreadsPerMultiProcessor)},
        {"blocks per SM", gpu_only(count(cudaDevAttrMaxBlocksPerMultiprocessor))},
        {"registers per SM", gpu_only(count(cudaDevAttrMaxRegistersPerMultiprocessor))},
        {"shared memory per SM", gpu_only(bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor))}}},
      {"limits of one launch",
       {{"threads per warp", count(cudaDevAttrWarpSize)},
        {"threads per block", count(cudaDevAttrMaxThreadsPerBlock)},
        {"block, x y z",
         extent(cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ)},
        {"grid, x y z",
         extent(cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ)},
        {"registers per block", gpu_only(count(cudaDevAttrMaxRegistersPerBlock))},
        {"shared memory per block", bytes(cudaDevAttrMaxSharedMemoryPerBlock)},
        {"  the same, after opting in", bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin)},
        {"constant memory", bytes(cudaDevAttrTotalConstantMemory)}}},
      {"memory",
       {{"global memory", bytes_text(d.total_bytes)},
        {"L2 cache", gpu_only(bytes_text(d.l2_bytes))},
        {"memory clock", gpu_only(megahertz(d.memory_khz))},
        {"memory bus", gpu_only(std::to_string(d.bus_bits) + " bit")},
        {"ECC", gpu_only(yes_no(cudaDevAttrEccEnabled))},
        {"largest pitch of a 2D copy", gpu_only(bytes(cudaDevAttrMaxPitch))},
        {"texture alignment", gpu_only(bytes(cudaDevAttrTextureAlignment))}}},
      {"host and device",
       {{"copy engines", gpu_only(count(cudaDevAttrAsyncEngineCount))},
        {"unified addressing", yes_no(cudaDevAttrUnifiedAddressing)},
        {"can map host memory", yes_no(cudaDevAttrCanMapHostMemory)}}},
      {"what follows",
       {{"peak DRAM bandwidth", gpu_only(peak_dram_text(d))},
        {"peak FP32 rate", gpu_only(peak_fp32_text(d))},
        {"balance, per float loaded", gpu_only(balance_text(d))}}}};
}

void print(const std::vector<Group>& groups) {
  for (const auto& [title, fields] : groups) {
    std::printf("| %-27s | %-34s |\n| %s | %s: |\n", title.c_str(), "",
                std::string(27, '-').c_str(), std::string(33, '-').c_str());
    for (const auto& [name, value] : fields) {
      std::printf("| %-27s | %34s |\n", name.c_str(), value.c_str());
    }
    std::printf("\n");
  }
}

// ---- host reference ----------------------------------------------------------------------------

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

// ---- kernels -----------------------------------------------------------------------------------

// One 16-byte word per thread: the widest load every GPU has, so the fewest of them.
__global__ void copy_words(const uint4* from, uint4* to, std::size_t words) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < words) to[i] = from[i];  // the last block may reach past the end
}

// read_everything, which loads and stores nothing, stands in common/yardstick.cuh.

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

const Version<Problem> kVersions[] = {
    {"copy", "cudaMemcpyAsync, device to device",
     [](const Problem& p) {
       CUDA_CHECK(cudaMemcpyAsync(p.to, p.from, p.n * sizeof(int), cudaMemcpyDeviceToDevice));
     }},
    {"copy_kernel", "the same by a kernel, 16 bytes per thread",
     [](const Problem& p) {
       const std::size_t words = words_for(p.n);
       const auto grid = static_cast<unsigned>(div_up(words, p.block));
       copy_words<<<grid, p.block>>>(p.from, p.to, words);
     }},
    {"read", "a kernel that reads and writes nothing",
     [](const Problem& p) {
       read_everything<<<p.read_grid, p.block>>>(p.from, words_for(p.n), p.bits);
     }},
};

// Fills the device array with the pattern, again and again.
void upload(const std::vector<int>& pattern, int* d_x, std::size_t n) {
  for (std::size_t at = 0; at < n; at += pattern.size()) {
    const std::size_t count = std::min(pattern.size(), n - at);
    CUDA_CHECK(cudaMemcpy(d_x + at, pattern.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  }
}

// Forgets the last result: every bit set in the copy, none in the exclusive-or.
void poison(const Problem& p) {
  CUDA_CHECK(cudaMemset(p.to, 0xff, words_for(p.n) * sizeof(uint4)));
  CUDA_CHECK(cudaMemset(p.bits, 0, sizeof(unsigned)));
}

// Whether a version, launched once after poison(), left the right result: every int of a copy, or
// the bits of a read.
bool check(const std::string& version, const Problem& p, const std::vector<int>& pattern,
           const Expected& expected) {
  if (version == "read") {
    unsigned bits = 0;
    CUDA_CHECK(cudaMemcpy(&bits, p.bits, sizeof bits, cudaMemcpyDeviceToHost));
    return equals(version, bits, expected.bits);
  }
  const int* d_copy = reinterpret_cast<const int*>(p.to);
  std::vector<int> copy(pattern.size());
  for (std::size_t at = 0; at < p.n; at += copy.size()) {
    const std::size_t count = std::min(copy.size(), p.n - at);
    CUDA_CHECK(cudaMemcpy(copy.data(), d_copy + at, count * sizeof(int), cudaMemcpyDeviceToHost));
    const std::string what = version + ", from int " + std::to_string(at) + " on";
    if (!all_equal(what, copy.data(), pattern.data(), count)) return false;
  }
  return true;
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
  opt.parse(argc, argv);

  // Nothing has called the runtime yet: what the first calls cost can be measured only here.
  Timing start[3];
  for (std::size_t i = 0; i < 3; ++i) start[i] = time_once([&] { kStart[i].launch(opt); });

  const Device device = open_device(opt);
  if (n == 0) n = std::min(1_Gi, free_device_bytes() / 4 / sizeof(int));
  const std::size_t bytes = words_for(n) * sizeof(uint4);
  require_device_memory(opt, "--n " + std::to_string(n), 2 * bytes + sizeof(unsigned));
  ResultTable table(opt, device, "n = " + std::to_string(n) + " · block " + std::to_string(block),
                    bytes);
  table.rate_in_gbps("peak", device.peak_dram_gbps());
  table.without_speedup();  // the rows do different things
  for (int ordinal = 0; ordinal < require_device(opt); ++ordinal) print(describe(ordinal));

  const std::vector<int> pattern = random_ints(std::min(n, kPeriod), -9999, 9999, opt.seed);
  const Expected expected = reference(pattern, n);
  int* d_x = nullptr;
  Problem p{};
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMalloc(&p.to, bytes));
  CUDA_CHECK(cudaMalloc(&p.bits, sizeof(unsigned)));
  CUDA_CHECK(cudaMemset(d_x, 0, bytes));  // the padding: 0 changes no exclusive-or
  upload(pattern, d_x, n);
  p.from = reinterpret_cast<const uint4*>(d_x);
  p.n = n;
  p.block = static_cast<unsigned>(block);
  p.read_grid = read_grid(device, p.block);

  for (std::size_t i = 0; i < 3; ++i) {
    if (opt.wants(kStart[i].name)) table.add(kStart[i].name, start[i], 0, true);
  }
  for (const auto& version : kVersions) {
    if (!opt.wants(version.name)) continue;
    const auto run = [&] {
      version.launch(p);
      CUDA_CHECK_LAUNCH();
    };
    const auto is_right = [&] {
      poison(p);
      run();
      return check(version.name, p, pattern, expected);
    };
    bool ok = is_right();
    const Timing t = time_launches(opt.samples, run);
    ok = is_right() && ok;  // and still right after the timed runs
    const int passes = std::string(version.name) == "read" ? 1 : 2;  // a copy reads and writes
    table.add(version.name, t, static_cast<double>(passes * n * sizeof(int)), ok);
  }
  add_cub_row(table, opt, d_x, n, expected.sum_of_squares);

  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(p.to));
  CUDA_CHECK(cudaFree(p.bits));
  return table.finish();
}
