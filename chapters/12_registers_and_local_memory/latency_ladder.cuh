// SPDX-License-Identifier: MIT
// Chapter 12, --show latency: how long one step takes when the next one needs its result. One
// thread, by the cycle counter of its SM. Included by other_rows.cuh.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "../../common/common.cuh"
#include "../../common/rounds.cuh"

// Where a chain of steps ended, and the cycles that it took.
template <class Value>
struct ChainEnd {
  Value value;
  long long cycles;
};

template <class Value, class Step>
__device__ void time_chain(ChainEnd<Value>* end, Value start, unsigned steps, Step step) {
  Value v = start;
  const long long begin = clock64();
  __syncthreads();  // the clock is read before the first step
#pragma unroll 128
  for (unsigned k = 0; k < steps; ++k) v = step(v);
  end->value = v;
  __syncthreads();  // and again after the last
  end->cycles = clock64() - begin;
}

// Fibonacci's numbers: every addition needs the one before. (The same number added again and again
// would be a multiplication to the compiler.)
struct Pair {
  unsigned last, next;
  bool operator==(const Pair& other) const { return last == other.last && next == other.next; }
};
__global__ void chain_int_adds(ChainEnd<Pair>* end, Pair start, unsigned steps) {
  time_chain(end, start, steps, [](Pair v) { return Pair{v.next, v.last + v.next}; });
}
__global__ void chain_int_rounds(ChainEnd<unsigned>* end, unsigned start, unsigned steps,
                                 Round round) {
  time_chain(end, start, steps, [round](unsigned v) { return round(v); });
}
__global__ void chain_float_adds(ChainEnd<float>* end, float start, unsigned steps) {
  time_chain(end, start, steps, [](float v) { return v + 1.0f; });
}
__global__ void chain_float_fmas(ChainEnd<float>* end, float start, unsigned steps, float factor) {
  time_chain(end, start, steps, [factor](float v) { return fmaf(v, factor, 1.0f); });
}
__global__ void chain_double_adds(ChainEnd<double>* end, double start, unsigned steps) {
  time_chain(end, start, steps, [](double v) { return v + 1.0; });
}

// Rings of links: every load brings the address of the next. The same ring in four memories.
constexpr unsigned kRing = 64;
__constant__ unsigned constant_ring[kRing];

__global__ void walk_constant_ring(ChainEnd<unsigned>* end, unsigned start, unsigned steps) {
  time_chain(end, start, steps, [](unsigned at) { return constant_ring[at]; });
}
__global__ void walk_global_ring(ChainEnd<unsigned>* end, unsigned start, unsigned steps,
                                 const unsigned* links) {
  time_chain(end, start, steps, [links](unsigned at) { return links[at]; });
}
__global__ void walk_shared_ring(ChainEnd<unsigned>* end, unsigned start, unsigned steps,
                                 const unsigned* links) {
  __shared__ unsigned ring[kRing];
  for (unsigned k = threadIdx.x; k < kRing; k += blockDim.x) ring[k] = links[k];
  __syncthreads();  // all links are there
  const unsigned* const first = ring;
  time_chain(end, start, steps, [first](unsigned at) { return first[at]; });
}
__global__ void walk_local_ring(ChainEnd<unsigned>* end, unsigned start, unsigned steps,
                                const unsigned* links) {
  unsigned ring[kRing];
  for (unsigned k = 0; k < kRing; ++k) ring[k] = links[k];
  time_chain(end, start, steps, [&ring](unsigned at) { return ring[at]; });
}

