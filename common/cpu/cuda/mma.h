// SPDX-License-Identifier: MIT
// Stands in for <mma.h> on the CPU backend: products of small matrices by a whole warp. CUDA leaves
// open which lane holds which element of a fragment. Here element e of a tile, counted along its
// rows, is x[e / 32] of lane e % 32, and no two lanes hold the same one, so fragments of A and B
// have fewer elements than on some GPUs: programs ask num_elements.
//
// Products are exact, their sum is rounded once to the accumulator's type. A GPU rounds more often.
// X-ray counts a request for each x[i] of a tile that is loaded or stored; a GPU makes others.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision

}  // namespace nvcuda::wmma

namespace cuda_cpu {

/// How a fragment's elements are kept, and how they are multiplied and added.
template <class T>
struct MatrixElement {
  using Stored = T;
  static double value(T x) {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<double>(x);
    } else {
      return static_cast<double>(static_cast<float>(x));
    }
  }
};
/// The 13 lowest bits of a float are ignored.
template <>
struct MatrixElement<nvcuda::wmma::precision::tf32> {
  using Stored = float;
  static double value(float x) {
    return static_cast<double>(__uint_as_float(__float_as_uint(x) & ~0x1fffu));
  }
};

template <class T, class... Others>
constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);

/// The shapes that there are for factors of a type.
template <class T>
constexpr bool has_matrix_shape(int m, int n, int k) {
  if (std::is_same_v<T, nvcuda::wmma::precision::tf32>) return m == 16 && n == 16 && k == 8;
  if (std::is_same_v<T, double>) return m == 8 && n == 8 && k == 4;
  return k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
}

template <class Use, class T>
constexpr bool is_matrix_element() {
  return std::is_same_v<Use, nvcuda::wmma::accumulator>
             ? is_one_of<T, __half, float, int, double>
             : is_one_of<T, __half, __nv_bfloat16, nvcuda::wmma::precision::tf32, signed char,
                         unsigned char, double>;
}

/// Which accumulators factors of a type have.
template <class T, class Sum>
constexpr bool can_add_to() {
  if (std::is_same_v<T, double>) return std::is_same_v<Sum, double>;
  if (std::is_same_v<T, __half>) return is_one_of<Sum, float, __half>;
  return std::is_same_v<Sum,
                        std::conditional_t<is_one_of<T, signed char, unsigned char>, int, float>>;
}

/// One lane's part of a tile of kRows x kColumns.
template <class T, int kRows, int kColumns>
struct MatrixPart {
  using element_type = typename MatrixElement<T>::Stored;
  using storage_element_type = element_type;
  static constexpr int num_elements = kRows * kColumns / 32;
  static constexpr int num_storage_elements = num_elements;
  static constexpr int kTileRows = kRows, kTileColumns = kColumns;
  element_type x[num_elements];
};

template <class Part>
std::size_t matrix_offset(int i, unsigned lane, unsigned ldm, bool by_rows) {
  const unsigned element = static_cast<unsigned>(i) * 32 + lane;
  constexpr auto kColumns = static_cast<unsigned>(Part::kTileColumns);
  const std::size_t row = element / kColumns, column = element % kColumns;
  return by_rows ? row * ldm + column : column * ldm + row;
}

template <class Part>
void load_matrix(Part& part, const typename Part::element_type* from, unsigned ldm, bool by_rows,
                 const char* file, int line) {
  check_matrix_memory(WarpOperation::kMatrixLoad, from, ldm, sizeof(*from), file, line);
  const unsigned lane = number_in_block() % 32;
  for (int i = 0; i < Part::num_elements; ++i) {
    part.x[i] = from[matrix_offset<Part>(i, lane, ldm, by_rows)];
  }
}

template <class Part>
void store_matrix(typename Part::element_type* to, const Part& part, unsigned ldm, bool by_rows,
                  const char* file, int line) {
  check_matrix_memory(WarpOperation::kMatrixStore, to, ldm, sizeof(*to), file, line);
  const unsigned lane = number_in_block() % 32;
  for (int i = 0; i < Part::num_elements; ++i) {
    to[matrix_offset<Part>(i, lane, ldm, by_rows)] = part.x[i];
  }
}

/// A sum as the accumulator's type. `saturate`: a value out of its range becomes the nearest one in
/// it, NaN becomes 0; integers wrap around otherwise.
template <class T>
T matrix_sum(double sum, bool saturate) {
  if (std::is_same_v<T, int>) {
    const double top = std::numeric_limits<int>::max(), bottom = std::numeric_limits<int>::min();
    if (saturate) sum = sum > top ? top : sum < bottom ? bottom : sum;
    return static_cast<T>(
        static_cast<int>(static_cast<std::uint32_t>(static_cast<std::int64_t>(sum))));
  }
  const T result = static_cast<T>(sum);
  if (!saturate) return result;
  const auto value = static_cast<double>(MatrixElement<T>::value(result));
  if (std::isnan(value)) return static_cast<T>(0.0);
  if (!std::isinf(value)) return result;
  const double largest = std::is_same_v<T, __half> ? 65504.0
                         : std::is_same_v<T, float>
                             ? static_cast<double>(std::numeric_limits<float>::max())
                             : std::numeric_limits<double>::max();
  return static_cast<T>(value > 0 ? largest : -largest);
}

/// Lane 0's frame is where all lanes put their elements and read the others'.
template <class A, class B>
struct MatrixExchange {
  double a[A::kTileRows * A::kTileColumns];
  double b[B::kTileRows * B::kTileColumns];
};

