// SPDX-License-Identifier: MIT
// Tests what labs learn of the copies and launches of a learner's host code, of a kernel's
// asynchronous copies, and what they say of a speed.
#include <cuda_pipeline.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "../../common/labs/counts.cuh"
#include "../../common/labs/speed.cuh"
#include "xray_testing.cuh"

// channel.cpp has it, and is linked to the checks of labs.
void lab::tell(const std::string&, const std::string& value) { CHECK(!value.empty()); }

namespace {

constexpr std::size_t kElements = 100, kBytes = kElements * sizeof(int);

__device__ int device_variable[2 * kElements];

__global__ void add_one(int* x, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) ++x[i];
}

// The copies that `call` makes, as a check asks for them: beside the counts of a launch.
template <class... Arrays>
lab::Copied copies_of(const std::function<void()>& call, const Arrays&... arrays) {
  const lab::Array<int> d_other(std::vector<int>(kElements, 1));
  lab::Copied copied;
  bool judged = false;
  lab::count(
      [&] {
        copied = lab::copied_by(
            [&] {
              add_one<<<2, 64>>>(d_other.get(), kElements);
              call();
            },
            arrays...);
      },
      [] {},
      [&](const auto& seen) {
        CHECK(seen.loads().lanes == kElements);
        judged = true;
      });
  CHECK(judged);
  return copied;
}

void check_copied(const lab::Copied& copied, std::uint64_t to_device, std::uint64_t to_host,
                  std::uint64_t of_arrays = 0) {
  CHECK(copied.to_device == to_device);
  CHECK(copied.to_host == to_host);
  CHECK(copied.of_arrays == of_arrays);
}

template <class Judge>
bool is_wrong(Judge judge) {
  try {
    judge();
  } catch (const lab::Wrong& wrong) {
    return wrong.counted;
  }
  return false;
}

}  // namespace

// ---- copied_by ----------------------------------------------------------------------------------

TEST_CASE("copies between host and device are told by their direction, however they are made") {
  const lab::Array<int> d_x(kElements), d_y(kElements);
  std::vector<int> host(kElements, 1);
  int* const x = d_x.get();
  check_copied(copies_of([] {}), 0, 0);
  check_copied(copies_of([&] { cudaMemcpy(x, host.data(), kBytes, cudaMemcpyHostToDevice); }),
               kBytes, 0);
  check_copied(copies_of([&] { cudaMemcpy(host.data(), x, kBytes, cudaMemcpyDefault); }), 0,
               kBytes);
  check_copied(copies_of([&] { cudaMemcpyAsync(x, host.data(), 40, cudaMemcpyHostToDevice); }), 40,
               0);
  check_copied(copies_of([&] { cudaMemcpyToSymbol(device_variable, host.data(), 8); }), 8, 0);
  check_copied(copies_of([&] { cudaMemcpyFromSymbol(host.data(), device_variable, 12, 4); }), 0,
               12);
  check_copied(copies_of([&] {
                 for (int k = 0; k < 3; ++k) cudaMemcpy(x, host.data(), 4, cudaMemcpyDefault);
                 cudaMemcpy(host.data(), x, 8, cudaMemcpyDefault);
               }),
               12, 8);
}

TEST_CASE("pinned memory is the host's; a fill, and a copy on either side, is between none") {
  const lab::Array<int> d_x(kElements), d_y(kElements);
  std::vector<int> host(kElements, 1), other(kElements);
  int* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, kBytes) == cudaSuccess);
  check_copied(copies_of([&] {
                 cudaMemcpy(pinned, d_x.get(), kBytes, cudaMemcpyDefault);
                 cudaMemset(d_x.get(), 0, kBytes);
               }),
               0, kBytes);
  check_copied(copies_of([&] {
                 cudaMemset(d_x.get(), 0, kBytes);
                 cudaMemset(d_y.get(), 0, kBytes);
                 cudaMemcpy(d_x.get(), d_y.get(), kBytes, cudaMemcpyDefault);
                 cudaMemcpy(pinned, host.data(), kBytes, cudaMemcpyDefault);
                 cudaMemcpy(other.data(), host.data(), kBytes, cudaMemcpyHostToHost);
               }),
               0, 0);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("copies from and to arrays that were asked about are told, by the part that was copied") {
  const lab::Array<int> d_x(kElements), d_y(kElements), d_z(kElements);
  std::vector<int> host(kElements, 1);
  check_copied(
      copies_of([&] { cudaMemcpy(d_x.get() + 9, host.data(), 40, cudaMemcpyDefault); }, d_x), 40, 0,
      40);
  check_copied(copies_of([&] { cudaMemcpy(d_x.get(), host.data(), 40, cudaMemcpyDefault); }, d_y),
               40, 0, 0);
  check_copied(
      copies_of([&] { cudaMemcpy(host.data(), d_y.get(), 8, cudaMemcpyDefault); }, d_x, d_y), 0, 8,
      8);
  check_copied(copies_of([&] { cudaMemcpy(d_z.get(), d_x.get(), 8, cudaMemcpyDefault); }, d_x), 0,
               0, 8);
  check_copied(copies_of([&] { cudaMemset(d_x.get(), 0, kBytes); }, d_x), 0, 0, 0);
  int* managed = nullptr;  // memory that the host may read without a copy
  REQUIRE(cudaMallocManaged(&managed, kBytes) == cudaSuccess);
  CHECK(copies_of([&] { cudaMemcpy(managed, d_x.get(), 24, cudaMemcpyDefault); }, d_x).of_arrays ==
        24);
  CHECK(cudaFree(managed) == cudaSuccess);
}

