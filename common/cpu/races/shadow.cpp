// SPDX-License-Identifier: MIT
#include "shadow.h"

#include <utility>

#include "../engine/memory.h"
#include "../engine/stacks.h"

namespace races {
namespace {

// What a thread has on its stack is its own. Arrays in shared memory begin anew in every block.
Kind kind_of(const void* page) {
  if (cuda_cpu::is_on_a_stack(page)) return Kind::kIgnored;
  cuda_cpu::MemoryRange range;
  // An array in shared memory ends where its pages end, so the last byte belongs to it or lies
  // just behind it.
  const auto* const last = static_cast<const char*>(page) + Page::kBytes - 1;
  const bool found = cuda_cpu::find_range(last, &range, Page::kBytes);
  return found && range.space == cuda_cpu::Space::kShared ? Kind::kShared : Kind::kGlobal;
}

}  // namespace

const char Place::kOrigin = 0;

void Page::split() {
  if (cells_ != nullptr) {
    auto bytes = std::make_unique<Cell[]>(kBytes);
    for (std::size_t i = 0; i < kBytes; ++i) {
      bytes[i] = cells_[i / unit_];
      if (i % unit_ != 0) bytes[i].crowd = 0;  // one of the bytes keeps it
    }
    cells_ = std::move(bytes);
  }
  unit_ = 1;
}

Page* Shadow::known_page_of(const void* address) {
  const auto found =
      pages_.find(PageNumber{reinterpret_cast<std::uintptr_t>(address) / Page::kBytes});
  return found == pages_.end() ? nullptr : &found->second;
}

Crowd& Shadow::make_crowd(Cell* cell) {
  if (cell->crowd == 0) {
    if (free_crowds_.empty()) {
      cell->crowd = static_cast<std::uint32_t>(crowds_.size());
      crowds_.emplace_back();
    } else {
      cell->crowd = free_crowds_.back().number;
      free_crowds_.pop_back();
      crowds_[cell->crowd] = Crowd{};
    }
  }
  return crowds_[cell->crowd];
}

void Shadow::forget(Cell* cell) {
  if (cell->crowd != 0) free_crowds_.push_back(Free{cell->crowd});
  *cell = Cell{};
}

Page& Shadow::find(PageNumber number) {
  const auto found = pages_.find(number);
  if (found != pages_.end()) return found->second;
  const auto* const address = reinterpret_cast<const void*>(number.value * Page::kBytes);
  return pages_.emplace(number, Page(kind_of(address))).first->second;
}

}  // namespace races
