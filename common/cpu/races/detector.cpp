// SPDX-License-Identifier: MIT
#include "detector.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../engine/meeting/async_copies.h"
#include "../engine/memory/memory.h"
#include "../engine/memory/unwritten.h"
#include "../engine/state/block.h"
#include "../engine/state/current.h"
#include "../engine/state/grid.h"
#include "../engine/state/leaving.h"
#include "../engine/state/observer.h"
#include "../engine/state/settings.h"
#include "../runtime/errors.h"
#include "../runtime/work_queues.h"
#include "findings.h"
#include "host_uses.h"
#include "locals.h"
#include "repetitions.h"

namespace races {

bool are_looked_for = false;
bool launch_is_passed_over = false;
__thread bool inside = false;

namespace {

/// A piece of work in a stream: a launch, the part of one between two grid barriers, or a copy.
struct Work {
  std::uint32_t number = 0;  // from 1; the parts of one launch follow each other
  const CUstream_st* stream = nullptr;
  std::uint64_t sequence = 0;
  LaunchShape shape;
  // Programmatic dependent launch:
  bool may_start_early = false;
  std::uint64_t ahead = 0;               // in the stream, beside which it may start; 0: nothing
  bool has_waited = false;               // for that; one of its threads
  bool lets_next_start_at_once = false;  // before it has waited
  std::vector<Time> seen_by_next = {};   // of each block: what it did before, a next one sees
};

/// A work that may run beside the one that runs, or up to when that has waited for it.
struct Unordered {
  std::uint32_t work;
  bool until_waited;
};

/// A copy or fill that ran.
struct CopiedRange {
  std::uint32_t work;
  const char* begin;
  std::size_t bytes;
  bool writes;
};

// How far back work of other streams is remembered.
constexpr std::size_t kWorksKept = 256;
constexpr std::size_t kCopiesKept = 256;

/// Threads store to one word. A hook runs before its store: until the next one does, the word holds
/// what was stored earlier, and then what the later one did. Of lanes of a warp that store by one
/// instruction one is performed, so where all store the same that is no race.
struct StoreBySeveral {
  Found found;
  bool is_one_store;
  std::size_t bytes;
  char earlier[4];
};

/// What orders the work that runs and the host, whose times these are.
struct BesideHost {
  const cuda_cpu::Work* work = nullptr;
  std::uint64_t from = ~std::uint64_t{0};  // what the host did before comes before the work,
  std::uint64_t to = ~std::uint64_t{0};    // and what it does from then on, after
  bool hears = false;                      // it has asked for a word that the host may have set
};

/// The host used memory when it knew of this.
struct HostUse {
  Access access;
  const char* begin;
  std::size_t bytes;
  cuda_cpu::StreamOrder known;
};

/// What the host does while a kernel runs, to be compared when that has ended.
class UsesBeside {
 public:
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_open_ = true;
  }
  /// False: no kernel runs.
  bool keep(const HostUse& use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_open_ && uses_.size() < kMost) uses_.push_back(use);
    return is_open_;
  }
  std::vector<HostUse> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_open_ = false;
    return std::exchange(uses_, {});
  }

 private:
  static constexpr std::size_t kMost = 4096;
  std::mutex mutex_;
  bool is_open_ = false;
  std::vector<HostUse> uses_;
};

struct Detector {
  Shadow shadow;
  HostUses host;
  BesideHost beside_host;
  UsesBeside uses_beside;
  std::vector<StoreBySeveral> stores_by_several;  // that wait for the later store
  std::deque<Work> works;                         // the latest; the last one runs
  std::deque<CopiedRange> copies;
  std::vector<Unordered> unordered;
  std::uint32_t running = 0;          // the number of works.back()
  std::uint32_t first_of_launch = 0;  // the number of the first part of the launch that runs
  Blocks blocks;
  Repetitions repetitions;
  ThreadName swapped;  // who has made a compare-and-swap last
};

// A plain pointer: it is followed for every access of the program.
Detector* the_detector = nullptr;

Detector& detector() { return *the_detector; }

// Whether stores_by_several has any: asked at every store.
bool stores_wait = false;

bool copy_begins = false;            // an asynchronous one: what it stores comes later
__thread const void* constant_read;  // by __ldg: announced, and not yet made

// What a run that takes long says, once.
constexpr double kSecondsInSilence = 5;
std::atomic<const char*> running_kernel{nullptr};
std::atomic<std::uint64_t> blocks_ended{0}, blocks_to_run{0}, running_launch{0};
std::atomic<bool> is_told{false};

