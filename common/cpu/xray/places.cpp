// SPDX-License-Identifier: MIT
#include "places.h"

#include <unordered_map>

#include "../report/source_lines.h"

namespace xray {

std::vector<cuda_cpu::Site> lines_of(const std::vector<const void*>& places,
                                     const std::string& file) {
  static auto* const known = new std::unordered_map<const void*, std::vector<cuda_cpu::Site>>;
  std::vector<const void*> unknown;
  for (const void* place : places) {
    if (known->emplace(place, std::vector<cuda_cpu::Site>{}).second) unknown.push_back(place);
  }
  if (!unknown.empty()) {
    std::vector<std::vector<cuda_cpu::Site>> frames = cuda_cpu::source_frames_of(unknown);
    for (std::size_t i = 0; i < unknown.size(); ++i) (*known)[unknown[i]] = std::move(frames[i]);
  }
  std::vector<cuda_cpu::Site> lines;
  for (const void* place : places) {
    const std::vector<cuda_cpu::Site>& frames = (*known)[place];
    cuda_cpu::Site chosen = frames.empty() ? cuda_cpu::Site{"", 0} : frames.front();
    for (const cuda_cpu::Site& frame : frames) {
      if (file != frame.file) continue;
      chosen = frame;
      break;
    }
    lines.push_back(chosen);
  }
  return lines;
}

}  // namespace xray
