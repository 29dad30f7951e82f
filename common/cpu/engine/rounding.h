// SPDX-License-Identifier: MIT
// Arithmetic and conversions that round in a direction: _rz towards zero, _ru up, _rd down. Those
// that round to the nearest, _rn, stand in device_functions.h.
#pragma once

#define CUDA_CPU_ROUNDED(type, name, parameters, expression) \
  type name##_rz parameters;                                 \
  type name##_ru parameters;                                 \
  type name##_rd parameters;

#include "rounded_functions.inc"
