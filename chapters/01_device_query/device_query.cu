// SPDX-License-Identifier: MIT
// Chapter 01: what machine am I programming?
// Prints every device's properties and the peaks that follow from them, then measures:
// start_driver    the program's first runtime call
// create_context  the first call that needs the device itself
// second_call     both once more
// copy            cudaMemcpyAsync from device memory to device memory
// copy_kernel     the same by a kernel, 16 bytes per thread
// read            a kernel that reads everything and writes nothing
// Run: make run CH=01        a read by NVIDIA's library, on a GPU: cub

#include "../../common/common.cuh"

// The data repeats after a prime number of ints, so that the host need not keep 4 GiB, and so that
// no error in an address that is a power of two finds the right value by luck.
constexpr std::size_t kPeriod = 16777213;

// One 16-byte word per thread: the widest load every GPU has, so the fewest of them.
__global__ void copy_words(const uint4* from, uint4* to, std::size_t words) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < words) to[i] = from[i];  // the last block may reach past the end
}

// Reads `n` words and adds nothing but their exclusive-or to `result`, so that the loads cannot be
// dropped and only reading takes time. Eight loads do not depend on each other (nvcc 13.0 has four
// of them in flight), and a block updates `result` once, not once for each of its warps.
__global__ void read_words(const uint4* x, std::size_t n, unsigned* result) {
  constexpr unsigned kColumns = 32;  // lane i of every warp meets in column i
  __shared__ unsigned columns[kColumns];
  if (threadIdx.x < kColumns) columns[threadIdx.x] = 0;
  __syncthreads();  // all are zero before the first thread adds to one
  constexpr int kInFlight = 8;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned bits = 0;
  for (; i + (kInFlight - 1) * stride < n; i += kInFlight * stride) {
    uint4 v[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) v[k] = x[i + k * stride];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) bits ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  for (; i < n; i += stride) bits ^= x[i].x ^ x[i].y ^ x[i].z ^ x[i].w;
  atomicXor(&columns[threadIdx.x % kColumns], bits);
  __syncthreads();  // every thread's bits are in
  if (threadIdx.x != 0) return;
  unsigned block_bits = 0;
  for (unsigned k = 0; k < kColumns && k < blockDim.x; ++k) block_bits ^= columns[k];
  atomicXor(result, block_bits);
}

// ---- what a device says of itself --------------------------------------------------------------

// Peak of the memory in GB/s (1e9): clock x 2 edges x bytes of the bus. 0: the device is silent.
double dram_gbps(int memory_khz, int bus_bits) { return 2e3 * memory_khz * (bus_bits / 8) / 1e9; }

double peak_dram_gbps(int ordinal) {
  return dram_gbps(device_attribute(cudaDevAttrMemoryClockRate, ordinal),
                   device_attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal));
}

// How many operations the multiprocessors can do in the time in which the memory delivers one
// float. A program that does fewer per float waits for memory. 0 when either peak is unknown.
double operations_per_float(double gflops, double gbps) {
  return gbps > 0 ? gflops / (gbps / sizeof(float)) : 0;
}

std::string capability_text(const Device& d) { return version_text(1000 * d.major + 10 * d.minor); }

// The name of the architecture. What was sold under each capability: experiments/capabilities.cu.
std::string generation(int major, int minor) {
  if (major == 7 && minor == 5) return "Turing";
  if (major == 8 && minor == 9) return "Ada";
  const char* const names[] = {"Maxwell", "Pascal",    "Volta",     "Ampere",
                               "Hopper",  "Blackwell", "Blackwell", "Blackwell"};
  return major >= 5 && major <= 12 ? names[major - 5] : "unknown";
}

// One property: its value here, and an H200's as it stands in results/h200.txt (tests compare).
struct Field {
  std::string name, value, h200;
};
using Group = std::pair<std::string, std::vector<Field>>;  // with its title

// What follows from clocks and units, or why it is not known. `fp64_ratio`: 32-bit results in the
// time of one of 64 bits. 2 on a chip for simulations, 32 or 64 on one for graphics.
std::vector<Field> peaks_of(const Device& d, double gbps, int fp64_ratio) {
  const auto known = [](double value, const char* unit, const std::string& why_not) {
    return value > 0 ? digits_text(value) + unit : "unknown" + why_not;
  };
  const std::string no_cores = ": capability " + capability_text(d) + " is not in yardsticks.cuh";
  const double fp32 = peak_fp32_gflops(d), fp64 = fp64_ratio > 0 ? fp32 / fp64_ratio : 0;
  const double balance = operations_per_float(fp32, gbps);
  return {
      {"peak DRAM bandwidth", known(gbps, " GB/s", ": it tells no memory clock"), "4814 GB/s"},
      {"peak FP32 rate", known(fp32 / 1e3, " TFLOP/s", no_cores), "66.91 TFLOP/s"},
      {"peak FP64 rate", known(fp64 / 1e3, " TFLOP/s", ", as the FP32 rate is"), "33.45 TFLOP/s"},
      {"balance, per float loaded", known(balance, " operations", ", as a peak is"),
       "55.59 operations"}};
}

