// SPDX-License-Identifier: MIT
// The host uses memory that a kernel or an asynchronous copy may be using: nothing has waited for
// it. The right twins, which report nothing, are behind those.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
//
// CASE: managed_read_early
// A launch does not wait: the host reads what was there before.
// EXPECT: {file}:{early_read}: error: race: a read by the host
// EXPECT: of element 1 of managed memory
// EXPECT: {file}:{add}: note: a write by kernel 'add', block (0,0,0), thread (1,0,0); nothing orders the two
// EXPECT: {file}:{managed}: note: allocated here by cudaMallocManaged
// EXPECT: help: the host goes on while kernels and asynchronous copies run: let it wait
//
// CASE: managed_set_late
// What the kernel reads is set after its launch, by a function that knows nothing of it.
// EXPECT: {file}:{fill}: error: race: a write by the host
// EXPECT: {file}:{add}: note: a read by kernel 'add', block (0,0,0), thread (
//
// CASE: mapped_read_early
// EXPECT: {file}:{mapped_read}: error: race: a read by the host
// EXPECT: {file}:{add}: note: a write by kernel 'add'
//
// CASE: source_filled_again
// The copy may not have read the first filling yet.
// EXPECT: {file}:{fill}: error: race: a write by the host
// EXPECT: {file}:{copy_of_source}: note: a read by cudaMemcpyAsync; nothing orders the two
//
// CASE: destination_read_early
// EXPECT: {file}:{destination_read}: error: race: a read by the host
// EXPECT: {file}:{copy_to_destination}: note: a write by cudaMemcpyAsync; nothing orders the two
//
// CASE: other_stream_waited_for
// EXPECT: {file}:{other_read}: error: race: a read by the host
// EXPECT: {file}:{add}: note: a write by kernel 'add'
//
// CASE: nothing_to_wait_for
// A stream that waits for the default stream has nothing to do: who waits for it waits for nothing.
// EXPECT: {file}:{early_read}: error: race: a read by the host
// EXPECT: {file}:{add}: note: a write by kernel 'add'
//
// CASE: event_before_the_copy
// The event that the host waits for was recorded one call too early.
// EXPECT: {file}:{fill}: error: race: a write by the host
// EXPECT: {file}:{copy_after_event}: note: a read by cudaMemcpyAsync; nothing orders the two
//
// CASE: event_for_a_stream
// cudaStreamWaitEvent lets a stream wait, and not the host.
// EXPECT: {file}:{early_read}: error: race: a read by the host
// EXPECT: {file}:{add}: note: a write by kernel 'add'
//
// CASE: busy_and_read
// The host asks whether the stream is done, and does not listen.
// EXPECT: {file}:{early_read}: error: race: a read by the host
// EXPECT: {file}:{add}: note: a write by kernel 'add'
//
// CASE: registered_read_early
// EXPECT: {file}:{registered_read}: error: race: a read by the host
// EXPECT: {file}:{copy_to_registered}: note: a write by cudaMemcpyAsync; nothing orders the two
//
// CASE: managed_variable
// EXPECT: {file}:{variable_read}: error: race: a read by the host
// EXPECT: of element 0 of the __managed__ variable 'total'
// EXPECT: {file}:{count}: note: an atomic update by kernel 'count'
//
// CASE: memcpy_and_memset
// Functions of the C library, called by the program.
// EXPECT: {file}:{memcpy}: error: race: a read by the host
// EXPECT: {file}:{copy_to_memcpy}: note: a write by cudaMemcpyAsync; nothing orders the two
// EXPECT: {file}:{memset}: error: race: a write by the host
// EXPECT: {file}:{copy_from_memset}: note: a read by cudaMemcpyAsync; nothing orders the two
//
// CASE: algorithm
// EXPECT: {file}:{accumulate}: error: race: a read by the host
// EXPECT: {file}:{add}: note: a write by kernel 'add'
//
// CASE: graph_not_waited_for
// EXPECT: {file}:{graph_read}: error: race: a read by the host
// EXPECT: {file}:{add}: note: a write by kernel 'add'
//
// CASE: fill_and_read
// EXPECT: {file}:{fill_read}: error: race: a read by the host
// EXPECT: {file}:{fill_async}: note: a write by cudaMemsetAsync; nothing orders the two
//
// CASE: bytes
// A character beside others, which nobody writes.
// EXPECT: {file}:{byte_read}: error: race: a read by the host
// EXPECT: of element 5 of managed memory
// EXPECT: {file}:{byte_write}: note: a write by kernel 'write_odd', block (0,0,0), thread (5,0,0)
//
// CASE: rows
// The last row of a copy in two dimensions.
// EXPECT: {file}:{row_write}: error: race: a write by the host
// EXPECT: {file}:{copy_of_rows}: note: a read by cudaMemcpy2DAsync; nothing orders the two
//
// CASE: sleeps_and_reads
// The host sleeps in place of waiting. The work has most likely ended, and nobody knows.
// EXPECT: {file}:{sleep_read}: error: race: a read by the host
// EXPECT: {file}:{add}: note: a write by kernel 'add', block (0,0,0), thread (1,0,0); nothing orders the two
// EXPECT: {file}:{sleep_write}: error: race: a write by the host
// EXPECT: {file}:{copy_in_sleep}: note: a read by cudaMemcpyAsync; nothing orders the two
//
// CASE: flag_without_fence
// The flag may be seen before the data: without a fence it tells of nothing.
// EXPECT: {file}:{unfenced_read}: error: race: a read by the host
// EXPECT: {file}:{unfenced}: note: a write by kernel 'hand_over', block (0,0,0), thread (0,0,0)
//
// CASE: flag_of_one_that_goes_on
// The same while the kernel still runs, for a twentieth of a second.
// EXPECT: {file}:{unfenced_read}: error: race: a read by the host
// EXPECT: {file}:{unfenced}: note: a write by kernel 'hand_over', block (0,0,0), thread (0,0,0)
//
// ---- the right twins
//
// CASE: waits
// For the device, a stream, an event, by a call that waits, by asking until it is done.
// EXPECT-STDOUT: 8 15 22 29 36 43
//
// CASE: reads_beside_reads
// The host and a kernel, or a copy, only read.
// EXPECT-STDOUT: 1 1
//
// CASE: other_part
// The host works on one half of a buffer, and on single bytes, while the device uses the others.
// EXPECT-STDOUT: 8 5 ax
//
// CASE: buffers_take_turns
// EXPECT-STDOUT: 0 1 2 3
//
// CASE: pageable_source
// An asynchronous copy from pageable memory brings what the source holds at the call.
// EXPECT-STDOUT: 1
//
// CASE: order_of_streams
// What the host waits for has itself waited for the rest: by an event, by the default stream.
// EXPECT-STDOUT: 8 15 22
//
// CASE: fenced_flag
// A kernel hands its result over while it runs, with a fence for the system and a volatile flag.
// EXPECT-STDOUT: 5
//
// CASE: released_flag
// By an atomic object that releases.
// EXPECT-STDOUT: 6
//
// CASE: fenced_flag_of_one_that_goes_on
// The kernel goes on for a twentieth of a second.
// EXPECT-STDOUT: 5
//
// CASE: asks_after_a_sleep
// The host sleeps, and then asks.
// EXPECT-STDOUT: 8 15
//
// CASE: flag_of_the_host
// The host hands over to a kernel that waits for it.
// EXPECT-STDOUT: 42
//
// CASE: host_function_tells
// A function in the stream sets a flag: what comes before it in the stream has ended.
// EXPECT-STDOUT: 0 1 2 3, 4 calls
//
// CASE: host_function_uses
// It may use what the work before it wrote, and what that after it reads.
// EXPECT-STDOUT: 8 9 16
//
// CASE: graph_waited_for
// EXPECT-STDOUT: 8 15
//
// CASE: new_memory
// Memory that is made while work is under way, and such as was given back.
// EXPECT-STDOUT: 3 3
//
// CASE: other_thread
// One thread of the host waits, and tells another.
// EXPECT-STDOUT: 8

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include <cuda/atomic>

