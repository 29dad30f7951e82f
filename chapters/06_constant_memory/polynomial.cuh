// SPDX-License-Identifier: MIT
// Chapter 06, a use of constant memory that earns its place: coefficients that every thread needs.
// Included by constant_memory.cu, which holds the kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace polynomial {

constexpr unsigned kBlock = 256;  // with 1024, starting blocks would take the time

// What both versions read and write, one thread per value. The coefficients are also in constant
// memory.
struct Values {
  std::vector<float> h_x, h_coefficients;
  std::size_t n = h_x.size();
  unsigned grid = static_cast<unsigned>(std::max<std::size_t>(1, div_up(n, kBlock)));
  DeviceArray<float> x{h_x}, coefficients{h_coefficients}, y{n};
};

// The sum of c[k] * x^k in double, and the same sum of absolute values: what a bound refers to.
struct Expected {
  double exact = 0, magnitude = 0;
};
Expected reference(double x, const std::vector<float>& c) {
  Expected v;
  double power = 1;
  for (const float coefficient : c) {
    v.exact += coefficient * power;
    v.magnitude += std::abs(coefficient * power);
    power *= x;
  }
  return v;
}

const Version<Values> kVersions[] = {
    {"polynomial_constant", "a polynomial, its coefficients in constant memory",
     [](const Values& v) { polynomial_constant<<<v.grid, kBlock>>>(v.x.get(), v.n, v.y.get()); }},
    {"polynomial_readonly", "its coefficients by the read-only path",
     [](const Values& v) {
       polynomial_readonly<<<v.grid, kBlock>>>(v.x.get(), v.n, v.coefficients.get(), v.y.get());
     }},
};

// The coefficients take the place of the first words of the table.
void upload_coefficients(const std::vector<float>& coefficients) {
  CUDA_CHECK(
      cudaMemcpyToSymbol(constant_words, coefficients.data(), kCoefficients * sizeof(float)));
}

// Horner's rule in floats is off by at most 2m u / (1 - 2m u) times the sum of |c[k] x^k|, with m
// coefficients and u = 2^-24 (Higham, "Accuracy and Stability of Numerical Algorithms", 5.1).
bool check(const std::string& version, const Values& v) {
  constexpr double kTwoMU = 2 * kCoefficients * 0x1p-24, kGamma = kTwoMU / (1 - kTwoMU);
  std::vector<double> exact, bound;
  for (const float at : v.h_x) {
    const Expected e = reference(at, v.h_coefficients);
    exact.push_back(e.exact);
    bound.push_back(kGamma * e.magnitude);
  }
  return all_close(version, v.y.download().data(), exact.data(), v.n,
                   [&](std::size_t i) { return bound[i]; });
}

void add_rows(ResultTable& table, std::size_t n) {
  const Options& opt = table.options();
  if (!opt.wants(kVersions[0].name) && !opt.wants(kVersions[1].name)) return;
  const Values values = {random_floats(n, -1, 1, opt.seed + 2),
                         random_floats(kCoefficients, -1, 1, opt.seed + 3)};
  upload_coefficients(values.h_coefficients);
  add_version_rows(
      table, kVersions, values, 2.0 * static_cast<double>(values.x.bytes()),
      [&] { values.y.poison(); }, [&](const char* version) { return check(version, values); });
}

}  // namespace polynomial
