// SPDX-License-Identifier: MIT
// Pinned host memory and streams for the checks of the labs on transfers.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "testing.cuh"

namespace lab {

/// n pinned, mapped words that live as long as their scope. Every byte is 0xff at first.
class PinnedWords {
 public:
  explicit PinnedWords(std::size_t n) : n_(n) {
    CUDA_CHECK(cudaHostAlloc(&words_, std::max<std::size_t>(n, 1) * sizeof(unsigned),
                             cudaHostAllocMapped));
    std::memset(words_, 0xff, n * sizeof(unsigned));
  }
  explicit PinnedWords(const std::vector<unsigned>& values) : PinnedWords(values.size()) {
    std::copy(values.begin(), values.end(), words_);
  }
  ~PinnedWords() { cudaFreeHost(words_); }
  PinnedWords(const PinnedWords&) = delete;
  PinnedWords& operator=(const PinnedWords&) = delete;

  unsigned* get() const { return words_; }
  std::size_t size() const { return n_; }
  /// The words as they are now, even if copies are still on their way: no race is meant.
  __attribute__((noinline, no_sanitize("thread"))) std::vector<unsigned> now() const {
    std::vector<unsigned> words(n_);
    unsigned* const to = words.data();
    for (std::size_t i = 0; i < n_; ++i) to[i] = words_[i];
    return words;
  }

 private:
  unsigned* words_ = nullptr;
  std::size_t n_;
};

/// Streams that do not take turns with the default stream. Fresh arrays are filled in that one:
/// wait for the device before the learner's code runs.
class Streams {
 public:
  explicit Streams(std::size_t count) : streams_(count) {
    for (cudaStream_t& stream : streams_) {
      CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
  }
  ~Streams() {
    for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  const std::vector<cudaStream_t>& all() const { return streams_; }
  cudaStream_t operator[](std::size_t k) const { return streams_[k]; }

  /// False once nothing is left to do in stream k.
  bool is_busy(std::size_t k) const {
    const cudaError_t status = cudaStreamQuery(streams_[k]);
    if (status == cudaErrorNotReady) cudaGetLastError();  // it is kept like any other error
    return status == cudaErrorNotReady;
  }

 private:
  std::vector<cudaStream_t> streams_;
};

/// `count` rounds in a row are one such round again: this one. The learner's file has the type.
template <class Round>
Round repeated(Round round, unsigned count) {
  Round all{1, 0};
  for (unsigned k = 0; k < count; ++k) all = {all.factor * round.factor, round(all.step)};
  return all;
}

/// Whether a stream's work runs only when somebody waits for it. On a GPU the clock decides; on the
/// CPU backend it does, but under random orders, where other streams may come first.
inline bool nothing_runs_early() {
  const char* const schedule = std::getenv("CUDA_CPU_SCHEDULE");
  return !kOnGpu && (schedule == nullptr || std::strncmp(schedule, "random", 6) != 0);
}

/// Another stream with something to do, which the learner's code has no reason to wait for: whoever
/// waits for the whole device does, and so does whatever goes to the default stream.
class Bystander {
 public:
  Bystander() { CUDA_CHECK(cudaStreamCreate(&stream_)); }
  ~Bystander() { cudaStreamDestroy(stream_); }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

  /// Call it when nothing else is left to do.
  void begin() { CUDA_CHECK(cudaMemsetAsync(word_.get(), 0, sizeof(unsigned), stream_)); }
  /// Ask once.
  bool was_left_alone() const {
    const cudaError_t status = cudaStreamQuery(stream_);
    if (status == cudaErrorNotReady) cudaGetLastError();  // it is kept like any other error
    return !nothing_runs_early() || status == cudaErrorNotReady;
  }

 private:
  cudaStream_t stream_ = nullptr;
  DeviceArray<unsigned> word_{1};
};

}  // namespace lab
