// SPDX-License-Identifier: MIT
#include "shadow.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "../engine/memory/memory.h"
#include "../engine/memory/stacks.h"
#include "../engine/state/settings.h"

namespace races {
namespace {

// Only memory that CUDA gave out can be shared between threads: not their stacks, nor where the
// backend keeps arguments and built-in variables. Arrays in shared memory begin anew in every
// block.
Kind kind_of(const void* page) {
  using cuda_cpu::Space;
  if (cuda_cpu::is_on_a_stack(page)) return Kind::kIgnored;
  if (cuda_cpu::is_device_address(page)) return Kind::kGlobal;
  if (cuda_cpu::overlaps_range(page, Page::kBytes, Space::kShared)) return Kind::kShared;
  if (cuda_cpu::overlaps_range(page, Page::kBytes, Space::kConstant)) return Kind::kConstant;
  for (const Space space : {Space::kGlobal, Space::kManaged, Space::kHostPinned,
                            Space::kHostRegistered, Space::kDevice}) {
    if (cuda_cpu::overlaps_range(page, Page::kBytes, space)) return Kind::kGlobal;
  }
  return Kind::kIgnored;
}

std::size_t may_take() {
  static const std::size_t wanted = cuda_cpu::races_may_take();
  static const std::size_t bytes = wanted != 0 ? wanted : cuda_cpu::device_memory_total();
  return bytes;
}

void say_full() {
  std::fprintf(stderr,
               "note: looking for races takes %zu MiB now, as much as it may: memory that is used "
               "from here on for the first time is not watched\n"
               "    help: use smaller arrays, or allow more: CUDA_CPU_RACES_MIB=%zu\n",
               may_take() >> 20, may_take() >> 19);
}

}  // namespace

Shadow::Entry* Shadow::tables_[1 << kLog2Tables];
std::uintptr_t Shadow::looks_ = 0;

void Crowd::clear() {
  readers.clear();
  strong.release();
  strongs.clear();
  last_strong = Access{};
  for_one_block = false;
}

void Shadow::split(Page* page) {
  for (std::size_t n = 0; n < Page::kParts; ++n) {
    std::unique_ptr<Cell[]>& part = page->parts_[n];
    if (part == nullptr && page->strips_ != nullptr && !page->strips_[n].empty()) {
      part = make_part(4, &page->strips_[n]);
    }
    if (part == nullptr) continue;
    auto bytes = make_part(1, nullptr);
    for (std::size_t i = 0; i < Page::kPartBytes; ++i) {
      const Cell& word = part[i / page->unit_];
      bytes[i] = word;
      if (i % page->unit_ == 0) continue;
      // The others of its bytes have the same of their own.
      bytes[i].readers = word.readers.copy();
      bytes[i].crowd = 0;
      if (word.crowd == 0) continue;
      Crowd& crowd = make_crowd(&bytes[i]);
      const Crowd& of_word = *crowd_of(word);
      crowd = of_word;
      crowd.readers = of_word.readers.copy();
      crowd.strong = of_word.strong.copy();
      crowd.strongs = of_word.strongs.copy();
    }
    bytes_of_cells_ -= Page::kPartBytes / page->unit_ * sizeof(Cell);
    part = std::move(bytes);
  }
  if (page->strips_ != nullptr) bytes_of_cells_ -= Page::kParts * sizeof(Strips);
  page->strips_.reset();
  page->unit_ = 1;
}

Crowd& Shadow::make_crowd(Cell* cell) {
  if (cell->crowd == 0) {
    if (free_crowds_.empty()) {
      cell->crowd = crowd_count_++;
      if (crowds_.size() <= cell->crowd / kCrowds)
        crowds_.push_back(std::make_unique<Crowd[]>(kCrowds));
    } else {
      cell->crowd = free_crowds_.back().number;
      free_crowds_.pop_back();
    }
  }
  return *crowd_of(*cell);
}

void Shadow::forget(Cell* cell) {
  if (cell->crowd != 0) {
    crowd_of(*cell)->clear();
    free_crowds_.push_back(Free{cell->crowd});
  }
  cell->readers.release();
  *cell = Cell{};
}

std::unique_ptr<Cell[]> Shadow::make_part(std::size_t unit, const Strips* strips) {
  const std::size_t count = Page::kPartBytes / unit;
  bytes_of_cells_ += count * sizeof(Cell);
  auto cells = std::make_unique<Cell[]>(count);
  if (strips == nullptr) return cells;
  for (const Strip* strip : {&strips->before, &strips->now}) {
    for (std::uint32_t word = 0; word < count; ++word) {
      Cell& cell = cells[word];
      if (strip->written.has(word)) {
        cell.work = strip->work;
        cell.write = strip->written.of(word);
      }
      const auto add = [&](const Group& group) {
        cell.work = strip->work;
        if (cell.readers) {
          make_crowd(&cell).readers.put(group);
        } else {
          cell.readers = group;
        }
      };
      if (strip->read.has(word)) add(Group(strip->read.of(word)));
      if (strip->readers != nullptr) strip->readers->for_each(word, add);
    }
  }
  return cells;
}

Page& Shadow::look_up(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address) / Page::kBytes;
  const auto* const begin = reinterpret_cast<const void*>(number * Page::kBytes);
  Kind kind = kind_of(begin);
  if (kind != Kind::kIgnored && bytes_of_cells_ + Readers::all_bytes() >= may_take()) {
    if (!is_full_) say_full();
    if (!is_full_) cuda_cpu::keep_unwritten_memory(false);  // not all writes are seen
    is_full_ = true;
    kind = Kind::kIgnored;
  }
  const std::uintptr_t table = number >> kLog2Table;
  if (cuda_cpu::is_on_a_stack(address) || table >> kLog2Tables != 0) return ignored_;
  if (tables_[table] == nullptr) {
    tables_[table] = static_cast<Entry*>(std::calloc(1 << kLog2Table, sizeof(Entry)));
    if (tables_[table] == nullptr) return ignored_;
  }
  Entry& entry = tables_[table][number & ((1 << kLog2Table) - 1)];
  if (kind == Kind::kIgnored) {
    entry.bits = looks_ | Entry::kNoPage;
    return ignored_;
  }
  auto* const page = new Page(kind);
  entry.bits = reinterpret_cast<std::uintptr_t>(page);
  if (kind == Kind::kGlobal) {
    page->strips_ = std::make_unique<Strips[]>(Page::kParts);
    bytes_of_cells_ += Page::kParts * sizeof(Strips);
  }
  return *page;
}

}  // namespace races
