// SPDX-License-Identifier: MIT
#pragma once

#include "../types/library_types.h"
