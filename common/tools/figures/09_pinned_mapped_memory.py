# SPDX-License-Identifier: MIT
"""Chapter 09: the roads to the device (a drawing), copies by size, passes, chunks, the time line of chunks."""

import re
import sys

import style
from matplotlib.patches import FancyBboxPatch


def box(ax, x, y, width, height, text, color, fill="white"):
    shape = FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0.02,rounding_size=0.08")
    shape.set(facecolor=fill, edgecolor=color, linewidth=1.5)
    ax.add_patch(shape)
    ax.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=10)


def arrow(ax, start, end, text, color, above=0.07, style_of_head="-|>"):
    ax.annotate("", xy=end, xytext=start, arrowprops={"arrowstyle": style_of_head, "color": color, "linewidth": 2.2})
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + above)
    ax.text(*middle, text, ha="center", va="bottom", fontsize=9, color=color)


def draw_roads():
    fig, ax = style.axes(size=(7.2, 4.4))
    ax.set_xlim(0, 10)
    ax.set_ylim(0, 5.3)
    ax.axis("off")
    ax.axvspan(0.05, 5.35, color="#F4F4F4", zorder=0)
    ax.axvspan(6.95, 9.95, color="#F4F4F4", zorder=0)
    ax.text(0.2, 5.05, "host", fontweight="bold", va="center")
    ax.text(7.1, 5.05, "device", fontweight="bold", va="center")
    ax.text(6.15, 5.05, "PCIe", fontweight="bold", va="center", ha="center")
    rows = [(3.7, "pageable", style.RED), (2.15, "pinned", style.BLUE), (0.6, "mapped", style.GREEN)]
    for y, name, color in rows:
        box(ax, 0.3, y, 1.9, 0.8, f"{name}\nmemory", color)
    y = rows[0][0]
    box(ax, 3.3, y, 1.8, 0.8, "driver's pinned\nbuffer", style.GREY)
    arrow(ax, (2.25, y + 0.4), (3.25, y + 0.4), "the CPU\ncopies", style.RED)
    arrow(ax, (5.15, y + 0.4), (7.15, y + 0.4), "copy engine", style.RED)
    box(ax, 7.2, y, 2.5, 0.8, "device memory", style.RED)
    y = rows[1][0]
    arrow(ax, (2.25, y + 0.4), (7.15, y + 0.4), "copy engine: one trip, the CPU is free", style.BLUE)
    box(ax, 7.2, y, 2.5, 0.8, "device memory", style.BLUE)
    y = rows[2][0]
    arrow(ax, (7.15, y + 0.4), (2.25, y + 0.4), "", style.GREEN, style_of_head="<|-|>")
    ax.text(4.7, y + 0.47, "the kernel's own loads and stores", ha="center", va="bottom", fontsize=9, color=style.GREEN)
    box(ax, 7.2, y, 2.5, 0.8, "registers of an SM", style.GREEN)
    style.save(
        fig,
        "roads",
        "Three roads from host memory to the device",
        "From pageable memory the CPU first copies into a pinned buffer of the driver, from which a copy engine "
        "brings the data over PCIe. From pinned memory the copy engine fetches it directly. Mapped memory is not "
        "copied: each load of the kernel goes over PCIe by itself, into registers.",
    )


def bytes_of(text):
    number, unit = text.split()
    return float(number) * 1024 ** ["B", "KiB", "MiB", "GiB"].index(unit)


def draw_sizes():
    rows = style.rows("h200_size.csv")
    series = {}
    for row in rows:
        match = re.fullmatch(r"(\w+) size=(.+)", row["version"])
        if match:
            series.setdefault(match.group(1), []).append((bytes_of(match.group(2)), row["median_ms"]))
    fig, (left, right) = style.axes(size=(7.2, 5.6), nrows=2, sharex=True)
    looks = [
        ("h2d_pinned", "to the device, pinned", style.BLUE, "o"),
        ("d2h_pinned", "to the host, pinned", style.SKY, "s"),
        ("d2h_pageable", "to the host, pageable", style.ORANGE, "s"),
        ("h2d_pageable", "to the device, pageable", style.RED, "o"),
    ]
    for name, label, color, marker in looks:
        sizes, ms = zip(*series[name])
        left.plot(sizes, [1e3 * t for t in ms], color=color, marker=marker, markersize=3.5)
        right.plot(sizes, [s / t / 1e6 for s, t in zip(sizes, ms)], color=color, marker=marker, markersize=3.5, label=label)
    left.set_yscale("log")
    left.set_ylabel("time [us]")
    left.yaxis.set_major_formatter(style.plt.FuncFormatter(lambda v, _: f"{v:,.0f}"))
    right.set_ylabel("bandwidth [GB/s]")
    right.set_xlabel("size of the copy")
    style.log2_axis(right.xaxis, "B")
    right.set_ylim(bottom=0)
    right.legend(loc="upper left", fontsize=9)
    style.source(fig, rows)
    style.save(
        fig,
        "sizes",
        "Time and bandwidth of copies by size",
        "Small copies all take the same time, some microseconds; from about a hundred kilobytes on the time grows "
        "with the size. Pinned copies end at the bandwidth of the bus, pageable ones well below.",
    )


