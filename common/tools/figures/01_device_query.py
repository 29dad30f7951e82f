# SPDX-License-Identifier: MIT
"""Chapter 01: where memory is in a GPU, and how much data it takes to measure its bandwidth."""

import re

from . import style

TINTS = {"chip": "#F4F4F4", "sm": "#E3F1FA", "dram": "#FDF0D5", "host": "#EFE3EC", "plain": "white"}


def asked(name):
    """What the program says about the device, e.g. asked("SMs")."""
    return re.search(rf"^\| {re.escape(name)} +\| +(\S.*?) \|$", style.output("h200.txt"), re.MULTILINE).group(1)


def box(ax, x, y, width, height, tint, *lines):
    """A rectangle; the first line of its text names it, the others say what it holds."""
    style.box(ax, x, y, width, height, TINTS[tint])
    for i, text in enumerate(lines):
        style.words(ax, x + width / 2, y + height / 2 + 14 * (i - (len(lines) - 1) / 2), text, ha="center",
                    weight="bold" if i == 0 else "normal", color=style.BLACK if i == 0 else "#4D4D4D")


def arrow(ax, start, end):
    style.arrow(ax, start, end, "<->", color=style.BLACK, linewidth=1.4)


BYTES_PER_OPERATION = 12  # host_caches: two doubles in and one out for a product and a sum


def caches_of_the_host():
    """(name, size as text, GB/s) of each cache of a core."""
    for row in style.rows("host_caches"):
        kib = row["level_bytes"] >> 10
        if kib > 0:
            yield (row["version"][3:].upper(), f"{kib >> 10} MiB" if kib >= 1024 else f"{kib} KiB",
                   f"{row['rate'] * BYTES_PER_OPERATION / 1000:.0f} GB/s")


def memory_spaces():
    device, sms, l2 = asked("name"), asked("SMs"), asked("L2 cache")
    registers = f"{int(asked('registers per SM')) * 4 // 1024} KiB"
    fig, ax = style.canvas(4.3)
    style.box(ax, 4, 4, 98, 301, TINTS["host"])
    style.words(ax, 53, 16, "host", style.TEXT, ha="center", weight="bold")
    box(ax, 12, 27, 82, 34, "plain", "CPU core", "main()")
    top, caches = 61, list(caches_of_the_host())
    for name, size, gbps in caches:
        ax.plot((53, 53), (top, top + 11), color=style.BLACK, linewidth=1.4)
        box(ax, 12, top + 11, 82, 35, "plain", f"{name}, {size}", gbps)
        top += 46
    box(ax, 12, 226, 82, 66, "plain", "host memory", "vectors,", "files")
    arrow(ax, (53, top), (53, 226))

    style.box(ax, 140, 4, 302, 301, TINTS["chip"])
    style.words(ax, 291, 16, f"device: {device}", style.TEXT, ha="center", weight="bold")
    for i in (2, 1, 0):  # the front one last
        style.box(ax, 148 + 6 * i, 38 - 5 * i, 274, 114, TINTS["sm"])
    style.words(ax, 285, 50, f"one of {sms} SMs: up to {asked('threads per SM')} threads", ha="center", weight="bold")
    box(ax, 156, 60, 258, 40, "plain", f"registers, {registers}", "each thread has its own")
    box(ax, 156, 106, 146, 40, "plain", "shared memory", f"{asked('shared memory per SM')}, and L1")
    box(ax, 308, 106, 106, 40, "plain", "constant", "cache")
    box(ax, 148, 170, 286, 34, "plain", f"L2 cache, {l2}, for all SMs")
    box(ax, 148, 226, 286, 72, "dram", f"device memory, {asked('global memory')}", "global: cudaMalloc, __device__",
        f"constant: __constant__, {asked('constant memory')}", "local: what registers cannot hold")
    arrow(ax, (291, 152), (291, 170))
    arrow(ax, (291, 204), (291, 226))
    style.words(ax, 300, 215, f"{asked('peak DRAM bandwidth')} at most")
    arrow(ax, (94, 259), (148, 259))
    style.words(ax, 121, 249, "PCIe", ha="center")
    style.save(fig, "memory_spaces", f"Where the memory of an {device} is",
               "The host has its own memory, joined to the device by PCIe. One of its cores gets " +
               ", ".join(f"{gbps} from its {name} of {size}" for name, size, gbps in caches) +
               f". On the device {sms} multiprocessors (SMs) each "
               "hold registers, shared memory with the L1 cache, and a constant cache. All share one L2 cache in front of "
               f"{asked('global memory')} of device memory, which holds global, constant and local memory.")


def bandwidth_by_size():
    sizes = ["256ki", "1mi", "4mi", "16mi", "64mi", "256mi", "default"]
    rows = [r for size in sizes for r in style.rows(size) if r["rate"] != ""]
    for r in rows:
        r["bytes"] = 4 * style.given(r, "n")
    peak = style.full_rate(rows[-1])
    l2_mib = int(asked("L2 cache").split()[0])

    fig, ax = style.axes("size of the array [bytes]", "bandwidth [GB/s]")
    looks = {"read": (style.BLUE, "o", "-"), "cub": (style.BLACK, "x", ":"), "copy": (style.RED, "s", "-"),
             "copy_kernel": (style.ORANGE, "^", "--")}
    ends = []
    for name, (color, marker, dashes) in looks.items():
        mine = sorted((r["bytes"], r["rate"]) for r in rows if r["version"] == name)
        ax.plot(*zip(*mine), color=color, marker=marker, linestyle=dashes)
        ends.append((*mine[-1], name, color))
    ax.axhline(peak, color=style.GREY, linestyle="--", linewidth=1.2)
    style.words(ax, 0.99, peak + 70, f"clock × 2 × bus width: {peak:,.0f}", va="bottom", ha="right", color=style.GREY,
                transform=ax.get_yaxis_transform())
    ax.axvline(l2_mib << 20, color=style.GREY, linestyle=":", linewidth=1.4)
    style.words(ax, (l2_mib << 20) * 1.15, 180, f"L2 cache: {l2_mib} MiB", color=style.GREY, va="baseline")
    style.log2_axis(ax.xaxis, "B")
    ax.yaxis.set_major_formatter(style.THOUSANDS)
    largest = max(r["bytes"] for r in rows)
    ax.set_xticks(sorted({r["bytes"] for r in rows})[::2])
    ax.set_xlim(right=largest * 28)
    ax.set_ylim(0, max(peak, *(r["rate"] for r in rows)) * 1.1)
    style.label_ends(ax, ends, top=peak)
    style.save(fig, "bandwidth_by_size", "Measured bandwidth against the size of the array",
               f"All four curves rise with the size. Copies of 16 MiB, which fit the L2 cache, pass the peak of {peak:.0f} "
               "GB/s. At the largest size, far beyond the cache: " +
               ", ".join(f"{r['version']} {r['rate']:.0f} GB/s" for r in rows if r["bytes"] == largest) + ".", rows)


memory_spaces()
bandwidth_by_size()
