// SPDX-License-Identifier: MIT
// Objects of which the backend has one. They are never destroyed: static objects of a program may
// still call when it ends, and threads of the backend outlive main.
#pragma once

#include <mutex>

namespace cuda_cpu {

template <class T>
T& the_only() {
  static T* const it = new T;
  return *it;
}

/// The same, while nobody else uses it: const auto [it, lock] = locked<T>(). It has a `mutex`.
template <class T>
struct Locked {
  T& it;
  std::lock_guard<decltype(T::mutex)> lock;
};
template <class T>
Locked<T> locked() {
  T& it = the_only<T>();
  return {it, std::lock_guard<decltype(T::mutex)>(it.mutex)};
}

}  // namespace cuda_cpu
