// SPDX-License-Identifier: MIT
// What a thread calls is kept until its group ends, and a call outside of a group is a group of
// its own. Then each rank's part is put on its streams, as two pieces of work: one comes to the
// rendezvous, and the other waits for its end.
#include "calls.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <utility>

#include "../../engine/state/observer.h"
#include "../../report/diagnostics.h"
#include "../../runtime/capture.h"
#include "../../runtime/contexts.h"
#include "../../runtime/errors.h"
#include "../../runtime/handles.h"
#include "../../runtime/rendezvous.h"
#include "buffers.h"
#include "rendezvous.h"

namespace cuda_cpu {
namespace {

// Their bytes, once for each rank, are a size.
constexpr std::size_t kMostElements = ~std::size_t{0} / sizeof(double) / kMaxRanks;

/// A call with the rank that it is for.
struct Called {
  ncclComm* comm;
  NcclOperation operation;
};

/// Of a host thread.
struct Group {
  int depth = 0;
  Site begin{nullptr, 0};
  ncclResult_t error = ncclSuccess;
  std::vector<NcclSeat> seats;
  std::vector<Called> calls;

  ~Group() {
    if (depth == 0) return;
    refuse(begin, ncclInvalidUsage, "ncclGroupStart without ncclGroupEnd",
           {format("%zu calls of the group were never made", seats.size() + calls.size())});
  }
};
thread_local Group group;

thread_local std::string last_error;

/// Success, or why the call cannot be made.
ncclResult_t begin_nccl_call(const char* call, ncclComm_t comm, Site site) {
  if (begin_call() != 0) return ncclUnhandledCudaError;
  const bool is_known = handles<ncclComm>().has(comm);
  if (is_known && comm->is_live) return ncclSuccess;
  const char* const what = comm == nullptr ? "the communicator is a null pointer"
                           : is_known      ? "the communicator was destroyed"
                                           : "the communicator comes from no call that makes one";
  return refuse(site, ncclInvalidArgument, format("%s: %s", call, what));
}

/// Reads one property of a communicator for the program.
ncclResult_t get(const char* call, ncclComm_t comm, Site site, int* to, int value_of(ncclComm_t)) {
  if (const auto error = begin_nccl_call(call, comm, site)) return error;
  if (to == nullptr) return ncclInvalidArgument;
  *to = value_of(comm);
  return ncclSuccess;
}

/// While it lives, a device is the current one.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) : before_(current_device()), is_other_(device != before_) {
    if (is_other_) context_rules.choose_primary(device);
  }
  ~CurrentDevice() {
    if (is_other_) context_rules.choose_primary(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_;
  bool is_other_;
};

/// The stream of a call; the default one is that of the rank's device.
CUstream_st* stream_of(const ncclComm& comm, cudaStream_t handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) > 2) return find_stream(handle);
  const CurrentDevice device(comm.device);
  return find_stream(handle);
}

ncclResult_t check_call(const ncclComm& comm, NcclOperation* it) {
  const NcclTerms& terms = it->terms;
  const char* const call = name_of(terms.call);
  const int ranks = comm.clique->ranks;
  const std::string of_rank = format("%s of rank %d: ", call, comm.rank);
  const bool has_root = !terms.is_collective() || terms.call == NcclCall::kReduce ||
                        terms.call == NcclCall::kBroadcast;
  if (comm.is_finalized || comm.clique->error != ncclSuccess) {
    return refuse(it->site, ncclInvalidUsage,
                  of_rank + (comm.is_finalized ? "the communicator was finalized"
                                               : "the communicator has failed before"));
  }
  if (has_root && (terms.root < 0 || terms.root >= ranks)) {
    return refuse(it->site, ncclInvalidArgument,
                  of_rank + format("there is no rank %d", terms.root),
                  {format("the ranks are 0 to %d", ranks - 1)});
  }
  if (!is_known(terms.type)) {
    return refuse(it->site, ncclInvalidArgument,
                  of_rank + format("there is no type %d", static_cast<int>(terms.type)));
  }
  if (terms.count > kMostElements) {
    return refuse(it->site, ncclInvalidArgument, of_rank + format("%zu elements", terms.count), {},
                  "is a number negative that became a size?");
  }
  if (terms.op < ncclSum || terms.op > ncclNumOps) {
    return refuse(it->site, ncclInvalidArgument,
                  of_rank + format("there is no operation %d", static_cast<int>(terms.op)));
  }
  CUstream_st* const stream = stream_of(comm, it->stream);
  if (stream == nullptr) {
    return refuse(it->site, ncclInvalidArgument, of_rank + "there is no such stream");
  }
  if (stream->device != comm.device) {
    return refuse(it->site, ncclUnhandledCudaError,
                  of_rank + format("the stream belongs to device %d, and the rank is on device %d",
                                   stream->device, comm.device),
                  {}, format("cudaSetDevice(%d) before cudaStreamCreate", comm.device));
  }
  if (is_captured(stream)) {
    finish(capture_rules.unsupported(stream, call));
    return ncclUnhandledCudaError;
  }
  it->stream = stream;
  const Report fault = fault_of(comm, *it);
  if (fault.headline.empty()) return ncclSuccess;
  misuse(it->site, cudaSuccess, fault.headline, fault.details, fault.notes, fault.help);
  last_error = fault.headline;
  return ncclInvalidArgument;
}

