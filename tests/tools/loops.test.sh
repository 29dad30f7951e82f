#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is counted in a loop's machine code: loads that stand alone, and multiply-adds that read three registers.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

needs_python "the counts of a loop"
export PYTHONDONTWRITEBYTECODE=1

cat >"$scratch/made_up.py" <<'PY'
import sys

from common.tools.measure import loops
from common.tools.measure.machine_code import BRANCH, Instruction


def multiply_add(a, b, c, kept=0):
    """kept: which of a, b and c the next one may use again, a bit for each"""
    return 0x223 | 7 << 12 | c << 16 | a << 24 | b << 32 | c << 64 | 1 << 105 | kept << 122


def load(predicate=7, pause=1):
    return 0x984 | predicate << 12 | pause << 105


def back(by):
    return BRANCH | 7 << 12 | (-4 * by & 255) << 16 | (-4 * by >> 8 & (1 << 48) - 1) << 34


words = [multiply_add(1, 2, 3), back(2)]  # a loop with fewer multiply-adds
words += [
    multiply_add(1, 2, 8, kept=0b10),  # none before it: three
    multiply_add(3, 2, 9),             # 2 is held at the second place
    multiply_add(3, 2, 9),             # nothing is kept: three
    multiply_add(2, 4, 10, kept=0b1),  # three
    load(),                            # alone
    multiply_add(4, 2, 11),            # 2 was kept at the first place, and is asked for at the second: three
    load(pause=4), load(pause=4), load(),
    load(predicate=15),                # switched off: no load
    multiply_add(1, 5, 12, kept=0b100),
    load(),                            # alone
    multiply_add(6, 7, 12),            # the sum is held, across a load
    back(14),
]
code = [Instruction(word, place) for place, word in enumerate(words)]
for key, count in loops.counts_of(loops.largest_loop(code)).items():
    print(key, count)
PY

test_case "alone, three registers and clocks of a made-up loop, the one with more multiply-adds"
run env PYTHONPATH="$PWD" "$python" "$scratch/made_up.py"
expect_status 0
expect_output "loop 14
multiply_adds 7
loads 5
loads_alone 2
longest_run 3
three_reads 5
load_clocks 6"
