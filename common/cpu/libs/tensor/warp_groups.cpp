// SPDX-License-Identifier: MIT
#include "warp_groups.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "../../engine/memory/shared.h"
#include "../../engine/scheduling/scheduler.h"
#include "../../engine/state/copy_queue.h"
#include "../../engine/state/leaving.h"
#include "../../engine/state/observer.h"
#include "../../engine/state/pages.h"
#include "../../engine/state/unseen_copies.h"
#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "products.h"
#include "tensor_work.h"

namespace cuda_cpu {
namespace {

constexpr unsigned kProductRows = 64, kPiece = 16, kSwizzledRow = 128, kSwizzlePattern = 1024;
constexpr unsigned kPiecesOfWarp = 2 * kProductRows / 4;  // of A

WarpGroup& running_group(const char* call, Site site) {
  TensorWork& work = tensor_work(call);
  const unsigned number = number_in_block() / kGroupThreads;
  const unsigned left = current_block->count - number * kGroupThreads;
  if (left < kGroupThreads) {
    refuse_instruction("a warp group that is not whole", site,
                       {format("%s: it has %u threads", call, left)},
                       "make the block a multiple of 128 threads");
  }
  if (work.groups.size() <= number) work.groups.resize(number + std::size_t{1});
  if (work.groups[number] == nullptr) work.groups[number] = std::make_unique<WarpGroup>();
  return *work.groups[number];
}

WarpGroup::Member& running_member(WarpGroup* group) {
  return group->members[number_in_block() % kGroupThreads];
}

WarpProduct& product_at(WarpGroup& group, std::uint64_t number) {
  return *group.products[static_cast<std::size_t>(number - group.first)];
}

// ---- descriptors
// -----------------------------------------------------------------------------------

struct Matrix {
  char* address;
  unsigned leading, stride;
};

Matrix read_descriptor(std::uint64_t descriptor, const char* which, bool along_rows, Site site) {
  const auto bytes = [&](unsigned at) {
    return static_cast<unsigned>(descriptor >> at & 0x3fff) * 16;
  };
  const auto number = static_cast<unsigned>(descriptor >> 52 & 1023);
  const Block& block = *current_block;
  const bool is_one = number > 0 && number <= block.shared_count && descriptor >> 62 == 1 &&
                      block.shared[number - 1].serial == block.serial;
  if (!is_one) {
    refuse_instruction(format("the descriptor of %s describes no matrix", which), site,
                       {format("it is 0x%016llx", static_cast<unsigned long long>(descriptor))},
                       "it comes from describe(), plus bytes in units of 16");
  }
  const Matrix matrix{static_cast<char*>(block.shared[number - 1].address) + bytes(0), bytes(16),
                      bytes(32)};
  const auto address = reinterpret_cast<std::uintptr_t>(matrix.address);
  // Along rows, 16 of k begin at a fourth of a row.
  const std::size_t row = along_rows ? address % kSwizzledRow : 0;
  if ((address - row) % kSwizzlePattern != 0 || row % 32 != 0) {
    refuse_instruction(
        format("the descriptor of %s does not fit the swizzle", which), site,
        {format("the matrix begins at byte %zu of the pattern", address % kSwizzlePattern)},
        along_rows ? "the pattern of 128-byte rows repeats every 1,024 bytes: alignas(1024); the "
                     "next 16 of k are 32 bytes on"
                   : "the pattern of 128-byte rows repeats every 1,024 bytes: alignas(1024); the "
                     "next 16 of k are 2,048 bytes on");
  }
  if (matrix.stride % kSwizzlePattern != 0 || matrix.stride == 0) {
    refuse_instruction(format("the descriptor of %s does not fit the swizzle", which), site,
                       {format("%u bytes from eight rows to the next", matrix.stride)},
                       "eight rows of 128 bytes are 1,024");
  }
  return matrix;
}

/// Where 8 neighbours of row i lie, from column 8 j on. Of a matrix down the rows: of its row i.
const char* piece_at(const Matrix& matrix, bool along_rows, unsigned i, unsigned j) {
  const std::size_t panel = along_rows ? 0 : j / (kSwizzledRow / kPiece);
  const std::size_t in_row = along_rows ? j : j % (kSwizzledRow / kPiece);
  return swizzled(matrix.address + panel * matrix.leading + std::size_t{i / 8} * matrix.stride +
                  i % 8 * kSwizzledRow + in_row * kPiece);
}

void check_is_inside(const WarpProduct& product, const char* piece, const char* which) {
  if (shared_array_of(*current_block, piece, kPiece) >= 0) return;
  refuse_instruction(format("wgmma reads %s past the end of the shared array", which),
                     product.call.site, {}, "do leading and stride of describe() fit the matrix?");
}

void find_pieces(WarpProduct* product) {
  const ProductCall& call = product->call;
  const Matrix a = read_descriptor(call.a, "A", !call.a_down_rows, call.site);
  const Matrix b = read_descriptor(call.b, "B", !call.b_down_rows, call.site);
  // Down the rows there are 16-bit factors alone: a warp's 16 rows of A are two pieces of 16 rows.
  for (unsigned i = 0; i < std::size(product->a_pieces); ++i) {
    const unsigned row = call.a_down_rows ? i / 2 % 16 : i / 2;
    const unsigned piece = call.a_down_rows ? i / kPiecesOfWarp * 2 + i % 2 : i % 2;
    product->a_pieces[i] = piece_at(a, !call.a_down_rows, row, piece);
  }
  const unsigned rows = call.b_down_rows ? 16 : call.n;
  const unsigned columns = call.b_down_rows ? call.n / 8 : 2;
  for (unsigned i = 0; i < rows; ++i) {
    for (unsigned j = 0; j < columns; ++j) {
      product->b_pieces.push_back(piece_at(b, !call.b_down_rows, i, j));
    }
  }
  AsyncProxy& proxy = tensor_work("wgmma").proxy;
  const auto look_at = [&](const char* piece, const char* which) {
    check_is_inside(*product, piece, which);
    if (proxy.sees(*current_block, piece, kPiece)) return;
    refuse_instruction(
        "wgmma reads what ordinary stores have written, with no fence between them", call.site,
        {format("of %s, in shared memory at %p", which, static_cast<const void*>(piece))},
        "the threads that write a tile call fence_async() after that; then a barrier, then the "
        "product");
  };
  for (const char* piece : product->a_pieces) look_at(piece, "A");
  for (const char* piece : product->b_pieces) look_at(piece, "B");
}

// ---- products
// ----------------------------------------------------------------------------------------

unsigned size_of(TensorFormat format) {
  return format == TensorFormat::kTf32 ? 4 : format == TensorFormat::kE4m3 ? 1 : 2;
}

std::uint32_t element_of(const char* piece, unsigned i, unsigned size) {
  const char* const at = piece + std::size_t{size} * i;
  if (size == 1) return *reinterpret_cast<const std::uint8_t*>(at);
  if (size == 2) return *reinterpret_cast<const std::uint16_t*>(at);
  return *reinterpret_cast<const std::uint32_t*>(at);
}

/// Where d[e] of a thread of the group lies in the sums.
std::size_t place_of(unsigned thread, unsigned e, unsigned n) {
  const unsigned lane = thread % 32;
  const unsigned row = thread / 32 * 16 + lane / 4 + e % 4 / 2 * 8;
  return std::size_t{row} * n + e / 4 * 8 + lane % 4 * 2 + e % 2;
}

/// All threads have begun it, and one waits.
void make(WarpProduct* product) {
  const ProductCall& call = product->call;
  const unsigned size = size_of(call.format), in_piece = kPiece / size, depth = 2 * in_piece;
  std::vector<float> room(std::size_t{2} * depth * (kProductRows + call.n));
  const Factors a{room.data(), room.data() + std::size_t{depth} * kProductRows};
  const Factors b{a.exponents + std::size_t{depth} * kProductRows,
                  a.exponents + std::size_t{depth} * (kProductRows + call.n)};
  for (unsigned i = 0; i < kProductRows; ++i) {
    for (unsigned k = 0; k < depth; ++k) {
      const char* const piece =
          call.a_down_rows ? product->a_pieces[i / 16 * kPiecesOfWarp + 2 * k + i % 16 / in_piece]
                           : product->a_pieces[2 * i + k / in_piece];
      a.put(i * depth + k, call.format,
            element_of(piece, (call.a_down_rows ? i : k) % in_piece, size));
    }
  }
  const unsigned columns = call.n / in_piece;
  for (unsigned k = 0; k < depth; ++k) {
    for (unsigned j = 0; j < call.n; ++j) {
      const char* const piece = call.b_down_rows ? product->b_pieces[k * columns + j / in_piece]
                                                 : product->b_pieces[2 * j + k / in_piece];
      b.put(k * call.n + j, call.format,
            element_of(piece, (call.b_down_rows ? j : k) % in_piece, size));
    }
  }
  std::vector<float>& sums = *product->sums;
  if (!call.add) fill_unseen(sums.data(), 0, sums.size() * sizeof(float));
  add_products(sums.data(), a, b, kProductRows, call.n, depth,
               call.format == TensorFormat::kE4m3 ? kRoundingOf8Bits : kTensorRounding);
  product->is_made = true;
}

/// The latest product of these registers that the thread has not waited for, or null.
WarpProduct* latest_of(WarpGroup& group, const WarpGroup::Member& member, const float* d,
                       unsigned thread) {
  for (std::uint64_t i = member.begun; i > member.ended; --i) {
    WarpProduct& product = product_at(group, i - 1);
    if (product.d[thread] == d) return &product;
  }
  return nullptr;
}

void check_is_untouched(const float* d, unsigned size, const WarpProduct& product) {
  const char* const bytes = reinterpret_cast<const char*>(d);
  if (is_all_poison(bytes, bytes + size * sizeof(float))) return;
  refuse_instruction("registers of a wgmma that is under way were written", product.call.site, {},
                     "its d belongs to the product until wgmma_wait()");
}

void check_fence(const WarpGroup::Member& member, const float* d, unsigned size,
                 const ProductCall& call) {
  if (member.has_fenced) return;
  for (const WarpGroup::Known& known : member.known) {
    if (known.d != d || known.values.size() != size) continue;
    if (std::memcmp(known.values.data(), d, size * sizeof(float)) == 0) return;
  }
  refuse_instruction(
      "wgmma uses registers that were written, with no fence between them", call.site, {},
      "call wgmma_fence() before the first product, and after registers of d were written");
}

void remember(WarpGroup::Member* member, float* d, unsigned size) {
  const auto same = std::find_if(member->known.begin(), member->known.end(),
                                 [&](const WarpGroup::Known& known) { return known.d == d; });
  WarpGroup::Known& known = same != member->known.end()
                                ? *same
                                : (member->known.push_back({d, {}}), member->known.back());
  known.values.resize(size);
  copy_unseen(known.values.data(), d, size * sizeof(float));
}

WarpProduct* new_product(WarpGroup* group, const ProductCall& call) {
  group->products.push_back(std::make_unique<WarpProduct>());
  WarpProduct* const product = group->products.back().get();
  product->call = call;
  product->first_thread = number_in_block();
  find_pieces(product);
  return product;
}

void check_same(const WarpProduct& product, const ProductCall& call, bool continues) {
  const ProductCall& first = product.call;
  if (first.format == call.format && first.a == call.a && first.b == call.b && first.n == call.n &&
      first.add == call.add && first.a_down_rows == call.a_down_rows &&
      first.b_down_rows == call.b_down_rows && continues) {
    return;
  }
  refuse_instruction(
      "threads of a warp group begin different products", call.site,
      {format("thread %u has begun another one at the same time: other descriptors, shape, "
              "registers or add",
              product.first_thread)},
      "all 128 threads make the same call with the same descriptors", first.site,
      "the other product");
}

/// Products that all members have taken are forgotten.
void forget_ended(WarpGroup* group) {
  while (!group->products.empty() && group->products.front()->ended == kGroupThreads) {
    group->products.pop_front();
    ++group->first;
  }
}

/// Calls use(piece) for what a warp of the group reads: its rows of A, and B.
template <class F>
void for_pieces_of(const WarpProduct& product, unsigned warp, F use) {
  for (unsigned i = 0; i < kPiecesOfWarp; ++i) use(product.a_pieces[warp * kPiecesOfWarp + i]);
  for (const char* piece : product.b_pieces) use(piece);
}

/// The race detector hears that the product has read what it was told of.
void observe_reads(const WarpGroup& group, const WarpProduct& product, std::uint64_t number) {
  Block& block = *current_block;
  if (block.observation == nullptr) return;
  AsyncCopy read{};
  read.bytes = kPiece;
  read.group = static_cast<std::uint32_t>(number);
  read.site = product.call.site;
  for (unsigned warp = 0; warp < 4; ++warp) {
    read.thread = product.tellers[warp];
    for_pieces_of(product, warp, [&](const char* piece) {
      read.from = piece;
      observer->copy_arrives(block, read, &group);
    });
  }
}

/// The first thread of each warp tells what that reads.
UncountedCopies reads_of(WarpGroup& group, WarpProduct* product, std::uint64_t number) {
  Block& block = *current_block;
  const unsigned warp = number_in_block() % kGroupThreads / 32;
  if (block.observation == nullptr || product->has_told[warp]) return {nullptr, 0};
  product->has_told[warp] = true;
  product->tellers[warp] = number_in_block();
  observer->phase_is_reached(block, &group, static_cast<std::uint32_t>(number));
  std::vector<UncountedCopy>& told = tensor_work("wgmma").told;
  told.clear();
  for_pieces_of(*product, warp, [&](const char* piece) {
    told.push_back({nullptr, 0, piece, kPiece, false});
  });
  return {told.data(), told.size()};
}

/// The running thread gets what the products have made of its registers.
void take(WarpGroup* group, WarpGroup::Member* member, std::uint64_t end) {
  const unsigned thread = number_in_block() % kGroupThreads;
  Block& block = *current_block;
  for (; member->ended < end; ++member->ended) {
    WarpProduct& product = product_at(*group, member->ended);
    float* const d = product.d[thread];
    const unsigned size = product.call.n / 2;
    if (!product.is_made) {
      make(&product);
      observe_reads(*group, product, member->ended);
    }
    if (block.observation != nullptr) {
      observer->phase_is_passed(block, group, static_cast<std::uint32_t>(member->ended));
    }
    ++product.ended;
    if (latest_of(*group, *member, d, thread) != &product) continue;
    check_is_untouched(d, size, product);
    for (unsigned e = 0; e < size; ++e) d[e] = (*product.sums)[place_of(thread, e, product.call.n)];
    remember(member, d, size);
  }
  forget_ended(group);
}

}  // namespace

std::uint64_t describe_matrix(const void* in_shared, unsigned leading, unsigned stride, Site site) {
  tensor_work("describe");
  const int number = shared_array_of(*current_block, in_shared, 1);
  if (number < 0) {
    refuse_instruction("describe() of what is not in shared memory of this block", site, {}, "");
  }
  const auto in_16 = [](std::size_t bytes) -> std::uint64_t { return (bytes & 0x3ffff) >> 4; };
  const char* const array =
      static_cast<char*>(current_block->shared[static_cast<unsigned>(number)].address);
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(in_shared) - array);
  if (reinterpret_cast<std::uintptr_t>(in_shared) % 16 != 0 ||
      reinterpret_cast<std::uintptr_t>(array) % 16 != 0) {
    refuse_instruction("describe() of a matrix at a misaligned address", site,
                       {format("%p is no multiple of 16", in_shared)}, "alignas(1024)");
  }
  return in_16(offset) | in_16(leading) << 16 | in_16(stride) << 32 |
         std::uint64_t{static_cast<unsigned>(number) + 1} << 52 | std::uint64_t{1} << 62;
}

