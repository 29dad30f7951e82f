// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/09_pinned_mapped_memory/pinned_mapped_memory.cu"
#undef main

#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "kernel_testing.cuh"

namespace {

struct Setup : TransferMemory {
  explicit Setup(std::size_t n, std::size_t chunks = 4, std::size_t streams = 3)
      : TransferMemory(n, 9, streams) {
    transfer.rounds = 5;
    transfer.chunks = chunks;
  }
  bool run(Run how, At where) const { return run_and_check("route", transfer, how, where); }
};

const Route& route_named(std::string_view name) {
  static const std::vector<Route> all = all_routes();
  for (const Route& route : all) {
    if (route.name == name) return route;
  }
  throw std::runtime_error("no version " + std::string(name));
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("every version delivers every word at awkward sizes") {
  for (const std::size_t n : awkward_sizes()) {
    if (n == 0) continue;  // the program refuses it
    Setup setup(n);
    for (const Route& route : all_routes()) {
      INFO(route.name << ", n = " << n);
      const Measured m = measure(route, setup.transfer, 1);
      CHECK(m.ok);
      CHECK(m.time.samples == 1);
      CHECK(m.time.median_ms > 0);
    }
  }
}

TEST_CASE("a pass writes its own words and no other, with blocks of any size") {
  const std::size_t guard = 64;
  for (const unsigned block : awkward_blocks()) {
    for (const std::size_t n : {1u, 31u, 32u, 33u, 257u, 1000u}) {
      std::vector<unsigned> x(n + guard), expected(n + guard, 0xffffffffu);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned>(random_bits(4, i));
      for (std::size_t i = 0; i < n; ++i) expected[i] = kRound(kRound(x[i]));
      const DeviceArray<unsigned> d_x(x), d_y(n + guard);             // d_y is poisoned
      const auto grid = static_cast<unsigned>(div_up(n, block)) + 1;  // a block more than it takes
      mix<<<grid, block>>>(d_x.get(), n, kRound, 2, true, d_y.get());
      CUDA_CHECK_LAUNCH();
      INFO("n = " << n << ", block " << block);
      CHECK(d_y.download() == expected);
      mix<<<grid, block>>>(d_x.get(), n, kRound, 1, false, d_y.get());
      CUDA_CHECK_LAUNCH();
      for (std::size_t i = 0; i < n; ++i) expected[i] = kRound(expected[i] ^ x[i]);
      CHECK(d_y.download() == expected);
    }
  }
}

TEST_CASE("chunks cover every word, however many chunks and streams there are") {
  for (const std::size_t n : {1u, 7u, 256u, 1009u}) {
    for (const std::size_t chunks : {1u, 2u, 3u, 7u, 256u, 1009u, 5000u}) {
      for (const std::size_t streams : {1u, 2u, 5u}) {
        Setup setup(n, chunks, streams);
        INFO("n = " << n << ", " << chunks << " chunks, " << streams << " streams");
        CHECK(setup.run(overlapped, At::kDevice));
        CHECK(setup.run(overlapped_pageable, At::kDevice));
      }
    }
  }
}

TEST_CASE("many rounds in one step are what the rounds are one by one") {
  for (const unsigned count : {0u, 1u, 2u, 3u, 16u, 1000u}) {
    const Round all = repeated(kRound, count);
    for (unsigned v : {0u, 1u, 0xffffffffu, 123456789u}) {
      unsigned expected = v;
      for (unsigned k = 0; k < count; ++k) expected = kRound(expected);
      CHECK(all(v) == expected);
    }
  }
}

TEST_CASE("the reference is what the passes make of every word, written out") {
  const std::vector<unsigned> x = {0u, 1u, 0xffffffffu, 77777u};
  CHECK(reference(x.data(), x.size(), 4, 0) == x);  // no pass
  for (const unsigned passes : {1u, 2u, 3u}) {
    std::vector<unsigned> y;
    for (const unsigned word : x) {
      unsigned v = 0;
      for (unsigned pass = 0; pass < passes; ++pass) {
        v ^= word;
        for (unsigned r = 0; r < 4; ++r) v = v * 1664525u + 1013904223u;
      }
      y.push_back(v);
    }
    CHECK(reference(x.data(), x.size(), 4, passes) == y);
  }
}

TEST_CASE("any number of passes and rounds gives what the host computes") {
  Setup setup(1000);
  for (const unsigned rounds : {1u, 2u, 3u, 4u, 5u, 64u}) {
    for (const unsigned passes : {1u, 2u, 3u, 8u}) {
      setup.transfer.rounds = rounds;
      setup.transfer.passes = passes;
      INFO(rounds << " rounds, " << passes << " passes");
      CHECK(setup.transfer.rounds_per_pass() == std::max(1u, rounds / passes));
      CHECK(setup.run(mapped_read, At::kDevice));
      CHECK(setup.run(copied_read, At::kDevice));
      CHECK(setup.run(kernel_alone, At::kDevice));
      CHECK(setup.run(mapped_write, At::kHost));
      CHECK(setup.run(copied_write, At::kHost));
    }
  }
}

TEST_CASE("memory that the host had better not read is checked by way of the device") {
  Setup setup(5003);
  setup.transfer.passes = 0;
  CHECK(setup.run(d2h, At::kUnread));
  CHECK(std::equal(setup.data.begin(), setup.data.end(), setup.transfer.h_y));
  CHECK_FALSE(setup.run([](const Transfer&) {}, At::kUnread));
  CHECK(route_named("d2h_write_combined").where == At::kUnread);
  CHECK(route_named("d2h_pinned").where == At::kHost);
}

TEST_CASE("a launch leaves nothing behind that the next one trips over") {
  Setup setup(10007);
  for (const Route& route : all_routes()) {
    if (route.kind != nullptr) continue;
    setup.transfer.passes = route.passes;
    for (int repeat = 0; repeat < 20; ++repeat) route.run(setup.transfer);
    CUDA_CHECK(cudaDeviceSynchronize());
    INFO(route.name);
    CHECK(check(route.name, setup.transfer, route.where));
  }
}

TEST_CASE("the check rejects a route that does nothing, also after one that was right") {
  Setup setup(1000);
  const auto nothing = [](const Transfer&) {};
  setup.transfer.passes = 0;
  REQUIRE(setup.run(host_read, At::kSeen));
  CHECK_FALSE(setup.run(nothing, At::kSeen));
  setup.transfer.passes = 1;
  REQUIRE(setup.run(mapped_write, At::kHost));
  CHECK_FALSE(setup.run(nothing, At::kHost));
  REQUIRE(setup.run(kernel_alone, At::kDevice));
  CHECK_FALSE(setup.run(nothing, At::kDevice));
}

TEST_CASE("the check rejects a route that stops a word short, wherever it leads") {
  Setup setup(1000);
  setup.transfer.passes = 0;
  const auto short_of_it = [](Transfer t, Run run) {
    t.n -= 1;
    run(t);
  };
  static const auto step = short_of_it;
  CHECK_FALSE(setup.run([](const Transfer& t) { step(t, h2d); }, At::kDevice));
  CHECK_FALSE(setup.run([](const Transfer& t) { step(t, d2h); }, At::kHost));
  CHECK_FALSE(setup.run([](const Transfer& t) { step(t, host_read); }, At::kSeen));
}

TEST_CASE("the check rejects one wrong byte") {
  for (const std::size_t byte : {std::size_t{0}, std::size_t{2001}, std::size_t{3999}}) {
    Setup setup(1000);
    reinterpret_cast<unsigned char*>(setup.transfer.h_x)[byte] ^= 1;
    INFO("byte " << byte);
    setup.transfer.passes = 0;
    CHECK_FALSE(setup.run(h2d, At::kDevice));
    CHECK_FALSE(setup.run(host_read, At::kSeen));
    setup.transfer.passes = 1;
    CHECK_FALSE(setup.run(mapped_read, At::kDevice));
    CHECK_FALSE(setup.run(overlapped, At::kDevice));
  }
}

TEST_CASE("a kernel reads host memory as it is when it runs, not as it was") {
  Setup setup(1000);
  setup.data[17] = 4711;  // what is expected follows
  setup.transfer.h_x[17] = 4711;
  CHECK(setup.run(mapped_read, At::kDevice));
}

TEST_CASE("before anything has waited, the results of asynchronous work are not there") {
  if (kOnGpu) {
    WARN("on a GPU they may be there or not: the CPU backend shows the worst case every time");
    return;
  }
  Setup setup(1000);
  std::memset(setup.transfer.h_y, 0xff, 4000);
  d2h(setup.transfer);
  CHECK(setup.transfer.h_y[999] == 0xffffffffu);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(setup.transfer.h_y[999] == setup.data[999]);
  std::memset(setup.transfer.h_y, 0xff, 4000);
  mapped_write(setup.transfer);
  CHECK(setup.transfer.h_y[999] == 0xffffffffu);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(setup.transfer.h_y[999] != 0xffffffffu);
}

TEST_CASE(
    "the pinned kinds are pinned, and plain memory is plain again when it has been returned") {
  for (const HostMemory& kind : kKinds) {
    INFO(kind.name);
    unsigned* const words = kind.get(4096);
    cudaPointerAttributes attributes;
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, words));
    CHECK((attributes.type == cudaMemoryTypeHost) == (&kind != &kPageable));
    kind.give_back(words);
  }
  unsigned flags = 0;
  unsigned* const words = kWriteCombined.get(4096);
  CUDA_CHECK(cudaHostGetFlags(&flags, words));
  CHECK((flags & cudaHostAllocWriteCombined) != 0);
  kWriteCombined.give_back(words);
}

