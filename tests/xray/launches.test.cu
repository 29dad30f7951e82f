// SPDX-License-Identifier: MIT
// Tests which launches X-ray tells apart, and which memory an access belongs to.
#include <cstring>
#include <new>
#include <stdexcept>

#include "xray_testing.cuh"

using xray::Operation;
using xray::Space;

namespace {

__device__ int device_table[64];
__managed__ int managed_table[64];

__global__ void copy(const int* x, int* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = x[i];
}

__global__ void other_copy(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }

__global__ void fill(float* y, float value, double wide) {
  y[threadIdx.x] = value + static_cast<float>(wide);
}

struct Part {  // with padding at its end
  int* data;
  unsigned count;
};
__global__ void fill_part(Part part) {
  if (threadIdx.x < part.count) part.data[threadIdx.x] = 1;
}

__global__ void read_symbols(int* out) {
  out[threadIdx.x] = device_table[threadIdx.x] + managed_table[threadIdx.x];
}

__global__ void use_dynamic_shared(int* out, unsigned stride) {
  extern __shared__ int arena[];
  arena[threadIdx.x * stride] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = arena[threadIdx.x * stride];
}

__global__ void use_both_kinds_of_shared(int* out) {
  extern __shared__ int arena[];
  __shared__ double fixed[10];
  if (threadIdx.x < 10) fixed[threadIdx.x] = 1;
  arena[threadIdx.x] = 2;
  out[threadIdx.x] = arena[threadIdx.x];
}

__global__ void use_local_array(int* out, int n) {
  int local[8];
  for (int i = 0; i < 8; ++i) local[i] = n + i;
  out[threadIdx.x] = local[3] + local[7];
}

__global__ void read_two_places(const int* global, int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = 1;
  __syncthreads();
  const int* const p = threadIdx.x % 4 == 0 ? global : s;
  out[threadIdx.x] = p[threadIdx.x];  // line: two places
}

// Each thread copies an int twice, with a barrier in between; one warp copies its ints six times.
__global__ void copy_unevenly(const int* x, long long* y, unsigned busy_block, unsigned busy_warp) {
  const bool is_busy = blockIdx.x == busy_block && threadIdx.x / 32 == busy_warp;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned k = 0; k < (is_busy ? 5u : 1u); ++k) y[i] = x[i] + static_cast<int>(k);
  __syncthreads();
  y[i] = x[i];
}

// Each thread loads an int and fills a slot; one loads 5 times 16 bytes and reads 7 slots besides.
__global__ void one_thread_is_busy(const int* x, int* y, unsigned busy) {
  __shared__ int slots[128];
  const unsigned t = threadIdx.x;
  const unsigned mask = __ballot_sync(__activemask(), 1);
  slots[t] = x[t];
  __syncthreads();
  int sum = 0;
  if (t == busy) {
    for (unsigned k = 0; k < 5; ++k) {
      const int4 four = reinterpret_cast<const int4*>(x)[k];
      sum += four.x + four.y + four.z + four.w;
    }
    for (unsigned k = 0; k < 7; ++k) sum += slots[k];
  }
  for (int k = 0; k < 2; ++k) {
    sum += __any_sync(mask, sum > k) != 0 ? 1 : 0;
    __syncwarp(mask);  // exchanges nothing
  }
  y[blockIdx.x * blockDim.x + t] = sum;
}

template <class T>
__global__ void copy_one(const T* x, T* y) {
  y[threadIdx.x] = x[threadIdx.x];
}

// These have only the alignment of their members, so a GPU loads them member by member.
struct Point {
  float x, y, z;
};
struct Pair {
  int first, second;
};
struct Box {
  float left, bottom, right, top;
};
struct Triple {
  double a, b, c;
};
struct Four {
  double a, b, c, d;
};

__global__ void copy_fours(const double* x, double* y) {
  const unsigned i = 4 * threadIdx.x;
  *reinterpret_cast<Four*>(&y[i]) = *reinterpret_cast<const Four*>(&x[i]);
}

