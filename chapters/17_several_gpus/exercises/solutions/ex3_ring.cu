// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 17, fix the bug: halos that are right on four GPUs and wrong on two.
//
// A ring of elements lies in parts on the ranks' devices: behind the last rank's last element comes
// the first one of rank 0. Each part has room for a halo at either end: copies of the `width`
// elements that come before its own, and of those that come behind them. exchange_halos() brings
// them, for any number of ranks and also for one, by ncclSend and ncclRecv alone: a rank sends
// twice and receives twice. Then each rank makes a step of the stencil.
// Check it: make lab CH=17 EX=3      A hint: make hint CH=17 EX=3
#include <nccl.h>

#include "common/common.cuh"

struct Rank {
  int device;
  cudaStream_t stream;      // of the device; no other stream waits for it
  ncclComm_t communicator;  // the rank's own
  std::size_t count;        // of its own elements, at least `width`
  unsigned *x, *y;  // in memory of the device: `width` of a halo, its own, `width` of a halo
};

// Each element becomes the sum of itself and its `width` neighbours on either side, modulo 2^32.
__global__ void step(const unsigned* x, unsigned* y, std::size_t count, std::size_t width) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned sum = 0;
  for (std::size_t k = 0; k <= 2 * width; ++k) sum += x[i + k];
  y[width + i] = sum;
}

void check(ncclResult_t result) {
  if (result != ncclSuccess) std::printf("NCCL: %s\n", ncclGetErrorString(result));
  CUDA_CHECK(result == ncclSuccess ? cudaSuccess : cudaErrorUnknown);
}

// Both halos of each rank's x.
void exchange_halos(const std::vector<Rank>& ranks, std::size_t width) {
  check(ncclGroupStart());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Rank& rank = ranks[r];
    const int right = static_cast<int>((r + 1) % ranks.size());
    const int left = static_cast<int>((r + ranks.size() - 1) % ranks.size());
    unsigned* const own = rank.x + width;
    const auto send = [&](unsigned* from, int to) {
      check(ncclSend(from, width, ncclUint32, to, rank.communicator, rank.stream));
    };
    const auto receive = [&](unsigned* to, int from) {
      check(ncclRecv(to, width, ncclUint32, from, rank.communicator, rank.stream));
    };
    send(own, left);
    send(own + rank.count - width, right);
    receive(own + rank.count, right);
    receive(own - width, left);
  }
  check(ncclGroupEnd());
}

// A step of all ranks, from x to y; then y is x.
void make_step(std::vector<Rank>* ranks, std::size_t width) {
  exchange_halos(*ranks, width);
  for (Rank& rank : *ranks) {
    CUDA_CHECK(cudaSetDevice(rank.device));
    step<<<blocks_for(rank.count, 256), 256, 0, rank.stream>>>(rank.x, rank.y, rank.count, width);
    CUDA_CHECK_LAUNCH();
    std::swap(rank.x, rank.y);
  }
}
