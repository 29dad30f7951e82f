# SPDX-License-Identifier: MIT
"""Chapter 02: what one thread waits for, what a launch call waits for, and the stride sweep measured."""

from . import style

# The latencies of the picture are round figures of the order that Hopper has; the notes name the source.
HIT, MISS = 40, 260
AFTER_ONE, AFTER_FOUR = 15, 30  # adding one int, adding four, with the loop's own instructions
INTS = 8  # one 32-byte sector


def passes(loads_per_pass):
    """(start, wait, work) of each pass over `loads_per_pass` ints of one sector, in cycles, and the end of the last."""
    now, found = 0, []
    for index in range(0, INTS, loads_per_pass):
        wait = MISS if index == 0 else HIT
        work = AFTER_FOUR if loads_per_pass == 4 else AFTER_ONE
        found.append((now, wait, work))
        now += wait + work
    return found, now


def bar(ax, left, width, y, color, text="", high=0.56):
    style.box(ax, left, y - high / 2, width, high, color, style.BLACK, 0.6)
    style.words(ax, left + width / 2, y, text, ha="center")


def waiting():
    fig, ax = style.axes("cycles since the first load", height=3.2)
    names = [("one load\nat a time", 1, 1), ("four loads,\nfour adds", 4, 0)]
    for _, loads, y in names:
        found, end = passes(loads)
        for start, wait, work in found:
            missed = wait == MISS
            bar(ax, start, wait, y, style.SKY if missed else "#D6ECF8", "waits for L2" if missed else "")
            bar(ax, start + wait, work, y, style.ORANGE)
        style.words(ax, end + 10, y, f"{end} cycles,\n{end / INTS:g} per int")
    for text, x, at in (("adds", 267, 200), ("waits for L1", 305, 345)):
        ax.annotate(text, (x, 1.28), xytext=(at, 1.62), fontsize=style.SMALL,
                    arrowprops={"arrowstyle": "-", "linewidth": 0.8})
    ax.set_yticks([y for _, _, y in names], [name for name, _, _ in names])
    ax.set_ylim(-0.6, 1.95)
    ax.set_xlim(0, 890)
    ax.grid(axis="y", visible=False)
    style.save(fig, "waiting", "Where one thread's time goes: eight ints of one 32-byte sector",
               "Time line of a thread that adds eight ints of a sector. With one load at a time it waits once for L2 and "
               "seven times for L1, 660 cycles in all. With four loads issued together it waits once for each, 360 "
               "cycles. Adding takes a small part of either.")


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
