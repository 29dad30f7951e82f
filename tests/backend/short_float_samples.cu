// SPDX-License-Identifier: MIT
// Prints what this machine computes with numbers of 16 bits, a line for each function: the name,
// and a number for every 4096 inputs. short_floats.test.cu compares h200_short_floats.csv, an
// H200's, with the CPU backend:
//
//   nvcc -std=c++17 -arch=sm_90 -o short_float_samples tests/backend/short_float_samples.cu
//   ./short_float_samples >tests/backend/h200_short_floats.csv
#include "short_float_samples.cuh"

int main() {
  std::printf("function,inputs\n");
  for (const short_float_samples::Row& row : short_float_samples::all_functions()) {
    const std::string digest = short_float_samples::digest_of(row.samples());
    std::printf("%s,%s\n", row.name, digest.c_str());
  }
}
