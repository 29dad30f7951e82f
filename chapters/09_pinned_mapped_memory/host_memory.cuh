// SPDX-License-Identifier: MIT
// Chapter 09, the kinds of host memory: how to get each, and the one right way to give it back.
#pragma once

#include <cstddef>

#include "../../common/common.cuh"

constexpr std::size_t kWord = sizeof(unsigned);  // sizes are counted in words of 4 bytes

unsigned* new_pinned(std::size_t n) {
  unsigned* words = nullptr;
  CUDA_CHECK(cudaMallocHost(&words, n * kWord));
  return words;
}
unsigned* new_write_combined(std::size_t n) {
  unsigned* words = nullptr;
  CUDA_CHECK(cudaHostAlloc(&words, n * kWord, cudaHostAllocWriteCombined));
  return words;
}
void free_pinned(unsigned* words) { CUDA_CHECK(cudaFreeHost(words)); }

// Memory that was there already, pinned where it lies: what a library does to its caller's.
unsigned* new_registered(std::size_t n) {
  unsigned* const words = new unsigned[n];
  CUDA_CHECK(cudaHostRegister(words, n * kWord, cudaHostRegisterDefault));
  return words;
}
void delete_registered(unsigned* words) {
  CUDA_CHECK(cudaHostUnregister(words));  // first: the heap must not get pinned pages back
  delete[] words;
}

// Neither the host's nor the device's: its pages lie with the side that used them last.
unsigned* new_managed(std::size_t n) {
  unsigned* words = nullptr;
  CUDA_CHECK(cudaMallocManaged(&words, n * kWord));
  return words;
}
void free_managed(unsigned* words) { CUDA_CHECK(cudaFree(words)); }

struct HostMemory {
  const char *name, *summary;
  unsigned* (*get)(std::size_t n);
  void (*give_back)(unsigned*);
};
const HostMemory kKinds[] = {
    {"pageable", "plain memory, from new", [](std::size_t n) { return new unsigned[n]; },
     [](unsigned* words) { delete[] words; }},
    {"pinned", "pages that stay where they are", new_pinned, free_pinned},
    {"write_combined", "pinned, and past the CPU's caches", new_write_combined, free_pinned},
    {"registered", "plain memory, pinned afterwards", new_registered, delete_registered},
};
const HostMemory &kPageable = kKinds[0], &kPinned = kKinds[1], &kWriteCombined = kKinds[2];
const HostMemory kManaged{"managed", "pages that move", new_managed, free_managed};
