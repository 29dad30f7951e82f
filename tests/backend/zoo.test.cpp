// SPDX-License-Identifier: MIT
// The bug zoo: small wrong programs, each of which says in its comments what the CPU backend must
// report about it. This driver runs them; it knows none of them.
//
//   // RUN: NAME=VALUE ...     environment of a run; there is a run for each, or one without any
//   // EXPECT: TEXT            a line of standard error that contains TEXT; none: it stays empty
//   // EXPECT-NOT: TEXT        no line of standard error does
//   // EXPECT-STDOUT: TEXT     a line of standard output that contains TEXT
//   // EXPECT-STATUS: N        exit status; if not said 1, or 0 where standard error stays empty
//   // ARCH: x86_64           only there (what uname -m says): other CPUs do not trap
//   // BUILD: cpu-xray         a program for a sanitizer; skipped where it has not been built
//   // CASE: NAME              the lines from here to the next CASE are one case's, not all cases'
//
// A file without CASE is one program. Neighbours share a file: each is a case, and what stands
// before the first of them holds for all. The program runs once more for each, with the case's name
// as its only argument: zoo/cases.cuh has its main. BUILD is a file's, not a case's.
//
// In TEXT, {file} is the program's path as in the messages, and {name} the number of the line that
// ends in the comment `// @name`; no other line of the file has that name. ZOO_DIR is the folder of
// the built programs (build/cpu/zoo).
#include <fcntl.h>
#include <signal.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../catch.hpp"

namespace {

namespace fs = std::filesystem;

const char* const kSources = "tests/backend/zoo";
constexpr double kSecondsPerRun = 60;  // of an idle machine

struct Animal {
  std::string program, file;
  std::string chosen_case;  // empty: the file has none
  std::string build = "cpu";
  std::string arch;                            // empty: any
  std::vector<std::vector<std::string>> runs;  // NAME=VALUE each
  std::vector<std::string> expected, unexpected, expected_output;
  std::optional<int> status;  // none: what follows from whether anything is reported

  bool is_silent() const { return expected.empty(); }
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

// Whether the line is a comment `// KEY: TEXT`.
bool says(const std::string& line, const std::string& key, std::string* text) {
  const std::string prefix = "// " + key + ": ";
  if (line.rfind(prefix, 0) != 0) return false;
  *text = line.substr(prefix.size());
  return true;
}

// What a file says of its only animal, or of each of its cases.
std::vector<Animal> read_animals(const std::string& name) {
  Animal for_all;
  for_all.program = name;
  for_all.file = std::string(kSources) + "/" + name + ".cu";
  const std::vector<std::string> source = lines(contents(for_all.file));
  std::map<std::string, std::string> names{{"file", for_all.file}};
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t at = source[i].rfind("// @");
    if (at == std::string::npos) continue;
    if (!names.emplace(source[i].substr(at + 4), std::to_string(i + 1)).second) {
      FAIL(for_all.file << ":" << i + 1 << ": a second mark of this name");
    }
  }
  std::vector<Animal> cases;
  for (const std::string& line : source) {
    std::string text;
    if (says(line, "CASE", &text)) {
      cases.push_back(for_all);
      cases.back().chosen_case = text;
      continue;
    }
    Animal& animal = cases.empty() ? for_all : cases.back();
    const auto argument_of = [&](const std::string& key, std::string* argument) {
      if (!says(line, key, argument)) return false;
      *argument = filled_in(*argument, names);
      return true;
    };
    if (argument_of("RUN", &text)) animal.runs.push_back(words(text));
    if (argument_of("EXPECT", &text)) animal.expected.push_back(text);
    if (argument_of("EXPECT-NOT", &text)) animal.unexpected.push_back(text);
    if (argument_of("EXPECT-STDOUT", &text)) animal.expected_output.push_back(text);
    if (argument_of("EXPECT-STATUS", &text)) animal.status = std::stoi(text);
    if (argument_of("ARCH", &text)) animal.arch = text;
    if (argument_of("BUILD", &text)) {
      if (!cases.empty()) FAIL(for_all.file << ": BUILD must stand before the first CASE");
      animal.build = text;
    }
  }
  if (cases.empty()) cases.push_back(for_all);
  for (Animal& animal : cases) {
    if (animal.runs.empty()) animal.runs.push_back({});
  }
  return cases;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kSources)) {
    if (entry.path().extension() == ".cu") names.push_back(entry.path().stem().string());
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
  // build/cpu/zoo beside build/cpu-xray/zoo
  const std::size_t at = dir.rfind("/cpu/");
  if (build == "cpu" || at == std::string::npos) return dir;
  return dir.substr(0, at) + "/" + build + dir.substr(at + 4);
}

