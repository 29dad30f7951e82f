// SPDX-License-Identifier: MIT
#include "model.h"

#include <algorithm>

namespace xray {
namespace {

/// Numbers, each counted once: at most as many as 32 lanes of 16 bytes have bytes.
class Distinct {
 public:
  void add(std::uint64_t value) { values_[count_++] = value; }
  unsigned count() {
    std::sort(values_, values_ + count_);
    count_ = static_cast<unsigned>(std::unique(values_, values_ + count_) - values_);
    return count_;
  }
  const std::uint64_t* begin() const { return values_; }
  const std::uint64_t* end() const { return values_ + count_; }

 private:
  std::uint64_t values_[kLanes * 16];
  unsigned count_ = 0;
};

bool active(const Request& r, unsigned lane) { return (r.mask >> lane & 1) != 0; }

/// Adds the words of the active lanes from `first` up to, but without, `last`.
void add_words(const Request& r, unsigned first, unsigned last, Distinct* words) {
  for (unsigned lane = first; lane < last; ++lane) {
    if (!active(r, lane)) continue;
    const std::uint64_t begin = r.address[lane] / kWordBytes;
    const std::uint64_t end = (r.address[lane] + r.bytes - 1) / kWordBytes;
    for (std::uint64_t word = begin; word <= end; ++word) words->add(word);
  }
}

/// Most distinct words in one bank, for the lanes from `first` up to, but without, `last`.
unsigned most_in_a_bank(const Request& r, unsigned first, unsigned last) {
  Distinct words;
  add_words(r, first, last, &words);
  words.count();
  unsigned in_bank[kBanks] = {};
  unsigned most = 0;
  for (const std::uint64_t word : words) most = std::max(most, ++in_bank[word % kBanks]);
  return most;
}

/// Whether the lanes of every pair, whose numbers differ by this one bit, want the same address. A
/// pair of which only one lane is active agrees.
bool pairs_agree(const Request& r, unsigned bit) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned other = lane ^ bit;
    if (active(r, lane) && active(r, other) && r.address[lane] != r.address[other]) return false;
  }
  return true;
}

}  // namespace

unsigned sectors_of(const Request& r) {
  if (r.operation == Operation::kAtomic) {
    // A sector serves one lane at each of its addresses in a turn.
    Distinct sectors;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (active(r, lane)) sectors.add(r.address[lane] / kSectorBytes);
    }
    sectors.count();
    unsigned turns = 0;
    for (const std::uint64_t sector : sectors) {
      Request inside = r;
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (active(r, lane) && r.address[lane] / kSectorBytes != sector) {
          inside.mask &= ~(1u << lane);
        }
      }
      turns += collisions_of(inside);
    }
    return turns;
  }
  Distinct sectors;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!active(r, lane)) continue;
    if (r.form == Form::kCopied) {
      sectors.add(r.address[lane] / kLineBytes << 32 | r.landing[lane] / kSectorBytes);
      continue;
    }
    sectors.add(r.address[lane] / kSectorBytes);
    sectors.add((r.address[lane] + r.bytes - 1) / kSectorBytes);
  }
  return sectors.count();
}

unsigned local_sectors_of(const Request& r) {
  constexpr unsigned kLanesOfSector = kSectorBytes / kWordBytes;
  Distinct sectors;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!active(r, lane)) continue;
    const std::uint64_t last = (r.address[lane] + r.bytes - 1) / kWordBytes;
    for (std::uint64_t word = r.address[lane] / kWordBytes; word <= last; ++word) {
      sectors.add(word * kLanes / kLanesOfSector + lane / kLanesOfSector);
    }
  }
  return sectors.count();
}

unsigned distinct_bytes_of(const Request& r) {
  Distinct addresses;
  bool aligned = true;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!active(r, lane)) continue;
    addresses.add(r.address[lane]);
    aligned = aligned && r.address[lane] % r.bytes == 0;
  }
  if (aligned) return addresses.count() * r.bytes;
  Distinct bytes;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!active(r, lane)) continue;
    for (unsigned i = 0; i < r.bytes; ++i) bytes.add(r.address[lane] + i);
  }
  return bytes.count();
}

unsigned parts_of(const Request& r) {
  if (r.bytes <= kWordBytes || r.operation == Operation::kAtomic) return 1;
  const unsigned parts = r.bytes / kWordBytes;
  const bool pairs = r.operation == Operation::kLoad && (pairs_agree(r, 1) || pairs_agree(r, 2));
  return pairs ? parts / 2 : parts;
}

unsigned wavefronts_of(const Request& r) {
  if (r.form == Form::kIncrementUnused) return most_in_a_bank(r, 0, kLanes);
  if (r.operation == Operation::kAtomic) {
    unsigned in_bank[kBanks] = {};
    unsigned most = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (!active(r, lane)) continue;
      most = std::max(most, ++in_bank[r.address[lane] / kWordBytes % kBanks]);
    }
    if (r.form == Form::kCompareAndSwap && r.bytes == kWordBytes) most *= 2;
    return most;
  }
  const unsigned parts = parts_of(r);
  unsigned sum = 0;
  for (unsigned part = 0; part < parts; ++part) {
    sum += most_in_a_bank(r, part * kLanes / parts, (part + 1) * kLanes / parts);
  }
  return sum;
}

unsigned ideal_wavefronts_of(const Request& r) {
  Distinct words;
  if (r.operation == Operation::kAtomic) {
    return r.form == Form::kCompareAndSwap && r.bytes == kWordBytes ? 2 : 1;
  }
  add_words(r, 0, kLanes, &words);
  return (words.count() + kBanks - 1) / kBanks;
}

unsigned addresses_of(const Request& r) {
  Distinct addresses;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (active(r, lane)) addresses.add(r.address[lane]);
  }
  return addresses.count();
}

unsigned collisions_of(const Request& r) {
  unsigned most = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!active(r, lane)) continue;
    unsigned same = 0;
    for (unsigned other = 0; other < kLanes; ++other) {
      same += active(r, other) && r.address[other] == r.address[lane];
    }
    most = std::max(most, same);
  }
  return most;
}

Counts counts_of(const Request& r) {
  Counts c;
  c.requests = 1;
  c.lanes = static_cast<unsigned>(__builtin_popcount(r.mask));
  c.bytes = distinct_bytes_of(r);
  switch (r.space) {
    case Space::kGlobal:
    case Space::kHost:
      c.sectors = sectors_of(r);
      c.ideal_sectors = (c.bytes + kSectorBytes - 1) / kSectorBytes;
      break;
    case Space::kLocal: {
      Request same = r;
      for (std::uint64_t& address : same.address) address = 0;
      c.bytes = c.lanes * r.bytes;
      c.sectors = local_sectors_of(r);
      c.ideal_sectors = local_sectors_of(same);
      c.apart = addresses_of(r) > 1;
      break;
    }
    case Space::kShared:
      c.wavefronts = wavefronts_of(r);
      c.ideal_wavefronts = ideal_wavefronts_of(r);
      break;
    case Space::kConstant:
      c.words = addresses_of(r);
      break;
  }
  if (r.operation == Operation::kAtomic) {
    c.addresses = addresses_of(r);
    // Lanes that are counted do not wait for each other.
    const bool are_counted = r.space == Space::kShared && r.form == Form::kIncrementUnused;
    c.collisions = are_counted ? 1 : collisions_of(r);
  }
  return c;
}

}  // namespace xray
