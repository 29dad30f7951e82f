// SPDX-License-Identifier: MIT
// Stands in for <cuda_runtime.h> on the CPU backend: the keywords of CUDA C++, the runtime API, the
// launch and the device-side built-ins. nvcc includes its own by itself; here the build does.
#pragma once

// nvcc's header brings these along, and programs rely on it.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>

// One compilation serves host and device, so these words mean nothing to the compiler. `__shared__`
// is not among them: the pre-pass replaces it, and any that it missed must not compile.
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))

#include "../engine/atomics.h"
#include "../engine/barriers.h"
#include "../engine/builtin_variables.h"
#include "../engine/device_functions.h"
#include "../engine/shared.h"
#include "../engine/symbols.h"
#include "../engine/textures.h"
#include "../engine/warp.h"
#include "../runtime/launch.h"
#include "cuda_runtime_api.h"
#include "vector_types.h"
