// SPDX-License-Identifier: MIT
// The pre-pass: turns a .cu or .cuh file into C++ for the CPU backend. Usage:
//
//   prepass [--define=NAME=VALUE...] IN OUT FOLDER...
//   prepass --into=TREE FILE...
//   prepass --declarations FILE...
//
// FOLDER: where IN's headers are looked for, beside its own. NAME: a macro from the compiler's
// command line. TREE: gets each FILE under its own path, so that one
// process does for a hundred headers. The last prints what stands in each FILE, on a line of JSON
// (listing.h).
//
// Reads and writes by the C library: the streams of C++ would double what compiling this file
// costs.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "lexer.h"
#include "listing.h"
#include "refused.h"
#include "rewriter.h"

namespace {

bool read_file(const std::string& path, std::string* text) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  char buffer[1 << 16];
  std::size_t count = 0;
  while ((count = std::fread(buffer, 1, sizeof(buffer), file)) > 0) text->append(buffer, count);
  const int error = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  errno = error;
  return error == 0;
}

void make_folders_of(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    mkdir(path.substr(0, at).c_str(), 0777);  // most are there; a real failure shows when writing
  }
}

// Written beside the target and renamed, so that an interrupted build leaves no half file behind.
bool write_file(const std::string& path, const std::string& text) {
  make_folders_of(path);
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  std::FILE* const file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return false;
  const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && whole && std::rename(temporary.c_str(), path.c_str()) == 0) {
    return true;
  }
  std::remove(temporary.c_str());
  return false;
}

/// The words of a line, as of a directive: `define`, the name, what it stands for.
std::vector<std::string> words_of(const char* at, const char* end) {
  std::vector<std::string> words;
  while (at != end) {
    const char* const begin = at;
    while (at != end && std::strchr(" \t\r", *at) == nullptr) ++at;
    if (at != begin) words.emplace_back(begin, at);
    if (at != end) ++at;
  }
  return words;
}

/// `#define HD __host__ __device__ inline`: nothing but specifiers.
void learn_specifiers(const std::vector<std::string>& words, prepass::LexedFile* file) {
  bool is_device = false, is_host = false;
  std::string place;
  for (std::size_t i = 2; i < words.size() && words[i][0] != '/'; ++i) {
    const std::string& word = words[i];
    if (word.compare(0, 2, "__") != 0 && word != "inline" && word != "static") return;
    const bool is_alone = i == 2 && (words.size() == 3 || words[3][0] == '/');
    const bool is_word = word == "__shared__" || word == "__device__" || word == "__global__";
    if (word == "__managed__" || word == "__constant__" || (is_alone && is_word)) place = word;
    is_device = is_device || word == "__device__" || word == "__global__";
    is_host = is_host || word == "__host__";
  }
  if (!place.empty()) file->words_of_macros[words[1]] = place;
  if (is_device) file->names_of_device.insert(words[1]);
  if (is_device && is_host) file->names_of_both.insert(words[1]);
}

/// The name of the header, if the words are those of an #include; else "".
std::string included(const std::vector<std::string>& words) {
  const bool is_one = words.size() > 1 && words[0] == "include" && words[1].size() > 2;
  return is_one ? words[1].substr(1, words[1].size() - 2) : "";
}

/// Where the header of that name lies, beside the file at `path` or in one of the folders: its
/// path, and its text is read. "" where it is not found.
std::string find_header(const std::string& name, const std::string& path,
                        const std::vector<std::string>& folders, std::string* text) {
  const std::string beside = path.substr(0, path.rfind('/') + 1) + name;
  if (read_file(beside, text)) return beside;
  for (const std::string& folder : folders) {
    if (read_file(folder + "/" + name, text)) return folder + "/" + name;
  }
  return "";
}

/// Adds the names that `text`, its headers, and theirs, define; those that stand for words of CUDA
/// apart. Only directives are read, for each file of a program looks through
/// all its headers. The compiler reports headers that are not found.
void learn_names(const std::string& text, const std::string& path,
                 const std::vector<std::string>& folders, std::set<std::string>* seen,
                 prepass::LexedFile* file) {
  for (const char* at = text.c_str(); *at != '\0';) {
    const char* const found = std::strchr(at, '\n');
    const char* const end = found != nullptr ? found : at + std::strlen(at);
    while (at != end && (*at == ' ' || *at == '\t')) ++at;
    if (at != end && *at == '#') {
      const std::vector<std::string> words = words_of(at + 1, end);
      if (words.size() > 2 && words[0] == "define") {
        file->names_defined.insert(words[1].substr(0, words[1].find('(')));
        learn_specifiers(words, file);
      }
      if (const std::string name = included(words); !name.empty()) {
        std::string header;
        const std::string place = find_header(name, path, folders, &header);
        if (!place.empty() && seen->insert(place).second) {
          learn_names(header, place, folders, seen, file);
        }
      }
    }
    at = end + (*end == '\n' ? 1 : 0);
  }
}

