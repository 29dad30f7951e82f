// SPDX-License-Identifier: MIT
#include "bulk_copies.h"

#include <algorithm>
#include <string>
#include <utility>

#include "../../engine/meeting/async_copies.h"
#include "../../engine/meeting/phase_barriers.h"
#include "../../engine/memory/shared.h"
#include "../../engine/state/leaving.h"
#include "../../engine/state/observer.h"
#include "../../engine/state/unseen_copies.h"
#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "tensor_work.h"

namespace cuda_cpu {
namespace {

constexpr std::size_t kElement = 2, kPieceBytes = 16;
constexpr unsigned kMostOfBox = 256, kRowOfPattern = 128, kPattern = 1024;

[[noreturn]] void refuse(const std::string& headline, Site site, const CUtensorMap& map,
                         std::vector<std::string> details = {}, const std::string& help = "") {
  refuse_instruction(headline, site, std::move(details), help, map.made,
                     "the tile map was made here");
}

void check_tile(const CUtensorMap& map, const void* shared, const char* call, Site site) {
  const std::string of_call = call;
  if (!map.is_usable) refuse(of_call + " with a tile map that was refused", site, map);
  const std::size_t bytes = std::size_t{map.box_rows} * map.box_columns * kElement;
  if (!is_shared_address(current_block, shared)) {
    refuse(of_call + " of a tile that is not in shared memory of this block", site, map);
  }
  const unsigned alignment = map.is_swizzled ? kPattern : kRowOfPattern;
  if (reinterpret_cast<std::uintptr_t>(shared) % alignment != 0) {
    refuse(of_call + " of a tile at a misaligned address", site, map,
           {format("%p is no multiple of %u", shared, alignment)},
           map.is_swizzled ? "the pattern of a swizzle of 128 bytes repeats every 1,024: "
                             "alignas(1024), and tiles of a multiple of that size"
                           : "alignas(128)");
  }
  if (shared_array_of(*current_block, shared, bytes) < 0) {
    refuse(of_call + " of a tile that does not fit the shared array", site, map,
           {format("the tile has %u rows of %u elements, %zu bytes", map.box_rows, map.box_columns,
                   bytes)});
  }
}

BulkStores& stores_of_thread(TensorWork* work) {
  if (work->stores.empty()) work->stores.resize(current_block->count);
  return work->stores[number_in_block()];
}

/// The running thread's store has read the piece.
void observe(Block* block, const TilePiece& piece, Site site) {
  if (block->observation == nullptr) return;
  AsyncCopy read{};
  read.from = piece.shared;
  read.bytes = static_cast<std::uint32_t>(piece.bytes);
  read.thread = number_in_block();
  read.site = site;
  observer->copy_arrives(*block, read, nullptr);
}

}  // namespace

CUtensorMap make_tile_map(const void* matrix, std::size_t rows, std::size_t columns,
                          std::size_t leading, unsigned box_rows, unsigned box_columns,
                          bool is_swizzled, Site site) {
  CUtensorMap map{static_cast<char*>(const_cast<void*>(matrix)),
                  rows,
                  columns,
                  leading,
                  box_rows,
                  box_columns,
                  is_swizzled,
                  false,
                  site};
  const auto refused = [&](std::string detail, const char* help) {
    misuse(site, cudaErrorInvalidValue, "a tile map that bulk copies do not accept",
           {std::move(detail)}, {}, help);
    return map;
  };
  if (reinterpret_cast<std::uintptr_t>(matrix) % 16 != 0 || matrix == nullptr) {
    return refused(format("the matrix begins at %p", matrix),
                   "it begins at a multiple of 16 bytes");
  }
  if (leading * kElement % 16 != 0 || leading < columns) {
    return refused(format("%zu elements from one row to the next, of %zu", leading, columns),
                   "rows are a multiple of 16 bytes apart, and do not overlap: pad them");
  }
  if (rows == 0 || columns == 0) return refused("the matrix is empty", "");
  if (box_rows == 0 || box_rows > kMostOfBox || box_columns == 0 || box_columns > kMostOfBox) {
    return refused(format("a tile of %u x %u", box_rows, box_columns),
                   "a side has 1 to 256 elements: copy it in parts");
  }
  const std::size_t row_bytes = box_columns * kElement;
  if (row_bytes % 16 != 0 || (is_swizzled && row_bytes > kRowOfPattern)) {
    return refused(
        format("rows of %zu bytes in a tile", row_bytes),
        is_swizzled ? "a multiple of 16, and 128 at most with that swizzle" : "a multiple of 16");
  }
  map.is_usable = true;
  return map;
}

std::vector<TilePiece> pieces_of(const CUtensorMap& map, const void* shared, int x, int y) {
  std::vector<TilePiece> pieces;
  auto* const base = static_cast<char*>(const_cast<void*>(shared));
  const std::size_t row_bytes = map.box_columns * kElement;
  // Where a tile begins left of the matrix, a piece may begin outside: element by element then.
  const bool is_cut_left = x < 0 && x % 8 != 0;
  const std::size_t piece_bytes = is_cut_left ? kElement : kPieceBytes;
  for (unsigned r = 0; r < map.box_rows; ++r) {
    const std::int64_t row = std::int64_t{y} + r;
    const bool is_inside = row >= 0 && row < static_cast<std::int64_t>(map.rows);
    for (std::size_t at = 0; at < row_bytes; at += piece_bytes) {
      char* to = base + r * row_bytes + at / kPieceBytes * kPieceBytes;
      if (map.is_swizzled) to = swizzled(to);
      const std::int64_t column = x + static_cast<std::int64_t>(at / kElement);
      const std::int64_t left = static_cast<std::int64_t>(map.columns) - column;
      const std::size_t bytes =
          !is_inside || column < 0 || left <= 0
              ? 0
              : std::min(static_cast<std::size_t>(left) * kElement, piece_bytes);
      char* const from = bytes == 0 ? nullptr
                                    : map.matrix + (static_cast<std::size_t>(row) * map.leading +
                                                    static_cast<std::size_t>(column)) *
                                                       kElement;
      pieces.push_back({to + at % kPieceBytes, from, bytes, piece_bytes - bytes});
    }
  }
  return pieces;
}

UncountedCopies begin_tile(void* to_shared, const CUtensorMap& map, int x, int y,
                           std::uint64_t* bar, Site site) {
  TensorWork& work = tensor_work("copy_tile");
  check_tile(map, to_shared, "copy_tile", site);
  work.told.clear();
  for (const TilePiece& piece : pieces_of(map, to_shared, x, y)) {
    work.told.push_back(
        {piece.shared, piece.bytes + piece.zeros, piece.global, piece.bytes, false});
  }
  const UncountedCopies copies = {work.told.data(), work.told.size()};
  begin_bulk_copy(bar, std::size_t{map.box_rows} * map.box_columns * kElement, copies,
                  {"cp.async.bulk.tensor", site.file, site.line});
  // What it finds there until they come, nobody has stored.
  for (const UncountedCopy& copy : work.told) {
    work.proxy.has_written(*current_block, copy.to, copy.bytes);
  }
  return copies;
}

UncountedCopies begin_store(const CUtensorMap& map, int x, int y, const void* from_shared,
                            Site site) {
  TensorWork& work = tensor_work("store_tile");
  check_tile(map, from_shared, "store_tile", site);
  // What lies outside is not stored; but 16 bytes are stored together, also where a row ends in
  // them: an H200 writes into the gap behind such a row.
  CUtensorMap stored = map;
  stored.columns = (map.columns + kPieceBytes / kElement - 1) / (kPieceBytes / kElement) *
                   (kPieceBytes / kElement);
  std::vector<TilePiece> pieces = pieces_of(stored, from_shared, x, y);
  pieces.erase(std::remove_if(pieces.begin(), pieces.end(),
                              [](const TilePiece& piece) { return piece.bytes == 0; }),
               pieces.end());
  for (const TilePiece& piece : pieces) {
    if (work.proxy.sees(*current_block, piece.shared, piece.bytes)) continue;
    refuse(
        "a bulk store reads what ordinary stores have written, with no fence between them", site,
        map,
        {format("at byte %td of the tile", piece.shared - static_cast<const char*>(from_shared))},
        "the threads that write the tile call fence_async() after that; then a barrier, then "
        "the store");
  }
  BulkStores& mine = stores_of_thread(&work);
  for (const TilePiece& piece : pieces) {  // a fault is the program's: the memory is not there
    auto* const byte = static_cast<volatile char*>(piece.global);
    byte[0] = byte[0];
    byte[piece.bytes - 1] = byte[piece.bytes - 1];
  }
  work.told.clear();
  for (const TilePiece& piece : pieces) {
    work.told.push_back({piece.global, piece.bytes, piece.shared, piece.bytes, true});
  }
  mine.stores.push_back({std::move(pieces), mine.groups, site});
  return {work.told.data(), work.told.size()};
}

void commit_stores() {
  TensorWork& work = tensor_work("store_commit");
  ++stores_of_thread(&work).groups;
}

void wait_for_stores(std::size_t left) {
  TensorWork& work = tensor_work("store_wait_read");
  BulkStores& mine = stores_of_thread(&work);
  while (!mine.stores.empty() && mine.groups - mine.stores.front().group > left) {
    for (const TilePiece& piece : mine.stores.front().pieces) {
      copy_unseen(piece.global, piece.shared, piece.bytes);
      observe(current_block, piece, mine.stores.front().site);
    }
    mine.stores.pop_front();
  }
}

int finish_stores(const Block& block, const std::vector<BulkStores>& stores) {
  for (std::size_t thread = 0; thread < stores.size(); ++thread) {
    if (stores[thread].stores.empty()) continue;
    const BulkStores::Store& first = stores[thread].stores.front();
    Report it = report_here("bulk store that its thread has never waited for", first.site,
                            cudaErrorLaunchFailure,
                            {"found when the block had ended: its shared memory may be another "
                             "block's before the store has read it"},
                            "the thread that stores calls store_commit(), and store_wait_read<0>() "
                            "before it ends");
    it.where = where_is(&block, &block.threads[thread]);
    if (first.group == stores[thread].groups)
      it.details.push_back("it is in no group: no store_commit() follows it");
    return report(it);
  }
  return 0;
}

void fence_async_proxy() {
  // The lanes of a warp fence one after the other: what the last one stores behind its fence is
  // told.
  AsyncProxy& proxy = tensor_work("fence_async").proxy;
  const unsigned lane = number_in_block() % 32;
  proxy.fence(*current_block, lane == 0 || lane == 31);
}

}  // namespace cuda_cpu