// The CPU backend stands in for a device, but has no clocks, caches or engines of a GPU.
std::string gpu_only(const std::string& value) { return kOnGpu ? value : "-"; }

// Everything about one device. CUDA 13 took clocks out of cudaDeviceProp: they are attributes.
std::vector<Group> describe(int ordinal) {
  const Device d = describe_device(ordinal);
  const auto value = [&](cudaDeviceAttr attribute) { return device_attribute(attribute, ordinal); };
  const auto count = [&](cudaDeviceAttr attribute) { return std::to_string(value(attribute)); };
  const auto yes_no = [](int value) { return value != 0 ? "yes" : "no"; };
  const auto extent = [](const int* sizes) {
    return std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " x " +
           std::to_string(sizes[2]);
  };
  const auto megahertz = [](int khz) { return digits_text(khz / 1e3) + " MHz"; };
  const int cores = fp32_cores_per_sm(d.major, d.minor);
  const int fp64_ratio = value(cudaDevAttrSingleToDoublePrecisionPerfRatio);
  std::vector<Field> peaks = peaks_of(d, peak_dram_gbps(ordinal), fp64_ratio);
  for (Field& field : peaks) field.value = gpu_only(field.value);
  return {
      {"device " + std::to_string(ordinal),
       {{"name", d.name, "NVIDIA H200"},
        {"compute capability", capability_text(d), "9.0"},
        {"generation", gpu_only(generation(d.major, d.minor)), "Hopper"},
        {"CUDA of the driver", gpu_only(version_text(d.driver_version)), "13.0"},
        {"CUDA of this program", version_text(d.runtime_version), "13.0"}}},
      {"multiprocessors (SMs)",
       {{"SMs", count(cudaDevAttrMultiProcessorCount), "132"},
        {"FP32 cores per SM", gpu_only(cores > 0 ? std::to_string(cores) : "unknown"), "128"},
        {"FP64 rate", gpu_only("1/" + std::to_string(fp64_ratio) + " of FP32"), "1/2 of FP32"},
        {"boost clock", gpu_only(megahertz(d.core_khz)), "1980 MHz"},
        {"threads per SM", count(cudaDevAttrMaxThreadsPerMultiProcessor), "2048"},
        {"warps per SM", std::to_string(d.maxThreadsPerMultiProcessor / d.warpSize), "64"},
        {"blocks per SM", gpu_only(count(cudaDevAttrMaxBlocksPerMultiprocessor)), "32"},
        {"registers per SM", gpu_only(count(cudaDevAttrMaxRegistersPerMultiprocessor)), "65536"},
        {"shared memory per SM", gpu_only(bytes_text(d.sharedMemPerMultiprocessor)), "228 KiB"}}},
      {"limits of one launch",
       {{"threads per warp", count(cudaDevAttrWarpSize), "32"},
        {"threads per block", count(cudaDevAttrMaxThreadsPerBlock), "1024"},
        {"block, x y z", extent(d.maxThreadsDim), "1024 x 1024 x 64"},
        {"grid, x y z", extent(d.maxGridSize), "2147483647 x 65535 x 65535"},
        {"registers per block", gpu_only(count(cudaDevAttrMaxRegistersPerBlock)), "65536"},
        {"shared memory per block", bytes_text(d.sharedMemPerBlock), "48 KiB"},
        {"  the same, after opting in", bytes_text(d.sharedMemPerBlockOptin), "227 KiB"},
        {"constant memory", bytes_text(d.totalConstMem), "64 KiB"}}},
      {"memory",
       {{"global memory", bytes_text(d.totalGlobalMem), "140 GiB"},
        {"L2 cache", gpu_only(bytes_text(static_cast<std::size_t>(d.l2CacheSize))), "60 MiB"},
        {"memory clock", gpu_only(megahertz(value(cudaDevAttrMemoryClockRate))), "3201 MHz"},
        {"memory bus", gpu_only(count(cudaDevAttrGlobalMemoryBusWidth) + " bit"), "6016 bit"},
        {"ECC", gpu_only(yes_no(d.ECCEnabled)), "yes"},
        {"largest pitch of a 2D copy", gpu_only(bytes_text(d.memPitch)), "2.0 GiB"},
        {"texture alignment", gpu_only(bytes_text(d.textureAlignment)), "512 B"}}},
      {"host and device",
       {{"copy engines", gpu_only(count(cudaDevAttrAsyncEngineCount)), "3"},
        {"unified addressing", yes_no(d.unifiedAddressing), "yes"},
        {"can map host memory", yes_no(d.canMapHostMemory), "yes"}}},
      {"what follows", peaks}};
}

