// SPDX-License-Identifier: MIT
#include "shadow.h"

#include <iterator>
#include <utility>

#include "../engine/memory.h"
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
  for (const Space space : {Space::kGlobal, Space::kManaged, Space::kHostPinned,
                            Space::kHostRegistered, Space::kConstant, Space::kDevice}) {
    if (cuda_cpu::overlaps_range(page, Page::kBytes, space)) return Kind::kGlobal;
  }
  return Kind::kIgnored;
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
  for (std::unique_ptr<Cell[]>& part : page->parts_) {
    if (part == nullptr) continue;
    auto bytes = std::make_unique<Cell[]>(Page::kPartBytes);
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
    part = std::move(bytes);
  }
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
  recent_[number.value % kRecent] = Recent{number, &page};
  const bool ignored = page.kind() == Kind::kIgnored;
  ignored_[number.value % kRecent] = ignored ? number : PageNumber{};
  return page;
}

Page& Shadow::find(PageNumber number) {
  const auto found = pages_.find(number);
  if (found != pages_.end()) return found->second;
  const auto* const address = reinterpret_cast<const void*>(number.value * Page::kBytes);
  return pages_.emplace(number, Page(kind_of(address))).first->second;
}

}  // namespace races
