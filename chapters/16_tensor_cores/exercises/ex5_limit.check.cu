// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the tiles ask for
#include "chapters/16_tensor_cores/product.cuh"
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

/// Clocks of a multiprocessor.
struct Clocks {
  std::uint64_t writes, reads, products;
};

Clocks clocks_of(void (*kernel)(const uint4*, float*), unsigned threads) {
  const lab::Array<uint4> from(std::vector<uint4>(512, uint4{0, 0, 0, 0}));
  const lab::Array<float> out(threads);
  const auto launches = xray::count([&] {
    kernel<<<1, threads>>>(from.get(), out.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  const auto& seen = launches.at(0);
  const auto reads = seen.total(xray::Space::kShared, xray::Operation::kLoad);
  const auto writes = seen.total(xray::Space::kShared, xray::Operation::kStore);
  // A warp meets for each ldmatrix and for each mma: on paper a clock of all tensor cores.
  const std::uint64_t products = seen.exchanges_of_busiest_thread * (threads / 32) - reads.requests;
  return {writes.wavefronts, reads.wavefronts, products};
}

template <unsigned kDown, unsigned kAcross>
Clocks of_tile() {
  return clocks_of(one_tile<kDown, kAcross>, 32);
}

/// For 16 terms, if every element is read once.
Clocks of_wgmma(unsigned n) {
  constexpr unsigned kRows = 64, kTerms = 16, kBytes = 128, kMultiplyAdds = 2048;
  return {0, (kRows + n) * kTerms * 2 / kBytes, kRows * n * kTerms / kMultiplyAdds};
}

}  // namespace

TEST_CASE("the predictions are what the tiles ask for") {
  const std::string file = "the comment above the predictions";
  const auto compare = [&](const std::string& name, int predicted, std::uint64_t counted) {
    lab::predict(name, predicted, static_cast<double>(counted), file);
  };
  const Clocks small = of_tile<16, 16>(), of_ladder = of_tile<64, 32>();
  compare("kReadsOf16x16", kReadsOf16x16, small.reads);
  compare("kProductsOf16x16", kProductsOf16x16, small.products);
  compare("kReadsOf64x32", kReadsOf64x32, of_ladder.reads);
  compare("kProductsOf64x32", kProductsOf64x32, of_ladder.products);
  compare("kReadsOf128x16", kReadsOf128x16, of_tile<128, 16>().reads);

  const Clocks squares[] = {of_tile<16, 16>(), of_tile<32, 32>(), of_tile<48, 48>(),
                            of_tile<64, 64>(), of_tile<80, 80>()};
  unsigned side = 0;
  while (squares[side].reads > squares[side].products) ++side;
  compare("kSideOfSquare", kSideOfSquare, 16 * (side + 1));

  const Clocks block = clocks_of(one_step, 256);
  compare("kWritesOfBlock", kWritesOfBlock, block.writes);
  compare("kClocksOfBlock", kClocksOfBlock, block.writes + block.reads);
  compare("kPercentOfBlock", kPercentOfBlock, 100 * block.products / (block.writes + block.reads));

  compare("kReadsOfWgmma", kReadsOfWgmma, of_wgmma(256).reads);
  compare("kProductsOfWgmma", kProductsOfWgmma, of_wgmma(256).products);
  unsigned n = 8;
  while (of_wgmma(n).reads > of_wgmma(n).products) n += 8;
  compare("kLeastN", kLeastN, n);
}
