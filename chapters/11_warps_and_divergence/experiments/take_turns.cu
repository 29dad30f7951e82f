// SPDX-License-Identifier: MIT
// May a lane wait for another lane of its warp?

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../common/common.cuh"

constexpr unsigned kWarp = 32, kLimitSeconds = kOnGpu ? 4 : 120;  // the CPU backend stops it itself

// Lane t waits until s is t, and then lets lane t + 1 go. order[t]: what it found.
__global__ void take_turns_plain(unsigned* order) {
  __shared__ unsigned s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();  // nobody looks at s before it is 0
  while (s != threadIdx.x) {
  }
  order[threadIdx.x] = s;
  s++;
}

__global__ void take_turns_volatile(unsigned* order) {
  __shared__ volatile unsigned s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  while (s != threadIdx.x) {
  }
  order[threadIdx.x] = s;
  s = s + 1;
}

__global__ void take_turns_atomic(unsigned* order) {
  __shared__ unsigned s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  while (atomicAdd(&s, 0u) != threadIdx.x) {  // adds nothing: looks
  }
  order[threadIdx.x] = atomicAdd(&s, 1u);
}

__global__ void take_turns_reconverged(unsigned* order) {
  __shared__ unsigned s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  while (atomicAdd(&s, 0u) != threadIdx.x) {
  }
  __syncwarp();  // wrong: lane 0 waits here for lanes that wait for lane 0
  order[threadIdx.x] = atomicAdd(&s, 1u);
}

__global__ void take_turns_inside_loop(unsigned* order) {
  __shared__ unsigned s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (atomicAdd(&s, 0u) == threadIdx.x) {
      order[threadIdx.x] = atomicAdd(&s, 1u);
      done = true;
    }
  }
}

struct Case {
  const char *name, *summary;
  void (*kernel)(unsigned* order);
  bool is_promised;  // that every lane has its turn
};

const Case kCases[] = {
    {"plain", "s is an ordinary variable", take_turns_plain, false},
    {"volatile", "s is volatile", take_turns_volatile, false},
    {"atomic", "s is read by an atomic", take_turns_atomic, false},
    {"reconverged", "atomic, and the lanes meet after the loop", take_turns_reconverged, false},
    {"inside_loop", "atomic, and the step is inside the loop", take_turns_inside_loop, true},
};

// How a case ends. The number is the exit status of the process that ran it.
struct Ending {
  int status;
  const char *check, *sentence;
};
const Ending kRight{0, "ok", "all 32 lanes had their turn"};
const Ending kStopped{3, "hangs", "stopped by the backend, with a report"};
const Ending kWrongOrder{4, "wrong", "it ended, but not every lane had its turn"};
const Ending kHangs{5, "hangs", "stopped from outside after some seconds"};
const Ending kFailed{1, "failed", "the process failed"};

// Runs a case in this process. On a GPU some never end.
Ending run_here(const Case& c) {
  const DeviceArray<unsigned> order(kWarp);
  c.kernel<<<1, kWarp>>>(order);
  const cudaError_t status = cudaDeviceSynchronize();
  if (status == cudaErrorLaunchTimeout) return kStopped;  // the CPU backend has said where
  CUDA_CHECK(status);
  std::vector<unsigned> in_turn(kWarp);
  std::iota(in_turn.begin(), in_turn.end(), 0u);
  return order.download() == in_turn ? kRight : kWrongOrder;
}

// Runs case `number` in a process of its own: a kernel that hangs can only be stopped with it.
Ending run_watched(const char* program, std::size_t number, std::size_t device) {
  const pid_t child = fork();
  if (child == 0) {
    // On the CPU backend: the last thread first, for that order needs the waiting; and a report
    // after two seconds without progress.
    setenv("CUDA_CPU_SCHEDULE", "reverse", 0);
    setenv("CUDA_CPU_TIMEOUT", "2", 0);
    alarm(kLimitSeconds);  // ends the process, also when it has become another program
    execlp(program, program, "--case", std::to_string(number).c_str(), "--device",
           std::to_string(device).c_str(), nullptr);
    _exit(kFailed.status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return kHangs;
  for (const Ending& ending : {kRight, kStopped, kWrongOrder})
    if (WIFEXITED(status) && WEXITSTATUS(status) == ending.status) return ending;
  return kFailed;
}

int main(int argc, char** argv) {
  std::size_t one = 0;
  const Options opt(argc, argv, "11_take_turns", "may a lane wait for another of its warp?",
                    {{"case", &one, 1, std::size(kCases), "only this one, here and unwatched"}});
  open_device(opt);
  if (one > 0) return run_here(kCases[one - 1]).status;
  ResultTable table(opt, kWarp * sizeof(unsigned));
  table.without_speedup();
  for (std::size_t number = 1; number <= std::size(kCases); ++number) {
    const Case& c = kCases[number - 1];
    if (!table.wants(c.name, c.summary)) continue;
    const double begin = host_ms();
    const Ending ending = run_watched(argv[0], number, opt.device);
    table.row(c.name, timing_of({host_ms() - begin}), 0,
              ending.status == kRight.status || !c.is_promised, ending.check);
    table.measured(c.name, ending.status, "outcome", c.name, ": ", ending.sentence);
  }
  table.note("times include the start of a process");
  return table.finish();
}
