# SPDX-License-Identifier: MIT
"""Chapter 12: the layout of local memory (drawing), time against registers, time against the carve-out, latencies."""

from . import style, xray

COUNTERS, SECTOR_LANES = 16, 8


def digits_that_differ():
    """A digit for each of 32 lanes, from the generator that the program takes its words from (common/compare.cuh), the
    first digit of words 0 to 31 with seed 1."""
    mask = (1 << 64) - 1
    digits = []
    for index in range(xray.LANES):
        z = (0xD1342543DE82EF95 + (index + 1) * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        digits.append((z ^ (z >> 31)) >> 32 & 15)
    return digits


def layout():
    """Local memory of one warp: a row per counter, a cell per lane; what one request wants."""
    fig, ax = style.canvas(3.9)
    cell, height, says = 6.0, 11.0, []
    for column, (name, digits) in enumerate((("all lanes want counter 5", [5] * xray.LANES),
                                             ("lanes want different counters", digits_that_differ()))):
        x, top = 24 + 222 * column, 40
        sectors = {(digit, lane // SECTOR_LANES) for lane, digit in enumerate(digits)}
        style.words(ax, x, 27, name, weight="bold")
        for counter in range(COUNTERS):
            y = top + height * counter
            if column == 0 or counter in (0, 5, 10, 15):
                style.words(ax, x - 4, y + height / 2 - 1, str(counter), ha="right", color=style.GREY)
            for quarter in range(xray.LANES // SECTOR_LANES):
                touched = (counter, quarter) in sectors
                style.box(ax, x + quarter * SECTOR_LANES * cell, y, SECTOR_LANES * cell, height - 2,
                          "#CFE6F5" if touched else "white", style.GREY, 0.4)
            for lane, digit in enumerate(digits):
                if digit == counter:
                    style.box(ax, x + lane * cell, y, cell, height - 2, style.BLUE, style.BLUE, 0)
        style.words(ax, x, top + height * COUNTERS + 8, "lane 0")
        style.words(ax, x + xray.LANES * cell, top + height * COUNTERS + 8, "lane 31", ha="right")
        says.append(f"{name}: {len(sectors)} sectors")
    style.words(ax, 24, 246, "a row: one counter of 32 lanes, 128 bytes; dark: the word that a lane wants", color=style.GREY)
    style.save(fig, "layout", "Sixteen counters of a warp in local memory, and the sectors that one access touches",
               "Two grids of 16 rows, one for each counter, and 32 columns, one for each lane. " + "; ".join(says) + ".")


def registers():
    """Both kernels: time by the limit of registers, the bytes that spill at the points."""
    rows = style.rows("registers") + style.rows("spills")
    fig, ax = style.axes("most registers per thread", "time [ms], 64 Mi ints")
    says = []
    for kernel, color, values, at, shift in (("pairs", style.BLUE, 64, 2, (-8, -13)),
                                             ("rod", style.ORANGE, 160, -1, (10, -4))):
        own = [(int(match[1]), row["median_ms"], row["local_bytes"])
               for match, row in style.matched(rows, kernel + r"_(\d+)")]
        ax.plot([limit for limit, _, _ in own], [time for _, time, _ in own], color=color, marker="o")
        style.label(ax, *own[at][:2], f"{kernel}: {values} values", color, shift)
        for limit, time, spilled in own:
            if kernel == "rod" and limit in (168, 128, 64):
                style.label(ax, limit, time, f"{spilled:.0f} B", color, (8, 7))
        says.append(f"{kernel}: " + ", ".join(f"{limit} registers {time:.3f} ms with {spilled:.0f} local bytes"
                                              for limit, time, spilled in own))
    ax.set_xlim(16, 290)
    style.log_axis(ax.yaxis, 0.2, 0.5, 1, 2, 5, 10)
    ax.set_ylim(0.15, 12)
    style.save(fig, "registers", "Time of two kernels with fewer and fewer registers", "; ".join(says) + ".", rows)


def carveout():
    """Times of a kernel that wants the L1 and of one that wants shared memory, by the carve-out that each asks for."""
    rows = style.rows("carveout")
    fig, ax = style.axes("carve-out: wish for shared memory [%]", "time [ms]")
    says = []
    for kernel, color, name, at, shift, side in (
            ("table", style.BLUE, "table: wants the L1", 3, (-8, 4), "right"),
            ("parked", style.ORANGE, "parked: wants shared memory", 0, (10, 2), "left")):
        wishes, times = style.series(rows, kernel + r"_carveout_(\d+)", "median_ms")
        ax.plot(wishes, times, color=color, marker="o")
        style.label(ax, wishes[at], times[at], name, color, shift, ha=side)
        says.append(name + ": " + ", ".join(f"{w} % {t:.3f} ms" for w, t in zip(wishes, times)))
    ax.set_xticks([0, 25, 50, 75, 100])
    ax.set_ylim(0, None)
    style.save(fig, "carveout", "Time of two kernels against the share of shared memory", "; ".join(says) + ".", rows)


def latency():
    rows = [r for r in style.rows("latency") + sorted(style.rows("memory_latency"), key=lambda r: r["rate"]) if r["rate_unit"] == "cycles/step"]
    fig, ax = style.axes("cycles until the next step can begin", height=4.5)
    names = [r["version"] for r in rows]
    cycles = [r["rate"] for r in rows]
    on_chip, behind = ("constant", "shared", "local", "texture", "l1"), ("constant_64k", "constant_dram", "l2", "memory")
    colors = [style.ORANGE if n in on_chip else style.PURPLE if n in behind else style.BLUE for n in names]
    style.bars(ax, names, cycles, colors, [f"{value:.1f}" if value < 100 else f"{value:.0f}" for value in cycles])
    ax.set_xscale("log")
    ax.set_xlim(1, 2000)
    style.save(fig, "latency", "Cycles per step where each step needs the result of the one before",
               "Bars on a logarithmic scale: " + ", ".join(f"{n} {c:.1f}" for n, c in zip(names, cycles)) + " cycles.",
               rows)


layout()
registers()
carveout()
latency()
