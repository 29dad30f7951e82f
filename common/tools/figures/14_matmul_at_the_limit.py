# SPDX-License-Identifier: MIT
"""Chapter 14: a tile from the block down to the thread, the versions on their way to cuBLAS, and the whole way there."""

import style

# The large tile: elements of a block, of a warp, of a thread's groups; lanes down and across.
ROWS, COLUMNS, WARP, LANES_DOWN, LANES_ACROSS, GROUP = 128, 256, 64, 8, 4, 4


def tiles():
    fig, ax = style.canvas(3.3)
    x, y, scale = 6, 30, 0.8  # points per element
    style.words(ax, x, y - 10, f"a block: {ROWS} x {COLUMNS} of C", style.TEXT, weight="bold")
    for row in range(0, ROWS, WARP):
        for column in range(0, COLUMNS, WARP):
            mine = row == 0 and column == WARP
            style.box(ax, x + column * scale, y + row * scale, WARP * scale, WARP * scale, style.SKY if mine else "#F2F2F2", style.GREY, 0.8)
    style.words(ax, x, y + ROWS * scale + 16, f"8 warps, {WARP} x {WARP} each")
    x, scale = 240, 2.35
    style.words(ax, x, y - 10, "a warp, and one thread of it", style.TEXT, weight="bold")
    style.box(ax, x, y, WARP * scale, WARP * scale, "#F2F2F2", style.GREY, 0.8)
    across, down = LANES_ACROSS * GROUP, LANES_DOWN * GROUP
    for i in range(0, WARP, across):
        ax.plot([x + i * scale] * 2, [y, y + WARP * scale], color="#C4C4C4", linewidth=0.6, zorder=2)
    for i in range(0, WARP, down):
        ax.plot([x, x + WARP * scale], [y + i * scale] * 2, color="#C4C4C4", linewidth=0.6, zorder=2)
    row, column = 1 * GROUP, 2 * GROUP  # the lane's place in each rectangle of lanes
    for r in range(row, WARP, down):
        for c in range(column, WARP, across):
            style.box(ax, x + c * scale, y + r * scale, GROUP * scale, GROUP * scale, style.ORANGE, style.BLACK, 0.6, zorder=3)
    style.words(ax, x, y + WARP * scale + 14, "8 groups of 4 x 4: 8 rows, 16 columns")
    style.save(fig, "tiles", "From the tile of a block to the elements of a thread",
               f"A block of 8 warps computes {ROWS} x {COLUMNS} elements of C. Each warp computes {WARP} x {WARP} of them. Its 32 "
               f"threads lie {LANES_DOWN} x {LANES_ACROSS}, and each has groups of four rows and four columns: 8 rows and 16 columns in all.")


def ladder():
    *rows, cublas = style.rows("default")
    rows += [next(r for r in style.rows(e) if r["version"] == e) for e in ("even_shares", "by_shape")] + [cublas]
    limit = style.rows("multiply_adds")[0]["rate"] / 1000
    fig, ax = style.axes("TFLOP/s", size=(style.WIDTH, 4.1))
    for place, row in enumerate(reversed(rows)):
        rate = row["rate"] / 1000
        ax.barh(place, rate, color=style.GREY if row["version"] == "cublas" else style.BLUE, height=0.6)
        ax.text(rate + 0.8, place, f"{rate:.1f}", va="center", fontsize=style.SMALL)
    ax.set_yticks(range(len(rows)), [r["version"] for r in reversed(rows)])
    ax.axvline(limit, color=style.BLACK, linewidth=1.2)
    ax.text(limit + 0.8, 2, f"multiply-adds\nalone: {limit:.1f}", fontsize=style.SMALL, va="center")
    ax.grid(axis="y", visible=False)
    ax.set_xlim(0, 84)
    style.source(fig, rows)
    style.save(fig, "ladder", "Every version at m = n = k = 4096",
               "Bars of the measured rate: " + ", ".join(f"{r['version']} {r['rate'] / 1000:.1f} TFLOP/s" for r in rows)
               + f". Multiply-adds alone reach {limit:.1f} TFLOP/s.")


LIMITS = {"shared": ("L1, shared memory", style.RED, "D"), "registers": ("register file", style.BLACK, "o"),
          "l2": ("L2", style.GREEN, "^")}


