// SPDX-License-Identifier: MIT
// How long does a load take, by where the data lies?

#include <vector>

#include "../../../common/common.cuh"

constexpr std::size_t kInMemory = kOnGpu ? 256_Mi : 8_Mi;  // bytes, more than any cache has

// Where a walk ended, and the cycles that it took.
struct WalkEnd {
  unsigned value;
  long long cycles;
};

template <class Step>
__device__ void time_walk(WalkEnd* end, unsigned start, unsigned steps, Step step) {
  unsigned v = start;
  const long long begin = clock64();
  __syncthreads();  // the clock is read before the first step
#pragma unroll 128
  for (unsigned k = 0; k < steps; ++k) v = step(v);
  end->value = v;
  __syncthreads();  // and again after the last
  end->cycles = clock64() - begin;
}

// Rings of links: every load brings the address of the next.
constexpr unsigned kRing = 64;  // links, in a small ring
__constant__ unsigned constant_ring[kRing];

__global__ void walk_constant_ring(WalkEnd* end, unsigned start, unsigned steps, const unsigned*) {
  time_walk(end, start, steps, [](unsigned at) { return constant_ring[at]; });
}
__global__ void walk_global_ring(WalkEnd* end, unsigned start, unsigned steps,
                                 const unsigned* links) {
  time_walk(end, start, steps, [links](unsigned at) { return links[at]; });
}
__global__ void walk_shared_ring(WalkEnd* end, unsigned start, unsigned steps,
                                 const unsigned* links) {
  __shared__ unsigned ring[kRing];
  for (unsigned k = 0; k < kRing; ++k) ring[k] = links[k];  // by the only thread of the block
  const unsigned* const first = ring;
  time_walk(end, start, steps, [first](unsigned at) { return first[at]; });
}
__global__ void walk_local_ring(WalkEnd* end, unsigned start, unsigned steps,
                                const unsigned* links) {
  unsigned ring[kRing];
  for (unsigned k = 0; k < kRing; ++k) ring[k] = links[k];
  time_walk(end, start, steps, [&ring](unsigned at) { return ring[at]; });
}

// So many bytes of links. Each leads `step` places on, and at the end around to the beginning.
std::vector<unsigned> ring_of(std::size_t bytes, std::size_t step) {
  std::vector<unsigned> links(bytes / sizeof(unsigned));
  for (std::size_t i = 0; i < links.size(); ++i) {
    links[i] = static_cast<unsigned>((i + step) % links.size());
  }
  return links;
}

constexpr std::size_t kLine = 32;  // links: 128 bytes, so that no line is met twice in a round
struct Memory {
  const char* name;
  void (*walk)(WalkEnd* end, unsigned start, unsigned steps, const unsigned* links);
  std::size_t bytes, step;
};
const Memory kMemories[] = {
    {"constant", walk_constant_ring, sizeof constant_ring, 1},
    {"shared", walk_shared_ring, sizeof constant_ring, 1},
    {"local", walk_local_ring, sizeof constant_ring, 1},
    {"l1", walk_global_ring, 64_Ki, kLine},
    {"l2", walk_global_ring, 4_Mi, kLine},
    {"memory", walk_global_ring, kInMemory, kLine},
};

int main(int argc, char** argv) {
  std::size_t steps = kOnGpu ? 8192 : 128;
  const Options opt(argc, argv, "12_memory_latency", "how long does a load take?",
                    {{"steps", &steps, 1, 64_Ki, "of the shorter of two walks"}});
  const Device device = open_device(opt);
  ResultTable table(opt, device, kInMemory);
  table.rate_in("cycles/step");
  table.without_speedup();
  for (const Memory& memory : kMemories) {
    if (!table.wants(memory.name, "each load brings the address of the next")) continue;
    const std::vector<unsigned> links = ring_of(memory.bytes, memory.step);
    const DeviceArray<unsigned> d_links(links);
    CUDA_CHECK(cudaMemcpyToSymbol(constant_ring, links.data(), sizeof constant_ring));
    const DeviceArray<WalkEnd> end(1);
    EventTimer timer;
    std::vector<double> ms, cycles_per_step;
    unsigned at = 0;  // each walk goes on where the last one ended, to new lines
    bool ok = true;
    for (std::size_t sample = 0; sample <= opt.samples; ++sample) {
      double took = 0, cycles = 0;
      for (const unsigned length : {1u, 2u}) {
        const auto walked = static_cast<unsigned>(length * steps);
        end.poison();
        timer.start();
        memory.walk<<<1, 1>>>(end, at, walked, d_links);
        CUDA_CHECK_LAUNCH();
        took = timer.stop_ms();
        const WalkEnd found = end.download()[0];
        at = static_cast<unsigned>((at + walked * memory.step) % links.size());
        cycles = static_cast<double>(found.cycles) - cycles;  // of the second half of the longer
        ok = ok && found.value == at && found.cycles > 0 && found.cycles < 1e7 * took;  // 10 GHz
      }
      if (sample == 0) continue;  // it warms up
      ms.push_back(took);
      cycles_per_step.push_back(cycles / static_cast<double>(steps));
    }
    table.row(memory.name, timing_of(ms), median_of(cycles_per_step), ok);
  }
  return table.finish();
}
