// SPDX-License-Identifier: MIT
// A kernel of your own: checks a solution of one of the three projects, then times it. README.md
// says what each has to do. A program ends with, for example,
//
//   int main(int argc, char** argv) { return judge_blur(argc, argv, blur); }
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace judge {

using Byte = unsigned char;

// One input, and what has to come out.
template <class In, class Out>
struct Task {
  std::string name;
  std::vector<In> input;
  std::vector<Out> expected;
  unsigned width = 0;  // of an image
};

// Behind the result lie as many elements that nobody may write. The CPU backend needs none: there
// an access past an allocation is reported.
constexpr std::size_t kGuard = kOnGpu ? 1024 : 0;

// Whether launch(in, out) leaves what is expected, and nothing after it: twice in a row, the
// second time over what the first one left, and without a change to the input.
template <class In, class Out, class Launch>
bool is_right(const Task<In, Out>& task, Launch&& launch) {
  const std::size_t n = task.expected.size();
  const DeviceArray<In> in(task.input);
  const DeviceArray<Out> out(n + kGuard);
  const std::vector<Out> guard(kGuard, static_cast<Out>(-1));  // DeviceArray begins with 0xff
  for (const char* const which : {", first launch", ", second launch"}) {
    launch(in.get(), out.get());
    CUDA_CHECK_LAUNCH();
    const std::vector<Out> got = out.download();
    const std::string name = task.name + which;
    if (!all_equal(name, {got.begin(), got.begin() + n}, task.expected) ||
        !all_equal(name + ", past the result", {got.begin() + n, got.end()}, guard))
      return false;
  }
  return all_equal(task.name + ", the input", in.download(), task.input);
}

// What a project counts: the bytes that a launch has to move, and the share of a read's or a copy's
// bandwidth that is its target.
struct Goal {
  double bytes;
  bool of_read;  // else of a copy
  double share;
};

// All small inputs, then the large ones: on a GPU in a table, with their times. The program's exit
// status.
template <class In, class Out, class Launch>
int run(const Options& opt, const std::vector<Task<In, Out>>& small,
        const std::vector<Task<In, Out>>& large, const Goal& goal, Launch&& launch) {
  open_device(opt);
  const auto all_right = [&](const std::vector<Task<In, Out>>& tasks) {
    return std::all_of(tasks.begin(), tasks.end(), [&](const auto& task) {
      return is_right(task, [&](const In* in, Out* out) { launch(task, in, out); });
    });
  };
  if (!all_right(small)) return kExitWrong;
  std::printf("%zu small inputs: right\n", small.size());
  if (!kOnGpu) {
    if (!all_right(large)) return kExitWrong;
    std::printf("%s: right. The time and the target need a GPU.\n", opt.workload().c_str());
    return kExitOk;
  }
  std::printf("\n");
  ResultTable table(opt, goal.bytes);
  table.without_speedup();
  const double yardstick = goal.of_read ? measured_read_gbps(1_Gi) : measured_copy_gbps(1_Gi);
  const char* const of = goal.of_read ? "read" : "copy";
  table.rate_in("GB/s", of, yardstick);
  for (const auto& task : large) {
    const DeviceArray<In> in(task.input);
    const DeviceArray<Out> out(task.expected.size());
    const double ms = table.add(
        task.name, out, [&] { launch(task, in.get(), out.get()); },
        [&] { return all_equal(task.name, out.download(), task.expected); });
    if (ms == 0) continue;  // not wanted
    const bool reached = goal.bytes / ms / 1e6 >= goal.share * yardstick;
    table.note(task.name, ": the target, ", 100 * goal.share, " % of a ", of,
               reached ? ", is reached" : ", is not reached yet");
  }
  return table.finish();
}

inline std::vector<std::size_t> small_sizes() {
  std::vector<std::size_t> sizes = {1, 2, 31, 32, 33, 255, 256, 257, 1023, 1025, 20011};
  if (kOnGpu) sizes.insert(sizes.end(), {99991, 1_Mi + 1, 16_Mi + 3});
  return sizes;
}

template <class T>
std::vector<T> random_values(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(random_bits(1, i));
  return values;
}

// ---- the references ----------------------------------------------------------------------------

// Sums down the columns first, then along the rows: in another order than the definition's.
inline std::vector<Byte> blurred(const std::vector<Byte>& image, unsigned width, unsigned height) {
  std::vector<Byte> result(image.size());
  std::vector<unsigned> column(width);
  const auto clamped = [](long long at, unsigned size) {
    return static_cast<std::size_t>(std::clamp<long long>(at, 0, size - 1ll));
  };
  for (unsigned y = 0; y < height; ++y) {
    std::fill(column.begin(), column.end(), 0u);
    for (int dy = -2; dy <= 2; ++dy) {
      const Byte* const row =
          image.data() + clamped(static_cast<long long>(y) + dy, height) * width;
      for (unsigned x = 0; x < width; ++x) column[x] += row[x];
    }
    for (unsigned x = 0; x < width; ++x) {
      unsigned sum = 12;  // half of 25: rounds to the nearest
      for (int dx = -2; dx <= 2; ++dx)
        sum += column[clamped(static_cast<long long>(x) + dx, width)];
      result[static_cast<std::size_t>(y) * width + x] = static_cast<Byte>(sum / 25);
    }
  }
  return result;
}

inline Task<Byte, Byte> blur_task(const std::string& name, unsigned width, unsigned height) {
  std::vector<Byte> image = random_values<Byte>(static_cast<std::size_t>(width) * height);
  std::vector<Byte> expected = blurred(image, width, height);
  return {name, std::move(image), std::move(expected), width};
}

inline Task<Byte, unsigned> histogram_task(const std::string& name, std::vector<Byte> input) {
  std::vector<unsigned> counts(256, 0);
  for (const Byte value : input) ++counts[value];
  return {name, std::move(input), std::move(counts)};
}

inline Task<unsigned, unsigned> scan_task(const std::string& name, std::vector<unsigned> input) {
  std::vector<unsigned> sums(input);
  for (std::size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
  return {name, std::move(input), std::move(sums)};
}

}  // namespace judge

// ---- the projects ------------------------------------------------------------------------------

/// out[y][x] is the mean of the 5 x 5 pixels around in[y][x].
using Blur = void (*)(const unsigned char* in, unsigned char* out, unsigned width, unsigned height);

/// counts[v] is how many of the n bytes are v.
using Histogram = void (*)(const unsigned char* in, std::size_t n, unsigned* counts);

/// out[i] is in[0] + ... + in[i], modulo 2^32.
using PrefixSum = void (*)(const unsigned* in, std::size_t n, unsigned* out,
                           unsigned long long* scratch);

/// How many elements the scratch memory of a prefix sum over n has.
inline std::size_t scratch_size(std::size_t n) { return n / 64 + 4096; }

inline int judge_blur(int argc, char** argv, Blur blur) {
  std::size_t side = kOnGpu ? 16_Ki : 301;
  const Options opt(argc, argv, "blur", "the mean of the 5 x 5 pixels around each",
                    {{"side", &side, 1, 32_Ki, "pixels: width and height of the large image"}});
  std::vector<judge::Task<judge::Byte, judge::Byte>> small;
  for (const auto& [width, height] : std::vector<std::pair<unsigned, unsigned>>{
           {1, 1}, {1, 9}, {9, 1}, {3, 2}, {31, 33}, {257, 100}, {1023, 65}, {64, 129}}) {
    const std::string size = std::to_string(width) + " x " + std::to_string(height);
    small.push_back(judge::blur_task(size, width, height));
  }
  const auto pixels = static_cast<unsigned>(side);
  const judge::Goal goal = {2.0 * static_cast<double>(side * side), false, 1.0 / 3};
  return judge::run(opt, small, {judge::blur_task("blur", pixels, pixels)}, goal,
                    [&](const auto& task, const judge::Byte* in, judge::Byte* out) {
                      const std::size_t height = task.input.size() / task.width;
                      blur(in, out, task.width, static_cast<unsigned>(height));
                    });
}

inline int judge_histogram(int argc, char** argv, Histogram histogram) {
  std::size_t n = kOnGpu ? 256_Mi : 300007;
  const Options opt(argc, argv, "histogram", "how often does each of 256 values come?",
                    {{"n", &n, 1, 2_Gi, "bytes of the large inputs"}});
  std::vector<judge::Task<judge::Byte, unsigned>> small, large;
  for (const std::size_t size : judge::small_sizes()) {
    const std::string of = " " + std::to_string(size);
    small.push_back(judge::histogram_task("random" + of, judge::random_values<judge::Byte>(size)));
    small.push_back(judge::histogram_task("alike" + of, std::vector<judge::Byte>(size, 255)));
  }
  large.push_back(judge::histogram_task("random", judge::random_values<judge::Byte>(n)));
  large.push_back(judge::histogram_task("alike", std::vector<judge::Byte>(n, 200)));
  const judge::Goal goal = {static_cast<double>(n), true, 1.0 / 2};
  return judge::run(opt, small, large, goal,
                    [&](const auto& task, const judge::Byte* in, unsigned* counts) {
                      histogram(in, task.input.size(), counts);
                    });
}

inline int judge_prefix_sum(int argc, char** argv, PrefixSum prefix_sum) {
  std::size_t n = kOnGpu ? 256_Mi : 300007;
  const Options opt(argc, argv, "prefix_sum", "the sum of all elements up to each",
                    {{"n", &n, 1, 1_Gi, "elements of the large input"}});
  std::vector<judge::Task<unsigned, unsigned>> small;
  for (const std::size_t size : judge::small_sizes()) {
    const std::string of = " " + std::to_string(size);
    small.push_back(judge::scan_task("random" + of, judge::random_values<unsigned>(size)));
    small.push_back(judge::scan_task("ones" + of, std::vector<unsigned>(size, 1)));
  }
  const DeviceArray<unsigned long long> scratch(scratch_size(std::max(n, 16_Mi + 3)));
  const judge::Goal goal = {2.0 * static_cast<double>(n * sizeof(unsigned)), false, 1.0 / 2};
  return judge::run(opt, small, {judge::scan_task("prefix_sum", judge::random_values<unsigned>(n))},
                    goal, [&](const auto& task, const unsigned* in, unsigned* out) {
                      prefix_sum(in, task.input.size(), out, scratch.get());
                    });
}
