// SPDX-License-Identifier: MIT
// Instructions of tensor cores, called in ways that the PTX ISA does not allow.
// A case of tensor_cores_race.cu is the right twin.
#include <tensor_instructions.h>

#include <cstdint>

#include "cases.cuh"

using Element = __nv_bfloat16;
constexpr unsigned kTile = 64 * 64;

/// Two tiles and two barriers, as all cases use them.
struct Shared {
  alignas(1024) Element a[kTile];
  alignas(1024) Element b[kTile];
  std::uint64_t full, other;
};

__device__ void fill(Element* tile) {
  for (unsigned i = threadIdx.x; i < kTile; i += blockDim.x) tile[i] = 1.0f;
}

/// Both tiles, for products.
__device__ void fill_both(Shared* s) {
  fill(s->a);
  fill(s->b);
  ptx::fence_async();
  __syncthreads();
}

__device__ void set_up(Shared* s, unsigned arrivals) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&s->full, arrivals);  // @init
    ptx::mbarrier_fence_init();
  }
  __syncthreads();
}

__device__ std::uint64_t of(const Element* tile) { return ptx::describe(tile, 8192, 1024); }

/// What follows the products of a right kernel.
__device__ void end(const float (&d)[32], float* out) {
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  out[threadIdx.x] = d[0];
}

/// Runs a kernel on a matrix of 64 x 64.
template <class Kernel>
void run(Kernel kernel, unsigned threads) {
  run_on<Element>(kTile, [&](Element* x) {
    const CUtensorMap map = ptx::tile_map(x, 64, 64, 64, 64, 64, ptx::Swizzle::k128Bytes);
    float* out = nullptr;
    cudaMalloc(&out, 256 * sizeof(float));
    kernel<<<1, threads>>>(map, out);
    cudaDeviceSynchronize();
    cudaFree(out);
  });
}

// CASE: half_a_warp
// EXPECT: {file}:{half}: error: mma.sync waits for lanes that never come in kernel 'half_a_warp'
// EXPECT: missing are lanes 16-31
__global__ void half_a_warp(const __grid_constant__ CUtensorMap, float* out) {
  float d[4] = {};
  const unsigned a[4] = {}, b[2] = {};
  if (threadIdx.x < 16) ptx::mma_m16n8k16(d, a, b);  // @half
  out[threadIdx.x] = d[0];
}
CASE(half_a_warp) { run(half_a_warp, 32); }

// CASE: lanes_differ
// EXPECT: error: lanes of a warp call different instructions in kernel 'lanes_differ'
// EXPECT: all are an mma.sync, of different shapes or types
__global__ void lanes_differ(const __grid_constant__ CUtensorMap, float* out) {
  float d[4] = {};
  const unsigned a[4] = {}, b[2] = {};
  if (threadIdx.x < 16) {
    ptx::mma_m16n8k16(d, a, b);
  } else {
    ptx::mma_m16n8k8_tf32(d, a, b);
  }
  out[threadIdx.x] = d[0];
}
CASE(lanes_differ) { run(lanes_differ, 32); }

// CASE: short_warp
// EXPECT: {file}:{short}: error: a matrix operation of a warp that is not whole in kernel 'short_warp'
__global__ void short_warp(const __grid_constant__ CUtensorMap, float* out) {
  float d[4] = {};
  const unsigned a[4] = {}, b[2] = {};
  ptx::mma_m16n8k16_f16(d, a, b);  // @short
  out[threadIdx.x] = d[0];
}
CASE(short_warp) { run(short_warp, 24); }

// CASE: rows_misaligned
// EXPECT: {file}:{row}: error: ldmatrix of a row at a misaligned address in kernel 'rows_misaligned'
__global__ void rows_misaligned(const __grid_constant__ CUtensorMap, float* out) {
  __shared__ Shared s;
  fill(s.a);
  __syncthreads();
  unsigned r[4];
  ptx::load_matrices(r, s.a + 36 * threadIdx.x);  // @row
  out[threadIdx.x] = static_cast<float>(r[0]);
}
CASE(rows_misaligned) { run(rows_misaligned, 32); }

