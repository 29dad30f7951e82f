// SPDX-License-Identifier: MIT
#include "async_proxy.h"

#include <cstdint>
#include <cstring>

#include "../../engine/state/pages.h"
#include "../../engine/state/unseen_copies.h"

namespace cuda_cpu {

int shared_array_of(const Block& block, const void* address, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (unsigned i = 0; i < block.shared_count; ++i) {
    const SharedArray& array = block.shared[i];
    if (array.pages == nullptr || array.serial != block.serial) continue;
    const std::size_t offset = at - reinterpret_cast<std::uintptr_t>(array.address);
    if (offset < array.size && bytes <= array.size - offset) return static_cast<int>(i);
  }
  return -1;
}

AsyncProxy::View& AsyncProxy::view_of(const Block& block, unsigned number) {
  if (views_.size() <= number) views_.resize(number + std::size_t{1});
  View& view = views_[number];
  if (view.serial != block.serial || view.bytes.size() != block.shared[number].size) {
    view.bytes.assign(block.shared[number].size, static_cast<char>(kPoison));
    view.serial = block.serial;
  }
  return view;
}

void AsyncProxy::fence(const Block& block, bool at_once) {
  is_behind_ = !at_once;
  for (unsigned i = 0; at_once && i < block.shared_count; ++i) {
    const SharedArray& array = block.shared[i];
    if (array.pages == nullptr || array.serial != block.serial || array.size == 0) continue;
    copy_unseen(view_of(block, i).bytes.data(), array.address, array.size);
  }
}

char* AsyncProxy::seen_at(const Block& block, const void* address, std::size_t bytes) {
  const int number = shared_array_of(block, address, bytes);
  if (number < 0) return nullptr;
  const auto i = static_cast<unsigned>(number);
  return view_of(block, i).bytes.data() +
         (static_cast<const char*>(address) - static_cast<char*>(block.shared[i].address));
}

void AsyncProxy::has_written(const Block& block, const void* to, std::size_t bytes) {
  if (char* const seen = seen_at(block, to, bytes)) copy_unseen(seen, to, bytes);
}

bool AsyncProxy::sees(const Block& block, const void* from, std::size_t bytes) {
  if (is_behind_) fence(block, true);
  const char* const seen = seen_at(block, from, bytes);
  return seen == nullptr || std::memcmp(seen, from, bytes) == 0;
}

void AsyncProxy::clear() {
  views_.clear();
  is_behind_ = false;
}

}  // namespace cuda_cpu
