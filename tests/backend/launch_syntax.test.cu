// SPDX-License-Identifier: MIT
// Launches, __shared__ arrays and device variables in every form that CUDA C++ allows: the pre-pass
// must understand each. clang-format is off where code is meant to look odd.
#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../kernel_testing.cuh"
#include "names_of_shared.cuh"

// clang-format off

namespace {

// One int on the device that kernels add to; reading it waits and resets it.
class Tally {
 public:
  int* get() const { return data_.get(); }
  int take() {
    const int value = data_.download()[0];
    cudaMemset(data_.get(), 0, sizeof(int));
    return value;
  }
 private:
  const DeviceArray<int> data_{std::vector<int>{0}};
};

template <class A, class B> struct Pair { static constexpr int value = sizeof(A) + sizeof(B); };
template <int N> constexpr int number() { return N; }
template <class T> constexpr int sum_of(T a, T b) { return static_cast<int>(a + b); }

}  // namespace

__global__ void add(int* tally, int value) { atomicAdd(tally, value); }
__global__ void add_one(int* tally) { atomicAdd(tally, 1); }
__global__ void nothing() {}
__global__ void maybe(int* tally, const int* other) { if (other == nullptr) atomicAdd(tally, 1); }

namespace outer { namespace inner {
template <class T, int N> __global__ void __launch_bounds__(256) add_n(T* tally) { atomicAdd(tally, T(N)); }
}}  // namespace outer::inner

template <class T> struct Kernels {
  using Kernel = void (*)(T*, int);
  static Kernel pick() { return add; }
  Kernel member = add;
};

template <class F> __global__ void apply(F f, int* tally) { f(tally); }
template <class... Ts> __global__ void add_all(int* tally, Ts... values) { atomicAdd(tally, (values + ... + 0)); }

extern "C" __global__ void add_c(int* tally, int value = 5) { atomicAdd(tally, value); }
static __global__ __launch_bounds__(128, 2) void add_static(int* tally) { atomicAdd(tally, 1); }
namespace { __global__ inline void add_hidden(int* tally); }
namespace { void __global__ add_hidden(int* tally) { if (threadIdx.x > 0) return; atomicAdd(tally, 1); } }
template <class T> __global__ void by_type(T* tally, T value) { atomicAdd(tally, value); }
template <> __global__ void by_type<int>(int* tally, int value) { atomicAdd(tally, 10 * value); }
template __global__ void by_type<float>(float*, float);
__global__ void overloaded(int* tally, int) { atomicAdd(tally, 1); }
__global__ void overloaded(int* tally, float) { atomicAdd(tally, 2); }

struct Settings { int factor; float unused[7]; };
__global__ void add_settings(int* tally, Settings settings) { atomicAdd(tally, settings.factor); }

TEST_CASE("a launch is a statement anywhere a statement can stand") {
  Tally tally;
  const int n = 3;
  if (n > 2) add_one<<<1, 4>>>(tally.get()); else add_one<<<1, 8>>>(tally.get());
  REQUIRE(tally.take() == 4);
  if (n > 3)
    add_one<<<1, 4>>>(tally.get());
  else
    add_one<<<1, 8>>>(tally.get());
  REQUIRE(tally.take() == 8);
  for (int i = 0; i < 3; ++i) add<<<1, 2>>>(tally.get(), i);
  REQUIRE(tally.take() == 6);
  int i = 0;
  do add<<<1, 1>>>(tally.get(), i); while (++i < 4);
  REQUIRE(tally.take() == 6);
  while (i-- > 0) { add<<<1, 1>>>(tally.get(), 1); }
  REQUIRE(tally.take() == 4);
  switch (n) { case 3: add<<<1, 1>>>(tally.get(), 33); break; default: add<<<1, 1>>>(tally.get(), 1); }
  REQUIRE(tally.take() == 33);
  add<<<1, 1>>>(tally.get(), 1), add<<<1, 1>>>(tally.get(), 2);
  (void)0; add<<<1, 1>>>(tally.get(), 4); add<<<1, 1>>>(tally.get(), 8);
  n > 2 ? add<<<1, 1>>>(tally.get(), 16) : add<<<1, 1>>>(tally.get(), 32);
  REQUIRE(tally.take() == 31);
  [&] { add<<<1, 1>>>(tally.get(), 5); }();
  auto later = [&](int value) { add<<<1, 1>>>(tally.get(), value); };
  later(6);
  REQUIRE(tally.take() == 11);
}

