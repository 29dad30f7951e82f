// SPDX-License-Identifier: MIT
// Compares the CPU backend's speed with its bars. A lesson's kernel must not make a learner wait;
// nothing else is claimed. The bars hold for two cores with blocks on both; that of the naive
// product is the plain loop and a quarter.
//
//   make bench BACKEND=cpu
//
// Exits with status 1 when a bar is missed.
#include <cstdio>
#include <ctime>

#include <algorithm>
#include <chrono>
#include <vector>

#include "../../check.cuh"

constexpr int kBlock = 256;
constexpr int kTile = 16;

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// One float a thread and nine barriers: little but the barrier is measured.
__global__ void sum_tree(const float* x, float* partial, int n) {
  __shared__ float s[kBlock];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}

__global__ void sum_shuffle(const float* x, float* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
  for (int distance = 16; distance > 0; distance /= 2)
    v += __shfl_down_sync(0xffffffffu, v, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(total, v);
}

__global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  float sum = 0.0f;
  for (int start = 0; start < n; start += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + start + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// What the naive product is on this machine without the backend: the same elements in the same
// order, block by block. Its loop waits for the caches, and they differ between machines.
void multiply_plainly(const float* a, const float* b, float* c, int n) {
  for (int block = 0; block < n * n / (kTile * kTile); ++block) {
    for (int thread = 0; thread < kTile * kTile; ++thread) {
      const int row = block / (n / kTile) * kTile + thread / kTile;
      const int column = block % (n / kTile) * kTile + thread % kTile;
      float sum = 0.0f;
      for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
      c[row * n + column] = sum;
    }
  }
}

struct Took {
  double wall;  // milliseconds
  double cpu;   // milliseconds of all workers together
};

// Best of several: another program on the machine makes a run slower, never faster.
template <class Launch>
Took best_of(int repeats, Launch launch) {
  Took best{1e30, 1e30};
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t cpu_begin = std::clock();
    launch();
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    const std::clock_t cpu_end = std::clock();
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
    best.wall = std::min(best.wall, wall.count());
    best.cpu = std::min(best.cpu, 1e3 * static_cast<double>(cpu_end - cpu_begin) / CLOCKS_PER_SEC);
  }
  return best;
}

bool all_met = true;

// A machine that is busy with other things must not miss a bar, so half of the CPU time counts: two
// idle cores would have taken that.
void print_row(const char* what, Took took, double bar) {
  const bool met = std::min(took.wall, took.cpu / 2) <= bar;
  all_met = all_met && met;
  std::printf("| %-38s | %8.2f | %12.2f | %7.0f | %-6s |\n", what, took.wall, took.cpu / 2, bar,
              met ? "met" : "MISSED");
}

int main() {
  constexpr int n = 1 << 20;
  constexpr int edge = 512;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i % 7) - 3.0f;

  float *a = nullptr, *b = nullptr, *c = nullptr;
  CUDA_CHECK(cudaMalloc(&a, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&b, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&c, n * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(b, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemset(c, 0, n * sizeof(float)));

  cudaDeviceProp device;
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("%s\n\n", device.name);
  std::printf("| %-38s | %8s | %12s | %7s | %-6s |\n", "kernel", "ms", "CPU ms / 2", "bar, ms",
              "bar");
  std::printf("|%s|---------:|-------------:|--------:|--------|\n",
              "----------------------------------------");

  const dim3 grid(edge / kTile, edge / kTile), tile(kTile, kTile);
  print_row("vector add, 1 Mi",
            best_of(20, [&] { vector_add<<<n / kBlock, kBlock>>>(a, b, c, n); }), 4);
  print_row("tree reduction, 1 Mi, 256 threads",
            best_of(10, [&] { sum_tree<<<n / kBlock, kBlock>>>(a, c, n); }), 60);
  print_row("shuffle reduction, 1 Mi, 256 threads",
            best_of(10, [&] { sum_shuffle<<<n / kBlock, kBlock>>>(a, c, n); }), 90);
  std::vector<float> product(edge * edge);
  const double plain =
      best_of(5, [&] { multiply_plainly(host.data(), host.data(), product.data(), edge); }).cpu / 2;
  print_row("matrix product, naive, n = 512",
            best_of(5, [&] { matmul_naive<<<grid, tile>>>(a, b, c, edge); }), 1.25 * plain);
  print_row("matrix product, 16x16 tiles, n = 512",
            best_of(5, [&] { matmul_tiled<<<grid, tile>>>(a, b, c, edge); }), 130);

  CUDA_CHECK(cudaFree(a));
  CUDA_CHECK(cudaFree(b));
  CUDA_CHECK(cudaFree(c));
  return all_met ? 0 : 1;
}
