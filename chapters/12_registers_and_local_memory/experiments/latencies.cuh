// SPDX-License-Identifier: MIT
// Chapter 12: how the experiments on latency turn chains of steps into cycles per step.
#pragma once

#include <functional>

#include "../../../common/common.cuh"

/// Where a chain of steps ended, and the cycles that it took.
template <class Value>
struct ChainEnd {
  Value value;
  long long cycles;
};

/// A chain of so many steps, by the calling thread.
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

/// Adds a row: cycles per step, from a chain and one of twice as many steps. What both have, the
/// beginning and the end, falls out of the difference. `launch(end, v, length)` starts a chain at
/// v; `before` is called ahead of each, outside of its time. The host takes every `step`, too, and
/// each chain goes on where the last one ended. Returns the median.
template <class Value, class Launch, class Step>
double add_latency(
    ResultTable& table, unsigned steps, const std::string& name, Value v, Step step, Launch launch,
    const std::function<void()>& before = [] {}) {
  const DeviceArray<ChainEnd<Value>> end(1);
  EventTimer timer;
  std::vector<double> ms, cycles_per_step;
  bool ok = true;
  for (std::size_t sample = 0; sample <= table.opt.samples; ++sample) {
    double took = 0, cycles = 0;
    for (const unsigned length : {steps, 2 * steps}) {
      end.poison();
      before();
      timer.start();
      launch(end.get(), v, length);
      CUDA_CHECK_LAUNCH();
      took = timer.stop_ms();
      const ChainEnd<Value> found = end.download()[0];
      for (unsigned k = 0; k < length; ++k) v = step(v);
      cycles = found.cycles - cycles;  // of the second half of the longer
      ok = ok && found.value == v && found.cycles > 0 && found.cycles < 1e7 * took;  // 10 GHz
    }
    if (sample == 0) continue;  // it warms up
    ms.push_back(took);
    cycles_per_step.push_back(cycles / steps);
  }
  table.row(name, timing_of(ms), median_of(cycles_per_step), ok);
  return median_of(cycles_per_step);
}
