// SPDX-License-Identifier: MIT
// For labs whose goal is a count: what the learner's kernel asks of the memory, beside its results.
// Such a check is compiled for the CPU backend with X-ray, also on a machine with a GPU, and counts
// there. In its other builds (under sanitizers, in the proofs for a GPU) the kernel only runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "testing.cuh"
#ifdef CUDA_CPU_XRAY
#include <mutex>

#include "../cpu/engine/meeting/async_copies.h"
#include "../cpu/engine/memory/memory.h"
#include "../cpu/engine/state/grid.h"
#include "../cpu/engine/state/observer.h"
#include "../cpu/engine/state/phase_barrier.h"
#include "runtime/functions.h"
#include "xray/counts.h"
#include "xray/launches.h"
#endif

namespace lab {

#ifdef CUDA_CPU_XRAY
/// One launch, with the counts that labs ask for.
struct Seen : xray::Launch {
  explicit Seen(const xray::Launch& launch) : xray::Launch(launch) {}
  using Space = xray::Space;
  using Operation = xray::Operation;

  xray::Counts loads() const { return total(Space::kGlobal, Operation::kLoad); }
  xray::Counts stores() const { return total(Space::kGlobal, Operation::kStore); }
  xray::Counts atomics() const { return total(Space::kGlobal, Operation::kAtomic); }
  xray::Counts constant_loads() const { return total(Space::kConstant, Operation::kLoad); }
  xray::Counts shared_loads() const { return total(Space::kShared, Operation::kLoad); }
  xray::Counts shared_stores() const { return total(Space::kShared, Operation::kStore); }
  xray::Counts shared_atomics() const { return total(Space::kShared, Operation::kAtomic); }
  /// Everything asked of shared memory.
  xray::Counts shared() const {
    xray::Counts all = shared_loads();
    all += shared_stores();
    all += shared_atomics();
    return all;
  }
  /// Everything asked of local memory: arrays of a thread whose index nvcc cannot know.
  xray::Counts local() const {
    xray::Counts all = total(Space::kLocal, Operation::kLoad);
    all += total(Space::kLocal, Operation::kStore);
    return all;
  }
  /// The elements of so many bytes that one warp loads from global memory, or stores there, at
  /// most: what all warps do together does not tell whether one of them worked for the others.
  std::uint64_t loads_of_busiest_warp(unsigned bytes) const {
    return lanes_of_busiest_warp(Space::kGlobal, Operation::kLoad, bytes);
  }
  std::uint64_t stores_of_busiest_warp(unsigned bytes) const {
    return lanes_of_busiest_warp(Space::kGlobal, Operation::kStore, bytes);
  }
  /// What one thread does, at most: what its warp does together does not tell whether it worked for
  /// the others. Loads and stores of global memory in bytes, those of shared memory in accesses, as
  /// one of 16 bytes takes no more instructions than one of 4.
  std::uint64_t bytes_loaded_by_busiest_thread() const {
    return of_busiest_thread(Space::kGlobal, Operation::kLoad).bytes;
  }
  std::uint64_t bytes_stored_by_busiest_thread() const {
    return of_busiest_thread(Space::kGlobal, Operation::kStore).bytes;
  }
  std::uint64_t shared_loads_of_busiest_thread() const {
    return of_busiest_thread(Space::kShared, Operation::kLoad).accesses;
  }
  /// What a thread waits for before it goes on, at most: what it reads from shared memory, and what
  /// the lanes of its warp bring by shuffles and votes.
  std::uint64_t steps_of_busiest_thread() const {
    return shared_loads_of_busiest_thread() + exchanges_of_busiest_thread;
  }
};
#endif

/// A count within its bounds, else the trial ends. `note`: why there is this bound.
inline void between(const std::string& name, std::uint64_t counted, std::uint64_t least,
                    std::uint64_t most, const std::string& note = "") {
  if (counted >= least && counted <= most) return;
  const std::string expected = least == most     ? std::to_string(most)
                               : counted < least ? "at least " + std::to_string(least)
                                                 : "at most " + std::to_string(most);
  throw Wrong{name, expected, std::to_string(counted), note, true};
}
inline void at_most(const std::string& name, std::uint64_t counted, std::uint64_t most,
                    const std::string& note = "") {
  between(name, counted, 0, most, note);
}
inline void exactly(const std::string& name, std::uint64_t counted, std::uint64_t wanted,
                    const std::string& note = "") {
  between(name, counted, wanted, wanted, note);
}

/// Runs `work`, which makes launches and waits for them, then `results`, which compares what they
/// left; where X-ray counts, judge(seen) looks at what the launches did. `seen` holds them in their
/// order; one that is repeated with the same configuration and arguments is in it once. A generic
/// lambda:
///   [&](const auto& seen) { lab::exactly("launches", seen.size(), 2); ... seen[0].loads() ... }
template <class Judge>
void count_all(const std::function<void()>& work, const std::function<void()>& results,
               [[maybe_unused]] Judge judge) {
#ifdef CUDA_CPU_XRAY
  if (!races_are_looked_for()) {  // which has the hooks to itself
    const auto launches = xray::count([&] {
      work();
      CUDA_CHECK(cudaDeviceSynchronize());
    });
    results();
    judge(std::vector<Seen>(launches.begin(), launches.end()));
    return;
  }
#endif
  work();
  results();
}

/// Runs `attempt` on a device that says that it has so many; where X-ray does not
/// count, on the device as it is. What is launched meanwhile runs on what there is.
inline void on_a_device_of([[maybe_unused]] unsigned multiprocessors,
                           const std::function<void()>& attempt) {
#ifdef CUDA_CPU_XRAY
  struct Pretended {
    explicit Pretended(unsigned n) { cuda_cpu::pretend_multiprocessors(static_cast<int>(n)); }
    ~Pretended() { cuda_cpu::pretend_multiprocessors(0); }
    Pretended(const Pretended&) = delete;
    Pretended& operator=(const Pretended&) = delete;
  } const pretended(multiprocessors);
#endif
  attempt();
}

/// Runs `attempt` on a device that refuses every launch; not at all where X-ray does not count.
inline void where_launches_are_refused([[maybe_unused]] const std::function<void()>& attempt) {
#ifdef CUDA_CPU_XRAY
  struct Refused {
    Refused() { cuda_cpu::refuse_launches(true); }
    ~Refused() { cuda_cpu::refuse_launches(false); }
    Refused(const Refused&) = delete;
    Refused& operator=(const Refused&) = delete;
  } const refused;
  attempt();
#endif
}

inline void expect_one_launch(std::size_t launches) {
  if (launches == 1) return;
  throw Wrong{"launches", "1", std::to_string(launches), "one launch of the kernel does the work",
              true};
}

/// The same for work that makes one launch: judge(seen) gets that one.
///   [&](const auto& seen) { lab::exactly("...", seen.loads().lanes, n); }
template <class Judge>
void count(const std::function<void()>& work, const std::function<void()>& results,
           [[maybe_unused]] Judge judge) {
  count_all(work, results, [&](const auto& seen) {
    expect_one_launch(seen.size());
    judge(seen[0]);
  });
}

/// Runs `work`, which makes one launch, with nothing but its first block counted: judge(seen) gets
/// what that block did. Sums over all blocks do not tell whether one of them worked for the others.
template <class Judge>
void count_first_block([[maybe_unused]] const std::function<void()>& work,
                       [[maybe_unused]] Judge judge) {
#ifdef CUDA_CPU_XRAY
  if (races_are_looked_for()) return;
  const auto launches = xray::count([&] {
    xray::sample_blocks(1);
    work();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  expect_one_launch(launches.size());
  judge(Seen(launches[0]));
#endif
}

/// Like count(), for where to count all would take long: only `most` blocks are counted, spread
/// evenly over the grid from the first to the last. `seen.blocks_counted` says how many. Exchanges
/// and barriers are seen in all blocks, and in none may a thread make many more accesses than in
/// those that are counted: not for kernels in which threads may have to try again.
template <class Judge>
void count_some_blocks([[maybe_unused]] unsigned most, const std::function<void()>& work,
                       const std::function<void()>& results, Judge judge) {
  const auto sampled = [&] {
#ifdef CUDA_CPU_XRAY
    if (!races_are_looked_for()) xray::sample_blocks(most, true);
#endif
    work();
  };
  count(sampled, results, [&](const auto& seen) {
    judge(seen);
    const std::uint64_t usual = seen.accesses_of_busiest_thread;
    at_most("accesses of one thread in one of the blocks", seen.accesses_elsewhere,
            usual + usual / 4,
            "in other blocks a thread makes " + std::to_string(usual) +
                " at most: no thread works for its whole block");
  });
}

/// What the runtime copied, in bytes.
struct Copied {
  std::uint64_t to_device = 0, to_host = 0;  ///< between host and device
  std::uint64_t of_arrays = 0;               ///< from or to the arrays that were asked about
  std::uint64_t room = 0;    ///< of the largest allocation or variable that was copied to or from
  std::string last_to_host;  ///< what the last copy to the host brought, 64 bytes at most

  /// Whether the last copy to the host brought this value and nothing else.
  template <class T>
  bool brought(const T& value) const {
    return last_to_host.size() == sizeof value &&
           std::memcmp(last_to_host.data(), &value, sizeof value) == 0;
  }
};

#ifdef CUDA_CPU_XRAY
/// What the runtime itself did to memory, and how many kernels it was asked to run meanwhile.
struct Traffic {
  struct Range {
    const char* begin;
    std::size_t bytes;
    bool is_written;      ///< or else read
    std::size_t room;     ///< of the device's allocation or variable that it lies in; 0: the host's
    std::string content;  ///< what was read from the device, its first 64 bytes
    std::string call;     ///< of the runtime or of NCCL
  };
  struct Amount {
    std::size_t times = 0, bytes = 0;
  };
  std::vector<Range> ranges;  ///< two for each copy, its source first; one for each fill
  std::size_t launches = 0;
  std::vector<int> launched_on;  ///< the device of each

  static bool is_of_nccl(const std::string& call) { return call.compare(0, 4, "nccl") == 0; }

  /// What copies and fills wrote to [begin, begin + size), or read from there.
  Amount written(const void* begin, std::size_t size) const { return sum(true, begin, size); }
  Amount read(const void* begin, std::size_t size) const { return sum(false, begin, size); }

  /// The copies between host and device. Of copies at the same time it may take the source of one
  /// for that of another.
  Copied copied() const {
    Copied sum;
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      if (!is_copy(i)) continue;
      const Range &from = ranges[i - 1], &to = ranges[i];
      sum.room = std::max<std::uint64_t>(sum.room, std::max(from.room, to.room));
      if (to.room > 0 && from.room == 0) sum.to_device += to.bytes;
      if (from.room > 0 && to.room == 0) {
        sum.to_host += to.bytes;
        sum.last_to_host = from.content;
      }
    }
    return sum;
  }
  /// All copies, wherever from and to, in bytes. NCCL's are not among them.
  Amount copies() const {
    Amount amount;
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      if (!is_copy(i) || is_of_nccl(ranges[i].call)) continue;
      ++amount.times;
      amount.bytes += ranges[i].bytes;
    }
    return amount;
  }
  /// What calls of this name read, or wrote.
  Amount read_by(const std::string& call) const { return sum_of_calls(false, call); }
  Amount written_by(const std::string& call) const { return sum_of_calls(true, call); }
  /// What copies read in [begin, begin + size), and wrote there.
  std::uint64_t copied_of(const void* begin, std::size_t size) const {
    std::uint64_t bytes = 0;
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      if (is_copy(i)) bytes += common(ranges[i - 1], begin, size) + common(ranges[i], begin, size);
    }
    return bytes;
  }