struct Outcome {
  int status = -1;  // 128 + signal for a program that was killed
  bool timed_out = false;
  std::string out, err;
};

// The share of a core that each running process gets: a second counts so much.
double share_of_core() {
  double load = 0;
  if (getloadavg(&load, 1) != 1) return 1;
  return std::min(1.0, std::max(1u, std::thread::hardware_concurrency()) / std::max(load, 1.0));
}

// An empty argument stands for none.
Outcome run(const std::string& program, const std::string& argument,
            const std::vector<std::string>& environment) {
  char folder[] = "/tmp/zooXXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string out = std::string(folder) + "/out", err = std::string(folder) + "/err";
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // The test's own settings must not reach the animals.
    for (const char* const name :
         {"CUDA_CPU_SCHEDULE", "CUDA_CPU_TIMEOUT", "CUDA_CPU_WORKERS", "CUDA_CPU_DEVICES",
          "CUDA_CPU_LEAKS", "CUDA_CPU_RACES", "CUDA_CPU_RACES_MIB", "CUDA_LAUNCH_BLOCKING"}) {
      unsetenv(name);
    }
    for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
    dup2(open(out.c_str(), O_CREAT | O_WRONLY, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
    execl(program.c_str(), program.c_str(), argument.empty() ? nullptr : argument.c_str(),
          static_cast<char*>(nullptr));
    _exit(127);
  }
  Outcome outcome;
  int status = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (waitpid(child, &status, WNOHANG) == 0) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (took.count() > kSecondsPerRun && took.count() * share_of_core() > kSecondsPerRun) {
      outcome.timed_out = true;
      kill(child, SIGKILL);
    }
    usleep(2000);
  }
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = contents(out);
  outcome.err = contents(err);
  fs::remove_all(folder);
  return outcome;
}

bool some_line_contains(const std::string& text, const std::string& part) {
  for (const std::string& line : lines(text)) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

void check(const Animal& animal, const std::vector<std::string>& environment) {
  const std::string program = zoo_dir(animal.build) + "/" + animal.program;
  const Outcome outcome = run(program, animal.chosen_case, environment);
  std::string settings;
  for (const std::string& entry : environment) settings += entry + " ";
  INFO("run: " << settings << program << " " << animal.chosen_case);
  INFO("stdout:\n" << outcome.out);
  INFO("stderr:\n" << outcome.err);
  CHECK_FALSE(outcome.timed_out);
  CHECK(outcome.status == animal.status.value_or(animal.is_silent() ? 0 : 1));
  if (animal.is_silent()) CHECK(outcome.err.empty());
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

// A case that only the comments know would never run, and one that they do not know is not checked.
void check_cases(const std::string& program, const std::vector<Animal>& animals) {
  std::vector<std::string> said;
  for (const Animal& animal : animals) said.push_back(animal.chosen_case);
  std::sort(said.begin(), said.end());
  std::vector<std::string> known = lines(run(program, "--list", {}).out);
  std::sort(known.begin(), known.end());
  INFO("the CASE lines, and what " << program << " --list prints");
  CHECK(said == known);
  CHECK(run(program, "no_such_case", {}).status == 2);
}

}  // namespace

TEST_CASE("every animal of the bug zoo is reported as its comments say") {
  const std::vector<std::string> names = all_names();
  REQUIRE_FALSE(names.empty());
  for (const std::string& name : names) {
    const std::vector<Animal> animals = read_animals(name);
    const std::string program = zoo_dir(animals[0].build) + "/" + name;
    if (animals[0].build != "cpu" && access(program.c_str(), X_OK) != 0) continue;
    if (!animals[0].chosen_case.empty()) {
      DYNAMIC_SECTION(name << ": its cases") { check_cases(program, animals); }
    }
    for (const Animal& animal : animals) {
      if (!animal.arch.empty() && animal.arch != this_arch()) continue;
      DYNAMIC_SECTION(name << (animal.chosen_case.empty() ? "" : ":") << animal.chosen_case) {
        INFO(animal.file << (animal.chosen_case.empty() ? "" : ":") << animal.chosen_case);
        // An animal without expectations would pass whatever happened.
        REQUIRE(animal.expected.size() + animal.expected_output.size() > 0);
        for (const std::vector<std::string>& environment : animal.runs) check(animal, environment);
      }
    }
  }
}
