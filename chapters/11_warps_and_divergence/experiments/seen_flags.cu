// SPDX-License-Identifier: MIT
// Does a warp that waits for a flag see it rise?
//
// flag_plain     the flag is an ordinary variable
// flag_volatile  a volatile one
// flag_relaxed   an atomic one, without order

#include <cuda/atomic>

#include "../../../common/common.cuh"

constexpr unsigned kWarp = 32;

// How the flag is read and written.
enum class Way { kPlain, kVolatile, kRelaxed };

template <Way kWay>
__device__ unsigned read_flag(unsigned* flag) {
  if constexpr (kWay == Way::kPlain) {
    return *flag;
  } else if constexpr (kWay == Way::kRelaxed) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> word(*flag);
    return word.load(cuda::memory_order_relaxed);
  } else {
    return *static_cast<volatile unsigned*>(flag);
  }
}

template <Way kWay>
__device__ void write_flag(unsigned* flag, unsigned value) {
  if constexpr (kWay == Way::kRelaxed) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> word(*flag);
    word.store(value, cuda::memory_order_relaxed);
  } else {
    *static_cast<volatile unsigned*>(flag) = value;
  }
}

// Warp 1 raises the flag after a while. Warp 0 looks at it, `turns` times at most; *turn becomes
// the turn in which it saw it. A plain flag is nothing that the compiler reads twice: nobody else
// can change it, as far as the source says.
template <Way kWay>
__global__ void wait_for_flag(unsigned* flag, unsigned turns, unsigned* turn) {
  if (threadIdx.x == kWarp) {
    const std::uint64_t begin = global_timer_ns();
    while (global_timer_ns() - begin < 10000) {
    }
    write_flag<kWay>(flag, 1);
  } else if (threadIdx.x == 0) {
    unsigned k = 0;
    while (k < turns && read_flag<kWay>(flag) == 0) ++k;
    *turn = k;
  }
}

struct Row {
  const char *name, *summary;
  void (*kernel)(unsigned* flag, unsigned turns, unsigned* turn);
  bool is_seen;  // for certain
};

// On the CPU backend a thread that reads a volatile flag in a loop does not let the other one run.
const Row kRows[] = {
    {"flag_plain", "an ordinary variable", wait_for_flag<Way::kPlain>, false},
    {"flag_volatile", "a volatile one", wait_for_flag<Way::kVolatile>, kOnGpu},
    {"flag_relaxed", "an atomic one, without order", wait_for_flag<Way::kRelaxed>, true},
};

// The turn in which the flag was seen; `turns`: in none.
unsigned turn_seen(const Row& row, unsigned turns) {
  const DeviceArray<unsigned> flag(std::vector<unsigned>{0}), turn(1);
  row.kernel<<<1, 2 * kWarp>>>(flag, turns, turn);
  CUDA_CHECK_LAUNCH();
  return turn.download()[0];
}

int main(int argc, char** argv) {
  std::size_t turns = kOnGpu ? 1000000 : 100000;
  const Options opt(argc, argv, "11_seen_flags", "does a warp see the flag it waits for?",
                    {{"turns", &turns, 1, 1_Gi, "how often it looks at most"}});
  ResultTable table(opt, sizeof(unsigned));
  table.without_speedup();
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    const double begin = host_ms();
    const unsigned turn = turn_seen(row, static_cast<unsigned>(turns));
    const bool seen = turn < turns;
    table.row(row.name, timing_of({host_ms() - begin}), 0, seen || !row.is_seen,
              seen ? "ok" : "not seen");
    table.measured(row.name, turn, "turns", row.name,
                   seen ? ": seen in turn " : ": not seen in turn ", turn);
  }
  return table.finish();
}
