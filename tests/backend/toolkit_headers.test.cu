// SPDX-License-Identifier: MIT
// Headers of the toolkit beside <cuda_runtime.h>, and the macros by which programs ask what they
// are compiled by and what was included.
#include <builtin_types.h>
#include <channel_descriptor.h>
#include <cuComplex.h>
#include <cuda_profiler_api.h>
#include <device_atomic_functions.h>
#include <device_functions.h>
#include <device_launch_parameters.h>
#include <driver_types.h>
#include <host_defines.h>
#include <math_constants.h>
#include <math_functions.h>
#include <nvtx3/nvToolsExt.h>
#include <vector_functions.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <string>

#include "../catch.hpp"

#define TEXT_OF(x) #x
#define VALUE_OF(x) std::string(TEXT_OF(x))

namespace {

// Each asks in its way on which side it is: 1 on the device, 2 on the host.
#define BOTH_SIDES __host__ __device__
#define FOR_DEVICE __device__
#define IS_NEW (__CUDA_ARCH__ >= 800)

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "a chip of 8.0 or later is asked for"
#endif
#if __CUDA_ARCH__ >= 600
__device__ int whole_function() { return 1; }
#else
__device__ int whole_function() { return 2; }
#endif
#ifndef __CUDA_ARCH__
int for_the_host_alone() { return 2; }
#endif

BOTH_SIDES inline int either_side() {
#ifdef __CUDA_ARCH__
  const int side = 1 + (threadIdx.x > 4);
  return side;
#else
  return 2;
#endif
}

struct Either {
  int side;
  __host__ __device__ constexpr explicit Either(int) : side(2) {
#if defined(__CUDA_ARCH__)
    side = 1;
#endif
  }
};
static_assert(Either(0).side == 2, "the compiler is the host");

FOR_DEVICE int by_a_macro() {
#if IS_NEW
  return 1;
#else
  return 2;
#endif
}

__device__ int in_place_of_assembly() {
#if __CUDA_ARCH__ >= 700
  int one;
  asm volatile("mov.u32 %0, 1;" : "=r"(one));
  return one;
#else
  return 1;
#endif
}

constexpr int kWays = 11, kLineOfSide1 = __LINE__ + 9;
__global__ void ask_for_side(int* side) {
#ifdef __CUDA_ARCH__
  side[0] = 1;
#endif
#if !defined(__CUDA_ARCH__)
  side[1] = 2;
#elif __CUDA_ARCH__ >= 900
  side[1] = 3;
#elif __CUDA_ARCH__ == CUDA_CPU_ARCH
  side[1] = __LINE__ - kLineOfSide1;
#endif
  side[2] = whole_function();
  side[3] = either_side();
  side[4] = Either(0).side;
  side[5] = by_a_macro();
  side[6] = in_place_of_assembly();
  side[7] = __CUDA_ARCH__ >= 800 && IS_NEW ? 1 : 2;
#define OUTSIDE 2
#if OUTSIDE == 2
#ifndef __CUDA_ARCH__
  side[8] = 2;
#else
  side[8] = 1;
#endif
#endif
}

template <class F>
__global__ void call(F f, int* side) {
  *side = f();
}

__global__ void constants(float* f, double* d) {
  f[0] = CUDART_INF_F, f[1] = CUDART_NAN_F, f[2] = CUDART_PI_F, f[3] = CUDART_MIN_DENORM_F;
  f[4] = CUDART_MAX_NORMAL_F, f[5] = CUDART_NEG_ZERO_F;
  d[0] = CUDART_INF, d[1] = CUDART_NAN, d[2] = CUDART_PI, d[3] = CUDART_MIN_DENORM;
  d[4] = CUDART_TWO_TO_M1022, d[5] = CUDART_NEG_ZERO;
}

void CUDART_CB count(void* calls) { ++*static_cast<int*>(calls); }

template <class T>
T* pinned(std::size_t n) {
  T* p = nullptr;
  REQUIRE(cudaMallocHost(&p, n * sizeof(T)) == cudaSuccess);
  return p;
}

}  // namespace

TEST_CASE("a .cu is told that nvcc compiles it, and what was included") {
#if !defined(__CUDACC__) || !defined(__NVCC__)
  FAIL("nvcc defines both");
#endif
  CHECK(__CUDACC_VER_MAJOR__ == 13);
  CHECK(__CUDACC_VER_MINOR__ == 0);
  CHECK(CUDART_VERSION == 13000);
  CHECK(VALUE_OF(__CUDA_RUNTIME_H__).empty());
  CHECK(VALUE_OF(__CUDA_RUNTIME_API_H__).empty());
  CHECK(VALUE_OF(__DRIVER_TYPES_H__).empty());
  CHECK(VALUE_OF(__VECTOR_TYPES_H__).empty());
  CHECK(VALUE_OF(__HOST_DEFINES_H__).empty());
  CHECK(VALUE_OF(__DEVICE_LAUNCH_PARAMETERS_H__).empty());
  CHECK(VALUE_OF(CUDARTAPI).empty());
}

TEST_CASE("__CUDA_ARCH__ is the capability in device code, and not defined in the host's") {
  int* const side = pinned<int>(kWays);
  std::fill_n(side, kWays, 0);
  ask_for_side<<<1, 1>>>(side);
  const auto of_device = [=] __device__ {
#ifdef __CUDA_ARCH__
    return 1;
#else
    return 2;
#endif
  };
  call<<<1, 1>>>(of_device, side + 9);
  const auto of_both = [=] __host__ __device__ {
#ifdef __CUDA_ARCH__
    return 1;
#else
    return 2;
#endif
  };
  call<<<1, 1>>>(of_both, side + 10);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < kWays; ++i) {
    CAPTURE(i);
    CHECK(side[i] == 1);
  }
  CHECK(cudaFreeHost(side) == cudaSuccess);

