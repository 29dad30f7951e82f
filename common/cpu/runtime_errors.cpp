// SPDX-License-Identifier: MIT
// Error names, texts and the last error.
#include <utility>

#include "runtime_call.h"
#include "streams.h"

namespace cuda_cpu {

int begin_call() {
  if (in_kernel()) {
    Report it;
    it.headline = "runtime call from device code";
    it.where = where();
    it.help = "only host code may call the CUDA runtime";
    it.cuda_error = cudaErrorNotPermitted;
    report(it);
    abandon_grid(cudaErrorNotPermitted);
  }
  prepare_thread_for_faults();
  if (in_host_function()) return cudaErrorNotPermitted;
  return sticky_error();
}

int explain_misuse(Site site, int error, const std::string& headline,
                   std::vector<std::string> details, std::vector<Report::Note> notes,
                   const std::string& help) {
  Report it;
  it.headline = headline;
  it.site = site;
  it.details = std::move(details);
  it.notes = std::move(notes);
  it.help = help;
  it.cuda_error = error;
  return misuse(it);
}

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
#include "error_codes.inc"
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
