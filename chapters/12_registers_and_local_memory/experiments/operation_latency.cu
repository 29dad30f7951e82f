// SPDX-License-Identifier: MIT
// How long does an operation take until the next one can use its result?

#include "../../../common/common.cuh"
#include "latencies.cuh"

// Fibonacci's numbers: every addition needs the one before. (The same number added again and again
// would be a multiplication to the compiler.)
struct Pair {
  unsigned last, next;
  bool operator==(const Pair& other) const { return last == other.last && next == other.next; }
};
__global__ void chain_int_adds(ChainEnd<Pair>* end, Pair start, unsigned steps) {
  time_chain(end, start, steps, [](Pair v) { return Pair{v.next, v.last + v.next}; });
}

// A multiplication and an addition: the next random number (Press et al., "Numerical Recipes").
struct Round {
  unsigned factor, step;
  __host__ __device__ unsigned operator()(unsigned v) const { return v * factor + step; }
};
constexpr Round kRound{1664525, 1013904223};

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

// Every warp of the block has to arrive before any goes on. One thread tells what it saw.
__global__ void chain_barriers(ChainEnd<unsigned>* end, unsigned start, unsigned steps) {
  ChainEnd<unsigned> mine;
  time_chain(&mine, start, steps, [](unsigned v) {
    __syncthreads();
    return v + 1;
  });
  if (threadIdx.x == 0) *end = mine;
}

int main(int argc, char** argv) {
  std::size_t steps = kOnGpu ? 8192 : 128;
  const Options opt(argc, argv, "12_operation_latency", "how long does an operation take?",
                    {{"steps", &steps, 1, 64_Ki, "of the shorter of two chains"}});
  ResultTable table(opt, sizeof(ChainEnd<double>));
  table.rate_in("cycles/step");
  table.without_speedup();
  const auto row = [&](const std::string& name, const char* summary, unsigned threads, auto chain,
                       auto start, auto step, auto... more) {
    if (!table.wants(name, summary)) return 0.0;
    return add_latency(table, steps, name, start, step, [=](auto* end, auto v, unsigned many) {
      chain<<<1, threads>>>(end, v, many, more...);
    });
  };
  const char* const chained = "each step needs the result of the one before";
  const auto next = [](Pair v) { return Pair{v.next, v.last + v.next}; };
  const auto add_one = [](auto v) { return v + 1; };
  row("int_add", chained, 1, chain_int_adds, Pair{0, 1}, next);
  row("int_multiply_add", chained, 1, chain_int_rounds, 1u, kRound, kRound);
  const double add = row("float_add", chained, 1, chain_float_adds, 0.0f, add_one);
  row("float_multiply_add", chained, 1, chain_float_fmas, 0.0f, add_one, 1.0f);
  row("double_add", chained, 1, chain_double_adds, 0.0, add_one);
  for (const unsigned warps : {1u, 8u, 32u})
    row(text("barrier_of_", warps), "each step is a barrier of so many warps", 32 * warps,
        chain_barriers, 0u, add_one);

  const double threads = add * fp32_cores_per_sm(table.device.major, table.device.minor);
  if (kOnGpu && threads > 0)
    table.measured("threads_to_hide", threads, "threads", threads,
                   " threads on an SM hide each other's float_add");
  return table.finish();
}
