// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the rules and the banks give
#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

// One more block as long as there is room for it. make run CH=12 EXPERIMENT=launch_bounds asks the
// API on a GPU.
double blocks_of(std::size_t threads, std::size_t registers, std::size_t shared_bytes) {
  const std::size_t warps = (threads + 31) / 32;
  // A quarter of the multiprocessor has 16 Ki registers, and holds whole warps.
  const std::size_t of_warp = (32 * registers + 255) / 256 * 256;
  const std::size_t of_block = (shared_bytes + 1024 + 127) / 128 * 128;
  std::size_t blocks = 0;
  while (blocks < 32 && (blocks + 1) * threads <= 2048 &&
         (blocks + 1) * warps <= 4 * (16 * 1024 / of_warp) &&
         (blocks + 1) * of_block <= 228 * 1024) {
    ++blocks;
  }
  return static_cast<double>(blocks);
}

double wavefronts(void (*kernel)(unsigned, unsigned, int*), unsigned first, unsigned step) {
  const lab::Array<int> out(kLanes);
  const auto launches = xray::count([&] {
    kernel<<<1, kLanes>>>(first, step, out.get());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  const auto loads = launches.at(0).total(xray::Space::kShared, xray::Operation::kLoad);
  return loads.per_request(loads.wavefronts);
}

}  // namespace

TEST_CASE("the predictions are what the rules and the banks give") {
  const std::string notes = "chapters/12_registers_and_local_memory/lab_notes.md: ";
  lab::predict("kThirtyTwo", kThirtyTwo, blocks_of(256, 32, 0), notes + "Registers against blocks");
  lab::predict("kThirtyThree", kThirtyThree, blocks_of(256, 33, 0),
               notes + "Registers against blocks");
  lab::predict("kAllThereAre", kAllThereAre, blocks_of(256, 255, 0),
               notes + "Registers against blocks");
  lab::predict("kSmall", kSmall, blocks_of(32, 32, 0), notes + "Registers against blocks");
  lab::predict("kShared", kShared, blocks_of(256, 32, 57344), notes + "Registers against blocks");
  lab::predict("kOneMore", kOneMore, blocks_of(256, 32, 57345), notes + "Registers against blocks");
  const std::string banks = "chapters/05_shared_tree_reduction/README.md: The first threads";
  lab::predict("kRowsSameValue", kRowsSameValue, wavefronts(read_row, 5, 0), banks);
  lab::predict("kRowsOwnValue", kRowsOwnValue, wavefronts(read_row, 0, 1), banks);
  lab::predict("kSlotsOwnValue", kSlotsOwnValue, wavefronts(read_slot, 0, 1), banks);
}