 private:
  /// Whether ranges[i] is where a copy wrote to, not a fill or a source.
  bool is_copy(std::size_t i) const {
    const Range &from = ranges[i - 1], &to = ranges[i];
    return to.is_written && !from.is_written && to.call == from.call;
  }
  static std::size_t common(const Range& r, const void* begin, std::size_t size) {
    const char* const from = static_cast<const char*>(begin);
    const char* const first = std::max(r.begin, from);
    const char* const last = std::min(r.begin + r.bytes, from + size);
    return first < last ? static_cast<std::size_t>(last - first) : 0;
  }
  Amount sum_of_calls(bool is_written, const std::string& call) const {
    Amount amount;
    for (const Range& r : ranges) {
      if (r.is_written != is_written || r.call != call || r.bytes == 0) continue;
      ++amount.times;
      amount.bytes += r.bytes;
    }
    return amount;
  }
  Amount sum(bool is_written, const void* begin, std::size_t size) const {
    Amount amount;
    for (const Range& r : ranges) {
      const std::size_t bytes = common(r, begin, size);
      if (r.is_written != is_written || bytes == 0) continue;
      ++amount.times;
      amount.bytes += bytes;
    }
    return amount;
  }
};

/// Fills a Traffic while it lives, beside whatever observes already.
class Watch {
 public:
  Watch()
      : before_(cuda_cpu::observer),
        watching_(before_ != nullptr ? *before_ : cuda_cpu::Observer{}) {
    of_grid_ = watching_.grid_begins;
    traffic_ = {};
    watching_.grid_begins = note_grid;
    watching_.range_is_used = note_range;
    cuda_cpu::observer = &watching_;
  }
  ~Watch() { cuda_cpu::observer = before_; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  const Traffic& traffic() const { return traffic_; }

 private:
  static bool note_grid(const cuda_cpu::GridLaunch& launch) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++traffic_.launches;
      traffic_.launched_on.push_back(launch.device);
    }
    return of_grid_ != nullptr && of_grid_(launch);
  }
  static void note_range(const void* begin, std::size_t bytes, bool writes, const char* call,
                         cuda_cpu::Site, const void*) {
    using cuda_cpu::Space;
    cuda_cpu::MemoryRange range;
    const bool of_device = cuda_cpu::find_live_range(begin, &range) &&
                           range.space != Space::kHostPinned &&
                           range.space != Space::kHostRegistered;
    const char* const from = static_cast<const char*>(begin);
    // The runtime has opened what it reads; who copies past its end is told so elsewhere.
    const bool is_readable = of_device && !writes && !Traffic::is_of_nccl(call) &&
                             reinterpret_cast<std::uintptr_t>(from) + bytes <= range.end();
    const std::string content(from, is_readable ? std::min<std::size_t>(bytes, 64) : 0);
    const std::lock_guard<std::mutex> lock(mutex_);
    traffic_.ranges.push_back({from, bytes, writes, of_device ? range.size : 0, content, call});
  }

  static inline std::mutex mutex_;  // the runtime's own threads copy as well
  static inline Traffic traffic_;
  static inline decltype(cuda_cpu::Observer::grid_begins) of_grid_ = nullptr;
  const cuda_cpu::Observer* const before_;
  cuda_cpu::Observer watching_;
};
#endif

