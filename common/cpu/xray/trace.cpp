// SPDX-License-Identifier: MIT
#include "trace.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_map>

#include "../cuda/cuda_runtime_api.h"
#include "../engine/block.h"
#include "../engine/grid.h"
#include "../engine/memory.h"
#include "../engine/observer.h"
#include "../report/diagnostics.h"
#include "model.h"
#include "places.h"

namespace xray {
namespace {

using cuda_cpu::Block;
using cuda_cpu::GridLaunch;
using cuda_cpu::MemoryRange;
using cuda_cpu::Thread;

/// One access of one lane. `what` holds place, kind and size; 0 marks a meeting of lanes, then
/// `address` is their mask.
struct Event {
  std::uintptr_t address;
  std::uint64_t what;
  std::uint64_t path;  // by which calls the lane got there
};

/// A type of our own: the linker may take the functions of std::vector<std::uint64_t> from the
/// program, where they are instrumented and would end up here again.
struct Call {
  std::uint64_t path;
};

/// What one CUDA thread has done since the last barrier, and the calls that it is in.
struct Lane {
  std::vector<Event> events;
  std::vector<Call> calls;

  std::uint64_t path() const { return calls.empty() ? 0 : calls.back().path; }
};

std::uint64_t pack(const void* place, Kind kind, unsigned bytes) {
  const unsigned log2 = static_cast<unsigned>(__builtin_ctz(bytes));
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(place)) << 8 |
         static_cast<unsigned>(kind) << 4 | log2;
}
const void* place_of(std::uint64_t what) { return reinterpret_cast<const void*>(what >> 8); }
unsigned bytes_of(std::uint64_t what) { return 1u << (what & 15); }
Operation operation_of(std::uint64_t what) { return static_cast<Operation>(what >> 4 & 15); }

/// What lanes of one warp did at the same place, at the same visit to it.
struct Group {
  std::uint32_t mask = 0;
  std::uintptr_t address[kLanes];
};

/// One kind of access in one kind of memory, while blocks are counted.
struct Tally {
  Counts counts;
  std::uint64_t first_block = 0, worst_block = 0;
  std::uint64_t waste = 0;  // of the worst request
  std::int64_t first[kLanes], worst[kLanes];

  void add(const Counts& request, std::uint64_t block, const std::int64_t* offsets) {
    if (counts.requests == 0) {
      first_block = worst_block = block;
      std::memcpy(first, offsets, sizeof(first));
      std::memcpy(worst, offsets, sizeof(worst));
      waste = waste_of(request);
    } else if (waste_of(request) > waste) {
      waste = waste_of(request);
      worst_block = block;
      std::memcpy(worst, offsets, sizeof(worst));
    }
    counts += request;
  }

  void add(const Tally& other) {
    if (counts.requests == 0) {
      *this = other;
      return;
    }
    if (other.first_block < first_block) {
      first_block = other.first_block;
      std::memcpy(first, other.first, sizeof(first));
    }
    if (other.waste > waste || (other.waste == waste && other.worst_block < worst_block)) {
      waste = other.waste;
      worst_block = other.worst_block;
      std::memcpy(worst, other.worst, sizeof(worst));
    }
    counts += other.counts;
  }

  static std::uint64_t waste_of(const Counts& c) {
    return c.sectors - c.ideal_sectors + (c.wavefronts - c.ideal_wavefronts) + c.words +
           c.collisions;
  }
};

using TallyKey = std::tuple<std::uint64_t, Space, const char*>;  // what, where, name
using Tallies = std::map<TallyKey, Tally>;

/// Which launches count as the same.
struct Identity {
  std::string kernel, file, arguments;
  int line;
  dim3 grid, block;
  std::size_t shared_bytes;
  std::uint64_t arguments_hash;
  const void* function;  // null where the launch cannot tell it

