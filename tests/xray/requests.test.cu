// SPDX-License-Identifier: MIT
// X-ray's cost of single requests, where a formula gives it: strides, offsets, element sizes,
// masks, banks, atomics. What an H200 counted for others stands in patterns.test.cu and
// copies.test.cu.
#include <cuda_pipeline.h>
#include <tensor_instructions.h>

#include <numeric>

#include "xray/listing.h"
#include "xray_testing.cuh"

using xray::Operation;
using xray::Space;

namespace {

const std::vector<unsigned> kStrides{0, 1, 2, 3, 4, 8, 16, 32, 33};
constexpr unsigned kOffsets = 32;
constexpr unsigned kElements = kOffsets + 33 * kWarp;

template <class T>
__global__ void load_strided(const T* x, T* out, unsigned mask, unsigned offset, unsigned stride) {
  const unsigned lane = threadIdx.x;
  if ((mask >> lane & 1) != 0) out[lane] = x[offset + lane * stride];
}

template <class T>
__global__ void store_strided(T* x, const T* from, unsigned offset, unsigned stride) {
  const unsigned lane = threadIdx.x;
  x[offset + lane * stride] = from[lane];
}

// Sectors of lanes that lie `step` bytes apart: all from the first to the last byte, until each
// lane has one for itself.
std::uint64_t sectors_of_stride(std::uint64_t first, std::uint64_t step, std::uint64_t bytes) {
  if (step > 32) return kWarp;
  return (first + (kWarp - 1) * step + bytes - 1) / 32 - first / 32 + 1;
}

void check_offsets(const xray::Offsets& offsets, unsigned mask, std::uint64_t first,
                   std::uint64_t step) {
  xray::Offsets expected;
  expected.fill(-1);
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((mask >> lane & 1) != 0) expected[lane] = static_cast<std::int64_t>(first + step * lane);
  }
  CHECK(offsets == expected);
}

// Of elements of `bytes` bytes, for every stride and offset. Compiled once for all types.
void check_strided(const std::vector<xray::Launch>& launches, std::size_t bytes,
                   Operation operation) {
  REQUIRE(launches.size() == kStrides.size() * kOffsets);
  std::size_t i = 0;
  for (const unsigned stride : kStrides) {
    for (unsigned offset = 0; offset < kOffsets; ++offset) {
      const xray::Launch& launch = launches[i++];
      INFO(bytes << " bytes, stride " << stride << ", offset " << offset);
      const std::uint64_t first = offset * bytes, step = stride * bytes;
      const xray::Counts c = launch.total(Space::kGlobal, operation);
      CHECK(c.requests == 1);
      CHECK(c.lanes == kWarp);
      CHECK(c.bytes == (stride == 0 ? 1 : kWarp) * bytes);
      CHECK(c.sectors == sectors_of_stride(first, step, bytes));
      CHECK(c.ideal_sectors == (stride == 0 ? 1 : bytes));
      CHECK(c.wavefronts == 0);
      CHECK(c.words == 0);
      CHECK(c.addresses == 0);
      REQUIRE(launch.accesses.size() == 2);  // the other one is `out`, side by side
      const auto access =
          std::find_if(launch.accesses.begin(), launch.accesses.end(),
                       [&](const xray::Access& a) { return a.operation == operation; });
      CHECK(access->bytes_per_lane == bytes);
      check_offsets(access->first, kAllLanes, first, step);
      check_offsets(access->worst, kAllLanes, first, step);
    }
  }
}

template <class T>
void check_strides(Operation operation) {
  const DeviceArray<T> x(kElements), out(kWarp);
  const std::vector<xray::Launch> launches = launches_of([&] {
    for (const unsigned stride : kStrides) {
      for (unsigned offset = 0; offset < kOffsets; ++offset) {
        if (operation == Operation::kLoad) {
          load_strided<<<1, kWarp>>>(x.get(), out.get(), kAllLanes, offset, stride);
        } else {
          store_strided<<<1, kWarp>>>(x.get(), out.get(), offset, stride);
        }
      }
    }
  });
  check_strided(launches, sizeof(T), operation);
}

}  // namespace

