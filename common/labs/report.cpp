// SPDX-License-Identifier: MIT
// The part of a lab's check that needs no CUDA, and the channel over which the outcome travels.
//
// A check runs in one process with code that nobody has read. What that code prints therefore
// counts for nothing: the outcome goes through a socket on lines that begin with a word which the
// runner chose at random:
//
//   WORD<TAB>started<TAB>NAME    WORD<TAB>passed|failed|skipped<TAB>NAME    WORD<TAB>end<TAB>CASES
//   WORD<TAB>tell<TAB>KEY<TAB>VALUE
//
// Neither the word nor that socket is there before main. What the program inherits (its number is
// in LAB_CHANNEL) is a door, through which main asks once; the answer holds the word and brings the
// socket. Whatever else comes through the door, or comes earlier, ends the run. The constructors of
// a submission wait until main has asked (audit.py moves them to the section lab_begin).
//
// The word lies in a page of its own, at an address that differs from run to run and that nobody
// may read but while a line is sent; no signal is handled meanwhile. It is wiped when the run has
// ended, before any destructor. On Linux all this is done by system calls alone: a `write` or
// `memcpy` that the checked code defines is not called. Without LAB_CHANNEL the check is a plain
// Catch2 program.
#include "report.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CATCH_CONFIG_EXTERNAL_INTERFACES  // listeners, in v2
#include "../../tests/catch.hpp"

// The CPU backend has reported a bug, a race for one. There is none of it in a check for a GPU.
extern "C" int cuda_cpu_has_failed() __attribute__((weak));

// ---- the channel

namespace {

bool backend_found_a_bug() { return cuda_cpu_has_failed != nullptr && cuda_cpu_has_failed() != 0; }

constexpr std::size_t kWord = 32;     // characters
constexpr std::size_t kPage = 16384;  // bytes; pages of the system are 4 or 16 KiB
#ifdef MSG_CMSG_CLOEXEC
constexpr int kReceive = MSG_CMSG_CLOEXEC;  // no program that is started inherits the socket
#else
constexpr int kReceive = 0;
#endif
int door = -1;         // through which main asks
int channel = -1;      // on which lines are sent; not there before
char* page = nullptr;  // the word, and behind it what is being sent

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
// A system call without the C library.
inline long call(long number, long a, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#ifdef __x86_64__
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#else
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
#endif
}
inline long address(const void* pointer) { return reinterpret_cast<long>(pointer); }
[[noreturn]] void give_up() {
  for (;;) call(SYS_exit_group, 3);
}
char* new_page() {
  const long at = call(SYS_mmap, 0, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  return at > -4096 && at < 0 ? nullptr : reinterpret_cast<char*>(at);
}
void allow(int rights) { call(SYS_mprotect, address(page), kPage, rights); }
long receive(msghdr* message) { return call(SYS_recvmsg, door, address(message), kReceive); }
long put(int file, const char* from, std::size_t n) {
  return call(SYS_write, file, address(from), static_cast<long>(n));
}
void close_file(int file) { call(SYS_close, file); }
void give_back_page() { call(SYS_munmap, address(page), kPage); }
// Whether the other end of the door is closed.
bool nobody_listens() {
  pollfd end = {door, 0, 0};
  timespec now = {0, 0};
  return call(SYS_ppoll, address(&end), 1, address(&now)) == 1 && (end.revents & POLLHUP) != 0;
}
// Nobody else of this user, and no file in /proc, shows what is in this process.
void close_to_others() { call(SYS_prctl, PR_SET_DUMPABLE, 0); }
// The system refuses to take a thread out of its process unless it is the only one: then there is
// nothing to do.
bool other_threads_run() { return call(SYS_unshare, CLONE_THREAD) == -EINVAL; }
// No handler of the checked code runs while the page is open.
class Undisturbed {
 public:
  Undisturbed() { call(SYS_rt_sigprocmask, SIG_SETMASK, address(&all_), address(&before_), 8); }
  ~Undisturbed() { call(SYS_rt_sigprocmask, SIG_SETMASK, address(&before_), 0, 8); }

 private:
  unsigned long all_ = ~0UL, before_ = 0;
};
#else
[[noreturn]] void give_up() { _exit(3); }
char* new_page() {
  void* const at = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<char*>(at);
}
void allow(int rights) { mprotect(page, kPage, rights); }
long receive(msghdr* message) { return recvmsg(door, message, kReceive); }
long put(int file, const char* from, std::size_t n) { return write(file, from, n); }
void close_file(int file) { close(file); }
void give_back_page() { munmap(page, kPage); }
bool nobody_listens() {
  pollfd end = {door, 0, 0};
  return poll(&end, 1, 0) == 1 && (end.revents & POLLHUP) != 0;
}
void close_to_others() {}
bool other_threads_run() { return false; }
class Undisturbed {
 public:
  Undisturbed() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~Undisturbed() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};
#endif

void find_door(const char* number) {
  if (number == nullptr) return;
  int file = 0;
  for (; *number >= '0' && *number <= '9'; ++number) file = 10 * file + (*number - '0');
  door = file;
  // The runner was killed before bubblewrap, say, could tie this process to it.
  if (nobody_listens()) give_up();
  close_to_others();
}

// Asks for the word and the socket. Only main does, and only once: a second time ends the run.
void ask() {
  if (door < 0 || channel >= 0) return;
  const Undisturbed here;
  page = new_page();
  if (page == nullptr) give_up();
  constexpr char kAlone[] = "ask\n", kNotAlone[] = "ask, and other threads run\n";
  const long sent = other_threads_run() ? put(door, kNotAlone, sizeof kNotAlone - 1)
                                        : put(door, kAlone, sizeof kAlone - 1);
  if (sent <= 0) give_up();
  iovec word = {page, kWord};
  alignas(cmsghdr) char socket[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &word;
  message.msg_iovlen = 1;
  message.msg_control = socket;
  message.msg_controllen = sizeof socket;
  if (receive(&message) != static_cast<long>(kWord)) give_up();
  const cmsghdr* const brought = CMSG_FIRSTHDR(&message);
  if (brought == nullptr || brought->cmsg_type != SCM_RIGHTS) give_up();
  std::copy_n(CMSG_DATA(brought), sizeof(int), reinterpret_cast<unsigned char*>(&channel));
  allow(PROT_NONE);
  close_file(door);
}

// After the last line.
void forget() {
  if (channel < 0) return;
  const Undisturbed here;
  give_back_page();
  close_file(channel);
  channel = door = -1;
}

#if defined(__linux__) && defined(__GLIBC__)
// Earlier than every constructor, whatever its priority; so early that getenv knows nothing yet.
void open_first(int, char**, char** environment) {
  constexpr char kName[] = "LAB_CHANNEL=";
  constexpr std::size_t kLength = sizeof(kName) - 1;
  for (; *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, kName, kLength) != 0) continue;
    find_door(*environment + kLength);
    return;
  }
}
__attribute__((section(".preinit_array"), used)) void (*const first)(int, char**,
                                                                     char**) = open_first;
#else
__attribute__((constructor(101))) void open_first() { find_door(std::getenv("LAB_CHANNEL")); }
#endif

// Puts a line together behind the word. Line ends and tabs inside become \n and \t.
class Line {
 public:
  Line() { allow(PROT_READ | PROT_WRITE); }
  ~Line() {
    add('\n');
    flush();
    allow(PROT_NONE);
  }
  void add(char c) {
    if (end_ == kPage) flush();
    page[end_++] = c;
  }

