# SPDX-License-Identifier: MIT
"""Chapter 16: who holds what of an mma, the versions beside cublasLt, what a format brings and costs, and the whole way there."""

from . import style

WIDE, HIGH = 11, 14  # points of an element; a pair of A or D is side by side, one of B on top of each other
SHOWN = {0: style.SKY, 9: style.ORANGE}  # lanes


def fragments():
    """Every element with its lane: whatever stands in the file, which the instruction itself has said."""
    rows = style.rows("fragments.csv")
    holders = {(r["operand"], r["row"], r["column"]): r["lane"] for r in rows}
    fig, ax = style.canvas(3.9)
    x = 8
    for operand, columns, wide in (("a", 16, WIDE), ("b", 8, WIDE + 7), ("d", 8, WIDE)):
        style.words(ax, x, 14, f"{operand.upper()}: 16 x {columns}", style.TEXT, weight="bold")
        drawn = set()
        for row in range(16):
            for column in range(columns):
                if (row, column) in drawn:
                    continue
                lane = holders[operand, row, column]
                # Two neighbours that the same lane holds are drawn as one.
                across = 1 + (holders.get((operand, row, column + 1)) == lane)
                down = 1 + (holders.get((operand, row + 1, column)) == lane)
                drawn |= {(row + i, column + j) for i in range(down) for j in range(across)}
                left, top = x + column * wide, 28 + row * HIGH
                shown = SHOWN.get(lane)
                style.box(ax, left, top, across * wide, down * HIGH, shown or "#F2F2F2", style.BLACK if shown else "#C4C4C4",
                          1.2 if shown else 0.6, zorder=3 if shown else 2)
                style.words(ax, left + across * wide / 2, top + down * HIGH / 2, str(lane), ha="center", zorder=4)
        x += columns * wide + 13
    style.words(ax, 8, 28 + 16 * HIGH + 16, "a number is the lane that holds both elements; lanes 0 and 9 are coloured")
    said = "; ".join(f"lane {lane}: " + ", ".join(f"{r['operand'].upper()}({r['row']}, {r['column']})" for r in rows
                                                if r["lane"] == lane and r["operand"] != "names") for lane in SHOWN)
    style.save(fig, "fragments", "Which lane holds which element of an mma",
               f"A is 16 x 16, B and D are 16 x 8. Of A a lane holds four pairs of neighbours in a row, of B two pairs in a column, of D two pairs in a row. {said}.")


IN_BANKS = 128  # bytes of all banks
PASSES = (style.SKY, style.ORANGE, style.PALE_GREEN, style.YELLOW)


def swizzle():
    """Where eight rows of a slice of A lie, whose first 16 bytes one ldmatrix loads, and when each is delivered: from X-ray's trace."""
    traced = {r["kernel"]: r for r in style.rows("xray.csv") if r["space"] == "shared" and r["operation"] == "load"}
    fig, ax = style.canvas(2.75)
    piece, high, said = 25, 26, []
    for left, kernel, title in ((8, "load_rows<4u, false>", "row behind row"), (8 + 8 * piece + 26, "load_rows<4u, true>", "swizzled")):
        row = traced[kernel]
        offsets, passes = ([int(x) for x in row[key].split()[:8]] for key in ("offsets", "passes"))
        style.words(ax, left, 14, f"{title}: {max(passes)} wavefront{'s' if max(passes) > 1 else ''}", style.TEXT, weight="bold")
        for line in range(4):
            for place in range(8):
                style.box(ax, left + place * piece, 46 + line * high, piece, high, "#F2F2F2", "#C4C4C4", 0.6)
        for lane, (offset, turn) in enumerate(zip(offsets, passes)):
            x, y = left + offset % IN_BANKS // 16 * piece, 46 + offset // IN_BANKS * high
            style.box(ax, x, y, piece, high, PASSES[turn - 1], style.BLACK, 1, zorder=3)
            style.words(ax, x + piece / 2, y + high / 2, str(lane), ha="center", zorder=4, color=style.on(PASSES[turn - 1]))
        style.words(ax, left, 34, "banks 0 to 31, in fours")
        said.append(f"{title}: eight rows in {len({o % IN_BANKS for o in offsets})} groups of four banks, {max(passes)} wavefronts")
    style.words(ax, 8, 46 + 4 * high + 16, "numbers: the first 16 bytes of rows 0 to 7; a colour: one wavefront")
    style.save(fig, "swizzle", "Eight rows of a slice of A in shared memory",
               "Rows of 64 bytes, two of them in each 128 bytes. The first 16 bytes of each, " + "; ".join(said) + ".")


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


style.draw_measured(fragments, swizzle, ladder, formats)
