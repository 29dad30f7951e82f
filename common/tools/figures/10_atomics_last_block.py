# SPDX-License-Identifier: MIT
"""Chapter 10: the last block, the sizes measured against CUB, and the ladder of the whole course."""

from . import style

# ---- the last block: when each of five blocks begins, has its sum, and draws its ticket ----------

BLOCKS = [(0.0, 3.0, 0), (0.3, 4.3, 2), (0.1, 3.7, 1), (0.5, 6.2, 4), (0.2, 5.2, 3)]
LEFT, SCALE = 66, 36  # points; points per unit of time

fig, ax = style.canvas(3.4)


def fence(x, y):
    ax.plot([x, x], [y - 13, y + 13], color=style.RED, linewidth=2.5)


def ticket(x, y, number):
    style.words(ax, x, y, str(number), ha="center", weight="bold",
                bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": style.BLACK})


style.box(ax, 8, 10, 14, 14, style.ORANGE, weight=0)
style.words(ax, 28, 17, "writes its partial sum")
fence(178, 17)
style.words(ax, 186, 17, "fence")
ticket(252, 17, 3)
style.words(ax, 268, 17, "ticket drawn by atomicInc")
for row, (begin, ready, number) in enumerate(BLOCKS):
    y, x = 56 + 36 * row, LEFT + ready * SCALE
    style.words(ax, LEFT - 8, y, f"block {row}", ha="right")
    style.box(ax, LEFT + begin * SCALE, y - 11, (ready - begin) * SCALE, 22, style.SKY, weight=0)
    style.words(ax, LEFT + (begin + ready) / 2 * SCALE, y, "adds its share", ha="center")
    style.box(ax, x, y - 11, 14, 22, style.ORANGE, weight=0)
    fence(x + 19, y)
    ticket(x + 36, y, number)
    if number == len(BLOCKS) - 1:
        fence(x + 53, y)
        style.box(ax, x + 58, y - 11, 84, 22, style.PALE_GREEN, weight=0)
        style.words(ax, x + 100, y, "adds all five", ha="center")
ax.annotate("", (436, 224), (LEFT, 224), arrowprops={"arrowstyle": "->", "color": style.GREY})
style.words(ax, 436, 235, "time", color=style.GREY, ha="right")
style.save(fig, "ticket", "The last block of five",
           "Each block adds its share, writes its partial sum, passes a fence and draws a ticket. Blocks 0 to 4 draw 0, "
           "2, 1, 4 and 3. Block 3 draws 4, the last number, passes a second fence and adds all five partial sums; the "
           "others are done.")

# ---- every size against CUB -----------------------------------------------------------------------

rows = style.rows("sizes")
fig, ax = style.axes("ints", "bandwidth [GB/s]")
texts = []
for kind, label, color, marker, shift in (("wide", "last_block_wide", style.BLUE, "o", (-108, 12)),
                                          ("cub", "CUB", style.RED, "s", (10, -14))):
    sizes, rates = style.series(rows, kind + r" n=(\d+)")
    ax.plot(sizes, rates, color=color, marker=marker)
    style.label_end(ax, sizes[2], rates[2], label, color, shift)
    texts.append(f"{label} " + ", ".join(f"{r:.0f}" for r in rates))
read = style.full_rate(rows[0])
ax.axhline(read, color=style.GREY, linewidth=1, linestyle="--")
style.words(ax, sizes[0], read + 70, "a kernel that only reads", color=style.GREY, va="baseline")
style.log2_axis(ax.xaxis)
ax.set_xticks(sizes)
ax.set_ylim(0, 5400)
ax.yaxis.set_major_formatter(style.THOUSANDS)
style.save(fig, "sizes", "Bandwidth of the last version and of CUB",
           f"At {', '.join(f'{s >> 20} Mi' for s in sizes)} ints, in GB/s: {'; '.join(texts)}.", rows)

# ---- the whole course -----------------------------------------------------------------------------

LADDER = [
    ("02_single_thread_sum", "single_thread", "02  one thread"),
    ("03_coalesced_threads", "sum_strided", "03  one block"),
    ("04_multi_block", "one_block_per_sm", "04  a block on every SM"),
    ("04_multi_block", "four_in_flight", "04  enough in flight,\n      sums unfinished"),
    ("05_shared_tree_reduction", "shared_sequential", "05  one sum per block"),
    ("05_shared_tree_reduction", "wide_loads", "05  ... eight ints each"),
    ("10_atomics_last_block", "last_block", "10  one sum, one launch"),
    ("10_atomics_last_block", "last_block_wide", "10  ... enough in flight"),
]
labels, rates = [], []
for chapter, version, label in LADDER:
    setting = "64mi" if chapter[:2] in ("02", "03") else "default"  # the same size in all
    row = next(r for r in style.rows(setting, chapter) if r["version"] == version)
    labels.append(label)
    # The CSV's own rate, as in the tables: computed again it may be rounded the other way.
    rates.append(row["rate"] if row["rate_unit"] == "GB/s" else 4 * style.given(row, "n") / row["median_ms"] / 1e6)
fig, ax = style.axes("bandwidth [GB/s], logarithmic", height=4.1)
style.course(ax, labels, rates, [style.BLUE] * len(rates), 100, (",.0f", ".2g"), ("a kernel that only reads", read),
             (0.1, 1, 10, 100, 1000))
ax.set_xlim(0.05, 6500)
style.save(fig, "course", "The ladder of the whole course",
           "Sum of squares in GB/s, logarithmic: " + "; ".join(f"{' '.join(n.split())} {r:,.2f}" for n, r in zip(labels, rates)) +
           f". A dashed line at {read:,.0f}, what a kernel reaches that only reads.", style.rows("default"))
