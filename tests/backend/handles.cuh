// SPDX-License-Identifier: MIT
// What tests of the backend make and give back: an int of host and device, a stream, an event. And
// how they read what was explained to them, or printed.
#pragma once

#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "../catch.hpp"
#include "report/diagnostics.h"

/// Whether the last refusal was explained so.
inline bool is_explained(const std::string& part) {
  UNSCOPED_INFO(cuda_cpu::last_report_text());
  return cuda_cpu::last_report_text().find(part) != std::string::npos;
}
/// The same. Clears the error.
inline bool explained(const std::string& part) {
  const bool found = is_explained(part);
  cudaGetLastError();
  return found;
}

/// Keeps what is written to a stream of the process, STDOUT_FILENO or STDERR_FILENO, while it
/// lives.
class KeptOutput {
 public:
  explicit KeptOutput(int stream) : file_(std::tmpfile()), stream_(stream), before_(dup(stream)) {
    if (file_ != nullptr) dup2(fileno(file_), stream_);
  }
  ~KeptOutput() {
    dup2(before_, stream_);
    close(before_);
    if (file_ != nullptr) std::fclose(file_);
  }
  KeptOutput(const KeptOutput&) = delete;
  KeptOutput& operator=(const KeptOutput&) = delete;

  std::string text() const {
    std::string result;
    if (file_ == nullptr) return result;
    std::rewind(file_);
    for (int c; (c = std::fgetc(file_)) != EOF;) result += static_cast<char>(c);
    return result;
  }

 private:
  std::FILE* file_;  // null: nothing is kept
  int stream_, before_;
};

/// One int that host and device can use.
struct PinnedInt {
  explicit PinnedInt(int value = 0) {
    REQUIRE(cudaMallocHost(&p, sizeof(int)) == cudaSuccess);
    *p = value;
  }
  ~PinnedInt() { cudaFreeHost(p); }
  PinnedInt(const PinnedInt&) = delete;
  PinnedInt& operator=(const PinnedInt&) = delete;
  int* p = nullptr;
};

struct Stream {
  explicit Stream(unsigned flags = cudaStreamDefault) {
    REQUIRE(cudaStreamCreateWithFlags(&s, flags) == cudaSuccess);
  }
  ~Stream() { cudaStreamDestroy(s); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t s = nullptr;
};

struct Event {
  explicit Event(unsigned flags = cudaEventDefault) {
    REQUIRE(cudaEventCreateWithFlags(&e, flags) == cudaSuccess);
  }
  ~Event() { cudaEventDestroy(e); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t e = nullptr;
};
