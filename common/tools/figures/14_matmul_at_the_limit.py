# SPDX-License-Identifier: MIT
"""Chapter 14: a tile from the block down to the thread, the versions on their way to cuBLAS, and the whole way there."""

import re

from . import style

# The large tile: elements of a block, of a warp's pieces; how far these are apart, a thread's group, lanes down and across.
ROWS, COLUMNS, DOWN, ACROSS, APART, GROUP, LANES_DOWN, LANES_ACROSS = 128, 256, 16, 32, 64, 4, 4, 8


def tiles():
    fig, ax = style.canvas(2.6)
    x, y, scale = 6, 30, 0.92  # points per element
    style.words(ax, x, y - 10, f"a block: {ROWS} x {COLUMNS} of C", style.TEXT, weight="bold")
    style.box(ax, x, y, COLUMNS * scale, ROWS * scale, "#F2F2F2", style.GREY, 0.8)
    for row in range(0, ROWS, DOWN):
        for column in range(0, COLUMNS, ACROSS):
            mine = row % APART == 0 and column % APART == 0
            style.box(ax, x + column * scale, y + row * scale, ACROSS * scale, DOWN * scale, style.SKY if mine else "#F2F2F2", "#C4C4C4", 0.5)
    style.words(ax, x, y + ROWS * scale + 16, f"one warp of 8: pieces of {DOWN} x {ACROSS}")
    x, scale = 262, 5.5
    style.words(ax, x, y - 10, "a piece: four rows of lanes", style.TEXT, weight="bold")
    for lane in range(LANES_DOWN * LANES_ACROSS):
        left, top = x + lane % LANES_ACROSS * GROUP * scale, y + lane // LANES_ACROSS * GROUP * scale
        mine = lane == 10
        style.box(ax, left, top, GROUP * scale, GROUP * scale, style.ORANGE if mine else "#F2F2F2", style.BLACK if mine else "#C4C4C4", 0.8, zorder=3 if mine else 2)
        style.words(ax, left + GROUP * scale / 2, top + GROUP * scale / 2, str(lane), ha="center", zorder=4)
    style.words(ax, x, y + DOWN * scale + 16, "a lane: 4 x 4 of each piece")
    style.save(fig, "tiles", "From the tile of a block to the elements of a thread",
               f"A block of 8 warps computes {ROWS} x {COLUMNS} elements of C. A warp computes eight pieces of {DOWN} x {ACROSS}, {APART} apart. Its 32 "
               f"lanes lie in {LANES_DOWN} rows of {LANES_ACROSS}, and each computes {GROUP} x {GROUP} elements of each piece: 8 rows and 16 columns in all.")


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
    ("14_matmul_at_the_limit", "h200_turns.csv", "addresses_once", "14  addresses computed once"),
    ("14_matmul_at_the_limit", "h200_turns.csv", "lanes_in_rows", "14  large tiles, an order of products"),
    ("15_matmul_of_any_shape", "by_shape_2048", "by_shape", "15  a kernel chosen by shape"),
    ("14_matmul_at_the_limit", "h200_turns.csv", "cublas", "cuBLAS, FP32"),
    ("16_tensor_cores", "h200_turns.csv", "mma_from_global", "16  tensor cores, BF16"),
    ("16_tensor_cores", "h200_turns.csv", "mma_pipelined", "16  swizzled tiles, four slices"),
    ("16_tensor_cores", "h200_turns.csv", "chosen", "16  a kernel chosen by shape"),
    ("16_tensor_cores", "h200_turns.csv", "cublaslt", "cublasLt, BF16"),
]


def rate_of(chapter, file, version):
    """TFLOP/s of a version with sides SIDE: a setting's row, or one of a file of times in turns with a library's."""
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
    colors = [style.GREY if label.startswith("cu") else style.ORANGE if label.startswith("16") else style.BLUE for label in labels]
    style.course(ax, labels, rates, colors, 1, (".1f", ".2f"), ("multiply-adds of FP32 alone", limit), (0.01, 0.1, 1, 10, 100))
    ax.set_xlim(0.01, 1000)
    style.save(fig, "course", "The ladder of the product, through five chapters",
               f"Product of two matrices of {SIDE} x {SIDE} numbers, FP32 and in chapter 16 BF16, in TFLOP/s, logarithmic: "
               + "; ".join(f"{' '.join(n.split())} {r:.2f}" for n, r in zip(labels, rates))
               + f". A dashed line at {limit:.1f}, what multiply-adds of FP32 reach alone.", style.rows("h200_turns.csv"))


tiles()
ladder()
course()
