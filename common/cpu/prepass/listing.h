// SPDX-License-Identifier: MIT
// What a file holds, for tools that read C++: its tokens, directives and declarations.
#pragma once

#include <string>

#include "lexer.h"

namespace prepass {

/// One line of JSON: {"tokens": [[KIND, BEGIN, END], ...], "directives": [[BEGIN, END], ...],
/// "declarations": [[KIND, BEGIN, END, NAMES, BODY], ...]}. Everything is named by its offset in
/// the file's text, in bytes: names are [[BEGIN, END], ...], a body is [BEGIN, END] with its
/// braces, or null.
///
/// Tokens are all of them in their order, those of directives (but for the `#`) and in `#if 0` too:
/// i(dentifier), n(umber), s(tring), c(haracter), p(unctuation). A declaration is a macro, a type,
/// a function, or a value; what cannot be told is "other". Those of namespaces and classes are
/// listed, a class before its members. Comments belong to none of these.
std::string listing(const LexedFile& file);

}  // namespace prepass
