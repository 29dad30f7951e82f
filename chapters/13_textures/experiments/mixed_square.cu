// SPDX-License-Identifier: MIT
// What do the texture unit's weights do to an image?
//
// The middle of a square between four pixels, enlarged until the steps of the weights show. --csv
// writes the picture: column, row, what the unit returns, and the exact value.

#include "../../../common/common.cuh"
#include "../images.cuh"

constexpr unsigned kUnitSteps = 256;  // between two pixels: weights of 8 bits
constexpr unsigned kCells = 6, kFine = 8, kSide = kCells * kFine;  // steps on a side, each in eight

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

// What a texture of 2 x 2 pixels, which mixes, returns at places in device memory.
std::vector<float> sample(const std::vector<float>& pixels, const DeviceArray<float>& x,
                          const DeviceArray<float>& y) {
  cudaTextureDesc rules = {};  // coordinates that count pixels
  rules.filterMode = cudaFilterModeLinear;
  const ArrayTexture image(pixels, 2, 2, rules);
  const DeviceArray<float> result(x.size());
  const unsigned n = x.size();
  sample_places<<<blocks_for(n, 256), 256>>>(image.object, x, y, n, result);
  CUDA_CHECK_LAUNCH();
  return result.download();
}

// The square: what the unit returns there, and what it should.
struct Picture {
  std::vector<float> unit;
  std::vector<double> exact;
};

Picture picture() {
  const DeviceArray<float> x(kSide * kSide), y(kSide * kSide);
  const DeviceArray<double> exact(kSide * kSide);
  enlarge_middle<<<blocks_for(kSide * kSide, 256), 256>>>(x, y, exact);
  CUDA_CHECK_LAUNCH();
  return {sample({0, 1, 0.75f, 0.25f}, x, y), exact.download()};
}

// The picture as CSV. Nine digits tell every float from its neighbours.
std::string csv_of(const Picture& picture) {
  std::ostringstream csv;
  csv.precision(9);
  csv << "column,row,unit,exact\n";
  for (unsigned i = 0; i < kSide * kSide; ++i)
    csv << i % kSide << ',' << i / kSide << ',' << picture.unit[i] << ',' << picture.exact[i]
        << '\n';
  return csv.str();
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "13_mixed_square", "what do the unit's weights do?", {});
  open_device(opt);
  const Picture square = picture();
  double most = 0;
  for (unsigned i = 0; i < kSide * kSide; ++i)
    most = std::max(most, std::abs(square.unit[i] - square.exact[i]));
  // A line of it in steps of an eighth: + where the unit returns too much, - where too little.
  for (unsigned i = 0; i < kSide * kSide; ++i) {
    const double error = square.unit[i] - square.exact[i];
    std::printf("%c%s",
                2 * std::abs(error) < most ? '.'
                : error > 0                ? '+'
                                           : '-',
                i % kSide == kSide - 1 ? "\n" : "");
  }
  std::printf("\n+ and -: the unit is off by more than half of the most, %.5f\n", most);
  return opt.write_csv(csv_of(square)) ? kExitOk : kExitWrong;
}
