// SPDX-License-Identifier: MIT
// The one header that a program includes. Each part below has one purpose and can be read alone.
#pragma once

#include "check.cuh"    // CUDA_CHECK, exit statuses
#include "compare.cuh"  // seeded test data, comparing with the host's reference
#include "device.cuh"   // choosing a device; its peaks, its clock, the speed of its memory
#include "memory.cuh"   // device memory with an owner
#include "options.cuh"  // the command line
#include "table.cuh"    // versions, the Markdown table, the CSV
#include "timer.cuh"    // events, samples, medians
