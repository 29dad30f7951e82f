// SPDX-License-Identifier: MIT
// Chapter 09: the work that most experiments give their kernel, the chapter's own, and what comes
// of it.
#pragma once

#include "../../../common/common.cuh"

constexpr std::size_t kWord = sizeof(unsigned);  // sizes are counted in words of 4 bytes
constexpr unsigned kBlock = 256;

// One round of work: v becomes v * factor + step, modulo 2^32.
struct Round {
  unsigned factor, step;
  __host__ __device__ unsigned operator()(unsigned v) const { return v * factor + step; }
};
constexpr Round kRound{1664525, 1013904223};

// One pass. Whether x and y are in the device's memory or in the host's, the code is the same.
__global__ void mix(const unsigned* x, std::size_t n, Round round, unsigned rounds, bool first,
                    unsigned* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned v = first ? x[i] : y[i] ^ x[i];
    for (unsigned r = 0; r < rounds; ++r) v = round(v);
    y[i] = v;
  }
}

// What `count` rounds in a row make of a word, in one step: they are one such round again.
inline Round rounds_in_one(unsigned count) {
  Round all{1, 0};
  for (unsigned r = 0; r < count; ++r) all = {all.factor * kRound.factor, kRound(all.step)};
  return all;
}

inline void fill_with_random_words(unsigned* words, std::size_t n, std::uint64_t seed) {
  for (std::size_t i = 0; i < n; ++i) words[i] = static_cast<unsigned>(random_bits(seed, i));
}

// Words in pinned memory, which kernels read there or after a copy to d_x; what they make of them
// goes to d_y.
struct PinnedWords {
  PinnedWords(std::size_t words, unsigned rounds_per_word, std::uint64_t seed)
      : n(words), rounds(rounds_per_word), d_x(n), d_y(n) {
    CUDA_CHECK(cudaMallocHost(&h_x, n * kWord));
    CUDA_CHECK(cudaHostGetDevicePointer(&mapped_x, h_x, 0));  // the same words, for a kernel
    fill_with_random_words(h_x, n, seed);
  }
  ~PinnedWords() { CUDA_CHECK(cudaFreeHost(h_x)); }
  PinnedWords(const PinnedWords&) = delete;

  void poison() const { d_x.poison(), d_y.poison(); }

  std::size_t n;
  unsigned rounds;
  unsigned *h_x = nullptr, *mapped_x = nullptr;
  DeviceArray<unsigned> d_x, d_y;
};

// Whether y is what a pass of so many rounds makes of x.
inline bool is_mixed(const std::string& name, const DeviceArray<unsigned>& y, const unsigned* x,
                     unsigned rounds) {
  const Round all = rounds_in_one(rounds);
  std::vector<unsigned> expected(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) expected[i] = all(x[i]);
  return all_equal(name, y.download(), expected);
}
