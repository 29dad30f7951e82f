# SPDX-License-Identifier: MIT
"""Chapter 08: the walk of the tiles, the banks of a column, what a step takes beside what its wavefronts need."""

from . import style, xray

SMS, WARP_FLOP = 132, 64  # of the H200; FLOP of a warp's multiply-add
CORES = 0.25  # clocks: an SM does four of these per clock
M, N, K = 128, 128, 32  # of the traced matrices
KERNELS = {"naive": "naive", "tiled_16": "tiled<16>", "tiled_32": "tiled<32>", "tiled_32_ahead": "tiled_ahead<32>",
           "tiled_32_dynamic": "tiled_dynamic", "column_conflict": "transposed_tile<32, 0>",
           "column_padded": "transposed_tile<32, 1>", "micro_tile": "micro_tile<1>", "micro_tile_padded": "micro_tile<2>",
           "micro_tile_wide": "micro_tile_wide<false>", "micro_tile_pairs": "micro_tile_wide<true>"}


# ---- concept: the walk ---------------------------------------------------------------------------

TILES, TILE = 3, 4  # tiles per strip, elements per side of a tile, as drawn
CELL = 11.5  # points


def grid(ax, x, y):
    """A matrix in tiles: fine lines for elements, bold ones for tiles."""
    side = TILES * TILE * CELL
    for i in range(TILES * TILE + 1):
        how = {"color": "#C4C4C4", "linewidth": 0.5} if i % TILE else {"color": style.GREY, "linewidth": 1.2}
        ax.plot([x + i * CELL] * 2, [y, y + side], zorder=2, **how)
        ax.plot([x, x + side], [y + i * CELL] * 2, zorder=2, **how)


def walk():
    fig, ax = style.canvas(4.35)
    side, tile = TILES * TILE * CELL, TILE * CELL
    left, right, above, below = 8, 8 + side + 14, 17, 17 + side + 18  # A, B and C
    row, column, now = 1, 1, 1  # tile (row, column) of C, at step `now`
    for name, x, y in (("A", left, below), ("B", right, above), ("C", right, below)):
        style.words(ax, x + side / 2, y - 9, name, style.TEXT, ha="center", weight="bold")
    for step in range(TILES):
        faces = (style.ORANGE, style.SKY) if step == now else ("#F9F3B3",) * 2 if step == now + 1 else ("#E6E6E6",) * 2
        for face, x, y in ((faces[0], left + step * tile, below + row * tile), (faces[1], right + column * tile, above + step * tile)):
            style.box(ax, x, y, tile, tile, face, weight=0, zorder=1)
            style.words(ax, x + 5, y + tile - 8, str(step), zorder=4, weight="bold")
    style.box(ax, right + column * tile, below + row * tile, tile, tile, "#8CD0BC", weight=0, zorder=1)
    for x, y in ((left, below), (right, above), (right, below)):
        grid(ax, x, y)
    i, j = 1, 2  # one thread's element, with the row and the column that it reads from the present tiles
    frame = {"face": "none", "edge": style.BLACK, "weight": 2, "zorder": 5}
    style.box(ax, left + now * tile, below + row * tile + i * CELL, tile, CELL, **frame)
    style.box(ax, right + column * tile + j * CELL, above + now * tile, CELL, tile, **frame)
    style.box(ax, right + column * tile + j * CELL, below + row * tile + i * CELL, CELL, CELL, **frame)
    style.words(ax, left, above + 2, "0, 1, 2: the steps\nof the walk", va="top")
    y = 24
    for face, text in ((style.ORANGE, "the tile of A\nin shared memory"), (style.SKY, "the tile of B\nin shared memory"),
                       ("#F9F3B3", "the next tiles,\nfetched ahead in\ntiled_32_ahead"),
                       ("#8CD0BC", "the block's tile of\nC, one thread\nper element"), ("none", "what one thread\nreads in this step,\nand its element")):
        style.box(ax, 318, y, 14, 14, face, style.BLACK, 2 if face == "none" else 0.6)
        style.words(ax, 338, y - 1, text, va="top")
        y += 14 * (text.count("\n") + 1) + 14
    style.save(fig, "walk", "The walk of a block along a strip of A and a strip of B",
               "A stands left of C and B above it. A block that computes one tile of C takes the tiles of A in the same row "
               "of tiles and those of B in the same column of tiles, one pair per step. In each step a thread reads one row "
               "of the tile of A and one column of the tile of B.")


# ---- the banks of a column, as X-ray saw them ----------------------------------------------------


