// SPDX-License-Identifier: MIT
#include "tally.h"

#include <algorithm>
#include <numeric>

#include "grouping.h"

namespace xray {
namespace {

using cuda_cpu::MemoryRange;

Space space_of(const MemoryRange& range) {
  using From = cuda_cpu::Space;
  if (range.space == From::kShared) return Space::kShared;
  if (range.space == From::kConstant) return Space::kConstant;
  const bool host = range.space == From::kHostPinned || range.space == From::kHostRegistered;
  return host ? Space::kHost : Space::kGlobal;
}

/// The address that the model takes for a range's first byte. A GPU's allocations begin at a
/// multiple of 256 bytes; the backend's do not, since they end at a guard page. Registered memory
/// keeps its address.
std::uint64_t origin_of(const MemoryRange& range) {
  if (range.space == cuda_cpu::Space::kHostRegistered) return range.base;
  return (range.base + 255) / 256 * 256;
}

/// The same request where arrays lie as events number them, not where the memory has them.
Request in_its_arrays(const Request& request, const Offsets& offsets) {
  Request in_arrays = request;
  std::vector<std::uint64_t> origins;
  for (const unsigned lane : LanesOf(request.mask)) {
    const auto offset = static_cast<std::uint64_t>(offsets[lane]);
    const std::uint64_t origin = request.address[lane] - offset;
    const auto array = std::find(origins.begin(), origins.end(), origin) - origins.begin();
    if (array == static_cast<std::ptrdiff_t>(origins.size())) origins.push_back(origin);
    in_arrays.address[lane] = static_cast<std::uint64_t>(array) * kLinesOfArray * kLineBytes +
                              origin % kLineBytes + offset;
  }
  return in_arrays;
}

}  // namespace

void Tally::add(const Counts& request, std::uint64_t block, std::size_t warp,
                const Offsets& offsets) {
  const std::uint64_t beyond = request.waste();
  if (counts.requests == 0) {
    first_block = block;
    first = offsets;
  }
  if (counts.requests == 0 || beyond > beyond_ideal) {
    beyond_ideal = beyond;
    worst_block = block;
    worst = offsets;
  }
  counts += request;
  if ((warps_of_block >> warp & 1) != 0) return;
  warps_of_block |= 1u << warp;
  ++warps;
  of_first += request;
}

void Tally::add(const Tally& other) {
  if (counts.requests == 0) {
    *this = other;
    return;
  }
  if (other.first_block < first_block) {
    first_block = other.first_block;
    first = other.first;
  }
  if (other.beyond_ideal > beyond_ideal ||
      (other.beyond_ideal == beyond_ideal && other.worst_block < worst_block)) {
    beyond_ideal = other.beyond_ideal;
    worst_block = other.worst_block;
    worst = other.worst;
  }
  counts += other.counts;
  warps += other.warps;
  of_first += other.of_first;
  for (unsigned way = 0; way < kWays; ++way) changes[way] += other.changes[way];
}

const MemoryRange* RangeFinder::at(std::uintptr_t address) {
  for (const MemoryRange& range : found_) {
    if (address - range.base < range.size) return &range;
  }
  const std::uintptr_t page = address / kPage;
  std::uintptr_t& outside = pages_outside_[page % (sizeof(pages_outside_) / sizeof(page))];
  if (outside == page) return nullptr;
  const auto* const pointer = reinterpret_cast<const void*>(address);
  MemoryRange range;
  if (cuda_cpu::find_live_range(pointer, &range) && address - range.base < range.size) {
    found_.push_back(range);
    return &found_.back();
  }
  // A page may hold a variable of the device as well as something else.
  outside = cuda_cpu::find_range(pointer, &range, kPage) ? 0 : page;
  return nullptr;
}

void BlockTally::add_warp(std::size_t warp, const Lane* lanes, unsigned count, bool at_end) {
  warp_ = warp;
  lanes_of_warp_ = count;
  if (follows_) flow_.see(warp, lanes, count);
  group_warp(lanes, count, at_end, [this](const Instruction& i, const Group& g) { add(i, g); });
  joins_.end();
  if (records_) put_in_order();
}

void BlockTally::add(const Instruction& instruction, const Group& group) {
  ++groups_;
  if (instruction.is_access()) return add_requests(instruction, group);
  add_visit(instruction.place, group);
  if (records_) keep(TallyKey{instruction}, group, group.mask);
}

Happening& BlockTally::keep(const TallyKey& key, const Group& group, std::uint32_t lanes) {
  Happening& happening = of_warp_.emplace_back();
  const Instruction& instruction = key.instruction;
  happening.kind = instruction.is_access() ? Event::Kind::kAccess : Event::Kind::kPass;
  happening.warp = warp_;
  happening.space = key.space;
  happening.operation = instruction.operation;
  happening.bytes_per_lane = instruction.bytes;
  happening.form = instruction.form;
  happening.name = key.name;
  happening.mask = lanes;
  happening.place = instruction.place;
  happening.local = key.local;
  happening.at = group.at;
  happening.group = groups_;
  return happening;
}

void BlockTally::keep_request(const TallyKey& key, const Group& group, const Request& request,
                              const Counts& counts, const Offsets& offsets) {
  Happening& happening = keep(key, group, request.mask);
  happening.counts = counts;
  happening.offsets = offsets;
  happening.served = served(in_its_arrays(request, offsets));
}

void BlockTally::end_interval(const char* file, int line) {
  if (!records_) return;
  Happening barrier;
  barrier.kind = Event::Kind::kBarrier;
  barrier.step = end_;
  barrier.file = file;
  barrier.line = line;
  if (end_ < most_steps) happenings_.push_back(std::move(barrier));
  begin_ = ++end_;
}

void BlockTally::put_in_order() {
  std::stable_sort(of_warp_.begin(), of_warp_.end(),
                   [](const Happening& a, const Happening& b) { return a.at < b.at; });
  std::uint64_t step = begin_;
  for (std::size_t i = 0; i < of_warp_.size(); ++i) {
    if (i > 0 && of_warp_[i].group != of_warp_[i - 1].group) ++step;
    of_warp_[i].step = step;
    if (step < most_steps) happenings_.push_back(of_warp_[i]);
    end_ = std::max(end_, step + 1);
  }
  of_warp_.clear();
}

void BlockTally::add_visit(const void* place, const Group& group) {
  Passage& passage = visited_[place];
  ++passage.visits;
  passage.lanes += static_cast<unsigned>(__builtin_popcount(group.mask));
  passage.lanes_of_warps += lanes_of_warp_;
  // Lanes that reach no further place end here.
  std::uintptr_t ways[kLanes];
  std::size_t count = 0;
  for (const unsigned lane : LanesOf(group.mask)) {
    const std::uintptr_t next = group.address[lane];
    if (next == 0) continue;
    if (std::find(ways, ways + count, next) == ways + count) ways[count++] = next;
  }
  if (count > 1) partings_ += count - 1;
}

void BlockTally::add_requests(const Instruction& instruction, const Group& group) {
  const auto address_of = [&](unsigned lane) {
    const std::uintptr_t address = group.address[lane];
    return instruction.form == Form::kCopied ? CopyPlace(address).from() : address;
  };
  std::uint32_t rest = group.mask;
  while (rest != 0) {
    const unsigned leader = first_lane(rest);
    if (LocalPlace::is_one(group.address[leader])) {
      rest &= ~add_local(instruction, group, LocalPlace(group.address[leader]).array());
      continue;
    }
    const MemoryRange* const found = ranges_.at(address_of(leader));
    if (found == nullptr) {
      rest &= rest - 1;
      continue;
    }
    const MemoryRange of_leader = *found;
    Request request;
    request.space = space_of(of_leader);
    request.operation = instruction.operation;
    request.bytes = instruction.bytes;
    request.form = instruction.form;
    Offsets offsets;
    offsets.fill(-1);
    for (const unsigned lane : LanesOf(rest)) {
      const std::uintptr_t address = address_of(lane);
      const MemoryRange* range = &of_leader;
      if (address - range->base >= range->size) {
        if (LocalPlace::is_one(address)) continue;
        range = ranges_.at(address);
        if (range == nullptr) {
          rest &= ~(1u << lane);
          continue;
        }
        if (space_of(*range) != request.space) continue;
      }
      const std::uint64_t offset = address - range->base;
      request.mask |= 1u << lane;
      request.address[lane] = origin_of(*range) + offset;
      request.landing[lane] = CopyPlace(group.address[lane]).landing();
      offsets[lane] = static_cast<std::int64_t>(offset);
    }
    rest &= ~request.mask;
    count(TallyKey{instruction, request.space, of_leader.name, nullptr}, group, request, offsets);
  }
}

void BlockTally::count(const TallyKey& key, const Group& group, const Request& request,
                       const Offsets& offsets) {
  const Counts counts = counts_of(request);
  if (last_tally_ == nullptr || !(key == last_key_)) {
    last_key_ = key;
    last_tally_ = &tallies_[key];
  }
  if (group.change > 0) last_tally_->change(group.way) += counts;
  if (group.change < 0) last_tally_->change(group.way) -= counts;
  if (group.change != 0) return;
  const bool is_local = request.space == Space::kLocal;
  const bool is_atomic = request.operation == Operation::kAtomic;
  last_tally_->add(counts, block_, warp_, offsets);
  if (records_) keep_request(key, group, request, counts, offsets);
  if (is_local) return;
  const bool may_join = request.bytes >= kWordBytes && request.form == Form::kPlain;
  if (may_join && !is_atomic) joins_.see(request, last_tally_);
  auto& of_warps = of_lanes_[{request.space, request.operation, request.bytes}];
  if (of_warps.size() <= warp_) of_warps.resize(warp_ + 1, {});
  for (const unsigned lane : LanesOf(request.mask)) ++of_warps[warp_][lane];
}

BusiestWarps BlockTally::busiest_warps() const {
  BusiestWarps busiest;
  for (const auto& [kind, of_warps] : of_lanes_) {
    for (const auto& lanes : of_warps) {
      std::uint64_t& most = busiest[kind];
      most = std::max(most, std::accumulate(lanes.begin(), lanes.end(), std::uint64_t{0}));
    }
  }
  return busiest;
}

BusiestThreads BlockTally::busiest_threads() const {
  std::map<BusiestThreads::key_type, std::vector<OfThread>> of_threads;
  for (const auto& [kind, of_warps] : of_lanes_) {
    const auto& [space, operation, bytes] = kind;
    std::vector<OfThread>& threads = of_threads[{space, operation}];
    threads.resize(std::max(threads.size(), of_warps.size() * kLanes));
    for (std::size_t i = 0; i < of_warps.size() * kLanes; ++i) {
      const std::uint64_t accesses = of_warps[i / kLanes][i % kLanes];
      threads[i].accesses += accesses;
      threads[i].bytes += accesses * bytes;
    }
  }
  BusiestThreads busiest;
  for (const auto& [kind, threads] : of_threads) {
    OfThread& most = busiest[kind];
    for (const OfThread& thread : threads) most.join(thread);
  }
  return busiest;
}

std::uint32_t BlockTally::add_local(const Instruction& instruction, const Group& group,
                                    std::uint32_t array) {
  Request request;
  request.space = Space::kLocal;
  request.operation = instruction.operation;
  request.bytes = instruction.bytes;
  Offsets offsets;
  offsets.fill(-1);
  for (const unsigned lane : LanesOf(group.mask)) {
    const LocalPlace place(group.address[lane]);
    if (!LocalPlace::is_one(group.address[lane]) || place.array() != array) continue;
    request.mask |= 1u << lane;
    request.address[lane] = place.offset();
    offsets[lane] = static_cast<std::int64_t>(place.offset());
  }
  const cuda_cpu::LocalArray* const local = arrays_[array];
  count(TallyKey{instruction, Space::kLocal, local->name, local}, group, request, offsets);
  return request.mask;
}

}  // namespace xray
