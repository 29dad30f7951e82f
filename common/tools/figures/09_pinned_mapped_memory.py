# SPDX-License-Identifier: MIT
"""Chapter 09: the roads to the device (a drawing), copies by size, passes, chunks, the time lines of chunks and of
the default stream."""

import sys

import style
from matplotlib.patches import FancyBboxPatch


def box(ax, x, y, width, text, color):
    shape = FancyBboxPatch((x, y), width, 38, boxstyle="round,pad=0,rounding_size=4")
    shape.set(facecolor="white", edgecolor=color, linewidth=1.6)
    ax.add_patch(shape)
    style.words(ax, x + width / 2, y + 19, text, ha="center")


def arrow(ax, start, end, y, text, color, head="-|>"):
    ax.annotate("", xy=(end, y), xytext=(start, y), arrowprops={"arrowstyle": head, "color": color, "linewidth": 2.2,
                                                                "shrinkA": 0, "shrinkB": 0})
    style.words(ax, (start + end) / 2, y - 5, text, color=color, ha="center", va="bottom")


def draw_roads():
    fig, ax = style.canvas(3.9)
    style.box(ax, 2, 2, 244, 277, "#F4F4F4", weight=0)
    style.box(ax, 322, 2, 122, 277, "#F4F4F4", weight=0)
    for x, name in ((10, "host"), (270, "PCIe"), (330, "device")):
        style.words(ax, x, 15, name, style.TEXT, weight="bold")
    for y, name, color, to in ((58, "pageable", style.RED, "device\nmemory"), (138, "pinned", style.BLUE, "device\nmemory"),
                               (218, "mapped", style.GREEN, "registers\nof an SM")):
        box(ax, 10, y, 76, f"{name}\nmemory", color)
        box(ax, 352, y, 84, to, color)
    box(ax, 148, 58, 90, "driver's\npinned buffer", style.GREY)
    arrow(ax, 88, 146, 77, "the CPU\ncopies", style.RED)
    arrow(ax, 240, 350, 77, "copy engine", style.RED)
    arrow(ax, 88, 350, 157, "copy engine: one trip, the CPU is free", style.BLUE)
    arrow(ax, 350, 88, 237, "the kernel's own loads and stores", style.GREEN, "<|-|>")
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
    rows = style.rows("size")
    series = {}
    for match, row in style.matched(rows, r"(\w+) size=(.+)"):
        series.setdefault(match[1], []).append((bytes_of(match[2]), row["median_ms"]))
    fig, (left, right) = style.axes(size=(style.WIDTH, 4.35), nrows=2, sharex=True)
    looks = [
        ("h2d_pinned", "to device, pinned", style.BLUE, "o", "-"),
        ("d2h_pinned", "to host, pinned", style.SKY, "s", "--"),
        ("d2h_pageable", "to host, pageable", style.ORANGE, "^", "--"),
        ("h2d_pageable", "to device, pageable", style.RED, "D", "-"),
    ]
    ends = []
    for name, label, color, marker, dashes in looks:
        sizes, ms = zip(*series[name])
        how = {"color": color, "marker": marker, "markersize": 4, "linestyle": dashes, "linewidth": 1.6}
        left.plot(sizes, [1e3 * t for t in ms], **how)
        right.plot(sizes, [s / t / 1e6 for s, t in zip(sizes, ms)], **how)
        ends.append((sizes[-1], sizes[-1] / ms[-1] / 1e6, label, color))
    left.set_yscale("log")
    left.set_ylabel("time [us]")
    left.set_yticks([10, 1000, 100000])
    left.yaxis.set_major_formatter(style.thousands)
    right.set_ylabel("GB/s")
    right.set_xlabel("size of the copy")
    style.log2_axis(right.xaxis, "B")
    right.set_xticks([1 << k for k in (10, 15, 20, 25, 30)])
    right.set_xlim(right=1 << 40)
    right.set_ylim(0, 65)
    style.label_ends(right, ends)
    style.source(fig, rows)
    style.save(
        fig,
        "sizes",
        "Time and bandwidth of copies by size",
        "Small copies all take the same time, some microseconds; from about a hundred kilobytes on the time grows "
        "with the size. Pinned copies end at the bandwidth of the bus, pageable ones well below.",
    )


