// SPDX-License-Identifier: MIT
#include "launches.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "../engine/block.h"
#include "../engine/grid.h"
#include "../engine/observer.h"
#include "../report/diagnostics.h"
#include "../report/program_image.h"
#include "../report/source_lines.h"
#include "grouping.h"
#include "lanes.h"
#include "remarks.h"
#include "tally.h"

namespace xray {

/// The sums of one launch, as far as its blocks have ended.
struct LaunchTally {
  cuda_cpu::LaunchIdentity identity;
  std::uint64_t blocks = 0, blocks_counted = 0, warps_counted = 0;
  std::uint64_t barriers = 0, barriers_of_block = ~std::uint64_t{0};
  std::size_t shared_bytes = 0;
  Tallies tallies;
  PlaceTallies places;
  BusiestLanes busiest;
  bool keeps_events = false;
  std::vector<Happening> happenings;
  std::vector<Event> barriers_met;
  std::uint64_t steps = 0;
};

namespace {

using cuda_cpu::Block;
using cuda_cpu::GridLaunch;
using cuda_cpu::Thread;

/// A block that runs and is counted.
struct WatchedBlock : BlockLanes {
  WatchedBlock(const Block& block, std::uint64_t number_)
      : number(number_), first_epoch(block.epoch), tally(number_) {
    lanes.resize(block.count);
    tally.find_arrays_in(&arrays);
  }

  /// Counts what the lanes have done since the last barrier. `at_end`: of the block.
  void group_all(bool at_end) {
    const auto count = [this](const Instruction& i, const Group& group) { tally.add(i, group); };
    for (std::size_t first = 0; first < lanes.size(); first += kLanes) {
      const std::size_t threads = std::min<std::size_t>(kLanes, lanes.size() - first);
      tally.begin_warp(first / kLanes, static_cast<unsigned>(threads));
      group_warp(&lanes[first], static_cast<unsigned>(threads), at_end, count);
      tally.end_warp();
    }
    for (Lane& lane : lanes) lane.events.clear();
  }

