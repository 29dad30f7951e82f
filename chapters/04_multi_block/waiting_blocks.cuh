// SPDX-License-Identifier: MIT
// Chapter 04, a block must not wait for a block that may not have begun. Here all but the last wait
// for the last one, and give up after a while: without that the larger grid would hang. Included by
// sweeps.cuh.
#pragma once

#include <cstdint>
#include <string>

#include "../../common/common.cuh"
#include "shapes.cuh"

struct Waiting {
  unsigned last_has_begun;  // 1 as soon as the last block runs
  unsigned gave_up;         // blocks that waited in vain
};

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

namespace waiting_blocks {

// How long a block waits: where all blocks fit at once, longer than the last one can take to begin.
constexpr std::uint64_t kLongNs = kOnGpu ? 200000000 : 8000000000;
constexpr std::uint64_t kShortNs = kOnGpu ? 2000000 : 200000000;

// One launch: its time by events goes to *event_ms.
Waiting run(Shape shape, std::uint64_t patience_ns, double* event_ms) {
  const DeviceArray<Waiting> waiting(std::vector<Waiting>{{0, 0}});
  EventTimer timer;
  timer.start();
  wait_for_last_block<<<shape.grid, shape.block>>>(waiting.get(), patience_ns);
  CUDA_CHECK_LAUNCH();
  *event_ms = timer.stop_ms();
  return waiting.download()[0];
}

// Sweep "waiting": a grid that fits at once, and one with a single block more.
void add_rows(ResultTable& table, Setting s) {
  table.without_speedup();
  const Shape wave = one_wave<wait_for_last_block>(s);
  for (const unsigned more : {0u, 1u}) {
    const Shape shape{wave.grid + more, wave.block};
    const std::string name = more == 0 ? "one wave" : "one wave and a block";
    double ms = 0;
    const Waiting w = run(shape, more == 0 ? kLongNs : kShortNs, &ms);
    // No order of blocks is promised: where the last one happens to begin early, nobody gives up.
    const bool ok = w.last_has_begun == 1 && (more > 0 || w.gave_up == 0);
    table.add_with_rate(name, {ms, ms, ms, 1, 1}, 0, ok, w.gave_up > 0 ? "gave up" : "ok");
    table.note(name + ": " + std::to_string(w.gave_up) + " of " + std::to_string(shape.grid) +
               " blocks waited in vain for the last one");
  }
}

}  // namespace waiting_blocks
