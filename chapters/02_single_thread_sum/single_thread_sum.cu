// SPDX-License-Identifier: MIT
// Chapter 02: what does one GPU thread cost?
//
// single_thread            one thread adds n squares; the result leaves through a pointer
// device_variable          the result stays in a __device__ variable, which the host reads by name
// device_pointer_variable  the pointer is no argument either: it is a __device__ variable
// device_array, managed_variable   an array of results; a variable that both sides use by its name
// one_load_at_a_time       the loop as written: every load waits until the one before is used
// narrow_accumulator       a bug that waits for a larger n: it adds in 32 bits
// cpu_core                 the same sum on one core of the CPU
// Run: make run CH=02
//      make run CH=02 ARGS="--n 32Mi --values nines"   the bug shows
//      make run CH=02 ARGS="--break kernel"            which check sees which error

#include <numeric>
#include <string>
#include <vector>

#include "../../common/common.cuh"

constexpr std::size_t kMaxN = 16_Gi;

// What one launch leaves behind.
struct Result {
  long long sum;
  long long cycles;  // of the multiprocessor's clock, around the loop
};

// The work is a loop as on any machine. The product is widened before it is taken: the squares of
// large ints do not fit an int.
__device__ long long sum_of_squares(const int* x, std::size_t n) {
  long long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<long long>(x[i]) * x[i];
  return sum;
}

// A kernel returns nothing: its caller has moved on long before there is a result. So the result
// goes to device memory, where the host fetches it later.
__global__ void sum_single_thread(const int* x, std::size_t n, Result* result) {
  const long long begin = clock64();
  result->sum = sum_of_squares(x, n);
  result->cycles = clock64() - begin;
}

// A variable in device memory, alive as long as the program. Kernels use it by its name. The host
// must not: on its side the name stands for a place, which the ...Symbol functions look up.
__device__ Result device_result;

__global__ void sum_device_variable(const int* x, std::size_t n) {
  const long long begin = clock64();
  device_result.sum = sum_of_squares(x, n);
  device_result.cycles = clock64() - begin;
}

// Here the variable is a pointer. The host sets it once; no later launch has to pass it.
__device__ Result* device_result_pointer;

__global__ void sum_device_pointer_variable(const int* x, std::size_t n) {
  const long long begin = clock64();
  device_result_pointer->sum = sum_of_squares(x, n);
  device_result_pointer->cycles = clock64() - begin;
}

// An array in device memory. The host copies one place of it by the array's name and an offset.
constexpr unsigned kPlaces = 4;
__device__ Result device_results[kPlaces];

__global__ void sum_device_array(const int* x, std::size_t n, unsigned place) {
  const long long begin = clock64();
  device_results[place].sum = sum_of_squares(x, n);
  device_results[place].cycles = clock64() - begin;
}

// One name on both sides, one place in memory: the driver brings it to whoever uses it. The host
// still has to wait for the kernel before it looks.
__device__ __managed__ Result managed_result;

__global__ void sum_managed_variable(const int* x, std::size_t n) {
  const long long begin = clock64();
  managed_result.sum = sum_of_squares(x, n);
  managed_result.cycles = clock64() - begin;
}

// The compiler unrolls the loop of sum_of_squares four times and issues four loads before it needs
// the first. Without unrolling, the thread asks for one int, waits, adds, and asks for the next.
// With a stride of s it visits 0, s, 2s, ..., then 1, s+1, ...: every element still counts once.
__global__ void sum_one_load_at_a_time(const int* x, std::size_t n, std::size_t stride,
                                       Result* result) {
  const long long begin = clock64();
  long long sum = 0;
  for (std::size_t first = 0; first < stride; ++first) {
#pragma unroll 1
    for (std::size_t i = first; i < n; i += stride) {
      sum += static_cast<long long>(x[i]) * x[i];
    }
  }
  result->sum = sum;
  result->cycles = clock64() - begin;
}

// The bug: the sum has 32 bits. Published code has an int here. Its overflow is undefined
// behaviour, and the compiler may do anything. Unsigned arithmetic wraps by definition: the damage
// is certain.
__global__ void sum_narrow_accumulator(const int* x, std::size_t n, Result* result) {
  const long long begin = clock64();
  unsigned sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned v = static_cast<unsigned>(x[i]);
    sum += v * v;
  }
  result->sum = static_cast<int>(sum);  // what a caller who expects an int would see
  result->cycles = clock64() - begin;
}

