// SPDX-License-Identifier: MIT
// Chapter 01, --show arithmetic: what kernels of multiply-adds reach of the peak that was derived.
#pragma once

#include "../../common/common.cuh"
#include "../../common/multiply_adds.cuh"

namespace arithmetic {

/// A row for each number of chains per thread. A multiply-add waits some clocks for the one before
/// it in its chain; meanwhile the scheduler takes another warp's, or one of another chain. An SM
/// has 8 warps, or 32.
inline int run(const Options& opt, const Device& device) {
  const double flop = kOnGpu ? 2e11 : 2e6;
  const auto sms = static_cast<unsigned>(device.sm_count);
  ResultTable table(opt, device, "multiply-adds only", 0);
  table.rate_in_gflops("peak", device.peak_fp32_gflops());
  add_multiply_adds_row<1>(table, "chains_1", flop, sms);
  add_multiply_adds_row<1>(table, "chains_1_warps_32", flop, 4 * sms);
  add_multiply_adds_row<2>(table, "chains_2", flop, sms);
  add_multiply_adds_row<4>(table, "chains_4", flop, sms);
  add_multiply_adds_row<8>(table, "chains_8", flop, sms);
  add_multiply_adds_row<16>(table, "chains_16", flop, sms);
  add_multiply_adds_row<16>(table, "chains_16_warps_32", flop, 4 * sms);
  return table.finish();
}

}  // namespace arithmetic
