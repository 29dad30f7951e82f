// SPDX-License-Identifier: MIT
// What the pre-pass has found to rewrite. All positions are token indices.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace prepass {

/// kernel<<<configuration>>>(arguments)
struct LaunchTokens {
  std::size_t first;      ///< of the kernel's name
  std::size_t open;       ///< first `<` of `<<<`; the kernel ends before it
  std::size_t close;      ///< first `>` of `>>>`
  std::size_t arguments;  ///< `(`
  std::size_t last;       ///< `)`
};

/// A declaration with `__shared__`.
struct SharedTokens {
  std::size_t first;
  std::size_t last;                ///< the `;`, or the token count if a macro leaves it to its user
  bool is_dynamic;                 ///< extern __shared__ T name[]
  std::vector<std::size_t> names;  ///< last token of each, see Structure::name_begin
  std::size_t ordinal;             ///< 1 for the first one on its line
};

/// Variables declared with __device__, __constant__ or __managed__, and static ones of device code.
struct SymbolTokens {
  std::string space;  ///< enumerator of ::cuda_cpu::Space
  std::vector<std::size_t> names;
  bool is_in_function;
};

/// What the pre-pass writes in place of a token.
struct Reworded {
  std::string text;
  std::string before = {};  ///< and before that; the text keeps the token's column then
};

/// Tokens that get `before` in front of them and a `)` behind.
struct Wrapped {
  const char* before;
  std::size_t last;
};

struct Constructs {
  std::map<std::size_t, LaunchTokens> launches;  ///< by first token
  std::map<std::size_t, SharedTokens> shared;    ///< by first token
  std::map<std::size_t, std::size_t> returns;    ///< `return` of a kernel -> its `;`
  std::set<std::size_t> kernel_ends;             ///< `}` of a kernel's body
  /// `{` of a kernel's body -> `(` of its __launch_bounds__
  std::map<std::size_t, std::size_t> launch_bounds;
  /// `asm` with PTX in device code -> its `)`. Of functions for both sides it may be the host's.
  std::map<std::size_t, std::size_t> assembly;
  std::set<std::size_t> assembly_for_both;
  /// In functions for the device only: the `long` of a long double, numbers such as 1.0L.
  std::set<std::size_t> long_doubles;
  /// Single tokens in whose place others stand.
  std::map<std::size_t, Reworded> reworded;
  /// What becomes an argument: casts to pointers in device code, shuffles whose value goes into a
  /// computation or right into memory, and names of kernels that are cast to void*; by first token.
  std::map<std::size_t, Wrapped> wrapped;
  std::map<std::size_t, std::size_t> stores;    ///< `=` of one that stores a call's result -> last
  std::map<std::size_t, SymbolTokens> symbols;  ///< by the `;`
  /// Bodies of functions for the device, from `{` to `}`; an inner one after what it is in.
  struct Body {
    std::size_t open, close;
    bool is_for_both;
  };
  std::vector<Body> bodies;
  /// Of those that are for the device only the outermost, but for constexpr.
  std::vector<std::pair<std::size_t, std::size_t>> device_bodies;
  std::set<std::size_t> host_functions;       ///< where an attribute of one stands
  std::set<std::string> structured_bindings;  ///< names that lambdas cannot always capture
};

}  // namespace prepass
