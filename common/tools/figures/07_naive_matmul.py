# SPDX-License-Identifier: MIT
"""Chapter 07: what the lanes of a warp touch in A, B and C for both mappings, and the roofline."""

import matplotlib.pyplot as plt
import style

SIDE, LANES = 10, 8  # elements drawn per side of a matrix; 8 lanes stand for the 32 of a warp
PEAK, DRAM, L1 = 66_910.0, 4_814.0, 132 * 128 * 1.98  # H200: GFLOP/s; GB/s: data sheet, a line per SM and clock
WARP_FLOP, WAVEFRONT = 64, 128  # one multiply-add of a warp; bytes that L1 delivers at most per clock


# ---- concept: lanes to elements ------------------------------------------------------------------


def matrix(ax, left, top, name, elements, color, note, strip=None):
    """A matrix with the elements that the lanes touch; strip: ("row" or "column", index) to shade."""
    ax.text(left + SIDE / 2, top + 0.5, name, ha="center", fontsize=11, fontweight="bold")
    for row in range(SIDE):
        for column in range(SIDE):
            face = "white"
            if strip and strip[1] == (row if strip[0] == "row" else column):
                face = "#E4E4E4"
            if (row, column) in elements:
                face = color
            ax.add_patch(plt.Rectangle((left + column, top - row - 1), 1, 1, facecolor=face, edgecolor=style.GREY,
                                       linewidth=0.5))
    ax.text(left + SIDE / 2, top - SIDE - 0.4, note, ha="center", va="top", fontsize=9.5)


def mapping(ax, title, a, b, c, notes):
    ax.set_title(title, loc="left", fontsize=11)
    ax.axis("off")
    gap = SIDE + 5.5
    for index, (name, elements, color, note) in enumerate((("A", a, style.ORANGE, notes[0]),
                                                           ("B", b, style.SKY, notes[1]),
                                                           ("C", c, style.GREEN, notes[2]))):
        matrix(ax, index * gap, 0, name, elements, color, note)
    for x, sign in ((SIDE + gap / 2 - SIDE / 2, "×"), (gap * 1.5 + SIDE / 2, "=")):
        ax.text(x, -SIDE / 2, sign, ha="center", va="center", fontsize=16)
    ax.set_xlim(-0.5, 2 * gap + SIDE + 0.5)
    ax.set_ylim(-SIDE - 2.3, 1.4)
    ax.set_aspect("equal")


def mappings():
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(7.4, 6.0))
    rows, i, line = range(1, 1 + LANES), 4, 3
    mapping(top, "rows_along_x: neighbouring lanes are neighbouring rows",
            {(r, i) for r in rows}, {(i, line)}, {(r, line) for r in rows},
            ("a row for each lane:\n32 lines", "one element for all lanes:\n1 line", "32 lines, once\n(8 of 32 lanes drawn)"))
    mapping(bottom, "columns_along_x: neighbouring lanes are neighbouring columns",
            {(line, i)}, {(i, r) for r in rows}, {(line, r) for r in rows},
            ("one element for all:\n1 line", "neighbours:\n1 line", "1 line, once"))
    style.save(fig, "mapping", "What the lanes of a warp touch in A, B and C",
               "For one step of the inner loop. With neighbouring lanes in neighbouring rows a warp touches a column of A, "
               "so a line for each lane, and one element of B. With neighbouring lanes in neighbouring columns it touches "
               "one element of A and a piece of a row of B, one line each.")


# ---- measured: the roofline ----------------------------------------------------------------------


def roof(ax, bandwidth, peak, label, color, at, side="right", style_of_line="-"):
    """Bandwidth times intensity up to the peak, named along the slope at intensity `at`."""
    ridge, shift = peak / bandwidth, (-4, 4) if side == "right" else (5, -8)
    ax.plot([1e-3, ridge], [1e-3 * bandwidth, peak], color=color, linestyle=style_of_line, linewidth=1.6)
    ax.annotate(label, (at, at * bandwidth), xytext=shift, textcoords="offset points", ha=side, fontsize=9, color=color)


def frame(ax, title, peak, unit_note):
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_xlabel(unit_note)
    ax.set_ylabel("GFLOP/s")
    ax.axhline(peak, color=style.BLACK, linewidth=1.6)
    ax.text(0.0043, peak * 1.15, f"peak {peak / 1000:.3g} TFLOP/s" if peak > 1000 else f"peak {peak:.0f} GFLOP/s",
            fontsize=9, va="bottom")


def roofline():
    rows = {r["version"]: r for r in style.rows("h200.csv")}
    fig, (then, now) = plt.subplots(1, 2, figsize=(9.4, 4.6))

    frame(then, "Then: GTX 280, no cache", 622, "FLOP per byte from memory")
    roof(then, 142, 622, "DRAM 142 GB/s", style.BLUE, 0.09)
    then.plot([32 / 68], [36.6], marker="o", color=style.RED)
    style.label_end(then, 32 / 68, 36.6, "measured 36.6", style.RED)
    then.plot([32 / 68], [142 * 32 / 68], marker="_", markersize=14, color=style.BLUE)
    style.label_end(then, 32 / 68, 142 * 32 / 68 * 0.93, "bound 66.8", style.BLUE, (9, 0))
    then.set_xlim(4e-3, 60)
    then.set_ylim(1, 3e3)

    frame(now, "Now: H200, served by the L1", PEAK, "FLOP per byte (L1: 128 bytes per wavefront)")
    roof(now, L1, PEAK, "L1 33 TB/s", style.GREEN, 0.06)
    roof(now, DRAM, PEAK, "DRAM 4.8 TB/s", style.BLUE, 0.4, "left", "--")
    for name, wavefronts, color, shift in (("columns_along_x", 2, style.RED, (7, -3)),
                                           ("rows_along_x", 33, style.ORANGE, (7, -9)),
                                           ("split_inner_loop", 33, style.PURPLE, (7, 5)),
                                           ("row_per_thread", 33, style.GREY, (7, 0))):
        if name in rows:
            x, y = WARP_FLOP / (wavefronts * WAVEFRONT), rows[name]["rate"]
            now.plot([x], [y], marker="o", color=color)
            style.label_end(now, x, y, f"{name} {y:,.0f}", color, shift)
            now.texts[-1].set_fontsize(9)
            now.texts[-1].set_bbox(dict(facecolor="white", edgecolor="none", alpha=0.85, pad=0.6))
    if "cublas" in rows:
        now.axhline(rows["cublas"]["rate"], color=style.BLACK, linestyle=":", linewidth=1.2)
        now.text(0.0043, rows["cublas"]["rate"] * 0.87, f"cuBLAS {rows['cublas']['rate']:,.0f}", fontsize=9, va="top")
    now.set_xlim(4e-3, 60)
    now.set_ylim(8, 3e5)
    style.source(fig, list(rows.values()))
    best = rows["columns_along_x"]["rate"]
    style.save(fig, "roofline", "Roofline then and now",
               f"On the GTX 280 the naive kernel reached 36.6 of the 66.8 GFLOP/s that its memory allowed. On the H200 "
               f"columns_along_x reaches {best:,.0f} GFLOP/s, above the line of the memory and below that of the L1 cache; "
               f"rows_along_x and split_inner_loop lie on the line of the L1 at a sixteenth of the intensity.")


mappings()
roofline()
