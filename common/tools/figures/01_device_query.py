# SPDX-License-Identifier: MIT
"""Chapter 01: where memory is in a GPU, and how much data it takes to measure its bandwidth."""

import re

import matplotlib.pyplot as plt
import style

TINTS = {"chip": "#F4F4F4", "sm": "#E3F1FA", "dram": "#FDF0D5", "host": "#EFE3EC", "plain": "white"}


def box(ax, x, y, width, height, tint, lines, bold=True, at="center"):
    """A rectangle; the first line of its text names it, the others say what it holds."""
    ax.add_patch(plt.Rectangle((x, y), width, height, facecolor=TINTS[tint], edgecolor=style.GREY, linewidth=1))
    top = y + height / 2 + 0.17 * (len(lines) - 1) if at == "center" else y + height - 0.28
    for i, text in enumerate(lines):
        ax.text(x + width / 2, top - 0.34 * i, text, ha="center", va="center", fontsize=10 if i == 0 else 8.5,
                weight="bold" if bold and i == 0 else "normal", color=style.BLACK if i == 0 else style.GREY)


def arrow(ax, start, end, text="", shift=(0, 0)):
    ax.annotate("", end, start, arrowprops={"arrowstyle": "<->", "color": style.BLACK, "linewidth": 1.2})
    if text:
        ax.text((start[0] + end[0]) / 2 + shift[0], (start[1] + end[1]) / 2 + shift[1], text, ha="center",
                va="center", fontsize=8.5)


def memory_spaces():
    fig, ax = style.axes(size=(8.4, 5.4))
    ax.axis("off")
    ax.set_xlim(0, 12.4)
    ax.set_ylim(0, 8.1)

    box(ax, 0.1, 0.2, 2.6, 7.7, "host", ["host"], at="top")
    box(ax, 0.35, 4.9, 2.1, 1.6, "plain", ["CPU", "main(), launches"])
    box(ax, 0.35, 0.5, 2.1, 1.6, "plain", ["host memory", "vectors, files"])
    arrow(ax, (1.4, 4.9), (1.4, 2.1))

    ax.add_patch(plt.Rectangle((3.7, 0.2), 8.6, 7.7, facecolor=TINTS["chip"], edgecolor=style.GREY, linewidth=1))
    ax.text(8.0, 7.62, "device: NVIDIA H200", ha="center", va="center", fontsize=10, weight="bold")
    for i in (2, 1, 0):  # the front one last
        x, y = 4.0 + 0.16 * i, 4.35 + 0.12 * i
        ax.add_patch(plt.Rectangle((x, y), 7.6, 2.75, facecolor=TINTS["sm"], edgecolor=style.GREY, linewidth=1))
    ax.text(7.8, 6.85, "one of 132 multiprocessors (SMs): up to 2048 threads", ha="center", va="center", fontsize=10,
            weight="bold")
    box(ax, 4.2, 5.35, 7.2, 1.2, "plain", ["registers, 256 KiB", "each thread has its own; nobody else sees them"])
    box(ax, 4.2, 4.5, 4.6, 0.75, "plain", ["shared memory and L1 cache, 256 KiB"], bold=False)
    box(ax, 9.0, 4.5, 2.4, 0.75, "plain", ["constant cache"], bold=False)
    box(ax, 4.0, 2.75, 8.0, 0.95, "plain", ["L2 cache, 60 MiB", "one for all SMs"])
    box(ax, 4.0, 0.5, 8.0, 1.6, "dram", ["device memory (DRAM), 141 GB",
                                          "global: cudaMalloc, __device__ · constant: __constant__, 64 KiB",
                                          "local: what does not fit into a thread's registers"])
    arrow(ax, (8.0, 4.35), (8.0, 3.7))
    arrow(ax, (8.0, 2.75), (8.0, 2.1), "4.8 TB/s peak", (0.95, 0))
    arrow(ax, (2.45, 1.3), (4.0, 1.3), "PCIe", (0.02, 0.25))
    style.save(fig, "memory_spaces", "Where the memory of a GPU is",
               "The host has its own memory, joined to the device by PCIe. On the device 132 multiprocessors each hold "
               "registers, shared memory with the L1 cache, and a constant cache. All share one L2 cache in front of "
               "141 GB of device memory, which holds global, constant and local memory.")


def bandwidth_by_size():
    sizes = ["_256ki", "_1mi", "_4mi", "_16mi", "_64mi", "_256mi", ""]
    rows = [r for size in sizes for r in style.rows(f"h200{size}.csv") if r["rate"] != ""]
    for r in rows:
        r["bytes"] = 4 * int(re.search(r"n = (\d+)", r["workload"]).group(1))
    peak = 100 * rows[-1]["rate"] / rows[-1]["of_percent"]

    fig, ax = style.axes("size of the array [bytes]", "bandwidth [GB/s]", size=(7.6, 4.6))
    ends = {"cub": 5, "read": -8, "copy": -11, "copy_kernel": -24}  # labels apart, though the curves meet
    for name, color in zip(ends, (style.BLACK, style.BLUE, style.RED, style.ORANGE)):
        mine = sorted((r["bytes"], r["rate"]) for r in rows if r["version"] == name)
        ax.plot(*zip(*mine), color=color, marker="o")
        style.label_end(ax, *mine[-1], name, color, shift=(8, ends[name]))
    ax.axhline(peak, color=style.GREY, linestyle="--", linewidth=1.2)
    ax.text(1, peak + 60, f"clock x 2 x bus width: {peak:.0f} GB/s", va="bottom", ha="right", fontsize=9,
            color=style.GREY, transform=ax.get_yaxis_transform())
    ax.axvline(60 << 20, color=style.GREY, linestyle=":", linewidth=1.2)
    ax.text((60 << 20) * 1.1, 150, "L2 cache: 60 MiB", fontsize=9, color=style.GREY)
    style.log2_axis(ax.xaxis, "B")
    ax.set_xticks(sorted({r["bytes"] for r in rows}))
    ax.set_xlim(right=max(r["bytes"] for r in rows) * 8)
    ax.set_ylim(0, max(peak, *(r["rate"] for r in rows)) * 1.1)
    style.source(fig, rows)
    largest = {r["version"]: r["rate"] for r in rows if r["bytes"] == max(q["bytes"] for q in rows)}
    style.save(fig, "bandwidth_by_size", "Measured bandwidth against the size of the array",
               f"All four curves rise with the size. Copies whose arrays fit the L2 cache pass the peak of {peak:.0f} "
               "GB/s. At the largest size, far beyond the cache: " +
               ", ".join(f"{name} {rate:.0f} GB/s" for name, rate in largest.items()) + ".")


memory_spaces()
bandwidth_by_size()
