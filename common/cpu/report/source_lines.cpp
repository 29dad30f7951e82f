// SPDX-License-Identifier: MIT
// The system's own tool reads the debug information (addr2line comes with the compiler's binutils,
// atos with macOS): it runs once, for a report.
#include "source_lines.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <utility>

#include "program_image.h"
#include "text.h"

namespace cuda_cpu {
namespace {

/// What a tool prints to standard output; empty when it cannot be run.
std::string output_of(std::vector<std::string> command) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  // The tool starts with no signal blocked, and with nothing of the environment but the path.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(&word[0]);
  argv.push_back(nullptr);
  const char* const path = std::getenv("PATH");
  std::string path_entry = std::string("PATH=") + (path != nullptr ? path : "/usr/bin:/bin");
  char* environment[] = {&path_entry[0], nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  std::string text;
  if (failed == 0) {
    char buffer[4096];
    ssize_t count = 0;
    while ((count = read(ends[0], buffer, sizeof(buffer))) > 0) {
      text.append(buffer, static_cast<std::size_t>(count));
    }
    int status = 0;
    waitpid(child, &status, 0);
  }
  close(ends[0]);
  return text;
}

/// True for code that no learner wrote: the backend's own and the system's headers.
bool is_foreign(const std::string& file) {
  constexpr const char* kFolders[] = {"common/cpu/",        "/usr/include/", "/usr/lib/",
                                      "/include/c++/",      "/lib/gcc/",     "/Xcode",
                                      "/CommandLineTools/", "sysdeps/"};
  const auto is_in = [&](const char* folder) { return file.find(folder) != std::string::npos; };
  return file.compare(0, 2, "??") == 0 ||
         std::any_of(std::begin(kFolders), std::end(kFolders), is_in);
}

/// The name as it was given to the compiler. Debug information puts the directory of the
/// compilation in front, the root of the repository; this file's own name shows how long that is.
std::string as_compiled(const std::string& file) {
  static const std::string root = [] {
    char directory[PATH_MAX];
    return std::string(getcwd(directory, sizeof(directory)) != nullptr ? directory : "") + "/";
  }();
  if (file.compare(0, root.size(), root) == 0) {
    // A compiler may name a function's first line after the file it reads, the pre-pass's mirror.
    const std::string name = file.substr(root.size());
    const std::string mirror = "build/cpu/src/", own = "build/own/src";
    if (name.compare(0, mirror.size(), mirror) == 0) return name.substr(mirror.size());
    const std::size_t path =
        name.compare(0, own.size(), own) == 0 ? name.find('/', own.size()) : std::string::npos;
    return path == std::string::npos ? name : as_compiled(name.substr(path));
  }
  for (const char* top : {"/chapters/", "/tests/", "/common/", "/work/"}) {
    const std::size_t at = file.rfind(top);
    if (at != std::string::npos &&
        access((file.substr(0, at) + "/common/cpu").c_str(), F_OK) == 0) {
      return file.substr(at + 1);
    }
  }
  return file;
}

/// The learner's line in "file:line" or "file:line (discriminator 2)"; file is nullptr where there
/// is none.
Site learners_line(const std::string& location) {
  const std::string place = location.substr(0, location.find(" ("));
  const std::size_t colon = place.rfind(':');
  const std::string file = place.substr(0, colon);
  const int line = colon == std::string::npos ? 0 : std::atoi(place.c_str() + colon + 1);
  if (line <= 0 || is_foreign(file)) return {nullptr, 0};
  return {intern(as_compiled(file)), line};
}

/// The frames of each return address, inlined ones first, in the order of the addresses. But for
/// macOS a line that begins with 0x stands before the frames of each.
std::vector<std::string> locations_of(const std::vector<const void*>& return_addresses) {
#if defined(__APPLE__)
  std::vector<std::string> command = {
      "atos", "-fullPath", "-i", "-o", program_path(), "-l", format("0x%zx", program_base())};
#else
  std::vector<std::string> command = {"addr2line", "-a", "-i", "-e", program_path()};
#endif
  for (const void* pc : return_addresses) {
    // It points after the call, which may be the next line already.
    const std::uintptr_t call = reinterpret_cast<std::uintptr_t>(pc) - 1;
    command.push_back(format("0x%zx", static_cast<std::size_t>(call - program_bias())));
  }
  const std::string text = output_of(command);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
#if defined(__APPLE__)
    // "kernel(float*) (in program) (/path/file.cu:42)"
    const std::size_t open = line.rfind('(');
    line = open == std::string::npos ? "??" : line.substr(open + 1, line.rfind(')') - open - 1);
#endif
    lines.push_back(line);
  }
  return lines;
}

/// Where a program address stands in the source.
struct SourceFrames {
  /// The innermost inlined function first, without backend and system headers.
  std::vector<Site> lines;
  /// The innermost of all, as the debugger's tool names it: of several pieces of code that begin
  /// in one line each has a name of its own.
  std::string piece;
};

std::vector<SourceFrames> source_frames_of(const std::vector<const void*>& return_addresses) {
  std::vector<SourceFrames> all(return_addresses.size());
  const auto add = [](SourceFrames* frames, const std::string& text) {
    if (frames->piece.empty()) frames->piece = text;
    const Site site = learners_line(text);
    if (site.file != nullptr) frames->lines.push_back(site);
  };
#if defined(__APPLE__)
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::string& text : locations_of({return_addresses[i]})) add(&all[i], text);
  }
#else
  std::size_t next = 0;
  for (const std::string& text : locations_of(return_addresses)) {
    if (text.compare(0, 2, "0x") == 0) {
      ++next;
    } else if (next > 0 && next <= all.size()) {
      add(&all[next - 1], text);
    }
  }
#endif
  return all;
}

/// Of all places that were looked up.
std::map<const void*, SourceFrames>& known_frames() {
  static auto* const known = new std::map<const void*, SourceFrames>;
  return *known;
}

}  // namespace

Site first_source_site(const void* const* pcs, int count) {
  std::vector<const void*> addresses;
  for (int i = 0; i < count; ++i) {
    if (is_in_program(pcs[i])) addresses.push_back(static_cast<const char*>(pcs[i]) + (i == 0));
  }
  if (addresses.empty()) return Site{nullptr, 0};
  for (const std::string& location : locations_of(addresses)) {
    const Site site = learners_line(location);
    if (site.file != nullptr) return site;
  }
  return Site{nullptr, 0};
}

Site source_site_of(const void* pc) { return first_source_site(&pc, 1); }

void look_up(const std::vector<const void*>& places) {
  std::vector<const void*> unknown;
  for (const void* place : places) {
    if (known_frames().emplace(place, SourceFrames{}).second) unknown.push_back(place);
  }
  if (unknown.empty()) return;
  std::vector<SourceFrames> frames = source_frames_of(unknown);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    known_frames()[unknown[i]] = std::move(frames[i]);
  }
}

Piece piece_of(const void* place, const std::string& file) {
  look_up({place});
  const SourceFrames& found = known_frames()[place];
  const auto in_file = std::find_if(found.lines.begin(), found.lines.end(),
                                    [&](const Site& line) { return file == line.file; });
  if (in_file != found.lines.end()) return {*in_file, found.piece.c_str()};
  return {found.lines.empty() ? Site{"", 0} : found.lines.front(), found.piece.c_str()};
}

}  // namespace cuda_cpu