#include "../../../common/check.cuh"
#include "cases.cuh"

constexpr int kN = 64;
constexpr std::size_t kBytes = kN * sizeof(int);

__global__ void add(int *x, int more) {
  x[threadIdx.x] += more;  // @add
}

void fill(int *x, int value) {
  for (int i = 0; i < kN; ++i) x[i] = value;  // @fill
}

int *managed() {
  int *x;
  CUDA_CHECK(cudaMallocManaged(&x, kBytes));  // @managed
  fill(x, 1);
  return x;
}
int *pinned() {
  int *x;
  CUDA_CHECK(cudaMallocHost(&x, kBytes));
  fill(x, 1);
  return x;
}
int *on_device() {
  int *x;
  CUDA_CHECK(cudaMalloc(&x, kBytes));
  CUDA_CHECK(cudaMemset(x, 0, kBytes));
  CUDA_CHECK(cudaDeviceSynchronize());  // not every stream waits for the fill
  return x;
}
cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, flags));
  return stream;
}
cudaEvent_t new_event() {
  cudaEvent_t event;
  CUDA_CHECK(cudaEventCreate(&event));
  return event;
}
void end() {
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("\n");
  CUDA_CHECK(cudaDeviceReset());
}

// The host reads what a kernel writes, after something that is no wait for it.
void read_after(void (*between)()) {
  int *const x = managed();
  add<<<1, kN>>>(x, 7);
  between();
  std::printf("%d\n", x[1]);  // @early_read
  end();
}

