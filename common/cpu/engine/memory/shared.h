// SPDX-License-Identifier: MIT
// __shared__ memory. The pre-pass turns every declaration into a call of shared<T>() or
// dynamic_shared<T>().
#pragma once

#include <cstddef>
#include <string_view>

#include "../state/block.h"
#include "../state/current.h"
#include "../state/device_limits.h"
#include "../state/uninstrumented.h"

/// What a macro stands for, as a string.
#define CUDA_CPU_TEXT(...) CUDA_CPU_TEXT_OF(__VA_ARGS__)
#define CUDA_CPU_TEXT_OF(...) #__VA_ARGS__

namespace cuda_cpu {

/// One __shared__ declaration of the program (one per instantiation of a template).
struct SharedDeclaration {
  std::size_t size;
  std::size_t alignment;
  int number = -1;  // assigned at the first touch: its index in every block's table
};

template <class T>
struct SharedDeclarationOf {
  static inline SharedDeclaration declaration{sizeof(T), alignof(T)};
};

/// Whether a macro's text is the keyword.
constexpr bool names_shared(std::string_view text) { return text == "__shared__"; }

/// One of several names in a declaration, `__shared__ float a[32], b[32];`. Each has its own
/// memory, so that an index past the end of the first does not reach the second.
template <class Declaration, class T, int kName>
struct SharedName {
  T value;
};

template <class Declaration, class T, int kName>
struct SharedDeclarationOf<SharedName<Declaration, T, kName>> {
  static inline SharedDeclaration declaration{sizeof(T), alignof(Declaration)};
};

/// First touch of a declaration by the current block: finds or makes its memory and poisons it.
void* touch_shared(SharedDeclaration& declaration, Site site, const char* name);
void* touch_dynamic_shared(const char* name, Site site);

/// After every block: checks for writes around the arrays and returns a CUDA error code.
int finish_shared(Block* block);

/// Whether the address lies in one of the block's arrays, or so close that it faults.
bool is_shared_address(const Block* block, const void* address);

/// Largest dynamic shared memory that any kernel may be launched with: 48 KiB until the program
/// raises it for one of them with cudaFuncSetAttribute. The engine cannot always tell which kernel
/// a launch is for.
std::size_t dynamic_shared_limit();
void raise_dynamic_shared_limit(std::size_t bytes);

/// The current block's instance of a __shared__ declaration. It starts as 0xff bytes, and it ends
/// at a guard page, so that an index past its end faults.
template <class T>
CUDA_CPU_UNINSTRUMENTED inline T& shared(const char* name, const char* file, int line) {
  SharedDeclaration& declaration = SharedDeclarationOf<T>::declaration;
  Block* const block = current_block;
  const auto number = static_cast<unsigned>(__atomic_load_n(&declaration.number, __ATOMIC_RELAXED));
  if (number < block->shared_count && block->shared[number].serial == block->serial) {
    return *static_cast<T*>(block->shared[number].address);
  }
  return *static_cast<T*>(touch_shared(declaration, Site{file, line}, name));
}

/// Makes dynamic shared memory begin at multiples of so many bytes in the whole program: it has one
/// address under all its names, and each of them may ask for an alignment.
bool align_dynamic_shared(std::size_t alignment);

/// One of each alignment that a program asks for; made before the program begins.
template <std::size_t kAlignment>
struct DynamicAlignment {
  static_assert(kAlignment <= 1024, "dynamic shared memory is aligned to 1024 bytes at most");
  static inline const bool is_made = align_dynamic_shared(kAlignment);
};

/// `extern __shared__ T name[]`: the third launch argument's bytes, aligned to those of T, or more
/// if the declaration asks for more.
template <class T, std::size_t kLeast = 16>
CUDA_CPU_UNINSTRUMENTED inline T* dynamic_shared(const char* name, const char* file, int line) {
  constexpr std::size_t kAlignment = kLeast > alignof(T) ? kLeast : alignof(T);
  if constexpr (kAlignment > 16) (void)DynamicAlignment<kAlignment>::is_made;
  Block* const block = current_block;
  // Index 0 of the table is the dynamic memory.
  if (block->shared_count > 0 && block->shared[0].serial == block->serial) {
    return static_cast<T*>(block->shared[0].address);
  }
  return static_cast<T*>(touch_dynamic_shared(name, Site{file, line}));
}

/// The same at namespace scope, where no block exists yet.
template <class T, std::size_t kLeast = 16>
struct DynamicShared {
  operator T*() const { return dynamic_shared<T, kLeast>("", "", 0); }
};

}  // namespace cuda_cpu