def draw_passes():
    rows = style.rows("passes")
    fig, ax = style.axes("passes over the data (the arithmetic stays the same)", "time [ms]")
    for name, label, color, marker in (("mapped_read", "mapped", style.RED, "s"), ("copied_read", "copied once", style.BLUE, "o")):
        points = [(int(match[1]), row["median_ms"]) for match, row in style.matched(rows, name + r" passes=(\d+)")]
        style.line(ax, *zip(*points), label, color, marker)
    ax.set_ylim(bottom=0)
    ax.set_xlim(0.7, 10.4)
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
    rows = style.rows("chunks")
    alone = {row["version"]: row["median_ms"] for row in style.rows("default")}
    points = [(int(match[1]), row["median_ms"]) for match, row in style.matched(rows, r"overlapped chunks=(\d+)")]
    ideal = max(alone["h2d_pinned"], alone["kernel_alone"])
    fig, ax = style.axes("chunks", "time [ms]")
    style.line(ax, *zip(*points), "measured", style.BLUE)
    model = [(c, ideal + min(alone["h2d_pinned"], alone["kernel_alone"]) / c) for c, _ in points]
    ax.plot(*zip(*model), color=style.GREY, linestyle=":", linewidth=1.5)
    style.label(ax, *model[1], "dotted: ideal + the other / chunks", style.GREY, (14, 8))
    ax.axhline(ideal, color=style.GREY, linestyle="--", linewidth=1.5)
    style.label(ax, points[0][0], ideal, "ideal: the slower of copy and kernel", style.GREY, (0, -5), va="top")
    ax.set_xscale("log", base=2)
    ax.set_xticks([c for c, _ in points], [str(c) for c, _ in points])
    ax.tick_params(axis="x", which="minor", bottom=False)
    ax.set_xlim(0.9, 256 * 4)
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
    one before it, on the same engine, has ended. The first begins at 0."""
    reached = {}
    for match, row in style.matched(rows, version + r" chunk=(\d+) stream=(\d+) (\w+)"):
        reached.setdefault((int(match[1]), int(match[2])), {})[match[3]] = row["rate"]
    zero = min(marks["begin"] for marks in reached.values())

    def one_engine(starts, ends):
        pieces = []  # in the order in which they ended, which need not be the order of the calls
        for (_, stream), marks in sorted(reached.items(), key=lambda item: item[1][ends]):
            free = pieces[-1][2] if pieces else 0.0
            pieces.append((stream, max(marks[starts] - zero, free), marks[ends] - zero))
        return pieces

    return one_engine("begin", "copied"), one_engine("copied", "computed")


def draw_timeline():
    rows = style.rows("timeline")
    panels = [
        ("one_chunk", "one chunk: copy, then kernel"),
        ("overlapped", "chunks over streams, from pinned memory"),
        ("overlapped_pageable", "the same from pageable memory: another scale"),
    ]
    fig, axes = style.axes(size=(style.WIDTH, 4.35), nrows=3)
    shared = max(end for version, _ in panels[:2] for _, _, end in bars(rows, version)[1])
    for ax, (version, title) in zip(axes, panels):
        last = max(end for _, _, end in bars(rows, version)[1])
        width = 1.03 * (last if version == "overlapped_pageable" else shared)
        for lane, (name, pieces) in enumerate(zip(("copy engine", "SMs"), bars(rows, version))):
            for stream, start, end in pieces:
                color = (style.BLUE, style.SKY, style.GREEN, style.ORANGE)[stream % 4]
                ax.barh(lane, end - start, left=start, height=0.8, color=color, edgecolor="white", linewidth=0.6)
                if end - start > 0.025 * width:
                    ax.text((start + end) / 2, lane, str(stream), ha="center", va="center", fontsize=style.SMALL,
                            color=style.on(color))
        ax.set_yticks([0, 1], ["copy engine", "SMs"])
        ax.set_ylim(1.5, -0.5)
        ax.grid(axis="y", visible=False)
        ax.set_title(title, fontsize=style.SMALL)
        ax.set_xlim(0, width)
    axes[-1].set_xlabel("time by events [ms]   (0 to 3: the streams)")
    style.source(fig, rows)
    ends = {version: max(end for _, _, end in bars(rows, version)[1]) for version, _ in panels}
    style.save(
        fig,
        "timeline",
        "What ran when: one chunk, chunks over streams, and chunks of pageable memory",
        f"In one chunk copy and kernel take {ends['one_chunk']:.1f} ms one after the other. In chunks the kernels run "
        f"while later chunks are copied, and all is done after {ends['overlapped']:.1f} ms. From pageable memory it "
        f"takes {ends['overlapped_pageable']:.1f} ms: the SMs wait between short kernels.",
    )


def draw_waits():
    """Three kernels each: when each could begin, and when it had ended."""
    rows = style.rows("waits")
    panels = [
        ("default_between", "1 and 3 in streams made by cudaStreamCreate", ("stream A", "default", "stream B")),
        ("default_beside", "1 and 3 in streams made with cudaStreamNonBlocking", ("stream A", "default", "stream B")),
    ]
    fig, axes = style.axes(size=(style.WIDTH, 3.9), nrows=2, sharex=True)
    ends = {}
    for ax, (version, title, names) in zip(axes, panels):
        found = style.matched(rows, version + r" kernel=(\d) (\w+)")
        reached = {(int(match[1]), match[2]): row["rate"] for match, row in found}
        zero = min(reached.values())
        for k in range(3):
            start, end = reached[k, "begin"] - zero, reached[k, "computed"] - zero
            color = (style.BLUE, style.ORANGE, style.GREEN)[k]
            ax.barh(k, end - start, left=start, height=0.8, color=color, edgecolor="white", linewidth=0.6)
            ax.text((start + end) / 2, k, str(k + 1), ha="center", va="center", fontsize=style.SMALL, color=style.on(color))
            ends[version] = max(ends.get(version, 0), end)
        ax.set_yticks(range(3), names)
        ax.set_ylim(2.5, -0.5)
        ax.grid(axis="y", visible=False)
        ax.set_title(title, fontsize=style.SMALL)
    axes[-1].set_xlabel("time by events [ms]   (1 to 3: the order of the launches)")
    style.source(fig, rows)
    style.save(
        fig,
        "waits",
        "Three small kernels, the second one in the default stream",
        f"With streams made by cudaStreamCreate the three kernels run one after the other, {ends['default_between']:.2f} "
        f"ms. With non-blocking streams they run side by side, {ends['default_beside']:.2f} ms.",
    )


draw_roads()
for draw in (draw_sizes, draw_passes, draw_chunks, draw_timeline, draw_waits):
    try:
        draw()
    except FileNotFoundError as missing:
        print(f"{missing.filename}: not measured yet; no figure from it", file=sys.stderr)
