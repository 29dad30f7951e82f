// SPDX-License-Identifier: MIT
// GROUP: streams and graphs
#include "program.h"

// FEATURE: event_times: the time between two events
__global__ void add(int* x, int n) { *x += n; }

int main() {
  int* x = numbers();
  cudaEvent_t begin, end;
  MUST(cudaEventCreate(&begin));
  MUST(cudaEventCreate(&end));
  MUST(cudaEventRecord(begin));
  add<<<1, 1>>>(x, 1);
  MUST(cudaEventRecord(end));
  MUST(cudaEventSynchronize(end));
  float milliseconds = -1;
  MUST(cudaEventElapsedTime(&milliseconds, begin, end));
  return answer(milliseconds > 0 && *x == 1);
}

// FEATURE: stream_attributes: a window of memory for the L2 cache, as an attribute of a stream
int main() {
  int* x = numbers();
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  cudaStreamAttrValue value{}, back{};
  value.accessPolicyWindow = {x, sizeof(int), 1.0f, cudaAccessPropertyPersisting,
                              cudaAccessPropertyStreaming};
  MUST(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
  MUST(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &back));
  MUST(cudaStreamDestroy(stream));
  return answer(back.accessPolicyWindow.base_ptr == x &&
                back.accessPolicyWindow.num_bytes == sizeof(int));
}

// FEATURE: stream_attach: managed memory for one stream
__global__ void add(int* x, int n) { *x += n; }

int main() {
  int* x;
  MUST(cudaMallocManaged(&x, sizeof(int)));
  *x = 1;
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamAttachMemAsync(stream, x));
  MUST(cudaStreamSynchronize(stream));
  add<<<1, 1, 0, stream>>>(x, 2);
  MUST(cudaStreamSynchronize(stream));
  MUST(cudaStreamDestroy(stream));
  return answer(*x == 3);
}

// FEATURE: host_functions: host functions in a stream
__global__ void add(int* x, int n) { *x += n; }

void CUDART_CB twice(void* x) { *static_cast<int*>(x) *= 2; }

int main() {
  int *x = numbers(), calls = 3;
  add<<<1, 1>>>(x, 1);
  MUST(cudaLaunchHostFunc(nullptr, twice, &calls));
  wait();
  return answer(calls == 6 && *x == 1);
}

// FEATURE: per_thread_stream: the default stream of a thread
__global__ void add(int* x, int n) { *x += n; }

int main() {
  int* x = numbers();
  add<<<1, 1, 0, cudaStreamPerThread>>>(x, 1);
  MUST(cudaStreamSynchronize(cudaStreamPerThread));
  return answer(*x == 1);
}

// FEATURE: priorities: priorities of streams
__global__ void add(int* x, int n) { *x += n; }

int main() {
  int *x = numbers(), least = 0, greatest = 0, priority = 99;
  cudaStream_t stream;
  MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  MUST(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  MUST(cudaStreamGetPriority(stream, &priority));
  add<<<1, 1, 0, stream>>>(x, 1);
  wait();
  return answer(priority == greatest && greatest <= least && *x == 1);
}

// FEATURE: streams: streams and events
__global__ void add(int* x, int n) { *x += n; }

int main() {
  int* x = numbers();
  cudaStream_t one, two;
  cudaEvent_t event;
  MUST(cudaStreamCreate(&one));
  MUST(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  MUST(cudaEventCreate(&event));
  add<<<1, 1, 0, one>>>(x, 1);
  MUST(cudaEventRecord(event, one));
  MUST(cudaStreamWaitEvent(two, event, 0));
  add<<<1, 1, 0, two>>>(x, 2);
  MUST(cudaStreamSynchronize(two));
  MUST(cudaEventQuery(event));
  return answer(*x == 3);
}
