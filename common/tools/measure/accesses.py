# SPDX-License-Identifier: MIT
"""What nvcc made of the accesses to memory in each line of the source, for X-ray: needs nvcc, but neither a GPU nor a
disassembler.

    python3 common tools.measure.accesses OUT PROGRAM      05_end_to_end, or own/NAME with FILE, DEFINE and INCLUDE in the environment

Compiles the program for sm_90, or for sm_90a where it has products of warp groups, with line information and reads the
machine code. Writes one row for each kernel, line and kind of access, separated by tabs:

    kernel file space operation line   space: global, shared, local or const; arguments: of the kernel, from c[0x0]
    count       instructions of the kind in that line; local: the words that they move
    bytes       of the widest of them, for each lane
    parts       different places in an element of 16 bytes at which they begin
    uniform     const: loads of one word for the whole warp, which take another path and are not among `count`
    unrolled    16: the turns that are no multiple of 4, then 16, 8 and 4 at a time; 4: those turns, then 4 at a time;
                -16 and -4: those turns come last; else 0
    one_lane    1: one lane does it for its warp
    once        1: none of them stands in a loop
    stores with store   loads: as many stores, of line `with` and to this space, stand in the same pieces of code without
                a jump, with the same predicate, so they are executed as often; "-" where there are none
    predicated  how many of them have a predicate, so that warps execute them that have no lane for it
"""

import collections
import glob
import os
import shlex
import sys
import tempfile

from .counters import name_without_arguments
from .csv_files import write_whole
from .machine_code import ALWAYS, OPPOSITE, bits, kernels_of, sections_of
from .ptxas import output_of
from .settings import source_of

# The twelve lowest bits of an instruction. Nine of them name it, three say where its operands come from. An
# asynchronous copy to shared memory (0x1AE) is a global load; what it stores has no instruction of its own. A load of
# matrices (LDSM) is a shared load of 16 bytes for each lane that names a row, and so for a store of them (STSM).
LOAD_OF_MATRICES, STORE_OF_MATRICES = 0x83B, 0x844
NAMES = {code: name for name, codes in {
    "global load": (0x181, 0x1AE), "global store": (0x186,), "global atomic": (0x18E, 0x1A6, 0x1A8, 0x1A9),
    "shared load": (0x184, LOAD_OF_MATRICES), "shared store": (0x188, STORE_OF_MATRICES), "shared atomic": (0x18C, 0x18D, 0x38C, 0x38D),
    "local load": (0x183,), "local store": (0x187,), "generic access": (0x180, 0x185),
    "const load": (0x182,), "uniform const": (0x0B9, 0x0BB), "vote": (0x006, 0x086, 0x0BD, 0x1C4),
    "jump": (0x147,), "exit": (0x14D,), "converge": (0x141, 0x145)}.items() for code in codes}
NEVER = ALWAYS | OPPOSITE  # nvcc puts loads with this predicate beside asynchronous copies
BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}
TOOLKIT = ("/include/", "/targets/")
COLUMNS = "kernel file space operation line count bytes parts uniform unrolled one_lane once stores with store predicated".split()


