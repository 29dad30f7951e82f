# SPDX-License-Identifier: MIT
"""Chapter 15: the sawtooth of time over columns, and the choice among many kernels at 600 random shapes."""

import math
import statistics

from . import style


def sawtooth():
    """Times over the columns of C, and what they are of the peak: whole tiles step up where a wave is full."""
    rows = style.rows("sawtooth")
    fig, (time, share) = style.axes(height=4.6, nrows=2, sharex=True)
    looks = {"whole_tiles": ("whole tiles", style.BLUE, "-", "o"), "small_tiles": ("small tiles", style.GREEN, "-.", "^"),
             "even_shares": ("even shares", style.RED, "--", "s"), "cublas": ("cuBLAS", style.GREY, ":", "")}
    said = []
    for version, (name, color, line, marker) in looks.items():
        look = {"color": color, "linestyle": line, "marker": marker, "markersize": 3.5, "linewidth": 1.6, "label": name}
        n, ms = style.series(rows, version + r"=(\d+)", "median_ms")
        time.plot(n, ms, **look)
        _, percent = style.series(rows, version + r"=(\d+)", "of_percent")
        share.plot(n, percent, **look)
        said.append(f"{name} from {ms[0]:.2f} to {ms[-1]:.2f} ms")
    waves = [n for n in range(1, n[-1]) if n % 2816 == 0] + [n[-1]]
    time.set(ylabel="time [ms]", ylim=(0, None), xticks=[0, *waves])
    share.set(ylabel="of the peak [%]", ylim=(0, 100), xlabel="columns of C")
    time.legend(loc="upper left")
    style.save(fig, "sawtooth", "A product of 1536 x n x 4096 over its columns n",
               "Above times: " + "; ".join(said) + ". Those of whole tiles go up in steps, where the tiles fill one wave, and two. "
               "Below what they are of the peak: a sawtooth.", rows)


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
