// SPDX-License-Identifier: MIT
// Which lane holds which element, and in which banks do the rows lie that one ldmatrix loads?
//
// A, 16 x 16, and B, 16 x 8, lie row behind row in shared memory. A's registers come by ldmatrix,
// B's by ldmatrix.trans, D's by mma. Elements are numbers that name their place, and a product with
// the identity carries B's numbers to D: so each register tells what it holds. --csv writes that,
// for every lane; it is the same on a GPU and on the CPU backend (results/fragments.csv). The
// kernels load_rows load the rows of such matrices from tiles with and without a swizzle: X-ray
// counts them.

#include <sstream>

#include "../../../common/common.cuh"
#include "../instructions.cuh"

using Bf16 = __nv_bfloat16;
constexpr unsigned kWarp = 32, kRows = 16, kColumns = 8, kTerms = 16;  // of one mma
constexpr unsigned kPiece = 8;                                         // elements of 16 bytes

// What a lane holds: registers of A and B with two elements each, and its sums.
struct Held {
  unsigned a[4], b[2];
  float d[4];
  unsigned row, column;  // of A: where the 16 bytes begin whose address the lane gave
};

// One warp: D = A B. Lane i names row i % 16 of A, its first half or its second, and of B a row.
__global__ void hold_fragments(const Bf16* a, const Bf16* b, Held* held) {
  __shared__ alignas(16) Bf16 tile_a[kRows * kTerms], tile_b[kTerms * kColumns];
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < kRows * kTerms; i += kWarp) tile_a[i] = a[i];
  for (unsigned i = lane; i < kTerms * kColumns; i += kWarp) tile_b[i] = b[i];
  __syncwarp();  // both are complete before any lane loads from them
  Held mine = {};
  mine.row = lane % kRows;
  mine.column = lane / kRows * kPiece;
  ptx::load_matrices(mine.a, &tile_a[mine.row * kTerms + mine.column]);
  unsigned of_b[4];  // B is two matrices: lanes 16 to 31 name its rows a second time
  ptx::load_matrices_transposed(of_b, &tile_b[lane % kTerms * kColumns]);
  mine.b[0] = of_b[0];
  mine.b[1] = of_b[1];
  ptx::mma_m16n8k16(mine.d, mine.a, mine.b);
  held[lane] = mine;
}

// Where a piece of 16 bytes lies in rows of kInRow pieces, in pieces. 128 bytes, all banks, hold
// several short rows, or a part of a long one.
template <unsigned kInRow, bool kSwizzled>
__host__ __device__ unsigned place_of(unsigned row, unsigned number) {
  constexpr unsigned kRowsInBanks = kInRow < 8 ? 8 / kInRow : 1;
  constexpr unsigned kPlaces = kInRow < 8 ? kInRow : 8;
  return row * kInRow + (kSwizzled ? number ^ row / kRowsInBanks % kPlaces : number);
}

// The rows of four matrices, as one ldmatrix names them: a lane loads the 16 bytes itself, too.
template <unsigned kInRow, bool kSwizzled>
__global__ void load_rows(const uint4* tile, uint4* rows, unsigned* registers) {
  __shared__ uint4 pieces[kRows * kInRow];
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < kRows * kInRow; i += kWarp)
    pieces[place_of<kInRow, kSwizzled>(i / kInRow, i % kInRow)] = tile[i];
  __syncwarp();  // all pieces are in their places
  const unsigned place = place_of<kInRow, kSwizzled>(lane % kRows, lane / kRows);
  rows[lane] = pieces[place];
  unsigned r[4];
  ptx::load_matrices(r, &pieces[place]);
  for (unsigned j = 0; j < 4; ++j) registers[lane * 4 + j] = r[j];
}

// Element i of A or B.
using Elements = float (*)(unsigned i);
float number(unsigned i) { return static_cast<float>(i); }  // up to 255, which BF16 holds exactly
float identity(unsigned i) { return i / kTerms == i % kTerms ? 1.0f : 0.0f; }
float mixed(unsigned i) { return static_cast<float>(static_cast<int>(i * 29 % 17) - 8); }

inline std::vector<Held> held_of(Elements a, Elements b) {
  std::vector<Bf16> elements_a(kRows * kTerms), elements_b(kTerms * kColumns);
  for (unsigned i = 0; i < elements_a.size(); ++i) elements_a[i] = __float2bfloat16(a(i));
  for (unsigned i = 0; i < elements_b.size(); ++i) elements_b[i] = __float2bfloat16(b(i));
  const DeviceArray<Bf16> d_a(elements_a), d_b(elements_b);
  const DeviceArray<Held> held(kWarp);
  hold_fragments<<<1, kWarp>>>(d_a, d_b, held);
  CUDA_CHECK_LAUNCH();
  return held.download();
}

