// SPDX-License-Identifier: MIT
#pragma once

#include "../types/texture_types.h"
