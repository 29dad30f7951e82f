#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the assembler made of the loops that multiply: needs nvcc, but neither a GPU nor a disassembler.

Writes results/ARCH_loops.csv, a row for each kernel: how many instructions a warp executes in one turn of the loop
that has most multiply-adds. If there are two such loops, with guards and without, the shorter one is counted. Where
the loop branches at a guard, the shortest path is counted on which everything is done that the loop can do: a load and
a store in each kind of memory, by the widest instruction that the loop has for it. A narrower instruction on that path
with the opposite predicate is switched off. It takes its issue slot all the same, and is counted apart.

even_reads and odd_reads: registers that the multiply-adds read, by number, less those that the compiler marks as
kept from a multiply-add before. A marked one is kept until the same operand of another multiply-add is read from the
same bank, even or odd. So say Huerta and others (Analyzing Modern NVIDIA GPU Cores, 2025), and the compiler seems to
think so too: unused_marks, of registers that are kept and not read again, should be 0.

An instruction has 16 bytes since Volta. The twelve lowest bits say what it does; product_limits.py compares the
counts with what the source asks for, so a number that is read wrong here is noticed there.
"""

import os
import struct
import sys
import tempfile

from csv_files import csv_text, write_whole
from ptxas import output_of, own_kernels, programs_of, short_name, what_to_compile

SIZE = 16  # bytes of an instruction
KINDS = {0x223: "multiply_adds", 0x823: "multiply_adds", 0x984: "shared_loads", 0x388: "shared_stores",
         0x988: "shared_stores", 0x981: "global_loads", 0xFAE: "async_copies", 0xB1D: "barriers"}
WITH_WIDTH = ("shared_loads", "shared_stores", "global_loads", "async_copies")
COUNTED = list(dict.fromkeys(KINDS.values()))
COLUMNS = ["kernel", "instructions"] + COUNTED + ["switched_off", "others", "even_reads", "odd_reads", "unused_marks", "arch", "cuda", "date"]
MULTIPLY_ADD, BRANCH, EXIT = 0x223, 0x947, 0x94D
ALWAYS, OPPOSITE = 7, 8  # predicates: none; the bit that turns one round
NO_REGISTER = 255


def bits(word, first, last):
    return word >> first & (1 << (last - first)) - 1


def signed(value, width):
    return value - (1 << width) if value >> (width - 1) else value


class Instruction:
    def __init__(self, word, place):
        self.word = word
        self.code = bits(word, 0, 12)
        self.kind = KINDS.get(self.code)
        self.width = bits(word, 73, 76) if self.kind in WITH_WIDTH else 0  # 4, 5, 6: of 4, 8, 16 bytes
        self.predicate = bits(word, 12, 16)
        self.is_branch = self.code == BRANCH
        self.goes_on = not (self.code in (BRANCH, EXIT) and self.predicate == ALWAYS)
        # How far from the next instruction, in units of 4 bytes; its lowest 8 bits stand apart.
        self.target = place + 1 + signed(bits(word, 34, 82) << 8 | bits(word, 16, 24), 56) * 4 // SIZE if self.is_branch else None


def sections_of(path):
    """{name: bytes} of an ELF file that nvcc -cubin made."""
    with open(path, "rb") as file:
        data = file.read()
    table, = struct.unpack_from("<Q", data, 0x28)
    entry, count, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, table + i * entry) for i in range(count)]
    starts = [sections[names][4] + section[0] for section in sections]
    return {data[start : data.index(b"\0", start)].decode(): data[s[4] : s[4] + s[5]] for start, s in zip(starts, sections)}


def kernels_of(sections):
    """{mangled name: instructions}"""
    found = {}
    for name, code in sections.items():
        if name.startswith(".text."):
            words = [int.from_bytes(code[i : i + SIZE], "little") for i in range(0, len(code), SIZE)]
            found[name[6:]] = [Instruction(word, place) for place, word in enumerate(words)]
    return found


def multiply_adds(instructions):
    return sum(i.kind == "multiply_adds" for i in instructions)


def loop_of(code):
    """(first, last) of the loop that multiplies, or None: of those with the most multiply-adds that hold no other such
    loop, the shortest."""
    loops = [(i.target, place) for place, i in enumerate(code) if i.is_branch and i.target < place]
    loops = [l for l in loops if multiply_adds(code[l[0] : l[1] + 1])]
    inner = [l for l in loops if not any(o != l and l[0] <= o[0] and o[1] <= l[1] for o in loops)]
    return min(inner, key=lambda l: (-multiply_adds(code[l[0] : l[1] + 1]), l[1] - l[0]), default=None)


def turn_of(code, first, last):
    """The instructions of a warp in one turn: the shortest way that meets the widest of each kind in the loop."""
    widest = {}
    for instruction in code[first : last + 1]:
        if instruction.kind:
            widest[instruction.kind] = max(instruction.width, widest.get(instruction.kind, 0))
    flags = {of_kind: 1 << i for i, of_kind in enumerate(widest.items())}
    everything = (1 << len(flags)) - 1
    ways = {first: {0: (0, None)}}  # at a place: what was met -> (instructions before it, (place, what was met) before)
    for place in range(first, last + 1):
        instruction = code[place]
        following = ([place + 1] if instruction.goes_on else []) + ([instruction.target] if instruction.is_branch else [])
        for met, (length, _) in ways.get(place, {}).items():
            now = met | flags.get((instruction.kind, instruction.width), 0)
            for there in following:
                if place < there <= last:
                    known = ways.setdefault(there, {}).get(now)
                    if known is None or length + 1 < known[0]:
                        ways[there][now] = (length + 1, (place, met))
    turn, at = [], (last, everything)
    while at is not None:
        turn.append(code[at[0]])
        at = ways[at[0]][at[1]][1]
    return turn[::-1]


def counts_of(turn):
    """{kind: instructions of a turn, those apart that are switched off}"""
    counts = dict.fromkeys(COUNTED + ["switched_off"], 0)
    for kind in COUNTED:
        alike = [i for i in turn if i.kind == kind]
        widest = max((i.width for i in alike), default=0)
        on = {i.predicate for i in alike if i.width == widest}
        off = [i for i in alike if i.width < widest and i.predicate ^ OPPOSITE in on]
        counts[kind] += len(alike) - len(off)
        counts["switched_off"] += len(off)
    return counts


def register_reads(turn):
    """Reads of registers with even and with odd numbers by the multiply-adds of a turn, and marks of no use."""
    kept, reads, marks, used = {}, [0, 0], 0, 0
    for instruction in (i for i in turn if i.code == MULTIPLY_ADD):
        for slot, first in enumerate((24, 32, 64)):
            register = bits(instruction.word, first, first + 8)
            bank = register % 2
            if register != NO_REGISTER:
                was_kept = kept.pop((bank, slot), None) == register
                used += was_kept
                reads[bank] += not was_kept
            if bits(instruction.word, 122 + slot, 123 + slot):
                kept[bank, slot] = register
                marks += 1
    return reads + [marks - used]


def main():
    chapter, arch, compiled = what_to_compile(__doc__)
    kernels = {}
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "kernels.cubin")
        for source in programs_of(chapter):
            output_of(["nvcc", "-std=c++17", "-O3", f"-arch={arch}", "-cubin", source, "-o", binary])
            kernels.update(kernels_of(sections_of(binary)))
    demangled = output_of(["c++filt"], input="\n".join(kernels))
    is_own = own_kernels(chapter)
    rows = []
    for name, code in zip(map(short_name, demangled.splitlines()), kernels.values()):
        loop = loop_of(code) if is_own(name) else None
        if loop is None:
            continue
        turn = turn_of(code, *loop)
        counts = list(counts_of(turn).values())
        rows.append([name, len(turn)] + counts + [len(turn) - sum(counts)] + register_reads(turn) + compiled)
    if not rows:
        sys.exit(f"{chapter}: no kernel has a loop that multiplies and adds")
    path = f"chapters/{chapter}/results/{arch}_loops.csv"
    write_whole(path, csv_text(sorted(rows), COLUMNS))
    print(f"{len(rows)} kernels -> {path}")


if __name__ == "__main__":
    main()
