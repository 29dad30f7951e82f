// SPDX-License-Identifier: MIT
#include "costs.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace xray {
namespace {

constexpr std::uint64_t Counts::*kCounts[] = {
    &Counts::requests,         &Counts::lanes,         &Counts::bytes, &Counts::sectors,
    &Counts::wavefronts,       &Counts::ideal_sectors, &Counts::words, &Counts::addresses,
    &Counts::ideal_wavefronts, &Counts::collisions,    &Counts::apart, &Counts::switched_off};
static_assert(sizeof(Counts) == sizeof(std::uint64_t) * (sizeof(kCounts) / sizeof(*kCounts)));

}  // namespace

Counts& Counts::operator+=(const Counts& o) {
  for (const auto count : kCounts) this->*count += o.*count;
  return *this;
}

Counts& Counts::operator-=(const Counts& o) {
  for (const auto count : kCounts) this->*count -= o.*count;
  return *this;
}

bool Counts::is_nothing() const {
  return std::all_of(std::begin(kCounts), std::end(kCounts),
                     [this](const auto count) { return this->*count == 0; });
}

std::uint64_t Counts::waste() const {
  std::uint64_t waste = sectors - ideal_sectors + (wavefronts - ideal_wavefronts);
  if (words > requests) waste += words - requests;
  if (collisions > requests) waste += collisions - requests;
  return waste;
}

Counts Counts::scaled(std::uint64_t by, std::uint64_t of) const {
  Counts c;
  for (const auto count : kCounts) c.*count = (this->*count * by + of / 2) / of;
  return c;
}

const char* name_of(Space space) {
  static const char* const kNames[] = {"global", "shared", "const", "host", "local"};
  return kNames[static_cast<std::size_t>(space)];
}

const char* name_of(Operation operation) {
  static const char* const kNames[] = {"load", "store", "atomic"};
  return kNames[static_cast<std::size_t>(operation)];
}

}  // namespace xray