def limits():
    """The measured time of each version, and what it must take at least."""
    rows = style.rows("h200_limits.csv")
    fig, ax = style.axes("time [ms]", size=(style.WIDTH, 4.6))
    parts = (("multiply-adds", style.BLUE), ("other instructions", style.SKY), ("idle SMs", style.ORANGE), ("rest", style.PALE))
    for place, row in enumerate(reversed(rows)):
        issued = row["issue_ms"]
        ends = (row["multiply_adds_ms"], issued, issued * row["paid"], row["measured_ms"])
        begin = 0
        for (name, color), end in zip(parts, ends):
            ax.barh(place, end - begin, left=begin, color=color, height=0.66, label=name if place == 0 else None)
            begin = end
        for limit, (name, color, marker) in LIMITS.items():
            ax.plot([row[f"{limit}_ms"]], [place], marker=marker, color=color, markeredgecolor="white", markeredgewidth=0.8,
                    markersize=7, linestyle="none", label=name if place == 0 else None)
        ax.text(begin + 0.05, place, f"{row['measured_ms']:.2f}", va="center", fontsize=style.SMALL)
    ax.set_yticks(range(len(rows)), [r["version"] for r in reversed(rows)])
    ax.grid(axis="y", visible=False)
    ax.set_xlim(0, 6.2)
    ax.set_xticks(range(5))
    handles, names = ax.get_legend_handles_labels()
    order = [names.index(n) for n in [p[0] for p in parts] + [l[0] for l in LIMITS.values()]]
    ax.legend([handles[i] for i in order], [names[i] for i in order], loc="lower right", borderaxespad=0.1, handlelength=1.2)
    style.source(fig, rows)
    style.save(fig, "limits", "What each version must take, and what it takes",
               "Bars of the measured time at 4096, in parts: multiply-adds, other instructions, idle multiprocessors, and the rest. "
               + "; ".join(f"{r['version']} at least {r['bound_ms']:.2f} ms by {r['binding']}, measured {r['measured_ms']:.2f}" for r in rows)
               + ". Marks show the times of the L1 and shared memory, of the register file and of the L2.")


def sizes():
    fig, ax = style.axes("m = n = k", "share of cuBLAS [%]", size=(style.WIDTH, 3.4))
    series = {"by_shape": (style.BLUE, "o"), "serpentine": (style.ORANGE, "s"), "even_shares": (style.PURPLE, "^")}
    settings = {512: "by_shape_512", 1024: "by_shape_1024", 2048: "by_shape_2048", 4096: "by_shape", 8192: "8192"}
    shares = {512: "even_shares_512", 1024: "even_shares_1024", 2048: "even_shares_2048", 4096: "even_shares"}
    said = []
    for version, (color, marker) in series.items():
        points = []
        for side, setting in settings.items():
            rows = style.rows(setting) + (style.rows(shares[side]) if side in shares else [])
            rates = {r["version"]: r["rate"] for r in rows}
            if version in rates:
                points.append((side, 100 * rates[version] / rates["cublas"]))
        ax.plot([p[0] for p in points], [p[1] for p in points], color=color, marker=marker, linewidth=1.6, markersize=7, label=version)
        said.append(f"{version} " + ", ".join(f"{share:.0f} % at {side}" for side, share in points))
    ax.axhline(100, color=style.BLACK, linestyle=":", linewidth=1.2)
    ax.set_xscale("log", base=2)
    ax.set_xticks(list(settings), [str(s) for s in settings])
    ax.set_ylim(0, 130)
    ax.legend(loc="lower right", fontsize=style.SMALL, frameon=False)
    style.source(fig, style.rows("default"))
    style.save(fig, "sizes", "The last versions beside cuBLAS, size by size", "Share of cuBLAS's rate: " + "; ".join(said) + ".")


# ---- the whole course: the front page has these steps as a table -----------------------------------

SIDE = 2048  # the only size at which each of the chapters measured all of these
COURSE = [
    ("07_naive_matmul", "default", "row_per_thread", "07  a thread per row of C"),
    ("07_naive_matmul", "default", "rows_along_x", "07  a thread per element"),
    ("07_naive_matmul", "default", "columns_along_x", "07  ... side by side"),
    ("08_tiled_matmul", "default", "tiled_32", "08  tiles in shared memory"),
    ("08_tiled_matmul", "default", "micro_tile_wide", "08  8 x 8 elements per thread"),
    ("14_matmul_at_the_limit", "2048", "wide_copies", "14  16 bytes per copy"),
    ("14_matmul_at_the_limit", "2048", "large_tiles", "14  large tiles, copied ahead"),
    ("14_matmul_at_the_limit", "by_shape_2048", "by_shape", "14  no guards, chosen by shape"),
    ("14_matmul_at_the_limit", "2048", "cublas", "cuBLAS"),
]


def course():
    labels, rates = [], []
    for chapter, file, version, label in COURSE:
        row = next(r for r in style.rows(file, chapter) if r["version"] == version)
        if not row["workload"].startswith(f"m x n x k = {SIDE} x {SIDE} x {SIDE}"):
            raise ValueError(f"{chapter}, {file}: measured at {row['workload']}, not at {SIDE}")
        labels.append(label)
        rates.append(row["rate"] / 1000)
    limit = style.rows("multiply_adds_2048")[0]["rate"] / 1000
    fig, ax = style.axes("TFLOP/s, logarithmic", size=(style.WIDTH, 4.6))
    colors = [style.GREY if label == "cuBLAS" else style.BLUE for label in labels]
    style.course(ax, labels, rates, colors, 1, (".1f", ".2f"), ("multiply-adds alone", limit))
    ax.set_xlim(0.01, 90)
    ax.set_xticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
    ax.minorticks_off()
    style.source(fig, style.rows("2048"))
    style.save(fig, "course", "The ladder of the product, through three chapters",
               f"Product of two matrices of {SIDE} x {SIDE} floats, in TFLOP/s, logarithmic: "
               + "; ".join(f"{' '.join(n.split())} {r:.2f}" for n, r in zip(labels, rates))
               + f". A dashed line at {limit:.1f}, what multiply-adds reach alone.")


tiles()
ladder()
limits()
sizes()
course()
