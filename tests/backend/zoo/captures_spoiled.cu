// SPDX-License-Identifier: MIT
// Calls that a capture does not go with: each says which, where the capture began, and why. The
// program sees the toolkit's codes.
// EXPECT-STATUS: 0
// EXPECT: {file}:{waits}: error: the capture that begins here is invalid after cudaStreamSynchronize
// EXPECT: it is not allowed while a stream is captured
// EXPECT: {file}:{allocates}: error: the capture that begins here is invalid after cudaMalloc
// EXPECT: {file}:{default}: error: the capture that begins here is invalid after kernel 'set'
// EXPECT: the default stream waits for every blocking stream
// EXPECT: {file}:{outside}: error: the capture that begins here is invalid after cudaStreamWaitEvent
// EXPECT: the event was recorded outside the capture
// EXPECT: {file}:{unjoined}: error: the capture that begins here is invalid after cudaStreamEndCapture
// EXPECT: another stream of the capture has work that this stream does not wait for
// EXPECT: {file}:{event}: error: the capture that begins here is invalid after cudaEventSynchronize
// EXPECT: {file}:{pool}: error: the capture that begins here is invalid after cudaMallocAsync
// EXPECT: the CPU backend has no such nodes
// EXPECT: {file}:{literal}: error: the capture that begins here is invalid after a launch with arguments in braces
// EXPECT-STDOUT: waits: cudaErrorStreamCaptureUnsupported, then cudaErrorStreamCaptureInvalidated
// EXPECT-STDOUT: allocates: cudaErrorStreamCaptureUnsupported, then cudaErrorStreamCaptureInvalidated
// EXPECT-STDOUT: default stream: cudaErrorStreamCaptureImplicit, then cudaErrorStreamCaptureInvalidated
// EXPECT-STDOUT: event from outside: cudaErrorStreamCaptureIsolation, then cudaErrorStreamCaptureInvalidated
// EXPECT-STDOUT: unjoined: cudaSuccess, then cudaErrorStreamCaptureUnjoined
// EXPECT-STDOUT: event: cudaErrorCapturedEvent, then cudaErrorStreamCaptureInvalidated
// EXPECT-STDOUT: pool: cudaErrorNotSupported, then cudaErrorStreamCaptureInvalidated
// EXPECT-STDOUT: literal: cudaErrorNotSupported, then cudaErrorStreamCaptureInvalidated
// EXPECT-STDOUT: and the stream works as before: 5
#include <cuda_runtime.h>

#include <cstdio>

__global__ void set(int* x, int value) { *x = value; }

cudaStream_t stream, other;

void end(const char* what, cudaError_t code) {
  cudaGraph_t graph;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  std::printf("%s: %s, then %s\n", what, cudaGetErrorName(code), cudaGetErrorName(ended));
  cudaGetLastError();
}

int main() {
  int *d_x, *d_y, x = 0;
  cudaEvent_t event, outside;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaEventCreate(&event);
  cudaEventCreate(&outside);
  cudaMalloc(&d_x, sizeof(int));
  cudaEventRecord(outside, other);
  const cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;

  cudaStreamBeginCapture(stream, mode);  // @waits
  set<<<1, 1, 0, stream>>>(d_x, 1);
  end("waits", cudaStreamSynchronize(stream));

  cudaStreamBeginCapture(stream, mode);  // @allocates
  end("allocates", cudaMalloc(&d_y, sizeof(int)));

  cudaStreamBeginCapture(stream, mode);  // @default
  set<<<1, 1>>>(d_x, 2);
  end("default stream", cudaGetLastError());

  cudaStreamBeginCapture(stream, mode);  // @outside
  end("event from outside", cudaStreamWaitEvent(stream, outside, 0));

  cudaStreamBeginCapture(stream, mode);  // @unjoined
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(other, event, 0);
  set<<<1, 1, 0, other>>>(d_x, 3);
  end("unjoined", cudaGetLastError());

  cudaStreamBeginCapture(stream, mode);  // @event
  cudaEventRecord(event, stream);
  end("event", cudaEventSynchronize(event));

  cudaStreamBeginCapture(stream, mode);  // @pool
  end("pool", cudaMallocAsync(&d_y, sizeof(int), stream));

  cudaStreamBeginCapture(stream, mode);  // @literal
  set<<<1, 1, 0, stream>>>(0, 1);
  end("literal", cudaGetLastError());

  set<<<1, 1, 0, stream>>>(d_x, 5);
  cudaMemcpyAsync(&x, d_x, sizeof(int), cudaMemcpyDeviceToHost, stream);
  std::printf("and the stream works as before: %d\n", x);
  cudaFree(d_x);
}
