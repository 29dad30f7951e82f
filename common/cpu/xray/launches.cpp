// SPDX-License-Identifier: MIT
#include "launches.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>

#include "../cuda/cuda_runtime_api.h"
#include "../engine/state/block.h"
#include "../engine/state/current.h"
#include "../engine/state/grid.h"
#include "../engine/state/leaving.h"
#include "../engine/state/observer.h"
#include "../report/diagnostics.h"
#include "../report/program_image.h"
#include "../report/source_lines.h"
#include "counts.h"
#include "lanes.h"
#include "machine_code.h"
#include "tally.h"

namespace xray {

/// A launch as far as its blocks have ended. What belongs to lines is added to `launch` at the end.
struct LaunchTally {
  cuda_cpu::LaunchIdentity identity;
  Launch launch;
  std::uint64_t barriers_of_block = ~std::uint64_t{0};
  Tallies tallies;
  Visited visited;
  Flow flow;
  bool keeps_events = false;
  std::vector<Happening> happenings;
};

namespace {

using cuda_cpu::Block;
using cuda_cpu::GridLaunch;

/// A block that runs and is counted, or looked at.
struct WatchedBlock : BlockLanes {
  WatchedBlock(const Block& block, std::uint64_t number_)
      : number(number_), first_epoch(block.epoch), tally(number_, arrays) {
    lanes.resize(block.count);
    exchanges.resize(block.count);
  }

  /// Counts what the lanes have done since the last barrier. `at_end`: of the block.
  void group_all(bool at_end) {
    // Counts that leave something out are not reported.
    if (too_many) {
      cuda_cpu::die(
          "X-ray: a thread does more than %zu things between two barriers, too many to count; "
          "make the input smaller",
          kMostEvents);
    }
    for (std::size_t first = 0; first < lanes.size(); first += kLanes) {
      const auto count = static_cast<unsigned>(std::min<std::size_t>(kLanes, lanes.size() - first));
      tally.add_warp(first / kLanes, &lanes[first], count, at_end);
    }
    for (Lane& lane : lanes) lane.events.clear();
  }

  const std::uint64_t number;
  const std::uint32_t first_epoch;
  BlockTally tally;
  std::vector<std::uint64_t> exchanges;  // of each thread
};

WatchedBlock* watched(const Block& block) {
  return static_cast<WatchedBlock*>(static_cast<BlockLanes*>(block.observation));
}

struct Session {
  std::mutex mutex;
  std::vector<std::unique_ptr<LaunchTally>> launches;
  LaunchTally* running = nullptr;  // one grid runs at a time
  std::uint64_t most_blocks = kAllBlocks;
  bool looks_at_others = false;
  std::vector<std::unique_ptr<WatchedBlock>> blocks;  // that run now
  bool keeps = false;
  std::vector<Launch> kept;
  bool keeps_events = false;
  std::uint64_t events_block = 0;
};

Session& session() {
  static Session* const s = new Session;
  return *s;
}

/// While it lives, the launches counted so far are out of the way. Its end brings them back, and
/// with them what `watch` and `sample_blocks` had been told.
struct SetAside {
  SetAside() { launches.swap(session().launches); }
  ~SetAside() {
    cuda_cpu::observer = observer;
    sample_blocks(most_blocks, looks_at_others);
    launches.swap(session().launches);
  }
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;

