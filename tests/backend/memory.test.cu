// SPDX-License-Identifier: MIT
// Memory of the CPU backend: allocations, copies, symbols, pinned and registered host memory, and
// refusals.
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <set>
#include <vector>

#include "../../common/cpu/engine/memory/stacks.h"
#include "../catch.hpp"
#include "handles.cuh"
#include "runtime/errors.h"

__constant__ int table[16];
__constant__ float coefficients[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__device__ int counter = 5;
__device__ const int never_written[] = {6, 7};  // the reset must leave it alone, too
__device__ int* buffer;
__device__ double grid_of_numbers[2][3];
__managed__ int shared_by_both = 3;

namespace {

__global__ void read_table(int* y, int i) { *y = table[i]; }
__global__ void count_up() { ++counter; }
__global__ void write_buffer(int value) { *buffer = value; }
__global__ void double_managed() { shared_by_both *= 2; }
__global__ void store(int* x, int value) { *x = value; }
__global__ void tell_stacks(std::uintptr_t* stacks) {
  const int local = 0;
  stacks[threadIdx.x] = cuda_cpu::stack_at(&local);
  __syncthreads();  // each waits on a stack of its own
}

bool is_readable(std::uintptr_t address) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const bool read = write(ends[1], reinterpret_cast<const void*>(address), 1) == 1;
  close(ends[0]), close(ends[1]);
  return read;
}

template <class T>
T* device_memory(std::size_t n) {
  T* p = nullptr;
  REQUIRE(cudaMalloc(&p, n * sizeof(T)) == cudaSuccess);
  return p;
}

template <class T>
std::vector<T> download(const T* d, std::size_t n) {
  std::vector<T> h(n);
  REQUIRE(cudaMemcpy(h.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
  return h;
}

std::vector<int> numbers(std::size_t n) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 1);
  return v;
}

cudaMemoryType type_of(const void* p) {
  cudaPointerAttributes attributes;
  REQUIRE(cudaPointerGetAttributes(&attributes, p) == cudaSuccess);
  return attributes.type;
}

}  // namespace

// FEATURE: memory: `cudaMalloc`, `cudaMemcpy`
TEST_CASE("data copied to the device comes back") {
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{31}, std::size_t{4096}, std::size_t{99991}}) {
    const std::vector<int> h = numbers(n);
    int* const d = device_memory<int>(n);
    int* const e = device_memory<int>(n);
    CHECK(cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(e, d, n * sizeof(int), cudaMemcpyDeviceToDevice) == cudaSuccess);
    CHECK(download(e, n) == h);
    CHECK(cudaFree(d) == cudaSuccess);
    CHECK(cudaFree(e) == cudaSuccess);
  }
}

TEST_CASE("cudaMemcpyDefault tells the direction by itself") {
  const std::vector<int> h = numbers(100);
  std::vector<int> back(100);
  int* const d = device_memory<int>(100);
  CHECK(cudaMemcpy(d, h.data(), 400, cudaMemcpyDefault) == cudaSuccess);
  CHECK(cudaMemcpy(back.data(), d, 400, cudaMemcpyDefault) == cudaSuccess);
  CHECK(back == h);
  cudaFree(d);
}

TEST_CASE("fresh memory of every kind holds 0xff") {
  float* const d = device_memory<float>(100);
  for (const float value : download(d, 100)) CHECK(std::isnan(value));
  cudaFree(d);
  float* p = nullptr;
  REQUIRE(cudaMallocHost(&p, 400) == cudaSuccess);
  CHECK(std::all_of(p, p + 100, [](float v) { return std::isnan(v); }));
  cudaFreeHost(p);
  REQUIRE(cudaMallocManaged(&p, 400) == cudaSuccess);
  CHECK(std::all_of(p, p + 100, [](float v) { return std::isnan(v); }));
  cudaFree(p);
}

