// SPDX-License-Identifier: MIT
// Chapter 01, what a device says of itself: its properties, in groups, and the peaks that follow.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "../../common/common.cuh"
#include "capabilities.cuh"
#include "h200_values.cuh"

using Field = std::pair<std::string, std::string>;         // name, value
using Group = std::pair<std::string, std::vector<Field>>;  // title, fields

// The CPU backend stands in for a device, but has no clocks, caches or engines of a GPU.
std::string gpu_only(const std::string& value) { return kOnGpu ? value : "-"; }

// How many operations the multiprocessors can do in the time in which the memory delivers one
// float. A program that does fewer per float waits for memory. 0 when either peak is unknown.
double operations_per_float(double gflops, double gbps) {
  return gbps > 0 ? gflops / (gbps / sizeof(float)) : 0;
}

std::string peak_dram_text(const Device& d) {
  if (d.peak_dram_gbps() == 0) return "unknown: the device does not tell its memory clock";
  return digits_text(d.peak_dram_gbps()) + " GB/s";
}

std::string peak_fp32_text(const Device& d) {
  if (d.peak_fp32_gflops() == 0) {
    return "unknown: compute capability " + d.capability() + " is not in common/device.cuh";
  }
  return digits_text(d.peak_fp32_gflops() / 1e3) + " TFLOP/s";
}

// How many 32-bit results an SM delivers in the time of one 64-bit result: 2 on a chip for
// simulations, 32 or 64 on one for graphics.
std::string fp64_text(int ratio) { return "1/" + std::to_string(ratio) + " of FP32"; }

std::string peak_fp64_text(const Device& d, int ratio) {
  if (d.peak_fp32_gflops() == 0 || ratio <= 0) return "unknown, as the FP32 rate is";
  return digits_text(d.peak_fp32_gflops() / ratio / 1e3) + " TFLOP/s";
}

std::string balance_text(const Device& d) {
  const double balance = operations_per_float(d.peak_fp32_gflops(), d.peak_dram_gbps());
  return balance > 0 ? digits_text(balance) + " operations" : "unknown, as a peak is";
}