template <auto kKernel>
void launch_with(const int* x, int* y) {
  kKernel<<<1, kWarp>>>(x, y, 1);
}

template <unsigned kCount, int kAdded>
__global__ void take(const int* x, int* y, int n) {
  y[threadIdx.x] = x[threadIdx.x % kCount] + kAdded * n;
}

}  // namespace

// ---- launches -----------------------------------------------------------------------------------

TEST_CASE("a launch tells the shared memory of a block, the arrays' and its own") {
  const DeviceArray<int> x(64), y(64);
  const auto launches = launches_of([&] {
    copy<<<1, 64>>>(x.get(), y.get(), 64);
    use_both_kinds_of_shared<<<2, 32, 128>>>(y.get());
    use_both_kinds_of_shared<<<2, 32, 1000>>>(y.get());
  });
  REQUIRE(launches.size() == 3);
  CHECK(launches[0].shared_bytes == 0);
  CHECK(launches[1].shared_bytes == 10 * sizeof(double) + 128);
  CHECK(launches[2].shared_bytes == 10 * sizeof(double) + 1000);
}

TEST_CASE("count counts every block of a grid of any size") {
  constexpr unsigned kBlocks = 1000;
  const DeviceArray<int> x(kBlocks * 32), y(kBlocks * 32);
  const xray::Launch launch =
      launch_of([&] { copy<<<kBlocks, 32>>>(x.get(), y.get(), kBlocks * 32); });
  CHECK(launch.kernel == "copy");
  CHECK(launch.grid.x == kBlocks);
  CHECK(launch.block.x == 32);
  CHECK(launch.blocks == kBlocks);
  CHECK(launch.blocks_counted == kBlocks);
  CHECK(launch.warps_counted == kBlocks);
  CHECK(launch.total(Space::kGlobal, Operation::kLoad).requests == kBlocks);
  CHECK(launch.total(Space::kGlobal, Operation::kStore).sectors == 4 * kBlocks);
}

TEST_CASE("a launch tells how many lanes its busiest warp has in requests of a kind") {
  constexpr unsigned kBlocks = 3, kThreads = 70;  // the third warp has 6 lanes
  const DeviceArray<int> x(kBlocks * kThreads);
  const DeviceArray<long long> y(kBlocks * kThreads);
  for (unsigned block = 0; block <= kBlocks; ++block) {
    for (unsigned warp = 0; warp < 3; ++warp) {
      const xray::Launch launch =
          launch_of([&] { copy_unevenly<<<kBlocks, kThreads>>>(x.get(), y.get(), block, warp); });
      INFO("busy is warp " << warp << " of block " << block);
      const unsigned expected = block < kBlocks && warp < 2 ? 6 * 32 : 2 * 32;
      CHECK(launch.lanes_of_busiest_warp(Space::kGlobal, Operation::kLoad, 4) == expected);
      CHECK(launch.lanes_of_busiest_warp(Space::kGlobal, Operation::kStore, 8) == expected);
      CHECK(launch.lanes_of_busiest_warp(Space::kGlobal, Operation::kLoad, 8) == 0);
      CHECK(launch.lanes_of_busiest_warp(Space::kGlobal, Operation::kAtomic, 4) == 0);
      CHECK(launch.lanes_of_busiest_warp(Space::kShared, Operation::kLoad, 4) == 0);
    }
  }
  const DeviceArray<int> out(64);
  const xray::Launch shared =
      launch_of([&] { use_both_kinds_of_shared<<<2, 64, 256>>>(out.get()); });
  CHECK(shared.lanes_of_busiest_warp(Space::kShared, Operation::kStore, 8) == 10);
  CHECK(shared.lanes_of_busiest_warp(Space::kShared, Operation::kStore, 4) == 32);
}

