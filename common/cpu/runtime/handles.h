// SPDX-License-Identifier: MIT
// Which objects a program may name by a handle: those that were made and not destroyed yet.
#pragma once

#include <iterator>
#include <mutex>
#include <set>

#include "../types/the_only.h"

namespace cuda_cpu {

/// The objects of a type that there are.
template <class T>
class Handles {
 public:
  bool has(const T* object) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return objects_.count(object) != 0;
  }
  void add(const T* object) {
    const std::lock_guard<std::mutex> lock(mutex_);
    objects_.insert(object);
  }
  /// False when it was not there.
  bool remove(const T* object) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return objects_.erase(object) != 0;
  }
  void clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    objects_.clear();
  }
  template <class Condition>
  void remove_if(Condition is_to_go) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = objects_.begin(); it != objects_.end();) {
      it = is_to_go(static_cast<const T*>(*it)) ? objects_.erase(it) : std::next(it);
    }
  }

 private:
  std::mutex mutex_;
  std::set<const void*> objects_;  // one type of set for all: it is compiled once
};

template <class T>
Handles<T>& handles() {
  return the_only<Handles<T>>();
}

}  // namespace cuda_cpu
