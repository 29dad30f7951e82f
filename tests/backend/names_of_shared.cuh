// SPDX-License-Identifier: MIT
// Another name for a keyword, as some programs have it in a header of their own.
#pragma once

#define NAME_OF_SHARED __shared__  // and nothing else
