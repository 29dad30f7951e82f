// SPDX-License-Identifier: MIT
// Headers of the toolkit that the CPU backend has not: an #include of one becomes one line that
// says so, unless a file of that name lies in the program's own folders. Single names that are
// missing: runtime/refused.h.
#pragma once

namespace prepass {

struct RefusedHeader {
  const char* begins;  ///< of the header's name
  const char* what;
};

constexpr RefusedHeader kRefusedHeaders[] = {
    {"cudaGL.h", "graphics"},
    {"cuda_d3d", "graphics"},
    {"cuda_egl_interop.h", "graphics"},
    {"cuda_gl_interop.h", "graphics"},
    {"cuda_vdpau_interop.h", "graphics"},
    {"cuda_fp4.h", "4-bit floats"},
    {"cuda_fp6.h", "6-bit floats"},
    {"cuda_fp8.h", "8-bit floats"},
    {"cudnn", "cuDNN"},
    {"cufft", "cuFFT"},
    {"cuda/ptx", "PTX"},
    {"cupti", "CUPTI"},
    {"curand", "cuRAND"},
    {"cusolver", "cuSOLVER"},
    {"cusparse", "cuSPARSE"},
    {"cutensor", "cuTENSOR"},
    {"npp", "NPP"},
    {"nccl.h", "NCCL"},
    {"nvJitLink.h", "nvJitLink"},
    {"nvjpeg.h", "nvJPEG"},
    {"nvml.h", "NVML"},
    {"nvrtc.h", "NVRTC"},
    {"nvshmem", "NVSHMEM"},
};

}  // namespace prepass
