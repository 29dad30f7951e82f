// SPDX-License-Identifier: MIT
#include "machine_code.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include "../report/text.h"
#include "diagnosis.h"
#include "model.h"

namespace xray {
namespace {

using cuda_cpu::format;

/// Of local memory its words: so it is counted, and so do the rows.
std::uint64_t requests_of(const std::vector<Access*>& accesses) {
  std::uint64_t sum = 0;
  for (const Access* const a : accesses) {
    const unsigned words = a->space == Space::kLocal ? a->bytes_per_lane / kWordBytes : 1;
    sum += a->counts.requests * std::max(1u, words);
  }
  return sum;
}

/// What became of a line's accesses of one kind; the columns are those of accesses.py.
struct Row {
  std::uint64_t count = 0, bytes = 0, parts = 0, uniform = 0, one_lane = 0, once = 0, stores = 0;
  int unrolled = 0, with = 0;
  std::string store;
  std::uint64_t predicated = 0;
};

/// A line, and a kind: "shared load". Host memory is global memory to the machine code.
using Line = std::tuple<std::string, std::string, int>;
using Rows = std::map<Line, Row>;
using Lines = std::map<Line, std::vector<Access*>>;

std::map<std::string, Rows>& machine_code() {
  static auto* const kernels = new std::map<std::string, Rows>;
  return *kernels;
}

std::string kind_of(const Access& a) {
  const char* const space = a.space == Space::kHost ? "global" : name_of(a.space);
  return std::string(space) + " " + name_of(a.operation);
}

// Lines: the file with its inlined functions, the branches of an if, and a statement.
constexpr int kAnywhere = 1 << 24, kNear = 8, kVeryNear = 2;

/// One kernel's machine code beside what X-ray counted in its lines.
struct Kernel {
  const Rows& rows;
  std::uint64_t warps;
  Lines lines;

  /// The rows of the same kind in this line and in lines near by.
  template <class OnRow>
  void for_rows_near(const Line& line, int lines_away, OnRow on_row) const {
    const auto& [kind, file, number] = line;
    const auto end = rows.lower_bound(Line{kind, file, number + lines_away + 1});
    for (auto it = rows.lower_bound(Line{kind, file, number - lines_away}); it != end; ++it) {
      const auto found = lines.find(it->first);
      on_row(it->second, found == lines.end() ? nullptr : &found->second);
    }
  }

  /// Whether some of these accesses may be among those of a line for which X-ray counted none.
  bool may_have_moved(const Line& line) const {
    bool moved = false;
    for_rows_near(line, kAnywhere, [&](const Row&, const std::vector<Access*>* counted) {
      moved = moved || counted == nullptr;
    });
    return moved;
  }