namespace latency_ladder {

constexpr unsigned kSteps = kOnGpu ? 8192 : 128;  // of the shorter of two chains; a multiple of 128

// A row: cycles per step from two chains, of kSteps and of twice as many. What both have, the
// beginning and the end, falls out of the difference. `launch(end, start, steps)` puts a chain on
// the default stream; `expected(start, steps)` says where it has to end.
template <class Value, class Launch, class Expected>
double add_row(ResultTable& table, const std::string& name, Value start, Launch&& launch,
               Expected&& expected) {
  if (!table.options().wants(name)) return 0;
  const DeviceArray<ChainEnd<Value>> end(1);
  EventTimer timer;
  std::vector<double> ms, cycles;
  bool ok = true;
  for (std::size_t sample = 0; sample <= table.options().samples; ++sample) {
    double both[2] = {};
    for (const unsigned chain : {0u, 1u}) {
      const unsigned steps = (chain + 1) * kSteps;
      end.poison();
      timer.start();
      launch(end.get(), start, steps);
      CUDA_CHECK_LAUNCH();
      const double took = timer.stop_ms();
      const ChainEnd<Value> found = end.download()[0];
      ok = ok && expected(start, steps) == found.value;
      both[chain] = static_cast<double>(found.cycles);
      ok = ok && cycles_fit(both[chain], took);
      if (chain == 1 && sample > 0) ms.push_back(took);
      start = found.value;
    }
    if (sample > 0) cycles.push_back((both[1] - both[0]) / kSteps);  // the first one warms up
  }
  const double median = median_of(cycles);
  Timing t = timing_of(ms);
  t.sm_mhz = kOnGpu ? sm_clock_mhz() : 0;
  table.add_with_rate(name, t, median, ok);
  return median;
}

// The pair that is so many steps further in Fibonacci's series, by doubling: from the numbers k and
// k + 1 of the series 0, 1, 1, 2, ... follow those with twice the index.
inline Pair fibonacci_after(Pair pair, unsigned steps) {
  unsigned a = 0, b = 1;  // numbers k and k + 1, where k is made of the leading bits of `steps`
  for (unsigned bit = 1u << 31; bit != 0; bit /= 2) {
    const unsigned even = a * (2 * b - a), odd = a * a + b * b;
    a = (steps & bit) != 0 ? odd : even;
    b = (steps & bit) != 0 ? even + odd : odd;
  }
  return {pair.last * (b - a) + pair.next * a, pair.last * a + pair.next * b};
}

void add_arithmetic_rows(ResultTable& table, int cores) {
  add_row(
      table, "int_add", Pair{0, 1},
      [](auto* end, Pair start, unsigned steps) { chain_int_adds<<<1, 1>>>(end, start, steps); },
      fibonacci_after);
  add_row(
      table, "int_multiply_add", 1u,
      [](auto* end, unsigned start, unsigned steps) {
        chain_int_rounds<<<1, 1>>>(end, start, steps, kRound);
      },
      [](unsigned v, unsigned steps) { return repeated(kRound, steps)(v); });
  const auto counted = [](auto v, unsigned steps) {
    return v + static_cast<decltype(v)>(steps);  // exact in a float up to 2^24
  };
  const double add = add_row(
      table, "float_add", 0.0f,
      [](auto* end, float, unsigned steps) { chain_float_adds<<<1, 1>>>(end, 0.0f, steps); },
      [&](float, unsigned steps) { return counted(0.0f, steps); });
  add_row(
      table, "float_multiply_add", 0.0f,
      [](auto* end, float, unsigned steps) { chain_float_fmas<<<1, 1>>>(end, 0.0f, steps, 1.0f); },
      [&](float, unsigned steps) { return counted(0.0f, steps); });
  add_row(
      table, "double_add", 0.0,
      [](auto* end, double, unsigned steps) { chain_double_adds<<<1, 1>>>(end, 0.0, steps); },
      [&](double, unsigned steps) { return counted(0.0, steps); });
  if (kOnGpu && add > 0 && cores > 0) {
    table.measured("threads_to_hide", add * cores, "threads",
                   "float_add: " + digits_text(add) + " cycles, " + std::to_string(cores) +
                       " cores per SM: " + digits_text(add * cores) +
                       " threads hide one another's latency");
  }
}

void name_rows(Options& opt) {
  for (const char* name :
       {"int_add", "int_multiply_add", "float_add", "float_multiply_add", "double_add"}) {
    opt.version(name, "each needs the result of the one before");
  }
  for (const char* name : {"constant", "shared", "local", "l1", "l2", "memory"}) {
    opt.version(name, "loads that each bring the address of the next");
  }
}

// A ring with a link in every `step`-th of `count` places.
std::vector<unsigned> ring_of(std::size_t count, std::size_t step) {
  std::vector<unsigned> links(count);
  for (std::size_t i = 0; i < count; ++i) links[i] = static_cast<unsigned>((i + step) % count);
  return links;
}

void add_rows(ResultTable& table, const Device& device) {
  table.without_speedup();
  if (kOnGpu) table.rate_in("cycles/step");
  add_arithmetic_rows(table, fp32_cores_per_sm(device.major, device.minor));
  const std::vector<unsigned> links = ring_of(kRing, 1);
  const DeviceArray<unsigned> d_links(links);
  CUDA_CHECK(cudaMemcpyToSymbol(constant_ring, links.data(), sizeof constant_ring));
  const auto around = [](std::size_t count, std::size_t step) {
    return [=](unsigned at, unsigned steps) {
      return static_cast<unsigned>((at + steps * step) % count);
    };
  };
  add_row(
      table, "constant", 0u,
      [](auto* end, unsigned at, unsigned steps) { walk_constant_ring<<<1, 1>>>(end, at, steps); },
      around(kRing, 1));
  add_row(
      table, "shared", 0u,
      [&](auto* end, unsigned at, unsigned steps) {
        walk_shared_ring<<<1, 1>>>(end, at, steps, d_links.get());
      },
      around(kRing, 1));
  add_row(
      table, "local", 0u,
      [&](auto* end, unsigned at, unsigned steps) {
        walk_local_ring<<<1, 1>>>(end, at, steps, d_links.get());
      },
      around(kRing, 1));
  constexpr std::size_t kLine = 128 / sizeof(unsigned);
  const std::pair<const char*, std::size_t> rings[] = {
      {"l1", 64_Ki}, {"l2", 4_Mi}, {"memory", kRingInMemory}};
  for (const auto& ring : rings) {
    const std::size_t count = ring.second / sizeof(unsigned);
    const DeviceArray<unsigned> in_memory(ring_of(count, kLine));
    add_row(
        table, ring.first, 0u,
        [&](auto* end, unsigned at, unsigned steps) {
          walk_global_ring<<<1, 1>>>(end, at, steps, in_memory.get());
        },
        around(count, kLine));
  }
}

}  // namespace latency_ladder
