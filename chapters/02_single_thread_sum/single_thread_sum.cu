// SPDX-License-Identifier: MIT
// Chapter 02: what does one GPU thread cost?
//
// single_thread            one thread adds n squares; the result leaves through a pointer
// device_variable          the result stays in a __device__ variable, which the host reads by name
// device_pointer_variable  the pointer is no argument either: it is a __device__ variable
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

// What a version reads and writes.
struct Problem {
  const int* x;  // n values
  std::size_t n;
  std::size_t stride;  // one_load_at_a_time: distance between one load and the next, in ints
  Result* result;      // device memory
};

// ---- host reference ----------------------------------------------------------------------------

// The square of 0..9 has at most 7 bits: a sum in 64 bits is exact for any n that fits a memory.
long long reference(const std::vector<int>& x) {
  return std::accumulate(x.begin(), x.end(), 0LL,
                         [](long long sum, long long v) { return sum + v * v; });
}

// What is left of a sum in 32 bits: the sum modulo 2^32, read as an int.
int low_32_bits(long long sum) { return static_cast<int>(static_cast<unsigned>(sum)); }

// The competitor: one core, a plain loop, which the host compiler may unroll and vectorise.
long long sum_on_cpu_core(const int* x, std::size_t n) {
  long long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<long long>(x[i]) * x[i];
  return sum;
}

// ---- kernels -----------------------------------------------------------------------------------

// The same loop on the device. The product is widened before it is taken: the squares of large ints
// do not fit an int.
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

// The compiler unrolls the loop above four times and issues four loads before it needs the first.
// Forbidden to unroll, the thread asks for one int, waits, adds, and asks for the next. With a
// stride of s it visits 0, s, 2s, ..., then 1, s+1, ...: every element still counts once.
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

// The bug: 32 bits for the sum. Published with int, whose overflow is undefined behaviour: the
// compiler may do anything. Unsigned arithmetic wraps by definition, so here the damage is certain.
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

// ---- the ladder --------------------------------------------------------------------------------

const Version<Problem> kVersions[] = {
    {"single_thread", "one thread, the result through a pointer",
     [](const Problem& p) { sum_single_thread<<<1, 1>>>(p.x, p.n, p.result); }},
    {"device_variable", "the result in a __device__ variable",
     [](const Problem& p) { sum_device_variable<<<1, 1>>>(p.x, p.n); }},
    {"device_pointer_variable", "the pointer in a __device__ variable",
     [](const Problem& p) { sum_device_pointer_variable<<<1, 1>>>(p.x, p.n); }},
    {"one_load_at_a_time", "not unrolled: each load waits for the one before",
     [](const Problem& p) { sum_one_load_at_a_time<<<1, 1>>>(p.x, p.n, p.stride, p.result); }},
    {"narrow_accumulator", "adds in 32 bits: right until the sum passes 2^31",
     [](const Problem& p) { sum_narrow_accumulator<<<1, 1>>>(p.x, p.n, p.result); }},
};

// Overwrites every place a result may come from, so that a version that writes nothing is caught,
// and points the __device__ pointer at the result.
void poison(const Problem& p) {
  const Result poisoned = {-1, -1};
  CUDA_CHECK(cudaMemcpy(p.result, &poisoned, sizeof poisoned, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpyToSymbol(device_result, &poisoned, sizeof poisoned));
  CUDA_CHECK(cudaMemcpyToSymbol(device_result_pointer, &p.result, sizeof p.result));
}

// Fetches what a version left. Each of these copies waits for the kernel: it is queued behind it.
Result fetch(const std::string& version, const Problem& p) {
  Result result;
  if (version == "device_variable") {
    CUDA_CHECK(cudaMemcpyFromSymbol(&result, device_result, sizeof result));
  } else {
    CUDA_CHECK(cudaMemcpy(&result, p.result, sizeof result, cudaMemcpyDeviceToHost));
  }
  return result;
}

// The other way to a __device__ variable: its address is a device pointer like any of cudaMalloc's.
Result fetch_device_variable_by_address() {
  Result result;
  void* address = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&address, device_result));
  CUDA_CHECK(cudaMemcpy(&result, address, sizeof result, cudaMemcpyDeviceToHost));
  return result;
}

bool check(const std::string& version, const Problem& p, long long expected) {
  if (version == "narrow_accumulator") expected = low_32_bits(expected);
  bool ok = equals(version, fetch(version, p).sum, expected);
  if (version == "device_variable") {
    ok = equals(version + " by address", fetch_device_variable_by_address().sum, expected) && ok;
  }
  return ok;
}

// ---- measurements ------------------------------------------------------------------------------

// One launch seen by two clocks: the multiprocessor's, which counts cycles, and the events', which
// count time. Their quotient is the frequency the multiprocessor really ran at.
void compare_clocks(ResultTable& table, const Device& device, const Problem& p) {
  EventTimer timer;
  timer.start();
  sum_single_thread<<<1, 1>>>(p.x, p.n, p.result);
  CUDA_CHECK_LAUNCH();
  const double ms = timer.stop_ms();
  const auto cycles = static_cast<double>(fetch("single_thread", p).cycles);
  const double ghz = cycles / ms / 1e6;
  table.measured("core_clock", ghz, "GHz",
                 digits_text(cycles) + " cycles by clock64() in " + digits_text(ms) +
                     " ms by events: " + digits_text(ghz) + " GHz; the clock rate attribute says " +
                     digits_text(device.core_khz / 1e6) + " GHz");
}

