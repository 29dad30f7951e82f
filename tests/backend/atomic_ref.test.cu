// SPDX-License-Identifier: MIT
// <cuda/atomic>: atomics that name their order and their scope. And the launch with attributes.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <vector>

#include "../catch.hpp"
#include "../kernel_testing.cuh"

namespace {

__device__ unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Every thread does each operation once, on words of its own kind. T: 4 or 8 bytes.
template <class T>
__global__ void use_all(T* w, T* old_sum) {
  const T i = static_cast<T>(thread_number());
  const auto ref = [w](int k) { return cuda::atomic_ref<T, cuda::thread_scope_device>(w[k]); };
  const T taken = ref(0).fetch_add(1);
  cuda::atomic_ref<T>(*old_sum).fetch_add(taken, cuda::memory_order_relaxed);
  ref(1).fetch_sub(1, cuda::memory_order_release);
  ref(2).fetch_min(i, cuda::memory_order_acquire);
  ref(3).fetch_max(i, cuda::std::memory_order_acq_rel);
  T seen = ref(4).load(cuda::memory_order_relaxed);
  while (!ref(4).compare_exchange_weak(seen, seen + 2, cuda::memory_order_relaxed)) {
  }
  ref(5).store(T(7), cuda::memory_order_relaxed);
  ref(6).exchange(T(9));
}

template <class T>
__global__ void use_bits(T* w) {
  const T bit = T(1) << thread_number() % 32;
  cuda::atomic_ref<T, cuda::thread_scope_block>(w[blockIdx.x]).fetch_or(bit);
  cuda::atomic_ref<T, cuda::thread_scope_system> all(w[2]), odd(w[3]);
  all.fetch_and(static_cast<T>(~bit));
  odd.fetch_xor(T(1));
}

template <class T>
void check_all() {
  DeviceArray<T> words(std::vector<T>{0, 200, 1000, 0, 0, 1, 1}), old_sum(std::vector<T>{0});
  use_all<<<3, 33>>>(words.get(), old_sum.get());
  CHECK(words.download() == std::vector<T>{99, 101, 0, 98, 198, 7, 9});
  CHECK(old_sum.download()[0] == T(98 * 99 / 2));  // every old value once
}

template <class T>
void check_bits() {
  DeviceArray<T> words(std::vector<T>{0, 0, static_cast<T>(-1), 0});
  use_bits<<<2, 32>>>(words.get());
  const T low = static_cast<T>(0xffffffffu);
  CHECK(words.download() == std::vector<T>{low, low, static_cast<T>(~low), 0});
}

// The same with objects, in device and in shared memory.
__device__ cuda::atomic<unsigned, cuda::thread_scope_device> device_sum;
__device__ cuda::atomic<long long, cuda::thread_scope_device> device_most(-5);

__global__ void use_objects(unsigned* out, long long* most) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> in_block;
  if (threadIdx.x == 0) in_block = 100;
  __syncthreads();
  in_block -= 2;
  ++device_sum;
  device_sum += 3;
  device_most.fetch_max(thread_number(), cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x != 0) return;
  out[blockIdx.x] = static_cast<unsigned>(in_block.load());
  int expected = 5;
  out[2 + blockIdx.x] = in_block.compare_exchange_strong(expected, 1, cuda::memory_order_acq_rel,
                                                         cuda::memory_order_acquire)
                            ? 1
                            : static_cast<unsigned>(expected);
  *most = device_most;
}
__global__ void read_sum(unsigned* out) { *out = device_sum; }

// Block 1 waits for block 0.
__global__ void hand_over_by_object(int* data, cuda::atomic<int>* flag, int* seen) {
  if (blockIdx.x == 0) {
    *data = 42;
    flag->store(1, cuda::memory_order_release);
    flag->notify_all();
  } else {
    flag->wait(0, cuda::memory_order_acquire);
    *seen = *data;
  }
}

__global__ void overflow(int* w) {
  cuda::atomic_ref<int> ref(*w);
  ref.fetch_add(2);
  ref.fetch_sub(-2147483647);
}

// The old value stays in `expected` when the swap fails.
__global__ void fail_to_swap(int* w) {
  cuda::atomic_ref<int> ref(w[0]);
  int expected = 5;
  w[1] = ref.compare_exchange_strong(expected, 6) ? 1 : 0;
  w[2] = expected;
  w[3] = ref.compare_exchange_strong(expected, 6) ? 1 : 0;
}

// Block 1 waits for block 0, which may begin later.
__global__ void hand_over(int* data, int* flag, int* seen) {
  cuda::atomic_ref<int, cuda::thread_scope_device> raised(*flag);
  if (blockIdx.x == 0) {
    *data = 42;
    raised.store(1, cuda::memory_order_release);
  } else {
    while (raised.load(cuda::memory_order_acquire) == 0) {
    }
    *seen = *data;
  }
}

