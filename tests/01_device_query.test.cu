// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/01_device_query/device_query.cu"
#undef main

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>

#include "kernel_testing.cuh"

namespace {

// A device as its data sheet describes it, or as it describes itself.
Device device_of(int major, int minor, int sm_count, int core_khz, int memory_khz, int bus_bits) {
  Device d;
  d.major = major;
  d.minor = minor;
  d.sm_count = sm_count;
  d.core_khz = core_khz;
  d.memory_khz = memory_khz;
  d.bus_bits = bus_bits;
  return d;
}

const Device kH200 = device_of(9, 0, 132, 1980000, 3201000, 6016);
const Device kA100 = device_of(8, 0, 108, 1410000, 1215000, 5120);
const Device kRtx3090 = device_of(8, 6, 82, 1695000, 9751000, 384);
const Device kV100 = device_of(7, 0, 80, 1530000, 877000, 4096);

bool is_within(double actual, double expected, double relative) {
  return is_close(actual, expected, relative * expected);
}

// The chapter's arrays with the data in them, the outputs poisoned.
struct Setup {
  Setup(const std::vector<int>& pattern_of_data, std::size_t n, unsigned block, unsigned grid = 3)
      : pattern(pattern_of_data), expected(reference(pattern, n)), arrays(pattern, n, block, grid) {
    arrays.poison();
  }

  bool run_and_check(const Version<Arrays>& version) const {
    return runs_right(version, arrays, pattern, expected);
  }
  bool is_right(const Version<Arrays>& version) const {
    return check(version.name, arrays, pattern, expected);
  }

  std::vector<int> pattern;
  Expected expected;
  Arrays arrays;
};

void write(uint4* words, std::size_t i, int value) {
  CUDA_CHECK(
      cudaMemcpy(reinterpret_cast<int*>(words) + i, &value, sizeof value, cudaMemcpyHostToDevice));
}

std::vector<unsigned> random_words(std::size_t n) {
  std::vector<unsigned> words(n);
  for (std::size_t i = 0; i < n; ++i) words[i] = static_cast<unsigned>(random_bits(11, i));
  return words;
}

}  // namespace

TEST_CASE("peak DRAM bandwidth is the clock, twice, times the bytes the bus is wide") {
  CHECK(is_within(kH200.peak_dram_gbps(), 3.201 * 2 * 752, 1e-12));
  CHECK(is_within(kH200.peak_dram_gbps(), 4800, 0.005));
  CHECK(is_within(kA100.peak_dram_gbps(), 1555, 0.001));
  CHECK(is_within(kRtx3090.peak_dram_gbps(), 936, 0.001));
  CHECK(is_within(kV100.peak_dram_gbps(), 898, 0.001));
}

TEST_CASE("peak FP32 rate is two operations a clock for every core") {
  CHECK(is_within(kH200.peak_fp32_gflops(), 2 * 132 * 128 * 1.98, 1e-12));
  CHECK(is_within(kH200.peak_fp32_gflops(), 67000, 0.01));
  CHECK(is_within(kA100.peak_fp32_gflops(), 19500, 0.001));
  CHECK(is_within(kRtx3090.peak_fp32_gflops(), 35600, 0.001));
  CHECK(is_within(kV100.peak_fp32_gflops(), 15700, 0.003));
}

TEST_CASE("cores per multiprocessor are known for a capability or said to be unknown") {
  CHECK(fp32_cores_per_sm(6, 0) == 64);
  CHECK(fp32_cores_per_sm(6, 1) == 128);
  CHECK(fp32_cores_per_sm(7, 5) == 64);
  CHECK(fp32_cores_per_sm(8, 0) == 64);
  CHECK(fp32_cores_per_sm(8, 6) == 128);
  CHECK(fp32_cores_per_sm(8, 9) == 128);
  CHECK(fp32_cores_per_sm(9, 0) == 128);
  CHECK(fp32_cores_per_sm(10, 0) == 128);
  CHECK(fp32_cores_per_sm(12, 0) == 128);
  for (const int unknown : {0, 1, 99}) CHECK(fp32_cores_per_sm(unknown, 0) == 0);
}

TEST_CASE("the machine balance is operations in the time of one float") {
  CHECK(is_within(operations_per_float(1000, 250), 16, 1e-12));  // 1 TFLOP/s, 62.5 G floats/s
  CHECK(is_within(operations_per_float(kH200.peak_fp32_gflops(), kH200.peak_dram_gbps()), 55.6,
                  0.001));
  CHECK(operations_per_float(1000, 0) == 0);
  CHECK(operations_per_float(0, 250) == 0);
}

