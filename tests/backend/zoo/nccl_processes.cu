// SPDX-License-Identifier: MIT
// Ranks of NCCL in processes of their own, of which one dies, ends, does not come or does something
// else. One process says what is wrong, in seconds, and all of them end.
//
// CASE: killed
// RUN: CUDA_CPU_DEVICES=3
// EXPECT: {file}:{all_reduce}: error: ncclAllReduce of rank
// EXPECT: {file}:{all_reduce}: note: the process of rank 1 has ended; its last collective was ncclAllReduce of 100 ncclFloat, ncclSum
// EXPECT-STDOUT: 2 processes failed, 1 was killed, nothing is left
//
// CASE: ended
// RUN: CUDA_CPU_DEVICES=3
// RUN: CUDA_CPU_DEVICES=3 CUDA_CPU_SCHEDULE=random:1
// EXPECT: {file}:{all_reduce}: error: ncclAllReduce of rank
// EXPECT: rank 1 has left the communicator; its last collective was ncclAllReduce
// EXPECT-STDOUT: 2 processes failed, 0 were killed, nothing is left
//
// CASE: waits_elsewhere
// RUN: CUDA_CPU_DEVICES=3 CUDA_CPU_TIMEOUT=2
// EXPECT: {file}:{all_reduce}: error: ncclAllReduce of rank
// EXPECT: {file}:{all_reduce}: note: rank 1 has called nothing more; its last collective was ncclAllReduce
// EXPECT-STDOUT: 2 processes failed, 0 were killed, nothing is left
//
// CASE: does_not_come
// RUN: CUDA_CPU_DEVICES=3 CUDA_CPU_TIMEOUT=2
// EXPECT: {file}:{init}: error: ncclCommInitRank: rank
// EXPECT: of 3 waits for rank 1
// EXPECT-STDOUT: 2 processes failed, 0 were killed, nothing is left
//
// CASE: counts_that_differ
// RUN: CUDA_CPU_DEVICES=3
// RUN: CUDA_CPU_DEVICES=1
// EXPECT: {file}:{all_reduce}: error: ncclAllReduce of rank 1 does not match that of rank 0
// EXPECT: they differ in the count: 1 and 100
// EXPECT: stops, for rank
// EXPECT-STDOUT: 3 processes failed, 0 were killed, nothing is left
//
// CASE: on_one_device
// RUN: CUDA_CPU_DEVICES=3
// EXPECT: {file}:{init}: error: ncclCommInitRank: ranks
// EXPECT: are both on device 0
// EXPECT-STDOUT: 3 processes failed, 0 were killed, nothing is left
//
// CASE: slow_hosts
// A rank whose host computes for longer than others wait for one that does nothing; then one that
// has called, and computes.
// RUN: CUDA_CPU_DEVICES=3 CUDA_CPU_TIMEOUT=1
// EXPECT-STDOUT: 0 processes failed, 0 were killed, nothing is left
//
// CASE: all_is_right
// Each process takes the device of its rank, or sees one device alone.
// RUN: CUDA_CPU_DEVICES=3
// RUN: CUDA_CPU_DEVICES=1
// RUN: CUDA_CPU_DEVICES=3 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_DEVICES=3 CUDA_CPU_SCHEDULE=random:1
// EXPECT-STDOUT: 0 processes failed, 0 were killed, nothing is left

#include <cuda_runtime.h>
#include <nccl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../../common/check.cuh"
#include "cases.cuh"

constexpr int kRanks = 3;
constexpr std::size_t kN = 100;

void check(ncclResult_t result) {
  if (result == ncclSuccess) return;
  std::printf("%s\n", ncclGetErrorString(result));
  std::exit(1);
}

// A file would do as well.
struct HandedOver {
  std::atomic<bool> is_there;
  ncclUniqueId id;
};

// What a rank has: its communicator, and numbers on its device.
struct Rank {
  int number;
  ncclComm_t comm = nullptr;
  float* x = nullptr;

  Rank(int rank, HandedOver* handed_over, bool on_first_device = false) : number(rank) {
    if (rank == 0) {
      check(ncclGetUniqueId(&handed_over->id));
      handed_over->is_there = true;
    }
    while (!handed_over->is_there) usleep(1000);
    int devices = 0;
    CUDA_CHECK(cudaGetDeviceCount(&devices));
    CUDA_CHECK(cudaSetDevice(on_first_device ? 0 : rank % devices));
    check(ncclCommInitRank(&comm, kRanks, handed_over->id, rank));  // @init
    CUDA_CHECK(cudaMalloc(&x, kN * sizeof(float)));
  }
  // Rank r gives r + 1; the sum is 6.
  void add(std::size_t n = kN) {
    const std::vector<float> values(kN, static_cast<float>(number + 1));
    CUDA_CHECK(cudaMemcpy(x, values.data(), kN * sizeof(float), cudaMemcpyHostToDevice));
    check(ncclAllReduce(x, x, n, ncclFloat, ncclSum, comm, nullptr));  // @all_reduce
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
    std::vector<float> sums(kN);
    CUDA_CHECK(cudaMemcpy(sums.data(), x, kN * sizeof(float), cudaMemcpyDeviceToHost));
    if (sums != std::vector<float>(kN, 6.0f)) std::exit(1);
  }
  void end() {
    CUDA_CHECK(cudaFree(x));
    check(ncclCommDestroy(comm));
  }
};

