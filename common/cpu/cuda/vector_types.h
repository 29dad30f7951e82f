// SPDX-License-Identifier: MIT
#pragma once

#include "../types/vector_types.h"
