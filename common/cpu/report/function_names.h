// SPDX-License-Identifier: MIT
// Names of kernels from their addresses, out of the program's symbol table. Light, for programs
// include it.
#pragma once

namespace cuda_cpu {

/// Name of the function that begins at `address`, demangled and without its arguments; `fallback`
/// when the program's symbol table does not tell. Stays valid.
const char* function_name(const void* address, const char* fallback);

}  // namespace cuda_cpu
