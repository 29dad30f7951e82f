// SPDX-License-Identifier: MIT
// Lanes read others that their mask does not name: all read one, each stores what it got, and the
// largest of half a warp is looked for among 32.
// EXPECT: {file}:{broadcast}: error: a shuffle reads a lane that takes no part in kernel 'broadcast', block (0,0,0), thread (1,0,0)
// EXPECT: __shfl_sync: lane 1 reads lane 0, which mask 0xaaaaaaaa does not name
// EXPECT: {file}:{store}: error: a shuffle reads a lane that takes no part in kernel 'neighbour', block (0,0,0), thread (16,0,0)
// EXPECT: __shfl_up_sync: lane 16 reads lane 15, which mask 0xffff0000 does not name
// EXPECT: {file}:{largest}: error: a shuffle reads a lane that takes no part in kernel 'largest', block (0,0,0), thread (0,0,0)
// EXPECT: __shfl_xor_sync: lane 0 reads lane 16, which mask 0x0000ffff does not name
// EXPECT-STDOUT: 3
#include <cstdio>

__global__ void broadcast(int* out) {
  const unsigned odd = __ballot_sync(0xffffffffu, threadIdx.x % 2);
  if (threadIdx.x % 2 == 1) {
    const int first = __shfl_sync(odd, out[threadIdx.x], 0);  // @broadcast
    out[threadIdx.x] = first;
  }
}
__global__ void neighbour(int* out) {
  if (threadIdx.x >= 16) {
    out[threadIdx.x] = __shfl_up_sync(0xffff0000u, out[threadIdx.x], 1);  // @store
  }
}
__global__ void largest(int* out) {
  int v = out[threadIdx.x];
  if (threadIdx.x < 16) {
    for (int distance = 16; distance > 0; distance /= 2) {
      v = max(v, __shfl_xor_sync(0x0000ffffu, v, distance));  // @largest
    }
  }
  if (threadIdx.x == 0) out[0] = v;
}

template <class Launch>
int fails(Launch launch) {
  int* d_out;
  cudaMalloc(&d_out, 32 * sizeof(int));
  launch(d_out);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaDeviceReset();
  return error == cudaErrorLaunchFailure;
}

int main() {
  const int failed = fails([](int* out) { broadcast<<<1, 32>>>(out); }) +
                     fails([](int* out) { neighbour<<<1, 32>>>(out); }) +
                     fails([](int* out) { largest<<<1, 32>>>(out); });
  std::printf("%d\n", failed);
  return 1;
}