void time_passes(double seconds) {
  const char* const kernel = running_kernel.load();
  if (seconds < kSecondsInSilence || kernel == nullptr || is_told.exchange(true)) return;
  std::fprintf(
      stderr,
      "note: kernels run slower while races are looked for: %.0f s so far, in launch %llu: "
      "%llu of %llu blocks of '%s' have ended. make run with RACES=0 goes without\n",
      seconds, static_cast<unsigned long long>(running_launch.load()),
      static_cast<unsigned long long>(blocks_ended.load()),
      static_cast<unsigned long long>(blocks_to_run.load()), kernel);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// At the end of the program, if a launch was passed over.
void say_what_was_passed_over() {
  const Repetitions& r = detector().repetitions;
  if (r.passed_over() == 0) return;  // of a test that has looked again
  std::fprintf(stderr,
               "note: %llu of %llu launches were not looked at for races: each repeats one that "
               "was (kernel, grid, arguments), and looking had taken %.0f s. make run with "
               "RACES=all looks at all\n",
               static_cast<unsigned long long>(r.passed_over()),
               static_cast<unsigned long long>(r.launches()), seconds_for_all);
}

// ---- works --------------------------------------------------------------------------------------

/// The launches ahead of one that may start early. A launch that lets the next one start before it
/// has waited lets it run beside what is ahead of both. And who waits does so for one launch alone:
/// what that has not waited for may go on.
void find_launches_ahead(Detector* d, const Work& first) {
  const Work* early = &first;
  bool until_waited = true;
  while (early->may_start_early && early->ahead != 0) {
    const Work* before = nullptr;
    for (const Work& other : d->works) {
      if (other.sequence != early->ahead || other.shape.is_call) continue;
      d->unordered.push_back({other.number, until_waited});
      before = &other;
    }
    if (before == nullptr || (before->has_waited && !before->lets_next_start_at_once)) return;
    until_waited = until_waited && before->has_waited;
    early = before;
  }
}

void begin_work(Detector* d, LaunchShape shape, bool same_launch) {
  Work work;
  work.number = ++d->running;
  if (!same_launch) d->first_of_launch = work.number;
  work.shape = std::move(shape);
  d->unordered.clear();
  if (!same_launch) d->beside_host = BesideHost{};
  if (const cuda_cpu::Work* const running = cuda_cpu::running_work()) {
    if (!same_launch) {
      d->beside_host.work = running;
      d->beside_host.from = running->sequence;
    }
    work.stream = running->stream;
    work.sequence = running->sequence;
    for (const Work& other : d->works) {
      const bool by_host = other.stream == nullptr;
      const bool of_launch = other.number >= d->first_of_launch;
      if (by_host || of_launch || other.stream == work.stream) continue;
      if (!running->knows.covers(other.stream, other.sequence)) {
        d->unordered.push_back({other.number, false});
      }
    }
    if (!same_launch && running->launch != nullptr) {
      work.may_start_early = running->launch->may_start_early;
      work.ahead = running->ahead;
      find_launches_ahead(d, work);
    }
  }
  d->works.push_back(std::move(work));
  if (d->works.size() > kWorksKept) d->works.pop_front();
}

/// Null if it is too long ago. Their numbers follow each other.
const Work* find_work(const Detector& d, std::uint32_t number) {
  const std::size_t at = number - d.works.front().number;
  return at < d.works.size() ? &d.works[at] : nullptr;
}

// ---- conflicts ----------------------------------------------------------------------------------

/// Whether the two touch each other's value: at least one writes, and not both are strong.
bool conflict(const Access& a, const Access& b) {
  if (((a.use() | b.use()) & kWrites) == 0) return false;
  if (((a.use() | b.use()) & kGuess) != 0 && ((a.use() | b.use()) & kStrong) != 0) return false;
  const bool both_strong = (a.use() & b.use() & kStrong) != 0;
  return !both_strong || (a.block() != b.block() && ((a.use() | b.use()) & kBlockOnly) != 0);
}

Fault fault_of(const Access& a, const Access& b) {
  if (a.thread() >= kCopier) return Fault::kUnderWay;
  if (((a.use() | b.use()) & kConstant) != 0) return Fault::kConstantLoad;
  if ((a.use() & b.use() & kStrong) != 0) return Fault::kBlockScope;
  if (a.block() != b.block()) return Fault::kOtherBlock;
  return a.same_warp(b) ? Fault::kSameWarp : Fault::kSameBlock;
}

/// The access that is checked, with everything that the checks need.
struct Checked {
  Detector* d;
  const BlockOrder* order;  // null: a copy
  Access access;
  const char* address;
  std::size_t bytes;
  std::size_t unit = 4;  // bytes that a cell stands for
  bool by_host = false;
};

bool may_run_beside(const Checked& c, std::uint32_t work) {
  // A load through the path of constants may find what was there when the launch started.
  const bool is_of_start = (c.access.use() & kConstant) != 0;
  const bool has_waited = c.order != nullptr && !is_of_start &&
                          c.order->has_waited_for_launch_before(c.access.thread());
  const auto is_beside = [&](const Unordered& one) {
    return one.work == work && !(one.until_waited && has_waited);
  };
  return std::any_of(c.d->unordered.begin(), c.d->unordered.end(), is_beside);
}

/// Whether a block fenced what it did, and then let the next launch start.
bool is_seen_by_next(const Work* work, const Access& access) {
  return work != nullptr && access.block() < work->seen_by_next.size() &&
         access.time() < work->seen_by_next[access.block()];
}

/// Work that may run beside the one that runs is another stream's, or another node's of a graph, or
/// a launch ahead.
Fault fault_beside(const Checked& c, std::uint32_t earlier_work) {
  if (c.by_host) return Fault::kHost;
  const Detector& d = *c.d;
  const Work* const earlier = find_work(d, earlier_work);
  if (earlier != nullptr && earlier->stream == d.works.back().stream) return Fault::kLaunchBefore;
  const bool nodes =
      earlier != nullptr && earlier->stream->is_of_graph && d.works.back().stream->is_of_graph;
  return nodes ? Fault::kOtherNode : Fault::kOtherStream;
}

const LaunchShape kHostItself{{"", nullptr, 0}, {1, 1, 1}, {1, 1, 1}, false, true};

Found found_at(const Checked& c, const Access& earlier, std::uint32_t earlier_work, Fault fault) {
  const Work* const work = find_work(*c.d, earlier_work);
  return {fault,
          c.address,
          c.bytes,
          earlier,
          c.access,
          work != nullptr ? work->shape : LaunchShape{},
          c.by_host ? kHostItself : c.d->works.back().shape,
          false,
          c.order != nullptr && c.d->swapped == c.access.name() &&
              !c.order->has_fenced(c.access.thread())};
}
void add(const Checked& c, const Access& earlier, std::uint32_t earlier_work, Fault fault) {
  add_finding(found_at(c, earlier, earlier_work, fault));
}

bool are_one_store(const Access& a, const Access& b) {
  return a.use() == kWrites && b.use() == kWrites && a.same_warp(b) && a.place() == b.place();
}

void wait_for_store(const Checked& c, const Access& earlier) {
  StoreBySeveral s{found_at(c, earlier, c.d->running, fault_of(earlier, c.access)),
                   are_one_store(earlier, c.access),
                   c.unit,
                   {}};
  std::memcpy(s.earlier, c.address, s.bytes);
  c.d->stores_by_several.push_back(s);
  stores_wait = true;
}

__attribute__((noinline)) void compare_stores() {
  const Inside in;
  stores_wait = false;
  for (StoreBySeveral& s : detector().stores_by_several) {
    s.found.is_same_value = std::memcmp(s.earlier, s.found.address, s.bytes) == 0;
    if (!s.is_one_store || !s.found.is_same_value) add_finding(s.found);
  }
  detector().stores_by_several.clear();
}

/// Whether nothing orders an access of the same launch before this one.
bool races_with(const Checked& c, const Access& earlier) {
  // A load through the path of constants does not even see the thread's own writes.
  const bool unseen = (c.access.use() & kConstant) != 0;
  return unseen || !c.order->comes_before(earlier.name(), earlier.time(), c.access.thread());
}

void report(const Checked& c, const Access& earlier) {
  if (earlier.use() == kWrites && c.access.use() == kWrites && !copy_begins) {
    wait_for_store(c, earlier);
  } else {
    add(c, earlier, c.d->running, fault_of(earlier, c.access));
  }
}

/// Against an access of the same launch.
void check(const Checked& c, const Access& earlier) {
  if (earlier && conflict(earlier, c.access) && races_with(c, earlier)) report(c, earlier);
}

/// Against a group of the same launch: of those that race one of this access's own warp is reported
/// and one of another, for different things would order them.
void check_group(const Checked& c, const Group& group) {
  const Access& then = group.what();
  if (!then || !conflict(then, c.access)) return;
  if (c.order->barrier_follows(then.block(), then.time()) && (c.access.use() & kConstant) == 0) {
    return;
  }
  bool of_warp = false, of_others = false;
  group.for_each([&](const Access& earlier) {
    bool& is_reported = earlier.same_warp(c.access) ? of_warp : of_others;
    if (!is_reported && races_with(c, earlier)) {
      report(c, earlier);
      is_reported = true;
    }
    return !(of_warp && of_others);
  });
}

/// Against all that the cell remembers of reads, or of strong accesses that write.
void check_groups(const Checked& c, const Group& latest, Groups* others) {
  check_group(c, latest);
  if (others == nullptr) return;
  others->for_each([&](const Group& group) { check_group(c, group); });
  others->for_lost([&](const Access& earlier) { check(c, earlier); });
}
void check_strong(const Checked& c, Crowd* crowd) {
  if (crowd == nullptr) return;
  const bool for_all = (c.access.use() & (kStrong | kBlockOnly)) == kStrong;
  if (for_all && !crowd->for_one_block) return;  // two atomics
  check_groups(c, crowd->strong, &crowd->strongs);
}

/// Whether a plain access comes after all strong ones that write. Each atomic update of a word
/// finds what the one before it left: who comes after the last update comes after all of them. So
/// the block that drew the last ticket may put it back by a plain store.
bool comes_after_updates(const Checked& c, const Crowd* crowd) {
  if (crowd == nullptr || (c.access.use() & kStrong) != 0) return false;
  const Access& last = crowd->last_strong;
  constexpr unsigned kUpdate = kReads | kWrites | kStrong;
  return (last.use() & (kUpdate | kVolatile | kBlockOnly)) == kUpdate &&
         c.order->comes_before(last.name(), last.time(), c.access.thread());
}
/// Against all that an unordered work has left in a cell.
void check_other_work(const Checked& c, const Cell& cell) {
  const Fault fault = fault_beside(c, cell.work);
  const Work* const launch_before =
      fault == Fault::kLaunchBefore ? find_work(*c.d, cell.work) : nullptr;
  const auto one = [&](const Access& earlier) {
    if (is_seen_by_next(launch_before, earlier)) return;
    const unsigned of_either = earlier.use() | c.access.use();
    const bool both_strong = (earlier.use() & c.access.use() & kStrong) != 0;
    if (earlier && (of_either & kWrites) != 0 && (!both_strong || (of_either & kBlockOnly) != 0)) {
      add(c, earlier, cell.work, fault);
    }
  };
  const auto groups = [&](const Group& latest, Groups* others) {
    one(latest.what());
    if (others == nullptr) return;
    others->for_each([&](const Group& group) { one(group.what()); });
    others->for_lost(one);
  };
  Crowd* const crowd = c.d->shadow.crowd_of(cell);
  one(cell.write);
  if (crowd != nullptr) groups(crowd->strong, &crowd->strongs);
  groups(cell.readers, crowd == nullptr ? nullptr : &crowd->readers);
}

// ---- the host -----------------------------------------------------------------------------------

/// Work tells the host by a word in memory of what it did.
void hand_over_to_host(Detector* d) {
  BesideHost& beside = d->beside_host;
  if (beside.work == nullptr) return;
  beside.to = cuda_cpu::host_goes_on();
  cuda_cpu::host_hears_of(*beside.work);
}

bool host_was_there_meanwhile(const Detector& d) { return d.host.latest() >= d.beside_host.from; }

/// Against what the host did beside the work that runs.
void check_against_host(const Checked& c, const char* begin, std::size_t bytes) {
  BesideHost& beside = c.d->beside_host;
  // A word that tells of others was read: what the host did before it was set is ordered.
  if (std::exchange(beside.hears, false)) beside.from = cuda_cpu::host_goes_on();
  const unsigned use = c.access.use();
  const bool writes = (use & kWrites) != 0;
  const bool has_fenced = c.order != nullptr && c.order->has_fenced(c.access.thread());
  const bool strong = (use & kStrong) != 0;
  bool is_asked_for = false;  // the host looks whether it was set
  c.d->host.for_conflicts(
      begin, bytes, writes, beside.from, [&](const HostUses::One& one, const char* at) {
        const bool both_strong = (one.use & kStrong) != 0 && (strong || (writes && has_fenced));
        is_asked_for = is_asked_for || both_strong;
        if (both_strong || one.time >= beside.to) return;
        add_finding({Fault::kHost, at, one.bytes, c.access,
                     Access(one.place, ThreadName{}, Time{}, one.use), c.d->works.back().shape,
                     kHostItself});
      });
  if ((use & kReads) != 0 && strong) beside.hears = true;
  if (writes && has_fenced && (strong || is_asked_for)) hand_over_to_host(c.d);
}

void note_progress() {
  if (cuda_cpu::current_worker != nullptr) ++cuda_cpu::current_worker->ended;
}

/// The first access of this cell by the work that runs.
void begin_cell(const Checked& c, Cell* cell, Kind kind) {
  if (kind >= Kind::kGlobal && !c.d->unordered.empty() && may_run_beside(c, cell->work)) {
    check_other_work(c, *cell);
  }
  // Shared memory lasts over a grid barrier, which is one of the block, too.
  if (kind != Kind::kShared || cell->work < c.d->first_of_launch) c.d->shadow.forget(cell);
  cell->work = c.d->running;
  note_progress();
}

/// Shared memory begins anew in every block.
void begin_shared_cell(const Checked& c, Cell* cell) {
  const Crowd* const crowd = c.d->shadow.crowd_of(*cell);
  const Access& any = cell->write                         ? cell->write
                      : crowd != nullptr && crowd->strong ? crowd->strong.what()
                                                          : cell->readers.what();
  if (any && any.block() != c.access.block()) {
    c.d->shadow.forget(cell);
    cell->work = c.d->running;
  }
  const Crowd* const now = c.d->shadow.crowd_of(*cell);
  const bool is_set = cell->write || (now != nullptr && now->strong);
  if ((c.access.use() & kReads) != 0 && !is_set) {
    add(c, Access{}, cell->work, Fault::kUnset);
  }
}

void remember_reader(Detector* d, const BlockOrder& order, Cell* cell, const Access& now) {
  Group& latest = cell->readers;
  if (cell->crowd == 0) {
    if (latest && latest.what().same_time(now) && latest.takes(now, order.warps())) return;
    if (!latest || Groups::is_over(latest, now, order)) {
      latest.release();
      latest = Group(now);
      return;
    }
  }
  d->shadow.make_crowd(cell).readers.add(&latest, now, order, d->blocks);
}

void read_cell(const Checked& c, Cell* cell) {
  const Access& latest = cell->readers.what();
  if (latest.same_time(c.access) && cell->readers.has(c.access.thread())) return;
  check(c, cell->write);
  check_strong(c, c.d->shadow.crowd_of(*cell));
  remember_reader(c.d, *c.order, cell, c.access);
  cell->is_settled = 0;
}

/// Takes a thread's plain reads out of a cell; the latest of them, if there are any.
Access take_reads(Detector* d, Cell* cell, ThreadName thread) {
  Access taken;
  const auto one = [&](Group* group) {
    const Access& what = group->what();
    if (!what || what.block() != thread.block || what.use() != kReads) return;
    if (!group->has(thread.thread)) return;
    group->remove(thread.thread);
    if (!taken || taken.time() < what.time()) taken = what.by(thread.thread);
  };
  one(&cell->readers);
  if (cell->readers && cell->readers.is_empty()) cell->readers.release();
  if (Crowd* const crowd = d->shadow.crowd_of(*cell)) {
    crowd->readers.for_each([&](Group& group) { one(&group); });
    crowd->readers.remove_empty();
  }
  cell->is_settled = 0;
  return taken;
}

/// A compare-and-swap follows on a plain read by the same thread.
void check_guess(const Checked& c, Cell* cell) {
  forgive_guess(c.access.name(), c.address);
  if (Access read = take_reads(c.d, cell, c.access.name())) {
    read.add_use(kGuess);
    remember_reader(c.d, *c.order, cell, read);
  }
}

/// A volatile write after a volatile read of the same word by a thread that makes no fences: if
/// they are of one line, an update. Another thread's update may come between.
void check_update(const Checked& c, const Cell& cell, Crowd* crowd) {
  if (c.order->has_fenced(c.access.thread())) return;
  Access read;
  const auto find_read = [&](const Group& group) {
    const Access then = group.what().by(c.access.thread());
    if (!group.has(c.access.thread()) || (then.use() & kVolatile) == 0) return;
    if (then.block() == c.access.block() && !(then.time() < c.access.time())) read = then;
  };
  find_read(cell.readers);
  crowd->readers.for_each(find_read);
  if (!read) return;
  const auto compare = [&](const Group& group) {
    if (!(group.what().place() == c.access.place())) return;
    group.for_each([&](const Access& other) {
      if (other.name() == c.access.name() || !races_with(c, other)) return true;
      add(c, Access(read.place(), other.name(), other.time(), read.use()), c.d->running,
          Fault::kUpdate);
      return false;
    });
  };
  compare(crowd->strong);
  crowd->strongs.for_each(compare);
}

void write_cell(const Checked& c, Cell* cell) {
  if ((c.access.use() & kSwap) != 0) check_guess(c, cell);
  Crowd* crowd = c.d->shadow.crowd_of(*cell);
  const bool strong = (c.access.use() & kStrong) != 0;
  const bool others_read = (cell->readers && !cell->readers.is_only(c.access.name())) ||
                           (crowd != nullptr && !crowd->readers.empty());
  if (!others_read) {
    if (!strong && cell->write.repeats(c.access)) return;
    if (strong && crowd != nullptr && crowd->last_strong.repeats(c.access)) return;
  }
  check(c, cell->write);
  check_groups(c, cell->readers, crowd == nullptr ? nullptr : &crowd->readers);
  if (!comes_after_updates(c, crowd)) check_strong(c, crowd);
  if (strong) {
    if (crowd != nullptr && (c.access.use() & kVolatile) != 0) check_update(c, *cell, crowd);
    crowd = &c.d->shadow.make_crowd(cell);
    crowd->strongs.add(&crowd->strong, c.access, *c.order, c.d->blocks);
    crowd->last_strong = c.access;
    if ((c.access.use() & kBlockOnly) != 0) crowd->for_one_block = true;
    cell->any_strong = true;
    cell->is_settled = false;
    return;
  }
  // All that came before is ordered before this write, or was reported: who comes after it comes
  // after that, too.
  const std::uint32_t work = cell->work;
  c.d->shadow.forget(cell);
  cell->work = work;
  cell->write = c.access;
}

/// Checks the access against what the cell remembers, and makes the cell remember the access.
void use_cell(const Checked& c, Cell* cell, Kind kind) {
  if (cell->work != c.d->running) begin_cell(c, cell, kind);
  if (kind == Kind::kShared) begin_shared_cell(c, cell);
  if ((c.access.use() & kWrites) != 0) {
    if (kind == Kind::kConstant &&
        cuda_cpu::overlaps_range(c.address, 1, cuda_cpu::Space::kConstant)) {
      add(c, Access{}, cell->work, Fault::kConstantWrite);
    }
    write_cell(c, cell);
  } else {
    read_cell(c, cell);
  }
}

/// Calls use(at, offset, bytes) for the part of a range that lies in each page: where it begins,
/// and where that is in the page.
template <class F>
void for_each_page(const char* at, std::size_t bytes, F use) {
  while (bytes > 0) {
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) % Page::kBytes;
    const std::size_t here = std::min(bytes, Page::kBytes - offset);
    use(at, offset, here);
    at += here;
    bytes -= here;
  }
}

