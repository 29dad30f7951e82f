// SPDX-License-Identifier: MIT
// A program that was stopped (Ctrl-Z) while its kernel ran has not hung: only time in which it
// could run counts.
// RUN: CUDA_CPU_TIMEOUT=0.8
// RUN: CUDA_CPU_TIMEOUT=0.8 CUDA_CPU_WORKERS=1
// EXPECT-NOT: no progress
// EXPECT-STDOUT: stopped for 1.5 s, ran to its end
// EXPECT-STATUS: 0
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

// Runs for 0.3 s, and as much longer as it is stopped.
__global__ void spin() {
  long long ran = 0;
  for (long long last = clock64(); ran < 300'000'000;) {
    const long long now = clock64();
    if (now - last < 100'000'000) ran += now - last;
    last = now;
  }
}

int main() {
  const pid_t program = getpid();
  const pid_t other = fork();
  if (other == 0) {
    usleep(100'000);
    kill(program, SIGSTOP);
    usleep(1'500'000);
    kill(program, SIGCONT);
    _exit(0);
  }
  spin<<<1, 1>>>();
  const cudaError_t status = cudaDeviceSynchronize();
  waitpid(other, nullptr, 0);
  if (status != cudaSuccess) return 1;
  std::printf("stopped for 1.5 s, ran to its end\n");
  return 0;
}
