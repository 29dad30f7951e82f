// SPDX-License-Identifier: MIT
// Notes what each lane of a running block does: each access to memory, each meeting with other
// lanes, and by which calls the lane got where it is.
//
// The types here are X-ray's own, even where a number would do. For std::vector<std::uint64_t> the
// linker may take functions that were compiled for the program; those are instrumented and would
// end up here again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "../engine/state/hooks.h"
#include "costs.h"

namespace xray {

/// A load, store or atomic in the machine code.
struct Instruction {
  const void* place = nullptr;  ///< the address of the code after it
  Operation operation = Operation::kLoad;
  std::uint8_t bytes = 0;  ///< per lane: 1, 2, 4, 8 or 16; 0: no access, the lane came by
  Form form = Form::kPlain;

  bool is_access() const { return bytes != 0; }
  bool operator==(const Instruction& o) const {
    return (place == o.place) & (operation == o.operation) & (bytes == o.bytes) & (form == o.form);
  }
  bool operator<(const Instruction& o) const {
    return std::tie(place, operation, bytes, form) <
           std::tie(o.place, o.operation, o.bytes, o.form);
  }
};

/// The chains of calls by which the lanes of one block got where they are, as a tree: lanes came
/// the same way if, and only if, they have the same chain.
class CallTree {
 public:
  using Chain = std::uint32_t;  // 0: in the kernel itself

  /// The chain of a function that is called at `from` by one with the chain `caller`.
  Chain enter(Chain caller, const void* from);
  Chain caller_of(Chain callee) const { return nodes_[callee].caller; }

 private:
  struct Node {
    const void* from = nullptr;
    Chain caller = 0;
    Chain first_callee = 0, next_callee = 0;  // of this caller, of the same caller; 0: none
  };

  std::vector<Node> nodes_{Node{}};
};

/// A place in an array of a thread's own, which has no address that others could compare. It is
/// carried as an address that no memory has.
class LocalPlace {
 public:
  LocalPlace(std::uint32_t array, std::size_t offset)
      : address_(kBit | std::uintptr_t{array} << kOffsetBits | offset) {}
  explicit LocalPlace(std::uintptr_t address) : address_(address) {}
  static bool is_one(std::uintptr_t address) { return (address & kBit) != 0; }

  const void* address() const { return reinterpret_cast<const void*>(address_); }
  std::uint32_t array() const {
    return static_cast<std::uint32_t>((address_ & ~kBit) >> kOffsetBits);
  }
  std::size_t offset() const { return address_ & ((std::uintptr_t{1} << kOffsetBits) - 1); }

 private:
  static constexpr unsigned kOffsetBits = 32;
  static constexpr std::uintptr_t kBit = std::uintptr_t{1} << 63;
  std::uintptr_t address_;
};

/// An access to memory, a piece of code that the lane entered, or a meeting with other lanes of the
/// warp. There are millions of them, so the parts of the instruction lie where they take the least
/// room.
class LaneEvent {
 public:
  LaneEvent(const void* address, const Instruction& instruction, CallTree::Chain calls)
      : address_(reinterpret_cast<std::uintptr_t>(address)),
        place_(instruction.place),
        calls_(calls),
        operation_(instruction.operation),
        bytes_(instruction.bytes),
        form_(instruction.form) {}
  explicit LaneEvent(std::uint32_t lanes_that_meet) : address_(lanes_that_meet) {}

  bool is_meeting() const { return place_ == nullptr; }
  std::uint32_t lanes_that_meet() const { return static_cast<std::uint32_t>(address_); }

  std::uintptr_t address() const { return address_; }
  Instruction instruction() const { return {place_, operation_, bytes_, form_}; }
  CallTree::Chain calls() const { return calls_; }

