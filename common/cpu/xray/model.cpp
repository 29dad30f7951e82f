// SPDX-License-Identifier: MIT
#include "model.h"

#include <algorithm>

namespace xray {
namespace {

/// A few things in the order of their keys, at most one for each word of each lane.
template <class T>
class Few {
 public:
  T* begin() { return items_; }
  T* end() { return items_ + count_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + count_; }
  unsigned count() const { return count_; }

  /// The one with this one's key, which is added where there is none. Lanes mostly ask for one
  /// thing after the other, so it is looked for from the end.
  T& at(const T& item) {
    T* const place = place_of(item);
    return place > items_ && place[-1].key() == item.key() ? place[-1] : insert(place, item);
  }
  /// Behind those with the same key.
  T& add(const T& item) { return insert(place_of(item), item); }

 private:
  T* place_of(const T& item) {
    T* place = end();
    while (place > items_ && item.key() < place[-1].key()) --place;
    return place;
  }
  T& insert(T* place, const T& item) {
    std::copy_backward(place, end(), end() + 1);
    ++count_;
    return *place = item;
  }

  T items_[kLanes * 5];
  unsigned count_ = 0;
};

unsigned lanes_in(std::uint32_t mask) { return static_cast<unsigned>(__builtin_popcount(mask)); }

std::uint64_t last_byte(const Request& r, unsigned lane) { return r.address[lane] + r.bytes - 1; }

/// A word that lanes want, and which of its bytes.
struct Word {
  std::uint64_t number = 0;
  std::uint32_t bytes = 0;