// ---- the short way ------------------------------------------------------------------------------
//
// Nearly every access is plain, of whole words, and ordered after what came before by the barriers
// of its own block. This does for it what the functions above do, and nothing else. It calls no
// function that the program may share.

/// As far as barriers and the thread's own steps tell.
bool is_ordered(const BlockOrder& order, const Access& earlier, const Access& now) {
  return !earlier || order.comes_in_block_before(earlier.name(), earlier.time(), now.thread());
}

/// The same for a group.
bool is_ordered(const BlockOrder& order, const Group& group, const Access& now) {
  const Access& then = group.what();
  return !then || order.barrier_follows(then.block(), then.time()) || group.is_only(now.name());
}

/// Makes a cell with nothing to check remember a write; nobody has a crowd to give back.
void begin_with(Cell* cell, std::uint32_t work, const Access& write) {
  cell->readers.release();
  *cell = Cell{};
  cell->work = work;
  cell->write = write;
}

void read_in_short(Detector* d, const BlockOrder& order, Cell* cell, const Access& now) {
  if (!cell->readers) {
    cell->readers = Group(now);
  } else {
    remember_reader(d, order, cell, now);
  }
  cell->is_settled = !cell->write || order.barrier_follows(cell->write.block(), cell->write.time());
}

bool write_in_short(Detector* d, const BlockOrder& order, Cell* cell, const Access& now) {
  if (!is_ordered(order, cell->readers, now)) return false;
  if (Crowd* const crowd = d->shadow.crowd_of(*cell)) {
    if (!crowd->readers.empty()) {
      if (!crowd->readers.are_over(order)) return false;
      crowd->readers.clear();
    }
  }
  cell->readers.release();
  cell->is_settled = 0;
  if (!cell->write.repeats(now)) cell->write = now;
  return true;
}

