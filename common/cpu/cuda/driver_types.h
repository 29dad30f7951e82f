// SPDX-License-Identifier: MIT
// Stands in for <driver_types.h>: types, codes and flags of the runtime API.
#pragma once

#define __DRIVER_TYPES_H__

#include "../runtime/types.h"
