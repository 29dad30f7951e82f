// SPDX-License-Identifier: MIT
#include "shadow.h"

#include <cstdio>
#include <iterator>
#include <utility>

#include "../engine/memory.h"
#include "../engine/settings.h"
#include "../engine/stacks.h"

namespace races {
namespace {

// Only memory that CUDA gave out can be shared between threads: not their stacks, nor where the
// backend keeps arguments and built-in variables. Arrays in shared memory begin anew in every
// block.
Kind kind_of(const void* page) {
  using cuda_cpu::Space;
  if (cuda_cpu::is_on_a_stack(page)) return Kind::kIgnored;
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

Shadow::Recent Shadow::recent_[kRecent];
Shadow::PageNumber Shadow::ignored_[kRecent];

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

Page* Shadow::known_page_of(const void* address) {
  const auto found =
      pages_.find(PageNumber{reinterpret_cast<std::uintptr_t>(address) / Page::kBytes});
  return found == pages_.end() ? nullptr : &found->second;
}

void Shadow::look_again() {
  for (auto page = pages_.begin(); page != pages_.end();) {
    page = page->second.kind() == Kind::kIgnored ? pages_.erase(page) : std::next(page);
  }
  for (Recent& recent : recent_) recent = Recent{};
  for (PageNumber& ignored : ignored_) ignored = PageNumber{};
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

Page& Shadow::look_up(const void* address) {
  const PageNumber number = number_of(address);
  Page& page = find(number);
  recent_[number.slot()] = Recent{number, &page};
  const bool ignored = page.kind() == Kind::kIgnored && !cuda_cpu::is_on_a_stack(address);
  ignored_[number.slot()] = ignored ? number : PageNumber{};
  return page;
}

std::unique_ptr<Cell[]> Shadow::make_part(std::size_t unit, const Strips* strips) {
  const std::size_t count = Page::kPartBytes / unit;
  bytes_of_cells_ += count * sizeof(Cell);
  auto cells = std::make_unique<Cell[]>(count);
  if (strips == nullptr) return cells;
  for (const Strip& strip : {strips->before, strips->now}) {
    for (std::uint32_t word = 0; word < count; ++word) {
      if (!strip.written.has(word) && !strip.read.has(word)) continue;
      cells[word].work = strip.work;
      if (strip.written.has(word)) cells[word].write = strip.written.of(word);
      if (strip.read.has(word)) cells[word].readers = Group(strip.read.of(word));
    }
  }
  return cells;
}

Page& Shadow::find(PageNumber number) {
  const auto found = pages_.find(number);
  if (found != pages_.end()) return found->second;
  const auto* const address = reinterpret_cast<const void*>(number.value * Page::kBytes);
  Kind kind = kind_of(address);
  if (kind != Kind::kIgnored && bytes_of_cells_ >= may_take()) {
    if (!is_full_) say_full();
    is_full_ = true;
    kind = Kind::kIgnored;
  }
  Page& page = pages_.emplace(number, Page(kind)).first->second;
  if (kind == Kind::kGlobal) {
    page.strips_ = std::make_unique<Strips[]>(Page::kParts);
    bytes_of_cells_ += Page::kParts * sizeof(Strips);
  }
  return page;
}

}  // namespace races
