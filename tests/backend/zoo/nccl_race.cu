// SPDX-License-Identifier: MIT
// What a collective reads and writes is used meanwhile by a kernel of another stream, or by the
// host; and the right twins.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_DEVICES=2
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_DEVICES=2 CUDA_CPU_SCHEDULE=reverse
//
// CASE: kernel_beside
// EXPECT: {file}:{store}: error: race:
// EXPECT: {file}:{reduce}: note:
// EXPECT: ncclAllReduce
//
// CASE: host_too_early
// EXPECT: {file}:{host}: error: race: a write by the host
// EXPECT: ncclAllReduce
//
// CASE: ordered
// By an event; by the communicator, whose calls keep their order in different streams; by the
// rendezvous of the ranks; and the host has waited.
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_DEVICES=2 CUDA_CPU_SCHEDULE=random:2
// EXPECT-STDOUT: 14 15

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>

#include "../../../common/check.cuh"
#include "cases.cuh"

constexpr int kRanks = 2;

__global__ void store(int* x, int value) {
  *x = value;  // @store
}

struct Machine {
  ncclComm_t comm[kRanks];
  cudaStream_t stream[kRanks], other[kRanks];
  int* x[kRanks];

  Machine() {
    ncclCommInitAll(comm, kRanks, nullptr);
    for (int r = 0; r < kRanks; ++r) {
      CUDA_CHECK(cudaSetDevice(r));
      CUDA_CHECK(cudaStreamCreate(&stream[r]));
      CUDA_CHECK(cudaStreamCreate(&other[r]));
      CUDA_CHECK(cudaMallocManaged(&x[r], sizeof(int)));
      *x[r] = 0;
    }
  }
  void add(const cudaStream_t* in) {
    ncclGroupStart();
    for (int r = 0; r < kRanks; ++r) {
      ncclAllReduce(x[r], x[r], 1, ncclInt, ncclSum, comm[r], in[r]);  // @reduce
    }
    ncclGroupEnd();
  }
  void wait() {
    for (int r = 0; r < kRanks; ++r) {
      CUDA_CHECK(cudaSetDevice(r));
      CUDA_CHECK(cudaDeviceSynchronize());
    }
  }
};

CASE(kernel_beside) {
  Machine m;
  CUDA_CHECK(cudaSetDevice(1));
  m.add(m.stream);
  store<<<1, 1, 0, m.other[1]>>>(m.x[1], 3);
  m.wait();
}

CASE(host_too_early) {
  Machine m;
  m.add(m.stream);
  *m.x[0] = 5;  // @host
  m.wait();
}

CASE(ordered) {
  Machine m;
  for (int r = 0; r < kRanks; ++r) {
    cudaEvent_t stored = nullptr;
    CUDA_CHECK(cudaSetDevice(r));
    CUDA_CHECK(cudaEventCreate(&stored));
    store<<<1, 1, 0, m.other[r]>>>(m.x[r], 3 + r);
    CUDA_CHECK(cudaEventRecord(stored, m.other[r]));
    CUDA_CHECK(cudaStreamWaitEvent(m.stream[r], stored));
    CUDA_CHECK(cudaEventDestroy(stored));
  }
  // Rank 0's stream comes after what rank 1's did before both met.
  int* before = nullptr;
  CUDA_CHECK(cudaMallocManaged(&before, sizeof(int)));
  store<<<1, 1, 0, m.stream[1]>>>(before, 14);
  m.add(m.stream);
  CUDA_CHECK(cudaSetDevice(0));
  store<<<1, 1, 0, m.stream[0]>>>(before, 15);
  m.add(m.other);
  m.wait();
  std::printf("%d %d\n", *m.x[0], *before);
  CUDA_CHECK(cudaFree(before));
  for (int r = 0; r < kRanks; ++r) {
    CUDA_CHECK(cudaFree(m.x[r]));
    CUDA_CHECK(cudaStreamDestroy(m.stream[r]));
    CUDA_CHECK(cudaStreamDestroy(m.other[r]));
    ncclCommDestroy(m.comm[r]);
  }
}
