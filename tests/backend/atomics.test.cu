// SPDX-License-Identifier: MIT
// Every atomic function in each of its types: many threads, few addresses, results known in closed
// form.
#include <algorithm>
#include <vector>

#include "../catch.hpp"
#include "../kernel_testing.cuh"

namespace {

constexpr unsigned kBlocks = 7;

// The value of the grid's thread `i`: all distinct, in no order.
__host__ __device__ unsigned value_of(unsigned i) { return i * 2654435761u; }

__device__ unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// atomicAdd of ones: each thread gets a ticket, none twice.
template <class T>
__global__ void take_tickets(T* counter, int* taken) {
  const T ticket = atomicAdd(counter, T(1));
  atomicAdd(&taken[static_cast<int>(ticket)], 1);
}

template <class T>
void check_tickets(unsigned threads) {
  const unsigned n = kBlocks * threads;
  DeviceArray<T> counter(std::vector<T>{0});
  DeviceArray<int> taken(std::vector<int>(n, 0));
  take_tickets<<<kBlocks, threads>>>(counter.get(), taken.get());
  REQUIRE(counter.download()[0] == T(n));
  const std::vector<int> times = taken.download();
  REQUIRE(std::count(times.begin(), times.end(), 1) == static_cast<std::ptrdiff_t>(n));
}

}  // namespace

// FEATURE: atomics and order: `atomicAdd` of integers, `float` and `double`
TEST_CASE("atomicAdd loses nothing and returns every old value once, in every type") {
  for (const unsigned threads : awkward_blocks()) {
    CAPTURE(threads);
    check_tickets<int>(threads);
    check_tickets<unsigned>(threads);
    check_tickets<unsigned long long>(threads);
    check_tickets<float>(threads);  // exact: below 2^24
    check_tickets<double>(threads);
  }
}

namespace {

// One array element per function; the scopes that _block and _system name are subsets and
// supersets.
template <class T>
__global__ void integer_functions(T* out) {
  const T v = static_cast<T>(value_of(thread_number()));
  atomicMin(&out[0], v);
  atomicMax(&out[1], v);
  atomicAnd(&out[2], static_cast<T>(~(T(1) << (thread_number() % 31))));
  atomicOr(&out[3], static_cast<T>(T(1) << (thread_number() % 31)));
  atomicXor(&out[4], v);
  atomicMin_system(&out[5], v);
  atomicMax_system(&out[6], v);
  atomicXor_system(&out[7], v);
}

template <class T>
void check_integer_functions(unsigned threads) {
  const unsigned n = kBlocks * threads;
  std::vector<T> expected(8, 0);
  expected[0] = expected[5] = static_cast<T>(value_of(0));
  expected[1] = expected[6] = static_cast<T>(value_of(0));
  expected[2] = static_cast<T>(~T(0));
  DeviceArray<T> out(expected);
  for (unsigned i = 0; i < n; ++i) {
    const T v = static_cast<T>(value_of(i));
    expected[0] = expected[5] = std::min(expected[0], v);
    expected[1] = expected[6] = std::max(expected[1], v);
    expected[2] = static_cast<T>(expected[2] & ~(T(1) << (i % 31)));
    expected[3] = static_cast<T>(expected[3] | (T(1) << (i % 31)));
    expected[4] = expected[7] = static_cast<T>(expected[4] ^ v);
  }
  integer_functions<<<kBlocks, threads>>>(out.get());
  REQUIRE(out.download() == expected);
}

__global__ void signed_wide_min_max(long long* out) {
  const long long v = static_cast<long long>(thread_number()) * -3'000'000'000ll + 5;
  atomicMin(&out[0], v);
  atomicMax(&out[1], v);
}

}  // namespace

