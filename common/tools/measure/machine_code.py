# SPDX-License-Identifier: MIT
"""Reads machine code: the instructions of each kernel in an ELF file that nvcc made. Needs neither a GPU nor a
disassembler. An instruction has 16 bytes since Volta; the twelve lowest bits say what it does.
"""

import struct

SIZE = 16  # bytes of an instruction
BRANCH = 0x947
ALWAYS, OPPOSITE = 7, 8  # predicates: none; the bit that turns one round


def bits(word, first, last):
    return word >> first & (1 << (last - first)) - 1


def signed(value, width):
    return value - (1 << width) if value >> (width - 1) else value


class Instruction:
    def __init__(self, word, place):
        self.word = word
        self.code = bits(word, 0, 12)
        self.predicate = bits(word, 12, 16)
        self.is_branch = self.code == BRANCH
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
