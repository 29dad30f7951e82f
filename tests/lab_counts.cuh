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
    if (seen.size() != 1) throw Wrong{"launches", "1", std::to_string(seen.size()), ""};
    judge(seen[0]);
  });
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