  const std::uint64_t number;
  const std::uint32_t first_epoch;
  BlockTally tally;
  std::vector<Event> barriers;
};

WatchedBlock* watched(const Block& block) {
  return static_cast<WatchedBlock*>(static_cast<BlockLanes*>(block.observation));
}

struct Session {
  std::mutex mutex;
  std::vector<std::unique_ptr<LaunchTally>> launches;
  LaunchTally* running = nullptr;  // one grid runs at a time
  std::uint64_t most_blocks = ~std::uint64_t{0};
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
  s.running->identity = std::move(identity);
  s.running->blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  return true;
}

void grid_ends(const GridLaunch&) {
  Session& s = session();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.running = nullptr;
  s.blocks.clear();  // of an abandoned grid
}

/// The number of the `chosen`-th of `wanted` blocks that are spread evenly over all.
std::uint64_t block_number(std::uint64_t chosen, std::uint64_t wanted, std::uint64_t blocks) {
  return wanted == 1 ? 0 : chosen * (blocks - 1) / (wanted - 1);
}

bool is_chosen(std::uint64_t number, std::uint64_t wanted, std::uint64_t blocks) {
  if (blocks <= wanted) return true;
  const std::uint64_t near = wanted == 1 ? 0 : number * (wanted - 1) / (blocks - 1);
  for (std::uint64_t chosen = near; chosen <= near + 1 && chosen < wanted; ++chosen) {
    if (block_number(chosen, wanted, blocks) == number) return true;
  }
  return false;
}

void* block_begins(const Block& block, std::uint64_t number, std::uint64_t blocks) {
  Session& s = session();
  if (s.keeps_events ? number != s.events_block : !is_chosen(number, s.most_blocks, blocks)) {
    return nullptr;
  }
  auto begun = std::make_unique<WatchedBlock>(block, number);
  BlockLanes* const lanes = begun.get();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (s.running->keeps_events) begun->tally.record();
  s.blocks.push_back(std::move(begun));
  return lanes;
}

/// Counts that leave something out are not reported.
void end_if_too_many(const WatchedBlock& block) {
  if (!block.too_many) return;
  cuda_cpu::die(
      "X-ray: a thread does more than %zu things between two barriers, too many to count; "
      "make the input smaller",
      kMostEvents);
}

void barrier_opens(Block& block) {
  // X-ray's own accesses here are not the block's, even where X-ray shares code with the program.
  void* const lanes = block.observation;
  WatchedBlock* const counted = watched(block);
  block.observation = nullptr;
  end_if_too_many(*counted);
  counted->group_all(false);
  if (session().keeps_events) {
    Event barrier;
    barrier.kind = Event::Kind::kBarrier;
    barrier.step = counted->tally.end_interval();
    barrier.line = block.line;
    barrier.file = block.file == nullptr ? "" : block.file;
    if (barrier.step < most_steps) counted->barriers.push_back(std::move(barrier));
  }
  block.observation = lanes;
}

void thread_meets(Block& block, const Thread& thread, std::uint32_t mask) {
  note_meeting(&watched(block)->lanes[static_cast<std::size_t>(&thread - block.threads)], mask);
}

void block_ends(Block& block) {
  WatchedBlock* const ended = watched(block);
  block.observation = nullptr;
  end_if_too_many(*ended);
  ended->group_all(true);
  Session& s = session();
  const std::lock_guard<std::mutex> lock(s.mutex);
  LaunchTally& launch = *s.running;
  ++launch.blocks_counted;
  launch.warps_counted += (block.count + kLanes - 1) / kLanes;
  if (ended->number < launch.barriers_of_block) {
    launch.barriers_of_block = ended->number;
    launch.barriers = block.epoch - ended->first_epoch;
  }
  launch.shared_bytes =
      std::max(launch.shared_bytes, block.static_shared_bytes + block.dynamic_shared_bytes);
  for (const auto& [key, tally] : ended->tally.tallies()) launch.tallies[key].add(tally);
  for (const auto& [place, tally] : ended->tally.places()) launch.places[place] += tally;
  for (const auto& [kind, lanes] : ended->tally.busiest_lanes()) {
    launch.busiest[kind] = std::max(launch.busiest[kind], lanes);
  }
  if (launch.keeps_events) {
    launch.happenings = ended->tally.happenings();
    launch.barriers_met = ended->barriers;
    launch.steps = ended->tally.steps();
  }
  const auto is_it = [ended](const auto& running) { return running.get() == ended; };
  s.blocks.erase(std::find_if(s.blocks.begin(), s.blocks.end(), is_it));
}

constexpr cuda_cpu::Observer observer_for_counts() {
  cuda_cpu::Observer o{};
  o.grid_begins = grid_begins;
  o.grid_ends = grid_ends;
  o.block_begins = block_begins;
  o.block_ends = block_ends;
  o.barrier_opens = barrier_opens;
  o.thread_meets = thread_meets;
  return o;
}
constexpr cuda_cpu::Observer kObserver = observer_for_counts();

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

void add_places(const LaunchTally& launch, std::vector<const void*>* places) {
  for (const auto& entry : launch.tallies) places->push_back(entry.first.instruction.place);
  for (const auto& entry : launch.places) places->push_back(entry.first);
}

/// Arrays of threads' own that may lie in registers, as far as the source tells, and of which lanes
/// never used different elements at once.
std::set<const cuda_cpu::LocalArray*> arrays_in_registers(const LaunchTally& launch) {
  std::set<const cuda_cpu::LocalArray*> found, apart;
  for (const auto& [key, tally] : launch.tallies) {
    if (key.local == nullptr || key.local->has_unknown_index) continue;
    found.insert(key.local);
    if (tally.counts.apart > 0) apart.insert(key.local);
  }
  for (const cuda_cpu::LocalArray* const array : apart) found.erase(array);
  return found;
}

/// The accesses of a launch, in the order of their lines.
std::vector<Access> accesses_of(const LaunchTally& launch) {
  std::vector<const void*> places;
  for (const auto& entry : launch.tallies) places.push_back(entry.first.instruction.place);
  const std::vector<cuda_cpu::Site> lines = cuda_cpu::lines_of(places, launch.identity.file);
  using Shown = std::tuple<std::string, int, Space, Operation, unsigned, std::string, Costs>;
  std::map<Shown, std::pair<Tally, unsigned>> shown;
  const std::set<const cuda_cpu::LocalArray*> in_registers = arrays_in_registers(launch);
  std::size_t i = 0;
  for (const auto& [key, tally] : launch.tallies) {
    const cuda_cpu::Site& line = lines[i++];
    if (in_registers.count(key.local) != 0) continue;
    auto& [sum, places] = shown[Shown{line.file, line.line, key.space, key.instruction.operation,
                                      key.instruction.bytes, key.name, costs_of(tally.counts)}];
    const std::uint64_t warps = std::max(sum.warps, tally.warps);
    sum.add(tally);
    sum.warps = warps;
    ++places;
  }
  std::vector<Access> accesses;
  for (const auto& [of, sum] : shown) {
    const Tally& tally = sum.first;
    Access a;
    a.places = sum.second;
    a.warps = tally.warps;
    a.of_first = tally.of_first;
    std::tie(a.file, a.line, a.space, a.operation, a.bytes_per_lane, a.name, std::ignore) = of;
    a.counts = tally.counts;
    std::copy(tally.changes, tally.changes + kWays, a.changes);
    std::memcpy(a.first, tally.first, sizeof(a.first));
    std::memcpy(a.worst, tally.worst, sizeof(a.worst));
    accesses.push_back(std::move(a));
  }
  return accesses;
}

/// The passages of a launch, in the order of their lines. Copies of a piece of code (a function
/// that is inlined twice) are one; of the pieces of a line the one with the most visits counts.
std::vector<Passage> passages_of(const LaunchTally& launch) {
  std::vector<const void*> places;
  for (const auto& entry : launch.places) places.push_back(entry.first);
  const std::vector<cuda_cpu::Piece> found = cuda_cpu::pieces_of(places, launch.identity.file);
  using Line = std::pair<std::string, int>;
  std::map<Line, std::map<std::string, PlaceTally>> lines;
  std::size_t i = 0;
  for (const auto& entry : launch.places) {
    const cuda_cpu::Piece& piece = found[i++];
    const bool is_launch =
        piece.line.line == launch.identity.line && launch.identity.file == piece.line.file;
    if (piece.line.line == 0 || is_launch) continue;
    lines[Line{piece.line.file, piece.line.line}][piece.name] += entry.second;
  }
  std::vector<Passage> passages;
  for (const auto& [line, pieces] : lines) {
    Passage p;
    std::tie(p.file, p.line) = line;
    for (const auto& entry : pieces) {
      const PlaceTally& t = entry.second;
      if (std::tie(t.visits, t.lanes) <= std::tie(p.visits, p.lanes)) continue;
      p.visits = t.visits;
      p.lanes = t.lanes;
      p.lanes_of_warps = t.lanes_of_warps;
    }
    passages.push_back(std::move(p));
  }
  return passages;
}

/// What happened, with its lines, by step and warp.
std::vector<Event> events_of(const LaunchTally& launch) {
  std::vector<const void*> places;
  for (const Happening& h : launch.happenings) places.push_back(h.key.instruction.place);
  const std::vector<cuda_cpu::Site> lines = cuda_cpu::lines_of(places, launch.identity.file);
  const std::set<const cuda_cpu::LocalArray*> in_registers = arrays_in_registers(launch);
  std::vector<Event> events = launch.barriers_met;
  std::size_t i = 0;
  for (const Happening& h : launch.happenings) {
    const cuda_cpu::Site& line = lines[i++];
    const Instruction& instruction = h.key.instruction;
    const bool is_launch = line.line == launch.identity.line && launch.identity.file == line.file;
    if (!instruction.is_access() && (line.line == 0 || is_launch)) continue;
    if (in_registers.count(h.key.local) != 0) continue;
    Event e;
    e.kind = instruction.is_access() ? Event::Kind::kAccess : Event::Kind::kPass;
    e.step = h.step;
    e.warp = h.warp;
    e.file = line.file;
    e.line = line.line;
    e.space = h.key.space;
    e.operation = instruction.operation;
    e.bytes_per_lane = instruction.bytes;
    e.form = instruction.form;
    e.name = h.key.name;
    e.mask = h.mask;
    e.counts = h.counts;
    std::copy(h.offsets, h.offsets + kLanes, e.offsets);
    e.origins = h.origins;
    e.landing = h.landing;
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

void watch(bool on) { cuda_cpu::observer = on ? &kObserver : nullptr; }

void sample_blocks(std::uint64_t at_most) { session().most_blocks = at_most; }
void count_all_blocks() { session().most_blocks = ~std::uint64_t{0}; }

std::vector<Launch> take_launches() {
  Session& s = session();
  std::vector<std::unique_ptr<LaunchTally>> taken;
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    taken.swap(s.launches);
  }
  // All at once: whoever asks for lines reads the debug information of the whole program.
  std::vector<const void*> places;
  for (const auto& tally : taken) add_places(*tally, &places);
  cuda_cpu::lines_of(places, "");
  std::vector<Launch> launches;
  for (const auto& tally : taken) {
    Launch l;
    const cuda_cpu::LaunchIdentity& identity = tally->identity;
    l.kernel = kernel_name(identity);
    l.arguments = identity.arguments;
    l.file = identity.file;
    l.line = identity.line;
    l.grid = identity.grid;
    l.block = identity.block;
    l.blocks = tally->blocks;
    l.blocks_counted = tally->blocks_counted;
    l.warps_counted = tally->warps_counted;
    l.barriers = tally->barriers;
    l.shared_bytes = tally->shared_bytes;
    l.accesses = accesses_of(*tally);
    l.passages = passages_of(*tally);
    l.events = events_of(*tally);
    l.events_block = s.events_block;
    l.steps = tally->steps;
    for (const auto& [kind, lanes] : tally->busiest) {
      l.busiest_warps.push_back(
          {std::get<Space>(kind), std::get<Operation>(kind), std::get<unsigned>(kind), lanes});
    }
    for (const auto& entry : tally->places) l.partings += entry.second.partings;
    take_over_machine_code(cuda_cpu::function_name(identity.function, l.kernel.c_str()), &l);
    launches.push_back(std::move(l));
  }
  if (s.keeps) s.kept.insert(s.kept.end(), launches.begin(), launches.end());
  return launches;
}

void keep_launches() { session().keeps = true; }
std::vector<Launch> kept_launches() { return session().kept; }

struct SetAside::Kept {
  std::vector<std::unique_ptr<LaunchTally>> launches;
  std::uint64_t most_blocks = session().most_blocks;
  const cuda_cpu::Observer* observer = cuda_cpu::observer;
};

SetAside::SetAside() : kept_(std::make_unique<Kept>()) { kept_->launches.swap(session().launches); }

SetAside::~SetAside() {
  cuda_cpu::observer = kept_->observer;
  session().most_blocks = kept_->most_blocks;
  kept_->launches.swap(session().launches);
}

}  // namespace xray