def draw_passes():
    rows = style.rows("h200_passes.csv")
    fig, ax = style.axes("passes over the data (the arithmetic stays the same)", "time [ms]")
    for name, label, color in (("mapped_read", "mapped", style.RED), ("copied_read", "copied once", style.BLUE)):
        points = []
        for row in rows:
            match = re.fullmatch(name + r" passes=(\d+)", row["version"])
            if match:
                points.append((int(match.group(1)), row["median_ms"]))
        style.line(ax, *zip(*points), label, color)
    ax.set_ylim(bottom=0)
    ax.set_xlim(0.7, 9.6)
    ax.set_xticks(range(1, 9))
    style.source(fig, rows)
    style.save(
        fig,
        "passes",
        "Time against passes over the data",
        "The mapped version pays for the bus in every pass: its time grows in proportion. The copied version pays "
        "once and stays flat. The lines cross between one pass and two.",
    )


def draw_chunks():
    rows = style.rows("h200_chunks.csv")
    alone = {row["version"]: row["median_ms"] for row in style.rows("h200.csv")}
    points = []
    for row in rows:
        match = re.fullmatch(r"overlapped chunks=(\d+)", row["version"])
        if match:
            points.append((int(match.group(1)), row["median_ms"]))
    ideal = max(alone["h2d_pinned"], alone["kernel_alone"])
    fig, ax = style.axes("chunks", "time [ms]")
    style.line(ax, *zip(*points), "measured", style.BLUE)
    model = [(c, ideal + min(alone["h2d_pinned"], alone["kernel_alone"]) / c) for c, _ in points]
    ax.plot(*zip(*model), color=style.GREY, linestyle=":", linewidth=1.5)
    ax.annotate("dotted: ideal + the other / chunks", model[1], xytext=(14, 8), textcoords="offset points", color=style.GREY)
    ax.axhline(ideal, color=style.GREY, linestyle="--", linewidth=1.5)
    where = {"xytext": (0, -5), "textcoords": "offset points", "va": "top"}
    ax.annotate("ideal: the slower of copy and kernel", (points[0][0], ideal), color=style.GREY, **where)
    ax.set_xscale("log", base=2)
    ax.set_xticks([c for c, _ in points], [str(c) for c, _ in points])
    ax.tick_params(axis="x", which="minor", bottom=False)
    ax.set_xlim(0.9, 256 * 2.2)
    ax.set_ylim(bottom=0)
    style.source(fig, rows)
    style.save(
        fig,
        "chunks",
        "Time of the overlapped version against the number of chunks",
        "With one chunk copy and kernel follow each other. More chunks approach the slower of the two, until the "
        "cost of starting so many small copies shows.",
    )


def bars(rows, version):
    """[(stream, start, end)] of the copies and of the kernels: each starts when its stream has come to it and the
    one before it, on the same engine, has ended. The first begins at 0: before it the poison was written."""
    reached = {}
    for row in rows:
        if row["version"] == version:
            reached.setdefault((row["chunk"], row["stream"]), {})[row["mark"]] = row["ms"]
    zero = min(marks["begin"] for marks in reached.values())

    def one_engine(starts, ends):
        pieces = []  # in the order in which they ended, which need not be the order of the calls
        for (_, stream), marks in sorted(reached.items(), key=lambda item: item[1][ends]):
            free = pieces[-1][2] if pieces else 0.0
            pieces.append((stream, max(marks[starts] - zero, free), marks[ends] - zero))
        return pieces

    return one_engine("begin", "copied"), one_engine("copied", "computed")


def draw_timeline():
    rows = style.rows("h200_timeline.csv")
    panels = [
        ("one_chunk", "one chunk: copy, then kernel"),
        ("overlapped", "chunks over streams, from pinned memory"),
        ("overlapped_pageable", "the same from pageable memory (another scale)"),
    ]
    fig, axes = style.axes(size=(7.2, 5.4), nrows=3)
    shared = max(end for version, _ in panels[:2] for _, _, end in bars(rows, version)[1])
    for ax, (version, title) in zip(axes, panels):
        for lane, (name, pieces) in enumerate(zip(("copy engine", "SMs"), bars(rows, version))):
            for stream, start, end in pieces:
                color = (style.BLUE, style.SKY, style.GREEN, style.ORANGE)[stream % 4]
                ax.barh(lane, end - start, left=start, height=0.7, color=color, edgecolor="white", linewidth=0.6)
        ax.set_yticks([0, 1], ["copy engine", "SMs"])
        ax.set_ylim(1.5, -0.5)
        ax.grid(axis="y", visible=False)
        ax.set_title(title, loc="left", fontsize=10)
        last = max(end for _, _, end in bars(rows, version)[1])
        ax.set_xlim(0, 1.03 * (last if version == "overlapped_pageable" else shared))
    axes[-1].set_xlabel("time by events [ms]   (colours: the streams)")
    style.source(fig, style.rows("h200_overlap.csv"))
    ends = {version: max(end for _, _, end in bars(rows, version)[1]) for version, _ in panels}
    style.save(
        fig,
        "timeline",
        "What ran when: one chunk, chunks over streams, and chunks of pageable memory",
        f"In one chunk copy and kernel take {ends['one_chunk']:.1f} ms one after the other. In chunks the kernels run "
        f"while later chunks are copied, and all is done after {ends['overlapped']:.1f} ms. From pageable memory it "
        f"takes {ends['overlapped_pageable']:.1f} ms: the SMs wait between short kernels.",
    )


draw_roads()
for draw in (draw_sizes, draw_passes, draw_chunks, draw_timeline):
    try:
        draw()
    except FileNotFoundError as missing:
        print(f"{missing.filename}: not measured yet; no figure from it", file=sys.stderr)
