// SPDX-License-Identifier: MIT
// Stands in for <host_defines.h>: the keywords of CUDA C++ that are no words of C++.
#pragma once

#define __HOST_DEFINES_H__

// One compilation serves host and device, so these words mean nothing to the compiler. `__shared__`
// is not among them: the pre-pass replaces it, and any that it missed must not compile. For the
// same reason it defines `__CUDA_ARCH__` only around the conditionals of device code that ask for
// it; as a number it is known everywhere (cuda_runtime.h).
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
// No always_inline: such a function may be called through a pointer, which g++ then refuses.
#define __forceinline__ inline
#define __noinline__  // empty: libstdc++ has it within an __attribute__
#define __align__(bytes) __attribute__((aligned(bytes)))

#define CUDARTAPI
#define CUDARTAPI_CDECL