  bool is_access() const { return !is_meeting() && bytes_ != 0; }
  /// Of memory that other threads can use, too.
  bool is_shareable_access() const { return is_access() && !LocalPlace::is_one(address_); }
  bool is_atomic() const { return is_access() && operation_ == Operation::kAtomic; }
  void set_address(const void* address) { address_ = reinterpret_cast<std::uintptr_t>(address); }
  /// Nobody uses what this atomic returned.
  void result_is_unused() {
    if (form_ == Form::kIncrement) form_ = Form::kIncrementUnused;
  }

 private:
  std::uintptr_t address_;
  const void* place_ = nullptr;
  CallTree::Chain calls_ = 0;
  Operation operation_ = Operation::kLoad;
  std::uint8_t bytes_ = 0;
  Form form_ = Form::kPlain;
};

/// Where an asynchronous copy of 16 bytes reads, and where in its array it lands. The two together
/// decide which sectors are brought. They are carried as one address that no memory has.
class CopyPlace {
 public:
  CopyPlace(const void* from, std::size_t landing)
      : address_(reinterpret_cast<std::uintptr_t>(from) | std::uintptr_t{landing / 16}
                                                              << kFromBits) {}
  explicit CopyPlace(std::uintptr_t address) : address_(address) {}

  const void* address() const { return reinterpret_cast<const void*>(address_); }
  std::uintptr_t from() const { return address_ & ((std::uintptr_t{1} << kFromBits) - 1); }
  std::uint32_t landing() const { return static_cast<std::uint32_t>(address_ >> kFromBits) * 16; }

 private:
  static constexpr unsigned kFromBits = 48;  // 15 more hold 512 KiB; the last is LocalPlace's
  std::uintptr_t address_;
};

/// An array that a CUDA thread has declared. `number`: of the declaration, the same for all
/// threads of the block.
struct OwnArray {
  std::uintptr_t begin;
  std::size_t bytes;
  std::uint32_t number;
};

/// Everything that one CUDA thread has done since the last barrier of its block.
struct Lane {
  std::vector<LaneEvent> events;
  std::uint64_t accesses = 0;  // since the block began
  CallTree::Chain calls = 0;
  std::vector<OwnArray> arrays;  // those of inner scopes stay until something else lies there
};

/// What one lane may do between two barriers and be counted. 24 bytes each.
constexpr std::size_t kMostEvents = std::size_t{1} << 24;

/// The CUDA threads of a block, in their order. The engine hands it back to us as
/// block.observation.
struct BlockLanes {
  std::vector<Lane> lanes;
  CallTree call_tree;
  std::vector<const cuda_cpu::LocalArray*> arrays;  // by number
  bool too_many = false;                            // a lane did more than kMostEvents
  bool is_counted = true;                           // or else only how many accesses there are
  bool has_others_copy = false;                     // see Launch
};

/// What lanes of one warp did with the same instruction, on the same visit to it: an access, or
/// they came by a place.
struct Group {
  std::uint32_t mask = 0;
  std::size_t at = 0;  ///< how many events one of its lanes made before, at most, since the barrier
  /// Of the lanes in the mask: what they accessed; or, of a place, the one that they came by next,
  /// 0 where none followed.
  std::uintptr_t address[kLanes];
  /// Not 0: the lanes would do this (1), or would not (-1), if nvcc made something else of it.
  int change = 0;
  Way way = Way::kUnrolled;
};

/// Notes that the running CUDA thread declares an array.
void note_local_array(const void* address, std::size_t bytes, const cuda_cpu::LocalArray* array);

/// Notes an access by the running CUDA thread, if its block is watched.
void note_access(const void* address, const Instruction& instruction);

/// Notes the load of an asynchronous copy of 16 bytes by the running CUDA thread.
void note_copied_load(const void* from, const void* to, const void* place);

/// Notes that the running CUDA thread lets others copy or read, which is not counted.
void note_others_copy();

/// Notes that the running CUDA thread came by a place that is no access.
void note_place(const void* place);

/// Notes that nobody uses the result of the running CUDA thread's last atomic.
void note_unused_result();

/// Notes that the running CUDA thread enters a function, called at `from`, or leaves it.
void note_entry(const void* from);
void note_exit();

}  // namespace xray
