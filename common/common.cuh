// SPDX-License-Identifier: MIT
// The one header a chapter includes. Each part below has one purpose and can be read on its own.
#pragma once

#include "backend.cuh"       // which backend this is compiled for
#include "block_record.cuh"  // where and when each block of a launch ran
#include "check.cuh"         // CUDA_CHECK, exit statuses
#include "device.cuh"        // choosing a device, its attributes and derived peaks
#include "device_array.cuh"  // device memory with an owner
#include "device_clock.cuh"  // %globaltimer and %smid inside kernels
#include "host_timer.cuh"    // work of the host itself, by its clock
#include "latency.cuh"       // the latency of memory and caches
#include "latency_rows.cuh"  // table rows and sentences about it
#include "library_rows.cuh"  // rows to compare with: CUB
#include "measured_row.cuh"  // poison, run, check, time, check again: one row
#include "options.cuh"       // the command line
#include "random.cuh"        // seeded test data
#include "result_table.cuh"  // the Markdown table and the CSV
#include "timer.cuh"         // events, samples, medians
#include "verify.cuh"        // comparing with the host reference
#include "yardstick.cuh"     // measured copy and read bandwidth
