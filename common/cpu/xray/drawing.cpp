// SPDX-License-Identifier: MIT
#include "drawing.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "../report/text.h"
#include "diagnosis.h"
#include "listing.h"
#include "model.h"
#include "picture.h"

namespace xray {
namespace {

using cuda_cpu::format;

// Sizes in pixels.
constexpr int kGutter = 64;  // left of the lanes
constexpr int kPitch = 31;   // from lane to lane, from bank to bank
constexpr int kBox = 29;     // four digits wide
constexpr int kRow = 20;
constexpr int kAcross = static_cast<int>(kLanes) * kPitch;
constexpr int kWidth = kGutter + kAcross + 16;
constexpr int kLaneTop = 84;
constexpr int kTargetTop = kLaneTop + kRow + 110;

double left_of(unsigned column) { return kGutter + static_cast<int>(column) * kPitch + 1; }
double middle_of(unsigned column) { return left_of(column) + kBox / 2.0; }

/// A drawing's text, and how far down the drawing goes.
struct Summary {
  std::string caption;      // below the picture
  std::string description;  // for readers who do not see it
  int bottom;
};

/// Draws one request. `sectors`, `banks` and `fetches` draw the part below the lanes and say what
/// it costs.
class Drawing {
 public:
  Drawing(const Launch& launch, const Access& access)
      : launch_(launch), access_(access), request_(request_of(access, access.worst)) {
    // Words of a lane's array do not lie side by side: the first of an element is drawn.
    if (access.space == Space::kLocal) request_.bytes = std::min(request_.bytes, kWordBytes);
    counts_ = counts_of(request_);
    served_ = served(request_);
  }

  std::string svg() {
    const std::string title =
        launch_.kernel + ": " + name_of(access_.operation) + " of " +
        many(access_.bytes_per_lane, "byte") + " a lane, " +
        (access_.space == Space::kConstant ? "constant" : name_of(access_.space)) + " memory" +
        (access_.name.empty() ? "" : ", array " + access_.name) +
        (access_.bytes_per_lane > request_.bytes ? ", the first word of each element" : "");
    heading(title);
    const Summary summary = access_.space == Space::kShared     ? banks()
                            : access_.space == Space::kConstant ? fetches()
                                                                : sectors();
    picture_.text(kGutter, summary.bottom + 28, summary.caption, kPlain, Anchor::kStart);
    lanes();
    return picture_.svg(kWidth, summary.bottom + 44, title + "; " + summary.caption,
                        summary.description);
  }

 private:
  void heading(const std::string& title) {
    picture_.text(kGutter, 24, title, kLarge, Anchor::kStart);
    picture_.code(kGutter, 46, code_of(access_.file, access_.line));
    picture_.text(kGutter, 66,
                  access_.file + format(":%d, the request that costs most", access_.line), kSmall,
                  Anchor::kStart, kGrey);
  }

  void lanes() {
    picture_.text(kGutter - 8, kLaneTop + 14, "lane", kSmall, Anchor::kEnd);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const bool is_active = (request_.mask >> lane & 1) != 0;
      picture_.box(left_of(lane), kLaneTop, kBox, kRow, is_active ? kBlue : kPale);
      picture_.text(middle_of(lane), kLaneTop + 14, std::to_string(lane), kSmall, Anchor::kMiddle,
                    is_active ? kWhite : kGrey);
    }
  }

  void line_from(unsigned lane, double x, double y, const char* colour = kBlue) {
    picture_.line(middle_of(lane), kLaneTop + kRow, x, y, colour, 0.75);
  }

  /// "32 lanes, 32 sectors; 4 would do"
  std::string caption(std::uint64_t cost, std::uint64_t ideal, const char* unit,
                      const char* plural = "s") const {
    return many(counts_.lanes, "lane") + ", " + many(cost, unit, plural) +
           (cost > ideal ? "; " + std::to_string(ideal) + " would do" : ", as few as can be");
  }

  /// A coloured square and what it stands for. Returns where the next one may begin.
  double legend(double x, double y, const char* colour, double opacity, const std::string& text) {
    picture_.box(x, y - 10, 12, 12, colour, opacity);
    picture_.text(x + 18, y, text, kSmall, Anchor::kStart);
    return x + 18 + Picture::width_of(text, kSmall) + 12;
  }

  // ---- global and host memory -------------------------------------------------------------------

  /// Its number, counted from the start of the array.
  static std::uint64_t number_of(const Sector& sector) {
    return sector.line * (kLineBytes / kSectorBytes) + sector.column;
  }

  /// The first sector that a lane wants, with nothing but what that lane wants of it.
  Sector first_sector_of(unsigned lane) const {
    Request alone = request_;
    alone.mask = 1u << lane;
    return served(alone).sectors.front();
  }

