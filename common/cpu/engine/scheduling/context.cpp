// SPDX-License-Identifier: MIT
// Context switch in assembly for x86-64 and aarch64 (Linux, macOS); ucontext elsewhere, which costs
// two system calls a switch. A handle is the stack pointer of the suspended context; its saved
// registers lie there.

#include "context.h"

#include <cstdint>
#include <cstring>

// The first instructions of a new context, in assembly.
extern "C" void cuda_cpu_context_entry() __attribute__((visibility("hidden")));

// The assembler's name of a C function.
#if defined(__APPLE__)
#define CUDA_CPU_ASM_NAME(name) "_" #name
#define CUDA_CPU_ASM_HIDDEN ".private_extern "
#else
#define CUDA_CPU_ASM_NAME(name) #name
#define CUDA_CPU_ASM_HIDDEN ".hidden "
#endif

namespace {

// Both ABIs require 16-byte alignment where a call is made.
[[maybe_unused]] char* aligned_top(void* top) {
  return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15});
}

}  // namespace

#if defined(__x86_64__) && !defined(CUDA_CPU_UCONTEXT)

// The return address is popped and jumped to. A `ret` would be predicted from the calls of the
// context that is being left, wrong every time; the jump is predicted from where it went last.
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl " CUDA_CPU_ASM_NAME(cuda_cpu_switch_context) "\n"
    CUDA_CPU_ASM_NAME(cuda_cpu_switch_context) ":\n"
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  popq %rcx\n"
    "  jmpq *%rcx\n"
    // First instructions of a new context: r12 holds the entry, r13 its argument. An undefined return
    // address tells debuggers that the call chain ends here.
    ".p2align 4\n"
    ".globl " CUDA_CPU_ASM_NAME(cuda_cpu_context_entry) "\n"
    CUDA_CPU_ASM_HIDDEN CUDA_CPU_ASM_NAME(cuda_cpu_context_entry) "\n"
    CUDA_CPU_ASM_NAME(cuda_cpu_context_entry) ":\n"
    "  .cfi_startproc\n"
    "  .cfi_undefined rip\n"
    "  movq %r13, %rdi\n"
    "  callq *%r12\n"
    "  ud2\n"
    "  .cfi_endproc\n");

extern "C" void* cuda_cpu_new_context(void* top, void (*entry)(void*), void* argument) {
  // r15, r14, r13, r12, rbx, rbp, return address; after them the stack is aligned for the entry's
  // call.
  std::uint64_t frame[7] = {};
  frame[2] = reinterpret_cast<std::uint64_t>(argument);
  frame[3] = reinterpret_cast<std::uint64_t>(entry);
  frame[6] = reinterpret_cast<std::uint64_t>(&cuda_cpu_context_entry);
  char* const handle = aligned_top(top) - 64;
  std::memcpy(handle + 8, frame, sizeof(frame));
  return handle + 8;
}

#elif defined(__aarch64__) && !defined(CUDA_CPU_UCONTEXT)

// x19-x28, the frame pointer x29, the link register x30, and the low halves of v8-v15 survive a
// call.
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl " CUDA_CPU_ASM_NAME(cuda_cpu_switch_context) "\n"
    CUDA_CPU_ASM_NAME(cuda_cpu_switch_context) ":\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n"
    "  stp x21, x22, [sp, #16]\n"
    "  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n"
    "  stp x27, x28, [sp, #64]\n"
    "  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n"
    "  stp d10, d11, [sp, #112]\n"
    "  stp d12, d13, [sp, #128]\n"
    "  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n"
    "  str x9, [x0]\n"
    "  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n"
    "  ldp x21, x22, [sp, #16]\n"
    "  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n"
    "  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n"
    "  ldp d10, d11, [sp, #112]\n"
    "  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  br x30\n"
    ".p2align 4\n"
    ".globl " CUDA_CPU_ASM_NAME(cuda_cpu_context_entry) "\n"
    CUDA_CPU_ASM_HIDDEN CUDA_CPU_ASM_NAME(cuda_cpu_context_entry) "\n"
    CUDA_CPU_ASM_NAME(cuda_cpu_context_entry) ":\n"
    "  .cfi_startproc\n"
    "  .cfi_undefined x30\n"
    "  mov x0, x20\n"
    "  blr x19\n"
    "  brk #0\n"
    "  .cfi_endproc\n");

extern "C" void* cuda_cpu_new_context(void* top, void (*entry)(void*), void* argument) {
  std::uint64_t frame[20] = {};
  frame[0] = reinterpret_cast<std::uint64_t>(entry);                     // x19
  frame[1] = reinterpret_cast<std::uint64_t>(argument);                  // x20
  frame[11] = reinterpret_cast<std::uint64_t>(&cuda_cpu_context_entry);  // x30
  char* const handle = aligned_top(top) - sizeof(frame);
  std::memcpy(handle, frame, sizeof(frame));
  return handle;
}

#else

#include <ucontext.h>

// Here a handle points to a ucontext_t that lives on the suspended context's own stack.

namespace {

struct NewContext {
  ucontext_t context;
  void (*entry)(void*);
  void* argument;
};

// makecontext passes ints only; a pointer travels in two.
void enter(unsigned high, unsigned low) {
  auto* const fresh = reinterpret_cast<NewContext*>(
      static_cast<std::uintptr_t>((std::uint64_t{high} << 32) | std::uint64_t{low}));
  fresh->entry(fresh->argument);
}

}  // namespace

extern "C" void cuda_cpu_switch_context(void** save, void* load) {
  ucontext_t here;
  *save = &here;
  swapcontext(&here, static_cast<ucontext_t*>(load));
}

extern "C" void* cuda_cpu_new_context(void* top, void (*entry)(void*), void* argument) {
  constexpr std::size_t kAssumedStack =
      16 * 1024;  // makecontext only uses the sum of base and size
  char* const place = aligned_top(top) - ((sizeof(NewContext) + 63) & ~std::size_t{63});
  auto* const fresh = reinterpret_cast<NewContext*>(place);
  getcontext(&fresh->context);
  fresh->context.uc_stack.ss_sp = place - kAssumedStack;
  fresh->context.uc_stack.ss_size = kAssumedStack;
  fresh->context.uc_link = nullptr;
  fresh->entry = entry;
  fresh->argument = argument;
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(fresh));
  makecontext(&fresh->context, reinterpret_cast<void (*)()>(enter), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  return &fresh->context;
}

#endif
