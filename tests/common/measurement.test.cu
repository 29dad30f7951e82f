// SPDX-License-Identifier: MIT
// What the numbers in the tables are made of: data, medians, texts, peaks, the CSV.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "../../common/common.cuh"
#include "../catch.hpp"

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

__global__ void spin(int* x, int rounds) {
  for (int i = 0; i < rounds; ++i) x[threadIdx.x] = (x[threadIdx.x] * 3 + 1) & 0xffff;
}

}  // namespace

TEST_CASE("random_ints covers its range, both ends included, and repeats with its seed") {
  const std::vector<int> x = random_ints(10000, -3, 6, 1);
  CHECK(*std::min_element(x.begin(), x.end()) == -3);
  CHECK(*std::max_element(x.begin(), x.end()) == 6);
  CHECK(x == random_ints(10000, -3, 6, 1));
  CHECK(x != random_ints(10000, -3, 6, 2));
  CHECK(random_ints(3, 7, 7, 1) == std::vector<int>{7, 7, 7});
}

TEST_CASE("random_ints takes the whole range of int without overflow") {
  const std::vector<int> x =
      random_ints(1000, std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 4);
  CHECK(*std::min_element(x.begin(), x.end()) < -2000000000);
  CHECK(*std::max_element(x.begin(), x.end()) > 2000000000);
}

TEST_CASE("random_floats stays in its range and is not symmetric") {
  const std::vector<float> x = random_floats(10000, -1, 2, 1);
  CHECK(*std::min_element(x.begin(), x.end()) >= -1.0f);
  CHECK(*std::max_element(x.begin(), x.end()) <= 2.0f);
  double sum = 0;
  for (const float v : x) sum += v;
  CHECK(is_close(sum / 10000, 0.5, 0.05));
}

TEST_CASE("median_of is the middle, or the mean of the two in the middle") {
  CHECK(median_of({3, 1, 2}) == 2);
  CHECK(median_of({4, 1, 2, 3}) == 2.5);
  CHECK(median_of({7}) == 7);
}

TEST_CASE("bytes_text and digits_text write what a person would") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(60_Mi) == "60 MiB");
  CHECK(bytes_text(4_Gi) == "4 GiB");
  CHECK(digits_text(0.0023142) == "0.002314");
  CHECK(digits_text(12.634) == "12.63");
  CHECK(digits_text(4542.4) == "4542");
  CHECK(digits_text(0) == "0.000");
}

TEST_CASE("time_launches takes the samples asked for and orders its figures") {
  int* d_x = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, 64 * sizeof(int)));
  CUDA_CHECK(cudaMemset(d_x, 0, 64 * sizeof(int)));
  int calls = 0;
  const auto run = [&](int rounds) {
    return time_launches(7, [&, rounds] {
      ++calls;
      spin<<<1, 64>>>(d_x, rounds);
      CUDA_CHECK_LAUNCH();
    });
  };
  const Timing t = run(100);
  CHECK(calls >= 8);  // one warm-up and seven samples at the least
  CHECK(t.samples == 7);
  CHECK(t.min_ms > 0);
  CHECK(t.min_ms <= t.median_ms);
  CHECK(t.median_ms <= t.max_ms);
  // A thousand times the work takes clearly longer: the kernel is inside the timed region.
  CHECK(run(100000).median_ms > 5 * t.median_ms);
  CUDA_CHECK(cudaFree(d_x));
}

TEST_CASE("the peaks of an H200 follow from its attributes") {
  Device d;
  d.major = 9;
  d.sm_count = 132;
  d.core_khz = 1980000;
  d.memory_khz = 3201000;
  d.bus_bits = 6016;
  CHECK(is_close(d.peak_dram_gbps(), 4814.3, 0.1));     // data sheet: 4.8 TB/s
  CHECK(is_close(d.peak_fp32_gflops(), 66908.2, 0.1));  // data sheet: 67 TFLOP/s
}

