// SPDX-License-Identifier: MIT
// Chapter 02: what does one GPU thread cost?
//
// single_thread            one thread adds n squares; the result leaves through a pointer
// one_load_at_a_time       the loop as written: every load waits until the one before is used
// sixteen_loads_at_a_time  sixteen loads are under way before the first is used
// device_pointer_variable, device_variable   no argument: the pointer, or the result, is a variable
// device_array, managed_variable             an array of results; a variable that both sides use
// narrow_accumulator       a bug that waits for a larger n: it adds in 32 bits
// Run: make run CH=02, or with ARGS="--n 32Mi --low 9", when the bug shows

#include "../../common/common.cuh"

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

// An array in device memory. The host asks where it lies, and copies one place of it.
constexpr unsigned kPlaces = 4, kPlace = 2;
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
// the first. Here, with a stride s that only the caller knows, the thread asks for one int, waits,
// adds, and asks for the next. It visits 0, s, 2s, ..., then 1, s+1, ...: each int counts once.
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

// The other way: the compiler is asked to issue sixteen loads before it needs the first.
__global__ void sum_sixteen_loads_at_a_time(const int* x, std::size_t n, Result* result) {
  const long long begin = clock64();
  long long sum = 0;
#pragma unroll 16
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<long long>(x[i]) * x[i];
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

// What 32 bits keep of a sum: the sum modulo 2^32, read as an int.
int low_32_bits(long long sum) { return static_cast<int>(static_cast<unsigned>(sum)); }

// What a version reads, the place in device memory where it leaves its result, and which sum that
// has to be.
struct OneThreadSum {
  const int* x;  // n values, in device memory
  std::size_t n;
  Result* result;
  long long expected;
  mutable Result fetched{};  // what the host has seen of it

  void poison() const { CUDA_CHECK(cudaMemset(result, 0xff, sizeof *result)); }

  // The copy waits for the kernel, after which it is queued.
  bool is_right(const std::string& name) const {
    CUDA_CHECK(cudaMemcpy(&fetched, result, sizeof fetched, cudaMemcpyDeviceToHost));
    return equals(name, fetched.sum, expected);
  }
};

const Version<OneThreadSum> kThroughPointer[] = {
    {"single_thread", "one thread, the result through a pointer",
     [](const OneThreadSum& s) { sum_single_thread<<<1, 1>>>(s.x, s.n, s.result); }},
    {"one_load_at_a_time", "not unrolled: each load waits for the one before",
     [](const OneThreadSum& s) { sum_one_load_at_a_time<<<1, 1>>>(s.x, s.n, 1, s.result); }},
    {"sixteen_loads_at_a_time", "unrolled sixteen times",
     [](const OneThreadSum& s) { sum_sixteen_loads_at_a_time<<<1, 1>>>(s.x, s.n, s.result); }},
    {"device_pointer_variable", "the pointer in a __device__ variable",
     [](const OneThreadSum& s) { sum_device_pointer_variable<<<1, 1>>>(s.x, s.n); }},
};
const Version<OneThreadSum> kInVariable = {
    "device_variable", "the result in a __device__ variable",
    [](const OneThreadSum& s) { sum_device_variable<<<1, 1>>>(s.x, s.n); }};
const Version<OneThreadSum> kInArray = {
    "device_array", "the result in a place of a __device__ array",
    [](const OneThreadSum& s) { sum_device_array<<<1, 1>>>(s.x, s.n, kPlace); }};
const Version<OneThreadSum> kInManaged = {
    "managed_variable", "the result in a __managed__ variable",
    [](const OneThreadSum& s) { sum_managed_variable<<<1, 1>>>(s.x, s.n); }};
const Version<OneThreadSum> kNarrow = {
    "narrow_accumulator", "adds in 32 bits: right until the sum passes 2^31",
    [](const OneThreadSum& s) { sum_narrow_accumulator<<<1, 1>>>(s.x, s.n, s.result); }};

// Its row has no rate, but the cycles per int, as the kernel counted them.
void add_row(ResultTable& table, const Version<OneThreadSum>& version, const OneThreadSum& s,
             const std::string& right = "ok") {
  table.add(
      version.name, s, [&] { version.launch(s); },
      [&] {
        const bool is_right = s.is_right(version.name);
        table.next_row_has(1.0 * s.fetched.cycles / s.n);
        return is_right;
      },
      version.summary, right);
}

int main(int argc, char** argv) {
  std::size_t n = 1_Mi, low = 0;
  const Options opt(argc, argv, "02_single_thread_sum", "what does one GPU thread cost?",
                    {{"n", &n, 1, 16_Gi, "ints to sum, at random"},
                     {"low", &low, 0, 9, "the smallest of them; the largest is 9"}});
  const std::size_t bytes = n * sizeof(int);
  ResultTable table(opt, bytes, sizeof(Result), {"cycles_per_int"});

  const std::vector<int> x = random_ints(n, low, 9, opt.seed);
  int* d_x = nullptr;
  Result* d_result = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMalloc(&d_result, sizeof(Result)));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpyToSymbol(device_result_pointer, &d_result, sizeof d_result));
  // Where variables of the device lie: pointers like any of cudaMalloc's.
  void *variable = nullptr, *array = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&variable, device_result));
  CUDA_CHECK(cudaGetSymbolAddress(&array, device_results));

  const long long expected = std::inner_product(x.begin(), x.end(), x.begin(), 0LL);
  const auto leaving_at = [&](Result* place) { return OneThreadSum{d_x, n, place, expected}; };
  for (const auto& version : kThroughPointer) add_row(table, version, leaving_at(d_result));
  add_row(table, kInVariable, leaving_at(static_cast<Result*>(variable)));
  add_row(table, kInArray, leaving_at(static_cast<Result*>(array) + kPlace));
  add_row(table, kInManaged, leaving_at(&managed_result));
  const long long narrow = low_32_bits(expected);
  add_row(table, kNarrow, {d_x, n, d_result, narrow}, narrow == expected ? "ok" : "overflow");
  table.note("the sum is ", expected, ", as an int ", narrow);
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_result));
  return table.finish();
}
