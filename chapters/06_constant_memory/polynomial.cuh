// SPDX-License-Identifier: MIT
// A use of constant memory that earns its place: coefficients that every thread needs.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "constant_words.cuh"

constexpr unsigned kPolynomialBlock = 256;  // with 1024, starting blocks would take the time

// What both versions read and write, in device memory.
struct PolynomialProblem {
  const float* x;             // n places at which its value is wanted
  const float* coefficients;  // kCoefficients, the same as in constant memory
  float* y;                   // n values
  std::size_t n;
  unsigned grid;
};

// The sum of c[k] * x^k in double, and the same sum of absolute values: what a bound refers to.
struct Value {
  double exact = 0, magnitude = 0;
};
Value expected_polynomial(double x, const std::vector<float>& c) {
  Value v;
  double power = 1;
  for (const float coefficient : c) {
    v.exact += coefficient * power;
    v.magnitude += std::abs(coefficient * power);
    power *= x;
  }
  return v;
}

// Horner's rule. Every thread needs the same coefficient at the same time. Unrolled, its address is
// known to the compiler: one load serves a whole warp, or the multiply-add fetches it by itself.
__global__ void polynomial_constant(const float* x, std::size_t n, float* y) {
  const std::size_t i = global_index();
  if (i >= n) return;
  float value = 0;
#pragma unroll
  for (int k = kCoefficients - 1; k >= 0; --k) {
    value = value * x[i] + constant_words.coefficients[k];
  }
  y[i] = value;
}

// The same from global memory: a load for every multiply-add, though all but the first hit the L1.
__global__ void polynomial_readonly(const float* __restrict__ x, std::size_t n,
                                    const float* __restrict__ coefficients, float* __restrict__ y) {
  const std::size_t i = global_index();
  if (i >= n) return;
  float value = 0;
#pragma unroll
  for (int k = kCoefficients - 1; k >= 0; --k) value = value * x[i] + __ldg(&coefficients[k]);
  y[i] = value;
}

const Version<PolynomialProblem> kPolynomials[] = {
    {"polynomial_constant", "a polynomial, its coefficients in constant memory",
     [](const PolynomialProblem& p) {
       polynomial_constant<<<p.grid, kPolynomialBlock>>>(p.x, p.n, p.y);
     }},
    {"polynomial_readonly", "its coefficients by the read-only path",
     [](const PolynomialProblem& p) {
       polynomial_readonly<<<p.grid, kPolynomialBlock>>>(p.x, p.n, p.coefficients, p.y);
     }},
};

// Horner's rule in floats is off by at most 2m u / (1 - 2m u) times the sum of |c[k] x^k|, with m
// coefficients and u = 2^-24 (Higham, "Accuracy and Stability of Numerical Algorithms", 5.1).
bool check(const std::string& what, const PolynomialProblem& p, const std::vector<float>& x,
           const std::vector<float>& coefficients) {
  constexpr double kTwoMU = 2 * kCoefficients * 0x1p-24, kGamma = kTwoMU / (1 - kTwoMU);
  std::vector<double> exact, bound;
  for (const float at : x) {
    const Value v = expected_polynomial(at, coefficients);
    exact.push_back(v.exact);
    bound.push_back(kGamma * v.magnitude);
  }
  return all_close(what, download(p.y, p.n).data(), exact.data(), p.n,
                   [&](std::size_t i) { return bound[i]; });
}

// The coefficients take the place of the first words of the table.
void run_polynomials(ResultTable& table, const Options& opt, std::size_t n) {
  if (!opt.wants(kPolynomials[0].name) && !opt.wants(kPolynomials[1].name)) return;
  const std::vector<float> x = random_floats(n, -1, 1, opt.seed + 2);
  const std::vector<float> coefficients = random_floats(kCoefficients, -1, 1, opt.seed + 3);
  const std::size_t bytes = n * sizeof(float), few = kCoefficients * sizeof(float);
  float *d_x = nullptr, *d_coefficients = nullptr, *d_y = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMalloc(&d_coefficients, few));
  CUDA_CHECK(cudaMalloc(&d_y, bytes));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(d_coefficients, coefficients.data(), few, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, coefficients.data(), few));
  const auto grid = static_cast<unsigned>(div_up(n, kPolynomialBlock));
  const PolynomialProblem p = {d_x, d_coefficients, d_y, n, grid};
  for (const auto& version : kPolynomials) {
    if (!opt.wants(version.name)) continue;
    CUDA_CHECK(cudaMemset(d_y, 0xff, bytes));
    add_measured_row(
        table, opt, version.name, 2.0 * static_cast<double>(bytes), [&] { version.launch(p); },
        [&] { return check(version.name, p, x, coefficients); });
  }
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_coefficients));
  CUDA_CHECK(cudaFree(d_y));
}
