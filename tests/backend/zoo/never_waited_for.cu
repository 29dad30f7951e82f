// SPDX-License-Identifier: MIT
// The program ends without waiting: nothing ran, and a note says so.
// EXPECT-STATUS: 0
// EXPECT: {file}:{launch}: note: the program ended before this ran: kernel 'hello'

#include <cstdio>

#include "../../../common/check.cuh"

__global__ void hello() { printf("hello\n"); }

int main() {
  hello<<<1, 1>>>();  // @launch
  CUDA_CHECK_LAUNCH();
}