  Summary sectors() {
    const std::vector<Sector>& wanted = served_.sectors;
    // Sectors side by side touch; where some are left out there is a gap.
    const auto count = static_cast<double>(wanted.size());
    const auto is_apart = [&](std::size_t i) {
      return i > 0 && number_of(wanted[i]) != number_of(wanted[i - 1]) + 1;
    };
    int gaps = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) gaps += is_apart(i);
    const double gap = wanted.size() > 16 ? 10 : 24;
    const double width = std::min(kAcross / 4.0, (kAcross - gaps * gap) / count);
    double x = kGutter + (kAcross - gaps * gap - width * count) / 2;
    std::map<std::uint64_t, double> left;  // edge of each sector
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (is_apart(i)) {
        picture_.text(x + gap / 2, kTargetTop + kRow / 2.0 + 2, "\u2026", kSmall, Anchor::kMiddle,
                      kGrey);
        x += gap;
      }
      left[number_of(wanted[i])] = x;
      x += width;
    }
    for (const unsigned lane : LanesOf(request_.mask)) {
      const Sector first = first_sector_of(lane);
      const int begin = __builtin_ctz(first.bytes), end = 32 - __builtin_clz(first.bytes);
      const double middle = (begin + end) / 2.0;
      line_from(lane, left[number_of(first)] + width * middle / kSectorBytes, kTargetTop);
    }
    for (const Sector& sector : wanted) draw_sector(left[number_of(sector)], width, sector.bytes);
    label_sectors(left, width);

