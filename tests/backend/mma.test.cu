// SPDX-License-Identifier: MIT
// <mma.h> on the CPU backend: products of a warp, for every shape and type that there is, compared
// with plain loops. Elements are small integers: every sum is exact.
#include <mma.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "../../common/common.cuh"
#include "../catch.hpp"

namespace {

namespace wmma = nvcuda::wmma;

/// What an element of type T is kept as.
template <class T>
struct StoredAs {
  using Type = T;
};
template <>
struct StoredAs<wmma::precision::tf32> {
  using Type = float;
};
template <class T>
using Stored = typename StoredAs<T>::Type;

// d = 2 * (a * b + c): the factor is applied element by element.
template <int m, int n, int k, class T, class Sum, class ALayout, class BLayout>
__global__ void multiply(const Stored<T>* a, unsigned lda, const Stored<T>* b, unsigned ldb,
                         const Sum* c, Sum* d, unsigned ldc, wmma::layout_t layout) {
  wmma::fragment<wmma::matrix_a, m, n, k, T, ALayout> of_a;
  wmma::fragment<wmma::matrix_b, m, n, k, T, BLayout> of_b;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> sum;
  wmma::load_matrix_sync(of_a, a, lda);
  wmma::load_matrix_sync(of_b, b, ldb);
  wmma::load_matrix_sync(sum, c, ldc, layout);
  wmma::mma_sync(sum, of_a, of_b, sum);
  for (int i = 0; i < sum.num_elements; ++i) {
    sum.x[i] = static_cast<Sum>(static_cast<float>(sum.x[i]) * 2.0f);
  }
  wmma::store_matrix_sync(d, sum, ldc, layout);
}

template <class T>
std::vector<T> integers(std::size_t n, int least, int most, std::uint64_t seed) {
  std::vector<T> values;
  for (const int x : random_ints(n, least, most, seed)) values.push_back(static_cast<T>(x));
  return values;
}

template <int m, int n, int k, class T, class Sum, class ALayout, class BLayout>
void check(wmma::layout_t layout) {
  constexpr bool kARows = std::is_same<ALayout, wmma::row_major>::value;
  constexpr bool kBRows = std::is_same<BLayout, wmma::row_major>::value;
  const bool rows = layout == wmma::mem_row_major;
  const int least = std::is_same<T, unsigned char>::value ? 0 : -8;
  // 16 more than needed: gaps that the call must skip, for each type a multiple of 16 bytes.
  const int lda = (kARows ? k : m) + 16, ldb = (kBRows ? n : k) + 16, ldc = (rows ? n : m) + 16;
  const auto a = integers<Stored<T>>(static_cast<std::size_t>(lda * (kARows ? m : k)), least, 8, 1);
  const auto b = integers<Stored<T>>(static_cast<std::size_t>(ldb * (kBRows ? k : n)), least, 8, 2);
  const auto c = integers<Sum>(static_cast<std::size_t>(ldc * (rows ? m : n)), -8, 8, 3);
  std::vector<Sum> expected = c;
  const auto at = [](const auto& x, int i, int j, int ld, bool by_rows) {
    return static_cast<float>(x[static_cast<std::size_t>(by_rows ? i * ld + j : j * ld + i)]);
  };
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = at(c, i, j, ldc, rows);
      for (int l = 0; l < k; ++l) sum += at(a, i, l, lda, kARows) * at(b, l, j, ldb, kBRows);
      expected[static_cast<std::size_t>(rows ? i * ldc + j : j * ldc + i)] =
          static_cast<Sum>(2 * sum);
    }
  }
  const DeviceArray<Stored<T>> d_a(a), d_b(b);
  const DeviceArray<Sum> d_c(c), d_d(c);
  multiply<m, n, k, T, Sum, ALayout, BLayout>
      <<<1, 32>>>(d_a.get(), lda, d_b.get(), ldb, d_c.get(), d_d.get(), ldc, layout);
  CUDA_CHECK_LAUNCH();
  const std::vector<Sum> d = d_d.download();
  for (std::size_t i = 0; i < d.size(); ++i) {
    INFO("element " << i);
    REQUIRE(static_cast<float>(d[i]) == static_cast<float>(expected[i]));
  }
}

template <int m, int n, int k, class T, class Sum>
void check_layouts() {
  INFO(m << " x " << n << " x " << k << ", " << sizeof(Stored<T>) << " bytes, sums of "
         << sizeof(Sum));
  check<m, n, k, T, Sum, wmma::row_major, wmma::row_major>(wmma::mem_row_major);
  check<m, n, k, T, Sum, wmma::col_major, wmma::row_major>(wmma::mem_col_major);
  check<m, n, k, T, Sum, wmma::row_major, wmma::col_major>(wmma::mem_row_major);
  check<m, n, k, T, Sum, wmma::col_major, wmma::col_major>(wmma::mem_col_major);
}

__global__ void round(const float* from, float* to) {
  to[threadIdx.x] = wmma::__float_to_tf32(from[threadIdx.x]);
}

__global__ void one_product(float factor, float addend, float* out, int* saturated) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(a, factor);
  wmma::fill_fragment(b, 0.125f);
  wmma::fill_fragment(sum, addend);
  wmma::mma_sync(sum, a, b, sum);
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);

  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> large;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> other;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> whole;
  wmma::fill_fragment(large, 127);
  wmma::fill_fragment(other, 127);
  wmma::fill_fragment(whole, 2147483647);
  wmma::mma_sync(whole, large, other, whole, true);
  wmma::store_matrix_sync(saturated, whole, 16, wmma::mem_row_major);
}

}  // namespace

// FEATURE: numbers: `nvcuda::wmma`
TEST_CASE("every shape, type and layout gives the product") {
  check_layouts<16, 16, 16, __half, float>();
  check_layouts<32, 8, 16, __half, float>();
  check_layouts<8, 32, 16, __half, float>();
  check_layouts<16, 16, 16, __half, __half>();
  check_layouts<32, 8, 16, __nv_bfloat16, float>();
  check_layouts<16, 16, 8, wmma::precision::tf32, float>();
  check_layouts<8, 32, 16, signed char, int>();
  check_layouts<16, 16, 16, unsigned char, int>();
  check_layouts<8, 8, 4, double, double>();
}

TEST_CASE("elements of TF32 count without their lowest bits, and round only where they are told") {
  const float tail = std::ldexp(1.0f, -11), step = std::ldexp(1.0f, -10);
  const std::vector<float> x = {1 + tail, -1 - tail, 1 + tail * 0.99f, INFINITY};
  const DeviceArray<float> d_x(x), d_rounded(4);
  round<<<1, 4>>>(d_x.get(), d_rounded.get());
  CUDA_CHECK_LAUNCH();
  CHECK(d_rounded.download() == std::vector<float>{1 + step, -1 - step, 1, INFINITY});
  const DeviceArray<float> d_out(256);
  const DeviceArray<int> d_saturated(256);
  one_product<<<1, 32>>>(1 + tail, 0.25f, d_out.get(), d_saturated.get());
  CUDA_CHECK_LAUNCH();
  for (const float x : d_out.download()) REQUIRE(x == 1.25f);
  for (const int x : d_saturated.download()) REQUIRE(x == 2147483647);
}
