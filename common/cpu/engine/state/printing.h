// SPDX-License-Identifier: MIT
// What device code prints, in rows: a GPU's warp executes a printf for all of its lanes at once.
// Here its threads run one after the other, so their texts are kept until the block has ended, and
// written when the grid has.
#pragma once

namespace cuda_cpu {

struct Block;

/// What the pre-pass makes of device code's printf. In macros, and in functions for both sides, it
/// stays the C library's, which knows the statement by the address of the call.
int printf(unsigned statement, const char* format, ...) __attribute__((format(printf, 2, 3)));

/// No thread of the block runs any more: puts what they printed into rows.
void put_into_rows(Block* block);

/// Writes all rows there are, those of the calling worker's blocks included: at the end of a grid,
/// and before a report.
void write_printed();

}  // namespace cuda_cpu
