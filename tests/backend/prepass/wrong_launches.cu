// SPDX-License-Identifier: MIT
// Each line marked ERROR is wrong in one way. The compiler must say so there, and nowhere else.
// clang-format off
struct Matrix { int rows; };
__global__ void scale(float* x, float factor, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n) x[i] *= factor;
}
template <int kSize> __global__ void copy(const float* in, float* out) { out[0] = in[kSize - 1]; }
__global__ void wrong_body(float* x) {
  __shared__ flaot tile[32];  // ERROR
  __shared__ float line[undeclared_size];  // ERROR
  extern __shared__ flaot dynamic[];  // ERROR
  __shared__ float too_large[128][128];  // ERROR
  if (threadIdx.x == 0) return 1;  // ERROR
  x[0] = undeclared_value;  // ERROR
  asm volatile("membar.gl;");  // ERROR
}
__device__ flaot wrong_type;  // ERROR
__constant__ float too_much[20000];  // ERROR
int main() {
  int* integers = nullptr;
  float* floats = nullptr;
  const Matrix matrix{1};
  scale<<<1, 32>>>(integers, 2.0f, 3);  // ERROR
  scale<<<1, 32>>>(floats, 2.0f);  // ERROR
  scale<<<1, 32>>>(floats, 2.0f, 3, 4);  // ERROR
  scale<<<1, 32>>>(floats, matrix, 3);  // ERROR
  scael<<<1, 32>>>(floats, 2.0f, 3);  // ERROR
  scale<<<1, 32>>>(flaots, 2.0f, 3);  // ERROR
  scale<<<1, threads>>>(floats, 2.0f, 3);  // ERROR
  scale<<<matrix, 32>>>(floats, 2.0f, 3);  // ERROR
  copy<32><<<1, 32>>>(floats, integers);  // ERROR
  copy<floats><<<1, 32>>>(floats, floats);  // ERROR
  copy<<<1, 32>>>(floats, floats);  // ERROR
  scale<<<1,
          32>>>(
      floats,
      2.0f,
      undeclared_count);  // ERROR
  scale<<<1,
          matrix.columns,  // ERROR
          0>>>(floats, 2.0f, 3);
  auto later = [&] { scale<<<1, 32>>>(integers, 2.0f, 3); };  // ERROR
  later();
  scale<<<1, 32>>>(floats, 2.0f, 3);
}
