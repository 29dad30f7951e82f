// SPDX-License-Identifier: MIT
// How long does a load take, by where the data lies?

#include "../../../common/common.cuh"
#include "latencies.cuh"

constexpr std::size_t kInMemory = kOnGpu ? 256_Mi : 8_Mi;  // bytes, more than any cache has

using WalkEnd = ChainEnd<unsigned>;

// Rings of links: every load brings the address of the next.
struct Links {
  const unsigned* global;
  cudaTextureObject_t texture;  // over the same memory
};
constexpr unsigned kRing = 64;               // links, in a small ring
__constant__ unsigned constant_ring[16384];  // 64 KiB, all there is

__global__ void walk_constant_ring(WalkEnd* end, unsigned start, unsigned steps, Links) {
  time_chain(end, start, steps, [](unsigned at) { return constant_ring[at]; });
}
__global__ void walk_global_ring(WalkEnd* end, unsigned start, unsigned steps, Links links) {
  time_chain(end, start, steps, [links](unsigned at) { return links.global[at]; });
}
__global__ void walk_texture_ring(WalkEnd* end, unsigned start, unsigned steps, Links links) {
  time_chain(end, start, steps, [links](unsigned at) {
    return tex1Dfetch<unsigned>(links.texture, static_cast<int>(at));
  });
}
__global__ void walk_shared_ring(WalkEnd* end, unsigned start, unsigned steps, Links links) {
  __shared__ unsigned ring[kRing];
  for (unsigned k = 0; k < kRing; ++k) ring[k] = links.global[k];  // by the block's only thread
  const unsigned* const first = ring;
  time_chain(end, start, steps, [first](unsigned at) { return first[at]; });
}
__global__ void walk_local_ring(WalkEnd* end, unsigned start, unsigned steps, Links links) {
  unsigned ring[kRing];
  for (unsigned k = 0; k < kRing; ++k) ring[k] = links.global[k];
  time_chain(end, start, steps, [&ring](unsigned at) { return ring[at]; });
}

// So many bytes of links. Each leads `step` places on, and at the end around to the beginning.
std::vector<unsigned> ring_of(std::size_t bytes, std::size_t step) {
  std::vector<unsigned> links(bytes / sizeof(unsigned));
  for (std::size_t i = 0; i < links.size(); ++i)
    links[i] = static_cast<unsigned>((i + step) % links.size());
  return links;
}

// A texture object over all of an array of links: words that are fetched as they are.
cudaTextureObject_t texture_over(const DeviceArray<unsigned>& links) {
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear = {links.get(), cudaCreateChannelDesc<unsigned>(), links.bytes()};
  const cudaTextureDesc no_rules = {};
  cudaTextureObject_t texture = 0;
  CUDA_CHECK(cudaCreateTextureObject(&texture, &memory, &no_rules, nullptr));
  return texture;
}

constexpr std::size_t kLine = 32;      // links: 128 bytes, so that no line is met twice in a round
constexpr std::size_t kFarApart = 64;  // 256 bytes, a line of the larger constant cache
struct Memory {
  const char* name;
  void (*walk)(WalkEnd* end, unsigned start, unsigned steps, Links links);
  std::size_t bytes, step;
  bool from_dram = false;  // before each walk all caches are filled with something else
};
const Memory kMemories[] = {
    {"constant", walk_constant_ring, kRing * sizeof(unsigned), 1},
    {"constant_64k", walk_constant_ring, sizeof constant_ring, kFarApart},
    {"constant_dram", walk_constant_ring, sizeof constant_ring, kFarApart, true},
    {"shared", walk_shared_ring, kRing * sizeof(unsigned), 1},
    {"local", walk_local_ring, kRing * sizeof(unsigned), 1},
    {"texture", walk_texture_ring, kRing * sizeof(unsigned), 1},
    {"l1", walk_global_ring, 64_Ki, kLine},
    {"l2", walk_global_ring, 4_Mi, kLine},
    {"memory", walk_global_ring, kInMemory, kLine},
};

// Steps of the shorter walk: the longer one meets every line once.
std::size_t longest_from_dram(const Memory& memory) {
  return memory.bytes / (memory.step * sizeof(unsigned)) / 2;
}

void add_row(ResultTable& table, const Memory& memory, std::size_t steps) {
  const std::vector<unsigned> links = ring_of(memory.bytes, memory.step);
  const DeviceArray<unsigned> d_links(links), other(memory.from_dram ? kInMemory / 4 : 0);
  const Links all{d_links, texture_over(d_links)};
  if (memory.from_dram) steps = std::min(steps, longest_from_dram(memory));
  const auto copy_to_constant = [&] {
    CUDA_CHECK(cudaMemcpyToSymbol(constant_ring, links.data(),
                                  std::min(memory.bytes, sizeof constant_ring)));
  };
  copy_to_constant();
  add_latency(
      table, static_cast<unsigned>(steps), memory.name, 0u,
      [&](unsigned at) { return static_cast<unsigned>((at + memory.step) % links.size()); },
      [&](WalkEnd* end, unsigned at, unsigned many) { memory.walk<<<1, 1>>>(end, at, many, all); },
      [&] {
        if (!memory.from_dram) return;
        copy_to_constant();  // what the constant caches have is stale
        other.poison();      // four times as many bytes as the L2 holds
      });
  CUDA_CHECK(cudaDestroyTextureObject(all.texture));
}

int main(int argc, char** argv) {
  std::size_t steps = kOnGpu ? 8192 : 128;
  const Options opt(argc, argv, "12_memory_latency", "how long does a load take?",
                    {{"steps", &steps, 1, 64_Ki, "of the shorter of two walks"}});
  ResultTable table(opt, kInMemory);
  table.rate_in("cycles/step");
  table.without_speedup();
  for (const Memory& memory : kMemories)
    if (table.wants(memory.name, "each load brings the address of the next"))
      add_row(table, memory, steps);
  return table.finish();
}