TEST_CASE("a strided load asks for every sector between its first and last byte, or one a lane") {
  check_strides<char>(Operation::kLoad);
  check_strides<short>(Operation::kLoad);
  check_strides<int>(Operation::kLoad);
  check_strides<int2>(Operation::kLoad);
  check_strides<double>(Operation::kLoad);
  check_strides<float4>(Operation::kLoad);
}

TEST_CASE("a strided store asks for the same sectors as the load") {
  check_strides<unsigned char>(Operation::kStore);
  check_strides<unsigned short>(Operation::kStore);
  check_strides<float>(Operation::kStore);
  check_strides<float2>(Operation::kStore);
  check_strides<long long>(Operation::kStore);
  check_strides<int4>(Operation::kStore);
}

namespace {

// One is returned in registers, the other in memory.
struct Eight {
  short values[8];
};
struct Sixteen {
  short values[16];
};

template <class T>
__device__ __attribute__((noinline)) T filled(unsigned value) {
  T result;
  for (short& v : result.values) v = static_cast<short>(value);
  return result;
}

template <class T>
__global__ void store_returned(T* out) {
  out[threadIdx.x] = filled<T>(threadIdx.x);
  __shared__ T kept[kWarp];
  kept[threadIdx.x] = filled<T>(threadIdx.x);
}

template <class T>
void check_store_of_returned() {
  const DeviceArray<T> out(kWarp);
  const xray::Launch launch = launch_of([&] { store_returned<<<1, kWarp>>>(out.get()); });
  CHECK(launch.total(Space::kGlobal, Operation::kStore).bytes == kWarp * sizeof(T));
  CHECK(launch.total(Space::kShared, Operation::kStore).bytes == kWarp * sizeof(T));
  CHECK(out.download()[kWarp - 1].values[7] == kWarp - 1);
}

}  // namespace

TEST_CASE("a structure that a function returns right into memory is stored like any other") {
  check_store_of_returned<Eight>();
  check_store_of_returned<Sixteen>();
}

TEST_CASE("only the active lanes of a request count") {
  constexpr unsigned kOffset = 5, kStride = 3;
  const DeviceArray<int> x(kElements), out(kWarp);
  const std::vector<unsigned> masks = masks_of_every_kind();
  const std::vector<xray::Launch> launches = launches_of([&] {
    for (const unsigned mask : masks) {
      load_strided<<<1, kWarp>>>(x.get(), out.get(), mask, kOffset, kStride);
    }
  });
  REQUIRE(launches.size() == masks.size());
  for (std::size_t i = 0; i < masks.size(); ++i) {
    INFO("mask " << std::hex << masks[i]);
    const auto where = [](unsigned lane) { return 4 * (kOffset + kStride * lane); };
    const auto store = [](unsigned lane) { return 4 * lane; };
    check_sectors(launches[i].total(Space::kGlobal, Operation::kLoad),
                  sum_of({touched(masks[i], 4, where)}));
    check_sectors(launches[i].total(Space::kGlobal, Operation::kStore),
                  sum_of({touched(masks[i], 4, store)}));
    for (const xray::Access& a : launches[i].accesses) {
      const bool load = a.operation == Operation::kLoad;
      check_offsets(a.first, masks[i], load ? 4 * kOffset : 0, load ? 4 * kStride : 4);
    }
  }
}

TEST_CASE("a warp whose lanes all stay out asks for nothing") {
  const DeviceArray<int> x(kElements), out(kWarp);
  const xray::Launch launch =
      launch_of([&] { load_strided<<<1, kWarp>>>(x.get(), out.get(), 0u, 0u, 1u); });
  CHECK(launch.accesses.empty());
  CHECK(launch.warps_counted == 1);
}

// ---- which threads make a warp ------------------------------------------------------------------

