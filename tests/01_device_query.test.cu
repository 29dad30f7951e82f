// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/01_device_query/device_query.cu"
#undef main

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>

#include "kernel_testing.cuh"

#define main experiment_main
namespace arithmetic {
#include "../chapters/01_device_query/experiments/arithmetic.cu"
}
namespace capabilities {
#include "../chapters/01_device_query/experiments/capabilities.cu"
}
namespace device_choice {
#include "../chapters/01_device_query/experiments/device_choice.cu"
}
namespace host_caches {
#include "../chapters/01_device_query/experiments/host_caches.cu"
}
namespace locality {
#include "../chapters/01_device_query/experiments/locality.cu"
}
#undef main

namespace {

// A device as its data sheet describes it, or as it describes itself, and its memory.
struct Described {
  Described(int major, int minor, int sm_count, int core_khz, int memory_khz, int bus_bits)
      : gbps(dram_gbps(memory_khz, bus_bits)) {
    device.major = major;
    device.minor = minor;
    device.multiProcessorCount = sm_count;
    device.core_khz = core_khz;
  }

  double gflops() const { return peak_fp32_gflops(device); }
  // What the program prints: the peaks of memory, FP32 and FP64, then the balance.
  std::string peak(std::size_t i, int fp64_ratio = 2) const {
    return peaks_of(device, gbps, fp64_ratio).at(i).value;
  }

  Device device = {};
  double gbps;
};

const Described kH200(9, 0, 132, 1980000, 3201000, 6016);
const Described kA100(8, 0, 108, 1410000, 1215000, 5120);
const Described kRtx3090(8, 6, 82, 1695000, 9751000, 384);
const Described kV100(7, 0, 80, 1530000, 877000, 4096);

bool is_within(double actual, double expected, double relative) {
  return is_close(actual, expected, relative * expected);
}

// The chapter's data, and what is made of it.
struct Setup {
  Setup(const std::vector<int>& pattern, std::size_t n, unsigned block, unsigned grid = 3)
      : data(pattern, n, block), copy{data}, read(data, grid) {}

  // Calls check(version, problem) with all versions.
  template <class Check>
  void each_version(Check check) const {
    for (const auto& version : kCopies) check(version, copy);
    for (const auto& version : kReads) check(version, read);
  }

  Data data;
  Copy copy;
  Read read;
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
  CHECK(is_within(kH200.gbps, 3.201 * 2 * 752, 1e-12));
  CHECK(is_within(kH200.gbps, 4800, 0.005));
  CHECK(is_within(kA100.gbps, 1555, 0.001));
  CHECK(is_within(kRtx3090.gbps, 936, 0.001));
  CHECK(is_within(kV100.gbps, 898, 0.001));
}

TEST_CASE("peak FP32 rate is two operations a clock for every core") {
  CHECK(is_within(kH200.gflops(), 2 * 132 * 128 * 1.98, 1e-12));
  CHECK(is_within(kH200.gflops(), 67000, 0.01));
  CHECK(is_within(kA100.gflops(), 19500, 0.001));
  CHECK(is_within(kRtx3090.gflops(), 35600, 0.001));
  CHECK(is_within(kV100.gflops(), 15700, 0.003));
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
  CHECK(is_within(operations_per_float(kH200.gflops(), kH200.gbps), 55.6, 0.001));
  CHECK(operations_per_float(1000, 0) == 0);
  CHECK(operations_per_float(0, 250) == 0);
}

TEST_CASE("peaks are printed with their units") {
  CHECK(kH200.peak(0) == "4814 GB/s");
  CHECK(kH200.peak(1) == "66.91 TFLOP/s");
  CHECK(kH200.peak(3) == "55.59 operations");
}

TEST_CASE("an unknown capability or clock is said, not guessed") {
  const Described future(42, 7, 132, 1980000, 3201000, 6016);
  CHECK(future.peak(1) == "unknown: capability 42.7 is not in yardsticks.cuh");
  CHECK(future.peak(0) == "4814 GB/s");
  CHECK(future.peak(3) == "unknown, as a peak is");

  const Described silent(9, 0, 132, 1980000, 0, 0);
  CHECK(silent.peak(0) == "unknown: it tells no memory clock");
  CHECK(silent.peak(3) == "unknown, as a peak is");
}

TEST_CASE("a capability is known with all its numbers, or said to be unknown") {
  using namespace capabilities;
  std::set<int> seen;
  for (const Capability& c : kCapabilities) {
    INFO(c.major << "." << c.minor);
    CHECK(seen.insert(10 * c.major + c.minor).second);
    CHECK(find_capability(c.major, c.minor) == &c);
    CHECK(generation(c.major, c.minor) == c.generation);
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
  for (const int unknown : {0, 4, 13, 42}) CHECK(generation(unknown, 0) == "unknown");
  CHECK(known_text(0) == "unknown");
  CHECK(known_text(64) == "64");
}

TEST_CASE("a device's own numbers are those of its capability") {
  if (!kOnGpu) return;
  using namespace capabilities;
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    const Device d = describe_device(ordinal);
    const Capability* const known = find_capability(d.major, d.minor);
    if (known == nullptr) continue;
    INFO(d.name);
    CHECK(d.maxThreadsPerMultiProcessor == 32 * known->warps_per_sm);
    const int ratio = device_attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, ordinal);
    if (known->fp64_per_clock > 0) {
      CHECK(ratio * known->fp64_per_clock == fp32_cores_per_sm(d.major, d.minor));
    }
  }
}

