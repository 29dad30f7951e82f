#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What bounds each version of chapter 14, derived: counts from the shape of its tile, clocks from those, times from
what an H200 does in a clock. Beside them stands what was measured.

Reads the tiles and the versions from the chapter's sources, the experiment even_shares among them, registers and
instructions from what ptxas.py and machine_code.py stored, and times, clocks and counters from results/h200*.csv. Writes

    results/h200_limits.csv           a row for each version: counts, limits, and the measured time
    results/h200_limits_counters.csv  counts beside the counters of h200_profile.csv and X-ray's of xray.csv

With --check these two files are compared instead. It also fails where a count of the source is not in the machine code, or
is more than 2 % off what was counted; [limits_reasons] of settings (version,metric,why) can say why it may be.
"""

import argparse
import math
import os
import re
import sys

import settings
from banks import LANES, passes
from csv_files import csv_text, rows_of, write_whole

NAME = "14_matmul_at_the_limit"
CHAPTER = f"chapters/{NAME}"
PROGRAM, EXPERIMENT = f"{CHAPTER}/matmul_at_the_limit.cu", f"{CHAPTER}/experiments/even_shares.cu"
MEASURED, SETTINGS = f"{CHAPTER}/results/h200.csv", f"{CHAPTER}/settings"
DEVICE_QUERY = "chapters/01_device_query/results"
PTXAS, LOOPS = f"{CHAPTER}/results/sm_90_ptxas.csv", f"{CHAPTER}/results/sm_90_loops.csv"
LIMITS, COUNTERS = f"{CHAPTER}/results/h200_limits.csv", f"{CHAPTER}/results/h200_limits_counters.csv"
SIDE, FLOAT, WIDE = 4096, 4, 4  # of the matrices; bytes; floats
TOLERANCE = 2.0  # per cent

# An H200: multiprocessors, and what one of them has or does in a clock.
SMS, SCHEDULERS, THREADS_OF_SM, REGISTERS_OF_SM = 132, 4, 2048, 65536
SHARED_OF_SM, SHARED_OF_SYSTEM = 228 * 1024, 1024  # bytes; the latter for each block
REGISTERS_AT_A_TIME = 256  # that a warp is given

# How a kernel brings its slices: whether B's is copied past the registers, barriers in a step, slices at a time (0:
# as many as the tile says), and whether every multiprocessor gets the same share.
HOW = {"multiply_in_turn": (False, 2, 1, False), "multiply_two_stages": (False, 1, 2, False),
       "multiply_async": (True, 1, 0, False), "multiply_even_shares": (True, 1, 0, True)}
NOT_DERIVED = "cublas"


class Failure(Exception):
    pass


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def row_of(path, **wanted):
    found = [r for r in rows_of(path) if all(r[k] == v for k, v in wanted.items())]
    if len(found) != 1:
        raise Failure(f"{path}: {len(found)} rows of {', '.join(wanted.values())}: expected one")
    return found[0]


def wavefronts(addresses, floats):
    """Wavefronts of one request for that many floats per lane; addresses count floats, too."""
    return len(passes([address * FLOAT for address in addresses], floats * FLOAT))


class Tile:
    """tile.cuh's Tile: counts are of a warp in one step, unless they say otherwise."""

    def __init__(self, arguments):
        numbers = [a.strip() for a in arguments.split(",")]
        self.rows, self.columns, self.depth, self.warp_rows, self.warp_columns, self.lanes_down, self.stages, _ = map(int, numbers[:8])
        self.name = ", ".join([f"{n}u" for n in numbers[:8]] + [(numbers[8:] or ["false"])[0]])
        self.lanes_across = LANES // self.lanes_down
        self.down, self.across = self.warp_rows // self.lanes_down, self.warp_columns // self.lanes_across
        self.elements = self.down * self.across
        self.warps = self.rows // self.warp_rows * (self.columns // self.warp_columns)
        self.threads = self.warps * LANES
        self.row_of_a = self.rows + WIDE
        self.slice_bytes = self.depth * (self.row_of_a + self.columns) * FLOAT
        self.pieces_of_a = self.rows * self.depth // WIDE // self.threads
        self.pieces_of_b = self.depth * self.columns // WIDE // self.threads
        self.multiply_adds = self.elements * self.depth
        self.loads = (self.down + self.across) // WIDE * self.depth

    def wavefronts_of_loads(self):
        a = wavefronts([lane // self.lanes_across * WIDE for lane in range(LANES)], WIDE)
        b = wavefronts([lane % self.lanes_across * WIDE for lane in range(LANES)], WIDE)
        return (self.down // WIDE * a + self.across // WIDE * b) * self.depth

    def place_of_a(self, lane):
        return lane // 2 % self.rows, (lane % 2 + lane // (2 * self.rows) * 2) * WIDE

    def wavefronts_of_stores(self):
        """Of the slices into shared memory. An asynchronous copy stores as much as a thread would."""
        places = [self.place_of_a(lane) for lane in range(LANES)]
        of_a = wavefronts([column * self.row_of_a + row for row, column in places], 1) * WIDE
        return self.pieces_of_a * of_a + self.pieces_of_b * wavefronts([lane * WIDE for lane in range(LANES)], WIDE)

    def wavefronts_of_the_l1(self, floats, is_async):
        """Of loads of so many floats from global memory, whose rows are SIDE apart. An asynchronous copy of 16 bytes does
        not stop at the L1."""
        of_a = wavefronts([row * SIDE + column for row, column in map(self.place_of_a, range(LANES))], floats)
        of_b = wavefronts([lane * WIDE for lane in range(LANES)], floats)
        return (self.pieces_of_a * of_a + (0 if is_async else self.pieces_of_b * of_b)) * (WIDE // floats)


def tiles_of_source():
    return {name: Tile(arguments) for name, arguments in re.findall(r"using (\w+) = Tile<([^>]*)>;", text_of(f"{CHAPTER}/tile.cuh"))}


def versions_of_source():
    """[(version, kernel, name of its tile, further template arguments)]"""
    text = text_of(PROGRAM)
    table = text[text.index("kVersions[]") : text.index("int main")]
    entry = r'\{"(\w+)",\s*"[^"]*",\s*launch<(multiply_\w+)<(\w+)((?:, (?:true|false))*)>, [^}]*>\}'
    found = re.findall(entry, table)
    shares = re.search(r"EvenShares<(\w+)> shares", text_of(EXPERIMENT))
    return found + [("even_shares", "multiply_even_shares", shares[1], "")] if shares else found


def blocks_per_sm(tile, registers, slices):
    of_warp = -(-registers * LANES // REGISTERS_AT_A_TIME) * REGISTERS_AT_A_TIME
    shared = slices * tile.slice_bytes + SHARED_OF_SYSTEM
    return min(REGISTERS_OF_SM // (of_warp * tile.warps), SHARED_OF_SM // shared, THREADS_OF_SM // tile.threads)


class Version:
    """Counts of a version: from its source, and from what the compiler made of it."""

    def __init__(self, name, kernel, tile, arguments):
        self.name, self.tile = name, tile
        self.is_async, self.barriers, slices, self.is_even = HOW[kernel]
        self.is_wide = not (kernel == "multiply_in_turn" and arguments.startswith(", false"))
        self.kernel = f"{kernel}<Tile<{tile.name}>{arguments or ' '}>"
        self.loop = {k: int(v) for k, v in row_of(LOOPS, kernel=self.kernel).items() if v.isdigit()}
        said = row_of(PTXAS, kernel=self.kernel)
        self.registers, self.spilled = int(said["registers"]), int(said["spill_store_bytes"]) + int(said["spill_load_bytes"])
        self.global_loads = (tile.pieces_of_a + (0 if self.is_async else tile.pieces_of_b)) * (1 if self.is_wide else WIDE)
        from_source = {"multiply_adds": tile.multiply_adds, "shared_loads": tile.loads, "barriers": self.barriers,
                       "shared_stores": tile.pieces_of_a * WIDE + (0 if self.is_async else tile.pieces_of_b),
                       "global_loads": self.global_loads, "async_copies": tile.pieces_of_b if self.is_async else 0}
        for kind, count in from_source.items():
            if self.loop[kind] != count:
                raise Failure(f"{name}: {count} {kind} in a step by the source, {self.loop[kind]} in the machine code")
        self.bringing = sum(from_source[k] for k in ("shared_stores", "global_loads", "async_copies"))
        self.wavefronts = tile.wavefronts_of_loads() + tile.wavefronts_of_stores()
        self.wavefronts += tile.wavefronts_of_the_l1(WIDE if self.is_wide else 1, self.is_async)
        self.blocks_per_sm = blocks_per_sm(tile, self.registers, slices or tile.stages)

    def tiles(self, m, n):
        return -(-m // self.tile.rows) * -(-n // self.tile.columns)

    def warp_steps(self, m, n, k):
        """How often a warp does a step, in the whole product."""
        return self.tiles(m, n) * self.tile.warps * -(-k // self.tile.depth)


def limits_of(version, measured, l2_rate, dram_rate):
    """The row of a version. Rates in bytes per millisecond."""
    tile, loop = version.tile, version.loop
    steps, tiles = version.warp_steps(SIDE, SIDE, SIDE), version.tiles(SIDE, SIDE)
    clocks_of_ms = float(measured["sm_mhz"]) * 1000
    per_scheduler, per_sm = SMS * SCHEDULERS * clocks_of_ms, SMS * clocks_of_ms
    bytes_of_l2 = (tiles * (SIDE // tile.depth) * (tile.rows + tile.columns) * tile.depth + SIDE * SIDE) * FLOAT
    limits = {
        "issue": steps * loop["instructions"] / per_scheduler,
        "registers": steps * max(loop["even_reads"], loop["odd_reads"]) / per_scheduler,
        "shared": steps * version.wavefronts / per_sm,
        "l2": bytes_of_l2 / l2_rate,
        "dram": 3 * SIDE * SIDE * FLOAT / dram_rate,
    }
    # The busiest multiprocessor computes so many tiles, where the average would be tiles / SMS.
    rounds = tiles / (SMS * version.blocks_per_sm)
    paid = 1 if version.is_even else math.ceil(tiles / SMS) * SMS / tiles
    binding = max(limits, key=limits.get)
    bound, time = limits[binding] * paid, float(measured["median_ms"])
    return {
        "version": version.name, "tile": f"{tile.rows} x {tile.columns}", "elements": tile.elements,
        "registers": version.registers, "spilled_bytes": version.spilled, "blocks_per_sm": version.blocks_per_sm,
        "multiply_adds_per_byte": f"{tile.elements / ((tile.down + tile.across) * FLOAT):.2f}",
        "wavefronts_per_multiply_add": f"{version.wavefronts / tile.multiply_adds:.3f}",
        "multiply_adds": tile.multiply_adds, "loads": tile.loads, "bringing": version.bringing,
        "barriers": version.barriers, "switched_off": loop["switched_off"], "others": loop["others"],
        "instructions": loop["instructions"], "slots_per_multiply_add": f"{loop['instructions'] / tile.multiply_adds:.3f}",
        "reads_per_multiply_add": f"{(loop['even_reads'] + loop['odd_reads']) / tile.multiply_adds:.2f}",
        "rounds": "-" if version.is_even else f"{rounds:.2f}", "paid": f"{paid:.3f}",
        "multiply_adds_ms": f"{steps * tile.multiply_adds / per_scheduler:.4f}",
        **{f"{name}_ms": f"{limit:.4f}" for name, limit in limits.items()},
        "binding": binding, "bound_ms": f"{bound:.4f}", "measured_ms": f"{time:.4f}",
        "bound_of_measured": f"{bound / time:.3f}", "rest_percent": f"{100 * (1 - bound / time):.1f}",
        **{key: measured[key] for key in ("device", "cuda", "date")},
    }


def shape_of(options):
    """(m, n, k) of a program's options."""
    found = dict(re.findall(r"--([mnk]) (\d+)", options))
    if set(found) != set("mnk"):
        raise Failure(f"{options}: expected --m, --n and --k")
    return tuple(int(found[side]) for side in "mnk")


def counted_by_gpu(versions):
    """(version, shape, metric, derived, counted, row) of each counter that is derived here. What a block does before
    and after its steps is in no count."""
    counts = {
        "smsp__inst_executed.sum": lambda v: v.loop["instructions"],
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": lambda v: v.tile.wavefronts_of_loads(),
        "l1tex__data_pipe_lsu_wavefronts.sum": lambda v: v.wavefronts,
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": lambda v: v.global_loads,
    }
    for row in rows_of(f"{CHAPTER}/results/h200_profile.csv"):
        version = next((v for v in versions if v.name == row["version"]), None)
        if version is not None and row["metric"] in counts:
            shape = shape_of(row["args"])
            yield version, shape, row["metric"], version.warp_steps(*shape) * counts[row["metric"]](version), row["measured"], row


def counted_by_xray(versions):
    """The same of X-ray's counts, to which an asynchronous copy is a load and a store."""
    counts = {
        ("shared", "load", "wavefronts"): lambda v: v.tile.wavefronts_of_loads(),
        ("shared", "store", "wavefronts"): lambda v: v.tile.wavefronts_of_stores(),
        ("global", "load", "requests"): lambda v: v.global_loads + v.loop["async_copies"],
    }
    options = dict(settings.named_lines_of(NAME, "traces")).get("versions", "")
    shape = shape_of(options)
    rows = [r for r in rows_of(f"{CHAPTER}/results/xray.csv") if r["trace"] == "versions"]
    for version in (v for v in versions if v.name in re.split(r"[ ,]", options)):
        for (space, operation, column), count in counts.items():
            counted = sum(int(r[column]) for r in rows if (r["kernel"], r["space"], r["operation"]) == (version.kernel, space, operation))
            yield version, shape, f"X-ray: {column} of {space} {operation}s", version.warp_steps(*shape) * count(version), counted, {}


def counters_of(versions):
    """Rows of counts beside what counts them, and complaints."""
    reasons = {(r["version"], r["metric"]): r["why"] for r in settings.table_of(NAME, "limits_reasons")}
    rows, complaints = [], []
    for count in (counted_by_gpu, counted_by_xray):
        for version, shape, metric, derived, counted, source in count(versions):
            off = 100 * (float(counted) / derived - 1)
            why, of_shape = reasons.get((version.name, metric), ""), " x ".join(map(str, shape))
            if abs(off) > TOLERANCE and not why:
                complaints.append(f"{version.name}, {metric} at {of_shape}: {derived} derived, {counted} counted; [limits_reasons] of {SETTINGS} does not say why")
            rows.append({"version": version.name, "shape": of_shape, "metric": metric, "derived": derived, "counted": counted,
                         "off_percent": f"{off:.2f}", "why": why, "device": source.get("device", ""), "date": source.get("date", "")})
    return rows, complaints


def derive():
    """{path: text} of the files, and complaints."""
    tiles = tiles_of_source()
    versions = [Version(name, kernel, tiles[tile], arguments) for name, kernel, tile, arguments in versions_of_source()]
    if not versions:
        raise Failure(f"{PROGRAM}: no versions found")
    # The best of chapter 01: copies that stay in the L2, and reads of gigabytes. GB/s are 10^6 bytes per millisecond.
    l2_rate = max(float(r["rate"]) for r in rows_of(f"{DEVICE_QUERY}/h200.csv") if r["setting"] == "4mi" and r["rate"]) * 1e6
    dram_rate = float(row_of(f"{DEVICE_QUERY}/h200.csv", setting="default", version="read")["rate"]) * 1e6
    measured_as = {v.name: "even_shares" if v.is_even else "default" for v in versions}
    limits = [limits_of(v, row_of(MEASURED, setting=measured_as[v.name], version=v.name), l2_rate, dram_rate) for v in versions]
    compiled = set(r["cuda"] for r in rows_of(PTXAS) + rows_of(LOOPS))
    complaints = [f"{r['version']}: its {r['measured_ms']} ms are less than the bound of {r['bound_ms']} ms by {r['binding']}"
                  for r in limits if float(r["measured_ms"]) < float(r["bound_ms"])]
    if compiled != {limits[0]["cuda"]}:
        complaints.append(f"compiled with CUDA {', '.join(sorted(compiled))}, measured with {limits[0]['cuda']}")
    measured = [r["version"] for r in rows_of(MEASURED) if r["setting"] == "default" and r["version"] != NOT_DERIVED]
    if measured + ["even_shares"] != [v.name for v in versions]:
        complaints.append(f"{PROGRAM}: found {', '.join(v.name for v in versions)}; measured {', '.join(measured)}")
    counters, more = counters_of(versions)
    return {LIMITS: csv_text(limits), COUNTERS: csv_text(counters)}, complaints + more


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    try:
        files, complaints = derive()
    except (Failure, OSError) as problem:
        print(problem, file=sys.stderr)
        return 1
    for path, text in files.items():
        if not check:
            write_whole(path, text)
            print(f"-> {path}")
        elif not os.path.exists(path) or text_of(path) != text:
            complaints.append(f"{path}: drifted from sources and measurements; run common/tools/measure/product_limits.py, make notes figures")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
