// SPDX-License-Identifier: MIT
#include "program_image.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string_view>

#include "text.h"

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#include <mach-o/getsect.h>
#else
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#endif

namespace cuda_cpu {

#if !defined(__APPLE__)
namespace {

// One program or library: whether the address is in a part that is not writable, or not any more
// when it has been loaded.
int has_as_constant(dl_phdr_info* image, std::size_t, void* address) {
  for (int i = 0; i < image->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = image->dlpi_phdr[i];
    const bool constant =
        (part.p_type == PT_LOAD && (part.p_flags & PF_W) == 0) || part.p_type == PT_GNU_RELRO;
    const std::uintptr_t begin = image->dlpi_addr + part.p_vaddr;
    if (constant && reinterpret_cast<std::uintptr_t>(address) - begin < part.p_memsz) return 1;
  }
  return 0;
}

/// The program's file, mapped for its symbol table; empty if that fails.
std::string_view map_program() {
  std::string_view image;
  const int file = open(program_path().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return image;
  struct stat info {};
  if (fstat(file, &info) == 0) {
    const auto bytes = static_cast<std::size_t>(info.st_size);
    void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) image = {static_cast<const char*>(mapped), bytes};
  }
  close(file);
  return image;
}

/// Mangled name of the function at `address` of the file; nullptr when unknown.
const char* symbol_at(std::uintptr_t address) {
  static const std::string_view image = map_program();
  if (image.size() < sizeof(ElfW(Ehdr))) return nullptr;
  const char* const data = image.data();
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(data);
  const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(data + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(data + sections[i].sh_offset);
    const char* const names = data + sections[sections[i].sh_link].sh_offset;
    const std::size_t count = sections[i].sh_size / sizeof(ElfW(Sym));
    for (std::size_t k = 0; k < count; ++k) {
      if ((symbols[k].st_info & 0xf) == STT_FUNC && symbols[k].st_value == address) {
        return names + symbols[k].st_name;
      }
    }
  }
  return nullptr;
}

}  // namespace
#endif

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

bool is_constant_in_program(const void* address) {
#if defined(__APPLE__)
  return is_in_program(address);
#else
  return dl_iterate_phdr(has_as_constant, const_cast<void*>(address)) != 0;
#endif
}

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

const char* function_name(const void* address, const char* fallback) {
  const char* mangled = nullptr;
#if defined(__APPLE__)
  Dl_info info{};
  if (dladdr(address, &info) != 0) mangled = info.dli_sname;
#else
  mangled = symbol_at(reinterpret_cast<std::uintptr_t>(address) - program_bias());
#endif
  if (mangled == nullptr) return fallback;
  int status = 0;
  char* const demangled = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : mangled;
  std::free(demangled);
  const std::string anonymous = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = name.find(anonymous, at)) != std::string::npos;) {
    name.erase(at, anonymous.size());
  }
  // "void scale<float>(float*, int)" -> "scale<float>": the return type of a template instance and
  // the argument list go; blanks and parentheses inside <> stay.
  std::size_t begin = 0, end = name.size();
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth == 0 && name[i] == ' ') begin = i + 1;
    if (depth == 0 && name[i] == '(') {
      end = i;
      break;
    }
  }
  return intern(name.substr(begin, end - begin));
}

}  // namespace cuda_cpu
