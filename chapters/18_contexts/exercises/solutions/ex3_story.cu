// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 18, predict, then measure: who is current, and what is left?
//
// Put your predictions in place of the -1; change nothing else. The check runs the story and looks.
// It says too low or too high, never the number. Contexts are numbered as they are made: 1, 2, 3.
// Check it: make lab CH=18 EX=3      A hint: make hint CH=18 EX=3
#include <cuda.h>

#include <functional>
#include <thread>

#include "common/common.cuh"

// Which context is current at this place? 0: none.
constexpr int kAfterPop = 2;      // at (1)
constexpr int kInNewThread = 0;   // at (2)
constexpr int kAfterSet = 1;      // at (3)
constexpr int kAfterDestroy = 3;  // at (4)
// How many of the arrays of 1 MiB are left?
constexpr int kArraysLeft = 2;  // at (5)
// How many users has the primary context at the end, the runtime among them?
constexpr int kUsersLeft = 2;  // at (6)

// Told by the check: at(place) asks which context is current here, array() allocates 1 MiB.
struct Story {
  std::function<void(int place)> at;
  std::function<void()> array;
  std::function<CUcontext(int arrays)> create;  // cuCtxCreate, and so many arrays
};

void tell(const Story& story) {
  const CUcontext one = story.create(1);
  const CUcontext two = story.create(2);
  const CUcontext three = story.create(1);
  cuCtxPopCurrent(nullptr);
  story.at(1);
  std::thread([&] {
    story.at(2);
    cuCtxPushCurrent(three);
    story.array();
    cuCtxSetCurrent(one);
    story.array();
    story.at(3);
    cuCtxPushCurrent(three);
    cuCtxDestroy(one);  // it is not on top
  }).join();
  cuCtxPushCurrent(three);
  cuCtxPushCurrent(two);
  story.array();
  cuCtxDestroy(two);
  story.at(4);
  story.at(5);

  CUcontext primary = nullptr;
  for (int k = 0; k < 3; ++k) cuDevicePrimaryCtxRetain(&primary, 0);
  cuDevicePrimaryCtxRelease(0);
  std::thread([] { cudaFree(nullptr); }).join();  // a call of the runtime
  cuDevicePrimaryCtxRelease(0);
  story.at(6);
}