// FEATURE: kernels: templates of kernels
// FEATURE: kernels: pointers to kernels
TEST_CASE("the kernel may be named in every way") {
  Tally tally;
  outer::inner::add_n<int, 3><<<1, 2>>>(tally.get());
  ::outer::inner::add_n<int, (4 > 3)><<<1, 2>>>(tally.get());
  ::outer::inner::add_n < int , 1 << 3 > <<<1, 2>>> (tally.get());
  outer::inner::add_n<std::common_type_t<int, std::conditional_t<true, int, char>>, 2><<<1, 1>>>(tally.get());
  outer::inner::add_n<int, number<number<5>()>()><<<1, 1>>>(tally.get());
  REQUIRE(tally.take() == 6 + 2 + 16 + 2 + 5);

  void (*table[])(int*, int) = {add, add};
  (table[1])<<<1, 1>>>(tally.get(), 7);
  table[0]<<<1, 1>>>(tally.get(), 8);
  (*table[0])<<<1, 1>>>(tally.get(), 9);
  (&add)<<<1, 1>>>(tally.get(), 10);
  Kernels<int> kernels, *pointer = &kernels;
  kernels.member<<<1, 1>>>(tally.get(), 11);
  pointer->member<<<1, 1>>>(tally.get(), 12);
  Kernels<int>::pick()<<<1, 1>>>(tally.get(), 13);
  if (pointer) (table[0])<<<1, 1>>>(tally.get(), 14);
  auto copy = add;
  copy<<<1, 1>>>(tally.get(), 15);
  auto& reference = add;
  reference<<<1, 1>>>(tally.get(), 16);
  REQUIRE(tally.take() == 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16);
}

// FEATURE: kernels: `__launch_bounds__`
TEST_CASE("kernels may be static, hidden, specialised, overloaded and have default arguments") {
  Tally tally;
  add_c<<<1, 2>>>(tally.get());
  add_c<<<1, 2>>>(tally.get(), 1);
  add_static<<<1, 2>>>(tally.get());
  add_hidden<<<1, 2>>>(tally.get());
  REQUIRE(tally.take() == 10 + 2 + 2 + 1);
  by_type<<<1, 2>>>(tally.get(), 1);
  by_type<int><<<1, 1>>>(tally.get(), 'c' - 'b');
  overloaded<<<1, 2>>>(tally.get(), 0);
  overloaded<<<1, 2>>>(tally.get(), 0.0f);
  REQUIRE(tally.take() == 20 + 10 + 2 + 4);
}

TEST_CASE("the configuration may contain templates, lambdas, braces, strings and shifts") {
  Tally tally;
  const int n = 3, m = 40;
  add_one<<<n, 2>>>(tally.get());
  REQUIRE(tally.take() == 6);
  add_one<<<dim3(2, 1 << 1), {2, 2}>>>(tally.get());
  REQUIRE(tally.take() == 16);
  add_one<<<m >> 3, 64 >> 2 >> 1>>>(tally.get());
  REQUIRE(tally.take() == 40);
  add_one<<<(m > n) ? 2 : 1, n < m ? 3 : 4>>>(tally.get());
  REQUIRE(tally.take() == 6);
  add_one<<<n < m, n<m>>>(tally.get());
  REQUIRE(tally.take() == 1);
  add_one<<<sum_of<int>(1, 2), sum_of<std::array<int, 2>::value_type>(3, 4)>>>(tally.get());
  REQUIRE(tally.take() == 21);
  add_one<<<number<Pair<Pair<char, char>, Pair<char, Pair<char, char>>>::value>(), 1>>>(tally.get());
  REQUIRE(tally.take() == 2);
  add_one<<<1, number<Pair<int, std::array<int, 1>>::value>()>>>(tally.get());
  REQUIRE(tally.take() == 8);
  add_one<<<1, Pair<char, Pair<char, Pair<char, char>>>::value>>>(tally.get());
  REQUIRE(tally.take() == 2);
  add_one<<<[&] { return n < m ? 2 : 1; }(), [](int k) { return k << 1; }(3)>>>(tally.get());
  REQUIRE(tally.take() == 12);
  add_one<<<std::vector<int>{1, 2, 3}.size(), std::strlen(">>>(")>>>(tally.get());
  REQUIRE(tally.take() == 12);
  add_one<<<1'0, 1, sizeof(int) * 32>>>(tally.get());
  REQUIRE(tally.take() == 10);
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  add_one<<<1, 5, 0, stream>>>(tally.get());
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  REQUIRE(tally.take() == 5);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("a launch may be spread over lines, with comments between") {
  Tally tally;
  outer::inner::
      add_n<int,
            2>
      <<<2,      // blocks >>>
         /* "threads" */ 3,
         0>>>  // now the arguments (
      (
          tally  // the array
              .get()
      );
  REQUIRE(tally.take() == 12);
  add<<<
#if defined(__CUDA_CPU__)
      1, 2
#else
      1, 2
#endif
      >>>(tally.get(),
#ifdef NOT_DEFINED_ANYWHERE
          1
#else
          3
#endif
  );
  REQUIRE(tally.take() == 6);
}

TEST_CASE("a launch may end, or begin, in each branch of an #if") {
  Tally tally;
  int value = 1;
  add<<<1, 2>>>(tally.get(),
#ifdef NOT_DEFINED_ANYWHERE
                value);
#elif 1
                value++);  // evaluated once
#else
                5);