TEST_CASE("an empty allocation is a null pointer") {
  int* p = reinterpret_cast<int*>(1);
  CHECK(cudaMalloc(&p, 0) == cudaSuccess);
  CHECK(p == nullptr);
  CHECK(cudaFree(p) == cudaSuccess);
  CHECK(cudaMallocManaged(&p, 0) == cudaErrorInvalidValue);
  CHECK(cudaMalloc(static_cast<int**>(nullptr), 4) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("more memory than there is is refused, and a later allocation works") {
  std::size_t free_bytes = 0, total = 0;
  REQUIRE(cudaMemGetInfo(&free_bytes, &total) == cudaSuccess);
  CHECK(free_bytes <= total);
  char* p = nullptr;
  CHECK(cudaMalloc(&p, total + 1) == cudaErrorMemoryAllocation);
  CHECK(p == nullptr);
  CHECK(cudaMalloc(&p, SIZE_MAX - 100) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&p, 100) == cudaSuccess);
  CHECK(cudaFree(p) == cudaSuccess);
}

TEST_CASE("cudaMemGetInfo counts allocations") {
  std::size_t before = 0, during = 0, after = 0, total = 0;
  REQUIRE(cudaMemGetInfo(&before, &total) == cudaSuccess);
  char* p = device_memory<char>(1 << 20);
  REQUIRE(cudaMemGetInfo(&during, &total) == cudaSuccess);
  CHECK(before - during == 1 << 20);
  cudaFree(p);
  REQUIRE(cudaMemGetInfo(&after, &total) == cudaSuccess);
  CHECK(after == before);
}

TEST_CASE("an allocation is aligned for every type it holds") {
  struct alignas(64) Line {
    char bytes[64];
  };
  for (int i = 0; i < 5; ++i) {
    float4* const p = device_memory<float4>(static_cast<std::size_t>(i) + 1);
    CHECK(reinterpret_cast<std::uintptr_t>(p) % 16 == 0);
    Line* const q = device_memory<Line>(static_cast<std::size_t>(i) + 1);
    CHECK(reinterpret_cast<std::uintptr_t>(q) % 64 == 0);
    cudaFree(p);
    cudaFree(q);
  }
}

TEST_CASE("freed memory is not handed out again at once") {
  std::vector<int*> seen;
  for (int i = 0; i < 100; ++i) {
    int* const p = device_memory<int>(1000);
    CHECK(std::find(seen.begin(), seen.end(), p) == seen.end());
    seen.push_back(p);
    cudaFree(p);
  }
}

TEST_CASE("cudaMemset fills bytes, whole or in part") {
  unsigned char* const d = device_memory<unsigned char>(100);
  CHECK(cudaMemset(d, 7, 100) == cudaSuccess);
  CHECK(cudaMemset(d + 10, 9, 5) == cudaSuccess);
  const std::vector<unsigned char> h = download(d, 100);
  for (std::size_t i = 0; i < h.size(); ++i) CHECK(h[i] == (i >= 10 && i < 15 ? 9 : 7));
  CHECK(cudaMemset(d, 0, 101) == cudaErrorInvalidValue);
  CHECK(explained("cudaMemset past the end of the destination"));
  int on_host = 0;
  CHECK(cudaMemset(&on_host, 1, 4) == cudaErrorInvalidValue);
  CHECK(explained("cudaMemset of host memory"));
  cudaFree(d);
}

TEST_CASE("copies of nothing succeed whatever the pointers are") {
  CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemset(nullptr, 0, 0) == cudaSuccess);
}

