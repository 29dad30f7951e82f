// SPDX-License-Identifier: MIT
#include "rendezvous.h"

#include <algorithm>
#include <utility>

#include "../../engine/diagnosis/faults.h"
#include "../../engine/memory/memory.h"
#include "../../engine/state/leaving.h"
#include "../../engine/state/observer.h"
#include "../../report/diagnostics.h"
#include "../../report/text.h"
#include "../../runtime/errors.h"
#include "../../runtime/rendezvous.h"
#include "buffers.h"

namespace cuda_cpu {
namespace {

std::atomic<int> callers{0};

Site site_of(const Post& post) { return {intern(post.file), post.line}; }

/// What a rank's device has come to and not finished; null where there is nothing.
NcclLaunch* current_launch(const ncclComm* comm) {
  if (comm == nullptr || comm->launches.empty()) return nullptr;
  NcclLaunch* const first = comm->launches.front().get();
  return first->streams_to_come == 0 ? first : nullptr;
}

/// Calls use(member, operation) for all that the devices of this process have come to and not done.
template <class Use>
void for_each_operation(Clique& clique, Use use) {
  for (ncclComm* const comm : clique.members) {
    NcclLaunch* const launch = current_launch(comm);
    if (launch == nullptr) continue;
    for (NcclOperation& operation : launch->operations) {
      if (!operation.is_done) use(*comm, operation);
    }
  }
}

// ---- coming

/// A place on the board for the operation; null while there is none.
Post* place_for(Clique& clique, const ncclComm& comm, const NcclOperation& operation) {
  Board& board = *clique.board;
  Seat& seat = board.seat(comm.rank);
  if (!operation.terms.is_collective()) {
    const auto is_free = [](const Post& post) { return post.state == Post::kFree; };
    Post* const found = std::find_if(std::begin(seat.transfer), std::end(seat.transfer), is_free);
    return found != std::end(seat.transfer) ? found : nullptr;
  }
  const std::uint64_t number = seat.collectives;
  for (int rank = 0; rank < clique.ranks; ++rank) {
    if (number >= board.seat(rank).finished + kCollectivesKept) return nullptr;
  }
  return &seat.collective[number % kCollectivesKept];
}

bool post(Clique& clique, ncclComm& comm, NcclOperation* it) {
  Post* const place = place_for(clique, comm, *it);
  if (place == nullptr) return false;
  Seat& seat = clique.board->seat(comm.rank);
  const NcclTerms& terms = it->terms;
  place->terms = terms;
  place->data = it->from;
  place->line = it->site.line;
  std::snprintf(place->file, sizeof place->file, "%s", it->site.file);
  if (!clique.is_within_process) {
    const OpenAllocation open(it->from);
    if (!clique.board->write(comm.rank, place, terms.bytes_read(comm.rank, clique.ranks))) {
      stop_clique(&clique, ncclSystemError,
                  report_here(format("%s: no room in the temporary folder, through which processes "
                                     "exchange data",
                                     name_of(terms.call)),
                              it->site, cudaErrorOperatingSystem));
      return false;
    }
  }
  place->number = seat.collectives;
  if (!terms.is_collective()) {
    place->number = (terms.call == NcclCall::kSend ? comm.sent : comm.received)[terms.root]++;
  }
  place->state = Post::kPosted;
  if (terms.is_collective()) ++seat.collectives;
  ++seat.come;
  it->post = place;
  return true;
}

// ---- meeting

/// The bytes that a rank gives, kept in `copy` if they come from another process.
const char* given(const Clique& clique, int rank, const Post& post, std::string* copy) {
  const std::size_t bytes = post.terms.bytes_read(rank, clique.ranks);
  if (bytes == 0) return nullptr;
  if (clique.board->is_here(rank)) return static_cast<const char*>(post.data);
  *copy = clique.board->read(post, bytes);
  return copy->data();
}

void give(void* to, const char* data, std::size_t bytes) {
  const OpenAllocation open(to);
  // The race detector sees the program's memcpy, and hears of this copy in the rank's own stream.
  const void* fault = nullptr;
  if (bytes != 0) guarded_copy(to, data, bytes, &fault);
}

/// The posts of all ranks for the next collective; empty while one is missing.
std::vector<const Post*> next_collective(const Clique& clique) {
  std::vector<const Post*> posts;
  for (int rank = 0; rank < clique.ranks; ++rank) {
    const Seat& seat = clique.board->seat(rank);
    if (seat.collectives <= clique.collectives) return {};
    posts.push_back(&seat.collective[clique.collectives % kCollectivesKept]);
  }
  return posts;
}

Report::Note note_of(int rank, const Post& post) {
  return {site_of(post), format("rank %d: %s", rank, text_of(post.terms).c_str())};
}

bool do_collective(Clique* clique) {
  const std::vector<const Post*> posts = next_collective(*clique);
  if (posts.empty()) return false;
  for (int rank = 1; rank < clique->ranks; ++rank) {
    const Post& first = *posts[0];
    const Post& other = *posts[static_cast<std::size_t>(rank)];
    const std::string what = difference(first.terms, other.terms);
    if (what.empty()) continue;
    Report it;
    it.headline =
        format("%s of rank %d does not match that of rank 0", name_of(other.terms.call), rank);
    if (first.terms.call != other.terms.call) {
      it.headline = format("rank %d calls %s where rank 0 calls %s", rank,
                           name_of(other.terms.call), name_of(first.terms.call));
    }
    it.site = site_of(other);
    it.details = {"they differ in " + difference(other.terms, first.terms)};
    for (int one = 0; one < clique->ranks; ++one) {
      it.notes.push_back(note_of(one, *posts[static_cast<std::size_t>(one)]));
    }
    it.help = "all ranks call the same collectives in the same order, with the same arguments";
    it.cuda_error = cudaErrorLaunchFailure;
    stop_clique(clique, ncclInvalidUsage, it);
    return false;
  }
  std::vector<std::unique_ptr<OpenAllocation>> open;
  std::vector<std::string> copies(posts.size());
  std::vector<const char*> inputs;
  for (std::size_t rank = 0; rank < posts.size(); ++rank) {
    inputs.push_back(given(*clique, static_cast<int>(rank), *posts[rank], &copies[rank]));
    if (clique->knows(static_cast<int>(rank))) {
      open.push_back(std::make_unique<OpenAllocation>(inputs.back()));
    }
  }
  // All results first: a buffer may be both.
  std::vector<std::string> results(posts.size());
  const auto is_next = [&](const ncclComm& comm, const NcclOperation& operation) {
    return operation.post == posts[static_cast<std::size_t>(comm.rank)];
  };
  for_each_operation(*clique, [&](ncclComm& comm, NcclOperation& operation) {
    if (!is_next(comm, operation)) return;
    results[static_cast<std::size_t>(comm.rank)] = result_of(operation.terms, comm.rank, inputs);
  });
  for_each_operation(*clique, [&](ncclComm& comm, NcclOperation& operation) {
    if (!is_next(comm, operation)) return;
    const std::string& result = results[static_cast<std::size_t>(comm.rank)];
    give(operation.to, result.data(), result.size());
    operation.is_done = true;
    ++clique->board->seat(comm.rank).finished;
  });
  ++clique->collectives;
  return true;
}

/// What a rank has sent that this receives; null while it has not come.
Post* sent_to(const Clique& clique, const ncclComm& comm, const NcclOperation& receive) {
  for (Post& post : clique.board->seat(receive.terms.root).transfer) {
    if (post.state == Post::kPosted && post.terms.call == NcclCall::kSend &&
        post.terms.root == comm.rank && post.number == receive.post->number) {
      return &post;
    }
  }
  return nullptr;
}

/// A send that was taken is done, and a receive that finds what was sent.
bool do_transfer(Clique* clique, ncclComm& comm, NcclOperation* it) {
  if (it->terms.call == NcclCall::kReceive) {
    Post* const sent = sent_to(*clique, comm, *it);
    if (sent == nullptr) return false;
    const std::string what = difference(it->terms, sent->terms);
    if (!what.empty()) {
      Report r;
      r.headline = format("ncclRecv of rank %d does not match ncclSend of rank %d", comm.rank,
                          it->terms.root);
      r.site = it->site;
      r.details = {"they differ in " + what};
      r.notes = {note_of(it->terms.root, *sent), note_of(comm.rank, *it->post)};
      r.help = "between two ranks, sends and receives match in the order in which they are called";
      r.cuda_error = cudaErrorLaunchFailure;
      stop_clique(clique, ncclInvalidUsage, r);
      return false;
    }
    std::string copy;
    const char* const data = given(*clique, it->terms.root, *sent, &copy);
    const OpenAllocation open(data);
    give(it->to, data, it->terms.bytes_written(comm.rank, clique->ranks));
    sent->state = Post::kTaken;
  } else if (it->post->state != Post::kTaken) {
    return false;
  }
  it->post->state = Post::kFree;
  it->is_done = true;
  return true;
}

/// One step of a clique; false when nothing can go on.
bool step(Clique* clique) {
  bool moves = false;
  for (ncclComm* const comm : clique->members) {
    NcclLaunch* const launch = current_launch(comm);
    if (comm == nullptr) continue;
    clique->board->seat(comm->rank).waits = launch != nullptr;
    if (launch == nullptr) continue;
    bool is_done = true;
    for (NcclOperation& operation : launch->operations) {
      if (operation.post == nullptr && !post(*clique, *comm, &operation)) break;
    }
    for (NcclOperation& operation : launch->operations) {
      if (!operation.is_done && operation.post != nullptr && !operation.terms.is_collective()) {
        moves = do_transfer(clique, *comm, &operation) || moves;
        if (clique->error != ncclSuccess) return false;
      }
      is_done = is_done && operation.is_done;
    }
    if (!is_done) continue;
    reach_rendezvous(*launch->done);
    comm->launches.pop_front();
    moves = true;
  }
  return do_collective(clique) || moves;
}

/// Lets all go on as far as they can; the caller holds nccl_mutex().
bool step_all() {
  bool moved = false;
  for (Clique* const clique : all_cliques()) {
    ++clique->looks;
    while (clique->error == ncclSuccess && step(clique)) {
      moved = true;
      clique->doubted_at = 0;
      clique->idleness = Idleness{};
    }
  }
  return moved;
}

bool proceed() {
  const std::lock_guard<std::mutex> lock(nccl_mutex());
  return step_all();
}

// ---- missing

/// What one rank does that does not come: for a detail, or with a line for a note.
Report::Note excuse_of(const Clique& clique, int rank) {
  const Board& board = *clique.board;
  const Seat& seat = board.seat(rank);
  for (const Post& post : seat.transfer) {
    if (seat.waits && post.state == Post::kPosted) {
      return {site_of(post), format("rank %d waits in %s", rank, text_of(post.terms).c_str())};
    }
  }
  if (seat.waits && seat.collectives > seat.finished) {
    const Post& post = seat.collective[seat.finished % kCollectivesKept];
    return {site_of(post), format("rank %d waits in %s", rank, text_of(post.terms).c_str())};
  }
  std::string text = format("rank %d has called nothing more", rank);
  if (seat.called > seat.come) {
    text = format("rank %d has called NCCL, and its stream does not come to that", rank);
  }
  if (!board.is_alive(rank)) text = format("the process of rank %d has ended", rank);
  if (seat.has_left) text = format("rank %d has left the communicator", rank);
  if (seat.collectives == 0) return {{nullptr, 0}, text};
  const Post& last = seat.collective[(seat.collectives - 1) % kCollectivesKept];
  return {site_of(last), text + "; its last collective was " + text_of(last.terms)};
}

/// The ranks that do not come to what an operation waits for.
std::vector<int> missing_for(const Clique& clique, const ncclComm& comm,
                             const NcclOperation& operation) {
  if (!operation.terms.is_collective()) return {operation.terms.root};
  std::vector<int> missing;
  for (int rank = 0; rank < clique.ranks; ++rank) {
    if (rank != comm.rank && clique.board->seat(rank).collectives <= clique.collectives) {
      missing.push_back(rank);
    }
  }
  return missing;
}

void report_missing(Clique* clique, const ncclComm& comm, const NcclOperation& operation,
                    const std::vector<int>& missing) {
  Report it;
  std::vector<unsigned> ranks(missing.begin(), missing.end());
  const char* const call = name_of(operation.terms.call);
  it.headline = format("%s of rank %d waits for rank%s %s", call, comm.rank,
                       ranks.size() == 1 ? "" : "s", ranges_text(ranks).c_str());
  it.site = operation.site;
  it.details = {format("rank %d: %s", comm.rank, text_of(operation.terms).c_str())};
  bool is_dead = false;
  for (const int rank : missing) {
    const Report::Note excuse = excuse_of(*clique, rank);
    is_dead = is_dead || !clique->board->is_alive(rank);
    if (excuse.site.file == nullptr) {
      it.details.push_back(excuse.text);
    } else {
      it.notes.push_back(excuse);
    }
  }
  it.help = operation.terms.is_collective()
                ? "every rank calls each collective, in the same order; one thread that has "
                  "several devices does so between ncclGroupStart and ncclGroupEnd"
                : "each send needs a receive on the other rank; those that wait for each other "
                  "belong between ncclGroupStart and ncclGroupEnd";
  if (is_dead) it.help = "";
  it.cuda_error = cudaErrorLaunchTimeout;
  stop_clique(clique, is_dead ? ncclRemoteError : ncclInternalError, it);
}

/// Those whose process has ended, or which have left the communicator.
std::vector<int> gone_of(const Clique& clique, std::vector<int> ranks) {
  const auto is_there = [&](int rank) {
    return clique.board->is_alive(rank) && !clique.board->seat(rank).has_left;
  };
  ranks.erase(std::remove_if(ranks.begin(), ranks.end(), is_there), ranks.end());
  return ranks;
}

/// Whether all ranks that this one waits for wait, too, and so do all that those wait for.
bool is_in_circle(const Clique& clique, const ncclComm& comm) {
  std::vector<int> all = {comm.rank};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ncclComm* const one = clique.members[static_cast<std::size_t>(all[i])];
    const NcclLaunch* const launch = current_launch(one);
    if (launch == nullptr) return false;
    bool lacks_somebody = false;  // others may have come since it was asked
    for (const NcclOperation& it : launch->operations) {
      if (it.is_done) continue;
      for (const int rank : missing_for(clique, *one, it)) {
        lacks_somebody = true;
        if (std::find(all.begin(), all.end(), rank) == all.end()) all.push_back(rank);
      }
    }
    if (!lacks_somebody) return false;
  }
  return true;
}

/// Whether ranks wait for each other, or nobody has done anything for too long.
bool is_in_vain(Clique* clique, const ncclComm& comm, const std::vector<int>& missing) {
  if (is_in_circle(*clique, comm)) return true;
  const Board& board = *clique->board;
  double used = 0;
  for (const int rank : missing) {
    if (!board.seat(rank).waits) used += board.seconds_used(rank);
  }
  const double patience = nccl_patience(clique->is_within_process && callers == 1);
  const double idle = clique->idleness.seconds(used);
  return patience > 0 && idle > patience;
}

/// Nothing that the host waits for can go on: lets others do something, or reports.
void wait(const Moment& awaited, double waited) {
  const double pause = std::min(20e-3, 50e-6 + waited / 20);
  std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  const std::lock_guard<std::mutex> lock(nccl_mutex());
  if (is_done(awaited)) return;  // meanwhile, and its communicator may be gone
  auto* const clique = static_cast<Clique*>(const_cast<void*>(awaited.rendezvous));
  if (clique->error != ncclSuccess || clique->board == nullptr) {
    set_sticky_error(cudaErrorLaunchFailure);
    return;
  }
  const bool others_stop = (*clique->board)->reporter != 0;  // another process has reported
  bool is_first = true;
  for (ncclComm* const comm : clique->members) {
    const NcclLaunch* const launch = current_launch(comm);
    if (launch == nullptr) continue;
    const auto waits = [](const NcclOperation& it) { return !it.is_done && it.post != nullptr; };
    const auto first = std::find_if(launch->operations.begin(), launch->operations.end(), waits);
    if (first == launch->operations.end()) continue;
    if (others_stop) {
      stop_clique(clique, ncclRemoteError, {});
      return;
    }
    std::vector<int> missing = missing_for(*clique, *comm, *first);
    const std::vector<int> gone = gone_of(*clique, missing);
    if (!gone.empty()) {  // what they did at last may not have been seen yet
      if (clique->doubted_at == 0) clique->doubted_at = clique->looks;
      if (clique->doubted_at == clique->looks) return;
      missing = gone;
    }
    if (!gone.empty() || (is_first && !missing.empty() && is_in_vain(clique, *comm, missing))) {
      report_missing(clique, *comm, *first, missing);
      return;
    }
    is_first = false;
  }
}

__attribute__((constructor(101))) void tell_the_runtime() {
  rendezvous_rules.proceed = proceed;
  rendezvous_rules.wait = wait;
}

}  // namespace

