// SPDX-License-Identifier: MIT
// The CUDA runtime API of the CPU backend: the functions that the tutorial teaches, with the names,
// arguments and error codes of CUDA 13.0. What is not declared here is not supported; using it is a
// compile error, never a call that does nothing; prepass/refused.h says which in words.
//
// Calls that can be misused have the line of the call as a last argument that fills itself in, so
// that a report can say where memory was allocated or freed.
#pragma once

#define __CUDA_RUNTIME_API_H__

#include "../libs/graphs/capture.h"
#include "../libs/graphs/graph_runs.h"
#include "../libs/graphs/graphs.h"
#include "../libs/textures/arrays.h"
#include "../libs/textures/texture_calls.h"
#include "../runtime/allocation.h"
#include "../runtime/copies.h"
#include "../runtime/device.h"
#include "../runtime/errors.h"
#include "../runtime/functions.h"
#include "../runtime/launch_calls.h"
#include "../runtime/pools.h"
#include "../runtime/streams.h"
#include "../types/texture_types.h"
#include "../types/vector_types.h"
#include "driver_types.h"
#include "host_defines.h"

#include "../runtime/refused.h"
