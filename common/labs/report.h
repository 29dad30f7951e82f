// SPDX-License-Identifier: MIT
// The report of a lab's check: which sizes were right, the first element that was wrong, and what
// such a pattern usually means. report.cpp is compiled once and linked into every check.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace lab {

/// The values that a kernel is tried on. Random ones show most errors; negative ones a wrong
/// identity of a maximum; each element's own index shows which elements were taken.
enum class Input { kRandom, kNegative, kIndices };

/// Sizes and values of one trial of a check. Members that do not apply to an exercise stay 0.
struct Trial {
  std::size_t n = 0;                             ///< elements
  std::size_t rows = 0, columns = 0, depth = 0;  ///< of matrices: C has rows x columns
  unsigned block = 0;                            ///< threads per block
  Input input = Input::kRandom;

  std::string sizes() const;   ///< "n = 33", "2 x 3 x 4"
  std::string values() const;  ///< "random values", ...
  std::string whole() const;   ///< "n = 33, block 32, random values"; "" when nothing applies
};

/// The first wrong element of a result.
struct Wrong {
  std::string name;  ///< "sums[1]", or the name of a single value
  std::string expected, actual;
  std::string note;      ///< what is odd about the value; may be empty
  bool counted = false;  ///< a count of what the kernel did, beside right results
};

/// A failed CUDA call in the learner's file or in the check.
struct CudaFailure {
  std::string text;  ///< "file:line: call failed: name: message"
};

/// The usual meaning when exactly the trials fail for which `fails` holds.
struct Pattern {
  std::string meaning;
  std::function<bool(const Trial&)> fails;
};

/// Counts the trials and turns the first wrong one into a report.
class TrialReport {
 public:
  explicit TrialReport(std::vector<Pattern> patterns) : patterns_(std::move(patterns)) {}
  void right(const Trial& trial);
  void wrong(const Trial& trial, const Wrong& wrong);
  void broke(const Trial& trial, const CudaFailure& failure);
  bool failed() const { return failed_; }
  /// Reports what was found, and fails the test case if anything was.
  void conclude() const;

 private:
  std::string meaning() const;
  std::string which_passed() const;

  struct Result {
    Trial trial;
    bool ok;
  };
  std::vector<Pattern> patterns_;
  std::vector<Result> results_;
  Trial first_;
  Wrong wrong_;
  Trial last_;  // the one that broke
  CudaFailure failure_;
  bool failed_ = false, broke_ = false;
  bool counts_alone_ = true;  // nothing was wrong but counts
};

/// Compares a learner's prediction with what was counted. The report says too low or too high,
/// never the number. `reread`: where the answer can be found. A prediction of -1 counts as not made
/// yet.
void predict(const std::string& name, double prediction, double counted, const std::string& reread);

}  // namespace lab
