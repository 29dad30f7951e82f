// SPDX-License-Identifier: MIT
// What the CPU's own traps tell: accesses outside an allocation, host code that touches device
// memory, a stack that overflows, an integer division by zero.
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#if defined(__APPLE__)
#include <sys/ucontext.h>
#else
#include <ucontext.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>

#include "diagnostics.h"
#include "engine.h"
#include "memory.h"
#include "region_notes.h"

#if defined(CUDA_CPU_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace cuda_cpu {
namespace {

constexpr std::size_t kAlternateStackBytes = std::size_t{256} << 10;
constexpr std::uintptr_t kNullReach = std::uintptr_t{64} << 10;
// A function's own frame, at most, below the stack pointer at which an overflow faults.
constexpr std::uintptr_t kStackReach = std::uintptr_t{64} << 10;
constexpr int kFramesMax = 32;
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// CUDA's codes (runtime_types.h is not for the engine's side).
constexpr int kIllegalAddress = 700;
constexpr int kHardwareStackError = 714;
constexpr int kIllegalInstruction = 715;
constexpr int kMisalignedAddress = 716;
constexpr int kLaunchFailure = 719;

struct sigaction previous_actions[NSIG];

/// What the handler saw, kept for the report that is written after the jump out of it. Plain data
/// of the OS thread: the report is written by the same one.
struct Trace {
  const void* pcs[kFramesMax];
  int count;
  std::uintptr_t stack_pointer;
  bool general_protection;  ///< the CPU gave no address: misaligned, or no address at all
};
thread_local Trace trace;
thread_local void* alternate_stack = nullptr;
thread_local sigjmp_buf* copy_escape = nullptr;
thread_local const void* copy_fault = nullptr;
thread_local sigjmp_buf* unwind_escape = nullptr;

struct Registers {
  void* pc;
  std::uintptr_t stack_pointer;
  bool knows_write;
  bool is_write;
};

Registers registers_of(void* context) {
  auto* const c = static_cast<ucontext_t*>(context);
  Registers r{};
#if defined(__linux__) && defined(__x86_64__)
  r.pc = reinterpret_cast<void*>(c->uc_mcontext.gregs[REG_RIP]);
  r.stack_pointer = static_cast<std::uintptr_t>(c->uc_mcontext.gregs[REG_RSP]);
  r.knows_write = true;
  r.is_write = (c->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#elif defined(__linux__) && defined(__aarch64__)
  r.pc = reinterpret_cast<void*>(c->uc_mcontext.pc);
  r.stack_pointer = c->uc_mcontext.sp;
  // The kernel appends records; the one with the syndrome says whether it was a write (bit 6).
  struct Head {
    std::uint32_t magic, size;
  };
  const auto* at = reinterpret_cast<const unsigned char*>(c->uc_mcontext.__reserved);
  const unsigned char* const end = at + sizeof(c->uc_mcontext.__reserved);
  while (at + sizeof(Head) <= end) {
    Head head;
    std::memcpy(&head, at, sizeof(head));
    if (head.magic == 0 || head.size == 0) break;
    if (head.magic == 0x45535201) {
      std::uint64_t syndrome;
      std::memcpy(&syndrome, at + sizeof(head), sizeof(syndrome));
      r.knows_write = true;
      r.is_write = (syndrome & (1U << 6)) != 0;
      break;
    }
    at += head.size;
  }
#elif defined(__APPLE__) && defined(__x86_64__)
  r.pc = reinterpret_cast<void*>(c->uc_mcontext->__ss.__rip);
  r.stack_pointer = c->uc_mcontext->__ss.__rsp;
  r.knows_write = true;
  r.is_write = (c->uc_mcontext->__es.__err & 2) != 0;
#elif defined(__APPLE__) && defined(__aarch64__)
  r.pc = reinterpret_cast<void*>(c->uc_mcontext->__ss.__pc);
  r.stack_pointer = c->uc_mcontext->__ss.__sp;
  r.knows_write = true;
  r.is_write = (c->uc_mcontext->__es.__esr & (1U << 6)) != 0;
#else
  static_cast<void>(c);
#endif
  return r;
}

/// Where a function that has just been entered returns to.
const void* return_address(void* context) {
  auto* const c = static_cast<ucontext_t*>(context);
#if defined(__linux__) && defined(__x86_64__)
  return *reinterpret_cast<void**>(c->uc_mcontext.gregs[REG_RSP]);
#elif defined(__linux__) && defined(__aarch64__)
  return reinterpret_cast<void*>(c->uc_mcontext.regs[30]);
#elif defined(__APPLE__) && defined(__x86_64__)
  return *reinterpret_cast<void**>(c->uc_mcontext->__ss.__rsp);
#elif defined(__APPLE__) && defined(__aarch64__)
  return reinterpret_cast<void*>(c->uc_mcontext->__ss.__lr);
#else
  static_cast<void>(c);
  return nullptr;
#endif
}

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
  if (trace.count == kFramesMax) return _URC_END_OF_STACK;
  trace.pcs[trace.count++] = pc;
  return _URC_NO_REASON;
}

/// Frames from the fault outwards. Fibers end in frames that no unwinder knows: a fault on the way
/// there ends the walk.
void take_trace(const Registers& registers, void* context) {
  trace.count = 0;
  trace.pcs[trace.count++] = registers.pc;
  trace.stack_pointer = registers.stack_pointer;
  sigjmp_buf escape;
  unwind_escape = &escape;
  if (sigsetjmp(escape, 1) == 0) {
    Walk walk{registers.pc, false};
    _Unwind_Backtrace(add_frame, &walk);
    // A call to nowhere leaves no frame to unwind, only the address to return to.
    if (trace.count == 1 && !is_in_program(registers.pc)) {
      trace.pcs[trace.count++] = return_address(context);
    }
  }
  unwind_escape = nullptr;
}

const char* verb(const Fault& fault) {
  if (!fault.knows_write) return "access";
  return fault.is_write ? "write" : "read";
}

std::string name_of(const Region& region) {
  switch (region.space) {
    case Space::kShared:
      return format("the __shared__ array '%s'", region.name);
    case Space::kConstant:
      return format("the __constant__ variable '%s'", region.name);
    case Space::kDevice:
      return format("the __device__ variable '%s'", region.name);
    case Space::kManaged:
      if (*region.name != '\0') return format("the __managed__ variable '%s'", region.name);
      return "managed memory";
    case Space::kHostPinned:
      return "pinned host memory";
    case Space::kHostRegistered:
      return "registered host memory";
    case Space::kGlobal:
      break;
  }
  return "device memory";
}

void add_origin(const Region& region, Report* report) {
  report->notes.push_back(origin_note(region));
  if (!region.live) report->notes.push_back(freed_note(region));
}

std::string times(std::size_t count, const char* thing) {
  return format("%zu %s%s", count, thing, count == 1 ? "" : "s");
}

/// Says where `address` lies as seen from the nearest known memory. False when there is none near.
bool explain_place(std::uintptr_t address, const char* verb, Report* report) {
  Region region;
  if (!find_region(reinterpret_cast<const void*>(address), &region, std::size_t{1} << 30)) {
    return false;
  }
  const std::string what = name_of(region);
  const bool inside = address >= region.base && address < region.end();
  if (inside && region.live) return false;
  if (!region.live) {
    report->headline = format("use after free (%s)", verb);
    if (inside) {
      report->details.push_back(format("the address is byte %zu of freed %s (%s)",
                                       address - region.base, what.c_str(),
                                       size_text(region).c_str()));
    } else {
      report->details.push_back(
          format("the address is near freed %s (%s)", what.c_str(), size_text(region).c_str()));
    }
    add_origin(region, report);
    report->help = "free the memory after the last kernel that uses it";
    return true;
  }
  report->headline = format("out-of-bounds %s", verb);
  if (address >= region.end()) {
    const std::size_t past = address - region.end();
    report->details.push_back(past == 0 ? format("the address is right behind the end of %s (%s)",
                                                 what.c_str(), size_text(region).c_str())
                                        : format("the address is %s past the end of %s (%s)",
                                                 times(past, "byte").c_str(), what.c_str(),
                                                 size_text(region).c_str()));
    if (region.element_size > 1 && region.size >= region.element_size) {
      const std::size_t last = region.size / region.element_size - 1;
      report->details.push_back(
          format("that is element %zu; ", (address - region.base) / region.element_size) +
          (last == 0 ? "only 0 is valid" : format("valid are 0 to %zu", last)));
    }
    report->help =
        region.space == Space::kShared
            ? "size the array by the threads of the block; a launch gives dynamic shared "
              "memory in bytes"
        : region.space == Space::kConstant || region.space == Space::kDevice
            ? "guard the index, e.g. if (i < n)"
            : "guard the index, e.g. if (i < n); if the index is right, more has to be allocated: "
              "n * sizeof(T) bytes";
  } else {
    const std::size_t before = region.base - address;
    report->details.push_back(format("the address is %s before the start of %s (%s)",
                                     times(before, "byte").c_str(), what.c_str(),
                                     size_text(region).c_str()));
    if (region.element_size > 1) {
      report->details.push_back(
          format("that is element -%zu", (before + region.element_size - 1) / region.element_size));
    }
    report->help = "the index is negative, or an unsigned one wrapped below 0";
  }
  add_origin(region, report);
  return true;
}

/// An overflow faults a little below the stack pointer, where no other memory is.
bool near_stack_pointer(const void* address) {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t sp = trace.stack_pointer;
  return !is_device_address(address) && !is_host_visible_address(address) &&
         (a > sp ? a - sp : sp - a) < kStackReach;
}

void explain_segfault(const Fault& fault, Report* report) {
  const auto address = reinterpret_cast<std::uintptr_t>(fault.address);
  report->cuda_error = kIllegalAddress;
  if (trace.general_protection) {
    report->headline = "misaligned address";
    report->details.push_back(
        "a vector type (float4, int4, double2, ...) must lie at a multiple of its size");
    report->help = "check the offset of the pointer that was cast to the vector type";
    report->cuda_error = kMisalignedAddress;
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
    report->cuda_error = kHardwareStackError;
    return;
  }
  if (explain_place(address, verb(fault), report)) return;
  report->headline = format("%s of memory that was never allocated", verb(fault));
  report->details.push_back(format("the address is %p", fault.address));
  report->help = "was the pointer initialised, and the index computed without overflow?";
}

void explain(const Fault& fault, Report* report) {
  switch (fault.signal) {
    case SIGFPE:
      report->headline = "integer division by zero";
      report->details.push_back("(or of the most negative number by -1)");
      report->help = "a GPU gives a meaningless result here and says nothing";
      report->cuda_error = kLaunchFailure;
      break;
    case SIGILL:
      report->headline = "illegal instruction";
      report->details.push_back(
          "the compiler puts one where code can never go, e.g. behind a missing return");
      report->cuda_error = kIllegalInstruction;
      break;
    default:
      explain_segfault(fault, report);
  }
}

/// A fault in a function that the kernel's library call made (printf that reads a string): it may
/// hold a lock of the library, so nothing can go on after it. A library function that the kernel
/// called itself (memcpy) holds none.
bool inside_library_call() {
  return trace.count > 1 && !is_in_program(trace.pcs[0]) && !is_in_program(trace.pcs[1]);
}

[[noreturn]] void end_process() {
  std::cout.flush();
  std::fflush(stdout);
  _exit(1);
}

/// Host code faulted on memory of ours. Never returns: there is nothing to go on with.
[[noreturn]] void end_host_fault(const Fault& fault) {
  const auto address = reinterpret_cast<std::uintptr_t>(fault.address);
  Report it;
  it.site = first_source_site(trace.pcs, trace.count);
  it.cuda_error = kIllegalAddress;
  Region region;
  const bool known = find_region(fault.address, &region, std::size_t{1} << 30);
  const bool inside = known && address >= region.base && address < region.end();
  if (is_device_address(fault.address) &&
      (!known || (region.live && region.space == Space::kGlobal))) {
    it.headline = format("host code %s device memory", !fault.knows_write ? "touched"
                                                       : fault.is_write   ? "wrote"
                                                                          : "read");
    if (inside) {
      it.details.push_back(format("the address is byte %zu of an allocation of %s",
                                  address - region.base, size_text(region).c_str()));
    }
    if (known) add_origin(region, &it);
    it.help =
        "a device pointer means nothing on the host; copy with cudaMemcpy, and launch a kernel "
        "with "
        "<<<grid, block>>>";
  } else if (explain_place(address, verb(fault), &it)) {
    it.headline += " by host code";
  } else {
    it.headline = format("host code %s memory that was never allocated",
                         fault.knows_write && fault.is_write ? "wrote" : "touched");
  }
  if (it.site.file == nullptr) it.details.push_back("the line is not known: build with -g");
  report(it);
  end_process();
}

/// A signal from kill() or raise(), not from an instruction.
bool was_sent(const siginfo_t& info) {
#if defined(__APPLE__)
  return info.si_code == SI_USER || info.si_code == SI_QUEUE;
#else
  return info.si_code <= 0;
#endif
}

/// x86 does not say the address of a misaligned vector access.
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
  if (copy_escape != nullptr && (signal == SIGSEGV || signal == SIGBUS)) {
    copy_fault = info->si_addr;
    siglongjmp(*copy_escape, 1);
  }
  hold_interrupts();  // the watchdog is not to jump out of this handler
  const Registers registers = registers_of(context);
  const bool memory_fault = signal == SIGSEGV || signal == SIGBUS;
  const Fault fault{signal, info->si_addr, registers.pc, registers.is_write,
                    registers.knows_write && memory_fault};
  const bool sent = was_sent(*info);
  const bool ours = is_device_address(fault.address) || is_host_visible_address(fault.address);
  if (!sent && (in_kernel() || (memory_fault && ours))) {
    trace.general_protection = signal == SIGSEGV && gave_no_address(*info);
    take_trace(registers, context);
    if (in_kernel()) {
      if (inside_library_call()) {
        report_kernel_fault(fault, where());
        end_process();
      }
      escape_from_fault(fault);
    }
    end_host_fault(fault);
  }
  // Not ours: whoever handled it before, or the system, sees it again at the same instruction.
  sigaction(signal, &previous_actions[signal], nullptr);
  if (sent) raise(signal);
}

}  // namespace

