// SPDX-License-Identifier: MIT
// For labs about several devices: which of them to try, a stream and a communicator for each, and
// what a call must leave as it was. A check that includes <nccl.h> finds four devices on the CPU
// backend.
#pragma once

#include <nccl.h>

#include <atomic>
#include <numeric>

#include "channel.h"
#include "drawn.cuh"

namespace lab {

inline void nccl(ncclResult_t answer, const char* call) {
  if (answer == ncclSuccess) return;
  throw CudaFailure{std::string(call) + " failed: " + ncclGetErrorString(answer)};
}

inline int devices_here() {
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  return count;
}

/// "devices 2, 0, 3"
inline std::string text_of(const std::vector<int>& devices) {
  std::string text = devices.size() == 1 ? "device" : "devices";
  for (const int& device : devices)
    text += (&device == &devices[0] ? " " : ", ") + std::to_string(device);
  return text;
}

/// Lists of devices, as many as there are at most and each number of them: the first ones, and some
/// in any order. What cannot be tried here is said.
inline std::vector<std::vector<int>> lists_of_devices() {
  std::vector<int> all(static_cast<std::size_t>(devices_here()));
  std::iota(all.begin(), all.end(), 0);
  if (all.size() < 3)
    tell("speed", "this machine has " + text_of(all) + ": more of them were not tried");
  std::vector<std::vector<int>> lists;
  for (std::size_t count = 1; count <= all.size(); ++count) {
    const std::vector<int> any = shuffled(all);
    lists.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    lists.emplace_back(any.begin(), any.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return lists;
}

/// attempt(devices) for each list; what goes wrong names it.
inline void on_each_list(const std::vector<std::vector<int>>& lists,
                         const std::function<void(const std::vector<int>&)>& attempt) {
  for (const std::vector<int>& devices : lists) {
    try {
      attempt(devices);
    } catch (Wrong& wrong) {
      wrong.note = "with " + text_of(devices) + (wrong.note.empty() ? "" : "; ") + wrong.note;
      throw;
    } catch (CudaFailure& failure) {
      failure.text += ", with " + text_of(devices);
      throw;
    }
  }
}

/// While it lives, a device is the current one.
class Current {
 public:
  explicit Current(int device) {
    CUDA_CHECK(cudaGetDevice(&before_));
    CUDA_CHECK(cudaSetDevice(device));
  }
  ~Current() { cudaSetDevice(before_); }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  int before_ = 0;
};

/// Waits for all devices.
inline void wait_for_devices() {
  for (int device = 0; device < devices_here(); ++device) {
    const Current current(device);
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}

/// The free memory of each device, in bytes.
inline std::vector<std::size_t> free_of_devices() {
  std::vector<std::size_t> all;
  for (int device = 0; device < devices_here(); ++device) {
    const Current current(device);
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    all.push_back(free);
  }
  return all;
}

/// Calls `call` while any of the devices is current; afterwards the same one is.
inline void with_any_device_current(const std::function<void()>& call) {
  const int before = static_cast<int>(drawn(0, static_cast<unsigned>(devices_here()) - 1));
  const Current current(before);
  call();
  int after = -1;
  CUDA_CHECK(cudaGetDevice(&after));
  expect_equal("the caller's current device", after, before);
}

/// Whose memory it is.
inline void expect_memory_of(int device, const std::string& name, const void* pointer) {
  cudaPointerAttributes is{};
  CUDA_CHECK(cudaPointerGetAttributes(&is, pointer));
  expect(is.type == cudaMemoryTypeDevice, name, "memory of a device", "other memory");
  expect_equal("the device of " + name, is.device, device);
}

/// A rank for each device of a list: its stream, which orders nothing but itself, and its
/// communicator.
class Ranks {
 public:
  explicit Ranks(const std::vector<int>& devices)
      : devices_(devices), streams_(devices.size()), communicators_(devices.size()) {
    for (std::size_t rank = 0; rank < size(); ++rank) {
      const Current current(devices_[rank]);
      CUDA_CHECK(cudaStreamCreateWithFlags(&streams_[rank], cudaStreamNonBlocking));
    }
    const Current current(devices_.at(0));
    nccl(ncclCommInitAll(communicators_.data(), static_cast<int>(size()), devices_.data()),
         "ncclCommInitAll");
  }
  ~Ranks() {
    for (std::size_t rank = 0; rank < size(); ++rank) {
      ncclCommDestroy(communicators_[rank]);
      cudaStreamDestroy(streams_[rank]);
    }
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  std::size_t size() const { return devices_.size(); }
  int device(std::size_t rank) const { return devices_.at(rank); }
  cudaStream_t stream(std::size_t rank) const { return streams_.at(rank); }
  ncclComm_t communicator(std::size_t rank) const { return communicators_.at(rank); }

 private:
  std::vector<int> devices_;
  std::vector<cudaStream_t> streams_;
  std::vector<ncclComm_t> communicators_;
};

/// Runs `call`, which puts work on the ranks' streams and waits for none of it. On the CPU backend,
/// where work begins when somebody waits for it, that is looked at.
inline void expect_not_waiting(const Ranks& on, const std::function<void()>& call) {
  struct Seen {
    std::atomic<bool> has_returned{false}, waited{false};
  } seen;
  for (std::size_t rank = 0; rank < on.size() && !kOnGpu; ++rank) {
    const auto look = [](void* at) {
      Seen& its = *static_cast<Seen*>(at);
      if (!its.has_returned) its.waited = true;
    };
    CUDA_CHECK(cudaLaunchHostFunc(on.stream(rank), look, &seen));
  }
  call();
  seen.has_returned = true;
  wait_for_devices();
  expect(!seen.waited, "the host", "puts its work on the streams and goes on",
         "waits for a stream");
}

}  // namespace lab
