// SPDX-License-Identifier: MIT
// The instructions of tensor cores, and of what feeds them: a function each, with the instruction's
// name in PTX, its operands, and its rule. CUDA 13.0 has functions of its own for most of those of
// mbarriers, bulk copies and clusters (<cuda/ptx>), and none for mma of these shapes, ldmatrix,
// stmatrix, wgmma and setmaxnreg. For the CPU backend the same functions stand in
// <tensor_instructions.h>.
//
// "All lanes" means: all 32 of a warp reach the instruction together (.sync.aligned). A warp group
// is four warps whose first one has a number that is a multiple of four: 128 threads.
#pragma once

#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>

#ifdef __CUDA_CPU__
#include <tensor_instructions.h>
#else
#include <cudaTypedefs.h>  // CUtensorMap, and the type of the function that fills one in

#include "../../common/common.cuh"

namespace ptx {

// ---- what the code at hand is compiled for -----------------------------------------------------

// A program holds code for several GPUs. Where one lacks an instruction, nothing is left of it: the
// host launches no kernel there that needs it. sm_90a is Hopper alone: code for it, which may have
// wgmma and setmaxnreg, runs on no GPU that came after it.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
constexpr bool kSm80 = true;
#else
constexpr bool kSm80 = false;
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
constexpr bool kSm89 = true;
#else
constexpr bool kSm89 = false;
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
constexpr bool kSm90a = true;
#else
constexpr bool kSm90a = false;
#endif

/// The address that instructions want: bytes from the beginning of the block's shared memory.
__device__ inline unsigned shared_address(const void* in_shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(in_shared));
}

// ---- one warp ----------------------------------------------------------------------------------

/// mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32: D += A B, by all lanes. A is 16 x 16, B is
/// 16 x 8, D is 16 x 8. With row = lane / 4 and pair = lane % 4 * 2, a lane holds two neighbours in
/// each register, the lower index in the lower half:
///   a[0], a[1]: A(row, pair..), A(row + 8, pair..); a[2], a[3]: the same at columns pair + 8
///   b[0], b[1]: B(pair.., row), B(pair + 8.., row): two rows of B, column lane / 4
///   d[0], d[1]: D(row, pair), D(row, pair + 1); d[2], d[3]: D(row + 8, ...)
__device__ inline void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  if constexpr (kSm80)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32: the same of FP16.
__device__ inline void mma_m16n8k16_f16(float (&d)[4], const unsigned (&a)[4],
                                        const unsigned (&b)[2]) {
  if constexpr (kSm80)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32: D += A B. A is 16 x 8, B is 8 x 8; a
/// register holds one element, a float with TF32's 10 bits of fraction. With row = lane / 4 and
/// column = lane % 4:
///   a[0], a[1]: A(row, column), A(row + 8, column); a[2], a[3]: the same at column + 4
///   b[0], b[1]: B(column, row), B(column + 4, row); d as above
__device__ inline void mma_m16n8k8_tf32(float (&d)[4], const unsigned (&a)[4],
                                        const unsigned (&b)[2]) {
  if constexpr (kSm80)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32: D += A B of FP8, four neighbours in a
/// register. As m16n8k16 with "pair" read as lane % 4 * 4, and 16 columns (rows of B) from a[0] to
/// a[2] and from b[0] to b[1].
__device__ inline void mma_m16n8k32_e4m3(float (&d)[4], const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
  if constexpr (kSm89)
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// ldmatrix.sync.aligned.m8n8.x4.shared.b16 (sm_75): four 8 x 8 matrices of 16-bit elements, by all
/// lanes. Lane i says where a row of 16 bytes begins: row i % 8 of matrix i / 8. Then register j
/// holds two neighbours of matrix j: row lane / 4, columns lane % 4 * 2 and the next.
__device__ inline void load_matrices(unsigned (&r)[4], const void* row) {
  if constexpr (kSm80)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/// ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16: the same, each matrix transposed on its way:
/// register j holds rows lane % 4 * 2 and the next of column lane / 4. So a row-major B comes as
/// mma wants it.
__device__ inline void load_matrices_transposed(unsigned (&r)[4], const void* row) {
  if constexpr (kSm80)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/// stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 (sm_90): the way back. Lane i names row i % 8 of
/// the matrix i / 8; of matrix j lane i has two neighbours of a column in r[j], and column i / 4.
__device__ inline void store_matrices_transposed(void* row, const unsigned (&r)[4]) {
  if constexpr (kSm90a)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     shared_address(row)),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
}

/// cvt.rna.tf32.f32: x rounded to the 10 bits of fraction that TF32 has, ties away from zero.
__device__ inline float to_tf32(float x) {
  unsigned bits = 0;
  if constexpr (kSm80) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

// ---- mbarriers: a 64-bit word of shared memory -------------------------------------------------

// A barrier is in one phase after the other. A phase ends when as many arrivals have come as
// mbarrier_init() named, and all bytes that were expected. Phases have parity 0, 1, 0, 1, ...

/// mbarrier.init.shared::cta.b64: by one thread, before anyone uses the barrier.
__device__ inline void mbarrier_init(std::uint64_t* bar, unsigned arrivals) {
  if constexpr (kSm90a)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(arrivals)
                 : "memory");
}

/// fence.mbarrier_init.release.cluster and fence.proxy.async: by the thread that has initialised
/// barriers, once, so that copies and other blocks of the cluster see them. The block's own threads
/// need a __syncthreads() beside it, those of other blocks a cluster_sync().
__device__ inline void mbarrier_fence_init() {
  if constexpr (kSm90a)
    asm volatile(
        "fence.mbarrier_init.release.cluster;\n\t"
        "fence.proxy.async.shared::cta;" ::
            : "memory");
}

/// mbarrier.arrive.expect_tx.shared::cta.b64: one arrival, and this phase ends only when copies
/// have brought `bytes` more.
__device__ inline void mbarrier_expect(std::uint64_t* bar, unsigned bytes) {
  if constexpr (kSm90a)
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)),
        "r"(bytes)
        : "memory");
}

/// mbarrier.arrive.shared::cta.b64: one arrival. What the thread did before is seen by those that
/// wait for the phase.
__device__ inline void mbarrier_arrive(std::uint64_t* bar) {
  if constexpr (kSm90a)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}

/// mbarrier.try_wait.parity.shared::cta.b64, until it says yes: returns when the phase of this
/// parity has ended, which can be the present phase or the one before. A new barrier is in phase 0,
/// so a wait for parity 1 returns at once: that of the phase before the first.
__device__ inline void mbarrier_wait(std::uint64_t* bar, unsigned parity) {
  if constexpr (kSm90a) {
    unsigned has_ended = 0;
    do {
      asm volatile(
          "{\n\t"
          ".reg .pred ended;\n\t"
          "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n\t"
          "selp.u32 %0, 1, 0, ended;\n\t"
          "}"
          : "=r"(has_ended)
          : "r"(shared_address(bar)), "r"(parity)
          : "memory");
    } while (has_ended == 0);
  }
}

// ---- bulk tensor copies ------------------------------------------------------------------------

/// How a tile lies in shared memory. k128Bytes: rows of 128 bytes; of each eight rows, row r has
/// its piece p of 16 bytes at place p ^ r, if the tile begins at a multiple of 1,024 bytes.
enum class Swizzle { kNone, k128Bytes };

/// prefetch.tensormap: a map comes closer, so that the first copy by it does not wait for it.
__device__ inline void prefetch_map(const CUtensorMap* map) {
  if constexpr (kSm90a) asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes: one thread begins
/// the copy of a tile whose first element is column x, row y of the matrix. It goes on by itself,
/// and its bytes count for `bar`: all of the tile, though some lie outside of the matrix and come
/// as zeros. `to_shared` is a multiple of 128 bytes; for a swizzle of 1,024, says this chapter.
__device__ inline void copy_tile(void* to_shared, const CUtensorMap* map, int x, int y,
                                 std::uint64_t* bar) {
  if constexpr (kSm90a)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to_shared)),
        "l"(map), "r"(x), "r"(y), "r"(shared_address(bar))
        : "memory");
}

/// The same with .multicast::cluster: the tile goes to this place in each block of the cluster
/// whose bit is set in `blocks`, and counts there for the barrier at the place of `bar`.
__device__ inline void copy_tile_multicast(void* to_shared, const CUtensorMap* map, int x, int y,
                                           std::uint64_t* bar, unsigned short blocks) {
  if constexpr (kSm90a)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to_shared)),
        "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)), "h"(blocks)
        : "memory");
}

/// cp.async.bulk.tensor.2d.global.shared::cta.bulk_group: one thread begins to store a tile; what
/// would lie outside of the matrix is not stored, but for the rest of 16 bytes in which a row ends.
/// Ordinary stores to the tile need fence_async() in the threads that made them, and a barrier,
/// before.
__device__ inline void store_tile(const CUtensorMap* map, int x, int y, const void* from_shared) {
  if constexpr (kSm90a)
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
        "r"(x), "r"(y), "r"(shared_address(from_shared))
        : "memory");
}

