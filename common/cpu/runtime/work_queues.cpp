// SPDX-License-Identifier: MIT
#include "work_queues.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "../engine/diagnosis/faults.h"
#include "../engine/memory/memory.h"
#include "../engine/memory/symbols.h"
#include "../engine/state/device_limits.h"
#include "../engine/state/observer.h"
#include "../engine/state/settings.h"
#include "../report/diagnostics.h"
#include "../types/the_only.h"
#include "capture.h"
#include "contexts.h"
#include "errors.h"
#include "rendezvous.h"

namespace cuda_cpu {
namespace {

// A GPU's queue is finite too: beyond this much waiting work an enqueue runs the older half.
constexpr std::size_t kQueueMax = 1024;
// A host that asks for nothing that long, while work waits, may be waiting for what the work does:
// for a host function, or for a word of mapped memory. Then the work runs beside it, piece by
// piece. A host that was found to wait so for a host function need not be that patient with others.
constexpr auto kHostPatience = std::chrono::microseconds(500000);
constexpr auto kShortPatience = std::chrono::microseconds(500);
constexpr unsigned kLooks = 10;  // in that time

/// Sequence number up to which each stream must have run.
using Need = std::map<const CUstream_st*, std::uint64_t>;

struct AllStreams {
  std::mutex mutex;              // of the queues
  std::recursive_mutex running;  // one OS thread runs work at a time
  CUstream_st default_streams[kMaxDevices];
  std::vector<CUstream_st*> streams;  // all that may hold work; those of the devices come first
  // Every stream that ever existed. A destroyed one stays, so that no other gets its address while
  // the program still holds the handle.
  std::vector<CUstream_st*> created;
  std::atomic<std::uint64_t> sequence{0};
  unsigned long long ids = 1;
  StreamOrder host;  // what the host has waited for, or heard of
  std::atomic<std::uint64_t> host_caught_up{0}, latest_unasked{0};
  const Work* runs = nullptr;
  /// When its latest work would have ended on a device that begins at once: here work waits until
  /// somebody waits for it, and the host goes on meanwhile. Events measure by that.
  std::chrono::steady_clock::time_point reached;
  std::uint64_t asked = 0;  // how often work was put on a stream or waited for
  bool has_onlooker = false;
  bool serves_others = false;  // some work was awaited by another process
  std::uint64_t random = schedule().seed * 2 + 1;