TEST_CASE("peaks are printed with their units") {
  CHECK(peak_dram_text(kH200) == "4814 GB/s");
  CHECK(peak_fp32_text(kH200) == "66.91 TFLOP/s");
  CHECK(balance_text(kH200) == "55.59 operations");
}

TEST_CASE("an unknown capability or clock is said, not guessed") {
  const Device future = device_of(42, 7, 132, 1980000, 3201000, 6016);
  CHECK(peak_fp32_text(future) == "unknown: compute capability 42.7 is not in common/device.cuh");
  CHECK(peak_dram_text(future) == "4814 GB/s");
  CHECK(balance_text(future) == "unknown, as a peak is");

  const Device silent = device_of(9, 0, 132, 1980000, 0, 0);
  CHECK(peak_dram_text(silent) == "unknown: the device does not tell its memory clock");
  CHECK(balance_text(silent) == "unknown, as a peak is");
}

TEST_CASE("a capability is known with all its numbers, or said to be unknown") {
  std::set<int> seen;
  for (const Capability& c : kCapabilities) {
    INFO(c.major << "." << c.minor);
    CHECK(seen.insert(10 * c.major + c.minor).second);
    CHECK(find_capability(c.major, c.minor) == &c);
    const int fp32 = fp32_cores_per_sm(c.major, c.minor);
    CHECK(fp32 > 0);
    CHECK((c.fp64_per_clock == 0 || fp32 % c.fp64_per_clock == 0));
    CHECK((c.warps_per_sm == 32 || c.warps_per_sm == 48 || c.warps_per_sm == 64));
  }
  CHECK(std::string(find_capability(9, 0)->generation) == "Hopper");
  CHECK(find_capability(9, 0)->fp64_per_clock == 64);
  CHECK(find_capability(7, 5)->warps_per_sm == 32);
  CHECK(find_capability(8, 6)->warps_per_sm == 48);
  for (const int unknown : {0, 42}) CHECK(find_capability(unknown, 0) == nullptr);
  CHECK(known_text(0) == "unknown");
  CHECK(known_text(64) == "64");
}

TEST_CASE("a device's own numbers are those of its capability") {
  if (!kOnGpu) return;
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    const Device d = describe_device(ordinal);
    const Capability* const known = find_capability(d.major, d.minor);
    if (known == nullptr) continue;
    INFO(d.name);
    CHECK(d.threads_per_sm == 32 * known->warps_per_sm);
    const int ratio = device_attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, ordinal);
    if (known->fp64_per_clock > 0) {
      CHECK(ratio * known->fp64_per_clock == fp32_cores_per_sm(d.major, d.minor));
    }
  }
}

TEST_CASE("the peak FP64 rate follows from the ratio to FP32") {
  CHECK(peak_fp64_text(kH200, 2) == "33.45 TFLOP/s");  // the data sheet: 34
  CHECK(peak_fp64_text(kRtx3090, 64) == "0.5560 TFLOP/s");
  CHECK(peak_fp64_text(device_of(42, 7, 132, 1980000, 0, 0), 2) == "unknown, as the FP32 rate is");
  CHECK(peak_fp64_text(kH200, 0) == "unknown, as the FP32 rate is");
  CHECK(fp64_text(64) == "1/64 of FP32");
}

TEST_CASE("a wish for a capability is fulfilled by that one and all later ones") {
  const auto has = [](int major, int minor, std::size_t bytes, const Wish& wish) {
    cudaDeviceProp device = {};
    device.major = major;
    device.minor = minor;
    device.totalGlobalMem = bytes;
    return fulfils(device, wish);
  };
  CHECK(has(8, 6, 0, {8, 6, 0}));
  CHECK(has(8, 9, 0, {8, 6, 0}));
  CHECK(has(9, 0, 0, {8, 6, 0}));  // a smaller minor number, but a later capability
  CHECK_FALSE(has(8, 0, 0, {8, 6, 0}));
  CHECK_FALSE(has(7, 5, 0, {8, 0, 0}));
  CHECK(has(7, 0, 1_Gi, {0, 0, 1_Gi}));
  CHECK_FALSE(has(7, 0, 1_Gi - 1, {0, 0, 1_Gi}));
}

TEST_CASE("the loop finds no device for a wish too large, cudaChooseDevice always one") {
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  CHECK(first_that_fulfils({0, 0, 0}) == 0);
  CHECK(first_that_fulfils({99, 0, 0}) == -1);
  CHECK(first_that_fulfils({0, 0, 1_Ki << 40}) == -1);
  for (const Wish& wish : {Wish{0, 0, 0}, {99, 0, 0}, {0, 0, 1_Ki << 40}}) {
    CHECK((best_match(wish) >= 0 && best_match(wish) < count));
  }
}

