// SPDX-License-Identifier: MIT
#include "counts.h"

#include "../cuda/cuda_runtime_api.h"
#include "launches.h"

namespace xray {

std::vector<Launch> count(const std::function<void()>& work) {
  // Work that waits in a stream is not to be counted.
  cudaDeviceSynchronize();
  return launches_of(work);
}

}  // namespace xray
