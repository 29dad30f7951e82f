// SPDX-License-Identifier: MIT
// What the ranks of a communicator tell each other: who is there, and what each has called. In one
// process it is plain memory. Processes share a file in the temporary folder, named after the
// unique id; it has no name any more when all have come, so nothing is left behind, whoever dies. A
// rank locks a byte of the file as long as its process lives: the kernel unlocks it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "terms.h"

namespace cuda_cpu {

constexpr int kMaxRanks = 64;
constexpr std::uint64_t kCollectivesKept = 16;
constexpr int kTransfersKept = 32;

/// One operation that a rank has come to.
struct Post {
  NcclTerms terms;
  std::uint64_t
      number;  ///< of the rank's collectives, or of those that go from one rank to another
  char file[200];
  int line;
  const void* data;  ///< in the process of the rank
  std::int64_t at;   ///< in the file
  enum State { kFree, kPosted, kTaken };
  std::atomic<int> state;
};

/// A rank's part of the board.
struct Seat {
  std::atomic<int> process;  ///< 0: nobody has come
  int device, devices;       ///< which of how many the process has
  std::atomic<bool> has_left, waits;
  std::atomic<std::uint64_t> called, come;  ///< operations that its host has called, and its device
  std::atomic<std::uint64_t> collectives;   ///< come to,
  std::atomic<std::uint64_t> finished;      ///< and finished
  Post collective[kCollectivesKept];        ///< number n is at n % kCollectivesKept
  Post transfer[kTransfersKept];
};

/// What all ranks see.
struct SharedBoard {
  std::atomic<int> ranks, seated;
  std::atomic<int> reporter;  ///< the rank that reports a failure, counted from 1
  Seat seats[kMaxRanks];
};

class Board {
 public:
  /// One that an id names, which the first who comes makes; within this process without a name.
  explicit Board(const std::string& name = "");
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  SharedBoard* operator->() const { return shared_; }
  Seat& seat(int rank) const { return shared_->seats[rank]; }
  bool is_open() const { return shared_ != nullptr; }  ///< false: the system refused

  /// Takes a seat; false if somebody has it. The last one takes the file's name away.
  bool sit_down(int rank, int device);
  void take_name_away();
  bool is_here(int rank) const;   ///< in this process
  bool is_alive(int rank) const;  ///< its process, which may have come and gone
  /// Of processor time that the process of a rank has used; 0 where the system does not tell.
  double seconds_used(int rank) const;

  /// Which rank reports a failure, for all: this one, if no other does.
  int report_as(int rank) const;

  /// What other processes read of a rank's data.
  bool write(int rank, Post* post, std::size_t bytes);
  std::string read(const Post& post, std::size_t bytes) const;

 private:
  SharedBoard* shared_ = nullptr;
  int file_ = -1;
  std::string name_;
  std::int64_t written_[kMaxRanks] = {};
};

/// A new name, and whether one is of that kind.
std::string new_board_name();
bool is_board_name(const std::string& name);

}  // namespace cuda_cpu
