// SPDX-License-Identifier: MIT
// Several devices that work together, and NCCL's errors: for the program and its experiments.
#pragma once

#include <nccl.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "../../common/common.cuh"

void check_nccl(ncclResult_t status, const char* call, const char* file, int line) {
  if (status == ncclSuccess) return;
  on_cuda_failure(text(file, ":", line, ": ", call, " failed: ", ncclGetErrorString(status)));
}
#define NCCL_CHECK(call) check_nccl((call), #call, __FILE__, __LINE__)

// What one of several ranks has of n elements. The first ranks have one more where n is no multiple
// of their number, so those without any are the last ones.
struct Share {
  std::size_t first, count;
};
Share share_of(std::size_t n, std::size_t rank, std::size_t ranks) {
  const std::size_t each = n / ranks, longer = n % ranks;
  return {rank * each + std::min(rank, longer), each + (rank < longer)};
}

// One device's place in the work.
struct Rank {
  std::size_t number;  // 0, 1, ...
  int device;
  cudaStream_t stream;  // its kernels, and what they wait for
  cudaStream_t beside;  // what runs beside them; its blocks go first
  ncclComm_t communicator = nullptr;
};

// Host threads, one for each rank, with its device as their current one. They live as long as this,
// so that a row's time has no start of a thread in it.
class Callers {
 public:
  explicit Callers(const std::vector<Rank>& ranks) : count_(ranks.size()) {
    for (const Rank& rank : ranks) threads_.emplace_back([this, &rank] { serve(rank); });
  }
  ~Callers() {
    begin(nullptr);
    for (std::thread& thread : threads_) thread.join();
  }
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  // work(rank) by all at once. Returns the milliseconds until the last one is done.
  double run(const std::function<void(const Rank&)>& work) {
    const std::size_t turn = begin(work);
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return done_ == turn * count_; });
    return host_ms() - begin_ms_;
  }

 private:
  std::size_t begin(const std::function<void(const Rank&)>& work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_ = work;
    changed_.notify_all();
    return ++turn_;
  }

  void serve(const Rank& rank) {
    CUDA_CHECK(cudaSetDevice(rank.device));  // of this thread: it begins with device 0
    for (std::size_t turn = 1;; ++turn) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return turn_ == turn; });
        if (work_ == nullptr) return;
        begin_ms_ = host_ms();  // the last one's stays: nobody begins before
        ++ready_;
      }
      while (ready_ < turn * count_) std::this_thread::yield();
      work_(rank);
      const std::lock_guard<std::mutex> lock(mutex_);
      ++done_;
      changed_.notify_all();
    }
  }

  const std::size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void(const Rank&)> work_;
  std::size_t turn_ = 0, done_ = 0;
  double begin_ms_ = 0;
  std::atomic<std::size_t> ready_{0};
  std::vector<std::thread> threads_;
};

