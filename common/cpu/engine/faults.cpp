// SPDX-License-Identifier: MIT
#include "faults.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>

#include "../report/diagnostics.h"
#include "../report/machine_context.h"
#include "../report/program_image.h"
#include "../report/source_lines.h"
#include "../types/error_codes.h"
#include "guarded_copy.h"
#include "marked_pointers.h"
#include "memory.h"
#include "memory_notes.h"
#include "sanitizers.h"
#include "stacks.h"
#include "worker.h"

namespace cuda_cpu {
namespace {

constexpr std::size_t kAlternateStackBytes = std::size_t{256} << 10;
constexpr std::uintptr_t kNullReach = std::uintptr_t{64} << 10;
constexpr std::uint64_t kLowestMemory = std::uint64_t{4} << 30;
// How far below the stack pointer an overflow faults: a function's own frame at most.
constexpr std::uintptr_t kStackReach = std::uintptr_t{64} << 10;
constexpr int kFramesMax = 32;
// A report of a fault in host code takes milliseconds, unless it waits for a lock.
constexpr unsigned kReportSeconds = 5;
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

struct sigaction previous_actions[NSIG];

/// What the handler saw, kept for the report that is written after the jump out of it, by the same
/// OS thread.
struct Backtrace {
  const void* pcs[kFramesMax];
  int count;
  std::uintptr_t stack_pointer;
  bool general_protection;  ///< the CPU gave no address: misaligned, or no address at all
  Mark mark;                ///< of the pointer that was followed, see engine/marked_pointers.h
  std::uintptr_t marked;    ///< that pointer without its mark; an index may come on top
};
thread_local Backtrace backtrace;
thread_local void* alternate_stack = nullptr;
thread_local sigjmp_buf* unwind_escape = nullptr;

struct Walk {
  const void* fault_pc;
  bool found;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  auto* const walk = static_cast<Walk*>(argument);
  const auto* const pc = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  // The handler's own frames come first; the learner's begin where the fault was.
  if (!walk->found) {
    walk->found = pc == walk->fault_pc;
    return _URC_NO_REASON;
  }
  if (backtrace.count == kFramesMax) return _URC_END_OF_STACK;
  backtrace.pcs[backtrace.count++] = pc;
  return _URC_NO_REASON;
}

/// Takes the frames from the fault outwards. Fibers end in frames that no unwinder knows; a fault
/// there ends the walk.
void take_backtrace(const Registers& registers, void* context) {
  backtrace.count = 0;
  backtrace.pcs[backtrace.count++] = registers.pc;
  backtrace.stack_pointer = registers.stack_pointer;
  sigjmp_buf escape;
  unwind_escape = &escape;
  if (sigsetjmp(escape, 1) == 0) {
    Walk walk{registers.pc, false};
    _Unwind_Backtrace(add_frame, &walk);
    // A call of a bad address leaves no frame to unwind, only the return address.
    if (backtrace.count == 1 && !is_in_program(registers.pc)) {
      backtrace.pcs[backtrace.count++] = return_address(context);
    }
  }
  unwind_escape = nullptr;
}

/// x86 does not say which address it could not use, but a register holds it or the pointer before
/// its index was added.
void look_for_mark(const Fault& fault, const Registers& registers) {
  const auto address = reinterpret_cast<std::uintptr_t>(fault.address);
  backtrace.mark = mark_of(address, &backtrace.marked);
  if (!backtrace.general_protection) return;
  for (int i = 0; i < registers.count && backtrace.mark == Mark::kNone; ++i) {
    std::uintptr_t plain = 0;
    const Mark mark = mark_of(registers.general[i], &plain);
    if (plain < kNullReach) continue;  // the mark alone, about to be set
    backtrace.mark = mark;
    backtrace.marked = plain;
  }
}

const char* verb(const Fault& fault) {
  if (!fault.knows_write) return "access";
  return fault.is_write ? "write" : "read";
}

void add_origin(const MemoryRange& range, Report* report) {
  report->notes.push_back(origin_note(range));
  if (!range.live) report->notes.push_back(freed_note(range));
}

std::string times(std::size_t count, const char* thing) {
  return format("%zu %s%s", count, thing, count == 1 ? "" : "s");
}

/// Describes `address` relative to the nearest known memory. False when there is none near.
bool explain_address(std::uintptr_t address, const char* verb, Report* report) {
  MemoryRange range;
  if (!find_range(reinterpret_cast<const void*>(address), &range, std::size_t{1} << 30)) {
    return false;
  }
  const std::string memory = memory_name(range);
  const bool inside = address >= range.base && address < range.end();
  if (inside && range.live) return false;
  if (!range.live) {
    report->headline = format("use after free (%s)", verb);
    if (inside) {
      report->details.push_back(format("the address is byte %zu of freed %s (%s)",
                                       address - range.base, memory.c_str(),
                                       size_text(range).c_str()));
    } else {
      report->details.push_back(
          format("the address is near freed %s (%s)", memory.c_str(), size_text(range).c_str()));
    }
    add_origin(range, report);
    report->help = "free the memory after the last kernel that uses it";
    return true;
  }
  report->headline = format("out-of-bounds %s", verb);
  if (address >= range.end()) {
    const std::size_t past = address - range.end();
    report->details.push_back(past == 0 ? format("the address is right after the end of %s (%s)",
                                                 memory.c_str(), size_text(range).c_str())
                                        : format("the address is %s past the end of %s (%s)",
                                                 times(past, "byte").c_str(), memory.c_str(),
                                                 size_text(range).c_str()));
    if (range.element_size > 1 && range.size >= range.element_size) {
      const std::size_t last = range.size / range.element_size - 1;
      report->details.push_back(
          format("that is element %zu; ", (address - range.base) / range.element_size) +
          (last == 0 ? "only 0 is valid" : format("valid are 0 to %zu", last)));
    }
    report->help =
        range.space == Space::kShared
            ? "size the array by the threads of the block; a launch gives dynamic shared "
              "memory in bytes"
        : range.space == Space::kConstant || range.space == Space::kDevice
            ? "guard the index, e.g. if (i < n)"
            : "guard the index, e.g. if (i < n); if the index is right, more has to be allocated: "
              "n * sizeof(T) bytes";
  } else {
    const std::size_t before = range.base - address;
    report->details.push_back(format("the address is %s before the start of %s (%s)",
                                     times(before, "byte").c_str(), memory.c_str(),
                                     size_text(range).c_str()));
    if (range.element_size > 1) {
      report->details.push_back(
          format("that is element -%zu", (before + range.element_size - 1) / range.element_size));
    }
    report->help = "the index is negative, or an unsigned one wrapped below 0";
  }
  add_origin(range, report);
  return true;
}

/// An overflow faults a little below the stack pointer, where there is no other memory.
bool near_stack_pointer(const void* address) {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t sp = backtrace.stack_pointer;
  return !is_device_address(address) && !is_host_visible_address(address) &&
         (a > sp ? a - sp : sp - a) < kStackReach;
}

void explain_segfault(const Fault& fault, Report* report) {
  const auto address = reinterpret_cast<std::uintptr_t>(fault.address);
  report->cuda_error = cudaErrorIllegalAddress;
  if (backtrace.mark == Mark::kHost) {
    report->headline = "memory of the host reached through a pointer in device memory";
    report->details.push_back(
        format("the pointer that was copied to the device holds %p, an address of the host",
               reinterpret_cast<void*>(backtrace.marked)));
    report->help =
        "copy what it points to as well, and store the address that cudaMalloc gave for it";
    return;
  }
  if (backtrace.mark == Mark::kHostArgument) {
    report->headline = "memory of the host reached through a pointer in an argument";
    report->details.push_back(
        format("the structure that is passed to the kernel holds %p, an address of the host",
               reinterpret_cast<void*>(backtrace.marked)));
    report->help =
        "copy what it points to as well, and store the address that cudaMalloc gave for it";
    return;
  }
  if (backtrace.mark == Mark::kHostShared) {
    report->headline = "memory of the host reached through a pointer in memory that both share";
    report->details.push_back(format("the pointer holds %p, an address that is the host's alone",
                                     reinterpret_cast<void*>(backtrace.marked)));
    report->help = "what it points to must be shared as well: cudaMallocManaged or cudaMallocHost";
    return;
  }
  if (backtrace.mark == Mark::kMisaligned) {
    report->headline = "misaligned address";
    report->details.push_back(
        format("the pointer that was cast is %p", reinterpret_cast<void*>(backtrace.marked)));
    report->details.push_back(
        "a type of 2, 4, 8 or 16 bytes (short, int, double, float4, ...) must lie at a multiple of "
        "its size");
    report->help = "check the offset of the pointer before the cast; memcpy reads any address";
    report->cuda_error = cudaErrorMisalignedAddress;
    return;
  }
  if (backtrace.general_protection) {
    report->headline = "misaligned address";
    report->details.push_back(
        "a vector type (float4, int4, double2, ...) must lie at a multiple of its size");
    report->help = "check the offset of the pointer that was cast to the vector type";
    report->cuda_error = cudaErrorMisalignedAddress;
    return;
  }
  if (fault.address == fault.pc) {
    report->headline = address < kNullReach ? "call of a null function pointer"
                                            : "call of something that is no function";
    report->help = "was the function pointer set?";
    return;
  }
  // Memory that nobody wrote holds 0xff...: a pointer read from there, with an index added.
  if (address >= std::uintptr_t(0) - (std::uintptr_t{1} << 30) ||
      (address < (std::uintptr_t{1} << 20) && address % 4 == 3)) {
    report->headline = format("%s through a pointer from uninitialised memory", verb(fault));
    report->details.push_back(format("the address is %#zx; memory that nobody wrote holds 0xff",
                                     static_cast<std::size_t>(address)));
    report->help = "write the memory that holds the pointer before it is read";
    return;
  }
  if (address < kNullReach) {
    report->headline = format("null pointer %s", verb(fault));
    report->details.push_back(
        address == 0 ? "the pointer is null"
                     : format("the address is %#zx: an index or member of a null pointer",
                              static_cast<std::size_t>(address)));
    report->help = "was the pointer allocated, and is it the right argument of the launch?";
    return;
  }
  if (is_stack_guard(fault.address) || near_stack_pointer(fault.address)) {
    report->headline = "stack overflow";
    report->details.push_back(
        format("the thread's local variables and calls need more than its stack of %zu KiB",
               stack_bytes_per_thread() / 1024));
    report->help =
        "recursion without an end, or a large local array; put it into shared or global memory";
    report->cuda_error = cudaErrorHardwareStackError;
    return;
  }
  if (explain_address(address, verb(fault), report)) return;
  report->headline = format("%s of memory that was never allocated", verb(fault));
  // Neither the program nor anything that it allocates lies that low.
  if (sizeof(void*) == 8 && address < kLowestMemory) {
    report->headline = format("null pointer %s", verb(fault));
    report->details.push_back(
        format("the address is %#zx: an index of a null pointer, or a pointer cut to 32 bits",
               static_cast<std::size_t>(address)));
    report->help = "was the pointer allocated, and is it the right argument of the launch?";
    return;
  }
  report->details.push_back(format("the address is %p", fault.address));
  report->help = "was the pointer initialised, and the index computed without overflow?";
}

void explain(const Fault& fault, Report* report) {
  switch (fault.signal) {
    case SIGFPE:
      report->headline = "integer division by zero";
      report->details.push_back("(or of the most negative number by -1)");
      report->help = "a GPU gives a meaningless result here and says nothing";
      report->cuda_error = cudaErrorLaunchFailure;
      break;
    case SIGILL:
      report->headline = "illegal instruction";
      report->details.push_back(
          "the compiler puts one where code can never go, e.g. after a missing return");
      report->cuda_error = cudaErrorIllegalInstruction;
      break;
    default:
      explain_segfault(fault, report);
  }
}

/// Whether the fault is in a function that a library function called for the kernel, such as the
/// one with which printf reads a string. It may hold a lock of the library, so nothing can go on. A
/// library function that the kernel called itself (memcpy) holds none.
bool inside_library_call() {
  return backtrace.count > 1 && !is_in_program(backtrace.pcs[0]) &&
         !is_in_program(backtrace.pcs[1]);
}

[[noreturn]] void end_process() {
  std::cout.flush();
  std::fflush(stdout);
  _exit(1);
}

/// Host code faulted where the backend has no memory.
void explain_host_memory(const Fault& fault, Report* report) {
  const auto address = reinterpret_cast<std::uintptr_t>(fault.address);
  report->headline = "segmentation fault in host code";
  report->help = "was the memory allocated, is the index inside of it, and was it not yet freed?";
  if (near_stack_pointer(fault.address)) {
    report->details.push_back("the stack of the host is full");
    report->help = "recursion without an end, or a large local array: make it a std::vector";
  } else if (backtrace.general_protection) {
    report->details.push_back(
        "the pointer holds no address, or one that is misaligned for a vector");
  } else if (address < kNullReach) {
    report->details.push_back(format("the address is %#zx: a null pointer was followed",
                                     static_cast<std::size_t>(address)));
    report->help =
        "was the pointer set? an argument that the program reads from argv is given as in "
        "ARGS=\"1000\"";
  } else {
    report->details.push_back(format("the address is %p", fault.address));
  }
}

/// The fault came while a lock of the library was held, or what malloc keeps is broken.
[[noreturn]] void end_without_report(int) {
  constexpr char kText[] =
      "error: segmentation fault in host code; its line cannot be said: does the host write "
      "outside of what malloc, new or a std::vector gave?\n";
  static_cast<void>(!write(STDERR_FILENO, kText, sizeof kText - 1));
  _exit(1);
}

/// Host code faulted. Never returns: the program cannot go on.
[[noreturn]] void end_host_fault(const Fault& fault) {
  static thread_local int reporting = 0;
  if (reporting++ != 0) end_without_report(0);
  signal(SIGALRM, end_without_report);
  alarm(kReportSeconds);
  const auto address = reinterpret_cast<std::uintptr_t>(fault.address);
  Report it;
  it.site = first_source_site(backtrace.pcs, backtrace.count);
  it.cuda_error = cudaErrorIllegalAddress;
  MemoryRange range;
  const bool known = find_range(fault.address, &range, std::size_t{1} << 30);
  const bool inside = known && address >= range.base && address < range.end();
  if (!is_device_address(fault.address) && !is_host_visible_address(fault.address)) {
    explain_host_memory(fault, &it);
  } else if (is_device_address(fault.address) &&
             (!known || (range.live && range.space == Space::kGlobal))) {
    it.headline = format("host code %s device memory", !fault.knows_write ? "touched"
                                                       : fault.is_write   ? "wrote"
                                                                          : "read");
    if (inside) {
      it.details.push_back(format("the address is byte %zu of an allocation of %s",
                                  address - range.base, size_text(range).c_str()));
    }
    if (known) add_origin(range, &it);
    it.help =
        "a device pointer means nothing on the host; copy with cudaMemcpy, and launch a kernel "
        "with <<<grid, block>>>";
  } else if (explain_address(address, verb(fault), &it)) {
    it.headline += " by host code";
  } else {
    it.headline = format("host code %s memory that was never allocated",
                         fault.knows_write && fault.is_write ? "wrote" : "touched");
  }
  if (it.site.file == nullptr) it.details.push_back("the line is not known: build with -g");
  report(it);
  end_process();
}

/// True for a signal from kill() or raise(), not from an instruction.
bool was_sent(const siginfo_t& info) {
#if defined(__APPLE__)
  return info.si_code == SI_USER || info.si_code == SI_QUEUE;
#else
  return info.si_code <= 0;
#endif
}

/// x86 does not give the address of a misaligned vector access.
bool gave_no_address(const siginfo_t& info) {
#if defined(__linux__) && defined(__x86_64__)
  return info.si_addr == nullptr && info.si_code == SI_KERNEL;
#else
  static_cast<void>(info);
  return false;
#endif
}

void on_signal(int signal, siginfo_t* info, void* context) {
  if (unwind_escape != nullptr) siglongjmp(*unwind_escape, 1);
  if (signal == SIGSEGV || signal == SIGBUS) leave_guarded_copy(info->si_addr);
  hold_interrupts();  // the watchdog must not jump out of this handler
  const Registers registers = registers_of(context);
  const bool memory_fault = signal == SIGSEGV || signal == SIGBUS;
  const Fault fault{signal, info->si_addr, registers.pc, registers.is_write,
                    registers.knows_write && memory_fault};
  const bool sent = was_sent(*info);
  const bool ours = is_device_address(fault.address) || is_host_visible_address(fault.address);
  const struct sigaction& previous = previous_actions[signal];
  const bool others = (previous.sa_flags & SA_SIGINFO) != 0 || previous.sa_handler != SIG_DFL;
  if (!sent && (in_kernel() || (memory_fault && (ours || !others)))) {
    backtrace.general_protection = memory_fault && gave_no_address(*info);
    look_for_mark(fault, registers);
    take_backtrace(registers, context);
    if (in_kernel()) {
      if (inside_library_call()) {
        report_kernel_fault(fault, where());
        end_process();
      }
      escape_from_fault(fault);
    }
    end_host_fault(fault);
  }
  // Not ours: the earlier handler, or the system, sees it again at the same instruction.
  sigaction(signal, &previous, nullptr);
  if (sent) raise(signal);
}

}  // namespace

#if defined(CUDA_CPU_ASAN)
// AddressSanitizer sees accesses that do not reach a guard page, such as a read just past the
// end. It calls this before its own report, which knows nothing of allocations made here.
extern "C" void __asan_on_error() {
  void* const address = __asan_get_report_address();
  if (!is_device_address(address) && !is_host_visible_address(address)) return;
  Report it = report_here("", source_site_of(__asan_get_report_pc()), cudaErrorIllegalAddress);
  if (explain_address(reinterpret_cast<std::uintptr_t>(address),
                      __asan_get_report_access_type() != 0 ? "write" : "read", &it)) {
    report(it);
  }
}
#endif

#if defined(CUDA_CPU_TSAN)
// The handler ends the process or leaves by a jump; it never resumes what it interrupted.
extern "C" const char* __tsan_default_options() { return "report_signal_unsafe=0"; }
#endif

void prepare_thread_for_faults() {
  if (alternate_stack == nullptr) claim_signals();
}

void claim_signals() {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) {
    struct sigaction current {};
    sigaction(signal, nullptr, &current);
    if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_signal) continue;
    previous_actions[signal] = current;
    sigaction(signal, &action, nullptr);
  }
  if (alternate_stack == nullptr) {
    alternate_stack = mmap(nullptr, kAlternateStackBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (alternate_stack == MAP_FAILED) die("no memory for a signal stack");
  }
  stack_t stack{};
  stack.ss_sp = alternate_stack;
  stack.ss_size = kAlternateStackBytes;
  sigaltstack(&stack, nullptr);
}

__attribute__((constructor(103))) void claim_at_start() { claim_signals(); }

int report_kernel_fault(const Fault& fault, const Where& where) {
  Report it;
  it.where = where;
  it.site = first_source_site(backtrace.pcs, backtrace.count);
  explain(fault, &it);
  if (it.site.file == nullptr) it.details.push_back("the line is not known: build with -g");
  return report(it);
}

}  // namespace cuda_cpu
