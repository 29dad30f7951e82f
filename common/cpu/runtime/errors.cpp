// SPDX-License-Identifier: MIT
#include "errors.h"

namespace cuda_cpu {
namespace {

struct ErrorText {
  const char* name;
  const char* text;
};

ErrorText error_text(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define X(name, number, text) \
  case number:                \
    return {#name, text};
#include "../types/error_codes.inc"
#undef X
    default:
      return {"unrecognized error code", "unrecognized error code"};
  }
}

}  // namespace
}  // namespace cuda_cpu

const char* cudaGetErrorName(cudaError_t error) { return cuda_cpu::error_text(error).name; }

const char* cudaGetErrorString(cudaError_t error) { return cuda_cpu::error_text(error).text; }

cudaError_t cudaGetLastError() { return static_cast<cudaError_t>(cuda_cpu::take_last_error()); }

cudaError_t cudaPeekAtLastError() { return static_cast<cudaError_t>(cuda_cpu::peek_last_error()); }