/// The same for a word of a strip, by a thread whose access has 1 << log2 words.
bool use_strip(Detector* d, const BlockOrder& order, Strips* strips, std::uint32_t word,
               std::uint32_t log2, const Access& now) {
  Strip& strip = strips->now;
  if (strip.work != d->running) {
    if (!strips->before.empty()) return false;
    strips->before = std::move(strip);
    strip = Strip{};
    strip.work = d->running;
    note_progress();
  }
  Row &written = strip.written, &read = strip.read;
  const auto is_over = [&](const Row& row) {
    if (!row.has(word)) return true;
    const Access earlier = row.of(word);
    return order.comes_in_block_before(earlier.name(), earlier.time(), now.thread());
  };
  const auto fits = [&](Row* row) {
    return (row->has(word) && row->of(word).repeats(now)) || row->takes(word, log2, now);
  };
  if (!is_over(written)) return false;
  if ((now.use() & kWrites) != 0) {
    if (!is_over(read)) return false;
    if (strip.readers != nullptr && !strip.readers->are_over(word, now, order)) return false;
    if (!fits(&written)) return false;
    strip.forget_reads(word);
  } else if (strip.readers != nullptr || !is_over(read) || !fits(&read)) {
    if (strip.readers == nullptr) {
      strip.readers = std::make_unique<Readers>(read.first, read.words, read.log2, order.warps());
      read = Row{};
    }
    if (!strip.readers->takes(word, log2, now, order, d->blocks)) return false;
  }
  strips->before.forget(word);
  return true;
}