// CASE: stored_rows_in_global_memory
// EXPECT: {file}:{to_global}: error: stmatrix of a row that is not in shared memory of this block in kernel 'stored_rows_in_global_memory'
__global__ void stored_rows_in_global_memory(const __grid_constant__ CUtensorMap, float* out) {
  const unsigned r[4] = {};
  ptx::store_matrices_transposed(out, r);  // @to_global
}
CASE(stored_rows_in_global_memory) { run(stored_rows_in_global_memory, 32); }

// CASE: no_init
// EXPECT: {file}:{early}: error: mbarrier is used before it is initialised in kernel 'no_init', block (0,0,0), thread (0,0,0)
// EXPECT: by mbarrier_arrive
__global__ void no_init(const __grid_constant__ CUtensorMap, float*) {
  __shared__ Shared s;
  ptx::mbarrier_arrive(&s.full);  // @early
}
CASE(no_init) { run(no_init, 1); }

// CASE: init_not_fenced
// EXPECT: {file}:{unfenced}: error: a bulk copy uses an mbarrier whose init was not fenced in kernel 'init_not_fenced'
// EXPECT: {file}:{its_init}: note: initialised here
__global__ void init_not_fenced(const __grid_constant__ CUtensorMap map, float*) {
  __shared__ Shared s;
  ptx::mbarrier_init(&s.full, 1);  // @its_init
  ptx::mbarrier_expect(&s.full, sizeof(s.a));
  ptx::copy_tile(s.a, &map, 0, 0, &s.full);  // @unfenced
  ptx::mbarrier_wait(&s.full, 0);
}
CASE(init_not_fenced) { run(init_not_fenced, 1); }

// CASE: many_arrivals
// EXPECT: {file}:{many}: error: more arrivals at an mbarrier than it expects in kernel 'many_arrivals'
// EXPECT: {file}:{init}: note: initialised here
__global__ void many_arrivals(const __grid_constant__ CUtensorMap map, float*) {
  __shared__ Shared s;
  set_up(&s, 1);
  ptx::mbarrier_expect(&s.full, sizeof(s.a));
  ptx::copy_tile(s.a, &map, 0, 0, &s.full);
  ptx::mbarrier_arrive(&s.full);  // @many
}
CASE(many_arrivals) { run(many_arrivals, 1); }

// Every lane of two warps arrives where one of each is expected: 64 arrivals for 2.
// CASE: phase_unheard
// EXPECT: {file}:{unheard}: error: arrival in an mbarrier's next phase before anybody has waited for the last one in kernel 'phase_unheard'
// EXPECT: phase 0 has ended after the 2 arrivals that it expects, and no thread has waited for that
// EXPECT: {file}:{init}: note: initialised here
__global__ void phase_unheard(const __grid_constant__ CUtensorMap, float*) {
  __shared__ Shared s;
  set_up(&s, 2);
  if (threadIdx.x < 64) {
    ptx::mbarrier_arrive(&s.full);  // @unheard
  } else {
    ptx::mbarrier_wait(&s.full, 0);
  }
}
CASE(phase_unheard) { run(phase_unheard, 96); }

// CASE: wrong_parity
// EXPECT: {file}:{parity}: error: mbarrier waits for a phase that never ends in kernel 'wrong_parity'
// EXPECT: in phase 1, of parity 1, 1 of 1 arrivals are missing
// EXPECT: {file}:{init}: note: initialised here
// EXPECT: note: threads 0-31 waiting here in mbarrier_wait
__global__ void wrong_parity(const __grid_constant__ CUtensorMap map, float*) {
  __shared__ Shared s;
  set_up(&s, 1);
  if (threadIdx.x == 0) {
    ptx::mbarrier_expect(&s.full, sizeof(s.a));
    ptx::copy_tile(s.a, &map, 0, 0, &s.full);
  }
  ptx::mbarrier_wait(&s.full, 0);
  ptx::mbarrier_wait(&s.full, 1);  // @parity
}
CASE(wrong_parity) { run(wrong_parity, 32); }

