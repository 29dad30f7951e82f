# SPDX-License-Identifier: MIT
"""Chapter 10: the last block, the sizes measured against CUB, and the ladder of the whole course."""

import matplotlib.pyplot as plt
import style

# ---- the last block: when each of five blocks begins, has its sum, and draws its ticket ----------

BLOCKS = [(0.0, 3.0, 0), (0.3, 4.3, 2), (0.1, 3.7, 1), (0.5, 6.2, 4), (0.2, 5.2, 3)]
FENCE, END = 0.55, 10.2


def fence(ax, x, y):
    ax.plot([x, x], [y - 0.36, y + 0.36], color=style.RED, linewidth=2.5)


fig, ax = plt.subplots(figsize=(7.2, 3.6))
ax.axis("off")
for row, (begin, ready, ticket) in enumerate(BLOCKS):
    y = -row
    ax.text(-0.25, y, f"block {row}", ha="right", va="center")
    ax.add_patch(plt.Rectangle((begin, y - 0.28), ready - begin, 0.56, facecolor=style.SKY, edgecolor="none"))
    ax.text((begin + ready) / 2, y, "adds its share", ha="center", va="center", fontsize=9)
    ax.add_patch(plt.Rectangle((ready, y - 0.28), 0.4, 0.56, facecolor=style.ORANGE, edgecolor="none"))
    fence(ax, ready + FENCE, y)
    ax.text(ready + 0.95, y, str(ticket), ha="center", va="center", weight="bold",
            bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": style.BLACK})
    if ticket == len(BLOCKS) - 1:
        fence(ax, ready + 1.35, y)
        ax.add_patch(plt.Rectangle((ready + 1.5, y - 0.28), 2.5, 0.56, facecolor=style.GREEN, edgecolor="none"))
        ax.text(ready + 2.75, y, "adds all five", ha="center", va="center", fontsize=9, color="white")
ax.add_patch(plt.Rectangle((0.2, 0.72), 0.4, 0.4, facecolor=style.ORANGE, edgecolor="none"))
ax.text(0.72, 0.92, "writes its partial sum", va="center", fontsize=9)
ax.plot([3.55, 3.55], [0.72, 1.12], color=style.RED, linewidth=2.5)
ax.text(3.7, 0.92, "fence", va="center", fontsize=9)
ax.text(5.05, 0.92, "3", ha="center", va="center", fontsize=9, weight="bold",
        bbox={"boxstyle": "circle,pad=0.2", "facecolor": "white", "edgecolor": style.BLACK})
ax.text(5.35, 0.92, "ticket drawn by atomicInc", va="center", fontsize=9)
ax.annotate("", (END, -4.75), (0, -4.75), arrowprops={"arrowstyle": "->", "color": style.GREY})
ax.text(END, -4.95, "time", ha="right", va="top", color=style.GREY, fontsize=9)
ax.set_xlim(-1.4, END + 0.2)
ax.set_ylim(-5.2, 1.3)
style.save(fig, "ticket", "The last block of five",
           "Each block adds its share, writes its partial sum, passes a fence and draws a ticket. Blocks 0 to 4 draw 0, "
           "2, 1, 4 and 3. Block 3 draws 4, the last number, passes a second fence and adds all five partial sums; the "
           "others are done.")

# ---- every size against CUB -----------------------------------------------------------------------

rows = style.rows("h200_sizes.csv")
fig, ax = style.axes("ints", "bandwidth [GB/s]")
texts = []
for kind, label, color in (("wide", "last_block_wide", style.BLUE), ("cub", "CUB", style.RED)):
    chosen = [r for r in rows if r["version"].startswith(kind + " ")]
    sizes = [int(r["version"].split("n=")[1]) for r in chosen]
    rates = [r["rate"] for r in chosen]
    ax.plot(sizes, rates, color=color, marker="o")
    style.label_end(ax, sizes[2], rates[2], label, color, shift=(-104, 14) if kind == "wide" else (10, -12))
    texts.append(f"{label} " + ", ".join(f"{r:.0f}" for r in rates))
read = rows[0]["rate"] / rows[0]["of_percent"] * 100
ax.axhline(read, color=style.GREY, linewidth=1, linestyle="--")
ax.text(sizes[0], read + 60, "a kernel that only reads", color=style.GREY, fontsize=9)
style.log2_axis(ax.xaxis)
ax.set_xticks(sizes)
ax.set_ylim(0, 5200)
style.source(fig, rows)
style.save(fig, "sizes", "Bandwidth of the last version and of CUB",
           f"At {', '.join(f'{s >> 20} Mi' for s in sizes)} ints, in GB/s: {'; '.join(texts)}.")

# ---- the whole course -----------------------------------------------------------------------------

LADDER = [
    ("02_single_thread_sum", "single_thread", "02  one thread"),
    ("03_coalesced_threads", "sum_strided", "03  one block"),
    ("04_multi_block", "one_block_per_sm", "04  a block on every SM"),
    ("04_multi_block", "four_in_flight", "04  enough in flight, unfinished sums"),
    ("05_shared_tree_reduction", "shared_sequential", "05  one sum per block"),
    ("10_atomics_last_block", "last_block", "10  one sum, one launch"),
    ("10_atomics_last_block", "last_block_wide", "10  ... and enough in flight"),
]
labels, rates = [], []
for chapter, version, label in LADDER:
    row = next(r for r in style.rows("h200.csv", chapter) if r["version"] == version)
    ints = int(row["workload"].split("n = ")[1].split(" ")[0])
    labels.append(label)
    rates.append(4 * ints / row["median_ms"] / 1e6)
fig, ax = style.axes("bandwidth [GB/s]", size=(7.2, 3.8))
ax.barh(labels[::-1], rates[::-1], color=style.BLUE, height=0.62)
for label, rate in zip(labels, rates):
    inside = rate > 100
    ax.annotate(f"{rate:,.0f}" if inside else f"{rate:.2g}", (rate, label), xytext=(-4 if inside else 4, 0),
                textcoords="offset points", va="center", ha="right" if inside else "left",
                color="white" if inside else style.BLACK, fontsize=10)
ax.set_xscale("log")
ax.set_xlim(0.05, 10000)
ax.axvline(read, color=style.GREY, linewidth=1, linestyle="--")
ax.grid(axis="y", visible=False)
style.source(fig, style.rows("h200.csv"))
style.save(fig, "course", "The ladder of the whole course",
           "Sum of squares in GB/s, logarithmic: " + "; ".join(f"{n} {r:,.2f}" for n, r in zip(labels, rates)) +
           f". A dashed line at {read:,.0f}, what a kernel reaches that only reads.")
