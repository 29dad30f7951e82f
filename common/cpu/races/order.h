// SPDX-License-Identifier: MIT
// Which accesses of a launch come before which, whatever the order in which the threads ran.
//
// Each block has a clock, which goes on whenever something is ordered: at a barrier, a __syncwarp,
// a fence. So the time of an access tells what of its block came before it. Four things order:
//
//   barrier       all that the block did before it comes before all that it does after it
//   __syncwarp    the same for the lanes in its mask
//   cuda::barrier what a thread did before it arrived comes before what one does that has waited
//                 for the end of that phase
//   fence + atomic  what a thread knows at its fence goes with the values that its atomics store
//                 after it, and whoever reads such a value with an atomic knows it after a fence of
//                 its own. An atomic of cuda::atomic_ref can do the part of either fence itself.
//
// Two liberties, both for the program's good: a fence before a barrier counts for what any thread
// of the block stores after the barrier, and a value that a thread has read before a barrier counts
// for the fence of any thread after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace races {

/// A block's clock. Types of our own, here and in the maps below: of a container of plain numbers
/// the linker could take functions that were compiled for the program.
struct Time {
  std::uint32_t ticks = 0;
  bool operator<(Time o) const { return ticks < o.ticks; }
};

/// A thread of a grid: the number of its block, its number in the block.
struct ThreadName {
  std::uint32_t block = 0;
  std::uint32_t thread = 0;
  bool operator==(ThreadName o) const { return (block == o.block) & (thread == o.thread); }
};
/// An address, and the one block that it stands for: ~0u is all of them.
struct AddressName {
  const void* address;
  std::uint32_t block;
  bool operator==(AddressName o) const { return (address == o.address) & (block == o.block); }
};
struct Hash {
  static std::size_t of(std::size_t bits) { return bits * 0x9e3779b97f4a7c15u >> 7; }
  std::size_t operator()(ThreadName n) const { return of(std::size_t{n.block} << 32 | n.thread); }
  std::size_t operator()(const void* p) const { return of(reinterpret_cast<std::size_t>(p)); }
  std::size_t operator()(AddressName n) const {
    return of(reinterpret_cast<std::size_t>(n.address) ^ std::size_t{n.block} << 40);
  }
};

/// An asynchronous copy that is under way is the work of a thread that no barrier knows, beside the
/// one that began it: that one's number plus this.
constexpr std::uint32_t kCopier = 1024;

/// What is known to have happened: for each block and for single threads all that they did before a
/// time.
class Knowledge {
 public:
  void learn_block(std::uint32_t block, Time before);
  void learn_thread(ThreadName thread, Time before);
  void learn(const Knowledge& other);
  bool covers(ThreadName thread, Time time) const;
  bool empty() const { return blocks_.empty() && threads_.empty(); }

 private:
  std::vector<Time> blocks_;
  std::unordered_map<ThreadName, Time, Hash> threads_;
};

/// What was stored with values at one address, in the order in which it was stored.
class Mailbox {
 public:
  void put(std::shared_ptr<const Knowledge> what);
  std::size_t count() const { return stored_.size(); }
  /// Adds the first `count` of what was stored.
  void read(std::size_t count, Knowledge* into);

 private:
  std::vector<std::shared_ptr<const Knowledge>> stored_;
  Knowledge merged_;  // of the first merged_count_
  std::size_t merged_count_ = 0;
};

/// Finds the mailbox of an address. What atomics and fences with the scope of a block store has
/// another one in every block.
class Mailboxes {
 public:
  Mailbox* for_all(const void* address) { return for_block(address, ~0u); }
  Mailbox* for_block(const void* address, std::uint32_t block) {
    return &boxes_[AddressName{address, block}];
  }
  void clear() { boxes_.clear(); }
  bool empty() const { return boxes_.empty(); }

 private:
  std::unordered_map<AddressName, Mailbox, Hash> boxes_;
};

/// The order of what one block does.
class BlockOrder {
 public:
  BlockOrder(std::uint32_t block, std::uint32_t threads, Mailboxes* mailboxes);

  std::uint32_t block() const { return block_; }
  std::uint32_t warps() const { return (threads_ + kLanes - 1) / kLanes; }
  Time now() const { return now_; }
  /// Other blocks may know of what was done before this time, and of nothing later.
  Time told() const { return told_; }

  /// Whether what `thread` did at `time` comes before what `me`, a thread of this block, does now.
  bool comes_before(ThreadName thread, Time time, std::uint32_t me) const {
    return comes_in_block_before(thread, time, me) || warps_or_fences_order(thread, time, me);
  }
  /// The same, as far as barriers and the thread's own steps tell.
  bool comes_in_block_before(ThreadName thread, Time time, std::uint32_t me) const {
    return thread.block == block_ && (thread.thread == me || time < last_barrier_);
  }
  /// Whether a barrier of this block came after what a thread of `block` did at `time`.
  bool barrier_follows(std::uint32_t block, Time time) const {
    return block == block_ && time < last_barrier_;
  }
  /// Whether `thread` has made a fence, or any thread of the block before the last barrier.
  bool has_fenced(std::uint32_t thread) const;

