# SPDX-License-Identifier: MIT
"""Chapter 00: a grid of blocks of threads, and the element that each thread takes (drawing)."""

from . import style


def draw_grid():
    blocks, threads, n = 3, 4, 10
    block, thread = shown = 2, 1  # whose index is worked out
    fig, ax = style.canvas(3.0)
    grid = style.Grid(ax, blocks, threads, shown)
    grid.draw_threads(f"the grid: {blocks} blocks of blockDim.x = {threads} threads", (47, 86), (92, 102))
    style.words(ax, 18, 120, f"i = blockIdx.x * blockDim.x + threadIdx.x = {block} * {threads} + {thread} = {grid.index}")
    style.words(ax, 18, 138, "element i of each array:")
    grid.draw_elements(150, 0, n)
    x = grid.column(grid.index) + grid.CELL / 2
    style.arrow(ax, (x, 81), (x, 149), linewidth=1.2)
    style.words(ax, 18, 190, f"n = {n}: the last {blocks * threads - n} threads have no element, since i < n fails there.")
    style.save(fig, "grid", "A grid of blocks of threads, and the element that each thread takes",
               f"{blocks} blocks of {threads} threads. Thread {thread} of block {block} has the index {block} times {threads} plus "
               f"{thread}, which is {grid.index}, and takes element {grid.index} of the arrays. Of {n} elements the last block finds "
               f"{n - (blocks - 1) * threads}; its other threads do nothing.")


draw_grid()
