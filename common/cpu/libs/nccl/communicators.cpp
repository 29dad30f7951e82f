// SPDX-License-Identifier: MIT
#include "communicators.h"

#include <algorithm>

#include "../../engine/state/settings.h"
#include "../../report/diagnostics.h"
#include "../../runtime/contexts.h"
#include "../../runtime/handles.h"
#include "../../runtime/rendezvous.h"

namespace cuda_cpu {
namespace {

using Clock = std::chrono::steady_clock;

// A GPU waits for ever. Here a rank is missed when nobody has done anything for so long, of the ten
// seconds of CUDA_CPU_TIMEOUT; and sooner if there is only one host thread that could.
constexpr double kPatience = 0.8, kPatienceAlone = 0.1;

Clique* clique_of(const NcclSeat& seat) {
  for (Clique* const one : all_cliques()) {
    if (one->id == seat.id.internal) return one;
  }
  return nullptr;
}

/// The clique that an id names, in which nobody sits yet; null where the system refuses.
Clique* make_clique(const std::string& id, int ranks) {
  auto* const clique = new Clique;
  clique->board = std::make_unique<Board>(is_board_name(id) ? id : "");
  if (!clique->board->is_open()) return nullptr;
  clique->id = id;
  clique->ranks = ranks;
  clique->members.resize(static_cast<std::size_t>(ranks));
  all_cliques().push_back(clique);
  return clique;
}

ncclResult_t sit_down(const char* call, const NcclSeat& seat, Clique** found) {
  const std::lock_guard<std::mutex> lock(nccl_mutex());
  Clique* clique = clique_of(seat);
  if (clique == nullptr) clique = make_clique(seat.id.internal, seat.ranks);
  if (clique == nullptr) {
    return refuse(seat.site, ncclSystemError,
                  format("%s: no file can be made in the temporary folder", call));
  }
  Board& board = *clique->board;
  int ranks = 0;
  if (!board->ranks.compare_exchange_strong(ranks, seat.ranks) && ranks != seat.ranks) {
    return refuse(seat.site, ncclInvalidArgument,
                  format("%s: rank %d says that there are %d ranks, another one %d", call,
                         seat.rank, seat.ranks, ranks));
  }
  auto* const comm = new ncclComm;
  comm->clique = clique;
  comm->rank = seat.rank;
  comm->device = seat.device;
  if (!board.sit_down(seat.rank, seat.device)) {
    return refuse(seat.site, ncclInvalidArgument,
                  format("%s: another one is rank %d already", call, seat.rank));
  }
  handles<ncclComm>().add(comm);
  clique->members[static_cast<std::size_t>(seat.rank)] = comm;
  *seat.to = comm;
  *found = clique;
  return ncclSuccess;
}

/// Refuses what several processes may see, and one of them tells at length.
ncclResult_t refuse_for_all(const NcclSeat& seat, const Board& board, ncclResult_t result,
                            const std::string& headline, std::vector<std::string> details = {},
                            const std::string& help = "") {
  const int reporter = board.report_as(seat.rank);
  if (board.is_here(reporter)) return refuse(seat.site, result, headline, details, help);
  return refuse(
      seat.site, ncclRemoteError,
      format("rank %d stops, for rank %d has reported what is wrong", seat.rank, reporter));
}

/// Each rank has a device of its own.
ncclResult_t check_devices(const char* call, const NcclSeat& seat, const Board& board) {
  for (int other = 0; other < seat.ranks; ++other) {
    const Seat& its = board.seat(other);
    if (its.process == 0) continue;
    // Where each process sees one device alone, it is number 0 to all of them.
    const bool sees_the_same = board.is_here(other) || (its.devices > 1 && device_count() > 1);
    if (other == seat.rank || !sees_the_same || its.device != seat.device) continue;
    return refuse_for_all(
        seat, board, ncclInvalidUsage,
        format("%s: ranks %d and %d are both on device %d", call, std::min(seat.rank, other),
               std::max(seat.rank, other), seat.device),
        {"a rank works on the device that is current when its communicator is made"},
        "give each rank a device of its own: cudaSetDevice before the communicator");
  }
  return ncclSuccess;
}

std::string ranks_text(const std::vector<unsigned>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranges_text(ranks);
}

/// Waits until all seats of the board are taken.
ncclResult_t wait_for_all(const char* call, const NcclSeat& seat, Clique* clique, bool is_grouped) {
  const Board& board = *clique->board;
  const auto began = Clock::now();
  const double patience = nccl_patience(false);
  while (board->seated < seat.ranks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const double waited = std::chrono::duration<double>(Clock::now() - began).count();
    std::vector<unsigned> missing, dead;
    for (int rank = 0; rank < seat.ranks; ++rank) {
      if (board.seat(rank).process == 0) missing.push_back(static_cast<unsigned>(rank));
      if (board.seat(rank).process != 0 && !board.is_alive(rank)) {
        dead.push_back(static_cast<unsigned>(rank));
      }
    }
    const bool is_over = patience > 0 && waited > patience;
    if (missing.empty() || (dead.empty() && !is_over && board->reporter == 0)) continue;
    const std::lock_guard<std::mutex> lock(nccl_mutex());
    clique->board->take_name_away();
    if (!dead.empty()) {
      return refuse_for_all(seat, board, ncclRemoteError,
                            format("%s of rank %d: the process of %s has ended", call, seat.rank,
                                   ranks_text(dead).c_str()));
    }
    return refuse_for_all(
        seat, board, ncclSystemError,
        format("%s: rank %d of %d waits for %s", call, seat.rank, seat.ranks,
               ranks_text(missing).c_str()),
        {format("after %.0f seconds nobody has come with this id as one of those", waited)},
        is_grouped
            ? "every rank needs the id that one of them got from ncclGetUniqueId"
            : "a thread that has several devices makes them between ncclGroupStart and "
              "ncclGroupEnd; processes need the id that one of them got from ncclGetUniqueId");
  }
  const std::lock_guard<std::mutex> lock(nccl_mutex());
  for (int rank = 0; rank < seat.ranks; ++rank) {
    clique->is_within_process = clique->is_within_process && board.is_here(rank);
  }
  return check_devices(call, seat, board);
}

}  // namespace

std::mutex& nccl_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

std::vector<Clique*>& all_cliques() {
  static auto* const cliques = new std::vector<Clique*>;
  return *cliques;
}

double nccl_patience(bool alone) {
  return timeout_seconds() * (alone ? kPatienceAlone : kPatience);
}

double Idleness::seconds(double used) {
  constexpr double kBusy = 0.05;  // of a processor; to wait takes less
  const auto now = Clock::now();
  const double passed = std::chrono::duration<double>(now - looked_).count();
  if (passed > 1) {  // nobody has asked for a while: this is another wait
    since_ = looked_ = now;
    used_ = used;
  } else if (passed > 0.25) {
    if (used - used_ > kBusy * passed) since_ = now;
    looked_ = now;
    used_ = used;
  }
  return std::chrono::duration<double>(now - since_).count();
}

ncclResult_t make_communicators(const char* call, const std::vector<NcclSeat>& seats,
                                bool is_grouped) {
  std::vector<Clique*> cliques(seats.size());
  for (std::size_t i = 0; i < seats.size(); ++i) {
    if (const auto error = sit_down(call, seats[i], &cliques[i])) return error;
  }
  for (std::size_t i = 0; i < seats.size(); ++i) {
    if (const auto error = wait_for_all(call, seats[i], cliques[i], is_grouped)) return error;
  }
  return ncclSuccess;
}

void leave(ncclComm* comm) {
  const std::lock_guard<std::mutex> lock(nccl_mutex());
  Clique* const clique = comm->clique;
  comm->is_live = false;
  for (const auto& launch : comm->launches) reach_rendezvous(*launch->done);  // its streams go on
  comm->launches.clear();
  clique->members[static_cast<std::size_t>(comm->rank)] = nullptr;
  clique->board->seat(comm->rank).has_left = true;
  if (std::any_of(clique->members.begin(), clique->members.end(), [](auto* m) { return m; })) {
    return;
  }
  clique->board.reset();
  auto& all = all_cliques();
  all.erase(std::find(all.begin(), all.end(), clique));
}

}  // namespace cuda_cpu
