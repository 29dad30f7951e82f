// SPDX-License-Identifier: MIT
// Chapter 09: how does data get there?
//
// h2d_*, d2h_*  one copy, to the device or back, for five kinds of host memory
// call_*        how long the call of an asynchronous copy keeps the host
// host_read_*   the host itself reads pinned and write-combined memory
// mapped_*      a kernel reads or writes host memory: no copy at all
// copied_*      the same kernel on device memory, and a copy before or after it
// overlapped*   chunks over streams: the next one is copied while the kernel works on this one
// Run: make run CH=09

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "../../common/rounds.cuh"
#include "../../common/timeline.cuh"

constexpr std::size_t kMaxN = 4_Gi, kWord = sizeof(unsigned);  // n counts words of 4 bytes
constexpr unsigned kBlock = 256;

// ---- host reference ----------------------------------------------------------------------------

// What `passes` passes of the kernel make of x. None: what arrives is what was sent.
std::vector<unsigned> reference(const unsigned* x, std::size_t n, unsigned rounds,
                                unsigned passes) {
  if (passes == 0) return std::vector<unsigned>(x, x + n);
  const Round all = repeated(kRound, rounds);  // many rounds in one step
  std::vector<unsigned> y(n, 0);
  for (unsigned pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < n; ++i) y[i] = all(y[i] ^ x[i]);
  }
  return y;
}

// ---- kernel ------------------------------------------------------------------------------------

// One pass. Whether x and y are in the device's memory or in the host's, the code is the same.
__global__ void mix(const unsigned* x, std::size_t n, Round round, unsigned rounds, bool first,
                    unsigned* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned v = first ? x[i] : y[i] ^ x[i];
    for (unsigned r = 0; r < rounds; ++r) v = round(v);
    y[i] = v;
  }
}

// ---- kinds of host memory ----------------------------------------------------------------------

template <unsigned kFlags>
unsigned* alloc_pinned(std::size_t n) {
  unsigned* words = nullptr;
  CUDA_CHECK(cudaHostAlloc(&words, n * kWord, kFlags));
  return words;
}
void free_pinned(unsigned* words) { CUDA_CHECK(cudaFreeHost(words)); }

// Memory that was there already, pinned where it lies: what a library does to its caller's.
unsigned* new_registered(std::size_t n) {
  unsigned* const words = new unsigned[n];
  CUDA_CHECK(cudaHostRegister(words, n * kWord, cudaHostRegisterDefault));
  return words;
}
void delete_registered(unsigned* words) {
  CUDA_CHECK(cudaHostUnregister(words));  // first: the heap must not get pinned pages back
  delete[] words;
}

// How to get memory of a kind, and the one right way to give it back.
struct HostMemory {
  const char *name, *summary;
  unsigned* (*get)(std::size_t n);
  void (*give_back)(unsigned*);
};
const HostMemory kKinds[] = {
    {"pageable", "plain memory, from new", [](std::size_t n) { return new unsigned[n]; },
     [](unsigned* words) { delete[] words; }},
    {"pinned", "pages that stay where they are", alloc_pinned<cudaHostAllocDefault>, free_pinned},
    {"portable", "pinned for all devices", alloc_pinned<cudaHostAllocPortable>, free_pinned},
    {"write_combined", "pinned, and past the CPU's caches",
     alloc_pinned<cudaHostAllocWriteCombined>, free_pinned},
    {"registered", "plain memory, pinned afterwards", new_registered, delete_registered},
};
const HostMemory &kPageable = kKinds[0], &kPinned = kKinds[1], &kWriteCombined = kKinds[3];

// ---- ways to get there -------------------------------------------------------------------------

struct Problem {
  std::size_t n;                      // words
  unsigned rounds, passes;            // rounds per word, over all passes of the kernel
  const unsigned *data, *d_data;      // what is sent, from the host and from the device
  unsigned *h_x, *h_y;                // pinned: holds the data; gets results
  unsigned *mapped_x, *mapped_y;      // the same memory by its addresses on the device
  unsigned *d_x, *d_y;                // on the device: gets the data; gets results
  unsigned* seen;                     // pageable: where the host looks at results
  std::size_t chunks;                 // of the overlapped versions
  std::vector<cudaStream_t> streams;  // over which the chunks go
  Timeline* timeline;                 // nullptr while times are taken

