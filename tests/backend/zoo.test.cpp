// SPDX-License-Identifier: MIT
// The bug zoo: small wrong programs, each of which says in its comments what the CPU backend must
// report about it. This driver runs them; it knows none of them.
//
//   // RUN: NAME=VALUE ...     environment of a run; several such lines are several runs, none is
//   one run
//   // EXPECT: TEXT            a line of standard error that contains TEXT
//   // EXPECT-NOT: TEXT        no line of standard error does
//   // EXPECT-STDOUT: TEXT     a line of standard output that contains TEXT
//   // EXPECT-STATUS: N        exit status; 1 if not said
//   // ARCH: x86_64           only there (what uname -m says): other CPUs do not trap
//   // BUILD: cpu-tsan         a program for a sanitizer; skipped where it has not been built
//
// In TEXT, {file} is the program's path as in the messages, and {name} the number of the line that
// ends in the comment `// @name`. ZOO_DIR is the folder of the built programs (build/cpu/zoo).
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#if defined(__linux__)
#include <sys/personality.h>
#endif
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "../catch.hpp"

namespace {

const char* const kSources = "tests/backend/zoo";
constexpr int kSecondsPerRun = 60;

struct Animal {
  std::string name, file;
  std::string build = "cpu";
  std::string arch;                            // empty: any
  std::vector<std::vector<std::string>> runs;  // NAME=VALUE each
  std::vector<std::string> expected, unexpected, expected_output;
  int status = 1;
};

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

std::string contents(const std::string& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Replaces {name} with the text of that name; other braces stay.
std::string filled_in(std::string text, const std::map<std::string, std::string>& names) {
  for (const auto& [name, value] : names) {
    const std::string key = "{" + name + "}";
    for (std::size_t at = text.find(key); at != std::string::npos;
         at = text.find(key, at + value.size())) {
      text.replace(at, key.size(), value);
    }
  }
  return text;
}

Animal read_animal(const std::string& name) {
  Animal animal;
  animal.name = name;
  animal.file = std::string(kSources) + "/" + name + ".cu";
  const std::vector<std::string> source = lines(contents(animal.file));
  std::map<std::string, std::string> names{{"file", animal.file}};
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t at = source[i].rfind("// @");
    if (at != std::string::npos) names[source[i].substr(at + 4)] = std::to_string(i + 1);
  }
  for (const std::string& line : source) {
    const auto argument_of = [&](const std::string& key, std::string* argument) {
      const std::string prefix = "// " + key + ": ";
      if (line.rfind(prefix, 0) != 0) return false;
      *argument = filled_in(line.substr(prefix.size()), names);
      return true;
    };
    std::string argument;
    if (argument_of("RUN", &argument)) animal.runs.push_back(words(argument));
    if (argument_of("EXPECT", &argument)) animal.expected.push_back(argument);
    if (argument_of("EXPECT-NOT", &argument)) animal.unexpected.push_back(argument);
    if (argument_of("EXPECT-STDOUT", &argument)) animal.expected_output.push_back(argument);
    if (argument_of("EXPECT-STATUS", &argument)) animal.status = std::stoi(argument);
    if (argument_of("BUILD", &argument)) animal.build = argument;
    if (argument_of("ARCH", &argument)) animal.arch = argument;
  }
  if (animal.runs.empty()) animal.runs.push_back({});
  return animal;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  if (DIR* const folder = opendir(kSources)) {
    while (const dirent* const entry = readdir(folder)) {
      const std::string name = entry->d_name;
      if (name.size() > 3 && name.compare(name.size() - 3, 3, ".cu") == 0) {
        names.push_back(name.substr(0, name.size() - 3));
      }
    }
    closedir(folder);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string this_arch() {
  utsname system{};
  uname(&system);
  return system.machine;
}

std::string zoo_dir(const std::string& build) {
  const char* const chosen = std::getenv("ZOO_DIR");
  const std::string dir = chosen != nullptr ? chosen : "build/cpu/zoo";
  // build/cpu/zoo beside build/cpu-tsan/zoo
  const std::size_t at = dir.rfind("/cpu/");
  if (build == "cpu" || at == std::string::npos) return dir;
  return dir.substr(0, at) + "/" + build + dir.substr(at + 4);
}

struct Outcome {
  int status = -1;  // 128 + signal for a program that was killed
  bool timed_out = false;
  std::string out, err;
};

Outcome run(const std::string& program, const std::vector<std::string>& environment) {
  char folder[] = "/tmp/zooXXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string out = std::string(folder) + "/out", err = std::string(folder) + "/err";
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // The test's own settings must not reach the animals.
    for (const char* const name :
         {"CUDA_CPU_SCHEDULE", "CUDA_CPU_TIMEOUT", "CUDA_CPU_WORKERS", "CUDA_CPU_EARLY_RETURN",
          "CUDA_CPU_LEAKS", "CUDA_CPU_RACES", "CUDA_CPU_RACES_MIB", "CUDA_LAUNCH_BLOCKING"}) {
      unsetenv(name);
    }
    for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
    dup2(open(out.c_str(), O_CREAT | O_WRONLY, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
#if defined(__linux__)
    // ThreadSanitizer has to find a race in every run, not in most: the addresses that its record
    // of fences is hashed by stay the same.
    if (program.find("tsan") != std::string::npos) personality(ADDR_NO_RANDOMIZE);
#endif
    execl(program.c_str(), program.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  Outcome outcome;
  int status = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(kSecondsPerRun);
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (!outcome.timed_out && std::chrono::steady_clock::now() > deadline) {
      outcome.timed_out = true;
      kill(child, SIGKILL);
    }
    usleep(2000);
  }
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = contents(out);
  outcome.err = contents(err);
  unlink(out.c_str());
  unlink(err.c_str());
  rmdir(folder);
  return outcome;
}

bool some_line_contains(const std::string& text, const std::string& part) {
  for (const std::string& line : lines(text)) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

void check(const Animal& animal, const std::vector<std::string>& environment) {
  const Outcome outcome = run(zoo_dir(animal.build) + "/" + animal.name, environment);
  std::string settings;
  for (const std::string& entry : environment) settings += entry + " ";
  INFO("run: " << settings << zoo_dir(animal.build) + "/" + animal.name);
  INFO("stdout:\n" << outcome.out);
  INFO("stderr:\n" << outcome.err);
  CHECK_FALSE(outcome.timed_out);
  CHECK(outcome.status == animal.status);
  for (const std::string& text : animal.expected) {
    INFO("expected on stderr: " << text);
    CHECK(some_line_contains(outcome.err, text));
  }
  for (const std::string& text : animal.unexpected) {
    INFO("not expected on stderr: " << text);
    CHECK_FALSE(some_line_contains(outcome.err, text));
  }
  for (const std::string& text : animal.expected_output) {
    INFO("expected on stdout: " << text);
    CHECK(some_line_contains(outcome.out, text));
  }
}

}  // namespace

TEST_CASE("every animal of the bug zoo is reported as its comments say") {
  const std::vector<std::string> names = all_names();
  REQUIRE_FALSE(names.empty());
  for (const std::string& name : names) {
    const Animal animal = read_animal(name);
    const std::string program = zoo_dir(animal.build) + "/" + name;
    if (animal.build != "cpu" && access(program.c_str(), X_OK) != 0) continue;
    if (!animal.arch.empty() && animal.arch != this_arch()) continue;
    DYNAMIC_SECTION(name) {
      INFO(animal.file);
      // An animal without expectations would pass whatever happened.
      REQUIRE(animal.expected.size() + animal.expected_output.size() > 0);
      for (const std::vector<std::string>& environment : animal.runs) check(animal, environment);
    }
  }
}
