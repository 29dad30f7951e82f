// SPDX-License-Identifier: MIT
#include "diagnosis.h"

#include <cmath>
#include <numeric>

#include "../report/text.h"
#include "model.h"

namespace xray {
namespace {

using cuda_cpu::format;

/// How the addresses of one request lie.
struct Pattern {
  unsigned lanes = 0;   // active
  bool regular = true;  // several, and from each to the next it is `gap` lanes and `step` bytes
  int gap = 1;
  std::int64_t step = 0;
  unsigned runs = 1;  // pieces of memory in which lanes lie side by side or on top of each other
  std::int64_t start = 0;  // offset of the first active lane
};

Pattern pattern_of(const Access& a) {
  const Offsets& offsets = a.worst;
  Pattern p;
  int last = -1;
  for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
    if (offsets[lane] < 0) continue;
    ++p.lanes;
    if (last < 0) {
      p.start = offsets[lane];
    } else {
      const std::int64_t step = offsets[lane] - offsets[last];
      if (p.lanes == 2) {
        p.step = step;
        p.gap = lane - last;
      }
      if (lane - last != p.gap || step != p.step) p.regular = false;
      if (step != 0 && step != std::int64_t{a.bytes_per_lane}) ++p.runs;
    }
    last = lane;
  }
  p.regular = p.regular && p.lanes > 1;
  return p;
}

std::string times(double value) {
  return format("%.*f", value == std::trunc(value) ? 0 : 1, value);
}

const char* who(const Pattern& p) {
  return p.gap == 1 ? "neighbouring lanes" : "the lanes at work";
}

/// "5.4 of 32 lanes at work, 4.1 sectors per request where 1.7 would do: "
std::string costs(const Counts& c, std::uint64_t cost, std::uint64_t ideal, const char* unit) {
  const double lanes = c.per_request(c.lanes);
  return (lanes > 16 ? "" : times(lanes) + " of 32 lanes at work, ") + times(c.per_request(cost)) +
         " " + unit + " per request where " + times(c.per_request(ideal)) + " would do: ";
}

std::string of_sectors(const Access& a) {
  const Pattern p = pattern_of(a);
  const long long step = std::llabs(static_cast<long long>(p.step));
  std::string why;
  if (a.space == Space::kLocal) {
    why =
        "the lanes use different elements of their arrays, and in local memory an element lies "
        "beside the same element of the other lanes: let them use the same element at a time, or "
        "give each a slot in shared memory";
  } else if (p.regular && step == a.bytes_per_lane) {
    why = format("the lanes are neighbours, but begin %lld bytes past a sector's start; ",
                 static_cast<long long>(p.start % kSectorBytes)) +
          "align the first element to 32 bytes";
  } else if (p.regular) {
    why = format("%s are %lld bytes apart; let ", who(p), step) +
          format("neighbouring lanes take neighbouring elements, %u bytes apart", a.bytes_per_lane);
  } else if (p.runs > 1 && p.runs < p.lanes) {
    why = format("the lanes lie in %u pieces of memory; let all 32 lie side by side", p.runs);
  } else {
    why = "the addresses are scattered; let neighbouring lanes take neighbouring elements";
  }
  return costs(a.counts, a.counts.sectors, a.counts.ideal_sectors, "sectors") + why;
}

std::string of_wavefronts(const Access& a) {
  const Pattern p = pattern_of(a);
  const long long words = std::llabs(static_cast<long long>(p.step)) / kWordBytes;
  // How many lanes further is the next one that wants a word of the same bank?
  const long long period = kBanks / std::gcd(words, static_cast<long long>(kBanks));
  std::string why;
  if (p.regular && words > 0 && period < kBanks) {
    why = format("%s are %lld words apart, so ", who(p), words) +
          (period == 1   ? "all want"
           : period == 2 ? "every 2nd wants"
                         : format("every %lldth wants", period)) +
          " the same one of 32 banks; let neighbouring lanes take neighbouring words, or pad each "
          "row by one word";
  } else {
    why =
        "several lanes want different words of one bank; let neighbouring lanes take "
        "neighbouring words";
  }
  return costs(a.counts, a.counts.wavefronts, a.counts.ideal_wavefronts, "wavefronts") + why;
}

}  // namespace

std::string diagnosis_of(const Access& a, bool heavy) {
  const Counts& c = a.counts;
  if (a.operation == Operation::kAtomic && c.collisions > c.requests) {
    return times(c.per_request(c.collisions)) +
           " lanes of a request update the same address, one after the other; add up within the "
           "warp or the block first, then let one lane update";
  }
  if (a.space == Space::kConstant && c.words > c.requests) {
    return times(c.per_request(c.words)) +
           " different words per request, fetched one after the other; the constant cache serves "
           "all lanes at once only if they read the same word: keep this table in global memory";
  }
  if (c.wavefronts > c.ideal_wavefronts) return of_wavefronts(a);
  if (c.sectors > c.ideal_sectors) return of_sectors(a);
  if (heavy && c.per_request(c.lanes) <= 8) {
    return times(c.per_request(c.lanes)) +
           " of 32 lanes at work on average, and a request costs the same with all of them: give "
           "the others a share of the work";
  }
  return "";
}

std::string cost_of(const Access& a) {
  const Counts& c = a.counts;
  const auto pair = [&](std::uint64_t cost, double ideal, const char* unit) {
    return times(c.per_request(cost)) + "/" + times(ideal) + " " + unit;
  };
  if (a.space == Space::kConstant) return pair(c.words, 1, "words");
  if (a.space != Space::kShared) {
    return pair(c.sectors, c.per_request(c.ideal_sectors), "sectors");
  }
  const bool is_atomic = a.operation == Operation::kAtomic;
  return pair(c.wavefronts, is_atomic ? 1 : c.per_request(c.ideal_wavefronts), "wavefr.");
}

std::string many(std::uint64_t count, const char* noun, const char* plural) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : plural);
}

}  // namespace xray