#endif
  REQUIRE(value == 2);
  REQUIRE(tally.take() == 2);
#ifdef NOT_DEFINED_ANYWHERE
  add<<<1, 2>>>(
#else
  outer::inner::add_n<int, 3><<<1, 4>>>(
#endif
      tally.get());
  REQUIRE(tally.take() == 12);
}

TEST_CASE("arguments are evaluated once, at the launch") {
  Tally tally;
  int value = 1;
  add<<<1, 4>>>(tally.get(), value++);
  REQUIRE(value == 2);
  add<<<1, 4>>>(tally.get(), value);
  value = 100;  // the kernel has its own copy
  REQUIRE(tally.take() == 4 + 8);
}

// FEATURE: kernels: `__device__` lambdas and parameter packs as arguments
TEST_CASE("arguments may be literals, braces, lambdas, strings, structs, packs and bindings") {
  Tally tally;
  maybe<<<1, 2>>>(tally.get(), 0);
  maybe<<<1, 2>>>(tally.get(), NULL);
  maybe<<<1, 2>>>(tally.get(), nullptr);
  REQUIRE(tally.take() == 6);
  add_settings<<<1, 2>>>(tally.get(), {3, {}});
  add_settings<<<1, 2>>>(tally.get(), Settings{4, {1, 2}});
  REQUIRE(tally.take() == 14);
  add<<<1, 1>>>(tally.get(), static_cast<int>(std::string("a,b)>>>").size()));
  add<<<1, 1>>>(tally.get(), std::array<int, 2>{5, 6}[1]);
  add<<<1, 1>>>(tally.get(), ')' + 0);
  REQUIRE(tally.take() == 7 + 6 + ')');
  int offset = 3;
  apply<<<1, 2>>>([=] __device__(int* where) { atomicAdd(where, offset); }, tally.get());
  apply<<<1, 2>>>([offset] __device__(int* where) { if (offset < 0) return; atomicAdd(where, 1); }, tally.get());
  REQUIRE(tally.take() == 8);
  add_all<<<1, 2>>>(tally.get(), 1, 2, 3);
  add_all<<<1, 2>>>(tally.get());
  nothing<<<1, 2>>>();
  nothing<<<1, 2>>>( /* none */ );
  REQUIRE(tally.take() == 12);
  auto [first, second] = std::pair<int*, int>(tally.get(), 21);
  add<<<1, 2>>>(first, second);
  REQUIRE(tally.take() == 42);
}

// The macro holds the launch; there may be no arguments.
#define LAUNCH(kernel, ...) kernel<<<1, 2>>>(__VA_ARGS__)
#define LAUNCH_OVER_LINES(kernel, grid, ...) \
  do {                                       \
    kernel<<<grid, /* threads */ 2>>>        \
        (__VA_ARGS__);                       \
  } while (0)
#define ADD_TWO add<<<1, 1>>>(tally.get(), 2)
#define EXPAND(...) __VA_ARGS__

