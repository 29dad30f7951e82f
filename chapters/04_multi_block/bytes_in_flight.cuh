// SPDX-License-Identifier: MIT
// Chapter 04, Little's law: bytes in flight = latency x bandwidth. What it says of the versions,
// and two sweeps that show it at work. Included by multi_block.cu, whose kernels and versions it
// uses.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "shapes.cuh"

namespace bytes_in_flight {

// What the memory wants in flight, and what each version could reach if nothing else counted.
void note_bounds(ResultTable& table, Setting s, double read_gbps) {
  const double ns = measure_latency(kRingInMemory, 5).ns();
  note_wanted_in_flight(table, ns, read_gbps, ns * read_gbps);
  for (const ShapeVersion& v : kVersions) {
    const Shape shape = v.shape(s);
    const double most_gbps = std::min(shape.bytes_in_flight() / ns, read_gbps);
    note_in_flight(table, v.name, shape.grid, shape.block, shape.bytes_in_flight(), most_gbps);
  }
}

// Sweep "grid": ever more blocks of one size, up to four times what the chip holds at once.
// Sweep "block": as many blocks as fit at once, for blocks of many sizes.
std::vector<Shape> shapes_of(const std::string& sweep, Setting s) {
  std::vector<Shape> shapes;
  if (sweep == "block") {
    for (const unsigned block : {32u, 64u, 96u, 128u, 192u, 256u, 384u, 512u, 768u, 1024u}) {
      shapes.push_back(one_wave<sum_grid_stride>({s.sm_count, block}));
    }
    return shapes;
  }
  const unsigned wave = one_wave<sum_grid_stride>(s).grid;
  for (unsigned grid = 1; grid < s.sm_count; grid *= 2) shapes.push_back({grid, s.block});
  for (unsigned grid = s.sm_count; grid < wave; grid *= 2) shapes.push_back({grid, s.block});
  for (const unsigned waves : {1u, 2u, 4u}) shapes.push_back({waves * wave, s.block});
  return shapes;
}

// A row per shape, first with one load per thread at a time, then with four.
void add_rows(ResultTable& table, const std::string& sweep, const ThreadSums& d, Setting s) {
  for (const unsigned loads : {1u, kInFlight}) {
    for (Shape shape : shapes_of(sweep, s)) {
      shape.loads = loads;
      const std::string value = std::to_string(sweep == "grid" ? shape.grid : shape.block);
      add_row(table, sweep + "=" + value + " loads=" + std::to_string(loads), d, shape);
    }
  }
}

}  // namespace bytes_in_flight
