# SPDX-License-Identifier: MIT
"""Chapter 03: which sectors the lanes of a warp touch, one block against the size, and the sweeps."""

from . import style, xray

CLOCK_GHZ = 1.98  # of the H200's multiprocessors; chapter 01 reads it
L2_BYTES = 60 << 20
INT = 4  # bytes


# ---- concept: lanes, sectors, lines, as X-ray saw them -------------------------------------------


def name_of(load):
    """The index expression of a load, from where its lanes went."""
    first, step = load.lanes[0] // INT, (load.lanes[1] - load.lanes[0]) // INT
    return f"x[{'t' if step == 1 else f'{step} * t'}{f' + {first}' if first else ''}]"


def draw_access(ax, top, load, color):
    """One load of a warp: its lanes above, the lines they touch below, each with its four sectors. Returns
    what stands above it."""
    touched = xray.sectors(load)
    lines = xray.lines(load)
    count = xray.equal(name_of(load), len(touched), load.per_request("sectors"))
    used = load["bytes"] / (load["sectors"] * xray.SECTOR)
    says = f"{count} sectors in {len(lines)} line{'s' if len(lines) > 1 else ''}, {100 * used:.3g} % of the bytes used"
    style.words(ax, 6, top, f"{load['kernel']}, {name_of(load)}", style.TEXT, weight="bold")
    style.words(ax, 440, top, says, ha="right")

    pitch = min(432 / len(lines), 108)  # from line to line
    width = 0.86 * pitch
    left = {line: 223 + (i - len(lines) / 2) * pitch + 0.07 * pitch for i, line in enumerate(lines)}

    def place(offset):
        line, rest = divmod(offset, xray.LINE)
        return left[line] + rest / xray.LINE * width

    lanes, sectors, high, ends = top + 15, top + 41, 16, []
    for sector in touched:
        style.box(ax, place(sector * xray.SECTOR), sectors, width / 4, high, "#CFCFCF", weight=0)
    for lane, offset in enumerate(load.lanes):
        wide = max(INT / xray.LINE * width, 2)
        style.box(ax, place(offset), sectors, wide, high, color, weight=0)
        ends.append((223 + (lane - xray.LANES / 2 + 0.5) * 10.2, place(offset) + wide / 2))
    xray.fan(ax, ends, lanes, sectors)
    ax.plot([x for x, _ in ends], [lanes] * len(ends), marker="o", markersize=4, color=style.BLACK, linestyle="none")
    for line in lines:
        for sector in range(4 if len(lines) <= 8 else 0):
            style.box(ax, left[line] + sector * width / 4, sectors, width / 4, high, "none", weight=0.6)
        style.box(ax, left[line], sectors, width, high, "none", style.BLACK, 1.0)
    return f"{name_of(load)}: {says}"


def accesses():
    fig, ax = style.canvas(4.35)
    wanted = {"space": "global", "operation": "load"}
    loads = [(xray.only("versions", kernel="sum_strided", **wanted), style.SKY),
             (xray.accesses("offset", kernel="sum_walk", **wanted)[0], style.SKY),
             (xray.only("stride", kernel="sum_walk", **wanted), style.ORANGE),
             (xray.only("versions", kernel="sum_chunked", **wanted), style.RED)]
    says = [draw_access(ax, 12 + 77 * i, load, color) for i, (load, color) in enumerate(loads)]
    style.words(ax, 6, 27, "32 lanes")
    style.words(ax, 160, 61, "a line: 4 sectors\nof 32 bytes", ha="right")
    style.words(ax, 332, 138, "grey: not used by\nthis load", color=style.GREY)
    style.save(fig, "accesses", "What one load of a warp touches, traced from the kernels",
               "Four loads of a warp, drawn from the addresses that X-ray saw. " + "; ".join(says) + ".")


# ---- measured ------------------------------------------------------------------------------------