TEST_CASE("an unknown direction is refused with its own code") {
  int x = 0;
  CHECK(cudaMemcpy(&x, &x, 4, static_cast<cudaMemcpyKind>(9)) == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
}

// FEATURE: memory: pitched memory and 2D copies
TEST_CASE("two-dimensional copies respect pitches") {
  const std::size_t width = 5, height = 4;
  int* d = nullptr;
  std::size_t pitch = 0;
  REQUIRE(cudaMallocPitch(&d, &pitch, width * sizeof(int), height) == cudaSuccess);
  CHECK(pitch >= width * sizeof(int));
  CHECK(pitch % 32 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(d) % 256 == 0);
  const std::vector<int> h = numbers(width * height);
  std::vector<int> back(width * height);
  CHECK(cudaMemset2D(d, pitch, 0, width * sizeof(int), height) == cudaSuccess);
  CHECK(cudaMemcpy2D(d, pitch, h.data(), width * sizeof(int), width * sizeof(int), height,
                     cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy2D(back.data(), width * sizeof(int), d, pitch, width * sizeof(int), height,
                     cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(back == h);
  // The last row needs no padding after it.
  CHECK(cudaMemcpy2D(back.data(), width * sizeof(int), d + 1, pitch, pitch - sizeof(int), 1,
                     cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
  CHECK(explained("a row is wider than the pitch"));
  CHECK(cudaMemcpy2D(back.data(), width * sizeof(int), d, pitch, width * sizeof(int), height + 1,
                     cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(explained("past the end of the source"));
  CHECK(cudaFree(d) == cudaSuccess);
}

// FEATURE: memory: 3D memory and copies
TEST_CASE("memory of three dimensions has rows, and layers of them") {
  const std::size_t width = 5, height = 4, depth = 3;
  const cudaExtent extent = make_cudaExtent(width * sizeof(int), height, depth);
  cudaPitchedPtr memory{};
  REQUIRE(cudaMalloc3D(&memory, extent) == cudaSuccess);
  CHECK(memory.pitch % 32 == 0);
  CHECK(memory.xsize == extent.width);
  CHECK(memory.ysize == height);
  const std::vector<int> h = numbers(width * height * depth);
  std::vector<int> back(h.size());
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<int*>(h.data()), width * sizeof(int), width, height);
  copy.dstPtr = memory;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  REQUIRE(cudaMemcpy3D(&copy) == cudaSuccess);
  // The last two layers' first three rows, without their last number.
  cudaPitchedPtr later = memory;
  later.ptr = static_cast<char*>(memory.ptr) + memory.pitch * height;
  REQUIRE(cudaMemset3D(later, 0xff, make_cudaExtent((width - 1) * sizeof(int), 3, 2)) ==
          cudaSuccess);
  copy.srcPtr = memory;
  copy.dstPtr = make_cudaPitchedPtr(back.data(), width * sizeof(int), width, height);
  copy.kind = cudaMemcpyDeviceToHost;
  REQUIRE(cudaMemcpy3D(&copy) == cudaSuccess);
  for (std::size_t i = 0; i < h.size(); ++i) {
    const std::size_t x = i % width, y = i / width % height, z = i / width / height;
    REQUIRE(back[i] == (z >= 1 && y < 3 && x < width - 1 ? -1 : h[i]));
  }
  CHECK(cudaMemset3D(memory, 0, make_cudaExtent(extent.width, height + 1, 2)) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemset3DAsync(memory, 0, make_cudaExtent(extent.width, height, depth + 1), nullptr) ==
        cudaErrorInvalidValue);
  CHECK(explained("the destination begins outside its allocation"));
  CHECK(cudaMalloc3D(nullptr, extent) == cudaErrorInvalidValue);
  CHECK(cudaFree(memory.ptr) == cudaSuccess);
  cudaGetLastError();
}

// FEATURE: memory: `cudaMallocAsync`, `cudaFreeAsync`
TEST_CASE("stream-ordered allocations can be freed in stream order") {
  const Stream stream;
  const PinnedInt h;
  int* d = nullptr;
  CHECK(cudaMallocAsync(&d, 4, stream.s) == cudaSuccess);
  store<<<1, 1, 0, stream.s>>>(d, 12);
  CHECK(cudaMemcpyAsync(h.p, d, 4, cudaMemcpyDeviceToHost, stream.s) == cudaSuccess);
  CHECK(cudaFreeAsync(d, stream.s) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream.s) == cudaSuccess);
  CHECK(*h.p == 12);
  CHECK(cudaFree(d) == cudaErrorInvalidValue);
  CHECK(explained("double free"));
}

namespace {

__global__ void compare_words(const std::uint64_t* x, std::uint64_t expected, std::size_t n,
                              int* equal) {
  for (std::size_t i = 0; i < n; ++i) *equal += x[i] == expected ? 1 : 0;
}

// How many of four words arrive as they were sent, in device memory that was allocated for T.
template <class T>
int words_that_arrive(std::uint64_t word) {
  T* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 32) == cudaSuccess);
  const std::uint64_t words[4] = {word, word, word, word};
  REQUIRE(cudaMemcpy(memory, words, 32, cudaMemcpyHostToDevice) == cudaSuccess);
  int *equal = nullptr, count = 0;
  REQUIRE(cudaMalloc(&equal, sizeof(int)) == cudaSuccess);
  REQUIRE(cudaMemset(equal, 0, sizeof(int)) == cudaSuccess);
  compare_words<<<1, 1>>>(reinterpret_cast<const std::uint64_t*>(memory), word, 4, equal);
  REQUIRE(cudaMemcpy(&count, equal, sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(cudaFree(memory) == cudaSuccess);
  REQUIRE(cudaFree(equal) == cudaSuccess);
  return count;
}

}  // namespace

TEST_CASE("numbers that look like the host's addresses arrive as they are") {
  static int of_the_host = 0;
  const auto address = reinterpret_cast<std::uint64_t>(&of_the_host);
  CHECK(words_that_arrive<uint4>(address) == 4);
  CHECK(words_that_arrive<double2>(address) == 4);
  CHECK(words_that_arrive<std::uint64_t>(address) == 4);
  CHECK(words_that_arrive<void>(address) == 4);
}

// FEATURE: memory: managed memory that is prefetched and advised
TEST_CASE("managed memory can be asked to move: to the device, to the host, in a stream's order") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  int* x = nullptr;
  REQUIRE(cudaMallocManaged(&x, 400) == cudaSuccess);
  x[99] = 1;
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0};
  CHECK(cudaMemPrefetchAsync(x, 400, device, 0, stream) == cudaSuccess);
  store<<<1, 1, 0, stream>>>(x + 99, 12);
  CHECK(cudaMemPrefetchAsync(x + 1, 396, host, 0, stream) == cudaSuccess);
  CHECK(x[99] == 1);  // nothing has waited
  CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(x[99] == 12);
  CHECK(cudaMemPrefetchAsync(x, 400, device, 0) == cudaSuccess);  // the default stream
  CHECK(cudaDeviceSynchronize() == cudaSuccess);

  CHECK(cudaMemPrefetchAsync(x, 0, device, 0, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(x, 401, device, 0, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(x + 1, 400, device, 0, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(x, 400, device, 1, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(x, 400, {cudaMemLocationTypeInvalid, 0}, 0, stream) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(x, 400, {cudaMemLocationTypeDevice, 1}, 0, stream) ==
        cudaErrorInvalidDevice);
  int* const d = device_memory<int>(100);
  CHECK(cudaMemPrefetchAsync(d, 400, device, 0, stream) == cudaErrorInvalidValue);
  cudaFree(d);
  cudaGetLastError();
  CHECK(cudaFree(x) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

// FEATURE: memory: `__device__` variables and symbols
TEST_CASE("symbols are copied to and from, with size and offset") {
  const std::vector<int> h = numbers(16);
  CHECK(cudaMemcpyToSymbol(table, h.data(), sizeof(table)) == cudaSuccess);
  const int eight[2] = {80, 90};
  CHECK(cudaMemcpyToSymbol(table, eight, sizeof(eight), 7 * sizeof(int)) == cudaSuccess);
  int* const y = device_memory<int>(1);
  read_table<<<1, 1>>>(y, 8);
  CHECK(download(y, 1)[0] == 90);
  int back[3] = {};
  CHECK(cudaMemcpyFromSymbol(back, table, sizeof(back), 6 * sizeof(int)) == cudaSuccess);
  CHECK(back[0] == 7);
  CHECK(back[1] == 80);
  CHECK(back[2] == 90);
  CHECK(cudaMemcpyToSymbol(table, h.data(), sizeof(table), 4) == cudaErrorInvalidValue);
  CHECK(explained("past the end of 'table'"));
  CHECK(cudaMemcpyToSymbol(table, back, sizeof(back), 0, cudaMemcpyDeviceToHost) ==
        cudaErrorInvalidMemcpyDirection);
  int none = 0;
  CHECK(cudaMemcpyToSymbol(none, back, sizeof(none)) == cudaErrorInvalidSymbol);
  CHECK(explained("this is no __device__, __constant__"));
  cudaFree(y);
}

TEST_CASE("a symbol's address and size can be asked for, and used in copies") {
  void* address = nullptr;
  std::size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, grid_of_numbers) == cudaSuccess);
  CHECK(cudaGetSymbolSize(&bytes, grid_of_numbers) == cudaSuccess);
  CHECK(bytes == sizeof(grid_of_numbers));
  const double h[2][3] = {{1, 2, 3}, {4, 5, 6}};
  double back[2][3] = {};
  CHECK(cudaMemcpy(address, h, sizeof(h), cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpyFromSymbol(back, grid_of_numbers, sizeof(back)) == cudaSuccess);
  CHECK(std::memcmp(h, back, sizeof(h)) == 0);
  CHECK(type_of(address) == cudaMemoryTypeDevice);
  CHECK(cudaFree(address) == cudaErrorInvalidValue);
  CHECK(explained("cudaFree of the variable 'grid_of_numbers'"));
  CHECK(cudaMemcpy(address, h, sizeof(h) + 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(explained("grid_of_numbers"));
  int none = 0;
  CHECK(cudaGetSymbolAddress(&address, none) == cudaErrorInvalidSymbol);
  CHECK(explained("no __device__, __constant__ or __managed__ variable"));
}

TEST_CASE("a __device__ variable counts, and a __device__ pointer points") {
  int value = 0;
  REQUIRE(cudaMemcpyFromSymbol(&value, counter, sizeof(int)) == cudaSuccess);
  const int before = value;
  count_up<<<1, 1>>>();
  REQUIRE(cudaMemcpyFromSymbol(&value, counter, sizeof(int)) == cudaSuccess);
  CHECK(value == before + 1);
  int* const d = device_memory<int>(1);
  CHECK(cudaMemcpyToSymbol(buffer, &d, sizeof(d)) == cudaSuccess);
  write_buffer<<<1, 1>>>(77);
  CHECK(download(d, 1)[0] == 77);
  cudaFree(d);
}

// FEATURE: memory: `cudaMallocManaged`, `__managed__` variables
TEST_CASE("managed memory and variables are seen by both sides") {
  shared_by_both = 21;
  double_managed<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(shared_by_both == 42);
  int* x = nullptr;
  REQUIRE(cudaMallocManaged(&x, 4) == cudaSuccess);
  *x = 1;
  store<<<1, 1>>>(x, 2);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*x == 2);
  CHECK(type_of(x) == cudaMemoryTypeManaged);
  CHECK(cudaFree(x) == cudaSuccess);
}

// FEATURE: memory: pinned and mapped host memory
TEST_CASE("pinned memory is mapped into the device") {
  int *h = nullptr, *d = nullptr;
  REQUIRE(cudaHostAlloc(&h, 4, cudaHostAllocMapped | cudaHostAllocWriteCombined) == cudaSuccess);
  CHECK(cudaHostGetDevicePointer(&d, h, 0) == cudaSuccess);
  store<<<1, 1>>>(d, 5);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*h == 5);
  unsigned flags = 0;
  CHECK(cudaHostGetFlags(&flags, h) == cudaSuccess);
  CHECK((flags & cudaHostAllocWriteCombined) != 0);
  CHECK(type_of(h) == cudaMemoryTypeHost);
  CHECK(cudaFreeHost(h) == cudaSuccess);
  REQUIRE(cudaMallocHost(&h, 4) == cudaSuccess);
  CHECK(cudaHostGetFlags(&flags, h) == cudaSuccess);
  CHECK(flags == cudaHostAllocMapped);  // nobody asked for it: so says an H200, too
  CHECK(cudaFreeHost(h) == cudaSuccess);
  CHECK(cudaHostAlloc(&h, 4, 0x80) == cudaErrorInvalidValue);
  int on_stack = 0;
  CHECK(cudaHostGetDevicePointer(&d, &on_stack, 0) == cudaErrorInvalidValue);
  cudaGetLastError();
}

// FEATURE: memory: `cudaHostRegister`
TEST_CASE("registered host memory can be used by kernels and asynchronous copies") {
  std::vector<int> h(1000, 1);
  unsigned flags = 0;
  CHECK(cudaHostGetFlags(&flags, h.data()) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaHostRegister(h.data(), 4000, cudaHostRegisterMapped) == cudaSuccess);
  CHECK(cudaHostGetFlags(&flags, h.data()) == cudaSuccess);
  CHECK(flags == cudaHostRegisterMapped);  // so says an H200, too
  CHECK(cudaHostRegister(h.data() + 10, 40, cudaHostRegisterDefault) ==
        cudaErrorHostMemoryAlreadyRegistered);
  CHECK(type_of(h.data()) == cudaMemoryTypeHost);
  int* d = nullptr;
  CHECK(cudaHostGetDevicePointer(&d, h.data(), 0) == cudaSuccess);
  store<<<1, 1>>>(d + 999, 8);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(h[999] == 8);
  CHECK(cudaHostUnregister(h.data()) == cudaSuccess);
  CHECK(cudaHostRegister(h.data(), 0, 0) == cudaErrorInvalidValue);
  CHECK(type_of(h.data()) == cudaMemoryTypeUnregistered);
  cudaGetLastError();
}

// FEATURE: memory: `cudaPointerGetAttributes`
TEST_CASE("pointer attributes tell device from host") {
  int* const d = device_memory<int>(4);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, d + 3) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CHECK(attributes.device == 0);
  CHECK(attributes.devicePointer == d + 3);
  CHECK(attributes.hostPointer == nullptr);
  cudaFree(d);
  int on_stack = 0;
  CHECK(type_of(&on_stack) == cudaMemoryTypeUnregistered);
  CHECK(type_of(d) == cudaMemoryTypeUnregistered);
}

TEST_CASE("cudaDeviceReset frees memory and gives variables their first values back") {
  int* const d = device_memory<int>(1);
  count_up<<<1, 1>>>();
  const int zeros[16] = {};
  CHECK(cudaMemcpyToSymbol(coefficients, zeros, sizeof(coefficients)) == cudaSuccess);
  CHECK(cudaDeviceReset() == cudaSuccess);
  int value = 0;
  CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof(int)) == cudaSuccess);
  CHECK(value == 5);
  float first[4] = {};
  CHECK(cudaMemcpyFromSymbol(first, coefficients, sizeof(first)) == cudaSuccess);
  CHECK(first[3] == 4.0f);
  CHECK(cudaMemcpyFromSymbol(&value, never_written, sizeof(int)) == cudaSuccess);
  CHECK(value == 6);
  CHECK(cudaFree(d) == cudaErrorInvalidValue);
  cudaGetLastError();
  std::size_t free_bytes = 0, total = 0;
  CHECK(cudaMemGetInfo(&free_bytes, &total) == cudaSuccess);
  CHECK(free_bytes == total);
}

// The race detector takes what is near above a frame for the thread's own. An array that lay there
// would lose its accesses.
TEST_CASE("above a thread's stack lies nothing that others use") {
  std::uintptr_t* const stacks = device_memory<std::uintptr_t>(1024);
  tell_stacks<<<1, 1024>>>(stacks);
  const std::vector<std::uintptr_t> told = download(stacks, 1024);
  const std::set<std::uintptr_t> different(told.begin(), told.end());
  CHECK(different.size() == 1024);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t step = cuda_cpu::kStackBytes + page;
  std::set<std::uintptr_t> ends;
  for (const std::uintptr_t stack : told) {
    REQUIRE(stack != 0);
    std::uintptr_t end = stack;
    while (cuda_cpu::stack_at(reinterpret_cast<const void*>(end)) == end && end < stack + 33 * step)
      end += step;
    ends.insert(end);
  }
  for (const std::uintptr_t end : ends) {
    CHECK_FALSE(cuda_cpu::is_on_a_stack(reinterpret_cast<const void*>(end)));
    for (std::uintptr_t at = 0; at < cuda_cpu::kAboveStack; at += page)
      CHECK_FALSE(is_readable(end + at));
  }
  cudaFree(stacks);
}