TEST_CASE("pinned memory that nobody asked to map is mapped all the same") {
  unsigned *words = nullptr, *on_device = nullptr;
  CUDA_CHECK(cudaMallocHost(&words, 4096));
  CUDA_CHECK(cudaHostGetDevicePointer(&on_device, words, 0));
  CHECK(on_device == words);  // unified addressing: one address for both sides
  unsigned flags = 0;
  CUDA_CHECK(cudaHostGetFlags(&flags, words));
  CHECK(flags == cudaHostAllocMapped);
  CUDA_CHECK(cudaGetDeviceFlags(&flags));
  CHECK((flags & cudaDeviceMapHost) != 0);
  CUDA_CHECK(cudaFreeHost(words));
}

TEST_CASE("what the host works on during a copy is its share of the words, and no more") {
  for (const std::size_t n : {1u, 1000u, 16383u, 16384u, 16385u, 40000u}) {
    Setup setup(n);
    const std::size_t count = div_up(n, kHostShare);
    std::fill_n(setup.transfer.h_y, n, 0xffffffffu);
    INFO("n = " << n);
    CHECK_FALSE(host_work_is_right("nothing", setup.transfer));
    host_work(setup.transfer);
    CHECK(host_work_is_right("all", setup.transfer));
    for (std::size_t i = 0; i < n; i = i + 1 < count + 2 ? i + 1 : i + 997) {
      unsigned v = setup.data[i];
      for (unsigned r = 0; r < setup.transfer.rounds; ++r) v = kRound(v);
      CHECK(setup.transfer.h_y[i] == (i < count ? v : 0xffffffffu));
    }
    setup.transfer.h_y[count - 1] ^= 1;
    CHECK_FALSE(host_work_is_right("one wrong bit", setup.transfer));
  }
  for (const Route& route : all_routes()) {
    INFO(route.name);
    const bool host_works = route.name.rfind("host_works", 0) == 0;
    if (host_works) CHECK(route.also_right == host_work_is_right);
    if (route.where == At::kElsewhere) CHECK(route.also_right != nullptr);
  }
}

