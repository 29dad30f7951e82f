# SPDX-License-Identifier: MIT
"""Chapter 08: the walk of the tiles, the banks of a column, and what was measured beside its bound."""

import matplotlib.pyplot as plt
import style

TILES, TILE = 4, 4  # tiles per strip, elements per side of a tile, as drawn
SMS, CLOCK_GHZ, WARP_FLOP, LANES = 132, 1.98, 64, 32  # of the H200; FLOP of a multiply-add of a warp
# Wavefronts of the L1 per 32 multiply-adds of a warp; the notes derive them.
WAVEFRONTS = {"naive": 96, "tiled_16": 60, "tiled_32": 52, "tiled_32_ahead": 52, "tiled_32_dynamic": 68,
              "column_conflict": 99, "column_padded": 68, "micro_tile": 9.5}


# ---- concept: the walk ---------------------------------------------------------------------------


def grid(ax, left, bottom, columns, rows):
    """A matrix in tiles: fine lines for elements, bold ones for tiles."""
    for x in range(columns * TILE + 1):
        ax.plot([left + x] * 2, [bottom, bottom + rows * TILE], color="#CCCCCC" if x % TILE else style.GREY,
                linewidth=0.4 if x % TILE else 1.0, zorder=2)
    for y in range(rows * TILE + 1):
        ax.plot([left, left + columns * TILE], [bottom + y] * 2, color="#CCCCCC" if y % TILE else style.GREY,
                linewidth=0.4 if y % TILE else 1.0, zorder=2)


def tile(ax, x, y, color, text="", wide=TILE, high=TILE, alpha=1.0, hatch=None):
    ax.add_patch(plt.Rectangle((x, y), wide, high, facecolor=color, alpha=alpha, edgecolor=style.GREY, linewidth=0,
                               hatch=hatch, zorder=1))
    if text:
        ax.text(x + 0.25, y + 0.25, text, ha="left", va="bottom", fontsize=10, zorder=4)


def walk():
    fig, ax = plt.subplots(figsize=(7.0, 6.6))
    ax.axis("off")
    side, gap, row, column, now = TILES * TILE, 2, 1, 2, 1  # tile (row, column) of C, at step `now`
    grid(ax, 0, 0, TILES, TILES)  # A, left of C
    grid(ax, side + gap, side + gap, TILES, TILES)  # B, above C
    grid(ax, side + gap, 0, TILES, TILES)  # C
    y_of = side - (row + 1) * TILE
    x_of = side + gap + column * TILE
    for step in range(TILES):
        face, weight = (style.ORANGE, 1.0) if step == now else (style.YELLOW, 0.55) if step == now + 1 else ("#EEEEEE", 1.0)
        tile(ax, step * TILE, y_of, face, str(step), alpha=weight)
        face, weight = (style.SKY, 1.0) if step == now else (style.YELLOW, 0.55) if step == now + 1 else ("#EEEEEE", 1.0)
        tile(ax, x_of, 2 * side + gap - (step + 1) * TILE, face, str(step), alpha=weight)
    tile(ax, x_of, y_of, style.GREEN, "", alpha=0.55)
    # One thread's element, with the row and the column that it reads from the present tiles.
    i, j = 1, 2
    strong = dict(edgecolor=style.BLACK, facecolor="none", linewidth=1.8, zorder=5)
    ax.add_patch(plt.Rectangle((now * TILE, y_of + TILE - 1 - i), TILE, 1, **strong))
    ax.add_patch(plt.Rectangle((x_of + j, 2 * side + gap - (now + 1) * TILE), 1, TILE, **strong))
    ax.add_patch(plt.Rectangle((x_of + j, y_of + TILE - 1 - i), 1, 1, **strong))
    for name, x, y in (("A", side / 2, side + 0.5), ("B", side + gap + side / 2, 2 * side + gap + 0.5),
                       ("C", side + gap + side / 2, side + 0.5)):
        ax.text(x, y, name, ha="center", fontsize=12, fontweight="bold")
    ax.text(0, 2 * side + gap - 0.5, "0, 1, 2, 3: the steps of the walk\n\n"
            "orange and blue: the two tiles\nin shared memory now\n\n"
            "yellow: the next two, fetched\nahead in tiled_32_ahead\n\n"
            "green: the block's tile of C,\none thread per element\n\n"
            "framed: what one thread reads\nin this step, and its element", va="top", fontsize=10)
    ax.set_xlim(-0.5, 2 * side + gap + 0.5)
    ax.set_ylim(-0.5, 2 * side + gap + 2)
    ax.set_aspect("equal")
    style.save(fig, "walk", "The walk of a block along a strip of A and a strip of B",
               "A stands left of C and B above it. A block that computes one tile of C takes the tiles of A in the same row "
               "of tiles and those of B in the same column of tiles, one pair per step. In each step a thread reads one row "
               "of the tile of A and one column of the tile of B.")