#if defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 200
  FAIL("this is host code");
#endif
  CHECK(for_the_host_alone() == 2);
  CHECK(either_side() == 2);
  CHECK(Either(0).side == 2);
  CHECK(of_both() == 2);
  cudaDeviceProp properties{};
  REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  CHECK(properties.major * 100 + properties.minor * 10 == __CUDA_ARCH__);
}

TEST_CASE("math constants have the values that their names say") {
  float* const f = pinned<float>(6);
  double* const d = pinned<double>(6);
  constants<<<1, 1>>>(f, d);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK((std::isinf(f[0]) && f[0] > 0));
  CHECK(std::isnan(f[1]));
  CHECK(f[2] == std::acos(-1.0F));
  CHECK(f[3] == FLT_TRUE_MIN);
  CHECK(f[4] == FLT_MAX);
  CHECK((f[5] == 0 && std::signbit(f[5])));
  CHECK((std::isinf(d[0]) && d[0] > 0));
  CHECK(std::isnan(d[1]));
  CHECK(d[2] == std::acos(-1.0));
  CHECK(d[3] == DBL_TRUE_MIN);
  CHECK(d[4] == DBL_MIN);
  CHECK((d[5] == 0 && std::signbit(d[5])));
  CHECK(cudaFreeHost(f) == cudaSuccess);
  CHECK(cudaFreeHost(d) == cudaSuccess);

  CHECK(CUDART_SQRT_TWO == std::sqrt(2.0));
  CHECK(CUDART_SQRT_HALF == std::sqrt(0.5));
  CHECK(CUDART_SQRT_HALF_F == std::sqrt(0.5F));
  CHECK(CUDART_PIO4 == CUDART_PI / 4);
  CHECK(CUDART_PIO2_F == CUDART_PI_F / 2);
  CHECK(CUDART_2_OVER_PI == std::stod("0.63661977236758134307553505349005745"));
  CHECK(CUDART_SQRT_2_OVER_PI_F == static_cast<float>(std::sqrt(2 / std::acos(-1.0))));
  CHECK(CUDART_LN2 == std::log(2.0));
  CHECK(CUDART_LNT_F == std::log(10.0F));
  CHECK(CUDART_LG2 == std::log10(2.0));
  CHECK(CUDART_L2T == std::log2(10.0));
  CHECK(CUDART_L2E == std::stod("1.44269504088896340735992468100189214"));
  CHECK(CUDART_LGE_F == std::stof("0.434294481903251827651128918916605082"));
  CHECK(CUDART_THIRD_F == 1.0F / 3);
  CHECK(CUDART_TWOTHIRD == 2.0 / 3);
}

// FEATURE: numbers: `<cuComplex.h>`
TEST_CASE("complex numbers of both kinds") {
  const cuDoubleComplex a = make_cuDoubleComplex(1, 2), b = make_cuDoubleComplex(3, -4);
  const auto is = [](cuDoubleComplex x, double re, double im) {
    return cuCreal(x) == re && cuCimag(x) == im;
  };
  CHECK(is(cuCadd(a, b), 4, -2));
  CHECK(is(cuCsub(a, b), -2, 6));
  CHECK(is(cuCmul(a, b), 11, 2));
  CHECK(cuCreal(cuCdiv(cuCmul(a, b), b)) == Approx(1));
  CHECK(cuCimag(cuCdiv(cuCmul(a, b), b)) == Approx(2));
  CHECK(is(cuCfma(a, b, a), 12, 4));
  CHECK(is(cuConj(a), 1, -2));
  CHECK(cuCabs(b) == 5);
  CHECK(is(cuComplexFloatToDouble(make_cuComplex(0.5F, 2)), 0.5, 2));
  // What fits in the end does not overflow on the way.
  const cuFloatComplex large = make_cuFloatComplex(3e38F, 0), half = make_cuFloatComplex(2e38F, 0);
  CHECK(cuCrealf(cuCdivf(large, half)) == Approx(1.5));
  CHECK(cuCabsf(make_cuFloatComplex(3e30F, 4e30F)) == Approx(5e30));
}

// FEATURE: libraries: NVTX ranges and marks
TEST_CASE("ranges for a profiler change nothing") {
  nvtxEventAttributes_t named{};
  named.version = NVTX_VERSION;
  named.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  named.messageType = NVTX_MESSAGE_TYPE_ASCII;
  named.message.ascii = "outer";
  CHECK(nvtxRangePushEx(&named) >= 0);
  CHECK(nvtxRangePush("inner") >= 0);
  nvtxMark("here");
  nvtxRangePop();
  nvtxRangePop();
  nvtxRangeEnd(nvtxRangeStart("from here"));
}

// FEATURE: libraries: `cudaProfilerStart`, `cudaProfilerStop`
TEST_CASE("callbacks carry CUDART_CB, and the profiler can be told to start and stop") {
  int calls = 0;
  CHECK(cudaProfilerStart() == cudaSuccess);
  REQUIRE(cudaLaunchHostFunc(nullptr, count, &calls) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaProfilerStop() == cudaSuccess);
  CHECK(calls == 1);
}
