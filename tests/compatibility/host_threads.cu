// SPDX-License-Identifier: MIT
// FEATURE: host: several host threads
#include <thread>
#include <vector>

#include "program.h"

__global__ void show(int* x) { atomicAdd(x, 1); }

int main() {
  int* x = numbers();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([=] {
      show<<<1, 32, 0, cudaStreamPerThread>>>(x);
      MUST(cudaStreamSynchronize(cudaStreamPerThread));
    });
  }
  for (std::thread& thread : threads) thread.join();
  wait();
  return answer(*x == 128);
}