  unsigned rounds_per_pass() const { return std::max(1u, rounds / std::max(1u, passes)); }
};

// Async: the calls may return before the bytes are there.
void copy_in(const Problem& p, unsigned* to) {
  CUDA_CHECK(cudaMemcpyAsync(to, p.h_x, p.n * kWord, cudaMemcpyHostToDevice));
}
void copy_out(const Problem& p, const unsigned* from) {
  CUDA_CHECK(cudaMemcpyAsync(p.h_y, from, p.n * kWord, cudaMemcpyDeviceToHost));
}

// The arithmetic is the same for any number of passes, but each pass reads all of x again.
void run_passes(const Problem& p, const unsigned* x, unsigned* y) {
  const auto grid = static_cast<unsigned>(div_up(p.n, kBlock));
  for (unsigned pass = 0; pass < p.passes; ++pass) {
    mix<<<grid, kBlock>>>(x, p.n, kRound, p.rounds_per_pass(), pass == 0, y);
    CUDA_CHECK_LAUNCH();
  }
}

void h2d(const Problem& p) { copy_in(p, p.d_y); }
void d2h(const Problem& p) { copy_out(p, p.d_data); }
void h2d_pinned_for_it(const Problem& p) {
  CUDA_CHECK(cudaHostRegister(p.h_x, p.n * kWord, cudaHostRegisterDefault));
  h2d(p);
  CUDA_CHECK(cudaStreamSynchronize(nullptr));  // the pages must stay until the copy is done
  CUDA_CHECK(cudaHostUnregister(p.h_x));
}
void host_read(const Problem& p) { std::memcpy(p.seen, p.h_x, p.n * kWord); }
void kernel_alone(const Problem& p) { run_passes(p, p.d_data, p.d_y); }
void mapped_read(const Problem& p) { run_passes(p, p.mapped_x, p.d_y); }
void copied_read(const Problem& p) {
  copy_in(p, p.d_x);
  run_passes(p, p.d_x, p.d_y);
}
void mapped_write(const Problem& p) { run_passes(p, p.d_data, p.mapped_y); }
void copied_write(const Problem& p) {
  run_passes(p, p.d_data, p.d_y);
  copy_out(p, p.d_y);
}

// A chunk's copy and its kernel are in one stream: the kernel waits for its copy. The next chunk
// is in the next stream and waits for neither: its copy goes on while this kernel works.
void run_chunks(const Problem& p, const unsigned* host_x) {
  const std::size_t chunk_words = div_up(p.n, p.chunks);
  for (std::size_t begin = 0, chunk = 0; begin < p.n; begin += chunk_words, ++chunk) {
    const std::size_t count = std::min(chunk_words, p.n - begin), lane = chunk % p.streams.size();
    const auto grid = static_cast<unsigned>(div_up(count, kBlock));
    const cudaStream_t stream = p.streams[lane];
    const auto mark = [&](const char* what) {
      if (p.timeline != nullptr) p.timeline->mark(chunk, lane, what, stream);
    };
    mark("begin");
    CUDA_CHECK(cudaMemcpyAsync(p.d_x + begin, host_x + begin, count * kWord, cudaMemcpyHostToDevice,
                               stream));
    mark("copied");
    mix<<<grid, kBlock, 0, stream>>>(p.d_x + begin, count, kRound, p.rounds_per_pass(), true,
                                     p.d_y + begin);
    CUDA_CHECK_LAUNCH();
    mark("computed");
  }
}
void overlapped(const Problem& p) { run_chunks(p, p.h_x); }
void overlapped_pageable(const Problem& p) { run_chunks(p, p.data); }

// ---- checking ----------------------------------------------------------------------------------

using Run = void (*)(const Problem&);
enum class At { kDevice, kHost, kUnread, kSeen };  // results are in d_y, h_y, h_y, seen

