// SPDX-License-Identifier: MIT
// May a block wait for a block that has not begun?

#include "../../../common/common.cuh"

struct Waiting {
  unsigned last_has_begun;  // 1 as soon as the last block runs
  unsigned gave_up;         // blocks that waited in vain
};

// All blocks but the last wait for the last one. They give up in the end, since a grid that does
// not fit at once would hang otherwise.
__global__ void wait_for_last_block(Waiting* waiting, std::uint64_t patience_ns) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == gridDim.x - 1) {
    atomicExch(&waiting->last_has_begun, 1u);
    return;
  }
  const std::uint64_t begin = global_timer_ns();
  while (atomicAdd(&waiting->last_has_begun, 0u) == 0) {  // adds nothing: looks
    if (global_timer_ns() - begin > patience_ns) {
      atomicAdd(&waiting->gave_up, 1u);
      return;
    }
  }
}

// How long a block waits: where all blocks fit at once, longer than the last one can take to begin.
constexpr std::uint64_t kLongNs = kOnGpu ? 200000000 : 8000000000;
constexpr std::uint64_t kShortNs = kOnGpu ? 2000000 : 200000000;

// One launch: what its blocks left, and its time by events in ms.
std::pair<Waiting, double> run(unsigned grid, unsigned block, std::uint64_t patience_ns) {
  const DeviceArray<Waiting> waiting(std::vector<Waiting>{{0, 0}});
  EventTimer timer;
  timer.start();
  wait_for_last_block<<<grid, block>>>(waiting, patience_ns);
  CUDA_CHECK_LAUNCH();
  const double ms = timer.stop_ms();
  return {waiting.download()[0], ms};
}

// A grid that fits at once, and one with a single block more.
int main(int argc, char** argv) {
  std::size_t block = 256;
  const Options opt(argc, argv, "04_waiting_blocks", "may a block wait for one not begun?",
                    {{"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, sizeof(Waiting));
  table.without_speedup();
  const unsigned wave = blocks_held(wait_for_last_block, block);
  for (const unsigned more : {0u, 1u}) {
    const std::string name = more == 0 ? "one wave" : "one wave and a block";
    if (!table.wants(name)) continue;
    const auto [w, ms] = run(wave + more, block, more == 0 ? kLongNs : kShortNs);
    // No order of blocks is promised: where the last one happens to begin early, nobody gives up.
    const bool ok = w.last_has_begun == 1 && (more > 0 || w.gave_up == 0);
    table.row(name, {ms, ms, ms, 1}, 0, ok, w.gave_up > 0 ? "gave up" : "ok");
    table.note(name, ": ", w.gave_up, " of ", wave + more,
               " blocks waited in vain for the last one");
  }
  return table.finish();
}
