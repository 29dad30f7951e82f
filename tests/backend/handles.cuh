// SPDX-License-Identifier: MIT
// What tests of the backend make and give back: an int of host and device, a stream, an event.
#pragma once

#include <cuda_runtime.h>

#include "../catch.hpp"

/// One int that host and device can use.
struct PinnedInt {
  explicit PinnedInt(int value = 0) {
    REQUIRE(cudaMallocHost(&p, sizeof(int)) == cudaSuccess);
    *p = value;
  }
  ~PinnedInt() { cudaFreeHost(p); }
  PinnedInt(const PinnedInt&) = delete;
  PinnedInt& operator=(const PinnedInt&) = delete;
  int* p = nullptr;
};

struct Stream {
  explicit Stream(unsigned flags = cudaStreamDefault) {
    REQUIRE(cudaStreamCreateWithFlags(&s, flags) == cudaSuccess);
  }
  ~Stream() { cudaStreamDestroy(s); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t s = nullptr;
};

struct Event {
  explicit Event(unsigned flags = cudaEventDefault) {
    REQUIRE(cudaEventCreateWithFlags(&e, flags) == cudaSuccess);
  }
  ~Event() { cudaEventDestroy(e); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t e = nullptr;
};
