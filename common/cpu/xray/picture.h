// SPDX-License-Identifier: MIT
// An SVG in the making: boxes, lines and texts.
#pragma once

#include <string>

#include "../report/text.h"

namespace xray {

// Okabe and Ito's colours, which readers with any colour vision can tell apart.
constexpr const char* kGreen = "#009E73";
constexpr const char* kBlue = "#0072B2";
constexpr const char* kVermilion = "#D55E00";
constexpr const char* kBlack = "#000000";
constexpr const char* kGrey = "#666666";
constexpr const char* kPale = "#F0F0F0";
constexpr const char* kWhite = "#FFFFFF";

constexpr int kSmall = 11, kPlain = 13, kLarge = 15;  ///< heights of letters, in pixels

enum class Anchor { kStart, kMiddle, kEnd };

/// Later shapes lie on top of earlier ones. Positions and sizes are in pixels.
class Picture {
 public:
  void box(double x, double y, double width, double height, const char* fill, double opacity = 1) {
    body_ += "  <rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
             attribute("height", height) + " fill=\"" + fill + "\"";
    if (opacity < 1) body_ += cuda_cpu::format(" fill-opacity=\"%.2f\"", opacity);
    body_ += "/>\n";
  }

  void line(double x1, double y1, double x2, double y2, const char* colour, double opacity) {
    body_ += "  <line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
             attribute("y2", y2) + " stroke=\"" + colour + "\"" +
             cuda_cpu::format(" stroke-opacity=\"%.2f\"/>\n", opacity);
  }

  void text(double x, double y, const std::string& content, int size = kSmall,
            Anchor anchor = Anchor::kMiddle, const char* colour = kBlack, const char* font = "") {
    body_ += "  <text" + attribute("x", x) + attribute("y", y);
    if (size != kSmall) body_ += cuda_cpu::format(" font-size=\"%d\"", size);
    if (anchor == Anchor::kStart) body_ += " text-anchor=\"start\"";
    if (anchor == Anchor::kEnd) body_ += " text-anchor=\"end\"";
    if (colour != kBlack) body_ += std::string(" fill=\"") + colour + "\"";
    body_ += std::string(font) + ">" + escaped(content) + "</text>\n";
  }

  void code(double x, double y, const std::string& content) {
    text(x, y, content, kPlain, Anchor::kStart, kBlack,
         " font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\"");
  }

  /// About how wide a text becomes; fonts differ.
  static double width_of(const std::string& content, int size) {
    return 0.6 * size * static_cast<double>(content.size());
  }

  /// The whole picture on white. `title` and `description` are for readers who do not see it.
  std::string svg(int width, int height, const std::string& title,
                  const std::string& description) const {
    std::string text = cuda_cpu::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"title desc\">\n",
        width, height, width, height);
    text += " <title id=\"title\">" + escaped(title) + "</title>\n";
    text += " <desc id=\"desc\">" + escaped(description) + "</desc>\n";
    text += cuda_cpu::format(" <rect width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", width, height,
                             kWhite);
    text += cuda_cpu::format(
        " <g font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" font-size=\"%d\" "
        "text-anchor=\"middle\">\n",
        kSmall);
    return text + body_ + " </g>\n</svg>\n";
  }

 private:
  static std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
      out += c == '&'   ? "&amp;"
             : c == '<' ? "&lt;"
             : c == '>' ? "&gt;"
             : c == '"' ? "&quot;"
                        : std::string(1, c);
    }
    return out;
  }

  /// A number of pixels, written as briefly as possible.
  static std::string attribute(const char* name, double value) {
    std::string pixels = cuda_cpu::format("%.1f", value);
    if (pixels.compare(pixels.size() - 2, 2, ".0") == 0) pixels.resize(pixels.size() - 2);
    return std::string(" ") + name + "=\"" + pixels + "\"";
  }

  std::string body_;
};

}  // namespace xray
