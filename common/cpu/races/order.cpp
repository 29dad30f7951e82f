// SPDX-License-Identifier: MIT
#include "order.h"

#include <algorithm>
#include <utility>

namespace races {

// ---- Knowledge ----------------------------------------------------------------------------------

void Knowledge::learn_block(std::uint32_t block, Time before) {
  if (before.ticks == 0) return;
  if (blocks_.size() <= block) blocks_.resize(block + std::size_t{1});
  blocks_[block] = std::max(blocks_[block], before);
}

void Knowledge::learn_thread(ThreadName thread, Time before) {
  if (before.ticks == 0) return;
  Time& known = threads_[thread];
  known = std::max(known, before);
}

void Knowledge::learn(const Knowledge& other) {
  if (blocks_.size() < other.blocks_.size()) blocks_.resize(other.blocks_.size());
  for (std::size_t i = 0; i < other.blocks_.size(); ++i) {
    blocks_[i] = std::max(blocks_[i], other.blocks_[i]);
  }
  for (const auto& [thread, before] : other.threads_) learn_thread(thread, before);
}

bool Knowledge::covers(ThreadName thread, Time time) const {
  if (thread.block < blocks_.size() && time < blocks_[thread.block]) return true;
  if (threads_.empty()) return false;
  const auto found = threads_.find(thread);
  return found != threads_.end() && time < found->second;
}

// ---- Mailbox ------------------------------------------------------------------------------------

void Mailbox::put(std::shared_ptr<const Knowledge> what) {
  if (stored_.empty() || stored_.back() != what) stored_.push_back(std::move(what));
}

void Mailbox::read(std::size_t count, Knowledge* into) {
  if (count < merged_count_) {
    for (std::size_t i = 0; i < count; ++i) into->learn(*stored_[i]);
    return;
  }
  while (merged_count_ < count) merged_.learn(*stored_[merged_count_++]);
  into->learn(merged_);
}

// ---- BlockOrder ---------------------------------------------------------------------------------

BlockOrder::BlockOrder(std::uint32_t block, std::uint32_t threads, Mailboxes* mailboxes)
    : block_(block),
      threads_(threads),
      mailboxes_(mailboxes),
      warps_((threads + kLanes - 1) / kLanes),
      minds_(threads) {}

bool BlockOrder::warps_or_fences_order(ThreadName thread, Time time, std::uint32_t me) const {
  if (thread.block == block_) {
    if (!heard_.empty() && !heard_[me].empty() && time < heard_[me][place_of(thread.thread)]) {
      return true;
    }
    const std::uint32_t warp = me / kLanes;
    if (thread.thread / kLanes == warp && warps_[warp] != nullptr &&
        time < warps_[warp]->met[me % kLanes][thread.thread % kLanes]) {
      return true;
    }
  }
  return block_mind_.known.covers(thread, time) ||
         (minds_[me] != nullptr && minds_[me]->known.covers(thread, time));
}

bool BlockOrder::has_fenced(std::uint32_t thread) const {
  return block_mind_.fenced_here != nullptr ||
         (minds_[thread] != nullptr && minds_[thread]->fenced_here != nullptr);
}

void BlockOrder::waits_for_launch_before(std::uint32_t thread) {
  have_waited_.resize(threads_);
  have_waited_[thread] = 1;
}

Time BlockOrder::lets_next_launch_start(std::uint32_t thread) {
  if (!std::exchange(next_may_start_, true) && has_fenced(thread)) {
    tick();
    seen_by_next_ = now_;
  }
  return seen_by_next_;
}

void BlockOrder::barrier() {
  tick();
  last_barrier_ = now_;
  heard_.clear();
  all_have_waited_ = all_have_waited_ || !have_waited_.empty();
  if (!any_mind_) return;
  any_mind_ = false;
  auto fenced = std::make_shared<Knowledge>(), here = std::make_shared<Knowledge>();
  if (block_mind_.fenced != nullptr) fenced->learn(*block_mind_.fenced);
  if (block_mind_.fenced_here != nullptr) here->learn(*block_mind_.fenced_here);
  Time& fenced_at = block_mind_.fenced_at;
  for (std::unique_ptr<Mind>& mind : minds_) {
    if (mind == nullptr) continue;
    block_mind_.known.learn(mind->known);
    if (mind->fenced != nullptr) fenced->learn(*mind->fenced);
    if (mind->fenced_here != nullptr) here->learn(*mind->fenced_here);
    fenced_at = std::max(fenced_at, mind->fenced_at);
    for (const Received& r : mind->received) note_received(r, &block_mind_.received);
    mind.reset();
  }
  block_mind_.fenced = std::move(fenced);
  block_mind_.fenced_here = std::move(here);
}

void BlockOrder::lanes_met(std::uint32_t warp, std::uint32_t lanes) {
  tick();
  if (warps_[warp] == nullptr) warps_[warp] = std::make_unique<Lanes>();
  Lanes& w = *warps_[warp];
  const std::uint32_t first = warp * kLanes;
  const auto for_lanes = [&](auto use) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      use(static_cast<std::uint32_t>(__builtin_ctz(rest)));
    }
  };
  if (!have_waited_.empty()) {
    char any = 0;
    for_lanes([&](std::uint32_t i) { any |= have_waited_[first + i]; });
    for_lanes([&](std::uint32_t i) { have_waited_[first + i] = any; });
  }
  if (!heard_.empty()) {
    Heard together;
    for_lanes([&](std::uint32_t i) { add(heard_[first + i], &together); });
    for_lanes([&](std::uint32_t i) { heard_[first + i] = together; });
  }
  for (std::uint32_t j = 0; j < kLanes; ++j) {
    Time latest = (lanes >> j & 1) != 0 ? now_ : Time{};
    for_lanes([&](std::uint32_t i) { latest = std::max(latest, w.met[i][j]); });
    for_lanes([&](std::uint32_t i) { w.met[i][j] = latest; });
  }
  Knowledge known;
  std::vector<Received> received;
  bool any = false;
  for_lanes([&](std::uint32_t i) {
    const Mind* const mind = minds_[first + i].get();
    if (mind == nullptr) return;
    any = true;
    known.learn(mind->known);
    for (const Received& r : mind->received) note_received(r, &received);
  });
  if (!any) return;
  for_lanes([&](std::uint32_t i) {
    Mind& mind = mind_of(first + i);
    mind.known.learn(known);
    mind.received = received;
  });
}

