// SPDX-License-Identifier: MIT
// Chapter 10, --show atomics: every atomic function of CUDA, on every type of 4 and 8 bytes that it
// takes, in shared and in global memory. Twice each: every thread has a word of its own, and all
// threads of a block (shared) or of the grid (global) meet at one word.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace atomic_operations {

constexpr unsigned kMaxBlock = 1024, kCountTo = 1000;

// One function on one type: the word it begins with (0, or all bits set), what thread after thread
// does to it in turn k, and the same on the host. A thread's own word shows each step, and a common
// one counts them all, or ends the same in whatever order they come.
template <class T, bool kOnes = false>
struct OnWord {
  using Word = T;
  static T begin() { return kOnes ? static_cast<T>(-1) : T(0); }
  __host__ __device__ static T two_or_three(unsigned k) { return static_cast<T>(2 + k % 2); }
  __host__ __device__ static T rising(unsigned k) { return static_cast<T>(k + 1); }
  __host__ __device__ static T falling(unsigned k) { return static_cast<T>(T(0) - T(k) - T(2)); }
};

template <class T>
struct Add : OnWord<T> {
  using OnWord<T>::two_or_three;
  __device__ static void apply(T* w, unsigned k) { atomicAdd(w, two_or_three(k)); }
  static T host(T old, unsigned k) { return old + two_or_three(k); }
};
template <class T>
struct Sub : OnWord<T> {
  using OnWord<T>::two_or_three;
  __device__ static void apply(T* w, unsigned k) { atomicSub(w, two_or_three(k)); }
  static T host(T old, unsigned k) { return old - two_or_three(k); }
};
template <class T>
struct Exch : OnWord<T> {
  using OnWord<T>::rising;
  __device__ static void apply(T* w, unsigned k) { atomicExch(w, rising(k)); }
  static T host(T, unsigned k) { return rising(k); }
};
template <class T>
struct Min : OnWord<T, true> {
  using OnWord<T, true>::falling;
  __device__ static void apply(T* w, unsigned k) { atomicMin(w, falling(k)); }
  static T host(T old, unsigned k) { return std::min(old, falling(k)); }
};
template <class T>
struct Max : OnWord<T> {
  using OnWord<T>::rising;
  __device__ static void apply(T* w, unsigned k) { atomicMax(w, rising(k)); }
  static T host(T old, unsigned k) { return std::max(old, rising(k)); }
};
// The constant 1, for which shared memory has an instruction of its own: it counts lanes.
struct AddOne : OnWord<int> {
  __device__ static void apply(int* w, unsigned) { atomicAdd(w, 1); }
  static int host(int old, unsigned) { return old + 1; }
};
struct Inc : OnWord<unsigned> {
  __device__ static void apply(unsigned* w, unsigned) { atomicInc(w, kCountTo); }
  static unsigned host(unsigned old, unsigned) { return old == kCountTo ? 0 : old + 1; }
};
struct Dec : OnWord<unsigned> {
  __device__ static void apply(unsigned* w, unsigned) { atomicDec(w, kCountTo); }
  static unsigned host(unsigned old, unsigned) { return old == 0 ? kCountTo : old - 1; }
};
// Swaps k for k + 1. When a thread is in turn k, the word is k or more: whoever finds k moves it
// on.
template <class T>
struct Cas : OnWord<T> {
  __device__ static void apply(T* w, unsigned k) { atomicCAS(w, T(k), T(k + 1)); }
  static T host(T old, unsigned k) { return old == T(k) ? T(k + 1) : old; }
};
template <class T>
struct And : OnWord<T, true> {
  using OnWord<T, true>::rising;
  __device__ static void apply(T* w, unsigned k) { atomicAnd(w, static_cast<T>(~rising(k))); }
  static T host(T old, unsigned k) { return old & static_cast<T>(~rising(k)); }
};
template <class T>
struct Or : OnWord<T> {
  using OnWord<T>::rising;
  __device__ static void apply(T* w, unsigned k) { atomicOr(w, rising(k)); }
  static T host(T old, unsigned k) { return old | rising(k); }
};
template <class T>
struct Xor : OnWord<T> {
  using OnWord<T>::rising;
  __device__ static void apply(T* w, unsigned k) { atomicXor(w, rising(k)); }
  static T host(T old, unsigned k) { return old ^ rising(k); }
};

// The address comes out of a multiplication by `spread`, 1 (own words) or 0 (one word): so the
// compiler cannot know that all lanes meet, and add them up before they do.
template <class Op>
__global__ void in_global(typename Op::Word* words, unsigned turns, unsigned spread) {
  auto* const word = &words[(blockIdx.x * blockDim.x + threadIdx.x) * spread];
  for (unsigned k = 0; k < turns; ++k) Op::apply(word, k);
}

// Each thread's word begins as in fresh[] and ends up in words[].
template <class Op>
__global__ void in_shared(const typename Op::Word* fresh, typename Op::Word* words, unsigned turns,
                          unsigned spread) {
  __shared__ typename Op::Word here[kMaxBlock];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  here[threadIdx.x] = fresh[i];
  __syncthreads();  // others may begin with the word that this thread has just set
  auto* const word = &here[threadIdx.x * spread];
  for (unsigned k = 0; k < turns; ++k) Op::apply(word, k);
  __syncthreads();  // others may still be changing the word that this thread hands back
  words[i] = here[threadIdx.x];
}

// ---- the rows ----------------------------------------------------------------------------------

