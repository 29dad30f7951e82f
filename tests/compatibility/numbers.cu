// SPDX-License-Identifier: MIT
// GROUP: numbers
#include "program.h"

// FEATURE: bfloat16: `__nv_bfloat16`
#include <cuda_bf16.h>

__global__ void show(float* out) {
  const __nv_bfloat16 x = __float2bfloat16(1.5f);
  out[0] = __bfloat162float(__hadd(x, x)) + float(x * x);
}

int main() {
  float* out = numbers<float>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 5.25f);
}

// FEATURE: complex: `<cuComplex.h>`
#include <cuComplex.h>

__global__ void show(float* out) {
  const cuFloatComplex x = cuCmulf(make_cuFloatComplex(1, 2), make_cuFloatComplex(3, 4));
  out[0] = cuCrealf(x);
  out[1] = cuCimagf(x);
}

int main() {
  float* out = numbers<float>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == -5 && out[1] == 10);
}

// FEATURE: fp8: 8-bit floats
#include <cuda_fp8.h>

__global__ void show(float* out) {
  out[0] = float(__nv_fp8_e4m3(1.75f)) + float(__nv_fp8_e5m2(4.0f));
}

int main() {
  float* out = numbers<float>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 5.75f);
}

// FEATURE: half: `__half` and `__half2`
#include <cuda_fp16.h>

__global__ void show(float* out) {
  const __half2 x = __hfma2(__floats2half2_rn(1, 2), __float2half2_rn(3), __float2half2_rn(0.5f));
  out[0] = __low2float(x) + __half2float(hsqrt(__float2half(16)));
  out[1] = __high2float(x);
}

int main() {
  float* out = numbers<float>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 7.5f && out[1] == 6.5f);
}

// FEATURE: int128: `__int128`
__global__ void show(int* out) {
  const unsigned __int128 x = static_cast<unsigned __int128>(1) << 100;
  out[0] = static_cast<int>((x + threadIdx.x) >> 98);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 4);
}

// FEATURE: integer_functions: functions on integers
__global__ void show(int* out) {
  out[0] = __popc(255) + __clz(1) + __ffs(8) + __brev(1u << 31);
  out[1] = __dp4a(0x01010101, 0x02020202, 1);
  out[2] = __byte_perm(0x11223344, 0, 0x0123);
  out[3] = __umulhi(1u << 31, 4) + __funnelshift_l(1u << 31, 0, 1);
}

int main() {
  int* out = numbers();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 44 && out[1] == 9 && out[2] == 0x44332211 && out[3] == 3);
}

// FEATURE: math_functions: mathematical functions
__global__ void show(double* out) {
  out[0] = rsqrt(4.0) + norm3d(2.0, 3.0, 6.0) + erf(0.0) + cospi(1.0);
  out[1] = __fdividef(6.0f, 2.0f) + __expf(0.0f) + __saturatef(3.0f);
}

int main() {
  double* out = numbers<double>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] > 6.4999 && out[0] < 6.5001 && out[1] > 4.999 && out[1] < 5.001);
}

// FEATURE: matrix_units: `nvcuda::wmma`
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void show(const __half* a, const __half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main() {
  __half *a = numbers<__half>(), *b = numbers<__half>();
  float* c = numbers<float>();
  for (int i = 0; i < 256; ++i) {
    a[i] = __float2half(i % 16);
    b[i] = __float2half(i / 16);
  }
  show<<<1, 32>>>(a, b, c);
  wait();
  return answer(c[0] == 1 && c[3] == 361 && c[255] == 1801);
}

// FEATURE: rounding: operations that say how they round
__global__ void show(float* out) {
  out[0] = __fadd_ru(1.0f, 1e-10f) - 1.0f;
  out[1] = __fmaf_rn(2.0f, 3.0f, 4.0f);
  out[2] = __double2float_rd(1.0 - 1e-12) - 1.0f;
}

int main() {
  float* out = numbers<float>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] > 0 && out[1] == 10 && out[2] < 0);
}

// FEATURE: simd_integers: SIMD within a word: `__vadd4` and its like
__global__ void show(int* out) {
  out[0] = __vadd4(0x01020304, 0x01010101);
  out[1] = __vabsdiffu4(0x05050505, 0x02020202);
}

int main() {
  int* out = numbers();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 0x02030405 && out[1] == 0x03030303);
}

// FEATURE: vector_types: vector types
__global__ void show(float4* out) {
  const float4 x = make_float4(1, 2, 3, 4);
  const int2 y = make_int2(5, 6);
  out[0] = make_float4(x.x, x.w, float(y.x), float(y.y));
}

int main() {
  float4* out = numbers<float4>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out->y == 4 && out->w == 6);
}
