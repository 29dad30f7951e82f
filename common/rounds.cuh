// SPDX-License-Identifier: MIT
// Work of any length for a kernel, with a result that the host knows without doing the work again.
#pragma once

#include <cuda_runtime.h>

/// One round: v becomes v * factor + step, modulo 2^32. Give it to a kernel as an argument: the
/// compiler could fold many rounds with constants into one.
struct Round {
  unsigned factor, step;
  __host__ __device__ unsigned operator()(unsigned v) const { return v * factor + step; }
};

/// A round that scatters its values well (a generator of random numbers in Press et al., "Numerical
/// Recipes").
constexpr Round kRound{1664525, 1013904223};

/// `count` rounds in a row are one such round again: this one.
inline Round repeated(Round round, unsigned count) {
  Round all{1, 0};
  for (unsigned k = 0; k < count; ++k) all = {all.factor * round.factor, round(all.step)};
  return all;
}
