// SPDX-License-Identifier: MIT
#include "symbols.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../../report/diagnostics.h"
#include "../../types/the_only.h"
#include "../state/device_limits.h"
#include "../state/observer.h"

namespace cuda_cpu {
namespace {

struct Symbol {
  void* address;
  std::size_t size;
  bool is_managed;                       // there is one for all devices
  std::string initial;                   // empty: zeros
  std::map<int, std::string> elsewhere;  // the values of devices whose variables are not in place
};

struct Symbols {
  std::mutex mutex;
  std::vector<Symbol> all;
  int device = 0;  // whose variables are in place
  std::size_t constant_bytes = 0;
};

bool is_zero(const void* address, std::size_t size) {
  const auto* const bytes = static_cast<const unsigned char*>(address);
  return std::all_of(bytes, bytes + size, [](unsigned char b) { return b == 0; });
}

/// `bytes`: empty for zeros. Only what has changed is written: a const variable may lie in memory
/// that nobody can write.
void set(const Symbol& symbol, const std::string& bytes) {
  if (bytes.empty()) {
    if (!is_zero(symbol.address, symbol.size)) std::memset(symbol.address, 0, symbol.size);
  } else if (std::memcmp(symbol.address, bytes.data(), symbol.size) != 0) {
    std::memcpy(symbol.address, bytes.data(), symbol.size);
  }
}

}  // namespace

SymbolRegistrar::SymbolRegistrar(const volatile void* address, std::size_t size, Space space,
                                 const char* name, const char* file, int line,
                                 bool may_hold_pointers) {
  MemoryRange range{reinterpret_cast<std::uintptr_t>(address), size, space, name, {file, line}};
  range.may_hold_pointers = may_hold_pointers;
  register_range(range);

  const auto [s, lock] = locked<Symbols>();
  Symbol symbol{const_cast<void*>(address), size, space == Space::kManaged, {}, {}};
  if (!is_zero(symbol.address, size)) {
    symbol.initial.assign(static_cast<const char*>(symbol.address), size);
  }
  s.all.push_back(std::move(symbol));

  // A single variable that is too large fails to compile; their sum is known only here.
  if (space != Space::kConstant) return;
  s.constant_bytes += size;
  if (s.constant_bytes > kConstantMemory) {
    die("%s:%d: with '%s' the __constant__ variables take %zu bytes; constant memory has %zu", file,
        line, name, s.constant_bytes, kConstantMemory);
  }
}

void choose_symbols(int device) {
  const auto [s, lock] = locked<Symbols>();
  if (s.device == device) return;
  for (Symbol& symbol : s.all) {
    if (symbol.is_managed) continue;
    symbol.elsewhere[s.device].assign(static_cast<const char*>(symbol.address), symbol.size);
    const auto kept = symbol.elsewhere.find(device);
    set(symbol, kept == symbol.elsewhere.end() ? symbol.initial : kept->second);
    if (observer != nullptr) observer->range_is_another(symbol.address, symbol.size);
  }
  s.device = device;
}

void restore_symbols(int device) {
  const auto [s, lock] = locked<Symbols>();
  for (Symbol& symbol : s.all) {
    symbol.elsewhere.erase(device);
    if (device == s.device) set(symbol, symbol.initial);
  }
}

}  // namespace cuda_cpu