TEST_CASE("the room is that of the largest memory that was copied to, not of the copy") {
  const lab::Array<int> d_x(kElements), d_y(2 * kElements);
  std::vector<int> host(kElements, 1);
  CHECK(copies_of([] {}).room == 0);
  CHECK(copies_of([&] { cudaMemcpy(d_x.get(), host.data(), 4, cudaMemcpyDefault); }).room ==
        kBytes);
  CHECK(copies_of([&] {
          cudaMemcpy(d_y.get(), host.data(), 4, cudaMemcpyDefault);
          cudaMemcpy(d_x.get(), host.data(), kBytes, cudaMemcpyDefault);
          cudaMemcpyToSymbol(device_variable, host.data(), 4);
        }).room == 2 * kBytes);
}

TEST_CASE("copied_by looks at its call only, and tells nothing where nobody counts") {
  const lab::Array<int> d_x(kElements);
  std::vector<int> host(kElements, 1);
  const auto copy = [&] { cudaMemcpy(d_x.get(), host.data(), kBytes, cudaMemcpyDefault); };
  check_copied(lab::copied_by(copy, d_x), 0, 0);
  lab::Copied copied;
  lab::count(
      [&] {
        copy();
        copied = lab::copied_by([&] { add_one<<<1, 32>>>(d_x.get(), 32); }, d_x);
        copy();
      },
      [] {}, [](const auto& seen) { CHECK(seen.stores().lanes == 32); });
  check_copied(copied, 0, 0);
}

// ---- watch_copies -------------------------------------------------------------------------------

TEST_CASE("watch_copies tells what was written and read in a range, and how often") {
  const lab::Array<int> d_x(kElements), d_y(kElements);
  std::vector<int> host(kElements, 1);
  int compared = 0;
  bool judged = false;
  lab::watch_copies(
      [&] {
        cudaMemset(d_x.get(), 0, kBytes);
        cudaMemcpy(d_x.get(), host.data(), 40, cudaMemcpyHostToDevice);
        cudaMemcpy(d_y.get(), d_x.get() + 5, 80, cudaMemcpyDeviceToDevice);
        for (int k = 0; k < 3; ++k) add_one<<<1, 32>>>(d_y.get(), 20);
      },
      [&] { ++compared; },
      [&](const auto& made) {
        judged = true;
        CHECK(compared == 1);  // before what was made
        CHECK(made.launches == 3);
        CHECK(made.written(d_x.get(), kBytes).times == 2);
        CHECK(made.written(d_x.get(), kBytes).bytes == kBytes + 40);
        CHECK(made.written(d_x.get() + 8, 8).bytes == 8 + 8);
        CHECK(made.written(d_x.get() + 10, 8).times == 1);
        CHECK(made.read(d_x.get(), kBytes).times == 1);
        CHECK(made.read(d_x.get(), 24).bytes == 4);
        CHECK(made.read(d_x.get(), 20).times == 0);
        CHECK(made.read(host.data(), kBytes).bytes == 40);
        CHECK(made.written(d_y.get(), kBytes).bytes == 80);
        CHECK(made.copied().to_device == 40);
      });
  CHECK(judged);
  CHECK(compared == 1);
}

TEST_CASE(
    "watch_copies knows nothing from before, and watches no longer after a call that throws") {
  const lab::Array<int> d_x(kElements);
  std::vector<int> host(kElements, 1);
  const auto copy = [&] { cudaMemcpy(d_x.get(), host.data(), kBytes, cudaMemcpyDefault); };
  const auto throws = [&] {
    copy();
    throw lab::Wrong{};
  };
  const auto nobody = [](const auto&) { FAIL("judged what threw"); };
  CHECK_THROWS_AS(lab::watch_copies(
                      throws, [] {}, nobody),
                  lab::Wrong);
  copy();
  add_one<<<1, 32>>>(d_x.get(), 32);  // waits in its stream
  bool judged = false;
  lab::watch_copies([] {}, [] {},
                    [&](const auto& made) {
                      judged = true;
                      CHECK(made.launches == 0);
                      CHECK(made.written(d_x.get(), kBytes).times == 0);
                    });
  CHECK(judged);
}

