// SPDX-License-Identifier: MIT
// How long does one load take when nothing else is going on, and what follows for many?
//
// Little's law: bytes in flight = latency x bandwidth.

#include "../../../common/common.cuh"

// One thread; each load brings the address of the next, so that nothing can overlap: the time per
// load is the latency.
__global__ void follow_links(const unsigned* next, unsigned* position, std::size_t loads) {
  unsigned at = *position;
  for (std::size_t k = 0; k < loads; ++k) at = next[at];
  *position = at;  // the next launch goes on from here
}

// Each link leads to the next 128-byte line, and at the end around to the beginning.
constexpr unsigned kStep = 128 / sizeof(unsigned);

__global__ void link_ring(unsigned* next, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) next[i] = (i + kStep) % count;
}

constexpr std::size_t kRingInMemory = kOnGpu ? 256_Mi : 8_Mi;  // more than any cache holds
constexpr std::size_t kLoads = kOnGpu ? 64_Ki : 1_Ki;          // of a launch

// Follows a ring of links, one in every 128-byte line, that takes up `bytes` (a power of two, at
// least 128). A ring that fits a cache gives that cache's latency. One larger than all caches gives
// the memory's: each launch goes on where the last ended, so that it meets only new lines. Returns
// the nanoseconds per load; 0 if the row is not wanted.
double add_ring(ResultTable& table, std::size_t bytes) {
  const std::string name = "ring=" + bytes_text(bytes);
  if (!table.wants(name)) return 0;
  const unsigned count = bytes / sizeof(unsigned);
  const DeviceArray<unsigned> next(count), d_position(std::vector<unsigned>{0});
  link_ring<<<blocks_for(count, 256), 256>>>(next, count);
  CUDA_CHECK_LAUNCH();

  std::size_t followed = 0;
  Timing t = time_launches(table.opt.samples, [&] {
    follow_links<<<1, 1>>>(next, d_position, kLoads);
    CUDA_CHECK_LAUNCH();
    followed += kLoads;
  });
  for (double* ms : {&t.median_ms, &t.min_ms, &t.max_ms}) *ms /= kLoads;
  const std::size_t position = d_position.download()[0];
  const double ns = 1e6 * t.median_ms;
  table.row(name, t, sizeof(unsigned) / ns, equals("links", position, followed * kStep % count));
  return ns;
}

// What Little's law says of a launch that has so many bytes per thread in flight, where a load
// takes `ns` and the memory is read at `read_gbps` at best.
std::string in_flight(const char* version, unsigned grid, unsigned block, unsigned bytes, double ns,
                      double read_gbps) {
  const double all = 1.0 * grid * block * bytes;
  return text("  ", version, ": ", grid, " x ", block, " threads, ", all / 1e6,
              " MB in flight, at most ", std::min(all / ns, read_gbps), " GB/s");
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "04_load_latency", "how long does a load take, all alone?", {});
  ResultTable table(opt, kRingInMemory, kRingInMemory);
  const double read_gbps = measured_read_gbps(kRingInMemory);
  table.rate_in("GB/s", "read", read_gbps);
  double ns = 0;  // of the last ring, which lies in memory
  for (const std::size_t ring : {64_Ki, 4_Mi, kRingInMemory}) ns = add_ring(table, ring);
  if (!kOnGpu || !opt.only.empty()) return table.finish();

  // What the memory wants in flight, and what the versions could reach if nothing else counted.
  table.note("one load alone takes ", ns, " ns; ", read_gbps, " GB/s for that long are ",
             ns * read_gbps / 1e6, " MB in flight");
  const unsigned sms = table.device.multiProcessorCount;
  const auto fitting = [&](unsigned block) {  // so many blocks of that size, by their threads
    return sms * (table.device.maxThreadsPerMultiProcessor / block);
  };
  table.note(in_flight("one_block_512", 1, 512, 4, ns, read_gbps));
  table.note(in_flight("eight_blocks_64", 8, 64, 4, ns, read_gbps));
  table.note(in_flight("one_block_per_sm", sms, 256, 4, ns, read_gbps));
  table.note(in_flight("occupancy_grid", fitting(256), 256, 4, ns, read_gbps));
  table.note(in_flight("occupancy_api_block", fitting(1024), 1024, 4, ns, read_gbps));
  table.note(in_flight("four_in_flight", fitting(256), 256, 4 * 4, ns, read_gbps));
  table.note(in_flight("one_wide_load", fitting(256), 256, 16, ns, read_gbps));
  table.note(in_flight("eight_wide_loads", sms, 256, 8 * 16, ns, read_gbps));
  return table.finish();
}
