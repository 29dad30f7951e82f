// SPDX-License-Identifier: MIT
#include "machine_context.h"

#if defined(__APPLE__)
#include <sys/ucontext.h>
#else
#include <ucontext.h>
#endif

#include <cstring>
#include <initializer_list>

namespace cuda_cpu {

Registers registers_of(void* context) {
  auto* const c = static_cast<ucontext_t*>(context);
  Registers r{};
#if defined(__linux__) && defined(__x86_64__)
  r.pc = reinterpret_cast<void*>(c->uc_mcontext.gregs[REG_RIP]);
  r.stack_pointer = static_cast<std::uintptr_t>(c->uc_mcontext.gregs[REG_RSP]);
  r.return_address = reinterpret_cast<void**>(r.stack_pointer);
  r.knows_write = true;
  r.is_write = (c->uc_mcontext.gregs[REG_ERR] & 2) != 0;
  for (const int name : {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_R8,
                         REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15}) {
    r.general[r.count++] = static_cast<std::uintptr_t>(c->uc_mcontext.gregs[name]);
  }
#elif defined(__linux__) && defined(__aarch64__)
  r.pc = reinterpret_cast<void*>(c->uc_mcontext.pc);
  r.stack_pointer = c->uc_mcontext.sp;
  r.return_address = reinterpret_cast<void**>(&c->uc_mcontext.regs[30]);
  for (const auto value : c->uc_mcontext.regs) r.general[r.count++] = value;
  // The operating system appends records; bit 6 of the one with the syndrome says whether it was a
  // write.
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
  r.return_address = reinterpret_cast<void**>(r.stack_pointer);
  r.knows_write = true;
  r.is_write = (c->uc_mcontext->__es.__err & 2) != 0;
  const auto& s = c->uc_mcontext->__ss;
  for (const auto value : {s.__rax, s.__rbx, s.__rcx, s.__rdx, s.__rsi, s.__rdi, s.__rbp, s.__r8,
                           s.__r9, s.__r10, s.__r11, s.__r12, s.__r13, s.__r14, s.__r15}) {
    r.general[r.count++] = value;
  }
#elif defined(__APPLE__) && defined(__aarch64__)
  r.pc = reinterpret_cast<void*>(c->uc_mcontext->__ss.__pc);
  r.stack_pointer = c->uc_mcontext->__ss.__sp;
  r.return_address = reinterpret_cast<void**>(&c->uc_mcontext->__ss.__lr);
  r.knows_write = true;
  r.is_write = (c->uc_mcontext->__es.__esr & (1U << 6)) != 0;
  for (const auto value : c->uc_mcontext->__ss.__x) r.general[r.count++] = value;
#else
  static_cast<void>(c);
#endif
  return r;
}

}  // namespace cuda_cpu
