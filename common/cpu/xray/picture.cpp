// SPDX-License-Identifier: MIT
#include "picture.h"

#include "../report/text.h"

namespace xray {
namespace {

using cuda_cpu::format;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// A number of pixels, written as briefly as possible.
std::string pixels(double value) {
  std::string text = format("%.1f", value);
  if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) text.resize(text.size() - 2);
  return text;
}

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + pixels(value) + "\"";
}

}  // namespace

void Picture::box(double x, double y, double width, double height, const char* fill,
                  double opacity) {
  body_ += "  <rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
           attribute("height", height) + " fill=\"" + fill + "\"";
  if (opacity < 1) body_ += format(" fill-opacity=\"%.2f\"", opacity);
  body_ += "/>\n";
}

void Picture::line(double x1, double y1, double x2, double y2, const char* colour, double opacity) {
  body_ += "  <line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
           attribute("y2", y2) + " stroke=\"" + colour + "\"";
  if (opacity < 1) body_ += format(" stroke-opacity=\"%.2f\"", opacity);
  body_ += "/>\n";
}

void Picture::text(double x, double y, const std::string& content, int size, Anchor anchor,
                   const char* colour) {
  body_ += "  <text" + attribute("x", x) + attribute("y", y);
  if (size != kSmall) body_ += format(" font-size=\"%d\"", size);
  if (anchor == Anchor::kStart) body_ += " text-anchor=\"start\"";
  if (anchor == Anchor::kEnd) body_ += " text-anchor=\"end\"";
  if (colour != kBlack) body_ += std::string(" fill=\"") + colour + "\"";
  body_ += ">" + escaped(content) + "</text>\n";
}

void Picture::code(double x, double y, const std::string& content) {
  body_ += "  <text" + attribute("x", x) + attribute("y", y) +
           format(
               " font-size=\"%d\" text-anchor=\"start\" "
               "font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\">",
               kPlain) +
           escaped(content) + "</text>\n";
}

double Picture::width_of(const std::string& content, int size) {
  return 0.6 * size * static_cast<double>(content.size());
}

std::string Picture::svg(int width, int height, const std::string& title,
                         const std::string& description) const {
  std::string text = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"title desc\">\n",
      width, height, width, height);
  text += " <title id=\"title\">" + escaped(title) + "</title>\n";
  text += " <desc id=\"desc\">" + escaped(description) + "</desc>\n";
  text += format(" <rect width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", width, height, kWhite);
  text += format(
      " <g font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" font-size=\"%d\" "
      "text-anchor=\"middle\">\n",
      kSmall);
  return text + body_ + " </g>\n</svg>\n";
}

}  // namespace xray
