// SPDX-License-Identifier: MIT
// Chapter 06, constant memory from the host: copies to the symbol and from it, and one that has to
// be refused. Included by constant_memory.cu, whose variable it fills.
#pragma once

#include <cstdio>
#include <vector>

#include "../../common/common.cuh"

std::vector<int> download_words() {
  std::vector<int> words(kWords);
  CUDA_CHECK(cudaMemcpyFromSymbol(words.data(), constant_words, sizeof(constant_words)));
  return words;
}

bool constant_memory_holds(const std::vector<int>& words) {
  return all_equal("constant memory", download_words().data(), words.data(), kWords);
}

// The host writes constant memory by the name of the variable. In two halves, to show the offset:
// like the size it counts bytes. Returns whether the words are there, read back.
bool upload_words(const std::vector<int>& words) {
  constexpr std::size_t kHalf = sizeof(constant_words) / 2;
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, words.data(), kHalf));
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, words.data() + kWords / 2, kHalf, kHalf));
  return constant_memory_holds(words);
}

// One int too many. The runtime knows how large the variable is, refuses, and copies nothing. A
// program that can go on without the copy looks at the code instead of ending at it.
int try_large_copy(const std::vector<int>& words) {
  const std::vector<int> longer(kWords + 1, -1);
  const std::size_t bytes = longer.size() * sizeof(int);
  const cudaError_t status = cudaMemcpyToSymbol(constant_words, longer.data(), bytes);
  std::printf("%zu bytes to a variable of %zu: %s: %s\n", bytes, sizeof(constant_words),
              cudaGetErrorName(status), cudaGetErrorString(status));
  CUDA_CHECK(cudaGetLastError() == status ? cudaSuccess : cudaErrorUnknown);  // and now forgotten
  const bool unchanged = constant_memory_holds(words);
  std::printf("handled: the table is %s\n", unchanged ? "as it was" : "DAMAGED");
  return status != cudaSuccess && unchanged ? kExitOk : kExitWrong;
}