  AllStreams() {
    for (int device = 0; device < device_count(); ++device) {
      CUstream_st& stream = default_streams[device];
      stream.is_default = true;
      stream.device = device;
      streams.push_back(&stream);
    }
  }
};

/// Only the race detector asks for the order of streams.
bool order_is_kept() { return observer != nullptr && observer->range_is_used != nullptr; }

thread_local CUstream_st* thread_streams[kMaxDevices] = {};

std::uint64_t next_choice(AllStreams& s) {
  s.random ^= s.random << 13;
  s.random ^= s.random >> 7;
  s.random ^= s.random << 17;
  return s.random;
}

bool raise_need(Need* need, CUstream_st* stream, std::uint64_t sequence) {
  std::uint64_t& value = (*need)[stream];
  if (value >= sequence) return false;
  value = sequence;
  return true;
}

/// Whether the work of one runs in order with the other's: a device's legacy default stream and a
/// blocking one.
bool are_in_order(const CUstream_st& a, const CUstream_st& b) {
  if (a.device != b.device) return false;
  return a.is_default ? b.is_blocking() : b.is_default && a.is_blocking();
}

/// Whether one who waits for `stream` waits for the work of `other`.
bool is_waited_for(const CUstream_st& other, const CUstream_st& stream) {
  return &other == &stream || (stream.is_default && are_in_order(stream, other));
}

/// The next work of each stream that comes to a rendezvous is needed. True if some was not before.
bool raise_need(AllStreams& s, Need* need, const void* rendezvous) {
  bool changed = false;
  for (CUstream_st* const stream : s.streams) {
    const auto next = std::find_if(stream->queue.begin(), stream->queue.end(),
                                   [&](const Work& one) { return one.rendezvous == rendezvous; });
    if (next != stream->queue.end()) changed = raise_need(need, stream, next->sequence) || changed;
  }
  return changed;
}

/// Adds what the needed work itself depends on. Earlier work of the same stream is implied. There
/// remain events, rendezvous, and streams that run in order. True if anything was added.
bool close_need(AllStreams& s, Need* need) {
  bool any = false;
  for (bool changed = true; changed; any = any || changed) {
    changed = false;
    for (CUstream_st* const stream : s.streams) {
      const std::uint64_t limit = (*need)[stream];
      std::uint64_t last = 0;
      for (const Work& work : stream->queue) {
        if (work.sequence > limit) break;
        last = work.sequence;
        const Moment* const after = work.after.get();
        if (after == nullptr || after->done) continue;
        changed =
            (after->rendezvous != nullptr ? raise_need(s, need, after->rendezvous)
                                          : raise_need(need, after->stream, after->sequence)) ||
            changed;
      }
      if (last == 0) continue;
      for (CUstream_st* const other : s.streams) {
        if (are_in_order(*stream, *other)) changed = raise_need(need, other, last) || changed;
      }
    }
  }
  return any;
}

/// Whether other processes wait for work of this stream.
bool is_awaited_elsewhere(const CUstream_st* stream) {
  return std::any_of(stream->queue.begin(), stream->queue.end(),
                     [](const Work& work) { return work.is_awaited_elsewhere; });
}

bool is_ready(const AllStreams& s, const CUstream_st* stream) {
  const Work& work = stream->queue.front();
  if (work.after != nullptr && !work.after->done) return false;
  return std::none_of(s.streams.begin(), s.streams.end(), [&](const CUstream_st* other) {
    return are_in_order(*stream, *other) && !other->queue.empty() &&
           other->queue.front().sequence < work.sequence;
  });
}

/// The stream whose first piece of work runs next; nullptr when all that is needed has run.
CUstream_st* pick_stream(AllStreams& s, Need& need, bool is_asked_for) {
  std::vector<CUstream_st*> ready;
  bool any_needed = false;
  // The race detector sees no less without.
  const bool eager_others =
      is_asked_for && schedule().kind == Schedule::Kind::kRandom && !order_is_kept();
  for (CUstream_st* const stream : s.streams) {
    if (stream->queue.empty()) continue;
    const bool needed = stream->queue.front().sequence <= need[stream];
    any_needed = any_needed || needed;
    const bool is_wanted =
        needed || eager_others || (s.serves_others && is_awaited_elsewhere(stream));
    if (is_wanted && is_ready(s, stream)) ready.push_back(stream);
  }
  if (!any_needed || ready.empty()) return nullptr;
  const auto earlier = [](const CUstream_st* a, const CUstream_st* b) {
    return a->queue.front().sequence < b->queue.front().sequence;
  };
  switch (schedule().kind) {
    case Schedule::Kind::kForward:
      return *std::min_element(ready.begin(), ready.end(), earlier);
    case Schedule::Kind::kReverse:
      return *std::max_element(ready.begin(), ready.end(), earlier);
    case Schedule::Kind::kRandom:
      break;
  }
  return ready[next_choice(s) % ready.size()];
}

void reach(Moment& moment, std::chrono::steady_clock::time_point time) {
  moment.done = true;
  moment.time = time;
}

/// When the device would have come to this work, which is the next of its stream.
std::chrono::steady_clock::time_point begin_of(const AllStreams& s, const CUstream_st& stream,
                                               const Work& work) {
  auto begin = std::max(work.submitted, stream.reached);
  if (work.after != nullptr) begin = std::max(begin, work.after->time);
  for (const CUstream_st* const other : s.streams) {
    if (are_in_order(stream, *other)) begin = std::max(begin, other->reached);
  }
  return work.run ? std::max(begin, s.reached) : begin;
}

/// After a failed kernel nothing runs any more.
void drop_all_work(AllStreams& s) {
  for (CUstream_st* const stream : s.streams) {
    for (const Work& work : stream->queue) {
      if (work.marks != nullptr) reach(*work.marks, std::chrono::steady_clock::now());
    }
    stream->queue.clear();
  }
}

/// While it lives, the memory of these devices is open.
struct OpenMemory {
  explicit OpenMemory(DeviceSet those) : devices(those) { open_device_memory(those); }
  ~OpenMemory() { close_device_memory(); }
  const DeviceSet devices;
};

/// Of which devices a piece of work may use the memory: a kernel of those that its device reaches,
/// a fill of all.
DeviceSet used_by(const Work& work) {
  return work.kind == WorkKind::kKernel ? work.reachable : kAllDevices;
}

/// The host has learned something; `s.mutex` is held.
void host_learns(AllStreams& s, const StreamOrder& what) {
  s.host.learn(what);
  if (!order_is_kept() || !host_is_behind) return;
  host_is_behind = std::any_of(s.streams.begin(), s.streams.end(), [&](const CUstream_st* one) {
    return !s.host.covers(one, one->latest);
  });
  if (!host_is_behind) s.host_caught_up = s.sequence.load();
}

bool is_satisfied(const Need& need) {
  return std::all_of(need.begin(), need.end(), [](const auto& one) {
    return one.first->queue.empty() || one.first->queue.front().sequence > one.second;
  });
}

/// The rendezvous that needed work waits for; null where there is none.
std::shared_ptr<Moment> awaited_rendezvous(const AllStreams& s, Need& need) {
  for (const CUstream_st* const stream : s.streams) {
    if (stream->queue.empty() || stream->queue.front().sequence > need[stream]) continue;
    const std::shared_ptr<Moment>& after = stream->queue.front().after;
    if (after != nullptr && !after->done && after->rendezvous != nullptr) return after;
  }
  return nullptr;
}

int run_needed(Need need, bool is_asked_for = true) {
  AllStreams& s = the_only<AllStreams>();
  std::unique_lock<std::recursive_mutex> one(s.running);
  rendezvous_rules.proceed();  // other processes may wait for that
  std::unique_lock<std::mutex> lock(s.mutex);
  if (is_asked_for) ++s.asked;
  const Need asked = need;
  close_need(s, &need);
  claim_signals();
  std::optional<OpenMemory> opened;  // by a kernel, closed for host functions and at the end
  auto latest = std::chrono::steady_clock::now();
  // A rendezvous may need more of other streams than comes in the end: it is not waited for.
  while (sticky_error() == 0 && !is_satisfied(asked)) {
    CUstream_st* const stream = pick_stream(s, need, is_asked_for);
    if (stream == nullptr) {
      if (close_need(s, &need)) continue;  // for a rendezvous, what comes next
      const std::shared_ptr<Moment> awaited = awaited_rendezvous(s, need);
      if (awaited == nullptr) break;
      opened.reset();
      lock.unlock();
      const auto now = std::chrono::steady_clock::now();
      const bool others_have_come = rendezvous_rules.proceed();
      if (!others_have_come && !is_asked_for) {
        lock.lock();
        break;
      }
      if (others_have_come) {
        latest = now;
      } else {
        one.unlock();  // for other host threads
        rendezvous_rules.wait(*awaited, std::chrono::duration<double>(now - latest).count());
        one.lock();
      }
      lock.lock();
      continue;
    }
    latest = std::chrono::steady_clock::now();
    Work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    stream->running = true;
    s.runs = &work;
    if (!is_asked_for) s.latest_unasked = std::max(s.latest_unasked.load(), work.sequence);
    stream->reached = begin_of(s, *stream, work);
    // It may tell the host in any way that what comes before it has ended.
    if (work.is_host_function) host_learns(s, work.knows);
    lock.unlock();
    int error = 0;
    if (work.run && !work.is_host_function) {
      choose_symbols(stream->device);
      if (opened && opened->devices != used_by(work)) opened.reset();
      if (work.needs_device_memory && !opened) opened.emplace(used_by(work));
    }
    const auto began = std::chrono::steady_clock::now();
    if (work.is_host_function) {
      opened.reset();
      running_host_function = true;
      error = work.run();
      running_host_function = false;
    } else if (work.run) {
      error = work.run();
    }
    lock.lock();
    s.runs = nullptr;
    stream->running = false;
    if (work.run) {
      stream->reached += std::chrono::steady_clock::now() - began;
      s.reached = stream->reached;
    }
    if (work.marks != nullptr) reach(*work.marks, stream->reached);
    if (error != 0) set_sticky_error(error);
  }
  if (sticky_error() != 0) drop_all_work(s);
  return sticky_error();
}

/// Runs what is needed; then the host knows it.
int wait_for_need(Need need, const StreamOrder& learned) {
  const int error = run_needed(std::move(need));
  const auto [s, lock] = locked<AllStreams>();
  host_learns(s, learned);
  return error;
}

/// What work that is put on `stream` now can rely on.
void find_order(AllStreams& s, CUstream_st* stream, Work* next) {
  if (!order_is_kept()) return;
  StreamOrder known;
  known.learn(s.host);
  if (next->after != nullptr) known.learn(next->after->ended);
  for (const CUstream_st* const other : s.streams) {
    if (other != stream && are_in_order(*stream, *other)) known.learn(other->ended);
  }
  next->ahead = known.covers(stream, stream->latest) ? 0 : stream->latest;
  known.learn(stream->ended);
  next->knows = std::move(known);
}

/// What one who has waited for `stream` can rely on.
StreamOrder known_to_waiter(const AllStreams& s, const CUstream_st& stream) {
  StreamOrder known;
  for (const CUstream_st* const other : s.streams) {
    if (is_waited_for(*other, stream)) known.learn(other->ended);
  }
  return known;
}

/// Runs all that waits in the streams that are meant.
template <class Condition>
int run_those(Condition is_meant) {
  Need need;
  StreamOrder learned;
  {
    const auto [s, lock] = locked<AllStreams>();
    for (CUstream_st* const stream : s.streams) {
      if (!is_meant(*stream)) continue;
      need[stream] = stream->last();
      learned.learn(stream->ended);
    }
  }
  return wait_for_need(std::move(need), learned);
}

/// What runs beside a host that asks for nothing: the first host function and what comes before it;
/// else the first piece of work. `s.mutex` is held.
const Work* next_beside_host(const AllStreams& s) {
  const auto rank = [](const Work& w) { return std::pair(!w.is_host_function, w.sequence); };
  const Work* next = nullptr;
  for (const CUstream_st* const stream : s.streams) {
    for (const Work& work : stream->queue) {
      if (next == nullptr || rank(work) < rank(*next)) next = &work;
    }
  }
  return next;
}

/// Looks now and then whether work waits and the host has put on or run none since.
[[noreturn]] void look_on() {
  AllStreams& s = the_only<AllStreams>();
  std::uint64_t seen = 0;
  bool is_hasty = false;  // the host has waited for a host function before
  auto pause = kHostPatience / kLooks;
  for (unsigned looks = 0;;) {
    std::this_thread::sleep_for(pause);
    std::unique_lock<std::mutex> lock(s.mutex);
    const Work* const next = next_beside_host(s);
    const bool is_awaited = next != nullptr && next->is_host_function;
    pause = (is_awaited && is_hasty ? kShortPatience : kHostPatience) / kLooks;
    looks = next != nullptr && s.runs == nullptr && s.asked == seen ? looks + 1 : 0;
    seen = s.asked;
    if (looks < kLooks) continue;
    looks = is_awaited ? 0 : kLooks - 1;  // the next piece soon
    is_hasty = is_hasty || is_awaited;
    Need need{{next->stream, next->sequence}};
    lock.unlock();
    run_needed(std::move(need), false);
  }
}

}  // namespace

const Work* running_work() { return the_only<AllStreams>().runs; }

void reach_rendezvous(Moment& moment) {
  const std::lock_guard<std::mutex> lock(the_only<AllStreams>().mutex);
  reach(moment, std::chrono::steady_clock::now());
}

std::uint64_t host_time() { return the_only<AllStreams>().sequence; }
std::uint64_t host_goes_on() { return ++the_only<AllStreams>().sequence; }
std::uint64_t host_caught_up() { return the_only<AllStreams>().host_caught_up; }

std::uint64_t latest_unasked() { return the_only<AllStreams>().latest_unasked; }

StreamOrder host_knows() {
  const auto [s, lock] = locked<AllStreams>();
  return s.host;
}

bool when_nothing_runs(const std::function<void()>& use) {
  const std::unique_lock<std::recursive_mutex> one(the_only<AllStreams>().running,
                                                   std::try_to_lock);
  if (one.owns_lock()) use();
  return one.owns_lock();
}

void host_hears_of(const Work& work) {
  const auto [s, lock] = locked<AllStreams>();
  StreamOrder heard = work.knows;
  heard.learn(work.stream, work.sequence);
  host_learns(s, heard);
}

CUstream_st* find_stream(CUstream_st* handle) {
  AllStreams& s = the_only<AllStreams>();
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number <= 1) return &s.default_streams[current_device()];
  if (number == 2) {
    CUstream_st*& of_thread = thread_streams[current_device()];
    if (of_thread == nullptr) of_thread = create_stream(0, 0);
    return of_thread;
  }
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto found = std::find(s.streams.begin(), s.streams.end(), handle);
  return found != s.streams.end() && !handle->destroyed ? handle : nullptr;
}