namespace {

__global__ void copy_guarded(const int* x, int* y, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

// Row-major: x runs fastest, over `pitch` elements a row.
__global__ void copy_rows(const int* m, int* out, unsigned pitch) {
  const unsigned row = threadIdx.z * blockDim.y + threadIdx.y;
  out[row * blockDim.x + threadIdx.x] = m[row * pitch + threadIdx.x];
}

}  // namespace

TEST_CASE("a block that is no multiple of 32 ends with a partial warp") {
  const std::vector<unsigned> blocks{1, 2, 31, 32, 33, 63, 64, 65, 100, 255, 256, 1000, 1024};
  const DeviceArray<int> x(1024), y(1024);
  const std::vector<xray::Launch> launches = launches_of([&] {
    for (const unsigned block : blocks) copy_guarded<<<1, block>>>(x.get(), y.get(), block);
  });
  REQUIRE(launches.size() == blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    INFO(blocks[i] << " threads");
    CHECK(launches[i].warps_counted == (blocks[i] + 31) / 32);
    check_sectors(launches[i].total(Space::kGlobal, Operation::kLoad), neighbours(blocks[i]));
    check_sectors(launches[i].total(Space::kGlobal, Operation::kStore), neighbours(blocks[i]));
  }
}

TEST_CASE("the warps of a block of two or three dimensions span its rows") {
  const std::vector<dim3> blocks{dim3(32, 4), dim3(8, 4),    dim3(16, 16),   dim3(33, 2),
                                 dim3(1, 64), dim3(5, 5, 5), dim3(3, 7, 11), dim3(31, 1, 3)};
  constexpr unsigned kPitch = 40;
  const DeviceArray<int> m(kPitch * 128), out(1024);
  const std::vector<xray::Launch> launches = launches_of([&] {
    for (const dim3& block : blocks) copy_rows<<<1, block>>>(m.get(), out.get(), kPitch);
  });
  REQUIRE(launches.size() == blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const dim3& block = blocks[i];
    INFO(block.x << " x " << block.y << " x " << block.z);
    std::vector<Touched> requests;
    for (unsigned t = 0; t < block.x * block.y * block.z; ++t) {
      if (t % kWarp == 0) requests.emplace_back();
      requests.back().at.push_back(4 * (t / block.x * kPitch + t % block.x));
    }
    check_sectors(launches[i].total(Space::kGlobal, Operation::kLoad), sum_of(requests));
  }
}

// ---- shared memory ------------------------------------------------------------------------------

namespace {

template <class T>
__global__ void load_shared(T* out, unsigned stride) {
  __shared__ T s[33 * kWarp];
  out[threadIdx.x] = s[threadIdx.x * stride];
}

// Wavefronts of lanes `stride` elements apart. Lanes of 4 bytes meet in a bank as the stride and
// the 32 banks have a common divisor; wider lanes are served by halves and quarters of the warp.
std::uint64_t wavefronts_of_stride(unsigned bytes, unsigned stride) {
  if (bytes < 4) {
    return touched(kAllLanes, bytes, [&](unsigned lane) { return bytes * stride * lane; })
        .conflict();
  }
  const unsigned parts = bytes / 4;
  // Every lane wants the same element: two parts are served at once.
  if (stride == 0) return parts > 1 ? parts / 2 : parts;
  return parts * std::gcd(stride, kWarp / parts);
}

// Launch k has lanes k elements of `bytes` bytes apart. Compiled once for all types.
void check_shared_strided(const std::vector<xray::Launch>& launches, std::size_t bytes) {
  for (unsigned stride = 0; stride < launches.size(); ++stride) {
    INFO(bytes << " bytes, stride " << stride);
    const xray::Counts c = launches[stride].total(Space::kShared, Operation::kLoad, "s");
    CHECK(c.requests == 1);
    CHECK(c.lanes == kWarp);
    CHECK(c.bytes == (stride == 0 ? 1 : kWarp) * bytes);
    CHECK(c.wavefronts == wavefronts_of_stride(static_cast<unsigned>(bytes), stride));
    const std::uint64_t words =
        touched(kAllLanes, static_cast<unsigned>(bytes), [&](unsigned lane) {
          return bytes * stride * lane;
        }).pieces(4);
    const std::uint64_t least = bytes == 16 ? 2 : 1;
    CHECK(c.ideal_wavefronts == std::max(least, (words + 31) / 32));
    CHECK(c.sectors == 0);
    CHECK(launches[stride].total(Space::kShared, Operation::kLoad, "no_such_array").requests == 0);
  }
}

template <class T>
void check_shared_strides() {
  constexpr unsigned kMost = 33;
  const DeviceArray<T> out(kWarp);
  const std::vector<xray::Launch> launches = launches_of([&] {
    for (unsigned stride = 0; stride <= kMost; ++stride) {
      load_shared<<<1, kWarp>>>(out.get(), stride);
    }
  });
  REQUIRE(launches.size() == kMost + 1);
  check_shared_strided(launches, sizeof(T));
}

}  // namespace

TEST_CASE("a strided load from shared memory takes a wavefront for each word of the fullest bank") {
  check_shared_strides<char>();
  check_shared_strides<short>();
  check_shared_strides<float>();
  check_shared_strides<int2>();
  check_shared_strides<float4>();
}

// ---- atomics ------------------------------------------------------------------------------------

namespace {

__global__ void add_global(int* x, unsigned distinct, unsigned stride) {
  atomicAdd(&x[threadIdx.x % distinct * stride], 1);
}

__global__ void add_shared(int* out, unsigned distinct, unsigned stride) {
  __shared__ int s[kWarp * kWarp];
  const int old = atomicAdd(&s[threadIdx.x % distinct * stride], static_cast<int>(threadIdx.x));
  out[threadIdx.x] = old;
}

// Calls every atomic function once, for types of different sizes.
__global__ void every_atomic(int* i, unsigned* u, unsigned long long* w, float* f, double* d,
                             unsigned short* h) {
  const unsigned t = threadIdx.x;
  atomicAdd(&i[t], 1);
  atomicSub(&i[t], 1);
  atomicExch(&i[t], 1);
  atomicMin(&i[t], 1);
  atomicMax(&i[t], 1);
  atomicAnd(&i[t], 1);
  atomicOr(&i[t], 1);
  atomicXor(&i[t], 1);
  atomicCAS(&i[t], 1, 2);
  atomicInc(&u[t], 7u);
  atomicDec(&u[t], 7u);
  atomicAdd_block(&u[t], 1u);
  atomicAdd_system(&u[t], 1u);
  atomicAdd(&w[t], 1ull);
  atomicMax(&w[t], 1ull);
  atomicCAS(&w[t], 1ull, 2ull);
  atomicAdd(&f[t], 1.0f);
  atomicExch(&f[t], 1.0f);
  atomicAdd(&d[t], 1.0);
  atomicCAS(&h[t], static_cast<unsigned short>(1), static_cast<unsigned short>(2));
}

// Lanes that update the same address wait for each other, those of different addresses in a sector
// do not: `lane % distinct` has its most lanes at the first address of each sector.
std::uint64_t turns_in_sectors(unsigned distinct, unsigned stride) {
  if (stride >= 8) return kWarp;  // each address is alone in its sector
  std::uint64_t turns = 0;
  for (unsigned first = 0; first < distinct; first += 8) {
    turns += (kWarp - first + distinct - 1) / distinct;
  }
  return turns;
}

}  // namespace

TEST_CASE("an atomic counts its distinct addresses, and the most lanes at one of them") {
  const DeviceArray<int> x(kWarp * kWarp), out(kWarp);
  for (const unsigned stride : {1u, 32u}) {
    const std::vector<xray::Launch> global = launches_of([&] {
      for (unsigned d = 1; d <= kWarp; ++d) add_global<<<1, kWarp>>>(x.get(), d, stride);
    });
    const std::vector<xray::Launch> shared = launches_of([&] {
      for (unsigned d = 1; d <= kWarp; ++d) add_shared<<<1, kWarp>>>(out.get(), d, stride);
    });
    REQUIRE(global.size() == kWarp);
    REQUIRE(shared.size() == kWarp);
    for (unsigned distinct = 1; distinct <= kWarp; ++distinct) {
      INFO(distinct << " addresses " << stride << " apart");
      const std::uint64_t crowd = (kWarp + distinct - 1) / distinct;
      const xray::Counts g = global[distinct - 1].total(Space::kGlobal, Operation::kAtomic);
      CHECK(g.requests == 1);
      CHECK(g.lanes == kWarp);
      CHECK(g.addresses == distinct);
      CHECK(g.collisions == crowd);
      CHECK(g.bytes == 4 * distinct);
      CHECK(g.sectors == turns_in_sectors(distinct, stride));
      CHECK(global[distinct - 1].accesses.size() == 1);  // no load, no store beside it

      const xray::Counts s = shared[distinct - 1].total(Space::kShared, Operation::kAtomic, "s");
      CHECK(s.requests == 1);
      CHECK(s.addresses == distinct);
      CHECK(s.collisions == crowd);
      // A pass for each lane of the fullest bank: 32 words apart, all lanes are in one.
      CHECK(s.wavefronts == (stride == 1 ? crowd : kWarp));
      CHECK(s.ideal_wavefronts == 1);
      CHECK(s.sectors == 0);
      CHECK(shared[distinct - 1].total(Space::kShared, Operation::kLoad).requests == 0);
      CHECK(shared[distinct - 1].total(Space::kShared, Operation::kStore).requests == 0);
    }
  }
}

TEST_CASE("every atomic function is one request of its type's size, and nothing else") {
  const DeviceArray<int> i(kWarp);
  const DeviceArray<unsigned> u(kWarp);
  const DeviceArray<unsigned long long> w(kWarp);
  const DeviceArray<float> f(kWarp);
  const DeviceArray<double> d(kWarp);
  const DeviceArray<unsigned short> h(kWarp);
  const xray::Launch launch = launch_of(
      [&] { every_atomic<<<1, kWarp>>>(i.get(), u.get(), w.get(), f.get(), d.get(), h.get()); });
  std::map<unsigned, int> of_size;
  std::set<int> lines;
  for (const xray::Access& a : launch.accesses) {
    INFO("line " << a.line);
    CHECK(a.operation == Operation::kAtomic);
    CHECK(a.counts.requests == 1);
    CHECK(a.counts.lanes == kWarp);
    CHECK(a.counts.addresses == kWarp);
    CHECK(a.counts.collisions == 1);
    ++of_size[a.bytes_per_lane];
    lines.insert(a.line);
  }
  CHECK(launch.accesses.size() == 20);
  CHECK(lines.size() == 20);
  CHECK(of_size == std::map<unsigned, int>{{2, 1}, {4, 15}, {8, 4}});
}

// ---- asynchronous copies ------------------------------------------------------------------------

namespace {

template <class T>
__global__ void copy_by_pipeline(const T* x, T* y) {
  __shared__ T tile[kWarp];
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(T));  // line: copy
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[threadIdx.x] = tile[threadIdx.x];
}

template <class T>
void check_copies() {
  const DeviceArray<T> x(kWarp), y(kWarp);
  const xray::Launch launch = launch_of([&] { copy_by_pipeline<<<1, kWarp>>>(x.get(), y.get()); });
  INFO(sizeof(T) << " bytes");
  const xray::Counts stored = launch.total(Space::kShared, Operation::kStore);
  CHECK(stored.requests == 1);
  CHECK(stored.lanes == kWarp);
  CHECK(stored.bytes == kWarp * sizeof(T));
  CHECK(stored.wavefronts == kWarp * sizeof(T) / 128);
  CHECK(launch.total_of_line(line_of(__FILE__, "copy")).requests == 2);
}

}  // namespace

