// SPDX-License-Identifier: MIT
// Chapter 06, what the additions cost without any table: the second operand is in a register
// already. Included by constant_memory.cu.
//
// register       4 bytes of x per thread, like the twelve
// register_wide  16 bytes per thread
// block_wide     16 bytes per thread, and one word per block from constant memory
#pragma once

#include <string>

#include "../../common/common.cuh"

__global__ void add_register(const int* x, std::size_t n, int* y) {
  const std::size_t i = global_index();
  if (i < n) y[i] = x[i] + static_cast<int>(threadIdx.x);
}

// Adds `word` to four elements that lie side by side: one load and one store of 16 bytes. The last
// thread may have fewer, and takes them one at a time.
__device__ void add_to_four(const int* x, std::size_t n, int word, int* y) {
  const std::size_t i = 4 * global_index();
  if (i + 4 <= n) {
    const int4 v = reinterpret_cast<const int4*>(x)[i / 4];
    reinterpret_cast<int4*>(y)[i / 4] = {v.x + word, v.y + word, v.z + word, v.w + word};
  } else {
    for (std::size_t k = i; k < n; ++k) y[k] = x[k] + word;
  }
}

__global__ void add_register_wide(const int* x, std::size_t n, int* y) {
  add_to_four(x, n, static_cast<int>(threadIdx.x), y);
}

__global__ void add_block_wide(const int* x, std::size_t n, int* y) {
  add_to_four(x, n, constant_words.table[blockIdx.x % kWords], y);
}

namespace register_operand {

// ---- the versions ------------------------------------------------------------------------------

unsigned wide_grid(const Additions& d) {
  return static_cast<unsigned>(std::max<std::size_t>(1, div_up(d.n, 4 * std::size_t{d.block})));
}

const Version<Additions> kVersions[] = {
    {"register", "what is added lies in a register",
     [](const Additions& d) { add_register<<<d.grid, d.block>>>(d.x.get(), d.n, d.y.get()); }},
    {"register_wide", "the same, 16 bytes per thread",
     [](const Additions& d) {
       add_register_wide<<<wide_grid(d), d.block>>>(d.x.get(), d.n, d.y.get());
     }},
    {"block_wide", "one word per block from constant memory, 16 bytes per thread",
     [](const Additions& d) {
       add_block_wide<<<wide_grid(d), d.block>>>(d.x.get(), d.n, d.y.get());
     }},
};

// Compares every sum with the host's.
bool is_right(const std::string& version, const Additions& d) {
  const std::size_t per_thread = version == "register" ? 1 : 4;
  std::vector<int> expected = d.h_x;
  for (std::size_t i = 0; i < d.n; ++i) {
    const std::size_t thread = i / per_thread;
    expected[i] += version == "block_wide" ? d.h_table[thread / d.block % kWords]
                                           : static_cast<int>(thread % d.block);
  }
  return all_equal(version, d.y.download().data(), expected.data(), d.n);
}

void add_rows(ResultTable& table, const Additions& d) {
  add_version_rows(
      table, kVersions, d, 2.0 * static_cast<double>(d.x.bytes()), [&] { d.y.poison(); },
      [&](const char* version) { return is_right(version, d); });
}

}  // namespace register_operand
