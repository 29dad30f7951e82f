// SPDX-License-Identifier: MIT
// Stands in for <vector_functions.h>: make_float4 and the like, which stand beside their types.
#pragma once

#include "../types/vector_types.h"