#if defined(CUDA_CPU_ASAN)
// AddressSanitizer sees accesses that do not reach a guard page, such as a read just behind the
// end. It calls this before its own report, which knows nothing of allocations made here.
extern "C" void __asan_on_error() {
  void* const address = __asan_get_report_address();
  if (!is_device_address(address) && !is_host_visible_address(address)) return;
  Report it;
  it.where = where();
  it.site = source_site_of(__asan_get_report_pc());
  it.cuda_error = kIllegalAddress;
  if (explain_place(reinterpret_cast<std::uintptr_t>(address),
                    __asan_get_report_access_type() != 0 ? "write" : "read", &it)) {
    report(it);
  }
}
#endif

#if defined(CUDA_CPU_TSAN)
// The handler ends the process or leaves by a jump; what it interrupted is never resumed.
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

int report_kernel_fault(const Fault& fault, const Where& where) {
  Report it;
  it.where = where;
  it.site = first_source_site(trace.pcs, trace.count);
  explain(fault, &it);
  if (it.site.file == nullptr) it.details.push_back("the line is not known: build with -g");
  return report(it);
}

bool guarded_copy(void* destination, const void* source, std::size_t bytes, const void** fault) {
  prepare_thread_for_faults();
  sigjmp_buf escape;
  if (sigsetjmp(escape, 1) != 0) {
    copy_escape = nullptr;
    *fault = copy_fault;
    return false;
  }
  copy_escape = &escape;
  std::memmove(destination, source, bytes);
  copy_escape = nullptr;
  return true;
}

bool guarded_fill(void* destination, int value, std::size_t bytes, const void** fault) {
  prepare_thread_for_faults();
  sigjmp_buf escape;
  if (sigsetjmp(escape, 1) != 0) {
    copy_escape = nullptr;
    *fault = copy_fault;
    return false;
  }
  copy_escape = &escape;
  std::memset(destination, value, bytes);
  copy_escape = nullptr;
  return true;
}

}  // namespace cuda_cpu