// CASE: bytes_missing
// EXPECT: {file}:{bytes}: error: mbarrier waits for a phase that never ends in kernel 'bytes_missing'
// EXPECT: in phase 0, of parity 0, 0 of 1 arrivals are missing, and 8192 bytes that no copy brings
__global__ void bytes_missing(const __grid_constant__ CUtensorMap map, float*) {
  __shared__ Shared s;
  set_up(&s, 1);
  if (threadIdx.x == 0) {
    ptx::mbarrier_expect(&s.full, 2 * sizeof(s.a));
    ptx::copy_tile(s.a, &map, 0, 0, &s.full);
  }
  ptx::mbarrier_wait(&s.full, 0);  // @bytes
}
CASE(bytes_missing) { run(bytes_missing, 32); }

// CASE: bytes_too_many
// EXPECT: {file}:{more}: error: more bytes are copied for an mbarrier than it expects in kernel 'bytes_too_many'
// EXPECT: phase 0: all arrivals have come, and copies bring 8192 bytes more than those expect
__global__ void bytes_too_many(const __grid_constant__ CUtensorMap map, float*) {
  __shared__ Shared s;
  set_up(&s, 1);
  ptx::mbarrier_expect(&s.full, sizeof(s.a));
  ptx::copy_tile(s.a, &map, 0, 0, &s.full);
  ptx::copy_tile(s.b, &map, 0, 0, &s.full);  // @more
  ptx::mbarrier_wait(&s.full, 0);
}
CASE(bytes_too_many) { run(bytes_too_many, 1); }

// CASE: nobody_waits
// EXPECT: {file}:{unwaited}: error: asynchronous copy whose barrier nobody has waited at in kernel 'nobody_waits'
// EXPECT: help: who reads what was copied waits at the copy's mbarrier first, with the parity of its phase: 0, 1, 0, 1, ...
__global__ void nobody_waits(const __grid_constant__ CUtensorMap map, float*) {
  __shared__ Shared s;
  set_up(&s, 1);
  ptx::mbarrier_expect(&s.full, sizeof(s.a));
  ptx::copy_tile(s.a, &map, 0, 0, &s.full);  // @unwaited
}
CASE(nobody_waits) { run(nobody_waits, 1); }

// CASE: written_meanwhile
// EXPECT: {file}:{meanwhile}: error: shared memory was written while an asynchronous copy to it was under way in kernel 'written_meanwhile'
__global__ void written_meanwhile(const __grid_constant__ CUtensorMap map, float*) {
  __shared__ Shared s;
  set_up(&s, 1);
  ptx::mbarrier_expect(&s.full, sizeof(s.a));
  ptx::copy_tile(s.a, &map, 0, 0, &s.full);  // @meanwhile
  s.a[5] = 1.0f;
  ptx::mbarrier_wait(&s.full, 0);
}
CASE(written_meanwhile) { run(written_meanwhile, 1); }

// CASE: tile_misaligned
// EXPECT: {file}:{tile}: error: copy_tile of a tile at a misaligned address in kernel 'tile_misaligned'
// EXPECT: note: the tile map was made here
__global__ void tile_misaligned(const __grid_constant__ CUtensorMap map, float*) {
  __shared__ Shared s;
  set_up(&s, 1);
  ptx::mbarrier_expect(&s.full, sizeof(s.a));
  ptx::copy_tile(s.a + 64, &map, 0, 0, &s.full);  // @tile
}
CASE(tile_misaligned) { run(tile_misaligned, 1); }

// CASE: maps_refused
// EXPECT: {file}:{box}: error: a tile map that bulk copies do not accept
// EXPECT: a tile of 512 x 64
// EXPECT: {file}:{pitch}: error: a tile map that bulk copies do not accept
// EXPECT: 67 elements from one row to the next, of 64
// EXPECT: {file}:{wide}: error: a tile map that bulk copies do not accept
// EXPECT: rows of 256 bytes in a tile
// EXPECT: {file}:{refused}: error: copy_tile with a tile map that was refused in kernel 'use_refused'
__global__ void use_refused(const __grid_constant__ CUtensorMap map) {
  __shared__ Shared s;
  set_up(&s, 1);
  ptx::copy_tile(s.a, &map, 0, 0, &s.full);  // @refused
}
CASE(maps_refused) {
  run_on<Element>(kTile, [&](Element* x) {
    constexpr auto kSwizzle = ptx::Swizzle::k128Bytes;
    (void)ptx::tile_map(x, 512, 64, 64, 512, 64, kSwizzle);                      // @box
    (void)ptx::tile_map(x, 32, 64, 67, 32, 64, kSwizzle);                        // @pitch
    const CUtensorMap wide = ptx::tile_map(x, 32, 128, 128, 32, 128, kSwizzle);  // @wide
    use_refused<<<1, 1>>>(wide);
  });
}