  std::uint64_t key() const { return number; }
};

Few<Word> words_of(const Request& r) {
  Few<Word> words;
  for (const unsigned lane : LanesOf(r.mask)) {
    const std::uint64_t end = last_byte(r, lane) + 1;
    for (std::uint64_t byte = r.address[lane]; byte < end;) {
      const std::uint64_t next = std::min(end, (byte / kWordBytes + 1) * kWordBytes);
      const auto bits = (1u << (next - byte)) - 1;
      words.at(Word{byte / kWordBytes, 0}).bytes |= bits << byte % kWordBytes;
      byte = next;
    }
  }
  return words;
}

unsigned distinct_bytes_of(const Request& r) {
  unsigned sum = 0;
  for (const Word& word : words_of(r)) sum += lanes_in(word.bytes);
  return sum;
}

/// Distinct addresses among the active lanes. A constant load fetches each of them by itself,
/// whatever its size: `idc__requests`, to which the kernel's arguments add a few per warp.
Few<Address> addresses_of(const Request& r) {
  Few<Address> addresses;
  for (const unsigned lane : LanesOf(r.mask)) {
    addresses.at(Address{r.address[lane], 0}).lanes |= 1u << lane;
  }
  return addresses;
}

/// Most lanes at one address.
unsigned collisions_of(const Few<Address>& addresses) {
  unsigned most = 0;
  for (const Address& a : addresses) most = std::max(most, lanes_in(a.lanes));
  return most;
}

/// The sector of one byte that a lane wants. The words of local memory, whose addresses are offsets
/// in an array that every lane has, lie side by side: word 0 of lanes 0 to 31, then word 1 of all
/// lanes, and so on. So lanes at the same element share sectors, at different ones only if they lie
/// in the same word and group of eight lanes. An asynchronous copy of 16 bytes does not pass the
/// L1: it takes, for each line of 128 bytes that it reads, the sectors of shared memory that it
/// fills. These are more than it reads where source and target do not lie alike in their sectors.
/// This was found on an H200 with the patterns in tests/xray/h200_copy_patterns.csv; the rule
/// predicts all of them (copies.test.cu).
Sector sector_of(const Request& r, unsigned lane, unsigned byte) {
  const std::uint64_t address = r.address[lane] + byte;
  std::uint64_t line = address / kLineBytes, in_line = address % kLineBytes;
  if (r.space == Space::kLocal) {
    line = address / kWordBytes;
    in_line = lane * kWordBytes + address % kWordBytes;
  }
  if (r.form == Form::kCopied) in_line = r.landing[lane] + byte;
  const auto column = static_cast<unsigned>(in_line / kSectorBytes);
  return Sector{line, column, 1u << lane, 1u << in_line % kSectorBytes, 1};
}

/// Distinct sectors that the lanes touch. An atomic asks for a sector again and again: once for
/// each lane at the most wanted address in it, since a turn serves one lane at each address.
/// `l1tex__t_sectors_pipe_lsu_mem_global_op_ld` (`_st`, `_atom`, `_red`),
/// `l1tex__t_sectors_pipe_lsu_mem_local_op_ld` (`_st`).
Few<Sector> sectors_of(const Request& r) {
  Few<Sector> sectors;
  for (const unsigned lane : LanesOf(r.mask)) {
    for (unsigned byte = 0; byte < r.bytes; ++byte) {
      const Sector wanted = sector_of(r, lane, byte);
      Sector& sector = sectors.at(wanted);
      sector.lanes |= wanted.lanes;
      sector.bytes |= wanted.bytes;
    }
  }
  if (r.operation != Operation::kAtomic || r.space == Space::kLocal) return sectors;
  for (Sector& sector : sectors) {
    Request in_sector = r;
    in_sector.mask = sector.lanes;
    sector.turns = collisions_of(addresses_of(in_sector));
  }
  return sectors;
}

unsigned turns_of(const Few<Sector>& sectors) {
  unsigned sum = 0;
  for (const Sector& sector : sectors) sum += sector.turns;
  return sum;
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

/// In how many parts of the warp, one after the other, the banks serve the lanes.
unsigned parts_of(const Request& r) {
  if (r.bytes <= kWordBytes || r.operation == Operation::kAtomic) return 1;
  const unsigned parts = r.bytes / kWordBytes;
  const bool pairs = r.operation == Operation::kLoad && (pairs_agree(r, 1) || pairs_agree(r, 2));
  return pairs ? parts / 2 : parts;
}

/// The passes that a turn of a bank takes.
unsigned passes_of_turn(const Request& r) {
  return r.form == Form::kCompareAndSwap && r.bytes == kWordBytes ? 2 : 1;
}

/// The words that lanes want of the banks, in their order; for most atomics one for each lane.
Few<Address> deliveries_of(const Request& r, std::uint32_t lanes) {
  const bool is_atomic = r.operation == Operation::kAtomic;
  const bool is_shared = !is_atomic || r.form == Form::kIncrementUnused;
  Few<Address> deliveries;
  for (const unsigned lane : LanesOf(r.mask & lanes)) {
    const std::uint64_t first = r.address[lane] / kWordBytes;
    const std::uint64_t last = is_shared ? last_byte(r, lane) / kWordBytes : first;
    for (std::uint64_t word = first; word <= last; ++word) {
      const Address wanted{word, 1u << lane};
      (is_shared ? deliveries.at(wanted) : deliveries.add(wanted)).lanes |= wanted.lanes;
    }
  }
  return deliveries;
}

/// The passes without conflicts: the distinct words, 32 at a time; lanes that load get at most 256
/// bytes in a pass.
unsigned ideal_wavefronts_of(const Request& r) {
  if (r.operation == Operation::kAtomic) return passes_of_turn(r);
  const unsigned least =
      r.operation == Operation::kLoad ? (lanes_in(r.mask) * r.bytes + 255) / 256 : 1;
  return std::max(least, (words_of(r).count() + kBanks - 1) / kBanks);
}

template <class T>
std::vector<T> all(const Few<T>& few) {
  return {few.begin(), few.end()};
}

}  // namespace

Passes passes_of(const Request& r) {
  Passes passes;
  passes.parts = parts_of(r);
  const unsigned lanes_of_part = kLanes / passes.parts, of_turn = passes_of_turn(r);
  for (unsigned first = 0; first < kLanes; first += lanes_of_part) {
    const unsigned before = passes.count;
    unsigned turns[kBanks] = {};
    for (const Address& word : deliveries_of(r, ~0u >> (kLanes - lanes_of_part) << first)) {
      const unsigned pass = before + of_turn * turns[word.address % kBanks]++;
      passes.count = std::max(passes.count, pass + of_turn);
      // Of a lane's words its first one tells: elements lie at multiples of their size.
      for (const unsigned lane : LanesOf(word.lanes)) {
        if (word.address == r.address[lane] / kWordBytes) passes.of_lane[lane] = pass;
      }
    }
  }
  return passes;
}

Served served(const Request& r) {
  switch (r.space) {
    case Space::kShared:
      return Served{{}, passes_of(r), {}};
    case Space::kConstant:
      return Served{{}, {}, all(addresses_of(r))};
    default:
      return Served{all(sectors_of(r)), {}, {}};
  }
}

Counts counts_of(const Request& r) {
  Counts c;
  c.requests = 1;
  c.lanes = lanes_in(r.mask);
  switch (r.space) {
    case Space::kGlobal:
    case Space::kHost:
      c.bytes = distinct_bytes_of(r);
      c.sectors = turns_of(sectors_of(r));
      c.ideal_sectors = (c.bytes + kSectorBytes - 1) / kSectorBytes;
      break;
    case Space::kLocal: {
      Request same = r;
      for (std::uint64_t& address : same.address) address = 0;
      c.bytes = c.lanes * r.bytes;
      c.sectors = turns_of(sectors_of(r));
      c.ideal_sectors = turns_of(sectors_of(same));
      c.apart = addresses_of(r).count() > 1;
      break;
    }
    case Space::kShared:
      c.bytes = distinct_bytes_of(r);
      c.wavefronts = passes_of(r).count;
      c.ideal_wavefronts = ideal_wavefronts_of(r);
      break;
    case Space::kConstant:
      c.bytes = distinct_bytes_of(r);
      c.words = addresses_of(r).count();
      break;
  }
  if (r.operation == Operation::kAtomic) {
    const Few<Address> addresses = addresses_of(r);
    c.addresses = addresses.count();
    // Lanes that are counted do not wait for each other.
    const bool are_counted = r.space == Space::kShared && r.form == Form::kIncrementUnused;
    c.collisions = are_counted ? 1 : collisions_of(addresses);
  }
  return c;
}

}  // namespace xray
