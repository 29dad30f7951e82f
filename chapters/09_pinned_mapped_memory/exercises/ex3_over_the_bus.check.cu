// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what crosses the bus, and when
#include <set>

#include "common/labs/pinned.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

using Kernel = void (*)(const unsigned*, unsigned*);

// Sectors of host memory that the kernel's warps ask for.
double sectors(Kernel kernel) {
  const lab::PinnedWords x(std::vector<unsigned>(1000, 5));
  const lab::Array<unsigned> y(1000);
  unsigned* mapped = nullptr;
  CUDA_CHECK(cudaHostGetDevicePointer(&mapped, x.get(), 0));
  const auto launches = xray::count([&] {
    kernel<<<8, 128>>>(mapped, y.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  const auto loads = launches.at(0).total(xray::Space::kHost, xray::Operation::kLoad);
  return static_cast<double>(loads.sectors);
}

// Sectors that blocks ask for when each asks for a sector once: x[i] and x[i + 1] of its threads.
double sectors_of_pairs_by_block(unsigned block) {
  std::set<std::pair<unsigned, unsigned>> asked;  // by which block, for which sector
  for (unsigned i = 0; i < 999; ++i) {
    for (const unsigned word : {i, i + 1}) asked.insert({i / block, word / 8});
  }
  return static_cast<double>(asked.size());
}

// When the last chunk leaves the last stage. `stages`: ms that each takes for all of the data.
double finished(const std::vector<double>& stages, unsigned chunks, unsigned streams) {
  std::vector<double> engine_free(stages.size(), 0.0), stream_free(streams, 0.0);
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    double& now = stream_free[chunk % streams];
    for (std::size_t k = 0; k < stages.size(); ++k) {
      now = engine_free[k] = std::max(now, engine_free[k]) + stages[k] / chunks;
    }
  }
  return *std::max_element(stream_free.begin(), stream_free.end());
}

}  // namespace

TEST_CASE("the predictions are what crosses the bus, and when") {
  const std::string notes = "chapters/09_pinned_mapped_memory/README.md: ";
  const std::string asked = "chapters/09_pinned_mapped_memory/lab_notes.md: The counters";
  lab::predict("kSectorsOnce", kSectorsOnce, sectors(read_once), asked);
  lab::predict("kSectorsOfPairs", kSectorsOfPairs, sectors(read_pairs), asked);
  lab::predict("kSectorsEveryNinth", kSectorsEveryNinth, sectors(read_every_ninth), asked);
  lab::predict("kPairsOverTheBus", kPairsOverTheBus, sectors_of_pairs_by_block(128),
               notes + "Read it twice");
  const std::string chunks = notes + "Chunks over streams";
  lab::predict("kOneStream", kOneStream, finished({12, 8}, 4, 1), chunks);
  lab::predict("kFourStreams", kFourStreams, finished({12, 8}, 4, 4), chunks);
  lab::predict("kThereAndBack", kThereAndBack, finished({6, 9, 6}, 3, 3), chunks);
}
