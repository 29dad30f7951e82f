// SPDX-License-Identifier: MIT
// An SVG in the making: boxes, lines and texts.
#pragma once

#include <string>

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
  void box(double x, double y, double width, double height, const char* fill, double opacity = 1);
  void line(double x1, double y1, double x2, double y2, const char* colour, double opacity = 1);
  void text(double x, double y, const std::string& content, int size = kSmall,
            Anchor anchor = Anchor::kMiddle, const char* colour = kBlack);
  void code(double x, double y, const std::string& content);

  /// About how wide a text becomes; fonts differ.
  static double width_of(const std::string& content, int size);

  /// The whole picture on white. `title` and `description` are for readers who do not see it.
  std::string svg(int width, int height, const std::string& title,
                  const std::string& description) const;

 private:
  std::string body_;
};

}  // namespace xray
