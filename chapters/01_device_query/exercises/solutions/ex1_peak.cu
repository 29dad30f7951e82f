// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 01, fix the bug: a negative bandwidth.
//
// A device reports the clock of its memory in kHz and the width of the bus in bits; data moves on
// both edges of the clock. peak_gbps turns that into GB/s (1e9 bytes per second). For a memory of
// 1 GHz on a bus of 64 bits it says 16, which is right. Make it right for every memory.
// Check it: make lab CH=01 EX=1      A hint: make hint CH=01 EX=1
#include "common/common.cuh"

// Both properties come from cudaDeviceGetAttribute, which returns every property as an int.
double peak_gbps(int memory_khz, int bus_bits) {
  const double bus_bytes = bus_bits / 8;
  const double kilobytes_per_second = 2 * bus_bytes * memory_khz;  // past 2^31 with fast memories
  return kilobytes_per_second / 1e6;
}