/// The running thread's plain access `now` of the word at `offset`, of 1 << log2 words. Whether all
/// is done; if not, nothing is.
__attribute__((always_inline)) inline bool use_word_in_short(Detector* d, const BlockOrder& order,
                                                             Page* page, std::size_t offset,
                                                             std::uint32_t log2,
                                                             const Access& now) {
  Cell* const cell = page->cell_of_word(offset);
  if (cell == nullptr) {
    Strips* const strips = page->strips_of_word(offset);
    return strips != nullptr && use_strip(d, order, strips, offset / 4 % 32, log2, now);
  }
  const bool writes = (now.use() & kWrites) != 0;
  if (cell->work != d->running) {
    // Of an earlier launch, with nothing of this cell to check.
    const bool is_new = page->kind() == Kind::kShared ? cell->work < d->first_of_launch
                                                      : page->kind() == Kind::kGlobal;
    if (!writes || cell->crowd != 0 || !is_new) return false;
    begin_with(cell, d->running, now);
    note_progress();
    return true;
  }
  if (cell->settles(now)) return true;
  if (cell->any_strong) return false;
  if (page->kind() == Kind::kShared) {
    // It begins anew in every block, and must be set there.
    if (!cell->write || cell->write.block() != now.block()) {
      const bool is_new = !cell->readers || cell->readers.what().block() != now.block();
      if (!writes || cell->crowd != 0 || !is_new) return false;
      begin_with(cell, d->running, now);
      return true;
    }
  }
  if (!is_ordered(order, cell->write, now)) return false;
  if (writes) return write_in_short(d, order, cell, now);
  read_in_short(d, order, cell, now);
  return true;
}

// ---- copies and fills ---------------------------------------------------------------------------

Access access_of_copy(bool writes) {
  static const char kCode = 0;  // stands for the runtime's, where a place is needed
  return Access(Place(&kCode), ThreadName{}, Time{}, writes ? kWrites : kReads);
}

void check_against_copies(const Checked& c, const char* begin, std::size_t bytes) {
  for (const CopiedRange& copy : c.d->copies) {
    if (begin + bytes <= copy.begin || copy.begin + copy.bytes <= begin) continue;
    if (!copy.writes && (c.access.use() & kWrites) == 0) continue;
    if (!may_run_beside(c, copy.work)) continue;
    Checked at = c;
    at.address = std::max(begin, copy.begin);
    add(at, access_of_copy(copy.writes), copy.work, fault_beside(c, copy.work));
  }
}

/// Against all that works have done to a range which nothing orders before this access.
void check_beside(Checked c, const char* begin, std::size_t bytes) {
  Detector& d = *c.d;
  if (d.unordered.empty()) return;
  check_against_copies(c, begin, bytes);
  for_each_page(begin, bytes, [&](const char* at, std::size_t offset, std::size_t here) {
    Page* const page = Shadow::known_page_of(at);
    if (page == nullptr || page->kind() < Kind::kGlobal) return;
    d.shadow.for_each(page, offset, here, [&](Cell& cell, std::size_t of) {
      c.address = at - offset + of;
      if (may_run_beside(c, cell.work)) check_other_work(c, cell);
    });
  });
}

/// The host used memory, and work of which it did not know that it had ended has run before.
void check_host(const HostUse& use) {
  Detector& d = detector();
  d.unordered.clear();
  for (const Work& work : d.works) {
    if (work.stream == nullptr || use.known.covers(work.stream, work.sequence)) continue;
    d.unordered.push_back({work.number, false});
  }
  Checked c{&d, nullptr, use.access, use.begin, use.bytes};
  c.by_host = true;
  check_beside(c, use.begin, use.bytes);
  d.unordered.clear();
  report_findings();
}