TEST_CASE("a launch tells what its busiest thread does, and how often it exchanges values") {
  constexpr unsigned kBlocks = 3, kThreads = 70;
  const DeviceArray<int> x(1000), y(1000);
  CUDA_CHECK(cudaMemset(x.get(), 0, 1000 * sizeof(int)));
  for (const unsigned busy : {0u, 31u, 69u, 100u}) {
    const xray::Launch launch =
        launch_of([&] { one_thread_is_busy<<<kBlocks, kThreads>>>(x.get(), y.get(), busy); });
    INFO("busy is thread " << busy);
    const bool is_there = busy < kThreads;
    const auto loads = launch.of_busiest_thread(Space::kGlobal, Operation::kLoad);
    CHECK(loads.accesses == (is_there ? 1 + 5 : 1));
    CHECK(loads.bytes == (is_there ? 4 + 5 * 16 : 4));
    CHECK(launch.of_busiest_thread(Space::kGlobal, Operation::kStore).accesses == 1);
    CHECK(launch.of_busiest_thread(Space::kShared, Operation::kStore).accesses == 1);
    CHECK(launch.of_busiest_thread(Space::kShared, Operation::kLoad).accesses ==
          (is_there ? 7 : 0));
    CHECK(launch.of_busiest_thread(Space::kGlobal, Operation::kAtomic).accesses == 0);
    CHECK(launch.exchanges_of_busiest_thread == 3);
  }
}

TEST_CASE("a launch that is repeated alike is counted once") {
  const DeviceArray<int> x(64), y(64);
  const xray::Launch launch = launch_of([&] {
    for (int i = 0; i < 5; ++i) copy<<<2, 32>>>(x.get(), y.get(), 64);
  });
  CHECK(launch.blocks_counted == 2);
  CHECK(launch.total(Space::kGlobal, Operation::kLoad).requests == 2);
}

TEST_CASE("launches that differ in anything are each counted") {
  const DeviceArray<int> x(128), y(128);
  const DeviceArray<float> f(64);
  const auto at = [&](int n) { copy<<<2, 32>>>(x.get(), y.get(), n); };
  const std::vector<xray::Launch> launches = launches_of([&] {
    at(64);
    at(64);                                 // as before
    at(63);                                 // a number
    copy<<<2, 32>>>(x.get(), y.get(), 64);  // another line
    for (const int shift : {0, 1}) {        // a pointer into the same array
      copy<<<1, 32>>>(x.get() + shift, y.get(), 32);
    }
    for (const unsigned block : {32u, 64u}) copy<<<1, block>>>(x.get(), y.get(), 64);
    for (const unsigned grid : {1u, 2u}) copy<<<grid, 32>>>(x.get(), y.get(), 64);
    for (const std::size_t bytes : {0, 512}) copy<<<1, 32, bytes>>>(x.get(), y.get(), 64);
    for (const float value : {1.0f, 1.0000001f}) fill<<<1, 32>>>(f.get(), value, 0.5);
    other_copy<<<1, 32>>>(x.get(), y.get());
  });
  CHECK(launches.size() == 3 + 5 * 2 + 1);
}

TEST_CASE("the same launch with another kind of memory, or another size of array, counts anew") {
  int* host = nullptr;
  REQUIRE(cudaMallocHost(&host, 256) == cudaSuccess);
  const DeviceArray<int> small(64), same(64), large(128), out(64);
  const std::vector<xray::Launch> launches = launches_of([&] {
    for (const int* const x : {small.get(), same.get(), large.get(), host}) {
      copy<<<1, 32>>>(x, out.get(), 32);
    }
  });
  REQUIRE(launches.size() == 3);
  CHECK(launches[2].total(Space::kHost, Operation::kLoad).requests == 1);
  CHECK(cudaFreeHost(host) == cudaSuccess);
}

