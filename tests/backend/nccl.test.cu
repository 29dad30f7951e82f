// SPDX-License-Identifier: MIT
// NCCL on the CPU backend: communicators, collectives, sends and receives between the devices of
// one process. What is reported, and ranks in processes of their own, are in zoo/nccl.cu.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <nccl.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "../catch.hpp"
#include "handles.cuh"

namespace {

// Before the backend reads its settings.
__attribute__((constructor(101))) void ask_for_devices() { setenv("CUDA_CPU_DEVICES", "4", 1); }
constexpr int kRanks = 4;

__global__ void add(int* x, int n, int value) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] += value;
}

// A communicator of all devices, a stream each, and memory that is freed at the end.
struct Ranks {
  ncclComm_t comm[kRanks];
  cudaStream_t stream[kRanks];
  std::vector<void*> allocated;

  Ranks() {
    cuda_cpu::reset_diagnostics();
    REQUIRE(ncclCommInitAll(comm, kRanks, nullptr) == ncclSuccess);
    for (int r = 0; r < kRanks; ++r) {
      REQUIRE(cudaSetDevice(r) == cudaSuccess);
      REQUIRE(cudaStreamCreate(&stream[r]) == cudaSuccess);
    }
  }
  ~Ranks() {
    for (int r = 0; r < kRanks; ++r) {
      CHECK(ncclCommDestroy(comm[r]) == ncclSuccess);
      cudaSetDevice(r);
      cudaStreamDestroy(stream[r]);
    }
    for (void* const pointer : allocated) cudaFree(pointer);
    cudaSetDevice(0);
    cuda_cpu::reset_diagnostics();
  }

  /// Memory of a rank, with these values.
  template <class T>
  T* on(int rank, const std::vector<T>& values) {
    T* x = nullptr;
    REQUIRE(cudaSetDevice(rank) == cudaSuccess);
    REQUIRE(cudaMalloc(&x, sizeof(T) * std::max<std::size_t>(values.size(), 1)) == cudaSuccess);
    allocated.push_back(x);
    REQUIRE(cudaMemcpy(x, values.data(), sizeof(T) * values.size(), cudaMemcpyHostToDevice) ==
            cudaSuccess);
    return x;
  }
  template <class T>
  std::vector<T> read(int rank, const T* x, std::size_t n) {
    std::vector<T> values(n);
    REQUIRE(cudaSetDevice(rank) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream[rank]) == cudaSuccess);
    REQUIRE(cudaMemcpy(values.data(), x, sizeof(T) * n, cudaMemcpyDeviceToHost) == cudaSuccess);
    return values;
  }
  /// Calls call(rank) for each, in a group.
  template <class Call>
  void group(Call call) {
    REQUIRE(ncclGroupStart() == ncclSuccess);
    for (int r = 0; r < kRanks; ++r) CHECK(call(r) == ncclSuccess);
    REQUIRE(ncclGroupEnd() == ncclSuccess);
  }
};

std::vector<int> numbers(std::size_t n, int first) {
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace

// FEATURE: libraries: NCCL: `ncclAllReduce` and the other collectives
TEST_CASE("every rank gets the sum of an all-reduce, in place or not") {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{1000}}) {
    Ranks ranks;
    int* from[kRanks];
    int* to[kRanks];
    for (int r = 0; r < kRanks; ++r) {
      from[r] = ranks.on(r, numbers(n, 100 * r));
      to[r] = ranks.on(r, std::vector<int>(n, -1));
    }
    ranks.group([&](int r) {
      return ncclAllReduce(from[r], to[r], n, ncclInt, ncclSum, ranks.comm[r], ranks.stream[r]);
    });
    ranks.group([&](int r) {
      return ncclAllReduce(from[r], from[r], n, ncclInt, ncclMax, ranks.comm[r], ranks.stream[r]);
    });
    for (int r = 0; r < kRanks; ++r) {
      std::vector<int> sums(n);
      for (std::size_t i = 0; i < n; ++i) sums[i] = 4 * static_cast<int>(i) + 600;
      CHECK(ranks.read(r, to[r], n) == sums);
      CHECK(ranks.read(r, from[r], n) == numbers(n, 300));
    }
  }
}

