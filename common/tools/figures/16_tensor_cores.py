# SPDX-License-Identifier: MIT
"""Chapter 16: who holds what of an mma, the versions beside cublasLt, what a format brings and costs, and the whole way there."""

from . import style

WIDE, HIGH = 12, 14  # points of an element; a pair of A or D is side by side, one of B on top of each other
SHOWN = {0: style.SKY, 9: style.ORANGE}  # lanes


def fragments():
    """Every element with its lane: whatever stands in the file, which the instruction itself has said."""
    rows = style.rows("h200_fragments.csv")
    holders = {(r["matrix"], r["row"], r["column"]): r for r in rows}
    fig, ax = style.canvas(3.9)
    x = 8
    for matrix, columns, wide in (("A", 16, WIDE), ("B", 8, WIDE + 3), ("D", 8, WIDE)):
        style.words(ax, x, 14, f"{matrix}: 16 x {columns}", style.TEXT, weight="bold")
        for row in range(16):
            for column in range(columns):
                here = holders[matrix, row, column]
                # The second of two neighbours that a lane holds is drawn with the first.
                before = [holders.get((matrix, row - 1, column)), holders.get((matrix, row, column - 1))]
                joined = [b and b["lane"] == here["lane"] and (b["register"] == here["register"] or matrix == "D") for b in before]
                if any(joined):
                    continue
                down = 1 + same(holders, matrix, here, row + 1, column)
                across = 1 + same(holders, matrix, here, row, column + 1)
                left, top = x + column * wide, 28 + row * HIGH
                shown = SHOWN.get(here["lane"])
                style.box(ax, left, top, across * wide, down * HIGH, shown or "#F2F2F2", style.BLACK if shown else "#C4C4C4",
                          1.2 if shown else 0.6, zorder=3 if shown else 2)
                style.words(ax, left + across * wide / 2, top + down * HIGH / 2, str(here["lane"]), ha="center", zorder=4)
        x += columns * wide + 13
    style.words(ax, 8, 28 + 16 * HIGH + 16, "a number is the lane that holds the pair; lanes 0 and 9 are coloured")
    said = "; ".join(f"lane {lane}: " + ", ".join(f"{r['matrix']}({r['row']}, {r['column']})" for r in rows if r["lane"] == lane) for lane in SHOWN)
    style.save(fig, "fragments", "Which lane holds which element of an mma",
               f"A is 16 x 16, B and D are 16 x 8. Of A a lane holds four pairs of neighbours in a row, of B two pairs in a column, of D two pairs in a row. {said}.")


def same(holders, matrix, here, row, column):
    """Whether the lane holds this element in the same pair."""
    other = holders.get((matrix, row, column))
    return bool(other) and other["lane"] == here["lane"] and (other["register"] == here["register"] or (matrix == "D" and row == here["row"]))


SIDE = 4096
PROMISED = 989  # TFLOP/s of the data sheet


def rates(rows):
    """TFLOP/s of each version at SIDE, cublasLt last."""
    found = {r["version"]: 2 * SIDE**3 / r["us"] / 1e6 for r in rows if r["m"] == SIDE}
    return {**{name: rate for name, rate in found.items() if name not in ("cublaslt", "chosen")}, "cublaslt": found["cublaslt"]}


def ladder():
    rows = style.rows("h200_turns.csv")
    found = rates(rows)
    fig, ax = style.axes("TFLOP/s", height=4.3)
    style.bars(ax, list(found), list(found.values()), [style.GREY if n == "cublaslt" else style.BLUE for n in found],
               [f"{rate:.0f}" for rate in found.values()])
    ax.axvline(PROMISED, color=style.BLACK, linestyle="--", linewidth=1.4)
    ax.set_title(f"the data sheet: {PROMISED}", loc="right", fontsize=style.SMALL)
    ax.set_xlim(0, 1060)
    style.save(fig, "ladder", "The versions beside cublasLt and the data sheet",
               f"Product of {SIDE} x {SIDE} matrices of BF16 in TFLOP/s, all versions in turns: "
               + "; ".join(f"{n} {rate:.0f}" for n, rate in found.items()) + f". A dashed line at {PROMISED}, what the data sheet promises.", rows)


NAMES = {"tf32": "TF32, 10 bits", "fp16": "FP16, 10 bits", "bf16": "BF16, 7 bits", "fp8": "FP8, 3 bits"}  # of fraction


def formats():
    rows = style.rows("formats")
    fig, ax = style.axes("products alone [TFLOP/s]", "error of C, relative", height=3.9)
    style.log_axis(ax.yaxis, 1e-4, 1e-3, 1e-2, 1e-1, number="g")
    ax.set_ylim(7e-5, 1e-1)
    ax.set_xlim(0, 2300)
    for row, color, marker, up in zip(rows, style.CYCLE, "os^D", (14, -14, 14, 14)):
        ax.plot(row["rate"] / 1000, row["error"], color=color, marker=marker, markersize=9, linestyle="")
        style.label_end(ax, row["rate"] / 1000, row["error"], NAMES[row["version"]], color, (0, up), ha="center")
    style.save(fig, "formats", "What fewer bits bring and cost",
               "Error of C against the rate of products alone: "
               + "; ".join(f"{NAMES[r['version']]} of fraction: {r['rate'] / 1000:.0f} TFLOP/s, error {r['error']:.2g}" for r in rows) + ".", rows)


style.draw_measured(fragments, ladder, formats)
