// SPDX-License-Identifier: MIT
#include "drawing.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../report/text.h"
#include "diagnosis.h"
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

/// "1 sector", "2 sectors"
std::string many(std::uint64_t count, const char* noun, const char* plural = "s") {
  return format("%llu %s%s", static_cast<unsigned long long>(count), noun,
                count == 1 ? "" : plural);
}

double left_of(unsigned column) { return kGutter + static_cast<int>(column) * kPitch + 1; }
double middle_of(unsigned column) { return left_of(column) + kBox / 2.0; }

/// A drawing's text, and how much room the drawing took.
struct Summary {
  std::string caption;      // below the picture
  std::string description;  // for readers who do not see it
  int height = 0;
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
    for (unsigned lane = 0; lane < kLanes && is_local; ++lane) {
      std::uint64_t& address = request_.address[lane];
      address = (address / kWordBytes * kLanes + lane) * kWordBytes + address % kWordBytes;
    }
  }

  std::string svg() {
    const char* const bytes = access_.bytes_per_lane == 1 ? "byte" : "bytes";
    const std::string title =
        launch_.kernel + ": " + name_of(access_.operation) +
        format(" of %u %s a lane, %s memory", access_.bytes_per_lane, bytes,
               access_.space == Space::kConstant ? "constant" : name_of(access_.space)) +
        (access_.name.empty() ? "" : ", array " + access_.name) +
        (access_.bytes_per_lane > request_.bytes ? ", the first word of each element" : "");
    heading(title);
    Summary summary;
    switch (access_.space) {
      case Space::kShared:
        summary = banks();
        break;
      case Space::kConstant:
        summary = fetches();
        break;
      default:
        summary = sectors();
    }
    lanes();
    return picture_.svg(kWidth, summary.height, title + "; " + summary.caption,
                        summary.description);
  }

 private:
  bool active(unsigned lane) const { return (request_.mask >> lane & 1) != 0; }

  void heading(const std::string& title) {
    picture_.text(kGutter, 24, title, kLarge, Anchor::kStart);
    const std::string code = code_of(access_.file, access_.line);
    picture_.code(kGutter, 46, code);
    picture_.text(kGutter, 66,
                  access_.file + format(":%d, the request that costs most", access_.line), kSmall,
                  Anchor::kStart, kGrey);
  }

  void lanes() {
    picture_.text(kGutter - 8, kLaneTop + 14, "lane", kSmall, Anchor::kEnd);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      picture_.box(left_of(lane), kLaneTop, kBox, kRow, active(lane) ? kBlue : kPale);
      picture_.text(middle_of(lane), kLaneTop + 14, std::to_string(lane), kSmall, Anchor::kMiddle,
                    active(lane) ? kWhite : kGrey);
    }
  }

  void line_from(unsigned lane, double x, double y, const char* colour = kBlue) {
    picture_.line(middle_of(lane), kLaneTop + kRow, x, y, colour, 0.75);
  }

  /// "32 lanes, 32 sectors; 4 would do"
  std::string caption(std::uint64_t cost, std::uint64_t ideal, const char* unit,
                      const char* plural = "s") const {
    return many(counts_.lanes, "lane") + ", " + many(cost, unit, plural) +
           (cost > ideal ? format("; %llu would do", static_cast<unsigned long long>(ideal))
                         : ", as few as can be");
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
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (!active(lane)) continue;
      for (unsigned i = 0; i < request_.bytes; ++i) {
        const std::uint64_t byte = request_.address[lane] + i;
        wanted[byte / kSectorBytes].insert(static_cast<unsigned>(byte % kSectorBytes));
      }
    }
    // Sectors side by side touch; where some are left out there is a gap.
    const auto count = static_cast<double>(wanted.size());
    int gaps = 0;
    for (auto it = std::next(wanted.begin()); it != wanted.end(); ++it) {
      gaps += it->first != std::prev(it)->first + 1;
    }
    const double gap = wanted.size() > 16 ? 10 : 24;
    const double width = std::min(kAcross / 4.0, (kAcross - gaps * gap) / count);
    double x = kGutter + (kAcross - gaps * gap - width * count) / 2;
    std::map<std::uint64_t, double> left;  // edge of each sector
    for (auto it = wanted.begin(); it != wanted.end(); ++it) {
      if (it != wanted.begin() && it->first != std::prev(it)->first + 1) {
        picture_.text(x + gap / 2, kTargetTop + kRow / 2.0 + 2, "\u2026", kSmall, Anchor::kMiddle,
                      kGrey);
        x += gap;
      }
      left[it->first] = x;
      x += width;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (!active(lane)) continue;
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

    int y = kTargetTop + kRow + 44;
    const std::uint64_t fetched = wanted.size() * kSectorBytes;
    double next = legend(kGutter, y, kGreen, 1, many(counts_.bytes, "byte") + " wanted");
    if (fetched > counts_.bytes) {
      legend(next, y, kVermilion, 0.3,
             many(fetched - counts_.bytes, "byte") + (access_.operation == Operation::kLoad
                                                          ? " fetched for nothing"
                                                          : " of these sectors left alone"));
    }
    Summary summary;
    summary.caption = caption(counts_.sectors, counts_.ideal_sectors, "sector");
    if (access_.operation == Operation::kAtomic) {
      summary.caption = many(counts_.lanes, "lane") + ", " +
                        many(counts_.addresses, "address", "es") +
                        format(", up to %llu of the lanes at one",
                               static_cast<unsigned long long>(counts_.collisions));
    }
    y += 28;
    picture_.text(kGutter, y, summary.caption, kPlain, Anchor::kStart);
    summary.height = y + 16;
    summary.description =
        "The 32 lanes of a warp, and below them the " + many(wanted.size(), "sector") +
        format(" of 32 bytes that they address, from byte %llu to byte %llu of the array. ",
               static_cast<unsigned long long>(wanted.begin()->first * kSectorBytes),
               static_cast<unsigned long long>(wanted.rbegin()->first * kSectorBytes +
                                               kSectorBytes - 1)) +
        many(counts_.bytes, "byte") +
        format(" of these %llu are wanted.", static_cast<unsigned long long>(fetched));
    return summary;
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
      for (unsigned lane = part * kLanes / parts; lane < (part + 1) * kLanes / parts; ++lane) {
        if (!active(lane)) continue;
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
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (!active(lane)) continue;
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
    Summary summary;
    summary.caption = caption(counts_.wavefronts, counts_.ideal_wavefronts, "wavefront");
    y += 28;
    picture_.text(kGutter, y, summary.caption, kPlain, Anchor::kStart);
    summary.height = y + 16;
    summary.description =
        "The 32 lanes of a warp, and below them the 32 banks of shared memory, once for each of " +
        many(passes, "pass", "es") + "; in a pass a bank serves one word. " +
        many(counts_.lanes, "lane") + (again ? " meet in banks." : " do not meet in a bank.");
    return summary;
  }

  // ---- constant memory --------------------------------------------------------------------------

  Summary fetches() {
    std::map<std::uint64_t, unsigned> column;  // of each address, in ascending order
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (active(lane)) column[request_.address[lane]] = 0;
    }
    unsigned next_column = (kLanes - static_cast<unsigned>(column.size())) / 2;
    for (auto& entry : column) entry.second = next_column++;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (active(lane)) line_from(lane, middle_of(column[request_.address[lane]]), kTargetTop);
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
    int y = kTargetTop + kRow + 58;
    const double next = legend(kGutter, y, kGreen, 1, "the first fetch");
    if (column.size() > 1) legend(next, y, kVermilion, 1, "one more fetch for each other address");
    Summary summary;
    summary.caption = caption(counts_.words, 1, "fetch", "es");
    y += 28;
    picture_.text(kGutter, y, summary.caption, kPlain, Anchor::kStart);
    summary.height = y + 16;
    summary.description = "The 32 lanes of a warp, and below them the " +
                          many(column.size(), "address", "es") +
                          " in constant memory that they read, each fetched by itself.";
    return summary;
  }

  const Launch& launch_;
  const Access& access_;
  Request request_;
  Counts counts_;
  Picture picture_;
};

}  // namespace

std::string code_of(const std::string& file, int line) {
  constexpr std::size_t kMost = 120;
  std::ifstream source(file);
  std::string text;
  for (int i = 0; i < line && std::getline(source, text); ++i) {
  }
  if (!source) return "";
  text.erase(0, std::min(text.size(), text.find_first_not_of(" \t")));
  if (text.size() > kMost) text = text.substr(0, kMost) + " ...";
  return text;
}

std::string drawing_of(const Launch& launch, const Access& access) {
  return Drawing(launch, access).svg();
}

}  // namespace xray
