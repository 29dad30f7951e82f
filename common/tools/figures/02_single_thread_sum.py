# SPDX-License-Identifier: MIT
"""Chapter 02: what one thread waits for, what a launch call waits for, and the stride sweep measured."""

from . import style

INTS = 8  # one 32-byte sector


def miss_and_hit(rows):
    """What a turn of the loop costs whose load misses the L1, and one whose load hits: at stride 8 all miss, at stride 1
    one in eight."""
    cycles = dict(zip(*style.series(rows, r"stride=(\d+)", "cycles_per_int")))
    return cycles[INTS], (INTS * cycles[1] - cycles[INTS]) / (INTS - 1)


def bar(ax, left, width, y, color, text="", high=0.56):
    style.box(ax, left, y - high / 2, width, high, color, style.BLACK, 0.6)
    style.words(ax, left + width / 2, y, text, ha="center")


def waiting():
    rows = style.rows("stride")
    miss, hit = miss_and_hit(rows)
    fig, ax = style.axes("cycles since the first load", height=3.0)
    names = [("one load\nat a time", 1, 1), ("four loads\ntogether,\npredicted", 4, 0)]
    ends = []
    for _, loads, y in names:
        bar(ax, 0, miss, y, style.SKY, "misses: waits for L2")
        end = miss
        for _ in range(INTS // loads - 1):
            bar(ax, end, hit, y, "#D6ECF8", "hits")
            end += hit
        style.words(ax, end + 10, y, f"{end:.0f} cycles,\n{end / INTS:.0f} per int")
        ends.append(f"{end:.0f}")
    ax.set_yticks([y for _, _, y in names], [name for name, _, _ in names])
    ax.set_ylim(-0.6, 1.6)
    ax.set_xlim(0, 1040)
    ax.grid(axis="y", visible=False)
    style.save(fig, "waiting", "Where one thread's time goes: eight ints of one 32-byte sector",
               "Time line of a thread that adds eight ints of a sector, with the costs that the stride sweep gave. With one "
               f"load at a time one load misses and seven hit, {ends[0]} cycles in all. If four loads together take as long "
               f"as one, the first four miss and the next four hit, {ends[1]} cycles.", rows)


def launch():
    fig, ax = style.canvas(2.5)
    for y, name in ((74, "host"), (128, "device")):
        style.words(ax, 50, y, name, style.TEXT, ha="right")
        ax.plot([58, 440], [y, y], color=style.GREY, linewidth=0.8, zorder=0)
    bar(ax, 70, 26, 74, style.BLUE, high=28)
    bar(ax, 106, 304, 128, style.ORANGE, "the kernel runs", high=28)
    bar(ax, 98, 110, 74, "#C9E8DD", "free for other work", high=28)
    bar(ax, 208, 210, 74, "#DDDDDD", "cudaDeviceSynchronize() waits", high=28)
    style.words(ax, 62, 30, "launch: puts an order into the queue, and returns")
    ax.plot([83, 83], [38, 60], color=style.BLACK, linewidth=0.8)
    for start, end in (((96, 88), (105, 114)), ((411, 114), (418, 88))):
        style.arrow(ax, start, end)
    style.words(ax, 250, 164, "time (not to scale: a launch would be too short to see)", color=style.GREY, ha="center")
    style.save(fig, "launch", "A launch returns before its kernel ends",
               "Two time lines. The host's launch call ends as soon as the order is queued; the device starts the kernel "
               "after that, while the host is free for other work; cudaDeviceSynchronize waits until the kernel has ended.")


def stride_sweep():
    rows = style.rows("stride")
    strides, cycles = style.series(rows, r"stride=(\d+)", "cycles_per_int")
    fig, ax = style.axes("stride between one load and the next [ints]", "cycles per int")
    # A miss brings `ints` ints into L1. Both curves are pinned to the first and the last measured point; they are
    # wide and pale, so that one of them can be seen beneath the points that lie on it.
    for ints, name, at, color, pale in (
            (8, "if a miss brings\na sector (8 ints)", (3.4, 255), style.RED, style.PALE_RED),
            (32, "if a miss brings\na line (32 ints)", (24, 190), style.GREEN, style.PALE_GREEN)):
        share = [min(1, s / ints) for s in strides]
        slope = (cycles[-1] - cycles[0]) / (share[-1] - share[0])
        curve = [cycles[0] + slope * (m - share[0]) for m in share]
        ax.plot(strides, curve, color=pale, linewidth=9, solid_capstyle="round", zorder=2 if ints == 8 else 1)
        ax.text(*at, name, color=style.ink(color), va="center", ha="right" if ints == 8 else "left")
    ax.plot(strides, cycles, color=style.BLUE, marker="o", linewidth=1.4)
    ax.text(strides[3], cycles[3] + 18, "measured", color=style.BLUE, ha="center", va="bottom")
    style.log2_axis(ax.xaxis)
    ax.set_ylim(0, 1.2 * max(cycles))
    style.save(fig, "stride_sweep", "Cycles per int of one thread against the stride of its loads",
               "One thread, one load at a time, 1 Mi ints: " +
               ", ".join(f"stride {s} {c:.0f}" for s, c in zip(strides, cycles)) +
               " cycles per int. The points lie on the curve for a miss that brings a sector.", rows)


waiting()
launch()
stride_sweep()