// Who meets where.
struct Meeting {
  const char* name;
  bool shared, one_word;
  unsigned turns;  // fewer where it is slow
};
constexpr Meeting kMeetings[] = {{"shared: own words", true, false, 1024},
                                 {"shared: one word", true, true, 16},
                                 {"global: own words", false, false, 1024},
                                 {"global: one word", false, true, 16}};

// One launch. It begins with fresh words, whatever earlier ones have left.
template <class Op>
void launch(const Meeting& m, const DeviceArray<typename Op::Word>& fresh,
            const DeviceArray<typename Op::Word>& words, unsigned turns, unsigned grid,
            unsigned block) {
  const unsigned spread = m.one_word ? 0 : 1;
  if (m.shared) {
    in_shared<Op><<<grid, block>>>(fresh.get(), words.get(), turns, spread);
  } else {
    CUDA_CHECK(cudaMemcpyAsync(words.get(), fresh.get(), words.bytes(), cudaMemcpyDeviceToDevice));
    in_global<Op><<<grid, block>>>(words.get(), turns, spread);
  }
}

// Every word of the grid, behind `turns` turns by every thread that meets there.
template <class Op>
std::vector<typename Op::Word> reference(const Meeting& m, unsigned turns, unsigned grid,
                                         unsigned block) {
  const auto behind = [&](std::size_t threads) {
    typename Op::Word word = Op::begin();
    for (std::size_t t = 0; t < threads; ++t) {
      for (unsigned k = 0; k < turns; ++k) word = Op::host(word, k);
    }
    return word;
  };
  std::vector<typename Op::Word> words(std::size_t{grid} * block, Op::begin());
  if (!m.one_word) std::fill(words.begin(), words.end(), behind(1));
  if (m.one_word && !m.shared) words[0] = behind(words.size());
  if (m.one_word && m.shared) {
    const auto word = behind(block);
    for (std::size_t i = 0; i < words.size(); i += block) words[i] = word;
  }
  return words;
}

// One meeting: poisoned, launched, compared, timed, compared.
template <class Op>
Measured measure(const std::string& name, Samples samples, const Meeting& m, unsigned turns,
                 unsigned grid, unsigned block) {
  const auto expected = reference<Op>(m, turns, grid, block);
  using Words = DeviceArray<typename Op::Word>;
  const Words fresh(std::vector<typename Op::Word>(expected.size(), Op::begin()));
  const Words words(expected.size());
  return measure_checked(
      samples, [&] { words.poison(); }, [&] { launch<Op>(m, fresh, words, turns, grid, block); },
      [&] {
        return all_equal(name + ", " + m.name, words.download().data(), expected.data(),
                         expected.size());
      });
}

// One row: the time of the last meeting; all four rates, in 10^9 per second, below the table.
template <class Op>
void add_row(ResultTable& table, const std::string& name, unsigned grid, unsigned block) {
  std::string text = name + ":";
  bool ok = true;
  Timing last;
  for (const Meeting& m : kMeetings) {
    const unsigned turns = kOnGpu ? m.turns : m.turns / 64 + 1;
    const Measured measured = measure<Op>(name, table.options().sampling(), m, turns, grid, block);
    const double operations = 1.0 * grid * block * turns;
    const double rate = operations / (measured.time.median_ms * 1e6);
    char number[48];
    std::snprintf(number, sizeof number, "%s %.4g", text.back() == ':' ? "" : " ·", rate);
    text += number;
    table.measured(name, rate, m.name, "");
    ok = ok && measured.ok;
    last = measured.time;
  }
  table.add(name, last, 0, ok);
  if (kOnGpu) table.note(text);
}

inline void add_rows(ResultTable& table, unsigned grid, unsigned block) {
  using Wide = unsigned long long;
  table.without_speedup();  // not the same work
  if (kOnGpu) {
    table.note(
        "10^9 operations per second: shared, own words · one word per block · "
        "global, own words · one word; the time above is that of the last");
  }
  add_row<Add<int>>(table, "add int", grid, block);
  add_row<AddOne>(table, "add 1 to int", grid, block);
  add_row<Add<Wide>>(table, "add 64-bit", grid, block);
  add_row<Add<float>>(table, "add float", grid, block);
  add_row<Add<double>>(table, "add double", grid, block);
  add_row<Sub<int>>(table, "sub int", grid, block);
  add_row<Inc>(table, "inc unsigned", grid, block);
  add_row<Dec>(table, "dec unsigned", grid, block);
  add_row<Min<int>>(table, "min int", grid, block);
  add_row<Min<Wide>>(table, "min 64-bit", grid, block);
  add_row<Max<int>>(table, "max int", grid, block);
  add_row<Max<Wide>>(table, "max 64-bit", grid, block);
  add_row<And<unsigned>>(table, "and unsigned", grid, block);
  add_row<And<Wide>>(table, "and 64-bit", grid, block);
  add_row<Or<unsigned>>(table, "or unsigned", grid, block);
  add_row<Or<Wide>>(table, "or 64-bit", grid, block);
  add_row<Xor<unsigned>>(table, "xor unsigned", grid, block);
  add_row<Xor<Wide>>(table, "xor 64-bit", grid, block);
  add_row<Exch<int>>(table, "exch int", grid, block);
  add_row<Exch<float>>(table, "exch float", grid, block);
  add_row<Exch<Wide>>(table, "exch 64-bit", grid, block);
  add_row<Cas<unsigned>>(table, "CAS unsigned", grid, block);
  add_row<Cas<Wide>>(table, "CAS 64-bit", grid, block);
}

}  // namespace atomic_operations
