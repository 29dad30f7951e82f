# SPDX-License-Identifier: MIT
"""Fits the model of chapter 16's choice.cuh to the times of plans, and prints its numbers as that file has them.

    nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a common/tools/measure/beside_cublaslt.cu -o beside -lcublasLt
    ./beside 7 100 plans >7.csv; ./beside 41 100 plans >41.csv; ./beside 0 5 plans >squares.csv
    python3 common tools.measure.fit_tensor_tiles 7.csv 41.csv squares.csv

The first two lines want an H200, the last SciPy. Plans of tiles that choice.cuh does not have are left out; to fit a new
tile, give it a row there first. Least squares of the logarithms of predicted over measured times, in which plans far from
the model count less. A plan counts as much as it is near the best one of its shape, since only these are chosen from.

kMostPerUs is given: fitted with the rest it falls to 7.0e8, and choices are 1 % worse. The numbers of choice.cuh are those
of `--most-per-us 7.85e8` (7.9e8 in two digits), which the fastest plans reach.
"""

import argparse
import re
import sys

import numpy
from scipy.optimize import least_squares

from .csv_files import rows_of

FILE = "chapters/16_tensor_cores/choice.cuh"
MULTIPROCESSORS, TERMS = 132, 64  # of the chip; of a step
TILE = ("rows", "columns", "down", "across", "turned")
SHARED = ("kLaunchUs", "kSecondLaunchUs", "kBytesPerUs", "kBytesOfParts")  # by all tiles; bytes in MB
# Where the search begins, and between which bounds it stays.
BEGIN, LEAST, MOST = [3, 2.5, 4, 6], [1, 0.2, 2, 1], [6, 6, 5, 40]
NEAR, FAR, SQUARE = 1 / 6, 0.02, 20  # how weights fall behind the best plan, the least, and how much more squares count


def div_up(a, b):
    return -(-a // b)


def number(text, name):
    """A constant of choice.cuh."""
    return float(re.search(rf"\b{name} =\s+([\d.e]+)", text)[1])


def tiles_of(text):
    """TILE of each row of kTileTimes."""
    rows = re.findall(r"\{(\d+), (\d+), (\d+), (\d+), (true|false), [\d.]+, [\d.]+\}", text)
    return [(*map(int, row[:4]), int(row[4] == "true")) for row in rows]


class Plans:
    """Timed plans, a column for each of their properties, and what plan_of() in choice.cuh computes of their shapes."""

    def __init__(self, rows, tiles, fours, eights, most_per_us):
        def column(name, kind=int):
            return numpy.array([kind(row[name]) for row in rows])

        self.tiles, self.tile = len(tiles), numpy.array([tiles.index(tile) for tile in zip(*map(column, TILE))])
        self.parts, self.us, self.library_us = column("parts"), column("us", float), column("library_us", float)
        m, n, k = self.shape = column("m"), column("n"), column("k")
        height, width, down, across, _ = numpy.array(tiles)[self.tile].T
        blocks = down * across
        at_once = numpy.where(blocks == 4, fours, numpy.where(blocks == 8, eights, MULTIPROCESSORS // blocks))
        tiles_of_c, steps = div_up(m, height * down) * div_up(n, width * across), div_up(k, TERMS)
        self.rounds, self.steps = div_up(tiles_of_c * self.parts, at_once), steps / self.parts
        self.elements = m * n / 1e6
        self.least_us = 2.0 * tiles_of_c * blocks * height * width * steps * TERMS / most_per_us
        self.bytes = 2 * (m * k + k * n + m * n) / 1e6

    def predicted(self, numbers):
        """As plan_of(): waves, power or bytes, whichever take longest, and the sums of parts. `numbers`: SHARED, then of
        all tiles what is before and after their steps, then of all tiles a step."""
        launch, second, rate, rate_of_parts = numbers[: len(SHARED)]
        ends, step = (numbers[len(SHARED) + i * self.tiles :][self.tile] for i in (0, 1))
        waves = self.rounds * (ends + self.steps * step)
        us = launch + numpy.maximum(numpy.maximum(waves, self.least_us), self.bytes / rate)
        return us + (self.parts > 1) * (second + 8 * self.parts * self.elements / rate_of_parts)

    def of_each_shape(self):
        """The places of the plans of every shape."""
        places = {}
        for place, shape in enumerate(zip(*self.shape)):
            places.setdefault(shape, []).append(place)
        return [numpy.array(of) for of in places.values()]

    def weights(self):
        best = numpy.empty(len(self.us))
        for places in self.of_each_shape():
            best[places] = self.us[places].min()
        m, n, k = self.shape
        return (numpy.exp(-(self.us / best - 1) / NEAR) + FAR) * numpy.where((m == n) & (n == k), SQUARE, 1)


def fit(plans, tiles):
    """The numbers for which `plans.predicted()` is nearest to what was measured."""
    # A step takes as long as its products at 1.7 GHz, or its bytes, 64 in a clock.
    steps = [max(r * c * TERMS / 2048, (r + c) * 2) / 1700 for r, c, *_ in tiles]
    root, measured, count = numpy.sqrt(plans.weights()), numpy.log(plans.us), len(tiles)
    return least_squares(
        lambda numbers: (numpy.log(plans.predicted(numbers)) - measured) * root,
        numpy.concatenate([BEGIN, numpy.full(count, 1.0), steps]),
        bounds=(LEAST + [0.0] * count + [0.01] * count, MOST + [4.0] * count + [2.0] * count),
        loss="soft_l1",
        f_scale=0.05,
    ).x


def how_good(plans, predicted):
    """What the plans that would be chosen take over the best that were timed, and over the library: geometric means."""
    shapes = plans.of_each_shape()
    chosen = numpy.array([places[predicted[places].argmin()] for places in shapes])
    best = numpy.array([plans.us[places].min() for places in shapes])
    means = [numpy.exp(numpy.log(plans.us[chosen] / of).mean()) for of in (best, plans.library_us[chosen])]
    return f"{len(plans.us)} plans of {len(shapes)} shapes; chosen ones take {means[0]:.3f} times the best, {means[1]:.3f} times cublasLt"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most-per-us", type=float, metavar="RATE", help="kMostPerUs, else that of choice.cuh")
    parser.add_argument("files", nargs="+", metavar="CSV")
    options = parser.parse_args()
    with open(FILE, encoding="utf-8") as file:
        text = file.read()
    tiles = tiles_of(text)
    rows = [row for path in options.files for row in rows_of(path) if tuple(int(row[name]) for name in TILE) in tiles]
    plans = Plans(rows, tiles, number(text, "kFoursOf132"), number(text, "kEightsOf132"), options.most_per_us or number(text, "kMostPerUs"))
    numbers = fit(plans, tiles)
    for (height, width, down, across, turned), ends, step in zip(tiles, *numpy.split(numbers[len(SHARED) :], 2)):
        print(f"    {{{height}, {width}, {down}, {across}, {'true' if turned else 'false'}, {ends:.2f}, {step:.3f}}},")
    for name, value in zip(SHARED, numbers):
        print(f"{name} = {value:.2f}{'e6' if 'Bytes' in name else ''}")
    print(how_good(plans, plans.predicted(numbers)))


if __name__ == "__main__":
    sys.exit(main())
