// SPDX-License-Identifier: MIT
#include "drawing.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
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
  Drawing(const Launch& launch, const Access& access) : launch_(launch), access_(access) {
    request_.space = access.space;
    request_.operation = access.operation;
    request_.bytes = access.bytes_per_lane;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (access.worst[lane] < 0) continue;
      request_.mask |= 1u << lane;
      request_.address[lane] = static_cast<std::uint64_t>(access.worst[lane]);
    }
    // Words of a lane's array do not lie side by side: the first of an element is drawn.
    const bool is_local = access.space == Space::kLocal;
    if (is_local) request_.bytes = std::min(request_.bytes, kWordBytes);
    counts_ = counts_of(request_);
    for (const unsigned lane : LanesOf(is_local ? request_.mask : 0)) {
      std::uint64_t& address = request_.address[lane];
      address = (address / kWordBytes * kLanes + lane) * kWordBytes + address % kWordBytes;
    }
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

  Summary sectors() {
    std::map<std::uint64_t, std::set<unsigned>> wanted;  // bytes of each sector
    for (const unsigned lane : LanesOf(request_.mask)) {
      for (unsigned i = 0; i < request_.bytes; ++i) {
        const std::uint64_t byte = request_.address[lane] + i;
        wanted[byte / kSectorBytes].insert(static_cast<unsigned>(byte % kSectorBytes));
      }
    }
    // Sectors side by side touch; where some are left out there is a gap.
    const auto count = static_cast<double>(wanted.size());
    const auto is_apart = [&](auto it) {
      return it != wanted.begin() && it->first != std::prev(it)->first + 1;
    };
    int gaps = 0;
    for (auto it = wanted.begin(); it != wanted.end(); ++it) gaps += is_apart(it);
    const double gap = wanted.size() > 16 ? 10 : 24;
    const double width = std::min(kAcross / 4.0, (kAcross - gaps * gap) / count);
    double x = kGutter + (kAcross - gaps * gap - width * count) / 2;
    std::map<std::uint64_t, double> left;  // edge of each sector
    for (auto it = wanted.begin(); it != wanted.end(); ++it) {
      if (is_apart(it)) {
        picture_.text(x + gap / 2, kTargetTop + kRow / 2.0 + 2, "\u2026", kSmall, Anchor::kMiddle,
                      kGrey);
        x += gap;
      }
      left[it->first] = x;
      x += width;
    }
    for (const unsigned lane : LanesOf(request_.mask)) {
      const std::uint64_t first = request_.address[lane];
      const std::uint64_t in_sector = first % kSectorBytes;
      const double middle =
          static_cast<double>(in_sector) +
          static_cast<double>(std::min<std::uint64_t>(request_.bytes, kSectorBytes - in_sector)) /
              2;
      line_from(lane, left[first / kSectorBytes] + width * middle / kSectorBytes, kTargetTop);
    }
    for (const auto& [sector, bytes] : wanted) draw_sector(left[sector], width, bytes);
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
    const std::uint64_t last = wanted.rbegin()->first * kSectorBytes + kSectorBytes - 1;
    return {costs,
            "The 32 lanes of a warp, and below them the " + many(wanted.size(), "sector") +
                " of 32 bytes that they address, from byte " +
                std::to_string(wanted.begin()->first * kSectorBytes) + " to byte " +
                std::to_string(last) + " of the array. " + many(counts_.bytes, "byte") +
                " of these " + std::to_string(fetched) + " are wanted.",
            y};
  }

  void draw_sector(double x, double width, const std::set<unsigned>& bytes) {
    const double seam = width > 40 ? 2 : 1;  // between sectors that touch
    const double one = (width - seam) / kSectorBytes;
    picture_.box(x, kTargetTop, width - seam, kRow, kWhite);  // over the ends of the lines
    picture_.box(x, kTargetTop, width - seam, kRow, kVermilion, 0.3);
    for (auto it = bytes.begin(); it != bytes.end();) {
      const unsigned begin = *it;
      unsigned end = begin;
      while (it != bytes.end() && *it == end) {
        ++it;
        ++end;
      }
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

  /// A word that a bank delivers in a pass.
  struct Delivery {
    unsigned bank, pass;
    std::uint64_t word;
    bool again;  // the bank has already delivered another word to these lanes
  };

  /// Fills in the deliveries of all passes, and for each lane which of them has its first word.
  void serve(std::vector<Delivery>* deliveries, std::size_t* of_lane) const {
    const bool atomic = request_.operation == Operation::kAtomic;
    const unsigned parts = parts_of(request_);
    unsigned pass = 0;
    for (unsigned part = 0; part < parts; ++part) {
      std::map<std::uint64_t, std::size_t> delivered;  // in this part, by word
      unsigned in_bank[kBanks] = {};
      unsigned passes = 0;
      for (const unsigned lane : LanesOf(request_.mask & lanes_of_part(part, parts))) {
        const std::uint64_t begin = request_.address[lane] / kWordBytes;
        const std::uint64_t end =
            atomic ? begin : (request_.address[lane] + request_.bytes - 1) / kWordBytes;
        for (std::uint64_t word = begin; word <= end; ++word) {
          auto found = delivered.find(word);
          if (found == delivered.end() || atomic) {
            const auto bank = static_cast<unsigned>(word % kBanks);
            const unsigned turn = in_bank[bank]++;
            passes = std::max(passes, turn + 1);
            found = delivered.insert_or_assign(word, deliveries->size()).first;
            deliveries->push_back(Delivery{bank, pass + turn, word, turn > 0});
          }
          if (word == begin) of_lane[lane] = found->second;
        }
      }
      pass += passes;
    }
  }

  Summary banks() {
    std::vector<Delivery> deliveries;
    std::size_t of_lane[kLanes] = {};
    serve(&deliveries, of_lane);
    const auto passes = static_cast<unsigned>(counts_.wavefronts);
    const unsigned parts = parts_of(request_);
    const auto row_of = [](unsigned pass) { return kTargetTop + static_cast<int>(pass) * kRow; };
    bool again = false;
    for (unsigned pass = 0; pass < passes; ++pass) {
      picture_.text(kGutter - 8, row_of(pass) + 14, format("pass %u", pass + 1), kSmall,
                    Anchor::kEnd);
      for (unsigned bank = 0; bank < kBanks; ++bank) {
        picture_.box(left_of(bank), row_of(pass) + 1, kBox, kRow - 2, kPale);
      }
    }
    for (const unsigned lane : LanesOf(request_.mask)) {
      const Delivery& d = deliveries[of_lane[lane]];
      line_from(lane, middle_of(d.bank), row_of(d.pass) + 1, d.again ? kVermilion : kBlue);
    }
    for (const Delivery& d : deliveries) {
      again = again || d.again;
      picture_.box(left_of(d.bank), row_of(d.pass) + 1, kBox, kRow - 2,
                   d.again ? kVermilion : kGreen);
      if (d.word > 9999) continue;  // no room for the number
      picture_.text(middle_of(d.bank), row_of(d.pass) + 14, std::to_string(d.word), kSmall,
                    Anchor::kMiddle, kWhite);
    }
    int y = row_of(passes) + 14;
    picture_.text(kGutter - 8, y, "bank", kSmall, Anchor::kEnd);
    for (unsigned bank = 0; bank < kBanks; ++bank) {
      picture_.text(middle_of(bank), y, std::to_string(bank), kSmall, Anchor::kMiddle, kGrey);
    }
    y += 30;
    const bool atomic = request_.operation == Operation::kAtomic;
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
    std::map<std::uint64_t, unsigned> column;  // of each address, in ascending order
    for (const unsigned lane : LanesOf(request_.mask)) column[request_.address[lane]] = 0;
    unsigned next_column = (kLanes - static_cast<unsigned>(column.size())) / 2;
    for (auto& entry : column) entry.second = next_column++;
    for (const unsigned lane : LanesOf(request_.mask)) {
      line_from(lane, middle_of(column[request_.address[lane]]), kTargetTop);
    }
    picture_.text(kGutter - 8, kTargetTop + 14, "fetch", kSmall, Anchor::kEnd);
    picture_.text(kGutter - 8, kTargetTop + kRow + 14, "element", kSmall, Anchor::kEnd);
    for (const auto& [address, at] : column) {
      picture_.box(left_of(at), kTargetTop, kBox, kRow,
                   at == column.begin()->second ? kGreen : kVermilion);
      // In two rows, so that long numbers have room.
      picture_.text(middle_of(at), kTargetTop + kRow + (at % 2 == 0 ? 14 : 28),
                    std::to_string(address / request_.bytes));
    }
    const int y = kTargetTop + kRow + 58;
    const double next = legend(kGutter, y, kGreen, 1, "the first fetch");
    if (column.size() > 1) legend(next, y, kVermilion, 1, "one more fetch for each other address");
    return {caption(counts_.words, 1, "fetch", "es"),
            "The 32 lanes of a warp, and below them the " + many(column.size(), "address", "es") +
                " in constant memory that they read, each fetched by itself.",
            y};
  }

  const Launch& launch_;
  const Access& access_;
  Request request_;
  Counts counts_;
  Picture picture_;
};

}  // namespace

std::string drawing_of(const Launch& launch, const Access& access) {
  return Drawing(launch, access).svg();
}

}  // namespace xray
