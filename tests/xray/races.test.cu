// SPDX-License-Identifier: MIT
// Each kind of race in each kind of memory is found, with both lines; its right twin is not
// reported.
#include <cuda_runtime.h>

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "../../common/cpu/engine/state/grid.h"
#include "../../common/cpu/engine/state/observer.h"
#include "../backend/handles.cuh"
#include "../kernel_testing.cuh"
#include "races/detector.h"
#include "races/findings.h"
#include "races/readers.h"
#include "races/repetitions.h"
#include "report/diagnostics.h"

namespace {

using races::Fault;
using races::Finding;

constexpr unsigned kBlock = 96;  // three warps
constexpr int kWords = 4 * kBlock;

enum class Memory { kShared, kGlobal, kMapped };
constexpr bool kRight = true, kWrong = false;  // which of two twins

/// What `launch` and all that it started are found guilty of. Its own last_report_text and its
/// status are forgotten.
template <class Launch>
std::vector<Finding> findings_of(Launch launch) {
  races::take_findings();
  std::vector<Finding> found;
  std::string printed;
  {
    const KeptOutput errors(STDERR_FILENO);
    races::look_for_races(true);
    launch();
    CUDA_CHECK(cudaDeviceSynchronize());
    races::look_for_races(false);
    found = races::take_findings();
    printed = errors.text();
  }
  for (const Finding& f : found) {
    const std::size_t at = printed.find(f.text);
    CHECK((at != std::string::npos || printed.empty()));  // what is found is printed
    if (at != std::string::npos) printed.erase(at, f.text.size());
  }
  std::fputs(printed.c_str(), stderr);  // what nobody expects
  cuda_cpu::reset_diagnostics();
  return found;
}

/// Runs the body for every thread, on words in shared memory that begin as zeros.
template <void (*kBody)(int*, bool)>
__global__ void on_shared(bool right) {
  __shared__ int words[kWords];
  for (unsigned i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = 0;
  __syncthreads();
  kBody(words, right);
}

template <void (*kBody)(int*, bool)>
__global__ void on_given(int* words, bool right) {
  kBody(words, right);
}

/// The findings of the body, right or wrong.
template <void (*kBody)(int*, bool)>
std::vector<Finding> in(Memory memory, bool right, unsigned blocks = 1) {
  int* words = nullptr;
  if (memory == Memory::kGlobal) {
    CUDA_CHECK(cudaMalloc(&words, kWords * sizeof(int)));
    CUDA_CHECK(cudaMemset(words, 0, kWords * sizeof(int)));
  } else if (memory == Memory::kMapped) {
    CUDA_CHECK(cudaHostAlloc(&words, kWords * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < kWords; ++i) words[i] = 0;
  }
  const std::vector<Finding> found = findings_of([&] {
    if (memory == Memory::kShared) {
      on_shared<kBody><<<blocks, kBlock>>>(right);
    } else {
      on_given<kBody><<<blocks, kBlock>>>(words, right);
    }
  });
  if (memory == Memory::kGlobal) CUDA_CHECK(cudaFree(words));
  if (memory == Memory::kMapped) CUDA_CHECK(cudaFreeHost(words));
  return found;
}

/// Whichever of the two came first.
bool has(const std::vector<Finding>& findings, Fault fault, int one, int other) {
  for (const Finding& f : findings) {
    if (f.fault != fault) continue;
    if (f.earlier.line == one && f.later.line == other) return true;
    if (f.earlier.line == other && f.later.line == one) return true;
  }
  return false;
}

std::string all_texts(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings) text += f.text + "\n";
  return text;
}

/// There are some just where something is wrong.
void check_found_if(bool wrong, const std::vector<Finding>& findings) {
  INFO(all_texts(findings));
  CHECK(findings.empty() != wrong);
}

// ---- within a block -----------------------------------------------------------------------------
// Comments mark the lines of the two accesses that race in a wrong body.

__device__ void read_after_write(int* words, bool right) {
  const unsigned t = threadIdx.x;
  words[t] = static_cast<int>(t);  // earlier: read after write
  if (right) __syncthreads();
  words[kBlock + t] = words[(t + 40) % kBlock];  // later: read after write
}

__device__ void write_after_read(int* words, bool right) {
  const unsigned t = threadIdx.x;
  const int other = words[(t + 40) % kBlock];  // earlier: write after read
  if (right) __syncthreads();
  words[t] = other + 1;  // later: write after read
}

__device__ void two_writes(int* words, bool right) {
  words[threadIdx.x % (right ? kBlock : 32)] = 1;  // both: two writes
}

template <class T>
__device__ void lanes_store(int* words, bool right) {
  T* const elements = reinterpret_cast<T*>(words);
  T value{};
  reinterpret_cast<char*>(&value)[sizeof(T) - 1] = right ? 5 : threadIdx.x / 16 % 2;
  elements[threadIdx.x / 32] = value;  // both: lanes store
  __syncwarp();
  // What the word becomes later is no matter.
  if (threadIdx.x % 32 == 3) elements[threadIdx.x / 32] = T{};
}

__device__ void sum(int* words, bool right) {
  if (right) {
    atomicAdd(&words[0], 1);
  } else {
    words[0] += 1;  // both: sum
  }
}

__device__ void largest(int* words, bool right) {
  const int x = static_cast<int>(threadIdx.x);
  if (right) {
    atomicMax(&words[0], x);
  } else if (x > words[0]) {  // earlier: largest
    words[0] = x;             // later: largest
  }
}

__device__ void atomic_and_plain(int* words, bool right) {
  atomicAdd(&words[0], 1);  // earlier: atomic and plain
  if (right) __syncthreads();
  if (threadIdx.x == 0) words[1] = words[0];  // later: atomic and plain
}

#ifdef __USE_FORTIFY_LEVEL
static_assert(__USE_FORTIFY_LEVEL == 0, "fortified, they call other functions, which tell nothing");
#endif

// One thread copies by a function, another uses words that this reads or writes.
template <void (*kCopy)(int*)>
__device__ void copy_and_use(int* words, bool right) {
  if (threadIdx.x == 64) kCopy(words);
  if (right) __syncthreads();
  if (threadIdx.x == 0) words[10] = words[5];  // later: copy and use
}

// Of what the compiler knows and does not know the length.
__device__ void memcpy_of_40(int* words) {
  const int mine[10] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
  memcpy(words, mine, sizeof mine);  // earlier: memcpy
}

__device__ void memmove_of_some(int* words) {
  memmove(words + 20, words + 9, blockDim.x / 3);  // earlier: memmove
}

__device__ void memset_of_some(int* words) {
  memset(words, 7, blockDim.x / 3);  // earlier: memset
}

// The compiler's own names, of which it would make a load and a store.
__device__ void builtin_memcpy(int* words) {
  const int mine = 7;
  __builtin_memcpy(words + 5, &mine, 4);  // earlier: builtin_memcpy
}

__host__ __device__ inline void move_two(int* to, const int* from) {
  __builtin_memmove(to, from, 8);  // earlier: builtin_memmove
}
__device__ void builtin_memmove(int* words) { move_two(words + 20, words + 9); }

#define CLEAR(to) __builtin_memset(to, 0, sizeof(*(to)))
__device__ void builtin_memset(int* words) {
  CLEAR(words + 5);  // earlier: builtin_memset
}

__device__ void std_memcpy(int* words) {
  const int mine = 7;
  std::memcpy(words + 5, &mine, 4);  // earlier: std_memcpy
}

// They may stand in a constexpr function.
__host__ __device__ constexpr int copy_of(int x) {
  int copy = 0;
  __builtin_memcpy(&copy, &x, sizeof(x));
  return copy;
}

// One warp hands a value to another: thread 64 makes it, and thread 0 waits for it.
// With a fence on both sides, or all but one.
template <int kMissing>
__device__ void flag(int* words, bool right) {
  if (threadIdx.x == 64) {
    int* const data = words + 1;
    *data = 7;  // earlier: flag
    if (right || kMissing != 1) __threadfence();
    atomicExch(&words[0], 1);
  } else if (threadIdx.x == 0) {
    while (atomicAdd(&words[0], 0) == 0) {
    }
    if (right || kMissing != 2) __threadfence();
    words[2] = words[1];  // later: flag
  }
}

__device__ void volatile_flag(int* words, bool right) {
  volatile int* const flag = words;
  if (threadIdx.x == 0) {
    words[1] = 7;  // earlier: volatile flag
    if (right) __threadfence_block();
    *flag = 1;
  } else if (threadIdx.x == 64) {
    while (*flag == 0) __nanosleep(1);
    if (right) __threadfence_block();
    words[2] = words[1];  // later: volatile flag
  }
}

__device__ void ref(int* words, bool right) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(words[0]);
  const auto order = right ? cuda::std::memory_order_release : cuda::std::memory_order_relaxed;
  if (threadIdx.x == 0) {
    words[1] = 7;  // earlier: ref
    flag.store(1, order);
  } else if (threadIdx.x == 64) {
    while (flag.load(right ? cuda::std::memory_order_acquire : cuda::std::memory_order_relaxed) ==
           0) {
    }
    words[2] = words[1];  // later: ref
  }
}

__device__ void lanes(int* words, bool right) {
  const unsigned t = threadIdx.x;
  words[t] = static_cast<int>(t);  // earlier: lanes
  if (right) {
    __syncwarp();
  } else {
    __shfl_sync(~0u, t, 0);  // waits, and orders nothing
  }
  words[kBlock + t] = words[t ^ 1];  // later: lanes
}

// The way of writing the last levels of a tree before Volta.
__device__ void volatile_lanes(int* words, bool right) {
  volatile int* const v = words;
  const unsigned t = threadIdx.x;
  for (unsigned d = 16; t < 32 && d > 0; d /= 2) {
    if (!right) {
      v[t] = v[t] + v[t + d];  // both: volatile lanes
    } else {
      const int sum = v[t] + v[t + d];
      __syncwarp();
      v[t] = sum;
      __syncwarp();
    }
  }
}

// A lock around a sum: fences between the atomics and what they guard.
__device__ void lock(int* words, bool right) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(&words[0], 0, 1) != 0) __nanosleep(1);
  if (right) __threadfence();
  words[1] += 1;  // both: lock
  if (right) __threadfence();
  atomicExch(&words[0], 0);
}