TEST_CASE("the host's own work is checked wherever a row does it") {
  Setup setup(1000);
  Route route = route_named("host_works_during_h2d_pinned");
  CHECK(measure(route, setup.transfer, 1).ok);
  route.run = h2d;  // only the copy
  CHECK_FALSE(measure(route, setup.transfer, 1).ok);
  route.run = host_work;  // only the work
  CHECK_FALSE(measure(route, setup.transfer, 1).ok);
}

TEST_CASE("a word read with another one is checked: which other, and that it is read at all") {
  for (const std::size_t n : {1u, 2u, 3u, 256u, 1001u}) {
    Setup setup(n);
    const Transfer& t = setup.transfer;
    for (const std::size_t apart : {std::size_t{1}, n / 2, n - 1}) {
      CUDA_CHECK(cudaMemset(t.d_y, 0xff, n * kWord));
      read_with_other(t, t.mapped_x, apart);
      INFO("n = " << n << ", " << apart << " apart");
      CHECK(with_other_is_right("with another", t, apart));
      std::vector<unsigned> y(n);
      CUDA_CHECK(cudaMemcpy(y.data(), t.d_y, n * kWord, cudaMemcpyDeviceToHost));
      for (std::size_t i = 0; i < n; ++i) {
        unsigned v = setup.data[i];
        for (unsigned r = 0; r < t.rounds; ++r) v = kRound(v);
        CHECK(y[i] == (v ^ setup.data[(i + apart) % n]));
      }
      if (n > 2) CHECK_FALSE(with_other_is_right("with yet another", t, (apart + 1) % n));
    }
  }
  CHECK(route_named("mapped_read_near").also_right == near_is_right);
  CHECK(route_named("mapped_read_far").also_right == far_is_right);
}

