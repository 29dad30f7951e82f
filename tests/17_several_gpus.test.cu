// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/17_several_gpus/several_gpus.cu"
#undef main

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_testing.cuh"

// Apart from the program, whose names they have, too.
#define main experiment_main
namespace links {
#include "../chapters/17_several_gpus/experiments/links.cu"
}
namespace ranked {
#include "../chapters/17_several_gpus/experiments/collectives.cu"
namespace processes {
#include "../chapters/17_several_gpus/experiments/one_process_each.cu"
}
}  // namespace ranked
#undef main

namespace {

std::vector<int> first_devices(int count) {
  std::vector<int> devices(static_cast<std::size_t>(count));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

int devices_here() {
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  return count;
}

// Calls check(ranks) with one device, two, and four, as far as they are there.
template <class Check>
void with_devices(int least, Check check) {
  for (const int count : {1, 2, 4}) {
    if (count < least || count > devices_here()) continue;
    INFO(count << " devices");
    Ranks ranks(first_devices(count));
    ranks.connect();
    enable_peers(first_devices(count));
    check(ranks);
  }
}

// Runs it where poison was, several times in a row.
template <class Work, class Run>
void run_again_and_again(const Ranks& ranks, const Work& work, Run run) {
  work.poison();
  ms_of(ranks, static_cast<std::size_t>(repeats(3)), work, run);
}

// The checks of a table, one of each row.
std::vector<std::string> checks_of(const std::vector<std::string>& lines) {
  std::vector<std::string> checks;
  for (std::size_t i = 1; i < lines.size(); ++i) checks.push_back(fields_of(lines[i]).at(17));
  return checks;
}

}  // namespace

TEST_CASE("shares are next to each other, as long as each other, and the longer ones are first") {
  for (std::size_t ranks = 1; ranks <= 5; ++ranks) {
    for (std::size_t n = 0; n <= 21; ++n) {
      INFO(n << " elements, " << ranks << " ranks");
      std::size_t end = 0, last = n;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const Share mine = share_of(n, rank, ranks);
        CHECK(mine.first == end);
        CHECK(mine.count <= last);
        CHECK((mine.count == n / ranks || mine.count == n / ranks + 1));
        end = mine.first + mine.count;
        last = mine.count;
      }
      CHECK(end == n);
    }
  }
}

TEST_CASE("all ranks get the sum of all elements, whatever is left for the last ranks") {
  with_devices(1, [](const Ranks& ranks) {
    for (const std::size_t n : sizes_to_test()) {
      INFO("n = " << n);
      const SumOfSquares sum(ranks, n, 17);
      run_again_and_again(ranks, sum, &SumOfSquares::sum_all);
      CHECK(sum.all_are_right());
      run_again_and_again(ranks, sum, &SumOfSquares::sum_of_rank);
      CHECK(sum.all_are_right());
      sum.poison();
      ranks.wait();
      CHECK(!sum.all_are_right());
      CHECK(!sum.one_is_right());
      if (ranks.size() > 1) continue;
      run_again_and_again(ranks, sum, &SumOfSquares::sum_parts);
      CHECK(sum.one_is_right());
    }
  });
}

TEST_CASE("what is to be summed is what the seed says, in one array") {
  const Ranks one(first_devices(1));
  for (const std::size_t n : {1, 2, 1000}) {
    const SumOfSquares sum(one, n, 5);
    CHECK(sum.expected() == static_cast<Sum>(sum_of_squares(random_ints(n, 0, 9, 5))));
  }
}

TEST_CASE("the product is right in every element, for any shape") {
  struct Shape {
    std::size_t m, n, k;
  };
  with_devices(1, [](const Ranks& ranks) {
    for (const Shape& s : {Shape{1, 1, 1}, Shape{3, 5, 7}, Shape{2, 129, 17}, Shape{130, 3, 33},
                           Shape{5, 131, 0}, Shape{0, 4, 4}, Shape{257, 9, 16}}) {
      INFO(s.m << " x " << s.n << " x " << s.k);
      const Product product(ranks, s.m, s.n, s.k, 3);
      run_again_and_again(ranks, product, &Product::multiply_all);
      CHECK(product.is_right());
      std::vector<float> a(s.m * s.k), b(s.k * s.n), c;
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(random_int(-2, 2, 3, i));
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(random_int(-2, 2, 4, i));
      ranks.each([&](const Rank& rank) {
        const std::vector<float> rows = product.rows_of(rank).download();
        c.insert(c.end(), rows.begin(), rows.end());
      });
      CHECK(
          all_close("c", c, multiply_on_host(a, b, s.m, s.n, s.k), [](std::size_t) { return 0; }));
      product.poison();
      CHECK(product.is_right() == (s.m * s.n == 0));
    }
  });
}

