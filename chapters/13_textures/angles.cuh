// SPDX-License-Identifier: MIT
// Chapter 13, --sweep angle: versions that read the nearest pixel, turned by 0 to 90 degrees.
// Included by textures.cu.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace angles {

constexpr std::size_t kStep = 15;  // degrees

const Version<Rotation> kVersions[] = {
    {"plain", "nearest_plain", [](const Rotation& r) { launch_plain(r, kFlat); }},
    {"squarish", "nearest_squarish", [](const Rotation& r) { launch_plain(r, kSquarish); }},
    {"pitched", "nearest_pitched",
     [](const Rotation& r) { launch_texture(r, r.pitched_nearest, kFlat); }},
    {"array", "nearest_array",
     [](const Rotation& r) { launch_texture(r, r.array_nearest, kFlat); }},
    {"array_squarish", "nearest_array, 8 x 4 pixels per warp",
     [](const Rotation& r) { launch_texture(r, r.array_nearest, kSquarish); }},
    {"four_plain", "four pixels per thread",
     [](const Rotation& r) { several_pixels::launch_plain_four(r, kFlat); }},
    {"four_squarish", "four pixels per thread, 8 x 4 pixels per warp",
     [](const Rotation& r) { several_pixels::launch_plain_four(r, kSquarish); }},
    {"four_array", "four pixels per thread, 8 x 4 pixels per warp, a cudaArray",
     [](const Rotation& r) { several_pixels::launch_texture_four(r, r.array_nearest, kSquarish); }},
};

// "plain@30"
inline std::string row_name(const char* version, std::size_t degrees) {
  return std::string(version) + "@" + std::to_string(degrees);
}

inline void name_rows(Options& opt) {
  for (std::size_t degrees = 0; degrees <= 90; degrees += kStep) {
    for (const auto& v : kVersions) opt.version(row_name(v.name, degrees), v.summary);
  }
}

// Prints the rows. Returns the exit status of the program.
inline int run(ResultTable& table, const std::vector<float>& pixels, Rotation& r) {
  for (std::size_t degrees = 0; degrees <= 90; degrees += kStep) {
    const auto wanted = [&](const Version<Rotation>& v) {
      return table.options().wants(row_name(v.name, degrees));
    };
    if (std::none_of(std::begin(kVersions), std::end(kVersions), wanted)) continue;
    r.turn = turn_by(degrees, r.turn.width, r.turn.height);
    const Turned turned = turned_on_host(pixels, r.turn);
    for (const auto& version : kVersions) {
      if (!wanted(version)) continue;
      const std::string name = row_name(version.name, degrees);
      add_measured_row(
          table, name, bytes_moved(turned), [&] { poison(r); }, [&] { version.launch(r); },
          [&] { return check(name, r, turned); });
    }
  }
  return table.finish();
}

}  // namespace angles
