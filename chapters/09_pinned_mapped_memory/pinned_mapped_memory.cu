// SPDX-License-Identifier: MIT
// Chapter 09: how does data get there?
//
// h2d_*, d2h_*  one copy, to the device or back, for four kinds of host memory
// mapped_*      a kernel reads or writes host memory: no copy at all
// copied_*      the same kernel on device memory, and a copy before or after it
// managed_*     one pointer for both sides, and pages that move to whoever touches them
// overlapped*   chunks over streams: the next one is copied while the kernel works on this one
// The files included below add: what a call costs, what the host can do meanwhile, which streams
// wait for the default stream, and what scratch memory costs (--list).
// Run: make run CH=09

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "../../common/rounds.cuh"
#include "../../common/timeline.cuh"
#include "host_memory.cuh"  // the kinds of it, and managed memory

constexpr std::size_t kMaxN = 4_Gi;  // words of 4 bytes
constexpr unsigned kBlock = 256;

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

// ---- ways to get there -------------------------------------------------------------------------

// What is sent, how often it is worked on, and all the memory that it may pass through.
struct Transfer {
  std::size_t n;                             // words
  unsigned rounds, passes;                   // rounds per word, over all passes of the kernel
  const unsigned *data, *d_data;             // what is sent, from the host and from the device
  unsigned *h_x, *h_y;                       // pinned: holds the data; gets results
  unsigned *mapped_x, *mapped_y;             // the same memory by its addresses on the device
  unsigned *d_x, *d_y;                       // on the device: gets the data; gets results
  unsigned* seen;                            // pageable: where the host looks at results
  std::size_t chunks;                        // of the overlapped versions
  std::vector<cudaStream_t> streams;         // over which the chunks go
  cudaStream_t blocking[2], nonblocking[2];  // do, and do not, take turns with the default stream
  Timeline* timeline;                        // nullptr while times are taken

  unsigned rounds_per_pass() const { return std::max(1u, rounds / std::max(1u, passes)); }
};

// Async: the calls may return before the bytes are there.
void copy_in(const Transfer& t, unsigned* to) {
  CUDA_CHECK(cudaMemcpyAsync(to, t.h_x, t.n * kWord, cudaMemcpyHostToDevice));
}
void copy_out(const Transfer& t, const unsigned* from) {
  CUDA_CHECK(cudaMemcpyAsync(t.h_y, from, t.n * kWord, cudaMemcpyDeviceToHost));
}

// The arithmetic is the same for any number of passes, but each pass reads all of x again.
void run_passes(const Transfer& t, const unsigned* x, unsigned* y) {
  const auto grid = static_cast<unsigned>(div_up(t.n, kBlock));
  for (unsigned pass = 0; pass < t.passes; ++pass) {
    mix<<<grid, kBlock>>>(x, t.n, kRound, t.rounds_per_pass(), pass == 0, y);
    CUDA_CHECK_LAUNCH();
  }
}

void h2d(const Transfer& t) { copy_in(t, t.d_y); }
void d2h(const Transfer& t) { copy_out(t, t.d_data); }
void h2d_pinned_for_it(const Transfer& t) {
  CUDA_CHECK(cudaHostRegister(t.h_x, t.n * kWord, cudaHostRegisterDefault));
  h2d(t);
  CUDA_CHECK(cudaStreamSynchronize(nullptr));  // the pages must stay until the copy is done
  CUDA_CHECK(cudaHostUnregister(t.h_x));
}
void host_read(const Transfer& t) { std::memcpy(t.seen, t.h_x, t.n * kWord); }
void kernel_alone(const Transfer& t) { run_passes(t, t.d_data, t.d_y); }
void mapped_read(const Transfer& t) { run_passes(t, t.mapped_x, t.d_y); }
void copied_read(const Transfer& t) {
  copy_in(t, t.d_x);
  run_passes(t, t.d_x, t.d_y);
}
void mapped_write(const Transfer& t) { run_passes(t, t.d_data, t.mapped_y); }
void copied_write(const Transfer& t) {
  run_passes(t, t.d_data, t.d_y);
  copy_out(t, t.d_y);
}

// A chunk's copy and its kernel are in one stream: the kernel waits for its copy. The next chunk
// is in the next stream and waits for neither: its copy goes on while this kernel works.
void run_chunks(const Transfer& t, const unsigned* host_x) {
  const std::size_t chunk_words = div_up(t.n, t.chunks);
  for (std::size_t begin = 0, chunk = 0; begin < t.n; begin += chunk_words, ++chunk) {
    const std::size_t count = std::min(chunk_words, t.n - begin);
    const std::size_t index = chunk % t.streams.size();
    const auto grid = static_cast<unsigned>(div_up(count, kBlock));
    const cudaStream_t stream = t.streams[index];
    const auto mark = [&](const char* label) {
      if (t.timeline != nullptr) t.timeline->mark(chunk, index, label, stream);
    };
    mark("begin");
    CUDA_CHECK(cudaMemcpyAsync(t.d_x + begin, host_x + begin, count * kWord, cudaMemcpyHostToDevice,
                               stream));
    mark("copied");
    mix<<<grid, kBlock, 0, stream>>>(t.d_x + begin, count, kRound, t.rounds_per_pass(), true,
                                     t.d_y + begin);
    CUDA_CHECK_LAUNCH();
    mark("computed");
  }
}
void overlapped(const Transfer& t) { run_chunks(t, t.h_x); }
void overlapped_pageable(const Transfer& t) { run_chunks(t, t.data); }

// ---- checking ----------------------------------------------------------------------------------

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

