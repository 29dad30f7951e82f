// SPDX-License-Identifier: MIT
// Chapter 01, what an H200 says of itself, for machines without a GPU.
#pragma once

#include <string>
#include <utility>

// As this program printed them on an NVIDIA H200: results/h200.txt. The tests compare the two.
constexpr std::pair<const char*, const char*> kH200Values[] = {
    {"name", "NVIDIA H200"},
    {"compute capability", "9.0"},
    {"generation", "Hopper"},
    {"CUDA of the driver", "13.0"},
    {"CUDA of this program", "13.0"},
    {"SMs", "132"},
    {"FP32 cores per SM", "128"},
    {"FP64 rate", "1/2 of FP32"},
    {"boost clock", "1980 MHz"},
    {"threads per SM", "2048"},
    {"warps per SM", "64"},
    {"blocks per SM", "32"},
    {"registers per SM", "65536"},
    {"shared memory per SM", "228 KiB"},
    {"threads per warp", "32"},
    {"threads per block", "1024"},
    {"block, x y z", "1024 x 1024 x 64"},
    {"grid, x y z", "2147483647 x 65535 x 65535"},
    {"registers per block", "65536"},
    {"shared memory per block", "48 KiB"},
    {"  the same, after opting in", "227 KiB"},
    {"constant memory", "64 KiB"},
    {"global memory", "140 GiB"},
    {"L2 cache", "60 MiB"},
    {"memory clock", "3201 MHz"},
    {"memory bus", "6016 bit"},
    {"ECC", "yes"},
    {"largest pitch of a 2D copy", "2.0 GiB"},
    {"texture alignment", "512 B"},
    {"copy engines", "3"},
    {"unified addressing", "yes"},
    {"can map host memory", "yes"},
    {"peak DRAM bandwidth", "4814 GB/s"},
    {"peak FP32 rate", "66.91 TFLOP/s"},
    {"peak FP64 rate", "33.45 TFLOP/s"},
    {"balance, per float loaded", "55.59 operations"},
};

// The H200's value of a field, "-" for one that it was not asked for.
std::string h200_value(const std::string& name) {
  for (const auto& [known, value] : kH200Values) {
    if (name == known) return value;
  }
  return "-";
}
