# SPDX-License-Identifier: MIT
"""Chapter 14: a tile from the block down to the thread, the versions on their way to cuBLAS, and the whole way there."""

import re

from . import style

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


SIZES = {1024: (style.ORANGE, "D", "--"), 2048: (style.GREEN, "v", ":"), 4096: (style.BLUE, "o", "-"), 8192: (style.PURPLE, "s", "-.")}


def ladder():
    """cuBLAS's time over that of each version, at each size."""
    rows = [r for r in style.rows("h200_turns.csv") if r["process"] == 1]
    names = list(dict.fromkeys(r["version"] for r in rows))
    fig, ax = style.axes("cuBLAS's time / ours", height=4.4)
    said = []
    for size, (color, marker, line) in SIZES.items():
        ratios = {r["version"]: r["over_cublas"] for r in rows if r["m"] == size}
        ax.plot([ratios[n] for n in names], range(len(names)), color=color, marker=marker, linestyle=line, markersize=6, label=f"{size:,} cubed")
        said.append(f"at {size}: " + ", ".join(f"{n} {ratios[n]:.2f}" for n in names))
    ax.axvline(1, color=style.BLACK, linestyle=":", linewidth=1.2)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlim(0.2, 1.12)
    ax.legend(loc="lower left", bbox_to_anchor=(0.22, 0.0))
    style.save(fig, "ladder", "The versions beside cuBLAS, at four sizes",
               "cuBLAS's time over that of each version, in turns: " + "; ".join(said) + ". A dotted line at 1.", rows)


# ---- the whole course: the front page has these steps as a table -----------------------------------

SIDE = 2048  # the only size at which each of the chapters measured all of these
COURSE = [
    ("07_naive_matmul", "default", "row_per_thread", "07  a thread per row of C"),
    ("07_naive_matmul", "default", "rows_along_x", "07  a thread per element"),
    ("07_naive_matmul", "default", "columns_along_x", "07  ... side by side"),
    ("08_tiled_matmul", "default", "tiled_32", "08  tiles in shared memory"),
    ("08_tiled_matmul", "default", "micro_tile_wide", "08  8 x 8 elements per thread"),
    ("14_matmul_at_the_limit", "h200_orders.csv", "addresses_once", "14  addresses computed once"),
    ("14_matmul_at_the_limit", "h200_orders.csv", "b_first", "14  two slices, B read first"),
    ("14_matmul_at_the_limit", "h200_orders.csv", "lanes_in_rows", "14  large tiles, an order of products"),
    ("15_matmul_of_any_shape", "by_shape_2048", "by_shape", "15  a kernel chosen by shape"),
    ("14_matmul_at_the_limit", "h200_orders.csv", "cublas", "cuBLAS"),
]


def rate_of(chapter, file, version):
    """TFLOP/s of a version with sides SIDE: a setting's row, or one of a file of times in turns with cuBLAS."""
    if file.endswith(".csv"):
        row = next(r for r in style.rows(file, chapter) if r["m"] == SIDE and version in (r["version"], "cublas"))
        return 2 * SIDE**3 / row["cublas_us" if version == "cublas" else "us"] / 1e6
    row = next(r for r in style.rows(file, chapter) if r["version"] == version)
    if re.findall(r"\d+", row["workload"])[:3] != [str(SIDE)] * 3:
        raise ValueError(f"{chapter}, {file}: measured at {row['workload']}, not at {SIDE}")
    return row["rate"] / 1000


def course():
    labels = [label for *_, label in COURSE]
    rates = [rate_of(*row) for *row, _ in COURSE]
    limit = style.rows("multiply_adds_2048")[0]["rate"] / 1000
    fig, ax = style.axes("TFLOP/s, logarithmic", height=4.6)
    colors = [style.GREY if label == "cuBLAS" else style.BLUE for label in labels]
    style.course(ax, labels, rates, colors, 1, (".1f", ".2f"), ("multiply-adds alone", limit), (0.01, 0.1, 1, 10))
    ax.set_xlim(0.01, 90)
    style.save(fig, "course", "The ladder of the product, through four chapters",
               f"Product of two matrices of {SIDE} x {SIDE} floats, in TFLOP/s, logarithmic: "
               + "; ".join(f"{' '.join(n.split())} {r:.2f}" for n, r in zip(labels, rates))
               + f". A dashed line at {limit:.1f}, what multiply-adds reach alone.", style.rows("h200_orders.csv"))


tiles()
ladder()
course()
