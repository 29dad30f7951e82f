// SPDX-License-Identifier: MIT
// Streams and what waits in them. They are lazy queues: work is put in order at the call and runs
// when something waits for it. So a result that is read too early is missing every time. A host
// that asks for nothing for half a second may be polling what the work will write: then it runs,
// beside the host.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "../engine/memory/memory.h"
#include "../types/site.h"
#include "types.h"

struct CUctx_st;
struct CUgraphNode_st;

namespace cuda_cpu {

struct Capture;
struct GridLaunch;

/// How a note about work that nobody waited for names that work.
struct WorkLabel {
  const char* call = "kernel";  ///< or "cudaMemcpyAsync"
  Site site{nullptr, 0};
  const char* kernel = "";  ///< its name, for a kernel
};

/// Runs everything that has been enqueued; returns the sticky error.
int run_all_streams();

/// Runs everything that has been enqueued for a device (what cudaDeviceSynchronize does).
int run_device(int device);

/// Runs what `stream` needs to be finished.
int run_stream(CUstream_st* stream);

// --- What the calls for streams and events are made of ---

/// Up to where the work of each stream has ended for sure: by the order of a stream, by events, by
/// the default stream, or because the host waited. Sequence numbers count the work of all streams
/// together.
class StreamOrder {
 public:
  void learn(const CUstream_st* stream, std::uint64_t sequence) {
    if (sequence <= all_) return;
    std::uint64_t& known = ended_[stream];
    known = std::max(known, sequence);
  }
  /// The host has waited for everything up to `sequence`.
  void learn_all(std::uint64_t sequence) {
    all_ = std::max(all_, sequence);
    for (auto it = ended_.begin(); it != ended_.end();) {
      it = it->second <= all_ ? ended_.erase(it) : std::next(it);
    }
  }
  void learn(const StreamOrder& other) {
    if (other.all_ > all_) learn_all(other.all_);
    for (const auto& [stream, sequence] : other.ended_) learn(stream, sequence);
  }
  bool covers(const CUstream_st* stream, std::uint64_t sequence) const {
    if (sequence <= all_) return true;
    const auto found = ended_.find(stream);
    return found != ended_.end() && sequence <= found->second;
  }

 private:
  std::uint64_t all_ = 0;
  std::map<const CUstream_st*, std::uint64_t> ended_;
};

/// One cudaEventRecord: a point in a stream's order.
struct Moment {
  CUstream_st* stream = nullptr;
  std::uint64_t sequence = 0;
  bool done = false;
  bool asked = false;  ///< cudaEventQuery said "not ready" once
  std::chrono::steady_clock::time_point time;
  StreamOrder ended;                 ///< what has ended when it is reached
  const void* rendezvous = nullptr;  ///< reached when others have come to that (rendezvous.h)
  // Recorded while its stream was captured: by whom, and after which nodes.
  std::shared_ptr<Capture> capture;
  std::vector<CUgraphNode_st*> captured;
};

/// What a piece of work is as a node of a graph. Other work cannot be captured.
enum class WorkKind { kOther, kKernel, kCopy, kFill, kHostFunction };

/// A piece of work with all that can be said of it.
struct Work {
  std::function<int()> run;
  WorkLabel label;
  WorkKind kind = WorkKind::kOther;
  std::shared_ptr<const GridLaunch> launch;  ///< of a kernel
  std::shared_ptr<void> arguments;           ///< that the launch refers to
  bool needs_device_memory = true;  ///< opened around it; copies open their own allocations
  bool is_host_function = false;
  std::shared_ptr<Moment> after;      ///< runs after this moment (cudaStreamWaitEvent)
  std::shared_ptr<Moment> marks;      ///< this moment is reached when it runs (cudaEventRecord)
  const void* rendezvous = nullptr;   ///< that it comes to
  bool is_awaited_elsewhere = false;  ///< by another process, which cannot say so here

