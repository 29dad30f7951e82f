// SPDX-License-Identifier: MIT
// What do the texture unit's weights do to an image?
//
// The middle of a square between four pixels, enlarged until the steps of the weights show. --csv
// writes the picture: column, row, what the unit returns, and the exact value.

#include "../../../common/common.cuh"
#include "mixing.cuh"

int main(int argc, char** argv) {
  const Options opt(argc, argv, "13_mixed_square", "what do the unit's weights do?", {});
  opt.expect_no_versions();
  open_device(opt);
  const Picture square;
  const double most = square.largest_error();
  std::ostringstream csv;
  csv.precision(9);  // digits, which tell every float from its neighbours
  csv << "column,row,unit,exact\n";
  // A line of it in steps of an eighth: + where the unit returns too much, - where too little.
  for (unsigned i = 0; i < kSide * kSide; ++i) {
    const unsigned column = i % kSide, row = i / kSide;
    const double unit = square.unit[i], exact = square.exact[i], error = unit - exact;
    csv << column << ',' << row << ',' << unit << ',' << exact << '\n';
    const char sign = 2 * std::abs(error) < most ? '.' : error > 0 ? '+' : '-';
    std::printf("%c%s", sign, column == kSide - 1 ? "\n" : "");
  }
  std::printf("\n+ and -: the unit is off by more than half of the most, %.5f\n", most);
  return write_csv(opt, csv.str()) ? kExitOk : kExitWrong;
}
