// SPDX-License-Identifier: MIT
#include "places.h"

#include <unordered_map>

#include "source_lines.h"

namespace xray {

std::vector<Piece> pieces_of(const std::vector<const void*>& places, const std::string& file) {
  static auto* const known = new std::unordered_map<const void*, cuda_cpu::SourceFrames>;
  std::vector<const void*> unknown;
  for (const void* place : places) {
    if (known->emplace(place, cuda_cpu::SourceFrames{}).second) unknown.push_back(place);
  }
  if (!unknown.empty()) {
    std::vector<cuda_cpu::SourceFrames> frames = cuda_cpu::source_frames_of(unknown);
    for (std::size_t i = 0; i < unknown.size(); ++i) (*known)[unknown[i]] = std::move(frames[i]);
  }
  std::vector<Piece> pieces;
  for (const void* place : places) {
    const cuda_cpu::SourceFrames& found = (*known)[place];
    const std::vector<cuda_cpu::Site>& frames = found.lines;
    cuda_cpu::Site chosen = frames.empty() ? cuda_cpu::Site{"", 0} : frames.front();
    for (const cuda_cpu::Site& frame : frames) {
      if (file != frame.file) continue;
      chosen = frame;
      break;
    }
    pieces.push_back(Piece{chosen, found.piece.c_str()});
  }
  return pieces;
}

std::vector<cuda_cpu::Site> lines_of(const std::vector<const void*>& places,
                                     const std::string& file) {
  std::vector<cuda_cpu::Site> lines;
  for (const Piece& piece : pieces_of(places, file)) lines.push_back(piece.line);
  return lines;
}

}  // namespace xray