// The way of the programming guide to make an atomic of one's own: a plain read, whose value the
// swap then checks. A read that nobody checks is a race.
__device__ void swap(int* words, bool right) {
  int seen = words[0];  // earlier: swap
  if (!right) {
    words[1 + threadIdx.x] = seen;
    atomicAdd(&words[0], 1);  // later: swap
    return;
  }
  for (int before = seen - 1; before != seen;) {
    before = seen;
    seen = atomicCAS(&words[0], before, before + 1);
  }
}

__device__ void two_bytes_of_a_word(int* words, bool) {
  reinterpret_cast<unsigned char*>(words)[threadIdx.x] = 1;
}

/// The line that a comment marks so, or with "both".
int marked(const std::string& as, const std::string& name) {
  std::ifstream file("tests/xray/races.test.cu");
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    if (ends_with(text, "// " + as + ": " + name) || ends_with(text, "// both: " + name)) {
      return number;
    }
  }
  FAIL("no line is marked " << as << ": " << name);
  return 0;
}

/// Lines are marked by the name; the later one by another, if it has one.
template <void (*kBody)(int*, bool)>
void wrong_is_found_and_right_is_not(const char* name, Fault fault,
                                     std::initializer_list<Memory> memories, unsigned blocks = 1,
                                     const char* later = nullptr) {
  const int earlier_line = marked("earlier", name);
  const int later_line = marked("later", later == nullptr ? name : later);
  for (const Memory memory : memories) {
    const std::vector<Finding> wrong = in<kBody>(memory, kWrong, blocks);
    INFO("memory " << static_cast<int>(memory) << "\n" << all_texts(wrong));
    CHECK(has(wrong, fault, earlier_line, later_line));
    INFO("the right twin");
    check_found_if(false, in<kBody>(memory, kRight, blocks));
  }
}

// Threads [first, first + count) read a word of their block; then one of them writes it.
__global__ void all_read_one_writes(int* words, unsigned writer, unsigned first, unsigned count,
                                    bool right) {
  int* const word = words + blockIdx.x;
  int sum = 0;
  if (threadIdx.x - first < count) sum = *word;
  __ballot_sync(~0u, true);  // a warp has read before it writes; a vote orders nothing
  if (right) __syncthreads();
  if (threadIdx.x == writer) *word = sum + 1;
}

__device__ int sum_of(int x) { return x; }
__device__ int sum_of(int2 x) { return x.x + x.y; }
__device__ int sum_of(int4 x) { return x.x + x.y + x.z + x.w; }

// Each thread writes or reads an element; then the last one writes a word of the first warp's.
template <class T>
__global__ void all_use_one_follows(T* elements, bool writes, unsigned word, bool right, int* words,
                                    int* out) {
  if (writes && threadIdx.x < 64) elements[threadIdx.x] = T{};
  if (!writes && threadIdx.x < 64) out[threadIdx.x] = sum_of(elements[threadIdx.x]);
  if (right) __syncthreads();
  if (threadIdx.x == kBlock - 1) words[word] = 1;
}

constexpr std::initializer_list<Memory> kEverywhere = {Memory::kShared, Memory::kGlobal,
                                                       Memory::kMapped};
constexpr std::initializer_list<Memory> kOutside = {Memory::kGlobal, Memory::kMapped};

template <void (*kCopy)(int*)>
void copy_is_found(const char* name) {
  wrong_is_found_and_right_is_not<copy_and_use<kCopy>>(name, Fault::kSameBlock, kEverywhere, 1,
                                                       "copy and use");
}

}  // namespace

TEST_CASE("a missing barrier is found, whichever side comes first") {
  wrong_is_found_and_right_is_not<read_after_write>("read after write", Fault::kSameBlock,
                                                    kEverywhere);
  wrong_is_found_and_right_is_not<write_after_read>("write after read", Fault::kSameBlock,
                                                    kEverywhere);
}

TEST_CASE("whichever of many readers writes, a reader that nothing orders before it is found") {
  const DeviceArray<int> words(std::vector<int>(kWords, 0));
  for (const unsigned writer : {0u, 1u, 2u, 31u, 32u, 33u, 64u, 95u}) {
    for (const bool right : {false, true}) {
      INFO("thread " << writer << " writes");
      check_found_if(!right, findings_of([&] {
        all_read_one_writes<<<2, kBlock>>>(words.get(), writer, 0, kBlock, right);
      }));
    }
    // The same within a warp: the others come past no __syncwarp with the writer.
    const unsigned warp = writer / 32 * 32;
    INFO("thread " << writer << " writes");
    check_found_if(true, findings_of([&] {
                     all_read_one_writes<<<2, kBlock>>>(words.get(), writer, warp, 32, false);
                   }));
  }
}

TEST_CASE("two threads that write one word are found") {
  wrong_is_found_and_right_is_not<two_writes>("two writes", Fault::kSameBlock, kEverywhere);
}

TEST_CASE("lanes of a warp may store the same value by one instruction, and no other") {
  wrong_is_found_and_right_is_not<lanes_store<int>>("lanes store", Fault::kSameWarp, kEverywhere);
  wrong_is_found_and_right_is_not<lanes_store<int4>>("lanes store", Fault::kSameWarp, kEverywhere);
  wrong_is_found_and_right_is_not<lanes_store<short>>("lanes store", Fault::kSameWarp, kEverywhere);
}

TEST_CASE("a sum and a maximum that all threads update are found") {
  wrong_is_found_and_right_is_not<sum>("sum", Fault::kSameBlock, kEverywhere);
  wrong_is_found_and_right_is_not<largest>("largest", Fault::kSameBlock, kEverywhere);
}

TEST_CASE("a plain read beside atomics is found") {
  wrong_is_found_and_right_is_not<atomic_and_plain>("atomic and plain", Fault::kSameBlock,
                                                    kEverywhere);
}

TEST_CASE("of words that a warp wrote or read side by side each is remembered") {
  constexpr unsigned kUsed = 256;  // words, by 64 threads of up to four
  const DeviceArray<int> all(2 * 64 * 3 * 2 * kUsed), out(2 * 64 * 3 * 2 * 64);
  unsigned launches = 0;
  // Words of its own for each launch: where a race was, each has a cell from then on.
  const auto looks = [&](auto element, bool writes, unsigned word, bool right) {
    int* const words = all.get() + kUsed * launches;
    int* const sums = out.get() + 64 * launches++;
    auto* const elements = reinterpret_cast<decltype(element)*>(words);
    return findings_of(
        [&] { all_use_one_follows<<<1, kBlock>>>(elements, writes, word, right, words, sums); });
  };
  const auto check = [&](auto element, bool writes, unsigned word) {
    const auto wrong = looks(element, writes, word, false);
    const unsigned owner = word * 4 / sizeof element;
    INFO("elements of " << sizeof element << " bytes, word " << word << "\n" << all_texts(wrong));
    REQUIRE(!wrong.empty());
    CHECK(wrong[0].text.find(text("thread (", owner, ",0,0)")) != std::string::npos);
    CHECK(looks(element, writes, word, true).empty());
  };
  for (const bool writes : {true, false}) {
    for (unsigned word = 0; word < 64; ++word) {
      check(int{}, writes, word);
      check(int2{}, writes, word);
      check(int4{}, writes, word);
    }
  }
}

