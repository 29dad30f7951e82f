// SPDX-License-Identifier: MIT
// What calls of cuBLAS check before they run: sizes, and whether the device reaches what they read
// and write. Wrong sizes return the library's status; a wrong pointer is an error of the device, as
// in a kernel. Not for programs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "../../types/site.h"
#include "types.h"

namespace cuda_cpu {

/// The call that is checked.
struct CublasCall {
  const char* name;
  Site site;
  cublasContext* handle;
};

/// A matrix in column-major order, as often as the batch has it, or a vector (one row; its
/// elements are columns).
struct CublasOperand {
  const char* name;     ///< "A"
  const char* leading;  ///< "lda", "incx"
  const void* data;
  std::size_t element_size;
  std::size_t rows, columns;
  std::size_t step;  ///< from column to column, in elements
  bool is_written;
  std::size_t count = 1;   ///< of a batch
  long long distance = 0;  ///< from one to the next, in elements
};

/// Reports why a call returns this status.
cublasStatus_t refuse(const CublasCall& call, cublasStatus_t status, const std::string& why,
                      const std::string& help = "");

/// Reports and returns false unless all of it can be read or written by the device.
bool is_reachable(const CublasCall& call, const CublasOperand& operand);

/// Reports and returns false if a scalar or result is null, or not where the pointer mode says.
bool is_in_its_place(const CublasCall& call, const char* name, const void* scalar,
                     std::size_t bytes, bool is_written);
/// The same for both factors.
inline bool are_in_their_place(const CublasCall& call, const void* alpha, const void* beta,
                               std::size_t bytes) {
  return is_in_its_place(call, "alpha", alpha, bytes, false) &&
         is_in_its_place(call, "beta", beta, bytes, false);
}

/// Puts work on the handle's stream; with `wait` it has run when this returns.
cublasStatus_t submit(const CublasCall& call, std::vector<CublasOperand> operands,
                      std::function<void()> work, bool wait = false);

/// A factor, from the host at the call or from the device when the work runs.
template <class T>
class CublasScalar {
 public:
  CublasScalar(const CublasCall& call, const void* where)
      : where_(static_cast<const T*>(where)),
        is_known_(call.handle->pointers == CUBLAS_POINTER_MODE_HOST),
        value_(is_known_ ? *where_ : T{}) {}
  /// Whether that is known when the call is made.
  bool is(T value) const { return is_known_ && value_ == value; }
  T get() const { return is_known_ ? value_ : *where_; }

 private:
  const T* where_;
  bool is_known_;
  T value_;
};

}  // namespace cuda_cpu