// ---- counts and bounds --------------------------------------------------------------------------

TEST_CASE("the first block's counts are its own") {
  const lab::Array<int> d_x(std::vector<int>(kElements, 1));
  bool judged = false;
  lab::count_first_block([&] { add_one<<<2, 64>>>(d_x.get(), kElements); },
                         [&](const auto& seen) {
                           judged = true;
                           CHECK(seen.loads().lanes == 64);
                           CHECK(seen.loads_of_busiest_warp(sizeof(int)) == 32);
                           CHECK(seen.stores_of_busiest_warp(sizeof(int)) == 32);
                         });
  CHECK(judged);
}

TEST_CASE("some blocks are counted, from the first to the last") {
  constexpr std::size_t kMany = 100 * 64;
  const lab::Array<int> d_x(std::vector<int>(kMany, 1));
  bool compared = false, judged = false;
  lab::count_some_blocks(
      4, [&] { add_one<<<100, 64>>>(d_x.get(), kMany - 60); },
      [&] {
        compared = true;
        std::vector<int> expected(kMany, 2);
        std::fill(expected.end() - 60, expected.end(), 1);
        CHECK(d_x.download() == expected);  // all blocks have run
      },
      [&](const auto& seen) {
        judged = true;
        CHECK(seen.blocks == 100);
        CHECK(seen.blocks_counted == 4);
        CHECK(seen.loads().lanes == 3 * 64 + 4);
        CHECK(seen.bytes_loaded_by_busiest_thread() == sizeof(int));
        CHECK(seen.bytes_stored_by_busiest_thread() == sizeof(int));
        CHECK(seen.exchanges_of_busiest_thread == 0);
      });
  CHECK(compared);
  CHECK(judged);
}

// Block 1 passes a barrier more, and one of its threads adds for all.
__global__ void add_one_or_all(int* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x != 1) {
    ++x[i];
    return;
  }
  __syncthreads();
  for (unsigned k = 0; threadIdx.x == 0 && k < blockDim.x; ++k) ++x[i + k];
  if (threadIdx.x < 32) (void)__any_sync(~0u, 1);
}

TEST_CASE("a block that is not counted is seen where a thread works for it, waits or votes") {
  constexpr std::size_t kMany = 100 * 64;
  const lab::Array<int> d_x(std::vector<int>(kMany, 1));
  bool judged = false;
  const auto count = [&](bool evades) {
    lab::count_some_blocks(
        4,
        [&] {
          if (!evades) return add_one<<<100, 64>>>(d_x.get(), kMany);
          add_one_or_all<<<100, 64>>>(d_x.get());
        },
        [] {},
        [&](const auto& seen) {
          judged = true;
          CHECK(seen.blocks_counted == 4);
          CHECK(seen.bytes_loaded_by_busiest_thread() == sizeof(int));
          CHECK(seen.accesses_of_busiest_thread >= 2);  // besides those to the launch's arguments
          CHECK(seen.accesses_of_busiest_thread <= 6);
          if (evades) {
            CHECK(seen.accesses_elsewhere >= 2 * 64);
          } else {
            CHECK(seen.accesses_elsewhere == seen.accesses_of_busiest_thread);
          }
          CHECK(seen.barriers == 0);
          CHECK(seen.barriers_of_busiest_block == (evades ? 1 : 0));
          CHECK(seen.exchanges_of_busiest_thread == (evades ? 1 : 0));
        });
  };
  count(false);
  CHECK(judged);
  judged = false;
  CHECK_THROWS_AS(count(true), lab::Wrong);
  CHECK(judged);
}

TEST_CASE("a device that refuses launches runs none, and afterwards it runs them again") {
  const lab::Array<int> d_x(std::vector<int>(32, 1));
  const auto launch = [&] { add_one<<<1, 32>>>(d_x.get(), 32); };
  bool attempted = false;
  lab::where_launches_are_refused([&] {
    attempted = true;
    launch();
    CHECK(cudaGetLastError() == cudaErrorLaunchOutOfResources);
  });
  CHECK(attempted);
  CHECK(d_x.download() == std::vector<int>(32, 1));
  launch();
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(d_x.download() == std::vector<int>(32, 2));
}

