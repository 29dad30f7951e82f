#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The page that make xray HTML= writes: what it draws of a request is what X-ray counted, and it can be used.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"
unset CSV BLOCKS BLOCK EVENTS HTML ONLY
unset "${!XRAY_@}" "${!CUDA_CPU_@}"

command -v node >/dev/null 2>&1 || skip_rest "the page of make xray HTML=" "Node.js is not here"

page=$scratch/page.html
# page_of OPTION...: make xray writes the page
page_of() { run make --no-print-directory xray HTML="$page" "$@"; }

test_case "the page draws as many pieces as X-ray counted, of every kind of request, in a file of one's own"
cat >"$scratch/kinds.cu" <<'CODE'
// SPDX-License-Identifier: MIT
// Every kind of request that the page draws.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdio>

__constant__ int table[64];

__global__ void two_arrays(const int* x, const int* y, const int* host, int* out) {
  const unsigned t = threadIdx.x;
  const int* both = t % 2 ? x : y;
  out[t] = both[3 * t] + host[t] + table[t % 5];  // </script><!-- ends nothing
}

__global__ void atomics(int* counters, unsigned long long* wide, int* out) {
  __shared__ int bins[64];
  __shared__ unsigned long long wide_bins[64];
  const unsigned t = threadIdx.x;
  bins[t] = 0;
  wide_bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[t % 3 * 16], 1);
  const int old = atomicAdd(&bins[t % 5 * 8], 2);
  atomicCAS(&bins[t % 7], 0, 1);
  atomicCAS(&wide_bins[t % 6], 0ull, 1ull);
  atomicAdd(&counters[t % 9], 1);
  atomicCAS(&counters[t / 4], 0, 1);
  atomicAdd(&wide[t % 3 * 8], 1ull);
  if (t % 3 == 0) out[t] = old;
}

__global__ void wide_shared(float4* out) {
  __shared__ float4 four[64];
  __shared__ double two[128];
  const unsigned t = threadIdx.x;
  four[t ^ 5] = make_float4(1, 2, 3, 4);
  four[t / 2] = make_float4(1, 2, 3, 4);
  two[2 * t % 128] = t;
  __syncthreads();
  float4 v = four[t / 2];
  v.x += four[t * 7 % 64].y;
  v.y += static_cast<float>(two[t / 4] + two[t] + two[t / 4 * 2 + t % 2]);
  out[t] = v;
}

__global__ void copies(const float4* x, float4* out) {
  __shared__ float4 tile[128];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t + 1], &x[t], 16);
  __pipeline_memcpy_async(&tile[t % 8 * 8 + t / 8], &x[t], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = tile[t + 1];
}

__global__ void own_arrays(const unsigned* which, unsigned* out) {
  unsigned char bytes[40];
  double numbers[8];
  for (unsigned i = 0; i < 40; ++i) bytes[i] = static_cast<unsigned char>(i);
  for (unsigned i = 0; i < 8; ++i) numbers[i] = i;
  const unsigned w = which[threadIdx.x];
  out[threadIdx.x] = bytes[w % 40] + static_cast<unsigned>(numbers[w % 8]);
}

int main() {
  constexpr unsigned kThreads = 64;
  int *x, *y, *out, *counters;
  unsigned* which;
  unsigned long long* wide;
  float4 *from, *to;
  alignas(128) static int memory[1024];
  int* host = memory + 9;
  cudaMalloc(&x, 4 * 256), cudaMalloc(&y, 4 * 256), cudaMalloc(&out, 4 * 256), cudaMalloc(&counters, 4 * 256);
  cudaMalloc(&which, 4 * kThreads), cudaMalloc(&wide, 8 * 64);
  cudaMalloc(&from, 16 * 128), cudaMalloc(&to, 16 * 128);
  unsigned chosen[kThreads];
  for (unsigned i = 0; i < kThreads; ++i) chosen[i] = i * 29 % 53;
  cudaMemcpy(which, chosen, sizeof chosen, cudaMemcpyHostToDevice);
  for (int* p : {x, y, out, counters}) cudaMemset(p, 0, 4 * 256);
  cudaMemset(wide, 0, 8 * 64), cudaMemset(from, 0, 16 * 128), cudaMemset(to, 0, 16 * 128);
  cudaHostRegister(host, 900 * sizeof(int), cudaHostRegisterDefault);
  atomics<<<1, kThreads>>>(counters, wide, out);
  two_arrays<<<1, kThreads>>>(x, y, host, out);
  wide_shared<<<1, kThreads>>>(to);
  copies<<<1, kThreads>>>(from, to);
  own_arrays<<<1, kThreads>>>(which, reinterpret_cast<unsigned*>(out));
  const cudaError_t error = cudaDeviceSynchronize();
  cudaHostUnregister(host);
  for (int* p : {x, y, out, counters}) cudaFree(p);
  cudaFree(which), cudaFree(wide), cudaFree(from), cudaFree(to);
  if (error != cudaSuccess) return std::printf("%s\n", cudaGetErrorString(error)), 1;
}
CODE
page_of FILE="$scratch/kinds.cu"
run node tests/tools/explorer.mjs pieces "$page"
expect_status 0
global='global atomic,global copy,global increment,global load,global store,global swap'
shared='shared atomic,shared increment,shared load,shared store,shared swap'
expect "every kind" [ "$output" = "const load,$global,host load,local load,local store,$shared" ]
expect "an array's name" grep -q ',"table"\]' "$page"
expect "a source that ends no script" [ "$(grep -c '</script>' "$page")" -eq "$(grep -c '</script>' common/tools/run/explorer.html)" ]

test_case "the page says of each line what the listing says: the cause, and the remedy"
run make --no-print-directory xray BLOCKS=1 FILE="$scratch/kinds.cu"
expect_status 0
sentences=$(sed -n 's/^  ^ \(worst: \)\{0,1\}//p' <<<"$output")
expect "some" [ "$(lines_in "$sentences")" -gt 3 ]
while IFS= read -r sentence; do expect "$sentence" grep -qF "\"$sentence\"]" "$page"; done <<<"$sentences"

# ---- in Chromium --------------------------------------------------------------------------------

tools=common/tools packages=build/slides/packages
# shellcheck source=../../common/tools/setup/node.sh
. $tools/setup/node.sh
{ CHROME_PATH=$($tools/setup/chromium.sh) && (need_packages slides $packages "$scratch/npm") >/dev/null 2>&1; } ||
  skip_rest "the page by keyboard and by pointer" "Chromium or what drives it is not here"
export CHROME_PATH

# look_at NAME: pictures are left in build/tools/
look_at() {
  mkdir -p build/tools
  run node tests/tools/explorer.mjs look $packages "$page" "build/tools/explorer_$1"
  expect_status 0
}
test_case "a file of one's own can be explored by keyboard and by pointer, wide and narrow, light and dark"
look_at kinds
test_case "so can chapter 05"
page_of CH=05
look_at 05