void print_line(const Field& field) {
  std::printf("| %-27s | %*s |", field.name.c_str(), kOnGpu ? 34 : 27, field.value.c_str());
  if (!kOnGpu) std::printf(" %27s |", field.h200.c_str());
  std::printf("\n");
}

// Without a GPU every value has that of an H200 beside it.
void print(const std::vector<Group>& groups) {
  const std::string value_line = std::string(kOnGpu ? 33 : 26, '-') + ":";
  for (const auto& [title, fields] : groups) {
    print_line({title, kOnGpu ? "" : "this machine", "an H200"});
    print_line({std::string(27, '-'), value_line, value_line});
    for (const Field& field : fields) print_line(field);
    std::printf("\n");
  }
  if (!kOnGpu) std::puts("-: only a GPU has it. The H200's values are from results/h200.txt.\n");
}

// What happens before the first kernel, in this order. Nothing may call the runtime earlier.
struct FirstCalls {
  const char *name, *summary;
  void (*make)(const Options&);
};

const FirstCalls kStart[] = {
    {"start_driver", "the program's first runtime call: cudaGetDeviceCount",
     [](const Options& opt) { require_device(opt); }},
    {"create_context", "the first call that needs the device: cudaFree(nullptr)",
     [](const Options& opt) {
       CUDA_CHECK(cudaSetDevice(static_cast<int>(opt.device)));  // from CUDA 12 on this one does
       CUDA_CHECK(cudaFree(nullptr));  // frees nothing; before CUDA 12 this creates the context
     }},
    {"second_call", "both once more",
     [](const Options& opt) {
       kStart[0].make(opt);
       kStart[1].make(opt);
     }},
};

// ---- the versions ------------------------------------------------------------------------------

// n ints in device memory that repeat a pattern: whole words, the last one padded with 0.
struct Data {
  Data(const std::vector<int>& values, std::size_t ints, std::size_t threads)
      : pattern(values), n(ints), block(static_cast<unsigned>(threads)) {
    CUDA_CHECK(cudaMemset(words, 0, words.bytes()));          // 0 changes no exclusive-or
    for (std::size_t at = 0; at < n; at += pattern.size()) {  // the pattern, again and again
      const std::size_t count = std::min(pattern.size(), n - at);
      CUDA_CHECK(cudaMemcpy(reinterpret_cast<int*>(words.get()) + at, pattern.data(),
                            count * sizeof(int), cudaMemcpyHostToDevice));
    }
  }

  std::vector<int> pattern;
  std::size_t n;
  unsigned block;  // threads
  DeviceArray<uint4> words{div_up(n, sizeof(uint4) / sizeof(int))};
};

// The data, and a place for a copy of it.
struct Copy {
  double amount() const { return 2.0 * static_cast<double>(data.n * sizeof(int)); }  // in and out
  void poison() const { to.poison(); }
  bool is_right(const std::string& version) const {
    const int* const d_copy = reinterpret_cast<const int*>(to.get());
    for (std::size_t at = 0; at < data.n; at += data.pattern.size()) {
      std::vector<int> expected = data.pattern;
      expected.resize(std::min(expected.size(), data.n - at));
      std::vector<int> copy(expected.size());
      CUDA_CHECK(
          cudaMemcpy(copy.data(), d_copy + at, copy.size() * sizeof(int), cudaMemcpyDeviceToHost));
      if (!all_equal(text(version, ", from int ", at, " on"), copy, expected)) return false;
    }
    return true;
  }

  const Data& data;
  DeviceArray<uint4> to{data.words.size()};
};

// The data, and what is left of it when it is read: the exclusive-or, or the library's sum.
struct Read {
  Read(const Data& all, unsigned blocks) : data(all), grid(blocks) {
    for (std::size_t i = 0; i < data.pattern.size(); ++i) {
      const long long v = data.pattern[i];
      const std::size_t times = data.n / data.pattern.size() + (i < data.n % data.pattern.size());
      if (times % 2 == 1) expected_bits ^= static_cast<unsigned>(v);  // even: it cancels out
      expected_sum += static_cast<long long>(times) * v * v;
    }
  }

