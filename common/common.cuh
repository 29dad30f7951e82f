// SPDX-License-Identifier: MIT
// The one header that a program includes. Each part has one purpose and can be read alone.
#pragma once

// Errors and times: what every program needs first.
#include "check.cuh"  // CUDA_CHECK, exit statuses
#include "timer.cuh"  // events, samples, medians

// Its data.
#include "compare.cuh"  // seeded test data, comparing with the host's reference
#include "memory.cuh"   // device memory with an owner

// What a program takes and prints.
#include "device.cuh"   // choosing a device; what it is
#include "options.cuh"  // the command line
#include "table.cuh"    // versions, the Markdown table

// What a first reader can leave out.
#include "csv.cuh"         // the file of --csv, for tools
#include "matrix.cuh"      // matrix products, for chapters 07, 08, 14, 15
#include "yardsticks.cuh"  // peaks and speeds that rows are compared with, clocks
