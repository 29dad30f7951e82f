// SPDX-License-Identifier: MIT
// What a kernel's parameters are made of: objects are copied once, at the launch and on the host,
// and references refer to what the launch names.
#include <memory>
#include <vector>

#include "../kernel_testing.cuh"
#include "handles.cuh"

namespace {

int made = 0, copied = 0, destroyed = 0;  // owners, by the host; those on the device count nothing

void forget() { made = copied = destroyed = 0; }

/// Owns memory that host and device share. None of its functions could run on a device.
template <class T>
struct Owner {
  explicit Owner(T value) {
    ++made;
    cudaMallocManaged(&p, sizeof(T));
    *p = value;
  }
  Owner(const Owner& other) : Owner(*other.p) { ++copied; }
  ~Owner() {
    ++destroyed;
    cudaFree(p);
  }
  Owner& operator=(const Owner&) = delete;
  T* p = nullptr;
};

__global__ void read_owner(Owner<int> owner, int* out) { out[threadIdx.x] = *owner.p; }

template <class T>
__global__ void read_any(const T* extra, Owner<T> owner, T* out) {
  out[threadIdx.x] = *owner.p + *extra;
}

template <class F>
__global__ void apply(F f, int* out) {
  f(out);
}

/// Larger than registers, and copied by a function.
struct Table {
  explicit Table(int first) {
    for (int& value : values) value = first++;
  }
  Table(const Table& other) { std::memcpy(values, other.values, sizeof(values)), ++copied; }
  int values[40];
};

__global__ void change_own(int before, Table table, double factor, int* out) {
  table.values[threadIdx.x % 2] += static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] =
      before + table.values[0] + table.values[1] + static_cast<int>(factor * table.values[39]);
}

__global__ void take(std::unique_ptr<int, cudaError_t (*)(void*)> pointer) { ++*pointer; }

/// Becomes a pointer, by a function of the host.
struct Converts {
  int* p;
  operator int*() const {
    ++copied;
    return p;
  }
};

__global__ void add_one(int* x) { atomicAdd(x, 1); }
__global__ void add_to(int& x, const int& amount) { atomicAdd(&x, amount); }
template <class T>
__global__ void add_any(T& x, T amount) {
  atomicAdd(&x, amount);
}
template <class T>
__global__ void add_member(Owner<T>& owner) {
  atomicAdd(owner.p, 1);
}
__managed__ int total;

}  // namespace

// FEATURE: kernels: parameters with a copy constructor and a destructor, which run on the host
TEST_CASE("an object is copied for a launch once, and destroyed once, on the host") {
  const DeviceArray<int> out(40);
  forget();
  {
    const Owner<int> owner(7);
    read_owner<<<2, 40>>>(owner, out.get());
    CHECK((made == 2 && copied == 1 && destroyed == 1));
    CHECK(out.download() == std::vector<int>(40, 7));
    read_owner<<<1, 40>>>(Owner<int>(8), out.get());
    CHECK(out.download() == std::vector<int>(40, 8));
    CHECK(made == destroyed + 1);
  }
  CHECK(made == destroyed);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a template whose arguments are deduced takes such an object, too") {
  const DeviceArray<int> out(3);
  const DeviceArray<int> extra(std::vector<int>{100});
  forget();
  const Owner<int> owner(7);
  read_any<<<1, 3>>>(extra.get(), owner, out.get());
  CHECK(out.download() == std::vector<int>(3, 107));
  apply<<<1, 1>>>([owner] __device__(int* to) { *to = *owner.p + 2; }, out.get());
  CHECK(out.download()[0] == 9);
  CHECK(made == destroyed + 1);
}

TEST_CASE("each thread has an object of its own, with the bytes of the one that was made") {
  const DeviceArray<int> out(4);
  forget();
  Table table(10);
  change_own<<<1, 4>>>(1000, table, 2, out.get());  // 2 becomes 2.0 at the launch
  table.values[0] = 0;
  CHECK(out.download() == std::vector<int>{1119, 1120, 1121, 1122});
  CHECK(copied == 1);

  int* to = out.get();
  int before = 2000;
  double factor = 1;
  void* arguments[] = {&before, &table, &factor, &to};  // copied as bytes
  CHECK(cudaLaunchKernel(change_own, 1, 4, arguments) == cudaSuccess);
  CHECK(out.download() == std::vector<int>{2060, 2061, 2062, 2063});
  CHECK(copied == 1);
}

TEST_CASE("an object that can only be moved is moved into the launch") {
  const PinnedInt x(4);
  take<<<1, 2>>>(std::unique_ptr<int, cudaError_t (*)(void*)>(
      x.p, [](void*) { return ++destroyed, cudaDeviceSynchronize(); }));
  forget();
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK((*x.p == 5 || *x.p == 6));  // both count without an atomic
}

TEST_CASE("an argument is converted once, at the launch") {
  const PinnedInt x;
  forget();
  add_one<<<4, 8>>>(Converts{x.p});
  CHECK(copied == 1);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*x.p == 32);
}

// FEATURE: kernels: references as parameters, to memory that kernels can reach
TEST_CASE("a reference refers to what the launch names") {
  const PinnedInt x(1), amount(2);
  total = 5;
  add_to<<<1, 3>>>(*x.p, *amount.p);
  add_to<<<1, 2>>>(total, *x.p);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK((*x.p == 7 && total == 19));
  *amount.p = 10;
  add_any<<<1, 3>>>(total, 1);
  add_any<int><<<1, 3>>>(*x.p, *amount.p);
  *amount.p = 20;  // that was a value
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK((total == 22 && *x.p == 37));

  int* pointers[] = {x.p, amount.p};
  void* arguments[] = {&pointers[0], &pointers[1]};  // a reference is passed as an address
  CHECK(cudaLaunchKernel(add_to, 1, 1, arguments) == cudaSuccess);
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = 1;
  CHECK(cudaLaunchKernelEx(&config, add_to, *x.p, *amount.p) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*x.p == 77);
}

TEST_CASE("an object that a reference names is not copied") {
  void* room = nullptr;
  REQUIRE(cudaMallocManaged(&room, sizeof(Owner<int>)) == cudaSuccess);
  auto* const owner = new (room) Owner<int>(1);
  forget();
  add_member<<<1, 5>>>(*owner);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK((*owner->p == 6 && made == 0 && destroyed == 0));
  owner->~Owner();
  cudaFree(room);
}