CASE(managed_read_early) {
  read_after([] {});
}

CASE(nothing_to_wait_for) {
  read_after([] { CUDA_CHECK(cudaStreamSynchronize(new_stream(cudaStreamDefault))); });
}

CASE(event_for_a_stream) {
  read_after([] {
    const cudaEvent_t event = new_event();
    CUDA_CHECK(cudaEventRecord(event));
    CUDA_CHECK(cudaStreamWaitEvent(new_stream(), event, 0));
  });
}

CASE(busy_and_read) {
  read_after([] {
    static_cast<void>(cudaStreamQuery(nullptr));
    cudaGetLastError();
  });
}

CASE(managed_set_late) {
  int *const x = managed();
  add<<<1, kN>>>(x, 7);
  fill(x, 2);
  end();
}

CASE(mapped_read_early) {
  int *x, *d_x;
  CUDA_CHECK(cudaHostAlloc(&x, kBytes, cudaHostAllocMapped));
  fill(x, 1);
  CUDA_CHECK(cudaHostGetDevicePointer(&d_x, x, 0));
  add<<<1, kN>>>(d_x, 7);
  std::printf("%d\n", x[63]);  // @mapped_read
  end();
}

CASE(source_filled_again) {
  int *const x = pinned(), *const d_x = on_device();
  CUDA_CHECK(cudaMemcpyAsync(d_x, x, kBytes, cudaMemcpyHostToDevice));  // @copy_of_source
  fill(x, 2);
  end();
}

CASE(destination_read_early) {
  int *const x = pinned(), *const d_x = on_device();
  add<<<1, kN>>>(d_x, 7);
  CUDA_CHECK(cudaMemcpyAsync(x, d_x, kBytes, cudaMemcpyDeviceToHost));  // @copy_to_destination
  std::printf("%d\n", x[3]);                                            // @destination_read
  end();
}

CASE(other_stream_waited_for) {
  int *const x = managed(), *const y = managed();
  const cudaStream_t one = new_stream(), other = new_stream();
  add<<<1, kN, 0, one>>>(x, 7);
  add<<<1, kN, 0, other>>>(y, 7);
  CUDA_CHECK(cudaStreamSynchronize(one));
  std::printf("%d\n", x[1]);
  std::printf("%d\n", y[1]);  // @other_read
  end();
}

CASE(event_before_the_copy) {
  int *const x = pinned(), *const d_x = on_device();
  const cudaEvent_t event = new_event();
  add<<<1, kN>>>(d_x, 7);
  CUDA_CHECK(cudaEventRecord(event));
  CUDA_CHECK(cudaMemcpyAsync(d_x, x, kBytes, cudaMemcpyHostToDevice));  // @copy_after_event
  CUDA_CHECK(cudaEventSynchronize(event));
  fill(x, 2);
  end();
}

CASE(registered_read_early) {
  std::vector<int> memory(kN, 1);
  int *const x = memory.data(), *const d_x = on_device();
  CUDA_CHECK(cudaHostRegister(x, kBytes, cudaHostRegisterDefault));
  CUDA_CHECK(cudaMemcpyAsync(x, d_x, kBytes, cudaMemcpyDeviceToHost));  // @copy_to_registered
  std::printf("%d\n", x[1]);                                            // @registered_read
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaHostUnregister(x));
}