  bool operator==(const Identity& o) const {
    const auto same = [](const dim3& a, const dim3& b) {
      return a.x == b.x && a.y == b.y && a.z == b.z;
    };
    return function == o.function && line == o.line && shared_bytes == o.shared_bytes &&
           arguments_hash == o.arguments_hash && same(grid, o.grid) && same(block, o.block) &&
           kernel == o.kernel && file == o.file && arguments == o.arguments;
  }
};

struct Record {
  Identity identity;
  std::uint64_t blocks = 0, blocks_counted = 0, warps_counted = 0;
  std::uint64_t barriers = 0, barriers_of_block = ~std::uint64_t{0};
  Tallies tallies;
};

struct BlockTrace;

struct Session {
  std::mutex mutex;
  std::vector<std::unique_ptr<Record>> records;
  Record* current = nullptr;  // one grid runs at a time
  std::uint64_t most_blocks = ~std::uint64_t{0};
  std::vector<std::unique_ptr<BlockTrace>> traces;  // of blocks that run now
};

Session& session() {
  static Session* const s = new Session;
  return *s;
}

/// Finds the regions of addresses; a few that were found last are at hand.
class Regions {
 public:
  /// Null for what is none of the spaces: a thread's stack, the host's own memory.
  const MemoryRange* at(std::uintptr_t address) {
    for (const MemoryRange& region : known_) {
      if (address - region.base < region.size) return &region;
    }
    std::uintptr_t& page = strange_[address / kPage % kStrange];
    if (page == address / kPage) return nullptr;
    MemoryRange region;
    if (!cuda_cpu::find_live_range(reinterpret_cast<const void*>(address), &region) ||
        address - region.base >= region.size) {
      // A page may hold a symbol as well as something else.
      page = near_region(address) ? 0 : address / kPage;
      return nullptr;
    }
    known_.push_back(region);
    return &known_.back();
  }

 private:
  static constexpr std::uintptr_t kPage = 4096;
  static constexpr std::size_t kStrange = 64;

  static bool near_region(std::uintptr_t address) {
    MemoryRange region;
    return cuda_cpu::find_range(reinterpret_cast<const void*>(address), &region, kPage);
  }

  std::vector<MemoryRange> known_;
  std::uintptr_t strange_[kStrange] = {};
};

Space space_of(const MemoryRange& region) {
  switch (region.space) {
    case cuda_cpu::Space::kShared:
      return Space::kShared;
    case cuda_cpu::Space::kConstant:
      return Space::kConstant;
    case cuda_cpu::Space::kHostPinned:
    case cuda_cpu::Space::kHostRegistered:
      return Space::kHost;
    default:
      return Space::kGlobal;
  }
}

/// Where the first byte of a region lies for the rules. The GPU's allocations begin at a multiple
/// of 256 bytes, the backend's end at a guard page instead; registered memory lies where it lies.
std::uint64_t origin_of(const MemoryRange& region) {
  if (region.space == cuda_cpu::Space::kHostRegistered) return region.base;
  return (region.base + 255) / 256 * 256;
}

/// The block that a worker runs, with what its threads have done since the last barrier.
struct BlockTrace {
  std::uint64_t number = 0;
  std::uint32_t first_epoch = 0;
  std::vector<Lane> threads;
  Tallies tallies;
  Regions regions;
  Tally* last_tally = nullptr;
  TallyKey last_key{};

  void group_all() {
    for (std::size_t begin = 0; begin < threads.size(); begin += kLanes) {
      group_warp(begin, std::min<std::size_t>(begin + kLanes, threads.size()));
    }
    for (Lane& lane : threads) lane.events.clear();
  }

 private:
  /// What a lane has been through since the block's barrier: meetings of its whole warp, and
  /// since the last of these meetings of some lanes.
  struct Meetings {
    std::uint32_t whole = 0, partial = 0;
    bool operator!=(const Meetings& o) const { return whole != o.whole || partial != o.partial; }
  };

  struct Key {
    std::uint64_t what, path;
    Meetings meetings;
    std::size_t lane;    // whose visits are counted
    std::size_t visits;  // of this lane so far
    std::vector<Group> groups;
  };

  void group_warp(std::size_t begin, std::size_t end) {
    std::size_t busy = 0, last_busy = begin;
    for (std::size_t t = begin; t < end; ++t) {
      if (threads[t].events.empty()) continue;
      ++busy;
      last_busy = t;
    }
    if (busy == 0) return;
    if (busy == 1) {
      // Nobody to share a request with.
      Group alone;
      alone.mask = 1u << (last_busy - begin);
      for (const Event& event : threads[last_busy].events) {
        if (event.what == 0) continue;
        alone.address[last_busy - begin] = event.address;
        count(event.what, alone);
      }
      return;
    }
    std::vector<Key> keys;
    std::unordered_map<std::uint64_t, std::size_t> index;
    // By meeting of the whole warp: how many others each lane has up to the next.
    std::map<std::uint32_t, std::array<std::uint32_t, kLanes>> partial;
    const std::uint32_t all = ~0u >> (kLanes - (end - begin));
    for (std::size_t t = begin; t < end; ++t) {
      Meetings meetings;
      std::size_t next = 0;  // lanes mostly go the same way
      for (const Event& event : threads[t].events) {
        if (event.what == 0) {
          if ((event.address & all) == all) {
            meetings = Meetings{meetings.whole + 1, 0};
          } else {
            partial[meetings.whole][t - begin] = ++meetings.partial;
          }
          continue;
        }
        if (next >= keys.size() || keys[next].what != event.what || keys[next].path != event.path ||
            keys[next].meetings != meetings) {
          const std::uint64_t mixed =
              (event.what * 0x9e3779b97f4a7c15u ^ event.path) * 0x9e3779b97f4a7c15u +
              (std::uint64_t{meetings.whole} << 32 | meetings.partial);
          const auto found = index.emplace(mixed, keys.size());
          if (found.second) keys.push_back(Key{event.what, event.path, meetings, t, 0, {}});
          next = found.first->second;
        }
        Key& key = keys[next++];
        if (key.lane != t) {
          key.lane = t;
          key.visits = 0;
        }
        if (key.visits == key.groups.size()) key.groups.emplace_back();
        Group& group = key.groups[key.visits++];
        group.mask |= 1u << (t - begin);
        group.address[t - begin] = event.address;
      }
    }
    for (const auto& [whole, meetings] : partial) join(whole, meetings, &keys);
    for (const Key& key : keys) {
      for (const Group& group : key.groups) count(key.what, group);
    }
  }

