// SPDX-License-Identifier: MIT
// What a learner reads of a check: which trials were right, the first element that was wrong, and
// what the pattern of trials that failed usually means.
#include "report.h"

#include <algorithm>

#include "../../tests/catch.hpp"
#include "channel.h"

namespace lab {
namespace {

bool several_blocks(const Trial& r) { return r.block > 0 && r.n > r.block; }
// Some threads have no element; when n is 0, none has.
bool has_tail(const Trial& r) { return r.block > 0 && (r.n == 0 || r.n % r.block != 0); }
bool is_negative(const Trial& r) { return r.input == Input::kNegative; }
bool power_of_two(unsigned x) { return (x & (x - 1)) == 0; }

// From the most special to the most general: the report has the first one whose trials are exactly
// those that fail.
const std::vector<Pattern>& known_patterns() {
  static const std::vector<Pattern> patterns = {
      {"only n = 0 fails: what is left for a block that has no element?",
       [](const Trial& r) { return r.n == 0 && r.block > 0; }},
      {"only n above 65536 fails: is an index, or a count, kept in fewer bits than it needs?",
       [](const Trial& r) { return r.n > 65536; }},
      {"only sizes that are no multiple of the block fail: the tail, where some threads have no "
       "element",
       has_tail},
      {"only sizes past the first block fail in their tail: does a thread ask for its index in the "
       "grid, or in its block?",
       [](const Trial& r) { return has_tail(r) && several_blocks(r); }},
      {"one block is right, several are not: look where blockIdx comes in", several_blocks},
      {"only blocks that are no power of two fail: a loop that halves the number of threads drops "
       "the odd one",
       [](const Trial& r) { return !power_of_two(r.block); }},
      {"blocks of one warp are right, larger ones are not: what crosses from warp to warp? a "
       "barrier, or an array that is too small",
       [](const Trial& r) { return r.block > 32; }},
      {"only blocks that are no multiple of 32 fail: the last warp has fewer lanes",
       [](const Trial& r) { return r.block % 32 != 0; }},
      {"only negative values fail: what does the kernel start from?", is_negative},
      {"only matrices that are not square fail: are rows and columns exchanged somewhere?",
       [](const Trial& r) { return r.rows > 0 && (r.rows != r.columns || r.rows != r.depth); }},
  };
  return patterns;
}

}  // namespace

std::string Trial::sizes() const {
  std::string text;
  if (rows > 0) {
    text = std::to_string(rows) + " x " + std::to_string(columns);
    if (depth > 0) text += ", depth " + std::to_string(depth);
  } else {
    text = "n = " + std::to_string(n);
  }
  return text;
}

std::string Trial::whole() const {
  std::string text = n > 0 || rows > 0 || block > 0 ? sizes() : "";
  if (block > 0) text += ", block " + std::to_string(block);
  return text.empty() ? "" : text + ", " + values();
}

std::string Trial::values() const {
  switch (input) {
    case Input::kNegative:
      return "negative values";
    case Input::kIndices:
      return "x[i] = i";
    default:
      return "random values";
  }
}

void TrialReport::right(const Trial& trial) {
  end_of_trial("right");
  results_.push_back({trial, true});
}

void TrialReport::wrong(const Trial& trial, const Wrong& wrong) {
  end_of_trial("wrong");
  results_.push_back({trial, false});
  counts_alone_ = counts_alone_ && wrong.counted;
  if (failed_) return;
  failed_ = true;
  first_ = trial;
  wrong_ = wrong;
}

void TrialReport::broke(const Trial& trial, const CudaFailure& failure) {
  end_of_trial("wrong");
  results_.push_back({trial, false});
  broke_ = true;
  last_ = trial;
  failure_ = failure;
  if (failed_) return;
  failed_ = true;
  first_ = trial;
}

// The pattern that holds for all trials that failed and for no other; where there is none, one that
// holds for all that failed.
std::string TrialReport::meaning() const {
  std::vector<Pattern> patterns;
  if (!wrong_.counted) patterns = patterns_;  // what a check knows is about wrong results
  patterns.insert(patterns.end(), known_patterns().begin(), known_patterns().end());
  const bool some_passed =
      std::any_of(results_.begin(), results_.end(), [](const Result& t) { return t.ok; });
  if (!some_passed) return "";
  // A check that ended early, by an error, has seen too little to show a pattern.
  constexpr std::size_t kEnough = 4;
  if (broke_ && results_.size() < kEnough) return "";
  for (const Pattern& pattern : patterns) {
    const bool fits = std::all_of(results_.begin(), results_.end(),
                                  [&](const Result& t) { return pattern.fails(t.trial) == !t.ok; });
    if (fits) return pattern.meaning;
  }
  const auto only = [&](bool (*fails)(const Trial&)) {
    return std::all_of(results_.begin(), results_.end(),
                       [&](const Result& t) { return t.ok || fails(t.trial); }) &&
           std::any_of(results_.begin(), results_.end(),
                       [&](const Result& t) { return !fails(t.trial); });
  };
  // A count that is too high has other reasons than values that are missing.
  if (!wrong_.counted && only(has_tail)) {
    return "all that fail have a tail (n is no multiple of the block): what do threads without an "
           "element bring?";
  }
  if (only(is_negative)) return "only negative values fail: what does the kernel start from?";
  return "";
}

std::string TrialReport::which_passed() const {
  std::vector<std::string> sizes;
  std::size_t passed = 0;
  bool before = true;
  for (const Result& t : results_) {
    before = before && t.ok;
    passed += t.ok ? 1 : 0;
    std::string text = t.trial.sizes();
    if (text == first_.sizes()) {
      // Says with which block, or which values, the size that failed first was still right.
      text = t.trial.block == first_.block ? t.trial.whole()
                                           : text + ", block " + std::to_string(t.trial.block);
    }
    if (before && (sizes.empty() || sizes.back() != text)) sizes.push_back(text);
  }
  if (passed == 0)
    return results_.size() > 1 ? "none of " + std::to_string(results_.size()) + " tries" : "";
  std::string text = std::to_string(passed) + " of " + std::to_string(results_.size()) + " tries";
  if (sizes.empty()) return text + ", none before this one";
  text += "; before this one: ";
  const std::size_t shown = std::min<std::size_t>(sizes.size(), 6);
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? "; " : "") + sizes[i];
  if (sizes.size() > shown) text += "; ...";
  return text;
}