/// At once if nothing runs. What the host does beside a kernel waits until that has ended.
void check_host_soon(const HostUse& use) {
  constexpr int kTurns = 1000;  // between two pieces of work a turn is enough
  for (int turn = 0; turn < kTurns; ++turn) {
    if (cuda_cpu::when_nothing_runs([&] { check_host(use); })) return;
    if (detector().uses_beside.keep(use)) return;
    std::this_thread::yield();
  }
}

/// What the host did while the kernel ran that has ended now. If that has asked for words that the
/// host may have set, part of it can be ordered by those: then it was compared as the kernel came
/// to it, or is not.
void check_uses_beside(Detector* d) {
  const BesideHost& beside = d->beside_host;
  const bool has_asked =
      beside.hears || (beside.work != nullptr && beside.from != beside.work->sequence);
  for (const HostUse& use : d->uses_beside.take()) {
    if (!has_asked) check_host(use);
  }
}

/// The runtime itself reads or writes memory, as the work that runs.
void range_is_used(const void* address, std::size_t bytes, bool writes, const char* call,
                   cuda_cpu::Site site, const void* source) {
  const Inside in;
  if (writes) cuda_cpu::mark_copied(address, source, bytes);
  Detector& d = detector();
  begin_work(&d, {{call, site.file, site.line}, {}, {}, true}, false);
  const auto* const begin = static_cast<const char*>(address);
  if (host_was_there_meanwhile(d)) {
    check_against_host({&d, nullptr, access_of_copy(writes), begin, 1}, begin, bytes);
  }
  check_beside({&d, nullptr, access_of_copy(writes), begin, 1}, begin, bytes);
  d.copies.push_back({d.running, begin, bytes, writes});
  if (d.copies.size() > kCopiesKept) d.copies.pop_front();
  report_findings();
}

/// Variables of another device: what is remembered of this place was done to those of the last one.
void range_is_another(const void* address, std::size_t bytes) {
  const Inside in;
  Detector& d = detector();
  const auto* const begin = static_cast<const char*>(address);
  for_each_page(begin, bytes, [&](const char* at, std::size_t offset, std::size_t here) {
    Page* const page = Shadow::known_page_of(at);
    if (page == nullptr || page->kind() < Kind::kGlobal) return;
    d.shadow.for_each(page, offset, here, [&](Cell& cell, std::size_t) {
      d.shadow.forget(&cell);
      cell = Cell{};
    });
  });
  const auto is_there = [&](const CopiedRange& copy) {
    return begin < copy.begin + copy.bytes && copy.begin < begin + bytes;
  };
  d.copies.erase(std::remove_if(d.copies.begin(), d.copies.end(), is_there), d.copies.end());
}

// ---- asynchronous copies ------------------------------------------------------------------------
//
// When a copy begins, what the thread itself would do is checked and remembered, and then handed
// over to its copier, whose accesses come before nothing. When the thread has waited it takes them
// back.

constexpr Time kNever{~0u};

/// Calls use(cell) for the cells of a range, where there are any.
template <class F>
void for_cells(const void* address, std::size_t bytes, F use) {
  const auto* const begin = static_cast<const char*>(address);
  for_each_page(begin, bytes, [&](const char* at, std::size_t offset, std::size_t here) {
    Page& page = detector().shadow.page_of(at);
    if (page.kind() == Kind::kIgnored) return;
    detector().shadow.for_each(&page, offset, here, [&](Cell& cell, std::size_t) { use(&cell); });
  });
}

/// The accesses of a copy, which are remembered as one thread's, become another's.
void hand_over_copy(const BlockOrder& order, ThreadName from_thread, ThreadName to_thread,
                    Time time, const void* to, std::size_t bytes, const void* from,
                    std::size_t read) {
  for_cells(from, read, [&](Cell* cell) {
    if (const Access taken = take_reads(&detector(), cell, from_thread)) {
      remember_reader(&detector(), order, cell, Access(taken.place(), to_thread, time, kReads));
    }
  });
  for_cells(to, bytes, [&](Cell* cell) {
    Access& write = cell->write;
    if (!write || !(write.name() == from_thread) || write.use() != kWrites) return;
    write = Access(write.place(), to_thread, time, kWrites);
  });
}

// ---- the running thread -------------------------------------------------------------------------

BlockOrder* running_block() {
  const cuda_cpu::Block* const block = cuda_cpu::current_block;
  if (block == nullptr || cuda_cpu::current_thread == nullptr) return nullptr;
  return static_cast<BlockOrder*>(block->observation);
}

std::uint32_t running_thread() {
  return static_cast<std::uint32_t>(cuda_cpu::current_thread - cuda_cpu::current_block->threads);
}

/// Any access, or what is left of it: `bytes` from `begin` on, of `whole` bytes.
__attribute__((noinline)) void use_memory(BlockOrder* block, std::uint32_t thread,
                                          const char* begin, std::size_t bytes, std::size_t whole,
                                          unsigned use, const void* place) {
  const Inside in;
  Detector& d = detector();
  // A volatile store in shared memory that hands nothing over by a fence is an old trick between
  // the lanes of a warp, which ran in step before Volta. It is a plain store today.
  if ((use & kVolatile) != 0 && d.shadow.page_of(begin).kind() == Kind::kShared &&
      (use & kWrites) != 0 && !block->has_fenced(thread)) {
    use &= ~unsigned{kStrong | kVolatile};
  }
  if ((use & kSwap) != 0) d.swapped = {block->block(), thread};
  if ((use & kStrong) != 0) {
    block->atomic(thread, begin, (use & kReads) != 0, (use & kWrites) != 0,
                  (use & kBlockOnly) != 0);
  }
  const Access access(Place(place), {block->block(), thread}, block->now(), use);
  Checked c{&d, block, access, begin, whole};
  for_each_page(begin, bytes, [&](const char* at, std::size_t offset, std::size_t here) {
    Page& page = d.shadow.page_of(at);
    if (page.kind() == Kind::kIgnored) {
      check_stack(at, (use & kWrites) != 0, place);
      return;
    }
    d.shadow.for_each(&page, offset, here, [&](Cell& cell, std::size_t of) {
      c.address = at - offset + of;
      c.unit = page.unit();
      use_cell(c, &cell, page.kind());
    });
  });
  if (!d.unordered.empty() && d.shadow.page_of(begin).kind() >= Kind::kGlobal) {
    check_against_copies(c, begin, bytes);
  }
  if (cuda_cpu::is_shared_with_host(begin)) check_against_host(c, begin, bytes);
}