  std::vector<std::unique_ptr<LaunchTally>> launches;
  const std::uint64_t most_blocks = session().most_blocks;
  const bool looks_at_others = session().looks_at_others;
  const cuda_cpu::Observer* const observer = cuda_cpu::observer;
};

// ---- what the engine tells ----------------------------------------------------------------------

bool grid_begins(const GridLaunch& launch) {
  Session& s = session();
  const std::lock_guard<std::mutex> lock(s.mutex);
  cuda_cpu::LaunchIdentity identity = launch.identity();
  for (const auto& counted : s.launches) {
    if (counted->identity == identity) return false;
  }
  const auto same_kernel = [&](const auto& l) {
    return l->identity.function == identity.function && l->identity.kernel == identity.kernel;
  };
  const bool is_first = std::none_of(s.launches.begin(), s.launches.end(), same_kernel);
  s.launches.push_back(std::make_unique<LaunchTally>());
  s.launches.back()->keeps_events = s.keeps_events && is_first;
  s.running = s.launches.back().get();
  Launch& l = s.running->launch;
  l.arguments = identity.arguments;
  l.file = identity.file;
  l.line = identity.line;
  l.grid = identity.grid;
  l.block = identity.block;
  l.blocks = std::uint64_t{l.grid.x} * l.grid.y * l.grid.z;
  l.events_block = s.events_block;
  s.running->identity = std::move(identity);
  return true;
}

void grid_ends(const GridLaunch&) {
  Session& s = session();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.running = nullptr;
  s.blocks.clear();  // of an abandoned grid
}

/// Whether this is one of `wanted` blocks that are spread evenly over all, from the first to the
/// last one: the k-th has the number k * (blocks - 1) / (wanted - 1).
bool is_chosen(std::uint64_t number, std::uint64_t wanted, std::uint64_t blocks) {
  if (blocks <= wanted) return true;
  if (wanted == 1) return number == 0;
  const std::uint64_t k = (number * (wanted - 1) + blocks - 2) / (blocks - 1);  // rounded up
  return k * (blocks - 1) / (wanted - 1) == number;
}

void* block_begins(const Block& block, std::uint64_t number, std::uint64_t blocks) {
  Session& s = session();
  const bool is_counted =
      s.keeps_events ? number == s.events_block : is_chosen(number, s.most_blocks, blocks);
  if (!is_counted && !s.looks_at_others) return nullptr;
  auto begun = std::make_unique<WatchedBlock>(block, number);
  BlockLanes* const lanes = begun.get();
  lanes->is_counted = is_counted;
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (s.running->keeps_events) begun->tally.record();
  if (has_machine_code()) begun->tally.follow();
  s.blocks.push_back(std::move(begun));
  return lanes;
}

void barrier_opens(Block& block) {
  if (!watched(block)->is_counted) return;
  // X-ray's own accesses here are not the block's, even where X-ray shares code with the program.
  const cuda_cpu::Undisturbed while_groups_are_found;
  void* const lanes = block.observation;
  WatchedBlock* const counted = watched(block);
  block.observation = nullptr;
  counted->group_all(false);
  counted->tally.end_interval(block.file == nullptr ? "" : block.file, block.line);
  block.observation = lanes;
}

void thread_meets(Block& block, std::uint32_t mask) {
  const auto number = static_cast<std::size_t>(cuda_cpu::current_thread - block.threads);
  WatchedBlock& counted = *watched(block);
  if (counted.is_counted) counted.lanes[number].events.push_back(LaneEvent(mask));
  ++counted.exchanges[number];
}

void lanes_met(Block& block, std::uint32_t warp, std::uint32_t lanes) {
  for (const unsigned lane : LanesOf(lanes)) --watched(block)->exchanges[warp * kLanes + lane];
}

/// Adds what a counted block did.
void add_block(const WatchedBlock& ended, const Block& block, LaunchTally* sums) {
  Launch& launch = sums->launch;
  ++launch.blocks_counted;
  launch.warps_counted += (block.count + kLanes - 1) / kLanes;
  if (ended.number < sums->barriers_of_block) {
    sums->barriers_of_block = ended.number;
    launch.barriers = block.epoch - ended.first_epoch;
  }
  launch.shared_bytes =
      std::max(launch.shared_bytes, block.static_shared_bytes + block.dynamic_shared_bytes);
  launch.partings += ended.tally.partings();
  launch.has_others_copy = launch.has_others_copy || ended.has_others_copy;
  for (const auto& [kind, lanes] : ended.tally.busiest_warps()) {
    launch.busiest_warps[kind] = std::max(launch.busiest_warps[kind], lanes);
  }
  for (const auto& [kind, thread] : ended.tally.busiest_threads()) {
    launch.busiest_threads[kind].join(thread);
  }
  for (const auto& [key, tally] : ended.tally.tallies()) sums->tallies[key].add(tally);
  for (const auto& [place, passage] : ended.tally.visited()) sums->visited[place] += passage;
  sums->flow.add(ended.tally.flow());
  if (sums->keeps_events) {
    sums->happenings = ended.tally.happenings();
    launch.steps = ended.tally.steps();
  }
}

void block_ends(Block& block) {
  const cuda_cpu::Undisturbed while_groups_are_found;
  WatchedBlock* const ended = watched(block);
  block.observation = nullptr;
  if (ended->is_counted) ended->group_all(true);
  Session& s = session();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (ended->is_counted) add_block(*ended, block, s.running);
  Launch& launch = s.running->launch;
  const std::uint64_t barriers = block.epoch - ended->first_epoch;
  launch.barriers_of_busiest_block = std::max(launch.barriers_of_busiest_block, barriers);
  for (const std::uint64_t exchanges : ended->exchanges) {
    launch.exchanges_of_busiest_thread = std::max(launch.exchanges_of_busiest_thread, exchanges);
  }
  std::uint64_t& accesses =
      ended->is_counted ? launch.accesses_of_busiest_thread : launch.accesses_elsewhere;
  for (const Lane& lane : ended->lanes) accesses = std::max(accesses, lane.accesses);
  const auto is_it = [ended](const auto& running) { return running.get() == ended; };
  s.blocks.erase(std::find_if(s.blocks.begin(), s.blocks.end(), is_it));
}

constexpr cuda_cpu::Observer kObserver = [] {
  cuda_cpu::Observer o{};
  o.grid_begins = grid_begins;
  o.grid_ends = grid_ends;
  o.block_begins = block_begins;
  o.block_ends = block_ends;
  o.barrier_opens = barrier_opens;
  o.thread_meets = thread_meets;
  o.lanes_met = lanes_met;
  return o;
}();

// ---- from tallies to launches -------------------------------------------------------------------

/// The kernel as the launch names it; with its own template arguments where those stand for others,
/// as in `add<kPattern>` inside a template.
std::string kernel_name(const cuda_cpu::LaunchIdentity& identity) {
  const std::size_t open = identity.kernel.find('<');
  if (open == std::string::npos || identity.function == nullptr) return identity.kernel;
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (std::none_of(identity.kernel.begin() + static_cast<std::ptrdiff_t>(open),
                   identity.kernel.end(), is_letter)) {
    return identity.kernel;
  }
  return cuda_cpu::function_name(identity.function, identity.kernel.c_str());
}

/// Two places in the code are shown as one access if they agree in these, and in line and kind. Of
/// two loads in a line one may cost more than the other.
using Costs = std::tuple<double, double, double, double, double>;

Costs costs_of(const Counts& c) {
  return {c.per_request(c.sectors), c.per_request(c.wavefronts), c.per_request(c.words),
          c.per_request(c.collisions), c.per_request(c.ideal_sectors)};
}

/// Known at once, since take_launches() asks for all places before.
cuda_cpu::Piece piece_of(const void* place, const LaunchTally& launch) {
  return cuda_cpu::piece_of(place, launch.identity.file);
}

/// Whether it is no line of the kernel, but unknown or the launch's own.
bool is_outside(const cuda_cpu::Site& line, const LaunchTally& launch) {
  const cuda_cpu::LaunchIdentity& own = launch.identity;
  return line.line == 0 || (line.line == own.line && own.file == line.file);
}

/// Where X-ray takes what accesses to lie: null for memory that others can use, too, and for arrays
/// of threads' own that may be in registers, as far as the source tells, and of which lanes never
/// used different elements at once.
std::set<const cuda_cpu::LocalArray*> arrays_in_memory(const LaunchTally& launch) {
  std::set<const cuda_cpu::LocalArray*> found{nullptr};
  for (const auto& [key, tally] : launch.tallies) {
    if (key.local == nullptr) continue;
    if (key.local->has_unknown_index || tally.counts.apart > 0) found.insert(key.local);
  }
  return found;
}

/// The accesses of a launch, in the order of their lines.
std::vector<Access> accesses_of(const LaunchTally& launch) {
  using Shown = std::tuple<std::string, int, Space, Operation, unsigned, std::string, Costs>;
  struct Sum {
    Tally tally;
    unsigned places = 0;
    std::uint64_t skipped = 0;
    bool is_copied = true;
  };
  std::map<Shown, Sum> shown;
  const std::set<const cuda_cpu::LocalArray*> in_memory = arrays_in_memory(launch);
  for (const auto& [key, tally] : launch.tallies) {
    if (in_memory.count(key.local) == 0) continue;
    const cuda_cpu::Site line = piece_of(key.instruction.place, launch).line;
    auto& [sum, places, skipped, is_copied] =
        shown[Shown{line.file, line.line, key.space, key.instruction.operation,
                    key.instruction.bytes, key.name, costs_of(tally.counts)}];
    const std::uint64_t warps = std::max(sum.warps, tally.warps);
    sum.add(tally);
    sum.warps = warps;
    ++places;
    is_copied = is_copied && key.instruction.form == Form::kCopied;
    skipped += launch.flow.skipped(key.instruction.place, launch.visited);
  }
  std::vector<Access> accesses;
  for (const auto& [of, sum] : shown) {
    Access a;
    static_cast<Requests&>(a) = sum.tally;
    a.places = sum.places;
    a.skipped = sum.skipped;
    a.is_copied = sum.is_copied;
    std::tie(a.file, a.line, a.space, a.operation, a.bytes_per_lane, a.name, std::ignore) = of;
    accesses.push_back(std::move(a));
  }
  return accesses;
}

/// The passages of a launch, in the order of their lines. Copies of a piece of code (a function
/// that is inlined twice) are one; of the pieces of a line the one with the most visits counts.
std::vector<Passage> passages_of(const LaunchTally& launch) {
  using Line = std::pair<std::string, int>;
  std::map<Line, std::map<std::string, Passage>> lines;
  for (const auto& [place, passage] : launch.visited) {
    const cuda_cpu::Piece piece = piece_of(place, launch);
    if (is_outside(piece.line, launch)) continue;
    lines[Line{piece.line.file, piece.line.line}][piece.name] += passage;
  }
  std::vector<Passage> passages;
  for (const auto& [line, pieces] : lines) {
    Passage most;
    for (const auto& [name, passage] : pieces) {
      if (std::tie(passage.visits, passage.lanes) > std::tie(most.visits, most.lanes)) {
        most = passage;
      }
    }
    std::tie(most.file, most.line) = line;
    passages.push_back(std::move(most));
  }
  return passages;
}

/// What happened, with its lines, by step and warp.
std::vector<Event> events_of(const LaunchTally& launch) {
  const std::set<const cuda_cpu::LocalArray*> in_memory = arrays_in_memory(launch);
  std::vector<Event> events;
  for (const Happening& happening : launch.happenings) {
    Event e = happening;
    if (e.kind != Event::Kind::kBarrier) {
      const cuda_cpu::Site line = piece_of(happening.place, launch).line;
      if (e.kind == Event::Kind::kPass && is_outside(line, launch)) continue;
      if (in_memory.count(happening.local) == 0) continue;
      e.file = line.file;
      e.line = line.line;
    }
    events.push_back(std::move(e));
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.step, a.warp) < std::tie(b.step, b.warp);
  });
  return events;
}

}  // namespace