TEST_CASE("what memcpy, memmove and memset do in device code is found") {
  copy_is_found<memcpy_of_40>("memcpy");
  copy_is_found<memmove_of_some>("memmove");
  copy_is_found<memset_of_some>("memset");
  copy_is_found<builtin_memcpy>("builtin_memcpy");
  copy_is_found<builtin_memmove>("builtin_memmove");
  copy_is_found<builtin_memset>("builtin_memset");
  copy_is_found<std_memcpy>("std_memcpy");
  CHECK(copy_of(5) == 5);
}

namespace {

struct Pair {
  int first, second;
};
__device__ __attribute__((noinline)) int sum_of(Pair pair) { return pair.first + pair.second; }

/// A pair of another warp is passed by value, as it lies in memory or with a name of its own.
template <bool kNamed>
__device__ void pass_by_value(int* words, bool) {
  words[threadIdx.x] = 1;
  const Pair* const other = reinterpret_cast<const Pair*>(words) + (threadIdx.x + 40) % kBlock / 2;
  if (kNamed) {
    const Pair mine = *other;
    words[kBlock + threadIdx.x] = sum_of(mine);
  } else {
    words[kBlock + threadIdx.x] = sum_of(*other);
  }
}

}  // namespace

// A limit, which common/cpu/README.md names.
TEST_CASE("what a call itself reads, to pass an object by value, clang tells and g++ does not") {
  for (const Memory memory : kEverywhere) {
    CHECK_FALSE(in<pass_by_value<true>>(memory, kWrong).empty());
#if defined(__clang__)
    CHECK_FALSE(in<pass_by_value<false>>(memory, kWrong).empty());
#else
    CHECK(in<pass_by_value<false>>(memory, kWrong).empty());
#endif
  }
}

TEST_CASE("a flag needs a fence on both sides") {
  wrong_is_found_and_right_is_not<flag<1>>("flag", Fault::kSameBlock, kEverywhere);
  wrong_is_found_and_right_is_not<flag<2>>("flag", Fault::kSameBlock, kEverywhere);
  wrong_is_found_and_right_is_not<volatile_flag>("volatile flag", Fault::kSameBlock, kOutside);
  CHECK(in<volatile_flag>(Memory::kShared, kRight).empty());
  CHECK_FALSE(in<volatile_flag>(Memory::kShared, kWrong).empty());
}

TEST_CASE("an atomic of cuda::atomic_ref orders what its memory order says") {
  wrong_is_found_and_right_is_not<ref>("ref", Fault::kSameBlock, kEverywhere);
}

TEST_CASE("lanes of a warp need __syncwarp, volatile or not") {
  wrong_is_found_and_right_is_not<lanes>("lanes", Fault::kSameWarp, kEverywhere);
  wrong_is_found_and_right_is_not<volatile_lanes>("volatile lanes", Fault::kSameWarp,
                                                  {Memory::kShared});
}

TEST_CASE("a lock needs fences around what it guards") {
  wrong_is_found_and_right_is_not<lock>("lock", Fault::kSameBlock, kEverywhere);
}

TEST_CASE("a plain read that a compare-and-swap checks is no race, another one is") {
  wrong_is_found_and_right_is_not<swap>("swap", Fault::kSameBlock, kEverywhere);
}

// ---- asynchronous copies ------------------------------------------------------------------------

namespace {

void check_found(const std::vector<Finding>& found, Fault fault, const char* earlier,
                 const char* later) {
  INFO(all_texts(found));
  CHECK(has(found, fault, marked("earlier", earlier), marked("later", later)));
  CHECK(found.size() == 1);
}

enum class Mistake {
  kNone,
  kNoBarrier,
  kNoWait,
  kTooFew,
  kOwnRead,
  kSourceChanged,
  kOwnSourceChanged,
  kSourceNotReady
};

/// Two tiles are copied and read by other threads; `kMistake` says what is wrong about the first.
template <Mistake kMistake>
__global__ void copy_tiles(int* x, int* y) {
  __shared__ int tiles[2][kBlock];
  const unsigned t = threadIdx.x, other = (t + 40) % kBlock;
  if (kMistake == Mistake::kSourceNotReady) x[other] = 3;  // earlier: source not ready
  for (int i = 0; i < 2; ++i) {
    __pipeline_memcpy_async(&tiles[i][t], &x[i * kBlock + t], sizeof(int));  // both: copy
    __pipeline_commit();
  }
  if (kMistake == Mistake::kOwnRead) y[t] = tiles[0][t];  // later: own read
  if (kMistake == Mistake::kOwnSourceChanged) x[t] = 1;   // later: own change
  if (kMistake == Mistake::kSourceChanged) {
    __syncthreads();
    x[other] = 1;  // later: change
    __syncthreads();
  }
  if (kMistake == Mistake::kNoWait) {
    __syncthreads();
    y[t] = tiles[0][other];  // later: read without a wait
    __syncthreads();
  }
  __pipeline_wait_prior(kMistake == Mistake::kTooFew ? 2 : 1);
  if (kMistake != Mistake::kNoBarrier) __syncthreads();
  y[t] = tiles[0][other];  // later: read
  __pipeline_wait_prior(0);
  __syncthreads();
  y[t] += tiles[1][other];
  x[other] = x[kBlock + t] = y[t];  // no copy is under way any more
}

template <Mistake kMistake>
void mistake_is_found(Fault fault, const char* earlier, const char* later) {
  DeviceArray<int> x(std::vector<int>(2 * kBlock, 0)), y(kBlock);
  const auto found = findings_of([&] { copy_tiles<kMistake><<<1, kBlock>>>(x.get(), y.get()); });
  check_found(found, fault, earlier, later);
}

}  // namespace

TEST_CASE(
    "while an asynchronous copy is under way nobody may read what it writes or write what it "
    "reads") {
  mistake_is_found<Mistake::kNoWait>(Fault::kUnderWay, "copy", "read without a wait");
  mistake_is_found<Mistake::kTooFew>(Fault::kUnderWay, "copy", "read");
  mistake_is_found<Mistake::kOwnRead>(Fault::kUnderWay, "copy", "own read");
  mistake_is_found<Mistake::kSourceChanged>(Fault::kUnderWay, "copy", "change");
  mistake_is_found<Mistake::kOwnSourceChanged>(Fault::kUnderWay, "copy", "own change");
}

TEST_CASE("what a thread has copied is like what it has written once it has waited") {
  mistake_is_found<Mistake::kNoBarrier>(Fault::kSameBlock, "copy", "read");
  mistake_is_found<Mistake::kSourceNotReady>(Fault::kSameBlock, "source not ready", "copy");
  const DeviceArray<int> x(std::vector<int>(2 * kBlock, 0)), y(kBlock);
  check_found_if(false, findings_of([&] {
                   copy_tiles<Mistake::kNone><<<1, kBlock>>>(x.get(), y.get());
                   copy_tiles<Mistake::kNone><<<1, kBlock>>>(x.get(), y.get());
                 }));
}

// ---- barriers of the program's own, and pipelines -----------------------------------------------

namespace {

enum class Skipped { kNothing, kWait, kCopysWait, kAcquire, kConsumersWait };

template <Skipped kSkipped>
__global__ void use_barrier(const int* x, int* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int words[2][kBlock];
  const unsigned t = threadIdx.x, other = (t + 40) % kBlock;
  if (t == 0) init(&barrier, kBlock);
  __syncthreads();
  for (int turn = 0; turn < 6; ++turn) {
    words[0][t] = turn;  // earlier: word
    auto token = barrier.arrive();
    if (kSkipped != Skipped::kWait) barrier.wait(std::move(token));
    y[t] = words[0][other];  // later: word
    if (kSkipped == Skipped::kWait) barrier.wait(std::move(token));
    barrier.arrive_and_wait();
  }
  cuda::memcpy_async(&words[1][t], &x[t], sizeof(int), barrier);  // earlier: copy for barrier
  auto token = barrier.arrive();
  if (kSkipped == Skipped::kCopysWait) {
    __syncthreads();     // all have arrived
    y[t] = words[1][t];  // later: copy for barrier
  }
  barrier.wait(std::move(token));
  y[t] = words[1][other];
}

template <Skipped kSkipped>
__global__ void use_pipeline(const int* x, int* y) {
  constexpr unsigned kStages = 2, kTiles = 7;
  __shared__ int tiles[kStages][kBlock];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const unsigned t = threadIdx.x, other = (t + 40) % kBlock;
  auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state);
  for (unsigned i = 0, begun = 0; i < kTiles; ++i) {
    for (; begun < kTiles && begun < i + kStages; ++begun) {
      if (kSkipped != Skipped::kAcquire) pipe.producer_acquire();
      int* const to = &tiles[begun % kStages][t];
      cuda::memcpy_async(to, &x[t], sizeof(int), pipe);  // both: stage
      pipe.producer_commit();
    }
    if (kSkipped == Skipped::kConsumersWait) y[t] = tiles[i % kStages][other];  // later: too early
    pipe.consumer_wait();
    y[t] = tiles[i % kStages][other];  // later: emptied
    pipe.consumer_release();
  }
}