  // submit() fills these in.
  const CUstream_st* stream = nullptr;
  std::uint64_t sequence = 0;
  DeviceSet reachable = 0;  ///< whose memory it may use if it is a kernel
  StreamOrder knows;        ///< what has ended before it begins
  /// What is ahead of it in its stream, if that alone orders the two: a launch that may start early
  /// does so beside it. 0: there is none.
  std::uint64_t ahead = 0;
  std::chrono::steady_clock::time_point submitted;
};

/// The work that runs; null when none does.
const Work* running_work();

// --- The host among the streams, for the race detector alone ---

/// Counts on whenever work is put on a stream: what the host does now comes before the work with a
/// larger sequence number.
std::uint64_t host_time();
/// Lets it count on, for what is ordered in another way.
std::uint64_t host_goes_on();
/// When the host last knew that all work had ended.
std::uint64_t host_caught_up();
/// What the host knows to have ended.
StreamOrder host_knows();
/// The latest work that nobody had waited for when it began: it runs, or has run, beside the host.
std::uint64_t latest_unasked();
/// Calls use() while no work runs. False: some does, nothing was called.
bool when_nothing_runs(const std::function<void()>& use);
/// Work that still runs has told the host of what it did so far.
void host_hears_of(const Work& work);

/// Puts work on a stream (nullptr: the legacy default stream). It returns a CUDA error code, 0 for
/// success; a failure becomes the sticky error. With `wait`, or under CUDA_LAUNCH_BLOCKING=1, it
/// also runs, with all that comes before it. Returns 0, or the error: a stream that does not exist,
/// the sticky error, what a capture refuses.
int submit(CUstream_st* stream, Work work, bool wait = false);

CUstream_st* create_stream(unsigned flags, int priority);

/// False when there is no such stream. Its work still runs when something waits for the device.
bool destroy_stream(CUstream_st* stream);

/// The stream behind a handle (nullptr and the special handles included); nullptr when there is
/// none.
CUstream_st* find_stream(CUstream_st* handle);

/// What cudaStreamQuery says: "not ready" when called for the first time since work was added. Then
/// the work runs.
int query_stream(CUstream_st* stream);

/// Whether what is put on the stream now runs when a graph does, if at all.
bool is_captured(CUstream_st* handle);

bool is_done(const Moment& moment);
int run_until(const Moment& moment);

/// Prints a note about work that nobody waited for (end of the process).
void note_unfinished_work();

/// Ends the streams that the program created for the current device (cudaDeviceReset).
void forget_streams();

/// Ends the streams that were created in a context of a device. Their work has run.
void destroy_streams_of(int device, const CUctx_st* context);

}  // namespace cuda_cpu

/// A cudaStream_t points to this.
struct CUstream_st {
  std::deque<cuda_cpu::Work> queue;
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  CUctx_st* context = nullptr;  ///< that was current when it was created
  int device = 0;               ///< the same
  cudaAccessPolicyWindow window{};
  bool is_default = false;
  bool running = false;
  bool destroyed = false;
  std::uint64_t asked = 0;
  /// When its latest work has ended, as events tell it.
  std::chrono::steady_clock::time_point reached;
  cuda_cpu::StreamOrder ended;  ///< when all its work so far has run
  std::uint64_t latest = 0;     ///< work that was put on it
  bool is_of_graph = false;     ///< nodes of a graph run in it, in a row
  // While it is captured: by whom, and the nodes that the next one depends on.
  std::shared_ptr<cuda_cpu::Capture> capture;
  std::vector<CUgraphNode_st*> captured_last;
  std::vector<cuda_cpu::Work>* recorder = nullptr;  ///< takes what is put on it

  /// Whether it runs in order with the legacy default stream.
  bool is_blocking() const { return !is_default && (flags & 1U) == 0; }
  std::uint64_t last() const { return queue.empty() ? 0 : queue.back().sequence; }
};