TEST_CASE("a count outside of its bounds ends the trial, as a count and not as a wrong result") {
  CHECK_FALSE(is_wrong([] { lab::exactly("loads", 3, 3); }));
  CHECK(is_wrong([] { lab::exactly("loads", 2, 3); }));
  CHECK(is_wrong([] { lab::exactly("loads", 4, 3); }));
  CHECK_FALSE(is_wrong([] { lab::at_most("loads", 0, 3); }));
  CHECK(is_wrong([] { lab::at_most("loads", 4, 3); }));
  CHECK_FALSE(is_wrong([] { lab::between("loads", 2, 2, 3); }));
  CHECK(is_wrong([] { lab::between("loads", 1, 2, 3); }));
  const lab::Array<int> d_x(kElements);
  const auto two = [&] {
    add_one<<<1, 32>>>(d_x.get(), 1);
    add_one<<<1, 32>>>(d_x.get(), 2);
  };
  CHECK(is_wrong([&] {
    lab::count(
        two, [] {}, [](const auto&) {});
  }));
  CHECK(is_wrong([&] { lab::count([] {}, [] {}, [](const auto&) {}); }));
}

TEST_CASE("a check knows what the last copy to the host brought") {
  const lab::Array<int> d_x(std::vector<int>{7, 8, 9});
  const lab::Copied copied = copies_of([&] {
    int host[3] = {};
    CUDA_CHECK(cudaMemcpy(host, d_x.get(), sizeof host, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(host, d_x.get() + 1, sizeof *host, cudaMemcpyDeviceToHost));
  });
  CHECK(copied.brought(8));
  CHECK_FALSE(copied.brought(7));
  CHECK_FALSE(copied.brought(8LL));
  CHECK_FALSE(copies_of([] {}).brought(8));
}

TEST_CASE("a speed is judged by its share of what the device reaches") {
  const lab::SpeedGoal goal{40, {"what a plain read reaches", 4000}, 0.5, "GB/s"};
  CHECK_NOTHROW(lab::judge_speed(0.3, goal));
  CHECK_NOTHROW(lab::judge_speed(0.3125, goal));  // 1600 GB/s, 40 %
  for (const double ms : {0.32, 5000.0, std::nan("")}) {
    CAPTURE(ms);
    CHECK_THROWS_AS(lab::judge_speed(ms, goal), lab::Wrong);
  }
  try {
    lab::judge_speed(0.5, goal);
  } catch (const lab::Wrong& wrong) {
    CHECK(wrong.expected == "at least 40 % of what a plain read reaches");
    CHECK(wrong.actual == "1000 GB/s, 25.0 % of what a plain read reaches (4000 GB/s)");
  }
  CHECK_NOTHROW(lab::judge_speed(5000, {40, {"the peak", 0}, 0.5, "GFLOP/s"}));
}

namespace {

// Each thread copies `turns` elements, one in each batch, `ahead` of its wait.
__global__ void copy_ahead(const int* x, unsigned turns, unsigned ahead, int* out) {
  __shared__ int slots[8 * kWarp];
  const unsigned t = threadIdx.x;
  for (unsigned k = 0; k < turns + ahead; ++k) {
    if (k < turns) __pipeline_memcpy_async(&slots[k * kWarp + t], &x[k * kWarp + t], sizeof(int));
    __pipeline_commit();
    if (k < ahead) continue;
    __pipeline_wait_prior(ahead);
    out[t] = slots[(k - ahead) * kWarp + t];
  }
}

}  // namespace

TEST_CASE("copies that are waited for when none of their thread's later ones is under way") {
  const lab::Array<int> x(std::vector<int>(8 * kWarp, 1)), out(kWarp);
  const auto last_copies = [&](unsigned turns, unsigned ahead) {
    std::uint64_t count = 0;
    lab::count(
        [&] {
          count = lab::last_copies_waited_for(
              [&] { copy_ahead<<<1, kWarp>>>(x.get(), turns, ahead, out.get()); });
        },
        [] {}, [](const auto&) {});
    return count;
  };
  CHECK(last_copies(8, 0) == 8 * kWarp);  // each as soon as it has begun
  CHECK(last_copies(8, 1) == kWarp);
  CHECK(last_copies(8, 3) == kWarp);
}

TEST_CASE("a device may say that it has more multiprocessors, for a while") {
  const auto multiprocessors = [] {
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    const int attribute = device_attribute(cudaDevAttrMultiProcessorCount, 0);
    CHECK(properties.multiProcessorCount == attribute);
    return attribute;
  };
  const int there_are = multiprocessors();
  lab::on_a_device_of(300, [&] { CHECK(multiprocessors() == 300); });
  CHECK(multiprocessors() == there_are);
}