// ---- the versions ------------------------------------------------------------------------------

// What they read and write, all of it in device memory.
struct OneThreadSum {
  const int* x;  // n values
  std::size_t n;
  Result* result;
  std::size_t stride = 1;  // one_load_at_a_time: distance between one load and the next, in ints
  unsigned place = 2;      // device_array: where in it
};

const Version<OneThreadSum> kVersions[] = {
    {"single_thread", "one thread, the result through a pointer",
     [](const OneThreadSum& s) { sum_single_thread<<<1, 1>>>(s.x, s.n, s.result); }},
    {"device_variable", "the result in a __device__ variable",
     [](const OneThreadSum& s) { sum_device_variable<<<1, 1>>>(s.x, s.n); }},
    {"device_pointer_variable", "the pointer in a __device__ variable",
     [](const OneThreadSum& s) { sum_device_pointer_variable<<<1, 1>>>(s.x, s.n); }},
    {"device_array", "the result in a place of a __device__ array",
     [](const OneThreadSum& s) { sum_device_array<<<1, 1>>>(s.x, s.n, s.place); }},
    {"managed_variable", "the result in a __managed__ variable",
     [](const OneThreadSum& s) { sum_managed_variable<<<1, 1>>>(s.x, s.n); }},
    {"one_load_at_a_time", "not unrolled: each load waits for the one before",
     [](const OneThreadSum& s) { sum_one_load_at_a_time<<<1, 1>>>(s.x, s.n, s.stride, s.result); }},
    {"narrow_accumulator", "adds in 32 bits: right until the sum passes 2^31",
     [](const OneThreadSum& s) { sum_narrow_accumulator<<<1, 1>>>(s.x, s.n, s.result); }},
};

// The square of 0..9 has at most 7 bits: a sum in 64 bits is exact for any n that fits a memory.
long long reference(const std::vector<int>& x) {
  return std::accumulate(x.begin(), x.end(), 0LL,
                         [](long long sum, long long v) { return sum + v * v; });
}

#include "broken_on_purpose.cuh"  // --break: two errors, two checks
#include "clock_rows.cuh"         // the rows of the table, and the clocks behind them
#include "fetched_results.cuh"    // how a result reaches the host and is compared

int main(int argc, char** argv) {
  Options opt("02_single_thread_sum", "what does one GPU thread cost?");
  opt.versions(kVersions);
  opt.version("cpu_core", "one core of the CPU");
  name_cub_row(opt);
  std::size_t n = 1_Mi;
  std::string values = "random", sweep, to_break;
  opt.add("n", &n, 1, kMaxN, "ints to sum");
  opt.add("values", &values, {"random", "nines"}, "0..9 at random, or all 9");
  opt.add("sweep", &sweep, {"stride"}, "one_load_at_a_time alone, strides 1 to 64");
  opt.add("break", &to_break, {"launch", "kernel"}, "fail, to see which check notices");
  opt.parse(argc, argv);
  if (!sweep.empty() && !opt.only.empty()) opt.usage_error("--sweep and --only: one or the other");
  const Device device = open_device(opt);
  const std::size_t bytes = n * sizeof(int);
  require_device_memory(opt, "--n " + std::to_string(n), bytes + sizeof(Result));
  const std::vector<int> x =
      values == "nines" ? std::vector<int>(n, 9) : random_ints(n, 0, 9, opt.seed);

  int* d_x = nullptr;
  Result* d_result = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMalloc(&d_result, sizeof(Result)));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
  const OneThreadSum sum = {d_x, n, d_result};
  if (!to_break.empty()) return break_on_purpose(to_break, sum);
  ResultTable table(opt, device, "n = " + std::to_string(n) + " · values " + values, bytes);
  if (kOnGpu) table.rate_in("cycles/int");
  if (sweep.empty()) add_rows(table, device, sum, x);
  if (sweep == "stride") add_stride_rows(table, sum, reference(x));
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_result));
  return table.finish();
}