/// cp.async.bulk.commit_group: the thread's stores since the last one are a group.
__device__ inline void store_commit() {
  if constexpr (kSm90a) asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// cp.async.bulk.wait_group.read: returns when all but the thread's last kLeft groups have read
/// their tiles, so that these may be overwritten.
template <int kLeft>
__device__ inline void store_wait_read() {
  if constexpr (kSm90a) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}

/// fence.proxy.async.shared::cta: what this thread has stored in shared memory is seen by copies
/// and by wgmma that begin afterwards. They go another way to the memory (the async proxy), and no
/// barrier alone shows them what a thread has stored.
__device__ inline void fence_async() {
  if constexpr (kSm90a) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// What copy_tile() and store_tile() have to know of a row-major BF16 matrix: its sides, the
/// elements from one row to the next, and the tile's sides. The matrix begins at a multiple of 16
/// bytes, and so does each row; a side of a tile is at most 256, a row of a swizzled one 128 bytes.
inline CUtensorMap tile_map(const void* matrix, std::size_t rows, std::size_t columns,
                            std::size_t leading, unsigned box_rows, unsigned box_columns,
                            Swizzle swizzle) {
  static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  if (encode == nullptr) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                cudaEnableDefault, &found));
#else
    CUDA_CHECK(
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found));
#endif
    if (found != cudaDriverEntryPointSuccess)
      on_cuda_failure("the driver has no cuTensorMapEncodeTiled: it is older than CUDA 12.0");
    encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  }
  CUtensorMap map;
  const cuuint64_t sides[] = {columns, rows}, row_bytes[] = {leading * sizeof(__nv_bfloat16)};
  const cuuint32_t box[] = {box_columns, box_rows}, every[] = {1, 1};
  const CUresult status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(matrix), sides, row_bytes,
             box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
             swizzle == Swizzle::kNone ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    on_cuda_failure("cuTensorMapEncodeTiled failed with " + std::to_string(status));
  return map;
}

// ---- warp groups -------------------------------------------------------------------------------

/// Where k runs in the rows of a matrix in shared memory: along them (K-major: A as it lies), or
/// from one to the next (MN-major: B as it lies; the instruction's "transposed" bit).
enum class Layout { kAlongRows, kDownRows };

/// What wgmma has to know of a matrix in shared memory with a swizzle of 128 bytes. Rows of 128
/// bytes are 64 elements of BF16; eight rows, 1,024 bytes, are swizzled together. `stride` is the
/// bytes from eight rows to the next eight. A matrix that is wider than a row lies in panels of 64
/// columns, `leading` bytes apart (kDownRows alone: an instruction's k is never wider). The next 16
/// of k are 32 bytes on (kAlongRows), or 16 rows (kDownRows).
///   bits 0..13 the address, 16..29 leading, 32..45 stride, each in units of 16 bytes; 62..63: 1
__device__ inline std::uint64_t describe(const void* in_shared, unsigned leading, unsigned stride) {
  const auto in_16 = [](unsigned bytes) -> std::uint64_t { return (bytes & 0x3ffff) >> 4; };
  return in_16(shared_address(in_shared)) | in_16(leading) << 16 | in_16(stride) << 32 |
         std::uint64_t{1} << 62;
}

