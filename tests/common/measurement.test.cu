// SPDX-License-Identifier: MIT
// What the numbers in the tables are made of: data, medians, texts, the CSV.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "../kernel_testing.cuh"

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A program's command line, without an option of its own.
struct Program : CommandLine {
  using CommandLine::CommandLine;
  Options opt{argc(), argv.data(), "05_example", "how fast?", {}};
};

// What a launch leaves, which counts how often it is poisoned.
struct Left {
  int& poisons;
  void poison() const { ++poisons; }
};

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
  CHECK(digits_text(HUGE_VAL) == "inf");
  CHECK(text("block=", 256u, " of ", std::string("x"), ": ", 2.0 / 3, " ms", 'k') ==
        "block=256 of x: 0.6667 msk");
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

TEST_CASE("the device that is opened is one the runtime knows") {
  const Program program;
  const Device d = open_device(program.opt);
  CHECK_FALSE(std::string(d.name).empty());
  CHECK(d.multiProcessorCount >= 1);
  CHECK(d.totalGlobalMem > 0);
}

TEST_CASE("a CSV appears under its name only when it is finished, a row for each of the table") {
  const Program program({"--csv", "build/csv_test.csv"});
  std::remove("build/csv_test.csv");
  {
    ResultTable table(program.opt, 64, 0, {"blocks, say"});
    table.rate_in("GB/s", "peak", kOnGpu ? 0 : 1e9);  // the backend has no share of a peak
    table.next_row_has(3);
    table.row("tree", {2, 1, 3, 5, 0.5}, 8, true);
    CHECK(contents("build/csv_test.csv").empty());
    CHECK(table.finish() == kExitOk);
  }
  const std::string text = contents("build/csv_test.csv");
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  CHECK(text.find(",sm_mhz,\"blocks, say\"\n05_example,") != std::string::npos);
  CHECK(text.find(",5,\"tree\",2,1,3,8,GB/s,,,1,ok,0.5,,\"3\"\n") != std::string::npos);
  {
    ResultTable table(program.opt, 64);  // a run that ends early leaves the old file as it was
    table.row("lost", {2, 1, 3, 5, 0.5}, 8, true);
  }
  CHECK(contents("build/csv_test.csv") == text);
  CHECK(std::fopen("build/csv_test.csv.partial", "r") == nullptr);
  std::remove("build/csv_test.csv");
}

TEST_CASE("the CSV has counts whole, and other numbers to six digits") {
  const Program program({"--csv", "build/csv_test.csv"});
  ResultTable table(program.opt, 64);
  table.measured("counted", 2060525, "wrong sums");
  table.measured("timed", 1.0 / 3, "GB/s");
  CHECK(table.finish() == kExitOk);
  const std::string text = contents("build/csv_test.csv");
  CHECK(text.find(",2060525,wrong sums,") != std::string::npos);
  CHECK(text.find(",0.333333,GB/s,") != std::string::npos);
  std::remove("build/csv_test.csv");
}

TEST_CASE("a wrong row makes the program fail") {
  const Program program;
  ResultTable table(program.opt, 64);
  table.row("right", {2, 1, 3, 5, 0.5}, 0, true);
  table.row("wrong", {2, 1, 3, 5, 0.5}, 0, false);
  table.row("right_again", {2, 1, 3, 5, 0.5}, 0, true);
  CHECK(table.finish() == kExitWrong);
}

TEST_CASE("a row is checked before it is timed and after, each time over fresh poison at first") {
  const Program program;
  for (const int wrong_check : {1, 2, 3}) {  // the third never comes
    ResultTable table(program.opt, 64);
    int poisons = 0, launches = 0, checks = 0;
    table.add(
        "row", Left{poisons}, [&] { ++launches; },
        [&] {
          CHECK(poisons == 1);
          CHECK(launches >= 1);
          return ++checks != wrong_check;
        });
    CHECK(checks == 2);
    CHECK(launches >= 3);  // one to check, a warm-up, a sample at the least
    CHECK(table.finish() == (wrong_check == 3 ? kExitOk : kExitWrong));
  }
}

TEST_CASE("a full disk is reported and is no success") {
  if (std::FILE* probe = std::fopen("/dev/full", "w")) {
    std::fclose(probe);
    const Program program({"--csv", "/dev/full"});
    ResultTable table(program.opt, 64);
    table.row("does_not_fit", {2, 1, 3, 5, 0.5}, 0, true);
    CHECK(table.finish() == kExitWrong);
  } else {
    WARN("no /dev/full on this system: not tested");
  }
}

TEST_CASE("the read that others are compared with reads every word once, at any size") {
  // A thread stores its exclusive-or only if it is this number. Words of one thread are chosen so
  // that it comes about if the thread reads all of its words, and each once.
  constexpr unsigned kNever = 0x9e3779b9u;
  for (const unsigned threads : {1u, 32u, 192u}) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, 64_Ki + 5}) {
      for (const std::size_t chosen : {std::size_t{0}, std::min<std::size_t>(threads, n) - 1}) {
        std::vector<uint4> words(n);
        unsigned all = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const std::uint64_t low = random_bits(1, 2 * i), high = random_bits(1, 2 * i + 1);
          words[i] = {unsigned(low), unsigned(low >> 32), unsigned(high), unsigned(high >> 32)};
          if (i % threads == chosen) all ^= words[i].x ^ words[i].y ^ words[i].z ^ words[i].w;
        }
        words[(n - 1 - chosen) / threads * threads + chosen].w ^= all ^ kNever;  // its last word
        const DeviceArray<uint4> data(words);
        const DeviceArray<unsigned> stored(1);
        read_everything<<<(threads + 63) / 64, std::min(threads, 64u)>>>(data, n, stored);
        CUDA_CHECK_LAUNCH();
        CAPTURE(n, threads, chosen);
        CHECK(stored.download()[0] == kNever);
      }
    }
  }
}

TEST_CASE("a read and a copy have a speed on a GPU, at any size, and none elsewhere") {
  const Program program;
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{100}, 1_Mi + 192}) {
    CAPTURE(bytes);
    CHECK((measured_read_gbps(bytes) > 0) == kOnGpu);
    CHECK((measured_copy_gbps(bytes) > 0) == kOnGpu);
  }
}

TEST_CASE("noise is the standard deviation over the mean") {
  CHECK(timing_of({5.0}).noise_percent == 0);
  CHECK(timing_of({4.0, 4.0, 4.0}).noise_percent == 0);
  CHECK(timing_of({1.0, 3.0}).noise_percent == Approx(100 * std::sqrt(2.0) / 2));
}

TEST_CASE("the clock of a multiprocessor is some gigahertz on a GPU") {
  if (!kOnGpu) return;  // the CPU backend has none
  CHECK(sm_clock_mhz() > 100);
  CHECK(sm_clock_mhz() < 5000);
}
