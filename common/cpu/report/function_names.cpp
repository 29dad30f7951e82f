// SPDX-License-Identifier: MIT
#include "function_names.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "program_image.h"
#include "text.h"

#if defined(__APPLE__)
#include <dlfcn.h>
#else
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#endif

namespace cuda_cpu {
namespace {

#if !defined(__APPLE__)
/// The program's file, mapped for its symbol table.
class Image {
 public:
  Image() {
    const int file = open(program_path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat info {};
    if (fstat(file, &info) == 0) {
      bytes_ = static_cast<std::size_t>(info.st_size);
      void* const mapped = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped != MAP_FAILED) data_ = static_cast<const char*>(mapped);
    }
    close(file);
  }

  /// Mangled name of the function at `address` of the file; nullptr when unknown.
  const char* function_at(std::uintptr_t address) const {
    if (data_ == nullptr || bytes_ < sizeof(ElfW(Ehdr))) return nullptr;
    const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(data_);
    const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(data_ + header->e_shoff);
    for (int i = 0; i < header->e_shnum; ++i) {
      if (sections[i].sh_type != SHT_SYMTAB) continue;
      const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(data_ + sections[i].sh_offset);
      const char* const names = data_ + sections[sections[i].sh_link].sh_offset;
      const std::size_t count = sections[i].sh_size / sizeof(ElfW(Sym));
      for (std::size_t k = 0; k < count; ++k) {
        if ((symbols[k].st_info & 0xf) == STT_FUNC && symbols[k].st_value == address) {
          return names + symbols[k].st_name;
        }
      }
    }
    return nullptr;
  }

 private:
  const char* data_ = nullptr;
  std::size_t bytes_ = 0;
};
#endif

}  // namespace

const char* function_name(const void* address, const char* fallback) {
  const char* mangled = nullptr;
#if defined(__APPLE__)
  Dl_info info{};
  if (dladdr(address, &info) != 0) mangled = info.dli_sname;
#else
  static const Image* const image = new Image;
  mangled = image->function_at(reinterpret_cast<std::uintptr_t>(address) - program_bias());
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