TEST_CASE("a launch may stand in a macro and among a macro's arguments") {
  Tally tally;
  LAUNCH(add, tally.get(), 1);
  LAUNCH(nothing);
  LAUNCH((outer::inner::add_n<int, 3>), tally.get());
  LAUNCH_OVER_LINES(add_one, 5, tally.get());
  LAUNCH_OVER_LINES(nothing, 5);
  ADD_TWO;
  EXPAND(add<<<1, 2>>>(tally.get(), 4), add<<<1, 2>>>(tally.get(), 4));
  EXPAND(
    add<<<1,
          1>>>(
        tally.get(), 1);
  )
  REQUIRE_NOTHROW(add<<<1, 2>>>(tally.get(), 5));
  REQUIRE((add<<<1, 2>>>(tally.get(), 6), cudaGetLastError()) == cudaSuccess);
  REQUIRE(tally.take() == 2 + 6 + 10 + 2 + 16 + 1 + 10 + 12);
}

namespace {

template <class Kernel, class... Arguments>
void run(Kernel kernel, dim3 grid, dim3 block, Arguments... arguments) {
  kernel<<<grid, block>>>(arguments...);
}

template <class T> struct Launcher {
  T* tally;
  int value;
  void go() { add<<<1, 2>>>(tally, value); }
  void go_template() { outer::inner::add_n<T, 2 * sizeof(T)><<<1, sizeof(T)>>>(this->tally); }
};

}  // namespace

TEST_CASE("a launch may stand in a template, a member function and a parameter pack") {
  Tally tally;
  run(add, 2, 2, tally.get(), 3);
  run(nothing, 1, 1);
  run(outer::inner::add_n<int, 5>, 1, 1, tally.get());
  Launcher<int> launcher{tally.get(), 4};
  launcher.go();
  launcher.go_template();
  REQUIRE(tally.take() == 12 + 5 + 8 + 32);
}

TEST_CASE("text that only looks like a launch is left alone") {
  const char* text = "add<<<1, 2>>>(x)";
  const std::string raw = R"cu(add<<<1, 2>>>("x)" )" '"' // )cu";
  const char quote = '"', escaped = '\'', *spliced = "add<<<1, \
2>>>(x)";
  const int big = 1'000'000, shifted = 1 << 3 >> 1;  // add<<<1, 2>>>(x)
  const bool less = (1 < 2 << 3);                    /* add<<<1, 2>>>(x) " ' */
  REQUIRE(std::strlen(text) == 16);
  REQUIRE(raw.size() == 29);
  REQUIRE((quote == '"' && escaped == '\'' && std::strlen(spliced) == 16));
  REQUIRE((big == 1000000 && shifted == 4 && less));
#if 0
  This isn't code: add<<<1, 2>>>(x " and 'nobody reads it.
  #if 1
  add<<<
  #endif
#endif
}

#line 1000 "tests/backend/launch_syntax.test.cu"
TEST_CASE("a line directive of the learner's own does no harm") { REQUIRE(true); }

// ---- __shared__ ----

struct alignas(8) Wide { float x, y; };

template <class T, int N>
__global__ void shared_arrays(int* out) {
  constexpr int kRow = N + 1;
  __shared__ T tile[N][kRow], line[N], scalar;
  __shared__ int a; __shared__ float b[2];
  __shared__ __align__(16) unsigned char bytes[20];
  alignas(16) __shared__ Wide wide[3];
  static __shared__ std::array<Pair<int, std::array<T, 2>>, 3> pairs;
  volatile __shared__ int
      watched[2],  // over
      other;       // lines
  float __shared__ late[3];
  __shared__ T *pointer, (*rows)[kRow];
  if (threadIdx.x == 0) {
    a = 1; b[1] = 2; scalar = 3; line[N - 1] = 4; tile[N - 1][N] = 5;
    bytes[19] = 6; wide[2].y = 7; watched[1] = 8; other = 9; late[2] = 10;
    pointer = &line[N - 1]; rows = tile;
    out[0] = static_cast<int>(a + b[1] + scalar + *pointer + rows[N - 1][N] + bytes[19] + wide[2].y + watched[1] +
                              other + late[2]);
    out[1] = sizeof(tile) == sizeof(T) * N * kRow && sizeof(bytes) == 20;
    out[2] = reinterpret_cast<std::uintptr_t>(bytes) % 16 == 0 && reinterpret_cast<std::uintptr_t>(wide) % 16 == 0;
    out[3] = static_cast<int>(pairs.size());
  }
}