// Everything about one device, in groups. Attributes instead of the fields of cudaDeviceProp, some
// of which are gone in CUDA 13 (clockRate, memoryClockRate, deviceOverlap).
std::vector<Group> describe(int ordinal) {
  const Device d = describe_device(ordinal);
  const auto value = [&](cudaDeviceAttr attribute) { return device_attribute(attribute, ordinal); };
  const auto count = [&](cudaDeviceAttr attribute) { return std::to_string(value(attribute)); };
  const auto bytes = [&](cudaDeviceAttr attribute) {
    return bytes_text(static_cast<std::size_t>(value(attribute)));
  };
  const auto yes_no = [&](cudaDeviceAttr attribute) { return value(attribute) ? "yes" : "no"; };
  const auto extent = [&](cudaDeviceAttr x, cudaDeviceAttr y, cudaDeviceAttr z) {
    return count(x) + " x " + count(y) + " x " + count(z);
  };
  const auto megahertz = [](int khz) { return digits_text(khz / 1e3) + " MHz"; };
  const int cores = fp32_cores_per_sm(d.major, d.minor);
  const int fp64_ratio = value(cudaDevAttrSingleToDoublePrecisionPerfRatio);
  const Capability* const known = find_capability(d.major, d.minor);
  const int warps = value(cudaDevAttrMaxThreadsPerMultiProcessor) / value(cudaDevAttrWarpSize);
  return {
      {"device " + std::to_string(ordinal),
       {{"name", d.name},
        {"compute capability", gpu_only(d.capability())},
        {"generation", gpu_only(known != nullptr ? known->generation : "unknown")},
        {"CUDA of the driver", gpu_only(Device::version_text(d.driver_version))},
        {"CUDA of this program", Device::version_text(d.runtime_version)}}},
      {"multiprocessors (SMs)",
       {{"SMs", std::to_string(d.sm_count)},
        {"FP32 cores per SM", gpu_only(known_text(cores))},
        {"FP64 rate", gpu_only(fp64_text(fp64_ratio))},
        {"boost clock", gpu_only(megahertz(d.core_khz))},
        {"threads per SM", count(cudaDevAttrMaxThreadsPerMultiProcessor)},
        {"warps per SM", std::to_string(warps)},
        {"blocks per SM", gpu_only(count(cudaDevAttrMaxBlocksPerMultiprocessor))},
        {"registers per SM", gpu_only(count(cudaDevAttrMaxRegistersPerMultiprocessor))},
        {"shared memory per SM", gpu_only(bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor))}}},
      {"limits of one launch",
       {{"threads per warp", count(cudaDevAttrWarpSize)},
        {"threads per block", count(cudaDevAttrMaxThreadsPerBlock)},
        {"block, x y z",
         extent(cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ)},
        {"grid, x y z",
         extent(cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ)},
        {"registers per block", gpu_only(count(cudaDevAttrMaxRegistersPerBlock))},
        {"shared memory per block", bytes(cudaDevAttrMaxSharedMemoryPerBlock)},
        {"  the same, after opting in", bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin)},
        {"constant memory", bytes(cudaDevAttrTotalConstantMemory)}}},
      {"memory",
       {{"global memory", bytes_text(d.total_bytes)},
        {"L2 cache", gpu_only(bytes_text(d.l2_bytes))},
        {"memory clock", gpu_only(megahertz(d.memory_khz))},
        {"memory bus", gpu_only(std::to_string(d.bus_bits) + " bit")},
        {"ECC", gpu_only(yes_no(cudaDevAttrEccEnabled))},
        {"largest pitch of a 2D copy", gpu_only(bytes(cudaDevAttrMaxPitch))},
        {"texture alignment", gpu_only(bytes(cudaDevAttrTextureAlignment))}}},
      {"host and device",
       {{"copy engines", gpu_only(count(cudaDevAttrAsyncEngineCount))},
        {"unified addressing", yes_no(cudaDevAttrUnifiedAddressing)},
        {"can map host memory", yes_no(cudaDevAttrCanMapHostMemory)}}},
      {"what follows",
       {{"peak DRAM bandwidth", gpu_only(peak_dram_text(d))},
        {"peak FP32 rate", gpu_only(peak_fp32_text(d))},
        {"peak FP64 rate", gpu_only(peak_fp64_text(d, fp64_ratio))},
        {"balance, per float loaded", gpu_only(balance_text(d))}}}};
}

// Without a GPU every value has that of an H200 beside it.
void print_beside_an_h200(const std::vector<Group>& groups) {
  const std::string line(27, '-');
  for (const auto& [title, fields] : groups) {
    std::printf("| %-27s | %27s | %27s |\n", title.c_str(), "this machine", "an H200");
    std::printf("| %s | %.26s: | %.26s: |\n", line.c_str(), line.c_str(), line.c_str());
    for (const auto& [name, value] : fields) {
      std::printf("| %-27s | %27s | %27s |\n", name.c_str(), value.c_str(),
                  h200_value(name).c_str());
    }
    std::printf("\n");
  }
  std::printf(
      "-: only a GPU has it. The H200's values are from "
      "chapters/01_device_query/results/h200.txt.\n\n");
}

void print(const std::vector<Group>& groups) {
  if (!kOnGpu) return print_beside_an_h200(groups);
  for (const auto& [title, fields] : groups) {
    std::printf("| %-27s | %-34s |\n| %s | %s: |\n", title.c_str(), "",
                std::string(27, '-').c_str(), std::string(33, '-').c_str());
    for (const auto& [name, value] : fields) {
      std::printf("| %-27s | %34s |\n", name.c_str(), value.c_str());
    }
    std::printf("\n");
  }
}
