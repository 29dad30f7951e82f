// SPDX-License-Identifier: MIT
// A kernel that cannot run has not hung: only time in which it could counts.
#include <cuda_runtime.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "cases.cuh"

// CASE: stopped
// The program was stopped (Ctrl-Z) meanwhile.
// RUN: CUDA_CPU_TIMEOUT=0.8
// RUN: CUDA_CPU_TIMEOUT=0.8 CUDA_CPU_WORKERS=1
// EXPECT-STDOUT: stopped for 1.5 s, ran to its end

// Runs for so many milliseconds, and as much longer as it is kept from running for longer than a
// gap.
__global__ void spin(int ms, int gap_ms) {
  long long ran = 0;
  for (long long last = clock64(); ran < ms * 1'000'000LL;) {
    const long long now = clock64();
    if (now - last < gap_ms * 1'000'000LL) ran += now - last;
    last = now;
  }
}

CASE(stopped) {
  const pid_t program = getpid();
  const pid_t other = fork();
  if (other == 0) {
    usleep(100'000);
    kill(program, SIGSTOP);
    usleep(1'500'000);
    kill(program, SIGCONT);
    _exit(0);
  }
  spin<<<1, 1>>>(300, 100);
  const cudaError_t status = cudaDeviceSynchronize();
  waitpid(other, nullptr, 0);
  if (status == cudaSuccess) std::printf("stopped for 1.5 s, ran to its end\n");
}

// CASE: busy_core
// Others have the core nearly all the time.
// RUN: CUDA_CPU_TIMEOUT=0.2
// RUN: CUDA_CPU_TIMEOUT=0.2 CUDA_CPU_WORKERS=1
// EXPECT-STDOUT: had a tenth of a core, ran to its end
CASE(busy_core) {
#if defined(__linux__)
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);
#endif
  const pid_t program = getpid();
  std::vector<pid_t> others(9);
  for (pid_t& other : others) {
    other = fork();
    if (other != 0) continue;
    while (getppid() == program) {
    }
    _exit(0);
  }
  spin<<<1, 1>>>(80, 1);
  const cudaError_t status = cudaDeviceSynchronize();
  for (const pid_t other : others) {
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
  }
  if (status == cudaSuccess) std::printf("had a tenth of a core, ran to its end\n");
}