/// One thread that calls for several ranks, and not in a group, may wait in the first call for
/// ever.
ncclResult_t check_group(ncclComm* comm, const NcclOperation& it) {
  for (const ncclComm* const other : comm->clique->members) {
    if (other == nullptr || other == comm || other->launches.empty()) continue;
    const NcclLaunch& waiting = *other->launches.back();
    if (waiting.is_grouped || waiting.thread != std::this_thread::get_id()) continue;
    const NcclOperation& first = waiting.operations.front();
    Report r;
    r.headline =
        format("%s of rank %d outside of a group, by the thread that calls for rank %d, too",
               name_of(it.terms.call), comm->rank, other->rank);
    r.site = it.site;
    r.details = {"a call may wait until all ranks have come, and then this one is never made"};
    r.notes = {{first.site, format("rank %d: %s", other->rank, text_of(first.terms).c_str())}};
    r.help = "put the calls for all ranks of a thread between ncclGroupStart and ncclGroupEnd";
    r.cuda_error = cudaErrorLaunchTimeout;
    stop_clique(comm->clique, ncclInvalidUsage, r);
    return ncclInvalidUsage;
  }
  return ncclSuccess;
}

/// A rank sends to itself what it receives in the same group.
ncclResult_t check_sends_to_itself(const ncclComm& comm, const NcclLaunch& launch) {
  const auto count = [&](NcclCall call) {
    return std::count_if(launch.operations.begin(), launch.operations.end(), [&](const auto& it) {
      return it.terms.call == call && it.terms.root == comm.rank;
    });
  };
  if (count(NcclCall::kSend) == count(NcclCall::kReceive)) return ncclSuccess;
  return refuse(
      launch.operations.front().site, ncclInvalidUsage,
      format("rank %d sends to itself without a receive, or receives without a send", comm.rank),
      {}, "put both between the same ncclGroupStart and ncclGroupEnd");
}

/// One rank's part of a group.
struct OfRank {
  ncclComm* comm;
  std::shared_ptr<NcclLaunch> launch;
};

/// Work that stands for the first call in a stream.
Work work_of(const NcclLaunch& launch, const CUstream_st* stream) {
  const auto first = std::find_if(launch.operations.begin(), launch.operations.end(),
                                  [&](const auto& it) { return it.stream == stream; });
  Work work;
  work.label = {name_of(first->terms.call), first->site};
  work.needs_device_memory = false;
  return work;
}

/// The streams come to the rendezvous, each after what the rank's launch before did in others.
int submit_coming(const OfRank& it) {
  for (CUstream_st* const stream : it.launch->streams) {
    for (const std::shared_ptr<Moment>& before : it.comm->last) {
      Work wait = work_of(*it.launch, stream);
      wait.after = before;
      if (const int error = submit(stream, std::move(wait))) return error;
    }
    Work work = work_of(*it.launch, stream);
    work.rendezvous = it.comm->clique;
    work.is_awaited_elsewhere = !it.comm->clique->is_within_process;
    work.run = [it, stream] { return come_to(it.comm, it.launch, stream); };
    if (const int error = submit(stream, std::move(work))) return error;
  }
  return 0;
}

/// The streams go on when all is done.
int submit_going_on(const OfRank& it) {
  it.comm->last.clear();
  for (CUstream_st* const stream : it.launch->streams) {
    Work work = work_of(*it.launch, stream);
    work.after = it.launch->done;
    work.marks = it.comm->last.emplace_back(std::make_shared<Moment>());
    if (observer != nullptr) {
      work.run = [it, stream] {
        const int rank = it.comm->rank, ranks = it.comm->clique->ranks;
        for (const NcclOperation& one : it.launch->operations) {
          if (one.stream != stream) continue;
          tell_of_range(one.to, one.terms.bytes_written(rank, ranks), true, name_of(one.terms.call),
                        one.site);
        }
        return 0;
      };
    }
    if (const int error = submit(stream, std::move(work))) return error;
  }
  return 0;
}