TEST_CASE("an unknown compute capability has no peak rather than a guessed one") {
  CHECK(fp32_cores_per_sm(9, 0) == 128);
  CHECK(fp32_cores_per_sm(7, 5) == 64);
  CHECK(fp32_cores_per_sm(0, 0) == 0);
  CHECK(fp32_cores_per_sm(42, 0) == 0);
}

TEST_CASE("the device that is opened is one the runtime knows") {
  const Options opt("05_example", "which device?");
  const Device d = open_device(opt);
  CHECK_FALSE(d.name.empty());
  CHECK(d.sm_count >= 1);
  CHECK(d.total_bytes > 0);
}

TEST_CASE("a CSV appears under its name only when it is finished, with awkward fields quoted") {
  Options opt("05_example", "where does it go?");
  opt.csv = "build/csv_test.csv";
  std::remove(opt.csv.c_str());
  {
    CsvFile csv;
    csv.open(opt);
    csv.row({"a", "b,c", "say \"x\""});
    CHECK(contents(opt.csv).empty());
    CHECK(csv.finish());
  }
  CHECK(contents(opt.csv) == "a,\"b,c\",\"say \"\"x\"\"\"\n");
  {
    CsvFile csv;  // a run that ends early leaves the old file as it was
    csv.open(opt);
    csv.row({"lost"});
  }
  CHECK(contents(opt.csv) == "a,\"b,c\",\"say \"\"x\"\"\"\n");
  CHECK(std::fopen("build/csv_test.csv.partial", "r") == nullptr);
  std::remove(opt.csv.c_str());
}

TEST_CASE("a full disk is reported and is no success") {
  Options opt("05_example", "where does it go?");
  opt.csv = "/dev/full";
  if (std::FILE* probe = std::fopen("/dev/full", "w")) {
    std::fclose(probe);
    CsvFile csv;
    csv.open(opt);
    csv.row({"does", "not", "fit"});
    CHECK_FALSE(csv.finish());
  } else {
    WARN("no /dev/full on this system: not tested");
  }
}

TEST_CASE("the yardsticks move every word, also at sizes that are no multiple of their loads") {
  const Options opt("05_example", "how fast?");
  const Device d = open_device(opt);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{100}, 1_Mi + 192}) {
    CAPTURE(bytes);
    const Yardstick y = measure_yardstick(d, bytes, 3);
    CHECK(y.copy_gbps > 0);
    CHECK(y.read_gbps > 0);
    CHECK(y.ok);
  }
}

TEST_CASE("the bits of the yardstick's pattern tell when a word is missing, or read twice") {
  for (const std::size_t n : {std::size_t{16}, std::size_t{1000}}) {
    const unsigned all = pattern_bits(n);
    for (std::size_t i = 0; i < n; ++i) CHECK((all ^ pattern_word(i)) != all);
    CHECK(pattern_bits(n - 1) != all);
  }
}

TEST_CASE("noise is the standard deviation over the mean") {
  CHECK(noise_percent({5.0}) == 0);
  CHECK(noise_percent({4.0, 4.0, 4.0}) == 0);
  CHECK(noise_percent({1.0, 3.0}) == Approx(100 * std::sqrt(2.0) / 2));
  CHECK(timing_of({1.0, 3.0}).noise_percent == Approx(100 * std::sqrt(2.0) / 2));
}

TEST_CASE(
    "a launch that is timed cold finds nothing in the L2, and the clock of a row is measured") {
  if (!kOnGpu) return;  // the CPU backend has neither
  const Options opt("05_example", "how fast?");
  const Device d = open_device(opt);
  const std::size_t words = d.l2_bytes / 4 / sizeof(uint4);  // a quarter of the L2
  const DeviceArray<uint4> data(words);
  const DeviceArray<unsigned> bits(1);
  const auto read = [&] {
    read_everything<<<read_grid(d, 512), 512>>>(data.get(), words, bits.get());
    CUDA_CHECK_LAUNCH();
  };
  const Timing hot = time_launches({11, false}, read), cold = time_launches({11, true}, read);
  CHECK(cold.min_ms > hot.median_ms);
  CHECK(cold.samples == 11);
  CHECK(hot.sm_mhz > 100);
  CHECK(hot.sm_mhz < 5000);
}