bool is_padding(const char* address) {
  cuda_cpu::MemoryRange range;
  return cuda_cpu::find_live_range(address, &range) && range.row_bytes < range.pitch &&
         (reinterpret_cast<std::uintptr_t>(address) - range.base) % range.pitch >= range.row_bytes;
}

/// Before an access by the running thread: who reads a word wants it written, and who writes it
/// has. Said once of each word.
__attribute__((noinline)) void use_unwritten(BlockOrder* block, const void* address,
                                             std::size_t bytes, unsigned use, const void* place) {
  const Inside in;
  const auto* const begin = static_cast<const char*>(address);
  const Access access(Place(place), {block->block(), running_thread()}, block->now(), use);
  const Checked c{&detector(), block, access, begin, bytes};
  if ((use & kWrites) != 0 && cuda_cpu::rows_are_padded && is_padding(begin)) {
    add(c, Access{}, c.d->running, Fault::kPadding);
  } else if ((use & kReads) != 0 && cuda_cpu::is_unwritten(address, bytes, true)) {
    add(c, Access{}, c.d->running, Fault::kUnset);
  }
  cuda_cpu::set_unwritten(address, bytes, false);
}
inline void look_at_unwritten(BlockOrder* block, const void* address, std::size_t bytes,
                              unsigned use, const void* place) {
  const bool writes = (use & kWrites) != 0;
  const bool is_of_interest =
      cuda_cpu::is_unwritten(address, bytes, !writes) || (writes && cuda_cpu::rows_are_padded);
  if (__builtin_expect(is_of_interest, 0)) use_unwritten(block, address, bytes, use, place);
}

/// Whether use_word_in_short may be asked.
bool may_go_in_short(const Detector& d, std::size_t offset, std::size_t bytes) {
  return offset % 4 == 0 && offset + bytes <= Page::kBytes && !inside && d.unordered.empty() &&
         constant_read == nullptr && !stores_wait && !host_was_there_meanwhile(d);
}

// ---- what the engine tells ----------------------------------------------------------------------

bool grid_begins(const cuda_cpu::GridLaunch& launch) {
  const Inside in;
  Detector& d = detector();
  begin_work(&d, {launch.kernel, launch.grid, launch.block}, false);
  launch_is_passed_over = d.repetitions.begins(launch, seconds_now());
  if (launch_is_passed_over) {
    d.works.back().has_waited = true;  // nobody saw whether it did
    [[maybe_unused]] static const int once = std::atexit(say_what_was_passed_over);
    // Nobody sees what it writes.
    if (cuda_cpu::unwritten_words.bytes != 0) cuda_cpu::keep_unwritten_memory(true);
    return false;
  }
  d.blocks.clear();
  d.swapped = {~0u, 0};
  d.shadow.look_again();
  forget_guards();
  blocks_ended = 0;
  blocks_to_run = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  ++running_launch;
  running_kernel = launch.kernel.name;
  d.uses_beside.open();
  return true;
}

void grid_ends(const cuda_cpu::GridLaunch&) {
  const Inside in;
  launch_is_passed_over = false;
  detector().repetitions.ends(seconds_now());
  detector().blocks.clear();
  running_kernel = nullptr;
  check_uses_beside(&detector());
  report_findings();
}

void* block_begins(const cuda_cpu::Block& block, std::uint64_t number, std::uint64_t) {
  const Inside in;
  return detector().blocks.begin(static_cast<std::uint32_t>(number), block.count);
}

void block_ends(cuda_cpu::Block& block) {
  if (stores_wait) compare_stores();
  const Inside in;
  detector().blocks.end(block.observation);
  block.observation = nullptr;
  ++blocks_ended;
}

BlockOrder& order_of(const cuda_cpu::Block& block) {
  return *static_cast<BlockOrder*>(block.observation);
}

void barrier_opens(cuda_cpu::Block& block) {
  const Inside in;
  order_of(block).barrier();
}

void lanes_met(cuda_cpu::Block& block, std::uint32_t warp, std::uint32_t lanes) {
  const Inside in;
  order_of(block).lanes_met(warp, lanes);
}

void copy_arrives(cuda_cpu::Block& running, const cuda_cpu::AsyncCopy& copy, const void* barrier) {
  const Inside in;
  BlockOrder& order = order_of(running);
  const ThreadName copier{order.block(), copy.thread + kCopier};
  // Even the copy's own thread does not know that its phase has ended before it has waited.
  const ThreadName maker{order.block(), barrier == nullptr ? copy.thread : copier.thread};
  hand_over_copy(order, copier, maker, order.now(), copy.to, copy.bytes, copy.from, copy.read());
  if (barrier != nullptr) order.copy_is_made(copier.thread, barrier, copy.group);
}

void phase_is_reached(cuda_cpu::Block& running, const void* barrier, std::uint32_t phase) {
  const Inside in;
  order_of(running).phase_is_reached(running_thread(), barrier, phase);
}

void phase_is_passed(cuda_cpu::Block& running, const void* barrier, std::uint32_t phase) {
  const Inside in;
  order_of(running).phase_is_passed(running_thread(), barrier, phase);
}

void grid_barrier_opens() {
  const Inside in;
  Detector& d = detector();
  begin_work(&d, d.works.back().shape, true);
  d.blocks.barrier();
}

constexpr cuda_cpu::Observer kObserver = [] {
  cuda_cpu::Observer o{};
  o.grid_begins = grid_begins;
  o.grid_ends = grid_ends;
  o.block_begins = block_begins;
  o.block_ends = block_ends;
  o.barrier_opens = barrier_opens;
  o.lanes_met = lanes_met;
  o.copy_arrives = copy_arrives;
  o.phase_is_reached = phase_is_reached;
  o.phase_is_passed = phase_is_passed;
  o.grid_barrier_opens = grid_barrier_opens;
  o.range_is_used = range_is_used;
  o.range_is_another = range_is_another;
  o.time_passes = time_passes;
  o.wants_one_worker = true;
  return o;
}();

/// Before main: the pool of workers asks how many there are.
struct AtStart {
  AtStart() {
    if (cuda_cpu::races_are_wanted()) look_for_races(true);
  }
} at_start;

}  // namespace