TEST_CASE("the peak FP64 rate follows from the ratio to FP32") {
  CHECK(kH200.peak(2) == "33.45 TFLOP/s");  // the data sheet: 34
  CHECK(kRtx3090.peak(2, 64) == "0.5560 TFLOP/s");
  CHECK(Described(42, 7, 132, 1980000, 0, 0).peak(2) == "unknown, as the FP32 rate is");
  CHECK(kH200.peak(2, 0) == "unknown, as the FP32 rate is");
}

TEST_CASE("a wish for a capability is fulfilled by that one and all later ones") {
  using namespace device_choice;
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
  using namespace device_choice;
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

TEST_CASE("elements that stay in a cache are computed, all of them", "[host_caches]") {
  for (const std::size_t n : {1u, 2u, 15u, 1000u, 2049u}) {
    host_caches::Arrays x(n);
    std::fill(x.a.begin(), x.a.end(), std::numeric_limits<double>::quiet_NaN());
    x.compute(0);
    INFO("n = " << n);
    CHECK_FALSE(x.is_right("nothing"));
    x.compute(3);
    CHECK(x.is_right("three times"));
    for (const std::size_t i : {std::size_t{0}, n - 1}) {
      ++x.a[i];
      CHECK_FALSE(x.is_right("one wrong"));
      --x.a[i];
    }
  }
}

TEST_CASE("each chain in registers takes every turn", "[host_caches]") {
  for (const std::size_t turns : {0u, 1u, 2u, 1000u}) {
    const std::vector<double> x = host_caches::chains_in_registers(turns, 1, 1);
    REQUIRE(x.size() == host_caches::kChains);
    for (std::size_t k = 0; k < x.size(); ++k) CHECK(x[k] == static_cast<double>(k + turns));
  }
  CHECK(host_caches::chains_in_registers(2, 3, 5)[4] == (4 * 3 + 5) * 3 + 5);
}

TEST_CASE("a core's caches for data are read from Linux's description", "[host_caches]") {
  char folder[] = "/tmp/caches_XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const char* const described[][3] = {
      {"1", "Data", "48K"}, {"1", "Instruction", "32K"}, {"2", "Unified", "2048K"}};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string path = std::string(folder) + "/index" + std::to_string(i);
    std::filesystem::create_directory(path);
    std::ofstream(path + "/level") << described[i][0] << "\n";
    std::ofstream(path + "/type") << described[i][1] << "\n";
    std::ofstream(path + "/size") << described[i][2] << "\n";
  }
  const std::vector<host_caches::Level> caches = host_caches::caches_of_a_core(folder);
  std::filesystem::remove_all(folder);
  REQUIRE(caches.size() == 2);
  CHECK(caches[0].name == "l1");
  CHECK(caches[0].bytes == 48_Ki);
  CHECK(caches[1].name == "l2");
  CHECK(caches[1].bytes == 2_Mi);
  CHECK(host_caches::caches_of_a_core(folder).empty());
  for (const host_caches::Level& cache : host_caches::caches_by_library()) {
    CHECK(cache.bytes >= 1_Ki);
    CHECK(cache.name.size() == 2);
  }
}

TEST_CASE("operations per second are those of the rule of thumb") {
  // 20 GB/s, three lines of 64 bytes for an addition: 104 million; three doubles: 833 million.
  CHECK(is_within(locality::mflops(20, 3 * 64) / locality::kOperations, 104.2, 0.001));
  CHECK(is_within(locality::mflops(20, 3 * 8) / locality::kOperations, 833.3, 0.001));
  CHECK(host_caches::mflops(1000, 2) == 1);  // 2,000 operations in 2 ms
}