void BlockOrder::fence(std::uint32_t thread, bool block_only) {
  tick();
  Mind& mind = mind_of(thread);
  open(mind.received, block_only, &mind.known);
  open(block_mind_.received, block_only, &mind.known);
  mind.fenced_here = all_known_to(thread);
  if (block_only) return;
  mind.fenced = mind.fenced_here;
  mind.fenced_at = now_;
}

void BlockOrder::atomic(std::uint32_t thread, const void* address, bool reads, bool writes,
                        bool block_only) {
  // Most programs make no fence, and nothing is handed over.
  if (mailboxes_->empty() && !has_fenced(thread)) return;
  Mailbox* const everybodys = mailboxes_->for_all(address);
  Mailbox* const ours = mailboxes_->for_block(address, block_);
  if (reads && (everybodys->count() != 0 || ours->count() != 0)) {
    Mind& mind = mind_of(thread);
    if (!block_only) note_received({everybodys, everybodys->count(), false}, &mind.received);
    note_received({ours, ours->count(), true}, &mind.received);
  }
  if (!writes) return;
  for (const Mind* mind : {minds_[thread].get(), &block_mind_}) {
    if (mind == nullptr) continue;
    if (mind->fenced != nullptr && !block_only) {
      everybodys->put(mind->fenced);
      told_ = std::max(told_, mind->fenced_at);
    }
    if (mind->fenced_here != nullptr) ours->put(mind->fenced_here);
  }
}

void BlockOrder::ordered_atomic(std::uint32_t thread, const void* address, bool acquires,
                                bool releases, bool block_only) {
  Mailbox* const everybodys = mailboxes_->for_all(address);
  Mailbox* const ours = mailboxes_->for_block(address, block_);
  if (acquires && (everybodys->count() != 0 || ours->count() != 0)) {
    tick();
    Mind& mind = mind_of(thread);
    if (!block_only) everybodys->read(everybodys->count(), &mind.known);
    ours->read(ours->count(), &mind.known);
  }
  if (!releases) return;
  tick();
  const std::shared_ptr<const Knowledge> all = all_known_to(thread);
  if (!block_only) {
    everybodys->put(all);
    told_ = now_;
  }
  ours->put(all);
}

BlockOrder::Mind& BlockOrder::mind_of(std::uint32_t thread) {
  any_mind_ = true;
  if (minds_[thread] == nullptr) minds_[thread] = std::make_unique<Mind>();
  return *minds_[thread];
}

void BlockOrder::note_received(const Received& one, std::vector<Received>* all) {
  if (one.count == 0) return;
  for (Received& r : *all) {
    if (r.from != one.from) continue;
    r.count = std::max(r.count, one.count);
    return;
  }
  all->push_back(one);
}

void BlockOrder::open(const std::vector<Received>& received, bool block_only,
                      Knowledge* known) const {
  for (const Received& r : received) {
    if (!block_only || r.block_only) r.from->read(r.count, known);
  }
}

