// SPDX-License-Identifier: MIT
// What the lanes of a warp can do together.
#pragma once

#include <cstdint>

namespace cuda_cpu {

enum class WarpOperation : std::uint8_t {
  kSync,
  kShuffle,
  kShuffleUp,
  kShuffleDown,
  kShuffleXor,
  kAll,
  kAny,
  kBallot,
  kMatchAny,
  kMatchAll,
  kReduceAddSigned,
  kReduceAddUnsigned,
  kReduceMinSigned,
  kReduceMinUnsigned,
  kReduceMaxSigned,
  kReduceMaxUnsigned,
  kReduceAnd,
  kReduceOr,
  kReduceXor,
  // Of <mma.h>: every lane gets lane 0's value.
  kMatrixLoad,
  kMatrixStore,
  kMatrixMultiply,
  // Of a tensor core: the last lane does it for all (meeting/warp.h).
  kTensorLoad,
  kTensorStore,
  kTensorMultiply,
};

/// "__shfl_down_sync"
const char* name_of(WarpOperation operation);

}  // namespace cuda_cpu
