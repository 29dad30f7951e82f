# SPDX-License-Identifier: MIT
"""Chapter 15: the sawtooth of time over columns, and the choice among many kernels at 600 random shapes."""

import math
import re
import statistics

from . import style


def sawtooth():
    """Times over the columns of C: whole tiles step up where a wave is full, even shares do not."""
    rows = style.rows("sawtooth")
    fig, ax = style.axes("columns of C", "time [ms]", height=4.2)
    looks = {"whole_tiles": ("whole tiles", style.BLUE, "-"), "small_tiles": ("small tiles", style.GREEN, "-."),
             "even_shares": ("even shares", style.RED, "--"), "cublas": ("cuBLAS", style.GREY, ":")}
    said = []
    for version, (name, color, line) in looks.items():
        mine = [(int(re.search(r"=(\d+)", r["version"])[1]), r["median_ms"]) for r in rows if r["version"].startswith(version + "=")]
        ax.plot(*zip(*mine), color=color, linestyle=line, marker=".", label=name)
        said.append(f"{name} from {mine[0][1]:.2f} to {mine[-1][1]:.2f}")
    ax.set_ylim(0)
    ax.legend(loc="upper left")
    style.save(fig, "sawtooth", "Time of a product of 1536 x n x 4096 over its columns n",
               "Times in ms: " + "; ".join(said) + ". Whole tiles step up where their blocks fill one wave, and two.", rows)


def shapes(measured):
    """The distribution of the ratios to cuBLAS: each kind of shape in order of its ratios."""
    fig, ax = style.axes("shapes, in order [%]", "cuBLAS's time / ours", height=3.8)
    looks = {"128s": ("multiples of 128", style.BLUE, "-"), "odd": ("odd", style.ORANGE, "--"), "thin": ("thin", style.GREEN, "-.")}
    said = []
    for kind, (name, color, line) in looks.items():
        ratios = sorted(r["over_default"] for r in measured if r["kind"] == kind)
        mean = statistics.geometric_mean(ratios)
        ax.plot([100 * (i + 0.5) / len(ratios) for i in range(len(ratios))], ratios, color=color, linestyle=line, label=f"{name}: mean {mean:.2f}")
        said.append(f"{name} from {ratios[0]:.2f} to {ratios[-1]:.2f}, geometric mean {mean:.2f}, {sum(x < 1 for x in ratios)} of {len(ratios)} below 1")
    ax.axhline(1, color=style.BLACK, linestyle=":", linewidth=1.2)
    style.log_axis(ax.yaxis, 0.8, 1, 1.5, 2, 3, 5, 9)
    ax.legend(loc="upper left")
    style.save(fig, "shapes", "by_shape beside default cuBLAS, at 600 random shapes",
               "The ratio of times, in order: " + "; ".join(said) + ".", measured)


def model(measured):
    """What the model predicts beside what was measured, for the kernels that it chose."""
    fig, ax = style.axes("predicted [us]", "measured [us]", height=4.4)
    ends = [min(r["predicted_us"] for r in measured) / 1.2, max(r["predicted_us"] for r in measured) * 1.2]
    said = []
    for name, color, marker, wanted in (("aligned rows", style.BLUE, "o", True), ("unaligned rows", style.ORANGE, "x", False)):
        chosen = [r for r in measured if (r["k"] % 4 == 0 and r["n"] % 4 == 0) == wanted]
        near = sum(abs(math.log(r["us"] / r["predicted_us"])) < 0.05 for r in chosen)
        said.append(f"{name}: {near} of {len(chosen)} within 5 %")
        ax.plot([r["predicted_us"] for r in chosen], [r["us"] for r in chosen], marker, color=color, markersize=3.5,
                linestyle="none", label=said[-1])
    ax.plot(ends, ends, color=style.BLACK, linestyle=":", linewidth=1.2)
    for axis in (ax.xaxis, ax.yaxis):
        style.log_axis(axis, 5, 10, 100, 1000, 10000, number="g")
    ax.legend(loc="upper left")
    style.save(fig, "model", "by_shape: predicted and measured, at 600 random shapes",
               "Times of the chosen kernels. " + "; ".join(said) + ". The dotted line is where both are equal.", measured)


random_shapes = [r for r in style.rows("h200_shapes.csv") if r["process"] == 1 and r["seed"] in (30, 41, 42)]
sawtooth()
shapes(random_shapes)
model(random_shapes)
