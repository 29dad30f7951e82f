// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the copies ask for
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

// A copy of n elements in blocks of `block`.
template <class T>
xray::Launch copy_of(void (*kernel)(const T*, T*, std::size_t), std::size_t n, unsigned block) {
  T *from = nullptr, *to = nullptr;
  CUDA_CHECK(cudaMalloc(&from, n * sizeof(T)));
  CUDA_CHECK(cudaMalloc(&to, n * sizeof(T)));
  CUDA_CHECK(cudaMemset(from, 0, n * sizeof(T)));
  const auto launches = xray::count([&] {
    kernel<<<static_cast<unsigned>(div_up(n, block)), block>>>(from, to, n);
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  CUDA_CHECK(cudaFree(from));
  CUDA_CHECK(cudaFree(to));
  return launches.at(0);
}

xray::Counts loads(const xray::Launch& launch) {
  return launch.total(xray::Space::kGlobal, xray::Operation::kLoad);
}

// A device that does not exist, and its memory.
constexpr double kMemoryGhz = 1, kBusBytes = 3072 / 8.0;

Device made_up() {
  Device d = {};
  d.major = 8;  // 64 cores in each multiprocessor
  d.multiProcessorCount = 100;
  d.core_khz = 1500000;
  return d;
}

}  // namespace

TEST_CASE("the predictions are what the copies ask for") {
  const std::string notes = "chapters/01_device_query/README.md: ";
  const xray::Launch words = copy_of(copy_words, kWords, kThreads);
  lab::predict("kBlocks", kBlocks, static_cast<double>(words.blocks),
               notes + "What a program gets of the bytes");
  lab::predict("kWarps", kWarps, static_cast<double>(words.warps_counted),
               notes + "Two limits on paper");
  const std::string counters = "chapters/01_device_query/lab_notes.md: The counters";
  const auto requests = [](const xray::Launch& l) {
    return static_cast<double>(loads(l).requests);
  };
  lab::predict("kRequests", kRequests, requests(words), counters);
  lab::predict("kIntRequests", kIntRequests, requests(copy_of(copy_ints, kInts, kThreads)),
               counters);
  const auto sectors = [](const xray::Launch& l) { return static_cast<double>(loads(l).sectors); };
  lab::predict("kSectorsOf32Lanes", kSectorsOf32Lanes, sectors(copy_of(copy_words, 32, 32)),
               counters);
  lab::predict("kSectorsOf22Lanes", kSectorsOf22Lanes, sectors(copy_of(copy_words, 22, 32)),
               counters);
  lab::predict("kSectorsOf32IntLanes", kSectorsOf32IntLanes, sectors(copy_of(copy_ints, 32, 32)),
               counters);
  const double gbps = kMemoryGhz * 2 * kBusBytes, gflops = peak_fp32_gflops(made_up());
  lab::predict("kGigabytesPerSecond", kGigabytesPerSecond, gbps, notes + "Two limits on paper");
  lab::predict("kGigaflops", kGigaflops, gflops, notes + "Two limits on paper");
  lab::predict("kOperationsPerFloat", kOperationsPerFloat, gflops / (gbps / sizeof(float)),
               notes + "Two limits on paper");
}
