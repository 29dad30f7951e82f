// SPDX-License-Identifier: MIT
// In which banks do the rows lie that one ldmatrix loads?
//
// Tiles with rows of 64, 128 and 256 bytes, their pieces of 16 bytes as they come or swizzled.
// X-ray counts the passes through the banks, and sees where each lane's row begins
// (results/xray.csv); the program checks that lanes and registers get what they should.

#include "../../../common/common.cuh"
#include "../instructions.cuh"

constexpr unsigned kWarp = 32, kRows = 16;  // of two matrices below each other

// Where a piece lies in rows of kInRow pieces, in pieces. The 128 bytes of all banks hold several
// short rows, or a part of a long one.
template <unsigned kInRow, bool kSwizzled>
__device__ unsigned place_of(unsigned row, unsigned number) {
  constexpr unsigned kRowsInBanks = kInRow < 8 ? 8 / kInRow : 1;
  constexpr unsigned kPlaces = kInRow < 8 ? kInRow : 8;
  return row * kInRow + (kSwizzled ? number ^ row / kRowsInBanks % kPlaces : number);
}

// One warp. Lane i names row i % 16, piece i / 16, which are the rows of four matrices. It loads
// those 16 bytes itself, too: the banks are asked for the same.
template <unsigned kInRow, bool kSwizzled>
__global__ void load_rows(const uint4* tile, uint4* rows, uint4* registers) {
  __shared__ uint4 pieces[kRows * kInRow];
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < kRows * kInRow; i += kWarp)
    pieces[place_of<kInRow, kSwizzled>(i / kInRow, i % kInRow)] = tile[i];
  __syncwarp();  // all pieces are in their places
  const unsigned place = place_of<kInRow, kSwizzled>(lane % kRows, lane / kRows);
  rows[lane] = pieces[place];
  unsigned r[4];
  ptx::load_matrices(r, &pieces[place]);
  registers[lane] = {r[0], r[1], r[2], r[3]};
}

// Whether each lane gets the row that it names, and of the four matrices its own part.
template <unsigned kInRow, bool kSwizzled>
bool rows_are_right() {
  std::vector<uint4> tile(kRows * kInRow);
  for (unsigned i = 0; i < tile.size(); ++i) tile[i] = {4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3};
  const DeviceArray<uint4> d_tile(tile), rows(kWarp), registers(kWarp);
  load_rows<kInRow, kSwizzled><<<1, kWarp>>>(d_tile, rows, registers);
  CUDA_CHECK_LAUNCH();
  const std::vector<uint4> loaded = rows.download(), held = registers.download();
  // Matrix j has rows from j % 2 * 8 on, and is piece j / 2 of them.
  const auto word = [](unsigned lane, unsigned j) {
    return 4 * ((j % 2 * 8 + lane / 4) * kInRow + j / 2) + lane % 4;
  };
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const uint4 r = held[lane];
    if (loaded[lane].x != 4 * (lane % kRows * kInRow + lane / kRows) || r.x != word(lane, 0) ||
        r.y != word(lane, 1) || r.z != word(lane, 2) || r.w != word(lane, 3))
      return false;
  }
  return true;
}

inline bool all_are_right() {
  return rows_are_right<4, false>() && rows_are_right<4, true>() && rows_are_right<8, false>() &&
         rows_are_right<8, true>() && rows_are_right<16, false>() && rows_are_right<16, true>();
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "16_rows_in_banks", "in which banks do rows lie?", {});
  opt.expect_no_versions();
  open_device(opt);
  const bool ok = all_are_right();
  std::printf("rows of 64, 128 and 256 bytes, as they come and swizzled: %s\n",
              ok ? "ok" : "WRONG");
  return ok && opt.all_is_printed() ? kExitOk : kExitWrong;
}