// FEATURE: memory: shared memory of fixed size
TEST_CASE("shared arrays may be declared in every way") {
  const DeviceArray<int> out(4);
  shared_arrays<float, 4><<<1, 64>>>(out.get());
  REQUIRE(out.download() == std::vector<int>{55, 1, 1, 3});
  shared_arrays<double, 7><<<1, 1>>>(out.get());
  REQUIRE(out.download() == std::vector<int>{55, 1, 1, 3});
}

extern __shared__ int everywhere[];

template <class T> __global__ void dynamic_arrays(int* out) {
  extern __shared__ __align__(16) unsigned char raw[];
  extern __shared__ float2 pairs[];
  extern __shared__ int rows[][4];
  T* mine = reinterpret_cast<T*>(raw);
  mine[0] = 1;
  everywhere[2] = 2;
  out[0] = (static_cast<void*>(pairs) == raw) + everywhere[2] + (&rows[1][0] == everywhere + 4);
}

// FEATURE: memory: shared memory of dynamic size
TEST_CASE("dynamic shared memory has one address under all its names") {
  const DeviceArray<int> out(1);
  dynamic_arrays<double><<<1, 1, 64>>>(out.get());
  REQUIRE(out.download()[0] == 4);
}

#define ALIGNED_SHARED(T, name) extern __shared__ __align__(128) T name[]
alignas(32) extern __shared__ int everywhere_aligned[];

template <int kBytes> __global__ void aligned_arrays(unsigned* out) {
  extern __shared__ __attribute__((aligned(64))) float four[]; extern __shared__ float same[];
  ALIGNED_SHARED(int4, wide);
  extern __shared__ alignas(kBytes) unsigned char widest[];
  __shared__ bool flag;
  flag = static_cast<void*>(four) == same && static_cast<void*>(wide) == widest &&
         static_cast<void*>(everywhere_aligned) == wide;
  *out = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(wide) % kBytes) + !flag;
}

TEST_CASE("dynamic shared memory begins where a declaration wants it") {
  const DeviceArray<unsigned> past_a_multiple(1);
  for (unsigned bytes = 16; bytes < 600; bytes += 24) {
    aligned_arrays<256><<<1, 1, bytes>>>(past_a_multiple.get());
    REQUIRE(past_a_multiple.download()[0] == 0);
  }
}

__device__ inline int shared_in_a_device_function(int value) {
  __shared__ int slot[32];
  slot[threadIdx.x] = value;
  return slot[threadIdx.x] + 1;
}
#define SHARED_ARRAY(T, name, n) __shared__ T name[n]
#define SHARED_PAIR(name) __shared__ int name##_a[32]; __shared__ int name##_b[32];
__global__ void shared_elsewhere(int* out) {
  SHARED_ARRAY(int, mine, 32);
  SHARED_PAIR(two)
  mine[threadIdx.x] = shared_in_a_device_function(static_cast<int>(threadIdx.x));
  const unsigned i = threadIdx.x;
  { __shared__ int mine[32]; mine[i] = 1; two_a[i] = mine[i]; two_b[i] = 2; }
  const auto body = [&] { __shared__ int inner[32]; inner[i] = 3; return inner[i]; };
  out[i] = mine[i] + two_a[i] + two_b[i] + body();
}

TEST_CASE("shared arrays may stand in device functions, macros, blocks and lambdas") {
  const DeviceArray<int> out(32);
  shared_elsewhere<<<1, 32>>>(out.get());
  const std::vector<int> result = out.download();
  for (int i = 0; i < 32; ++i) REQUIRE(result[i] == i + 7);
}

#define SHARED __shared__
__global__ void shared_by_other_names(int* out) {
  SHARED int mine[32];
  NAME_OF_SHARED int theirs[2][32], one;
  extern SHARED int dynamic[];
  const unsigned i = threadIdx.x;
  mine[i] = 1, theirs[1][i] = 2, dynamic[i] = 4;
  if (i == 5) one = 8;
  __syncthreads();
  out[i] = mine[31 - i] + theirs[1][31 - i] + dynamic[31 - i] + one;
}

