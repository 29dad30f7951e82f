// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 10, write the kernel: an atomic that CUDA does not have.
//
// There is no atomic multiplication. Make one from atomicCAS, then multiply n numbers with it: the
// product modulo a prime, which is exact in any order.
// Check it: make lab CH=10 EX=4      A hint: make hint CH=10 EX=4
#include "common/common.cuh"

constexpr unsigned kPrime = 65521;

// a * b modulo kPrime, for a and b below kPrime: their product fits in 32 bits. It is slow on
// purpose: a trip to memory brings a 0, and meanwhile other threads may come between.
__device__ unsigned always_0;
__device__ unsigned times(unsigned a, unsigned b) {
  return (a * b + atomicExch(&always_0, 0u)) % kPrime;
}

// *word becomes *word times factor, in one step for all who use it.
__device__ void atomic_times(unsigned* word, unsigned factor) {
  // TODO: compute from what was seen, store only if that is still there, else look again.
  (void)word, (void)factor;
  // end of TODO
}

// *product becomes *product times x[0] times x[1] ... times x[n - 1]. Any n, any grid, any block;
// all numbers are below kPrime.
__global__ void multiply_all(const unsigned* x, std::size_t n, unsigned* product) {
  // TODO: each thread multiplies its share first, and then brings it by one atomic_times.
  (void)x, (void)n, (void)product;
  // end of TODO
}
