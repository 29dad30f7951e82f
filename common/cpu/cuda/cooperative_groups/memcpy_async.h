// SPDX-License-Identifier: MIT
#error \
    "cooperative_groups::memcpy_async is not supported by the CPU backend; copy element by element"
