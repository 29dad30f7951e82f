// SPDX-License-Identifier: MIT
// Prints what this machine returns, for the tests that compare the CPU backend with what an H200
// printed:
//
//   nvcc -std=c++17 -arch=sm_90 -o stored_samples tests/backend/stored_samples.cu
//   ./stored_samples graph_calls  >tests/backend/h200_graph_calls.csv
//   ./stored_samples short_floats >tests/backend/h200_short_floats.csv
//   ./stored_samples textures     >tests/backend/texture_samples.csv
#include <cstdio>
#include <cstring>

#include "graph_calls.cuh"
#include "short_float_samples.cuh"
#include "texture_samples.cuh"

// The codes that calls return.
void print_graph_calls() {
  for (const graph_calls::Line& line : graph_calls::all()) {
    std::printf("%s; %s\n", line.call.c_str(), line.codes.c_str());
  }
}

// A line for each function of numbers of 16 bits: its name, and a number for every 4096 inputs.
void print_short_floats() {
  std::printf("function,inputs\n");
  for (const short_float_samples::Row& row : short_float_samples::all_functions()) {
    std::printf("%s,%s\n", row.name, short_float_samples::digest_of(row.samples()).c_str());
  }
}

// A line for each mode of the texture unit: its name, and a number for every 100 fetches.
void print_textures() {
  std::printf("mode,fetches\n");
  for (const texture_samples::Mode& mode : texture_samples::stored_modes()) {
    const std::string digest = texture_samples::digest(texture_samples::samples(mode));
    std::printf("%s,%s\n", texture_samples::name_of(mode).c_str(), digest.c_str());
  }
}

int main(int argc, char** argv) {
  const char* const samples = argc == 2 ? argv[1] : "";
  if (std::strcmp(samples, "graph_calls") == 0) {
    print_graph_calls();
  } else if (std::strcmp(samples, "short_floats") == 0) {
    print_short_floats();
  } else if (std::strcmp(samples, "textures") == 0) {
    print_textures();
  } else {
    std::fprintf(stderr, "usage: stored_samples graph_calls|short_floats|textures\n");
    return 2;
  }
}