  /// Lanes that met among themselves, and others that did not, go on together: what the ones do
  /// after their last meeting is one request with what the others do after theirs, and so on
  /// backwards. Only where that holds for all lanes of both; a loop of unequal turns, with a
  /// meeting in each, begins together and ends apart.
  static void join(std::uint32_t whole, const std::array<std::uint32_t, kLanes>& meetings,
                   std::vector<Key>* keys) {
    // What, by which calls, meetings to come, visit.
    using Moment = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::size_t>;
    std::map<Moment, Group*> joined;
    for (Key& key : *keys) {
      if (key.meetings.whole != whole) continue;
      for (std::size_t visit = 0; visit < key.groups.size(); ++visit) {
        Group& group = key.groups[visit];
        const std::uint32_t to_come =
            meetings[static_cast<unsigned>(__builtin_ctz(group.mask))] - key.meetings.partial;
        bool alike = true;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          if ((group.mask >> lane & 1) == 0) continue;
          alike = alike && meetings[lane] - key.meetings.partial == to_come;
        }
        if (!alike) continue;
        const auto found = joined.emplace(Moment{key.what, key.path, to_come, visit}, &group);
        if (found.second) continue;
        Group& first = *found.first->second;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          if ((group.mask >> lane & 1) != 0) first.address[lane] = group.address[lane];
        }
        first.mask |= group.mask;
        group.mask = 0;
      }
    }
  }

  /// One request, or several if the lanes address different spaces.
  void count(std::uint64_t what, const Group& group) {
    std::uint32_t rest = group.mask;
    while (rest != 0) {
      const auto leader = static_cast<unsigned>(__builtin_ctz(rest));
      const MemoryRange* const of_leader = regions.at(group.address[leader]);
      if (of_leader == nullptr) {
        rest &= rest - 1;
        continue;
      }
      const MemoryRange region = *of_leader;
      Request request;
      request.space = space_of(region);
      request.operation = operation_of(what);
      request.bytes = bytes_of(what);
      std::int64_t offsets[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        offsets[lane] = -1;
        if ((rest >> lane & 1) == 0) continue;
        const MemoryRange* place = &region;
        if (group.address[lane] - region.base >= region.size) {
          place = regions.at(group.address[lane]);
          if (place == nullptr) {
            rest &= ~(1u << lane);
            continue;
          }
          if (space_of(*place) != request.space) continue;
        }
        const std::uint64_t offset = group.address[lane] - place->base;
        request.mask |= 1u << lane;
        request.address[lane] = origin_of(*place) + offset;
        offsets[lane] = static_cast<std::int64_t>(offset);
      }
      rest &= ~request.mask;
      tally(TallyKey{what, request.space, region.name}).add(counts_of(request), number, offsets);
    }
  }

  Tally& tally(const TallyKey& key) {
    if (last_tally == nullptr || key != last_key) {
      last_key = key;
      last_tally = &tallies[key];
    }
    return *last_tally;
  }
};

// ---- what the engine tells ----------------------------------------------------------------------

bool grid_begins(const GridLaunch& launch) {
  Session& s = session();
  const std::lock_guard<std::mutex> lock(s.mutex);
  Identity identity{launch.kernel.name,          launch.kernel.file,    launch.arguments,
                    launch.kernel.line,          launch.grid,           launch.block,
                    launch.dynamic_shared_bytes, launch.arguments_hash, launch.function};
  for (const auto& record : s.records) {
    if (record->identity == identity) return false;
  }
  s.records.push_back(std::make_unique<Record>());
  s.current = s.records.back().get();
  s.current->identity = std::move(identity);
  s.current->blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  return true;
}

