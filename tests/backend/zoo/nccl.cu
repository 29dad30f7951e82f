// SPDX-License-Identifier: MIT
// Ranks of NCCL in one process that do not agree, or use what belongs to another one. A GPU would
// wait for ever in most of these. Right ones are in nccl_processes.cu and nccl_race.cu.
// RUN: CUDA_CPU_DEVICES=3
// RUN: CUDA_CPU_DEVICES=3 CUDA_CPU_SCHEDULE=reverse
//
// CASE: orders_that_differ
// EXPECT: {file}:{broadcast}: error: rank 1 calls ncclBroadcast where rank 0 calls ncclAllReduce
// EXPECT: they differ in the call: ncclBroadcast and ncclAllReduce
// EXPECT: {file}:{first}: note: rank 0: ncclAllReduce of 100 ncclFloat, ncclSum
// EXPECT: help: all ranks call the same collectives in the same order
//
// CASE: counts_that_differ
// EXPECT: {file}:{count}: error: ncclAllReduce of rank 1 does not match that of rank 0
// EXPECT: they differ in the count: 99 and 100
//
// CASE: missing_rank
// EXPECT: {file}:{no_last}: error: ncclAllReduce of rank 0 waits for rank 2
// EXPECT: {file}:{before}: note: rank 2 has called nothing more; its last collective was ncclAllReduce of 10 ncclFloat, ncclSum
// EXPECT-STDOUT: cudaErrorLaunchTimeout
//
// CASE: missing_group
// EXPECT: {file}:{loop}: error: ncclAllReduce of rank 1 outside of a group, by the thread that calls for rank 0, too
// EXPECT: help: put the calls for all ranks of a thread between ncclGroupStart and ncclGroupEnd
//
// CASE: communicators_without_a_group
// RUN: CUDA_CPU_DEVICES=3 CUDA_CPU_TIMEOUT=2
// EXPECT: {file}:{init}: error: ncclCommInitRank: rank 0 of 3 waits for ranks 1-2
// EXPECT: help: a thread that has several devices makes them between ncclGroupStart and ncclGroupEnd
//
// CASE: group_without_an_end
// EXPECT: {file}:{start}: error: ncclGroupStart without ncclGroupEnd
// EXPECT: 3 calls of the group were never made
//
// CASE: ranks_on_one_device
// EXPECT: {file}:{same}: error: ncclCommInitRank: ranks 0 and 1 are both on device 0
// EXPECT: help: give each rank a device of its own: cudaSetDevice before the communicator
//
// CASE: memory_of_another_device
// EXPECT: {file}:{foreign}: error: ncclAllReduce of rank 1: recvbuff is memory of device 0, and the rank is on device 1
// EXPECT: {file}:{allocated}: note: allocated here by cudaMalloc
//
// CASE: stream_of_another_device
// EXPECT: {file}:{stream}: error: ncclAllReduce of rank 0: the stream belongs to device 1, and the rank is on device 0
//
// CASE: host_memory
// EXPECT: {file}:{host}: error: ncclBroadcast of rank 0: sendbuff is host memory
//
// CASE: past_the_end
// EXPECT: {file}:{past}: error: ncclAllGather of rank 0: past the end of recvbuff
// EXPECT: ncclAllGather of 100 ncclFloat uses 1200 bytes of it, and from there to the end of the memory are 400
//
// CASE: freed_too_early
// EXPECT: {file}:{early}: error: ncclAllReduce of rank 2: sendbuff was freed
// EXPECT: {file}:{freed}: note: freed here
//
// CASE: sends_that_wait_for_each_other
// At once, without any limit.
// RUN: CUDA_CPU_DEVICES=3 CUDA_CPU_TIMEOUT=0
// EXPECT: {file}:{send}: error: ncclSend of rank 0 waits for rank 1
// EXPECT: {file}:{send}: note: rank 1 waits in ncclSend of 100 ncclFloat to rank 0
// EXPECT: help: each send needs a receive on the other rank; those that wait for each other belong between
//
// CASE: send_and_receive_that_differ
// EXPECT: {file}:{longer}: error: ncclRecv of rank 1 does not match ncclSend of rank 0
// EXPECT: they differ in the count: 100 and 50
//
// CASE: to_itself_without_a_group
// EXPECT: {file}:{itself}: error: rank 0 sends to itself without a receive, or receives without a send
//
// CASE: not_waited_for
// EXPECT-STATUS: 0
// EXPECT: {file}:{end}: note: the program ended before this ran: ncclAllReduce (and 2 more)

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "../../../common/check.cuh"
#include "cases.cuh"