// The number that an element of 16 bits is.
inline unsigned number_in(unsigned reg, unsigned half) {
  const unsigned bits = half == 0 ? reg << 16 : reg & 0xffff0000;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<unsigned>(value);
}

// A line for each element that a lane holds, and for the row of A that it names.
inline std::string lines_of(const std::vector<Held>& of_a, const std::vector<Held>& of_b) {
  std::ostringstream csv;
  csv << "operand,lane,register,half,row,column\n";
  const auto line = [&](const char* operand, unsigned lane, unsigned reg, unsigned half, unsigned i,
                        unsigned width) {
    csv << operand << ',' << lane << ',' << reg << ',' << half << ',' << i / width << ','
        << i % width << '\n';
  };
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    line("names", lane, 0, 0, of_a[lane].row * kTerms + of_a[lane].column, kTerms);
    for (unsigned e = 0; e < 8; ++e)
      line("a", lane, e / 2, e % 2, number_in(of_a[lane].a[e / 2], e % 2), kTerms);
    for (unsigned e = 0; e < 4; ++e)
      line("b", lane, e / 2, e % 2, number_in(of_b[lane].b[e / 2], e % 2), kColumns);
    for (unsigned e = 0; e < 4; ++e)
      line("d", lane, e, 0, static_cast<unsigned>(of_b[lane].d[e]), kColumns);
  }
  return csv.str();
}

// Whether D is A B, element by element, where each lies as `where` says.
inline bool is_product(const std::vector<Held>& held, const std::vector<Held>& where, Elements a,
                       Elements b) {
  std::vector<bool> seen(kRows * kColumns, false);
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    for (unsigned e = 0; e < 4; ++e) {
      const auto i = static_cast<unsigned>(where[lane].d[e]);
      if (i >= seen.size() || seen[i]) return false;
      seen[i] = true;
      float sum = 0;
      for (unsigned k = 0; k < kTerms; ++k)
        sum += a(i / kColumns * kTerms + k) * b(k * kColumns + i % kColumns);
      if (held[lane].d[e] != sum) return false;
    }
  }
  return true;
}

// Whether the lanes of load_rows get the rows that they name, and ldmatrix's registers their parts.
template <unsigned kInRow, bool kSwizzled>
bool rows_are_right() {
  std::vector<uint4> tile(kRows * kInRow);
  for (unsigned i = 0; i < tile.size(); ++i) tile[i] = {4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3};
  const DeviceArray<uint4> d_tile(tile), rows(kWarp);
  const DeviceArray<unsigned> registers(kWarp * 4);
  load_rows<kInRow, kSwizzled><<<1, kWarp>>>(d_tile, rows, registers);
  CUDA_CHECK_LAUNCH();
  const std::vector<uint4> loaded = rows.download();
  const std::vector<unsigned> held = registers.download();
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (loaded[lane].x != 4 * (lane % kRows * kInRow + lane / kRows)) return false;
    for (unsigned j = 0; j < 4; ++j) {  // matrix j: rows 8 (j % 2) on, piece j / 2
      const unsigned row = j % 2 * 8 + lane / 4;
      if (held[lane * 4 + j] != 4 * (row * kInRow + j / 2) + lane % 4) return false;
    }
  }
  return true;
}

template <unsigned kInRow>
bool both_are_right() {
  return rows_are_right<kInRow, false>() && rows_are_right<kInRow, true>();
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "16_fragments", "which lane holds which element?", {});
  opt.expect_no_versions();
  const Device device = open_device(opt);
  if (10 * device.major + device.minor < 80) {
    std::fprintf(stderr, "16_fragments: %s has no BF16 in its tensor cores\n", device.name);
    return kExitNoGpu;
  }
  const std::vector<Held> of_a = held_of(number, mixed), of_b = held_of(identity, number);
  const bool ok = is_product(of_a, of_b, number, mixed) && both_are_right<4>() &&
                  both_are_right<8>() && both_are_right<16>();
  const std::string csv = lines_of(of_a, of_b);
  std::printf("%td elements and rows, %s\n", std::count(csv.begin(), csv.end(), '\n') - 1,
              ok ? "ok" : "WRONG");
  return write_csv(opt, csv) && ok ? kExitOk : kExitWrong;
}