void grid_ends(const GridLaunch&) {
  Session& s = session();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.current = nullptr;
  s.traces.clear();  // of an abandoned grid
}

/// Block `turn` of `wanted` blocks that are spread evenly over all.
std::uint64_t spread(std::uint64_t turn, std::uint64_t wanted, std::uint64_t blocks) {
  return wanted == 1 ? 0 : turn * (blocks - 1) / (wanted - 1);
}

bool is_chosen(std::uint64_t number, std::uint64_t wanted, std::uint64_t blocks) {
  if (blocks <= wanted) return true;
  std::uint64_t turn = wanted == 1 ? 0 : number * (wanted - 1) / (blocks - 1);
  for (std::uint64_t t = turn; t <= turn + 1 && t < wanted; ++t) {
    if (spread(t, wanted, blocks) == number) return true;
  }
  return false;
}

void* block_begins(const Block& block, std::uint64_t number, std::uint64_t blocks) {
  Session& s = session();
  if (!is_chosen(number, s.most_blocks, blocks)) return nullptr;
  auto trace = std::make_unique<BlockTrace>();
  trace->number = number;
  trace->first_epoch = block.epoch;
  trace->threads.resize(block.count);
  BlockTrace* const raw = trace.get();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.traces.push_back(std::move(trace));
  return raw;
}

void barrier_opens(Block& block) {
  // What is done here for the block is not its own doing, even where the program's code is shared.
  void* const trace = block.trace;
  block.trace = nullptr;
  static_cast<BlockTrace*>(trace)->group_all();
  block.trace = trace;
}

void thread_meets(Block& block, const Thread& thread, std::uint32_t lanes) {
  const auto number = static_cast<std::size_t>(&thread - block.threads);
  static_cast<BlockTrace*>(block.trace)->threads[number].events.push_back(Event{lanes, 0, 0});
}

void block_ends(Block& block) {
  auto* const trace = static_cast<BlockTrace*>(block.trace);
  block.trace = nullptr;
  trace->group_all();
  Session& s = session();
  const std::lock_guard<std::mutex> lock(s.mutex);
  Record& record = *s.current;
  ++record.blocks_counted;
  record.warps_counted += (block.count + kLanes - 1) / kLanes;
  if (trace->number < record.barriers_of_block) {
    record.barriers_of_block = trace->number;
    record.barriers = block.epoch - trace->first_epoch;
  }
  for (const auto& entry : trace->tallies) record.tallies[entry.first].add(entry.second);
  const auto same = [trace](const std::unique_ptr<BlockTrace>& t) { return t.get() == trace; };
  s.traces.erase(std::find_if(s.traces.begin(), s.traces.end(), same));
}

constexpr cuda_cpu::Observer kObserver{grid_begins, grid_ends,     block_begins,
                                       block_ends,  barrier_opens, thread_meets};

/// The kernel as the launch names it; with its own template arguments where those stand for others,
/// as in `add<kPattern>` inside a template.
std::string name_of(const Identity& identity) {
  const std::size_t open = identity.kernel.find('<');
  if (open == std::string::npos || identity.function == nullptr) return identity.kernel;
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (std::none_of(identity.kernel.begin() + static_cast<std::ptrdiff_t>(open),
                   identity.kernel.end(), is_letter)) {
    return identity.kernel;
  }
  return cuda_cpu::function_name(identity.function, identity.kernel.c_str());
}

/// What the accesses of one line must have in common to be shown as one.
std::tuple<double, double, double, double, double> cost_of(const Counts& c) {
  return {c.per_request(c.sectors), c.per_request(c.wavefronts), c.per_request(c.words),
          c.per_request(c.collisions), c.per_request(c.ideal_sectors)};
}

/// Accesses in the order of their lines; what the compiler made of one line in several places is
/// one.
std::vector<Access> accesses_of(const Record& record) {
  std::vector<const void*> places;
  for (const auto& entry : record.tallies) places.push_back(place_of(std::get<0>(entry.first)));
  const std::vector<cuda_cpu::Site> sites = sites_of(places, record.identity.file);
  // Of two loads in one line the one may cost more than the other: those are kept apart.
  using Cost = std::tuple<double, double, double, double, double>;
  using Line = std::tuple<std::string, int, Space, Operation, unsigned, std::string, Cost>;
  std::map<Line, Tally> lines;
  std::size_t i = 0;
  for (const auto& entry : record.tallies) {
    const std::uint64_t what = std::get<0>(entry.first);
    const cuda_cpu::Site& site = sites[i++];
    lines[Line{site.file, site.line, std::get<1>(entry.first), operation_of(what), bytes_of(what),
               std::get<2>(entry.first), cost_of(entry.second.counts)}]
        .add(entry.second);
  }
  std::vector<Access> accesses;
  for (const auto& [line, tally] : lines) {
    Access a;
    std::tie(a.file, a.line, a.space, a.operation, a.bytes_per_lane, a.name, std::ignore) = line;
    a.counts = tally.counts;
    std::memcpy(a.first, tally.first, sizeof(a.first));
    std::memcpy(a.worst, tally.worst, sizeof(a.worst));
    accesses.push_back(std::move(a));
  }
  return accesses;
}

}  // namespace

