// SPDX-License-Identifier: MIT
// What do fewer bits cost, and what do they bring?
//
// Products of warp groups, of TF32, FP16, BF16 and FP8: how many a second, and how far the sums of
// k terms are off.

#include "../../../common/common.cuh"
#include "one_product.cuh"

constexpr unsigned kGroupsOfBlock = 2, kProductsOfTurn = 4;

// Nothing but products, of what lies in shared memory: `turns` times the four of a row of 128
// bytes, by two groups of warps, which multiply the same.
template <ptx::Format kFormat>
__global__ void __launch_bounds__(kGroupsOfBlock * 128, 1)
    multiply_alone(float* d, const std::uint32_t* words_a, const std::uint32_t* words_b,
                   unsigned turns) {
  __shared__ alignas(1024) std::uint32_t box_a[kRowsOfD * kWordsOfBox];
  __shared__ alignas(1024) std::uint32_t box_b[kColumnsOfD * kWordsOfBox];
  bring_rows(box_a, words_a, kRowsOfD, kWordsOfBox, 0);
  bring_rows(box_b, words_b, kColumnsOfD, kWordsOfBox, 0);
  ptx::fence_async();  // wgmma sees what this thread has stored
  __syncthreads();     // and what all have
  float sums[64];
  for (unsigned turn = 0; turn < turns; ++turn) {
    ptx::wgmma_fence();
#pragma unroll
    for (unsigned step = 0; step < kProductsOfTurn; ++step)
      ptx::wgmma_m64n128<kFormat>(sums, ptx::describe(box_a + step * kWordsOfStep, 16, 1024),
                                  ptx::describe(box_b + step * kWordsOfStep, 16, 1024),
                                  turn > 0 || step > 0);
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();  // the turn before has ended
  }
  ptx::wgmma_wait<0>();
  ptx::wgmma_hold(sums);
  const std::size_t first = std::size_t{blockIdx.x} * kGroupsOfBlock + threadIdx.x / 128;
#pragma unroll
  for (unsigned e = 0; e < 64; ++e) d[first * kRowsOfD * kColumnsOfD + place_in_d(e)] = sums[e];
}

// The product of all k, once more and without an instruction of tensor cores.
std::vector<double> exact_product(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t k = a.size() / kRowsOfD;
  std::vector<double> d(std::size_t{kRowsOfD} * kColumnsOfD, 0);
  for (std::size_t i = 0; i < d.size(); ++i)
    for (std::size_t l = 0; l < k; ++l)
      d[i] += a[i / kColumnsOfD * k + l] * b[i % kColumnsOfD * k + l];
  return d;
}

// Uniform numbers from -1 to 1, in rows of k, and the nearest that a kind has.
std::vector<double> drawn(std::size_t rows, std::size_t k, std::uint64_t seed) {
  const std::vector<float> x = random_floats(rows * k, -1, 1, seed);
  return std::vector<double>(x.begin(), x.end());
}
std::vector<double> rounded(const Kind& kind, std::vector<double> x) {
  for (double& value : x) value = rounded_to(kind, value);
  return x;
}

// Products of the same A and B, again and again, in every group of all blocks.
template <ptx::Format kFormat>
struct Products {
  unsigned blocks, turns;
  Kind kind = kind_of(kFormat);
  std::size_t terms = std::size_t{kWordsOfBox} * 32 / kind.bits;  // of a turn
  std::vector<double> a = rounded(kind, drawn(kRowsOfD, terms, 1));
  std::vector<double> b = rounded(kind, drawn(kColumnsOfD, terms, 2));
  DeviceArray<std::uint32_t> words_a{words_of(kind, a)}, words_b{words_of(kind, b)};
  DeviceArray<float> sums{std::size_t{blocks} * kGroupsOfBlock * kRowsOfD * kColumnsOfD};

  double amount() const { return 2.0 * turns * sums.size() * terms; }
  void poison() const { sums.poison(); }
  void launch(unsigned turns_now) const {
    multiply_alone<kFormat><<<blocks, kGroupsOfBlock * 128>>>(sums, words_a, words_b, turns_now);
  }

  // After many turns all is finite; after two it is twice the product, but for what sums lose.
  bool is_right() const {
    const std::vector<float> many = sums.download();
    if (!std::all_of(many.begin(), many.end(), [](float x) { return std::isfinite(x); }))
      return false;
    poison();
    launch(2);
    CUDA_CHECK_LAUNCH();
    const std::vector<float> two = sums.download();
    const std::vector<double> exact = exact_product(a, b);
    std::vector<double> expected(two.size());
    for (std::size_t i = 0; i < two.size(); ++i) expected[i] = 2 * exact[i % exact.size()];
    return all_close(kind.name, two, expected, [&](std::size_t) { return 1e-3 * terms; });
  }
};

// The root of the mean square of `x`.
double rms(const std::vector<double>& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  return std::sqrt(squares / static_cast<double>(x.size()));
}

// How far a product of uniform numbers from -1 to 1 is off, over how large it is: `all` beside the
// exact one, `sums` beside the exact one of the rounded factors.
struct Errors {
  double all, sums;
};
template <ptx::Format kFormat>
Errors errors_of(std::size_t k, std::uint64_t seed) {
  const Kind kind = kind_of(kFormat);
  const std::vector<double> a = drawn(kRowsOfD, k, seed), b = drawn(kColumnsOfD, k, seed + 1);
  const std::vector<double> a_rounded = rounded(kind, a), b_rounded = rounded(kind, b);
  const std::vector<float> zeros(std::size_t{kRowsOfD} * kColumnsOfD, 0.0f);
  const std::vector<float> d = one_product<kFormat>(zeros, a_rounded, b_rounded, true);
  const auto off = [&](const std::vector<double>& right) {
    std::vector<double> error(d.size());
    for (std::size_t i = 0; i < d.size(); ++i) error[i] = d[i] - right[i];
    return rms(error) / rms(right);
  };
  return {off(exact_product(a, b)), off(exact_product(a_rounded, b_rounded))};
}

int main(int argc, char** argv) {
  std::size_t k = kOnGpu ? 4096 : 256, turns = kOnGpu ? 20000 : 2;
  const Options opt(argc, argv, "16_formats", "what do fewer bits cost, and what do they bring?",
                    {{"k", &k, 32, 64_Ki, "terms of the sums whose errors are measured"},
                     {"turns", &turns, 1, 100000, "of four products per group of warps"}});
  k = div_up(k, 32) * 32;
  ResultTable table(opt, std::size_t{64} << 20, 0, {"error", "error_of_sums"});
  table.rate_in("GFLOP/s");
  if (!opt.list && !has_groups()) {
    std::fprintf(stderr, "16_formats: %s or this build has no products of warp groups (sm_90a)\n",
                 table.device.name);
    return kExitNoGpu;
  }
  const auto sms = static_cast<unsigned>(table.device.multiProcessorCount);
  for_every_format([&](auto format) {
    constexpr ptx::Format kFormat = decltype(format)::value;
    const Kind kind = kind_of(kFormat);
    const std::string summary = text("products of ", kind.bits, " bits");
    if (!table.wants(kind.name, summary)) return;
    const Products<kFormat> products{kOnGpu ? sms : 1, static_cast<unsigned>(turns)};
    const Errors errors = errors_of<kFormat>(k, opt.seed);
    const auto is_right = [&] {
      table.next_row_has(errors.all, errors.sums);
      return products.is_right();
    };
    table.each_launch_does(products.amount());
    table.add(
        kind.name, products, [&] { products.launch(products.turns); }, is_right, summary);
  });
  return table.finish();
}
