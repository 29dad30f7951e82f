// SPDX-License-Identifier: MIT
// What does a compute capability stand for?
//
// Some rules of the table: a new first number is a new architecture, except for 7.5 and 8.9. Chips
// for data centers have 1/2 of the FP32 rate in FP64, those for graphics 1/32 or 1/64.

#include <cstdio>

#include "../../../common/common.cuh"

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
// Specifications per Compute Capability"). The FP32 lanes are in common/yardsticks.cuh: the peaks
// of all chapters need them.
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

int main(int argc, char** argv) {
  const Options opt(argc, argv, "01_capabilities", "what does a compute capability stand for?", {});
  opt.expect_no_versions();
  std::printf(
      "| capability | generation | sold as, for example       | FP32 | FP64    | warps |\n"
      "| ---------- | ---------- | -------------------------- | ---: | ------: | ----: |\n");
  std::string rows = "capability,generation,products,fp32,fp64,warps\n";
  for (const Capability& c : kCapabilities) {
    const std::string number = std::to_string(c.major) + "." + std::to_string(c.minor);
    const std::string fp32 = known_text(fp32_cores_per_sm(c.major, c.minor));
    const std::string fp64 = known_text(c.fp64_per_clock), warps = known_text(c.warps_per_sm);
    std::printf("| %-10s | %-10s | %-26s | %4s | %7s | %5s |\n", number.c_str(), c.generation,
                c.products, fp32.c_str(), fp64.c_str(), warps.c_str());
    rows += number + "," + c.generation + ",\"" + c.products + "\"," + fp32 + "," + fp64 + "," +
            warps + "\n";
  }
  std::printf("\nFP32, FP64: results per clock and SM; warps: that an SM holds at once\n");
  return write_csv(opt, rows) ? kExitOk : kExitWrong;
}
