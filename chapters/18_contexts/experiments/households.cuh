// SPDX-License-Identifier: MIT
// For experiments: what a context owns, a word and a stream, as in the chapter's program.
#pragma once

#include "../driver.cuh"

// A word and a stream of the context that is current when they are made.
struct Belongings {
  Belongings() {
    DRIVER_CHECK(cuMemAlloc(&word, sizeof(unsigned)));
    DRIVER_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }
  unsigned* pointer() const { return reinterpret_cast<unsigned*>(word); }

  CUdeviceptr word = 0;
  CUstream stream = nullptr;
};