TEST_CASE("the product's check rejects one wrong element, NaN, and what is no whole number") {
  with_devices(1, [](const Ranks& ranks) {
    const Product product(ranks, 5, 6, 7, 3);
    product.multiply_all();
    REQUIRE(product.is_right());
    ranks.each([&](const Rank& rank) {
      const DeviceArray<float>& c = product.rows_of(rank);
      const std::vector<float> right = c.download();
      for (const std::size_t at : {std::size_t{0}, right.size() - 1}) {
        for (const float wrong : {right[at] + 1, NAN, right[at] + 0.5f, 0x1p40f, -INFINITY}) {
          CUDA_CHECK(cudaMemcpy(c + at, &wrong, sizeof wrong, cudaMemcpyHostToDevice));
          CHECK(!product.is_right());
          CUDA_CHECK(cudaSetDevice(rank.device));
        }
        CUDA_CHECK(cudaMemcpy(c + at, &right[at], sizeof(float), cudaMemcpyHostToDevice));
      }
      // Two elements of a row that have changed places.
      const auto other =
          std::find_if(right.begin(), right.end(), [&](float v) { return v != right[0]; });
      REQUIRE(other < right.begin() + 6);
      std::vector<float> swapped = right;
      std::swap(swapped[0], swapped[static_cast<std::size_t>(other - right.begin())]);
      CUDA_CHECK(cudaMemcpy(c, swapped.data(), c.bytes(), cudaMemcpyHostToDevice));
      CHECK(!product.is_right());
      CUDA_CHECK(cudaSetDevice(rank.device));
      CUDA_CHECK(cudaMemcpy(c, right.data(), c.bytes(), cudaMemcpyHostToDevice));
    });
    CHECK(product.is_right());
  });
}

TEST_CASE("the stencil is right in every element, with halos before the work and beside it") {
  with_devices(1, [](const Ranks& ranks) {
    for (const std::size_t cells : {0, 1, 2, 3, 4, 5, 7, 8, 9, 33, 1025}) {
      for (const std::size_t steps : {1, 2, 5}) {
        INFO(cells << " cells, " << steps << " steps");
        const Stencil stencil(ranks, cells, steps, 9);
        run_again_and_again(ranks, stencil, &Stencil::run_in_turn);
        CHECK(stencil.is_right());
        run_again_and_again(ranks, stencil, &Stencil::run_overlapped);
        CHECK(stencil.is_right());
        run_again_and_again(ranks, stencil, &Stencil::run_rank);
        CHECK(stencil.is_right());
        stencil.poison();
        CHECK(stencil.is_right() == (cells == 0));
        if (ranks.size() > 1) continue;
        run_again_and_again(ranks, stencil, &Stencil::run_parts);
        CHECK(stencil.is_right());
      }
    }
  });
}

TEST_CASE("halos come from the neighbours that have elements") {
  with_devices(2, [](const Ranks& ranks) {
    for (const std::size_t cells : {0, 1, 2, 3, 4, 1000}) {
      INFO(cells << " cells");
      const Stencil stencil(ranks, cells, 3, 9);
      CHECK(stencil.halos_are_right() == (cells < 2));
      run_again_and_again(ranks, stencil, &Stencil::only_exchange);
      CHECK(stencil.halos_are_right());
    }
  });
}

TEST_CASE("an error in one halo spreads, and the check sees it") {
  with_devices(2, [](const Ranks& ranks) {
    const Stencil stencil(ranks, 40, 3, 9);
    run_again_and_again(ranks, stencil, &Stencil::run_parts);  // with what poison left in the halos
    CHECK(!stencil.is_right());
  });
}

TEST_CASE("copies arrive whole, by the host and by the link") {
  with_devices(2, [](const Ranks& ranks) {
    for (const std::size_t bytes : {1, 3, 4096, 70001}) {
      INFO(bytes << " bytes");
      const Copy copy(ranks, bytes, 2);
      for (void (Copy::*const way)() const : {&Copy::staged, &Copy::direct}) {
        run_again_and_again(ranks, copy, way);
        CHECK(copy.is_right());
        copy.poison();
        CHECK(!copy.is_right());
      }
    }
  });
}

TEST_CASE("every row of the program is there and right, with one device and with all") {
  const std::vector<std::string> small = {"--n",     "1003", "--side",    "9", "--cells", "30",
                                          "--bytes", "100",  "--samples", "1", "--steps", "2"};
  for (int devices = 1; devices <= devices_here(); ++devices) {
    std::vector<std::string> options = small;
    options.insert(options.end(), {"--devices", text(devices)});
    const std::vector<std::string> checks = checks_of(lines_of_csv(chapter_main, options));
    CHECK(checks == std::vector<std::string>(devices == 1 ? 3 : 12, "ok"));
  }
}