// CASE: stores_not_fenced
// EXPECT: {file}:{product}: error: wgmma reads what ordinary stores have written, with no fence between them in kernel 'stores_not_fenced'
// EXPECT: of A, in shared memory at
// EXPECT: help: the threads that write a tile call fence_async() after that
__global__ void stores_not_fenced(const __grid_constant__ CUtensorMap, float* out) {
  __shared__ Shared s;
  fill(s.b);
  ptx::fence_async();
  fill(s.a);
  __syncthreads();
  float d[32] = {};
  ptx::wgmma_fence();
  ptx::wgmma_m64k16<64>(d, of(s.a), of(s.b), false);  // @product
  end(d, out);
}
CASE(stores_not_fenced) { run(stores_not_fenced, 128); }

// CASE: bulk_store_not_fenced
// EXPECT: {file}:{store}: error: a bulk store reads what ordinary stores have written, with no fence between them in kernel 'bulk_store_not_fenced'
// EXPECT: at byte 0 of the tile
__global__ void bulk_store_not_fenced(const __grid_constant__ CUtensorMap map, float*) {
  __shared__ Shared s;
  fill(s.a);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::store_tile(&map, 0, 0, s.a);  // @store
    ptx::store_commit();
    ptx::store_wait_read<0>();
  }
}
CASE(bulk_store_not_fenced) { run(bulk_store_not_fenced, 64); }

// CASE: bulk_store_not_waited_for
// EXPECT: {file}:{kept}: error: bulk store that its thread has never waited for in kernel 'bulk_store_not_waited_for'
// EXPECT: it is in no group: no store_commit() follows it
__global__ void bulk_store_not_waited_for(const __grid_constant__ CUtensorMap map, float*) {
  __shared__ Shared s;
  fill(s.a);
  ptx::fence_async();
  __syncthreads();
  if (threadIdx.x == 0) ptx::store_tile(&map, 0, 0, s.a);  // @kept
}
CASE(bulk_store_not_waited_for) { run(bulk_store_not_waited_for, 64); }

// CASE: registers_not_fenced
// EXPECT: {file}:{second}: error: wgmma uses registers that were written, with no fence between them in kernel 'registers_not_fenced'
__global__ void registers_not_fenced(const __grid_constant__ CUtensorMap, float* out) {
  __shared__ Shared s;
  fill_both(&s);
  float d[32] = {};
  ptx::wgmma_fence();
  ptx::wgmma_m64k16<64>(d, of(s.a), of(s.b), false);
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  for (float& x : d) x *= 2.0f;
  ptx::wgmma_m64k16<64>(d, of(s.a), of(s.b), true);  // @second
  end(d, out);
}
CASE(registers_not_fenced) { run(registers_not_fenced, 128); }

// CASE: registers_written
// EXPECT: {file}:{touched}: error: registers of a wgmma that is under way were written in kernel 'registers_written'
__global__ void registers_written(const __grid_constant__ CUtensorMap, float* out) {
  __shared__ Shared s;
  fill_both(&s);
  float d[32] = {};
  ptx::wgmma_fence();
  ptx::wgmma_m64k16<64>(d, of(s.a), of(s.b), false);  // @touched
  d[3] = 0.0f;
  end(d, out);
}
CASE(registers_written) { run(registers_written, 128); }

// CASE: product_not_waited_for
// EXPECT: {file}:{lost}: error: wgmma that threads have never waited for in kernel 'product_not_waited_for'
// EXPECT: found when the block had ended: 128 of 128 have not
__global__ void product_not_waited_for(const __grid_constant__ CUtensorMap, float* out) {
  __shared__ Shared s;
  fill_both(&s);
  float d[32] = {};
  ptx::wgmma_fence();
  ptx::wgmma_m64k16<64>(d, of(s.a), of(s.b), false);  // @lost
  ptx::wgmma_commit();
  ptx::wgmma_wait<1>();
  out[threadIdx.x] = d[0];
}
CASE(product_not_waited_for) { run(product_not_waited_for, 128); }