template <void (*kKernel)(const int*, int*)>
std::vector<Finding> findings_in_copies() {
  const DeviceArray<int> x(std::vector<int>(kBlock, 0)), y(kBlock);
  return findings_of([&] { kKernel<<<1, kBlock>>>(x.get(), y.get()); });
}

}  // namespace

TEST_CASE("who has waited at a barrier comes after all who have arrived there, and its copies") {
  check_found(findings_in_copies<use_barrier<Skipped::kWait>>(), Fault::kSameBlock, "word", "word");
  check_found(findings_in_copies<use_barrier<Skipped::kCopysWait>>(), Fault::kUnderWay,
              "copy for barrier", "copy for barrier");
  check_found_if(false, findings_in_copies<use_barrier<Skipped::kNothing>>());
}

TEST_CASE("a stage of a pipeline is filled after it was emptied, and emptied after it was filled") {
  // Whichever of the two comes first.
  const auto overtaken = findings_in_copies<use_pipeline<Skipped::kAcquire>>();
  REQUIRE(!overtaken.empty());
  const Fault fault = overtaken[0].fault;
  CHECK((fault == Fault::kSameBlock || fault == Fault::kUnderWay));
  check_found(overtaken, fault, "stage", "emptied");
  check_found(findings_in_copies<use_pipeline<Skipped::kConsumersWait>>(), Fault::kUnderWay,
              "stage", "too early");
  check_found_if(false, findings_in_copies<use_pipeline<Skipped::kNothing>>());
}

TEST_CASE("bytes of one word are no race") {
  for (const Memory memory : kEverywhere) {
    check_found_if(false, in<two_bytes_of_a_word>(memory, kRight));
  }
}

// ---- between blocks -----------------------------------------------------------------------------

namespace {

__device__ void sum_of_blocks(int* words, bool right) {
  if (threadIdx.x != 0) return;
  if (right) {
    atomicAdd(&words[0], 1);
  } else {
    words[0] += 1;  // both: sum of blocks
  }
}

__device__ void one_element_for_all(int* words, bool right) {
  if (threadIdx.x == 0)
    words[right ? blockIdx.x : 0] = static_cast<int>(blockIdx.x);  // both: one element for all
}

// The last block adds what the others have left: with a fence by every thread before the barrier,
// or with the fences of the guide's example, of which one is missing.
enum class Fences { kByAll, kNotFirst, kNotSecond };
template <Fences kFences>
__device__ void last_block(int* words, bool right) {
  __shared__ bool is_last;
  if (threadIdx.x == 5) {
    words[1 + blockIdx.x] = 1;  // earlier: last block
  }
  if (kFences == Fences::kByAll) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (right || kFences == Fences::kNotSecond) __threadfence();
    is_last = atomicAdd(&words[0], 1) == static_cast<int>(gridDim.x) - 1;
    if (right || kFences == Fences::kNotFirst) __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  if (kFences == Fences::kByAll) __threadfence();
  if (threadIdx.x < gridDim.x)
    words[100 + threadIdx.x] = words[1 + threadIdx.x];  // later: last block
}

// The block that draws the last ticket puts it back by a plain store, as in the guide's example.
// Another thread than the one that drew may do so, behind a barrier. The first must not.
__device__ void ticket_put_back(int* words, bool right) {
  __shared__ bool puts_back;
  if (threadIdx.x == 0) {
    const int drawn = atomicAdd(&words[0], 1);  // later: ticket put back
    puts_back = drawn == (right ? static_cast<int>(gridDim.x) - 1 : 0);
  }
  __syncthreads();
  if (threadIdx.x == 40 && puts_back) words[0] = 0;  // earlier: ticket put back
}

__device__ void block_scope(int* words, bool right) {
  if (right) {
    atomicAdd(&words[0], 1);
  } else {
    atomicAdd_block(&words[0], 1);  // both: block scope
  }
}

// A flag whose fences reach the block only, read by another block.
__device__ void narrow_fence(int* words, bool right) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    words[1] = 7;  // earlier: narrow fence
    if (right) {
      __threadfence();
    } else {
      __threadfence_block();
    }
    atomicExch(&words[0], 1);
  } else {
    while (atomicAdd(&words[0], 0) == 0) {
    }
    if (right) {
      __threadfence();
    } else {
      __threadfence_block();
    }
    words[2 + blockIdx.x] = words[1];  // later: narrow fence
  }
}

template <cuda::thread_scope kScope>
__device__ void hand_over_in(int* words) {
  cuda::atomic_ref<int, kScope> flag(words[0]);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    words[1] = 7;  // earlier: narrow scope
    flag.store(1, cuda::memory_order_release);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    words[2 + blockIdx.x] = words[1];  // later: narrow scope
  }
}

// A flag that acquires and releases, but only within the block.
__device__ void narrow_scope(int* words, bool right) {
  right ? hand_over_in<cuda::thread_scope_device>(words)
        : hand_over_in<cuda::thread_scope_block>(words);
}

__global__ void sum_by_grid_barrier(int* words, bool right) {
  if (threadIdx.x == 0) words[1 + blockIdx.x] = 1;
  if (right) cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    for (unsigned b = 0; b < gridDim.x; ++b) words[0] += words[1 + b];
  }
  if (!right) cooperative_groups::this_grid().sync();
}

__global__ void read_as_constant(const int* in, int* out, bool also_write) {
  if (also_write && threadIdx.x == 3) out[0] = 1;
  __syncthreads();  // no order helps
  out[100 + threadIdx.x] = __ldg(&in[0]);
}

}  // namespace

TEST_CASE("blocks that update one word are found") {
  wrong_is_found_and_right_is_not<sum_of_blocks>("sum of blocks", Fault::kOtherBlock, kOutside, 3);
  wrong_is_found_and_right_is_not<one_element_for_all>("one element for all", Fault::kOtherBlock,
                                                       kOutside, 3);
}

TEST_CASE("the last block needs both fences") {
  wrong_is_found_and_right_is_not<last_block<Fences::kNotFirst>>("last block", Fault::kOtherBlock,
                                                                 kOutside, 3);
  wrong_is_found_and_right_is_not<last_block<Fences::kNotSecond>>("last block", Fault::kOtherBlock,
                                                                  kOutside, 3);
  check_found_if(false, in<last_block<Fences::kByAll>>(Memory::kGlobal, kWrong, 3));
}

TEST_CASE("the last update of a word comes after all before it, so a plain store may follow") {
  wrong_is_found_and_right_is_not<ticket_put_back>("ticket put back", Fault::kOtherBlock, kOutside,
                                                   4);
}

TEST_CASE("what is ordered for one block is not ordered for another") {
  wrong_is_found_and_right_is_not<block_scope>("block scope", Fault::kBlockScope, kOutside, 2);
  wrong_is_found_and_right_is_not<narrow_fence>("narrow fence", Fault::kOtherBlock, kOutside, 2);
  wrong_is_found_and_right_is_not<narrow_scope>("narrow scope", Fault::kOtherBlock, kOutside, 2);
}

TEST_CASE("a grid barrier orders the whole grid") {
  for (bool right : {true, false}) {
    const DeviceArray<int> zeros(std::vector<int>(kWords, 0));
    int* words = zeros.get();
    check_found_if(!right, findings_of([&] {
      void* arguments[] = {&words, &right};
      CUDA_CHECK(
          cudaLaunchCooperativeKernel(sum_by_grid_barrier, dim3(3), dim3(kBlock), arguments));
    }));
  }
}

