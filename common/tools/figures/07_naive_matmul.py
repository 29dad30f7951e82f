# SPDX-License-Identifier: MIT
"""Chapter 07: what the lanes of a warp touch in A, B and C for both mappings, and the roofline."""

from . import style, xray

SIDE = 32  # of the traced matrices: a row of 32 floats is one line of 128 bytes
PEAK, DRAM, L1 = 66_910.0, 4_814.0, 132 * 128 * 1.98  # H200: GFLOP/s; GB/s: data sheet, a line per SM and clock
TEXTBOOK = 2 / 8  # FLOP per byte: each step loads two floats
WARP_FLOP, WAVEFRONT = 64, 128  # one multiply-add of a warp; bytes that L1 delivers at most per clock


# ---- concept: lanes to elements, as X-ray saw them -----------------------------------------------


def operands(kernel):
    """The loads of A and of B and the store to C. A lane that stands for a row of C wants that row of A; the
    element of the other matrix is the same for all lanes."""
    loads = xray.accesses("versions", kernel=kernel, space="global", operation="load")
    same, different = sorted(loads, key=lambda load: len(set(load.lanes)))
    store = xray.only("versions", kernel=kernel, space="global", operation="store")
    rows = {offset // (4 * SIDE) for offset in store.lanes}
    return (different, same, store) if len(rows) > 1 else (same, different, store)


def mapping(ax, top, kernel, lanes_are):
    """What the first request of each kind touches in A, B and C. Returns the sectors."""
    side, gap, says = 100, 62, []
    style.words(ax, 6, top, kernel.replace("multiply_", ""), style.TEXT, weight="bold")
    style.words(ax, 440, top, f"neighbouring lanes: neighbouring {lanes_are}", ha="right")
    for index, (name, access, color) in enumerate(zip("ABC", operands(kernel), (style.ORANGE, style.SKY, style.GREEN))):
        x, y, cell = 8 + index * (side + gap), top + 13, side / SIDE
        style.box(ax, x, y, side, side, "#F7F7F7")
        for row in range(0, SIDE, 4):
            ax.plot([x, x + side], [y + row * cell] * 2, color="#D9D9D9", linewidth=0.5)
            ax.plot([x + row * cell] * 2, [y, y + side], color="#D9D9D9", linewidth=0.5)
        for offset in set(access.lanes):
            row, column = divmod(offset // 4, SIDE)
            style.box(ax, x + column * cell, y + row * cell, cell, cell, color, style.BLACK, 0.4)
        count = xray.equal(f"{kernel}: {name}", len(xray.sectors(access)), access.per_request("sectors"))
        lines = len(xray.lines(access))
        sectors, in_lines = f"{count} sector{'s' if count > 1 else ''}", f"in {lines} line{'s' if lines > 1 else ''}"
        says.append(f"{sectors} {in_lines} of {name}")
        style.words(ax, x + side / 2, y + side + 9, f"{access['operation']} {name}: {sectors}\n{in_lines}", ha="center", va="top")
        if index < 2:
            style.words(ax, x + side + gap / 2, y + side / 2, "×="[index], 18, ha="center")
    return ", ".join(says)


def mappings():
    fig, ax = style.canvas(4.5)
    rows = mapping(ax, 12, "multiply_rows_along_x", "rows")
    columns = mapping(ax, 172, "multiply_columns_along_x", "columns")
    style.save(fig, "mapping", "What the lanes of a warp touch in A, B and C, traced from the kernels",
               "For matrices of 32 x 32 floats, whose rows are a line each. With neighbouring lanes in neighbouring rows the "
               f"first request of each kind touches {rows}. With neighbouring lanes in neighbouring columns it touches {columns}.")


# ---- measured: the roofline ----------------------------------------------------------------------


def wavefronts(kernel):
    """Wavefronts of the L1 that a warp's multiply-add takes: its loads, each served bank by bank. A load
    whose rows lie a multiple of 32 words apart in the trace has such rows at the measured size, too."""
    loads = xray.accesses("versions", kernel="multiply_" + kernel, space="global", operation="load")
    return sum(len(load.passes()) for load in loads)


def roof(ax, title, per, peak, bandwidth, label, color, at, side="right"):
    """The peak, and bandwidth times intensity up to it, named along the slope at intensity `at`."""
    style.log_axis(ax.xaxis, 0.01, 0.1, 1, 10)
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_title(title)
    ax.set_xlabel(per, fontsize=style.SMALL)
    ax.set_xlim(4e-3, 60)
    ax.yaxis.set_major_formatter(style.THOUSANDS)
    ax.axhline(peak, color=style.BLACK, linewidth=1.6)
    style.words(ax, 0.0046, peak * 1.12, f"peak {peak:,.0f}", va="bottom")
    ax.plot([1e-3, peak / bandwidth], [1e-3 * bandwidth, peak], color=color, linewidth=1.6)
    shift = (-5, -4) if side == "right" else (7, -20)
    style.label(ax, at, at * bandwidth, label, color, shift, ha=side)


def point(ax, x, y, text, color, shift, marker="o", **label):
    ax.plot([x], [y], marker=marker, color=color)
    style.label(ax, x, y, text, color, shift, va="center", **label)


def bound(ax, x, y, text, shift):
    ax.plot([x], [y], marker="_", markersize=14, markeredgewidth=2, color=style.BLUE)
    style.label(ax, x, y, text, style.BLUE, shift, va="center")


def roofline():
    rows = {r["version"]: r for r in style.rows("cublas") + style.rows("default")}
    fig, (then, now) = style.axes(height=4.0, ncols=2, gridspec_kw={"width_ratios": [2, 3]})

    roof(then, "Then: GTX 280", "FLOP per byte of DRAM", 622, 142, "DRAM\n142 GB/s", style.BLUE, 0.035, "left")
    # Half a warp's step: 16 floats of B, and a transaction of at least 32 bytes for one of A.
    bound(then, 32 / 96, 142 * 32 / 96, "bound\n47.3", (9, 8))
    point(then, 32 / 96, 36.6, "reached\n36.6", style.RED, (9, -12))
    then.set_ylim(1, 3e3)
    then.set_ylabel("GFLOP/s")

    device = rows["columns_along_x"]["device"]
    roof(now, f"Now: {device}", "FLOP per byte of L1", PEAK, L1, f"L1\n{L1 / 1000:.0f} TB/s", style.GREEN, 0.1)
    # No line for the DRAM: the axis counts bytes of the L1. The textbook takes all of them for bytes of the DRAM.
    bound(now, TEXTBOOK, TEXTBOOK * DRAM, f"bound {TEXTBOOK * DRAM:,.0f}, if all\ncame from DRAM", (9, 4))
    for name, color, marker, shift in (("columns_along_x", style.RED, "o", (9, -2)), ("rows_along_x", style.ORANGE, "s", (9, -12)),
                                       ("split_inner_loop", style.PURPLE, "^", (9, 4)),
                                       ("row_per_thread", style.GREY, "D", (9, -2))):
        x, y = WARP_FLOP / (wavefronts(name) * WAVEFRONT), rows[name]["rate"]
        point(now, x, y, f"{name} {y:,.0f}", color, shift, marker,
              bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.6})
    cublas = rows["cublas"]["rate"]
    now.axhline(cublas, color=style.BLACK, linestyle=":", linewidth=1.4)
    style.words(now, 0.0046, cublas * 0.85, f"cuBLAS {cublas:,.0f}", va="top")
    now.set_ylim(8, 3e5)
    best = rows["columns_along_x"]["rate"]
    times = wavefronts("rows_along_x") / wavefronts("columns_along_x")
    style.save(fig, "roofline", "Roofline then and now",
               f"On the GTX 280 the naive kernel reached 36.6 of the 47.3 GFLOP/s that its memory allowed. On the H200 "
               f"columns_along_x reaches {best:,.0f} GFLOP/s, above the {TEXTBOOK * DRAM:,.0f} that would be the bound if every load went to the "
               f"memory, and below the line of the L1 cache; "
               f"rows_along_x and split_inner_loop lie on the line of the L1 where a load takes {times:g} times as many wavefronts.",
               list(rows.values()))


mappings()
roofline()
