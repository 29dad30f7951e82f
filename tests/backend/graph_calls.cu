// SPDX-License-Identifier: MIT
// Prints the codes that this machine returns; graphs.test.cu compares what an H200 printed:
//
//   nvcc -std=c++17 -arch=sm_90 -o graph_calls tests/backend/graph_calls.cu
//   ./graph_calls >tests/backend/h200_graph_calls.csv
#include "graph_calls.cuh"

#include <cstdio>

int main() {
  for (const graph_calls::Line& line : graph_calls::all()) {
    std::printf("%s; %s\n", line.call.c_str(), line.codes.c_str());
  }
}