TEST_CASE("__ldg of what the kernel writes is found") {
  const DeviceArray<int> words(std::vector<int>(kWords, 0));
  for (const bool wrong : {false, true}) {
    const auto found =
        findings_of([&] { read_as_constant<<<1, kBlock>>>(words.get(), words.get(), wrong); });
    check_found_if(wrong, found);
    if (wrong) CHECK(found[0].fault == Fault::kConstantLoad);
  }
}

// ---- some of many -------------------------------------------------------------------------------
// Four use a word, and each tells of it by a flag; those of `released` order what they did before
// that. One more, who has seen all the flags, then writes the word.

namespace {

constexpr unsigned kFour = 4, kAllOfFour = 0xf;

enum class Uses { kOnOneLine, kOnOwnLines, kByLanesOfAll, kAtTimesOfTheirOwn, kStores };

/// What each of the four does to the word. Each of the lines that hold no `case` is one place.
__device__ void use_word(Uses uses, int* word, unsigned which, int* sum) {
  if (uses == Uses::kStores) {
    cuda::atomic_ref<int, cuda::thread_scope_device>(*word).store(5,
                                                                  cuda::std::memory_order_relaxed);
    return;
  }
  if (uses != Uses::kOnOwnLines) {
    *sum = *word;
    return;
  }
  if (which == 0) *sum = *word;
  if (which == 1) *sum = *word + 1;
  if (which == 2) *sum = *word + 2;
  if (which == 3) *sum = *word + 3;
}

/// Words that were used whole may be written in part.
__device__ void write_over(Uses uses, int* word) {
  if (uses == Uses::kByLanesOfAll || uses == Uses::kStores) {
    reinterpret_cast<char*>(word)[2] = 7;
  } else {
    *word = 7;
  }
}

__device__ void tell(bool released, int* flag) {
  if (released) __threadfence();
  atomicExch(flag, 1);
}

__device__ void wait_for_all(int* flags) {
  for (unsigned i = 0; i < kFour; ++i) {
    while (atomicAdd(&flags[i], 0) == 0) __nanosleep(1);
  }
  __threadfence();
}

/// words: the word, flags, and what each thread has seen.
__device__ void four_warps(int* words, Uses uses, unsigned released) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int* const seen = words + 1 + kFour;
  int sum = 0;
  if (warp == kFour) {
    if (lane != 0) return;
    wait_for_all(words + 1);
    write_over(uses, words);
    return;
  }
  if (uses == Uses::kByLanesOfAll) {
    if ((lane * 7 + warp) % 3 == 0) use_word(uses, words, warp, &sum);
  } else if (lane == warp + 9) {
    use_word(uses, words, warp, &sum);
  }
  if (uses == Uses::kAtTimesOfTheirOwn) {
    for (unsigned i = 0; i <= warp; ++i) {
      __syncwarp();
      if (lane > 20) use_word(uses, words, warp, &sum);
    }
  }
  seen[threadIdx.x] = sum;
  __syncwarp();
  if (lane == 0) tell((released >> warp & 1) != 0, &words[1 + warp]);
}

__global__ void four_warps_on_shared(Uses uses, unsigned released) {
  __shared__ int words[1 + kFour + kFour * 32];
  for (unsigned i = threadIdx.x; i < 1 + kFour; i += blockDim.x) words[i] = 0;
  __syncthreads();
  four_warps(words, uses, released);
}

__global__ void four_warps_on_given(int* words, Uses uses, unsigned released) {
  four_warps(words, uses, released);
}

__device__ void four_lanes(int* words, Uses uses, unsigned released, bool one_by_one) {
  constexpr unsigned kWriter = 17;
  const unsigned lane = threadIdx.x;
  int sum = 0;
  if (lane < kFour) use_word(uses, words, lane, &sum);
  __ballot_sync(~0u, true);  // orders nothing
  if (one_by_one) {
    for (unsigned i = 0; i < kFour; ++i) {
      const unsigned two = 1u << i | 1u << kWriter;
      if ((released >> i & 1) != 0 && (two >> lane & 1) != 0) __syncwarp(two);
    }
  } else {
    const unsigned all = released | 1u << kWriter;
    if ((all >> lane & 1) != 0) __syncwarp(all);
  }
  if (lane == kWriter) write_over(uses, words);
  words[1 + lane] = sum;
}

__global__ void four_lanes_on_shared(Uses uses, unsigned released, bool one_by_one) {
  __shared__ int words[1 + 32];
  if (threadIdx.x == 0) words[0] = 0;
  __syncthreads();
  four_lanes(words, uses, released, one_by_one);
}

__global__ void four_lanes_on_given(int* words, Uses uses, unsigned released, bool one_by_one) {
  four_lanes(words, uses, released, one_by_one);
}

/// `meets`: all threads of a block use the word, and a barrier orders them for the one that tells.
__global__ void four_blocks(int* words, Uses uses, unsigned released, bool meets) {
  const unsigned which = blockIdx.x;
  int sum = 0;
  if (which == kFour) {
    if (threadIdx.x != 0) return;
    wait_for_all(words + 1);
    write_over(uses, words);
    return;
  }
  if (meets || threadIdx.x == 0) use_word(uses, words, which, &sum);
  if (meets) __syncthreads();
  if (threadIdx.x == 0) tell((released >> which & 1) != 0, &words[1 + which]);
  words[1 + kFour + which * blockDim.x + threadIdx.x] = sum;
}

/// The subsets of the four for which `launch(released)` is judged wrongly, one bit each.
template <class Launch>
std::string misjudged(Launch launch) {
  std::string wrong;
  for (unsigned released = 0; released <= kAllOfFour; ++released) {
    const auto found = findings_of([&] { launch(released); });
    if (found.empty() == (released == kAllOfFour)) continue;
    wrong += (found.empty() ? " missed:" : " false:") + std::to_string(released);
  }
  return wrong;
}

constexpr std::initializer_list<Uses> kAllUses = {Uses::kOnOneLine, Uses::kOnOwnLines,
                                                  Uses::kByLanesOfAll, Uses::kAtTimesOfTheirOwn,
                                                  Uses::kStores};

}  // namespace

TEST_CASE("a writer that comes after some of four warps races with each of the others") {
  constexpr unsigned kThreads = (kFour + 1) * 32;
  const DeviceArray<int> words(1 + kFour + kThreads);
  for (const Uses uses : kAllUses) {
    INFO("uses " << static_cast<int>(uses));
    const std::string shared = misjudged(
        [&](unsigned released) { four_warps_on_shared<<<1, kThreads>>>(uses, released); });
    CHECK(shared == "");
    const std::string global = misjudged([&](unsigned released) {
      CUDA_CHECK(cudaMemset(words.get(), 0, (1 + kFour) * sizeof(int)));
      four_warps_on_given<<<1, kThreads>>>(words.get(), uses, released);
    });
    CHECK(global == "");
  }
}

TEST_CASE("a lane that __syncwarp orders after some of four lanes races with each of the others") {
  const DeviceArray<int> words(1 + 32);
  for (const Uses uses : kAllUses) {
    for (const bool one_by_one : {false, true}) {
      INFO("uses " << static_cast<int>(uses) << ", one by one " << one_by_one);
      const std::string shared = misjudged(
          [&](unsigned released) { four_lanes_on_shared<<<1, 32>>>(uses, released, one_by_one); });
      CHECK(shared == "");
      const std::string global = misjudged([&](unsigned released) {
        CUDA_CHECK(cudaMemset(words.get(), 0, sizeof(int)));
        four_lanes_on_given<<<1, 32>>>(words.get(), uses, released, one_by_one);
      });
      CHECK(global == "");
    }
  }
}

TEST_CASE("a block that comes after some of four blocks races with each of the others") {
  const DeviceArray<int> words(1 + kFour + kFour * kBlock);
  for (const Uses uses : kAllUses) {
    for (const bool meets : {false, true}) {
      INFO("uses " << static_cast<int>(uses) << ", blocks meet " << meets);
      const std::string global = misjudged([&](unsigned released) {
        CUDA_CHECK(cudaMemset(words.get(), 0, (1 + kFour) * sizeof(int)));
        four_blocks<<<kFour + 1, kBlock>>>(words.get(), uses, released, meets);
      });
      CHECK(global == "");
    }
  }
}

namespace {

/// All blocks read a word, and the one that draws the last ticket writes it. `silent`: a block that
/// makes no fence before it draws. In the others each thread tells for itself, or with `meets` one
/// does behind a barrier.
__global__ void many_blocks(int* words, unsigned silent, bool meets) {
  __shared__ int drawn;
  const int seen = words[0];
  if (!meets && blockIdx.x != silent) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (meets && blockIdx.x != silent) __threadfence();
    drawn = atomicAdd(&words[1], 1);
    __threadfence();
    if (drawn == static_cast<int>(gridDim.x) - 1) {
      words[0] = seen + 1;
      words[2] = static_cast<int>(blockIdx.x);
    }
  }
}

}  // namespace

