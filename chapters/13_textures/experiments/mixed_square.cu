// SPDX-License-Identifier: MIT
// What do the texture unit's weights do to an image?
//
// The middle of a square between four pixels, enlarged until the steps of the weights show. --csv
// writes the picture: column, row, what the unit returns, and the exact value.

#include "../../../common/common.cuh"
#include "mixing.cuh"

// Mixes at (x, y), one thread per place.
__global__ void sample_places(cudaTextureObject_t image, const float* x, const float* y, unsigned n,
                              float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = tex2D<float>(image, x[i], y[i]);
}

// The middle of the square between four pixels of 0, 1, 0.75 and 0.25, much enlarged: the places,
// and the exact mixture there. They lie half a fine step beside those where the unit takes its next
// weight.
__global__ void enlarge_middle(float* x, float* y, double* exact) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kSide * kSide) return;
  const double step = 1.0 / (kUnitSteps * kFine);
  const double a = 0.5 + (i % kSide + 0.5 - kSide / 2.0) * step;
  const double b = 0.5 + (i / kSide + 0.5 - kSide / 2.0) * step;
  x[i] = static_cast<float>(0.5 + a);  // 0.5: the centre of the first pixel
  y[i] = static_cast<float>(0.5 + b);
  exact[i] = (1 - b) * a + b * ((1 - a) * 0.75 + a * 0.25);
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "13_mixed_square", "what do the unit's weights do?", {});
  open_device(opt);
  const Picture square(enlarge_middle, sample_places);
  const double most = square.largest_error();
  std::ostringstream csv;
  csv.precision(9);  // digits, which tell every float from its neighbours
  csv << "column,row,unit,exact\n";
  // A line of it in steps of an eighth: + where the unit returns too much, - where too little.
  for (unsigned i = 0; i < kSide * kSide; ++i) {
    const unsigned column = i % kSide, row = i / kSide;
    const double unit = square.unit[i], exact = square.exact[i], error = unit - exact;
    csv << column << ',' << row << ',' << unit << ',' << exact << '\n';
    const char sign = 2 * std::abs(error) < most ? '.' : error > 0 ? '+' : '-';
    std::printf("%c%s", sign, column == kSide - 1 ? "\n" : "");
  }
  std::printf("\n+ and -: the unit is off by more than half of the most, %.5f\n", most);
  return write_csv(opt, csv.str()) ? kExitOk : kExitWrong;
}
