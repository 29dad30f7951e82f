# SPDX-License-Identifier: MIT
"""Chapter 17: copies between two devices by size, and when two devices sum faster than one."""

from numpy import polyfit

from . import style

SUMS = {f"sum_{n}{unit}": n * scale for unit, scale in (("Mi", 1 << 20), ("Gi", 1 << 30))
        for n in (1, 4, 8, 16, 32, 64, 128, 256, 512) if (unit == "Mi" or n == 1)}


def by_size(rows, way):
    """Bytes and microseconds of a way, from 4 KiB on."""
    found = [(style.bytes_of(match[1]), 1000 * row["median_ms"]) for match, row in style.matched(rows, way + r" size=(.+)")]
    return zip(*[(size, us) for size, us in found if size >= 4096])


def line_through(sizes, times, least):
    """Start-up and time per byte of the line from which the times from `least` bytes on are off by the smallest
    relative errors, squared and summed (as in exercise 4)."""
    pairs = [(size, time) for size, time in zip(sizes, times) if size >= least]
    per_byte, start_up = polyfit(*zip(*pairs), 1, w=[1 / time for _, time in pairs])
    return start_up, per_byte


def draw_by_size():
    links, collectives = style.rows("links"), style.rows("collectives")
    fig, ax = style.axes("bytes", "time [µs]", height=3.9)
    style.log2_axis(ax.xaxis, "B")
    style.log_axis(ax.yaxis, 1, 10, 100, 1000, 10000)
    sizes, direct = (list(part) for part in by_size(links, "direct"))
    start_up, per_byte = line_through(sizes, direct, 2.0 ** 20)
    ax.plot(sizes, [start_up + size * per_byte for size in sizes], color=style.GREY, linewidth=6, alpha=0.35)
    ends, times = [], {}
    for rows, way, label, color, marker in ((links, "staged", "by way of\nthe host", style.RED, "^"),
                                            (collectives, "all_reduce", "all-reduce", style.ORANGE, "s"),
                                            (links, "direct", "direct", style.BLUE, "o")):
        x, y = (list(part) for part in by_size(rows, way))
        ax.plot(x, y, color=color, marker=marker)
        times[way] = y
        ends.append((x[-1], y[-1], label, color))
    ax.set_xlim(sizes[0] / 1.5, sizes[-1] * 30)
    ax.set_ylim(1, 60000)
    ax.set_xticks([2.0 ** k for k in (12, 16, 20, 24, 28)])
    style.label(ax, sizes[4], 1.25, f"grey: {start_up:.1f} µs + bytes / {1e-3 / per_byte:.0f} GB/s", style.GREY, (0, 0))
    style.label_ends(ax, ends)
    by_host = [staged / straight for staged, straight in zip(times["staged"], direct)]
    style.save(fig, "by_size", "What crosses from one device to the other, by size",
               f"A direct copy takes {direct[0]:.1f} µs for small sizes, and at 1 GiB {direct[-1] / 1000:.2f} ms; from 1 MiB on "
               "the line of a start-up time plus bytes over bandwidth fits it. An all-reduce lies above it: "
               f"at 4 KiB it takes {times['all_reduce'][0] / direct[0]:.0f} times as long. A copy by way of the host takes "
               f"{min(by_host):.0f} to {max(by_host):.0f} times as long as a direct one.", links)


def draw_worth_it():
    fig, ax = style.axes("ints", "times as fast as one GPU", height=3.9)
    style.log2_axis(ax.xaxis)
    everything = {name: {row["version"]: row for row in style.rows(name)} for name in SUMS}
    one = {n: everything[name]["sum_one"]["median_ms"] * 1000 for name, n in SUMS.items()}
    reading = one[1 << 30] / (1 << 30)  # µs of an int
    n = [2.0 ** (20 + k / 4) for k in range(41)]
    alone = {row["version"]: row for row in style.rows("collectives")}["all_reduce size=8 B"]["median_ms"] * 1000
    ax.plot(n, [reading * x / (reading * x / 2 + alone) for x in n], color=style.GREY, linestyle=":")
    style.label(ax, 2 ** 27.1, 1.37, f"computed: all-reduce of {alone:.0f} µs", style.GREY, (0, 0))
    for version, label, place, color, marker in (
            ("sum_threads", "a host thread\nfor each GPU", (2 ** 20.1, 0.74), style.BLUE, "o"),
            ("sum_all", "one host thread", (2 ** 24.5, 0.45), style.RED, "s")):
        points = [(x, one[x] / (1000 * everything[name][version]["median_ms"])) for name, x in SUMS.items()]
        ax.plot(*zip(*points), color=color, marker=marker)
        style.label_end(ax, *place, label, color, (0, 0))
    ax.axhline(1, color=style.BLACK, linewidth=1)
    ax.set_ylim(0, 2.1)
    ax.set_xlim(2 ** 19.7, 2 ** 30.4)
    ax.set_xticks([2.0 ** k for k in (20, 22, 24, 26, 28, 30)])
    style.save(fig, "worth_it", "Two GPUs and one: a sum, by its length",
               "With one host thread two GPUs are as fast as one at 32 Mi ints; the calculation with a start-up of "
               f"{alone:.0f} µs says {2 * alone / reading / (1 << 20):.0f} Mi. With a host thread for each device they are faster from "
               "about 16 Mi ints on. For long arrays all three come near 2.", style.rows("sum_1Gi"))


draw_by_size()
draw_worth_it()
