// SPDX-License-Identifier: MIT
// The part of a lab's check that needs no CUDA, and the channel over which the outcome travels.
//
// A check runs in one process with code that nobody has read. What that code prints therefore
// counts for nothing: the outcome goes through a socket (its number is in LAB_CHANNEL) on lines
// that begin with a word which the runner chose at random and sent first:
//
//   WORD<TAB>started<TAB>NAME    WORD<TAB>passed|failed|skipped<TAB>NAME    WORD<TAB>end<TAB>CASES
//   WORD<TAB>tell<TAB>KEY<TAB>VALUE
//
// The word is read before any constructor of the checked code runs, and then gone from the socket.
// Without LAB_CHANNEL the check is a plain Catch2 program.
#include "lab_report.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#define CATCH_CONFIG_EXTERNAL_INTERFACES  // listeners, in v2
#include "catch.hpp"

// The CPU backend has reported a bug, a race for one. There is none of it in a check for a GPU.
extern "C" int cuda_cpu_has_failed() __attribute__((weak));

// ---- the channel

namespace {

bool backend_found_a_bug() { return cuda_cpu_has_failed != nullptr && cuda_cpu_has_failed() != 0; }

constexpr int kWord = 32;  // characters
int channel = -1;
char word[kWord + 1];

void open_channel(const char* number) {
  if (number == nullptr) return;
  const int file = std::atoi(number);
  int have = 0;
  while (have < kWord) {
    const auto got = read(file, word + have, static_cast<std::size_t>(kWord - have));
    if (got <= 0) _exit(3);
    have += static_cast<int>(got);
  }
  channel = file;
}

#if defined(__linux__) && defined(__GLIBC__)
// Earlier than every constructor, whatever its priority; so early that getenv knows nothing yet.
void open_first(int, char**, char** environment) {
  constexpr char kName[] = "LAB_CHANNEL=";
  constexpr std::size_t kLength = sizeof(kName) - 1;
  for (; *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, kName, kLength) != 0) continue;
    open_channel(*environment + kLength);
    return;
  }
}
__attribute__((section(".preinit_array"), used)) void (*const first)(int, char**,
                                                                     char**) = open_first;
#else
__attribute__((constructor(101))) void open_first() { open_channel(std::getenv("LAB_CHANNEL")); }
#endif

// One write per line. Line ends and tabs inside become \n and \t.
void send(const std::vector<std::string>& fields) {
  if (channel < 0) return;
  std::string line = word;
  for (const std::string& field : fields) {
    line += '\t';
    for (const char c : field) {
      if (c == '\n' || c == '\t' || c == '\\') {
        line += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\\\";
      } else {
        line += c;
      }
    }
  }
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const auto put = write(channel, line.data() + sent, line.size() - sent);
    if (put <= 0) _exit(3);
    sent += static_cast<std::size_t>(put);
  }
}

#if CATCH_VERSION_MAJOR >= 3
using ListenerBase = Catch::EventListenerBase;
std::string name_of(const Catch::TestCaseStats& stats) { return stats.testInfo->name; }
#else
using ListenerBase = Catch::TestEventListenerBase;
std::string name_of(const Catch::TestCaseStats& stats) { return stats.testInfo.name; }
#endif

class Sender : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    ListenerBase::testCaseStarting(info);
    send({"started", info.name});
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    const Catch::Counts& assertions = stats.totals.assertions;
    // A test case that compared nothing has passed nothing.
    const bool passed =
        stats.totals.testCases.failed == 0 && assertions.passed > 0 && !backend_found_a_bug();
    send({passed ? "passed" : "failed", name_of(stats)});
    ListenerBase::testCaseEnded(stats);
  }

  void testRunEnded(const Catch::TestRunStats& stats) override {
    send({"end", std::to_string(stats.totals.testCases.total())});
    ListenerBase::testRunEnded(stats);
  }
};

CATCH_REGISTER_LISTENER(Sender)

}  // namespace

// ---- trials and what their pattern means

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

void TrialReport::right(const Trial& trial) { results_.push_back({trial, true}); }

void TrialReport::wrong(const Trial& trial, const Wrong& wrong) {
  results_.push_back({trial, false});
  if (failed_) return;
  failed_ = true;
  first_ = trial;
  wrong_ = wrong;
}

void TrialReport::broke(const Trial& trial, const CudaFailure& failure) {
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
  std::vector<Pattern> patterns = patterns_;
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
  if (only(has_tail)) {
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

void tell(const std::string& key, const std::string& value) { send({"tell", key, value}); }

}  // namespace lab
