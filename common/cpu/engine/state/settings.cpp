// SPDX-License-Identifier: MIT
#include "settings.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <thread>

#include "../../report/diagnostics.h"
#include "../../report/text.h"
#include "device_limits.h"
#include "observer.h"
#include "sanitizers.h"

namespace cuda_cpu {

namespace {

Schedule read_schedule() {
  const char* const text = std::getenv("CUDA_CPU_SCHEDULE");
  if (text == nullptr || *text == '\0' || std::strcmp(text, "forward") == 0) {
    return {Schedule::Kind::kForward, 0};
  }
  if (std::strcmp(text, "reverse") == 0) return {Schedule::Kind::kReverse, 0};
  if (std::strncmp(text, "random:", 7) == 0 && text[7] >= '0' && text[7] <= '9') {
    char* end = nullptr;
    const std::uint64_t seed = std::strtoull(text + 7, &end, 10);
    if (*end == '\0') return {Schedule::Kind::kRandom, seed};
  }
  die("CUDA_CPU_SCHEDULE=%s: expected forward, reverse or random:SEED", text);
}

/// Which of the words the variable holds; 0 where it is not set.
std::size_t read_word(const char* name, std::initializer_list<std::string_view> words,
                      const char* expected) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return 0;
  const auto* const found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) die("%s=%s: expected %s", name, text, expected);
  return static_cast<std::size_t>(found - words.begin());
}

/// The whole number that the variable holds; `unset` where it is not set.
std::size_t read_number(const char* name, std::size_t unset, bool (*is_allowed)(std::size_t),
                        const char* expected) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return unset;
  char* end = nullptr;
  const std::size_t value = std::strtoull(text, &end, 10);
  if (end == text || *end != '\0' || !is_allowed(value)) {
    die("%s=%s: expected %s", name, text, expected);
  }
  return value;
}

double read_timeout() {
  double seconds = 10;
  if (const char* const text = std::getenv("CUDA_CPU_TIMEOUT")) {
    char* end = nullptr;
    seconds = std::strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds >= 0)) {
      die("CUDA_CPU_TIMEOUT=%s: expected a number of seconds, 0 for no limit", text);
    }
  }
  return kAsan ? seconds * 10 : seconds;
}

/// CUDA_CPU_RACES: 0; 1, look for races; 2, in all launches.
std::size_t races() {
  static const std::size_t wanted = read_word("CUDA_CPU_RACES", {"0", "1", "all"}, "1, all or 0");
  return wanted;
}

// Asked for when a wrong setting ends the program, too.
int devices = 1;

int read_devices() {
  return static_cast<int>(read_number(
      "CUDA_CPU_DEVICES", 1, [](std::size_t n) { return n >= 1 && n <= kMaxDevices; },
      format("a number from 1 to %d", kMaxDevices).c_str()));
}

// Before main, whether the program will use them or not.
__attribute__((constructor(102))) void check_settings() {
  schedule();
  worker_count();
  devices = read_devices();
  timeout_seconds();
  leaks_are_noted();
  races();
  races_may_take();
}

}  // namespace

const Schedule& schedule() {
  static const Schedule chosen = read_schedule();
  return chosen;
}

unsigned worker_count_unobserved() {
  static const std::size_t count = read_number(
      "CUDA_CPU_WORKERS", std::clamp(std::thread::hardware_concurrency(), 1u, 8u),
      [](std::size_t n) { return n >= 1 && n <= 64; }, "a number from 1 to 64");
  return static_cast<unsigned>(count);
}

unsigned worker_count() {
  const unsigned count = worker_count_unobserved();
  return observer != nullptr && observer->wants_one_worker ? 1 : count;
}

int device_count() { return devices; }

double timeout_seconds() {
  static const double seconds = read_timeout();
  return seconds;
}

bool leaks_are_noted() {
  static const bool noted = read_word("CUDA_CPU_LEAKS", {"note", "ignore"}, "note or ignore") == 0;
  return noted;
}

bool races_are_wanted() { return races() != 0; }

bool all_launches_are_wanted() { return races() == 2; }

std::size_t races_may_take() {
  static const std::size_t mib = read_number(
      "CUDA_CPU_RACES_MIB", 0, [](std::size_t n) { return n >= 1 && n <= 1ul << 30; },
      "a number of MiB, 1 or more");
  return mib << 20;
}

bool launches_block() {
  static const char* const text = std::getenv("CUDA_LAUNCH_BLOCKING");
  static const bool block = text != nullptr && *text == '1';
  return block;
}

}  // namespace cuda_cpu