TEST_CASE("before every run of a managed version the host writes its words, and they count") {
  Setup setup(3000);
  Transfer t = setup.transfer;
  t.h_x = kManaged.get(t.n);
  cudaPointerAttributes attributes;
  CUDA_CHECK(cudaPointerGetAttributes(&attributes, t.h_x));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  for (const char* name : {"managed_read", "managed_prefetched"}) {
    const Route& route = route_named(name);
    REQUIRE(route.prepare != nullptr);
    std::fill_n(t.h_x, t.n, 5u);
    INFO(name);
    CHECK_FALSE(run_and_check(name, t, route.run, route.where));
    route.prepare(t);
    CHECK(run_and_check(name, t, route.run, route.where));
  }
  const Route& back = route_named("managed_host_write");
  back.prepare(t);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(std::count(t.h_x, t.h_x + t.n, 0xffffffffu) == 3000);
  CHECK_FALSE(back.also_right("filled", t));
  back.run(t);
  CHECK(back.also_right("written", t));
  t.h_x[2999] ^= 1;
  CHECK_FALSE(back.also_right("one wrong bit", t));
  kManaged.give_back(t.h_x);
  for (const char* name : {"managed_read_again", "managed_host_write_again"}) {
    CHECK(route_named(name).prepare == nullptr);
    CHECK(route_named(name).kind == &kManaged);
  }
}

TEST_CASE("the share of the ideal is that of the slower part") {
  CHECK(percent_of_ideal(4, 3, 5) == Approx(80));
  CHECK(percent_of_ideal(3, 4, 5) == Approx(80));
  CHECK(percent_of_ideal(4, 4, 4) == Approx(100));
}

TEST_CASE("the clock stands while a run is prepared, and every run is") {
  std::string order;
  const auto slow = [&] {
    order += 'p';
    const double begin = host_ms();
    while (host_ms() - begin < 20) {
    }
  };
  const Timing t = time_prepared(3, slow, [&] { order += 'r'; });
  CHECK(order == "prprprpr");
  CHECK(t.samples == 3);
  CHECK(t.min_ms < 15);
  order.clear();
  const Timing call = time_prepared(
      2, [&] { order += 'p'; }, [&] { order += 'r'; }, false);
  CHECK(order == "prprpr");
  CHECK(call.samples == 2);
}

TEST_CASE("the default stream takes turns with blocking streams, and with no others") {
  if (races_are_looked_for()) return;  // it looks at words that a kernel may be writing
  cudaStream_t looking = nullptr;      // waits for none of the others
  CUDA_CHECK(cudaStreamCreateWithFlags(&looking, cudaStreamNonBlocking));
  const auto arrived = [&](const Setup& s, std::size_t k) {  // the last word of the k-th third
    unsigned word = 0;
    CUDA_CHECK(
        cudaMemcpyAsync(&word, s.transfer.d_y + 100 * k + 99, 4, cudaMemcpyDeviceToHost, looking));
    CUDA_CHECK(cudaStreamSynchronize(looking));
    return word != 0xffffffffu;
  };
  const char* const order = std::getenv("CUDA_CPU_SCHEDULE");
  const bool only_what_is_needed = !kOnGpu && (order == nullptr || order[0] != 'r');
  const auto poisoned = [](const Setup& s) {
    CUDA_CHECK(cudaMemset(s.transfer.d_y, 0xff, 1200));
    CUDA_CHECK(cudaDeviceSynchronize());
  };
  Setup setup(300);
  const Transfer& t = setup.transfer;

  poisoned(setup);
  default_between(t);
  CUDA_CHECK(cudaStreamSynchronize(t.blocking[1]));  // it waits for the default stream before it
  for (std::size_t k = 0; k < 3; ++k) CHECK(arrived(setup, k));

  poisoned(setup);
  default_three_times(t);
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
  for (std::size_t k = 0; k < 3; ++k) CHECK(arrived(setup, k));

  poisoned(setup);
  default_beside(t);
  CUDA_CHECK(cudaStreamSynchronize(t.nonblocking[1]));
  CHECK(arrived(setup, 2));
  if (only_what_is_needed) CHECK_FALSE(arrived(setup, 1));
  CUDA_CHECK(cudaStreamSynchronize(t.nonblocking[0]));
  CHECK(arrived(setup, 0));
  if (only_what_is_needed) CHECK_FALSE(arrived(setup, 1));
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(arrived(setup, 1));

  poisoned(setup);
  per_thread_beside(t);
  CUDA_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
  CHECK(arrived(setup, 1));
  if (only_what_is_needed) {
    CHECK_FALSE(arrived(setup, 0));
    CHECK_FALSE(arrived(setup, 2));
  }
  CUDA_CHECK(cudaStreamSynchronize(t.blocking[0]));
  CUDA_CHECK(cudaStreamSynchronize(t.blocking[1]));
  CHECK(arrived(setup, 0));
  CHECK(arrived(setup, 2));
  CUDA_CHECK(cudaStreamDestroy(looking));
}

