// SPDX-License-Identifier: MIT
// Context switch in assembly for x86-64 and aarch64 (Linux, macOS). A handle is the stack pointer
// of the suspended context; its saved registers lie there.

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
char* aligned_top(void* top) {
  return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15});
}

}  // namespace

#if defined(__x86_64__)

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

#elif defined(__aarch64__)

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
#error "the CPU backend runs on x86-64 and on aarch64"
#endif
