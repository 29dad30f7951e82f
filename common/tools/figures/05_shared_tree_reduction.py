# SPDX-License-Identifier: MIT
"""Chapter 05: the trees with their idle lanes and warps, the banks of their first level, the ladder, and the output."""

from . import style, terminal_picture, xray

ELEMENT = 8  # bytes of a partial sum
TREES = {  # kernel: (who adds in the level of this distance, which partial sum lane t adds to)
    "sum_shared_modulo": (lambda t, d, n: t % (2 * d) == 0 and t + d < n, lambda t, d: t),
    "sum_shared_interleaved": (lambda t, d, n: 2 * d * t + d < n, lambda t, d: 2 * d * t),
    "sum_shared_sequential": (lambda t, d, n: t < d, lambda t, d: t),
}
COLORS = {"sum_shared_modulo": style.ORANGE, "sum_shared_interleaved": style.PURPLE, "sum_shared_sequential": style.SKY}


def levels(kernel, block):
    """[(distance, for each warp: what its lanes add to, None for an idle lane)], the first level first."""
    active, slot = TREES[kernel]
    distances = [1 << k for k in range(block.bit_length() - 1)]
    if kernel == "sum_shared_sequential":
        distances.reverse()
    found = []
    for d in distances:
        slots = [slot(t, d) if active(t, d, block) else None for t in range(block)]
        warps = [slots[w : w + xray.LANES] for w in range(0, block, xray.LANES)]
        found.append((d, [warp for warp in warps if any(s is not None for s in warp)]))
    return found


def offsets(warp, distance=0):
    return [None if slot is None else ELEMENT * (slot + distance) for slot in warp]


def loads_of(topic, kernel, block):
    """The loads of a tree, as X-ray counted them, and the levels, which have to come to the same counts."""
    load = next(a for a in xray.accesses(topic, kernel=kernel, space="shared", operation="load") if a["requests"] > 1)
    tree = levels(kernel, block)
    first = tree[0][1][0]
    if load.lanes not in (offsets(first), offsets(first, tree[0][0])):
        raise ValueError(f"{kernel}: X-ray saw other lanes than the drawing has")
    warps = [(d, warp) for d, in_level in tree for warp in in_level]
    xray.equal(f"{kernel}: requests", 2 * len(warps), load["requests"])
    xray.equal(f"{kernel}: lanes", 2 * sum(s is not None for _, w in warps for s in w), load["lanes"])
    return load, tree


def trees():
    """One warp, a block of 32: in each level its lanes above, the 32 partial sums below."""
    fig, ax = style.canvas(3.75)
    cell = 6.4
    for column, kernel in enumerate(("sum_shared_modulo", "sum_shared_sequential")):
        _, tree = loads_of("warp", kernel, xray.LANES)
        color, x = COLORS[kernel], 6 + 230 * column
        style.words(ax, x, 10, kernel, style.TEXT, weight="bold")
        live = set(range(xray.LANES))  # which partial sums still count
        for number, (distance, (warp,)) in enumerate(tree):
            y = 40 + 43 * number
            adding = {t: slot for t, slot in enumerate(warp) if slot is not None}
            xray.strip(ax, x, y, cell, 7, adding, color)
            xray.strip(ax, x, y + 20, cell, 7, live)
            # Long lines of many lanes would be a black wedge: then those of the first and the last lane.
            shown = [min(adding), max(adding)] if distance > 4 and len(adding) > 4 else adding
            xray.fan(ax, [(x + (t + 0.5) * cell, x + (end + 0.5) * cell) for t in shown
                          for end in (adding[t], adding[t] + distance)], y + 7, y + 20, style.BLACK)
            live = set(adding.values())
            style.words(ax, x, y - 8, f"{len(adding)} {'lanes add' if len(adding) > 1 else 'lane adds'}")
    style.words(ax, 6, 262, "above: the lanes of a warp, filled where they add; below: the partial sums", color=style.GREY)
    style.save(fig, "trees", "Two reduction trees of one warp, checked against X-ray's trace",
               "Each tree adds 32 partial sums in five levels, in which 16, 8, 4, 2 and 1 lanes add. In the modulo tree these "
               "are every second, fourth, eighth lane, and what is left spreads over all partial sums; in the sequential tree "
               "they are the first lanes, and what is left stays side by side.")


