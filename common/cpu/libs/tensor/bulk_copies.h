// SPDX-License-Identifier: MIT
// Bulk tensor copies: tiles of a matrix between global and shared memory, begun by one thread.
//
// A copy to shared memory comes when somebody waits for the phase of its mbarrier, a store reads
// its tile when its thread waits for that, both as late as they may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../types/site.h"
#include "tensor_work.h"

/// What a copy has to know of a matrix.
struct CUtensorMap {
  char* matrix;
  std::size_t rows, columns, leading;  // elements of 2 bytes
  unsigned box_rows, box_columns;
  bool is_swizzled;
  bool is_usable;
  cuda_cpu::Site made;
};

namespace cuda_cpu {

/// Reports what the copies would not accept.
CUtensorMap make_tile_map(const void* matrix, std::size_t rows, std::size_t columns,
                          std::size_t leading, unsigned box_rows, unsigned box_columns,
                          bool is_swizzled, Site site);

/// The pieces of the tile whose first element is column x, row y. Only what reports says of the
/// call is checked before.
std::vector<TilePiece> pieces_of(const CUtensorMap& map, const void* shared, int x, int y);

/// copy_tile() and store_tile(). They return what the race detector is told of.
UncountedCopies begin_tile(void* to_shared, const CUtensorMap& map, int x, int y,
                           std::uint64_t* bar, Site site);
UncountedCopies begin_store(const CUtensorMap& map, int x, int y, const void* from_shared,
                            Site site);

void commit_stores();
void wait_for_stores(std::size_t left);

/// After a block: returns a CUDA error code, after a report, if some were not waited for.
int finish_stores(const Block& block, const std::vector<BulkStores>& stores);

/// fence.proxy.async.
void fence_async_proxy();

}  // namespace cuda_cpu
