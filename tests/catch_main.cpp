// SPDX-License-Identifier: MIT
// The main() that every Catch2 test program is linked with; works with v2 and v3. Besides what
// Catch2 prints, it appends one line per test case to the file named by TEST_RESULTS, so that the
// runner can count cases over many programs, and still knows which one was running when a program
// crashed:
//
//   started<TAB>NAME          passed|failed|skipped<TAB>NAME
//
// A test case that cannot run here says WARN("skipped: why") and returns; v3's SKIP works as well.

// Signals belong to the CPU backend, which turns them into reports. A crash ends the program, and
// the runner says where.
#define CATCH_CONFIG_NO_POSIX_SIGNALS
#define CATCH_CONFIG_RUNNER
#include "catch.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

namespace {

#if CATCH_VERSION_MAJOR >= 3
using ListenerBase = Catch::EventListenerBase;
std::string name_of(const Catch::TestCaseStats& stats) { return stats.testInfo->name; }
#if CATCH_VERSION_MAJOR > 3 || CATCH_VERSION_MINOR >= 3
bool was_skipped(const Catch::Counts& cases) { return cases.skipped > 0; }
#else
bool was_skipped(const Catch::Counts&) { return false; }
#endif
#else
using ListenerBase = Catch::TestEventListenerBase;
std::string name_of(const Catch::TestCaseStats& stats) { return stats.testInfo.name; }
bool was_skipped(const Catch::Counts&) { return false; }
#endif

// Opens and closes the file for every line, so that no crash can take a line with it.
void record(const char* status, const std::string& name) {
  const char* const path = std::getenv("TEST_RESULTS");
  if (path == nullptr) return;
  std::ofstream(path, std::ios::app) << status << '\t' << name << '\n';
}

class Recorder : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    ListenerBase::testCaseStarting(info);
    says_skipped_ = false;
    record("started", info.name);
  }

#if CATCH_VERSION_MAJOR >= 3
  void assertionEnded(const Catch::AssertionStats& stats) override { look_for_skip(stats); }
#else
  bool assertionEnded(const Catch::AssertionStats& stats) override {
    look_for_skip(stats);
    return true;
  }
#endif

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    const Catch::Counts& cases = stats.totals.testCases;
    const bool skipped = was_skipped(cases) || says_skipped_;
    record(cases.failed > 0 ? "failed" : skipped ? "skipped" : "passed", name_of(stats));
    ListenerBase::testCaseEnded(stats);
  }

 private:
  void look_for_skip(const Catch::AssertionStats& stats) {
    const auto& result = stats.assertionResult;
    if (result.getResultType() != Catch::ResultWas::Warning) return;
    for (const Catch::MessageInfo& message : stats.infoMessages) {
      if (message.message.rfind("skipped: ", 0) == 0) says_skipped_ = true;
    }
  }

  bool says_skipped_ = false;
};

CATCH_REGISTER_LISTENER(Recorder)

}  // namespace

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