template <class AType, class BType, class Sum, class D, class A, class B, class C>
CUDA_CPU_UNINSTRUMENTED void multiply_matrices(D& d, const A& a, const B& b, const C& c,
                                               bool saturate, const char* file, int line) {
  MatrixExchange<A, B> of_this_lane;
  auto* const all =
      reinterpret_cast<MatrixExchange<A, B>*>(static_cast<std::uintptr_t>(whole_warp_collective(
          WarpOperation::kMatrixMultiply,
          static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&of_this_lane)), file,
          line)));
  const unsigned lane = number_in_block() % 32;
  for (int i = 0; i < A::num_elements; ++i) {
    all->a[static_cast<unsigned>(i) * 32 + lane] = MatrixElement<AType>::value(a.x[i]);
  }
  for (int i = 0; i < B::num_elements; ++i) {
    all->b[static_cast<unsigned>(i) * 32 + lane] = MatrixElement<BType>::value(b.x[i]);
  }
  whole_warp_collective(WarpOperation::kMatrixMultiply, 0, file, line);
  for (int i = 0; i < C::num_elements; ++i) {
    const unsigned element = static_cast<unsigned>(i) * 32 + lane;
    const double* const row = all->a + element / C::kTileColumns * A::kTileColumns;
    const double* const column = all->b + element % C::kTileColumns;
    double sum = MatrixElement<Sum>::value(c.x[i]);
    for (int l = 0; l < A::kTileColumns; ++l) sum += row[l] * column[l * B::kTileColumns];
    d.x[i] = matrix_sum<Sum>(sum, saturate);
  }
  // Lane 0 goes on when nobody reads its frame any more.
  whole_warp_collective(WarpOperation::kMatrixMultiply, 0, file, line);
}

}  // namespace cuda_cpu

namespace nvcuda::wmma {

/// One lane's part of a tile: of A (m x k), of B (k x n) or of an accumulator (m x n).
template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment : public cuda_cpu::MatrixPart<T, std::is_same_v<Use, matrix_b> ? k : m,
                                             std::is_same_v<Use, matrix_a> ? k : n> {
  static_assert(
      cuda_cpu::is_matrix_element<Use, T>(),
      "the CPU backend has fragments of __half, __nv_bfloat16, precision::tf32, signed "
      "char, unsigned char and double, and accumulators of __half, float, int and double");
  static_assert(std::is_same_v<Use, accumulator>
                    ? cuda_cpu::has_matrix_shape<__half>(m, n, k) ||
                          cuda_cpu::has_matrix_shape<precision::tf32>(m, n, k) ||
                          cuda_cpu::has_matrix_shape<double>(m, n, k)
                    : cuda_cpu::has_matrix_shape<T>(m, n, k),
                "shapes m x n x k are 16 x 16 x 16, 32 x 8 x 16 and 8 x 32 x 16; 16 x 16 x 8 for "
                "precision::tf32; 8 x 8 x 4 for double");
  static_assert(std::is_same_v<Use, accumulator> == std::is_void_v<Layout>,
                "fragments of A and B are row_major or col_major, an accumulator is neither");
};

/// What elements of type precision::tf32 must go through.
inline float __float_to_tf32(float value) { return cuda_cpu::rounded_to_tf32(value); }

template <class Use, int m, int n, int k, class T, class Layout>
inline void fill_fragment(fragment<Use, m, n, k, T, Layout>& part,
                          const typename cuda_cpu::MatrixElement<T>::Stored& value) {
  for (auto& x : part.x) x = value;
}

template <class Use, int m, int n, int k, class T, class Layout>
inline void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& part,
                             const typename cuda_cpu::MatrixElement<T>::Stored* from, unsigned ldm,
                             CUDA_CPU_HERE) {
  static_assert(!std::is_void_v<Layout>,
                "an accumulator is loaded with a layout: mem_row_major or mem_col_major");
  cuda_cpu::load_matrix(part, from, ldm, std::is_same_v<Layout, row_major>, file, line);
}

template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& part,
                             const typename cuda_cpu::MatrixElement<T>::Stored* from, unsigned ldm,
                             layout_t layout, CUDA_CPU_HERE) {
  cuda_cpu::load_matrix(part, from, ldm, layout == mem_row_major, file, line);
}

template <int m, int n, int k, class T>
inline void store_matrix_sync(typename cuda_cpu::MatrixElement<T>::Stored* to,
                              const fragment<accumulator, m, n, k, T>& part, unsigned ldm,
                              layout_t layout, CUDA_CPU_HERE) {
  cuda_cpu::store_matrix(to, part, ldm, layout == mem_row_major, file, line);
}

/// d = a * b + c. With `saturate` infinities become the largest finite value, NaN becomes 0, and
/// integers end at their limits.
template <int m, int n, int k, class A, class ALayout, class B, class BLayout, class D, class C>
inline void mma_sync(fragment<accumulator, m, n, k, D>& d,
                     const fragment<matrix_a, m, n, k, A, ALayout>& a,
                     const fragment<matrix_b, m, n, k, B, BLayout>& b,
                     const fragment<accumulator, m, n, k, C>& c, bool saturate = false,
                     CUDA_CPU_HERE) {
  static_assert(std::is_same_v<A, B>, "A and B have elements of one type");
  static_assert(cuda_cpu::can_add_to<A, C>() && cuda_cpu::can_add_to<A, D>(),
                "__half adds to float or __half, signed and unsigned char to int, double to "
                "double, all others to float");
  cuda_cpu::multiply_matrices<A, B, D>(d, a, b, c, saturate, file, line);
}

}  // namespace nvcuda::wmma