/// What names that the file uses ask for, in lines before its first: each one that is known to be
/// missing becomes a macro.
void prepare_names(prepass::LexedFile* file) {
  constexpr const char* kMacros[] = {" CUDA_CPU_NO_CALL(", " CUDA_CPU_NO_TYPE(",
                                     " CUDA_CPU_NO_VALUE(", "(...) CUDA_CPU_ERROR("};
  std::set<std::string> used;
  const auto use = [&](const prepass::Token& token) {
    if (token.kind == prepass::Token::kIdentifier) used.insert(file->spelling(token));
  };
  for (const prepass::Token& token : file->tokens) use(token);
  for (const prepass::Directive& directive : file->directives) {
    for (const prepass::Token& token : directive.replacement) use(token);
  }
  // A lane that nobody reads from may hand over what it has not written yet.
  const auto shuffles = used.lower_bound("__shfl");
  if (shuffles != used.end() && shuffles->compare(0, 6, "__shfl") == 0) {
    file->first_lines =
        "#if !defined(__clang__)\n"
        "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n"
        "#endif\n";
  }
  for (const prepass::Refused& refused : prepass::kRefused) {
    for (int kind = 0; kind < prepass::Refused::kKinds; ++kind) {
      const char* const names = refused.names[kind] != nullptr ? refused.names[kind] : "";
      for (const std::string& name : words_of(names, names + std::strlen(names))) {
        if (used.count(name) == 0 || file->names_defined.count(name) != 0) continue;
        file->first_lines += "#define " + name + kMacros[kind] + '"' + name +
                             ": the CPU backend has " + refused.what + "\")\n";
      }
    }
  }
}

/// Each #include of a header that is known to be missing becomes a line that says so.
void refuse_headers(const std::string& path, const std::vector<std::string>& folders,
                    prepass::LexedFile* file) {
  for (const prepass::Directive& directive : file->directives) {
    if (directive.kind != prepass::Directive::kOther) continue;
    const char* const begin = file->text.c_str() + directive.begin + 1;
    const std::string name = included(words_of(begin, file->text.c_str() + directive.end));
    for (const prepass::RefusedHeader& header : prepass::kRefusedHeaders) {
      if (name.compare(0, std::strlen(header.begins), header.begins) != 0) continue;
      std::string text;
      if (!find_header(name, path, folders, &text).empty()) break;
      file->other_directives[directive.begin] =
          "#pragma GCC error \"<" + name + ">: the CPU backend has no " + header.what + "\"";
      break;
    }
  }
}

/// Writes to `out_path` what becomes of the file at `in_path`, before which the directives
/// `defines` hold; 1, after a message, if that fails.
int rewrite_file(const std::string& in_path, const std::string& out_path,
                 const std::vector<std::string>& folders, const std::string& defines) {
  std::string text;
  if (!read_file(in_path, &text)) {
    std::fprintf(stderr, "prepass: cannot read %s: %s\n", in_path.c_str(), std::strerror(errno));
    return 1;
  }
  try {
    prepass::LexedFile file = prepass::lex(text);
    std::set<std::string> seen;
    learn_names(defines, in_path, folders, &seen, &file);
    learn_names(text, in_path, folders, &seen, &file);
    refuse_headers(in_path, folders, &file);
    prepare_names(&file);
    if (!write_file(out_path, prepass::rewrite(file, in_path))) {
      std::fprintf(stderr, "prepass: cannot write %s\n", out_path.c_str());
      return 1;
    }
  } catch (const prepass::SourceError& error) {
    std::fprintf(stderr, "%s:%d: error: %s\n", in_path.c_str(), error.line, error.what());
    return 1;
  }
  return 0;
}

/// Prints what stands in the file at `path`; 1, after a message, if that fails.
int list_file(const std::string& path) {
  std::string text;
  if (!read_file(path, &text)) {
    std::fprintf(stderr, "prepass: cannot read %s: %s\n", path.c_str(), std::strerror(errno));
    return 1;
  }
  try {
    text = prepass::listing(prepass::lex(text));
  } catch (const prepass::SourceError& error) {
    std::fprintf(stderr, "%s:%d: error: %s\n", path.c_str(), error.line, error.what());
    return 1;
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

/// What follows `option` if the argument begins with it, else null.
const char* value_of(const char* option, const char* argument) {
  const std::size_t length = std::strlen(option);
  return std::strncmp(argument, option, length) == 0 ? argument + length : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const char* const tree = argc > 1 ? value_of("--into=", argv[1]) : nullptr) {
    int failed = 0;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      failed |= rewrite_file(arguments[i], std::string(tree) + "/" + arguments[i], {}, {});
    }
    return failed;
  }
  if (argc > 1 && arguments[0] == "--declarations") {
    int failed = 0;
    for (std::size_t i = 1; i < arguments.size(); ++i) failed |= list_file(arguments[i]);
    return failed;
  }
  std::string defines;
  auto at = arguments.begin();
  for (; at != arguments.end(); ++at) {
    const char* const definition = value_of("--define=", at->c_str());
    if (definition == nullptr) break;
    defines += "#define " + std::string(definition) + '\n';
    defines[defines.find('=', defines.rfind('#'))] = ' ';
  }
  if (arguments.end() - at < 2) {
    std::fprintf(
        stderr,
        "usage: prepass [--define=NAME=VALUE...] IN OUT FOLDER..., prepass --into=TREE FILE..., or "
        "prepass --declarations FILE...\n");
    return 2;
  }
  return rewrite_file(at[0], at[1], {at + 2, arguments.end()}, defines);
}
