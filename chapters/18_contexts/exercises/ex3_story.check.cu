// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the driver says
#include <cuda.h>

#include "common/labs/stacks.cuh"
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

struct Seen {
  std::vector<CUcontext> made;
  int current[5] = {-1, -1, -1, -1, -1};  // by place
  int arrays = -1, users = -1;
};

int number_of(const Seen& seen, CUcontext context) {
  for (std::size_t i = 0; i < seen.made.size(); ++i)
    if (seen.made[i] == context) return static_cast<int>(i) + 1;
  return 0;
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  lab::driver(cuMemGetInfo(&free, &total), "cuMemGetInfo");
  return free;
}

constexpr int kRetained = 3 - 2;  // retains of the story that no release has followed

// The users of the primary context at the end of the story. Nobody can ask for their number, and a
// release too many would be a mistake: so those that are known go, and whoever is left is the
// runtime.
int users_at_the_end() {
  for (int k = 0; k < kRetained; ++k)
    lab::driver(cuDevicePrimaryCtxRelease(0), "cuDevicePrimaryCtxRelease");
  return kRetained + (lab::primary_is_active() ? 1 : 0);
}

void allocate() {
  CUdeviceptr array = 0;
  lab::driver(cuMemAlloc(&array, 1_Mi), "cuMemAlloc");
}

Seen told() {
  lab::driver(cuInit(0), "cuInit");
  lab::taken_from_stack();
  cudaDeviceReset();
  Seen seen;
  std::size_t free_at_first = 0;
  tell({[&](int place) {
          if (place < 5) {
            CUcontext current = nullptr;
            lab::driver(cuCtxGetCurrent(&current), "cuCtxGetCurrent");
            seen.current[place] = number_of(seen, current);
          }
          if (place == 5) seen.arrays = static_cast<int>((free_at_first - free_bytes()) / 1_Mi);
          if (place == 6) seen.users = users_at_the_end();
        },
        allocate,
        [&](int arrays) {
          seen.made.push_back(lab::created());
          if (seen.made.size() == 1) free_at_first = free_bytes();
          for (int k = 0; k < arrays; ++k) allocate();
          return seen.made.back();
        }});
  lab::taken_from_stack();
  cuCtxDestroy(seen.made.at(2));
  cudaDeviceReset();  // the runtime goes as well
  lab::expect(!lab::primary_is_active(), "the primary context after the story", "not in use",
              "in use");
  return seen;
}

}  // namespace

TEST_CASE("the predictions are what the driver says") {
  const std::string notes = "chapters/18_contexts/README.md: ";
  const std::string stack = notes + "A stack for each host thread";
  const std::string end = notes + "When it ends, all of it ends";
  const Seen seen = told();
  lab::predict("kAfterPop", kAfterPop, seen.current[1], stack);
  lab::predict("kInNewThread", kInNewThread, seen.current[2], stack);
  lab::predict("kAfterSet", kAfterSet, seen.current[3], stack);
  lab::predict("kAfterDestroy", kAfterDestroy, seen.current[4], end);
  lab::predict("kArraysLeft", kArraysLeft, seen.arrays, end);
  lab::predict("kUsersLeft", kUsersLeft, seen.users, end);
}