constexpr int kRanks = 3;
constexpr std::size_t kN = 100;

// Goes on after an error, so that what it leads to would be seen, too.
void say(ncclResult_t result) {
  if (result != ncclSuccess) std::printf("%s\n", ncclGetErrorString(result));
}

struct Machine {
  ncclComm_t comm[kRanks];
  cudaStream_t stream[kRanks];
  float* x[kRanks];

  Machine() {
    say(ncclCommInitAll(comm, kRanks, nullptr));
    for (int r = 0; r < kRanks; ++r) {
      cudaSetDevice(r);
      cudaStreamCreate(&stream[r]);
      cudaMalloc(&x[r], kN * sizeof(float));  // @allocated
      cudaMemset(x[r], 0, kN * sizeof(float));
      cudaDeviceSynchronize();
    }
  }
  // Calls for each rank, in a group.
  template <class Call>
  void group(Call call) {
    ncclGroupStart();
    for (int r = 0; r < kRanks; ++r) call(r);
    say(ncclGroupEnd());
  }
  void wait() {
    for (int r = 0; r < kRanks; ++r) {
      const cudaError_t error = cudaStreamSynchronize(stream[r]);
      if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorName(error));
    }
  }
};

CASE(orders_that_differ) {
  Machine m;
  m.group([&](int r) {
    float* const x = m.x[r];
    if (r == 1) say(ncclBroadcast(x, x, kN, ncclFloat, 0, m.comm[r], m.stream[r]));  // @broadcast
    say(ncclAllReduce(x, x, kN, ncclFloat, ncclSum, m.comm[r], m.stream[r]));        // @first
    if (r != 1) say(ncclBroadcast(x, x, kN, ncclFloat, 0, m.comm[r], m.stream[r]));
  });
  m.wait();
}

CASE(counts_that_differ) {
  Machine m;
  m.group([&](int r) {
    const std::size_t n = r == 1 ? kN - 1 : kN;
    say(ncclAllReduce(m.x[r], m.x[r], n, ncclFloat, ncclSum, m.comm[r], m.stream[r]));  // @count
  });
  m.wait();
}

CASE(missing_rank) {
  Machine m;
  m.group([&](int r) {
    say(ncclAllReduce(m.x[r], m.x[r], 10, ncclFloat, ncclSum, m.comm[r], m.stream[r]));  // @before
  });
  m.group([&](int r) {
    if (r == kRanks - 1) return;
    say(ncclAllReduce(m.x[r], m.x[r], kN, ncclFloat, ncclSum, m.comm[r], m.stream[r]));  // @no_last
  });
  m.wait();
}

CASE(missing_group) {
  Machine m;
  for (int r = 0; r < kRanks; ++r) {
    say(ncclAllReduce(m.x[r], m.x[r], kN, ncclFloat, ncclSum, m.comm[r], m.stream[r]));  // @loop
  }
  m.wait();
}

CASE(communicators_without_a_group) {
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  say(ncclGetUniqueId(&id));
  for (int r = 0; r < kRanks; ++r) {
    cudaSetDevice(r);
    const ncclResult_t result = ncclCommInitRank(&comm, kRanks, id, r);  // @init
    say(result);
    if (result != ncclSuccess) return;
  }
}