TEST_CASE("every operation of a reduction, in every type") {
  Ranks ranks;
  const auto check = [&](auto zero, ncclDataType_t type) {
    using T = decltype(zero);
    const std::vector<std::vector<int>> given = {{3, 6}, {5, 2}, {7, 4}, {1, 8}};
    const std::vector<std::vector<int>> expected = {
        {16, 20}, {105, 384 % 256}, {7, 8}, {1, 2}, {4, 5}};
    for (const ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
      T* x[kRanks];
      for (std::size_t r = 0; r < kRanks; ++r) {
        std::vector<T> values;
        for (const int value : given[r]) values.push_back(static_cast<T>(value));
        x[r] = ranks.on(static_cast<int>(r), values);
      }
      ranks.group([&](int r) {
        return ncclAllReduce(x[r], x[r], 2, type, op, ranks.comm[r], ranks.stream[r]);
      });
      for (int r = 0; r < kRanks; ++r) {
        const std::vector<T> values = ranks.read(r, x[r], 2);
        CHECK(static_cast<double>(values[0]) == expected[op][0]);
        const bool wraps = op == ncclProd && sizeof(T) == 1;
        const bool is_signed = wraps && static_cast<T>(-1) < static_cast<T>(0);
        const double product = wraps ? (is_signed ? -128 : 128) : 384;
        CHECK(static_cast<double>(values[1]) == (op == ncclProd ? product : expected[op][1]));
      }
    }
  };
  check(std::int8_t{}, ncclInt8);
  check(std::uint8_t{}, ncclUint8);
  check(std::int32_t{}, ncclInt32);
  check(std::uint32_t{}, ncclUint32);
  check(std::int64_t{}, ncclInt64);
  check(std::uint64_t{}, ncclUint64);
  check(float{}, ncclFloat);
  check(double{}, ncclDouble);
  const auto check_short = [&](auto zero, ncclDataType_t type) {
    using T = decltype(zero);
    T* x[kRanks];
    for (int r = 0; r < kRanks; ++r)
      x[r] = ranks.on<T>(r, {T(0.5f * static_cast<float>(r)), T(2.0f)});
    ranks.group([&](int r) {
      return ncclAllReduce(x[r], x[r], 2, type, ncclSum, ranks.comm[r], ranks.stream[r]);
    });
    for (int r = 0; r < kRanks; ++r) {
      CHECK(static_cast<float>(ranks.read(r, x[r], 2)[0]) == 3.0f);
      CHECK(static_cast<float>(ranks.read(r, x[r], 2)[1]) == 8.0f);
    }
  };
  check_short(__half{}, ncclHalf);
  check_short(__nv_bfloat16{}, ncclBfloat16);
}

TEST_CASE("reduce and broadcast have a root") {
  Ranks ranks;
  int *from[kRanks], *to[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    from[r] = ranks.on(r, numbers(5, 10 * r));
    to[r] = ranks.on(r, std::vector<int>(5, -1));
  }
  ranks.group([&](int r) {  // only the root needs a place for the result
    return ncclReduce(from[r], r == 2 ? to[r] : nullptr, 5, ncclInt, ncclSum, 2, ranks.comm[r],
                      ranks.stream[r]);
  });
  for (int r = 0; r < kRanks; ++r) {
    CHECK(ranks.read(r, to[r], 5) ==
          (r == 2 ? std::vector<int>{60, 64, 68, 72, 76} : std::vector<int>(5, -1)));
  }
  ranks.group([&](int r) {  // and only the root something to send
    return ncclBroadcast(r == 1 ? from[r] : nullptr, to[r], 5, ncclInt, 1, ranks.comm[r],
                         ranks.stream[r]);
  });
  for (int r = 0; r < kRanks; ++r) CHECK(ranks.read(r, to[r], 5) == numbers(5, 10));
  ranks.group(
      [&](int r) { return ncclBcast(from[r], 5, ncclInt, 3, ranks.comm[r], ranks.stream[r]); });
  for (int r = 0; r < kRanks; ++r) CHECK(ranks.read(r, from[r], 5) == numbers(5, 30));
}