  /// An access in this line or near by that is wider in the machine code than in the source, and
  /// how wide.
  std::pair<Access*, std::uint64_t> wider_than(const Access& a, const Line& line) const {
    std::pair<Access*, std::uint64_t> found{nullptr, a.bytes_per_lane};
    for_rows_near(line, kVeryNear, [&](const Row& row, const std::vector<Access*>* counted) {
      if (counted == nullptr || row.bytes <= found.second) return;
      for (const Access* const there : *counted) {
        if (there->bytes_per_lane >= row.bytes) return;
      }
      found = {counted->front(), row.bytes};
    });
    return found;
  }
};

void take(const Counts& change, const std::string& what, Access* a) {
  if (change.is_nothing()) return;
  const std::string before = std::to_string(a->counts.requests);
  a->counts += change;
  a->compiled = what + ": " + std::to_string(a->counts.requests) + " requests for " + before;
}

void take(Way way, const std::string& what, Access* a) { take(a->change(way), what, a); }

Way joined_to(std::uint64_t bytes) { return bytes == 8 ? Way::kJoinedTo8 : Way::kJoinedTo16; }

void take_over_constant(const Row& row, Access* a) {
  if (row.bytes > a->bytes_per_lane) take(Way::kJoinedTo8, "nvcc joins neighbours", a);
  Counts& c = a->counts;
  if (c.words != c.requests || (row.uniform == 0 && row.count > 0)) return;
  // In an unrolled loop only those of the turns that are no multiple of 4.
  const bool has_rest = row.count == 28 * row.uniform || row.count == 4 * row.uniform;
  const std::uint64_t turns = a->warps == 0 ? 0 : c.requests / a->warps;
  const std::uint64_t uniform = row.count > 0 && has_rest ? turns % 4 * a->warps : c.words;
  if (uniform == 0) return;
  c.words -= uniform;
  a->compiled = "one word for the whole warp, which nvcc fetches by the uniform datapath: " +
                std::to_string(uniform) + " words do not count";
}

/// Of an unrolled loop only the turns that are a multiple of 4 are joined: no pair of the others.
void take_joined(const Row& row, std::uint64_t bytes, Access* a) {
  Counts change = a->change(joined_to(bytes));
  const std::uint64_t turns = a->warps == 0 ? 0 : a->counts.requests / a->warps;
  if (row.unrolled != 0 && turns % 4 > 1) {
    Counts parted;
    parted -= a->change(joined_to(2 * a->bytes_per_lane));
    change += parted.scaled(1, turns / 2);
  }
  take(change, "nvcc joins neighbours", a);
}

/// The machine code has nothing of the kind in this line: nvcc joined it with a neighbour of a line
/// near by, does it once for both branches, has the value in a register or no use for it, unless it
/// moved the access to a line that has none. Of stores only those that every warp makes once.
void take_over_nothing(const Kernel& kernel, const Line& line, Access* a) {
  if (a->is_copied) return;  // nvcc has it, in another's line: no copy is joined or left out
  if (a->space == Space::kConstant) {
    const Row* uniform = nullptr;
    kernel.for_rows_near(line, kNear, [&](const Row& row, const std::vector<Access*>* counted) {
      if (counted == nullptr && row.count == 0) uniform = &row;
    });
    if (uniform != nullptr) return take_over_constant(*uniform, a);
  }
  const auto [wider, bytes] = kernel.wider_than(*a, line);
  const Counts& joined = a->change(joined_to(bytes));
  if (wider != nullptr &&
      (!joined.is_nothing() ||
       (!kernel.may_have_moved(line) && a->counts.requests == wider->counts.requests))) {
    if (!joined.is_nothing()) (wider->counts += a->counts) += joined;
    a->counts = Counts{};
    a->compiled = format("joined with its neighbour in line %d by nvcc", wider->line);
    return;
  }
  const Counts& both = a->change(Way::kOfBothBranches);
  Access* other = nullptr;
  kernel.for_rows_near(line, kNear, [&](const Row&, const std::vector<Access*>* counted) {
    if (counted == nullptr || both.is_nothing()) return;
    for (Access* const there : *counted) {
      if (!there->change(Way::kOfBothBranches).is_nothing()) other = there;
    }
  });
  if (other != nullptr) {
    other->counts += a->counts;
    other->counts += both;
    other->counts += other->change(Way::kOfBothBranches);
    a->counts = Counts{};
    a->compiled = format("nvcc does this once for both branches, in line %d", other->line);
  } else if (kernel.may_have_moved(line)) {
    take(Way::kOfBothBranches, "nvcc does this once for both branches", a);
  } else if (const bool is_load = a->operation == Operation::kLoad;
             is_load || (a->operation == Operation::kStore && a->counts.requests == kernel.warps)) {
    a->counts = Counts{};
    a->compiled = is_load ? "left out by nvcc: the value is in a register"
                          : "left out by nvcc: nothing reads what it stores";
  }
}

void take_over_atomic(const Row& row, Access* a) {
  Counts& c = a->counts;
  if (row.one_lane == 0 || c.addresses != c.requests || c.lanes == c.requests) return;
  c.lanes = c.collisions = c.requests;
  if (c.sectors > 0) c.sectors = c.requests;
  if (c.wavefronts > 0) c.wavefronts = c.requests;
  a->compiled = "nvcc lets one lane do this for its warp";
}

void take_over_row(const Kernel& kernel, const Line& line, const Row& row, Access* a) {
  if (a->space == Space::kConstant) return take_over_constant(row, a);
  if (a->operation == Operation::kAtomic) return take_over_atomic(row, a);
  const std::uint64_t wider = kernel.wider_than(*a, line).second;
  if (wider > a->bytes_per_lane) {
    take_joined(row, wider, a);
  } else if (row.bytes < a->bytes_per_lane && row.parts > 1) {
    const std::uint64_t bytes = a->counts.bytes;
    Counts more = a->counts.scaled(row.parts - 1, 1);
    more.bytes = bytes * row.bytes * row.parts / a->bytes_per_lane - bytes;
    take(more, "nvcc loads " + std::to_string(row.parts) + " parts of it by themselves", a);
  }
  if (row.count < a->places) {
    take(Way::kOfBothBranches, "nvcc does this once for both branches", a);
  }
  if (row.bytes > a->bytes_per_lane) return;
  if (row.unrolled == 16) take(Way::kUnrolled, "nvcc unrolls this loop by up to 16", a);
  if (row.unrolled == 4) take(Way::kUnrolledBy4, "nvcc unrolls this loop by 4", a);
  if (row.unrolled == -4) take(Way::kBy4AndTheRest, "nvcc unrolls this loop by 4", a);
}

/// What warps execute for no lane where nvcc made predicates of the branch before an access. Where
/// it did so in some copies of a loop's turn, these are taken to be like the others; and of an &&
/// it is taken to have made predicates as a whole, not of the second half alone. Nothing is known
/// of a branch that no lane took in the whole launch. `counted`: requests before nvcc joined or
/// unrolled them.
void take_over_predicates(const Row& row, std::uint64_t counted, Access* a) {
  if (row.count == 0 || counted == 0) return;
  a->counts.switched_off = a->skipped * row.predicated / row.count * a->counts.requests / counted;
}

void scale(const std::vector<Access*>& accesses, std::uint64_t wanted, std::uint64_t counted) {
  for (Access* const a : accesses) {
    a->counts = a->counts.scaled(wanted, counted);
    a->compiled = "nvcc has " + many(wanted, "request") + " here, not " + std::to_string(counted);
  }
}

/// What stands in no loop is executed once by each warp at most.
void take_over_once(const Row& row, const std::vector<Access*>& accesses) {
  std::uint64_t warps = 0, places = 0;
  for (const Access* const a : accesses) {
    if (!a->compiled.empty()) return;
    warps = std::max(warps, a->warps);
    places += a->places;
  }
  const std::uint64_t counted = requests_of(accesses), most = row.count * warps;
  if (counted <= most) return;
  scale(accesses, most, counted);
  if (row.count != places || accesses[0]->space == Space::kLocal) return;
  for (Access* const a : accesses) a->counts = a->of_first;
}

/// What stands in one piece of code with a store is executed as often as that.
void take_over_frequency(const Kernel& kernel, const Row& row, const Line& line,
                         std::vector<Access>* left_out) {
  const auto& [kind, file, number] = line;
  const auto stores = kernel.lines.find(Line{row.store + " store", file, row.with});
  if (stores == kernel.lines.end()) return;
  const std::uint64_t wanted = requests_of(stores->second) * row.count / row.stores;
  const auto loads = kernel.lines.find(line);
  if (loads != kernel.lines.end()) {
    const std::uint64_t counted = requests_of(loads->second);
    if (counted > wanted && !kernel.may_have_moved(line)) scale(loads->second, wanted, counted);
  } else if (row.with == number && kind == row.store + " load") {
    Access more = *stores->second.front();
    more.operation = Operation::kLoad;
    more.counts = more.counts.scaled(wanted, more.counts.requests);
    more.compiled = "nvcc loads this once more, which the CPU's compiler does not";
    left_out->push_back(std::move(more));
  }
}

}  // namespace

bool read_machine_code(const std::string& path) {
  std::ifstream table(path);
  std::string line;
  if (!std::getline(table, line)) return false;
  while (std::getline(table, line)) {
    std::istringstream cells(line);
    std::string text[4];  // kernel, file, space, operation
    for (std::string& cell : text) std::getline(cells, cell, '\t');
    Row row;
    int number = 0;
    cells >> number >> row.count >> row.bytes >> row.parts >> row.uniform >> row.unrolled >>
        row.one_lane >> row.once >> row.stores >> row.with >> row.store >> row.predicated;
    if (!cells) return false;
    machine_code()[text[0]][Line{text[2] + " " + text[3], text[1], number}] = row;
  }
  return true;
}

bool has_machine_code() { return !machine_code().empty(); }

void take_over_machine_code(const std::string& function, Launch* launch) {
  const auto known = machine_code().find(function);
  if (known == machine_code().end()) return;
  Kernel kernel{known->second, launch->warps_counted, {}};
  std::set<std::string> files;
  for (const auto& entry : kernel.rows) files.insert(std::get<1>(entry.first));
  bool has_constants = false;
  for (Access& a : launch->accesses) {
    const bool is_generic = kernel.rows.count(Line{"generic access", a.file, a.line}) != 0;
    if (files.count(a.file) == 0 || is_generic) continue;
    kernel.lines[Line{kind_of(a), a.file, a.line}].push_back(&a);
    has_constants = has_constants || a.space == Space::kConstant;
  }
  for (const auto& [line, accesses] : kernel.lines) {
    const auto row = kernel.rows.find(line);
    for (Access* const a : accesses) {
      if (a->space == Space::kLocal) {
        if (row != kernel.rows.end() || kernel.may_have_moved(line)) continue;
        a->counts = Counts{};
        a->compiled = "in registers: the machine code has no local memory here";
      } else if (row != kernel.rows.end()) {
        const std::uint64_t before = a->counts.requests;
        take_over_row(kernel, line, row->second, a);
        take_over_predicates(row->second, before, a);
      } else {
        take_over_nothing(kernel, line, a);
      }
    }
  }
  std::vector<Access> more;
  for (const auto& [line, row] : kernel.rows) {
    const auto found = kernel.lines.find(line);
    if (row.once != 0 && found != kernel.lines.end() && !kernel.may_have_moved(line)) {
      take_over_once(row, found->second);
    }
    const auto& [kind, file, number] = line;
    if (row.with != 0) take_over_frequency(kernel, row, line, &more);
    if (kind != "arguments load" || !has_constants) continue;
    Access a{};
    a.file = file;
    a.line = number;
    a.space = Space::kConstant;
    a.bytes_per_lane = kWordBytes;
    a.name = "arguments";
    a.counts.requests = a.counts.words = row.count * launch->warps_counted;
    a.counts.lanes = kLanes * a.counts.requests;
    a.compiled = "nvcc loads the kernel's arguments as constants, too";
    more.push_back(std::move(a));
  }
  std::vector<Access>& all = launch->accesses;
  all.insert(all.end(), more.begin(), more.end());
  std::stable_sort(all.begin(), all.end(), [](const Access& a, const Access& b) {
    return std::tie(a.file, a.line, a.space, a.operation) <
           std::tie(b.file, b.line, b.space, b.operation);
  });
}

}  // namespace xray
