// SPDX-License-Identifier: MIT
// What ran when on which stream: events recorded between pieces of work, written as CSV for a
// picture.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

#include "check.cuh"
#include "result_table.cuh"

/// Marks on streams, each with its time since the timeline was made. A mark is reached when all
/// work put on its stream before it has ended.
class Timeline {
 public:
  Timeline() : zero_(record(nullptr)) {}
  ~Timeline() {
    cudaEventDestroy(zero_);
    for (const Mark& m : marks_) cudaEventDestroy(m.event);
  }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Marks that all work before it on `stream`, which is number `index`, is done.
  void mark(std::size_t chunk, std::size_t index, const std::string& label, cudaStream_t stream) {
    marks_.push_back({chunk, index, label, record(stream)});
  }

  /// The header of the rows that write() adds.
  static void write_header(CsvFile& csv) { csv.row({"version", "chunk", "stream", "mark", "ms"}); }

  /// Waits for the device, then writes a row for every mark, in the order of the calls.
  void write(CsvFile& csv, const std::string& version) const {
    CUDA_CHECK(cudaDeviceSynchronize());
    for (const Mark& m : marks_) {
      float ms = 0;
      CUDA_CHECK(cudaEventElapsedTime(&ms, zero_, m.event));
      char text[32];
      std::snprintf(text, sizeof text, "%.4f", ms);
      csv.row({version, std::to_string(m.chunk), std::to_string(m.index), m.label, text});
    }
  }

 private:
  struct Mark {
    std::size_t chunk, index;
    std::string label;
    cudaEvent_t event;
  };

  static cudaEvent_t record(cudaStream_t stream) {
    cudaEvent_t event = nullptr;
    CUDA_CHECK(cudaEventCreate(&event));
    CUDA_CHECK(cudaEventRecord(event, stream));
    return event;
  }

  cudaEvent_t zero_;
  std::vector<Mark> marks_;
};