  double amount() const { return static_cast<double>(data.n * sizeof(int)); }
  void poison() const {
    CUDA_CHECK(cudaMemset(bits, 0, bits.bytes()));
    sum.poison();
    launches = 0;
  }
  // Each launch adds the same bits to those of the last: two cancel out.
  bool is_right(const std::string& version) const {
    return equals(version, bits.download()[0], launches % 2 == 0 ? 0 : expected_bits);
  }
  bool sum_is_right(const std::string& version) const {
    return equals(version, sum.download()[0], expected_sum);
  }

  const Data& data;
  unsigned grid;  // blocks: as many as the device holds at once
  DeviceArray<unsigned> bits{1};
  DeviceArray<long long> sum{1};
  DeviceArray<char> scratch{1_Mi};  // for CUB
  unsigned expected_bits = 0;
  long long expected_sum = 0;
  mutable unsigned launches = 0;  // of read_words since poison()
};

const Version<Copy> kCopies[] = {
    {"copy", "cudaMemcpyAsync, device to device",
     [](const Copy& d) {
       CUDA_CHECK(
           cudaMemcpyAsync(d.to, d.data.words, d.data.n * sizeof(int), cudaMemcpyDeviceToDevice));
     }},
    {"copy_kernel", "the same by a kernel, 16 bytes per thread",
     [](const Copy& d) {
       const unsigned grid = blocks_for(d.to.size(), d.data.block);
       copy_words<<<grid, d.data.block>>>(d.data.words, d.to, d.to.size());
     }},
};

#if !defined(__CUDA_CPU__) && CUDART_VERSION >= 12040  // for GPUs only; older ones lack a call
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>
#define WITH_CUB

struct SquareOf {
  __device__ long long operator()(int v) const { return static_cast<long long>(v) * v; }
};

void sum_by_cub(const Read& d) {
  std::size_t bytes = d.scratch.bytes();
  CUDA_CHECK(cub::DeviceReduce::TransformReduce(
      d.scratch.get(), bytes, reinterpret_cast<const int*>(d.data.words.get()), d.sum.get(),
      static_cast<std::int64_t>(d.data.n), cuda::std::plus<>{}, SquareOf{}, 0LL));
}
#endif

const Version<Read> kReads[] = {
    {"read", "a kernel that reads and writes nothing",
     [](const Read& d) {
       read_words<<<d.grid, d.data.block>>>(d.data.words, d.data.words.size(), d.bits);
       ++d.launches;
     }},
#ifdef WITH_CUB
    {"cub", "a read by a library: cub::DeviceReduce sums squares", sum_by_cub, &Read::sum_is_right},
#endif
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 0 : 1_Mi, block = 512;  // 0: chosen when the device is known
  const Options opt(argc, argv, "01_device_query", "what machine am I programming?",
                    {{"n", &n, 1, 4_Gi, "ints to move [1Gi, or a quarter of the memory]"},
                     {"block", &block, 1, 1024, "threads per block"}});
  // Nothing has called the runtime yet: what the first calls cost can be measured only here.
  std::vector<Timing> start;
  for (const FirstCalls& calls : kStart) {
    const double begin_ms = host_ms();
    calls.make(opt);
    start.push_back(timing_of({host_ms() - begin_ms}));
  }

  const Device device = open_device(opt);
  if (n == 0) n = std::min(1_Gi, device.totalGlobalMem / 4 / sizeof(int));
  ResultTable table(opt, n * sizeof(int), n * sizeof(int) + 2_Mi);
  table.rate_in("GB/s", "peak", peak_dram_gbps(static_cast<int>(opt.device)));
  table.without_speedup();  // the rows do different things
  const int described = opt.only.empty() && !opt.list ? require_device(opt) : 0;  // devices
  for (int i = 0; i < described; ++i) print(describe(i));
  for (std::size_t i = 0; i < start.size(); ++i)
    if (table.wants(kStart[i].name, kStart[i].summary))
      table.row(kStart[i].name, start[i], 0, true);

  const Data data(random_ints(std::min(n, kPeriod), -9999, 9999, opt.seed), n, block);
  const Copy copy = {data};
  table.each_launch_does(copy.amount());
  for (const auto& version : kCopies) table.add(version, copy);
  const Read read(data, blocks_held(read_words, block));
  table.each_launch_does(read.amount());
  for (const auto& version : kReads) table.add(version, read);
  return table.finish();
}