def banks():
    """A column of a tile of 32 x 32 words, without and with one word of padding: which banks it lies in."""
    fig, panels = plt.subplots(2, 1, figsize=(7.2, 3.0))
    for ax, pitch, title in ((panels[0], 32, "rows of 32 words: a column is 32 words in bank 0"),
                             (panels[1], 33, "rows of 33 words: a column is one word in each bank")):
        ax.axis("off")
        in_bank = [0] * LANES
        for lane in range(LANES):
            in_bank[lane * pitch % LANES] += 1
        for bank, count in enumerate(in_bank):
            face = "white" if count == 0 else style.SKY if count == 1 else style.RED
            ax.add_patch(plt.Rectangle((bank, 0), 1, 1.6, facecolor=face, edgecolor=style.GREY, linewidth=0.7))
            ax.text(bank + 0.5, 0.8, str(count), ha="center", va="center", fontsize=9,
                    color=style.BLACK if count < 2 else "white")
            ax.text(bank + 0.5, -0.25, str(bank), ha="center", va="top", fontsize=7, color=style.GREY)
        wavefronts = max(in_bank)
        ax.set_title(f"{title}: {wavefronts} wavefront{'s' if wavefronts > 1 else ''}", loc="left", fontsize=10.5)
        ax.text(-0.4, -0.25, "bank", ha="right", va="top", fontsize=7, color=style.GREY)
        ax.set_xlim(-1.8, LANES + 0.2)
        ax.set_ylim(-1.2, 1.8)
    style.save(fig, "banks", "The banks of a column, without and with padding",
               "Words of a column of the tile per bank. With rows of 32 words all 32 lie in bank 0 and take 32 wavefronts; "
               "with rows of 33 words each bank holds one and one wavefront serves them all.")


# ---- measured: every version beside its bound ----------------------------------------------------


def bounds():
    rows = [r for r in style.rows("h200_4096.csv") if r["version"] in WAVEFRONTS or r["version"] == "cublas"]
    fig, ax = style.axes("TFLOP/s", size=(7.4, 4.6))
    for place, row in enumerate(reversed(rows)):
        name, rate = row["version"], row["rate"] / 1000
        ax.barh(place, rate, color=style.GREY if name == "cublas" else style.BLUE, height=0.6)
        label = f"{rate:.1f}"
        if name in WAVEFRONTS:
            bound = SMS * CLOCK_GHZ * WARP_FLOP * LANES / WAVEFRONTS[name] / 1000
            ax.plot([bound, bound], [place - 0.4, place + 0.4], color=style.RED, linewidth=2.5)
            label += f" of {bound:.1f}"
            ax.text((rate if bound > rate + 10 else max(rate, bound)) + 0.8, place, label, va="center", fontsize=10)
        else:
            ax.text(rate + 0.8, place, label, va="center", fontsize=10)
    ax.set_yticks(range(len(rows)), [r["version"] for r in reversed(rows)])
    peak = SMS * CLOCK_GHZ * WARP_FLOP * 4 / 1000
    ax.axvline(peak, color=style.BLACK, linewidth=1.2)
    ax.text(peak - 0.6, len(rows) - 1.1, "peak", fontsize=9, ha="right", va="center")
    ax.text(30, len(rows) - 2.2, "mark: the bound by wavefronts", fontsize=10, color=style.RED, va="center")
    ax.grid(axis="y", visible=False)
    ax.set_xlim(0, 76)
    style.source(fig, rows)
    style.save(fig, "bounds", "Every version beside the bound of its wavefronts",
               "Bars of the measured rate at m = n = k = 4096, with the bound that the wavefronts of shared memory and L1 set: " +
               ", ".join(f"{r['version']} {r['rate'] / 1000:.1f} TFLOP/s" for r in rows) + ".")


walk()
banks()
bounds()
