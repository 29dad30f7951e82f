// SPDX-License-Identifier: MIT
// Stands in for <cuda_runtime.h> on the CPU backend: the keywords of CUDA C++, the runtime API, the
// launch and the device-side built-ins. nvcc includes its own by itself; here the build does.
#pragma once

// nvcc's header brings these along, and programs rely on it.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define __CUDA_RUNTIME_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

// The build defines __CUDACC__ and __NVCC__ for a .cu, as nvcc does, and for nothing else.
#if defined(__CUDACC__)
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_ARCH_LIST__ CUDA_CPU_ARCH
#endif

#include "../engine/arithmetic/device_functions.h"
#include "../engine/arithmetic/simd_integers.h"
#include "../engine/meeting/atomics.h"
#include "../engine/meeting/barriers.h"
#include "../engine/meeting/warp.h"
#include "../engine/memory/shared.h"
#include "../engine/memory/symbols.h"
#include "../engine/state/current.h"
#include "../engine/state/printing.h"
#include "../libs/textures/fetches.h"
#include "../runtime/launch.h"
#include "../types/vector_types.h"
#include "cuda_runtime_api.h"
#include "host_defines.h"

/// In `if (__CUDA_ARCH__ >= 800)`; conditionals of the preprocessor are handled by the pre-pass.
constexpr int __CUDA_ARCH__ = CUDA_CPU_ARCH;