def stored_column(ax, x, version, color):
    """The first store of a row of A down a column of the tile. Returns what the picture says."""
    cell = 6
    store = xray.accesses("versions", kernel=f"multiply_{KERNELS[version]}", space="shared", operation="store")[0]
    passes = store.passes()
    count = xray.equal(version, len(passes), store.per_request("wavefronts"))
    words = (store.lanes[1] - store.lanes[0]) // xray.WORD
    style.words(ax, x, 12, version, style.TEXT, weight="bold")
    style.words(ax, x, 28, f"rows of {words} words")
    xray.strip(ax, x, 40, cell, 9, range(xray.LANES))
    style.words(ax, x + 32 * cell, 30, "32 lanes", ha="right")
    high, top = (4.3, 92) if count > 4 else (12, 92)
    xray.strips(ax, x, top, cell, high, passes, color)
    xray.fan(ax, [[x + (end + 0.5) * cell for end in (lanes[0], bank)] for served in passes
                  for bank, lanes in served.items()], 49, top)
    y = top + count * high + 10
    style.words(ax, x, y, "bank 0")
    style.words(ax, x + 32 * cell, y, "31", ha="right")
    name = f"{count:g} pass{'es' if count > 1 else ''} through the banks"
    style.words(ax, x, y + (24 if count < 3 else 16), name, color=color, weight="bold")
    return f"in {version}, with rows of {words} words, {name}"


def banks():
    """The store of a row of A as a column of the tile: which pass through the banks serves which bank."""
    fig, ax = style.canvas(3.7)
    conflict = stored_column(ax, 6, "column_conflict", style.RED)
    padded = stored_column(ax, 230, "column_padded", style.SKY)
    style.words(ax, 230, 196, "a row of cells: one pass,\nfilled for the banks that\nserve a word", va="top", color=style.GREY)
    style.save(fig, "banks", "A column of the tile in its banks, traced from the kernels",
               f"The 32 lanes of a warp store a row of A as a column of the tile: {conflict}; {padded}.")


def banks_of_halves():
    """The same store of the micro tile: 16 lanes go down one column, 16 down the next."""
    fig, ax = style.canvas(2.25)
    conflict = stored_column(ax, 6, "micro_tile", style.RED)
    padded = stored_column(ax, 230, "micro_tile_padded", style.SKY)
    style.save(fig, "banks_of_halves", "Two half columns of the micro tile in their banks, traced from the kernels",
               "The first 16 lanes of a warp store down one column of the tile, the others down the next: "
               f"{conflict}; {padded}.")


# ---- measured: every version beside what its wavefronts need ------------------------------------


def widened(kernel):
    """Measured over predicted wavefronts of the loads from shared memory: the compiler joins neighbouring ones.
    Of a kernel that make xray-verify has not seen yet the loads count as they are written."""
    counter = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
    rows = (r for r in style.rows("h200_xray.csv") if r["kernel"] == kernel and r["counter"] == counter)
    return next((row["measured"] / row["predicted"] for row in rows), 1)


# A row of the trace has the loads of A and of B, both made by at_or_zero(). They are alike but here, where
# half of them, those of A, take two passes (lanes in two rows) and those of B one.
PASSES = {name: 1.5 for name in KERNELS if name.startswith("micro_tile")}


def wavefronts(version):
    """Wavefronts of the L1 and of shared memory per multiply-add of a warp: as X-ray counted them, loads from
    global memory served bank by bank, loads from shared memory joined as the compiler did."""
    kernel, total = "multiply_" + KERNELS[version], 0.0
    for access in xray.accesses("versions", kernel=kernel):
        if access["space"] == "shared":
            total += access["wavefronts"] * (widened(kernel) if access["operation"] == "load" else 1)
        elif access["operation"] == "load":
            total += access["requests"] * PASSES.get(version, len(access.passes()))
    return total / (M * N * K / xray.LANES)


def clocks(row):
    """Clocks that an SM takes for a step, a multiply-add of a warp; by the clock after the row."""
    return SMS * row["sm_mhz"] / 1000 * WARP_FLOP / row["rate"]


def bounds():
    rows = [r for r in style.rows("default") if r["version"] in KERNELS or r["version"] == "cublas"]
    fig, ax = style.axes("clocks of a multiprocessor per step", height=4.1)
    for place, row in enumerate(reversed(rows)):
        name, taken = row["version"], clocks(row)
        ax.barh(place, taken, color=style.GREY if name == "cublas" else style.BLUE, height=0.6)
        label, end = f"{taken:.2f}", taken
        if name in KERNELS:
            needed = wavefronts(name)
            ax.plot([needed, needed], [place - 0.42, place + 0.42], color=style.RED, linewidth=2.5)
            label += f" ({needed + 1e-9:.2f})"  # 1.625 is 1.63, as in the notes
            end = max(taken, needed)
        style.words(ax, end + 0.06, place, label)
    ax.set_yticks(range(len(rows)), [r["version"] for r in reversed(rows)])
    ax.axvline(CORES, color=style.BLACK, linewidth=1.2)
    style.words(ax, 1.75, 3.2, "black line: what the cores need")
    style.words(ax, 1.75, 2.1, "mark, and number in brackets:\nwhat the wavefronts need", color=style.RED, va="top")
    ax.grid(axis="y", visible=False)
    ax.set_xlim(0, 4.3)
    style.save(fig, "bounds", "What a step takes in each version, and what its wavefronts need",
               "Bars of the clocks of a multiprocessor per step at m = n = k = 2048, with what the wavefronts of shared memory "
               "and L1 need: " + ", ".join(f"{r['version']} {clocks(r):.2f}" for r in rows) + " clocks.", rows)


walk()
banks()
banks_of_halves()
bounds()
