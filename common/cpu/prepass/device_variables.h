// SPDX-License-Identifier: MIT
// __device__ and __constant__ variables in host code. They lie in the GPU's memory: nvcc warns
// where host code reads or writes one, and gives host code the address of something else. On the
// CPU backend all of it would work.
#pragma once

#include "found.h"
#include "structure.h"

namespace prepass {

/// Throws SourceError where a host function names such a variable of this file for anything but the
/// runtime's functions for symbols. What a function for both sides does, or one that macros
/// declare, is not looked at; nor a variable that is handed on whole to some other function, which
/// may take a reference.
void refuse_device_variables_in_host_code(const Structure& structure, const Constructs& found);

}  // namespace prepass
