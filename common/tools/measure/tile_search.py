#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chapter 14's best kernel in other shapes: tile, depth of a step, warp, lanes, slices, blocks per multiprocessor.

Tries the shapes of [tile_search] in settings. The chapter's program gets them as its versions, a few at a time, and is
compiled and run as it is otherwise: every result is checked, and cuBLAS is measured in the same run. Writes

    results/GPU_tiles.csv    a row for each shape: registers, spills, blocks per multiprocessor, time, share of cuBLAS

--compile needs no GPU: it prints registers, spills and blocks for an architecture, and writes no results. The
programs stay in build/tile_search/; on the CPU backend such a one is checked by
make run FILE=build/tile_search/shapes_0.cu INCLUDE=chapters/14_matmul_at_the_limit ARGS="--m 300 --n 300 --k 70".
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

import settings
from csv_files import csv_text, rows_of, write_whole
from product_limits import CHAPTER, NAME, PROGRAM, SETTINGS, Tile, blocks_per_sm, text_of
from ptxas import number, output_of, short_name

FOLDER = "build/tile_search"
AT_A_TIME = 4  # shapes in a program
OPTIONS = ["--m", "4096", "--n", "4096", "--k", "4096"]
SHARED_OF_BLOCK = 227 * 1024  # bytes, the most that a block of an H200 may have
TABLE = re.compile(r"(const Version<\w+> kVersions\[\] = \{\n).*?(\n\};)", re.S)
ENTRY = '    {{"{name}", "a shape of the search", launch<multiply_async<{tile}, true, true>, {tile}>}},'
SHOWN = ["registers", "spilled_bytes", "shared_bytes", "blocks_per_sm"]
MEASURED = ["median_ms", "rate", "rate_unit", "of_cublas", "check", "device", "cuda", "date"]


class Shape:
    def __init__(self, row):
        self.row = row
        self.arguments = ", ".join(row.values())
        self.tile = Tile(f"{self.arguments}, true")
        tile_text = "x".join(row[k] for k in ("rows", "columns", "depth"))
        self.name = f"{tile_text}_warp_{row['warp_rows']}x{row['warp_columns']}_{row['lanes_down']}_down_{row['slices']}_slices_{row['blocks']}_per_sm"
        self.shared = self.tile.stages * self.tile.slice_bytes
        self.found = {}

    def compiled(self, said):
        """Notes what ptxas said of the shape's kernel."""
        for part in said.split("Function properties for ")[1:]:
            if short_name(part.splitlines()[0]) == f"multiply_async<Tile<{self.tile.name}>, true, true>":
                registers = int(number(r"Used (\d+) registers", part))
                spilled = sum(int(n) for n in re.findall(r"(\d+) bytes spill", part))
                blocks = blocks_per_sm(self.tile, registers, self.tile.stages)
                self.found = dict(zip(SHOWN, (registers, spilled, self.shared, blocks)))
                return
        sys.exit(f"{self.name}: nvcc says nothing of its kernel")


def program_with(shapes):
    """The chapter's program with these shapes as its versions."""
    entries = "\n".join(ENTRY.format(name=s.name, tile=f"Tile<{s.arguments}, true>") for s in shapes)
    text, replaced = TABLE.subn(lambda found: found[1] + entries + found[2], text_of(PROGRAM))
    if replaced != 1:
        sys.exit(f"{PROGRAM}: its table of versions was not found")
    return text


def build(number_of_program, shapes, arch):
    """Compiles a program of some shapes; its path."""
    path = f"{FOLDER}/shapes_{number_of_program}"
    with open(f"{path}.cu", "w", encoding="utf-8") as file:
        file.write(program_with(shapes))
    said = output_of(["nvcc", "-std=c++17", "-O3", f"-arch={arch}", "-Xptxas", "-v", "-Xcompiler", f"-iquote,{CHAPTER}",
                      f"-I{CHAPTER}", f"{path}.cu", "-o", path, "-lcublas"])  # fmt: skip
    said = output_of(["c++filt"], input=said)
    for shape in shapes:
        shape.compiled(said)
    return path


def measure(path, shapes):
    """Runs a program and notes the rows of its shapes."""
    done = subprocess.run([path, *OPTIONS, "--csv", f"{path}.csv"], check=False)
    if done.returncode != 0:
        sys.exit(f"{path}: status {done.returncode}")
    rows = {row["version"]: row for row in rows_of(f"{path}.csv")}
    for shape in shapes:
        row = rows[shape.name]
        row["of_cublas"] = f"{float(row['rate']) / float(rows['cublas']['rate']):.3f}"
        shape.found.update({key: row[key] for key in MEASURED})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compile", nargs="?", const="sm_90", metavar="ARCH", help="sm_90 if left out")
    compiled_for = parser.parse_args().compile
    shapes = [Shape(row) for row in settings.table_of(NAME, "tile_search")]
    for shape in shapes:
        if shape.shared > SHARED_OF_BLOCK:
            sys.exit(f"{SETTINGS}: {shape.name}: {shape.shared} bytes of shared memory, at most {SHARED_OF_BLOCK} are allowed")
    os.makedirs(FOLDER, exist_ok=True)
    arch = compiled_for or "native"
    groups = [shapes[i : i + AT_A_TIME] for i in range(0, len(shapes), AT_A_TIME)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = list(pool.map(build, range(len(groups)), groups, [arch] * len(groups)))
    if not compiled_for:
        for path, group in zip(paths, groups):
            measure(path, group)

    table = csv_text([{**shape.row, **shape.found} for shape in shapes])
    if compiled_for:
        print(table, end="")
    else:
        gpu = output_of(["common/tools/setup/gpu_name.sh"]).strip()
        write_whole(f"{CHAPTER}/results/{gpu}_tiles.csv", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
