// SPDX-License-Identifier: MIT
#include "program_image.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#include <mach-o/getsect.h>
#else
#include <link.h>
#endif

namespace cuda_cpu {

std::string program_path() {
  char path[PATH_MAX];
#if defined(__APPLE__)
  std::uint32_t size = sizeof(path);
  return _NSGetExecutablePath(path, &size) == 0 ? path : "";
#else
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
#endif
}

/// Where the program's own image lies, so that addresses in libraries can be told from its own.
std::uintptr_t program_base() {
  Dl_info info{};
  static const int anchor = 0;
  if (dladdr(&anchor, &info) == 0) return 0;
  return reinterpret_cast<std::uintptr_t>(info.dli_fbase);
}

std::uintptr_t program_bias() {
#if defined(__APPLE__)
  return 0;
#else
  const std::uintptr_t base = program_base();
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  return header != nullptr && header->e_type == ET_DYN ? base : 0;
#endif
}

bool is_in_program(const void* pc) {
  Dl_info info{};
  return dladdr(pc, &info) != 0 &&
         reinterpret_cast<std::uintptr_t>(info.dli_fbase) == program_base();
}

#if defined(__APPLE__)
bool is_constant_in_program(const void* address) { return is_in_program(address); }
#else
namespace {

struct Question {
  std::uintptr_t address;
  bool is_constant;
};

// One program or library: parts that are not writable, or not any more when it has been loaded.
int look_into_image(dl_phdr_info* image, std::size_t, void* argument) {
  auto* const question = static_cast<Question*>(argument);
  for (int i = 0; i < image->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = image->dlpi_phdr[i];
    const bool constant =
        (part.p_type == PT_LOAD && (part.p_flags & PF_W) == 0) || part.p_type == PT_GNU_RELRO;
    const std::uintptr_t begin = image->dlpi_addr + part.p_vaddr;
    if (!constant || question->address - begin >= part.p_memsz) continue;
    question->is_constant = true;
    return 1;
  }
  return 0;
}

}  // namespace

bool is_constant_in_program(const void* address) {
  Question question{reinterpret_cast<std::uintptr_t>(address), false};
  dl_iterate_phdr(look_into_image, &question);
  return question.is_constant;
}
#endif

#if defined(__linux__)
extern "C" char __executable_start, etext;
bool is_in_program_text(const void* pc) { return pc >= &__executable_start && pc < &etext; }
#elif defined(__APPLE__)
extern "C" const struct mach_header_64 _mh_execute_header;
bool is_in_program_text(const void* pc) {
  static unsigned long size = 0;
  static const unsigned char* const begin =
      getsectiondata(&_mh_execute_header, "__TEXT", "__text", &size);
  return pc >= begin && pc < begin + size;
}
#else
bool is_in_program_text(const void*) { return true; }
#endif

}  // namespace cuda_cpu
