// SPDX-License-Identifier: MIT
// X-ray's drawings show what they must, for requests of every kind.

#include "xray/drawing.h"
#include "xray_testing.cuh"

using xray::Operation;
using xray::Space;

namespace {

// A request of which only the shape matters; its line is the first of this file.
template <class Where>
std::string drawing(Space space, Operation operation, unsigned bytes, unsigned mask, Where where,
                    const std::string& kernel = "kernel<int, 3>") {
  xray::Launch launch;
  launch.kernel = kernel;
  xray::Access access;
  access.file = __FILE__;
  access.line = 1;
  access.space = space;
  access.operation = operation;
  access.bytes_per_lane = bytes;
  access.name = space == Space::kGlobal ? "" : "array";
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    access.worst[lane] = (mask >> lane & 1) != 0 ? static_cast<std::int64_t>(where(lane)) : -1;
    access.first[lane] = -1;
  }
  return xray::drawing_of(launch, access);
}

std::size_t occurrences(const std::string& text, const std::string& of) {
  std::size_t count = 0;
  for (std::size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++count;
  return count;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// All values of one attribute.
std::vector<std::string> values(const std::string& svg, const std::string& attribute) {
  const std::string begin = " " + attribute + "=\"";
  std::vector<std::string> found;
  for (std::size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at)) {
    at += begin.size();
    found.push_back(svg.substr(at, svg.find('"', at) - at));
  }
  return found;
}

// Every drawing is one SVG with its tags closed, all of it inside, legible, in the palette's
// colours.
void check_drawing(const std::string& svg) {
  CHECK(svg.compare(0, 5, "<svg ") == 0);
  CHECK(has(svg, "</svg>\n"));
  for (const char* const tag : {"svg", "g", "text", "title", "desc"}) {
    CHECK(occurrences(svg, std::string("<") + tag + " ") ==
          occurrences(svg, std::string("</") + tag + ">"));
  }
  CHECK(has(svg, "<title id=\"title\">"));
  CHECK(has(svg, "<desc id=\"desc\">"));
  const double width = std::stod(values(svg, "width")[0]);
  const double height = std::stod(values(svg, "height")[0]);
  for (const char* const name : {"x", "x1", "x2"}) {
    for (const std::string& v : values(svg, name))
      CHECK((std::stod(v) >= 0 && std::stod(v) < width));
  }
  for (const char* const name : {"y", "y1", "y2"}) {
    for (const std::string& v : values(svg, name)) {
      CHECK((std::stod(v) >= 0 && std::stod(v) < height));
    }
  }
  for (const std::string& size : values(svg, "font-size")) CHECK(std::stod(size) >= 11);
  const std::set<std::string> palette{"#000000", "#0072B2", "#009E73", "#D55E00",
                                      "#666666", "#F0F0F0", "#FFFFFF"};
  for (const char* const name : {"fill", "stroke"}) {
    for (const std::string& colour : values(svg, name)) CHECK(palette.count(colour) == 1);
  }
}

// Where the words that banks serve are drawn.
std::vector<std::string> words_in(const std::string& svg) {
  const std::string begin = "<rect ";
  std::vector<std::string> found;
  for (std::size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at)) {
    at += begin.size();
    const std::string rest = svg.substr(at, svg.find("/>", at) - at);
    for (const char* const colour : {"009E73", "D55E00"}) {
      const std::size_t end =
          rest.find(std::string(" width=\"29\" height=\"18\" fill=\"#") + colour);
      if (end != std::string::npos) found.push_back(rest.substr(0, end));
    }
  }
  return found;
}

std::string caption_of(const std::string& svg) {
  const std::size_t begin = svg.find("; ", svg.find("<title")) + 2;
  return svg.substr(begin, svg.find("</title>") - begin);
}

}  // namespace

TEST_CASE("a drawing has a line from every active lane, and says what the request costs") {
  const auto strided = [](unsigned lane) { return lane * 128; };
  const std::string all = drawing(Space::kGlobal, Operation::kLoad, 4, kAllLanes, strided);
  check_drawing(all);
  CHECK(occurrences(all, "<line ") == 32);
  CHECK(caption_of(all) == "32 lanes, 32 sectors; 4 would do");
  CHECK(has(all, "896 bytes fetched for nothing"));

  const std::string few = drawing(Space::kGlobal, Operation::kLoad, 4, 0x0000f001u, strided);
  check_drawing(few);
  CHECK(occurrences(few, "<line ") == 5);
  CHECK(caption_of(few) == "5 lanes, 5 sectors; 1 would do");

  const std::string side_by_side = drawing(Space::kHost, Operation::kStore, 8, kAllLanes,
                                           [](unsigned lane) { return lane * 8; });
  check_drawing(side_by_side);
  CHECK(caption_of(side_by_side) == "32 lanes, 8 sectors, as few as can be");
  CHECK_FALSE(has(side_by_side, "\u2026"));  // no gap
}