TEST_CASE("an asynchronous copy is a load of global and a store of shared memory") {
  check_copies<int>();
  check_copies<int2>();
  check_copies<int4>();
}

// ---- loads of matrices --------------------------------------------------------------------------

namespace {

template <bool kTransposed>
__global__ void load_rows(unsigned* y, unsigned apart) {
  __shared__ alignas(128) unsigned rows[8 * 4 * kWarp];
  const unsigned* const row = rows + threadIdx.x * apart * 4;
  unsigned r[4];
  if (kTransposed) {
    ptx::load_matrices_transposed(r, row);  // line: transposed
  } else {
    ptx::load_matrices(r, row);  // line: as they lie
  }
  y[threadIdx.x] = r[0] + r[3];
}

__global__ void store_rows(unsigned apart) {
  __shared__ alignas(128) unsigned rows[8 * 4 * kWarp];
  const unsigned r[4] = {};
  ptx::store_matrices_transposed(rows + threadIdx.x * apart * 4, r);  // line: stored
}

}  // namespace

TEST_CASE(
    "a store of matrices is a shared store; of each eight rows some may be in the same banks") {
  const std::pair<unsigned, unsigned> known[] = {{1, 1}, {2, 2}, {8, 8}, {3, 1}};
  for (const auto& [apart, wavefronts] : known) {
    INFO(16 * apart << " bytes from row to row");
    const xray::Launch launch = launch_of([apart = apart] { store_rows<<<1, kWarp>>>(apart); });
    CHECK(launch.accesses.size() == 1);
    CHECK(launch.total(xray::Space::kShared, xray::Operation::kStore).requests == 1);
    const xray::Counts stored = launch.total_of_line(line_of(__FILE__, "stored"));
    CHECK(stored.bytes == kWarp * 16);
    CHECK(stored.wavefronts == 4 * wavefronts);
  }
}