/// Inside of count's `work`: runs `call` and returns what was copied in it, by whichever call of
/// the runtime; `arrays` are those whose copies Copied::of_arrays tells. Nothing where X-ray does
/// not count.
template <class... Arrays>
Copied copied_by(const std::function<void()>& call, [[maybe_unused]] const Arrays&... arrays) {
#ifdef CUDA_CPU_XRAY
  // The race detector watches ranges itself.
  if (cuda_cpu::observer != nullptr && cuda_cpu::observer->range_is_used == nullptr) {
    const Watch watch;
    call();
    CUDA_CHECK(cudaDeviceSynchronize());
    Copied copied = watch.traffic().copied();
    [[maybe_unused]] const auto add = [&](const auto& array) {
      const std::size_t bytes = array.size() * sizeof(*array.get());
      copied.of_arrays += watch.traffic().copied_of(array.get(), bytes);
    };
    (add(arrays), ...);
    return copied;
  }
#endif
  call();
  return {};
}

#ifdef CUDA_CPU_XRAY
/// Counts, while it lives, the asynchronous copies that arrive when their thread has begun no later
/// ones, and the pieces of bulk copies that arrive when none is under way for another barrier,
/// beside whatever observes already.
class LastCopies {
 public:
  LastCopies() : before_(cuda_cpu::observer), watching_(*before_) {
    of_copy_ = watching_.copy_arrives;
    count_ = 0;
    first_thread_ = ~0u;
    watching_.copy_arrives = note_copy;
    cuda_cpu::observer = &watching_;
  }
  ~LastCopies() { cuda_cpu::observer = before_; }
  LastCopies(const LastCopies&) = delete;
  LastCopies& operator=(const LastCopies&) = delete;