TEST_CASE("every order of the host's triad visits every element once") {
  for (const std::size_t n : {1u, 7u, 64u, 1000u, 1023u, 1024u, 1025u, 5000u}) {
    for (const locality::Order& order : locality::orders(n)) {
      std::vector<int> visits(n);
      std::vector<std::size_t> steps;
      locality::walk(order, n, [&](std::size_t i) {
        REQUIRE(i < n);
        ++visits[i];
        steps.push_back(i);
      });
      INFO(order.name << ", n = " << n);
      CHECK(visits == std::vector<int>(n, 1));
      if (n == 5000) CHECK(steps[1] - steps[0] == order.step);
      // The way back to the first line: over the whole array, or over one piece.
      const auto second = std::find(steps.begin(), steps.end(), 1);
      const std::size_t way = order.step == 1 ? 1 : div_up(std::min(order.piece, n), order.step);
      if (n > 1)
        CHECK(static_cast<std::size_t>(second - steps.begin()) == (n > order.step ? way : 1));
    }
  }
}

TEST_CASE("the triad's checker rejects an order that leaves one element out") {
  locality::Arrays x(3000);
  const locality::Order order = locality::orders(3000).back();
  x.poison();
  CHECK_FALSE(locality::check("nothing", x));
  locality::triad(x, order);
  CHECK(locality::check(order.name, x));
  for (const std::size_t i : {0, 1500, 2999}) {
    const double right = x.a[i];
    x.a[i] = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(locality::check("one missing", x));
    x.a[i] = right;
  }
}

TEST_CASE("operations per second are those of the rule of thumb") {
  // 20 GB/s, three lines of 64 bytes for an addition: 104 million; three doubles: 833 million.
  CHECK(is_within(locality::mflops(20, 3 * 64) / locality::kOperations, 104.2, 0.001));
  CHECK(is_within(locality::mflops(20, 3 * 8) / locality::kOperations, 833.3, 0.001));
}

TEST_CASE("every device is described by named fields that all have a value") {
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    std::set<std::string> names;
    for (const auto& [title, fields] : describe(ordinal)) {
      CHECK_FALSE(title.empty());
      for (const auto& [name, value] : fields) {
        INFO(title << ": " << name);
        CHECK_FALSE(value.empty());
        CHECK(names.insert(name).second);
      }
    }
    CHECK(names.size() >= 32);
  }
}

TEST_CASE("what a CPU does not have means nothing there, what a program relies on does") {
  for (const auto& [title, fields] : describe(0)) {
    for (const auto& [name, value] : fields) {
      INFO(title << ": " << name << " = " << value);
      if (name == "memory bus" || name == "peak FP32 rate" || name == "peak FP64 rate" ||
          name == "copy engines" || name == "generation") {
        CHECK((value == "-") == !kOnGpu);
      }
      if (name == "threads per warp") CHECK(value == "32");
      if (name == "warps per SM") CHECK(32 * std::stoi(value) == describe_device(0).threads_per_sm);
      if (name == "threads per block") CHECK(value == "1024");
      if (name == "constant memory") CHECK(value == "64 KiB");
    }
  }
}

TEST_CASE("the values shown as an H200's are those that it printed, one for every field") {
  std::ifstream file("chapters/01_device_query/results/h200.txt");
  REQUIRE(file.good());
  const auto trimmed = [](const std::string& text) {
    const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
  };
  std::vector<Field> printed;
  std::string line;
  while (std::getline(file, line) && line.find(" · ") == std::string::npos) {  // its context line
    if (line.size() != 68) continue;
    const std::string value = trimmed(line.substr(32, 34));
    if (!value.empty() && value.back() != ':')
      printed.emplace_back(trimmed(line.substr(2, 27)), value);
  }
  std::vector<std::string> described;
  for (const auto& [title, fields] : describe(0)) {
    for (const auto& [name, value] : fields) described.push_back(trimmed(name));
  }
  REQUIRE(printed.size() == described.size());
  REQUIRE(printed.size() == std::size(kH200Values));
  for (std::size_t i = 0; i < printed.size(); ++i) {
    INFO(printed[i].first);
    CHECK(printed[i].first == described[i]);
    CHECK(printed[i].first == trimmed(kH200Values[i].first));
    CHECK(printed[i].second == kH200Values[i].second);
    CHECK(printed[i].second == h200_value(kH200Values[i].first));
  }
  CHECK(h200_value("no such field") == "-");
}

TEST_CASE("describing a device leaves another one current as it was") {
  int before = -1, after = -1;
  CUDA_CHECK(cudaGetDevice(&before));
  describe(0);
  CUDA_CHECK(cudaGetDevice(&after));
  CHECK(before == after);
}