TEST_CASE("a macro may stand for __shared__, defined here or in a header") {
  const DeviceArray<int> out(32);
  shared_by_other_names<<<1, 32, 32 * sizeof(int)>>>(out.get());
  REQUIRE(out.download() == std::vector<int>(32, 15));
}

// ---- leaving a kernel ----

__device__ inline void compiler_fence() {
#if defined(__CUDA_CPU__)
  asm volatile("" ::: "memory");
#else
  asm volatile("membar.cta;" ::: "memory");
#endif
}
__device__ void helper(int* tally) { atomicAdd(tally, 1); }
__global__ void many_ways_out(int* tally) {
  struct Local { int twice(int x) const { if (x < 0) return 0; return 2 * x; } };
  const auto inner = [](int x) { if (x == 1) { return 1; } return Local().twice(x); };
  const int i = static_cast<int>(threadIdx.x);
  compiler_fence();
  if (i == 0) return;
  else if (i == 1) { atomicAdd(tally, inner(1)); return; }
  switch (i) { case 2: return; case 3: return helper(tally); default: break; }
  if (i == 4)
    return /* for good */ ;
  for (;;) { if (inner(i) > 8) return; atomicAdd(tally, 1); break; }
}

TEST_CASE("a kernel may return from anywhere") {
  Tally tally;
  many_ways_out<<<1, 5>>>(tally.get());
  REQUIRE(tally.take() == 2);
}

// ---- device variables ----

__constant__ float weights[3] = {1, 2, 3}, bias;
__device__ int counter; __device__ int *where_to, limits[2] = {3, 4};
static __device__ unsigned long long wide_counter = 5;
__device__ __managed__ int managed = 6;
__device__ float (*operation)(float) = nullptr;
__constant__ __align__(16) Settings settings{7, {}};
namespace outer { __device__ const volatile int nested = 8; }
__device__ Pair<int, Pair<int, int>>* typed = nullptr;
__device__ int declared_function(int x);
__device__ int declared_function(int x) { return x + 1; }
__constant__ int from_call = number<Pair<int, char>::value>(), beside = sum_of<int>(1, 2), behind(3);
__device__ auto lambda_value = [] __device__ (int x) { return x; };
#define DEVICE_INT(name, value) __device__ int name = value
DEVICE_INT(from_macro, 11);
template <class T> __device__ T template_variable = T(9);

// FEATURE: memory: `__constant__` memory
TEST_CASE("device variables are known to the runtime under their names") {
  float values[3] = {};
  REQUIRE(cudaMemcpyFromSymbol(values, weights, sizeof(values)) == cudaSuccess);
  REQUIRE((values[0] == 1 && values[2] == 3));
  const float three = 3;
  REQUIRE(cudaMemcpyToSymbol(bias, &three, sizeof(three)) == cudaSuccess);
  void* address = nullptr;
  REQUIRE(cudaGetSymbolAddress(&address, counter) == cudaSuccess);
  REQUIRE(address != nullptr);
  std::size_t size = 0;
  REQUIRE(cudaGetSymbolSize(&size, limits) == cudaSuccess);
  REQUIRE(size == 2 * sizeof(int));
  REQUIRE(cudaGetSymbolSize(&size, wide_counter) == cudaSuccess);
  REQUIRE(size == 8);
  REQUIRE(cudaGetSymbolSize(&size, settings) == cudaSuccess);
  REQUIRE(size == sizeof(Settings));
  REQUIRE(cudaGetSymbolSize(&size, operation) == cudaSuccess);
  REQUIRE(cudaGetSymbolSize(&size, outer::nested) == cudaSuccess);
  REQUIRE(cudaGetSymbolSize(&size, typed) == cudaSuccess);
  REQUIRE(cudaGetSymbolSize(&size, where_to) == cudaSuccess);
  REQUIRE(cudaGetSymbolSize(&size, from_macro) == cudaSuccess);
  REQUIRE(size == sizeof(int));
  REQUIRE(cudaGetSymbolSize(&size, beside) == cudaSuccess);
  REQUIRE(cudaGetSymbolSize(&size, behind) == cudaSuccess);
  REQUIRE(managed == 6);
}