__managed__ int total;
__global__ void count() {
  atomicAdd(&total, 1);  // @count
}

CASE(managed_variable) {
  count<<<1, kN>>>();
  std::printf("%d\n", total);  // @variable_read
  end();
}

CASE(memcpy_and_memset) {
  int *const x = pinned(), *const y = pinned(), *const d_x = on_device();
  int kept[kN];
  CUDA_CHECK(cudaMemcpyAsync(x, d_x, kBytes, cudaMemcpyDeviceToHost));  // @copy_to_memcpy
  std::memcpy(kept, x, kBytes);                                         // @memcpy
  CUDA_CHECK(cudaMemcpyAsync(d_x, y, kBytes, cudaMemcpyHostToDevice));  // @copy_from_memset
  std::memset(y, kept[1], kBytes);                                      // @memset
  end();
}

CASE(algorithm) {
  int *const x = managed();
  add<<<1, kN>>>(x, 7);
  std::printf("%d\n", std::accumulate(x, x + kN, 0));  // @accumulate
  end();
}

CASE(graph_not_waited_for) {
  int *const x = managed();
  const cudaStream_t stream = new_stream();
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, kN, 0, stream>>>(x, 7);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CUDA_CHECK(cudaGraphLaunch(ready, stream));
  std::printf("%d\n", x[1]);  // @graph_read
  end();
}

CASE(fill_and_read) {
  int *const x = managed();
  CUDA_CHECK(cudaMemsetAsync(x, 0, kBytes, new_stream()));  // @fill_async
  std::printf("%d\n", x[1]);                                // @fill_read
  end();
}

__global__ void write_odd(char *x) {
  if (threadIdx.x % 2 == 1) x[threadIdx.x] = 'x';  // @byte_write
}

CASE(bytes) {
  char *x;
  CUDA_CHECK(cudaMallocManaged(&x, kN));
  std::memset(x, 'a', kN);
  write_odd<<<1, kN>>>(x);
  std::putchar(x[4]);
  std::putchar(x[5]);  // @byte_read
  std::putchar(x[6]);
  end();
}

CASE(rows) {
  int *const x = pinned(), *const d_x = on_device();
  CUDA_CHECK(cudaMemcpy2DAsync(d_x, 16, x, 32, 16, 8, cudaMemcpyHostToDevice));  // @copy_of_rows
  for (int i = 0; i < 8; ++i) x[i * 8 + 4] = 0;
  x[56] = 0;  // @row_write
  end();
}

CASE(sleeps_and_reads) {
  int *const x = managed(), *const y = pinned(), *const d_x = on_device();
  add<<<1, kN>>>(x, 7);
  CUDA_CHECK(cudaMemcpyAsync(d_x, y, kBytes, cudaMemcpyHostToDevice));  // @copy_in_sleep
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  std::printf("%d\n", x[1]);  // @sleep_read
  y[2] = 0;                   // @sleep_write
  end();
}

__global__ void hand_over(int *data, volatile int *flag, bool fenced, int more_ms) {
  *data = 5;  // @unfenced
  if (fenced) __threadfence_system();
  *flag = 1;
  for (int i = 0; i < more_ms; ++i) __nanosleep(1000000);
}

void hand_over_to_host(bool fenced, int more_ms) {
  int *const data = managed(), *const flag = managed();
  *flag = 0;
  hand_over<<<1, 1>>>(data, flag, fenced, more_ms);
  while (*static_cast<volatile int *>(flag) == 0) {
  }
  std::printf("%d ", *data);  // @unfenced_read
  end();
}

CASE(flag_without_fence) { hand_over_to_host(false, 0); }
CASE(flag_of_one_that_goes_on) { hand_over_to_host(false, 50); }

// ---- the right twins

CASE(fenced_flag) { hand_over_to_host(true, 0); }
CASE(fenced_flag_of_one_that_goes_on) { hand_over_to_host(true, 50); }

__global__ void hand_over_released(int *data, int *flag) {
  *data = 6;
  cuda::atomic_ref<int, cuda::thread_scope_system>(*flag).store(1, cuda::memory_order_release);
}