using Run = void (*)(const Transfer&);
// Results are in d_y, h_y, h_y, seen; or only the row itself knows.
enum class At { kDevice, kHost, kUnread, kSeen, kElsewhere };

bool check(const std::string& name, const Transfer& t, At where) {
  if (where == At::kElsewhere) return true;
  const std::size_t bytes = t.n * kWord;
  // The host may take seconds to read write-combined memory: that goes by way of the device.
  if (where == At::kUnread) CUDA_CHECK(cudaMemcpy(t.d_y, t.h_y, bytes, cudaMemcpyHostToDevice));
  if (where == At::kUnread || where == At::kDevice) {
    CUDA_CHECK(cudaMemcpy(t.seen, t.d_y, bytes, cudaMemcpyDeviceToHost));
  }
  const std::vector<unsigned> expected = reference(t.data, t.n, t.rounds_per_pass(), t.passes);
  return all_equal(name, where == At::kHost ? t.h_y : t.seen, expected.data(), t.n);
}

bool run_and_check(const std::string& name, const Transfer& t, Run run, At where) {
  for (unsigned* words : {t.h_y, t.seen}) std::memset(words, 0xff, t.n * kWord);  // poison
  for (unsigned* words : {t.d_x, t.d_y}) CUDA_CHECK(cudaMemset(words, 0xff, t.n * kWord));
  CUDA_CHECK(cudaDeviceSynchronize());  // non-blocking streams would overtake the poison
  run(t);
  CUDA_CHECK(cudaDeviceSynchronize());  // until here anything may stand in h_y
  return check(name, t, where);
}

// ---- memory ------------------------------------------------------------------------------------

// The memory and the streams of a transfer. Whatever a call has given, another one takes back.
struct TransferMemory {
  TransferMemory(std::size_t n, std::uint64_t seed, std::size_t streams) : data(n), seen(n) {
    for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<unsigned>(random_bits(seed, i));
    const std::size_t bytes = n * kWord;
    Transfer& t = transfer;
    for (unsigned** words : {&d_data, &t.d_x, &t.d_y}) CUDA_CHECK(cudaMalloc(words, bytes));
    for (unsigned** words : {&t.h_x, &t.h_y}) CUDA_CHECK(cudaMallocHost(words, bytes));
    // Kernels can reach any pinned memory. By which address? Nearly always by the host's own.
    CUDA_CHECK(cudaHostGetDevicePointer(&t.mapped_x, t.h_x, 0));
    CUDA_CHECK(cudaHostGetDevicePointer(&t.mapped_y, t.h_y, 0));
    CUDA_CHECK(cudaMemcpy(d_data, data.data(), bytes, cudaMemcpyHostToDevice));
    std::memcpy(t.h_x, data.data(), bytes);
    t.streams.resize(streams);
    for (cudaStream_t& stream : t.streams) CUDA_CHECK(cudaStreamCreate(&stream));
    for (cudaStream_t& stream : t.blocking) CUDA_CHECK(cudaStreamCreate(&stream));
    for (cudaStream_t& stream : t.nonblocking) {
      CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    t.n = n;
    t.passes = 1;
    t.data = data.data();
    t.d_data = d_data;
    t.seen = seen.data();
  }
  ~TransferMemory() {
    for (unsigned* words : {d_data, transfer.d_x, transfer.d_y}) CUDA_CHECK(cudaFree(words));
    for (unsigned* words : {transfer.h_x, transfer.h_y}) CUDA_CHECK(cudaFreeHost(words));
    for (cudaStream_t stream : transfer.streams) CUDA_CHECK(cudaStreamDestroy(stream));
    for (cudaStream_t stream : transfer.blocking) CUDA_CHECK(cudaStreamDestroy(stream));
    for (cudaStream_t stream : transfer.nonblocking) CUDA_CHECK(cudaStreamDestroy(stream));
  }
  TransferMemory(const TransferMemory&) = delete;
  TransferMemory& operator=(const TransferMemory&) = delete;

  std::vector<unsigned> data, seen;
  unsigned* d_data = nullptr;
  Transfer transfer{};
};

#include "default_stream.cuh"  // who waits for the default stream
#include "host_works.cuh"      // what the host can do during a copy
#include "managed.cuh"         // pages that move by themselves, or when they are told to
#include "overlap.cuh"         // what overlapping gains, and when each chunk got where
#include "scratch.cuh"         // what it costs to get and give back scratch memory
#include "second_read.cuh"     // whether a word that is read twice crosses the bus twice

#include "routes.cuh"  // the rows of the table and of the sweeps: they take all of these ways

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
  require_device_memory(opt, "--n " + std::to_string(n), 3 * n * kWord);
  CsvFile timeline_file;
  timeline_file.open(opt, "--timeline-csv", timeline_csv);

  TransferMemory memory(n, opt.seed, streams);
  memory.transfer.rounds = static_cast<unsigned>(rounds);
  memory.transfer.chunks = chunks;
  const std::string size = "n = " + std::to_string(n) + " · " + std::to_string(rounds) + " rounds";
  ResultTable table(opt, device, (sweep.empty() ? "" : sweep + " sweep · ") + size, n * kWord);
  add_rows(table, sweep.empty() ? all_routes() : routes_of_sweep(sweep, n), memory.transfer);
  if (kOnGpu && sweep.empty() && opt.wants("overlapped")) note_ideal(table, memory.transfer);
  const bool ok = !timeline_file.is_open() || write_timeline(timeline_file, memory.transfer);
  const int status = table.finish();
  return timeline_file.finish() && ok ? status : kExitWrong;
}