TEST_CASE("of many blocks that read a word the one that told nobody is found") {
  const DeviceArray<int> words(3);
  for (const bool meets : {true, false}) {
    const unsigned blocks = meets ? 1500 : 60;
    for (const unsigned silent : {blocks, 1u, 2u, blocks / 3, blocks - 2}) {
      CUDA_CHECK(cudaMemset(words.get(), 0, 2 * sizeof(int)));
      const auto found =
          findings_of([&] { many_blocks<<<blocks, kBlock>>>(words.get(), silent, meets); });
      // A silent block that draws the last ticket itself hides nothing from anybody.
      const bool told = silent == blocks || words.download()[2] == static_cast<int>(silent);
      INFO("block " << silent << " of " << blocks << " is silent");
      check_found_if(!told, found);
    }
  }
}

namespace {

constexpr unsigned kRegion = 64;  // words: two strips (races/shadow.h)

enum class Way { kAllByAll, kColumns, kRows, kNeighbours, kScattered, kPairs };
constexpr unsigned kWays = 6, kPlaces = 3, kTurns = 8;

/// What a thread reads of a region, in so many turns at so many places in the code.
__host__ __device__ unsigned index_of(Way way, unsigned block, unsigned thread, unsigned turn,
                                      unsigned place) {
  switch (way) {
    case Way::kAllByAll:
      return (turn * kPlaces + place * 5) % kRegion;
    case Way::kColumns:
      return (block % 4 * 16 + thread % 16) % kRegion;
    case Way::kRows:
      return (block / 2 * 8 + thread / 16 * 8 + turn) % kRegion;
    case Way::kNeighbours:
      return (block * 16 + thread + place) % kRegion;
    case Way::kScattered:
      return (block * 7 + thread * 13 + turn * 29 + place * 3) % kRegion;
    case Way::kPairs:
      return (block / 3 * 8 + thread % 8 * 2 + turn % 2 * 16) % (kRegion - 1) & ~1u;
  }
  return 0;
}

struct Round {
  Way way;
  unsigned blocks, threads, phases, quiet;            // the phase in which nobody reads
  unsigned writer_block, writer, writer_phase, word;  // the word that one thread writes
  bool writes_first;                                  // before it reads
};

__global__ void read_in_one_way(int* words, int* out, Round r) {
  int sum = 0;
  for (unsigned phase = 0; phase < r.phases; ++phase) {
    const bool writes =
        blockIdx.x == r.writer_block && threadIdx.x == r.writer && phase == r.writer_phase;
    if (writes && r.writes_first) words[r.word] = 7;
    for (unsigned i = 0; i < kTurns && phase != r.quiet; ++i) {
      const auto at = [&](unsigned p) { return index_of(r.way, blockIdx.x, threadIdx.x, i, p); };
      if (r.way == Way::kPairs) {
        const int2 two = *reinterpret_cast<const int2*>(words + at(0));
        sum += two.x + two.y;
      } else {
        sum += words[at(0)];
        sum += words[at(1)];
        sum += words[at(2)];
      }
    }
    if (writes && !r.writes_first) words[r.word] = sum;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// Whether another thread reads the word, with no barrier in between.
bool has_race(const Round& r) {
  for (unsigned block = 0; block < r.blocks; ++block) {
    const bool same = block == r.writer_block;
    if (same ? r.writer_phase == r.quiet : r.phases == 1 && r.quiet == 0) continue;
    for (unsigned thread = 0; thread < r.threads; ++thread) {
      if (same && thread == r.writer) continue;
      for (unsigned i = 0; i < kTurns * kPlaces; ++i) {
        const unsigned read = index_of(r.way, block, thread, i / kPlaces, i % kPlaces);
        if (read == r.word || (r.way == Way::kPairs && read + 1 == r.word)) return true;
      }
    }
  }
  return false;
}

}  // namespace

TEST_CASE("whoever reads words in whichever way, a write by another thread is found") {
  constexpr unsigned kRounds = 600;
  const DeviceArray<int> all(kRounds * kRegion), out(8 * kBlock);
  std::mt19937 random(1);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  unsigned races = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    Round r{};
    r.way = static_cast<Way>(round % kWays);
    r.blocks = 1 + below(below(8) + 1);
    r.threads = 1 + below(kBlock);
    r.phases = 1 + below(3);
    r.quiet = below(r.phases + 1);
    r.writer_block = below(r.blocks);
    r.writer = below(3) == 0 ? 0 : below(r.threads);
    r.writer_phase = below(2) == 0 && r.quiet < r.phases ? r.quiet : below(r.phases);
    r.writes_first = below(2) == 0;
    // Often one that the thread itself reads.
    r.word = below(3) == 0 ? below(kRegion)
                           : index_of(r.way, r.writer_block, r.writer, below(kTurns), below(3));
    const bool wrong = has_race(r);
    races += wrong;
    // Where a race was, words have cells from then on: so each round has its own.
    const auto found = findings_of([&] {
      read_in_one_way<<<r.blocks, r.threads>>>(all.get() + round * kRegion, out.get(), r);
    });
    INFO("way " << static_cast<int>(r.way) << ", " << r.blocks << " x " << r.threads << ", "
                << r.phases << " phases; thread " << r.writer << " of block " << r.writer_block
                << " writes word " << r.word << " in phase " << r.writer_phase);
    check_found_if(wrong, found);
  }
  CHECK(races > kRounds / 4);
  CHECK(races < kRounds);
  CHECK(races::Readers::all_bytes() > 0);
}

namespace {

/// Reads of 32 words, remembered one by one beside the rows that stand for them.
class ReadersBesideList {
 public:
  explicit ReadersBesideList(std::uint32_t threads)
      : rows_(races::Access{}, 0, 0, (threads + 31) / 32) {}

  /// Whether there was room.
  bool read(const races::BlockOrder& order, const races::Blocks& blocks, std::uint32_t thread,
            std::uint32_t word, std::uint32_t log2, std::uint32_t place) {
    const races::Access now(races::Place::of_bits(place), {order.block(), thread}, order.now(),
                            races::kReads);
    if ((log2 != 0 || !rows_.takes_in_short(word, now)) &&
        !rows_.takes(word, log2, now, order, blocks)) {
      return false;
    }
    reads_[word].push_back(now);
    return true;
  }
  void forget(std::uint32_t word) {
    rows_.forget(word);
    reads_[word].clear();
  }

  /// What is wrong with what the rows tell of a word; `order` is of the block that runs, `ended`
  /// are others, of which those in `told` have told something.
  std::string wrong_with(std::uint32_t word, const races::BlockOrder& order,
                         const std::set<std::uint32_t>& ended,
                         const std::set<std::uint32_t>& told) const {
    using Read = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // block, thread, time
    const auto read_of = [](const races::Access& a) {
      return Read{a.block(), a.thread(), a.time().ticks};
    };
    std::set<Read> made, rows;
    std::map<std::uint32_t, std::uint32_t> last;  // when a block read the word last
    for (const races::Access& a : reads_[word]) {
      made.insert(read_of(a));
      last[a.block()] = std::max(last[a.block()], a.time().ticks);
    }
    rows_.for_each(word, [&](races::Group group) {
      group.for_each([&](const races::Access& a) { return rows.insert(read_of(a)), true; });
      group.release();
    });
    std::string wrong;
    const auto add = [&](const char* what, const Read& read) {
      wrong += std::string(what) + " block " + std::to_string(std::get<0>(read)) + " thread " +
               std::to_string(std::get<1>(read)) + "; ";
    };
    std::set<std::uint32_t> lost_made, lost_rows;
    for (const Read& read : made) {
      const auto [block, thread, time] = read;
      if (ended.count(block) != 0 && told.count(block) == 0) {
        lost_made.insert(block);
      } else if (rows.count(read) == 0 && time == last[block]) {
        add("missing:", read);
      }
    }
    for (const Read& read : rows) {
      const std::uint32_t block = std::get<0>(read);
      if (made.count(read) == 0) add("never made:", read);
      if (lost_made.count(block) != 0) lost_rows.insert(block);
    }
    if (lost_rows.size() < std::min<std::size_t>(2, lost_made.size()))
      wrong += "of two ended blocks";
    // A barrier comes after all that the block did before.
    const races::Access me(races::Place::of_bits(1), {order.block(), 0}, order.now(),
                           races::kWrites);
    const bool over = std::all_of(rows.begin(), rows.end(), [&](const Read& read) {
      const auto [block, thread, time] = read;
      return block == order.block() && (thread == 0 || order.barrier_follows(block, {time}));
    });
    if (rows_.are_over(word, me, order) && !over) wrong += "not over; ";
    return wrong;
  }