bool check(const std::string& name, const Problem& p, At where) {
  const std::size_t bytes = p.n * kWord;
  // The host may take seconds to read write-combined memory: that goes by way of the device.
  if (where == At::kUnread) CUDA_CHECK(cudaMemcpy(p.d_y, p.h_y, bytes, cudaMemcpyHostToDevice));
  if (where == At::kUnread || where == At::kDevice) {
    CUDA_CHECK(cudaMemcpy(p.seen, p.d_y, bytes, cudaMemcpyDeviceToHost));
  }
  const std::vector<unsigned> expected = reference(p.data, p.n, p.rounds_per_pass(), p.passes);
  return all_equal(name, where == At::kHost ? p.h_y : p.seen, expected.data(), p.n);
}

bool run_and_check(const std::string& name, const Problem& p, Run run, At where) {
  for (unsigned* words : {p.h_y, p.seen}) std::memset(words, 0xff, p.n * kWord);  // poison
  for (unsigned* words : {p.d_x, p.d_y}) CUDA_CHECK(cudaMemset(words, 0xff, p.n * kWord));
  run(p);
  CUDA_CHECK(cudaDeviceSynchronize());  // until here anything may stand in h_y
  return check(name, p, where);
}

// ---- the versions ------------------------------------------------------------------------------

// By events on the default stream: streams made by cudaStreamCreate take turns with it, so that
// their work lies between the events. By the host's clock, because the host has a share in copies:
// from the call until all bytes are there. Or only the call.
enum class Clock { kEvents, kHost, kCall };

struct Route {
  std::string name, summary;
  Run run;
  At where;  // its results are
  Clock clock = Clock::kEvents;
  unsigned passes = 1;               // of the kernel; 0: there is none
  const HostMemory* kind = nullptr;  // of h_x or h_y; nullptr: the problem's own, mapped
  std::size_t n = 0, chunks = 0;     // 0: the problem's
};

std::vector<Route> all_routes() {
  std::vector<Route> all;
  const auto copy = [&](const std::string& name, const std::string& what, const HostMemory& kind,
                        Run run, At where, Clock clock, std::size_t n = 0) {
    all.push_back(
        {name + "_" + kind.name, what + ": " + kind.summary, run, where, clock, 0, &kind, n});
  };
  for (const auto& kind : kKinds)
    copy("h2d", "to the device", kind, h2d, At::kDevice, Clock::kHost);
  all.push_back({"h2d_pinned_for_it", "to the device: pinned before, and unpinned after, each time",
                 h2d_pinned_for_it, At::kDevice, Clock::kHost, 0, &kPageable});
  for (const auto& kind : kKinds) {
    const At where = &kind == &kWriteCombined ? At::kUnread : At::kHost;
    copy("d2h", "to the host", kind, d2h, where, Clock::kHost);
  }
  for (const auto* kind : {&kPageable, &kPinned}) {
    copy("call_h2d", "only the call", *kind, h2d, At::kDevice, Clock::kCall);
  }
  for (const auto* kind : {&kPinned, &kWriteCombined}) {  // 4 MiB are enough of what is slow
    copy("host_read", "the host reads", *kind, host_read, At::kSeen, Clock::kHost, 1_Mi);
  }
  all.push_back({"mapped_read", "the kernel reads host memory", mapped_read, At::kDevice});
  all.push_back({"copied_read", "a copy, then the kernel", copied_read, At::kDevice});
  const std::string twice = "half the work per pass, two passes";
  all.push_back({"mapped_read_twice", twice, mapped_read, At::kDevice, Clock::kEvents, 2});
  all.push_back({"copied_read_twice", twice, copied_read, At::kDevice, Clock::kEvents, 2});
  all.push_back({"mapped_write", "the kernel writes host memory", mapped_write, At::kHost});
  all.push_back({"copied_write", "the kernel, then a copy", copied_write, At::kHost});
  all.push_back({"kernel_alone", "all is on the device", kernel_alone, At::kDevice});
  all.push_back({"overlapped", "chunks over streams", overlapped, At::kDevice});
  all.push_back(
      {"overlapped_pageable", "chunks of plain memory", overlapped_pageable, At::kDevice});
  return all;
}

