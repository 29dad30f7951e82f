// SPDX-License-Identifier: MIT
#include "printing.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../../report/diagnostics.h"
#include "../../types/the_only.h"
#include "block.h"
#include "current.h"
#include "device_limits.h"
#include "leaving.h"
#include "worker.h"

namespace cuda_cpu {

/// Its number, or the address to which the call returns.
using Statement = std::uintptr_t;

struct PrintedText {
  Statement statement;
  std::uint64_t serial;
  std::uint32_t thread;
  std::string text;
};

struct PrintedTexts {
  std::vector<PrintedText> all;  // in the order of time
  std::size_t bytes = 0;
};

namespace {

// More than that is not kept: an endless loop may print.
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

struct PrintedRow {
  std::uint64_t serial = 0;  // of the lane that printed last
  std::string text;
};

struct PrintedRows {
  std::mutex mutex;
  std::vector<PrintedRow> all;
  std::size_t bytes = 0;
};

void write_rows(PrintedRows& r) {
  const auto earlier = [](const PrintedRow& a, const PrintedRow& b) { return a.serial < b.serial; };
  std::stable_sort(r.all.begin(), r.all.end(), earlier);
  for (const PrintedRow& row : r.all) std::fwrite(row.text.data(), 1, row.text.size(), stdout);
  r.all.clear();
  r.bytes = 0;
}

/// The texts of one warp, of which each lane's are in order.
class WarpTexts {
 public:
  void add(const PrintedText& printed) {
    const std::size_t lane = printed.thread % kWarpSize;
    lanes_[lane].push_back(&printed);
    ++left_[printed.statement][lane];
  }

  std::vector<PrintedRow> in_rows() {
    std::vector<PrintedRow> result;
    while (!left_.empty()) {
      const Statement statement = next();
      PrintedRow row;
      row.serial = result.empty() ? 0 : result.back().serial;
      for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
        if (!is_at(lane, statement)) continue;
        const PrintedText& printed = *lanes_[lane][position_[lane]++];
        --left_[statement][lane];
        row.serial = std::max(row.serial, printed.serial);
        row.text += printed.text;
      }
      const auto& count = left_[statement];
      if (std::all_of(count.begin(), count.end(), [](unsigned n) { return n == 0; })) {
        left_.erase(statement);
      }
      result.push_back(std::move(row));
    }
    return result;
  }

 private:
  bool is_at(std::size_t lane, Statement statement) const {
    return position_[lane] < lanes_[lane].size() &&
           lanes_[lane][position_[lane]]->statement == statement;
  }

  /// What the warp executes next: a statement to which no lane comes that is elsewhere now. Lanes
  /// that meet in several, each in another order, do not tell; then the first in the code is taken.
  Statement next() const {
    Statement first = 0;
    for (const auto& [statement, count] : left_) {
      bool is_here = false, is_ahead = false;
      for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
        const bool is_there = is_at(lane, statement);
        is_here = is_here || is_there;
        is_ahead = is_ahead || (!is_there && count[lane] != 0);
      }
      if (is_here && !is_ahead) return statement;
      if (is_here && first == 0) first = statement;
    }
    return first;
  }

  std::array<std::vector<const PrintedText*>, kWarpSize> lanes_;
  std::array<std::size_t, kWarpSize> position_{};
  std::map<Statement, std::array<unsigned, kWarpSize>> left_;  // texts of each lane
};

Statement returns_to(const void* place) { return reinterpret_cast<Statement>(place); }

/// Takes a text of the running thread for its lane's part of a row, or of the host.
int put_text(Statement statement, std::string text) {
  if (!in_kernel()) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : EOF;
  }
  const Undisturbed undisturbed;
  static std::atomic<std::uint64_t> serial{0};
  Block* const block = current_block;
  if (block->printed == nullptr) block->printed = new PrintedTexts;
  PrintedTexts& texts = *block->printed;
  texts.bytes += sizeof(PrintedText) + text.size();
  texts.all.push_back({statement, ++serial, number_in_block(), std::move(text)});
  if (texts.bytes > kMostBytes) put_into_rows(block);
  return 0;
}

int put_formatted(Statement statement, const char* format, va_list arguments) {
  if (!in_kernel()) return std::vprintf(format, arguments);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length < 0) return length;
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::vsnprintf(&text[0], text.size(), format, arguments);
  text.pop_back();
  put_text(statement, std::move(text));
  return length;
}

__attribute__((constructor(101))) void print_before_reports() {
  consequences.report_begins = [] {
    hold_interrupts();
    write_printed();
  };
}

}  // namespace

void put_into_rows(Block* block) {
  if (block->printed == nullptr) return;
  PrintedTexts texts;
  std::swap(texts, *block->printed);
  std::map<std::uint32_t, WarpTexts> warps;
  for (const PrintedText& printed : texts.all) warps[printed.thread / kWarpSize].add(printed);
  const auto [r, lock] = locked<PrintedRows>();
  for (auto& warp : warps) {
    for (PrintedRow& row : warp.second.in_rows()) {
      r.bytes += sizeof(PrintedRow) + row.text.size();
      r.all.push_back(std::move(row));
    }
  }
  if (r.bytes > kMostBytes) write_rows(r);
}

void write_printed() {
  if (current_worker != nullptr) {
    for (Block* const block : current_worker->live) put_into_rows(block);
  }
  const auto [r, lock] = locked<PrintedRows>();
  write_rows(r);
}

int printf(unsigned statement, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = put_formatted(statement, format, arguments);
  va_end(arguments);
  return count;
}

}  // namespace cuda_cpu

// They take the place of the C library's in a program. Compilers call the others for a printf where
// these do as well, and the last one where functions are fortified. A program may have its own.
extern "C" {

__attribute__((weak)) int printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count =
      cuda_cpu::put_formatted(cuda_cpu::returns_to(__builtin_return_address(0)), format, arguments);
  va_end(arguments);
  return count;
}

__attribute__((weak)) int puts(const char* text) {
  return cuda_cpu::put_text(cuda_cpu::returns_to(__builtin_return_address(0)),
                            std::string(text) + '\n');
}

__attribute__((weak)) int putchar(int character) {
  const char text = static_cast<char>(character);
  const int error =
      cuda_cpu::put_text(cuda_cpu::returns_to(__builtin_return_address(0)), std::string(1, text));
  return error == 0 ? static_cast<unsigned char>(text) : error;
}

__attribute__((weak)) int __printf_chk(int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count =
      cuda_cpu::put_formatted(cuda_cpu::returns_to(__builtin_return_address(0)), format, arguments);
  va_end(arguments);
  return count;
}
}
