// SPDX-License-Identifier: MIT
// Finds names of kernels by address in the program's symbol table. Light, since programs include
// it.
#pragma once

namespace cuda_cpu {

/// Name of the function that begins at `address`, demangled and without its arguments; `fallback`
/// when the symbol table does not have it. The text stays valid.
const char* function_name(const void* address, const char* fallback);

}  // namespace cuda_cpu
