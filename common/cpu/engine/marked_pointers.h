// SPDX-License-Identifier: MIT
// Pointers that a kernel may hold but must not follow: misaligned ones, and those to memory of the
// host. Holding one is no mistake, so nothing is said where it is made. Instead its upper 16 bits,
// which no address uses, get a mark: an access through it faults, and the report can say why.
//
// The pre-pass puts aligned() around casts to pointers in device code. Copies to device memory mark
// what points to the host, and copies back restore it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cuda_cpu {

enum class Mark : std::uint16_t { kNone = 0, kMisaligned = 0x5a5b, kHost = 0x5a5d };

/// The mark of an address, which may have had an index added; `plain` is the address without it.
Mark mark_of(std::uintptr_t address, std::uintptr_t* plain);

/// In device code: the address with the mark of a misaligned one. On the host it stays as it is.
std::uintptr_t mark_misaligned(std::uintptr_t address);

/// Marks the words of device memory that hold addresses of the host's memory.
void mark_host_pointers(void* begin, std::size_t bytes);

/// Takes the marks away from what was copied from device memory.
void restore_host_pointers(void* begin, std::size_t bytes);

/// Whether a T is a vector of numbers, such as uint4: up to four of the type of its x.
template <class T, class = void>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<T, std::enable_if_t<std::is_arithmetic_v<decltype(T::x)>>>
    : std::bool_constant<sizeof(T) <= 4 * sizeof(T::x)> {};

/// Whether a T can hold pointers: then it is one, or a structure that is aligned like one. Numbers
/// may look like addresses, so that memory of a type that is not known (void) stays as it is.
template <class T>
constexpr bool may_hold_pointers() {
  using Element = std::remove_all_extents_t<std::remove_reference_t<T>>;
  if constexpr (std::is_pointer_v<Element>) {
    return true;
  } else if constexpr (std::is_class_v<Element>) {
    return alignof(Element) >= alignof(void*) && !IsVector<Element>::value;
  } else {
    return false;
  }
}

/// alignof(T); 1 where that is unknown or means nothing.
template <class T, class = void>
struct AlignmentOf {
  static constexpr std::size_t value = 1;
};
template <class T>
struct AlignmentOf<T, std::enable_if_t<std::is_object_v<T> && sizeof(T) != 0>> {
  static constexpr std::size_t value = alignof(T);
};

template <class T>
__attribute__((always_inline)) inline T* aligned_pointer(T* pointer) {
#if !defined(CUDA_CPU_ASAN) && !defined(CUDA_CPU_TSAN)
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  constexpr std::uintptr_t kMarked = std::uintptr_t{0xffff} << 48;
  if (__builtin_expect((address & (kMarked | (AlignmentOf<T>::value - 1))) != 0, 0)) {
    const std::uintptr_t plain = address & ~kMarked;
    if (plain % AlignmentOf<T>::value != 0) return reinterpret_cast<T*>(mark_misaligned(address));
    if (address >> 48 == static_cast<std::uintptr_t>(Mark::kMisaligned)) {
      return reinterpret_cast<T*>(plain);
    }
  }
#endif
  return pointer;
}

/// The result of a cast in device code.
template <class T>
__attribute__((always_inline)) inline decltype(auto) aligned(T&& value) {
  using Plain = std::remove_cv_t<std::remove_reference_t<T>>;
  if constexpr (std::is_lvalue_reference_v<T> && std::is_object_v<Plain>) {
    return static_cast<T>(*aligned_pointer(__builtin_addressof(value)));
  } else if constexpr (std::is_lvalue_reference_v<T>) {
    return static_cast<T>(value);
  } else if constexpr (std::is_pointer_v<Plain> &&
                       !std::is_function_v<std::remove_pointer_t<Plain>>) {
    return aligned_pointer(static_cast<Plain>(value));
  } else {
    return static_cast<Plain>(value);
  }
}

}  // namespace cuda_cpu
