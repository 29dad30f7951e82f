// SPDX-License-Identifier: MIT
#include "model.h"

#include <algorithm>
#include <map>

namespace xray {
namespace {

/// Numbers, each counted once: at most as many as 32 lanes of 16 bytes have bytes.
class Distinct {
 public:
  void add(std::uint64_t value) { values_[count_++] = value; }
  void add(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t value = first; value <= last; ++value) add(value);
  }
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

std::uint64_t last_byte(const Request& r, unsigned lane) { return r.address[lane] + r.bytes - 1; }

void add_words(const Request& r, std::uint32_t lanes, Distinct* words) {
  for (const unsigned lane : LanesOf(r.mask & lanes)) {
    words->add(r.address[lane] / kWordBytes, last_byte(r, lane) / kWordBytes);
  }
}

/// Most distinct words in one bank, for these lanes.
unsigned most_in_a_bank(const Request& r, std::uint32_t lanes) {
  Distinct words;
  add_words(r, lanes, &words);
  words.count();
  unsigned in_bank[kBanks] = {};
  unsigned most = 0;
  for (const std::uint64_t word : words) most = std::max(most, ++in_bank[word % kBanks]);
  return most;
}

/// Whether the lanes of every pair, whose numbers differ by this one bit, want the same address. A
/// pair of which only one lane is active agrees.
bool pairs_agree(const Request& r, unsigned bit) {
  for (const unsigned lane : LanesOf(r.mask)) {
    const unsigned other = lane ^ bit;
    if ((r.mask >> other & 1) != 0 && r.address[lane] != r.address[other]) return false;
  }
  return true;
}

unsigned lanes_at(const Request& r, std::uint64_t address) {
  unsigned count = 0;
  for (const unsigned lane : LanesOf(r.mask)) count += r.address[lane] == address;
  return count;
}

/// Most lanes at one address.
unsigned collisions_of(const Request& r) {
  unsigned most = 0;
  for (const unsigned lane : LanesOf(r.mask)) most = std::max(most, lanes_at(r, r.address[lane]));
  return most;
}

/// Distinct sectors that the lanes touch. An atomic asks for a sector again and again: once for
/// each lane at the most wanted address in it, since a turn serves one lane at each address. An
/// asynchronous copy of 16 bytes does not pass the L1: it takes, for each line of 128 bytes that it
/// reads, the sectors of shared memory that it fills. These are more than it reads where source and
/// target do not lie alike in their sectors. This was found on an H200 with the patterns in
/// tests/xray/h200_copy_patterns.csv; the rule predicts all of them (copies.test.cu).
/// `l1tex__t_sectors_pipe_lsu_mem_global_op_ld` (`_st`, `_atom`, `_red`).
unsigned sectors_of(const Request& r) {
  if (r.operation == Operation::kAtomic) {
    std::map<std::uint64_t, unsigned> turns;  // of each sector
    for (const unsigned lane : LanesOf(r.mask)) {
      unsigned& most = turns[r.address[lane] / kSectorBytes];
      most = std::max(most, lanes_at(r, r.address[lane]));
    }
    unsigned sum = 0;
    for (const auto& entry : turns) sum += entry.second;
    return sum;
  }
  Distinct sectors;
  for (const unsigned lane : LanesOf(r.mask)) {
    if (r.form == Form::kCopied) {
      sectors.add(r.address[lane] / kLineBytes << 32 | r.landing[lane] / kSectorBytes);
    } else {
      sectors.add(r.address[lane] / kSectorBytes, last_byte(r, lane) / kSectorBytes);
    }
  }
  return sectors.count();
}

/// The same for local memory, whose addresses are offsets in an array that every lane has. The
/// words of the lanes lie side by side: word 0 of lanes 0 to 31, then word 1 of all lanes, and so
/// on. So lanes at the same element share sectors, at different ones only if they lie in the same
/// word and group of eight lanes. `l1tex__t_sectors_pipe_lsu_mem_local_op_ld` (`_st`).
unsigned local_sectors_of(const Request& r) {
  constexpr unsigned kLanesOfSector = kSectorBytes / kWordBytes;
  Distinct sectors;
  for (const unsigned lane : LanesOf(r.mask)) {
    const std::uint64_t last = last_byte(r, lane) / kWordBytes;
    for (std::uint64_t word = r.address[lane] / kWordBytes; word <= last; ++word) {
      sectors.add(word * kLanes / kLanesOfSector + lane / kLanesOfSector);
    }
  }
  return sectors.count();
}

/// Distinct addresses among the active lanes. A constant load fetches each of them by itself,
/// whatever its size: `idc__requests`, to which the kernel's arguments add a few per warp.
unsigned addresses_of(const Request& r) {
  Distinct addresses;
  for (const unsigned lane : LanesOf(r.mask)) addresses.add(r.address[lane]);
  return addresses.count();
}

unsigned distinct_bytes_of(const Request& r) {
  bool aligned = true;
  for (const unsigned lane : LanesOf(r.mask)) aligned = aligned && r.address[lane] % r.bytes == 0;
  if (aligned) return addresses_of(r) * r.bytes;
  Distinct bytes;
  for (const unsigned lane : LanesOf(r.mask)) bytes.add(r.address[lane], last_byte(r, lane));
  return bytes.count();
}

/// The passes without conflicts: the distinct words, 32 at a time; lanes that load get at most 256
/// bytes in a pass.
unsigned ideal_wavefronts_of(const Request& r) {
  if (r.operation == Operation::kAtomic) {
    return r.form == Form::kCompareAndSwap && r.bytes == kWordBytes ? 2 : 1;
  }
  Distinct words;
  add_words(r, ~0u, &words);
  const auto lanes = static_cast<unsigned>(__builtin_popcount(r.mask));
  const unsigned least = r.operation == Operation::kLoad ? (lanes * r.bytes + 255) / 256 : 1;
  return std::max(least, (words.count() + kBanks - 1) / kBanks);
}

}  // namespace

unsigned parts_of(const Request& r) {
  if (r.bytes <= kWordBytes || r.operation == Operation::kAtomic) return 1;
  const unsigned parts = r.bytes / kWordBytes;
  const bool pairs = r.operation == Operation::kLoad && (pairs_agree(r, 1) || pairs_agree(r, 2));
  return pairs ? parts / 2 : parts;
}

unsigned wavefronts_of(const Request& r) {
  if (r.form == Form::kIncrementUnused) return most_in_a_bank(r, ~0u);
  if (r.operation == Operation::kAtomic) {
    unsigned in_bank[kBanks] = {};
    unsigned most = 0;
    for (const unsigned lane : LanesOf(r.mask)) {
      most = std::max(most, ++in_bank[r.address[lane] / kWordBytes % kBanks]);
    }
    return most * ideal_wavefronts_of(r);
  }
  const unsigned parts = parts_of(r);
  unsigned sum = 0;
  for (unsigned part = 0; part < parts; ++part)
    sum += most_in_a_bank(r, lanes_of_part(part, parts));
  return sum;
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
