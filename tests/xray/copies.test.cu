// SPDX-License-Identifier: MIT
// Compares X-ray's sectors of asynchronous copies with an NVIDIA H200. Each row of
// h200_copy_patterns.csv is a warp whose active lanes copy `bytes` each, from an offset in global
// memory to one in shared memory, and what the GPU counted for the kernel below:
// l1tex__t_requests_pipe_lsu_mem_global_op_ld and l1tex__t_sectors_pipe_lsu_mem_global_op_ld.
#include <cuda_pipeline.h>

#include <fstream>
#include <string>
#include <vector>

#include "xray_testing.cuh"

using xray::Operation;
using xray::Space;

namespace {

constexpr unsigned kFrom = 32 * 4096, kTo = 32 * 528;  // bytes, more than any offset

struct Pattern {
  unsigned bytes, mask;
  unsigned from[kWarp], to[kWarp];
};

struct Row {
  Pattern pattern;
  unsigned requests, sectors;
};

void read_offsets(const std::string& cell, unsigned* offsets) {
  const std::vector<std::string> numbers = split(cell, ' ');
  REQUIRE(numbers.size() == kWarp);
  for (const std::string& number : numbers) *offsets++ = static_cast<unsigned>(std::stoul(number));
}

std::vector<Row> measured() {
  std::ifstream file("tests/xray/h200_copy_patterns.csv");
  std::string line;
  REQUIRE(std::getline(file, line));
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line, ',');
    REQUIRE(cells.size() == 11);  // five of them: which GPU, and when
    Row row{};
    row.pattern.bytes = static_cast<unsigned>(std::stoul(cells[5]));
    row.pattern.mask = static_cast<unsigned>(std::stoul(cells[6], nullptr, 16));
    read_offsets(cells[7], row.pattern.from);
    read_offsets(cells[8], row.pattern.to);
    row.requests = static_cast<unsigned>(std::stoul(cells[9]));
    row.sectors = static_cast<unsigned>(std::stoul(cells[10]));
    rows.push_back(row);
  }
  return rows;
}

template <unsigned kBytes>
__global__ void copy_pattern(Pattern p, const char* from) {
  extern __shared__ __align__(1024) char to[];
  const unsigned lane = threadIdx.x;
  if ((p.mask >> lane & 1) != 0)
    __pipeline_memcpy_async(to + p.to[lane], from + p.from[lane], kBytes);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

TEST_CASE("the sectors of every copy are those that an H200 counts") {
  const std::vector<Row> rows = measured();
  REQUIRE(rows.size() == 115);
  const DeviceArray<char> from(std::vector<char>(kFrom, 1));
  const std::vector<xray::Launch> launches = launches_of([&] {
    for (const Row& row : rows) {
      const Pattern& p = row.pattern;
      if (p.bytes == 16) copy_pattern<16><<<1, kWarp, kTo>>>(p, from.get());
      if (p.bytes == 8) copy_pattern<8><<<1, kWarp, kTo>>>(p, from.get());
      if (p.bytes == 4) copy_pattern<4><<<1, kWarp, kTo>>>(p, from.get());
      CUDA_CHECK_LAUNCH();
    }
  });
  REQUIRE(launches.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("row " << i + 2);
    const xray::Counts c = launches[i].total(Space::kGlobal, Operation::kLoad);
    CHECK(c.requests == rows[i].requests);
    CHECK(c.sectors == rows[i].sectors);
  }
}

// Rows of 128 bytes, each four floats longer than that, as one pads them against bank conflicts.
template <unsigned kPad>
__global__ void copy_rows(const float* x) {
  __shared__ alignas(128) float rows[8][32 + kPad];
  const unsigned row = threadIdx.x / 8, four = threadIdx.x % 8 * 4;
  __pipeline_memcpy_async(&rows[row][four], &x[row * 32 + four], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

TEST_CASE("rows that are padded by 16 bytes take more sectors, by 32 bytes they do not") {
  const DeviceArray<float> x(std::vector<float>(256, 1));
  const std::vector<xray::Launch> launches = launches_of([&] {
    copy_rows<0><<<1, 64>>>(x.get());
    copy_rows<4><<<1, 64>>>(x.get());
    copy_rows<8><<<1, 64>>>(x.get());
  });
  REQUIRE(launches.size() == 3);
  CHECK(launches[0].total(Space::kGlobal, Operation::kLoad).sectors == 32);
  CHECK(launches[1].total(Space::kGlobal, Operation::kLoad).sectors == 36);  // 4 rows by 1 more
  CHECK(launches[2].total(Space::kGlobal, Operation::kLoad).sectors == 32);
}

}  // namespace
