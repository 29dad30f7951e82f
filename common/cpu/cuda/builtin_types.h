// SPDX-License-Identifier: MIT
// Stands in for <builtin_types.h>: all types of the runtime API and of device code.
#pragma once

#include "../types/texture_types.h"
#include "../types/vector_types.h"
#include "driver_types.h"
