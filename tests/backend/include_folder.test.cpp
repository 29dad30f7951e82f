// SPDX-License-Identifier: MIT
// The include folder of the CPU backend holds what CUDA names, one header of PTX, and shadows
// nothing. Two files include every standard header; in this one <cuda_runtime.h> comes after them.
#include "standard_headers.h"

#include <cuda_runtime.h>

#include "../catch.hpp"

namespace {

namespace fs = std::filesystem;

const char* const kFolder = "common/cpu/cuda";

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  CHECK(pclose(pipe) == 0);
  return text;
}

}  // namespace

TEST_CASE("the include folder holds CUDA's own names, and one for instructions without a name") {
  const std::set<std::string> names{
      "builtin_types.h",
      "channel_descriptor.h",
      "cooperative_groups.h",
      "cooperative_groups/memcpy_async.h",
      "cooperative_groups/reduce.h",
      "cooperative_groups/scan.h",
      "cuComplex.h",
      "cublas_v2.h",
      "cuda.h",
      "cuda/atomic",
      "cuda/barrier",
      "cuda/pipeline",
      "cuda_bf16.h",
      "cuda_fp16.h",
      "cuda_pipeline.h",
      "cuda_pipeline_primitives.h",
      "cuda_profiler_api.h",
      "cuda_runtime.h",
      "cuda_runtime_api.h",
      "device_atomic_functions.h",
      "device_functions.h",
      "device_launch_parameters.h",
      "driver_types.h",
      "host_defines.h",
      "library_types.h",
      "math_constants.h",
      "math_functions.h",
      "mma.h",
      "nccl.h",
      "nvToolsExt.h",
      "nvtx3/nvToolsExt.h",
      "surface_types.h",
      "tensor_instructions.h",  // of PTX, which has no header
      "texture_types.h",
      "vector_functions.h",
      "vector_types.h",
  };
  std::set<std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kFolder)) {
    if (entry.is_directory()) continue;
    found.insert(fs::relative(entry.path(), kFolder).generic_string());
  }
  CHECK(found == names);
}

TEST_CASE("every standard header is the system's own") {
  const char* const set = std::getenv("CXX");
  const std::string compiler = set != nullptr && *set != '\0' ? set : "c++";
  const std::string flags = std::string(" -std=c++17 -D__CUDA_CPU__=1 -x c++ -M -I") + kFolder;
  const std::string read = output_of(compiler + flags + " tests/backend/standard_headers.h");
  CHECK(read.find("/vector") != std::string::npos);
  CHECK(read.find("common/cpu") == std::string::npos);
  // The test sees a header that would be taken.
  const std::string ours = output_of(compiler + flags + " -include cuda_runtime.h /dev/null");
  CHECK(ours.find("common/cpu/cuda/cuda_runtime.h") != std::string::npos);
}

TEST_CASE("a host file with every standard header calls the runtime") {
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices) == cudaSuccess);
  CHECK(devices == 1);
}
