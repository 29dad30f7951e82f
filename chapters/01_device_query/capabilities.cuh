// SPDX-License-Identifier: MIT
// Chapter 01, what a compute capability stands for, and how a device is chosen by it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../../common/common.cuh"

// One compute capability: the generation that it belongs to, and what NVIDIA sold under it.
struct Capability {
  int major, minor;
  const char* generation;
  const char* products;  // some of them
  int fp64_per_clock;    // results of 64-bit additions per clock and SM; 0: not known here
  int warps_per_sm;      // that a multiprocessor holds at once; 0: not known here
};

// Sources: "CUDA GPU Compute Capability" on NVIDIA's developer pages (products), the CUDA C++
// Programming Guide (FP64: "Throughput of Native Arithmetic Instructions"; warps: "Technical
// Specifications per Compute Capability"). The FP32 lanes are in common/device.cuh: the peaks of
// all chapters need them.
constexpr Capability kCapabilities[] = {
    {5, 0, "Maxwell", "GeForce GTX 750", 4, 64},
    {5, 2, "Maxwell", "GeForce GTX 900, Tesla M40", 4, 64},
    {5, 3, "Maxwell", "Jetson TX1, Nano", 4, 64},
    {6, 0, "Pascal", "Tesla P100", 32, 64},
    {6, 1, "Pascal", "GeForce GTX 10, Tesla P40", 4, 64},
    {6, 2, "Pascal", "Jetson TX2", 4, 64},
    {7, 0, "Volta", "V100, Titan V", 32, 64},
    {7, 2, "Volta", "Jetson AGX Xavier", 0, 64},
    {7, 5, "Turing", "GeForce RTX 20, GTX 16, T4", 2, 32},
    {8, 0, "Ampere", "A100, A30", 32, 64},
    {8, 6, "Ampere", "GeForce RTX 30, A40, A10", 2, 48},
    {8, 7, "Ampere", "Jetson AGX Orin", 0, 48},
    {8, 9, "Ada", "GeForce RTX 40, L4, L40S", 2, 48},
    {9, 0, "Hopper", "H100, H200, GH200", 64, 64},
    {10, 0, "Blackwell", "B200, GB200", 64, 64},
    {10, 3, "Blackwell", "B300, GB300", 0, 64},
    {11, 0, "Blackwell", "Jetson T4000, T5000", 0, 48},
    {12, 0, "Blackwell", "GeForce RTX 50, RTX PRO", 2, 48},
    {12, 1, "Blackwell", "GB10 (DGX Spark)", 2, 48},
};

// Null for a capability that the table has not met.
const Capability* find_capability(int major, int minor) {
  for (const Capability& known : kCapabilities) {
    if (known.major == major && known.minor == minor) return &known;
  }
  return nullptr;
}

// "128", or "unknown" for 0.
std::string known_text(int value) { return value > 0 ? std::to_string(value) : "unknown"; }

// Prints the table; --csv gets it too.
void print_capabilities(const Options& opt) {
  CsvFile csv;
  csv.open(opt);
  csv.row({"capability", "generation", "products", "fp32", "fp64", "warps"});
  std::printf(
      "| capability | generation | sold as, for example       | FP32 | FP64    | warps |\n");
  std::printf(
      "| ---------- | ---------- | -------------------------- | ---: | ------: | ----: |\n");
  for (const Capability& c : kCapabilities) {
    const std::string number = std::to_string(c.major) + "." + std::to_string(c.minor);
    const std::string fp32 = known_text(fp32_cores_per_sm(c.major, c.minor));
    const std::string fp64 = known_text(c.fp64_per_clock), warps = known_text(c.warps_per_sm);
    std::printf("| %-10s | %-10s | %-26s | %4s | %7s | %5s |\n", number.c_str(), c.generation,
                c.products, fp32.c_str(), fp64.c_str(), warps.c_str());
    csv.row({number, c.generation, c.products, fp32, fp64, warps});
  }
  std::printf("\nFP32, FP64: results per clock and SM; warps: that an SM holds at once\n");
  if (!csv.finish()) std::exit(kExitWrong);
}

// ---- choosing a device -------------------------------------------------------------------------

// What a program may ask of a device. 0: it does not matter.
struct Wish {
  int major, minor;
  std::size_t bytes;  // of global memory
};

bool fulfils(const cudaDeviceProp& device, const Wish& wish) {
  const bool new_enough =
      device.major > wish.major || (device.major == wish.major && device.minor >= wish.minor);
  return new_enough && device.totalGlobalMem >= wish.bytes;
}

// The first device that has everything, or -1.
int first_that_fulfils(const Wish& wish) {
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp device;
    CUDA_CHECK(cudaGetDeviceProperties(&device, ordinal));
    if (fulfils(device, wish)) return ordinal;
  }
  return -1;
}

// What the runtime calls the best match. There always is one, however bad.
int best_match(const Wish& wish) {
  cudaDeviceProp wanted = {};  // what is 0 does not matter
  wanted.major = wish.major;
  wanted.minor = wish.minor;
  wanted.totalGlobalMem = wish.bytes;
  int ordinal = -1;
  CUDA_CHECK(cudaChooseDevice(&ordinal, &wanted));
  return ordinal;
}

// What both make of four wishes; the last two no device can fulfil.
void print_choices(const Options& opt) {
  CsvFile csv;
  csv.open(opt);
  csv.row({"capability", "memory", "best_match", "first_that_fulfils"});
  std::printf("| wanted: capability, memory  | cudaChooseDevice | first that has both |\n");
  std::printf("| --------------------------- | ---------------: | ------------------: |\n");
  for (const Wish& wish : {Wish{0, 0, 0}, {7, 0, 1_Gi}, {99, 0, 0}, {0, 0, 1_Ki << 40}}) {
    const std::string capability = std::to_string(wish.major) + "." + std::to_string(wish.minor);
    const std::string memory = bytes_text(wish.bytes), best = std::to_string(best_match(wish));
    const int ordinal = first_that_fulfils(wish);
    const std::string first = ordinal < 0 ? "none" : std::to_string(ordinal);
    std::printf("| %-27s | %16s | %19s |\n", (capability + ", " + memory).c_str(), best.c_str(),
                first.c_str());
    csv.row({capability, memory, best, first});
  }
  if (!csv.finish()) std::exit(kExitWrong);
}