// Host time from just before a launch to the return of that call, and to the end of the kernel.
void time_launch_call(ResultTable& table, const Problem& p, std::size_t samples) {
  std::vector<double> returned_us, ended_us;
  for (std::size_t i = 0; i < samples; ++i) {
    CUDA_CHECK(cudaDeviceSynchronize());  // an idle device: the launch queues behind nothing
    const double begin = host_ms();
    sum_single_thread<<<1, 1>>>(p.x, p.n, p.result);
    returned_us.push_back(1e3 * (host_ms() - begin));
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());  // only here does the host wait
    ended_us.push_back(1e3 * (host_ms() - begin));
  }
  const double returned = median_of(returned_us), ended = median_of(ended_us);
  table.measured("launch_returned", returned, "us",
                 "a launch of single_thread returned after " + digits_text(returned) + " us");
  table.measured("kernel_ended", ended, "us",
                 "the kernel it started ended after " + digits_text(ended) + " us");
}

// Fails, in one of two ways, and shows which check notices.
int break_on_purpose(const std::string& what, const Problem& p) {
  if (what == "launch") {
    sum_single_thread<<<1, 2048>>>(p.x, p.n, p.result);  // a block has at most 1024: refused
  } else {
    sum_single_thread<<<1, 1>>>(nullptr, p.n, p.result);  // accepted; fails at its first load
  }
  std::printf("right behind the launch the last error is %s\n",
              cudaGetErrorName(cudaPeekAtLastError()));
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  return kExitWrong;
}

int main(int argc, char** argv) {
  Options opt("02_single_thread_sum", "what does one GPU thread cost?");
  opt.versions(kVersions);
  opt.version("cpu_core", "one core of the CPU");
  name_cub_row(opt);
  std::size_t n = 1_Mi;
  std::string values = "random", sweep, what_to_break;
  opt.add("n", &n, 1, kMaxN, "ints to sum");
  opt.add("values", &values, {"random", "nines"}, "0..9 at random, or all 9");
  opt.add("sweep", &sweep, {"stride"}, "one_load_at_a_time alone, strides 1 to 64");
  opt.add("break", &what_to_break, {"launch", "kernel"}, "fail, to see which check notices");
  opt.parse(argc, argv);
  if (!sweep.empty() && !opt.only.empty()) opt.usage_error("--sweep and --only: one or the other");
  const Device device = open_device(opt);
  const std::size_t bytes = n * sizeof(int);
  require_device_memory(opt, "--n " + std::to_string(n), bytes + sizeof(Result));

  const std::vector<int> x =
      values == "nines" ? std::vector<int>(n, 9) : random_ints(n, 0, 9, opt.seed);
  const long long expected = reference(x);

  int* d_x = nullptr;
  Result* d_result = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMalloc(&d_result, sizeof(Result)));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
  Problem p = {d_x, n, 1, d_result};
  if (!what_to_break.empty()) return break_on_purpose(what_to_break, p);

  ResultTable table(opt, device, "n = " + std::to_string(n) + " · values " + values, bytes);
  if (kOnGpu) table.rate_in("cycles/int");
  const auto add_row = [&](const std::string& name, const Version<Problem>& version) {
    const std::string kind = version.name;
    poison(p);
    const auto run = [&] {
      version.launch(p);
      CUDA_CHECK_LAUNCH();
    };
    run();
    bool ok = check(kind, p, expected);
    const Timing t = time_launches(opt.samples, run);
    ok = check(kind, p, expected) && ok;  // and still right after the timed runs
    const auto cycles = static_cast<double>(fetch(kind, p).cycles);
    const bool overflow = kind == "narrow_accumulator" && expected != low_32_bits(expected);
    table.add_with_rate(name, t, cycles / static_cast<double>(n), ok, overflow ? "overflow" : "ok");
    if (overflow) {
      table.note(kind + ": the sum is " + std::to_string(expected) +
                 ", its low 32 bits as an int " + std::to_string(low_32_bits(expected)));
    }
  };

  for (const auto& version : kVersions) {
    if (sweep.empty() && opt.wants(version.name)) add_row(version.name, version);
    if (sweep == "stride" && version.name == std::string("one_load_at_a_time")) {
      for (p.stride = 1; p.stride <= 64; p.stride *= 2) {
        add_row("stride=" + std::to_string(p.stride), version);
      }
    }
  }
  if (sweep.empty()) {
    if (opt.wants("cpu_core")) {
      long long sum = 0;
      const Timing t = time_on_host(opt.samples, [&] { sum = sum_on_cpu_core(x.data(), n); });
      table.add("cpu_core", t, 0, equals("cpu_core", sum, expected));
    }
    add_cub_row(table, opt, d_x, n, expected);
    if (opt.wants("single_thread")) {
      if (kOnGpu) compare_clocks(table, device, p);
      time_launch_call(table, p, opt.samples);
    }
  }

  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_result));
  return table.finish();
}
