# SPDX-License-Identifier: MIT
r"""How every figure of the course looks, and how it is saved so that drawing it again gives the same bytes.

A chapter's script, common/tools/figures/NN_name.py, looks like this:

    from . import style

    rows = style.rows("stride")                           # of chapters/NN_name/results/h200.csv
    fig, ax = style.axes("stride [elements]", "bandwidth [GB/s]")
    style.line(ax, *style.series(rows, r"stride=(\d+)"), "measured", style.BLUE)
    style.save(fig, "stride_sweep", "Bandwidth against stride", "Falls from ... to ...", rows)

It writes chapters/NN_name/figures/stride_sweep.svg, with "NVIDIA H200, CUDA 13.0, 2026-01-31" at its foot.
`make figures` runs all scripts, `make check` runs them into another folder and compares. Lines are labelled
where they end, not in a legend, and differ in marker or dash as well as in colour; axes name their unit; the
last text says in a sentence what a reader who cannot see the figure should know.

A figure is shown 400 pixels wide on a telephone, and 480 high on a slide that is seen from the back row.
So it is narrow, its text is large, and save() refuses text that would be too small for either, that is
pale, that lies over other text, or that sticks out.
"""

import csv
import io
import os
import re
import sys
from pathlib import Path
from xml.sax.saxutils import escape

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen first)
from matplotlib.backends.backend_agg import RendererAgg  # noqa: E402
from matplotlib.colors import to_rgb, to_rgba  # noqa: E402
from matplotlib.transforms import Bbox  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]

# Okabe and Ito: told apart by readers with any colour vision, and in grey.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, RED, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, PALE = "#666666", "#E2E2E2"
PALE_RED, PALE_GREEN = "#F5C9A9", "#AEDFCF"
CYCLE = [BLUE, RED, GREEN, ORANGE, PURPLE, SKY, BLACK]
# The same hues for text: as they are, most are too pale to be read on white.
INK = {ORANGE: "#8A5A00", SKY: "#24719E", GREEN: "#00694D", RED: "#B34700", PURPLE: "#8B3D6B", YELLOW: "#6B6400"}

WIDTH, HEIGHT = 6.2, 3.7  # inches: what a figure has unless its script says otherwise
TEXT, SMALL = 11.5, 10.5  # points
TELEPHONE, SLIDE = 400, (1180, 480)  # pixels: how wide, how wide and high a figure is shown
LEAST_ON_TELEPHONE, LEAST_ON_SLIDE, LEAST_CONTRAST = 8, 15, 4.5  # pixels, pixels, WCAG AA
# The dark appearance of the site: its page, VitePress's, and what its filter does with a figure.
DARK_PAGE = "#1B1B1F"
DARK_INVERTS = float(re.search(r"--in-the-dark: invert\(([\d.]+)\) hue-rotate\(180deg\);", (ROOT / "common/tools/site/theme/style.css").read_text(encoding="utf-8"))[1])

matplotlib.rcdefaults()  # whatever a matplotlibrc of this machine says
plt.rcParams.update(
    {
        "figure.dpi": 72,
        "svg.hashsalt": "cuda-tutorial",
        "path.simplify": False,
        "font.size": TEXT,
        "axes.titlesize": TEXT,
        "axes.titlelocation": "left",
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "legend.fontsize": SMALL,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.prop_cycle": matplotlib.cycler(color=CYCLE),
        "grid.color": "#DDDDDD",
        "grid.linewidth": 0.7,
        "lines.linewidth": 2,
        "legend.frameon": False,
    }
)


def chapter():
    """NN_name of the chapter whose script is running."""
    return Path(sys.argv[0]).stem


def _results(name, of_chapter):
    return ROOT / "chapters" / (of_chapter or chapter()) / "results" / name


def rows(name, of_chapter=None):
    """Measured rows as dicts; text that reads as a number becomes one. `name` is a setting of results/h200.csv, or
    another file there, such as h200_profile.csv."""
    path = _results(name if name.endswith(".csv") else "h200.csv", of_chapter)
    with path.open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    if path.name != name:
        found = [row for row in found if row["setting"] == name]
        if not found:
            raise ValueError(f"{path}: no row with the setting {name}")
    return [{key: _number(text) for key, text in row.items()} for row in found]


