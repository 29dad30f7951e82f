# SPDX-License-Identifier: MIT
"""Chapter 06: how a constant cache serves a warp, the twelve versions, and the sweep with its line."""

import numpy
from . import style, xray


def requests():
    """Loads of a warp from constant memory: its lanes, and below them which request serves which lanes."""
    fig, ax = style.canvas(4.1)
    cell, says = 4.2, []
    wanted = {"kernel": "walk_constant", "space": "const", "operation": "load"}
    loads = sorted(xray.accesses("distinct", **wanted), key=lambda load: load["words"])
    for column, (load, color) in enumerate(zip(loads, (style.SKY, style.PURPLE, style.RED))):
        x = 4 + 149 * column
        words = sorted(set(load.lanes))
        count = xray.equal("words", len(words), load.per_request("words"))
        name = f"{count} word{'s' if count > 1 else ''}"
        asked = f"{count} request{'s' if count > 1 else ''}"
        style.words(ax, x, 12, name, style.TEXT, color, weight="bold")
        style.words(ax, x, 28, asked)
        xray.strip(ax, x, 42, cell, 9, range(xray.LANES))
        served = [{lane for lane, offset in enumerate(load.lanes) if offset == word} for word in words]
        xray.strips(ax, x, 72, cell, 9 if count < 4 else 200 / count, served, color)
        xray.fan(ax, [[x + (lane + 0.5) * cell] * 2 for lane in served[0]], 51, 72)
        says.append(f"{name} take {asked}" if count > 1 else f"{name} takes {asked}")
    style.words(ax, 4, 110, "above: the 32 lanes\nof the warp;\n\nbelow: a row for each\nrequest, one after the\nother, filled for the\n"
                "lanes it serves", va="top", color=style.GREY)
    style.save(fig, "requests", "How the constant cache serves one load of a warp, traced from the kernel",
               "A warp of 32 lanes loads from constant memory. Each different word takes a request of its own, one after the other, "
               "and serves all lanes that want it: " + ", ".join(says) + ".")


def twelve():
    rows = {r["version"]: r for r in style.rows("default")}
    patterns, sources = ("block", "warp", "thread", "random"), ("constant", "global", "readonly")
    colors = {"constant": style.RED, "global": style.BLUE, "readonly": style.SKY}
    fig, ax = style.axes("time [us], logarithmic", height=4.3)
    said, y = [], 0
    for pattern in patterns:
        for source in sources:
            us = rows[f"{pattern}_{source}"]["median_ms"] * 1e3
            said.append(f"{pattern} {source} {us:.1f}")
            ax.barh(y, us, color=colors[source], height=0.8)
            style.label(ax, us, y, f"{us:,.0f}  {source}", shift=(4, 0), va="center")
            y -= 1
        y -= 0.6
    ax.set_xscale("log")
    ax.set_xlim(10, 12000)
    ax.xaxis.set_major_formatter(style.THOUSANDS)
    ax.set_yticks([-1 - 3.6 * k for k in range(4)],
                  ["one word\nper block", "one word\nper warp", "one word\nper thread", "scattered\nwords"])
    ax.grid(axis="y", visible=False)
    style.save(fig, "twelve", "Time of the twelve versions",
               "Bars on a logarithmic axis, 12.8 million additions, microseconds: " + ", ".join(said) + ".",
               list(rows.values()))


def sweep(ax, name, title):
    """Measured points of one sweep and the line through those of constant memory, which is returned with the rows."""
    rows = style.rows(name)
    x, y = style.series(rows, r"distinct=(\d+)")
    x_global, y_global = style.series(rows, r"global=(\d+)")
    slope, base = numpy.polyfit(x, y, 1)
    ax.plot([0, 32], [base, base + 32 * slope], color=style.PALE_RED, linewidth=6, solid_capstyle="round")
    ax.plot(x, y, color=style.RED, marker="s", markersize=3.5, linestyle="none")
    ax.plot(x_global, y_global, color=style.BLUE, marker="o", markersize=4.5, linewidth=1.2)
    fitted = f"constant, fitted:\n{base:.2f} + {slope:.2f} · words".replace("-", "\N{MINUS SIGN}")
    style.words(ax, 0.05, 0.82, fitted, color=style.RED, va="baseline", transform=ax.transAxes)
    style.words(ax, 32, y_global[-1] + 0.02 * max(y), "global", color=style.BLUE, ha="right", va="bottom")
    ax.set_title(title, fontsize=style.SMALL)
    ax.set_xticks(range(0, 33, 8))
    ax.set_xlim(0, 34)
    ax.set_ylim(bottom=0)
    return rows, base, slope


def sweeps():
    fig, (left, right) = style.axes("different words per load", ncols=2)
    rows, base, slope = sweep(left, "distinct", "Side by side, 1 KiB in all")
    _, far_base, far_slope = sweep(right, "spread", "5 KiB per lane, modulo 64 KiB")
    left.set_ylabel("time per load of a warp [ns]")
    style.save(fig, "sweep", "Time of a load from constant memory against the number of different words in it",
               f"Side by side the time grows along a straight line, {base:.2f} ns and {slope:.2f} ns for each word. With 5 KiB "
               f"from one lane's word to the next, round and round in 64 KiB, it bends upwards; the line fitted to it has {far_base:.2f} and {far_slope:.2f}. "
               "Loads from global memory stay far below.", rows)


requests()
twelve()
sweeps()