void count_caller() {
  thread_local bool is_counted = false;
  if (!is_counted) ++callers;
  is_counted = true;
}

int stop_clique(Clique* clique, ncclResult_t result, Report it) {
  const int reporter = clique->board->report_as(clique->rank_here());
  clique->error = result;
  if (!clique->board->is_here(reporter)) {
    it = report_here(format("rank %d stops, for rank %d has reported what is wrong",
                            clique->rank_here(), reporter),
                     {nullptr, 0}, cudaErrorLaunchFailure);
    clique->error = ncclRemoteError;
  }
  return report(it);
}

int come_to(ncclComm* comm, const std::shared_ptr<NcclLaunch>& launch, const CUstream_st* stream) {
  if (!comm->is_live) return 0;  // aborted
  for (const NcclOperation& it : launch->operations) {
    if (it.stream != stream) continue;
    Report fault = fault_of(*comm, it);  // freed since?
    if (!fault.headline.empty()) {
      const std::lock_guard<std::mutex> lock(nccl_mutex());
      return stop_clique(comm->clique, ncclInvalidUsage, fault);
    }
    const int ranks = comm->clique->ranks;
    tell_of_range(it.from, it.terms.bytes_read(comm->rank, ranks), false, name_of(it.terms.call),
                  it.site);
  }
  // One who looks in between would see all ranks come and none of them done: a circle.
  const std::lock_guard<std::mutex> lock(nccl_mutex());
  --launch->streams_to_come;
  step_all();
  return 0;
}

}  // namespace cuda_cpu
