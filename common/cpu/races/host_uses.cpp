// SPDX-License-Identifier: MIT
#include "host_uses.h"

#include <algorithm>
#include <utility>

namespace races {

void HostUses::split(Page* page) {
  std::unique_ptr<Uses[]> uses(new Uses[kBytes]);
  for (std::size_t i = 0; i < kBytes; ++i) uses[i] = page->uses[i / page->unit];
  page->uses = std::move(uses);
  page->unit = 1;
}

void HostUses::note(const char* address, std::size_t bytes, const One& use,
                    std::uint64_t caught_up) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (since_ < caught_up || pages_.size() > kMostPages) pages_.clear();
  since_ = caught_up;
  latest_ = use.time;
  for (const char* const end = address + bytes; address < end;) {
    Page& page = pages_[address - offset_of(address)];
    const std::size_t offset = offset_of(address);
    const std::size_t here = std::min(static_cast<std::size_t>(end - address), kBytes - offset);
    if (page.unit != 1 && (offset % 4 != 0 || here % 4 != 0)) split(&page);
    for (std::size_t at = offset; at < offset + here; at += page.unit) {
      Uses& uses = page.uses[at / page.unit];
      if ((use.use & kReads) != 0) uses.read = use;
      if ((use.use & kWrites) != 0) uses.write = use;
    }
    address += here;
  }
}

}  // namespace races
