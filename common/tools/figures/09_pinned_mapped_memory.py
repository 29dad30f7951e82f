# SPDX-License-Identifier: MIT
"""Chapter 09: the roads to the device (a drawing), copies by size, passes, chunks, the time lines of chunks and of
the default stream."""

from . import style
from matplotlib.patches import FancyBboxPatch


def box(ax, x, y, width, text, color):
    shape = FancyBboxPatch((x, y), width, 38, boxstyle="round,pad=0,rounding_size=4")
    shape.set(facecolor="white", edgecolor=color, linewidth=1.6)
    ax.add_patch(shape)
    style.words(ax, x + width / 2, y + 19, text, ha="center")


def arrow(ax, start, end, y, text, color, head="-|>"):
    style.arrow(ax, (start, y), (end, y), head, color=color, linewidth=2.2)
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
    style.save(fig, "roads", "Three roads from host memory to the device",
               "From pageable memory the CPU first copies into a pinned buffer of the driver, from which a copy engine "
               "brings the data over PCIe. From pinned memory the copy engine fetches it directly. Mapped memory is not "
               "copied: each load of the kernel goes over PCIe by itself, into registers.")


def draw_sizes():
    rows = style.rows("size")
    series = {}
    for match, row in style.matched(rows, r"(\w+) size=(.+)"):
        series.setdefault(match[1], []).append((style.bytes_of(match[2]), row["median_ms"]))
    fig, (upper, lower) = style.axes(height=4.35, nrows=2, sharex=True)
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
        upper.plot(sizes, [1e3 * t for t in ms], **how)
        lower.plot(sizes, [s / t / 1e6 for s, t in zip(sizes, ms)], **how)
        ends.append((sizes[-1], sizes[-1] / ms[-1] / 1e6, label, color))
    upper.set_yscale("log")
    upper.set_ylabel("time [us]")
    upper.set_yticks([10, 1000, 100000])
    upper.yaxis.set_major_formatter(style.THOUSANDS)
    lower.set_ylabel("GB/s")
    lower.set_xlabel("size of the copy")
    style.log2_axis(lower.xaxis, "B")
    lower.set_xticks([1 << k for k in (10, 15, 20, 25, 30)])
    lower.set_xlim(right=1 << 40)
    lower.set_ylim(0, 65)
    style.label_ends(lower, ends)
    style.save(fig, "sizes", "Time and bandwidth of copies by size",
               "Small copies all take the same time, some microseconds; from about a hundred kilobytes on the time grows "
               "with the size. Pinned copies end at the bandwidth of the bus, pageable ones well below.", rows)


def draw_passes():
    rows = style.rows("passes")
    fig, ax = style.axes("passes over the data (the arithmetic stays the same)", "time [ms]")
    for name, label, color, marker in (("mapped_read", "mapped", style.RED, "s"), ("copied_read", "copied once", style.BLUE, "o")):
        style.line(ax, *style.series(rows, name + r" passes=(\d+)", "median_ms"), label, color, marker)
    ax.set_ylim(bottom=0)
    ax.set_xlim(0.7, 10.4)
    ax.set_xticks(range(1, 9))
    style.save(fig, "passes", "Time against passes over the data",
               "The mapped version pays for the bus in every pass: its time grows in proportion. The copied version pays "
               "once and stays nearly flat. The lines cross between one pass and two.", rows)


def draw_chunks():
    rows = style.rows("chunks")
    alone = {row["version"]: row["median_ms"] for row in style.rows("default")}
    chunks, times = style.series(rows, r"overlapped chunks=(\d+)", "median_ms")
    other, ideal = sorted((alone["h2d_pinned"], alone["kernel_alone"]))
    fig, ax = style.axes("chunks", "time [ms]")
    style.line(ax, chunks, times, "measured", style.BLUE)
    model = [ideal + other / c for c in chunks]
    ax.plot(chunks, model, color=style.GREY, linestyle=":", linewidth=1.5)
    style.label(ax, chunks[1], model[1], "dotted: ideal + the other / chunks", style.GREY, (14, 8))
    ax.axhline(ideal, color=style.GREY, linestyle="--", linewidth=1.5)
    style.label(ax, chunks[0], ideal, "ideal: the slower of copy and kernel", style.GREY, (0, -5), va="top")
    style.log2_axis(ax.xaxis)
    ax.set_xticks(chunks)
    ax.set_xlim(0.9, 256 * 4)
    ax.set_ylim(bottom=0)
    style.save(fig, "chunks", "Time of the overlapped version against the number of chunks",
               "With one chunk copy and kernel follow each other. More chunks approach the slower of the two, until "
               "further chunks cost more than they save.", rows)


