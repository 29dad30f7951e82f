# SPDX-License-Identifier: MIT
"""Chapter 00: a grid of blocks of threads, and the element that each thread takes (drawing)."""

import style


def draw_grid(blocks=3, threads=4, n=10, shown=(2, 1)):
    """A grid over n elements; `shown` is the block and the thread whose index is worked out."""
    block, thread = shown
    index = block * threads + thread
    cell, gap, left = 28, 14, 34
    colors = [style.SKY, "#F5C9A9", "#AEDFCF"]
    fig, ax = style.canvas(3.0)

    def column(i):  # where thread or element i stands
        return left + i * cell + i // threads * gap

    def words(x, y, text, **how):
        style.words(ax, x, y, text, **{"ha": "center", **how})

    right = column(blocks * threads - 1) + cell
    style.box(ax, left - 16, 10, right - left + 32, 92, "white", style.BLACK, 1.2)
    words(left - 8, 22, f"the grid: {blocks} blocks of blockDim.x = {threads} threads", ha="left")
    for b in range(blocks):
        x = column(b * threads)
        style.box(ax, x - 5, 36, threads * cell + 10, 56, colors[b])
        words(x + threads * cell / 2, 47, f"blockIdx.x = {b}")
        for t in range(threads):
            here = (b, t) == shown
            style.box(ax, x + t * cell, 58, cell, 22, style.YELLOW if here else "white", style.BLACK, 2 if here else 0.8)
            words(x + t * cell + cell / 2, 69, str(t), weight="bold" if here else "normal")
        if b != block:  # there the arrow passes
            words(x + threads * cell / 2, 86, "threadIdx.x")
    words(left - 16, 120, f"i = blockIdx.x * blockDim.x + threadIdx.x = {block} * {threads} + {thread} = {index}", ha="left")
    words(left - 16, 138, "element i of each array:", ha="left")
    for i in range(blocks * threads):
        there, here = i < n, i == index
        face = style.YELLOW if here else colors[i // threads] if there else "white"
        style.box(ax, column(i), 150, cell, 22, face, style.BLACK if there else style.GREY, 2 if here else 0.8,
                  linestyle="-" if there else ":")
        words(column(i) + cell / 2, 161, str(i) if there else "", weight="bold" if here else "normal")
    x = column(index) + cell / 2
    ax.annotate("", (x, 149), (x, 81), arrowprops={"arrowstyle": "->", "shrinkA": 0, "shrinkB": 0, "linewidth": 1.2})
    words(left - 16, 190, f"n = {n}: the last {blocks * threads - n} threads have no element, since i < n fails there.", ha="left")
    style.save(
        fig,
        "grid",
        "A grid of blocks of threads, and the element that each thread takes",
        f"{blocks} blocks of {threads} threads. Thread {thread} of block {block} has the index {block} times {threads} plus "
        f"{thread}, which is {index}, and takes element {index} of the arrays. Of {n} elements the last block finds "
        f"{n - (blocks - 1) * threads}; its other threads do nothing.",
    )


draw_grid()