TEST_CASE("a structure's padding makes no other launch of the same, its members do") {
  const DeviceArray<int> x(64);
  const std::vector<xray::Launch> launches = launches_of([&] {
    for (const int garbage : {0, 0xee}) {
      for (const unsigned count : {8u, 9u}) {
        alignas(Part) unsigned char room[sizeof(Part)];
        std::memset(room, garbage, sizeof(room));
        Part* const part = new (room) Part;
        part->data = x.get();
        part->count = count;
        fill_part<<<1, 32>>>(*part);
      }
    }
  });
#if __has_builtin(__builtin_clear_padding)
  REQUIRE(launches.size() == 2);
#else  // known by its bytes, garbage too
  REQUIRE(launches.size() >= 2);
#endif
  CHECK(launches[0].arguments == "..");
  CHECK(launches[1].arguments == "..; launch 2 of these");
  CHECK(launches[1].total(Space::kGlobal, Operation::kStore).lanes == 9);
}

TEST_CASE("launches come in their order, each with its file and line") {
  const DeviceArray<int> x(64), y(64);
  const int first = __LINE__ + 2;
  const std::vector<xray::Launch> launches = launches_of([&] {
    copy<<<1, 32>>>(x.get(), y.get(), 10);
    other_copy<<<1, 32>>>(x.get(), y.get());
    copy<<<dim3(1, 2, 3), dim3(4, 2)>>>(x.get(), y.get(), 5);
  });
  REQUIRE(launches.size() == 3);
  for (int i = 0; i < 3; ++i) {
    CHECK(launches[static_cast<std::size_t>(i)].line == first + i);
    CHECK(launches[static_cast<std::size_t>(i)].file == __FILE__);
  }
  CHECK(launches[0].kernel == "copy");
  CHECK(launches[1].kernel == "other_copy");
  CHECK(launches[0].arguments == "*, *, 10");
  CHECK(launches[2].arguments == "*, *, 5");
  CHECK(launches[2].blocks == 6);
  CHECK(launches[2].block.y == 2);
}

TEST_CASE("a launch of a template's parameter, or through a pointer, has the kernel's own name") {
  const DeviceArray<int> x(kWarp), y(kWarp);
  CHECK(launch_of([&] { launch_with<copy>(x.get(), y.get()); }).kernel == "copy");
  CHECK(launch_of([&] { launch_with<take<16, 2>>(x.get(), y.get()); }).kernel == "take<16, 2>");
  void (*const pointer)(const int*, int*) = other_copy;
  CHECK(launch_of([&] { pointer<<<1, kWarp>>>(x.get(), y.get()); }).kernel == "other_copy");
}

TEST_CASE("a launch before the counting begins is not in it, nor is one after it") {
  const DeviceArray<int> x(64), y(64);
  copy<<<1, 32>>>(x.get(), y.get(), 32);  // waits in its stream
  const xray::Launch launch = launch_of([&] { other_copy<<<1, 32>>>(x.get(), y.get()); });
  CHECK(launch.kernel == "other_copy");
  copy<<<1, 32>>>(x.get(), y.get(), 31);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(launches_of([] {}).empty());
}

TEST_CASE("a launch that is refused is not counted") {
  const DeviceArray<int> x(64), y(64);
  CHECK(launches_of([&] {
          copy<<<1, 2000>>>(x.get(), y.get(), 32);
          CHECK(refuses_configuration(cudaGetLastError()));
        }).empty());
}

TEST_CASE("counting that is left by an exception is over, and nothing else is lost") {
  const DeviceArray<int> x(64), y(64);
  const auto fails = [&] {
    copy<<<1, 32>>>(x.get(), y.get(), 2);
    cudaDeviceSynchronize();
    throw std::runtime_error("as a failed check would");
  };
  const std::vector<xray::Launch> outer = launches_of([&] {
    copy<<<1, 32>>>(x.get(), y.get(), 1);
    CHECK_THROWS_AS(xray::count(fails), std::runtime_error);
    copy<<<1, 32>>>(x.get(), y.get(), 3);
  });
  REQUIRE(outer.size() == 2);
  CHECK(outer[0].arguments == "*, *, 1");
  CHECK(outer[1].arguments == "*, *, 3");
}

