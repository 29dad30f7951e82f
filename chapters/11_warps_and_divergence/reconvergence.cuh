// SPDX-License-Identifier: MIT
// Chapter 11, --try deadlock: each lane waits for its turn. Some of these never end, so each runs
// in a process of its own, which is stopped after a while. Included by warps_and_divergence.cu.
//
// plain        s is an ordinary variable: the compiler reads it once
// volatile     it is read in every turn
// atomic       it is read by an atomic in every turn
// reconverged  atomic, and the lanes meet behind the loop, as the hardware did before 2017
// inside_loop  atomic, and what the others wait for happens inside the loop: right everywhere
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

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

namespace reconvergence {

// `order` has a place for each lane of one warp.
const Version<unsigned*> kCases[] = {
    {"plain", "s is an ordinary variable",
     [](unsigned* const& order) { take_turns_plain<<<1, kWarp>>>(order); }},
    {"volatile", "s is volatile",
     [](unsigned* const& order) { take_turns_volatile<<<1, kWarp>>>(order); }},
    {"atomic", "s is read by an atomic",
     [](unsigned* const& order) { take_turns_atomic<<<1, kWarp>>>(order); }},
    {"reconverged", "atomic, and the lanes meet behind the loop",
     [](unsigned* const& order) { take_turns_reconverged<<<1, kWarp>>>(order); }},
    {"inside_loop", "atomic, and the step is inside the loop",
     [](unsigned* const& order) { take_turns_inside_loop<<<1, kWarp>>>(order); }},
};

inline void name_rows(Options& opt) { opt.versions(kCases); }

// How a case ended, and the exit status of the process that says so.
enum Outcome : int { kRight = 0, kStopped = 3, kWrongOrder = 4, kHangs = 5 };

inline const char* text_of(int outcome) {
  return outcome == kRight                          ? "ok"
         : outcome == kHangs || outcome == kStopped ? "hangs"
         : outcome == kWrongOrder                   ? "wrong"
                                                    : "failed";
}

constexpr const char* kVariable = "TUTORIAL_DEADLOCK_CASE";  // set in the process of one case
constexpr double kLimitMs = kOnGpu ? 4000 : 8000;            // for the start of the process, too
inline bool is_child() { return std::getenv(kVariable) != nullptr; }

// Every lane had its turn, each in its place.
inline bool in_order(const std::vector<unsigned>& order) {
  for (unsigned t = 0; t < order.size(); ++t) {
    if (order[t] != t) return false;
  }
  return true;
}

// The process of one case.
inline int run_case() {
  for (const auto& c : kCases) {
    if (c.name != std::string(std::getenv(kVariable))) continue;
    const DeviceArray<unsigned> order(kWarp);
    c.launch(order.get());
    const cudaError_t status = cudaDeviceSynchronize();
    if (status == cudaErrorLaunchTimeout) return kStopped;  // the CPU backend has said where
    CUDA_CHECK(status);
    return in_order(order.download()) ? kRight : kWrongOrder;
  }
  return kExitWrong;
}

// Runs `program` as the process of case `name`; stops it when it takes longer than kLimitMs.
inline int outcome_of(const char* program, const char* name) {
  setenv(kVariable, name, 1);
  // On the CPU backend: threads one by one from the last, for that order needs the waiting; and a
  // report after two seconds without progress.
  setenv("CUDA_CPU_SCHEDULE", "reverse", 0);
  setenv("CUDA_CPU_TIMEOUT", "2", 0);
  char own_name[] = "11", option[] = "--try", value[] = "deadlock";
  char* arguments[] = {own_name, option, value, nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program, nullptr, nullptr, arguments, environ);
  unsetenv(kVariable);
  if (failed != 0) return kExitWrong;
  int status = 0;
  const double begin = host_ms();
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (host_ms() - begin > kLimitMs) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return kHangs;
    }
    const timespec nap{0, 5000000};
    nanosleep(&nap, nullptr);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kExitWrong;
}

// A row per case. Only inside_loop has to be right: of the others nothing is promised, or too
// little.
inline int run(ResultTable& table, const char* program) {
  table.without_speedup();
  for (const auto& c : kCases) {
    if (!table.options().wants(c.name)) continue;
    int outcome = 0;
    const Timing t = time_once([&] { outcome = outcome_of(program, c.name); });
    const bool may_fail = c.name != std::string("inside_loop");
    table.add_with_rate(c.name, t, 0, may_fail || outcome == kRight, text_of(outcome));
    table.measured(
        c.name, outcome, "outcome",
        std::string(c.name) + ": " +
            (outcome == kHangs ? "stopped from outside after " +
                                     std::to_string(static_cast<int>(t.median_ms / 1000)) + " s"
             : outcome == kStopped    ? "stopped by the backend, with a report"
             : outcome == kRight      ? "all 32 lanes had their turn"
             : outcome == kWrongOrder ? "it ended, but not every lane had its turn"
                                      : "the process failed"));
  }
  table.note("times include the start of a process");
  return table.finish();
}

}  // namespace reconvergence