__global__ void sum_of(const int *x, int *sum) { atomicAdd(sum, x[threadIdx.x]); }

CASE(waits) {
  int *const x = managed(), *const d_x = on_device();
  const cudaStream_t stream = new_stream();
  const cudaEvent_t event = new_event();
  add<<<1, kN>>>(x, 7);
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("%d ", x[1]);
  add<<<1, kN, 0, stream>>>(x, 7);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::printf("%d ", x[1]);
  add<<<1, kN, 0, stream>>>(x, 7);
  CUDA_CHECK(cudaEventRecord(event, stream));
  add<<<1, kN, 0, stream>>>(d_x, 7);
  CUDA_CHECK(cudaEventSynchronize(event));
  std::printf("%d ", x[1]);
  add<<<1, kN>>>(x, 7);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaMemcpy(d_x, x, kBytes, cudaMemcpyDefault));
  std::printf("%d ", x[1]);
  add<<<1, kN, 0, stream>>>(x, 7);
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  std::printf("%d ", x[1]);
  add<<<1, kN, 0, stream>>>(x, 7);
  CUDA_CHECK(cudaEventRecord(event, stream));
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  std::printf("%d", x[1]);
  cudaGetLastError();
  end();
}

CASE(reads_beside_reads) {
  int *const x = managed(), *const y = pinned(), *const d_x = on_device();
  sum_of<<<1, kN>>>(x, d_x);
  CUDA_CHECK(cudaMemcpyAsync(d_x, y, kBytes, cudaMemcpyHostToDevice));
  std::printf("%d %d", x[1], y[1]);
  end();
}

CASE(other_part) {
  int *const x = managed(), *const y = pinned(), *const d_x = on_device();
  char *text;
  CUDA_CHECK(cudaMallocManaged(&text, kN));
  std::memset(text, 'a', kN);
  add<<<1, kN / 2>>>(x, 7);
  CUDA_CHECK(cudaMemcpyAsync(d_x, y, kBytes / 2, cudaMemcpyHostToDevice));
  write_odd<<<1, kN>>>(text);
  for (int i = kN / 2; i < kN; ++i) x[i] = y[i] = 5;
  for (int i = 0; i < kN; i += 2) text[i] = 'a';
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("%d %d %.2s", x[0], x[kN - 1], text);
  end();
}

