// SPDX-License-Identifier: MIT
// The host's pointers reach a kernel: as an argument, in a structure, in memory. In the last cases
// nobody follows them.
//
// CASE: host_pointer
// The host's array is passed to the kernel.
// EXPECT: {file}:{launch}: error: a host pointer is passed to kernel 'twice'
// EXPECT: argument 1,
// EXPECT-STDOUT: cudaErrorIllegalAddress
//
// CASE: host_reference
// The kernel's parameter is a reference, and the launch names a variable of the host.
// EXPECT: {file}:{reference}: error: a reference to the host's memory is passed to kernel 'count'
// EXPECT: argument 2 lies at
// EXPECT: pass it by value, or refer to managed memory
// EXPECT: {file}:{deduced}: error: a reference to the host's memory is passed to kernel 'count_any'
// EXPECT-STDOUT: cudaErrorIllegalAddress 2, total 0
//
// CASE: host_pointer_in_argument
// Structures that are passed by value hold the host's pointers: a plain one, one inside another
// with an array, a class with a constructor, and one that cudaLaunchKernel passes.
// EXPECT: {file}:{plain}: error: memory of the host reached through a pointer in an argument in kernel 'scale', block (0,0,0), thread (0,0,0)
// EXPECT: the structure that is passed to the kernel holds
// EXPECT: copy what it points to as well
// EXPECT: {file}:{inner}: error: memory of the host reached through a pointer in an argument in kernel 'sum_rows', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{class}: error: memory of the host reached through a pointer in an argument in kernel 'use_view', block (0,0,0), thread (0,0,0)
// EXPECT-STDOUT: cudaErrorIllegalAddress 4
//
// CASE: host_pointer_in_struct
// A structure is copied to the device, but not what it points to. A table of rows on the heap, and
// a pointer variable that is set to a host variable, are the same mistake.
// EXPECT: {file}:{struct}: error: memory of the host reached through a pointer in device memory in kernel 'scale_in_struct', block (0,0,0), thread (0,0,0)
// EXPECT: an address of the host
// EXPECT: copy what it points to as well
// EXPECT: {file}:{table}: error: memory of the host reached through a pointer in device memory in kernel 'sum_table', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{symbol}: error: memory of the host reached through a pointer in device memory in kernel 'use_symbol', block (0,0,0), thread (0,0,0)
// EXPECT-STDOUT: cudaErrorIllegalAddress 3
//
// CASE: host_pointer_in_shared_memory
// Managed and pinned memory have one address for both sides. What a pointer in them points to does
// not, if it is on the heap or the stack of the host.
// EXPECT: {file}:{managed}: error: memory of the host reached through a pointer in memory that both share in kernel 'scale_managed', block (0,0,0), thread (0,0,0)
// EXPECT: an address that is the host's alone
// EXPECT: what it points to must be shared as well
// EXPECT: {file}:{pinned}: error: memory of the host reached through a pointer in memory that both share in kernel 'sum_pinned', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{variable}: error: memory of the host reached through a pointer in memory that both share in kernel 'use_variable', block (0,0,0), thread (0,0,0)
// EXPECT-STDOUT: cudaErrorIllegalAddress 3, the host reads 7
//
// CASE: kept_in_argument
// Structures that are passed by value hold the host's pointers beside the device's, and nobody
// follows the wrong ones; numbers that read like addresses stay what they are; pinned and managed
// memory, functions and constants of the program may be used.
// EXPECT-STDOUT: 3 7 9 1 1 1
//
// CASE: kept_in_memory
// A structure holds the host's pointer beside the device's, and comes back: nobody follows the
// wrong one. A table of functions and a table of device pointers hold no pointers to the host.
// EXPECT-STDOUT: 2.0 1 9 1
//
// CASE: kept_in_shared_memory
// A list in managed memory, with names on the host that kernels leave alone: the kernel follows the
// list, the host follows both.
// EXPECT-STDOUT: one 2 three 4

#include <cstdint>
#include <cstdio>
#include <vector>

#include "../../../common/check.cuh"
#include "cases.cuh"

struct Image {
  int width;
  float* pixels;
};

int found = 0;

void expect_error() {
  if (cudaDeviceSynchronize() == cudaErrorIllegalAddress) ++found;
  cudaDeviceReset();
}

__global__ void twice(int* x) { x[threadIdx.x] *= 2; }