ncclResult_t launch_all(std::vector<Called> calls, bool is_grouped) {
  std::vector<OfRank> ranks;
  for (Called& one : calls) {
    const auto is_its = [&](const OfRank& it) { return it.comm == one.comm; };
    auto found = std::find_if(ranks.begin(), ranks.end(), is_its);
    if (found == ranks.end()) {
      found = ranks.insert(ranks.end(), {one.comm, std::make_shared<NcclLaunch>()});
    }
    auto& streams = found->launch->streams;
    if (std::find(streams.begin(), streams.end(), one.operation.stream) == streams.end()) {
      streams.push_back(one.operation.stream);
    }
    found->launch->operations.push_back(std::move(one.operation));
  }
  count_caller();
  {
    const std::lock_guard<std::mutex> lock(nccl_mutex());
    for (OfRank& it : ranks) {
      NcclLaunch& launch = *it.launch;
      if (const auto error = check_sends_to_itself(*it.comm, launch)) return error;
      if (!is_grouped) {
        if (const auto error = check_group(it.comm, launch.operations.front())) return error;
      }
      launch.is_grouped = is_grouped;
      launch.thread = std::this_thread::get_id();
      launch.streams_to_come = launch.streams.size();
      launch.done->rendezvous = it.comm->clique;
      it.comm->launches.push_back(it.launch);
      it.comm->clique->board->seat(it.comm->rank).called += launch.operations.size();
    }
  }
  int error = 0;
  for (OfRank& it : ranks) {
    if (error == 0) error = submit_coming(it);
  }
  // What comes after the rendezvous comes after what all ranks of the group did before.
  for (OfRank& it : ranks) {
    for (const OfRank& other : ranks) {
      if (other.comm->clique != it.comm->clique) continue;
      for (const CUstream_st* const stream : other.launch->streams) {
        it.launch->done->ended.learn(stream->ended);
      }
    }
  }
  for (OfRank& it : ranks) {
    if (error == 0) error = submit_going_on(it);
  }
  return error == 0 ? ncclSuccess : ncclUnhandledCudaError;
}

/// What every operation comes to.
ncclResult_t call(ncclComm_t comm, NcclOperation it) {
  ncclResult_t error = begin_nccl_call(name_of(it.terms.call), comm, it.site);
  if (error == ncclSuccess) error = check_call(*comm, &it);
  if (error != ncclSuccess) {
    if (group.depth > 0 && group.error == ncclSuccess) group.error = error;
    return error;
  }
  if (group.depth > 0) {
    group.calls.push_back({comm, std::move(it)});
    return ncclSuccess;
  }
  return launch_all({{comm, std::move(it)}}, false);
}

/// Waits until the device has done what was called.
ncclResult_t finish_all(ncclComm* comm) {
  for (;;) {
    std::shared_ptr<NcclLaunch> first;
    {
      const std::lock_guard<std::mutex> lock(nccl_mutex());
      if (comm->launches.empty() || comm->clique->error != ncclSuccess) return ncclSuccess;
      first = comm->launches.front();
    }
    for (CUstream_st* const stream : first->streams) {
      if (run_stream(stream) != 0) return ncclUnhandledCudaError;
    }
    if (!first->done->done) return ncclSuccess;  // its stream is gone
  }
}

}  // namespace

ncclResult_t refuse(Site site, ncclResult_t result, const std::string& headline,
                    std::vector<std::string> details, const std::string& help) {
  last_error = headline;
  details.push_back(std::string("it returns '") + ncclGetErrorString(result) + "'");
  misuse(site, cudaSuccess, headline, std::move(details), {}, help);
  return result;
}

}  // namespace cuda_cpu

using namespace cuda_cpu;

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

// The texts are what the library of that version prints.
const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

