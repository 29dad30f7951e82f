// SPDX-License-Identifier: MIT
// What does a short launch cost that needs the one before it?
//
// A sum by halves: each launch adds the upper half of what is left to the lower half, and needs all
// that the one before it wrote. All rows launch the same kernels in the same order.
//
// one_by_one       the host waits after each launch
// stream           the launches follow each other in a stream
// graph            captured once as a CUDA graph, and replayed
// dependent        programmatic dependent launch: a grid may start while the one before it runs,
//                  and waits in the kernel
// dependent_late   the same, but no grid says early that the next may start
// dependent_graph  the launches of `dependent`, captured and replayed

#include <map>
#include <memory>

#include "../../../common/common.cuh"
#include "sum_memory.cuh"

// The next launch may start as soon as all blocks have called this or ended, if it is launched as a
// dependent one. That promises nothing about memory.
__device__ void let_next_start() {
#if defined(__CUDA_CPU__) || __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Returns when the launch before this one has ended, and all that it wrote is visible here. Where
// this kernel is launched in the usual way that holds from the start. GPUs before compute
// capability 9.0 know no other way.
__device__ void wait_for_previous() {
#if defined(__CUDA_CPU__) || __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// The first launch of a sum reads what no launch writes: it may do that before it waits. It stores
// afterwards, because the launches of the sum before may still read and write `sums`.
template <bool kEarly>
__global__ void square_halves(const int* x, std::size_t n, Sum* sums) {
  if (kEarly) let_next_start();
  const std::size_t lower = (n + 1) / 2, i = global_index();
  Sum sum = 0;
  if (i < lower) sum = square(x[i]);
  if (i < n - lower) sum += square(x[lower + i]);
  wait_for_previous();
  if (i < lower) sums[i] = sum;
}

template <bool kEarly>
__global__ void add_halves(Sum* sums, std::size_t n) {
  if (kEarly) let_next_start();
  wait_for_previous();  // every sum comes from the launch before
  const std::size_t lower = (n + 1) / 2, i = global_index();
  if (i < n - lower) sums[i] += sums[lower + i];
}

// The ints, and the sums that launches leave to the next one.
struct Halves {
  void poison() const { sums.poison(); }
  bool is_right(const std::string& version) const {
    Sum expected = 0;
    for (const long long v : host_x) expected += static_cast<Sum>(v * v);
    return equals(version, sums.download()[0], expected);
  }
  std::size_t launches() const {  // of one sum
    std::size_t count = 1;
    for (std::size_t left = lower; left > 1; left = div_up(left, 2)) ++count;
    return count;
  }

  std::vector<int> host_x;
  unsigned block;
  std::size_t lower{div_up(host_x.size(), 2)};
  DeviceArray<int> x{host_x};
  DeviceArray<Sum> sums{lower};
};

// How one sum gets to the device.
struct Way {
  const char* name;
  const char* summary;
  bool host_waits, is_dependent, is_early, is_graph;
};

const Way kWays[] = {
    {"one_by_one", "the host waits after each launch", true, false, true, false},
    {"stream", "one after the other in a stream", false, false, true, false},
    {"graph", "captured once, and replayed", false, false, true, true},
    {"dependent", "each may start before the last one ends", false, true, true, false},
    {"dependent_late", "no grid lets the next start early", false, true, false, false},
    {"dependent_graph", "dependent launches in a graph", false, true, true, true},
};

template <class... Parameters, class... Arguments>
void launch(const Way& way, std::size_t threads, unsigned block, cudaStream_t stream,
            void (*kernel)(Parameters...), const Arguments&... arguments) {
  cudaLaunchAttribute may_start_early{};
  may_start_early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  may_start_early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks_for(threads, block);
  config.blockDim = block;
  config.stream = stream;
  config.attrs = &may_start_early;
  config.numAttrs = way.is_dependent ? 1 : 0;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
  if (way.host_waits) CUDA_CHECK(cudaStreamSynchronize(stream));
}

void launch_all(const Way& way, const Halves& h, cudaStream_t stream) {
  launch(way, h.lower, h.block, stream, way.is_early ? square_halves<true> : square_halves<false>,
         h.x.get(), h.x.size(), h.sums.get());
  for (std::size_t left = h.lower; left > 1; left = div_up(left, 2)) {
    launch(way, div_up(left, 2), h.block, stream,
           way.is_early ? add_halves<true> : add_halves<false>, h.sums.get(), left);
  }
}

// What a graph costs before its first replay, by the host's clock.
struct Once {
  double capture_us = 0, instantiate_us = 0, upload_us = 0;
};

// The launches of one sum as a graph that is ready to run.
class ReadyGraph {
 public:
  ReadyGraph(const Way& way, const Halves& h, cudaStream_t stream) {
    const double begin = host_ms();
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch_all(way, h, stream);  // nothing runs: the stream notes what it would run
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    const double captured = host_ms();
    CUDA_CHECK(cudaGraphInstantiate(&ready_, graph, 0));
    const double instantiated = host_ms();
    CUDA_CHECK(cudaGraphUpload(ready_, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    const double uploaded = host_ms();
    CUDA_CHECK(cudaGraphDestroy(graph));
    once_ = {1e3 * (captured - begin), 1e3 * (instantiated - captured),
             1e3 * (uploaded - instantiated)};
  }
  ~ReadyGraph() { cudaGraphExecDestroy(ready_); }
  ReadyGraph(const ReadyGraph&) = delete;
  ReadyGraph& operator=(const ReadyGraph&) = delete;

  void replay(cudaStream_t stream) const { CUDA_CHECK(cudaGraphLaunch(ready_, stream)); }
  const Once& once() const { return once_; }

 private:
  cudaGraphExec_t ready_ = nullptr;
  Once once_;
};

// One way, with all that it needs for its sums.
class Sums {
 public:
  Sums(const Way& way, const Halves& h) : way_(way), halves_(h) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    CUDA_CHECK(cudaDeviceSynchronize());  // for what the default stream still does
    if (way.is_graph) graph_ = std::make_unique<ReadyGraph>(way, h, stream_);
  }
  ~Sums() { cudaStreamDestroy(stream_); }
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  // One sum, which may still be under way afterwards.
  void start() const {
    if (graph_ != nullptr) {
      graph_->replay(stream_);
    } else {
      launch_all(way_, halves_, stream_);
    }
  }
  void wait() const { CUDA_CHECK(cudaStreamSynchronize(stream_)); }
  cudaStream_t stream() const { return stream_; }

 private:
  const Way& way_;
  const Halves& halves_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<ReadyGraph> graph_;
};

// Times of one launch, sums in a row.
Timing time_per_launch(const Sums& sums, std::size_t launches, std::size_t samples) {
  EventTimer timer;
  Timing t = time_batches(samples, kOnGpu ? 1024 : 1, [&](std::size_t calls) {
    timer.start(sums.stream());
    for (std::size_t i = 0; i < calls; ++i) sums.start();
    return timer.stop_ms(sums.stream());
  });
  for (double* ms : {&t.median_ms, &t.min_ms, &t.max_ms}) *ms /= static_cast<double>(launches);
  return t;
}

// Microseconds per launch that the host spends in its calls, while the device has nothing else.
double time_calls(const Sums& sums, std::size_t launches, std::size_t samples) {
  std::vector<double> us;
  while (us.size() < samples) {
    const double begin = host_ms();
    sums.start();
    us.push_back(1e3 * (host_ms() - begin) / static_cast<double>(launches));
    sums.wait();
  }
  return median_of(us);
}

__global__ void hold_up(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) continue;
}

// Microseconds per launch when the host is out of the way: a kernel holds the stream up until all
// calls have returned.
double time_queued(const Sums& sums, std::size_t launches, std::size_t samples) {
  constexpr std::size_t kInARow = 8;  // sums; a stream takes about 1,000 launches, then calls wait
  EventTimer timer;
  cudaEvent_t released = nullptr;
  CUDA_CHECK(cudaEventCreate(&released));
  std::vector<double> us;
  for (long long cycles = 1'000'000; us.size() < samples;) {
    hold_up<<<1, 1, 0, sums.stream()>>>(cycles);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaEventRecord(released, sums.stream()));
    timer.start(sums.stream());
    for (std::size_t i = 0; i < kInARow; ++i) sums.start();
    const bool is_held = cudaEventQuery(released) == cudaErrorNotReady;
    cudaGetLastError();  // "not ready" is no error here
    const double ms = timer.stop_ms(sums.stream());
    if (is_held) {
      us.push_back(1e3 * ms / static_cast<double>(kInARow * launches));
    } else {
      cycles *= 2;
    }
  }
  CUDA_CHECK(cudaEventDestroy(released));
  return median_of(us);
}

// What a graph costs once, and after how many sums it has paid for that.
void add_cost_of_graph(ResultTable& table, const Halves& h, double saved_us) {
  const Way& graph = kWays[2];
  const Sums anywhere(graph, h);
  std::vector<double> capture, instantiate, upload;
  while (capture.size() < table.opt.samples) {
    const Once once = ReadyGraph(graph, h, anywhere.stream()).once();
    capture.push_back(once.capture_us);
    instantiate.push_back(once.instantiate_us);
    upload.push_back(once.upload_us);
  }
  const double us[] = {median_of(capture), median_of(instantiate), median_of(upload)};
  table.measured("capture", us[0], "us", "once for the graph: ", us[0], " us to capture it");
  table.measured("instantiate", us[1], "us", "  ", us[1], " us to instantiate it");
  table.measured("upload", us[2], "us", "  ", us[2], " us to upload it");
  // A row may have been left out, or the graph may be slower.
  if (!kOnGpu || saved_us <= 0) return;
  const double sums = (us[0] + us[1] + us[2]) / saved_us;
  table.measured("pays_after", sums, "sums", "  paid for after ", sums, " sums, which are ",
                 saved_us, " us faster each than by `stream`");
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Ki : 4_Ki, block = 512;
  const Options opt(argc, argv, "10_launches_in_a_graph",
                    "what does a short launch cost that needs the one before it?",
                    {{"n", &n, 1, 1_Gi, "ints to sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block", kWarp}});
  ResultTable table(opt, n * (sizeof(int) + sizeof(Sum)), 0, {"calls_us", "queued_us"});
  const Halves halves{random_ints(opt.list ? 1 : n, 0, 9, opt.seed), static_cast<unsigned>(block)};
  const std::size_t launches = halves.launches();
  std::map<std::string, double> us_of;  // of a whole sum
  bool has_cost = false;
  for (const Way& way : kWays) {
    if (!table.wants(way.name, way.summary)) continue;
    if (kOnGpu && way.is_dependent && table.device.major < 9) {
      table.note(way.name, ": left out, because it takes compute capability 9.0 and this is ",
                 table.device.major, '.', table.device.minor);
      continue;
    }
    const Sums sums(way, halves);
    halves.poison();
    CUDA_CHECK(cudaDeviceSynchronize());  // that is in the default stream, for which none waits
    sums.start();
    sums.wait();
    const bool right_at_first = halves.is_right(way.name);
    const Timing t = time_per_launch(sums, launches, opt.samples);
    if (way.host_waits) {
      table.next_row_has("-", "-");
    } else {
      const double calls_us = time_calls(sums, launches, opt.samples);
      table.next_row_has(calls_us, time_queued(sums, launches, opt.samples));
    }
    table.row(way.name, t, 0, halves.is_right(way.name) && right_at_first);
    us_of[way.name] = 1e3 * t.median_ms * static_cast<double>(launches);
    has_cost = has_cost || way.name == std::string("graph");
  }
  table.note("times are of one launch; a sum takes ", launches, " of them");
  if (has_cost) {
    const bool has_both = us_of.count("stream") != 0;
    add_cost_of_graph(table, halves, has_both ? us_of["stream"] - us_of["graph"] : 0);
  }
  return table.finish();
}
