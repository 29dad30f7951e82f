// SPDX-License-Identifier: MIT
// The program's file, where it lies in memory, and the names of its functions.
#pragma once

#include <cstdint>
#include <string>

namespace cuda_cpu {

/// Path of the running program; empty when the system does not say.
std::string program_path();

/// Where the program's own image begins, so that addresses in libraries can be told from its own.
std::uintptr_t program_base();

/// Subtract this from an address to find it in the program's file.
std::uintptr_t program_bias();

/// False for addresses in shared libraries.
bool is_in_program(const void* pc);

/// The same for instructions, and safe in a signal handler. The backend is linked statically, so it
/// belongs to the program.
bool is_in_program_text(const void* pc);

/// True for code, constants and string literals, of the program or (where the system tells) of its
/// libraries.
bool is_constant_in_program(const void* address);

/// Name of the function that begins at `address`, demangled and without its arguments; `fallback`
/// when the symbol table does not have it. The text stays valid.
const char* function_name(const void* address, const char* fallback);

}  // namespace cuda_cpu
