// SPDX-License-Identifier: MIT
// For labs whose goal is a count: what the learner's kernel asks of the memory, beside its results.
// Such a check is compiled for the CPU backend with X-ray, also on a machine with a GPU, and counts
// there. In its other builds (under sanitizers, in the proofs for a GPU) the kernel only runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "lab_testing.cuh"
#ifdef CUDA_CPU_XRAY
#include "engine/memory.h"
#include "engine/observer.h"
#include "xray/counts.h"
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
};
#endif

/// Runs `work`, which makes launches and waits for them, then `results`, which compares what they
/// left; where X-ray counts, judge(seen) looks at what the launches did. `seen` holds them in their
/// order; one that is repeated with the same configuration and arguments is in it once. A generic
/// lambda:
///   [&](const auto& seen) { lab::exactly("launches", seen.size(), 2); ... seen[0].loads() ... }
template <class Judge>
void count_all(const std::function<void()>& work, const std::function<void()>& results,
               [[maybe_unused]] Judge judge) {
#ifdef CUDA_CPU_XRAY
  const char* const races = std::getenv("CUDA_CPU_RACES");
  if (races == nullptr || *races != '1') {
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

/// The same for work that makes one launch: judge(seen) gets that one.
///   [&](const auto& seen) { lab::exactly("...", seen.loads().lanes, n); }
template <class Judge>
void count(const std::function<void()>& work, const std::function<void()>& results,
           [[maybe_unused]] Judge judge) {
  count_all(work, results, [&](const auto& seen) {
    if (seen.size() != 1) {
      throw Wrong{"launches", "1", std::to_string(seen.size()),
                  "one launch of the kernel does the work"};
    }
    judge(seen[0]);
  });
}

/// What the runtime copied between host and device, in bytes.
struct Copied {
  std::uint64_t to_device = 0, to_host = 0;
  std::uint64_t room = 0;  ///< of the largest allocation or variable that was copied to
};

#ifdef CUDA_CPU_XRAY
/// Adds up copies while it lives. The backend tells of a copy's source first, then of what it
/// writes; a fill has no source.
class CopyWatch {
 public:
  explicit CopyWatch(Copied& sum) : before_(cuda_cpu::observer), watching_(*before_) {
    sum_ = &sum;
    source_ = nullptr;
    watching_.range_is_used = note;
    cuda_cpu::observer = &watching_;
  }
  ~CopyWatch() { cuda_cpu::observer = before_; }
  CopyWatch(const CopyWatch&) = delete;
  CopyWatch& operator=(const CopyWatch&) = delete;

 private:
  static bool of_device(const void* address, cuda_cpu::MemoryRange* range) {
    using cuda_cpu::Space;
    return cuda_cpu::find_live_range(address, range) && range->space != Space::kHostPinned &&
           range->space != Space::kHostRegistered;
  }

  static void note(const void* address, std::size_t bytes, bool writes, const char*,
                   cuda_cpu::Site) {
    const void* const source = source_;
    source_ = writes ? nullptr : address;
    if (!writes || source == nullptr) return;
    cuda_cpu::MemoryRange from, to;
    const bool from_device = of_device(source, &from), to_device = of_device(address, &to);
    if (to_device) sum_->room = std::max<std::uint64_t>(sum_->room, to.size);
    if (to_device && !from_device) sum_->to_device += bytes;
    if (from_device && !to_device) sum_->to_host += bytes;
  }

  static inline Copied* sum_;
  static inline const void* source_;
  const cuda_cpu::Observer* const before_;
  cuda_cpu::Observer watching_;
};
#endif

/// Inside of count's `work`: runs `call` and returns what was copied in it, by whichever call of
/// the runtime. Nothing where X-ray does not count.
inline Copied copied_by(const std::function<void()>& call) {
  Copied sum;
#ifdef CUDA_CPU_XRAY
  if (cuda_cpu::observer != nullptr && cuda_cpu::observer->range_is_used == nullptr) {
    const CopyWatch watch(sum);
    call();
    CUDA_CHECK(cudaDeviceSynchronize());
    return sum;
  }
#endif
  call();
  return sum;
}

/// A count within its bounds, else the trial ends. `note`: why there is this bound.
inline void between(const std::string& name, std::uint64_t counted, std::uint64_t least,
                    std::uint64_t most, const std::string& note = "") {
  if (counted >= least && counted <= most) return;
  const std::string expected = least == most     ? std::to_string(most)
                               : counted < least ? "at least " + std::to_string(least)
                                                 : "at most " + std::to_string(most);
  throw Wrong{name, expected, std::to_string(counted), note};
}
inline void at_most(const std::string& name, std::uint64_t counted, std::uint64_t most,
                    const std::string& note = "") {
  between(name, counted, 0, most, note);
}
inline void exactly(const std::string& name, std::uint64_t counted, std::uint64_t wanted,
                    const std::string& note = "") {
  between(name, counted, wanted, wanted, note);
}

}  // namespace lab