def one_block():
    sizes = ["64ki", "256ki", "1mi", "4mi", "8mi", "default", "32mi", "64mi"]
    rows = [r for size in sizes for r in style.rows(size)]
    fig, ax = style.axes("ints summed by one block of 512 threads", "time per int [ns]")
    for name, label, color, marker, dashes, shift in (
            ("sum_chunked", "sum_chunked", style.RED, "s", "-", (7, 10)),
            ("sum_chunked_four", "... _four", style.RED, "x", ":", (7, -7)),
            ("sum_strided", "sum_strided", style.BLUE, "o", "-", (7, 0)),
            ("sum_strided_four", "... _four", style.BLUE, "^", ":", (7, 0))):
        times = sorted((style.given(r, "n"), r["median_ms"]) for r in rows if r["version"] == name)
        points = [(n, ms * 1e6 / n) for n, ms in times]
        style.line(ax, *zip(*points), label, color, marker, shift, linestyle=dashes)
    ax.axhline(1 / CLOCK_GHZ, color=style.GREY, linestyle="--", linewidth=1.2)
    style.words(ax, 64 << 10, 1 / CLOCK_GHZ - 0.015, f"one lane per clock: {1 / CLOCK_GHZ:.3f} ns", color=style.GREY,
                va="top")
    ax.axvline(L2_BYTES / INT, color=style.GREY, linestyle=":", linewidth=1.2)
    style.words(ax, L2_BYTES / INT / 1.1, 0.03, "60 MiB: the L2 cache is full", color=style.GREY, ha="right", va="baseline")
    style.log2_axis(ax.xaxis)
    ax.set_xlim(right=(64 << 20) * 14)
    ax.set_ylim(bottom=0)
    style.save(fig, "one_block", "One block: time per int against the size",
               "The chunked versions take the same time per int at every size, about one "
               "clock, with one load in flight and with four. The strided version with one load in flight is faster while "
               "the data fits half the L2 cache, and slower when it fits no more; with four it is the fastest at every size.",
               rows)


def sweeps():
    strides, offsets = style.rows("stride"), style.rows("offset")
    read = style.full_rate(strides[0])
    fig, (left, right) = style.axes(ncols=2, gridspec_kw={"width_ratios": [3, 2]})

    x, loads = style.series(strides, r"stride=(\d+)")
    stores = [r["rate"] for r in style.rows("store")]
    left.plot(*style.series(style.rows("stride_fetch32"), r"stride=(\d+)"), color=style.SKY, marker="x", linestyle=":")
    left.plot(x, loads, color=style.BLUE, marker="o", markersize=4)
    left.plot(x, stores, color=style.RED, marker="s", markersize=4)
    style.words(left, 1.1, 330, "stores", color=style.RED, va="baseline")
    style.words(left, 6.5, 900, "loads", color=style.BLUE, va="baseline")
    for piece in (32, 64):
        most = piece // INT
        left.plot(x, [read / min(s, most) for s in x], color=style.GREY, linestyle="--", linewidth=1.2)
        style.words(left, 1100, read / most * 1.08, f"moved in pieces\nof {piece} bytes", color=style.GREY, ha="right",
                    va="baseline")
    style.log2_axis(left.xaxis)
    style.log_axis(left.yaxis, 62.5, 125, 250, 500, 1000, 2000, 4000, number=",.0f")
    left.set_xlabel("stride [ints]")
    left.set_xticks([1, 8, 64, 512])
    left.set_ylabel("bytes used or stored [GB/s]")
    left.set_title("stride (dotted: --fetch 32)")

    offset, shifted = style.series(offsets, r"offset=(\d+)")
    right.plot(offset, shifted, color=style.BLUE, marker="o", markersize=3.5)
    right.set_ylim(0, read * 1.05)
    right.set_xticks(range(0, 33, 16))
    right.set_xlabel("offset [ints]")
    right.yaxis.set_major_formatter(style.THOUSANDS)
    right.set_title("offset")
    rate = dict(zip(x, loads))
    style.save(fig, "sweeps", "Useful bandwidth against stride and offset",
               f"With the stride the useful bandwidth of loads falls from {rate[1]:.0f} GB/s to {rate[8]:.0f} at "
               f"stride 8 and {rate[1024]:.0f} at stride 1024; that of stores from {stores[0]:.0f} to "
               f"{stores[-1]:.0f}. When the L2 fetches single sectors, strides 12 and 16 come close to 8. With the offset it "
               f"stays between {min(shifted):.0f} and {max(shifted):.0f} GB/s.", strides)


accesses()
one_block()
sweeps()