TEST_CASE("all-gather puts parts together and reduce-scatter hands parts out") {
  const bool in_place = GENERATE(false, true);
  constexpr std::size_t kPart = 3, kAll = kPart * kRanks;
  Ranks ranks;
  int *part[kRanks], *all[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    all[r] = ranks.on(r, std::vector<int>(kAll, -1));
    part[r] =
        in_place ? all[r] + kPart * static_cast<std::size_t>(r) : ranks.on(r, numbers(kPart, 0));
    cudaSetDevice(r);
    const std::vector<int> values = numbers(kPart, 10 * r);
    REQUIRE(cudaMemcpy(part[r], values.data(), kPart * sizeof(int), cudaMemcpyHostToDevice) ==
            cudaSuccess);
  }
  ranks.group([&](int r) {
    return ncclAllGather(part[r], all[r], kPart, ncclInt, ranks.comm[r], ranks.stream[r]);
  });
  const std::vector<int> gathered = {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32};
  for (int r = 0; r < kRanks; ++r) CHECK(ranks.read(r, all[r], kAll) == gathered);
  ranks.group([&](int r) {
    return ncclReduceScatter(all[r], part[r], kPart, ncclInt, ncclSum, ranks.comm[r],
                             ranks.stream[r]);
  });
  for (int r = 0; r < kRanks; ++r) {
    const int first = 40 * r;
    CHECK(ranks.read(r, part[r], kPart) == std::vector<int>{first, first + 4, first + 8});
  }
}

// FEATURE: libraries: NCCL: `ncclSend`, `ncclRecv` and groups
TEST_CASE("a ring of sends and receives in a group, and to oneself") {
  Ranks ranks;
  int *from[kRanks], *to[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    from[r] = ranks.on(r, numbers(4, 10 * r));
    to[r] = ranks.on(r, std::vector<int>(4, -1));
  }
  for (const int distance : {1, 0, 3}) {
    REQUIRE(ncclGroupStart() == ncclSuccess);
    for (int r = 0; r < kRanks; ++r) {
      const int next = (r + distance) % kRanks, before = (r + kRanks - distance) % kRanks;
      REQUIRE(ncclSend(from[r], 4, ncclInt, next, ranks.comm[r], ranks.stream[r]) == ncclSuccess);
      REQUIRE(ncclRecv(to[r], 4, ncclInt, before, ranks.comm[r], ranks.stream[r]) == ncclSuccess);
    }
    REQUIRE(ncclGroupEnd() == ncclSuccess);
    for (int r = 0; r < kRanks; ++r) {
      CHECK(ranks.read(r, to[r], 4) == numbers(4, 10 * ((r + kRanks - distance) % kRanks)));
    }
  }
}

TEST_CASE("several sends from one rank to another arrive in their order") {
  constexpr int kSends = 70;  // more than the board has places for
  Ranks ranks;
  int* const from = ranks.on(0, numbers(kSends, 5));
  int* const to = ranks.on(3, std::vector<int>(kSends, -1));
  REQUIRE(ncclGroupStart() == ncclSuccess);
  for (int i = 0; i < kSends; ++i) {
    REQUIRE(ncclSend(from + i, 1, ncclInt, 3, ranks.comm[0], ranks.stream[0]) == ncclSuccess);
  }
  REQUIRE(ncclGroupEnd() == ncclSuccess);
  for (int i = 0; i < kSends; ++i) {  // one after the other
    REQUIRE(ncclGroupStart() == ncclSuccess);
    REQUIRE(ncclRecv(to + i, 1, ncclInt, 0, ranks.comm[3], ranks.stream[3]) == ncclSuccess);
    REQUIRE(ncclGroupEnd() == ncclSuccess);
  }
  CHECK(ranks.read(3, to, kSends) == numbers(kSends, 5));
}

TEST_CASE("many collectives in one group") {
  constexpr int kTimes = 40;  // more than the board has places for
  Ranks ranks;
  int* x[kRanks];
  for (int r = 0; r < kRanks; ++r) x[r] = ranks.on(r, numbers(kTimes, r));
  REQUIRE(ncclGroupStart() == ncclSuccess);
  for (int r = 0; r < kRanks; ++r) {
    for (int i = 0; i < kTimes; ++i) {
      REQUIRE(ncclAllReduce(x[r] + i, x[r] + i, 1, ncclInt, ncclMax, ranks.comm[r],
                            ranks.stream[r]) == ncclSuccess);
    }
  }
  REQUIRE(ncclGroupEnd() == ncclSuccess);
  for (int r = 0; r < kRanks; ++r) CHECK(ranks.read(r, x[r], kTimes) == numbers(kTimes, 3));
}

