// SPDX-License-Identifier: MIT
// Chapter 12, how many blocks of a kernel a multiprocessor holds: predicted from what the kernel
// needs and what the multiprocessor has, to be compared with the runtime's answer.
#pragma once

#include <algorithm>
#include <climits>
#include <cstddef>
#include <string>
#include <vector>

#include "../../common/common.cuh"

// What a block asks for.
struct BlockNeeds {
  unsigned threads, registers;  // registers: per thread
  std::size_t shared_bytes;     // static and dynamic
};

// What a multiprocessor has, and in which portions it hands it out.
struct SmSupply {
  unsigned warps, blocks;
  unsigned registers, registers_per_block;
  unsigned most_per_thread;           // registers
  std::size_t shared_bytes;           // as it is split now: chosen_split()
  std::size_t shared_per_block;       // the most that one block may have
  std::size_t reserved_shared_bytes;  // that the system takes for itself, per block
  std::size_t shared_portion;
};

constexpr unsigned kRegisterPortion = 256;  // per warp: eight for each of its lanes
constexpr unsigned kSmParts = 4;            // a warp's registers all lie in one quarter of the SM

inline std::size_t round_up_to(std::size_t amount, std::size_t portion) {
  return div_up(amount, portion) * portion;
}

// Each limit alone; the least of them counts.
struct BlockLimits {
  unsigned by_threads, by_registers, by_shared;
  unsigned blocks() const { return std::min({by_threads, by_registers, by_shared}); }
};

inline BlockLimits predicted_limits(const BlockNeeds& needs, const SmSupply& sm) {
  const unsigned warps = static_cast<unsigned>(div_up(needs.threads, 32));
  BlockLimits limits = {std::min(sm.blocks, sm.warps / warps), UINT_MAX, UINT_MAX};

  const auto per_warp =
      static_cast<unsigned>(round_up_to(needs.registers * std::size_t{32}, kRegisterPortion));
  if (per_warp > 0) {
    const unsigned warps_held = sm.registers / kSmParts / per_warp * kSmParts;
    const bool startable = needs.registers <= sm.most_per_thread &&
                           per_warp * round_up_to(warps, kSmParts) <= sm.registers_per_block;
    limits.by_registers = startable ? warps_held / warps : 0;
  }

  const std::size_t shared =
      round_up_to(needs.shared_bytes + sm.reserved_shared_bytes, sm.shared_portion);
  if (shared > 0) {
    const bool startable = needs.shared_bytes <= sm.shared_per_block;
    limits.by_shared = startable ? static_cast<unsigned>(sm.shared_bytes / shared) : 0;
  }
  return limits;
}

// The sizes in KiB that the shared memory of a multiprocessor can have ("Shared Memory" of each
// compute capability in the CUDA C++ Programming Guide). Empty for one that this table has not met.
inline std::vector<std::size_t> shared_splits(int capability) {
  switch (capability) {
    case 70:
    case 72:
      return {0, 8, 16, 32, 64, 96};
    case 75:
      return {32, 64};
    case 80:
    case 87:
      return {0, 8, 16, 32, 64, 100, 132, 164};
    case 86:
    case 89:
    case 120:
    case 121:
      return {0, 8, 16, 32, 64, 100};
    case 0:  // the CPU backend imitates these
    case 90:
    case 100:
    case 103:
    case 110:
      return {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    default:
      return {};
  }
}

// The shared memory that a multiprocessor gets for blocks of so many bytes (with the reserved ones)
// and a wish in per cent of the largest split, -1 for none: the smallest split that has both the
// wish and one block.
inline std::size_t chosen_split(int capability, std::size_t largest, std::size_t block_bytes,
                                int carveout_percent) {
  if (carveout_percent < 0) return largest;
  const std::size_t wish = largest * static_cast<std::size_t>(carveout_percent) / 100;
  for (const std::size_t kib : shared_splits(capability)) {
    if (kib * 1024 >= std::max(wish, block_bytes)) return kib * 1024;
  }
  return largest;
}

// ---- asking the runtime ------------------------------------------------------------------------

inline SmSupply supply_of(const Device& device) {
  const auto ask = [&](cudaDeviceAttr attribute) {
    return static_cast<unsigned>(device_attribute(attribute, device.ordinal));
  };
  return {ask(cudaDevAttrMaxThreadsPerMultiProcessor) / 32,
          ask(cudaDevAttrMaxBlocksPerMultiprocessor),
          ask(cudaDevAttrMaxRegistersPerMultiprocessor),
          ask(cudaDevAttrMaxRegistersPerBlock),
          255,
          ask(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
          ask(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          ask(cudaDevAttrReservedSharedMemoryPerBlock),
          device.major == 7 ? 256u : 128u};
}

// Any kernel's attributes: its registers, its bytes of local memory.
template <class Kernel>
cudaFuncAttributes frame_of(Kernel* kernel) {
  cudaFuncAttributes attributes;
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  return attributes;
}

// The columns "registers" and "local_bytes", per thread.
template <class Kernel>
std::vector<std::string> frame_cells(Kernel* kernel) {
  const cudaFuncAttributes frame = frame_of(kernel);
  return {std::to_string(frame.numRegs), std::to_string(frame.localSizeBytes)};
}

// Blocks of a kernel on one multiprocessor: what the rule says, and what the runtime says.
struct BlocksHeld {
  unsigned predicted, by_api;
  bool equal() const { return predicted == by_api; }
};

// `carveout`: the kernel's wish, set before.
template <class Kernel>
BlocksHeld blocks_per_sm(const Device& device, Kernel* kernel, unsigned threads,
                         std::size_t dynamic_bytes, int carveout = -1) {
  const cudaFuncAttributes frame = frame_of(kernel);
  const BlockNeeds needs = {threads, static_cast<unsigned>(frame.numRegs),
                            frame.sharedSizeBytes + dynamic_bytes};
  SmSupply sm = supply_of(device);
  const std::size_t block_bytes =
      round_up_to(needs.shared_bytes + sm.reserved_shared_bytes, sm.shared_portion);
  sm.shared_bytes =
      chosen_split(10 * device.major + device.minor, sm.shared_bytes, block_bytes, carveout);
  int by_api = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &by_api, kernel, static_cast<int>(threads), dynamic_bytes));
  return {predicted_limits(needs, sm).blocks(), static_cast<unsigned>(by_api)};
}
