// SPDX-License-Identifier: MIT
#include "texture_objects.h"

#include <atomic>
#include <mutex>

namespace cuda_cpu {
namespace {

// Kernels look objects up while the host makes more of them, so none ever moves.
constexpr std::uint64_t kPerPage = 256, kPages = 16384;
std::atomic<TextureObject*> pages[kPages];
std::atomic<std::uint64_t> made{0};

}  // namespace

std::uint64_t add_texture_object(const TextureObject& object) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const std::uint64_t index = made.load(std::memory_order_relaxed);
  if (index == kPerPage * kPages) return 0;
  std::atomic<TextureObject*>& page = pages[index / kPerPage];
  if (page.load(std::memory_order_relaxed) == nullptr) {
    page.store(new TextureObject[kPerPage], std::memory_order_release);
  }
  page.load(std::memory_order_relaxed)[index % kPerPage] = object;
  made.store(index + 1, std::memory_order_release);
  return index + 1;
}

TextureObject* find_texture_object(std::uint64_t number) {
  if (number - 1 >= made.load(std::memory_order_acquire)) return nullptr;
  const std::uint64_t index = number - 1;
  return pages[index / kPerPage].load(std::memory_order_relaxed) + index % kPerPage;
}

}  // namespace cuda_cpu
