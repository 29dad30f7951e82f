// SPDX-License-Identifier: MIT
#include "settings.h"

#include <cstdlib>
#include <cstring>
#include <thread>

#include "../report/diagnostics.h"
#include "observer.h"
#include "pages.h"
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

unsigned read_worker_count() {
  if (const char* const text = std::getenv("CUDA_CPU_WORKERS")) {
    char* end = nullptr;
    const long count = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || count < 1 || count > 64) {
      die("CUDA_CPU_WORKERS=%s: expected a number from 1 to 64", text);
    }
    return static_cast<unsigned>(count);
  }
  const unsigned hardware = std::thread::hardware_concurrency();
  return hardware == 0 ? 1 : hardware < 8 ? hardware : 8;
}

bool read_early_return() {
  const char* const text = std::getenv("CUDA_CPU_EARLY_RETURN");
  if (text == nullptr || std::strcmp(text, "error") == 0) return false;
  if (std::strcmp(text, "allow") == 0) return true;
  die("CUDA_CPU_EARLY_RETURN=%s: expected error or allow", text);
}

bool read_leaks() {
  const char* const text = std::getenv("CUDA_CPU_LEAKS");
  if (text == nullptr || std::strcmp(text, "note") == 0) return true;
  if (std::strcmp(text, "ignore") == 0) return false;
  die("CUDA_CPU_LEAKS=%s: expected note or ignore", text);
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
  return kSanitized ? seconds * 10 : seconds;
}

std::size_t read_alignment() {
  const char* const text = std::getenv("CUDA_CPU_ALIGN");
  if (text == nullptr) return 16;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < 16 || value > page_bytes() ||
      (value & (value - 1)) != 0) {
    die("CUDA_CPU_ALIGN=%s: expected a power of two from 16 to %zu", text, page_bytes());
  }
  return value;
}

std::size_t read_races_mib() {
  const char* const text = std::getenv("CUDA_CPU_RACES_MIB");
  if (text == nullptr) return 0;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || value < 1 || value > 1ul << 30) {
    die("CUDA_CPU_RACES_MIB=%s: expected a number of MiB, 1 or more", text);
  }
  return value << 20;
}

}  // namespace

const Schedule& schedule() {
  static const Schedule chosen = read_schedule();
  return chosen;
}

unsigned worker_count_unobserved() {
  // TSan finds a missing order on one OS thread as well; on several it would see the engine's own
  // accesses.
  static const unsigned count = kTsan ? 1 : read_worker_count();
  return count;
}

unsigned worker_count() {
  const unsigned count = worker_count_unobserved();
  return observer != nullptr && observer->wants_one_worker ? 1 : count;
}

bool early_return_allowed() {
  static const bool allowed = read_early_return();
  return allowed;
}

double timeout_seconds() {
  static const double seconds = read_timeout();
  return seconds;
}

bool leaks_are_noted() {
  static const bool noted = read_leaks();
  return noted;
}

std::size_t allocation_alignment() {
  static const std::size_t bytes = read_alignment();
  return bytes;
}

bool races_are_wanted() {
  static const bool wanted = [] {
    const char* const text = std::getenv("CUDA_CPU_RACES");
    if (text == nullptr || std::strcmp(text, "0") == 0) return false;
    if (std::strcmp(text, "1") == 0 || std::strcmp(text, "all") == 0) return true;
    die("CUDA_CPU_RACES=%s: expected 1, all or 0", text);
  }();
  return wanted;
}

bool all_launches_are_wanted() {
  static const bool wanted =
      races_are_wanted() && std::strcmp(std::getenv("CUDA_CPU_RACES"), "all") == 0;
  return wanted;
}

std::size_t races_may_take() {
  static const std::size_t bytes = read_races_mib();
  return bytes;
}

bool launches_block() {
  static const bool block = [] {
    const char* const text = std::getenv("CUDA_LAUNCH_BLOCKING");
    return text != nullptr && *text == '1';
  }();
  return block;
}

void check_settings() {
  schedule();
  worker_count();
  early_return_allowed();
  timeout_seconds();
  leaks_are_noted();
  allocation_alignment();
  races_may_take();
}

namespace {
__attribute__((constructor(102))) void check_settings_at_start() { check_settings(); }
}  // namespace

}  // namespace cuda_cpu
