// SPDX-License-Identifier: MIT
// How long does a load take, by where the data lies?

#include "../../../common/common.cuh"
#include "../latencies.cuh"

constexpr std::size_t kInMemory = kOnGpu ? 256_Mi : 8_Mi;  // bytes, more than any cache has

using WalkEnd = ChainEnd<unsigned>;

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
  for (std::size_t i = 0; i < links.size(); ++i)
    links[i] = static_cast<unsigned>((i + step) % links.size());
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
  open_device(opt);
  ResultTable table(opt, kInMemory);
  table.rate_in("cycles/step");
  table.without_speedup();
  for (const Memory& memory : kMemories) {
    if (!table.wants(memory.name, "each load brings the address of the next")) continue;
    const std::vector<unsigned> links = ring_of(memory.bytes, memory.step);
    const DeviceArray<unsigned> d_links(links);
    CUDA_CHECK(cudaMemcpyToSymbol(constant_ring, links.data(), sizeof constant_ring));
    const auto step = [&](unsigned at) {
      return static_cast<unsigned>((at + memory.step) % links.size());
    };
    add_latency(table, opt.samples, static_cast<unsigned>(steps), memory.name, memory.walk, 0u,
                step, d_links.get());
  }
  return table.finish();
}
