// SPDX-License-Identifier: MIT
// GROUP: libraries
#include "program.h"

// FEATURE: cub_block: CUB within a block
#include <cub/block/block_reduce.cuh>

__global__ void show(int* out) {
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ typename Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(int(threadIdx.x));
  if (threadIdx.x == 0) out[0] = sum;
}

int main() {
  int* out = numbers();
  show<<<1, 64>>>(out);
  wait();
  return answer(out[0] == 2016);
}

// FEATURE: cub_device: CUB over the device
#include <cub/device/device_reduce.cuh>

int main() {
  int* x = numbers();
  for (int i = 0; i < 100; ++i) x[i + 1] = i;
  void* storage = nullptr;
  size_t bytes = 0;
  MUST(cub::DeviceReduce::Sum(storage, bytes, x + 1, x, 100));
  MUST(cudaMalloc(&storage, bytes));
  MUST(cub::DeviceReduce::Sum(storage, bytes, x + 1, x, 100));
  wait();
  return answer(x[0] == 4950);
}

// FEATURE: cublas_captured: cuBLAS in a graph
// NVCC: -lcublas
#include <cublas_v2.h>

int main() {
  float *x = numbers<float>(), *y = numbers<float>();
  x[0] = 2;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cublasHandle_t handle;
  const float three = 3;
  MUST(cudaStreamCreate(&stream));
  MUST(cublasCreate(&handle));
  MUST(cublasSetStream(handle, stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cublasSaxpy(handle, 1, &three, x, 1, y, 1));
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaStreamSynchronize(stream));
  return answer(y[0] == 12);
}

// FEATURE: cublas_sgemm: cuBLAS: `cublasSgemm`
// NVCC: -lcublas
#include <cublas_v2.h>

int main() {
  float *a = numbers<float>(), *b = numbers<float>(), *c = numbers<float>();
  for (int i = 0; i < 4; ++i) a[i] = b[i] = i + 1;
  cublasHandle_t handle;
  const float one = 1, zero = 0;
  MUST(cublasCreate(&handle));
  MUST(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2));
  wait();
  MUST(cublasDestroy(handle));
  return answer(c[0] == 7 && c[3] == 22);
}

// FEATURE: cuda_std: `cuda::std`
#include <cuda/std/array>
#include <cuda/std/utility>

__global__ void show(int* out) {
  cuda::std::array<int, 4> x{1, 2, 3, 4};
  const cuda::std::pair<int, int> y(5, 6);
  out[0] = x[3] + y.second;
}

int main() {
  int* out = numbers();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 10);
}

// FEATURE: cufft: cuFFT
// NVCC: -lcufft
#include <cufft.h>

int main() {
  cufftComplex* x = numbers<cufftComplex>();
  x[0].x = 1;
  cufftHandle plan;
  MUST(cufftPlan1d(&plan, 64, CUFFT_C2C, 1));
  MUST(cufftExecC2C(plan, x, x, CUFFT_FORWARD));
  wait();
  return answer(x[5].x == 1 && x[5].y == 0);
}

// FEATURE: curand_device: cuRAND in device code
#include <curand_kernel.h>

__global__ void show(float* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(1, threadIdx.x, 0, &state);
  out[threadIdx.x] = curand_uniform(&state);
}

int main() {
  float* out = numbers<float>();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] > 0 && out[0] <= 1 && out[0] != out[1]);
}

// FEATURE: curand_host: cuRAND, called by the host
// NVCC: -lcurand
#include <curand.h>

int main() {
  float* x = numbers<float>();
  curandGenerator_t generator;
  MUST(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  MUST(curandSetPseudoRandomGeneratorSeed(generator, 1));
  MUST(curandGenerateUniform(generator, x, 1024));
  wait();
  return answer(x[0] > 0 && x[0] <= 1 && x[0] != x[1]);
}

// FEATURE: driver_api: the driver API
// NVCC: -lcuda
#include <cuda.h>

int main() {
  MUST(cuInit(0));
  CUdevice device;
  CUcontext context;
  CUdeviceptr x;
  int number = 0;
  MUST(cuDeviceGet(&device, 0));
  MUST(cuDevicePrimaryCtxRetain(&context, device));
  MUST(cuCtxSetCurrent(context));
  MUST(cuMemAlloc(&x, 4));
  MUST(cuMemsetD32(x, 12, 1));
  MUST(cuMemcpyDtoH(&number, x, 4));
  return answer(number == 12);
}

// FEATURE: nvrtc: NVRTC
// NVCC: -lnvrtc
#include <nvrtc.h>

int main() {
  nvrtcProgram program;
  const char* const source = "__global__ void show(int* x) { *x = 1; }";
  MUST(nvrtcCreateProgram(&program, source, "show.cu", 0, nullptr, nullptr));
  MUST(nvrtcCompileProgram(program, 0, nullptr));
  size_t bytes = 0;
  MUST(nvrtcGetPTXSize(program, &bytes));
  return answer(bytes > 100);
}

// FEATURE: nvtx: NVTX ranges
#include <nvtx3/nvToolsExt.h>

int main() {
  nvtxRangePushA("work");
  nvtxRangePop();
  return answer(true);
}

// FEATURE: profiler: `cudaProfilerStart`
#include <cuda_profiler_api.h>

int main() {
  MUST(cudaProfilerStart());
  MUST(cudaProfilerStop());
  return answer(true);
}

// FEATURE: thrust: Thrust
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>

int main() {
  thrust::device_vector<int> x(100);
  thrust::sequence(x.begin(), x.end());
  return answer(thrust::reduce(x.begin(), x.end()) == 4950);
}
