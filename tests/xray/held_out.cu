// SPDX-License-Identifier: MIT
// Runs the kernels that X-ray was not made with, for: make xray-verify FILE=tests/xray/held_out.cu
#include "held_out.cuh"

int main() { held_out::run_all(); }
