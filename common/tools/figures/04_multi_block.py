# SPDX-License-Identifier: MIT
"""Chapter 04: grid, block and thread, loads in flight (drawings); bandwidth against bytes in flight, block sizes,
widths of loads, warps on one SM, blocks over time."""

from . import style
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

LATENCY = 8  # of the drawing: the memory answers at most one load per unit of time


def loads_over_time(in_flight, units):
    """(row, leaves, is served, arrives) of every load, when `in_flight` threads load without pause."""
    loads, ready, memory_free = [], [k * LATENCY / in_flight for k in range(in_flight)], 0.0
    while True:
        row = min(range(in_flight), key=lambda k: ready[k])
        leaves = ready[row]
        if leaves >= units:
            return loads
        served = max(leaves, memory_free)
        memory_free = served + 1
        ready[row] = served + LATENCY
        loads.append((row, leaves, served, ready[row]))


def draw_loads_in_flight():
    units = 3 * LATENCY
    fig, ax = style.canvas(4.3)
    left, scale = 12, 420 / units
    says = [
        (1, "1 in flight: one load per latency"),
        (4, "4 in flight: four loads per latency"),
        (12, "12 in flight where 8 are enough: the rest queue"),
    ]
    y = 12
    for in_flight, text in says:
        style.words(ax, left, y, text, style.TEXT)
        y += 11
        for row, leaves, served, arrives in loads_over_time(in_flight, units):
            at = y + 11 * row
            if served > leaves:
                style.box(ax, left + leaves * scale, at, (min(served, units) - leaves) * scale, 8, "#D5D5D5", weight=0)
            if served < units:
                style.box(ax, left + served * scale, at, (min(arrives, units) - served) * scale, 8, style.BLUE, weight=0)
            if arrives <= units:
                style.box(ax, left + arrives * scale - 3, at - 1, 4, 10, style.ORANGE, style.BLACK, 0.4)
        y += 11 * in_flight + 11
    y -= 5
    ax.plot([left, left + 420], [y, y], color=style.BLACK, linewidth=1)
    for k, name in enumerate(("0", "1", "2", "3 latencies")):
        x = left + k * LATENCY * scale
        ax.plot([x, x], [y, y + 4], color=style.BLACK, linewidth=1)
        style.words(ax, x + (0 if k < 3 else 6), y + 12, name, ha="left" if k == 0 else "right" if k == 3 else "center")
    y += 32
    for x, wide, color, name in ((12, 14, style.BLUE, "a load on its way"), (142, 14, "#D5D5D5", "waiting for its turn"),
                                 (284, 4, style.ORANGE, "a value arrives")):
        style.box(ax, x, y - 4, wide, 8 if wide > 4 else 10, color, style.BLACK if wide == 4 else style.GREY, 0.4)
        style.words(ax, x + wide + 5, y, name)
    style.save(fig, "loads_in_flight", "Loads in flight over three latencies",
               "With one load in flight one value arrives per latency, with four in flight four values. "
               "Twelve in flight bring no more than eight would: the memory is busy and the rest wait.")


def draw_grid_block_thread():
    blocks, threads, n = 3, 4, 22
    in_grid = blocks * threads
    block, thread = shown = 2, 1  # whose index is worked out
    fig, ax = style.canvas(3.8)
    grid = style.Grid(ax, blocks, threads, shown)
    grid.draw_threads(f"grid: gridDim.x = {blocks} blocks of blockDim.x = {threads} threads", (48, 91), (102, 108))
    index, second = grid.index, grid.index + in_grid
    style.words(ax, 18, 126, f"i = blockIdx.x * blockDim.x + threadIdx.x = {block} * {threads} + {thread} = {index}")
    style.words(ax, 18, 152, "x, first round")
    grid.draw_elements(164, 0, n)
    style.words(ax, 18, 204, f"second round: i + gridDim.x * blockDim.x = {index} + {in_grid} = {second}")
    grid.draw_elements(216, in_grid, n)
    x = grid.column(index) + grid.CELL / 2
    style.arrow(ax, (x, 81), (x, 163), linewidth=1.2)
    empty = 2 * in_grid - n
    style.words(ax, 18, 258, f"n = {n}: in the second round the last {empty} threads have no element, for i < n fails.")
    style.save(fig, "grid_block_thread", "Grid, block and thread, and the element that a thread takes",
               f"A grid of {blocks} blocks of {threads} threads. Thread {thread} of block {block} has the index {block} times {threads} "
               f"plus {thread}, which is {index}: it takes element {index}, and in the second round, {in_grid} further, "
               f"element {second}. Of {n} elements the second round has {n - in_grid}.")