 private:
  races::Readers rows_;
  std::vector<races::Access> reads_[32];
};

}  // namespace

TEST_CASE("rows of readers tell who read each of 32 words") {
  constexpr unsigned kRounds = 300;
  std::mt19937 random(2);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  unsigned compared = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    const unsigned threads = 1 + below(round % 20 == 0 ? 1024 : 80);
    const auto way = static_cast<Way>(round % kWays);
    const unsigned turns = 1 + below(kTurns), places = 1 + below(2), running = 1 + below(4) / 3;
    const unsigned log2 = way == Way::kPairs ? 1 : 0;
    ReadersBesideList both(threads);
    races::Blocks blocks;
    std::set<std::uint32_t> ended, told;
    bool room = true;
    INFO("way " << static_cast<int>(way) << ", " << threads << " threads, " << turns << " turns, "
                << running << " blocks at a time, round " << round);
    for (unsigned first = 0; first < 8 && room; first += running) {
      races::BlockOrder* orders[2] = {};
      for (unsigned b = 0; b < running; ++b) orders[b] = blocks.begin(first + b, threads);
      for (unsigned phase = below(2); phase < 2; ++phase) {
        const unsigned guard = below(3) == 0 ? 1 + below(threads) : threads;
        for (unsigned i = 0; i < threads * running && room; ++i) {
          races::BlockOrder& order = *orders[i % running];
          const unsigned thread = i / running;
          if (thread >= guard) continue;
          for (unsigned turn = 0; turn < turns * places && room; ++turn) {
            const unsigned place = turn % places;
            const unsigned word = index_of(way, order.block(), thread, turn / places, place) % 32;
            for (unsigned more = 0; more < 1u << log2; ++more) {
              room = room && both.read(order, blocks, thread, word + more, log2, 1 + place);
            }
          }
        }
        if (below(4) == 0) both.forget(below(32));
        for (unsigned word = 0; word < 32 && room; ++word) {
          const std::string wrong = both.wrong_with(word, *orders[0], ended, told);
          ++compared;
          if (wrong.empty()) continue;
          INFO("word " << word << ", block " << first << ", phase " << phase);
          CHECK(wrong == "");
        }
        for (unsigned b = 0; b < running; ++b) orders[b]->barrier();
      }
      for (unsigned b = 0; b < running; ++b) {
        if (below(24) == 0) {
          orders[b]->fence(0, false);
          orders[b]->atomic(0, &told, true, true, false);
          told.insert(first + b);
        }
        ended.insert(first + b);
        blocks.end(orders[b]);
      }
    }
  }
  CHECK(compared > 100 * kRounds);
}

// ---- between launches ---------------------------------------------------------------------------

namespace {

__global__ void write_all(int* words) { words[threadIdx.x] = 1; }
__global__ void read_all(const int* words, int* out) { out[threadIdx.x] = words[threadIdx.x]; }

enum class Between { kNothing, kEvent, kSynchronize, kOneStream, kDefaultStream };

}  // namespace

TEST_CASE("two streams need an event, or something as good") {
  for (const bool mapped : {false, true}) {
    int *words = nullptr, *out = nullptr;
    CUDA_CHECK(cudaMalloc(&out, kWords * sizeof(int)));
    if (mapped) {
      CUDA_CHECK(cudaHostAlloc(&words, kWords * sizeof(int), cudaHostAllocMapped));
    } else {
      CUDA_CHECK(cudaMalloc(&words, kWords * sizeof(int)));
    }
    const Stream one, two;
    const cudaStream_t first = one.s, second = two.s;
    const Event done;
    for (const Between between : {Between::kNothing, Between::kEvent, Between::kSynchronize,
                                  Between::kOneStream, Between::kDefaultStream}) {
      const auto wait = [&] {
        if (between == Between::kSynchronize) CUDA_CHECK(cudaStreamSynchronize(first));
        if (between == Between::kDefaultStream) write_all<<<1, 1>>>(out + kBlock);
        if (between != Between::kEvent) return;
        CUDA_CHECK(cudaEventRecord(done.e, first));
        CUDA_CHECK(cudaStreamWaitEvent(second, done.e, 0));
      };
      const cudaStream_t other = between == Between::kOneStream ? first : second;
      std::vector<int> host(kWords);
      // A kernel and a kernel; a kernel and a copy; a copy and a kernel.
      for (const int pair : {0, 1, 2}) {
        const auto found = findings_of([&] {
          if (pair == 2) {
            CUDA_CHECK(cudaMemsetAsync(words, 0, kBlock * sizeof(int), first));
          } else {
            write_all<<<1, kBlock, 0, first>>>(words);
          }
          wait();
          if (pair == 1) {
            CUDA_CHECK(cudaMemcpyAsync(out, words, kBlock * sizeof(int), cudaMemcpyDefault, other));
          } else {
            read_all<<<1, kBlock, 0, other>>>(words, out);
          }
        });
        INFO("mapped " << mapped << ", between " << static_cast<int>(between) << ", pair " << pair);
        check_found_if(between == Between::kNothing, found);
        for (const Finding& f : found) CHECK(f.fault == Fault::kOtherStream);
      }
    }
    CUDA_CHECK(cudaFree(out));
    CUDA_CHECK(mapped ? cudaFreeHost(words) : cudaFree(words));
  }
}

TEST_CASE("what a later launch did not touch is remembered of the earlier one") {
  const DeviceArray<int> all(3 * 3 * 2 * kBlock), out(1);
  int* words = all.get();  // others for each round: where a race was, each has a cell from then on
  const Stream one, two;
  const cudaStream_t first = one.s, second = two.s;
  for (const unsigned later : {1u, 2u, 3u}) {  // launches that touch a few of the words
    for (const unsigned word : {0u, 5u, 31u}) {
      for (const bool right : {false, true}) {
        const auto found = findings_of([&] {
          write_all<<<1, kBlock, 0, first>>>(words);
          for (unsigned i = 0; i < later; ++i) write_all<<<1, 3, 0, first>>>(words + 8 + 4 * i);
          if (right) CUDA_CHECK(cudaStreamSynchronize(first));
          read_all<<<1, 1, 0, second>>>(words + word, out.get());
        });
        words += kBlock;
        INFO("word " << word << " after " << later);
        check_found_if(!right, found);
      }
    }
  }
}

// ---- shared memory that nobody has written ------------------------------------------------------

namespace {

__global__ void add_a_tile(int* out, int n, bool right) {
  __shared__ int tile[kBlock];
  const int t = static_cast<int>(threadIdx.x);
  if (t < n) {
    tile[t] = t;
  } else if (right) {
    tile[t] = 0;
  }
  __syncthreads();
  if (t == 0) {
    int sum = 0;
    for (unsigned i = 0; i < kBlock; ++i) sum += tile[i];
    *out = sum;
  }
}

}  // namespace

TEST_CASE("shared memory is read only after it was written") {
  const DeviceArray<int> out(1);
  // The second block has the first one's memory: what that has left there is not the second's.
  const auto wrong = findings_of([&] {
    add_a_tile<<<1, kBlock>>>(out.get(), kBlock, true);
    add_a_tile<<<1, kBlock>>>(out.get(), kBlock - 5, false);
  });
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].fault == Fault::kUnset);
  CHECK(wrong[0].text.find("element 91 of the __shared__ array 'tile'") != std::string::npos);
  CHECK(findings_of([&] { add_a_tile<<<2, kBlock>>>(out.get(), kBlock, true); }).size() == 1);
  CHECK(findings_of([&] { add_a_tile<<<1, kBlock>>>(out.get(), 3, true); }).empty());
}