TEST_CASE("multiply-adds leave the right sums in every thread, whatever the chains and turns") {
  for (const arithmetic::Mix& mix : arithmetic::kMixes) {
    for (const double flop : {1.0, 1e5, 1e6}) {
      const arithmetic::MultiplyAdds d(mix, flop, 2);
      INFO(mix.name << ", " << flop << " operations");
      CHECK(d.amount() >= flop);
      CHECK(d.amount() - flop <= 2.0 * mix.per_turn * 2 * mix.blocks_per_sm * 256);
      d.launch();
      CUDA_CHECK_LAUNCH();
      CHECK(d.is_right());
    }
  }
}

TEST_CASE("the checker of multiply-adds rejects a kernel that does nothing and one wrong thread") {
  const arithmetic::MultiplyAdds d(arithmetic::kMixes[4], 1e5, 2);
  CHECK_FALSE(d.is_right());
  for (const std::size_t wrong : {0, 300, 511}) {
    d.launch();
    CUDA_CHECK_LAUNCH();
    REQUIRE(d.is_right());
    const float value = wrong == 300 ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
    CUDA_CHECK(cudaMemcpy(d.results + wrong, &value, sizeof value, cudaMemcpyHostToDevice));
    CHECK_FALSE(d.is_right());
  }
}

TEST_CASE("every device is described by named fields that all have a value") {
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    std::set<std::string> names;
    for (const auto& [title, fields] : describe(ordinal)) {
      CHECK_FALSE(title.empty());
      for (const auto& [name, value, h200] : fields) {
        INFO(title << ": " << name);
        CHECK_FALSE(value.empty());
        CHECK_FALSE(h200.empty());
        CHECK(names.insert(name).second);
      }
    }
    CHECK(names.size() >= 32);
  }
}

TEST_CASE("what a CPU does not have means nothing there, what a program relies on does") {
  for (const auto& [title, fields] : describe(0)) {
    for (const auto& [name, value, h200] : fields) {
      INFO(title << ": " << name << " = " << value);
      if (name == "memory bus" || name == "peak FP32 rate" || name == "peak FP64 rate" ||
          name == "copy engines" || name == "generation") {
        CHECK((value == "-") == !kOnGpu);
      }
      if (name == "compute capability") CHECK((kOnGpu || value == "8.0"));
      if (name == "threads per warp") CHECK(value == "32");
      if (name == "warps per SM")
        CHECK(32 * std::stoi(value) == describe_device(0).maxThreadsPerMultiProcessor);
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
  std::vector<std::pair<std::string, std::string>> printed;
  std::string line;
  while (std::getline(file, line) && line.find(" · ") == std::string::npos) {  // its context line
    if (line.size() != 68) continue;
    const std::string value = trimmed(line.substr(32, 34));
    if (!value.empty() && value.back() != ':')
      printed.emplace_back(trimmed(line.substr(2, 27)), value);
  }
  std::vector<Field> described;
  for (const auto& [title, fields] : describe(0))
    described.insert(described.end(), fields.begin(), fields.end());
  REQUIRE(printed.size() == described.size());
  for (std::size_t i = 0; i < printed.size(); ++i) {
    INFO(printed[i].first);
    CHECK(printed[i].first == trimmed(described[i].name));
    CHECK(printed[i].second == described[i].h200);
  }
}

TEST_CASE("describing a device leaves another one current as it was") {
  int before = -1, after = -1;
  CUDA_CHECK(cudaGetDevice(&before));
  describe(0);
  CUDA_CHECK(cudaGetDevice(&after));
  CHECK(before == after);
}

TEST_CASE("every version copies or reads every int at awkward sizes, whatever the values") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      const Setup setup(input.values, n, 256);
      setup.each_version([&](const auto& version, const auto& problem) {
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(runs_right(version, problem));
      });
    }
  }
}

