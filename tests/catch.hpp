// SPDX-License-Identifier: MIT
// Catch2, whichever of its two forms the system has: the v3 library or the v2 single header.
#pragma once

// Catch2 quiets fewer warnings where it takes the compiler for nvcc.
#if defined(__CUDA_CPU__)
#pragma push_macro("__CUDACC__")
#undef __CUDACC__
#endif

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as in v2
#elif __has_include(<catch2/catch.hpp>)
#include <catch2/catch.hpp>
#else
#include <catch.hpp>
#endif

#if defined(__CUDA_CPU__)
#pragma pop_macro("__CUDACC__")
#endif
