// SPDX-License-Identifier: MIT
// Chapter 09, work of the host's own while a copy is on its way. Included by
// pinned_mapped_memory.cu.
#pragma once

#include <string>

#include "../../common/common.cuh"

constexpr std::size_t kHostShare = 16_Ki;  // of so many words the host has time for one

std::size_t host_words(const Transfer& t) { return div_up(t.n, kHostShare); }

// The kernel's work on a few of the words, by one thread of the host. Leaves its results in h_y,
// which no copy of these rows touches.
void host_work(const Transfer& t) {
  for (std::size_t i = 0, count = host_words(t); i < count; ++i) {
    unsigned v = t.data[i];
    for (unsigned r = 0; r < t.rounds; ++r) v = kRound(v);
    t.h_y[i] = v;
  }
}

void host_then_copy(const Transfer& t) {
  host_work(t);
  h2d(t);
}
// The call returns at once when h_x is pinned: the host works while the copy engine does.
void host_during_copy(const Transfer& t) {
  h2d(t);
  host_work(t);
}

bool host_work_is_right(const std::string& name, const Transfer& t) {
  const std::size_t count = host_words(t);
  return all_equal(name, t.h_y, reference(t.data, count, t.rounds, 1).data(), count);
}