/// wgmma.fence.sync.aligned: before the first product, and wherever registers of d or a were
/// touched since the last.
__device__ inline void wgmma_fence() {
  if constexpr (kSm90a) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// wgmma.commit_group.sync.aligned: the products since the last one are a group.
__device__ inline void wgmma_commit() {
  if constexpr (kSm90a) asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// wgmma.wait_group.sync.aligned: returns when all but the last kLeft groups have ended. Until then
/// nobody reads their d, or writes where they read.
template <int kLeft>
__device__ inline void wgmma_wait() {
  if constexpr (kSm90a) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

/// No instruction: what reads d stays behind this place, and what writes d before it. The compiler
/// does not know that d changes between a product and the wait for it.
template <int kSize>
__device__ inline void wgmma_hold(float (&d)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// An instruction wants the registers of d one by one: eight for each 16 columns.
#define PTX_D8(i)                                                                           \
  "+f"(d[(i) + 0]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3]), "+f"(d[(i) + 4]), \
      "+f"(d[(i) + 5]), "+f"(d[(i) + 6]), "+f"(d[(i) + 7])
#define PTX_D_OF_16 PTX_D8(0)
#define PTX_NAMES_OF_16 "%0, %1, %2, %3, %4, %5, %6, %7"
#define PTX_D_OF_32 PTX_D_OF_16, PTX_D8(8)
#define PTX_NAMES_OF_32 PTX_NAMES_OF_16 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define PTX_D_OF_48 PTX_D_OF_32, PTX_D8(16)
#define PTX_NAMES_OF_48 PTX_NAMES_OF_32 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define PTX_D_OF_64 PTX_D_OF_48, PTX_D8(24)
#define PTX_NAMES_OF_64 PTX_NAMES_OF_48 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define PTX_D_OF_80 PTX_D_OF_64, PTX_D8(32)
#define PTX_NAMES_OF_80 PTX_NAMES_OF_64 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define PTX_D_OF_96 PTX_D_OF_80, PTX_D8(40)
#define PTX_NAMES_OF_96 PTX_NAMES_OF_80 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define PTX_D_OF_112 PTX_D_OF_96, PTX_D8(48)
#define PTX_NAMES_OF_112 PTX_NAMES_OF_96 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define PTX_D_OF_128 PTX_D_OF_112, PTX_D8(56)
#define PTX_NAMES_OF_128 PTX_NAMES_OF_112 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define PTX_D_OF_144 PTX_D_OF_128, PTX_D8(64)
#define PTX_NAMES_OF_144 PTX_NAMES_OF_128 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define PTX_D_OF_160 PTX_D_OF_144, PTX_D8(72)
#define PTX_NAMES_OF_160 PTX_NAMES_OF_144 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define PTX_D_OF_176 PTX_D_OF_160, PTX_D8(80)
#define PTX_NAMES_OF_176 PTX_NAMES_OF_160 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define PTX_D_OF_192 PTX_D_OF_176, PTX_D8(88)
#define PTX_NAMES_OF_192 PTX_NAMES_OF_176 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define PTX_D_OF_208 PTX_D_OF_192, PTX_D8(96)
#define PTX_NAMES_OF_208 PTX_NAMES_OF_192 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define PTX_D_OF_224 PTX_D_OF_208, PTX_D8(104)
#define PTX_NAMES_OF_224 PTX_NAMES_OF_208 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define PTX_D_OF_240 PTX_D_OF_224, PTX_D8(112)
#define PTX_NAMES_OF_240 PTX_NAMES_OF_224 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define PTX_D_OF_256 PTX_D_OF_240, PTX_D8(120)
#define PTX_NAMES_OF_256 PTX_NAMES_OF_240 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define PTX_WGMMA(shape_and_types, registers, a, b, add, transposed)            \
  "{\n\t"                                                                       \
  ".reg .pred add;\n\t"                                                         \
  "setp.ne.b32 add, " add                                                       \
  ", 0;\n\t"                                                                    \
  "wgmma.mma_async.sync.aligned." shape_and_types " {" registers "}, " a ", " b \
  ", add, 1, 1" transposed ";\n\t}"
// D is 64 x `n`; the operands behind its registers are the `a`th and so on.
#define PTX_BF16_WGMMA(n, a, b, add, of_a, of_b)                                          \
  if constexpr (kSm90a && kN == n)                                                        \
  asm volatile(PTX_WGMMA("m64n" #n "k16.f32.bf16.bf16", PTX_NAMES_OF_##n, "%" #a, "%" #b, \
                         "%" #add, ", %" #of_a ", %" #of_b)                               \
               : PTX_D_OF_##n                                                             \
               : "l"(of_descriptor_a), "l"(of_descriptor_b), "r"(int{adds}),              \
                 "n"(kOfA == Layout::kDownRows), "n"(kOfB == Layout::kDownRows))

/// wgmma.mma_async.sync.aligned.m64nNk16.f32.bf16.bf16: begins D = A B, or D += A B with `adds`, by
/// all four warps of a group. A is 64 x 16 as kOfA says, B is 16 x N as kOfB says; both are
/// described. D is 64 x N, N a multiple of 16 (of 8, says PTX) up to 256: warp w of the group has
/// rows 16 w to 16 w + 15, in which d[4 j], ..., d[4 j + 3] are what mma_m16n8k16 has of columns 8
/// j to 8 j + 7.
template <int kN, Layout kOfA = Layout::kAlongRows, Layout kOfB = Layout::kDownRows>
__device__ inline void wgmma_m64k16(float (&d)[kN / 2], std::uint64_t of_descriptor_a,
                                    std::uint64_t of_descriptor_b, bool adds) {
  static_assert(kN % 16 == 0 && kN >= 16 && kN <= 256, "no function for this N");
  PTX_BF16_WGMMA(16, 8, 9, 10, 11, 12);
  PTX_BF16_WGMMA(32, 16, 17, 18, 19, 20);
  PTX_BF16_WGMMA(48, 24, 25, 26, 27, 28);
  PTX_BF16_WGMMA(64, 32, 33, 34, 35, 36);
  PTX_BF16_WGMMA(80, 40, 41, 42, 43, 44);
  PTX_BF16_WGMMA(96, 48, 49, 50, 51, 52);
  PTX_BF16_WGMMA(112, 56, 57, 58, 59, 60);
  PTX_BF16_WGMMA(128, 64, 65, 66, 67, 68);
  PTX_BF16_WGMMA(144, 72, 73, 74, 75, 76);
  PTX_BF16_WGMMA(160, 80, 81, 82, 83, 84);
  PTX_BF16_WGMMA(176, 88, 89, 90, 91, 92);
  PTX_BF16_WGMMA(192, 96, 97, 98, 99, 100);
  PTX_BF16_WGMMA(208, 104, 105, 106, 107, 108);
  PTX_BF16_WGMMA(224, 112, 113, 114, 115, 116);
  PTX_BF16_WGMMA(240, 120, 121, 122, 123, 124);
  PTX_BF16_WGMMA(256, 128, 129, 130, 131, 132);
}

/// The same of 64 x 128 elements of D, for each kind of factors; both A and B are K-major, and k is
/// what 32 bytes hold: m64n128k8.f32.tf32.tf32, m64n128k16.f32.f16.f16 and .bf16.bf16,
/// m64n128k32.f32.e4m3.e4m3.
enum class Format { kTf32, kF16, kBf16, kE4m3 };
template <Format kFormat>
__device__ inline void wgmma_m64n128(float (&d)[64], std::uint64_t a, std::uint64_t b, bool add) {
  if constexpr (!kSm90a) {
    return;
  } else if constexpr (kFormat == Format::kTf32) {
    asm volatile(PTX_WGMMA("m64n128k8.f32.tf32.tf32", PTX_NAMES_OF_128, "%64", "%65", "%66", "")
                 : PTX_D_OF_128
                 : "l"(a), "l"(b), "r"(int{add}));
  } else if constexpr (kFormat == Format::kF16) {
    asm volatile(
        PTX_WGMMA("m64n128k16.f32.f16.f16", PTX_NAMES_OF_128, "%64", "%65", "%66", ", 0, 0")
        : PTX_D_OF_128
        : "l"(a), "l"(b), "r"(int{add}));
  } else if constexpr (kFormat == Format::kBf16) {
    asm volatile(
        PTX_WGMMA("m64n128k16.f32.bf16.bf16", PTX_NAMES_OF_128, "%64", "%65", "%66", ", 0, 0")
        : PTX_D_OF_128
        : "l"(a), "l"(b), "r"(int{add}));
  } else {
    asm volatile(PTX_WGMMA("m64n128k32.f32.e4m3.e4m3", PTX_NAMES_OF_128, "%64", "%65", "%66", "")
                 : PTX_D_OF_128
                 : "l"(a), "l"(b), "r"(int{add}));
  }
}

/// setmaxnreg.inc.sync.aligned.u32: each thread of the group has kRegisters from now on, a multiple
/// of 8 from 24 to 256. Waits until other groups of the block have given up as many.
template <int kRegisters>
__device__ inline void registers_up() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256);
  if constexpr (kSm90a) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// setmaxnreg.dec.sync.aligned.u32: the group keeps kRegisters per thread, and gives up the others.
template <int kRegisters>
__device__ inline void registers_down() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256);
  if constexpr (kSm90a) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// ---- clusters: blocks that run side by side (a GPU's alone) ------------------------------------

/// %cluster_ctarank: the block's number in its cluster.
__device__ inline unsigned cluster_rank() {
  unsigned rank = 0;
  if constexpr (kSm90a) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// barrier.cluster.arrive.release and barrier.cluster.wait.acquire: a barrier of all threads of the
/// cluster.
__device__ inline void cluster_sync() {
  if constexpr (kSm90a)
    asm volatile(
        "barrier.cluster.arrive.release.aligned;\n\t"
        "barrier.cluster.wait.acquire.aligned;" ::
            : "memory");
}

/// mapa.shared::cluster.u32 and mbarrier.arrive.shared::cluster.b64: one arrival at the barrier
/// that lies at the same place in block `rank` of the cluster. What the thread has stored is not
/// promised to the other block: that takes .release.cluster.
__device__ inline void mbarrier_arrive_at(std::uint64_t* bar, unsigned rank) {
  if constexpr (kSm90a)
    asm volatile(
        "{\n\t"
        ".reg .b32 there;\n\t"
        "mapa.shared::cluster.u32 there, %0, %1;\n\t"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t"
        "}" ::"r"(shared_address(bar)),
        "r"(rank)
        : "memory");
}

}  // namespace ptx
#endif