TEST_CASE("every version works with any block size and with data that repeats") {
  for (const unsigned block : awkward_blocks()) {
    for (const std::size_t n : {std::size_t{7}, std::size_t{777}, std::size_t{5003}}) {
      const Setup setup(random_ints(7, -9999, 9999, 3), n, block);
      setup.each_version([&](const auto& version, const auto& problem) {
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(runs_right(version, problem));
      });
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
    const Setup setup(pattern, n, 32);
    CHECK(setup.read.expected_bits == bits);
    CHECK(setup.read.expected_sum == sum);
  }
}

TEST_CASE("a copy moves twice the bytes that a read does") {
  const Setup setup(random_ints(7, -9, 9, 3), 1001, 32);
  CHECK(setup.copy.amount() == 8008);
  CHECK(setup.read.amount() == 4004);
}

TEST_CASE("read_words reads each word once, whatever the grid") {
  for (const std::size_t words : {0, 1, 31, 33, 257, 1023, 20011}) {
    const std::vector<unsigned> data = random_words(4 * words);
    unsigned expected = 0;
    for (const unsigned word : data) expected ^= word;
    DeviceArray<unsigned> d_data(data), d_bits(1);
    // From one thread, for which all words come eight at a time, to more threads than words.
    for (const auto& [grid, block] :
         {std::pair<unsigned, unsigned>{1, 1}, {1, 32}, {3, 33}, {2, 256}, {40, 512}}) {
      CUDA_CHECK(cudaMemset(d_bits.get(), 0, sizeof(unsigned)));
      read_words<<<grid, block>>>(reinterpret_cast<const uint4*>(d_data.get()), words,
                                  d_bits.get());
      CUDA_CHECK_LAUNCH();
      INFO("words = " << words << ", grid " << grid << ", block " << block);
      CHECK(d_bits.download()[0] == expected);
    }
  }
}

TEST_CASE("a launch leaves nothing behind that the next one trips over") {
  const Setup setup(random_ints(997, -9999, 9999, 5), 10007, 256);
  setup.each_version([&](const auto& version, const auto& problem) {
    for (const int launches : {20, 21}) {  // what a read leaves, an odd number of launches shows
      problem.poison();
      for (int repeat = 0; repeat < launches; ++repeat) version.launch(problem);
      CUDA_CHECK_LAUNCH();
      INFO(version.name << ", " << launches << " launches");
      CHECK((problem.*version.is_right)(version.name));
    }
  });
}

TEST_CASE("the checker rejects a version that does nothing") {
  const Setup setup(random_ints(997, -9999, 9999, 5), 10007, 256);
  REQUIRE(setup.read.expected_bits != 0);
  for (int after_right_ones = 0; after_right_ones < 2; ++after_right_ones) {
    CHECK_FALSE(runs_right(Version<Copy>{"no copy", "", [](const Copy&) {}}, setup.copy));
    CHECK_FALSE(
        runs_right(Version<Read>{"no read", "", [](const Read& d) { ++d.launches; }}, setup.read));
    CHECK_FALSE(runs_right(Version<Read>{"no sum", "", [](const Read&) {}, &Read::sum_is_right},
                           setup.read));
    setup.each_version([&](const auto& version, const auto& problem) {
      INFO(version.name);
      REQUIRE(runs_right(version, problem));
    });
  }
}

TEST_CASE("the checker rejects one wrong int of a copy, wherever it is") {
  const Setup setup(random_ints(997, -9999, 9999, 5), 10007, 256);
  for (const std::size_t wrong : {0, 996, 997, 5000, 10006}) {
    INFO("int " << wrong);
    REQUIRE(runs_right(kCopies[1], setup.copy));
    write(setup.copy.to, wrong, 12345);
    CHECK_FALSE(setup.copy.is_right("one wrong"));
  }
}

TEST_CASE("the checker rejects a read of data with one wrong int") {
  const Setup setup(random_ints(997, -9999, 9999, 5), 10007, 256);
  write(setup.data.words, 10006, 12345);
  CHECK_FALSE(runs_right(kReads[0], setup.read));
}

TEST_CASE("a read counts the launches that cancel out since it was poisoned") {
  const Setup setup(random_ints(997, -9999, 9999, 5), 10007, 256);
  for (int repeat = 0; repeat < 3; ++repeat) {
    REQUIRE(runs_right(kReads[0], setup.read));
    CHECK(setup.read.launches == 1);
  }
  ++setup.read.launches;  // one that read nothing
  CHECK_FALSE(setup.read.is_right("one of two"));
}

TEST_CASE("the measured yardsticks are positive bandwidths, below the peak of the memory") {
  const double read = measured_read_gbps(1_Gi), copy = measured_copy_gbps(1_Gi);
  if (!kOnGpu) return;
  CHECK(copy > 0);
  CHECK(read > 0);
  if (peak_dram_gbps(0) == 0) return;
  CHECK(copy < peak_dram_gbps(0));
  CHECK(read < peak_dram_gbps(0));
}

TEST_CASE("what the first calls are named after happens, and more than once") {
  char name[] = "program";
  char* arguments[] = {name, nullptr};
  const Options opt(1, arguments, "01_device_query", "", {});
  for (const FirstCalls& calls : kStart) {
    calls.make(opt);
    CHECK(cudaGetLastError() == cudaSuccess);
  }
  int device = -1;
  CUDA_CHECK(cudaGetDevice(&device));
  CHECK(device == 0);
}
