// SPDX-License-Identifier: MIT
// Stands in for <builtin_types.h>: all types of the runtime API and of device code.
#pragma once

#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"
#include "vector_types.h"