std::shared_ptr<const Knowledge> BlockOrder::all_known_to(std::uint32_t thread) const {
  auto all = std::make_shared<Knowledge>();
  all->learn(block_mind_.known);
  if (minds_[thread] != nullptr) all->learn(minds_[thread]->known);
  all->learn_block(block_, last_barrier_);
  const std::uint32_t warp = thread / kLanes;
  if (warps_[warp] != nullptr) {
    for (std::uint32_t j = 0; j < kLanes; ++j) {
      all->learn_thread(ThreadName{block_, warp * kLanes + j},
                        warps_[warp]->met[thread % kLanes][j]);
    }
  }
  if (!heard_.empty()) {
    for (std::uint32_t i = 0; i < heard_[thread].size(); ++i) {
      const std::uint32_t number = i < threads_ ? i : kCopier + (i - threads_);
      all->learn_thread(ThreadName{block_, number}, heard_[thread][i]);
    }
  }
  all->learn_thread(ThreadName{block_, thread}, now_);
  return all;
}

// ---- barriers of the program's own --------------------------------------------------------------

void BlockOrder::add(const Heard& from, Heard* to) const {
  if (from.empty()) return;
  if (to->empty()) to->resize(2 * std::size_t{threads_});
  for (std::size_t i = 0; i < from.size(); ++i) (*to)[i] = std::max((*to)[i], from[i]);
}

void BlockOrder::add_heard_by(std::uint32_t thread, Heard* to) const {
  if (!heard_.empty()) add(heard_[thread], to);
  const std::uint32_t first = thread / kLanes * kLanes;
  if (warps_[thread / kLanes] != nullptr) {
    const Time* const met = warps_[thread / kLanes]->met[thread % kLanes];
    for (std::uint32_t j = 0; j < kLanes && first + j < threads_; ++j) {
      (*to)[first + j] = std::max((*to)[first + j], met[j]);
    }
  }
  (*to)[thread] = now_;
}

void BlockOrder::phase_is_reached(std::uint32_t thread, const void* barrier, std::uint32_t phase) {
  tick();
  std::vector<Phase>& phases = phases_[barrier];
  if (phases.empty() || phases.back().number < phase) {
    Phase next;
    next.heard.resize(2 * std::size_t{threads_});
    // A thread that knows of a phase knows of those before it.
    if (!phases.empty()) next = phases.back();
    next.number = phase;
    if (phases.size() == kPhases) phases.erase(phases.begin());
    phases.push_back(std::move(next));
  }
  // Of products of a warp group one warp may have begun more than another.
  Phase& now = *std::find_if(phases.begin(), phases.end(),
                             [=](const Phase& one) { return one.number >= phase; });
  add_heard_by(thread, &now.heard);
  if (minds_[thread] != nullptr) now.known.learn(minds_[thread]->known);
}

void BlockOrder::phase_is_passed(std::uint32_t thread, const void* barrier, std::uint32_t phase) {
  for (const Phase& one : phases_[barrier]) {
    if (one.number < phase) continue;
    tick();
    if (heard_.empty()) heard_.resize(threads_);
    add(one.heard, &heard_[thread]);
    if (!one.known.empty()) mind_of(thread).known.learn(one.known);
    return;
  }
}

void BlockOrder::copy_is_made(std::uint32_t copier, const void* barrier, std::uint32_t phase) {
  tick();
  for (Phase& one : phases_[barrier]) {
    if (one.number >= phase) one.heard[place_of(copier)] = now_;
  }
}

// ---- Blocks -------------------------------------------------------------------------------------

BlockOrder* Blocks::begin(std::uint32_t block, std::uint32_t threads) {
  running_.push_back(std::make_unique<BlockOrder>(block, threads, &mailboxes_));
  return running_.back().get();
}

void Blocks::end(const void* order) {
  const auto ended = std::find_if(running_.begin(), running_.end(),
                                  [&](const auto& running) { return running.get() == order; });
  const std::uint32_t block = (*ended)->block();
  if (const Time told = (*ended)->told(); told.ticks != 0) {
    if (told_.size() <= block) told_.resize(block + std::size_t{1});
    told_[block] = told;
  }
  running_.erase(ended);
}

void Blocks::clear() {
  running_.clear();
  told_.clear();
  mailboxes_.clear();
}

void Blocks::barrier() {
  for (const auto& block : running_) block->barrier();
}

bool Blocks::runs(std::uint32_t block) const {
  return std::any_of(running_.begin(), running_.end(),
                     [=](const auto& running) { return running->block() == block; });
}

}  // namespace races
