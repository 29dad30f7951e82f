// SPDX-License-Identifier: MIT
// Indices outside an array of known length: __constant__ and __device__ arrays, local arrays,
// arrays in structures. There is no guard page after those. The compiler compares each index
// (-fsanitize=bounds) and calls this instead of its own library. __shared__ arrays have guard
// pages, and are left to them: the fault tells more. Here only their rows are checked, but for row
// 0: s[0][k] may mean a flat array, while s[t][16], in rows of 16, is an element of the next row.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "../memory/memory.h"
#include "../memory/memory_notes.h"
#include "../state/block.h"
#include "../state/current.h"
#include "../state/leaving.h"

#if !defined(CUDA_CPU_ASAN)  // it comes with the compiler's own function

namespace cuda_cpu {

/// What the compiler says about a kind of value; the name in quotes follows.
struct CheckedType {
  std::uint16_t kind;
  std::uint16_t info;  ///< of an integer: bit 0 if it is signed, above it log2 of its bits
  char name[1];
};

/// One place in the program where an array is indexed.
struct CheckedIndex {
  const char* file;
  std::uint32_t line, column;
  const CheckedType *array, *index;
};

namespace {

std::string line_of(const char* file, std::uint32_t number) {
  std::FILE* const source = std::fopen(file, "r");
  if (source == nullptr) return "";
  std::string text;
  for (int c; number > 0 && (c = std::getc(source)) != EOF;) {
    if (c == '\n') {
      --number;
    } else if (number == 1) {
      text += static_cast<char>(c);
    }
  }
  std::fclose(source);
  return text;
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// An array as the source names it: "a" for a[i][j], "s.x" for s.x[i]; "" where that cannot be
/// told.
struct NamedArray {
  std::string name;
  bool is_flat = true;  ///< all indices before the one that is compared are 0, as in a[0][k]
};

/// Of the brackets that end at `close`.
NamedArray array_before(const std::string& text, std::size_t close) {
  NamedArray array;
  std::size_t at = close;
  while (text[at] == ']') {
    const std::size_t last = at;
    int depth = 0;
    for (;; --at) {
      depth += text[at] == ']' ? 1 : text[at] == '[' ? -1 : 0;
      if (depth == 0) break;
      if (at == 0) return {};
    }
    if (last != close && text.substr(at, last - at) != "[0") array.is_flat = false;
    do {
      if (at-- == 0) return {};
    } while (text[at] == ' ');
  }
  const std::size_t end = at + 1;
  while (at > 0 && (is_name(text[at]) || text[at] == '.')) --at;
  if (!is_name(text[at])) ++at;
  if (at < end) array.name = text.substr(at, end - at);
  return array;
}

/// g++ names the column of the `]`, clang that of the name.
NamedArray array_at(const CheckedIndex& place) {
  const std::string text = line_of(place.file, place.line);
  std::size_t at = place.column;
  if (at == 0 || at > text.size()) return {};
  if (text[--at] == ']') return array_before(text, at);
  while (at < text.size() && (is_name(text[at]) || text[at] == '.')) ++at;
  std::vector<std::size_t> closing;
  int depth = 0;
  for (; at < text.size() && (depth > 0 || text[at] == '['); ++at) {
    depth += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
    if (depth == 0) closing.push_back(at);
  }
  const std::string type = place.array->name;
  const auto inner = static_cast<std::size_t>(std::count(type.begin(), type.end(), '['));
  if (inner == 0 || inner > closing.size()) return {};
  return array_before(text, closing[closing.size() - inner]);
}

/// Null: it is not in shared memory.
const SharedArray* shared_array(const std::string& name) {
  const Block* const block = current_block;
  for (unsigned i = 0; i < block->shared_count; ++i) {
    const SharedArray& array = block->shared[i];
    if (array.pages != nullptr && array.serial == block->serial && name == array.name) {
      return &array;
    }
  }
  return nullptr;
}

/// The same place can come again and again, so the source is read once.
NamedArray known_array(const CheckedIndex* place) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<const CheckedIndex*, NamedArray>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [entry, is_new] = known.try_emplace(place);
  if (is_new) entry->second = array_at(*place);
  return entry->second;
}

std::string index_text(const CheckedType& type, std::uintptr_t index) {
  if ((type.info & 1) == 0) return std::to_string(index);
  const unsigned bits = 1u << (type.info >> 1);
  const unsigned spare = bits < 64 ? 64 - bits : 0;
  return std::to_string(static_cast<std::int64_t>(std::uint64_t{index} << spare) >> spare);
}

/// "float [8]": g++ and clang quote it, and clang writes no space.
std::string type_text(const CheckedType& type) {
  std::string text = type.name;
  if (text.size() > 1 && text[0] == '\'') text = text.substr(1, text.size() - 2);
  const std::size_t bracket = text.find('[');
  if (bracket != std::string::npos && bracket > 0 && text[bracket - 1] != ' ') {
    text.insert(bracket, " ");
  }
  return text;
}

void report_index(const CheckedIndex& place, const std::string& name, const SharedArray* shared,
                  std::uintptr_t index) {
  Report it = report_here("out-of-bounds index", {intern(place.file), static_cast<int>(place.line)},
                          cudaErrorIllegalAddress);
  const std::string type = type_text(*place.array);
  const std::string array = name.empty() ? "an array" : "'" + name + "'";
  it.details.push_back("index " + index_text(*place.index, index) + " of " + array + ", " + type);
  const std::size_t bracket = type.find('[');
  const unsigned long length =
      bracket == std::string::npos ? 0 : std::strtoul(type.c_str() + bracket + 1, nullptr, 10);
  if (length > 0) {
    it.details.push_back(length == 1 ? "only 0 is valid"
                                     : format("valid are 0 to %lu", length - 1));
  }
  MemoryRange range;
  if (!name.empty() && find_symbol_named(name.c_str(), &range)) {
    it.notes.push_back(origin_note(range));
  } else if (shared != nullptr) {
    it.notes.push_back({shared->site, "declared here"});
  }
  it.help = "guard the index, or make the array as long as the loop that runs over it";
  stop_grid(it);
}

}  // namespace

/// Called before an access with an index that is outside of the array. Returns in host code.
extern "C" void __ubsan_handle_out_of_bounds(const CheckedIndex* place, std::uintptr_t index) {
  if (!in_kernel()) return;
  const Undisturbed while_a_lock_is_held;
  const NamedArray array = known_array(place);
  const SharedArray* const shared = shared_array(array.name);
  if (shared == nullptr || !array.is_flat) report_index(*place, array.name, shared, index);
}

}  // namespace cuda_cpu

#endif