TEST_CASE("the streams beside the default stream are what their names say") {
  Setup setup(10);
  for (int k = 0; k < 2; ++k) {
    unsigned flags = 99;
    CUDA_CHECK(cudaStreamGetFlags(setup.transfer.blocking[k], &flags));
    CHECK(flags == cudaStreamDefault);
    CUDA_CHECK(cudaStreamGetFlags(setup.transfer.nonblocking[k], &flags));
    CHECK(flags == cudaStreamNonBlocking);
  }
}

TEST_CASE("scratch memory is given back, and the pool keeps what it is told to") {
  Setup setup(5000);
  std::uint64_t threshold = 1;
  cudaMemPool_t pool = nullptr;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  for (const char* name : {"scratch_malloc", "scratch_async", "scratch_async_kept"}) {
    const Route& route = route_named(name);
    if (route.prepare != nullptr) route.prepare(setup.transfer);
    route.run(setup.transfer);
    CUDA_CHECK(cudaDeviceSynchronize());
    const std::size_t free_before = free_device_bytes();
    for (int repeat = 0; repeat < 3; ++repeat) route.run(setup.transfer);
    CUDA_CHECK(cudaDeviceSynchronize());
    INFO(name);
    if (!kOnGpu) CHECK(free_device_bytes() == free_before);  // a GPU has other users
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    if (name == std::string("scratch_async")) CHECK(threshold == 0);
    if (name == std::string("scratch_async_kept")) CHECK(threshold == UINT64_MAX);
  }
  pool_keeps_nothing(setup.transfer);
}

