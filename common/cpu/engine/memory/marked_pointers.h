// SPDX-License-Identifier: MIT
// Pointers that a kernel may hold but must not follow: misaligned ones, and those to memory of the
// host. Holding one is no mistake, so nothing is said where it is made. Instead its upper 16 bits,
// which no address uses, get a mark: an access through it faults, and the report can say why.
//
// The pre-pass puts aligned() around casts to pointers in device code. Copies to device memory mark
// what points to the host, and copies back restore it. A launch marks its copies of structures. In
// memory that host and kernels share pointers are marked while a grid runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace cuda_cpu {

enum class Mark : std::uint16_t {
  kNone = 0,
  kMisaligned = 0x5a5b,
  kHost = 0x5a5d,          ///< in device memory
  kHostArgument = 0x5a5f,  ///< in a structure that was passed to a kernel
  kHostShared = 0x5a61,    ///< in memory that host and kernels share
};

/// The mark of an address, which may have had an index added; `plain` is the address without it.
Mark mark_of(std::uintptr_t address, std::uintptr_t* plain);

/// In device code: the address with the mark of a misaligned one. On the host it stays as it is.
std::uintptr_t mark_misaligned(std::uintptr_t address);

/// Marks the words of device memory that hold addresses of the host's memory.
void mark_host_pointers(void* begin, std::size_t bytes);

/// Before and after a grid runs, while no code of the host does: marks the pointers to the host in
/// memory that both share, and restores them.
void mark_shared_pointers();
void restore_shared_pointers();

/// The word, with a mark if it is an address of the host's memory: for a pointer in an argument.
std::uintptr_t mark_host_argument(std::uintptr_t word);

/// Takes the marks away from what was copied from device memory.
void restore_host_pointers(void* begin, std::size_t bytes);

/// Whether a T is a vector of numbers, such as uint4: up to four of the type of its x.
template <class T, class = void>
constexpr bool kIsVector = false;
template <class T>
constexpr bool kIsVector<T, std::enable_if_t<std::is_arithmetic_v<decltype(T::x)>>> =
    sizeof(T) <= 4 * sizeof(T::x);

/// Whether a T can hold pointers: then it is one, or a structure that is aligned like one. Numbers
/// may look like addresses, so that memory of a type that is not known (void) stays as it is.
template <class T>
constexpr bool may_hold_pointers() {
  using Element = std::remove_all_extents_t<std::remove_reference_t<T>>;
  if constexpr (std::is_pointer_v<Element>) {
    return true;
  } else if constexpr (std::is_class_v<Element>) {
    return alignof(Element) >= alignof(void*) && !kIsVector<Element>;
  } else {
    return false;
  }
}

/// Stands for any member of a structure; kProbe for a pointer.
struct Probe {
  static constexpr std::uintptr_t kPointer = 0x5a5a5a5a5a50;
  template <class T, class = std::enable_if_t<std::is_scalar_v<T>>>
  operator T() const {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(kPointer);
    } else {
      return T{};
    }
  }
};

/// Whether a T can be made of so many members.
template <class T, class Numbers, class = void>
constexpr bool kHasMembers = false;
template <class T, std::size_t... kNumbers>
constexpr bool kHasMembers<T, std::index_sequence<kNumbers...>,
                           std::void_t<decltype(T{(static_cast<void>(kNumbers), Probe{})...})>> =
    true;

/// How many numbers and pointers a T is made of, those in its arrays and structures counted one by
/// one. 0: it is no plain structure, or has more than kMostMembers.
constexpr std::size_t kMostMembers = 64;
template <class T, std::size_t kCount = 1>
constexpr std::size_t members_of() {
  if constexpr (!std::is_aggregate_v<T> || kCount > kMostMembers) {
    return 0;
  } else if constexpr (kHasMembers<T, std::make_index_sequence<kCount + 1>>) {
    return members_of<T, kCount + 1>();
  } else {
    return kHasMembers<T, std::make_index_sequence<kCount>> ? kCount : 0;
  }
}

/// A T in which every pointer is kPointer and everything else 0.
template <class T, std::size_t... kNumbers>
const T& probe_of(std::index_sequence<kNumbers...>) {
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wmissing-braces"
#endif
  static const T probe{(static_cast<void>(kNumbers), Probe{})...};
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
  return probe;
}

/// Makes of a parameter's bytes what the kernel gets: where it is a structure, pointers to the host
/// in it are marked. Which members are pointers is known of plain structures; of others, such as
/// classes with constructors and lambdas, each word may be one.
template <class T>
void mark_pointers_in([[maybe_unused]] std::remove_reference_t<T>& parameter) {
  if constexpr (std::is_class_v<T> && std::is_trivially_copyable_v<T> && may_hold_pointers<T>()) {
    constexpr std::size_t kMembers = members_of<T>();
    const char* probe = nullptr;
    if constexpr (kMembers != 0) {
      probe = reinterpret_cast<const char*>(&probe_of<T>(std::make_index_sequence<kMembers>{}));
    }
    char* const bytes = reinterpret_cast<char*>(__builtin_addressof(parameter));
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= sizeof(T); at += alignof(void*)) {
      std::uintptr_t word, expected = Probe::kPointer;
      if (probe != nullptr) std::memcpy(&expected, probe + at, sizeof(word));
      if (expected != Probe::kPointer) continue;
      std::memcpy(&word, bytes + at, sizeof(word));
      word = mark_host_argument(word);
      std::memcpy(bytes + at, &word, sizeof(word));
    }
  }
}

/// alignof(T); 1 where that is unknown or means nothing.
template <class T, class = void>
constexpr std::size_t kAlignmentOf = 1;
template <class T>
constexpr std::size_t kAlignmentOf<T, std::enable_if_t<(sizeof(T) != 0) && std::is_object_v<T>>> =
    alignof(T);

template <class T>
__attribute__((always_inline)) inline T* aligned_pointer(T* pointer) {
#if !defined(CUDA_CPU_ASAN)
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  constexpr std::uintptr_t kMarked = std::uintptr_t{0xffff} << 48;
  if (__builtin_expect((address & (kMarked | (kAlignmentOf<T> - 1))) != 0, 0)) {
    const std::uintptr_t plain = address & ~kMarked;
    if (plain % kAlignmentOf<T> != 0) return reinterpret_cast<T*>(mark_misaligned(address));
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

/// What a function returned, on its way to memory. Named by a reference it is an object first, and
/// g++ stores it by an assignment, of which it tells X-ray; as part of a call it would not.
template <class T>
__attribute__((always_inline)) inline T&& stored(T&& value) {
  return static_cast<T&&>(value);
}

}  // namespace cuda_cpu

// The same in macros, which host code without this file may use as well: there they stand for
// nothing, as the pre-pass defines them.
#undef CUDA_CPU_ALIGNED
#undef CUDA_CPU_STORED
#define CUDA_CPU_ALIGNED(...) ::cuda_cpu::aligned(__VA_ARGS__)
#define CUDA_CPU_STORED(...) ::cuda_cpu::stored(__VA_ARGS__)