def matched(of_rows, pattern):
    """(match, row) of those rows whose version fits the whole pattern."""
    for row in of_rows:
        match = re.fullmatch(pattern, str(row["version"]))
        if match:
            yield match, row


def series(of_rows, pattern, column="rate"):
    """The numbers in the names of the versions that fit the pattern, and what a column says of each."""
    return zip(*((int(match[1]), row[column]) for match, row in matched(of_rows, pattern)))


def given(row, name):
    """A number that the program was given, such as n or block."""
    return int(re.search(rf"\b{name} = (\d+)", row["workload"])[1])


def full_rate(row):
    """The rate of which a row has reached `of_percent`."""
    return 100 * row["rate"] / row["of_percent"]


def output(name):
    """The text of a captured output in results/."""
    return _results(name, None).read_text(encoding="utf-8")


def _number(text):
    try:
        return float(text) if "." in text or "e" in text else int(text)
    except ValueError:
        return text


def bytes_of(text):
    """4096 for "4 KiB", as a row's size=... says it."""
    number, unit = text.split()
    return float(number) * 1024 ** ["B", "KiB", "MiB", "GiB"].index(unit)


def axes(xlabel="", ylabel="", height=HEIGHT, **subplots):
    """A figure and its axes, labelled."""
    return plt.subplots(figsize=(WIDTH, height), subplot_kw={"xlabel": xlabel, "ylabel": ylabel}, **subplots)


def ink(color):
    """The colour of text that names something in this colour."""
    return INK.get(color, color)


def line(ax, x, y, label, color, marker="o", shift=(7, 0), **how):
    """A line, named at its right end."""
    ax.plot(x, y, color=color, marker=marker, **how)
    label_end(ax, x[-1], y[-1], label, color, shift)


def label_end(ax, x, y, text, color=BLACK, shift=(7, 0), va="center", **how):
    """Text beside a point, to its right unless `shift` says otherwise, in the colour of what it names."""
    ax.annotate(text, (x, y), xytext=shift, textcoords="offset points", color=ink(color), va=va, **how)


def label(ax, x, y, text, color=BLACK, shift=(7, 0), **how):
    """Small text with its foot beside a point."""
    label_end(ax, x, y, text, color, shift, **{"va": "baseline", "fontsize": SMALL, **how})


def bars(ax, names, values, colors, texts):
    """Bars from the top down, each with its text at its end."""
    ax.barh(names[::-1], values[::-1], color=colors[::-1], height=0.66)
    for name, value, text in zip(names, values, texts):
        label(ax, value, name, text, shift=(4, 0), va="center")
    ax.grid(axis="y", visible=False)


def course(ax, names, rates, colors, least_inside, digits, most, ticks):
    """The steps of the course on a logarithmic axis from the top down, and the most that can be reached: its words and
    rate. What a bar from `least_inside` on reaches stands within it."""
    log_axis(ax.xaxis, *ticks)
    ax.barh(names[::-1], rates[::-1], color=colors[::-1], height=0.68)
    for name, rate, color in zip(names, rates, colors):
        inside = rate > least_inside and not most[1] < rate < 6 * most[1]  # there it would touch the dashed line
        words = format(rate, digits[1] if rate <= least_inside else digits[0] if rate < 100 else ",.0f")
        label_end(ax, rate, name, words, on(color) if inside else BLACK,
                  (-5 if inside else 5, 0), ha="right" if inside else "left")
    ax.axvline(most[1], color=BLACK, linewidth=1.4, linestyle="--")
    ax.set_title(f"{most[0]}: {format(most[1], digits[0])}", loc="right", fontsize=SMALL)
    ax.grid(axis="y", visible=False)


