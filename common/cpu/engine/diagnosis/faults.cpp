// SPDX-License-Identifier: MIT
#include "faults.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../../report/diagnostics.h"
#include "../../report/machine_context.h"
#include "../../report/program_image.h"
#include "../../report/source_lines.h"
#include "../../types/error_codes.h"
#include "../memory/marked_pointers.h"
#include "../memory/memory.h"
#include "../memory/memory_notes.h"
#include "../memory/stacks.h"
#include "../state/current.h"
#include "../state/leaving.h"
#include "../state/sanitizers.h"
#include "../state/worker.h"

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
  Mark mark;              ///< of the pointer that was followed, see engine/memory/marked_pointers.h
  std::uintptr_t marked;  ///< that pointer without its mark; an index may come on top
};
thread_local Backtrace backtrace;
thread_local void* alternate_stack = nullptr;

// Where a fault goes on that is foreseen, and its address.
thread_local sigjmp_buf* escape = nullptr;
thread_local const void* escaped_from = nullptr;

/// Calls `action`. False when it touched memory that is not there, with the address in `fault`.
template <class Action>
bool guarded(Action action, const void** fault) {
  sigjmp_buf here;
  if (sigsetjmp(here, 1) != 0) {
    escape = nullptr;
    *fault = escaped_from;
    return false;
  }
  escape = &here;
  action();
  escape = nullptr;
  return true;
}

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* found) {
  bool& found_fault = *static_cast<bool*>(found);
  const auto* const pc = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  // The handler's own frames come first; the learner's begin where the fault was.
  if (!found_fault) {
    found_fault = pc == backtrace.pcs[0];
    return _URC_NO_REASON;
  }
  if (backtrace.count == kFramesMax) return _URC_END_OF_STACK;
  backtrace.pcs[backtrace.count++] = pc;
  return _URC_NO_REASON;
}