TEST_CASE("a load of matrices is a shared load; of each eight rows some may be in the same banks") {
  const DeviceArray<unsigned> y(kWarp);
  const std::pair<unsigned, unsigned> known[] = {{1, 1}, {2, 2}, {4, 4}, {8, 8}, {3, 1}, {5, 1}};
  for (const auto& [apart, wavefronts] : known) {
    for (const bool transposed : {false, true}) {
      INFO(16 * apart << " bytes from row to row, " << (transposed ? "transposed" : "as they lie"));
      const xray::Launch launch = launch_of([&, apart = apart] {
        if (transposed) {
          load_rows<true><<<1, kWarp>>>(y.get(), apart);
        } else {
          load_rows<false><<<1, kWarp>>>(y.get(), apart);
        }
      });
      CHECK(launch.accesses.size() == 2);  // and the store of y
      const xray::Counts loaded =
          launch.total_of_line(line_of(__FILE__, transposed ? "transposed" : "as they lie"));
      CHECK(loaded.requests == 1);
      CHECK(loaded.lanes == kWarp);
      CHECK(loaded.bytes == kWarp * 16);
      CHECK(loaded.wavefronts == 4 * wavefronts);
      CHECK_FALSE(launch.has_others_copy);
    }
  }
}

namespace {

__global__ void copy_in_bulk(const __grid_constant__ CUtensorMap map, unsigned* y) {
  __shared__ alignas(1024) __nv_bfloat16 tile[8][64];
  __shared__ std::uint64_t full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_fence_init();
    ptx::mbarrier_expect(&full, sizeof(tile));
    ptx::copy_tile(tile, &map, 0, 0, &full);
  }
  __syncthreads();
  ptx::mbarrier_wait(&full, 0);
  y[threadIdx.x] = threadIdx.x;
}

