// SPDX-License-Identifier: MIT
// Functions for the host only: nvcc refuses them in device code, a C++ compiler would not.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "structure.h"

namespace prepass {

/// Functions that the file defines without __device__, and does not declare with it anywhere.
/// constexpr ones are among them. A function is left out when a macro in front of it may say more.
struct HostFunctions {
  /// But for members of classes; with the numbers of parameters, kNone for any number.
  std::map<std::string, std::set<std::size_t>> names;
  std::set<std::string> of_device;  ///< functions that are declared __device__
  /// Where an attribute of one stands, members among them. Only of those that device code certainly
  /// does not call: not of constexpr ones.
  std::set<std::size_t> definitions;
};
HostFunctions find_host_functions(const Structure& structure);

/// How many there are between the `(` at token i and its `)`: parameters or arguments. kNone where
/// nobody knows.
std::size_t count_parameters(const Structure& structure, std::size_t i);

/// Whether a word may be a macro that stands for attributes, as HOST_DEVICE or HD. A single letter
/// is a template's parameter.
bool may_be_macro(const std::string& word);

/// The message about the function of std whose name is token i, if device code cannot call it; else
/// "".
std::string refusal_of_std(const Structure& structure, std::size_t i);

}  // namespace prepass