def label_ends(ax, labels, top=None):
    """Names [(x, y, text, colour)] to the right of points, moved apart where points are close, and kept below
    `top`. The axes must have their limits."""
    gap = TEXT + 2.5
    ax.figure.tight_layout()
    ceiling = float("inf") if top is None else ax.transData.transform((0, top))[1] - 0.7 * gap
    wanted = sorted(((ax.transData.transform((x, y))[1], x, y, text, color) for x, y, text, color in labels))
    places = [w[0] for w in wanted]
    for _ in range(200):  # neighbours that are too close push each other away, a little at a time
        for i in range(1, len(places)):
            short = gap - (places[i] - places[i - 1])
            if short > 0.01:
                places[i - 1] -= short / 2
                places[i] += short / 2
        places[-1] = min(places[-1], ceiling)
    for place, (at, x, y, text, color) in zip(places, wanted):
        label_end(ax, x, y, text, color, (8, place - at))


def on(color):
    """The colour of text on this ground."""
    return "white" if contrast("white", color) > contrast("black", color) else BLACK


def canvas(height):
    """A figure to draw on: axes without a frame whose unit is a point, 1/72 inch, from the left and the top."""
    fig = plt.figure(figsize=(WIDTH, height))
    ax = fig.add_axes((0, 0, 1, 1), xlim=(0, 72 * WIDTH), ylim=(72 * height, 0))
    ax.axis("off")
    return fig, ax


def box(ax, x, y, width, height, face="white", edge=GREY, weight=0.8, **how):
    """A rectangle of a canvas; x, y is its upper left corner."""
    ax.add_patch(plt.Rectangle((x, y), width, height, facecolor=face, edgecolor=edge if weight else "none",
                               linewidth=weight, **how))


def words(ax, x, y, text, size=SMALL, color=BLACK, ha="left", va="center", **how):
    """Text at a place."""
    ax.text(x, y, text, fontsize=size, color=ink(color), ha=ha, va=va, **how)


def arrow(ax, start, end, head="->", **how):
    """An arrow from point to point."""
    ax.annotate("", end, start, arrowprops={"arrowstyle": head, "shrinkA": 0, "shrinkB": 0, **how})