TEST_CASE("drawings of requests of every size, stride and mask are whole") {
  for (const Space space : {Space::kGlobal, Space::kShared, Space::kConstant}) {
    for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
      for (const unsigned stride : {0u, 1u, 2u, 3u, 32u, 33u, 700u}) {
        for (const unsigned mask : {kAllLanes, 1u, 0x80000000u, 0x0f0f0f0fu}) {
          INFO(bytes << " bytes, stride " << stride << ", mask " << std::hex << mask);
          const auto where = [&](unsigned lane) { return lane * stride * bytes; };
          const std::string svg = drawing(space, Operation::kLoad, bytes, mask, where);
          check_drawing(svg);
          CHECK(occurrences(svg, "<line ") == touched(mask, bytes, where).at.size());
          CHECK(svg == drawing(space, Operation::kLoad, bytes, mask, where));
        }
      }
    }
  }
}

TEST_CASE("a drawing of shared memory has a row for each wavefront") {
  for (const unsigned bytes : {4u, 8u, 16u}) {
    for (const unsigned stride : {0u, 1u, 2u, 5u, 32u, 33u}) {
      for (const Operation operation : {Operation::kLoad, Operation::kStore}) {
        INFO(bytes << " bytes, stride " << stride);
        const std::string svg = drawing(Space::kShared, operation, bytes, kAllLanes,
                                        [&](unsigned lane) { return lane * stride * bytes; });
        const std::string caption = caption_of(svg);
        const std::size_t rows = occurrences(svg, ">pass ");
        CHECK(has(caption, " " + std::to_string(rows) + " wavefront"));
        // Each word has its own position, and every row has a word.
        std::set<std::string> places, used;
        const std::vector<std::string> words = words_in(svg);
        for (const std::string& place : words) {
          places.insert(place);
          used.insert(place.substr(place.find('y')));
        }
        CHECK(places.size() == words.size());
        CHECK(used.size() == rows);
      }
    }
  }
  const std::string column =
      drawing(Space::kShared, Operation::kStore, 4, kAllLanes, [](unsigned l) { return 128 * l; });
  CHECK(caption_of(column) == "32 lanes, 32 wavefronts; 1 would do");
  const std::string counter =
      drawing(Space::kShared, Operation::kAtomic, 4, kAllLanes, [](unsigned) { return 0; });
  check_drawing(counter);
  CHECK(occurrences(counter, ">pass ") == 32);
}

TEST_CASE("constants and atomics say how many addresses there are") {
  const std::string constant = drawing(Space::kConstant, Operation::kLoad, 4, kAllLanes,
                                       [](unsigned l) { return l % 3 * 4; });
  CHECK(caption_of(constant) == "32 lanes, 3 fetches; 1 would do");
  const std::string same =
      drawing(Space::kConstant, Operation::kLoad, 4, kAllLanes, [](unsigned) { return 4000; });
  CHECK(caption_of(same) == "32 lanes, 1 fetch, as few as can be");
  const std::string atomic = drawing(Space::kGlobal, Operation::kAtomic, 4, kAllLanes,
                                     [](unsigned l) { return l % 3 * 4; });
  check_drawing(atomic);
  CHECK(caption_of(atomic) == "32 lanes, 3 addresses, up to 11 of the lanes at one");
}

TEST_CASE("a drawing names the kernel and shows its line, with nothing that breaks the SVG") {
  const std::string svg = drawing(
      Space::kGlobal, Operation::kLoad, 4, 1u, [](unsigned) { return 0; }, "less<a & b, \"c\">");
  check_drawing(svg);
  CHECK(has(svg, "less&lt;a &amp; b, &quot;c&quot;&gt;"));
  CHECK_FALSE(has(svg, "<a"));
  CHECK(has(svg, ">// SPDX-License-Identifier: MIT</text>"));
  CHECK(has(svg, std::string(__FILE__) + ":1"));
}
