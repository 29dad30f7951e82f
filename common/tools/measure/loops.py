# SPDX-License-Identifier: MIT
"""Counts what chapter 14 looks for in a listing: which loads stand alone in a kernel's largest loop, and which multiply-adds
read three registers. For kernels of Hopper's kind; needs nvcc for the file, and no GPU:

nvcc -O3 -std=c++17 -arch=sm_90 -cubin -o product.cubin chapters/14_matmul_at_the_limit/matmul_at_the_limit.cu
python3 common tools.measure.loops product.cubin
"""

import argparse
import itertools

from . import machine_code
from .csv_files import csv_text

MULTIPLY_ADD, SHARED_LOAD = 0x223, 0x984  # FFMA of three registers; LDS
OPERANDS = (24, 32, 64)  # where the numbers of its two factors and of its sum begin
REUSE, PAUSE = 122, 105  # a bit for each operand; how many clocks the warp pauses after the instruction


def largest_loop(instructions):
    """The instructions of the loop with the most multiply-adds, none if no loop has any."""
    loops = [instructions[i.target : place + 1] for place, i in enumerate(instructions) if i.is_branch and 0 <= i.target <= place]
    return max(loops, key=lambda loop: sum(i.code == MULTIPLY_ADD for i in loop), default=[])


def is_load(instruction):
    return instruction.code == SHARED_LOAD and instruction.predicate == machine_code.ALWAYS


def three_reads(loop):
    """How many multiply-adds find none of their operands held: none that the multiply-add before them keeps, at the same place."""
    count, held = 0, [None] * 3
    for i in loop:
        if i.code != MULTIPLY_ADD:
            continue
        registers = [machine_code.bits(i.word, first, first + 8) for first in OPERANDS]
        count += not any(register == kept for register, kept in zip(registers, held))
        held = [register if i.word >> (REUSE + place) & 1 else None for place, register in enumerate(registers)]
    return count


def counts_of(loop):
    runs = [len(list(run)) for load, run in itertools.groupby(loop, is_load) if load]
    return {"loop": len(loop), "multiply_adds": sum(i.code == MULTIPLY_ADD for i in loop), "loads": sum(runs), "loads_alone": runs.count(1),
            "longest_run": max(runs, default=0), "three_reads": three_reads(loop),
            "load_clocks": sum(machine_code.bits(i.word, PAUSE, PAUSE + 4) - 1 for i in loop if is_load(i))}


def main():
    parser = argparse.ArgumentParser(prog="python3 common tools.measure.loops", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="an ELF file that nvcc -cubin made")
    kernels = machine_code.kernels_of(machine_code.sections_of(parser.parse_args().file))
    rows = [{"kernel": name, **counts_of(largest_loop(code))} for name, code in kernels.items()]
    print(csv_text([row for row in rows if row["multiply_adds"]]), end="")


if __name__ == "__main__":
    main()