TEST_CASE("memory cannot be registered twice, nor unregistered when it is not registered") {
  std::vector<unsigned> words(4096);
  CUDA_CHECK(cudaHostRegister(words.data(), 16384, cudaHostRegisterDefault));
  CHECK(cudaHostRegister(words.data(), 16384, cudaHostRegisterDefault) ==
        cudaErrorHostMemoryAlreadyRegistered);
  CUDA_CHECK(cudaHostUnregister(words.data()));
  CHECK(cudaHostUnregister(words.data()) == cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();  // asking clears it
}

TEST_CASE("pinning more than there is gets an error and nothing else") {
  unsigned* words = nullptr;
  CHECK(cudaHostAlloc(&words, std::size_t{1} << 46, cudaHostAllocDefault) ==
        cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaSuccess);
  Setup setup(100);
  CHECK(setup.run(overlapped, At::kDevice));
}

TEST_CASE("the versions that the chapter promises are there, each name once") {
  std::set<std::string> names;
  for (const Route& route : all_routes()) CHECK(names.insert(route.name).second);
  for (const char* way : {"h2d_", "d2h_"}) {
    for (const char* kind : {"pageable", "pinned", "write_combined", "registered"}) {
      CHECK(names.count(std::string(way) + kind) == 1);
    }
  }
  for (const char* name :
       {"mapped_read", "mapped_write", "mapped_read_twice", "overlapped", "managed_read",
        "managed_prefetched", "host_works_during_h2d_pinned", "default_between", "default_beside",
        "scratch_malloc", "scratch_async", "scratch_async_kept"}) {
    CHECK(names.count(name) == 1);
  }
  CHECK(route_named("mapped_read_twice").passes == 2);
  CHECK(route_named("copied_read_twice").passes == 2);
}

TEST_CASE("the size sweep goes from 1 KiB to all of the data, four times over") {
  for (const std::size_t n : {1u, 256u, 257u, 5000u, 65536u}) {
    const std::vector<Route> routes = routes_of_sweep("size", n);
    INFO("n = " << n);
    std::size_t series = 0, last = 0;
    for (const Route& route : routes) {
      if (route.n <= last) ++series;
      if (route.n <= last || last == 0) CHECK(route.n == std::min<std::size_t>(n, 256));
      last = route.n;
      CHECK(last <= n);
    }
    CHECK(last == n);
    // The first size of a series comes after the last of the one before.
    CHECK(series + 1 == 4);
  }
  const std::vector<Route> routes = routes_of_sweep("size", 1024);
  REQUIRE(routes.size() == 12);
  CHECK(routes[0].name == "h2d_pageable size=1 KiB");
  CHECK(routes[11].name == "d2h_pinned size=4 KiB");
}

TEST_CASE("every row of the other sweeps is right") {
  Setup setup(2053);
  for (const char* sweep : {"passes", "chunks"}) {
    const std::vector<Route> routes = routes_of_sweep(sweep, 2053);
    CHECK(routes.size() == (sweep == std::string("passes") ? 16 : 9));
    for (const Route& route : routes) {
      INFO(route.name);
      CHECK(measure(route, setup.transfer, 1).ok);
    }
  }
}

TEST_CASE("the timeline has every chunk of every version, each mark after the one before") {
  Setup setup(4000, 8, 3);
  const Options opt("09", "a test");
  const std::string path = "/tmp/timeline_" + std::to_string(getpid()) + ".csv";
  CsvFile csv;
  csv.open(opt, "--timeline-csv", path);
  CHECK(write_timeline(csv, setup.transfer));
  REQUIRE(csv.finish());
  const std::vector<std::string> lines = lines_of(path);
  std::remove(path.c_str());
  const std::size_t chunk_marks = 3 * (8 + 8 + 1), third_marks = 2 * 3;
  REQUIRE(lines.size() == 1 + chunk_marks + 2 * third_marks);
  CHECK(lines[0] == "version,chunk,stream,mark,ms");
  std::string version_before;
  std::vector<double> reached(3);  // by each stream: its work is done in order
  const char* const marks[] = {"begin", "copied", "computed"};
  double end_before = 0;  // of the kernel before, where the default stream is between two others
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::istringstream line(lines[i]);
    std::string version, chunk, stream, mark, ms;
    std::getline(line, version, ',');
    std::getline(line, chunk, ',');
    std::getline(line, stream, ',');
    std::getline(line, mark, ',');
    std::getline(line, ms, ',');
    INFO(lines[i]);
    if (i > chunk_marks) {
      const bool ends = (i - 1 - chunk_marks) % 2 == 1;
      CHECK(version == (i <= chunk_marks + third_marks ? "default_between" : "default_beside"));
      CHECK(mark == (ends ? "computed" : "begin"));
      CHECK(chunk == std::to_string((i - 1 - chunk_marks) / 2 % 3));
      CHECK(stream == chunk);
      if (ends || version == "default_between") CHECK(std::stod(ms) >= end_before);
      end_before = std::stod(ms);
      continue;
    }
    if (version != version_before) reached.assign(3, 0.0);
    version_before = version;
    const auto lane = static_cast<std::size_t>(std::stoul(stream));
    CHECK(mark == marks[(i - 1) % 3]);
    CHECK(lane == std::stoul(chunk) % 3);
    CHECK(std::stod(ms) >= reached[lane]);
    reached[lane] = std::stod(ms);
    end_before = 0;
  }
}

TEST_CASE("the time of a call leaves out the first one") {
  int calls = 0;
  const Timing t = time_calls(3, [&] { ++calls; });
  CHECK(calls == 4);
  CHECK(t.samples == 3);
}

TEST_CASE(
    "the call of an asynchronous copy returns before the copy is done, if the memory is pinned") {
  if (kOnGpu) {
    WARN("a question of time on a GPU: the program's call_* rows measure it");
    return;
  }
  Setup setup(100);
  setup.transfer.passes = 0;
  h2d(setup.transfer);
  setup.transfer.h_x[99] = 4711;  // changed before the copy was done: the wrong word arrives
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK_FALSE(check("overwritten too early", setup.transfer, At::kDevice));
  std::vector<unsigned> plain = setup.data;
  unsigned* const pinned = setup.transfer.h_x;
  setup.transfer.h_x = plain.data();
  h2d(setup.transfer);
  setup.transfer.h_x = pinned;
  plain[99] = 4711;  // pageable: the call has taken what it needs
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(check("overwritten", setup.transfer, At::kDevice));
}
