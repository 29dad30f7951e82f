// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/09_pinned_mapped_memory/pinned_mapped_memory.cu"
#undef main

#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

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

const Route& route_named(const std::string& name) {
  static const std::vector<Route> all = all_routes();
  for (const Route& route : all) {
    if (route.name == name) return route;
  }
  throw std::runtime_error("no version " + name);
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
    for (const char* kind : {"pageable", "pinned", "portable", "write_combined", "registered"}) {
      CHECK(names.count(std::string(way) + kind) == 1);
    }
  }
  for (const char* name : {"mapped_read", "mapped_write", "mapped_read_twice", "overlapped"}) {
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
  REQUIRE(lines.size() == 1 + 3 * (8 + 8 + 1));
  CHECK(lines[0] == "version,chunk,stream,mark,ms");
  std::string version_before;
  std::vector<double> reached(3);  // by each stream: its work is done in order
  const char* const marks[] = {"begin", "copied", "computed"};
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::istringstream line(lines[i]);
    std::string version, chunk, stream, mark, ms;
    std::getline(line, version, ',');
    std::getline(line, chunk, ',');
    std::getline(line, stream, ',');
    std::getline(line, mark, ',');
    std::getline(line, ms, ',');
    INFO(lines[i]);
    if (version != version_before) reached.assign(3, 0.0);
    version_before = version;
    const auto lane = static_cast<std::size_t>(std::stoul(stream));
    CHECK(mark == marks[(i - 1) % 3]);
    CHECK(lane == std::stoul(chunk) % 3);
    CHECK(std::stod(ms) >= reached[lane]);
    reached[lane] = std::stod(ms);
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
