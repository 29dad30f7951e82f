// SPDX-License-Identifier: MIT
// The channel over which the outcome of a lab's check travels to whoever runs it.
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
#include "channel.h"

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
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CATCH_CONFIG_EXTERNAL_INTERFACES  // listeners, in v2
#include "../../tests/catch.hpp"

// The CPU backend has reported a bug, a race for one. There is none of it in a check for a GPU.
extern "C" int cuda_cpu_has_failed() __attribute__((weak));

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

namespace lab {

void tell(const std::string& key, const std::string& value) { send({"tell", key, value}); }

void end_of_trial(const char* how) {
  if (channel >= 0) std::printf("\036%s\n", how);
}

}  // namespace lab
