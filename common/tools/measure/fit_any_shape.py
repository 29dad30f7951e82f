# SPDX-License-Identifier: MIT
"""Fits the model of chapter 15's program to the rows of its first run, and writes what it predicts of them.

    python3 common tools.measure.fit_any_shape

results/h200_fit.csv holds the rows: what was predicted of them before they were measured (`before_ms`), what was
measured, and whether a row was used for the fit (`fitted`). `after_ms` is written here; a test of the chapter computes
it with the program's own model. Each way's time is a sum of numbers to be fitted times counts of its shape, where waves
take longer than bytes. So this is linear least squares, of relative errors; a setting counts as much as another one.
"""

import math

import numpy

from .csv_files import csv_text, rows_of, write_whole

FILE = "chapters/15_matmul_of_any_shape/results/h200_fit.csv"
MULTIPROCESSORS, LAUNCH, MEMORY, L2_OF_SUMS = 132, 3.4, 4.2e6, 6e6
DIGITS = {"whole_tiles": (1, 2), "small_tiles": (1, 2, 2), "even_shares": (2, 2), "few_rows": (3,)}


def div_up(a, b):
    return -(-a // b)


def counts(way, m, n, k, ends):
    """What the numbers of a way are multiplied by, and the microseconds that are not fitted."""
    steps, tiles = div_up(k, 16), div_up(m, 128) * div_up(n, 256)
    if way == "whole_tiles":  # ends, step
        most = div_up(tiles, MULTIPROCESSORS)
        return [most, most * steps], LAUNCH
    if way == "small_tiles":  # ends, step, the first of three
        most = div_up(div_up(m, 64) * div_up(n, 128), MULTIPROCESSORS)
        return [most, most * steps, div_up(most, 3) * steps], LAUNCH
    if way == "even_shares":  # step, part; the ends are those of whole tiles
        blocks = min(max(tiles * steps // 8, 1), MULTIPROCESSORS)
        dealt = tiles if tiles % blocks == 0 else max(tiles // blocks - 1, 0) * blocks
        visits = dealt // blocks + (2 if dealt < tiles else 0)
        parts = blocks / (tiles - dealt) if dealt < tiles else 0
        return [math.ceil(tiles * steps / blocks), parts], LAUNCH + visits * ends
    # few_rows: bytes of B that are read again
    groups = div_up(m, 8)
    parts = min(div_up(8 * MULTIPROCESSORS, div_up(n, 128) * groups), div_up(k, 64))
    memory = 4 * (m * k + k * n + m * n) / MEMORY
    return [4 * (groups - 1) * k * n], LAUNCH + memory + adding(parts, m * n)


def adding(parts, elements):
    return LAUNCH + 8 * parts * elements / L2_OF_SUMS if parts > 1 else 0


def predicted(way, m, n, k, numbers):
    if way == "split_k":  # nothing of its own is fitted
        steps, tiles = div_up(k, 16), div_up(m, 128) * div_up(n, 256)
        parts = max(1, min(MULTIPROCESSORS // tiles, steps // 2))
        ends, step = numbers["whole_tiles"]
        rounds = div_up(tiles * parts, MULTIPROCESSORS)
        return LAUNCH + rounds * (ends + div_up(steps, parts) * step) + adding(parts, m * n)
    of, fixed = counts(way, m, n, k, numbers["whole_tiles"][0])
    return fixed + float(numpy.dot(of, numbers[way]))


def main():
    rows = rows_of(FILE)
    shapes = [tuple(int(r[side]) for side in "mnk") for r in rows]
    numbers = {}
    for way, digits in DIGITS.items():
        chosen = [(r, s) for r, s in zip(rows, shapes) if r["version"] == way and r["fitted"] == "1"]
        left, right = [], []
        for row, shape in chosen:
            of, fixed = counts(way, *shape, numbers.get("whole_tiles", [0])[0])
            us = 1e3 * float(row["measured_ms"])
            weight = 1 / us / math.sqrt(sum(r["setting"] == row["setting"] for r, _ in chosen))
            left.append([c * weight for c in of])
            right.append((us - fixed) * weight)
        exact = numpy.linalg.lstsq(numpy.array(left), numpy.array(right), rcond=None)[0]
        if way == "few_rows":  # as bytes per microsecond
            rate = round(1e-6 / float(exact[0]), 1) * 1e6
            numbers[way] = [1 / rate]
            print(f"{way}: {exact[0]:.4g} us per byte, so {rate:.3g} bytes per us, {len(chosen)} rows")
        else:
            numbers[way] = [round(float(x), d) for x, d in zip(exact, digits)]
            print(f"{way}: {', '.join(f'{x:.4f}' for x in exact)}, so {numbers[way]}, {len(chosen)} rows")
    for row, shape in zip(rows, shapes):
        row["after_ms"] = f"{predicted(row['version'], *shape, numbers) / 1e3:.5g}"
    write_whole(FILE, csv_text(rows))
    for used in "10":
        for way in (*DIGITS, "split_k"):
            of = [float(r["measured_ms"]) / float(r["after_ms"]) for r in rows if r["version"] == way and r["fitted"] == used]
            if not of:
                continue
            print(f"{'fitted' if used == '1' else 'others'} {way}: measured/predicted from {min(of):.3f} to {max(of):.3f}")


if __name__ == "__main__":
    main()