// Runs ranks in processes of their own, and says what became of them.
void in_processes(void (*run)(int rank, HandedOver* handed_over)) {
  void* const page =
      mmap(nullptr, sizeof(HandedOver), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const handed_over = new (page) HandedOver{};
  char folder[] = "/tmp/zooXXXXXX";
  if (mkdtemp(folder) == nullptr || setenv("TMPDIR", folder, 1) != 0) std::exit(2);
  for (int rank = 0; rank < kRanks; ++rank) {
    if (fork() != 0) continue;
    run(rank, handed_over);
    std::exit(0);
  }
  int failed = 0, killed = 0;
  for (int status = 0; wait(&status) > 0;) {
    if (WIFSIGNALED(status)) ++killed;
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) ++failed;
  }
  const bool is_empty = rmdir(folder) == 0;
  std::printf("%d processes failed, %d %s killed, %s left\n", failed, killed,
              killed == 1 ? "was" : "were", is_empty ? "nothing is" : "files are");
  std::fflush(stdout);
  std::exit(failed + killed == 0 ? 0 : 1);
}

CASE(killed) {
  in_processes([](int rank, HandedOver* handed_over) {
    Rank it(rank, handed_over);
    it.add();
    if (rank == 1) raise(SIGKILL);
    it.add();
  });
}

CASE(ended) {
  in_processes([](int rank, HandedOver* handed_over) {
    Rank it(rank, handed_over);
    it.add();
    if (rank != 1) it.add();
    it.end();
  });
}

CASE(waits_elsewhere) {
  in_processes([](int rank, HandedOver* handed_over) {
    Rank it(rank, handed_over);
    it.add();
    if (rank == 1) {
      sleep(4);
      _exit(0);
    }
    it.add();
  });
}

CASE(does_not_come) {
  in_processes([](int rank, HandedOver* handed_over) {
    if (rank != 1) Rank(rank, handed_over).end();
  });
}

CASE(counts_that_differ) {
  in_processes([](int rank, HandedOver* handed_over) {
    Rank it(rank, handed_over);
    it.add();
    it.add(rank == 1 ? 1 : kN);
  });
}

CASE(on_one_device) {
  in_processes([](int rank, HandedOver* handed_over) { Rank(rank, handed_over, true).end(); });
}

void compute(int seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(seconds)) continue;
}

CASE(slow_hosts) {
  in_processes([](int rank, HandedOver* handed_over) {
    Rank it(rank, handed_over);
    if (rank == 1) compute(2);
    it.add();
    const int next = (rank + 1) % kRanks, before = (rank + kRanks - 1) % kRanks;
    if (rank != 1) usleep(200000);  // what rank 1 waits for is sent when its host is gone
    check(ncclGroupStart());
    check(ncclSend(it.x, 1, ncclFloat, next, it.comm, nullptr));
    check(ncclRecv(it.x + 1, 1, ncclFloat, before, it.comm, nullptr));
    check(ncclGroupEnd());
    if (rank == 1) compute(2);
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
    it.end();
  });
}

CASE(all_is_right) {
  in_processes([](int rank, HandedOver* handed_over) {
    Rank it(rank, handed_over);
    for (int turn = 0; turn < 20; ++turn) it.add();
    // A ring.
    float* y = nullptr;
    CUDA_CHECK(cudaMalloc(&y, kN * sizeof(float)));
    const std::vector<float> own(kN, static_cast<float>(rank));
    CUDA_CHECK(cudaMemcpy(it.x, own.data(), kN * sizeof(float), cudaMemcpyHostToDevice));
    for (int turn = 0; turn < 5; ++turn) {
      check(ncclGroupStart());
      check(ncclSend(it.x, kN, ncclFloat, (rank + 1) % kRanks, it.comm, nullptr));
      check(ncclRecv(y, kN, ncclFloat, (rank + kRanks - 1) % kRanks, it.comm, nullptr));
      check(ncclGroupEnd());
      std::swap(it.x, y);
    }
    std::vector<float> got(kN);
    CUDA_CHECK(cudaMemcpy(got.data(), it.x, kN * sizeof(float), cudaMemcpyDeviceToHost));
    if (got != std::vector<float>(kN, static_cast<float>((rank + 1) % kRanks))) std::exit(1);
    CUDA_CHECK(cudaFree(y));
    it.end();
  });
}