// Sweep "size": copies of 1 KiB and more, up to all of the data. "passes": the same work in ever
// more passes over x. "chunks": the same data in ever more chunks.
std::vector<Route> routes_of_sweep(const std::string& sweep, std::size_t n) {
  std::vector<Route> routes;
  for (Route r : all_routes()) {
    const std::string name = r.name + " " + sweep + "=";
    const auto add = [&](const std::string& value) {
      r.name = name + value;
      routes.push_back(r);
    };
    const bool is_copy = r.clock == Clock::kHost && (r.run == h2d || r.run == d2h);
    if (sweep == "size" && is_copy && (r.kind == &kPageable || r.kind == &kPinned)) {
      for (r.n = std::min(n, 1_Ki / kWord); r.n < n; r.n *= 2) add(bytes_text(r.n * kWord));
      r.n = n;
      add(bytes_text(n * kWord));
    }
    if (sweep == "passes" && r.passes == 1 && (r.run == mapped_read || r.run == copied_read)) {
      for (r.passes = 1; r.passes <= 8; ++r.passes) add(std::to_string(r.passes));
    }
    if (sweep == "chunks" && r.run == overlapped) {
      for (r.chunks = 1; r.chunks <= 256; r.chunks *= 2) add(std::to_string(r.chunks));
    }
  }
  return routes;
}

// Runs the route, checks, times it, and checks again: still right after the timed runs?
Timing measure(const Route& route, Problem p, std::size_t samples, bool* ok) {
  if (route.n > 0) p.n = std::min(p.n, route.n);
  if (route.chunks > 0) p.chunks = route.chunks;
  p.passes = route.passes;
  const bool to_host = route.where == At::kHost || route.where == At::kUnread;
  unsigned*& host = to_host ? p.h_y : p.h_x;
  if (route.kind != nullptr) host = route.kind->get(p.n);
  if (!to_host) std::memcpy(p.h_x, p.data, p.n * kWord);
  *ok = run_and_check(route.name, p, route.run, route.where);
  const auto work = [&] { route.run(p); };
  const Timing t = route.clock == Clock::kEvents ? time_launches(samples, work)
                   : route.clock == Clock::kHost ? time_until_done(samples, work)
                                                 : time_calls(samples, work);
  *ok = check(route.name, p, route.where) && *ok;
  if (route.kind != nullptr) route.kind->give_back(host);
  return t;
}

void add_row(ResultTable& table, const Options& opt, const Route& route, const Problem& p) {
  bool ok = false;
  const Timing t = measure(route, p, opt.samples, &ok);
  const std::size_t words = route.n > 0 ? std::min(p.n, route.n) : p.n;
  const bool moves = route.clock != Clock::kCall;  // a call only asks for it: that has no rate
  table.add(route.name, t, moves ? static_cast<double>(words * kWord) : 0, ok);
}

// Nothing is faster than its slowest part: that is the ideal of overlapping.
void note_ideal(ResultTable& table, const Options& opt, const Problem& p) {
  const auto ms = [&](Run run) { return time_launches(opt.samples, [&] { run(p); }).median_ms; };
  const double copy = ms(h2d), kernel = ms(kernel_alone), both = ms(overlapped);
  table.measured("of_ideal", 100 * std::max(copy, kernel) / both, "%",
                 "overlapped " + digits_text(both) + " ms; the ideal is the slower of copy (" +
                     digits_text(copy) + ") and kernel (" + digits_text(kernel) + ")");
}

// Every event of the overlapped versions, and of the same work in a single chunk.
bool write_timeline(CsvFile& csv, Problem p) {
  bool ok = true;
  Timeline::write_header(csv);
  const auto write = [&](const std::string& name, Run run) {
    for (const bool warm : {false, true}) {
      Timeline timeline;
      p.timeline = &timeline;
      ok = run_and_check(name, p, run, At::kDevice) && ok;
      if (warm) timeline.write(csv, name);
    }
  };
  write("overlapped", overlapped);
  write("overlapped_pageable", overlapped_pageable);
  p.chunks = 1;
  write("one_chunk", overlapped);
  return ok;
}