CASE(host_pointer) {
  int x[32] = {};
  twice<<<1, 32>>>(x);  // @launch
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

__global__ void count(int by, int& total) { atomicAdd(&total, by); }
template <class T>
__global__ void count_any(T& total) {
  atomicAdd(&total, T(1));
}

CASE(host_reference) {
  int total = 0;
  count<<<1, 32>>>(1, total);  // @reference
  expect_error();
  count_any<<<1, 32>>>(total);  // @deduced
  expect_error();
  std::printf("cudaErrorIllegalAddress %d, total %d\n", found, total);
}

struct Rows {
  Image first;
  double weights[2];
  const float* rows[2];
};
class View {
 public:
  View(float* data, int n) : data_(data), n_(n) {}
  __device__ float& operator[](int i) const { return data_[i < n_ ? i : 0]; }

 private:
  float* data_;
  int n_;
};

__global__ void scale(Image image) {
  image.pixels[threadIdx.x] *= 2;  // @plain
}
__global__ void sum_rows(const Rows all, float* sum) {
  *sum = all.first.pixels[0] + all.rows[1][1];  // @inner
}
__global__ void use_view(View view) {
  view[0] = 1;  // @class
}

CASE(host_pointer_in_argument) {
  std::vector<float> pixels(64, 1.0f);
  Image image{64, pixels.data()};
  scale<<<1, 64>>>(image);
  expect_error();

  float *d_pixels, *d_sum;
  cudaMalloc(&d_pixels, 64 * sizeof(float));
  cudaMalloc(&d_sum, sizeof(float));
  const float row[2] = {};
  const Rows rows{{64, d_pixels}, {1, 2}, {d_pixels, row}};
  sum_rows<<<1, 1>>>(rows, d_sum);
  expect_error();

  use_view<<<1, 1>>>(View(pixels.data(), 64));
  expect_error();

  void* arguments[] = {&image};
  cudaLaunchKernel(scale, dim3(1), dim3(64), arguments, 0, nullptr);
  expect_error();
  std::printf("%s %d\n", cudaGetErrorName(cudaErrorIllegalAddress), found);
}

__device__ int* counter;
int host_counter = 1;

__global__ void scale_in_struct(const Image* image) {
  image->pixels[threadIdx.x] *= 2;  // @struct
}
__global__ void sum_table(float** rows, float* sum) {
  *sum = rows[0][1] + rows[1][1];  // @table
}
__global__ void use_symbol() {
  *counter = 2;  // @symbol
}

CASE(host_pointer_in_struct) {
  std::vector<float> pixels(64, 1.0f);
  const Image image{64, pixels.data()};
  Image* d_image;
  cudaMalloc(&d_image, sizeof(Image));
  cudaMemcpy(d_image, &image, sizeof(Image), cudaMemcpyHostToDevice);
  scale_in_struct<<<1, 64>>>(d_image);
  expect_error();

  float row[2] = {};
  float* rows[2] = {row, pixels.data()};
  float **d_rows, *d_sum;
  cudaMalloc(&d_rows, sizeof(rows));
  cudaMalloc(&d_sum, sizeof(float));
  cudaMemcpy(d_rows, rows, sizeof(rows), cudaMemcpyHostToDevice);
  sum_table<<<1, 1>>>(d_rows, d_sum);
  expect_error();

  int* const pointer = &host_counter;
  cudaMemcpyToSymbol(counter, &pointer, sizeof(pointer));
  use_symbol<<<1, 1>>>();
  expect_error();
  std::printf("%s %d\n", cudaGetErrorName(cudaErrorIllegalAddress), found);
}

__managed__ int* managed_counter;

__global__ void scale_managed(const Image* image) {
  image->pixels[threadIdx.x] *= 2;  // @managed
}
__global__ void sum_pinned(float** rows, float* sum) {
  *sum = rows[0][1];  // @pinned
}
__global__ void use_variable() {
  *managed_counter = 2;  // @variable
}

CASE(host_pointer_in_shared_memory) {
  std::vector<float> pixels(64, 7.0f);
  Image* image;
  cudaMallocManaged(&image, sizeof(Image));
  *image = {64, pixels.data()};
  scale_managed<<<1, 64>>>(image);
  if (cudaDeviceSynchronize() == cudaErrorIllegalAddress) ++found;
  const int read = static_cast<int>(image->pixels[3]);  // the host may follow it
  cudaDeviceReset();

  float **rows, *sum;
  cudaMallocHost(&rows, sizeof(float*));
  cudaMallocHost(&sum, sizeof(float));
  rows[0] = pixels.data();
  sum_pinned<<<1, 1>>>(rows, sum);
  expect_error();

  managed_counter = &host_counter;
  use_variable<<<1, 1>>>();
  expect_error();
  std::printf("%s %d, the host reads %d\n", cudaGetErrorName(cudaErrorIllegalAddress), found, read);
}

typedef int (*Function)(int);
__device__ int square(int x) { return x * x; }
__device__ Function function = square;

struct Inner {
  int n;
  const int* pinned;
};
struct Given {
  const int* host;
  const int* device;
  Inner inner[2];
  Function call;
};
struct Numbers {
  std::uintptr_t address;
  double weight;
  int parts[6];
  bool flag : 1;
};

__global__ void use_given(Given both, Numbers numbers, long long* out, const int** kept) {
  out[0] = both.host != nullptr ? *both.device : 0;
  out[1] = *both.inner[1].pinned;
  out[2] = both.call(3);
  out[3] = static_cast<long long>(numbers.address);
  out[4] = numbers.parts[1];
  *kept = both.host;
}

CASE(kept_in_argument) {
  std::vector<int> values(1, 3);
  int *d_values, *pinned;
  long long *d_out, out[5];
  const int **d_kept, *kept;
  CUDA_CHECK(cudaMalloc(&d_values, sizeof(int)));
  CUDA_CHECK(cudaMalloc(&d_out, sizeof(out)));
  CUDA_CHECK(cudaMalloc(&d_kept, sizeof(kept)));
  CUDA_CHECK(cudaMallocHost(&pinned, sizeof(int)));
  CUDA_CHECK(cudaMemcpy(d_values, values.data(), sizeof(int), cudaMemcpyHostToDevice));
  *pinned = 7;
  const auto address = reinterpret_cast<std::uintptr_t>(values.data());
  Given both{values.data(), d_values, {{1, nullptr}, {2, pinned}}, nullptr};
  CUDA_CHECK(cudaMemcpyFromSymbol(&both.call, function, sizeof(Function)));
  Numbers numbers{address, 0.5, {}, true};
  numbers.parts[0] = static_cast<int>(address);
  numbers.parts[1] = static_cast<int>(address >> 32);
  use_given<<<1, 1>>>(both, numbers, d_out, d_kept);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(&kept, d_kept, sizeof(kept), cudaMemcpyDeviceToHost));
  std::printf("%lld %lld %lld %d %d %d\n", out[0], out[1], out[2],
              out[3] == static_cast<long long>(address), out[4] == numbers.parts[1],
              kept == values.data());
  CUDA_CHECK(cudaFree(d_values));
  CUDA_CHECK(cudaFree(d_out));
  CUDA_CHECK(cudaFree(d_kept));
  CUDA_CHECK(cudaFreeHost(pinned));
}