// CASE: three_warps
// EXPECT: {file}:{wait}: error: wgmma.wait_group waits for threads of the warp group that never come in kernel 'three_warps'
// EXPECT: note: threads 96-127 left the kernel here
__global__ void three_warps(const __grid_constant__ CUtensorMap, float* out) {
  __shared__ Shared s;
  fill_both(&s);
  float d[32] = {};
  if (threadIdx.x >= 96) return;
  ptx::wgmma_fence();
  ptx::wgmma_m64k16<64>(d, of(s.a), of(s.b), false);
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();  // @wait
  out[threadIdx.x] = d[0];
}
CASE(three_warps) { run(three_warps, 128); }

// CASE: group_not_whole
// EXPECT: {file}:{few}: error: a warp group that is not whole in kernel 'group_not_whole'
// EXPECT: wgmma_fence: it has 96 threads
__global__ void group_not_whole(const __grid_constant__ CUtensorMap, float*) {
  ptx::wgmma_fence();  // @few
}
CASE(group_not_whole) { run(group_not_whole, 96); }

// CASE: threads_differ
// EXPECT: {file}:{differ}: error: threads of a warp group begin different products in kernel 'threads_differ'
// EXPECT: {file}:{differ}: note: the other product
__global__ void threads_differ(const __grid_constant__ CUtensorMap, float* out) {
  __shared__ Shared s;
  fill_both(&s);
  float d[32] = {};
  ptx::wgmma_fence();
  ptx::wgmma_m64k16<64>(d, of(threadIdx.x < 64 ? s.a : s.b), of(s.b), false);  // @differ
  end(d, out);
}
CASE(threads_differ) { run(threads_differ, 128); }

// CASE: descriptor_misaligned
// EXPECT: {file}:{descriptor}: error: the descriptor of B does not fit the swizzle in kernel 'descriptor_misaligned'
// EXPECT: the matrix begins at byte 128 of the pattern
__global__ void descriptor_misaligned(const __grid_constant__ CUtensorMap, float* out) {
  __shared__ Shared s;
  fill_both(&s);
  float d[32] = {};
  ptx::wgmma_fence();
  ptx::wgmma_m64k16<64>(d, of(s.a), of(s.b + 64), false);  // @descriptor
  end(d, out);
}
CASE(descriptor_misaligned) { run(descriptor_misaligned, 128); }

// CASE: descriptor_of_a_misaligned
// EXPECT: {file}:{descriptor_of_a}: error: the descriptor of A does not fit the swizzle in kernel 'descriptor_of_a_misaligned'
// EXPECT: the matrix begins at byte 32 of the pattern
__global__ void descriptor_of_a_misaligned(const __grid_constant__ CUtensorMap, float* out) {
  __shared__ Shared s;
  fill_both(&s);
  float d[32] = {};
  ptx::wgmma_fence();
  ptx::wgmma_m64k16<64, ptx::Layout::kDownRows>(d, of(s.a + 16), of(s.b),  // @descriptor_of_a
                                                false);
  end(d, out);
}
CASE(descriptor_of_a_misaligned) { run(descriptor_of_a_misaligned, 128); }

// CASE: strides_wrong
// EXPECT: {file}:{stride}: error: the descriptor of A does not fit the swizzle in kernel 'strides_wrong'
// EXPECT: 512 bytes from eight rows to the next
__global__ void strides_wrong(const __grid_constant__ CUtensorMap, float* out) {
  __shared__ Shared s;
  fill(s.a);
  ptx::fence_async();
  __syncthreads();
  float d[32] = {};
  ptx::wgmma_fence();
  ptx::wgmma_m64k16<64>(d, ptx::describe(s.a, 0, 512), of(s.a), false);  // @stride
  end(d, out);
}
CASE(strides_wrong) { run(strides_wrong, 128); }

// CASE: cluster
// EXPECT: {file}:{cluster}: error: the CPU backend has no clusters of blocks in kernel 'cluster'
__global__ void cluster(const __grid_constant__ CUtensorMap, float*) {
  ptx::cluster_sync();  // @cluster
}
CASE(cluster) { run(cluster, 32); }
