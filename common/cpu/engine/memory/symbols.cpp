// SPDX-License-Identifier: MIT
#include "symbols.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../../report/diagnostics.h"
#include "../state/device_limits.h"

namespace cuda_cpu {
namespace {

struct InitialValue {
  void* address;
  std::size_t size;
  std::string bytes;  // empty: zeros
};

struct Symbols {
  std::mutex mutex;
  std::vector<InitialValue> initial;
  std::size_t constant_bytes = 0;
};

// Never destroyed, like all memory of the backend.
Symbols& symbols() {
  static Symbols* const s = new Symbols;
  return *s;
}

bool is_zero(const void* address, std::size_t size) {
  const auto* const bytes = static_cast<const unsigned char*>(address);
  return std::all_of(bytes, bytes + size, [](unsigned char b) { return b == 0; });
}

}  // namespace

SymbolRegistrar::SymbolRegistrar(const volatile void* address, std::size_t size, Space space,
                                 const char* name, const char* file, int line,
                                 bool may_hold_pointers) {
  MemoryRange range{reinterpret_cast<std::uintptr_t>(address), size, space, name, {file, line}};
  range.may_hold_pointers = may_hold_pointers;
  register_range(range);

  Symbols& s = symbols();
  const std::lock_guard<std::mutex> lock(s.mutex);
  InitialValue value{const_cast<void*>(address), size, {}};
  if (!is_zero(value.address, size))
    value.bytes.assign(static_cast<const char*>(value.address), size);
  s.initial.push_back(std::move(value));

  // A single variable that is too large fails to compile; their sum is known only here.
  if (space != Space::kConstant) return;
  s.constant_bytes += size;
  if (s.constant_bytes > kConstantMemory) {
    die("%s:%d: with '%s' the __constant__ variables take %zu bytes; constant memory has %zu", file,
        line, name, s.constant_bytes, kConstantMemory);
  }
}

void restore_symbols() {
  Symbols& s = symbols();
  const std::lock_guard<std::mutex> lock(s.mutex);
  // Only what has changed is written: a const variable may lie in memory that nobody can write.
  for (const InitialValue& value : s.initial) {
    if (value.bytes.empty()) {
      if (!is_zero(value.address, value.size)) std::memset(value.address, 0, value.size);
    } else if (std::memcmp(value.address, value.bytes.data(), value.size) != 0) {
      std::memcpy(value.address, value.bytes.data(), value.size);
    }
  }
}

}  // namespace cuda_cpu
