// SPDX-License-Identifier: MIT
// Does __activemask tell a warp which of its lanes are in a branch?
//
// active_mask  what it says where lanes have parted: no vote at all

#include "../../../common/common.cuh"
#include "segments.cuh"

// Wrong: __activemask says which lanes happen to be together here. Three looks, of which the
// source suggests: the lanes with an odd value; those that left the loop in this turn; all.
__global__ void ask_active_mask(const int* x, std::size_t n, unsigned* surprised) {
  const Range r(n);
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool inside = row + lane_number() < r.last;
    const int value = inside ? x[row + lane_number()] : 0;
    unsigned in_branch = 0, in_loop = 0;
    if (value % 2 != 0) in_branch = __activemask();
    for (int turn = 0; turn < 4; ++turn) {
      if (value % 4 == turn) {
        in_loop = __activemask();
        break;
      }
    }
    const unsigned behind = __activemask();
    __syncwarp();
    const unsigned odd = __ballot_sync(kAllLanes, value % 2 != 0);
    const unsigned same_turn = __match_any_sync(kAllLanes, value % 4);
    const unsigned wrong[3] = {__ballot_sync(kAllLanes, value % 2 != 0 && in_branch != odd),
                               __ballot_sync(kAllLanes, in_loop != same_turn),
                               __ballot_sync(kAllLanes, behind != kAllLanes)};
    if (lane_number() == 0) {
      for (unsigned k = 0; k < 3; ++k) surprised[row / kWarp * 3 + k] = wrong[k];
    }
  }
}

// For every 32 of the ints three words: which lanes were surprised by each look.
struct Looks : SegmentedInts {
  void poison() const { surprised.poison(); }
  bool is_right(const std::string&) const { return true; }  // nothing is promised

  // In how many rows of 32 a lane was surprised: in the branch, in the loop, behind both.
  std::vector<std::size_t> surprises() const {
    std::vector<std::size_t> count(3);
    const std::vector<unsigned> lanes = surprised.download();
    for (std::size_t k = 0; k < lanes.size(); ++k) count[k % 3] += lanes[k] != 0;
    return count;
  }

  DeviceArray<unsigned> surprised{div_up(n, kWarp) * 3};
};

const Version<Looks> kActiveMask = {
    "active_mask", "what __activemask says: nothing that can be relied on",
    [](const Looks& d) { ask_active_mask<<<d.grid, d.block>>>(d.x, d.n, d.surprised); }};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "11_active_mask",
                    "does __activemask tell which lanes are in a branch?",
                    {{"n", &n, 1, 8_Gi, "ints"}});
  ResultTable table(opt, n * sizeof(int), n * sizeof(int));
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const Looks looks{{random_ints(n, 0, kValues - 1, opt.seed), 256}};
  if (table.add(kActiveMask, looks) == 0) return table.finish();  // the row is not wanted
  const char* const where[] = {"in a branch", "in a loop", "behind both"};
  for (unsigned k = 0; k < 3; ++k) {
    const std::size_t count = looks.surprises()[k];
    table.measured(std::string("active_mask ") + where[k], count, "rows", "active_mask: ", where[k],
                   ", not the lanes that the source suggests in ", count, " of ", div_up(n, kWarp),
                   " rows of 32");
  }
  return table.finish();
}
