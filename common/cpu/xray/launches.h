// SPDX-License-Identifier: MIT
// Decides which launches and which of their blocks are watched, and keeps what was counted.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../engine/observer.h"
#include "counts.h"

namespace xray {

/// From now on launches are watched; they are not until somebody asks for counts.
void watch();

/// How many blocks of each grid are counted: at most this many, spread evenly over it, or all.
void sample_blocks(std::uint64_t at_most);
void count_all_blocks();

/// From now on only this block of each grid is counted, and what happens in it is kept as events,
/// for the first launch of each kernel.
void keep_events_of(std::uint64_t block);

/// The launches counted since the last call, in their order.
std::vector<Launch> take_launches();

/// From now on take_launches() keeps what it returns as well, and kept_launches() has all of that.
void keep_launches();
std::vector<Launch> kept_launches();

struct LaunchTally;

/// While it lives, the launches counted so far are out of the way. Its end brings them back, and
/// with them what `watch` and `sample_blocks` had been told.
class SetAside {
 public:
  SetAside();
  ~SetAside();
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;

 private:
  std::vector<std::unique_ptr<LaunchTally>> launches_;
  const std::uint64_t most_blocks_;
  const cuda_cpu::Observer* const observer_ = cuda_cpu::observer;
};

}  // namespace xray
