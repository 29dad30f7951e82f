// SPDX-License-Identifier: MIT
// Which lane of a warp holds which element of an mma?
//
// Matrices whose elements are their own numbers come to registers by ldmatrix, and D = A B is read
// from registers where B picks eight columns of A. --csv writes each element's lane, register and
// half: figures/fragments.svg shows it (results/h200_fragments.csv).

#include <sstream>

#include "../../../common/common.cuh"
#include "../product.cuh"

constexpr unsigned kWarp = 32, kRows = 16, kColumns = 8, kTerms = 16, kPiece = 8;

// What a warp holds: two numbers in a register of A and B, one in each of D.
struct Held {
  Bf16 a[kWarp][4][2], b[kWarp][2][2];
  float d[kWarp][4];
};

// A is 16 x 16, B is 16 x 8. Element i of A is i; `numbers`: so is element i of B. Otherwise B
// picks the first eight columns of A.
__global__ void hold(Held* held, bool numbers) {
  __shared__ alignas(16) Bf16 a[kRows][kTerms];
  __shared__ alignas(16) Bf16 b[kTerms][kColumns];
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < kRows * kTerms; i += kWarp)
    a[i / kTerms][i % kTerms] = __float2bfloat16(static_cast<float>(i));
  for (unsigned i = lane; i < kTerms * kColumns; i += kWarp) {
    const bool picked = i / kColumns == i % kColumns;
    b[i / kColumns][i % kColumns] = __float2bfloat16(numbers  ? static_cast<float>(i)
                                                     : picked ? 1.0f
                                                              : 0.0f);
  }
  __syncwarp();  // all lanes have written before any loads
  unsigned of_a[4], of_b[4];
  ptx::load_matrices(of_a, &a[lane % kRows][lane / kRows * kPiece]);
  ptx::load_matrices_transposed(of_b, &b[lane % kTerms][0]);  // two of the four are B
  const unsigned two_of_b[2] = {of_b[0], of_b[1]};
  float d[4] = {};
  ptx::mma_m16n8k16(d, of_a, two_of_b);
  const auto half = [](unsigned both, unsigned h) {
    return __ushort_as_bfloat16(static_cast<unsigned short>(both >> 16 * h));
  };
  for (unsigned h = 0; h < 2; ++h) {
    for (unsigned r = 0; r < 4; ++r) held->a[lane][r][h] = half(of_a[r], h);
    for (unsigned r = 0; r < 2; ++r) held->b[lane][r][h] = half(of_b[r], h);
  }
  for (unsigned r = 0; r < 4; ++r) held->d[lane][r] = d[r];
}

Held held_with(bool numbers) {
  const DeviceArray<Held> held(1);
  hold<<<1, kWarp>>>(held, numbers);
  CUDA_CHECK_LAUNCH();
  return held.download()[0];
}

// A line for each element: its matrix, its place there, and who holds it.
std::string csv_of_holders() {
  std::ostringstream csv;
  csv << "matrix,row,column,lane,register,half\n";
  const auto add = [&](const char* matrix, unsigned number, unsigned width, unsigned lane,
                       unsigned r, unsigned h) {
    csv << matrix << ',' << number / width << ',' << number % width << ',' << lane << ',' << r
        << ',' << h << '\n';
  };
  const Held numbers = held_with(true), picked = held_with(false);
  const auto number = [](Bf16 x) { return static_cast<unsigned>(__bfloat162float(x)); };
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned h = 0; h < 2; ++h) add("A", number(numbers.a[lane][r][h]), kTerms, lane, r, h);
    for (unsigned r = 0; r < 2; ++r)
      for (unsigned h = 0; h < 2; ++h)
        add("B", number(numbers.b[lane][r][h]), kColumns, lane, r, h);
    for (unsigned r = 0; r < 4; ++r) {
      const auto of_a = static_cast<unsigned>(picked.d[lane][r]);  // of columns 0 to 7
      add("D", of_a / kTerms * kColumns + of_a % kTerms, kColumns, lane, r, 0);
    }
  }
  return csv.str();
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "16_fragments", "which lane holds which element of an mma?", {});
  opt.expect_no_versions();
  const Device device = open_device(opt);
  if (10 * device.major + device.minor < 80) {
    std::fprintf(stderr, "16_fragments: %s has no BF16 in its tensor cores\n", device.name);
    return kExitNoGpu;
  }
  const std::string csv = csv_of_holders();
  std::printf("%td elements\n", std::count(csv.begin(), csv.end(), '\n') - 1);
  return write_csv(opt, csv) ? kExitOk : kExitWrong;
}
