// SPDX-License-Identifier: MIT
// Products of a warp group (wgmma): 128 threads begin them together, and wait for them later.
//
// Each is computed as late as it may be: when the first thread waits for it. A thread gets its part
// when it waits itself; until then its registers hold 0xff bytes, which are NaN. So who reads them
// too early, or overwrites the shared memory that is read, gets a wrong result under every
// schedule.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../types/site.h"
#include "tensor_work.h"

namespace cuda_cpu {

/// The descriptor of a matrix in shared memory with a swizzle of 128 bytes. Its address is one in a
/// shared array, whose number stands in bits 52 to 61.
std::uint64_t describe_matrix(const void* in_shared, unsigned leading, unsigned stride, Site site);

/// Begins a product. Returns what the race detector is told of, by a thread of each warp.
UncountedCopies begin_product(float* d, const ProductCall& call);

void fence_products(Site site);
void commit_products(Site site);
void wait_for_products(std::size_t left, Site site);

/// setmaxnreg.
void check_warp_group(const char* call, Site site);

/// After a block: returns a CUDA error code, after a report, if some were not waited for.
int finish_products(const Block& block, const WarpGroup& group);

}  // namespace cuda_cpu
