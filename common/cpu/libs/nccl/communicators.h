// SPDX-License-Identifier: MIT
// Communicators: who belongs together, and what each of them has to do. Not for programs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../../runtime/work_queues.h"
#include "../../types/site.h"
#include "board.h"

namespace cuda_cpu {

struct Clique;

/// One call for one rank.
struct NcclOperation {
  NcclTerms terms;
  const void* from;
  void* to;
  cudaStream_t stream;
  Site site;
  Post* post = nullptr;  ///< where the others see it, once the device has come to it
  bool is_done = false;
};

/// The calls of one group for one rank, which go on together: when all their streams have come to
/// them. Their streams go on when all of them are done.
struct NcclLaunch {
  std::vector<NcclOperation> operations;
  std::vector<CUstream_st*> streams;
  std::size_t streams_to_come = 0;
  std::shared_ptr<Moment> done = std::make_shared<Moment>();
  bool is_grouped = false;
  std::thread::id thread;  ///< that called
};

}  // namespace cuda_cpu

/// A ncclComm_t points to this. For ever: a destroyed one stays, so that no other gets its address.
struct ncclComm {
  cuda_cpu::Clique* clique = nullptr;
  int rank = 0, device = 0;
  bool is_live = true, is_finalized = false;
  std::deque<std::shared_ptr<cuda_cpu::NcclLaunch>> launches;  ///< that are not done
  std::vector<std::shared_ptr<cuda_cpu::Moment>> last;  ///< when the latest launch's streams go on
  std::uint64_t sent[cuda_cpu::kMaxRanks] = {}, received[cuda_cpu::kMaxRanks] = {};
};

namespace cuda_cpu {

/// How long nobody has done anything.
class Idleness {
 public:
  /// `used`: seconds of processor time that those who are waited for have used.
  double seconds(double used);

 private:
  std::chrono::steady_clock::time_point since_, looked_;
  double used_ = 0;
};

/// The ranks of one communicator, as this process knows them.
struct Clique {
  std::unique_ptr<Board> board;
  int ranks = 0;
  std::vector<ncclComm*> members;  ///< by rank; null: of another process, or gone
  bool is_within_process = true;
  std::uint64_t collectives = 0;  ///< that are done
  ncclResult_t error = ncclSuccess;
  Idleness idleness;
  std::string id;

  std::uint64_t looks = 0;       ///< how often it was looked whether something can go on
  std::uint64_t doubted_at = 0;  ///< when somebody was first found gone; 0: nobody was

  /// A rank of this process; -1 when all have left.
  int rank_here() const {
    const auto is_known = [](const ncclComm* one) { return one != nullptr; };
    const auto found = std::find_if(members.begin(), members.end(), is_known);
    return found != members.end() ? static_cast<int>(found - members.begin()) : -1;
  }
  bool knows(int rank) const { return members[static_cast<std::size_t>(rank)] != nullptr; }
};

/// Of everything in this library; taken after the queues' `running`, before their `mutex`.
std::mutex& nccl_mutex();
std::vector<Clique*>& all_cliques();

/// One rank that is to be made.
struct NcclSeat {
  ncclComm** to;
  int ranks, rank, device;
  ncclUniqueId id;
  Site site;
};

/// A call that is not made, as it stands in the program.
ncclResult_t refuse(Site site, ncclResult_t result, const std::string& headline,
                    std::vector<std::string> details = {}, const std::string& help = "");

/// Makes communicators, and waits until all other ranks have come.
ncclResult_t make_communicators(const char* call, const std::vector<NcclSeat>& seats,
                                bool is_grouped);
/// Ends the part of one rank.
void leave(ncclComm* comm);

/// How many seconds a rank is waited for; 0: for ever. `alone`: by the only host thread that could
/// let it come.
double nccl_patience(bool alone);

}  // namespace cuda_cpu