UncountedCopies begin_product(float* d, const ProductCall& call) {
  WarpGroup& group = running_group("wgmma", call.site);
  WarpGroup::Member& member = running_member(&group);
  const unsigned thread = number_in_block() % kGroupThreads;
  const unsigned size = call.n / 2;
  const bool is_first = member.begun == group.first + group.products.size();
  WarpProduct* const before = latest_of(group, member, d, thread);
  if (before == nullptr) {
    check_fence(member, d, size, call);
  } else {
    check_is_untouched(d, size, *before);
  }
  WarpProduct* const product =
      is_first ? new_product(&group, call) : &product_at(group, member.begun);
  if (is_first) {
    product->sums = before != nullptr && before->call.n == call.n
                        ? before->sums
                        : std::make_shared<std::vector<float>>(std::size_t{kProductRows} * call.n);
  }
  check_same(*product, call, before == nullptr || before->sums == product->sums);
  if (before == nullptr) {
    for (unsigned e = 0; e < size; ++e) (*product->sums)[place_of(thread, e, call.n)] = d[e];
  }
  fill_unseen(d, kPoison, size * sizeof(float));
  product->d[thread] = d;
  const std::uint64_t number = member.begun++;
  if (++product->begun == kGroupThreads) ++group.epoch;
  return reads_of(group, product, number);
}