class Grid:
    """Blocks of threads, and below them elements of an array, as chapters 00 and 04 draw them. `shown` is the block and
    the thread whose index they work out."""

    COLORS = SKY, PALE_RED, PALE_GREEN  # of the blocks
    CELL = 28

    def __init__(self, ax, blocks, threads, shown):
        self.ax, self.blocks, self.threads, self.shown = ax, blocks, threads, shown
        self.index = shown[0] * threads + shown[1]

    def column(self, i):
        """Where thread or element i stands."""
        return 34 + i * self.CELL + i // self.threads * 14

    def cell(self, i, y, text, face, marked):
        """A cell with a number in it; an empty one is dotted."""
        box(self.ax, self.column(i), y, self.CELL, 22, YELLOW if marked else face if text else "white",
            BLACK if text else GREY, 2 if marked else 0.8, linestyle="-" if text else ":")
        words(self.ax, self.column(i) + self.CELL / 2, y + 11, text, ha="center", weight="bold" if marked else "normal")

    def draw_threads(self, title, heights, feet):
        """The grid. `heights`: of the blocks' names, and of what the numbers are; `feet`: of the blocks and of the grid."""
        left, right = self.column(0), self.column(self.blocks * self.threads - 1) + self.CELL
        box(self.ax, left - 16, 10, right - left + 32, feet[1] - 10, "white", BLACK, 1.2)
        words(self.ax, left - 8, 22, title)
        for block in range(self.blocks):
            x, width = self.column(block * self.threads), self.threads * self.CELL
            box(self.ax, x - 5, 36, width + 10, feet[0] - 36, self.COLORS[block])
            words(self.ax, x + width / 2, heights[0], f"blockIdx.x = {block}", ha="center")
            for thread in range(self.threads):
                self.cell(block * self.threads + thread, 58, str(thread), "white", (block, thread) == self.shown)
            if block != self.shown[0]:  # there the arrow passes
                words(self.ax, x + width / 2, heights[1], "threadIdx.x", ha="center")

    def draw_elements(self, y, first, n):
        """From element `first` on, one for each thread; there are n in all."""
        for i in range(self.blocks * self.threads):
            text = str(first + i) if first + i < n else ""
            self.cell(i, y, text, self.COLORS[i // self.threads], i == self.index)


def log2_axis(axis, unit=""):
    """Powers of two as 1, 2, ... 1 Ki, ... on ax.xaxis or ax.yaxis."""

    def name(value, _):
        for shift, suffix in ((30, " Gi"), (20, " Mi"), (10, " Ki")):
            if value >= 1 << shift:
                return f"{value / (1 << shift):g}{suffix}{unit}"
        return f"{value:g}{' ' + unit if unit else ''}"

    _logarithmic(axis, base=2)
    axis.set_major_formatter(name)


THOUSANDS = "{x:,g}"  # 4,000 on an axis


def log_axis(axis, *ticks, number=",g"):
    """A logarithmic ax.xaxis or ax.yaxis with these ticks and no others."""
    _logarithmic(axis)
    axis.set_ticks(ticks, [format(tick, number) for tick in ticks])
    axis.set_ticks([], minor=True)


def _logarithmic(axis, **base):
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log", **base)


# ---- can it be read? -----------------------------------------------------------------------------


def _texts(fig):
    """Every text that is drawn."""
    found = list(fig.texts)
    for ax in fig.axes:
        found += ax.texts
        if ax.get_legend():
            found += ax.get_legend().get_texts()
        found += [ax.title, ax._left_title, ax._right_title]
        for axis in (ax.xaxis, ax.yaxis) if ax.axison else ():
            found.append(axis.label)
            first, last = sorted(axis.get_view_interval())
            ticks = axis.get_major_ticks() + axis.get_minor_ticks()
            found += [t.label1 for t in ticks if first <= t.get_loc() <= last and t.label1.get_visible()]
    return [t for t in found if t.get_text().strip() and t.get_visible()]


def _luminance(color):
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """As WCAG defines it: from 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def in_the_dark(color):
    """What the site's dark appearance makes of a figure's colour: the page's filter, and nothing is darker than the page."""
    red, green, blue = (DARK_INVERTS + (1 - 2 * DARK_INVERTS) * channel for channel in to_rgb(color))
    turned = (-0.574 * red + 1.43 * green + 0.144 * blue, 0.426 * red + 0.43 * green + 0.144 * blue,
              0.426 * red + 1.43 * green - 0.856 * blue)  # as the standard has it of hue-rotate(180deg)
    return tuple(min(max(channel, ground), 1) for channel, ground in zip(turned, to_rgb(DARK_PAGE)))


def _grounds(text, place):
    """The colours on which a text stands: those of the topmost rectangles beneath its middle and its ends."""
    patches = sorted(text.axes.patches, key=lambda p: p.get_zorder()) if text.axes else []
    extents = [(p, p.get_window_extent()) for p in patches if p.get_zorder() <= text.get_zorder()]
    for along in (0.05, 0.5, 0.95):
        for up in (0.1, 0.5, 0.9):
            x, y = place.x0 + along * place.width, place.y0 + up * place.height
            ground = (1.0, 1.0, 1.0)
            beneath = [patch for patch, extent in extents if extent.contains(x, y)]
            for patch in beneath + ([text.get_bbox_patch()] if text.get_bbox_patch() else []):
                *color, alpha = to_rgba(patch.get_facecolor())
                ground = tuple(alpha * c + (1 - alpha) * g for c, g in zip(color, ground))
            yield ground


def _faults(fig):
    """Complaints: why text of the figure is hard to read."""
    width, height = 72 * fig.get_size_inches()
    on_slide = min(SLIDE[0] / width, SLIDE[1] / height)
    fig.draw_without_rendering()  # puts the axes' labels where they belong
    renderer = RendererAgg(int(width) + 1, int(height) + 1, fig.dpi)
    places = [(text, text.get_window_extent(renderer)) for text in _texts(fig)]
    for number, (text, place) in enumerate(places):
        name = repr(text.get_text())
        size = text.get_fontsize()
        if size * TELEPHONE / width < LEAST_ON_TELEPHONE:
            yield f"{name} is {size * TELEPHONE / width:.1f} pixels high where the figure is {TELEPHONE} wide"
        if size * on_slide < LEAST_ON_SLIDE:
            yield f"{name} is {size * on_slide:.1f} pixels high on a slide"
        pairs = [(text.get_color(), ground) for ground in _grounds(text, place)]
        for where, seen in (("", to_rgb), (" in the dark", in_the_dark)):
            found = min(contrast(seen(color), seen(ground)) for color, ground in pairs)
            if found < LEAST_CONTRAST:
                yield f"{name} has a contrast of {found:.1f}{where}"
        if place.x0 < -0.5 or place.y0 < -0.5 or place.x1 > width + 0.5 or place.y1 > height + 0.5:
            yield f"{name} sticks out of the figure"
        for other, there in places[number + 1:]:
            common = Bbox.intersection(place, there)
            if common is not None and common.width > 1 and common.height > 1:
                yield f"{name} lies over {other.get_text()!r}"


def _panels(fig):
    """Of two panels beside each other the views "x y width height" that show them alone, and what stands below both, in the
    SVG's units: the site shows them one below the other on a telephone. "" for any other figure."""
    width, height = 72 * fig.get_size_inches()
    renderer = RendererAgg(int(width) + 1, int(height) + 1, fig.dpi)
    panels = [ax for ax in fig.axes if ax.get_label() != "<colorbar>"]
    boxes = sorted((ax.get_tightbbox(renderer) for ax in panels), key=lambda box: box.x0)
    if len(boxes) != 2 or boxes[0].x1 > boxes[1].x0:
        return ""
    cut = round((boxes[0].x1 + boxes[1].x0) / 2, 1)
    feet = [text.get_window_extent(renderer) for text in fig.texts]
    foot = round(max((box.y1 for box in feet), default=0), 1)
    views = [(0, 0, cut, height - foot), (cut, 0, width - cut, height - foot)]
    if feet:
        start = min(box.x0 for box in feet) - 2
        views.append((start, height - foot, width - start, foot))
    return ", ".join(" ".join(f"{number:.1f}" for number in view) for view in views)


def write(name, svg, title, desc, panels=""):
    """Writes chapters/NN_name/figures/NAME.svg, below FIGURES_ROOT when that is set."""
    # For screen readers, and for browsers that show the title when the mouse rests.
    head = re.search(r"<svg\b[^>]*", svg).end()
    views = f' data-panels="{panels}"' if panels else ""
    svg = (
        f'{svg[:head]}{views} role="img" aria-labelledby="title desc">'
        f'\n <title id="title">{escape(title)}</title>\n <desc id="desc">{escape(desc)}</desc{svg[head:]}'
    )
    path = Path(os.environ.get("FIGURES_ROOT") or ROOT, "chapters", chapter(), "figures", f"{name}.svg")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".svg.partial")
    partial.write_text(svg, encoding="utf-8")
    partial.replace(path)


def save(fig, name, title, desc, measured=()):
    """Writes a figure of matplotlib's. Below it stand device, CUDA version and date of the rows that were measured."""
    if measured:
        row = measured[0]
        cuda = f", CUDA {row['cuda']}" if "cuda" in row else ""
        fig.text(0.995, 0.01, f"{row['device']}{cuda}, {row['date']}", ha="right", va="bottom", fontsize=SMALL, color=GREY)
    if any(ax.axison for ax in fig.axes):
        below = SMALL + 2 if fig.texts else 0
        fig.tight_layout(rect=(0, below / (72 * fig.get_size_inches()[1]), 1, 1))
    faults = list(_faults(fig))
    if faults:
        raise ValueError(f"figure {name}: " + "; ".join(faults))
    panels = _panels(fig)
    svg = io.StringIO()
    fig.savefig(svg, format="svg", metadata={"Date": None, "Format": None, "Type": None})
    plt.close(fig)
    write(name, svg.getvalue(), title, desc, panels)


def draw_measured(*figures):
    """Draws the figures whose data is there."""
    for draw in figures:
        try:
            draw()
        except FileNotFoundError as missing:
            print(f"{missing.filename}: not measured yet; no figure from it", file=sys.stderr)
