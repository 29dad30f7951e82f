# SPDX-License-Identifier: MIT
"""Chapter 11: lanes over time when a warp diverges, the cost of paths with its line, and shuffles."""

import numpy
from . import style, xray

LANES = range(xray.LANES)
COLORS = (style.BLUE, style.ORANGE, style.SKY, style.PURPLE)


def divergence():
    """Which lanes work when: one path, two, four, and a loop of 1 to 32 turns. Time goes to the right."""
    fig, ax = style.canvas(3.35)
    height, left, top, path = 4.6, 30, 46, 24.0
    style.words(ax, 4, 12, "lane", style.SMALL, style.GREY)
    style.words(ax, left - 6, top + 2, "0", ha="right")
    style.words(ax, left - 6, top + 31 * height, "31", ha="right")
    x = left
    for paths in (1, 2, 4):
        style.words(ax, x, 12, f"{paths} path{'s' if paths > 1 else ''}", style.TEXT, weight="bold")
        style.words(ax, x, 30, f"{xray.LANES // paths} of 32 lanes at work" if paths > 2 else f"{xray.LANES // paths} of 32")
        style.box(ax, x, top, paths * path, 32 * height, style.PALE, weight=0)
        for number in range(paths):
            for lane in LANES[number::paths]:
                style.box(ax, x + number * path, top + lane * height, path, height, COLORS[number], weight=0)
        x += max(paths * path, 46) + 20
    style.words(ax, x, 12, "a loop, 1 to 32 turns", style.TEXT, weight="bold")
    style.words(ax, x, 30, "16.5 of 32 on average")
    turn = 3.9
    style.box(ax, x, top, 32 * turn, 32 * height, style.PALE, weight=0)
    for lane in LANES:
        style.box(ax, x, top + lane * height, (lane + 1) * turn, height, style.GREEN, weight=0)
    ax.annotate("", (x + 32 * turn, top + 32 * height + 12), (left, top + 32 * height + 12),
                arrowprops={"arrowstyle": "->", "color": style.GREY})
    style.words(ax, left, top + 32 * height + 26, "time; pale: the lane waits for others of its warp", color=style.GREY)
    style.save(fig, "divergence", "Lanes of a warp over time, at work or waiting",
               "With one path all 32 lanes work together. With two paths chosen by lane, half of the lanes work, then the other "
               "half, and it takes twice as long; with four paths four times, with eight lanes at work. In a loop that lane t "
               "leaves after t + 1 turns the last lane keeps the warp for 32 turns; on average 16.5 lanes are at work.")


def paths():
    """Time against the number of paths in a warp, on the whole chip and for one warp alone, with the lines."""
    rows = style.rows("paths")
    times = {str(r["version"]): r["median_ms"] for r in rows if r["median_ms"] != ""}
    counts = [1, 2, 4, 8, 16, 32]
    fig, ax = style.axes("different paths in a warp", "time, in times of one path", height=3.9)
    said = []
    for kind, name, color, marker, at, side in (("alone", "one warp alone", style.ORANGE, "s", (13.5, 27.5), "right"),
                                                ("by_lane", "the whole chip", style.BLUE, "o", (18.5, 13), "left")):
        y = [times[f"{kind}={k}"] / times[f"{kind}=1"] for k in counts]
        slope, base = numpy.polyfit(counts, y, 1)
        ax.plot([0, 32], [base, base + 32 * slope], color=color, linewidth=1)
        ax.plot(counts, y, color=color, marker=marker, linestyle="none")
        style.words(ax, *at, f"{name}:\n{base:.2f} + {slope:.2f} · paths", color=color, ha=side)
        said.append(f"{name}: {base:.2f} + {slope:.2f} per path")
    y = [times[f"by_warp={k}"] / times["by_lane=1"] for k in (2, 32)]
    ax.plot((2, 32), y, color=style.GREEN, marker="^", linestyle="none")
    style.words(ax, 31, 3.2, "paths chosen by warp", color=style.GREEN, ha="right", va="baseline")
    said.append(f"chosen by warp, 32 paths take {y[1]:.2f} times as long as one")
    ax.set_xlim(0, 34)
    ax.set_ylim(0, 34)
    ax.set_xticks(range(0, 33, 4))
    style.save(fig, "paths", "Time of a warp against the number of different paths that its lanes take",
               "Points along straight lines, in times of one path. " + "; ".join(said) + ".", rows)


def shuffles():
    """Eight of 32 lanes: sums by shuffles down and by swaps, level by level."""
    fig, ax = style.canvas(3.9)
    lanes, cell, row = 8, 24, 62
    for column, (name, low) in enumerate((("__shfl_down_sync", False), ("__shfl_xor_sync", True))):
        x, y = 10 + 238 * column, 30
        style.words(ax, x, 12, name, style.TEXT, weight="bold")
        held = [{lane} for lane in range(lanes)]
        for level, distance in enumerate((4, 2, 1, None)):
            for lane in range(lanes):
                whole = len(held[lane]) == lanes
                face = style.PALE_GREEN if whole else style.SKY if low or lane < (lanes >> level) else "white"
                style.box(ax, x + lane * cell, y, cell, 18, face)
                text = f"{min(held[lane])}–{max(held[lane])}" if whole else str(lane) if level == 0 else ""
                style.words(ax, x + (lane + 0.5) * cell, y + 9, text, ha="center", color=style.on(face))
            if distance is None:
                break
            if not low:
                style.words(ax, 225, y + 18 + (row - 18) / 2, str(distance), ha="center", color=style.GREY)
            others = [lane ^ distance if low else lane + distance for lane in range(lanes)]
            adding = range(lanes if low else lanes >> (level + 1))
            xray.fan(ax, [(x + (above + 0.5) * cell, x + (lane + 0.5) * cell) for lane in adding
                          for above in (lane, others[lane])], y + 18, y + row, style.BLACK)
            held = [held[lane] | (held[other] if other < lanes else set()) for lane, other in enumerate(others)]
            y += row
    style.words(ax, 225, 39, "distance", ha="center", color=style.GREY)
    style.words(ax, 10, 258, "lines: what a lane adds up; green: the sum of all. Eight lanes of 32.", color=style.GREY)
    style.save(fig, "shuffles", "The sum of a warp by shuffles, drawn for eight lanes",
               "At distance 4, 2 and 1 each lane adds the value of another. With __shfl_down_sync that is the lane so far further "
               "up, and only lane 0 ends with the sum of all. With __shfl_xor_sync partners swap, and every lane ends with it.")


divergence()
paths()
shuffles()