void keep_events_of(std::uint64_t block) {
  session().keeps_events = true;
  session().events_block = block;
}

void watch() { cuda_cpu::observer = &kObserver; }

void sample_blocks(std::uint64_t at_most, bool looks_at_others) {
  session().most_blocks = at_most;
  session().looks_at_others = looks_at_others;
}

std::vector<Launch> take_launches() {
  Session& s = session();
  std::vector<std::unique_ptr<LaunchTally>> taken;
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    taken.swap(s.launches);
  }
  // All at once: whoever asks for lines reads the debug information of the whole program.
  std::vector<const void*> places;
  for (const auto& tally : taken) {
    for (const auto& entry : tally->tallies) places.push_back(entry.first.instruction.place);
    for (const auto& entry : tally->visited) places.push_back(entry.first);
  }
  cuda_cpu::look_up(places);
  std::vector<Launch> launches;
  std::map<cuda_cpu::LaunchIdentity, unsigned> shown;  // launches of which all that is shown agrees
  for (const auto& tally : taken) {
    Launch l = std::move(tally->launch);
    l.kernel = kernel_name(tally->identity);
    cuda_cpu::LaunchIdentity& identity = tally->identity;
    identity.kernel = l.kernel;
    identity.arguments_hash = identity.shared_bytes = 0;
    const unsigned number = ++shown[identity];
    if (number > 1) l.arguments += "; launch " + std::to_string(number) + " of these";
    l.accesses = accesses_of(*tally);
    l.passages = passages_of(*tally);
    l.events = events_of(*tally);
    take_over_machine_code(cuda_cpu::function_name(tally->identity.function, l.kernel.c_str()), &l);
    launches.push_back(std::move(l));
  }
  if (s.keeps) s.kept.insert(s.kept.end(), launches.begin(), launches.end());
  return launches;
}

void keep_launches() { session().keeps = true; }
std::vector<Launch> kept_launches() { return session().kept; }

std::vector<Launch> count(const std::function<void()>& work) {
  cudaDeviceSynchronize();  // work that waits in a stream is not to be counted
  const SetAside counted_so_far;
  sample_blocks(kAllBlocks);
  watch();
  work();
  return take_launches();
}

}  // namespace xray
