// SPDX-License-Identifier: MIT
// Chapter 09, every word of mapped memory read twice within one kernel: does it cross the bus
// twice? Included by pinned_mapped_memory.cu.
#pragma once

#include <string>
#include <vector>

#include "../../common/common.cuh"

// A word is read by its own thread, and again by the thread that is `apart` words before it.
__global__ void mix_with_other(const unsigned* x, std::size_t n, std::size_t apart, Round round,
                               unsigned rounds, unsigned* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned v = x[i];
    for (unsigned r = 0; r < rounds; ++r) v = round(v);
    const std::size_t other = i + apart;
    y[i] = v ^ x[other < n ? other : other - n];
  }
}

void read_with_other(const Transfer& t, const unsigned* x, std::size_t apart) {
  mix_with_other<<<static_cast<unsigned>(div_up(t.n, kBlock)), kBlock>>>(x, t.n, apart, kRound,
                                                                         t.rounds, t.d_y);
  CUDA_CHECK_LAUNCH();
}
// The neighbour's word has most likely come to this SM; that of the other half to another one.
void mapped_read_near(const Transfer& t) { read_with_other(t, t.mapped_x, 1); }
void mapped_read_far(const Transfer& t) { read_with_other(t, t.mapped_x, t.n / 2); }
void device_read_far(const Transfer& t) { read_with_other(t, t.d_data, t.n / 2); }

bool with_other_is_right(const std::string& name, const Transfer& t, std::size_t apart) {
  CUDA_CHECK(cudaMemcpy(t.seen, t.d_y, t.n * kWord, cudaMemcpyDeviceToHost));
  std::vector<unsigned> expected = reference(t.data, t.n, t.rounds, 1);
  for (std::size_t i = 0; i < t.n; ++i) {
    expected[i] ^= t.data[(i + apart) % t.n];
  }
  return all_equal(name, t.seen, expected.data(), t.n);
}
bool near_is_right(const std::string& name, const Transfer& t) {
  return with_other_is_right(name, t, 1);
}
bool far_is_right(const std::string& name, const Transfer& t) {
  return with_other_is_right(name, t, t.n / 2);
}