TEST_CASE("a collective comes after what is in its rank's stream, and before what follows") {
  constexpr int kN = 1000;
  Ranks ranks;
  int* x[kRanks];
  for (int r = 0; r < kRanks; ++r) x[r] = ranks.on(r, std::vector<int>(kN, 0));
  for (int turn = 0; turn < 3; ++turn) {
    for (int r = 0; r < kRanks; ++r) {
      REQUIRE(cudaSetDevice(r) == cudaSuccess);
      add<<<8, 128, 0, ranks.stream[r]>>>(x[r], kN, r);  // 0 + 1 + 2 + 3
    }
    ranks.group([&](int r) {
      return ncclAllReduce(x[r], x[r], kN, ncclInt, ncclSum, ranks.comm[r], ranks.stream[r]);
    });
  }
  // 6, 4 * 6 + 6 = 30, 4 * 30 + 6 = 126; one rank alone is waited for.
  CHECK(ranks.read(2, x[2], kN) == std::vector<int>(kN, 126));
  CHECK(ranks.read(0, x[0], kN) == std::vector<int>(kN, 126));
}

TEST_CASE("the calls of a communicator keep their order in different streams") {
  Ranks ranks;
  cudaStream_t other[kRanks];
  int* x[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    x[r] = ranks.on(r, std::vector<int>{0});
    REQUIRE(cudaStreamCreate(&other[r]) == cudaSuccess);
    add<<<1, 1, 0, ranks.stream[r]>>>(x[r], 1, r);
  }
  ranks.group([&](int r) {  // 6
    return ncclAllReduce(x[r], x[r], 1, ncclInt, ncclSum, ranks.comm[r], ranks.stream[r]);
  });
  ranks.group([&](int r) {  // 24, and 0 without what came before
    return ncclAllReduce(x[r], x[r], 1, ncclInt, ncclSum, ranks.comm[r], other[r]);
  });
  for (int r = 0; r < kRanks; ++r) {
    REQUIRE(cudaStreamSynchronize(other[r]) == cudaSuccess);
    CHECK(ranks.read(r, x[r], 1)[0] == 24);
    cudaStreamDestroy(other[r]);
  }
}

TEST_CASE("a result is not there before its stream is waited for") {
  Ranks ranks;
  int* mapped[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    REQUIRE(cudaSetDevice(r) == cudaSuccess);
    REQUIRE(cudaHostAlloc(&mapped[r], sizeof(int), cudaHostAllocPortable) == cudaSuccess);
    *mapped[r] = r;
  }
  ranks.group([&](int r) {
    return ncclAllReduce(mapped[r], mapped[r], 1, ncclInt, ncclSum, ranks.comm[r], ranks.stream[r]);
  });
  CHECK(*mapped[1] == 1);
  REQUIRE(cudaStreamSynchronize(ranks.stream[1]) == cudaSuccess);
  CHECK(*mapped[1] == 6);
  for (int r = 0; r < kRanks; ++r) {
    REQUIRE(cudaStreamSynchronize(ranks.stream[r]) == cudaSuccess);
    cudaFreeHost(mapped[r]);
  }
}

