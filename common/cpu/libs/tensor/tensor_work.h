// SPDX-License-Identifier: MIT
// What the instructions of tensor cores keep of a block: bulk stores and products that are under
// way, and what the async proxy sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "../../engine/state/block.h"
#include "../../engine/state/hooks.h"
#include "../../types/site.h"
#include "async_proxy.h"
#include "products.h"

namespace cuda_cpu {

/// A tile is copied in pieces of 16 bytes at most.
struct TilePiece {
  char* shared;
  char* global;
  std::size_t bytes;  // in the matrix
  std::size_t zeros;  // that follow, out of it
};

/// Stores of one thread that are under way.
struct BulkStores {
  struct Store {
    std::vector<TilePiece> pieces;
    std::uint64_t group;
    Site site;
  };
  std::deque<Store> stores;
  std::uint64_t groups = 0;  // that were closed
};

constexpr unsigned kGroupThreads = 128;

/// What is multiplied: 64 x k and k x n, where 32 bytes hold the factors along k.
struct ProductCall {
  TensorFormat format;
  std::uint64_t a, b;
  unsigned n;
  bool add;
  bool a_down_rows, b_down_rows;  // k runs down the rows in shared memory (MN-major)
  Site site;
};

/// A product that has begun.
struct WarpProduct {
  ProductCall call;
  std::uint32_t first_thread;     // of the block, that began it
  std::uint32_t tellers[4] = {};  // of each warp: who has told the race detector what it reads
  bool has_told[4] = {};
  unsigned begun = 0, ended = 0;  // threads
  bool is_made = false;
  std::shared_ptr<std::vector<float>>
      sums;  // shared with the products before of the same registers
  float* d[kGroupThreads] = {};
  const char* a_pieces[128];  // of 16 bytes: 32 for each warp, by rows in shared memory
  std::vector<const char*> b_pieces;
};

struct WarpGroup {
  /// Registers, and what they held when a product had ended.
  struct Known {
    float* d;
    std::vector<float> values;
  };
  struct Member {
    std::uint64_t begun = 0, ended = 0;   // products
    std::deque<std::uint64_t> committed;  // products begun by then, for each group under way
    bool has_fenced = false;              // since it waited
    std::vector<Known> known;
  };
  Member members[kGroupThreads];
  std::deque<std::unique_ptr<WarpProduct>> products;
  std::uint64_t first = 0;  // number of the first of these
  std::uint32_t epoch = 0;  // waiting threads look at it
};

struct TensorWork {
  std::vector<UncountedCopy> told;  // to the race detector, of the latest instruction
  AsyncProxy proxy;
  std::vector<std::unique_ptr<WarpGroup>> groups;
  std::vector<BulkStores> stores;  // of each thread
};

/// The running block's. `call`: whose work it is; it has to be in a kernel.
TensorWork& tensor_work(const char* call);

/// Where the 16 bytes lie that are at `address` without a swizzle.
inline char* swizzled(char* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  return reinterpret_cast<char*>(bits ^ ((bits >> 7 & 7) << 4));
}

/// Reports the use of a cluster.
[[noreturn]] void refuse_cluster(Site site);

/// Reports a wrong use of an instruction and ends the grid. `other`: a line that belongs to it.
[[noreturn]] void refuse_instruction(const std::string& headline, Site site,
                                     std::vector<std::string> details, const std::string& help,
                                     Site other = {nullptr, 0}, const char* note = "");

}  // namespace cuda_cpu