    const int y = kTargetTop + kRow + 44;
    const std::uint64_t fetched = wanted.size() * kSectorBytes;
    const double next = legend(kGutter, y, kGreen, 1, many(counts_.bytes, "byte") + " wanted");
    if (fetched > counts_.bytes) {
      legend(next, y, kVermilion, 0.3,
             many(fetched - counts_.bytes, "byte") + (access_.operation == Operation::kLoad
                                                          ? " fetched for nothing"
                                                          : " of these sectors left alone"));
    }
    const std::string costs = access_.operation != Operation::kAtomic
                                  ? caption(counts_.sectors, counts_.ideal_sectors, "sector")
                                  : many(counts_.lanes, "lane") + ", " +
                                        many(counts_.addresses, "address", "es") + ", up to " +
                                        std::to_string(counts_.collisions) + " of the lanes at one";
    const std::uint64_t last = number_of(wanted.back()) * kSectorBytes + kSectorBytes - 1;
    return {costs,
            "The 32 lanes of a warp, and below them the " + many(wanted.size(), "sector") +
                " of 32 bytes that they address, from byte " +
                std::to_string(number_of(wanted.front()) * kSectorBytes) + " to byte " +
                std::to_string(last) + " of the array. " + many(counts_.bytes, "byte") +
                " of these " + std::to_string(fetched) + " are wanted.",
            y};
  }

  void draw_sector(double x, double width, std::uint32_t bytes) {
    const double seam = width > 40 ? 2 : 1;  // between sectors that touch
    const double one = (width - seam) / kSectorBytes;
    picture_.box(x, kTargetTop, width - seam, kRow, kWhite);  // over the ends of the lines
    picture_.box(x, kTargetTop, width - seam, kRow, kVermilion, 0.3);
    const auto is_wanted = [&](unsigned byte) {
      return byte < kSectorBytes && (bytes >> byte & 1) != 0;
    };
    for (unsigned begin = 0, end = 0; begin < kSectorBytes; begin = end + 1) {
      for (end = begin; is_wanted(end);) ++end;
      if (end == begin) continue;
      picture_.box(x + begin * one, kTargetTop, (end - begin) * one, kRow, kGreen);
    }
  }

  /// Writes below the sectors where they begin in the array: as many as there is room for, and
  /// always the last one.
  void label_sectors(const std::map<std::uint64_t, double>& left, double width) {
    const double y = kTargetTop + kRow + 14;
    picture_.text(kGutter - 8, kTargetTop + 14, "sector", kSmall, Anchor::kEnd);
    picture_.text(kGutter - 8, y, "byte", kSmall, Anchor::kEnd);
    const std::string last_text = std::to_string(left.rbegin()->first * kSectorBytes);
    const double room = Picture::width_of(last_text, kSmall) + 12;
    const double last = left.rbegin()->second;
    double free_from = 0;
    for (const auto& [sector, x] : left) {
      if (x < free_from || (x < last && x + room > last)) continue;
      picture_.text(x + width / 2, y, std::to_string(sector * kSectorBytes));
      free_from = x + room;
    }
  }

  // ---- shared memory ----------------------------------------------------------------------------

  /// The pass in which the banks begin to serve the part of the warp in which this lane is.
  unsigned first_pass_of_part(unsigned lane) const {
    const unsigned lanes = kLanes / served_.passes.parts, part = lane / lanes;
    unsigned first = served_.passes.count;
    for (const unsigned other : LanesOf(request_.mask)) {
      if (other / lanes == part) first = std::min(first, served_.passes.of_lane[other]);
    }
    return first;
  }

  Summary banks() {
    const unsigned passes = served_.passes.count, parts = served_.passes.parts;
    const bool atomic = request_.operation == Operation::kAtomic;
    const auto row_of = [](unsigned pass) { return kTargetTop + static_cast<int>(pass) * kRow; };
    bool again = false;
    std::set<std::pair<unsigned, unsigned>> drawn;  // pass and bank
    for (unsigned pass = 0; pass < passes; ++pass) {
      picture_.text(kGutter - 8, row_of(pass) + 14, format("pass %u", pass + 1), kSmall,
                    Anchor::kEnd);
      for (unsigned bank = 0; bank < kBanks; ++bank) {
        picture_.box(left_of(bank), row_of(pass) + 1, kBox, kRow - 2, kPale);
      }
    }
    for (const unsigned lane : LanesOf(request_.mask)) {
      const unsigned pass = served_.passes.of_lane[lane];
      // Another word of the same bank, or an atomic's next lane, takes a pass of its own.
      const bool is_late = pass > first_pass_of_part(lane);
      const std::uint64_t begin = request_.address[lane] / kWordBytes;
      const std::uint64_t words = atomic ? 1 : (request_.bytes + kWordBytes - 1) / kWordBytes;
      again = again || is_late;
      line_from(lane, middle_of(begin % kBanks), row_of(pass) + 1, is_late ? kVermilion : kBlue);
      for (std::uint64_t word = begin; word < begin + words; ++word) {
        const auto bank = static_cast<unsigned>(word % kBanks);
        if (!drawn.emplace(pass, bank).second) continue;
        picture_.box(left_of(bank), row_of(pass) + 1, kBox, kRow - 2,
                     is_late ? kVermilion : kGreen);
        if (word > 9999) continue;  // no room for the number
        picture_.text(middle_of(bank), row_of(pass) + 14, std::to_string(word), kSmall,
                      Anchor::kMiddle, kWhite);
      }
    }
    int y = row_of(passes) + 14;
    picture_.text(kGutter - 8, y, "bank", kSmall, Anchor::kEnd);
    for (unsigned bank = 0; bank < kBanks; ++bank) {
      picture_.text(middle_of(bank), y, std::to_string(bank), kSmall, Anchor::kMiddle, kGrey);
    }
    y += 30;
    double next = legend(kGutter, y, kGreen, 1, "word that its bank serves at once");
    if (again) {
      next = legend(next, y, kVermilion, 1,
                    atomic ? "another lane's turn at the same bank"
                           : "another word of the same bank, in a pass of its own");
    }
    if (parts > 1) {
      picture_.text(next, y,
                    format("of %u bytes a lane, %u lanes are served at a time", request_.bytes,
                           kLanes / parts),
                    kSmall, Anchor::kStart);
    }
    return {caption(counts_.wavefronts, counts_.ideal_wavefronts, "wavefront"),
            "The 32 lanes of a warp, and below them the 32 banks of shared memory, once for each "
            "of " +
                many(passes, "pass", "es") + "; in a pass a bank serves one word. " +
                many(counts_.lanes, "lane") +
                (again ? " meet in banks." : " do not meet in a bank."),
            y};
  }

  // ---- constant memory --------------------------------------------------------------------------

  Summary fetches() {
    const std::vector<Address>& wanted = served_.fetches;
    unsigned column = (kLanes - static_cast<unsigned>(wanted.size())) / 2;
    picture_.text(kGutter - 8, kTargetTop + 14, "fetch", kSmall, Anchor::kEnd);
    picture_.text(kGutter - 8, kTargetTop + kRow + 14, "element", kSmall, Anchor::kEnd);
    for (const Address& a : wanted) {
      for (const unsigned lane : LanesOf(a.lanes)) line_from(lane, middle_of(column), kTargetTop);
      picture_.box(left_of(column), kTargetTop, kBox, kRow,
                   &a == &wanted.front() ? kGreen : kVermilion);
      // In two rows, so that long numbers have room.
      picture_.text(middle_of(column), kTargetTop + kRow + (column % 2 == 0 ? 14 : 28),
                    std::to_string(a.address / request_.bytes));
      ++column;
    }
    const int y = kTargetTop + kRow + 58;
    const double next = legend(kGutter, y, kGreen, 1, "the first fetch");
    if (wanted.size() > 1) legend(next, y, kVermilion, 1, "one more fetch for each other address");
    return {caption(counts_.words, 1, "fetch", "es"),
            "The 32 lanes of a warp, and below them the " + many(wanted.size(), "address", "es") +
                " in constant memory that they read, each fetched by itself.",
            y};
  }

  const Launch& launch_;
  const Access& access_;
  Request request_;
  Counts counts_;
  Served served_;
  Picture picture_;
};

}  // namespace

std::string drawing_of(const Launch& launch, const Access& access) {
  return Drawing(launch, access).svg();
}

}  // namespace xray
