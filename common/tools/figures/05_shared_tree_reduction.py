# SPDX-License-Identifier: MIT
"""Chapter 05: the two trees side by side, the ladder measured, and the program's output."""

import matplotlib.pyplot as plt
import style
import terminal

SLOTS = 16


def interleaved(slots):
    """Levels of (left, right) pairs: neighbours first."""
    distance, levels = 1, []
    while distance < slots:
        levels.append([(i, i + distance) for i in range(0, slots, 2 * distance) if i + distance < slots])
        distance *= 2
    return levels


def sequential(slots):
    """Levels of (left, right) pairs: the upper half onto the lower half."""
    levels = []
    while slots > 1:
        half = (slots + 1) // 2
        levels.append([(i, half + i) for i in range(slots - half)])
        slots = half
    return levels


def draw(ax, levels, title, color):
    ax.set_title(title, loc="left")
    ax.axis("off")
    last = len(levels)
    for depth in range(last + 1):
        live = set(range(SLOTS)) if depth == 0 else {left for left, _ in levels[depth - 1]}
        for slot in range(SLOTS):
            face = color if slot in live else "white"
            ax.add_patch(plt.Rectangle((slot + 0.08, -depth - 0.26), 0.84, 0.52, facecolor=face,
                                       edgecolor=style.GREY, linewidth=0.8))
        if depth < last:
            for left, right in levels[depth]:
                ax.plot([right + 0.5, left + 0.5], [-depth - 0.26, -depth - 0.74], color=style.BLACK, linewidth=1)
            count = len(levels[depth])
            ax.text(SLOTS + 0.3, -depth - 0.5, f"{count} {'lane adds' if count == 1 else 'lanes add'}", va="center",
                    fontsize=9)
    ax.set_xlim(0, SLOTS + 3.4)
    ax.set_ylim(-last - 0.5, 0.5)


fig, (top, bottom) = plt.subplots(2, 1, figsize=(7.2, 6.0))
draw(top, interleaved(SLOTS), "Neighbours first: what is left is spread over all slots", style.ORANGE)
draw(bottom, sequential(SLOTS), "Upper half onto lower half: what is left stays together", style.SKY)
style.save(fig, "trees", "Two reduction trees over 16 slots",
           "Both trees need four levels with 8, 4, 2 and 1 additions. Adding neighbours first leaves the partial sums "
           "2, 4, 8 slots apart; folding the upper half onto the lower half keeps them in adjacent slots.")

rows = [r for r in style.rows("h200.csv") if r["version"] not in ("cub",)]
fig, ax = style.axes("time [ms]", size=(7.2, 4.0))
names = [r["version"] for r in rows]
times = [r["median_ms"] for r in rows]
ax.barh(names[::-1], times[::-1], color=style.BLUE, height=0.62)
for name, time in zip(names, times):
    ax.annotate(f"{time:.3f}", (time, name), xytext=(4, 0), textcoords="offset points", va="center", fontsize=10)
ax.grid(axis="y", visible=False)
style.source(fig, rows)
style.save(fig, "ladder", "Time of each version of the block sum",
           "Bars of the median time of each version over 64 Mi ints in blocks of 256: " +
           ", ".join(f"{n} {t:.3f} ms" for n, t in zip(names, times)) + ".")

measured = style.rows("h200.csv")
terminal.save("terminal", "h200.txt", "make run CH=05", f"What chapter 05 prints on an {measured[0]['device']}",
              "A line names the GPU, the size and how it was measured. A table follows, a row for each version: "
              + ", ".join(f"{r['version']} {r['median_ms']:.4f} ms, {r['rate']:.0f} GB/s, {r['check']}" for r in measured)
              + ".")