void fence_products(Site site) {
  WarpGroup& group = running_group("wgmma_fence", site);
  running_member(&group).has_fenced = true;
}

void commit_products(Site site) {
  WarpGroup& group = running_group("wgmma_commit", site);
  WarpGroup::Member& member = running_member(&group);
  member.committed.push_back(member.begun);
}

void wait_for_products(std::size_t left, Site site) {
  WarpGroup& group = running_group("wgmma_wait", site);
  WarpGroup::Member& member = running_member(&group);
  std::uint64_t end = member.ended;
  while (member.committed.size() > left) {
    end = member.committed.front();
    member.committed.pop_front();
  }
  while (end > member.ended && product_at(group, end - 1).begun < kGroupThreads) {
    Thread* const self = current_thread;
    self->begin_wait(Wait::kPhase, &group.epoch, group.epoch, site.file, site.line);
    self->pc = "wgmma.wait_group";
    reschedule(self);
  }
  take(&group, &member, end);
  member.has_fenced = false;
}

void check_warp_group(const char* call, Site site) { running_group(call, site); }

int finish_products(const Block& block, const WarpGroup& group) {
  for (const auto& product : group.products) {
    if (product->ended == kGroupThreads) continue;
    const auto first = product->first_thread / kGroupThreads * kGroupThreads;
    Report it = report_here("", product->call.site, cudaErrorLaunchFailure);
    unsigned thread = product->first_thread;
    if (product->begun < kGroupThreads) {
      it.headline = "wgmma that not all threads of the warp group begin";
      it.details.push_back(
          format("found when the block had ended: %u of 128 have", product->begun));
      it.help = "all 128 threads of a warp group make the same products";
    } else {
      it.headline = "wgmma that threads have never waited for";
      it.details.push_back(format("found when the block had ended: %u of 128 have not",
                                  kGroupThreads - product->ended));
      it.help = "wgmma_commit(), and wgmma_wait<0>() before anybody reads d";
      for (unsigned i = 0; i < kGroupThreads; ++i) {
        if (group.members[i].ended < group.members[i].begun) {
          thread = first + i;
          break;
        }
      }
    }
    it.where = where_is(&block, &block.threads[thread]);
    return report(it);
  }
  return 0;
}

}  // namespace cuda_cpu
