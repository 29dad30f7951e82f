// SPDX-License-Identifier: MIT
// The engine of the CPU backend, as its other parts see it: run a grid, say where a CUDA thread is,
// let others run, give up. Device-side headers (atomics, intrinsics) and the fault handler use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "vector_types.h"

// Inline functions of the backend touch its own data, which is no business of the learner's race
// checker (nor of an instrumentation that counts memory transactions).
#if defined(__SANITIZE_THREAD__)
#define CUDA_CPU_UNINSTRUMENTED __attribute__((no_sanitize("thread"), noinline))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUDA_CPU_UNINSTRUMENTED __attribute__((no_sanitize("thread"), noinline))
#endif
#endif
#if !defined(CUDA_CPU_UNINSTRUMENTED)
#define CUDA_CPU_UNINSTRUMENTED
#endif

namespace cuda_cpu {

/// A place in the learner's source.
struct Site {
  const char* file;
  int line;
};

/// The launch as written: text of the kernel expression, and where it stands.
struct KernelSite {
  const char* name;
  const char* file;
  int line;
};

/// The CUDA error codes that the engine itself produces (values of cudaError_t).
enum EngineError : int {
  kErrorInvalidValue = 1,
  kErrorInvalidConfiguration = 9,
  kErrorIllegalAddress = 700,
  kErrorLaunchTimeout = 702,
  kErrorLaunchFailure = 719,
  kErrorCooperativeLaunchTooLarge = 720,
};

/// Sizes of the device that the engine plays; device properties and occupancy answer with the same.
constexpr unsigned kMaxThreadsPerBlock = 1024;
constexpr unsigned kMaxThreadsPerWorker = 2048;  ///< resident threads of one multiprocessor
constexpr unsigned kMaxBlocksPerWorker = 32;     ///< resident blocks of one multiprocessor
constexpr std::size_t kSharedPerBlock = 48 * 1024;
constexpr std::size_t kSharedPerBlockOptIn = 227 * 1024;

/// Everything `run_grid` needs to know about one launch.
struct GridLaunch {
  KernelSite kernel;
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  bool cooperative = false;               ///< blocks may meet at a grid barrier
  void (*body)(void* closure) = nullptr;  ///< runs the kernel once, for the current CUDA thread
  void* closure = nullptr;
  /// What X-ray tells launches of a kernel apart by; empty in other builds.
  const void* function = nullptr;
  std::string arguments;
  std::uint64_t arguments_hash = 0;
};

/// Runs every thread of the grid; returns when all are done. On a diagnosed bug the grid is
/// abandoned (the report has been printed) and the CUDA error code is returned as int; 0 is
/// success.
int run_grid(const GridLaunch& launch);

/// Where the calling CUDA thread is. `inside` is false on the host.
struct Where {
  bool inside;
  KernelSite kernel;
  dim3 grid, block_dim;
  uint3 block, thread;
  unsigned linear_thread, lane, warp;
};
Where where();

/// True while the calling OS thread executes device code.
bool in_kernel();

/// Lets the other threads of the block run (spin loops, failed compare-and-swap, __nanosleep).
void yield();

/// Call after every atomic that need not be a failed one: every so often it yields, so that a loop
/// which polls with atomicAdd(p, 0) does not keep its block from running.
extern __thread unsigned atomics_until_yield;
CUDA_CPU_UNINSTRUMENTED inline void count_atomic() {
  if (--atomics_until_yield == 0) yield();
}

/// The barrier of a cooperative launch: waits for every thread of the grid.
void grid_sync(const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// True inside a cooperative launch (cooperative_groups grid_group::is_valid).
bool grid_is_cooperative();

/// Ends the grid from inside device code, after a report was printed. Never returns.
[[noreturn]] void abandon_grid(int cuda_error);

/// The watchdog leaves the calling worker alone until its grid has ended: `report` begins with
/// this, for it must not be interrupted while it holds a lock.
void hold_interrupts();

/// Called by the signal handler on a worker that is inside a kernel: records the fault and jumps to
/// the worker's loop, which asks `report_kernel_fault` (faults.cpp) for the report. Never returns
/// when in_kernel().
struct Fault {
  int signal;
  void* address;  ///< si_addr
  void* pc;
  bool is_write;  ///< where the CPU tells, else false
  bool knows_write;
};
[[noreturn]] void escape_from_fault(const Fault& fault);

/// Implemented in faults.cpp: prints the report for a fault at `where`, returns the CUDA error
/// code.
int report_kernel_fault(const Fault& fault, const Where& where);

/// Implemented in faults.cpp: gives the calling OS thread an alternate signal stack and (once)
/// installs the handlers. Every worker calls it first.
void prepare_thread_for_faults();

/// True when `address` lies in the guard pages under a CUDA thread's stack: the kernel's local
/// variables or its recursion outgrew `stack_bytes_per_thread()`.
bool is_stack_guard(const void* address);
std::size_t stack_bytes_per_thread();

/// Largest dynamic shared memory that launches may ask for: 48 KiB until the program opts in with
/// cudaFuncSetAttribute. (One limit for all kernels: a launch knows its kernel only by its text.)
std::size_t dynamic_shared_limit();
/// The same for one kernel; `function` is nullptr where a launch cannot tell which it is.
std::size_t dynamic_shared_limit(const void* function);
void raise_dynamic_shared_limit(std::size_t bytes);

/// Implemented in the runtime (errors.cpp): what cudaGetLastError returns next.
void set_last_error(int cuda_error);

/// Seed and kind of the order in which threads, blocks and independent streams run
/// (CUDA_CPU_SCHEDULE).
struct Schedule {
  enum class Kind { kForward, kReverse, kRandom } kind;
  std::uint64_t seed;
};
const Schedule& schedule();

/// OS threads that run blocks (CUDA_CPU_WORKERS, else the CPU's threads, 8 at most).
unsigned worker_count();

}  // namespace cuda_cpu