def draw_saturation():
    rows = style.rows("grid")
    block = style.given(rows[0], "block")
    latency_ns = style.rows("latency")[-1]["median_ms"] * 1e6  # of the memory
    read = style.full_rate(rows[-1])

    fig, ax = style.axes("bytes in flight", "bandwidth [GB/s]")
    style.log2_axis(ax.xaxis, "B")
    ax.set_yscale("log")
    law = [4 * block, read * latency_ns]
    ax.plot(law, [law[0] / latency_ns, read], "--", color=style.GREY, linewidth=1.5)
    ax.plot([law[1], 2**26], [read, read], "--", color=style.GREY, linewidth=1.5)
    at = 4 * (law[0] * law[1]) ** 0.5
    where = {"ha": "right", "va": "baseline"}
    style.label_end(ax, at, at / latency_ns, f"bytes in flight / {latency_ns:.0f} ns", style.GREY, (-10, 8), **where)
    style.label_end(ax, 2**26, read, f"a plain read: {read:,.0f} GB/s", style.GREY, (0, 6), **where)
    for loads, color, how in ((1, style.BLUE, {"marker": "o"}), (4, style.RED, {"marker": "s", "markersize": 9, "mfc": "none"})):
        grids, rates = style.series(rows, rf"grid=(\d+) loads={loads}")
        wave = max(grids) // 4  # the sweep ends at four waves
        points = [(grid * block * 4 * loads, rate) for grid, rate in zip(grids, rates) if grid <= wave]
        ax.plot(*zip(*points), color=color, linewidth=1.2, **how)
        if loads == 1:
            style.label(ax, *points[-1], "one load per thread\nends here: all places\nare taken", color, (22, -62), va="center",
                        arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.8, "shrinkB": 5})
        else:
            style.label(ax, *points[3], "four loads per thread", color, (14, -18))
    wide = [(int(match[1]) * int(match[2]) * block * 16, row["rate"])
            for match, row in style.matched(style.rows("loads"), r"16Bx(\d+) grid=(\d+)")]
    ax.plot(*zip(*wide), color=style.GREEN, linestyle="none", marker="^", markersize=8, mfc="none", mew=1.6)
    ax.annotate("16 bytes per load,\n1 to 8 loads per thread", wide[0], xytext=(2**13, 2.6 * wide[0][1]), ha="center",
                color=style.ink(style.GREEN), fontsize=style.SMALL, va="center",
                arrowprops={"arrowstyle": "-", "color": style.GREEN, "linewidth": 0.8, "shrinkB": 5})
    ax.yaxis.set_major_formatter(style.THOUSANDS)
    ax.set_xlim(2**9.5, 2**26)
    style.save(fig, "saturation", "Bandwidth against bytes in flight",
               "Both kernels rise in proportion to the bytes in flight, one load per thread a little below bytes in flight "
               "divided by the latency, four loads per thread a little further below. One load per thread ends before it "
               "reaches what the memory can deliver; four loads bend there. Loads of 16 bytes lie on the same curve.", rows)


def draw_block_sizes():
    rows = style.rows("block")
    fig, ax = style.axes("threads per block (as many blocks as fit at once)", "bandwidth [GB/s]")
    for loads, name, color, marker in ((1, "one load", style.BLUE, "o"), (4, "four loads", style.RED, "s")):
        sizes, rates = style.series(rows, rf"block=(\d+) loads={loads}")
        style.line(ax, sizes, rates, f"{name}\nper thread", color, marker)
    style.log2_axis(ax.xaxis)
    ax.set_xticks(sizes, [str(b) if b in (32, 64, 128, 256, 512, 768) else "" for b in sizes])
    ax.set_xlim(28, 2900)
    ax.yaxis.set_major_formatter(style.THOUSANDS)
    ax.set_ylim(0, 4700)
    style.save(fig, "block_sizes", "Bandwidth against block size at the largest grid that fits at once",
               "With one load per thread the bandwidth follows the number of resident threads, so blocks of 32 and "
               "768 fall behind; with four loads per thread they lose less.", rows)


def draw_blocks():
    blocks = style.rows("h200_blocks.csv")
    at_once = len(blocks) * 2 // 5  # the launch is two and a half waves
    waves = {"first wave": style.BLUE, "second wave": style.ORANGE, "the last half wave": style.GREEN}
    sms = sorted({b["sm"] for b in blocks})
    places = at_once // len(sms)
    free = {sm: [0] * places for sm in sms}  # when each place of an SM is free again
    fig, ax = style.axes("time since the first block began [us]", "SM", 4.35)
    bars = [[] for _ in waves]
    for b in sorted(blocks, key=lambda b: b["start_ns"]):
        place = min(range(places), key=lambda k: free[b["sm"]][k])
        free[b["sm"]][place] = b["end_ns"]
        y = sms.index(b["sm"]) + place / places
        wave = min(b["block"] // at_once, len(waves) - 1)
        bars[wave].append(Rectangle((b["start_ns"] / 1e3, y), (b["end_ns"] - b["start_ns"]) / 1e3, 0.9 / places))
    end = max(b["end_ns"] for b in blocks) / 1e3
    for patches, (name, color) in zip(bars, waves.items()):
        ax.add_collection(PatchCollection(patches, facecolor=color, edgecolor="white", linewidth=0.2))
        middle = sum(p.get_x() + p.get_width() / 2 for p in patches) / len(patches)
        style.words(ax, middle, len(sms) + 2, name, style.TEXT, color, ha="center", va="bottom", weight="bold")
    ax.set_xlim(0, end * 1.01)
    ax.set_ylim(-1, len(sms) + 14)
    ax.set_yticks(range(0, len(sms), 20))
    ax.grid(False)
    busy = sum(b["end_ns"] - b["start_ns"] for b in blocks) / (end * 1e3 * at_once)
    style.save(fig, "blocks", "Blocks over time on every SM",
               f"{len(blocks)} blocks on {len(sms)} SMs, {at_once} at once: two full waves, then half of the places "
               f"stay empty. Places are taken {100 * busy:.0f} % of the time.", style.rows("waves"))


draw_grid_block_thread()
draw_loads_in_flight()
style.draw_measured(draw_saturation, draw_block_sizes, draw_blocks)