TEST_CASE("every row of the experiments is there and right") {
  const auto checks =
      checks_of(lines_of_csv(ranked::experiment_main, {"--bytes", "4Ki", "--samples", "1"}));
  CHECK(checks == std::vector<std::string>(12, "ok"));
  if (devices_here() == 1) return;
  const auto ways =
      checks_of(lines_of_csv(links::experiment_main, {"--bytes", "16Ki", "--samples", "1"}));
  CHECK(ways == std::vector<std::string>(12, "ok"));
}

TEST_CASE("what a rank gets is compared element by element") {
  const DeviceArray<float> x(100);
  const DeviceArray<unsigned> wrong(1);
  ranked::give(x, 100, 2);
  CHECK(ranked::has_got(ranked::Got::kOfPrevious, x, 100, 3, 4, wrong));
  CHECK(!ranked::has_got(ranked::Got::kOfPrevious, x, 100, 0, 4, wrong));
  CHECK(!ranked::has_got(ranked::Got::kOfFirst, x, 100, 3, 4, wrong));
  CHECK(!ranked::has_got(ranked::Got::kSumOfAll, x, 100, 0, 3, wrong));
  ranked::give(x, 100, 0);
  CHECK(ranked::has_got(ranked::Got::kOfPrevious, x, 100, 1, 2, wrong));
  CHECK(ranked::has_got(ranked::Got::kOfPrevious, x, 100, 0, 1, wrong));
  CHECK(ranked::has_got(ranked::Got::kOfFirst, x, 100, 3, 4, wrong));
  CHECK(ranked::has_got(ranked::Got::kSumOfAll, x, 100, 0, 1, wrong));
  const float nan = NAN;
  CUDA_CHECK(cudaMemcpy(x + 99, &nan, sizeof nan, cudaMemcpyHostToDevice));
  CHECK(!ranked::has_got(ranked::Got::kOfFirst, x, 100, 3, 4, wrong));
  CHECK(ranked::has_got(ranked::Got::kOfFirst, x, 99, 3, 4, wrong));
}

TEST_CASE("bus bandwidth is what nccl-tests define") {
  const auto factor = [](std::size_t which, double ranks) {
    return ranked::kCollectives[which].bus_factor(ranks);
  };
  CHECK(factor(0, 2) == 1);
  CHECK(factor(0, 4) == 1.5);
  CHECK(factor(1, 4) == 1.5);
  CHECK(factor(2, 4) == 1);
  CHECK(factor(3, 4) == 1);
}

TEST_CASE("all processes agree on the id that rank 0 has made") {
  char folder[] = "/tmp/test_id.XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string path = text(folder, "/id");
  ncclUniqueId of_one{}, of_two{};
  std::thread one([&] { of_one = ranked::processes::agree_on_id(1, path); });
  const ncclUniqueId of_zero = ranked::processes::agree_on_id(0, path);
  of_two = ranked::processes::agree_on_id(2, path);  // comes when the file is there
  one.join();
  CHECK(std::memcmp(&of_zero, &of_one, sizeof of_one) == 0);
  CHECK(std::memcmp(&of_zero, &of_two, sizeof of_two) == 0);
  CHECK(std::remove(path.c_str()) == 0);
  CHECK(rmdir(folder) == 0);  // nothing else is left there
}

TEST_CASE("a time is that of one call") {
  std::size_t most = 0;
  const Timing t = time_calls(3, [&](std::size_t calls) {
    most = std::max(most, calls);
    return 2.0 * static_cast<double>(calls);
  });
  CHECK(t.samples == 3);
  CHECK(t.median_ms == 2);
  CHECK(most == (kOnGpu ? 3 : 1));
}

TEST_CASE("calls are made by one host thread, or by one for each rank") {
  with_devices(1, [](const Ranks& ranks) {
    std::atomic<std::size_t> calls{0}, on_their_device{0};
    const auto work = [&] {
      ++calls;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
    CHECK(ms_of_calls(ranks, 3, work) >= 6);
    CHECK(calls == 3);
    const double ms = ms_of_threads(ranks, 3, [&](const Rank& rank) {
      int device = -1;
      CUDA_CHECK(cudaGetDevice(&device));
      if (device == rank.device) ++on_their_device;
      work();
    });
    CHECK(ms >= 6);
    CHECK(on_their_device == 3 * ranks.size());
    CHECK(calls == 3 + 3 * ranks.size());
  });
}

TEST_CASE("a time ends when what was called for is done") {
  with_devices(1, [](const Ranks& ranks) {
    const auto nap = [](const Rank& rank) {
      CUDA_CHECK(cudaLaunchHostFunc(
          rank.stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); },
          nullptr));
    };
    CHECK(ms_of_calls(ranks, 3, [&] { ranks.each(nap); }) >= 6);
    CHECK(ms_of_threads(ranks, 3, nap) >= 6);
  });
}
