// SPDX-License-Identifier: MIT
// Pinned memory cannot be paged out, so there is no more of it than the machine has memory. Too
// much is refused with an error, and the pointer is null.
// EXPECT-STDOUT: heap: there; pinned: cudaErrorMemoryAllocation, pointer null
// EXPECT: {file}:{checked}: cudaHostAlloc(&pinned, kTooMuch, 0) failed: cudaErrorMemoryAllocation

#include <sys/mman.h>

#include <cstdio>

#include "../../../common/check.cuh"

constexpr std::size_t kTooMuch = std::size_t{1} << 44;

int main() {
  // Pageable memory is a promise: 16 TiB of addresses cost nothing until they are written to.
  void* const heap = mmap(nullptr, kTooMuch, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char* pinned = nullptr;
  const cudaError_t error = cudaHostAlloc(&pinned, kTooMuch, 0);
  std::printf("heap: %s; pinned: %s, pointer %s\n", heap != MAP_FAILED ? "there" : "refused",
              cudaGetErrorName(error), pinned == nullptr ? "null" : "set");
  std::fflush(stdout);
  cudaGetLastError();                               // asking clears it
  CUDA_CHECK(cudaHostAlloc(&pinned, kTooMuch, 0));  // @checked
}
