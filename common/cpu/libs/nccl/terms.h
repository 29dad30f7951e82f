// SPDX-License-Identifier: MIT
// What a call asks for, as all ranks have to agree on it, and the arithmetic of collectives.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "types.h"

namespace cuda_cpu {

enum class NcclCall {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kSend,
  kReceive
};

struct NcclTerms {
  NcclCall call;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;  ///< ncclNumOps where there is none
  int root;        ///< or the peer; -1 where there is none

  bool is_collective() const { return call != NcclCall::kSend && call != NcclCall::kReceive; }
  /// Bytes that a rank's operation reads and writes.
  std::size_t bytes_read(int rank, int ranks) const;
  std::size_t bytes_written(int rank, int ranks) const;
};

const char* name_of(NcclCall call);
bool is_known(ncclDataType_t type);
std::size_t size_of(ncclDataType_t type);
/// "ncclAllReduce of 1024 ncclFloat, ncclSum"
std::string text_of(const NcclTerms& terms);
/// "the count: 512 and 1024"; empty where two ranks agree.
std::string difference(const NcclTerms& a, const NcclTerms& b);

/// What a collective writes for `rank`, from what all ranks give it (null where one gives nothing),
/// in the order of the ranks. A library on GPUs promises no order.
std::string result_of(const NcclTerms& terms, int rank, const std::vector<const char*>& inputs);

}  // namespace cuda_cpu