CUstream_st* create_stream(unsigned flags, int priority) {
  const auto [s, lock] = locked<AllStreams>();
  auto* const stream = new CUstream_st;
  s.created.push_back(stream);
  stream->flags = flags;
  stream->priority = priority;
  stream->id = ++s.ids;
  stream->context = context_rules.current();
  stream->device = current_device();
  s.streams.push_back(stream);
  return stream;
}

bool destroy_stream(CUstream_st* handle) {
  CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr || stream->is_default) return false;
  const auto [s, lock] = locked<AllStreams>();
  stream->destroyed = true;
  if (stream->queue.empty() && !stream->running) {
    s.streams.erase(std::find(s.streams.begin(), s.streams.end(), stream));
  }
  return true;
}

int submit(CUstream_st* handle, Work work, bool wait) {
  if (sticky_error() != 0) return sticky_error();
  CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  int captured = 0;
  if (capture_rules.take_work(stream, &work, &captured)) return captured;
  Need need;
  StreamOrder learned;
  {
    const auto [s, lock] = locked<AllStreams>();
    const std::uint64_t sequence = ++s.sequence;
    work.stream = stream;
    work.sequence = sequence;
    work.reachable = reachable_from(stream->device);
    work.submitted = std::chrono::steady_clock::now();
    find_order(s, stream, &work);
    if (order_is_kept()) {
      stream->ended = work.knows;
      stream->ended.learn(stream, sequence);
    }
    if (work.marks != nullptr) {
      work.marks->stream = stream;
      work.marks->sequence = sequence;
      work.marks->ended = stream->ended;
    }
    s.serves_others = s.serves_others || work.is_awaited_elsewhere;
    stream->queue.push_back(std::move(work));
    stream->latest = sequence;
    host_is_behind = order_is_kept();
    ++s.asked;
    if (!wait && !s.has_onlooker) std::thread(look_on).detach();
    s.has_onlooker = s.has_onlooker || !wait;
    if (wait || launches_block()) {
      need[stream] = sequence;
      learned = stream->ended;
    } else if (stream->queue.size() > kQueueMax) {
      need[stream] = stream->queue[kQueueMax / 2].sequence;
    }
  }
  return need.empty() ? 0 : wait_for_need(std::move(need), learned);
}