def idle_warps():
    """Which warps of a block of 256 have a lane that adds, level by level: X-ray counted two loads for each."""
    fig, ax = style.canvas(3.25)
    cell, says = 19, []
    shown = (("sum_shared_modulo", "scattered threads add"), ("sum_shared_interleaved", "the first threads add"))
    for column, (kernel, title) in enumerate(shown):
        loads_of("block", kernel, 256)  # the levels come to what X-ray counted
        active, _ = TREES[kernel]
        x, idle = 36 + 230 * column, 0
        style.words(ax, x - 30, 10, title, style.TEXT, weight="bold")
        for level in range(8):
            style.words(ax, x + (level + 0.5) * cell, 30, f"{1 << level}", ha="center", color=style.GREY)
            for warp in range(8):
                works = any(active(t, 1 << level, 256) for t in range(warp * xray.LANES, (warp + 1) * xray.LANES))
                idle += not works
                style.box(ax, x + level * cell + 1, 39 + warp * cell, cell - 2, cell - 2, COLORS[kernel] if works else "none")
        for warp in range(8):
            style.words(ax, x - 8, 38 + (warp + 0.5) * cell - 1.5, f"{warp}", ha="right", color=style.GREY)
        style.words(ax, x - 30, 38 + 8 * cell + 12, f"{idle} of 64 are idle", color=COLORS[kernel], weight="bold")
        says.append(f"{title}: {idle} idle")
    style.words(ax, 6, 38 + 8 * cell + 32, "a row is a warp, a column the level of a distance; filled: a lane of the warp adds",
                color=style.GREY)
    style.save(fig, "idle_warps", "Which warps have nothing to add, level by level, checked against X-ray's trace",
               "Eight warps by eight levels. When scattered threads add, all warps have a lane at work in the first five levels, then 4, 2 "
               "and 1; when the first threads add, 4, 2 and then 1 in each level. " + "; ".join(says) + ".")


def banks():
    """The first level in a block of 256: which pass through the banks serves which lanes."""
    fig, ax = style.canvas(3.0)
    cell, says = 4.6, []
    for column, kernel in enumerate(("sum_shared_interleaved", "sum_shared_sequential")):
        load, _ = loads_of("block", kernel, 256)
        color, x = COLORS[kernel], 4 + 222 * column
        passes = load.passes()
        style.words(ax, x, 12, kernel, style.TEXT, weight="bold")
        style.words(ax, x, 28, f"lanes {load.lanes[1] - load.lanes[0]} bytes apart")
        xray.strip(ax, x, 40, cell, 9, range(xray.LANES))
        style.words(ax, x + 32 * cell + 6, 44, "32 lanes")
        top = 92
        for number, served in enumerate(passes):
            y = top + 18 * number
            lanes = sorted({lane for there in served.values() for lane in there})
            xray.strip(ax, x, y, cell, 12, served, color)
            style.words(ax, x + 32 * cell + 6, y + 6, f"lanes {lanes[0]}–{lanes[-1]}")
            ends = [(lane, load.lanes[lane] // xray.WORD % xray.BANKS) for lane in lanes]
            xray.fan(ax, [[x + (end + 0.5) * cell for end in pair] for pair in ends], 49, top,
                     "#C4C4C4" if number else style.BLACK, zorder=2 if number == 0 else 1)
        y = top + 18 * len(passes) + 6
        style.words(ax, x, y, "bank 0")
        style.words(ax, x + 32 * cell, y, "31", ha="right")
        style.words(ax, x, 196, f"{len(passes)} passes through the banks", color=color, weight="bold")
        says.append(f"{kernel}: {len(passes)} passes for the first request")
    style.save(fig, "banks", "The banks that the first level of two trees asks, traced from the kernels",
               "32 lanes load partial sums of 8 bytes, and in a pass each of the 32 banks serves one word of 4 bytes. With "
               "lanes 16 bytes apart a pass keeps only half of the banks busy, so there are twice as many. " +
               "; ".join(says) + ".")


def ladder():
    """All rows, in three groups by what a thread brings to the tree, and how long one read of the data takes."""
    rows = style.rows("default")
    eight = ("eight_each", "last_warp", "wide_loads", "cub_block")
    fig, ax = style.axes("time [ms], 64 Mi ints in blocks of 256", height=4.6)
    names = [r["version"] for r in rows]
    times = [r["median_ms"] for r in rows]
    read = rows[0]["median_ms"] * rows[0]["of_percent"] / 100
    colors = [style.ORANGE if n in eight else style.GREY if n == "cub" else style.BLUE for n in names]
    style.bars(ax, names, times, colors, [f"{time:.3f}" for time in times])
    ax.axvline(read, color=style.BLACK, linewidth=0.8, linestyle=":", zorder=3)
    style.words(ax, 0.62 * max(times), "last_warp", "eight elements per thread", color=style.ORANGE)
    style.words(ax, 0.62 * max(times), "cub", "dotted: one read of the data")
    ax.set_xlim(0, 1.12 * max(times))
    style.save(fig, "ladder", "Time of each version of the block sum",
               f"Bars of the median time of each version over 64 Mi ints in blocks of 256; one read of the data takes {read:.3f} ms: " +
               ", ".join(f"{n} {t:.3f} ms" for n, t in zip(names, times)) + ".", rows)


trees()
idle_warps()
banks()
ladder()
measured = style.rows("default")
in_words = [f"{r['version']} {r['median_ms']:.4f} ms, {r['rate']:.0f} GB/s, {r['check']}" for r in measured]
for name, columns in {"terminal": (), "terminal_narrow": ("version", "time [ms]", "GB/s", "check")}.items():
    terminal_picture.save(name, "h200.txt", "make run CH=05", f"What chapter 05 prints on an {measured[0]['device']}",
                          "A line names the GPU, the size and how it was measured. A table follows, a row for each version: "
                          + ", ".join(in_words) + ".", columns)
