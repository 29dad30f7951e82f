// SPDX-License-Identifier: MIT
// Chapter 03, what a launch leaves: one partial sum per thread. The host overwrites them before a
// version, adds them up after it, and compares. Included by coalesced_threads.cu.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "../../common/common.cuh"

// How many threads the version or walk `name` launches, and so how many partial sums it leaves.
std::size_t threads_of(const std::string& name, const ThreadSums& s) {
  if (name == "single_thread") return 1;
  return name.rfind("sum_", 0) == 0 ? s.block : std::size_t{s.grid} * s.block;
}

// A slot for every thread of the whole grid, which no launch exceeds.
std::size_t partial_bytes(const ThreadSums& s) {
  return std::size_t{s.grid} * s.block * sizeof(long long);
}

void poison(const ThreadSums& s) { CUDA_CHECK(cudaMemset(s.partial, 0xff, partial_bytes(s))); }

// Finishes the sum on the host and compares.
bool check(const std::string& name, const ThreadSums& s, long long expected) {
  std::vector<long long> partial(threads_of(name, s));
  const std::size_t bytes = partial.size() * sizeof(long long);
  CUDA_CHECK(cudaMemcpy(partial.data(), s.partial, bytes, cudaMemcpyDeviceToHost));
  return equals(name, std::accumulate(partial.begin(), partial.end(), 0LL), expected);
}