  void barrier();
  /// __syncwarp has brought these lanes together.
  void lanes_met(std::uint32_t warp, std::uint32_t lanes);
  /// `block_only`: __threadfence_block.
  void fence(std::uint32_t thread, bool block_only);
  /// `thread` has waited for the launch before this one; with a barrier or a __syncwarp that counts
  /// for others.
  void waits_for_launch_before(std::uint32_t thread);
  bool has_waited_for_launch_before(std::uint32_t thread) const {
    return all_have_waited_ || (!have_waited_.empty() && have_waited_[thread] != 0);
  }
  /// The next launch may start, as far as this block is concerned; only its first call counts.
  /// Returns the time before which the next sees what the block did: 0 unless a fence came first.
  Time lets_next_launch_start(std::uint32_t thread);
  /// An atomic access, or a volatile one. `reads`, `writes`: what it does to the value.
  void atomic(std::uint32_t thread, const void* address, bool reads, bool writes, bool block_only);
  /// `thread` arrives at a barrier of the program's own, or goes on since the phase has ended.
  void phase_is_reached(std::uint32_t thread, const void* barrier, std::uint32_t phase);
  void phase_is_passed(std::uint32_t thread, const void* barrier, std::uint32_t phase);
  /// A copy that belonged to the phase has been made.
  void copy_is_made(std::uint32_t copier, const void* barrier, std::uint32_t phase);
  /// An atomic that has an order of its own.
  void ordered_atomic(std::uint32_t thread, const void* address, bool acquires, bool releases,
                      bool block_only);

 private:
  /// A value that was read, and what came with it.
  struct Received {
    Mailbox* from;
    std::size_t count;
    bool block_only;
  };
  /// What one thread knows besides what barriers and warps tell, or what all threads of a block do.
  struct Mind {
    Knowledge known;
    std::vector<Received> received;                // not known before a fence
    std::shared_ptr<const Knowledge> fenced;       // what the last fence put down for everybody
    std::shared_ptr<const Knowledge> fenced_here;  // and for this block
    Time fenced_at;                                // when it was put down for everybody
  };
  static constexpr std::uint32_t kLanes = 32;
  struct Lanes {
    Time met[kLanes][kLanes];  // [i][j]: lane i knows what lane j did before this
  };

  /// For each thread of the block, and then for each one's copier, the time before which all that
  /// it did is known. Empty: nothing is.
  using Heard = std::vector<Time>;
  /// What those know who have waited for the end of a phase.
  struct Phase {
    std::uint32_t number = 0;
    Heard heard;
    Knowledge known;
  };

  std::size_t place_of(std::uint32_t thread) const {
    return thread < kCopier ? thread : threads_ + (thread - kCopier);
  }
  /// Adds all that `thread` knows of others of its block, but for what barriers tell.
  void add_heard_by(std::uint32_t thread, Heard* to) const;
  void add(const Heard& from, Heard* to) const;
  bool warps_or_fences_order(ThreadName thread, Time time, std::uint32_t me) const;
  Mind& mind_of(std::uint32_t thread);
  /// Of one mailbox the latest is kept.
  static void note_received(const Received& one, std::vector<Received>* all);
  void open(const std::vector<Received>& received, bool block_only, Knowledge* known) const;
  std::shared_ptr<const Knowledge> all_known_to(std::uint32_t thread) const;
  void tick() { ++now_.ticks; }

  std::uint32_t block_, threads_;
  Mailboxes* mailboxes_;
  Time now_{1}, last_barrier_{0}, told_{0};
  std::vector<std::unique_ptr<Lanes>> warps_;  // null until lanes meet
  std::vector<std::unique_ptr<Mind>> minds_;  // null until a thread has one; since the last barrier
  Mind block_mind_;                           // what barriers have made everybody's
  bool any_mind_ = false;
  bool all_have_waited_ = false;  // for the launch before
  std::vector<char> have_waited_;
  bool next_may_start_ = false;
  Time seen_by_next_;
  std::vector<Heard> heard_;  // of each thread, since the last barrier; empty until one has waited
  // Of each barrier the last phases, of which late threads still have to hear.
  static constexpr std::size_t kPhases = 4;
  std::unordered_map<const void*, std::vector<Phase>, Hash> phases_;
};

/// The blocks of a launch: those that run, and what is left of those that have ended.
class Blocks {
 public:
  BlockOrder* begin(std::uint32_t block, std::uint32_t threads);
  void end(const void* order);
  void clear();
  /// All of them, at a barrier of the grid.
  void barrier();

  bool runs(std::uint32_t block) const;
  /// Whether a block that has ended told no other one of what it did at `time`: then nothing of
  /// this launch comes after that.
  bool told_nobody(std::uint32_t block, Time time) const {
    return block >= told_.size() || !(time < told_[block]);
  }

 private:
  Mailboxes mailboxes_;  // what they hand over to each other
  std::vector<std::unique_ptr<BlockOrder>> running_;
  std::vector<Time> told_;  // of each that has ended; those past the end told nothing
};

}  // namespace races
