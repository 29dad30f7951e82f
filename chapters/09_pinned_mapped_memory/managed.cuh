// SPDX-License-Identifier: MIT
// Chapter 09, managed memory: one pointer for both sides. The side that touches a page gets it, by
// a page fault; cudaMemPrefetchAsync moves pages before they are touched. Included by
// pinned_mapped_memory.cu.
#pragma once

#include <cstring>
#include <string>

#include "../../common/common.cuh"

// Asks for the pages of `words` to be moved to the current device, in the default stream. Where
// pages cannot move by themselves (Windows and WSL: they all come with the launch), there is
// nothing to ask for.
void prefetch_to_device(const unsigned* words, std::size_t n) {
  int device = 0, pages_move = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&pages_move, cudaDevAttrConcurrentManagedAccess, device));
  if (pages_move == 0) return;
#if CUDART_VERSION >= 13000  // the destination is a place now: a device, the host, a NUMA node
  cudaMemLocation place{};
  place.type = cudaMemLocationTypeDevice;
  place.id = device;
  CUDA_CHECK(cudaMemPrefetchAsync(words, n * kWord, place, 0, nullptr));
#else
  CUDA_CHECK(cudaMemPrefetchAsync(words, n * kWord, device, nullptr));
#endif
}

constexpr std::size_t kManagedWords = 16_Mi;

// h_x is managed memory in these. The host writes it anew: its pages come to the host.
void host_writes(const Transfer& t) { std::memcpy(t.h_x, t.data, t.n * kWord); }

// The kernel gets the same pointer that the host wrote by. What is not there yet arrives by faults.
void managed_read(const Transfer& t) { run_passes(t, t.h_x, t.d_y); }
void managed_prefetched(const Transfer& t) {
  prefetch_to_device(t.h_x, t.n);
  run_passes(t, t.h_x, t.d_y);
}

// The way back: a fill on the device takes the pages there, and the host's writing brings them
// home.
void fill_on_device(const Transfer& t) { CUDA_CHECK(cudaMemset(t.h_x, 0xff, t.n * kWord)); }

bool host_words_are_right(const std::string& name, const Transfer& t) {
  return all_equal(name, t.h_x, t.data, t.n);
}