class Reader:
    """Reads numbers from bytes, one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, size, is_signed=False):
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "little", signed=is_signed)

    def leb(self, is_signed=False):
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value - (1 << shift) if is_signed and byte & 64 else value

    def text(self):
        end = self.data.index(b"\0", self.at)
        self.at, begin = end + 1, self.at
        return self.data[begin:end].decode()


def line_tables(data):
    """For each kernel, where its address stands in the section: rows (address, file, line, row of the call or 0), in
    the order of addresses. The section is DWARF 2 with one more instruction, 0x90: what follows was inlined."""
    reader, tables = Reader(data), {}
    while reader.at < len(data):
        end = reader.number(4) + reader.at
        reader.number(2)
        program = reader.number(4) + reader.at
        step = reader.number(1)
        reader.number(1)
        line_base, line_range, opcode_base = reader.number(1, True), reader.number(1), reader.number(1)
        lengths = [reader.number(1) for _ in range(opcode_base - 1)]
        folders, files = [""], [""]
        while folder := reader.text():
            folders.append(folder)
        while name := reader.text():
            files.append(os.path.join(folders[reader.leb()], name))
            reader.leb(), reader.leb()
        reader.at = program
        rows, where, address, file, line, call = [], None, 0, 1, 1, 0
        while reader.at < end:
            code = reader.number(1)
            if code >= opcode_base:
                address += (code - opcode_base) // line_range * step
                line += line_base + (code - opcode_base) % line_range
                rows.append((address, files[file], line, call))
            elif code == 0:
                length = reader.leb()
                following = reader.at + length
                kind = reader.number(1)
                if kind == 1:
                    tables[where] = rows
                    rows, where, address, file, line, call = [], None, 0, 1, 1, 0
                elif kind == 2:
                    where, address = reader.at, reader.number(8)
                elif kind == 0x90:
                    call = reader.leb()
                reader.at = following
            elif code == 1:
                rows.append((address, files[file], line, call))
            elif code == 2:
                address += reader.leb() * step
            elif code == 3:
                line += reader.leb(True)
            elif code == 4:
                file = reader.leb()
            elif code == 8:
                address += (255 - opcode_base) // line_range * step
            elif code == 9:
                address += reader.number(2)
            else:
                for _ in range(lengths[code - 1]):
                    reader.leb()
    return tables


def lines_of(rows, source, count):
    """The learner's (file, line) of each instruction: where functions are inlined the innermost in `source`, else the
    innermost outside of the toolkit."""

    def shown(row):
        chain = []
        while len(chain) < 32:
            _, file, line, call = row
            chain.append((file, line))
            if not 0 < call <= len(rows):
                break
            row = rows[call - 1]
        own = [place for place in chain if os.path.realpath(place[0]) == source]
        other = [place for place in chain if not any(part in place[0] for part in TOOLKIT)]
        file, line = (own or other or chain)[0]
        return os.path.relpath(os.path.realpath(file)) if file.startswith(os.getcwd() + "/") else file, line

    found, at = [("", 0)] * count, 0
    for place in range(count):
        while at < len(rows) and rows[at][0] <= 16 * place:
            at += 1
        if at > 0:
            found[place] = shown(rows[at - 1])
    return found


def name_of(instruction):
    return NAMES.get(instruction.code) or NAMES.get(instruction.code & 0x1FF)


def blocks_of(code):
    """For each instruction the number of its basic block. A jump that is not always taken ends one as well."""
    begins = {i.target for i in code if i.is_branch}
    begins |= {place + 1 for place, i in enumerate(code) if name_of(i) in ("jump", "exit")}
    begins |= {place for place, i in enumerate(code) if i.code == 0x941}  # BSYNC: lanes meet
    number, numbers = 0, []
    for place in range(len(code)):
        number += place in begins
        numbers.append(number)
    return numbers


def loops_of(code):
    """For each instruction its innermost loop, None outside of all. Loops: (first, last)."""
    loops = sorted(((i.target, p) for p, i in enumerate(code) if i.is_branch and i.target < p), key=lambda l: l[0] - l[1])
    found = [None] * len(code)
    for first, last in loops:
        found[first : last + 1] = [(first, last)] * (last + 1 - first)
    return found


def unrolling(loops):
    """How a loop was unrolled, as in the column `unrolled`. `loops`: those in which copies of one of its accesses stand,
    in the order of the code."""
    *inside, = collections.Counter(loop for loop in loops if loop is not None).values()
    outside = loops.count(None)
    if not inside:
        return 0
    for way, one, most, rest in ((16, inside[0], [1, 16], 12), (16, inside[0], [1, 16], 16), (-16, inside[-1], [16, 4, 1], 8), (4, inside[0], [1, 4], 0),
                                 (-4, inside[-1], [4, 1], 0), (4, inside[-1] // 4, [3, 4], 0)):
        if (inside, outside) == ([one * times for times in most], one * rest):
            return way
    return 0


def accesses_of(sections, source):
    """Rows of COLUMNS for the kernels of a cubin that was compiled of `source`."""
    kernels, tables = kernels_of(sections), line_tables(sections.get(".debug_line", b""))
    symbols, names = sections[".symtab"], Reader(sections[".strtab"])
    places = Reader(sections.get(".rela.debug_line", b""))
    of_kernel = {}
    while places.at < len(places.data):
        where, info, _ = places.number(8), places.number(8), places.number(8)
        names.at = int.from_bytes(symbols[24 * (info >> 32) : 24 * (info >> 32) + 4], "little")
        of_kernel[names.text()] = tables.get(where, [])
    shown = output_of(["c++filt"], input="\n".join(kernels)).splitlines()
    rows = []
    for name, (mangled, code) in zip(shown, kernels.items()):
        lines = lines_of(of_kernel.get(mangled, []), os.path.realpath(source), len(code))
        blocks, loops = blocks_of(code), loops_of(code)
        kinds, votes, uniform, arguments = collections.defaultdict(list), set(), collections.Counter(), []
        for place, instruction in enumerate(code):
            kind, line = name_of(instruction), lines[place]
            if kind in ("const load", "uniform const"):
                bank = bits(instruction.word, 54, 59)
                if kind == "uniform const":
                    uniform[line] += bank == 3
                elif bank == 3:
                    kinds[line, kind].append(place)
                elif loops[place] is None:
                    arguments.append(place)
            elif kind == "vote":
                votes.add(line)
            elif kind and kind.endswith(("load", "store", "atomic", "access")) and instruction.predicate != NEVER:
                kinds[line, kind].append(place)
        for line in +uniform:
            kinds.setdefault((line, "const load"), [])
        # How often each piece of code has them; what has another predicate is another piece.
        pieces = {key: collections.Counter((blocks[p], code[p].predicate) for p in found) for key, found in kinds.items()}
        name = name_without_arguments(name)
        for (line, kind), found in sorted(kinds.items()):
            bytes_of = [16 if code[place].code in (LOAD_OF_MATRICES, STORE_OF_MATRICES) else BYTES.get(bits(code[place].word, 73, 76), 4) for place in found]
            # A wide one takes the place of several.
            copies = [loops[place] for place, bytes in zip(found, bytes_of) for _ in range(bytes // min(bytes_of))]
            count = sum(max(1, bytes // 4) for bytes in bytes_of) if kind.startswith("local") else len(found)
            offsets = {bits(code[place].word, 40, 64) % 16 for place in found}
            one_lane = int("atomic" in kind and line in votes)
            once = int(all(loops[place] is None for place in found))
            rows.append([name, line[0], *kind.split(), line[1], count, max(bytes_of, default=0), len(offsets),
                         uniform[line], unrolling(copies), one_lane, once,
                         *executed_with(pieces, line, kind), sum(code[p].predicate != ALWAYS for p in found)])
        if arguments:
            file, line = lines[arguments[0]]
            rows.append([name, file, "arguments", "load", line, len(arguments)] + [0] * 8 + ["-", 0])
    return rows


def executed_with(pieces, line, kind):
    """(how many, the line, the space) of stores that are executed as often as these loads. All of them are in the same
    pieces of code."""
    own = pieces[line, kind]
    if kind.endswith("load") and own:
        for (other, store), theirs in sorted(pieces.items(), key=lambda entry: abs(entry[0][0][1] - line[1])):
            alike = other[0] == line[0] and store in ("global store", "shared store") and own.keys() == theirs.keys()
            if alike and all(own[piece] * sum(theirs.values()) == theirs[piece] * sum(own.values()) for piece in own):
                return sum(theirs.values()), other[1], store.split()[0]
    return 0, 0, "-"


def what_to_compile(program):
    """The program's sources, and nvcc's options for them."""
    if not program.startswith("own/"):
        chapter = os.path.basename(glob.glob(f"chapters/{program.split('_')[0]}_*")[0])
        return [source_of(program, chapter)], []
    files = output_of([sys.executable, "common", "tools.own.own_programs", "files"]).splitlines()
    typed = lambda name: shlex.split(os.environ.get(name, ""))
    return [file for file in files if file.endswith(".cu")], [f"-D{d}" for d in typed("DEFINE")] + [f"-I{i}" for i in typed("INCLUDE")]


def architecture_of(source):
    """Products of warp groups are there for sm_90a alone (gpu.mk)."""
    headers = glob.glob("chapters/*/*.cuh") + glob.glob("chapters/*/experiments/*.cuh")
    return "sm_90a" if source in output_of(["common/cpu/libs/users.sh", "tensor", source, *headers]).split() else "sm_90"


def write_table(path, program):
    """The rows of all sources of a program, below the names of the columns."""
    rows = []
    sources, options = what_to_compile(program)
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "kernels.cubin")
        for source in sources:
            output_of(["nvcc", "-std=c++17", "-O3", f"-arch={architecture_of(source)}", "-lineinfo", "-cubin", *options, source, "-o", binary])
            rows += accesses_of(sections_of(binary), source)
    write_whole(path, "".join("\t".join(map(str, row)) + "\n" for row in [COLUMNS, *rows]))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write_table(*sys.argv[1:])


if __name__ == "__main__":
    main()