void TrialReport::conclude() const {
  if (!failed_) {
    CHECK(!results_.empty());
    return;
  }
  const std::string at = first_.whole();
  if (!at.empty()) tell("at", at);
  std::string text;
  if (broke_) tell("cuda", failure_.text);
  if (wrong_.name.empty()) {
    text = failure_.text;
  } else {
    // The backend's report is about a later trial than the first wrong one.
    if (broke_) tell("broke_at", last_.whole());
    tell("wrong", wrong_.name);
    tell("expected", wrong_.expected);
    tell("actual", wrong_.actual);
    if (!wrong_.note.empty()) tell("note", wrong_.note);
    text = wrong_.name + ": expected " + wrong_.expected + ", got " + wrong_.actual;
  }
  const std::string passed = which_passed(), why = meaning();
  if (!passed.empty()) tell("passed", passed);
  if (counts_alone_ && !broke_) tell("missed", "counts alone");
  if (!why.empty()) tell("likely", why);
  FAIL(at << (at.empty() ? "" : ": ") << text << (why.empty() ? "" : "; ") << why);
}

void predict(const std::string& name, double prediction, double counted,
             const std::string& reread) {
  std::string verdict;
  if (prediction == -1) {
    verdict = "not predicted yet: it is still -1";
  } else if (prediction < counted) {
    verdict = "too low";
  } else if (prediction > counted) {
    verdict = "too high";
  } else if (prediction == counted) {
    tell("prediction", name + ": right");
    CHECK(prediction == counted);
    return;
  } else {
    verdict = "not a number";
  }
  tell("prediction", name + ": " + verdict);
  tell("reread", reread);
  FAIL_CHECK(name << ": " << verdict);
}

}  // namespace lab