TEST_CASE("a count within a count has its launches to itself") {
  const DeviceArray<int> x(64), y(64);
  std::vector<xray::Launch> inner;
  const std::vector<xray::Launch> outer = launches_of([&] {
    copy<<<1, 32>>>(x.get(), y.get(), 1);
    inner = launches_of([&] { copy<<<1, 32>>>(x.get(), y.get(), 2); });
    copy<<<1, 32>>>(x.get(), y.get(), 3);
  });
  REQUIRE(inner.size() == 1);
  CHECK(inner[0].arguments == "*, *, 2");
  REQUIRE(outer.size() == 2);
  CHECK(outer[0].arguments == "*, *, 1");
  CHECK(outer[1].arguments == "*, *, 3");
}

TEST_CASE("launches in streams are counted like others") {
  const DeviceArray<int> x(64), y(64);
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  const xray::Launch launch = launch_of([&] { copy<<<2, 32, 0, stream>>>(x.get(), y.get(), 64); });
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(launch.total(Space::kGlobal, Operation::kLoad).requests == 2);
}

// ---- kinds of memory ----------------------------------------------------------------------------

TEST_CASE("pinned, mapped and registered host memory counts sectors, as host memory") {
  int *pinned = nullptr, *mapped = nullptr, *seen = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 256) == cudaSuccess);
  REQUIRE(cudaHostAlloc(&mapped, 256, cudaHostAllocMapped) == cudaSuccess);
  REQUIRE(cudaHostGetDevicePointer(&seen, mapped, 0) == cudaSuccess);
  const DeviceArray<int> out(64);
  for (const int* const host : {pinned, seen}) {
    const xray::Launch launch = launch_of([&] { copy<<<1, 64>>>(host, out.get(), 64); });
    check_sectors(launch.total(Space::kHost, Operation::kLoad), neighbours(64));
    check_sectors(launch.total(Space::kGlobal, Operation::kStore), neighbours(64));
    CHECK(launch.total(Space::kGlobal, Operation::kLoad).requests == 0);
  }
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(cudaFreeHost(mapped) == cudaSuccess);

  alignas(256) static int registered[64 + 1];
  REQUIRE(cudaHostRegister(registered, sizeof(registered), cudaHostRegisterMapped) == cudaSuccess);
  REQUIRE(cudaHostGetDevicePointer(&seen, registered, 0) == cudaSuccess);
  const xray::Launch aligned = launch_of([&] { copy<<<1, 64>>>(seen, out.get(), 64); });
  check_sectors(aligned.total(Space::kHost, Operation::kLoad), neighbours(64));
  const xray::Launch shifted = launch_of([&] { copy<<<1, 32>>>(seen + 1, out.get(), 32); });
  CHECK(shifted.total(Space::kHost, Operation::kLoad).sectors == 5);
  CHECK(cudaHostUnregister(registered) == cudaSuccess);
}

TEST_CASE("device and managed variables are global memory with a name") {
  const DeviceArray<int> out(64);
  const xray::Launch launch = launch_of([&] { read_symbols<<<1, 64>>>(out.get()); });
  check_sectors(launch.total(Space::kGlobal, Operation::kLoad, "device_table"), neighbours(64));
  check_sectors(launch.total(Space::kGlobal, Operation::kLoad, "managed_table"), neighbours(64));
  CHECK(launch.total(Space::kGlobal, Operation::kLoad).requests == 4);
}

TEST_CASE("dynamic shared memory is counted as shared, under the name of its array") {
  const DeviceArray<int> out(kWarp);
  for (const unsigned stride : {1u, 2u, 8u, 33u}) {
    const std::size_t bytes = (kWarp - 1) * stride * 4 + 4;
    const xray::Launch launch =
        launch_of([&] { use_dynamic_shared<<<1, kWarp, bytes>>>(out.get(), stride); });
    const Touched request = touched(kAllLanes, 4, [&](unsigned t) { return 4 * stride * t; });
    for (const Operation operation : {Operation::kLoad, Operation::kStore}) {
      const xray::Counts c = launch.total(Space::kShared, operation, "arena");
      CHECK(c.requests == 1);
      CHECK(c.wavefronts == request.conflict());
    }
    CHECK(launch.barriers == 1);
  }
}

