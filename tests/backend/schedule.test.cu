// SPDX-License-Identifier: MIT
// The order in which threads and blocks run: CUDA_CPU_SCHEDULE.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "../../common/cpu/engine/state/settings.h"
#include "../kernel_testing.cuh"

namespace {

// With one worker or one block, tickets show the order in which the threads began.
__global__ void take_tickets(int* ticket, int* order) {
  const int turn = atomicAdd(ticket, 1);
  order[turn] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void take_tickets_behind_barrier(int* ticket, int* order) {
  __syncthreads();
  const int turn = atomicAdd(ticket, 1);
  order[turn] = static_cast<int>(threadIdx.x);
}

// Slow enough that several workers have blocks at the same time.
__global__ void take_tickets_of_block(int* tickets, int* order) {
  for (volatile int i = 0; i < 20000; i = i + 1) {
  }
  const int turn = atomicAdd(&tickets[blockIdx.x], 1);
  order[blockIdx.x * blockDim.x + static_cast<unsigned>(turn)] = static_cast<int>(threadIdx.x);
}

__global__ void record_place(unsigned* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] += 1;
}

std::vector<int> order_in_a_block(bool behind_barrier, int threads) {
  DeviceArray<int> ticket(std::vector<int>{0}), order(static_cast<std::size_t>(threads));
  if (behind_barrier) {
    take_tickets_behind_barrier<<<1, threads>>>(ticket.get(), order.get());
  } else {
    take_tickets<<<1, threads>>>(ticket.get(), order.get());
  }
  return order.download();
}

void check_order(const std::vector<int>& order) {
  const int n = static_cast<int>(order.size());
  CHECK(std::set<int>(order.begin(), order.end()).size() == order.size());
  using Kind = cuda_cpu::Schedule::Kind;
  const Kind kind = cuda_cpu::schedule().kind;
  bool ascending = true, descending = true;
  for (int i = 0; i < n; ++i) {
    ascending = ascending && order[i] == i;
    descending = descending && order[i] == n - 1 - i;
  }
  CHECK(ascending == (kind == Kind::kForward));
  CHECK(descending == (kind == Kind::kReverse));
}

}  // namespace

// What the case below runs, in a process of its own.
TEST_CASE("orders of many blocks", "[.][print]") {
  constexpr int kBlocks = 40, kThreads = 96;
  DeviceArray<int> tickets(std::vector<int>(kBlocks, 0)), order(kBlocks * kThreads);
  take_tickets_of_block<<<kBlocks, kThreads>>>(tickets.get(), order.get());
  for (const int turn : order.download()) std::printf("%d ", turn);
}

TEST_CASE("a random order repeats, however many workers there are") {
  const std::string self = "/proc/self/exe";
  char path[4096];
  const auto length = readlink(self.c_str(), path, sizeof path);
  if (length <= 0) return;
  const auto orders_with = [&](const char* workers) {
    const std::string command = std::string("CUDA_CPU_SCHEDULE=random:7 CUDA_CPU_WORKERS=") +
                                workers + " '" + std::string(path, path + length) + "' '[print]'";
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    CHECK(pclose(pipe) == 0);
    return text.substr(text.find("0 "), text.find('=') - text.find("0 "));
  };
  const std::string with_one = orders_with("1");
  CHECK(with_one.size() > 1000);
  CHECK(with_one == orders_with("3"));
}

TEST_CASE("the threads of a block begin in the order of the schedule") {
  check_order(order_in_a_block(false, 200));
}

TEST_CASE("the threads of a block leave a barrier in the order of the schedule") {
  check_order(order_in_a_block(true, 200));
}

TEST_CASE("a random order differs from one launch to the next") {
  const bool random = cuda_cpu::schedule().kind == cuda_cpu::Schedule::Kind::kRandom;
  CHECK((order_in_a_block(false, 200) != order_in_a_block(false, 200)) == random);
}

TEST_CASE("every thread of every block runs once, in grids of any shape") {
  const dim3 grids[] = {dim3(1), dim3(1000), dim3(3, 5, 7), dim3(1, 17), dim3(2, 1, 31)};
  const dim3 blocks[] = {dim3(1), dim3(33), dim3(4, 3, 2), dim3(16, 16), dim3(1, 1, 64)};
  for (const dim3& grid : grids) {
    for (const dim3& block : blocks) {
      const std::size_t n = std::size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z;
      DeviceArray<unsigned> out(std::vector<unsigned>(n, 0));
      record_place<<<grid, block>>>(out.get());
      CHECK(cudaGetLastError() == cudaSuccess);
      CHECK(out.download() == std::vector<unsigned>(n, 1));
    }
  }
}
