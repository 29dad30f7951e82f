// SPDX-License-Identifier: MIT
// FEATURE: memory: `__managed__` variables
#include "program.h"

__managed__ int counter = 1;
__global__ void show() { counter += 4; }

int main() {
  show<<<1, 1>>>();
  wait();
  return answer(counter == 5);
}
