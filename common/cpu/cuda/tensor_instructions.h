// SPDX-License-Identifier: MIT
// The instructions of tensor cores on the CPU backend: what chapters/16_tensor_cores/
// instructions.cuh says in PTX, by the same names.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../engine/arithmetic/short_floats.h"
#include "../engine/meeting/phase_barriers.h"
#include "../libs/tensor/bulk_copies.h"
#include "../libs/tensor/warp_groups.h"
#include "../libs/tensor/warp_instructions.h"
#include "cuda_bf16.h"
#include "cuda_runtime.h"

namespace ptx {

constexpr bool kSm80 = true, kSm89 = true, kSm90a = true;

// ---- one warp ----------------------------------------------------------------------------------

#define CUDA_CPU_MMA(name, format)                                                              \
  inline void name(float(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2], CUDA_CPU_HERE) { \
    cuda_cpu::multiply_in_warp(cuda_cpu::TensorFormat::format, d, a, b, {file, line});          \
  }

CUDA_CPU_MMA(mma_m16n8k16, kBfloat16)
CUDA_CPU_MMA(mma_m16n8k16_f16, kHalf)
CUDA_CPU_MMA(mma_m16n8k8_tf32, kTf32)
CUDA_CPU_MMA(mma_m16n8k32_e4m3, kE4m3InHalves)

#undef CUDA_CPU_MMA

CUDA_CPU_TELLING void load_matrices(unsigned (&r)[4], const void* row, CUDA_CPU_HERE) {
  cuda_cpu::check_matrix_row(row, {file, line});
  const cuda_cpu::MatrixRow read = *static_cast<const cuda_cpu::MatrixRow*>(row);
  cuda_cpu::exchange_rows(r, read, false, {file, line});
}

CUDA_CPU_TELLING void load_matrices_transposed(unsigned (&r)[4], const void* row, CUDA_CPU_HERE) {
  cuda_cpu::check_matrix_row(row, {file, line});
  const cuda_cpu::MatrixRow read = *static_cast<const cuda_cpu::MatrixRow*>(row);
  cuda_cpu::exchange_rows(r, read, true, {file, line});
}

CUDA_CPU_TELLING void store_matrices_transposed(void* row, const unsigned (&r)[4], CUDA_CPU_HERE) {
  cuda_cpu::check_matrix_row(row, {file, line}, "stmatrix");
  const cuda_cpu::MatrixRow written = cuda_cpu::row_of_columns(r, {file, line});
  *static_cast<cuda_cpu::MatrixRow*>(row) = written;
}

inline float to_tf32(float x) { return cuda_cpu::rounded_to_tf32(x); }

// ---- mbarriers ---------------------------------------------------------------------------------

}  // namespace ptx

namespace cuda_cpu {

/// The race detector sees a use of an mbarrier before its init, or beside it.
CUDA_CPU_TELLING void tell_of_mbarrier([[maybe_unused]] const std::uint64_t* bar,
                                       [[maybe_unused]] bool writes) {
#if defined(CUDA_CPU_XRAY)
  uncounted_use_begins(bar, sizeof(*bar), writes);
#endif
}

CUDA_CPU_TELLING void tell([[maybe_unused]] UncountedCopies copies) {
#if defined(CUDA_CPU_XRAY)
  uncounted_copies_begin(copies);
#endif
}

}  // namespace cuda_cpu

