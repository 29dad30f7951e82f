# SPDX-License-Identifier: MIT
"""Chapter 03: which sectors the lanes of a warp touch, one block against the size, and the two sweeps."""

import re

import matplotlib.pyplot as plt
import style

LANES, ELEMENT, SECTOR, LINE = 32, 4, 32, 128  # lanes of a warp; bytes
CLOCK_GHZ = 1.98  # of the H200's multiprocessors; chapter 01 reads it
L2_BYTES = 60 << 20


# ---- concept: lanes, sectors, lines --------------------------------------------------------------


def touched(address):
    """The lines that the lanes touch, as {line: set of sectors}, for address(lane) in bytes."""
    lines = {}
    for lane in range(LANES):
        line, rest = divmod(address(lane), LINE)
        lines.setdefault(line, set()).add(rest // SECTOR)
    return lines


def draw_access(ax, title, address, color):
    """One load of a warp: its lanes above, the lines they touch below, each with its four sectors."""
    lines = touched(address)
    sectors = sum(len(s) for s in lines.values())
    ax.set_title(f"{title}: {sectors} sectors in {len(lines)} line{'s' if len(lines) > 1 else ''}, "
                 f"{100 * LANES * ELEMENT / (sectors * SECTOR):.1f} % of the bytes used", loc="left", fontsize=10.5)
    ax.axis("off")
    pitch = min(1.0 / len(lines), 0.25)  # from line to line, where the panel is 1 wide
    width = 0.84 * pitch
    left = {line: 0.5 + (i - len(lines) / 2) * pitch + 0.08 * pitch for i, line in enumerate(sorted(lines))}

    def box(x, wide, face, edge="none", weight=0.0):
        ax.add_patch(plt.Rectangle((x, 0), wide, 0.2, facecolor=face, edgecolor=edge, linewidth=weight))

    for line, fetched in lines.items():
        for sector in fetched:
            box(left[line] + sector * width / 4, width / 4, "#D9D9D9")
    for lane in range(LANES):
        line, rest = divmod(address(lane), LINE)
        x = left[line] + rest / LINE * width
        box(x, max(ELEMENT / LINE * width, 0.003), color)
        lane_x = 0.5 + (lane - LANES / 2 + 0.5) * 0.024
        ax.plot([lane_x, x + ELEMENT / LINE * width / 2], [0.56, 0.2], color=style.GREY, linewidth=0.6)
        ax.plot([lane_x], [0.58], marker="o", markersize=3.5, color=style.BLACK)
    for line in lines:
        if len(lines) <= 8:
            for sector in range(LINE // SECTOR):
                box(left[line] + sector * width / 4, width / 4, "none", style.GREY, 0.6)
        box(left[line], width, "none", style.BLACK, 0.9)
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.03, 0.66)


def accesses():
    fig, panels = plt.subplots(4, 1, figsize=(7.6, 6.6))
    chunk = 2048 * ELEMENT  # 1 Mi ints for 512 threads
    panels[0].text(0.09, 0.58, "32 lanes", ha="right", va="center", fontsize=9)
    panels[0].text(0.37, 0.1, "one line, 128 bytes:\nfour sectors of 32", ha="right", va="center", fontsize=9)
    panels[2].text(0.5, -0.12, "grey: fetched and not used", ha="center", va="center", fontsize=9, color=style.GREY)
    draw_access(panels[0], "x[t], coalesced", lambda t: t * ELEMENT, style.SKY)
    draw_access(panels[1], "x[t + 1], misaligned", lambda t: (t + 1) * ELEMENT, style.SKY)
    draw_access(panels[2], "x[4 * t], stride 4", lambda t: 4 * t * ELEMENT, style.ORANGE)
    draw_access(panels[3], "x[2048 * t], a chunk per thread", lambda t: t * chunk, style.RED)
    style.save(fig, "accesses", "What one load of a warp touches",
               "Four panels. Neighbouring lanes touch 4 sectors of one line and use every byte. Moved by one element "
               "they touch 5 sectors of two lines. With stride 4 they touch 16 sectors of four lines and use a quarter. "
               "A chunk per thread touches 32 sectors in 32 lines and uses one byte in eight.")


# ---- measured ------------------------------------------------------------------------------------


def elements(row):
    return int(re.search(r"n = (\d+)", row["workload"]).group(1))


def one_block():
    files = ["_64ki", "_256ki", "_1mi", "_4mi", "_8mi", "", "_32mi", "_64mi"]
    rows = [r for suffix in files for r in style.rows(f"h200{suffix}.csv")]
    fig, ax = style.axes("ints summed by one block of 512 threads", "time per int [ns]", size=(7.6, 4.4))
    for name, color, shift in (("sum_chunked", style.RED, (6, 8)), ("sum_strided", style.BLUE, (6, 0))):
        points = sorted((elements(r), r["median_ms"] * 1e6 / elements(r)) for r in rows if r["version"] == name)
        ax.plot(*zip(*points), color=color, marker="o")
        style.label_end(ax, *points[-1], name, color, shift)
    ax.axhline(1 / CLOCK_GHZ, color=style.GREY, linestyle="--", linewidth=1.2)
    ax.text(64 << 10, 1 / CLOCK_GHZ - 0.012, f"one lane served per clock: {1 / CLOCK_GHZ:.3f} ns", va="top",
            fontsize=9, color=style.GREY)
    ax.axvline(L2_BYTES / ELEMENT, color=style.GREY, linestyle=":", linewidth=1.2)
    ax.text(L2_BYTES / ELEMENT / 1.1, 0.03, "60 MiB: the L2 cache is full", ha="right", fontsize=9, color=style.GREY)
    style.log2_axis(ax.xaxis)
    ax.set_xlim(right=(64 << 20) * 6)
    ax.set_ylim(bottom=0)
    style.source(fig, rows)
    style.save(fig, "one_block", "One block: time per int against the size",
               "The chunked version takes the same time per int at every size, about one "
               "clock. The strided version is faster while the data fits half the L2 cache, and slower when it fits no more.")


def sweeps():
    strides, offsets = style.rows("h200_stride.csv"), style.rows("h200_offset.csv")
    read = 100 * strides[0]["rate"] / strides[0]["of_percent"]
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.8, 4.2), gridspec_kw={"width_ratios": [3, 2]})

    x = [int(r["version"].split("=")[1]) for r in strides]
    left.plot(x, [r["rate"] for r in strides], color=style.BLUE, marker="o")
    for piece, name in ((32, "read bandwidth x used / moved,\nmoved in pieces of 32 bytes"), (64, "in pieces of 64 bytes")):
        most = piece // ELEMENT
        left.plot(x, [read / min(s, most) for s in x], color=style.GREY, linestyle="--", linewidth=1.2)
        left.text(1100, read / most * 1.08, name, fontsize=9, color=style.GREY, ha="right")
    style.log2_axis(left.xaxis)
    left.set_yscale("log")
    left.set_yticks([125, 250, 500, 1000, 2000, 4000], ["125", "250", "500", "1000", "2000", "4000"])
    left.minorticks_off()
    left.set_xlabel("stride [ints]")
    left.set_ylabel("bytes used per time [GB/s]")
    left.set_title("stride", loc="left")

    x = [int(r["version"].split("=")[1]) for r in offsets]
    right.plot(x, [r["rate"] for r in offsets], color=style.BLUE, marker="o")
    right.set_ylim(0, read * 1.05)
    right.set_xticks(range(0, 33, 8))
    right.set_xlabel("offset [ints]")
    right.set_ylabel("bytes used per time [GB/s]")
    right.set_title("offset", loc="left")
    style.source(fig, strides)
    rate = {r["version"]: r["rate"] for r in strides + offsets}
    style.save(fig, "sweeps", "Useful bandwidth against stride and offset",
               f"With the stride the useful bandwidth falls from {rate['stride=1']:.0f} GB/s to {rate['stride=8']:.0f} at "
               f"stride 8 and {rate['stride=1024']:.0f} at stride 1024. With the offset it stays between "
               f"{min(r['rate'] for r in offsets):.0f} and {max(r['rate'] for r in offsets):.0f} GB/s.")


accesses()
one_block()
sweeps()
