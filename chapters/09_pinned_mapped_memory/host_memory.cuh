// SPDX-License-Identifier: MIT
// Chapter 09, five kinds of host memory: how to get it, and the one right way to give it back.
#pragma once

#include <cstddef>

#include "../../common/common.cuh"

constexpr std::size_t kWord = sizeof(unsigned);  // sizes are counted in words of 4 bytes

template <unsigned kFlags>
unsigned* alloc_pinned(std::size_t n) {
  unsigned* words = nullptr;
  CUDA_CHECK(cudaHostAlloc(&words, n * kWord, kFlags));
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

struct HostMemory {
  const char *name, *summary;
  unsigned* (*get)(std::size_t n);
  void (*give_back)(unsigned*);
};
const HostMemory kKinds[] = {
    {"pageable", "plain memory, from new", [](std::size_t n) { return new unsigned[n]; },
     [](unsigned* words) { delete[] words; }},
    {"pinned", "pages that stay where they are", alloc_pinned<cudaHostAllocDefault>, free_pinned},
    {"portable", "pinned for all devices", alloc_pinned<cudaHostAllocPortable>, free_pinned},
    {"write_combined", "pinned, and past the CPU's caches",
     alloc_pinned<cudaHostAllocWriteCombined>, free_pinned},
    {"registered", "plain memory, pinned afterwards", new_registered, delete_registered},
};
const HostMemory &kPageable = kKinds[0], &kPinned = kKinds[1], &kWriteCombined = kKinds[3];
