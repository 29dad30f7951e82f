// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 17, write the code: a histogram of all devices, on all devices.
//
// Each rank has bytes of its own, and each of them counts `weight` times. histogram() leaves the
// histogram of a rank's own bytes in its `counts`, and that of all ranks' bytes in the `total` of
// each, added up by one all-reduce (modulo 2^32). Nothing but NCCL carries anything from device to
// device or to the host. All work is put on the ranks' streams, and waited for by the caller.
// Whichever device was current is current afterwards.
// Check it: make lab CH=17 EX=2      A hint: make hint CH=17 EX=2
#include <nccl.h>

#include "common/common.cuh"

constexpr std::size_t kBins = 256;

struct Rank {
  int device;
  cudaStream_t stream;      // of the device; no other stream waits for it
  ncclComm_t communicator;  // the rank's own
  const unsigned char* x;   // n bytes in memory of the device; n may be 0
  std::size_t n;
  unsigned weight;
  unsigned *counts, *total;  // kBins each, in memory of the device, with anything in them
};

__global__ void add_to_bins(const unsigned char* x, std::size_t n, unsigned weight,
                            unsigned* bins) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i]], weight);
}

void check(ncclResult_t result) {
  if (result != ncclSuccess) std::printf("NCCL: %s\n", ncclGetErrorString(result));
  CUDA_CHECK(result == ncclSuccess ? cudaSuccess : cudaErrorUnknown);
}

void histogram(const std::vector<Rank>& ranks) {
  // TODO: each rank counts its own bytes, and all get the sums
  (void)ranks;
  // end of TODO
}
