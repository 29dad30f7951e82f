# SPDX-License-Identifier: MIT
"""How every figure of the course looks, and how it is saved so that drawing it again gives the same bytes.

A chapter's script, common/tools/figures/NN_name.py, looks like this:

    import style

    rows = style.rows("h200_stride.csv")                  # chapters/NN_name/results/
    fig, ax = style.axes("stride [elements]", "bandwidth [GB/s]")
    style.line(ax, [r["stride"] for r in rows], [r["rate"] for r in rows], "measured", style.BLUE)
    style.source(fig, rows)                                # "NVIDIA H200, CUDA 13.0, 2026-01-31"
    style.save(fig, "stride_sweep", title="Bandwidth against stride", desc="Falls from ... to ...")

It writes chapters/NN_name/figures/stride_sweep.svg. `make figures` runs all scripts, `make check` runs
them into another folder and compares. Lines are labelled where they end, not in a legend; axes name
their unit; `desc` says in a sentence what a reader who cannot see the figure should know.
"""

import csv
import os
import re
import sys
from xml.sax.saxutils import escape

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen first)

# Okabe and Ito: told apart by readers with any colour vision, and in grey.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, RED, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#666666"
CYCLE = [BLUE, RED, GREEN, ORANGE, PURPLE, SKY, BLACK]

plt.rcParams.update(
    {
        "svg.hashsalt": "cuda-tutorial",
        "svg.fonttype": "path",
        "path.simplify": False,
        "figure.facecolor": "white",
        "savefig.facecolor": "white",
        "axes.facecolor": "white",
        "font.family": "DejaVu Sans",
        "font.size": 11,
        "axes.titlesize": 12,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.prop_cycle": matplotlib.cycler(color=CYCLE),
        "grid.color": "#DDDDDD",
        "grid.linewidth": 0.7,
        "lines.linewidth": 2,
        "lines.markersize": 5,
        "legend.frameon": False,
    }
)


def chapter():
    """NN_name of the chapter whose script is running."""
    return os.path.splitext(os.path.basename(sys.argv[0]))[0]


def _root():
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def rows(name, of_chapter=None):
    """The rows of a results CSV as dicts; what reads as a number is one."""
    path = os.path.join(_root(), "chapters", of_chapter or chapter(), "results", name)
    with open(path, newline="", encoding="utf-8") as file:
        return [{key: _number(text) for key, text in row.items()} for row in csv.DictReader(file)]


def output(name, of_chapter=None):
    """The text of a captured output in results/."""
    with open(os.path.join(_root(), "chapters", of_chapter or chapter(), "results", name), encoding="utf-8") as file:
        return file.read()


def _number(text):
    try:
        return float(text) if "." in text or "e" in text else int(text)
    except ValueError:
        return text


def axes(xlabel="", ylabel="", size=(7.2, 4.2), **subplots):
    """A figure and its axes, labelled."""
    fig, ax = plt.subplots(figsize=size, **subplots)
    if xlabel:
        ax.set_xlabel(xlabel)
    if ylabel:
        ax.set_ylabel(ylabel)
    return fig, ax


def line(ax, x, y, label, color, marker="o", **how):
    """A line, named at its right end."""
    ax.plot(x, y, color=color, marker=marker, **how)
    label_end(ax, x[-1], y[-1], label, color)


def label_end(ax, x, y, text, color=BLACK, shift=(6, 0)):
    """Text to the right of a point, in the colour of what it names."""
    ax.annotate(text, (x, y), xytext=shift, textcoords="offset points", color=color, va="center")


def log2_axis(axis, unit=""):
    """Powers of two as 1, 2, ... 1 Ki, ... on ax.xaxis or ax.yaxis."""

    def name(value, _):
        for shift, suffix in ((30, " Gi"), (20, " Mi"), (10, " Ki")):
            if value >= 1 << shift:
                return f"{value / (1 << shift):g}{suffix}{unit}"
        return f"{value:g}{' ' + unit if unit else ''}"

    which = axis.axis_name
    getattr(axis.axes, f"set_{which}scale")("log", base=2)
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(name))


def source(fig, of_rows):
    """Device, CUDA version and date of the measurement, below the figure."""
    row = of_rows[0]
    text = ", ".join(str(v) for v in (row.get("device"), f"CUDA {row.get('cuda')}", row.get("date")) if v)
    fig.text(0.99, 0.005, text, ha="right", va="bottom", fontsize=8, color=GREY)


def _place(name, of_chapter):
    """chapters/NN_name/figures/NAME.svg, below FIGURES_ROOT when that is set."""
    folder = os.path.join(os.environ.get("FIGURES_ROOT") or _root(), "chapters", of_chapter or chapter(), "figures")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, name + ".svg")


def write(name, svg, of_chapter=None):
    """Writes a figure that is drawn already."""
    path = _place(name, of_chapter)
    with open(path + ".partial", "w", encoding="utf-8", newline="\n") as file:
        file.write(svg)
    os.replace(path + ".partial", path)


def save(fig, name, title, desc, of_chapter=None):
    """Writes a figure of matplotlib's, with title and description."""
    partial = _place(name, of_chapter) + ".partial"
    fig.tight_layout(rect=(0, 0.03, 1, 1))
    fig.savefig(partial, format="svg", metadata={"Date": None})
    plt.close(fig)
    with open(partial, encoding="utf-8") as file:
        svg = file.read()
    # For screen readers, and for browsers that show the title when the mouse rests.
    head = re.search(r"<svg\b[^>]*", svg).end()
    svg = (
        f'{svg[:head]} role="img" aria-labelledby="title desc">'
        f'\n <title id="title">{escape(title)}</title>\n <desc id="desc">{escape(desc)}</desc{svg[head:]}'
    )
    write(name, "\n".join(text.rstrip() for text in svg.split("\n")), of_chapter)
