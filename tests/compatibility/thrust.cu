// SPDX-License-Identifier: MIT
// FEATURE: libraries: Thrust
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>

#include "program.h"

int main() {
  thrust::device_vector<int> x(100);
  thrust::sequence(x.begin(), x.end());
  return answer(thrust::reduce(x.begin(), x.end()) == 4950);
}