namespace ptx {

CUDA_CPU_TELLING void mbarrier_init(std::uint64_t* bar, unsigned arrivals, CUDA_CPU_HERE) {
  cuda_cpu::make_phase_barrier(bar, arrivals, {"mbarrier_init", file, line});
  cuda_cpu::tell_of_mbarrier(bar, true);
}

inline void mbarrier_fence_init() { cuda_cpu::fence_phase_barriers(); }

CUDA_CPU_TELLING void mbarrier_expect(std::uint64_t* bar, unsigned bytes, CUDA_CPU_HERE) {
  cuda_cpu::tell_of_mbarrier(bar, false);
  cuda_cpu::arrive_at_phase(bar, 1, false, {"mbarrier_expect", file, line}, bytes);
}

CUDA_CPU_TELLING void mbarrier_arrive(std::uint64_t* bar, CUDA_CPU_HERE) {
  cuda_cpu::tell_of_mbarrier(bar, false);
  cuda_cpu::arrive_at_phase(bar, 1, false, {"mbarrier_arrive", file, line});
}

CUDA_CPU_TELLING void mbarrier_wait(std::uint64_t* bar, unsigned parity, CUDA_CPU_HERE) {
  cuda_cpu::tell_of_mbarrier(bar, false);
  cuda_cpu::wait_for_parity(bar, parity % 2 != 0, {"mbarrier_wait", file, line});
}

// ---- bulk tensor copies ------------------------------------------------------------------------

enum class Swizzle { kNone, k128Bytes };

inline CUtensorMap tile_map(const void* matrix, std::size_t rows, std::size_t columns,
                            std::size_t leading, unsigned box_rows, unsigned box_columns,
                            Swizzle swizzle, CUDA_CPU_HERE) {
  return cuda_cpu::make_tile_map(matrix, rows, columns, leading, box_rows, box_columns,
                                 swizzle == Swizzle::k128Bytes, {file, line});
}

inline void prefetch_map(const CUtensorMap*) {}

CUDA_CPU_TELLING void copy_tile(void* to_shared, const CUtensorMap* map, int x, int y,
                                std::uint64_t* bar, CUDA_CPU_HERE) {
  cuda_cpu::tell_of_mbarrier(bar, false);
  cuda_cpu::tell(cuda_cpu::begin_tile(to_shared, *map, x, y, bar, {file, line}));
}

CUDA_CPU_TELLING void store_tile(const CUtensorMap* map, int x, int y, const void* from_shared,
                                 CUDA_CPU_HERE) {
  cuda_cpu::tell(cuda_cpu::begin_store(*map, x, y, from_shared, {file, line}));
}

inline void store_commit() { cuda_cpu::commit_stores(); }

template <int kLeft>
inline void store_wait_read() {
  cuda_cpu::wait_for_stores(kLeft);
}

inline void fence_async() { cuda_cpu::fence_async_proxy(); }

// ---- warp groups -------------------------------------------------------------------------------

enum class Layout { kAlongRows, kDownRows };

inline std::uint64_t describe(const void* in_shared, unsigned leading, unsigned stride,
                              CUDA_CPU_HERE) {
  return cuda_cpu::describe_matrix(in_shared, leading, stride, {file, line});
}

inline void wgmma_fence(CUDA_CPU_HERE) { cuda_cpu::fence_products({file, line}); }
inline void wgmma_commit(CUDA_CPU_HERE) { cuda_cpu::commit_products({file, line}); }

template <int kLeft>
inline void wgmma_wait(CUDA_CPU_HERE) {
  cuda_cpu::wait_for_products(kLeft, {file, line});
}

template <int kSize>
inline void wgmma_hold(float (&)[kSize]) {}

template <int kN, Layout kOfA = Layout::kAlongRows, Layout kOfB = Layout::kDownRows>
CUDA_CPU_TELLING void wgmma_m64k16(float (&d)[kN / 2], std::uint64_t a, std::uint64_t b, bool add,
                                   CUDA_CPU_HERE) {
  static_assert(kN % 16 == 0 && kN >= 16 && kN <= 256, "no function for this N");
  cuda_cpu::tell(cuda_cpu::begin_product(d, {cuda_cpu::TensorFormat::kBfloat16,
                                             a,
                                             b,
                                             kN,
                                             add,
                                             kOfA == Layout::kDownRows,
                                             kOfB == Layout::kDownRows,
                                             {file, line}}));
}

enum class Format { kTf32, kF16, kBf16, kE4m3 };

template <Format kFormat>
CUDA_CPU_TELLING void wgmma_m64n128(float (&d)[64], std::uint64_t a, std::uint64_t b, bool add,
                                    CUDA_CPU_HERE) {
  constexpr auto kFactors = kFormat == Format::kTf32   ? cuda_cpu::TensorFormat::kTf32
                            : kFormat == Format::kF16  ? cuda_cpu::TensorFormat::kHalf
                            : kFormat == Format::kBf16 ? cuda_cpu::TensorFormat::kBfloat16
                                                       : cuda_cpu::TensorFormat::kE4m3;
  cuda_cpu::tell(
      cuda_cpu::begin_product(d, {kFactors, a, b, 128, add, false, false, {file, line}}));
}

#define CUDA_CPU_REGISTERS(name)                                                 \
  template <int kRegisters>                                                      \
  inline void name(CUDA_CPU_HERE) {                                              \
    static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256); \
    cuda_cpu::check_warp_group("setmaxnreg", {file, line});                      \
  }

CUDA_CPU_REGISTERS(registers_up)
CUDA_CPU_REGISTERS(registers_down)

#undef CUDA_CPU_REGISTERS

// ---- clusters: kernels name them, and are launched with them on a GPU alone
// ----------------------

inline unsigned cluster_rank(CUDA_CPU_HERE) { cuda_cpu::refuse_cluster({file, line}); }
inline void cluster_sync(CUDA_CPU_HERE) { cuda_cpu::refuse_cluster({file, line}); }
inline void mbarrier_arrive_at(std::uint64_t*, unsigned, CUDA_CPU_HERE) {
  cuda_cpu::refuse_cluster({file, line});
}
inline void copy_tile_multicast(void*, const CUtensorMap*, int, int, std::uint64_t*, unsigned short,
                                CUDA_CPU_HERE) {
  cuda_cpu::refuse_cluster({file, line});
}

}  // namespace ptx