// The ranks of one process, a device each.
class Ranks {
 public:
  explicit Ranks(const std::vector<int>& devices) {
    for (const int device : devices) {
      Rank rank{ranks_.size(), device, nullptr, nullptr};
      int least = 0, greatest = 0;
      CUDA_CHECK(cudaSetDevice(device));
      CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
      CUDA_CHECK(cudaStreamCreate(&rank.stream));
      CUDA_CHECK(cudaStreamCreateWithPriority(&rank.beside, cudaStreamDefault, greatest));
      ranks_.push_back(rank);
    }
    CUDA_CHECK(cudaSetDevice(devices.at(0)));
  }
  ~Ranks() {
    callers_.reset();
    for (const Rank& rank : ranks_) {
      if (rank.communicator != nullptr) ncclCommDestroy(rank.communicator);
      cudaStreamDestroy(rank.stream);
      cudaStreamDestroy(rank.beside);
    }
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  // Gives each a communicator, by which NCCL knows it.
  void connect() {
    std::vector<int> devices;
    for (const Rank& rank : ranks_) devices.push_back(rank.device);
    std::vector<ncclComm_t> communicators(size());
    NCCL_CHECK(ncclCommInitAll(communicators.data(), static_cast<int>(size()), devices.data()));
    for (Rank& rank : ranks_) rank.communicator = communicators[rank.number];
    CUDA_CHECK(cudaSetDevice(ranks_[0].device));
  }

  std::size_t size() const { return ranks_.size(); }
  const Rank& operator[](std::size_t number) const { return ranks_[number]; }

  // work(rank) for each of them, while its device is current; the first one's is afterwards.
  template <class Work>
  void each(Work work) const {
    for (const Rank& rank : ranks_) {
      CUDA_CHECK(cudaSetDevice(rank.device));
      work(rank);
    }
    CUDA_CHECK(cudaSetDevice(ranks_[0].device));
  }

  // The same by a host thread of each rank's own, which is there from the first time on. Returns
  // the milliseconds.
  double each_in_thread(const std::function<void(const Rank&)>& work) const {
    if (callers_ == nullptr) callers_ = std::make_unique<Callers>(ranks_);
    return callers_->run(work);
  }

  // Until all that was asked of all devices is done.
  void wait() const {
    each([](const Rank&) { CUDA_CHECK(cudaDeviceSynchronize()); });
  }

 private:
  std::vector<Rank> ranks_;
  mutable std::unique_ptr<Callers> callers_;
};

// `count` devices from --device on; 0: all there are from there on.
std::vector<int> devices_of(const Options& opt, std::size_t count) {
  const auto there_are = static_cast<std::size_t>(require_device(opt));
  const std::size_t most = there_are - opt.device;
  if (count > most)
    opt.usage_error("--devices ", count, ": expected 1 to ", most, ", this machine's devices",
                    opt.device > 0 ? text(" from ", opt.device, " on") : "");
  std::vector<int> devices(count == 0 ? most : count);
  std::iota(devices.begin(), devices.end(), static_cast<int>(opt.device));
  return devices;
}

// Lets each of the devices use the memory of each other one directly. Returns whether all can.
bool enable_peers(const std::vector<int>& devices) {
  bool all_can = true;
  for (const int device : devices) {
    CUDA_CHECK(cudaSetDevice(device));
    for (const int peer : devices) {
      int can = 0;
      if (peer == device) continue;
      CUDA_CHECK(cudaDeviceCanAccessPeer(&can, device, peer));
      all_can = all_can && can != 0;
      if (can == 0) continue;
      const cudaError_t enabled = cudaDeviceEnablePeerAccess(peer, 0);
      if (enabled == cudaErrorPeerAccessAlreadyEnabled)
        cudaGetLastError();  // NCCL was here before; the error is not kept for the next check
      else
        CUDA_CHECK(enabled);
    }
  }
  CUDA_CHECK(cudaSetDevice(devices.at(0)));
  return all_can;
}

// Times per call. run(calls) makes so many in a row and waits for all; it returns the milliseconds.
// A sample has so many calls that the wait at its end counts for little.
template <class Run>
Timing time_calls(std::size_t samples, Run&& run) {
  constexpr double kSampleMs = 5, kMostCalls = 1024;
  const auto per_call = [&](double calls) { return run(static_cast<std::size_t>(calls)) / calls; };
  per_call(1);  // warms up
  double calls = 1;
  if (kOnGpu) calls = std::floor(std::clamp(kSampleMs / per_call(3), 1.0, kMostCalls));
  std::vector<double> ms;
  while (ms.size() < samples) ms.push_back(per_call(calls));
  return timing_of(ms);
}

// Milliseconds until all devices have done what `calls` calls of launch() ask of them.
template <class Launch>
double ms_of_calls(const Ranks& ranks, std::size_t calls, Launch&& launch) {
  ranks.wait();
  const double begin = host_ms();
  for (std::size_t call = 0; call < calls; ++call) launch();
  ranks.wait();
  return host_ms() - begin;
}

// The same where a host thread of each rank's own calls launch(rank).
template <class Launch>
double ms_of_threads(const Ranks& ranks, std::size_t calls, Launch&& launch) {
  ranks.wait();
  return ranks.each_in_thread([&](const Rank& rank) {
    for (std::size_t call = 0; call < calls; ++call) launch(rank);
    CUDA_CHECK(cudaDeviceSynchronize());
  });
}