int main(int argc, char** argv) {
  Options opt("09_pinned_mapped_memory", "how does data get there?");
  for (const Route& route : all_routes()) opt.version(route.name, route.summary);
  std::size_t n = 0, rounds = kOnGpu ? 1024 : 16, chunks = 16, streams = 4;
  std::string sweep, timeline_csv;
  opt.add("n", &n, 1, kMaxN, "words of 4 bytes [64 Mi; 256 Mi for --sweep size]");
  opt.add("rounds", &rounds, 1, 1_Mi, "the kernel's work per word");
  opt.add("chunks", &chunks, 1, 64_Ki, "chunks of the overlapped versions");
  opt.add("streams", &streams, 1, 32, "streams of the overlapped versions");
  opt.add("sweep", &sweep, {"size", "passes", "chunks"}, "measure one of these instead");
  opt.add_file("timeline-csv", &timeline_csv,
               "when each chunk of the overlapped versions got where");
  opt.parse(argc, argv);
  if (!sweep.empty() && !(opt.only.empty() && timeline_csv.empty())) {
    opt.usage_error("--sweep " + sweep + ": not together with --only or --timeline-csv");
  }
  if (n == 0) n = !kOnGpu ? 256_Ki : sweep == "size" ? 256_Mi : 64_Mi;
  const Device device = open_device(opt);
  const std::size_t bytes = n * kWord;
  require_device_memory(opt, "--n " + std::to_string(n), 3 * bytes);
  CsvFile timeline_file;
  timeline_file.open(opt, "--timeline-csv", timeline_csv);

  std::vector<unsigned> data(n), seen(n);
  for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<unsigned>(random_bits(opt.seed, i));
  Problem p{};
  p.n = n;
  p.data = data.data();
  p.seen = seen.data();
  p.rounds = static_cast<unsigned>(rounds);
  p.passes = 1;
  p.chunks = chunks;
  p.streams.resize(streams);
  for (cudaStream_t& stream : p.streams) CUDA_CHECK(cudaStreamCreate(&stream));
  unsigned* d_data = nullptr;
  for (unsigned** words : {&d_data, &p.d_x, &p.d_y}) CUDA_CHECK(cudaMalloc(words, bytes));
  for (unsigned** words : {&p.h_x, &p.h_y}) {
    CUDA_CHECK(cudaHostAlloc(words, bytes, cudaHostAllocMapped));
  }
  // One piece of memory, two addresses: the host's and the device's. Today they are mostly equal.
  CUDA_CHECK(cudaHostGetDevicePointer(&p.mapped_x, p.h_x, 0));
  CUDA_CHECK(cudaHostGetDevicePointer(&p.mapped_y, p.h_y, 0));
  CUDA_CHECK(cudaMemcpy(d_data, data.data(), bytes, cudaMemcpyHostToDevice));
  std::memcpy(p.h_x, data.data(), bytes);
  p.d_data = d_data;

  const std::string size = "n = " + std::to_string(n) + " · " + std::to_string(rounds) + " rounds";
  ResultTable table(opt, device, (sweep.empty() ? "" : sweep + " sweep · ") + size, bytes);
  const double pinned_ms = time_until_done(opt.samples, [&] { h2d(p); }).median_ms;
  if (kOnGpu) table.rate_in_gbps("pinned", static_cast<double>(bytes) / pinned_ms / 1e6);
  table.without_speedup();  // the rows do not all do the same
  for (const Route& route : sweep.empty() ? all_routes() : routes_of_sweep(sweep, n)) {
    if (!sweep.empty() || opt.wants(route.name)) add_row(table, opt, route, p);
  }
  if (kOnGpu && sweep.empty() && opt.wants("overlapped")) note_ideal(table, opt, p);
  const bool ok = !timeline_file.is_open() || write_timeline(timeline_file, p);
  for (unsigned* words : {d_data, p.d_x, p.d_y}) CUDA_CHECK(cudaFree(words));
  for (unsigned* words : {p.h_x, p.h_y}) CUDA_CHECK(cudaFreeHost(words));
  for (cudaStream_t stream : p.streams) CUDA_CHECK(cudaStreamDestroy(stream));
  const int status = table.finish();
  return timeline_file.finish() && ok ? status : kExitWrong;
}
