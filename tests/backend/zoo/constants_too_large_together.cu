// SPDX-License-Identifier: MIT
// Two constant variables fit into 64 KiB each, but not together.
// EXPECT: {file}:{second}: with 'table' the __constant__ variables take 66560 bytes; constant memory has 65536
#include <cstdio>

__constant__ float weights[256];
__constant__ float table[16384];  // @second

int main() {
  std::printf("not reached\n");
  return 0;
}