void look_for_races(bool on) {
  if (the_detector == nullptr) the_detector = new Detector;
  the_detector->shadow.look_again();
  the_detector->repetitions = Repetitions{};
  are_looked_for = on;
  cuda_cpu::keep_unwritten_memory(on);
  is_told = false;
  cuda_cpu::observer = on ? &kObserver : nullptr;
}

void next_read_is_constant(const void* address) { constant_read = address; }

void note_access(const void* address, std::size_t bytes, unsigned use, const void* place) {
  if (cuda_cpu::current_thread == nullptr) {
    if (cuda_cpu::host_is_behind) note_host(address, bytes, use, place);
    return;
  }
  if (stores_wait && !inside) compare_stores();
  if (is_own_local(address, (use & kWrites) != 0, place)) return;
  // An access that reaches into the next page is ignored, too: nobody else's is beside it.
  if (Shadow::is_ignored(address) && (use & kStrong) == 0) return;
  if (inside) return;
  if (use == kReads && address == constant_read) {
    use |= kConstant;
    constant_read = nullptr;
  }
  BlockOrder* const block = running_block();
  if (block == nullptr) return;
  look_at_unwritten(block, address, bytes, use, place);
  const auto* const begin = static_cast<const char*>(address);
  use_memory(block, running_thread(), begin, bytes, bytes, use, place);
}

void note_host(const void* address, std::size_t bytes, unsigned use, const void* place) {
  if (!are_looked_for || inside || cuda_cpu::running_host_function) return;
  const Inside in;
  if (!cuda_cpu::is_shared_with_host(address)) return;
  const auto* const begin = static_cast<const char*>(address);
  const std::uint64_t caught_up = cuda_cpu::host_caught_up();
  const auto size = static_cast<std::uint8_t>(std::min<std::size_t>(bytes, 16));
  detector().host.note(begin, bytes,
                       {Place(place), static_cast<std::uint8_t>(use), size, cuda_cpu::host_time()},
                       caught_up);
  if ((use & kStrong) == 0 && caught_up < cuda_cpu::latest_unasked()) {
    const Access access(Place(place), ThreadName{}, Time{}, use);
    check_host_soon({access, begin, bytes, cuda_cpu::host_knows()});
  }
}

void note_async_copy(const void* to, std::size_t bytes, const void* from, std::size_t read,
                     const void* place) {
  if (inside) return;
  BlockOrder* const block = running_block();
  if (block == nullptr) return;
  const std::uint32_t thread = running_thread();
  if (read > 0) {
    look_at_unwritten(block, from, read, kReads, place);
    use_memory(block, thread, static_cast<const char*>(from), read, read, kReads, place);
  }
  copy_begins = bytes > 0;
  if (copy_begins) {
    use_memory(block, thread, static_cast<const char*>(to), bytes, bytes, kWrites, place);
  }
  copy_begins = false;
  const Inside in;
  const ThreadName me{block->block(), thread}, copier{block->block(), thread + kCopier};
  hand_over_copy(*block, me, copier, kNever, to, bytes, from, read);
}

void note_words(const void* address, std::size_t bytes, unsigned use, const void* place) {
  Detector& d = *the_detector;
  BlockOrder* const block = running_block();
  Page* page = Shadow::known_page_of(address);
  if (page == nullptr && !inside && block != nullptr) {
    const Inside in;
    page = &d.shadow.page_of(address);
    if (page->kind() == Kind::kIgnored) page = nullptr;
  }
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) % Page::kBytes;
  if (block == nullptr || page == nullptr || !may_go_in_short(d, offset, bytes)) {
    note_access(address, bytes, use, place);
    return;
  }
  look_at_unwritten(block, address, bytes, use, place);
  const std::uint32_t thread = running_thread();
  const Access now(Place(place), {block->block(), thread}, block->now(), use);
  const auto log2 = static_cast<std::uint32_t>(__builtin_ctzll(bytes / 4));
  for (std::size_t at = 0; at < bytes; at += 4) {
    if (!use_word_in_short(&d, *block, page, offset + at, log2, now)) {
      use_memory(block, thread, static_cast<const char*>(address) + at, 4, bytes, use, place);
    }
  }
}

void note_word_read(const void* address, const void* place) {
  Detector& d = *the_detector;
  BlockOrder* const block = running_block();
  Page* const page = Shadow::known_page_of(address);
  if (block == nullptr || page == nullptr) {
    note_words(address, 4, kReads, place);
    return;
  }
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) % Page::kBytes;
  const std::uint32_t thread = running_thread();
  const Access now(Place(place), {block->block(), thread}, block->now(), kReads);
  if (Cell* const cell = page->cell_of_word(offset)) {
    if (cell->work == d.running && cell->settles(now)) return;
  } else if (Strips* const strips = page->strips_of_word(offset)) {
    if (strips->now.work == d.running && strips->now.settles(offset / 4 % 32, now)) return;
  }
  if (!may_go_in_short(d, offset, 4)) {
    note_access(address, 4, kReads, place);
    return;
  }
  look_at_unwritten(block, address, 4, kReads, place);
  if (!use_word_in_short(&d, *block, page, offset, 0, now)) {
    use_memory(block, thread, static_cast<const char*>(address), 4, 4, kReads, place);
  }
}

void note_order(const void* address, bool acquires, bool releases, bool block_only) {
  if (inside) return;
  BlockOrder* const block = running_block();
  if (block == nullptr) return;
  const Inside in;
  block->ordered_atomic(running_thread(), address, acquires, releases, block_only);
  if (releases && !block_only && cuda_cpu::is_shared_with_host(address)) {
    hand_over_to_host(&detector());
  }
}

void note_fence(bool block_only) {
  if (inside) return;
  BlockOrder* const block = running_block();
  if (block == nullptr) return;
  const Inside in;
  block->fence(running_thread(), block_only);
}

void note_wait_for_launch_before() {
  BlockOrder* const block = running_block();
  if (inside || block == nullptr) return;
  const Inside in;
  block->waits_for_launch_before(running_thread());
  detector().works.back().has_waited = true;
}

void note_start_of_next_launch() {
  BlockOrder* const block = running_block();
  if (inside || block == nullptr) return;
  const Inside in;
  std::vector<Time>& seen = detector().works.back().seen_by_next;
  if (!block->has_waited_for_launch_before(running_thread())) {
    detector().works.back().lets_next_start_at_once = true;
  }
  seen.resize(std::max<std::size_t>(seen.size(), block->block() + 1));
  seen[block->block()] = block->lets_next_launch_start(running_thread());
}

}  // namespace races