int run_all_streams() {
  Need need;
  StreamOrder learned;
  {
    const auto [s, lock] = locked<AllStreams>();
    learned.learn_all(s.sequence);
    for (CUstream_st* const stream : s.streams) need[stream] = stream->last();
  }
  return wait_for_need(std::move(need), learned);
}

int run_device(int device) {
  if (device_count() == 1) return run_all_streams();
  return run_those([=](const CUstream_st& stream) { return stream.device == device; });
}

int run_stream(CUstream_st* handle) {
  const CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return run_those([=](const CUstream_st& other) { return is_waited_for(other, *stream); });
}

int query_stream(CUstream_st* stream) {
  {
    const auto [s, lock] = locked<AllStreams>();
    bool is_idle = true;
    std::uint64_t last = 0;
    for (const CUstream_st* const other : s.streams) {
      if (!is_waited_for(*other, *stream)) continue;
      is_idle = is_idle && other->queue.empty() && !other->running;
      last = std::max(last, other->last());
    }
    if (is_idle) {
      host_learns(s, known_to_waiter(s, *stream));  // the host was told
      return cudaSuccess;
    }
    if (std::exchange(stream->asked, last) != last) return cudaErrorNotReady;
  }
  return run_stream(stream);
}

bool is_captured(CUstream_st* handle) {
  const CUstream_st* const stream = find_stream(handle);
  return stream != nullptr && (stream->recorder != nullptr || stream->capture != nullptr);
}

