// SPDX-License-Identifier: MIT
// Prints what this machine's texture unit returns, a line for each mode: the name, and a number for
// every 100 fetches. textures.test.cu compares texture_samples.csv, an H200's, with the CPU
// backend:
//
//   nvcc -std=c++17 -arch=sm_90 -o texture_samples tests/backend/texture_samples.cu
//   ./texture_samples >tests/backend/texture_samples.csv
#include "texture_samples.cuh"

int main() {
  std::printf("mode,fetches\n");
  for (const texture_samples::Mode& mode : texture_samples::stored_modes()) {
    const std::string digest = texture_samples::digest(texture_samples::samples(mode));
    std::printf("%s,%s\n", texture_samples::name_of(mode).c_str(), digest.c_str());
  }
}
