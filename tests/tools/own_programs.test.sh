#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program of one's own: make new, and FILE= for the verbs that take it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

own_tree "$scratch/tree"
cd "$scratch/tree" || exit 1
own() { run make --no-print-directory BACKEND=cpu "$@"; }
expect_one_complaint() { expect "one line, beside make's own" [ "$(grep -cv '^make: ' <<<"$err")" -eq 1 ]; }

test_case "make new makes a program, once, and says what to type next"
answers 0 "make run FILE=work/hello.cu" own new NAME=hello
expect "a file" [ -f work/hello.cu ]
before=$(cksum <work/hello.cu)
answers 2 "work/hello.cu is there already" own new NAME=hello
expect "the same file" [ "$(cksum <work/hello.cu)" = "$before" ]
# shellcheck disable=SC2016  # a $ as it is typed
for bad in '' '../x' 'a b' '1a' 'a$b'; do
  answers 2 "NAME=" own new NAME="$bad"
  expect_one_complaint
done

test_case "EDITOR=vscode writes settings for its debugger, once; the variable of a shell means another editor"
EDITOR=vscode own new NAME=plain
expect_status 0
expect "no settings" [ ! -e .vscode ]
answers 0 "make build FILE=work/blur-2.cu BACKEND=cpu RACES=0" own new NAME=blur-2 EDITOR=vscode
programs_in() {
  "$(common/tools/setup/python.sh)" -c '
import json, sys
for c in json.load(open(".vscode/launch.json"))["configurations"]: print(c["type"], c["program"])'
}
expect "a program for each debugger" [ "$(programs_in)" = "cppdbg \${workspaceFolder}/build/cpu/own/blur-2
cuda-gdb \${workspaceFolder}/build/gpu/own/blur-2" ]
own build FILE=work/blur-2.cu BACKEND=cpu RACES=0
expect "the program is where they look for it" [ -x build/cpu/own/blur-2 ]
if command -v gdb >/dev/null 2>&1; then
  run gdb -q -batch -ex "source common/tools/own/debug.gdb" -ex "break main" -ex run build/cpu/own/blur-2
  expect_output "work/blur-2.cu:"
fi
before=$(cksum <.vscode/launch.json)
answers 0 ".vscode/launch.json is there already" own new NAME=other EDITOR=vscode
expect "the same settings" [ "$(cksum <.vscode/launch.json)" = "$before" ]
own new NAME=more EDITOR=emacs
expect_status 2
expect_one_complaint
expect "no program" [ ! -e work/more.cu ]

test_case "make run FILE= compiles it once and runs it"
answers 0 "c++   work/hello.cu" own run FILE=work/hello.cu
expect_output "0 of 1000 results are wrong"
own run FILE=work/hello.cu
expect_status 0
expect_no_output "c++   work/hello.cu"
expect_output "0 of 1000 results are wrong"

test_case "SCHEDULE=all runs it under several orders of threads"
answers 0 "the same output under 5 orders" own run FILE=work/hello.cu SCHEDULE=all

test_case "SCHEDULE= is heard by each verb that runs programs, and refused in a line by the others"
cat >work/first.cu <<'END'
#include <cstdio>
#include <cstring>
__global__ void first(int* who) { atomicCAS(who, -1, threadIdx.x); }
int main(int count, char** words) {
  int* who;
  cudaMallocManaged(&who, sizeof(int));
  *who = -1;
  first<<<1, 32>>>(who);
  cudaDeviceSynchronize();
  std::fprintf(stderr, "first: %d %s\n", *who, words[count - 1]);
  return count > 1 && std::strcmp(words[1], "--fail") == 0;
}
END
for verb in run races sanitize xray; do
  own $verb FILE=work/first.cu SCHEDULE=reverse ARGS="--fail by-$verb"
  expect_failure
  expect "$verb: the last thread first, and ARGS" grep -qr "first: 31 by-$verb\$" <(echo "$output") build/races build/cpu-xray/sanitize
done
for verb in build profile xray-verify; do
  answers 2 "SCHEDULE= is for: make run debug races sanitize xray; not for make $verb" own $verb FILE=work/first.cu SCHEDULE=reverse
  expect_one_complaint
done
for verb in races sanitize; do
  answers 2 "SCHEDULE=all: expected forward, reverse or random:SEED" own $verb FILE=work/first.cu SCHEDULE=all
  expect_one_complaint
done

test_case "make xray FILE= and make races FILE="
answers 0 "global load          32" own xray FILE=work/hello.cu
expect_output "y[i] = 2 * x[i]"
answers 0 "no race" own races FILE=work/hello.cu

test_case "several files and headers, with awkward names, outside of the tree"
away="$scratch/it's \$away; (b)"
mkdir -p "$away/my headers" "$away/inside"
cat >"$away/main file.cu" <<'END'
#include <cstdio>
#include "inside/reverse.inl"
#include <scale.cuh>
int twice_on_host(int);
int main() {
  int *d, h = 0;
  cudaMalloc(&d, 32 * sizeof(int));
  fill<<<1, 32>>>(d);
  scale<<<1, 32>>>(d, 3);
  reverse<<<1, 32>>>(d);
  cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
  cudaFree(d);
  printf("result %d of %s\n", twice_on_host(h), __FILE__);
}
END
cat >"$away/inside/reverse.inl" <<'END'
#pragma once
#include "fill.cuh"
__global__ void reverse(int* x) {
  SHARED int there[32];
  there[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = there[31 - threadIdx.x];
}
END
echo '#include "names.h"
__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x + 1; }' >"$away/inside/fill.cuh"
echo '#define SHARED __shared__
#define AT(p, i) (*((int*)(p) + (i)))' >"$away/my headers/names.h"
echo '__global__ void scale(int* x, int a) { x[threadIdx.x] *= a; }' >"$away/my headers/scale.cuh"
echo '#include <names.h>
int twice_on_host(int x) { return 2 * AT(&x, 0); }' >"$away/host.cpp"
both="\"$away/main file.cu\" \"$away/host.cpp\""
folders="\"$away/my headers\""
answers 0 "result 192 of $away/main file.cu" own run FILE="$both" INCLUDE="$folders" LIBS="-lm"
own run FILE="$both" INCLUDE="$folders" LIBS="-lm"
expect_no_output "c++ "
sleep 1
echo '__global__ void scale(int* x, int a) { x[threadIdx.x] *= 2 * a; }' >"$away/my headers/scale.cuh"
own run FILE="$both" INCLUDE="$folders" LIBS="-lm"
expect_output "c++   $away/main file.cu"
expect_no_output "c++   $away/host.cpp"
expect_output "result 384 of"

test_case "DEFINE= gives macros to the compiler and the pre-pass, and another DEFINE= compiles again"
cat >work/defined.cu <<'END'
#include <cstdio>
#ifndef N
#define N 4
#endif
#ifndef NAME
#define NAME "none"
#endif
#ifndef SHARED
#define SHARED __shared__
#endif
__global__ void turn(int* x) {
#ifdef WIDE
  SHARED long long kept[N];
#else
  SHARED int kept[N];
#endif
  kept[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = kept[N - 1 - threadIdx.x] * 10 + sizeof(kept[0]);
}
int main() {
  int *d, h[N];
  for (int i = 0; i < N; ++i) h[i] = i;
  cudaMalloc(&d, sizeof(h));
  cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
  turn<<<1, N>>>(d);
  cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
  cudaFree(d);
  printf("N %d, first %d, last %d, named %s\n", N, h[0], h[N - 1], NAME);
}
END
own run FILE=work/defined.cu
expect_output "N 4, first 34, last 4, named none"
answers 0 "c++   work/defined.cu" own run FILE=work/defined.cu DEFINE="N=64 WIDE NAME=X 'X=\"it is mine\"'"
expect_output "N 64, first 638, last 8, named it is mine"
own run FILE=work/defined.cu DEFINE="N=64 WIDE NAME=X 'X=\"it is mine\"'"
expect_no_output "c++   work/defined.cu"
answers 0 "N 32, first 314, last 4, named none" own run FILE=work/defined.cu DEFINE="N=32  SHARED=__shared__" RACES=0
answers fails "work/defined.cu:15:" own run FILE=work/defined.cu DEFINE=SHARED=
expect_output "error: static assertion failed: SHARED does not stand for __shared__ here"
sed '/^#ifndef SHARED/,/^#endif/d' work/defined.cu >work/shared_by_option.cu
answers 0 "N 4, first 34, last 4, named none" own run FILE=work/shared_by_option.cu DEFINE=SHARED=__shared__
answers fails "work/shared_by_option.cu:12:3: error: 'SHARED'" own run FILE=work/shared_by_option.cu

test_case "a program with cuBLAS is linked with it, also when only a header of its own includes it"
echo '#include <cublas_v2.h>' >work/with_cublas.h
cat >work/cublas.cu <<'END'
#include "with_cublas.h"
#include <cstdio>
int main() {
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  const float x[] = {3, 4};
  float *d_x, norm = 0;
  cudaMalloc(&d_x, sizeof(x));
  cublasSetVector(2, sizeof(float), x, 1, d_x, 1);
  cublasSnrm2(handle, 2, d_x, 1, &norm);
  cudaFree(d_x);
  cublasDestroy(handle);
  printf("norm %g\n", norm + float(__nv_bfloat16(0.f)) + float(__half(0.f)));
}
END
answers 0 "norm 5" own run FILE=work/cublas.cu
answers 0 "norm 5" own run FILE=work/cublas.cu LIBS=-lcublas RACES=0
sed 's/with_cublas.h"/cublasLt.h"/' work/cublas.cu >work/lt.cu
answers fails "error: <cublasLt.h>: the CPU backend has no cuBLASLt; <cublas_v2.h> has products" own run FILE=work/lt.cu

# FEATURE: libraries: Thrust, where it is installed
test_case "Thrust works on device memory in turn with kernels; CUB is refused in one line"
cat >work/thrust.cu <<'END'
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <cstdio>
#ifndef __CUDACC__
#error "a program is compiled as by nvcc"
#endif
__global__ void fall(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n - threadIdx.x; }
__global__ void twice(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
int main() {
  int* raw;
  cudaMalloc(&raw, 100 * sizeof(int));
  fall<<<1, 128>>>(raw, 100);
  thrust::device_ptr<int> x(raw);
  thrust::sort(x, x + 100);
  thrust::device_vector<int> v(x, x + 100);
  twice<<<1, 128>>>(thrust::raw_pointer_cast(v.data()), 100);
  thrust::host_vector<int> h = v;
  v[0] = 10;
  printf("%d %d %d %d\n", h[0], h[99], (int)v[0], thrust::reduce(thrust::device, v.begin(), v.end()));
  twice<<<1, 128>>>(thrust::raw_pointer_cast(v.data()), 101);
  cudaDeviceSynchronize();
  cudaFree(raw);
}
END
[ "$("$(common/tools/setup/python.sh)" -B -c 'from common.tools.own import own_programs; print(own_programs.thrust_home())')" != None ] && has_thrust=yes || has_thrust=no
own run FILE=work/thrust.cu
expect_failure
if [ "$has_thrust" = yes ]; then
  expect_output "2 200 10 10108"
  expect_output "work/thrust.cu:12: error: out-of-bounds"
else
  expect_output "#error \"<thrust/device_ptr.h>: Thrust is not here"
  skip "Thrust is not here"
fi
printf '#include <cub/cub.cuh>\nint main() {}\n' >work/cub.cu
answers fails "error: <cub/cub.cuh>: CUB has nothing for the host" own run FILE=work/cub.cu

test_case "a compiler's error stands at the line of the user's file; a warning is a warning"
sed 's/2 \* x\[i\];/2 * z[i];/' work/hello.cu >work/error.cu
answers fails "work/error.cu:8:25: error: 'z' was not declared" own run FILE=work/error.cu
sed 's/int wrong = 0;/int wrong = 0; if (wrong = 0) return 3;/' work/hello.cu >work/warning.cu
answers 0 "warning: " own run FILE=work/warning.cu

test_case "what the CPU backend has not is said in one line, of the line that uses it and is compiled"
mkdir -p work/lib
cat >work/missing.cu <<'END'
#include <cstdio>
#ifdef RANDOM
#include <curand_kernel.h>
#endif
#include "lib/nvml.h"
int main() {
#ifdef DRIVER
  if (cuModuleUnload(CUmodule()) != 0) return 4;
#endif
  printf("own header: %d\n", own_number);
}
END
echo 'const int own_number = 12;' >work/lib/nvml.h
answers 0 "own header: 12" own run FILE=work/missing.cu
sed -i.bak 's|lib/nvml.h|nvml.h|' work/missing.cu
answers 0 "own header: 12" own run FILE=work/missing.cu INCLUDE=work/lib
answers fails "work/missing.cu:5:" own run FILE=work/missing.cu
expect_output "error: <nvml.h>: the CPU backend has no NVML"
answers fails "work/missing.cu:3:" own run FILE=work/missing.cu INCLUDE=work/lib DEFINE=RANDOM
expect_output "error: <curand_kernel.h>: the CPU backend has no cuRAND"
answers fails "work/missing.cu:8:" own run FILE=work/missing.cu INCLUDE=work/lib DEFINE=DRIVER
expect_output "error: cuModuleUnload: the CPU backend has only contexts, memory and streams of the driver API; use the runtime API (cuda...) (so it is with CUmodule)"
printf '#include <curand.h>\nint main() { curandGenerator_t g; return undeclared(g); }\n' >work/random.cu
answers fails "work/random.cu:1: error: <curand.h>: the CPU backend has no cuRAND; <random> fills an array on the host" \
  own run FILE=work/random.cu
expect_output "help: where there are a GPU and nvcc, it is built with BACKEND=gpu"
expect_no_output curandGenerator_t  # what follows from it
cat >work/swap.cu <<'END'
#include <cstdio>
__global__ void swap(int* x) { x[threadIdx.x] = __shfl_xor(threadIdx.x, 1); }
int main() {
  int* x;
  cudaMallocManaged(&x, 32 * sizeof(int));
  swap<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  printf("swapped: %d %d\n", x[0], x[1]);
  cudaFree(x);
}
END
answers fails "work/swap.cu:2: error: __shfl_xor: the CPU backend has no warp functions without a mask, as CUDA 13; use" \
  own run FILE=work/swap.cu
expect_one_complaint  # no word of nvcc, which has none either
sed '1i #define __shfl_xor(x, lanes) __shfl_xor_sync(0xffffffff, x, lanes)' work/swap.cu >work/masked.cu
answers 0 "swapped: 1 0" own run FILE=work/masked.cu
expect_no_output "warning: "
printf 'int main() { return cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte); }\n' >work/banks.cu
answers fails "work/banks.cu:1: error: cudaDeviceSetSharedMemConfig: the CPU backend has no choice of the banks' width, which" \
  own run FILE=work/banks.cu
expect_no_output "not declared"
printf 'texture<float> row;\nint main() { return cudaUnbindTexture(row); }\n' >work/reference.cu
answers fails "work/reference.cu:2: error: cudaUnbindTexture: the CPU backend has no texture and surface references" \
  own run FILE=work/reference.cu
expect_one_complaint
sed 's/^#include <cstdio>/#include <cstdio>\n#include <cuda\/std\/mdspan>/' work/missing.cu >work/standard.cu
answers fails "error: <cuda/std/mdspan>: the CPU backend has no such header of cuda::std" own run FILE=work/standard.cu INCLUDE=work/lib

test_case "where a header or a function is not found, the last line says what to type"
printf '#include "helper_cuda.h"\nint main() {}\n' >work/helped.cu
answers fails "work/helped.cu:1:" own run FILE=work/helped.cu
expect_output "help: INCLUDE=FOLDER names the folder where helper_cuda.h is (NVIDIA's cuda-samples have it in Common/)"
printf 'int other();\nint main() { return other(); }\n' >work/half.cu
answers fails "work/half.cu:2:" own run FILE=work/half.cu
expect_output 'help: FILE="a.cu b.cpp" names all files of a program'

test_case "what formatters and nvcc allow is compiled without a word"
cat >work/allowed.cu <<'END'
#include <cstdio>
__global__ void add(int* x) {
  volatile int square[8];
  for (int i = 0; i < 8; ++i) square[i] = i * i;
  int base;
  if (threadIdx.x == 0) base = atomicAdd(x, square[*x]);
  base = __shfl_sync(0xffffffff, base, 0);
  if (threadIdx.x == 31) x[1] = base;
}
int main() {
  int *x, h[2] = {3, 0};
  cudaMalloc(&x, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  add << <1, 32 >> > (x);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  cudaFree(x);
  printf("sum %d, before %d\n", h[0], h[1]);
}
END
for races in 0 1; do
  answers 0 "sum 12, before 3" own run FILE=work/allowed.cu RACES=$races
  expect_no_output "warning"
done

# FEATURE: libraries: `cuda::std`
test_case "device code may use cuda::std"
cat >work/standard.cu <<'END'
#include <cuda/std/array>
#include <cuda/std/utility>
#include <cstdio>
__global__ void add() {
  const cuda::std::array<int, 4> x{1, 2, 3, 4};
  const cuda::std::pair<int, int> y(5, 6);
  printf("sum: %d\n", x[3] + y.second);
}
int main() {
  add<<<1, 1>>>();
  return cudaDeviceSynchronize();
}
END
answers 0 "sum: 10" own run FILE=work/standard.cu

test_case "a function or variable of the host in device code is refused at its line, in every form that nvcc refuses"
cat >work/of_host.cu <<'END'
#include <cstdio>
#include <cstdlib>
#include <vector>
namespace app { float gain = 2; }
const int weights[3] = {1, 2, 3};
struct Length {
  float value;
  Length(float v) : value(v) {}
  float metres() const { return value; }
  Length operator+(Length o) const { return Length(value + o.value); }
  operator float() const { return value; }
};
struct Outer { Length* of = nullptr; ~Outer() { std::free(of); } };
struct Halve { float operator()(float x) const { return x / 2; } };
float elsewhere(float);
template <class F> __global__ void apply(F f, float* y) {
  y[0] = f(y[0]);
}
template <class T> __device__ float in_metres(const T& x) {
  return x.metres();
}
__host__ __device__ float read_gain() {
  return app::gain;
}
__global__ void names(float* y) {
  y[0] = weights[threadIdx.x] + read_gain();
}
__global__ void calls(float* y, const Length* x, std::vector<int> v) {
  Length sum =
      x[0] + x[1];
  Outer outer;
  y[0] = in_metres(x[0]) + sum
       + rand()
       + v[0]
       + elsewhere(y[1]);
}
int main() {
  float* y;
  cudaMalloc(&y, 16);
  apply<<<1, 1>>>(Halve{}, y);
  apply<<<1, 1>>>([] __device__(float x) {
    return x * rand();
  }, y);
}
END
own run FILE=work/of_host.cu
expect_status 2
for refused in 17:Halve::operator 20:Length::metres 23:gain 26:weights 30:Length::operator+ 31:Outer::~Outer \
  28:"Length::operator float" 33:rand 34:std::vector::operator 35:elsewhere 42:rand; do
  expect "${refused#*:} in line ${refused%%:*}" grep -q "of_host.cu:${refused%%:*}: error: device code .*'${refused#*:}" <<<"$err"
done
expect "nothing else" [ "$(grep -c ': error: ' <<<"$err")" -eq 11 ]

cat >work/at_its_call.cu <<'END'
#include <functional>
#include <vector>
struct Complex {
  Complex(float r, float i) : re(r), im(i) {}
  __device__ Complex times(Complex o) const;
  float re, im;
};
__device__ Complex Complex::times(Complex o) const {
  return Complex(re * o.re - im * o.im, re * o.im + im * o.re);
}
struct Polynomial { std::vector<float> terms; };
__global__ void evaluate(Polynomial p, float x, float* y) {
  y[0] = x;
  y[0] *= p.terms[0];
}
template <class F> __global__ void apply(F f, float* y) {
  y[0] = f(y[0]);
}
template <class T> struct Outer {
  template <class U> struct Inner { T get(U u) const { return u; } };
};
__global__ void functions(Outer<float>::Inner<int> in, std::function<float(float)> f, float* y) {
  y[0] = in.get(1);
  y[1] = f(y[0]);
}
int main() {
  float* y;
  cudaMalloc(&y, 16);
  apply<<<1, 1>>>([](float x) { return 2 * x; }, y);
}
END
own run FILE=work/at_its_call.cu
expect_status 2
expect_output "at_its_call.cu:9: error: device code calls 'Complex::Complex'"
expect_output "at_its_call.cu:14: error: device code calls 'std::vector::operator[]'"
expect_output "at_its_call.cu:17: error: device code calls a lambda of the host"
expect_output "at_its_call.cu:23: error: device code calls 'Inner::get'"
expect_output "at_its_call.cu:24: error: device code calls 'std::function::operator()'"

cat >work/of_both.cu <<'END'
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#define BOTH __host__ __device__
#define MANAGED __managed__
#define CONSTANT static __constant__
const int count = 3;
constexpr float third = 1.f / count;
struct Pair { int a, b; };
constexpr Pair pair{1, 2};
int scale = 3;
float twice(float x) { return 2 * x + rand(); }
float max(const Pair (&x)[2]) { return x[0].a > x[1].a ? x[0].a : x[1].a; }
double rsqrtf(double a, double b) { return a / b; }
__device__ float twice(double x) { return 2 * x; }
struct Base { BOTH Base() : v(count) {} int v; };
struct Derived : Base { Derived() = default; BOTH int operator[](int i) const { return v + i; } int of_host() const { return rand(); } };
MANAGED int total;
CONSTANT int fixed[2] = {4, 5};
__constant__ struct Table { int of[2]; } table_of_both;
BOTH float either(float x) {
#ifdef __CUDA_ARCH__
  return x;
#else
  return x * scale;
#endif
}
template <class F> __global__ void apply(F f) { total += f(total); }
template <class F> BOTH int call(F f) { return f(1); }
int with_lambda(int n) { return call([n](int x) { return x + n + rand(); }); }
__global__ void __launch_bounds__(std::min(256, 128), count) all(int scale) {
  static const int table[2] = {1, 2};
  Derived d, e = d;
  auto more = [&](int x) { return d[x] + call([](int y) { return y - 1; }); };
  int of_local[2] = {sizeof(rand()), 6};
  for (int x : {1, 2}) of_local[1] += x;
  of_local[0] = (count);
  if (scale < 0) of_local[1] = either(1) > d[2] ? count : third < 1 ? pair.a : more(2);
  total += std::abs(-1) + max(count, 2) + int(rsqrtf(1)) + pair.b + std::numeric_limits<int>::digits + int(third * 9) + table[threadIdx.x];
  total += scale + more(1) + e.v + fixed[threadIdx.x] + table_of_both.of[threadIdx.x] + of_local[threadIdx.x] + int(either(2) + twice(2.0));
}
int main() {
  total = 0;
  all<<<1, 1>>>(10);
  apply<<<1, 1>>>([] BOTH(int x) { return x; });
  OLD();
  printf("total %d, %d\n", total, scale + int(twice(0.f) < 0) + int(with_lambda(1) < 0) + int(max({pair, pair}) + rsqrtf(0, 1)));
}
END
own run FILE=work/of_both.cu DEFINE="OLD=cudaDeviceSynchronize cudaThreadSynchronize=cudaDeviceSynchronize"
expect_status 0
expect_output "total "
sed -i.bak 's/OLD()/cudaThreadSynchronize()/' work/of_both.cu
own run FILE=work/of_both.cu DEFINE="cudaThreadSynchronize=cudaDeviceSynchronize"
expect_status 0
own run FILE=work/of_both.cu
expect_status 2
expect_output "cudaThreadSynchronize: the CPU backend has cudaDeviceSynchronize in its place"

cat >work/same_names.cu <<'END'
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
namespace cg = cooperative_groups;
int reduce(const int* x, int n) { return n == 0 ? 0 : *x + reduce(x + 1, n - 1); }
void sync() { cudaDeviceSynchronize(); }
__global__ void add_up(int* sum) {
  const auto block = cg::this_thread_block();
  block.sync();
  *sum = cg::reduce(cg::tiled_partition<32>(block), 2, cg::plus<int>());
}
int main() {
  const int x[2] = {3, 4};
  int* sum;
  cudaMallocManaged(&sum, sizeof *sum);
  add_up<<<1, 32>>>(sum);
  sync();
  printf("sums %d, %d\n", *sum, reduce(x, 2));
  cudaFree(sum);
}
END
answers 0 "sums 64, 7" own run FILE=work/same_names.cu RACES=0

test_case "a race is reported, unless RACES=0"
sed 's/if (i < n) y\[i\] = 2 \* x\[i\];/if (i < n) y[i] = 2 * x[i], y[0] += 0;/' work/hello.cu >work/race.cu
answers fails "work/race.cu:8: error: race" own run FILE=work/race.cu
own run FILE=work/race.cu RACES=0
expect_status 0

test_case "a launch that repeats others is passed over after some seconds, and told so, unless RACES=all"
# The race is in the fourth launch only. What the program sets stands for ten seconds of looking.
cat >work/repeats.cu <<'END'
#include <cstdio>
namespace races { extern double seconds_for_all; }
__device__ int launches, y;
__global__ void count(int) {
  if (launches == 3) y = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) ++launches;
}
int main() {
  races::seconds_for_all = -1;
  for (int i = 0; i < 5; ++i) count<<<1, 2>>>(i == 4);
  return cudaDeviceSynchronize();
}
END
answers 0 "note: 3 of 5 launches were not looked at for races: each repeats one that was" own run FILE=work/repeats.cu
expect_no_output "error"
answers fails "work/repeats.cu:5: error: race" own run FILE=work/repeats.cu RACES=all
expect_no_output "not looked at"
answers fails "CUDA_CPU_RACES=some: expected 1, all or 0" own run FILE=work/repeats.cu RACES=some

test_case "what depends on the order of threads is told under SCHEDULE=all"
# In one block: which of several comes last is up to the workers that run them.
cat >work/order.cu <<'END'
#include <cstdio>
__global__ void last(int* x) { atomicExch(x, threadIdx.x); }
int main() {
  int *d, h;
  cudaMalloc(&d, sizeof(int));
  last<<<1, 64>>>(d);
  cudaMemcpy(&h, d, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d);
  printf("last %d\n", h);
}
END
answers fails "differs under reverse" own run FILE=work/order.cu SCHEDULE=all RACES=0
expect_output "forward:  last 63"
expect_output "reverse:  last 0"

# shellcheck disable=SC2016  # C's
sed 's/int wrong = 0;/int wrong = 0; printf("%ld\\n", (long)\&wrong + random() + clock());/' work/hello.cu >work/random.cu
answers 0 "the same exit status" own run FILE=work/random.cu SCHEDULE=all RACES=0

test_case "an access outside of an array is reported"
sed 's/i < n)/i <= n)/' work/hello.cu >work/bounds.cu
answers fails "work/bounds.cu:8: error: " own run FILE=work/bounds.cu
sed 's/^  if (i/  printf("%d ", i);\n&/' work/bounds.cu >work/begun.cu
answers fails "work/begun.cu:9: error: " own run FILE=work/begun.cu
make --no-print-directory BACKEND=cpu run FILE=work/begun.cu >"$scratch/both" 2>&1 </dev/null
expect "the report begins a line, after what the kernel printed" grep -q '^work/begun.cu:9: error: ' "$scratch/both"

test_case "a kernel that is called like a function is reported at its line"
sed 's/^  twice<<<.*/  twice(d_x, d_y, n);/' work/hello.cu >work/called.cu
answers fails "work/called.cu:" own run FILE=work/called.cu
expect_no_output "build/own/src"

test_case "make debug stops in the thread that is asked for"
if ! command -v gdb >/dev/null 2>&1; then
  skip "gdb is not here"
else
  printf 'run\nwhere_am_i\nquit\n' >"$scratch/typed"
  make --no-print-directory BACKEND=cpu debug FILE=work/hello.cu BLOCK=2 THREAD=5 <"$scratch/typed" >"$scratch/out" 2>&1
  status=$? output=$(cat "$scratch/out") last_command="make debug"
  expect_status 0
  expect_output "work/hello.cu:7"
  expect_output "block (2,0,0), thread (5,0,0)"
  test_case "make debug shows every variable of a chapter's kernel"
  printf 'run\nnext\nnext\ninfo locals\nquit\n' >"$scratch/typed"
  make --no-print-directory BACKEND=cpu debug CH=05 BLOCK=1 THREAD=3 <"$scratch/typed" >"$scratch/out" 2>&1
  status=$? output=$(cat "$scratch/out") last_command="make debug CH=05"
  expect_status 0
  expect_output "partial = 0x"
  expect_no_output "optimized out"
fi

# refused TEXT ARGUMENT...: make's line has TEXT
refused() {
  local text=$1
  shift
  own "$@"
  expect_status 2
  expect_one_complaint
  expect_output "$text"
}
test_case "what cannot be is said in one line"
refused "which program?" run FILE=
refused "FILE=none.cu: no such file" run FILE=none.cu
refused "FILE=work: a folder" run FILE=work
refused ".cu is expected" run FILE=Makefile
refused "not for make test" test FILE=work/hello.cu
refused "one of them" run FILE=work/hello.cu CH=05
refused "reads a GPU's counters" profile FILE=work/hello.cu
refused "INCLUDE=none: no such folder" run FILE=work/hello.cu INCLUDE=none
refused "DEFINE=2N=3: NAME or NAME=value is expected" run FILE=work/hello.cu DEFINE="FAST 2N=3"
refused "DEFINE=a-b: NAME or NAME=value" run FILE=work/hello.cu DEFINE=a-b
refused "DEFINE==3: NAME or NAME=value" run FILE=work/hello.cu DEFINE="=3"
refused "DEFINE=__CUDACC__=1: names that begin with __" run FILE=work/hello.cu DEFINE=__CUDACC__=1
refused "a quote is missing" run FILE=work/hello.cu DEFINE="'N=3"
refused "DEFINE= is for a program of your own" run CH=05 DEFINE=N=3
refused "INCLUDE= is for a program of your own" build CH=05 INCLUDE=work
refused "THREAD=x: expected an index" debug FILE=work/hello.cu THREAD=x
