// SPDX-License-Identifier: MIT
#pragma once

#include "../types/surface_types.h"