/// Takes the frames from the fault outwards. Fibers end in frames that no unwinder knows; a fault
/// there ends the walk.
void take_backtrace(const Registers& registers) {
  backtrace.count = 0;
  backtrace.pcs[backtrace.count++] = registers.pc;
  backtrace.stack_pointer = registers.stack_pointer;
  const auto walk_outwards = [&] {
    bool found_fault = false;
    _Unwind_Backtrace(add_frame, &found_fault);
  };
  const void* end = nullptr;
  guarded(walk_outwards, &end);
  // A call of a bad address leaves no frame to unwind, only the return address. The unwinder may
  // have read at the bad address, and not come back.
  if (backtrace.count == 1 && !is_in_program(registers.pc)) {
    guarded([&] { backtrace.pcs[backtrace.count++] = *registers.return_address; }, &end);
  }
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

std::string bytes_text(std::size_t count) {
  return format("%zu byte%s", count, count == 1 ? "" : "s");
}

/// Describes `address` relative to the nearest known memory. False when there is none near.
bool explain_address(std::uintptr_t address, const char* verb, Report* report) {
  MemoryRange range;
  if (!find_range(reinterpret_cast<const void*>(address), &range, std::size_t{1} << 30)) {
    return false;
  }
  const std::string memory = memory_name(range) + " (" + size_text(range) + ")";
  const bool inside = address >= range.base && address < range.end();
  std::vector<std::string>& details = report->details;
  const bool by_kernel = current_worker != nullptr && current_worker->grid != nullptr;
  const int device = by_kernel ? current_worker->grid->launch->device : range.device;
  if (inside && range.live && range.space == Space::kGlobal && range.device != device) {
    report->headline =
        format("%s of memory of device %d by a kernel on device %d", verb, range.device, device);
    details.push_back(format("the address is byte %zu of ", address - range.base) + memory);
    report->help = format("cudaDeviceEnablePeerAccess(%d, 0) while device %d is current, or a copy",
                          range.device, device);
    report->notes = notes_of(range);
    return true;
  }
  if (inside && range.live) return false;
  report->headline = format(range.live ? "out-of-bounds %s" : "use after free (%s)", verb);
  if (!range.live) {
    details.push_back((inside ? format("the address is byte %zu of freed ", address - range.base)
                              : "the address is near freed ") +
                      memory);
    report->help = range.is_heap
                       ? "free the memory after its last use"
                       : "free the memory after the last kernel that uses it; an object that is "
                         "passed by value is copied, and the copy's destructor frees, too";
  } else if (address >= range.end()) {
    const std::size_t past = address - range.end();
    details.push_back("the address is " + (past == 0 ? "right after" : bytes_text(past) + " past") +
                      " the end of " + memory);
    if (range.element_size > 1 && range.size >= range.element_size) {
      const std::size_t last = range.size / range.element_size - 1;
      details.push_back(
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
    details.push_back("the address is " + bytes_text(before) + " before the start of " + memory);
    if (range.element_size > 1) {
      details.push_back(
          format("that is element -%zu", (before + range.element_size - 1) / range.element_size));
    }
    report->help = "the index is negative, or an unsigned one wrapped below 0";
  }
  report->notes = notes_of(range);
  return true;
}

/// An overflow faults a little below the stack pointer, where there is no other memory.
bool near_stack_pointer(const void* address) {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t sp = backtrace.stack_pointer;
  return !is_device_address(address) && !is_host_visible_address(address) &&
         (a > sp ? a - sp : sp - a) < kStackReach;
}

/// Whoever prints it adds where the fault was.
Report explanation(std::string headline, std::vector<std::string> details, std::string help,
                   int cuda_error = cudaErrorIllegalAddress) {
  return report_here(std::move(headline), {nullptr, 0}, cuda_error, std::move(details),
                     std::move(help));
}

/// A kernel followed a pointer that has a mark.
Report explain_mark(Mark mark, const void* marked) {
  if (mark == Mark::kMisaligned) {
    return explanation(
        "misaligned address",
        {format("the pointer that was cast is %p", marked),
         "a type of 2, 4, 8 or 16 bytes (short, int, double, float4, ...) must lie at "
         "a multiple of its size"},
        "check the offset of the pointer before the cast; memcpy reads any address",
        cudaErrorMisalignedAddress);
  }
  if (mark == Mark::kHostShared) {
    return explanation(
        "memory of the host reached through a pointer in memory that both share",
        {format("the pointer holds %p, an address that is the host's alone", marked)},
        "what it points to must be shared as well: cudaMallocManaged or cudaMallocHost");
  }
  const bool is_argument = mark == Mark::kHostArgument;
  return explanation(
      std::string("memory of the host reached through a pointer in ") +
          (is_argument ? "an argument" : "device memory"),
      {format("the %s holds %p, an address of the host",
              is_argument ? "structure that is passed to the kernel"
                          : "pointer that was copied to the device",
              marked)},
      "copy what it points to as well, and store the address that cudaMalloc gave for it");
}

Report explain_segfault(const Fault& fault) {
  if (backtrace.mark != Mark::kNone) {
    return explain_mark(backtrace.mark, reinterpret_cast<void*>(backtrace.marked));
  }
  if (backtrace.general_protection) {
    return explanation(
        "misaligned address",
        {"a vector type (float4, int4, double2, ...) must lie at a multiple of its size"},
        "check the offset of the pointer that was cast to the vector type",
        cudaErrorMisalignedAddress);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(fault.address);
  const std::string at = format("the address is %#zx", static_cast<std::size_t>(address));
  if (fault.address == fault.pc) {
    return explanation(
        address == 0 ? "call of a null function pointer" : "call of something that is no function",
        {}, "was the function pointer set?");
  }
  // Memory that nobody wrote holds 0xff...: a pointer read from there, with an index added.
  if (address >= std::uintptr_t(0) - (std::uintptr_t{1} << 30) ||
      (address < (std::uintptr_t{1} << 20) && address % 4 == 3)) {
    return explanation(format("%s through a pointer from uninitialised memory", verb(fault)),
                       {at + "; memory that nobody wrote holds 0xff"},
                       "write the memory that holds the pointer before it is read");
  }
  const auto null_pointer = [&](const std::string& detail) {
    return explanation(format("null pointer %s", verb(fault)), {detail},
                       "was the pointer allocated, and is it the right argument of the launch?");
  };
  if (address == 0) return null_pointer("the pointer is null");
  if (address < kNullReach) return null_pointer(at + ": an index or member of a null pointer");
  if (is_stack_guard(fault.address) || near_stack_pointer(fault.address)) {
    return explanation(
        "stack overflow",
        {format("the thread's local variables and calls need more than its stack of %zu KiB",
                kStackBytes / 1024)},
        "recursion without an end, or a large local array; put it into shared or global memory",
        cudaErrorHardwareStackError);
  }
  Report known = explanation("", {}, "");
  if (explain_address(address, verb(fault), &known)) return known;
  // Neither the program nor anything that it allocates lies that low.
  if (sizeof(void*) == 8 && address < kLowestMemory) {
    return null_pointer(at + ": an index of a null pointer, or a pointer cut to 32 bits");
  }
  return explanation(format("%s of memory that was never allocated", verb(fault)),
                     {format("the address is %p", fault.address)},
                     "was the pointer initialised, and the index computed without overflow?");
}

Report explain(const Fault& fault) {
  switch (fault.signal) {
    case SIGFPE:
      return explanation("integer division by zero", {"(or of the most negative number by -1)"},
                         "a GPU gives a meaningless result here and says nothing",
                         cudaErrorLaunchFailure);
    case SIGILL:
      return explanation(
          "illegal instruction",
          {"the compiler puts one where code can never go, e.g. after a missing return"}, "",
          cudaErrorIllegalInstruction);
    default:
      return explain_segfault(fault);
  }
}

/// Prints what is known of the fault, with its line.
int report_fault(Report it) {
  it.site = first_source_site(backtrace.pcs, backtrace.count);
  if (it.site.file == nullptr) it.details.push_back("the line is not known: build with -g");
  return report(it);
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
    if (known) it.notes = notes_of(range);
    it.help =
        "a device pointer means nothing on the host; copy with cudaMemcpy, and launch a kernel "
        "with <<<grid, block>>>";
  } else if (explain_address(address, verb(fault), &it)) {
    it.headline += " by host code";
  } else {
    it.headline = format("host code %s memory that was never allocated",
                         fault.knows_write && fault.is_write ? "wrote" : "touched");
  }
  report_fault(std::move(it));
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
  if (escape != nullptr) {
    escaped_from = info->si_addr;
    siglongjmp(*escape, 1);
  }
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
    take_backtrace(registers);
    if (in_kernel()) {
      if (inside_library_call()) {
        report_kernel_fault(fault, where());
        end_process();
      }
      leave_kernel(Exit::kFault, fault);
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
  Report it = explain(fault);
  it.where = where;
  return report_fault(std::move(it));
}

bool guarded_copy(void* destination, const void* source, std::size_t bytes, const void** fault) {
  prepare_thread_for_faults();
  return guarded([&] { std::memmove(destination, source, bytes); }, fault);
}

bool guarded_fill(void* destination, int value, std::size_t bytes, const void** fault) {
  prepare_thread_for_faults();
  return guarded([&] { std::memset(destination, value, bytes); }, fault);
}

}  // namespace cuda_cpu
