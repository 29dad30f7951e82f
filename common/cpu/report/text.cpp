// SPDX-License-Identifier: MIT
#include "text.h"

#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <set>

namespace cuda_cpu {

std::string to_text(uint3 v) { return format("(%u,%u,%u)", v.x, v.y, v.z); }

std::string format(const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  if (length > 0) std::vsnprintf(&text[0], text.size() + 1, format, again);
  va_end(again);
  return text;
}

std::string ranges_text(const std::vector<unsigned>& sorted_indices) {
  std::string text;
  for (std::size_t i = 0; i < sorted_indices.size();) {
    std::size_t last = i;
    while (last + 1 < sorted_indices.size() &&
           sorted_indices[last + 1] == sorted_indices[last] + 1) {
      ++last;
    }
    if (!text.empty()) text += ", ";
    text += std::to_string(sorted_indices[i]);
    if (last > i) text += "-" + std::to_string(sorted_indices[last]);
    i = last + 1;
  }
  return text;
}

std::string mask_text(std::uint32_t mask) { return format("0x%08x", mask); }

const char* intern(const std::string& text) {
  static std::mutex mutex;
  static auto& texts = *new std::set<std::string>;  // never destroyed: others keep the pointers
  const std::lock_guard<std::mutex> lock(mutex);
  return texts.insert(text).first->c_str();
}

}  // namespace cuda_cpu
