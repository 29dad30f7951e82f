// SPDX-License-Identifier: MIT
// Whoever does not wait sees what was there before.
//
// CASE: never_waited_for
// The program ends without waiting: nothing ran, and a note says so.
// EXPECT-STATUS: 0
// EXPECT: {file}:{launch}: note: the program ended before this ran: kernel 'hello'
//
// CASE: ends_meanwhile
// A host that asks for nothing long enough has its work done beside it, and ends before that does.
// EXPECT-STATUS: 0
// EXPECT: {file}:{slow_launch}: note: the program ended before this ran: kernel 'wait_for_nobody'
//
// CASE: managed_read_too_early
// Managed memory has one pointer for both sides, but still two sides: a launch does not wait, and
// the host reads what was there before.
// EXPECT-STDOUT: before: 1
// EXPECT-STDOUT: after: 8
//
// CASE: result_read_too_early
// Results in pinned and in mapped memory are read before anything waits: they are not there yet.
// EXPECT-STDOUT: before: copied -1, mapped -1
// EXPECT-STDOUT: after: copied 7, mapped 7
//
// CASE: source_changed_too_early
// The source of an asynchronous copy is filled again before the copy has run: both copies bring the
// second filling. With one buffer per copy, or a wait between, each brings its own.
// EXPECT-STDOUT: pinned: 2 2
// EXPECT-STDOUT: waited: 1 2
//
// CASE: overtaken_fill
// A fill in the default stream, then a kernel in a stream of its own. A blocking stream waits for
// the fill. A non-blocking one does not: the fill comes last and wipes the result out.
// EXPECT-STDOUT: blocking stream: 7
// EXPECT-STDOUT: non-blocking stream: -1
//
// CASE: pageable_copy_waits
// An asynchronous copy to pageable memory is not asynchronous: the call comes back when all before
// it in the stream has run and the bytes are there. To pinned memory it comes back at once.
// EXPECT-STDOUT: after the call, pinned: -1, the stream is busy
// EXPECT-STDOUT: after the call, pageable: 7, the stream is idle

#include <chrono>
#include <cstdio>
#include <thread>

#include "../../../common/check.cuh"
#include "cases.cuh"

__global__ void hello() { printf("hello\n"); }

CASE(never_waited_for) {
  hello<<<1, 1>>>();  // @launch
  CUDA_CHECK_LAUNCH();
}

__global__ void wait_for_nobody(volatile int* flag) {
  while (*flag == 0) {
  }
}

CASE(ends_meanwhile) {
  int* flag;
  CUDA_CHECK(cudaMalloc(&flag, sizeof(int)));
  CUDA_CHECK(cudaMemset(flag, 0, sizeof(int)));
  wait_for_nobody<<<1, 1>>>(flag);  // @slow_launch
  CUDA_CHECK_LAUNCH();
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
}

__global__ void add_seven(int* x) { *x += 7; }

CASE(managed_read_too_early) {
  int* x;
  CUDA_CHECK(cudaMallocManaged(&x, sizeof(int)));
  *x = 1;
  add_seven<<<1, 1>>>(x);
  CUDA_CHECK_LAUNCH();
  std::printf("before: %d\n", *x);
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("after: %d\n", *x);
  CUDA_CHECK(cudaFree(x));
}

__global__ void produce(int* x, int* mapped) {
  *x = 7;
  *mapped = 7;
}

CASE(result_read_too_early) {
  int *x, *copied, *mapped;
  CUDA_CHECK(cudaMalloc(&x, sizeof(int)));
  CUDA_CHECK(cudaMallocHost(&copied, sizeof(int)));
  CUDA_CHECK(cudaHostAlloc(&mapped, sizeof(int), cudaHostAllocMapped));
  produce<<<1, 1>>>(x, mapped);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpyAsync(copied, x, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("before: copied %d, mapped %d\n", *copied, *mapped);
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("after: copied %d, mapped %d\n", *copied, *mapped);
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFreeHost(copied));
  CUDA_CHECK(cudaFreeHost(mapped));
}

CASE(source_changed_too_early) {
  int *pinned, *d_x;
  CUDA_CHECK(cudaMallocHost(&pinned, sizeof(int)));
  CUDA_CHECK(cudaMalloc(&d_x, 2 * sizeof(int)));
  for (const bool wait : {false, true}) {
    for (int k = 0; k < 2; ++k) {
      *pinned = k + 1;
      CUDA_CHECK(cudaMemcpyAsync(d_x + k, pinned, sizeof(int), cudaMemcpyHostToDevice));
      if (wait) CUDA_CHECK(cudaStreamSynchronize(nullptr));
    }
    int x[2];
    CUDA_CHECK(cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost));
    std::printf("%s: %d %d\n", wait ? "waited" : "pinned", x[0], x[1]);
  }
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFreeHost(pinned));
}

__global__ void set_seven(int* x) { *x = 7; }

CASE(overtaken_fill) {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, sizeof(int)));
  for (const unsigned flags : {cudaStreamDefault, cudaStreamNonBlocking}) {
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, flags));
    CUDA_CHECK(cudaMemset(x, 0xff, sizeof(int)));  // on the device: the call does not wait for it
    set_seven<<<1, 1, 0, stream>>>(x);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaStreamSynchronize(stream));
    int result;
    CUDA_CHECK(cudaMemcpy(&result, x, sizeof(int), cudaMemcpyDeviceToHost));
    std::printf("%s stream: %d\n", flags == cudaStreamDefault ? "blocking" : "non-blocking",
                result);
    CUDA_CHECK(cudaStreamDestroy(stream));
  }
  CUDA_CHECK(cudaFree(x));
}

__global__ void take_your_time(int* x) {
  int v = 1;
  for (int i = 0; i < 20000000; ++i) v = v * 3 + i;
  *x = v == 0 ? 8 : 7;  // the loop's result is used, so it cannot be left out
}

void copy(int* result, int* d_x, const char* kind) {
  take_your_time<<<1, 1>>>(d_x);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpyAsync(result, d_x, sizeof(int), cudaMemcpyDeviceToHost));
  const int seen = *result;
  const bool busy = cudaStreamQuery(nullptr) == cudaErrorNotReady;
  cudaGetLastError();  // "not ready" counts as an error; asking clears it
  std::printf("after the call, %s: %d, the stream is %s\n", kind, seen, busy ? "busy" : "idle");
  CUDA_CHECK(cudaDeviceSynchronize());
}

CASE(pageable_copy_waits) {
  int pageable = -1, *pinned, *d_x;
  CUDA_CHECK(cudaMallocHost(&pinned, sizeof(int)));
  CUDA_CHECK(cudaMalloc(&d_x, sizeof(int)));
  *pinned = -1;
  copy(pinned, d_x, "pinned");
  copy(&pageable, d_x, "pageable");
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFreeHost(pinned));
}