CASE(group_without_an_end) {
  Machine m;
  ncclGroupStart();  // @start
  for (int r = 0; r < kRanks; ++r) {
    say(ncclAllReduce(m.x[r], m.x[r], kN, ncclFloat, ncclSum, m.comm[r], m.stream[r]));
  }
  m.wait();
}

CASE(ranks_on_one_device) {
  ncclUniqueId id;
  ncclComm_t comm[2];
  say(ncclGetUniqueId(&id));
  ncclGroupStart();
  for (int r = 0; r < 2; ++r) say(ncclCommInitRank(&comm[r], 2, id, r));  // @same
  say(ncclGroupEnd());
}

CASE(memory_of_another_device) {
  Machine m;
  m.group([&](int r) {
    const float one = 1;
    CUDA_CHECK(cudaMemcpy(m.x[r], &one, sizeof one, cudaMemcpyDefault));
    say(ncclAllReduce(m.x[r], m.x[0], kN, ncclFloat, ncclSum, m.comm[r], m.stream[r]));  // @foreign
  });
  m.wait();
  float sum = 0;
  CUDA_CHECK(cudaMemcpy(&sum, m.x[0], sizeof sum, cudaMemcpyDefault));
  std::printf("%g\n", sum);
}

CASE(stream_of_another_device) {
  Machine m;
  m.group([&](int r) {
    say(ncclAllReduce(m.x[r], m.x[r], kN, ncclFloat, ncclSum, m.comm[r], m.stream[1]));  // @stream
  });
}

CASE(host_memory) {
  Machine m;
  std::vector<float> values(kN);
  m.group([&](int r) {
    say(ncclBroadcast(values.data(), m.x[r], kN, ncclFloat, 0, m.comm[r], m.stream[r]));  // @host
  });
}

CASE(past_the_end) {
  Machine m;
  m.group([&](int r) {
    say(ncclAllGather(m.x[r], m.x[r], kN, ncclFloat, m.comm[r], m.stream[r]));  // @past
  });
}

CASE(freed_too_early) {
  Machine m;
  float* y = nullptr;
  CUDA_CHECK(cudaMallocAsync(&y, kN * sizeof(float), m.stream[2]));  // device 2 is current
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r) {
    const float* const from = r == 2 ? y : m.x[r];
    say(ncclAllReduce(from, m.x[r], kN, ncclFloat, ncclSum, m.comm[r], m.stream[r]));  // @early
  }
  CUDA_CHECK(cudaFree(y));  // @freed
  say(ncclGroupEnd());
  m.wait();
}

// Each rank has a thread; none is in a group.
CASE(sends_that_wait_for_each_other) {
  Machine m;
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&m, r] {
      cudaSetDevice(r);
      say(ncclSend(m.x[r], kN, ncclFloat, 1 - r, m.comm[r], m.stream[r]));  // @send
      say(ncclRecv(m.x[r], kN, ncclFloat, 1 - r, m.comm[r], m.stream[r]));
    });
  }
  for (std::thread& thread : threads) thread.join();
  m.wait();
}

CASE(send_and_receive_that_differ) {
  Machine m;
  ncclGroupStart();
  say(ncclSend(m.x[0], kN / 2, ncclFloat, 1, m.comm[0], m.stream[0]));
  say(ncclRecv(m.x[1], kN, ncclFloat, 0, m.comm[1], m.stream[1]));  // @longer
  say(ncclGroupEnd());
  m.wait();
}

CASE(to_itself_without_a_group) {
  Machine m;
  say(ncclSend(m.x[0], kN, ncclFloat, 0, m.comm[0], m.stream[0]));  // @itself
  m.wait();
}

CASE(not_waited_for) {
  Machine m;
  m.group([&](int r) {
    say(ncclAllReduce(m.x[r], m.x[r], kN, ncclFloat, ncclSum, m.comm[r], m.stream[r]));  // @end
  });
}