bool is_done(const Moment& moment) {
  const auto [s, lock] = locked<AllStreams>();
  if (moment.done) host_learns(s, moment.ended);
  return moment.done;
}

int run_until(const Moment& moment) {
  return wait_for_need({{moment.stream, moment.sequence}}, moment.ended);
}

void note_unfinished_work() {
  const auto [s, lock] = locked<AllStreams>();
  // What runs beside the host has not ended, either.
  const Work* first = s.runs != nullptr && !running_host_function ? s.runs : nullptr;
  std::size_t count = first != nullptr ? 1 : 0;
  for (const CUstream_st* const stream : s.streams) {
    for (const Work& work : stream->queue) {
      if (!work.run) continue;  // only a wait or an event
      ++count;
      if (first == nullptr || work.sequence < first->sequence) first = &work;
    }
  }
  if (count == 0) return;
  std::string text = format("the program ended before this ran: %s", first->label.call);
  if (*first->label.kernel != '\0') text += format(" '%s'", first->label.kernel);
  if (count > 1) text += format(" (and %zu more)", count - 1);
  say_note(first->label.site, text, "wait for it, e.g. with cudaDeviceSynchronize");
}

void destroy_streams_of(int device, const CUctx_st* context) {
  const auto [s, lock] = locked<AllStreams>();
  for (CUstream_st* const stream : s.created) {
    if (stream->device == device && stream->context == context) stream->destroyed = true;
  }
  s.streams.erase(std::remove_if(s.streams.begin(), s.streams.end(),
                                 [](const CUstream_st* one) { return one->destroyed; }),
                  s.streams.end());
}

void forget_streams() {
  destroy_streams_of(current_device(), nullptr);
  thread_streams[current_device()] = nullptr;
}

}  // namespace cuda_cpu
