// SPDX-License-Identifier: MIT
// Programmatic dependent launch: a launch may start before the one ahead in its stream has ended.
// First what uses memory too early, then the right twins.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
//
// CASE: reads_without_a_wait
// EXPECT: {file}:{double}: error: race: a read in kernel 'double_at_once'
// EXPECT: {file}:{number}: note: a write by kernel 'number', block (0,0,0)
// EXPECT: help: this launch may start while what is ahead in its stream still runs
// EXPECT: call cudaGridDependencySynchronize()
//
// CASE: writes_before_the_wait
// The launch ahead may not have read yet.
// EXPECT: {file}:{early_write}: error: race: a write in kernel 'clear_too_early'
// EXPECT: {file}:{copied}: note: a read by kernel 'copy'
//
// CASE: middle_does_not_wait
// The last launch waits for the one before it, which has not waited for the first.
// EXPECT: {file}:{add_one}: error: race: a read in kernel 'wait_and_add'
// EXPECT: {file}:{number}: note: a write by kernel 'number'
//
// CASE: row_started_early
// A launch lets the next one start before it has waited itself: all of the row may run together.
// EXPECT: {file}:{early_write}: error: race: a write in kernel 'clear_too_early'
// EXPECT: {file}:{number}: note: a write by kernel 'number'
//
// CASE: told_too_late
// The next launch may start when the block says so: what it writes afterwards is not there.
// EXPECT: {file}:{double}: error: race: a read in kernel 'double_at_once'
// EXPECT: {file}:{late_write}: note: a write by kernel 'number_too_late'
//
// CASE: read_only_path
// __ldg is for data that nobody writes while the kernel runs, and it runs beside the one before.
// EXPECT: {file}:{ldg}: error: race: a read by __ldg in kernel 'wait_and_copy'
// EXPECT: {file}:{number}: note: a write by kernel 'number'
// EXPECT: help: this launch may start while what is ahead in its stream still runs: so __ldg and
//
// CASE: waits_in_a_row
// EXPECT-STDOUT: 3 4 5
//
// CASE: middle_has_waited
// It lets the next launch start when it ends, and so when the first one has ended, too.
// EXPECT-STDOUT: 0 0 0
//
// CASE: one_thread_waits
// And a barrier tells the others, or a __syncwarp.
// EXPECT-STDOUT: 1 2 3, 1 2 3
//
// CASE: other_memory_before_the_wait
// EXPECT-STDOUT: 1 3 5
//
// CASE: told_behind_a_fence
// What a block fences before it lets the next launch start is seen there without a wait.
// EXPECT-STDOUT: 0 2 4
//
// CASE: ordered_otherwise
// The host has waited; the launch is not allowed to start early; a copy lies between; an event.
// EXPECT-STDOUT: 0 16 32
#include <cstdio>

#include "../../../common/check.cuh"
#include "cases.cuh"

constexpr int kThreads = 64;
constexpr std::size_t kBytes = kThreads * sizeof(int);