TEST_CASE("a device that is not there is refused by the runtime") {
  CHECK(cudaSetDevice(1000) == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);  // and forgotten again
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("every version copies or reads every int at awkward sizes, whatever the values") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      Setup setup(input.values, n, 256);
      for (const auto& version : kVersions) {
        if (n == 0 && std::string(version.name) == "copy_kernel") continue;  // an empty grid
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(setup.run_and_check(version));
      }
    }
  }
}

TEST_CASE("every version works with any block size and with data that repeats") {
  for (const unsigned block : awkward_blocks()) {
    for (const std::size_t n : {std::size_t{7}, std::size_t{777}, std::size_t{5003}}) {
      Setup setup(random_ints(7, -9999, 9999, 3), n, block);
      for (const auto& version : kVersions) {
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(setup.run_and_check(version));
      }
    }
  }
}

TEST_CASE("the expected bits and sum are those of the data written out") {
  const std::vector<int> pattern = random_ints(101, -9999, 9999, 4);
  for (const std::size_t n : {0, 1, 100, 101, 102, 202, 1000}) {
    unsigned bits = 0;
    long long sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const int x = pattern[i % pattern.size()];
      bits ^= static_cast<unsigned>(x);
      sum += static_cast<long long>(x) * x;
    }
    INFO("n = " << n);
    CHECK(reference(pattern, n).bits == bits);
    CHECK(reference(pattern, n).sum_of_squares == sum);
  }
}

TEST_CASE("read_everything reads each word once, whatever the grid") {
  for (const std::size_t words : {0, 1, 31, 33, 257, 1023, 20011}) {
    const std::vector<unsigned> data = random_words(4 * words);
    unsigned expected = 0;
    for (const unsigned word : data) expected ^= word;
    DeviceArray<unsigned> d_data(data), d_bits(1);
    // From one thread, for which all words come eight at a time, to more threads than words.
    for (const auto& [grid, block] :
         {std::pair<unsigned, unsigned>{1, 1}, {1, 32}, {3, 33}, {2, 256}, {40, 512}}) {
      CUDA_CHECK(cudaMemset(d_bits.get(), 0, sizeof(unsigned)));
      read_everything<<<grid, block>>>(reinterpret_cast<const uint4*>(d_data.get()), words,
                                       d_bits.get());
      CUDA_CHECK_LAUNCH();
      INFO("words = " << words << ", grid " << grid << ", block " << block);
      CHECK(d_bits.download()[0] == expected);
    }
  }
}

TEST_CASE("a launch leaves nothing behind that the next one trips over") {
  Setup setup(random_ints(997, -9999, 9999, 5), 10007, 256);
  for (const auto& version : kVersions) {
    setup.arrays.poison();
    for (int repeat = 0; repeat < 21; ++repeat)
      version.launch(setup.arrays);  // odd: see reference()
    CUDA_CHECK_LAUNCH();
    INFO(version.name);
    CHECK(setup.is_right(version));
  }
}

TEST_CASE("the checker rejects a version that does nothing") {
  Setup setup(random_ints(997, -9999, 9999, 5), 10007, 256);
  for (const auto& version : kVersions) {
    INFO(version.name);
    CHECK_FALSE(setup.is_right(version));
    REQUIRE(setup.run_and_check(version));
    setup.arrays.poison();  // and what an earlier one has left is gone
    CHECK_FALSE(setup.is_right(version));
  }
}

TEST_CASE("the checker rejects one wrong int of a copy, wherever it is") {
  Setup setup(random_ints(997, -9999, 9999, 5), 10007, 256);
  for (const std::size_t wrong : {0, 996, 997, 5000, 10006}) {
    INFO("int " << wrong);
    REQUIRE(setup.run_and_check(kVersions[1]));
    write(setup.arrays.to, wrong, 12345);
    CHECK_FALSE(setup.is_right(kVersions[1]));
  }
}

TEST_CASE("the checker rejects a read of data with one wrong int") {
  Setup setup(random_ints(997, -9999, 9999, 5), 10007, 256);
  write(setup.arrays.from, 10006, 12345);
  CHECK_FALSE(setup.run_and_check(kVersions[2]));
}

TEST_CASE("the measured yardsticks are positive bandwidths, below the peak of the memory") {
  Options opt("01_device_query", "");
  const Device device = open_device(opt);
  const Yardstick y = measure_yardstick(device, kOnGpu ? 1_Gi : 1_Mi, 3);
  CHECK(y.copy_gbps > 0);
  CHECK(y.read_gbps > 0);
  if (device.peak_dram_gbps() == 0 || !kOnGpu) return;
  CHECK(y.copy_gbps < device.peak_dram_gbps());
  CHECK(y.read_gbps < device.peak_dram_gbps());
}
