// SPDX-License-Identifier: MIT
// Chapter 09, scratch memory on the device: kept, or got and given back around every use. Included
// by pinned_mapped_memory.cu.
#pragma once

#include <cstdint>

#include "../../common/common.cuh"

constexpr std::size_t kScratchWords = 1_Mi;

// The work that needs it: a copy into it, and a kernel that reads it. Default stream.
void work_in(const Transfer& t, unsigned* scratch) {
  CUDA_CHECK(cudaMemcpyAsync(scratch, t.d_data, t.n * kWord, cudaMemcpyDeviceToDevice));
  run_passes(t, scratch, t.d_y);
}

void scratch_kept(const Transfer& t) { work_in(t, t.d_x); }

void scratch_malloc(const Transfer& t) {
  unsigned* scratch = nullptr;
  CUDA_CHECK(cudaMalloc(&scratch, t.n * kWord));
  work_in(t, scratch);
  CUDA_CHECK(cudaFree(scratch));  // waits until the work is done
}

// In the order of a stream: the memory is there for what follows in it, and it is given back when
// the stream has got to that point. Neither call waits.
void scratch_async(const Transfer& t) {
  unsigned* scratch = nullptr;
  CUDA_CHECK(cudaMallocAsync(&scratch, t.n * kWord, nullptr));
  work_in(t, scratch);
  CUDA_CHECK(cudaFreeAsync(scratch, nullptr));
}

// The pool that cudaMallocAsync takes from gives back what it holds beyond this many bytes whenever
// the host waits for the device.
void pool_keeps(std::uint64_t bytes) {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes));
}
void pool_keeps_nothing(const Transfer&) { pool_keeps(0); }  // as it is at the start
void pool_keeps_all(const Transfer&) { pool_keeps(UINT64_MAX); }