namespace {

/// The running CUDA thread's lane; null when its block is not watched.
Lane* running_lane() {
  Block* const block = cuda_cpu::current_block;
  Thread* const thread = cuda_cpu::current_thread;
  if (block == nullptr || thread == nullptr || block->trace == nullptr) return nullptr;
  const auto number = static_cast<std::size_t>(thread - block->threads);
  return &static_cast<BlockTrace*>(block->trace)->threads[number];
}

}  // namespace

void note(const void* address, unsigned bytes, Kind kind, const void* place) {
  Lane* const lane = running_lane();
  if (lane == nullptr) return;
  lane->events.push_back(
      Event{reinterpret_cast<std::uintptr_t>(address), pack(place, kind, bytes), lane->path()});
}

void enter(const void* from) {
  Lane* const lane = running_lane();
  if (lane == nullptr) return;
  const auto call = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(from));
  lane->calls.push_back(Call{(lane->path() ^ call) * 0x9e3779b97f4a7c15u + 1});
}

void leave() {
  Lane* const lane = running_lane();
  if (lane != nullptr && !lane->calls.empty()) lane->calls.pop_back();
}

void sample_blocks(std::uint64_t at_most) { session().most_blocks = at_most; }
void count_all_blocks() { session().most_blocks = ~std::uint64_t{0}; }

void watch(bool on) { cuda_cpu::observer = on ? &kObserver : nullptr; }

std::vector<Launch> take_launches() {
  Session& s = session();
  std::vector<std::unique_ptr<Record>> records;
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    records.swap(s.records);
  }
  std::vector<Launch> launches;
  for (const auto& record : records) {
    Launch l;
    const Identity& identity = record->identity;
    l.kernel = name_of(identity);
    l.arguments = identity.arguments;
    l.file = identity.file;
    l.line = identity.line;
    l.grid = identity.grid;
    l.block = identity.block;
    l.blocks = record->blocks;
    l.blocks_counted = record->blocks_counted;
    l.warps_counted = record->warps_counted;
    l.barriers = record->barriers;
    l.accesses = accesses_of(*record);
    launches.push_back(std::move(l));
  }
  return launches;
}

// ---- the public part ----------------------------------------------------------------------------

Counts& Counts::operator+=(const Counts& o) {
  requests += o.requests;
  lanes += o.lanes;
  bytes += o.bytes;
  sectors += o.sectors;
  ideal_sectors += o.ideal_sectors;
  wavefronts += o.wavefronts;
  ideal_wavefronts += o.ideal_wavefronts;
  words += o.words;
  addresses += o.addresses;
  collisions += o.collisions;
  return *this;
}

Counts Launch::total(Space space, Operation operation, const std::string& name) const {
  Counts sum;
  for (const Access& a : accesses) {
    if (a.space == space && a.operation == operation && (name.empty() || a.name == name)) {
      sum += a.counts;
    }
  }
  return sum;
}

Counts Launch::total_of_line(int wanted) const {
  Counts sum;
  for (const Access& a : accesses) {
    if (a.line == wanted) sum += a.counts;
  }
  return sum;
}

namespace {

/// Puts aside what is counted already, and how; back again at the end, also when `work` throws.
class Aside {
 public:
  Aside() : most_blocks_(session().most_blocks), observer_(cuda_cpu::observer) {
    records_.swap(session().records);
  }
  ~Aside() {
    cuda_cpu::observer = observer_;
    session().most_blocks = most_blocks_;
    records_.swap(session().records);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  std::vector<std::unique_ptr<Record>> records_;
  std::uint64_t most_blocks_;
  const cuda_cpu::Observer* observer_;
};

}  // namespace

std::vector<Launch> count(const std::function<void()>& work) {
  // What waits in a stream is none of it.
  cudaDeviceSynchronize();
  const Aside whoever_watches_already;
  count_all_blocks();
  watch(true);
  work();
  return take_launches();
}

}  // namespace xray