const char* ncclGetLastError(ncclComm_t) { return last_error.c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (begin_call() != 0) return ncclUnhandledCudaError;
  if (id == nullptr) return ncclInvalidArgument;
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "%s", new_board_name().c_str());
  return ncclSuccess;
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices, Site site) {
  if (begin_call() != 0) return ncclUnhandledCudaError;
  if (comms == nullptr || count < 1 || count > device_count()) {
    return refuse(
        site, ncclInvalidArgument,
        format("ncclCommInitAll of %d ranks, and there %s %d device%s", count,
               device_count() == 1 ? "is" : "are", device_count(), device_count() == 1 ? "" : "s"),
        {}, "CUDA_CPU_DEVICES says how many there are");
  }
  static std::atomic<int> made{0};
  NcclSeat seat{comms, count, 0, 0, {}, site};
  std::snprintf(seat.id.internal, sizeof seat.id.internal, "within the process %d", ++made);
  std::vector<NcclSeat> seats;
  for (; seat.rank < count; ++seat.rank, ++seat.to) {
    seat.device = devices != nullptr ? devices[seat.rank] : seat.rank;
    if (!is_device(seat.device)) {
      return refuse(site, ncclInvalidArgument,
                    format("ncclCommInitAll: there is no device %d", seat.device));
    }
    seats.push_back(seat);
  }
  return make_communicators("ncclCommInitAll", seats, true);
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, Site site) {
  if (begin_call() != 0) return ncclUnhandledCudaError;
  id.internal[sizeof id.internal - 1] = '\0';
  ncclResult_t error = ncclSuccess;
  if (comm == nullptr || ranks < 1 || ranks > kMaxRanks || rank < 0 || rank >= ranks) {
    error =
        refuse(site, ncclInvalidArgument, format("ncclCommInitRank as rank %d of %d", rank, ranks),
               {format("the CPU backend has up to %d ranks, and they count from 0", kMaxRanks)});
  } else if (!is_board_name(id.internal)) {
    error =
        refuse(site, ncclInvalidArgument,
               format("ncclCommInitRank of rank %d: the id comes from no ncclGetUniqueId", rank),
               {}, "one rank calls ncclGetUniqueId and gives all bytes of the id to the others");
  }
  const NcclSeat seat{comm, ranks, rank, current_device(), id, site};
  if (group.depth == 0) {
    return error != ncclSuccess ? error : make_communicators("ncclCommInitRank", {seat}, false);
  }
  if (error != ncclSuccess) return group.error = error;
  group.seats.push_back(seat);
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm, Site site) {
  if (const auto error = begin_nccl_call("ncclCommFinalize", comm, site)) return error;
  comm->is_finalized = true;
  return finish_all(comm);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm, Site site) {
  if (comm == nullptr) return ncclSuccess;
  if (handles<ncclComm>().has(comm) && comm->is_live && comm->clique->error != ncclSuccess) {
    leave(comm);
    return ncclSuccess;
  }
  if (const auto error = begin_nccl_call("ncclCommDestroy", comm, site)) return error;
  const ncclResult_t result = finish_all(comm);
  leave(comm);
  return result;
}

ncclResult_t ncclCommAbort(ncclComm_t comm, Site site) {
  if (comm == nullptr) return ncclSuccess;
  if (!handles<ncclComm>().has(comm) || !comm->is_live) {
    return begin_nccl_call("ncclCommAbort", comm, site);
  }
  leave(comm);
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error, Site site) {
  if (!handles<ncclComm>().has(comm) || !comm->is_live) {
    return begin_nccl_call("ncclCommGetAsyncError", comm, site);
  }
  if (error == nullptr) return ncclInvalidArgument;
  *error = comm->clique->error;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count, Site site) {
  return get("ncclCommCount", comm, site, count, [](ncclComm_t c) { return c->clique->ranks; });
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device, Site site) {
  return get("ncclCommCuDevice", comm, site, device, [](ncclComm_t c) { return c->device; });
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank, Site site) {
  return get("ncclCommUserRank", comm, site, rank, [](ncclComm_t c) { return c->rank; });
}

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream, Site site) {
  return call(comm,
              {{NcclCall::kAllReduce, count, type, op, -1}, sendbuff, recvbuff, stream, site});
}

ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream, Site site) {
  return call(comm, {{NcclCall::kReduce, count, type, op, root}, sendbuff, recvbuff, stream, site});
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream, Site site) {
  return call(
      comm,
      {{NcclCall::kBroadcast, count, type, ncclNumOps, root}, sendbuff, recvbuff, stream, site});
}

ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream, Site site) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream, site);
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                           ncclDataType_t type, ncclComm_t comm, cudaStream_t stream, Site site) {
  return call(
      comm,
      {{NcclCall::kAllGather, sendcount, type, ncclNumOps, -1}, sendbuff, recvbuff, stream, site});
}

ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream, Site site) {
  return call(
      comm,
      {{NcclCall::kReduceScatter, recvcount, type, op, -1}, sendbuff, recvbuff, stream, site});
}

ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream, Site site) {
  return call(comm,
              {{NcclCall::kSend, count, type, ncclNumOps, peer}, sendbuff, nullptr, stream, site});
}

ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream, Site site) {
  return call(
      comm, {{NcclCall::kReceive, count, type, ncclNumOps, peer}, nullptr, recvbuff, stream, site});
}

ncclResult_t ncclGroupStart(Site site) {
  if (group.depth++ == 0) group.begin = site;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd(Site site) {
  if (group.depth == 0) {
    return refuse(site, ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  }
  if (--group.depth > 0) return ncclSuccess;
  const std::vector<NcclSeat> seats = std::move(group.seats);
  std::vector<Called> calls = std::move(group.calls);
  ncclResult_t error = std::exchange(group.error, ncclSuccess);
  group.seats.clear();
  group.calls.clear();
  if (error == ncclSuccess) error = make_communicators("ncclCommInitRank", seats, true);
  if (error != ncclSuccess || calls.empty()) return error;
  return begin_call() != 0 ? ncclUnhandledCudaError : launch_all(std::move(calls), true);
}