  std::uint64_t count() const { return count_; }
  /// The lowest number in its block of a thread that began a copy.
  unsigned first_thread() const { return first_thread_; }

 private:
  // Blocks of several workers call these while their threads run, so X-ray must not see it.
  CUDA_CPU_UNSEEN static bool is_last(cuda_cpu::Block& block, const cuda_cpu::AsyncCopy& copy,
                                      const void* barrier) {
    if (!copy.is_bulk) {
      const auto& queued = cuda_cpu::copy_queue_of(&block, &block.threads[copy.thread]).copies;
      return queued.empty() || queued.back().group == copy.group;
    }
    for (std::uint32_t i = 0; i < block.phase_barrier_count; ++i) {
      const cuda_cpu::PhaseBarrier& other = *block.phase_barriers[i];
      if (other.object != barrier && !other.copies.empty()) return false;
    }
    return true;
  }
  CUDA_CPU_UNSEEN static void note_copy(cuda_cpu::Block& block, const cuda_cpu::AsyncCopy& copy,
                                        const void* barrier) {
    if (copy.to != nullptr) {  // or else a product or a bulk store has read what it was to read
      if (is_last(block, copy, barrier)) __atomic_fetch_add(&count_, 1, __ATOMIC_RELAXED);
      unsigned first = __atomic_load_n(&first_thread_, __ATOMIC_RELAXED);
      while (copy.thread < first &&
             !__atomic_compare_exchange_n(&first_thread_, &first, copy.thread, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      }
    }
    if (of_copy_ != nullptr) of_copy_(block, copy, barrier);
  }

  static inline std::uint64_t count_ = 0;
  static inline unsigned first_thread_ = 0;
  static inline decltype(cuda_cpu::Observer::copy_arrives) of_copy_ = nullptr;
  const cuda_cpu::Observer* const before_;
  cuda_cpu::Observer watching_;
};
#endif

/// Inside of count's `work`: runs `call`, waits for it, and returns how many asynchronous copies
/// were waited for when their thread had no later batch under way, whichever function waited, and
/// how many pieces of bulk copies when none was under way for another barrier. 0 where X-ray does
/// not count. `first_thread`: gets the lowest number in its block of a thread that began a copy.
inline std::uint64_t last_copies_waited_for(const std::function<void()>& call,
                                            [[maybe_unused]] unsigned* first_thread = nullptr) {
#ifdef CUDA_CPU_XRAY
  if (cuda_cpu::observer != nullptr && !races_are_looked_for()) {
    const LastCopies copies;
    call();
    CUDA_CHECK(cudaDeviceSynchronize());
    if (first_thread != nullptr) *first_thread = copies.first_thread();
    return copies.count();
  }
#endif
  call();
  return 0;
}

/// Runs `work`, and waits for it, then `results`; where X-ray could count, judge(traffic) looks at
/// the copies, fills and launches of `work` instead. A generic lambda:
///   [&](const auto& made) { lab::exactly("...", made.written(d_x, bytes).times, 1); }
template <class Judge>
void watch_copies(const std::function<void()>& work, const std::function<void()>& results,
                  [[maybe_unused]] Judge judge) {
#ifdef CUDA_CPU_XRAY
  if (cuda_cpu::observer == nullptr) {  // the race detector is not at work
    CUDA_CHECK(cudaDeviceSynchronize());
    Traffic made;
    {
      const Watch watch;
      work();
      CUDA_CHECK(cudaDeviceSynchronize());
      made = watch.traffic();
    }
    results();
    judge(made);
    return;
  }
#endif
  work();
  results();
}

/// Each thread works for itself: nothing goes from one to another.
template <class Seen>
void expect_nothing_handed_over(const Seen& seen) {
  const char* const note = "each thread works for itself, with what it has loaded";
  exactly("shuffles and votes of one thread", seen.exchanges_of_busiest_thread, 0, note);
  exactly("requests to shared memory", seen.shared().requests, 0, note);
  exactly("atomics", seen.atomics().requests, 0, note);
}

}  // namespace lab
