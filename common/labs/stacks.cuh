// SPDX-License-Identifier: MIT
// For labs about contexts: contexts, and the host thread's stack of them before and after a call.
#pragma once

#include <cuda.h>

#include <thread>

#include "testing.cuh"

namespace lab {

inline void driver(CUresult answer, const char* call) {
  if (answer == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(answer, &name);
  throw CudaFailure{std::string(call) + " failed: " + (name != nullptr ? name : "?")};
}

/// What is on this host thread's stack, the last one on top; the stack is empty afterwards.
inline std::vector<CUcontext> taken_from_stack() {
  std::vector<CUcontext> contexts;
  for (;;) {
    CUcontext top = nullptr;
    driver(cuCtxGetCurrent(&top), "cuCtxGetCurrent");
    if (top == nullptr) break;
    driver(cuCtxPopCurrent(&top), "cuCtxPopCurrent");
    contexts.insert(contexts.begin(), top);
  }
  return contexts;
}

inline bool primary_is_active() {
  unsigned flags = 0;
  int active = 0;
  driver(cuDevicePrimaryCtxGetState(0, &flags, &active), "cuDevicePrimaryCtxGetState");
  return active == 1;
}

/// A new context, which stays on top of this host thread's stack.
inline CUcontext created() {
  CUcontext context = nullptr;
#if CUDA_VERSION >= 13000
  driver(cuCtxCreate(&context, nullptr, 0, 0), "cuCtxCreate");
#else
  driver(cuCtxCreate(&context, 0, 0), "cuCtxCreate");
#endif
  return context;
}

/// A context that is current here and that another host thread has destroyed.
inline CUcontext destroyed_while_current() {
  const CUcontext context = created();
  std::thread([&] { cuCtxDestroy(context); }).join();
  return context;
}

/// Contexts that are on no stack, while they are needed.
class Contexts {
 public:
  explicit Contexts(std::size_t count) : contexts_(count) {
    driver(cuInit(0), "cuInit");
    taken_from_stack();
    for (CUcontext& context : contexts_) {
      context = created();
      driver(cuCtxPopCurrent(nullptr), "cuCtxPopCurrent");
    }
  }
  ~Contexts() {
    for (CUcontext context : contexts_) cuCtxDestroy(context);
  }
  Contexts(const Contexts&) = delete;
  CUcontext operator[](std::size_t i) const { return contexts_.at(i); }

  /// The device's free memory, asked in the first one.
  double free_bytes() const {
    std::size_t free = 0, total = 0;
    driver(cuCtxPushCurrent(contexts_.at(0)), "cuCtxPushCurrent");
    driver(cuMemGetInfo(&free, &total), "cuMemGetInfo");
    driver(cuCtxPopCurrent(nullptr), "cuCtxPopCurrent");
    return static_cast<double>(free);
  }

 private:
  std::vector<CUcontext> contexts_;
};

/// A stack that a call finds, and has to leave.
class Stack {
 public:
  explicit Stack(std::vector<CUcontext> contexts) : contexts_(std::move(contexts)) {
    taken_from_stack();
    for (CUcontext context : contexts_) driver(cuCtxPushCurrent(context), "cuCtxPushCurrent");
  }
  ~Stack() {
    CUcontext top = nullptr;
    while (cuCtxGetCurrent(&top) == CUDA_SUCCESS && top != nullptr) cuCtxPopCurrent(nullptr);
  }
  Stack(const Stack&) = delete;

  /// In place afterwards, as before.
  void expect_same() const {
    const std::vector<CUcontext> found = taken_from_stack();
    expect_equal("how many contexts are on the caller's stack", found.size(), contexts_.size());
    expect(found == contexts_, "the contexts on the caller's stack", "those from before, in order",
           "others");
    for (CUcontext context : contexts_) driver(cuCtxPushCurrent(context), "cuCtxPushCurrent");
  }

 private:
  const std::vector<CUcontext> contexts_;
};

}  // namespace lab