TEST_CASE("a thread's own variables are no traffic") {
  const DeviceArray<int> out(kWarp);
  const xray::Launch launch = launch_of([&] { use_local_array<<<1, kWarp>>>(out.get(), 3); });
  REQUIRE(launch.accesses.size() == 1);
  CHECK(launch.accesses[0].operation == Operation::kStore);
}

TEST_CASE("lanes of one request that address different memories are told apart") {
  const DeviceArray<int> x(kWarp), out(kWarp);
  const xray::Launch launch = launch_of([&] { read_two_places<<<1, kWarp>>>(x.get(), out.get()); });
  const unsigned global_lanes = 0x11111111u;
  const auto where = [](unsigned lane) { return 4 * lane; };
  check_sectors(launch.total(Space::kGlobal, Operation::kLoad),
                sum_of({touched(global_lanes, 4, where)}));
  const xray::Counts shared = launch.total(Space::kShared, Operation::kLoad, "s");
  CHECK(shared.requests == 1);
  CHECK(shared.lanes == 24);
}

// ---- structures ---------------------------------------------------------------------------------

namespace {

// Copies one element a lane: how many pieces of which size is a request of each?
template <class T>
void check_pieces(unsigned pieces, unsigned bytes) {
  const DeviceArray<T> x(kWarp + 1), y(kWarp);
  for (const unsigned shift : {0u, 1u}) {
    const xray::Launch launch =
        launch_of([&] { copy_one<<<1, kWarp>>>(x.get() + shift, y.get()); });
    INFO(sizeof(T) << " bytes, from element " << shift);
    for (const Operation operation : {Operation::kLoad, Operation::kStore}) {
      const std::uint64_t start = operation == Operation::kLoad ? shift * sizeof(T) : 0;
      std::vector<Touched> requests;
      for (unsigned piece = 0; piece < pieces; ++piece) {
        requests.push_back(touched(kAllLanes, bytes, [&](unsigned lane) {
          return start + lane * sizeof(T) + piece * bytes;
        }));
      }
      check_sectors(launch.total(Space::kGlobal, operation), sum_of(requests));
    }
    for (const xray::Access& a : launch.accesses) CHECK(a.bytes_per_lane == bytes);
  }
}

}  // namespace

TEST_CASE("a vector type of 2 or 4 components is one access of all its bytes") {
  check_pieces<char4>(1, 4);
  check_pieces<short2>(1, 4);
  check_pieces<int2>(1, 8);
  check_pieces<float2>(1, 8);
  check_pieces<float4>(1, 16);
  check_pieces<uint4>(1, 16);
  check_pieces<double2>(1, 16);
  check_pieces<double4>(2, 16);
}

TEST_CASE("a structure that is aligned like its members is accessed member by member") {
  check_pieces<float3>(3, 4);
  check_pieces<Point>(3, 4);
  check_pieces<Pair>(2, 4);
#if !defined(__clang__)  // which does not report this alignment
  check_pieces<Box>(4, 4);
#endif
  check_pieces<Triple>(3, 8);
}

TEST_CASE("a large structure is accessed whole, wherever its alignment lets it begin") {
  const DeviceArray<double> x(4 * kWarp + 1), y(4 * kWarp);
  for (const unsigned shift : {0u, 1u}) {
    const xray::Launch launch =
        launch_of([&] { copy_fours<<<1, kWarp>>>(x.get() + shift, y.get()); });
    CHECK(launch.total(Space::kGlobal, Operation::kLoad).bytes == kWarp * sizeof(Four));
    CHECK(launch.total(Space::kGlobal, Operation::kStore).bytes == kWarp * sizeof(Four));
  }
}