def engines(rows, version):
    """[(stream, start, end)] of the copies and of the kernels. Each starts when its stream has come to it and the
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


def draw_bar(ax, row, number, start, end, color):
    ax.barh(row, end - start, left=start, height=0.8, color=color, edgecolor="white", linewidth=0.6)
    style.words(ax, (start + end) / 2, row, number, ha="center", color=style.on(color))


def name_rows(ax, title, names):
    """The rows of bars, from the top down."""
    ax.set_title(title, fontsize=style.SMALL)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)


def draw_timeline():
    rows = style.rows("timeline")
    titles = {"one_chunk": "one chunk: copy, then kernel", "overlapped": "chunks over streams, from pinned memory",
              "overlapped_pageable": "the same from pageable memory: another scale"}
    ran = {version: engines(rows, version) for version in titles}
    ends = {version: max(end for _, _, end in kernels) for version, (_, kernels) in ran.items()}
    fig, axes = style.axes(height=4.35, nrows=3)
    for ax, (version, title) in zip(axes, titles.items()):
        last = ends[version] if version == "overlapped_pageable" else max(ends["one_chunk"], ends["overlapped"])
        for row, pieces in enumerate(ran[version]):
            for stream, start, end in pieces:
                color = (style.BLUE, style.SKY, style.PALE_GREEN, style.ORANGE)[stream % 4]
                wide = end - start > 0.025 * 1.03 * last
                draw_bar(ax, row, str(stream) if wide else "", start, end, color)
        name_rows(ax, title, ("copy engine", "SMs"))
        ax.set_xlim(0, 1.03 * last)
    axes[-1].set_xlabel("time by events [ms]   (0 to 3: the streams)")
    style.save(fig, "timeline", "What ran when: one chunk, chunks over streams, and chunks of pageable memory",
               f"In one chunk copy and kernel take {ends['one_chunk']:.1f} ms one after the other. In chunks the kernels "
               f"run while later chunks are copied, and all is done after {ends['overlapped']:.1f} ms. From pageable memory it "
               f"takes {ends['overlapped_pageable']:.1f} ms: each kernel runs beside the next copy, and the SMs wait between them.", rows)


def draw_waits():
    """Three kernels each: when each could begin, and when it had ended."""
    rows = style.rows("waits")
    titles = {"default_between": "1 and 3 in streams made by cudaStreamCreate",
              "default_beside": "1 and 3 in streams made with cudaStreamNonBlocking"}
    fig, axes = style.axes(height=3.9, nrows=2, sharex=True)
    ends = {}
    for ax, (version, title) in zip(axes, titles.items()):
        found = style.matched(rows, version + r" kernel=(\d) (\w+)")
        reached = {(int(match[1]), match[2]): row["rate"] for match, row in found}
        zero = min(reached.values())
        for k, color in enumerate((style.BLUE, style.ORANGE, style.PALE_GREEN)):
            draw_bar(ax, k, str(k + 1), reached[k, "begin"] - zero, reached[k, "computed"] - zero, color)
        name_rows(ax, title, ("stream A", "default", "stream B"))
        ends[version] = max(reached.values()) - zero
    axes[-1].set_xlabel("time by events [ms]   (1 to 3: the order of the launches)")
    style.save(fig, "waits", "Three small kernels, the second one in the default stream",
               f"With streams made by cudaStreamCreate the three kernels run one after the other, "
               f"{ends['default_between']:.2f} ms. With non-blocking streams they run side by side, "
               f"{ends['default_beside']:.2f} ms.", rows)


draw_roads()
style.draw_measured(draw_sizes, draw_passes, draw_chunks, draw_timeline, draw_waits)