 private:
  void flush() {
    while (begin_ < end_) {
      const long sent = put(channel, page + begin_, end_ - begin_);
      if (sent <= 0) give_up();
      begin_ += static_cast<std::size_t>(sent);
    }
    begin_ = end_ = kWord;  // a long line goes on, and the word stays where it is
  }

  Undisturbed here_;
  std::size_t begin_ = 0, end_ = kWord;
};

void send(const std::vector<std::string>& fields) {
  if (channel < 0) return;
  Line line;
  for (const std::string& field : fields) {
    line.add('\t');
    for (const char c : field) {
      const bool escaped = c == '\n' || c == '\t' || c == '\\';
      if (escaped) line.add('\\');
      line.add(!escaped || c == '\\' ? c : c == '\n' ? 'n' : 't');
    }
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

  void testRunStarting(const Catch::TestRunInfo& info) override {
    ListenerBase::testRunStarting(info);
    ask();  // where no linker puts __wrap_main in main's place
  }

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
    forget();
    ListenerBase::testRunEnded(stats);
  }
};

CATCH_REGISTER_LISTENER(Sender)

// Line by line, so that nothing is lost when a limit or a signal ends the program.
[[maybe_unused]] const bool prints_lines =
    door >= 0 && std::setvbuf(stdout, nullptr, _IOLBF, 4096) == 0;

}  // namespace

// ---- what comes before Catch2's main (-Wl,--wrap=main; weak, for programs linked without that)

#ifdef __linux__
extern "C" {
using Constructor = void (*)(int, char**, char**);
// The linker names the ends of the section lab_begin, where there is one.
extern Constructor const __start_lab_begin[] __attribute__((weak));
extern Constructor const __stop_lab_begin[] __attribute__((weak));
int __real_main(int argc, char** argv) __attribute__((weak));

int __wrap_main(int argc, char** argv, char** environment) {
  ask();
  for (const Constructor* next = __start_lab_begin; next != __stop_lab_begin; ++next)
    (*next)(argc, argv, environment);
  return __real_main(argc, argv);
}
}
#endif

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

// Ends what the program printed in one trial, for whoever runs the check (outcome.py).
static void end_of_trial(const char* how) {
  if (channel >= 0) std::printf("\036%s\n", how);
}

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

void tell(const std::string& key, const std::string& value) { send({"tell", key, value}); }

}  // namespace lab