TEST_CASE(
    "the current device does not matter for a collective, and null is the rank's own stream") {
  Ranks ranks;
  int* x[kRanks];
  for (int r = 0; r < kRanks; ++r) x[r] = ranks.on(r, std::vector<int>{r});
  REQUIRE(cudaSetDevice(3) == cudaSuccess);
  ranks.group([&](int r) {
    return ncclAllReduce(x[r], x[r], 1, ncclInt, ncclSum, ranks.comm[r], nullptr);
  });
  int device = -1;
  REQUIRE(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 3);
  for (int r = 0; r < kRanks; ++r) {
    REQUIRE(cudaSetDevice(r) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(ranks.read(r, x[r], 1)[0] == 6);
  }
}

TEST_CASE("a thread for each rank needs no group") {
  int sums[kRanks] = {};
  ncclUniqueId id;
  REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
  std::vector<std::thread> threads;
  for (int r = 0; r < kRanks; ++r) {
    threads.emplace_back([&sums, id, r] {
      ncclComm_t comm = nullptr;
      int *x = nullptr, of_comm[3] = {};
      cudaSetDevice(r);
      if (ncclCommInitRank(&comm, kRanks, id, r) != ncclSuccess) return;
      ncclCommCount(comm, &of_comm[0]);
      ncclCommUserRank(comm, &of_comm[1]);
      ncclCommCuDevice(comm, &of_comm[2]);
      cudaMalloc(&x, sizeof(int));
      cudaMemset(x, 0, sizeof(int));
      for (int turn = 0; turn < 5; ++turn) {
        add<<<1, 1>>>(x, 1, r);
        ncclAllReduce(x, x, 1, ncclInt, ncclSum, comm, nullptr);
      }
      int value = 0;
      cudaMemcpy(&value, x, sizeof(int), cudaMemcpyDeviceToHost);
      cudaFree(x);
      ncclCommDestroy(comm);
      if (of_comm[0] == kRanks && of_comm[1] == r && of_comm[2] == r) sums[r] = value;
    });
  }
  for (std::thread& thread : threads) thread.join();
  int expected = 0;
  for (int turn = 0; turn < 5; ++turn) expected = 4 * expected + 6;
  for (int r = 0; r < kRanks; ++r) CHECK(sums[r] == expected);
}

TEST_CASE("threads with two communicators wait at different times") {
  int results[kRanks] = {};
  ncclUniqueId ids[2];
  for (ncclUniqueId& id : ids) REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
  std::vector<std::thread> threads;
  for (int r = 0; r < kRanks; ++r) {
    threads.emplace_back([&results, &ids, r] {
      ncclComm_t sums = nullptr, ring = nullptr;
      int *x = nullptr, *y = nullptr;
      const int place = kRanks - 1 - r;  // in the ring
      cudaSetDevice(r);
      ncclCommInitRank(&sums, kRanks, ids[0], r);
      ncclCommInitRank(&ring, kRanks, ids[1], place);
      cudaMalloc(&x, sizeof(int));
      cudaMalloc(&y, sizeof(int));
      cudaMemset(x, 0, sizeof(int));
      for (int turn = 0; turn < 60; ++turn) {
        add<<<1, 1>>>(x, 1, r);
        ncclAllReduce(x, x, 1, ncclInt, ncclMax, sums, nullptr);
        if (turn % (r + 2) == 0) cudaStreamSynchronize(nullptr);
        ncclGroupStart();
        ncclSend(x, 1, ncclInt, (place + 1) % kRanks, ring, nullptr);
        ncclRecv(y, 1, ncclInt, (place + kRanks - 1) % kRanks, ring, nullptr);
        ncclGroupEnd();
        if (turn % (r + 5) == 0) cudaStreamSynchronize(nullptr);
      }
      cudaMemcpy(&results[r], y, sizeof(int), cudaMemcpyDeviceToHost);
      cudaFree(x);
      cudaFree(y);
      ncclCommDestroy(sums);
      ncclCommDestroy(ring);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int r = 0; r < kRanks; ++r) CHECK(results[r] == 60 * (kRanks - 1));
}

TEST_CASE("one thread makes communicators by an id in a group") {
  ncclUniqueId id;
  ncclComm_t comm[2];
  REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
  REQUIRE(ncclGroupStart() == ncclSuccess);
  for (int r = 0; r < 2; ++r) {
    REQUIRE(cudaSetDevice(2 * r) == cudaSuccess);
    REQUIRE(ncclCommInitRank(&comm[r], 2, id, r) == ncclSuccess);
  }
  REQUIRE(ncclGroupEnd() == ncclSuccess);
  int device = -1;
  CHECK(ncclCommCuDevice(comm[1], &device) == ncclSuccess);
  CHECK(device == 2);
  for (const ncclComm_t one : comm) {
    CHECK(ncclCommFinalize(one) == ncclSuccess);
    CHECK(ncclCommDestroy(one) == ncclSuccess);
  }
  cudaSetDevice(0);
}

TEST_CASE("versions, texts of errors, and a communicator that was destroyed") {
  Ranks ranks;
  int version = 0;
  CHECK(ncclGetVersion(&version) == ncclSuccess);
  CHECK(version == NCCL_VERSION_CODE);
  CHECK(std::string(ncclGetErrorString(ncclSuccess)) == "no error");
  CHECK(std::string(ncclGetErrorString(ncclInvalidUsage)).find("invalid usage") == 0);
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
  CHECK(is_explained("ncclGroupEnd without ncclGroupStart"));
  int* const x = ranks.on(0, std::vector<int>(4, 1));
  const auto all_reduce = [&](int* from, int* to, std::size_t n, ncclDataType_t type) {
    return ncclAllReduce(from, to, n, type, ncclSum, ranks.comm[0], ranks.stream[0]);
  };
  CHECK(all_reduce(x, x, std::size_t{1} << 62, ncclInt) == ncclInvalidArgument);
  CHECK(is_explained("4611686018427387904 elements"));
  CHECK(all_reduce(x, x + 1, 3, ncclInt) == ncclInvalidArgument);
  CHECK(is_explained("sendbuff and recvbuff overlap"));
  CHECK(all_reduce(x + 1, x + 1, 1, ncclDouble) == ncclInvalidArgument);
  CHECK(is_explained("misaligned"));
  CHECK(all_reduce(nullptr, x, 1, ncclInt) == ncclInvalidArgument);
  CHECK(is_explained("sendbuff is a null pointer"));
  CHECK(ncclSend(x, 1, ncclInt, 4, ranks.comm[0], ranks.stream[0]) == ncclInvalidArgument);
  CHECK(is_explained("there is no rank 4"));
  ncclComm_t one = nullptr;
  const int device = 1;
  REQUIRE(ncclCommInitAll(&one, 1, &device) == ncclSuccess);
  ncclResult_t error = ncclInternalError;
  CHECK(ncclCommGetAsyncError(one, &error) == ncclSuccess);
  CHECK(error == ncclSuccess);
  REQUIRE(ncclCommDestroy(one) == ncclSuccess);
  int count = 0;
  CHECK(ncclCommCount(one, &count) == ncclInvalidArgument);
  CHECK(is_explained("the communicator was destroyed"));
  CHECK(std::string(ncclGetLastError(nullptr)).find("destroyed") != std::string::npos);
}

TEST_CASE("an abort lets the stream go on") {
  ncclComm_t comm[2];
  REQUIRE(ncclCommInitAll(comm, 2, nullptr) == ncclSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  int* x = nullptr;
  REQUIRE(cudaMalloc(&x, sizeof(int)) == cudaSuccess);
  REQUIRE(ncclAllReduce(x, x, 1, ncclInt, ncclSum, comm[0], nullptr) == ncclSuccess);
  CHECK(ncclCommAbort(comm[0]) == ncclSuccess);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(ncclCommAbort(comm[1]) == ncclSuccess);
  cudaFree(x);
  // Its work may come to the rendezvous later, when the buffer is gone.
  cudaStream_t other = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(ncclCommInitAll(comm, 2, nullptr) == ncclSuccess);
  REQUIRE(cudaMallocAsync(&x, sizeof(int), other) == cudaSuccess);
  REQUIRE(ncclAllReduce(x, x, 1, ncclInt, ncclSum, comm[0], nullptr) == ncclSuccess);
  CHECK(ncclCommAbort(comm[0]) == ncclSuccess);
  CHECK(ncclCommAbort(comm[1]) == ncclSuccess);
  CHECK(cudaFreeAsync(x, other) == cudaSuccess);
  CHECK(cudaStreamSynchronize(other) == cudaSuccess);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(cudaStreamDestroy(other) == cudaSuccess);
}

TEST_CASE("an abort by another thread lets one that waits go on") {
  cuda_cpu::reset_diagnostics();
  ncclComm_t comm[2];
  REQUIRE(ncclCommInitAll(comm, 2, nullptr) == ncclSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  int* x = nullptr;
  REQUIRE(cudaMalloc(&x, sizeof(int)) == cudaSuccess);
  REQUIRE(ncclAllReduce(x, x, 1, ncclInt, ncclSum, comm[0], nullptr) == ncclSuccess);
  cudaError_t waited = cudaErrorUnknown;
  std::thread thread([&waited] { waited = cudaStreamSynchronize(nullptr); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // most likely it waits by then
  CHECK(ncclCommAbort(comm[0]) == ncclSuccess);
  CHECK(ncclCommAbort(comm[1]) == ncclSuccess);
  thread.join();
  CHECK(waited == cudaSuccess);
  CHECK(cudaFree(x) == cudaSuccess);
}
