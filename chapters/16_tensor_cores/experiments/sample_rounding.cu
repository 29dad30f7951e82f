// SPDX-License-Identifier: MIT
// How does a tensor core round?
//
// Sums of a few products whose addends differ so much in size that models of it disagree: how many
// bits are kept of small addends, whether sums are cut off or rounded, how many products are added
// at a time, what happens to very small and very large numbers. --csv writes each result as bits:
// what the CPU backend computes is compared with a GPU's (results/h200_rounding.csv).

#include <sstream>

#include "../../../common/common.cuh"
#include "one_product.cuh"

// A way to draw addends: their exponents are top + low to top; some kinds of sums have more to
// them (see Sample).
struct Draw {
  const char* name;
  int low, top;
  bool cancels, in_turns;
};
constexpr Draw kDraws[] = {
    {"near", -4, 0, false, false},          // all about as large: carries
    {"spread", -27, 0, false, false},       // small ones beside a large one: bits that are kept
    {"cancel", -27, 0, true, false},        // first and last product cancel: what was cut off shows
    {"blocks", -24, 0, false, true},        // large and small in turns: what is added at a time
    {"smallest", -12, -120, false, false},  // some addends are subnormal, no sum is
    {"largest", -6, 118, false, false},     // sums of up to 2^122, none infinite
};

// Element l of a row or a column of k: a fraction of the kind's bits, of either sign, and an
// exponent. Rows bring half of an addend's exponent, columns the rest, as far as the kind has them.
double element(const Kind& kind, const Draw& draw, std::uint64_t seed, std::uint64_t i,
               unsigned l) {
  const int bias = (1 << (kind.exponent_bits - 1)) - 1;
  const std::uint64_t bits = random_bits(seed, i);
  const double fraction = 1 + std::ldexp(static_cast<double>(bits >> (64 - kind.fraction_bits)),
                                         -static_cast<int>(kind.fraction_bits));
  int exponent = draw.top / 2 + random_int(draw.low, 0, seed + 1000, i) / 2;
  if (draw.in_turns && l % 4 != 0) exponent = draw.top / 2 + draw.low / 2;
  exponent = std::max(1 - bias, std::min(exponent, bias - 1));
  return std::ldexp((bits & 1) != 0 ? -fraction : fraction, exponent);
}

// One product of 64 x 128, of as many terms as an instruction has, and what is added to it.
template <ptx::Format kFormat>
struct Sample {
  Kind kind = kind_of(kFormat);
  unsigned k = 256 / kind.bits;
  std::vector<double> a, b;
  std::vector<float> c;

  Sample(const Draw& draw, std::uint64_t seed)
      : a(std::size_t{kRowsOfD} * k),
        b(std::size_t{kColumnsOfD} * k),
        c(std::size_t{kRowsOfD} * kColumnsOfD) {
    for (unsigned i = 0; i < a.size(); ++i) a[i] = element(kind, draw, seed, i, i % k);
    for (unsigned i = 0; i < b.size(); ++i) b[i] = element(kind, draw, seed + 1, i, i % k);
    if (draw.cancels) {  // the last term of a row is the first one's negative
      for (unsigned i = k - 1; i < a.size(); i += k) a[i] = -a[i - (k - 1)];
      for (unsigned i = k - 1; i < b.size(); i += k) b[i] = b[i - (k - 1)];
    }
    for (unsigned i = 0; i < c.size(); ++i) {
      const int exponent = std::max(draw.top, -126) + random_int(draw.low, 0, seed + 2, i);
      const std::uint64_t bits = random_bits(seed + 3, i);
      const double fraction = 1 + std::ldexp(static_cast<double>(bits >> 41), -23);
      // Of every four one is zero, so that products alone are seen, too.
      c[i] = i % 4 == 0
                 ? 0.0f
                 : static_cast<float>(std::ldexp((bits & 1) != 0 ? -fraction : fraction, exponent));
    }
  }
};

constexpr unsigned kRowsWritten = 4, kColumnsWritten = 8;  // of each product

// A line for each result: how it was computed, which element, and its bits.
inline std::string results_of(bool with_groups) {
  std::ostringstream csv;
  csv << "instruction,format,draw,row,column,result\n";
  for (const bool by_group : {false, true}) {
    if (by_group && !with_groups) continue;
    for_every_format([&](auto format) {
      constexpr ptx::Format kFormat = decltype(format)::value;
      std::uint64_t seed = 100;
      for (const Draw& draw : kDraws) {
        const Sample<kFormat> sample(draw, seed += 10);
        const std::vector<float> d = one_product<kFormat>(sample.c, sample.a, sample.b, by_group);
        for (unsigned row = 0; row < kRowsWritten; ++row) {
          for (unsigned column = 0; column < kColumnsWritten; ++column) {
            std::uint32_t bits;
            std::memcpy(&bits, &d[row * kColumnsOfD + column], sizeof bits);
            char hex[9];
            std::snprintf(hex, sizeof hex, "%08x", bits);
            csv << (by_group ? "wgmma," : "mma,") << sample.kind.name << ',' << draw.name << ','
                << row << ',' << column << ',' << hex << '\n';
          }
        }
      }
    });
  }
  return csv.str();
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "16_sample_rounding", "how does a tensor core round?", {});
  opt.expect_no_versions();
  const Device device = open_device(opt);
  if (10 * device.major + device.minor < 80) {
    std::fprintf(stderr, "16_sample_rounding: %s has no BF16 in its tensor cores\n", device.name);
    return kExitNoGpu;
  }
  const std::string csv = results_of(has_groups());
  std::printf("%td results\n", std::count(csv.begin(), csv.end(), '\n') - 1);
  return write_csv(opt, csv) ? kExitOk : kExitWrong;
}