__global__ void store_one(int* x) { *x = 1; }

}  // namespace

TEST_CASE("a launch that makes a single request is listed last, the others as they come") {
  const DeviceArray<int> x(2 * kWarp);
  x.poison();
  const std::string listing = listing_of([&] {
    store_one<<<1, 1>>>(x.get());
    copy_guarded<<<1, kWarp>>>(x.get(), x.get() + kWarp, kWarp);
    add_global<<<2, kWarp>>>(x.get(), 1, 1);
  });
  const std::size_t all = listing.find("in all, of the blocks counted");
  for (const std::size_t from : {std::size_t{0}, all}) {
    CHECK(listing.find("copy_guarded<<<", from) < listing.find("add_global<<<", from));
    CHECK(listing.find("add_global<<<", from) < listing.find("store_one<<<", from));
  }
  CHECK(listing.find("store_one<<<", all) != std::string::npos);
}

TEST_CASE("a bulk copy is not counted, and the listing says so") {
  const DeviceArray<__nv_bfloat16> x(8 * 64);
  const DeviceArray<unsigned> y(kWarp);
  x.poison();
  const CUtensorMap map = ptx::tile_map(x, 8, 64, 64, 8, 64, ptx::Swizzle::k128Bytes);
  const auto launches = launches_of([&] { copy_in_bulk<<<1, kWarp>>>(map, y.get()); });
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].has_others_copy);
  CHECK(launches[0].accesses.size() == 1);
  CHECK(xray::listing_of(launches, false).find("not counted: bulk copies") != std::string::npos);
}

namespace {
__global__ void turn_in_static_array(int* y) {
  static __device__ int inside[kWarp];
  inside[threadIdx.x] = y[threadIdx.x];
  __syncwarp();
  y[threadIdx.x] = inside[kWarp - 1 - threadIdx.x];
}
}  // namespace

TEST_CASE("a static array of a kernel is global memory") {
  const DeviceArray<int> y(kWarp);
  const auto launches = launches_of([&] { turn_in_static_array<<<1, kWarp>>>(y.get()); });
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].total(Space::kGlobal, Operation::kLoad).requests == 2);
  CHECK(launches[0].total(Space::kGlobal, Operation::kStore).sectors == 8);
}
