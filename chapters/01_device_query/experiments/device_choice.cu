// SPDX-License-Identifier: MIT
// Which device is chosen for a wish, and who says so when there is none?

#include <cstdio>

#include "../../../common/common.cuh"

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
int main(int argc, char** argv) {
  const Options opt(argc, argv, "01_device_choice", "which device is chosen for a wish?", {});
  opt.expect_no_versions();
  require_device(opt);
  std::printf(
      "| wanted: capability, memory  | cudaChooseDevice | first that has both |\n"
      "| --------------------------- | ---------------: | ------------------: |\n");
  std::string rows = "capability,memory,best_match,first_that_fulfils\n";
  for (const Wish& wish : {Wish{0, 0, 0}, {7, 0, 1_Gi}, {99, 0, 0}, {0, 0, 1_Ki << 40}}) {
    const std::string capability = std::to_string(wish.major) + "." + std::to_string(wish.minor);
    const std::string memory = bytes_text(wish.bytes), best = std::to_string(best_match(wish));
    const int ordinal = first_that_fulfils(wish);
    const std::string first = ordinal < 0 ? "none" : std::to_string(ordinal);
    std::printf("| %-27s | %16s | %19s |\n", (capability + ", " + memory).c_str(), best.c_str(),
                first.c_str());
    rows += capability + "," + memory + "," + best + "," + first + "\n";
  }
  return write_csv(opt, rows) ? kExitOk : kExitWrong;
}