__global__ void hand_over_by_fences(int* data, int* flag, int* seen) {
  cuda::atomic_ref<int, cuda::thread_scope_device> raised(*flag);
  if (blockIdx.x == 0) {
    *data = 43;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    raised.store(1, cuda::memory_order_relaxed);
  } else {
    while (raised.load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    *seen = *data;
  }
}

__global__ void meet(int* values, double scale) {
  values[thread_number()] = static_cast<int>(thread_number() * scale);
  cooperative_groups::this_grid().sync();
  const unsigned n = gridDim.x * blockDim.x;
  if (thread_number() == 0) values[n] = values[n - 1];
}

__global__ void note_shape(unsigned* shape) {
  extern __shared__ unsigned room[];
  room[threadIdx.x] = threadIdx.x;
  shape[0] = gridDim.x, shape[1] = blockDim.x, shape[2] = room[threadIdx.x];
}

cudaLaunchConfig_t config_for(unsigned grid, unsigned block) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  return config;
}

cudaLaunchAttribute cooperative(int value = 1) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = value;
  return attribute;
}

}  // namespace

// FEATURE: atomics and order: `cuda::atomic` as a variable
TEST_CASE("objects that are atomic do what references do, in device and in shared memory") {
  DeviceArray<unsigned> out(std::vector<unsigned>(5, 0));
  DeviceArray<long long> most(std::vector<long long>{0});
  use_objects<<<2, 33>>>(out.get(), most.get());
  read_sum<<<1, 1>>>(out.get() + 4);
  CHECK(out.download() == std::vector<unsigned>{34, 34, 34, 34, 66 * 4});
  CHECK(most.download()[0] >= 32);
  DeviceArray<int> w(std::vector<int>(3, 0));
  hand_over_by_object<<<2, 1>>>(w.get(), reinterpret_cast<cuda::atomic<int>*>(w.get() + 1),
                                w.get() + 2);
  CHECK(w.download()[2] == 42);
}

// FEATURE: atomics and order: `cuda::atomic_ref`
TEST_CASE("every operation of an atomic_ref loses nothing, in every type") {
  check_all<int>();
  check_all<unsigned>();
  check_all<unsigned long long>();
  check_all<float>();
  check_all<double>();
}

TEST_CASE("the operations on bits, in every type and scope") {
  check_bits<unsigned>();
  check_bits<int>();
  check_bits<unsigned long long>();
}

TEST_CASE("an atomic_ref to an int wraps, as on a GPU") {
  DeviceArray<int> word(std::vector<int>{2147483647});
  overflow<<<1, 1>>>(word.get());
  CHECK(word.download()[0] == 0);
}

TEST_CASE("a swap that fails tells what is there") {
  DeviceArray<int> words(std::vector<int>{4, -1, -1, -1});
  fail_to_swap<<<1, 1>>>(words.get());
  CHECK(words.download() == std::vector<int>{6, 0, 4, 1});
}

TEST_CASE("a block that waits with loads sees what another stores") {
  for (const auto kernel : {hand_over, hand_over_by_fences}) {
    DeviceArray<int> words(std::vector<int>{0, 0, 0});
    int* const w = words.get();
    kernel<<<2, 1>>>(w, w + 1, w + 2);
    CHECK(words.download()[2] == (kernel == hand_over ? 42 : 43));
  }
}

// FEATURE: kernels: `cudaLaunchKernelEx`
TEST_CASE("cudaLaunchKernelEx launches a cooperative grid, and converts arguments as a call does") {
  for (const unsigned blocks : {1u, 2u, 4u}) {
    DeviceArray<int> values(blocks * 33 + 1);
    cudaLaunchAttribute attributes[2] = {{}, cooperative()};
    cudaLaunchConfig_t config = config_for(blocks, 33);
    config.attrs = attributes;
    config.numAttrs = 2;
    REQUIRE(cudaLaunchKernelEx(&config, meet, values.get(), 3) == cudaSuccess);
    CHECK(values.download()[blocks * 33] == static_cast<int>(3 * (blocks * 33 - 1)));
  }
}

TEST_CASE("cudaLaunchKernelEx without attributes is a plain launch, with all its settings") {
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  DeviceArray<unsigned> shape(3);
  cudaLaunchConfig_t config = config_for(5, 64);
  config.dynamicSmemBytes = 64 * sizeof(unsigned);
  config.stream = stream;
  REQUIRE(cudaLaunchKernelEx(&config, note_shape, shape.get()) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  const std::vector<unsigned> got = shape.download();
  CHECK(got[0] == 5);
  CHECK(got[1] == 64);
  CHECK(got[2] < 64);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("cudaLaunchKernelEx refuses what cannot be launched") {
  DeviceArray<int> values(1);
  int* const v = values.get();
  cudaLaunchAttribute attribute = cooperative();
  cudaLaunchConfig_t config = config_for(100000, 33);
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, meet, v, 1.0) == cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  config = config_for(1, 2000);
  CHECK(refuses_configuration(cudaLaunchKernelEx(&config, meet, v, 1.0)));
  cudaGetLastError();
  config = config_for(1, 32);
  config.numAttrs = 1;  // and no list
  CHECK(cudaLaunchKernelEx(&config, meet, v, 1.0) == cudaErrorInvalidValue);
  CHECK(cudaLaunchKernelEx(nullptr, meet, v, 1.0) == cudaErrorInvalidValue);
  cudaGetLastError();
}
