#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What nvcc made of the accesses in each line, read from its machine code without a disassembler.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

needs_python "the machine code of accesses"
export PYTHONDONTWRITEBYTECODE=1

cat >"$scratch/kernels.cu" <<'CU'
#include <cuda_pipeline.h>
__constant__ float table[64];
__global__ void corners(const float4* x, float* y) {
  const float4 v = x[threadIdx.x];
  y[threadIdx.x] = v.w - v.x;
}
__global__ void neighbours(float* y) {
  __shared__ float s[128];
  s[threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += s[8 * (threadIdx.x % 16) + i];
  y[threadIdx.x] = sum * table[threadIdx.x % 7];
}
__global__ void rows(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += x[i];
  y[threadIdx.x] = sum;
}
__global__ void matches(const int* x, int* total, int key) {
  if (x[threadIdx.x] == key) atomicAdd(total, 1);
}
__global__ void copies(const float4* x, float* y) {
  __shared__ float4 s[32];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], sizeof(float4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  y[threadIdx.x] = s[threadIdx.x ^ 1].x;
}
__global__ void filled(const float* x, float* y, int n) {
  __shared__ float s[64];
  for (int i = 0; i < n; ++i) s[i] = x[i];
  y[threadIdx.x] = s[threadIdx.x];
}
__global__ void arrays(const float* x, float* y) {
  float own[16];
  for (int i = 0; i < 16; ++i) own[(threadIdx.x + i) % 16] = x[i];
  y[threadIdx.x] = own[0] + own[1] + own[2] + own[3];
}
__global__ void matrices(const uint4* x, unsigned* y) {
  __shared__ uint4 s[32];
  s[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  unsigned r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x ^ 1]))));
  y[threadIdx.x] = r[0] + r[3];
}
__global__ void stored(const uint4* x, uint4* y) {
  __shared__ uint4 s[32];
  const uint4 r = x[threadIdx.x];
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x ^ 1]))),
               "r"(r.x), "r"(r.y), "r"(r.z), "r"(r.w));
  y[0] = s[0];
}
CU
# The columns behind the file: space, operation, line, count, bytes, parts, uniform, unrolled, one_lane, once, stores, with, store, predicated
cat >"$scratch/expected" <<'TSV'
arrays arguments load 36 3 0 0 0 0 0 0 0 0 - 0
arrays global load 38 16 4 4 0 0 0 1 1 39 global 0
arrays global store 39 1 4 1 0 0 0 1 0 0 - 0
arrays local load 39 4 16 1 0 0 0 1 1 39 global 0
arrays local store 38 16 4 1 0 0 0 1 0 0 - 0
copies arguments load 23 3 0 0 0 0 0 0 0 0 - 0
copies global load 25 1 16 1 0 0 0 1 1 29 global 0
copies global store 29 1 4 1 0 0 0 1 0 0 - 0
copies shared load 29 1 4 1 0 0 0 1 1 29 global 0
corners arguments load 3 3 0 0 0 0 0 0 0 0 - 0
corners global load 4 2 4 2 0 0 0 1 1 5 global 0
corners global store 5 1 4 1 0 0 0 1 0 0 - 0
filled arguments load 31 3 0 0 0 0 0 0 0 0 - 0
filled global load 33 29 4 4 0 -16 0 0 0 0 - 0
filled global store 34 1 4 1 0 0 0 1 0 0 - 0
filled shared load 34 1 4 1 0 0 0 1 1 34 global 0
filled shared store 33 8 16 1 0 -16 0 0 0 0 - 0
matches arguments load 20 3 0 0 0 0 0 0 0 0 - 0
matches global atomic 21 1 1 1 0 0 1 1 0 0 - 1
matches global load 21 1 4 1 0 0 0 1 0 0 - 0
matrices arguments load 41 3 0 0 0 0 0 0 0 0 - 0
matrices global load 43 1 16 1 0 0 0 1 1 43 shared 0
matrices global store 49 1 4 1 0 0 0 1 0 0 - 0
matrices shared load 48 1 16 1 0 0 0 1 1 49 global 0
matrices shared store 43 1 16 1 0 0 0 1 0 0 - 0
neighbours arguments load 7 2 0 0 0 0 0 0 0 0 - 0
neighbours const load 13 1 4 1 0 0 0 1 1 13 global 0
neighbours global load 9 1 4 1 0 0 0 1 1 9 shared 0
neighbours global store 13 1 4 1 0 0 0 1 0 0 - 0
neighbours shared load 12 2 16 1 0 0 0 1 1 13 global 0
neighbours shared store 9 1 4 1 0 0 0 1 0 0 - 0
rows arguments load 15 5 0 0 0 0 0 0 0 0 - 0
rows global load 17 29 4 1 0 16 0 0 0 0 - 0
rows global store 18 1 4 1 0 0 0 1 0 0 - 0
stored arguments load 51 3 0 0 0 0 0 0 0 0 - 0
stored global load 53 1 16 1 0 0 0 1 1 56 shared 0
stored global store 57 1 16 1 0 0 0 1 0 0 - 0
stored shared load 57 1 16 1 0 0 0 1 1 57 global 0
stored shared store 56 1 16 1 0 0 0 1 0 0 - 0
TSV
# accesses: reads the program's machine code; the rows without the file, sorted
accesses() {
  run env FILE="$scratch/kernels.cu" "$python" common tools.measure.accesses "$scratch/rows" own/kernels
  expect_status 0
  sed 1d "$scratch/rows" | cut -f1,3- | tr '\t' ' ' | LC_ALL=C sort >"$scratch/sorted"
}

test_case "three turns by themselves and then four at a time are an unrolled loop as well"
run "$python" -c '
from common.tools.measure.accesses import unrolling
first, then = (0, 9), (20, 40)
print(unrolling([first] * 3 + [then] * 4), unrolling([first] * 4 + [then]), unrolling([first] * 3 + [then] * 5))'
expect_output "4 -4 0"

test_case "a loop whose end is loaded has four turns more before those of 16, which are never made"
run "$python" -c '
from common.tools.measure.accesses import unrolling
ones, sixteen = (0, 9), (20, 90)
print(unrolling([ones] * 3 + [None] * 12 + [sixteen] * 48 + [None] * 36), unrolling([ones] + [None] * 5 + [sixteen] * 16 + [None] * 12))'
expect_output "16 0"

test_case "an nvcc that refuses the program ends it with what it says"
fake_command nvcc 'echo "kernels.cu(3): error: no" >&2; exit 1'
answers 1 "kernels.cu(3): error: no" \
  run with_fakes env FILE="$scratch/kernels.cu" "$python" common tools.measure.accesses "$scratch/none" own/kernels
expect "no table" [ ! -e "$scratch/none" ]

test_case "accesses that nvcc 13.0 splits, joins, unrolls and leaves to one lane are read from its machine code"
if ! nvcc --version 2>/dev/null | grep -q 'release 13\.0'; then
  skip "nvcc 13.0 is not here"
  exit
fi
accesses
expect "the rows" cmp "$scratch/expected" "$scratch/sorted"
tab=$(printf "\t")
expect "lines of the source" grep -q "^corners$tab/.*/kernels.cu${tab}global${tab}load${tab}4$tab" "$scratch/rows"