CASE(buffers_take_turns) {
  int *const buffers[] = {pinned(), pinned()}, *const d_x = on_device(), *const result = pinned();
  const cudaStream_t stream = new_stream();
  const cudaEvent_t copied[] = {new_event(), new_event()};
  for (int k = 0; k < 4; ++k) {
    CUDA_CHECK(cudaEventSynchronize(copied[k % 2]));
    fill(buffers[k % 2], k);
    CUDA_CHECK(cudaMemcpyAsync(d_x, buffers[k % 2], kBytes, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaEventRecord(copied[k % 2], stream));
    CUDA_CHECK(cudaMemcpyAsync(result + k, d_x, sizeof(int), cudaMemcpyDeviceToHost, stream));
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::printf("%d %d %d %d", result[0], result[1], result[2], result[3]);
  end();
}

CASE(pageable_source) {
  std::vector<int> x(kN, 1);
  int *const d_x = on_device();
  CUDA_CHECK(cudaMemcpyAsync(d_x, x.data(), kBytes, cudaMemcpyHostToDevice, new_stream()));
  x[1] = 2;
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemcpyAsync(x.data(), d_x, kBytes, cudaMemcpyDeviceToHost));
  std::printf("%d", x[1]);
  end();
}

CASE(order_of_streams) {
  int *const x = managed(), *const d_x = on_device();
  const cudaStream_t one = new_stream(), other = new_stream();
  const cudaStream_t blocking = new_stream(cudaStreamDefault);
  const cudaEvent_t event = new_event();
  add<<<1, kN, 0, one>>>(x, 7);
  CUDA_CHECK(cudaEventRecord(event, one));
  CUDA_CHECK(cudaStreamWaitEvent(other, event, 0));
  CUDA_CHECK(cudaStreamSynchronize(other));
  std::printf("%d ", x[1]);
  add<<<1, kN, 0, blocking>>>(x, 7);
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
  std::printf("%d ", x[1]);
  add<<<1, kN>>>(x, 7);
  add<<<1, kN, 0, blocking>>>(d_x, 7);
  CUDA_CHECK(cudaStreamSynchronize(blocking));
  std::printf("%d", x[1]);
  end();
}

CASE(released_flag) {
  int *const data = managed(), *const flag = managed();
  *flag = 0;
  hand_over_released<<<1, 1>>>(data, flag);
  while (cuda::atomic_ref<int, cuda::thread_scope_system>(*flag).load(cuda::memory_order_acquire) ==
         0) {
  }
  std::printf("%d", *data);
  end();
}

CASE(asks_after_a_sleep) {
  int *const x = managed();
  const cudaStream_t stream = new_stream();
  const cudaEvent_t event = new_event();
  add<<<1, kN, 0, stream>>>(x, 7);
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  std::printf("%d ", x[1]);
  add<<<1, kN, 0, stream>>>(x, 7);
  CUDA_CHECK(cudaEventRecord(event, stream));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  std::printf("%d", x[1]);
  end();
}

__global__ void take_over(const int *data, const volatile int *flag, int *result) {
  while (*flag == 0) {
  }
  __threadfence_system();
  *result = 2 * *data;
}

CASE(flag_of_the_host) {
  int *const data = managed(), *const flag = managed(), *const result = managed();
  *flag = 0;
  take_over<<<1, 1>>>(data, flag, result);
  *data = 21;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *static_cast<volatile int *>(flag) = 1;
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("%d", *result);
  end();
}

std::atomic<int> calls;

CASE(host_function_tells) {
  int *const buffer = pinned(), *const d_x = on_device(), *const result = pinned();
  const cudaStream_t stream = new_stream();
  for (int k = 0; k < 4; ++k) {
    while (calls < k) std::this_thread::yield();
    fill(buffer, k);
    CUDA_CHECK(cudaMemcpyAsync(d_x, buffer, kBytes, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaLaunchHostFunc(
        stream, [](void *) { ++calls; }, nullptr));
    CUDA_CHECK(cudaMemcpyAsync(result + k, d_x, sizeof(int), cudaMemcpyDeviceToHost, stream));
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::printf("%d %d %d %d, %d calls", result[0], result[1], result[2], result[3], calls.load());
  end();
}

CASE(host_function_uses) {
  int *const x = managed();
  const cudaStream_t stream = new_stream();
  add<<<1, kN, 0, stream>>>(x, 7);
  CUDA_CHECK(cudaLaunchHostFunc(
      stream,
      [](void *pointer) {
        int *const y = static_cast<int *>(pointer);
        std::printf("%d ", y[1]++);
        std::printf("%d ", y[1]);
      },
      x));
  add<<<1, kN, 0, stream>>>(x, 7);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::printf("%d", x[1]);
  end();
}

CASE(graph_waited_for) {
  int *const x = managed();
  const cudaStream_t stream = new_stream();
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, kN, 0, stream>>>(x, 7);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  x[2] = 0;  // nothing runs before the launch
  CUDA_CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CUDA_CHECK(cudaGraphLaunch(ready, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::printf("%d ", x[1]);
  CUDA_CHECK(cudaGraphLaunch(ready, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::printf("%d", x[1]);
  end();
}

CASE(new_memory) {
  int *const d_x = on_device(), *const d_y = on_device();
  add<<<1, kN, 0, new_stream()>>>(d_x, 7);  // for which nothing waits
  const cudaStream_t stream = new_stream();
  for (int k = 0; k < 2; ++k) {
    int *const x = pinned();
    fill(x, 3);
    CUDA_CHECK(cudaMemcpyAsync(d_y, x, kBytes, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    std::printf(k == 0 ? "%d " : "%d", x[1]);
    CUDA_CHECK(cudaFreeHost(x));
  }
  end();
}

CASE(other_thread) {
  int *const x = managed();
  std::atomic<bool> ended{false};
  std::thread waits([&] {
    add<<<1, kN>>>(x, 7);
    CUDA_CHECK(cudaDeviceSynchronize());
    ended = true;
  });
  while (!ended) std::this_thread::yield();
  std::printf("%d", x[1]);
  waits.join();
  end();
}
