// SPDX-License-Identifier: MIT
#include "findings.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "../engine/memory/memory.h"
#include "../engine/memory/memory_notes.h"
#include "../report/diagnostics.h"
#include "../report/source_lines.h"

namespace races {
namespace {

using cuda_cpu::format;
using cuda_cpu::Report;
using cuda_cpu::Site;

// A reader mends the first few, and looks again.
constexpr std::size_t kMostReported = 20;

struct Added {
  Found found;
  Report::Note origin;
  std::string memory;  // "element 3 of the __shared__ array 'tile'"
  bool is_shared = false;
  // Once it is about to be reported:
  Site earlier{}, later{};
  bool both_write = false;  // in one pair of accesses of these lines

  bool is_in_one_line() const { return earlier.file == later.file && earlier.line == later.line; }
};

using Places = std::tuple<const void*, const void*, Fault>;
Places places_of(const Found& f) {
  return {f.earlier.place().address(), f.later.place().address(), f.fault};
}

using Line = std::pair<std::string, int>;

struct Findings {
  std::vector<Added> added;  // and not yet reported
  std::set<Places> places;
  std::set<std::pair<Line, Line>> lines;  // of those that were reported
  std::vector<Finding> reported;
  std::size_t shown = 0;
};

Findings& findings() {
  static Findings* const f = new Findings;
  return *f;
}

uint3 index_of(std::uint32_t number, const dim3& shape) {
  return uint3{number % shape.x, number / shape.x % shape.y, number / shape.x / shape.y};
}

const char* name_of(const Access& a) {
  const bool reads = (a.use() & kReads) != 0, writes = (a.use() & kWrites) != 0;
  if (a.thread() >= kCopier) {
    return writes ? "an asynchronous copy to it" : "an asynchronous copy from it";
  }
  if ((a.use() & kTexel) == kTexel) return "a texture fetch";
  if ((a.use() & kConstant) != 0) return "a read by __ldg";
  if ((a.use() & kVolatile) != 0) return writes ? "a volatile write" : "a volatile read";
  if ((a.use() & kStrong) != 0) {
    if ((a.use() & kBlockOnly) != 0) return "an atomic for one block only";
    return !writes ? "an atomic read" : reads ? "an atomic update" : "an atomic write";
  }
  return writes ? "a write" : "a read";
}

/// What would order the two.
const char* help_for(const Added& added) {
  const Found& f = added.found;
  const Fault fault = f.fault;
  const bool by_texture = ((f.earlier.use() | f.later.use()) & kTexel) == kTexel;
  if (fault == Fault::kUnset && !added.is_shared) {
    return "device memory does not start with zeros: copy the data there (cudaMemcpy), fill it "
           "(cudaMemset), or let a kernel write every element that is read, before this";
  }
  if (f.is_locked && fault <= Fault::kOtherBlock) {
    return "a lock does not order by itself what is done under it: __threadfence() after it was "
           "taken, and another before it is given back";
  }
  if (added.is_in_one_line() && !added.both_write && fault <= Fault::kSameBlock) {
    return "one line reads and writes: read into a variable, then __syncthreads(), then write";
  }
  if (added.is_in_one_line() && added.both_write && fault <= Fault::kOtherBlock) {
    return "several threads use this element at a time: make the update one atomic (atomicAdd, "
           "atomicMax), or give each thread an element of its own";
  }
  if (by_texture && fault == Fault::kConstantLoad) {
    return "a texture fetch may return what was there before the launch: write to other memory "
           "than the one under the texture, or read it with a plain load (surfaces: surf2Dread)";
  }
  if (fault == Fault::kLaunchBefore && (f.later.use() & kConstant) != 0) {
    return "this launch may start while what is ahead in its stream still runs: so __ldg and "
           "texture fetches may find old values even after cudaGridDependencySynchronize(); use a "
           "plain load";
  }
  static const char* const kHelp[] = {
      // in the order of Fault
      "the lanes of a warp do not run in step: put __syncwarp() between the two, or "
      "__syncthreads() where all threads of the block come by",
      "put __syncthreads() between the two, or make the update one atomic (atomicAdd)",
      "blocks run in any order and side by side: make the update one atomic (atomicAdd), give each "
      "block an element of its own, or use a second launch; data that is handed over needs a "
      "__threadfence() before the atomic that tells of it, and one after the atomic that hears of "
      "it",
      "the two are in streams that do not wait for each other: record an event after the "
      "one (cudaEventRecord) and let the other's stream wait for it (cudaStreamWaitEvent)",
      "the two are nodes of a graph without a path from one to the other: let one depend on the "
      "other (cudaGraphAddDependencies; in a capture an event that the other's stream waits for)",
      "this launch may start while what is ahead in its stream still runs, for it has "
      "cudaLaunchAttributeProgrammaticStreamSerialization: call cudaGridDependencySynchronize() "
      "before the first use of memory that earlier launches use, in every kernel of the row",
      "the host goes on while kernels and asynchronous copies run: let it wait before it uses the "
      "same memory, e.g. with cudaStreamSynchronize, cudaEventSynchronize or "
      "cudaDeviceSynchronize",
      "an atomic whose name ends in _block is one for the threads of its own block only",
      "__ldg is for data that no thread writes while the kernel runs: use a plain load",
      "the thread that copies waits for it first (__pipeline_commit, then __pipeline_wait_prior), "
      "and where other threads use the memory, __syncthreads() follows on the wait; of a copy with "
      "a barrier or a pipeline everybody waits for those",
      "volatile makes sure that the read and the write are made, but not that they are one "
      "step: make the update one atomic (atomicAdd, atomicMax)",
      "every element must be written before it is read, also those past the end of the "
      "data, with a barrier in between; shared memory does not start with zeros",
      "kernels only read constant memory: the host writes it, by cudaMemcpyToSymbol; what "
      "kernels write is a __device__ variable",
      "what lies between rows belongs to none: compare the column with the width, in elements, and "
      "go from row to row by the pitch, in bytes",
  };
  static_assert(std::size(kHelp) == static_cast<std::size_t>(Fault::kPadding) + 1);
  return kHelp[static_cast<std::size_t>(fault)];
}

Site site_of(const Access& a, const LaunchShape& launch) {
  if (launch.is_host) return cuda_cpu::piece_of(a.place().address(), "").line;
  if (launch.is_call) return {launch.kernel.file, launch.kernel.line};
  return cuda_cpu::piece_of(a.place().address(), launch.kernel.file).line;
}

uint3 thread_index(const Access& a, const LaunchShape& launch) {
  return index_of(a.thread() % kCopier, launch.block);
}

/// Who made the earlier access, as seen from the later one.
std::string maker_of(const Found& f) {
  const LaunchShape& launch = f.earlier_launch;
  if (launch.is_call) return launch.kernel.name;
  std::string text;
  const bool other_work = f.fault >= Fault::kOtherStream && f.fault <= Fault::kHost;
  if (other_work) text = format("kernel '%s', ", launch.kernel.name);
  if (other_work || f.earlier.block() != f.later.block()) {
    text += "block " + cuda_cpu::to_text(index_of(f.earlier.block(), launch.grid)) + ", ";
  }
  return text + "thread " + cuda_cpu::to_text(thread_index(f.earlier, launch));
}

Report report_of(const Added& added) {
  const Found& f = added.found;
  Report r;
  r.site = added.later;
  if (!f.later_launch.is_call && !f.later_launch.is_host) {
    r.where.inside = true;
    r.where.kernel = f.later_launch.kernel;
    r.where.grid = f.later_launch.grid;
    r.where.block_dim = f.later_launch.block;
    r.where.block = index_of(f.later.block(), f.later_launch.grid);
    r.where.thread = thread_index(f.later, f.later_launch);
  }
  const std::string maker = maker_of(f);
  std::string note = name_of(f.earlier) + (" by " + maker) + "; nothing orders the two";
  if (f.is_same_value) note += ", and a race of equal values is one all the same";
  if (f.fault == Fault::kUnset) {
    r.headline = added.is_shared
                     ? "read of shared memory that no thread of the block has written yet"
                     : "read of device memory that nobody has written yet";
  } else if (f.fault == Fault::kConstantWrite) {
    r.headline = "write to constant memory";
  } else if (f.fault == Fault::kPadding) {
    r.headline = "write into the padding of a row";
  } else if (f.fault == Fault::kUnderWay) {
    const bool to = (f.earlier.use() & kWrites) != 0;
    r.headline = format("race: %s while an asynchronous copy %s is under way", name_of(f.later),
                        to ? "to it" : "from it");
    note = "the copy began here, by " + maker + "; nothing makes this access wait for its end";
  } else if (f.fault == Fault::kUpdate) {
    r.headline = "race: a volatile update, between whose read and write another may come";
    note = "the same by " + maker + "; nothing orders the two";
  } else {
    r.headline = std::string("race: ") + name_of(f.later);
    if (f.later_launch.is_call) r.headline += std::string(" by ") + f.later_launch.kernel.name;
    if (f.later_launch.is_host) r.headline += " by the host";
  }
  const bool of_one_access = f.fault >= Fault::kUnset;
  r.details.push_back((of_one_access ? "it is " : "of ") + added.memory);
  if (!of_one_access) r.notes.push_back({added.earlier, note});
  if (added.origin.site.file != nullptr) r.notes.push_back(added.origin);
  r.help = help_for(added);
  return r;
}

}  // namespace

void add_finding(const Found& found) {
  Findings& all = findings();
  if (all.shown == kMostReported) return;
  if (!all.places.insert(places_of(found)).second) return;
  Added added{found, {{nullptr, 0}, ""}, format("address %p", found.address)};
  cuda_cpu::MemoryRange range;
  if (cuda_cpu::find_live_range(found.address, &range)) {
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(found.address) - range.base;
    const std::size_t size = range.element_size > 1 ? range.element_size : found.bytes;
    added.memory = format("element %zu of %s", offset / size, cuda_cpu::memory_name(range).c_str());
    if (found.fault == Fault::kPadding) {
      added.memory =
          format("byte %zu of row %zu; rows of %zu bytes begin every %zu bytes",
                 offset % range.pitch, offset / range.pitch, range.row_bytes, range.pitch);
    }
    added.origin = cuda_cpu::origin_note(range);
    added.is_shared = range.space == cuda_cpu::Space::kShared;
  }
  all.added.push_back(std::move(added));
}

void forgive_guess(ThreadName thread, const void* address) {
  Findings& all = findings();
  const auto is_guess = [&](const Added& added) {
    const Found& f = added.found;
    if (f.address != address || f.fault > Fault::kOtherBlock) return false;
    const bool later_reads = (f.later.use() & (kWrites | kStrong)) == 0;
    const Access& read = later_reads ? f.later : f.earlier;
    const Access& other = later_reads ? f.earlier : f.later;
    if (!(read.name() == thread) || (read.use() & (kWrites | kStrong)) != 0) return false;
    if ((other.use() & kStrong) == 0) return false;
    all.places.erase(places_of(f));
    return true;
  };
  all.added.erase(std::remove_if(all.added.begin(), all.added.end(), is_guess), all.added.end());
}

void report_findings() {
  Findings& all = findings();
  // One for each pair of lines, whichever of the two came first: the one that reaches furthest.
  std::vector<Added> located;
  std::map<std::pair<Line, Line>, std::size_t> known;
  for (Added& a : std::exchange(all.added, {})) {
    const Found& f = a.found;
    a.later = site_of(f.later, f.later_launch);
    a.earlier = f.fault >= Fault::kUnset ? a.later : site_of(f.earlier, f.earlier_launch);
    if (f.fault == Fault::kUpdate && !a.is_in_one_line()) continue;
    const auto line = [](Site s) { return Line(s.file != nullptr ? s.file : "", s.line); };
    std::pair<Line, Line> pair(line(a.earlier), line(a.later));
    if (pair.second < pair.first) std::swap(pair.first, pair.second);
    if (all.lines.count(pair) != 0) continue;
    a.both_write = (f.earlier.use() & f.later.use() & kWrites) != 0;
    const auto [at, is_new] = known.emplace(pair, located.size());
    if (is_new) {
      located.push_back(std::move(a));
      continue;
    }
    Added& kept = located[at->second];
    a.both_write = kept.both_write = kept.both_write || a.both_write;
    if (f.fault > kept.found.fault) kept = std::move(a);
  }
  for (const auto& [pair, at] : known) all.lines.insert(pair);
  // What is read too early is written by another thread, and so it is a race as well: that says
  // more.
  const auto is_explained = [&](const Added& unset) {
    return std::any_of(located.begin(), located.end(), [&](const Added& race) {
      const auto same = [&](Site s) {
        return s.line == unset.later.line && std::string(s.file) == unset.later.file;
      };
      return race.found.fault != Fault::kUnset && (same(race.earlier) || same(race.later));
    });
  };
  // __syncthreads mends what lies within warps as well, and __syncwarp not what lies across them:
  // the first help that is read should be enough.
  std::stable_partition(located.begin(), located.end(),
                        [](const Added& a) { return a.found.fault != Fault::kSameWarp; });
  for (const Added& a : located) {
    if (a.found.fault == Fault::kUnset && is_explained(a)) continue;
    if (all.shown == kMostReported) return;
    Report report = report_of(a);
    if (++all.shown == kMostReported) report.help += "\n    (no more races are shown)";
    all.reported.push_back({a.found.fault, a.earlier, a.later, cuda_cpu::finding(report)});
  }
}

std::vector<Finding> take_findings() {
  Findings& all = findings();
  all.places.clear();
  all.lines.clear();
  all.shown = 0;
  return std::exchange(all.reported, {});
}

}  // namespace races