// FEATURE: atomics and order: `atomicMin`, `atomicMax`, `atomicAnd`, `atomicOr`, `atomicXor`
TEST_CASE("atomicMin, Max, And, Or and Xor agree with a loop on the host") {
  for (const unsigned threads : awkward_blocks()) {
    CAPTURE(threads);
    check_integer_functions<int>(threads);
    check_integer_functions<unsigned>(threads);
    check_integer_functions<unsigned long long>(threads);

    DeviceArray<long long> out(std::vector<long long>{0, -9'000'000'000'000'000ll});
    signed_wide_min_max<<<kBlocks, threads>>>(out.get());
    const long long last = kBlocks * threads - 1;
    REQUIRE(out.download()[0] == std::min(0ll, last * -3'000'000'000ll + 5));
    REQUIRE(out.download()[1] == 5);
  }
}

namespace {

template <class T>
__global__ void subtract(T* out) {
  atomicSub(&out[0], T(3));
  atomicSub_block(&out[1 + blockIdx.x], T(2));
}

template <class T>
void check_subtract(unsigned threads) {
  DeviceArray<T> out(std::vector<T>(1 + kBlocks, T(10)));
  subtract<<<kBlocks, threads>>>(out.get());
  const std::vector<T> result = out.download();
  REQUIRE(result[0] == static_cast<T>(10 - 3 * static_cast<int>(kBlocks * threads)));
  for (unsigned block = 0; block < kBlocks; ++block) {
    REQUIRE(result[1 + block] == static_cast<T>(10 - 2 * static_cast<int>(threads)));
  }
}

}  // namespace

TEST_CASE("atomicSub counts down, through zero as well") {
  for (const unsigned threads : awkward_blocks()) {
    check_subtract<int>(threads);
    check_subtract<unsigned>(threads);
  }
}

namespace {

__global__ void wrap(unsigned* up, unsigned* down, unsigned limit, unsigned* zeros) {
  if (atomicInc(up, limit) == 0) atomicAdd(&zeros[0], 1);
  if (atomicDec(down, limit) == 0) atomicAdd(&zeros[1], 1);
}

__global__ void wrap_from_beyond(unsigned* out) {
  out[2] = atomicInc(&out[0], 4);
  out[3] = atomicDec(&out[1], 4);
}

}  // namespace

// FEATURE: atomics and order: `atomicInc`, `atomicDec`
TEST_CASE("atomicInc and atomicDec wrap around, and a counter beyond the limit comes back") {
  for (const unsigned threads : awkward_blocks()) {
    const unsigned n = kBlocks * threads;
    for (const unsigned limit : {0u, 1u, 6u, n - 1, n}) {
      DeviceArray<unsigned> counters(std::vector<unsigned>{0, 0, 0, 0});
      unsigned* const c = counters.get();
      wrap<<<kBlocks, threads>>>(c, c + 1, limit, c + 2);
      const std::vector<unsigned> result = counters.download();
      CAPTURE(threads, limit);
      const unsigned period = limit + 1;
      REQUIRE(result[0] == n % period);
      REQUIRE(result[1] == (period - n % period) % period);
      REQUIRE(result[2] == (n + period - 1) / period);
      REQUIRE(result[3] == (n + period - 1) / period);
    }
  }
  DeviceArray<unsigned> out(std::vector<unsigned>{9, 9, 0, 0});
  wrap_from_beyond<<<1, 1>>>(out.get());
  REQUIRE(out.download() == std::vector<unsigned>{0, 4, 9, 9});
}

namespace {

// Every thread puts its number in and takes another's out: at the end all numbers but one are
// accounted for.
template <class T>
__global__ void pass_on(T* slot, T* received) {
  const unsigned i = thread_number();
  received[i] = atomicExch(slot, static_cast<T>(i + 1));
}

template <class T>
void check_exchange(unsigned threads) {
  const unsigned n = kBlocks * threads;
  DeviceArray<T> slot(std::vector<T>{0});
  DeviceArray<T> received(std::vector<T>(n, 0));
  pass_on<<<kBlocks, threads>>>(slot.get(), received.get());
  std::vector<T> all = received.download();
  all.push_back(slot.download()[0]);
  std::sort(all.begin(), all.end());
  unsigned wrong = 0;
  for (unsigned i = 0; i <= n; ++i) wrong += all[i] != static_cast<T>(i);
  REQUIRE(wrong == 0);
}

}  // namespace

// FEATURE: atomics and order: `atomicExch`
TEST_CASE("atomicExch hands every value on exactly once") {
  for (const unsigned threads : awkward_blocks()) {
    CAPTURE(threads);
    check_exchange<int>(threads);
    check_exchange<unsigned>(threads);
    check_exchange<unsigned long long>(threads);
    check_exchange<float>(threads);
  }
}

namespace {

// Builds an atomic that CUDA lacks from atomicCAS: here a product modulo a prime.
template <class T>
__global__ void multiply(T* product) {
  T seen = __ldcg(product);
  T assumed;
  do {
    assumed = seen;
    seen = atomicCAS(product, assumed, static_cast<T>(assumed * 3 % 32749));
  } while (seen != assumed);
}

template <class T>
void check_multiply(unsigned threads) {
  T expected = 1;
  for (unsigned i = 0; i < kBlocks * threads; ++i) expected = static_cast<T>(expected * 3 % 32749);
  DeviceArray<T> product(std::vector<T>{1, 77});
  multiply<<<kBlocks, threads>>>(product.get());
  REQUIRE(product.download()[0] == expected);
  REQUIRE(product.download()[1] == 77);
}

}  // namespace

// FEATURE: atomics and order: `atomicCAS`
TEST_CASE("atomicCAS builds an atomic that CUDA lacks, in every type") {
  for (const unsigned threads : awkward_blocks()) {
    CAPTURE(threads);
    check_multiply<int>(threads);
    check_multiply<unsigned>(threads);
    check_multiply<unsigned long long>(threads);
    check_multiply<unsigned short>(threads);
  }
}

namespace {

// A lock that each thread spins on: threads of one block must not starve its owner.
__global__ void count_under_lock(int* lock, volatile int* count, bool by_exchange) {
  if (by_exchange) {
    while (atomicExch(lock, 1) != 0) {
    }
  } else {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
  }
  __threadfence();
  const int seen = *count;
  __nanosleep(20);  // lets everybody else run
  *count = seen + 1;
  __threadfence();
  atomicExch(lock, 0);
}

// Block 0 waits for a flag that the last block raises, polling in one of three ways.
__global__ void wait_for_flag(int* flag, int how, int* out) {
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1) {
    __threadfence();
    atomicAdd(flag, 1);
  }
  if (blockIdx.x == 0) {
    if (how == 0) {
      while (atomicAdd(flag, 0) == 0) {
      }
    } else if (how == 1) {
      while (atomicOr(flag, 0) == 0) __nanosleep(100);
    } else {
      while (atomicMax(flag, 0) == 0) __threadfence();
    }
    atomicAdd(out, 1);
  }
}

}  // namespace

TEST_CASE("threads that spin on a lock let its owner go on") {
  for (const bool by_exchange : {false, true}) {
    for (const unsigned threads : {1u, 31u, 96u, 256u}) {
      DeviceArray<int> ints(std::vector<int>{0, 0});
      count_under_lock<<<3, threads>>>(ints.get(), ints.get() + 1, by_exchange);
      CAPTURE(threads, by_exchange);
      REQUIRE(ints.download()[1] == static_cast<int>(3 * threads));
    }
  }
}

// FEATURE: atomics and order: `__threadfence`, and a flag that another block polls
TEST_CASE("a block that polls a flag does not keep the block that raises it from running") {
  for (const int how : {0, 1, 2}) {
    for (const unsigned blocks : {1u, 2u, 9u}) {
      DeviceArray<int> ints(std::vector<int>{0, 0});
      wait_for_flag<<<blocks, 33>>>(ints.get(), how, ints.get() + 1);
      CAPTURE(how, blocks);
      REQUIRE(ints.download()[1] == 33);
    }
  }
}

namespace {

__global__ void iterate(int iterations) {
  volatile int left = iterations;
  while (left != 0) {
    left = left - 1;
  }
}

// How often the other thread came while one went round a loop.
__global__ void count_turns_of_others(int iterations, int* counter, int* others) {
  const int first = atomicAdd(counter, 1);
  volatile int left = iterations;
  while (left != 0) {
    left = left - 1;
  }
  others[threadIdx.x] = atomicAdd(counter, 1) - first - 1;
}

}  // namespace

// A test of chapter 11 gave its turn away in the middle, since kernels before had used up the rest.
TEST_CASE("a loop's iterations until others have their turn begin anew with each kernel") {
  for (int before = 0; before < 20000; before += 1000) {
    CAPTURE(before);
    iterate<<<1, 1>>>(before);
    DeviceArray<int> ints(std::vector<int>(3, 0));
    count_turns_of_others<<<1, 2>>>(2000, ints.get(), ints.get() + 1);
    const std::vector<int> counts = ints.download();
    REQUIRE(counts[1] == 0);
    REQUIRE(counts[2] == 0);
  }
}

namespace {

__global__ void old_values(int* i, unsigned* u, unsigned long long* w, float* f, double* d,
                           int* wrong) {
  int mistakes = 0;
  mistakes += atomicAdd(i, -5) != 10 || atomicSub(i, 5) != 5 || atomicExch(i, 7) != 0;
  mistakes += atomicMin(i, 9) != 7 || atomicMax(i, 9) != 7 || atomicAnd(i, 8) != 9;
  mistakes += atomicOr(i, 3) != 8 || atomicXor(i, 1) != 11 || atomicCAS(i, 10, 1) != 10;
  mistakes += atomicCAS(i, 10, 2) != 1 || *i != 1;
  mistakes += atomicAdd(u, 0xffffffffu) != 1 || atomicInc(u, 9) != 0 || atomicDec(u, 9) != 1;
  mistakes += atomicAdd(w, 1ull << 40) != 5 || *w != (1ull << 40) + 5;
  mistakes += atomicAdd(f, 0.5f) != 1.5f || atomicExch(f, 9.0f) != 2.0f || *f != 9.0f;
  mistakes += atomicAdd(d, 0.25) != 0.5 || *d != 0.75;
  mistakes +=
      atomicAdd_system(i, 1) != 1 || atomicCAS_block(i, 2, 3) != 2 || atomicExch_block(i, 4) != 3;
  *wrong = mistakes;
}

}  // namespace

// FEATURE: atomics and order: atomics with a scope: `atomicAdd_block`, `atomicAdd_system`
TEST_CASE("an atomic returns the old value") {
  DeviceArray<int> i(std::vector<int>{10}), wrong(std::vector<int>{-1});
  DeviceArray<unsigned> u(std::vector<unsigned>{1});
  DeviceArray<unsigned long long> w(std::vector<unsigned long long>{5});
  DeviceArray<float> f(std::vector<float>{1.5f});
  DeviceArray<double> d(std::vector<double>{0.5});
  old_values<<<1, 1>>>(i.get(), u.get(), w.get(), f.get(), d.get(), wrong.get());
  REQUIRE(wrong.download()[0] == 0);
}

// The toolkit's overloads and no others: with more, programs would compile here that nvcc rejects.
template <class T, class = void>
struct HasAtomicAdd : std::false_type {};
template <class T>
struct HasAtomicAdd<T, decltype(void(atomicAdd(static_cast<T*>(nullptr), T())))> : std::true_type {
};
static_assert(HasAtomicAdd<int>::value && HasAtomicAdd<double>::value, "");
static_assert(!HasAtomicAdd<long>::value && !HasAtomicAdd<long long>::value, "");
static_assert(!HasAtomicAdd<short>::value && !HasAtomicAdd<char>::value, "");