struct Both {
  float* host;
  float* device;
};
struct Work {
  Function f;
  const char* name;
};

__global__ void use_both(Both* both, float** table, const Work* work, float* out) {
  if (both->host != nullptr && table[0] == both->device) out[0] = 2 * *both->device;
  out[1] = static_cast<float>(work->f(3));
}

CASE(kept_in_memory) {
  std::vector<float> values(1, 1.0f);
  float *d_values, *d_out, out[2];
  CUDA_CHECK(cudaMalloc(&d_values, sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_out, sizeof(out)));
  CUDA_CHECK(cudaMemcpy(d_values, values.data(), sizeof(float), cudaMemcpyHostToDevice));
  const Both both{values.data(), d_values};
  Both *d_both, back;
  CUDA_CHECK(cudaMalloc(&d_both, sizeof(both)));
  CUDA_CHECK(cudaMemcpy(d_both, &both, sizeof(both), cudaMemcpyHostToDevice));
  float* table[2] = {d_values, nullptr};
  float** d_table;
  CUDA_CHECK(cudaMalloc(&d_table, sizeof(table)));
  CUDA_CHECK(cudaMemcpy(d_table, table, sizeof(table), cudaMemcpyHostToDevice));
  Work work{nullptr, "a literal"};
  CUDA_CHECK(cudaMemcpyFromSymbol(&work.f, function, sizeof(Function)));
  Work* d_work;
  CUDA_CHECK(cudaMalloc(&d_work, sizeof(work)));
  CUDA_CHECK(cudaMemcpy(d_work, &work, sizeof(work), cudaMemcpyHostToDevice));
  use_both<<<1, 1>>>(d_both, d_table, d_work, d_out);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(&back, d_both, sizeof(back), cudaMemcpyDeviceToHost));
  std::printf("%.1f %d %g %d\n", static_cast<double>(out[0]), back.host == both.host,
              static_cast<double>(out[1]), back.device == both.device);
  for (void* pointer :
       {(void*)d_values, (void*)d_out, (void*)d_both, (void*)d_table, (void*)d_work}) {
    CUDA_CHECK(cudaFree(pointer));
  }
}

struct Node {
  int value;
  const char* name;  // the host's
  Node* next;
};

__global__ void add_one(Node* node) {
  for (; node != nullptr; node = node->next) ++node->value;
}

CASE(kept_in_shared_memory) {
  char first[] = "one", second[] = "three";
  Node* nodes;
  CUDA_CHECK(cudaMallocManaged(&nodes, 2 * sizeof(Node)));
  nodes[0] = {1, first, nodes + 1};
  nodes[1] = {3, second, nullptr};
  add_one<<<1, 1>>>(nodes);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  for (const Node* n = nodes; n != nullptr; n = n->next) {
    std::printf("%s %d%s", n->name, n->value, n->next != nullptr ? " " : "\n");
  }
  CUDA_CHECK(cudaFree(nodes));
}
