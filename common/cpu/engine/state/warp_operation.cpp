// SPDX-License-Identifier: MIT
#include "warp_operation.h"

#include <cstddef>
#include <iterator>

namespace cuda_cpu {

const char* name_of(WarpOperation operation) {
  static const char* const kNames[] = {
      "__syncwarp",        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",
      "__shfl_xor_sync",   "__all_sync",        "__any_sync",        "__ballot_sync",
      "__match_any_sync",  "__match_all_sync",  "__reduce_add_sync", "__reduce_add_sync",
      "__reduce_min_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_max_sync",
      "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync", "load_matrix_sync",
      "store_matrix_sync", "mma_sync",          "ldmatrix",          "stmatrix",
      "mma.sync"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(WarpOperation::kTensorMultiply) + 1);
  return kNames[static_cast<std::size_t>(operation)];
}

}  // namespace cuda_cpu