namespace {

struct Polygon {
  __device__ virtual int corners() const = 0;
};
struct Triangle : Polygon {
  __device__ int corners() const override { return 3; }
};
struct Square : Polygon {
  __device__ int corners() const override { return 4; }
};

__device__ void draw(void* room, bool square) {
  if (square) {
    new (room) Square;
  } else {
    new (room) Triangle;
  }
}

// An object that is nothing but its pointer to the table of virtual functions.
__global__ void count_corners(int* out, bool right) {
  __shared__ Polygon* room;
  if (threadIdx.x == 0) draw(&room, *out == 0);
  __syncthreads();
  const int corners = reinterpret_cast<const Polygon*>(&room)->corners();
  if (right) __syncthreads();
  if (threadIdx.x == 0) draw(&room, corners == 3);
  if (threadIdx.x == 0) *out = corners;
}

// A barrier of the grid made by hand: the first block reads until the last has written.
__global__ void meet_all_blocks(int* out, volatile unsigned* arrived, bool right) {
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    if (right) __threadfence();
    atomicAdd(const_cast<unsigned*>(arrived), 1u);
    while (*arrived < gridDim.x) {
    }
    __threadfence();
    out[gridDim.x + blockIdx.x] = out[(blockIdx.x + 1) % gridDim.x];
  }
}

}  // namespace

TEST_CASE("constructing an object writes its pointer to the virtual functions, a call reads it") {
  const DeviceArray<int> out(1);
  for (const bool right : {true, false}) {
    CUDA_CHECK(cudaMemset(out.get(), 0, sizeof(int)));
    check_found_if(!right, findings_of([&] { count_corners<<<1, kBlock>>>(out.get(), right); }));
    CHECK(out.download()[0] == 4);
  }
}

TEST_CASE("blocks that read in a loop until all have arrived meet, and a fence orders them") {
  const DeviceArray<int> out(16);
  const DeviceArray<unsigned> arrived(1);
  for (const bool right : {true, false}) {
    CUDA_CHECK(cudaMemset(arrived.get(), 0, sizeof(unsigned)));
    check_found_if(!right, findings_of([&] {
      meet_all_blocks<<<8, kBlock>>>(out.get(), arrived.get(), right);
    }));
    CHECK(out.download()[8] == 1);
  }
}

// ---- the report ---------------------------------------------------------------------------------

TEST_CASE("a race is reported once, with both lines, both threads, the word and what to do") {
  const auto found = in<read_after_write>(Memory::kShared, kWrong);
  REQUIRE(found.size() == 1);
  const std::string& text = found[0].text;
  INFO(text);
  const auto says = [&](const char* marked_as, const char* as) {
    const int line = marked(marked_as, "read after write");
    return text.find("races.test.cu:" + std::to_string(line) + as) != std::string::npos;
  };
  CHECK(((says("later", ": error: race: a read") && says("earlier", ": note: a write")) ||
         (says("earlier", ": error: race: a write") && says("later", ": note: a read"))));
  CHECK(text.find("nothing orders the two") != std::string::npos);
  CHECK(text.find("help: put __syncthreads() between the two") != std::string::npos);
}

namespace {

// Two races whichever way they come: a lane reads what its neighbour writes next, a thread what one
// of another warp does.
__global__ void within_and_across_warps(int* out) {
  __shared__ int of_warp[kBlock], of_block[kBlock];
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (int step = 0; step < 2; ++step) {
    of_warp[t] = step;
    of_block[t] = step;
    __syncthreads();
    sum += of_warp[t ^ 1];
    sum += of_block[kBlock - 1 - t];
  }
  out[t] = sum;
}

}  // namespace

TEST_CASE("of races within and across warps those that need __syncthreads come first") {
  const DeviceArray<int> out(kBlock);
  const auto found = findings_of([&] { within_and_across_warps<<<1, kBlock>>>(out.get()); });
  INFO(all_texts(found));
  REQUIRE(found.size() == 2);
  CHECK(found[0].fault == Fault::kSameBlock);
  CHECK(found[0].text.find("help: put __syncthreads() between the two") != std::string::npos);
  CHECK(found[1].fault == Fault::kSameWarp);
}

TEST_CASE("a run that takes long says once what it does, how far it is, and how to go without") {
  std::string early, late, later;
  const DeviceArray<int> x(1);
  unsigned long long number = 0, next_number = 0;
  const auto read = [](const std::string& text, unsigned long long* out) {
    const std::size_t at = text.rfind("in launch ");
    if (at != std::string::npos) *out = std::stoull(text.substr(at + 10));
  };
  {
    const KeptOutput errors(STDERR_FILENO);
    races::look_for_races(true);
    cuda_cpu::GridLaunch launch{};
    launch.kernel = {"slow", __FILE__, __LINE__};
    launch.grid = dim3(3, 4);
    cuda_cpu::observer->time_passes(60);  // no kernel runs
    cuda_cpu::observer->grid_begins(launch);
    cuda_cpu::observer->time_passes(4.9);
    early = errors.text();
    cuda_cpu::observer->time_passes(5);
    late = errors.text();
    cuda_cpu::observer->time_passes(6);
    cuda_cpu::observer->grid_ends(launch);
    later = errors.text();
    read(later, &number);
    races::look_for_races(true);
    cudaMemset(x.get(), 0, sizeof(int));  // no launch
    cudaDeviceSynchronize();
    cuda_cpu::observer->grid_begins(launch);
    cuda_cpu::observer->time_passes(6);
    cuda_cpu::observer->grid_ends(launch);
    read(errors.text(), &next_number);
    races::look_for_races(false);
  }
  CHECK(number > 0);
  CHECK(next_number == number + 1);
  CHECK(early.empty());
  CHECK(late.find("0 of 12 blocks of 'slow' have ended") != std::string::npos);
  CHECK(late.find("RACES=0") != std::string::npos);
  CHECK(later == late);
}

TEST_CASE("every run finds the same") {
  const char* const order = std::getenv("CUDA_CPU_SCHEDULE");
  if (order != nullptr && order[0] == 'r') return;  // there each launch has another order
  const std::string first = all_texts(in<largest>(Memory::kGlobal, kWrong));
  for (int run = 0; run < 10; ++run)
    CHECK(all_texts(in<largest>(Memory::kGlobal, kWrong)) == first);
}

TEST_CASE(
    "after some seconds of looking, launches that repeat others are passed over, new ones not") {
  races::Repetitions repetitions;
  cuda_cpu::GridLaunch launch{};
  launch.kernel = {"slow", __FILE__, __LINE__};
  double now = 0;
  // Whether it is passed over; it takes so many seconds.
  const auto passes_over = [&](double seconds) {
    const bool result = repetitions.begins(launch, now);
    now += seconds;
    repetitions.ends(now);
    now += 100;  // the host's own
    return result;
  };
  const double all = races::seconds_for_all;
  CHECK_FALSE(passes_over(all / 2));
  CHECK_FALSE(passes_over(all / 4));
  CHECK_FALSE(passes_over(all / 2));  // it began in time
  CHECK(passes_over(0.6 * all));
  CHECK(passes_over(0.5 * all));       // a quarter of 0.6 is less than what it took too long
  CHECK_FALSE(passes_over(all / 10));  // a quarter of 1.1 is more
  CHECK(passes_over(1));
  CHECK(repetitions.launches() == 7);
  CHECK(repetitions.passed_over() == 3);
  // Whatever differs makes a launch a new one.
  launch.arguments_hash = 1;
  CHECK_FALSE(passes_over(1));
  CHECK(passes_over(1));
  launch.arguments = "(1)";
  CHECK_FALSE(passes_over(1));
  launch.grid.y = 2;
  CHECK_FALSE(passes_over(1));
  launch.block.z = 2;
  CHECK_FALSE(passes_over(1));
  launch.dynamic_shared_bytes = 4;
  CHECK_FALSE(passes_over(1));
  launch.function = &all;
  CHECK_FALSE(passes_over(1));
  CHECK(passes_over(1));
}

namespace {

/// Races only if it is told so, by memory and not by an argument.
__global__ void race_if(const int* told, int* y, int) {
  if (*told != 0) y[0] = static_cast<int>(threadIdx.x);
}

/// How many races are found in two launches, of which the second alone has one.
std::size_t found_in_second(int argument) {
  const DeviceArray<int> told(std::vector<int>{0}), y(64);
  const auto found = findings_of([&] {
    for (const int more : {0, argument}) {
      race_if<<<1, 64>>>(told.get(), y.get(), more);
      CUDA_CHECK(cudaMemset(told.get(), 1, sizeof(int)));
    }
  });
  return found.size();
}

}  // namespace

TEST_CASE("in a launch that is passed over nothing is found, and in the next one again") {
  struct Restore {
    double seconds = races::seconds_for_all;
    ~Restore() { races::seconds_for_all = seconds; }
  } const restore;
  races::seconds_for_all = -1e9;  // as if looking had taken long
  CHECK(found_in_second(0) == 0);
  CHECK(found_in_second(1) == 1);
  races::seconds_for_all = 1e9;
  CHECK(found_in_second(0) == 1);
}