struct Arrays {
  Arrays() {
    for (int** array : {&x, &y}) {
      CUDA_CHECK(cudaMalloc(array, kBytes));
      CUDA_CHECK(cudaMemset(*array, 0, kBytes));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  ~Arrays() { cudaFree(x), cudaFree(y); }
  void show(const char* end = "\n") const {
    int values[3] = {};
    CUDA_CHECK(cudaMemcpy(values, x, sizeof values, cudaMemcpyDeviceToHost));
    std::printf("%d %d %d%s", values[0], values[1], values[2], end);
  }
  int *x = nullptr, *y = nullptr;
};

// Launches one block that may start early.
template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = kThreads;
  config.attrs = &early;
  config.numAttrs = 1;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

__global__ void number(int* x) {
  x[threadIdx.x] = static_cast<int>(threadIdx.x);  // @number
}

__global__ void double_at_once(int* x) {
  x[threadIdx.x] *= 2;  // @double
}

__global__ void copy(int* to, const int* from) {
  to[threadIdx.x] = from[threadIdx.x];  // @copied
}

__global__ void clear_too_early(int* x) {
  x[threadIdx.x] = 0;  // @early_write
  cudaGridDependencySynchronize();
}

__global__ void wait_and_add(int* x) {
  cudaGridDependencySynchronize();
  x[threadIdx.x] += 1;  // @add_one
}

__global__ void tell_and_add(int* x) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  x[threadIdx.x] += 1;
}

CASE(reads_without_a_wait) {
  const Arrays a;
  number<<<1, kThreads>>>(a.x);
  launch_early(double_at_once, a.x);
}

CASE(writes_before_the_wait) {
  const Arrays a;
  copy<<<1, kThreads>>>(a.y, a.x);
  launch_early(clear_too_early, a.x);
}

CASE(middle_does_not_wait) {
  const Arrays a;
  number<<<1, kThreads>>>(a.x);
  launch_early(double_at_once, a.y);
  launch_early(wait_and_add, a.x);
}

CASE(row_started_early) {
  const Arrays a;
  number<<<1, kThreads>>>(a.x);
  launch_early(tell_and_add, a.y);
  launch_early(clear_too_early, a.x);
}

__global__ void number_too_late(int* x) {
  __threadfence();
  cudaTriggerProgrammaticLaunchCompletion();
  x[threadIdx.x] = static_cast<int>(threadIdx.x);  // @late_write
}

CASE(told_too_late) {
  const Arrays a;
  number_too_late<<<1, kThreads>>>(a.x);
  launch_early(double_at_once, a.x);
}

__global__ void wait_and_copy(int* to, const int* from) {
  cudaGridDependencySynchronize();
  to[threadIdx.x] = __ldg(from + threadIdx.x);  // @ldg
}

CASE(read_only_path) {
  const Arrays a;
  number<<<1, kThreads>>>(a.x);
  launch_early(wait_and_copy, a.y, a.x);
}

CASE(waits_in_a_row) {
  const Arrays a;
  number<<<1, kThreads>>>(a.x);
  for (int k = 0; k < 3; ++k) launch_early(wait_and_add, a.x);
  a.show();
}

CASE(middle_has_waited) {
  const Arrays a;
  number<<<1, kThreads>>>(a.x);
  launch_early(wait_and_add, a.y);
  launch_early(clear_too_early, a.x);
  a.show();
}

__global__ void add_behind_a_barrier(int* x) {
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  __syncthreads();
  x[threadIdx.x] += 1;
}

__global__ void add_behind_a_lane(int* x) {
  if (threadIdx.x % 32 == 0) cudaGridDependencySynchronize();
  __syncwarp();
  x[threadIdx.x] += 1;
}

CASE(one_thread_waits) {
  for (const auto kernel : {add_behind_a_barrier, add_behind_a_lane}) {
    const Arrays a;
    number<<<1, kThreads>>>(a.x);
    launch_early(kernel, a.x);
    a.show(kernel == add_behind_a_barrier ? ", " : "\n");
  }
}

__global__ void prepare_and_add(int* x, int* prepared) {
  prepared[threadIdx.x] = static_cast<int>(threadIdx.x) + 1;
  cudaGridDependencySynchronize();
  x[threadIdx.x] += prepared[threadIdx.x];
}

CASE(other_memory_before_the_wait) {
  const Arrays a;
  number<<<1, kThreads>>>(a.x);
  launch_early(prepare_and_add, a.x, a.y);
  a.show();
}

__global__ void number_and_tell(int* x) {
  x[threadIdx.x] = static_cast<int>(threadIdx.x);
  __threadfence();
  __syncthreads();
  cudaTriggerProgrammaticLaunchCompletion();
}

CASE(told_behind_a_fence) {
  const Arrays a;
  number_and_tell<<<1, kThreads>>>(a.x);
  launch_early(double_at_once, a.x);
  a.show();
}

CASE(ordered_otherwise) {
  const Arrays a;
  number<<<1, kThreads>>>(a.x);
  CUDA_CHECK(cudaDeviceSynchronize());
  launch_early(double_at_once, a.x);
  double_at_once<<<1, kThreads>>>(a.x);
  CUDA_CHECK(cudaMemcpyAsync(a.y, a.x, kBytes, cudaMemcpyDeviceToDevice));
  launch_early(double_at_once, a.x);
  cudaEvent_t between = nullptr;
  CUDA_CHECK(cudaEventCreate(&between));
  CUDA_CHECK(cudaEventRecord(between));
  launch_early(double_at_once, a.x);
  a.show();
  CUDA_CHECK(cudaEventDestroy(between));
}
