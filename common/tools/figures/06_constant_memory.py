# SPDX-License-Identifier: MIT
"""Chapter 06: how a constant cache serves a warp, the twelve versions, and the sweep with its line."""

import matplotlib.pyplot as plt
import style

LANES = 8  # of the picture; a warp has 32


def requests():
    """Three loads of a warp: the words its lanes ask for, and the steps in which they are served."""
    loads = [("All lanes want one word", [5] * LANES), ("Two different words", [5, 5, 5, 5, 9, 9, 9, 9]),
             ("Eight different words", list(range(LANES)))]
    fig, all_axes = plt.subplots(1, 3, figsize=(7.2, 3.6))
    for ax, (title, words) in zip(all_axes, loads):
        ax.set_title(title, fontsize=10.5)
        ax.axis("off")
        ax.set_xlim(-0.3, LANES + 0.1)
        ax.set_ylim(-LANES - 1.2, 1.8)
        steps = sorted(set(words))
        for lane, word in enumerate(words):
            ax.add_patch(plt.Rectangle((lane + 0.06, 0.1), 0.88, 0.8, facecolor="#E8F3FA", edgecolor=style.GREY,
                                       linewidth=0.8))
            ax.text(lane + 0.5, 0.5, f"w{word}", ha="center", va="center", fontsize=7.5)
        for step, word in enumerate(steps):
            for lane in range(LANES):
                served = words[lane] == word
                ax.add_patch(plt.Rectangle((lane + 0.06, -step - 1.0), 0.88, 0.74,
                                           facecolor=style.ORANGE if served else "white", edgecolor=style.GREY,
                                           linewidth=0.5))
        ax.text(LANES / 2, -len(steps) - 0.55, f"{len(steps)} request{'s' if len(steps) > 1 else ''}", ha="center",
                va="center", fontsize=10)
        ax.text(0.06, 1.1, "the word each lane wants", fontsize=8, color=style.GREY, va="bottom")
    style.save(fig, "requests", "How the constant cache serves one load of a warp",
               "A warp, drawn with eight lanes, loads from constant memory. If all lanes want the same word, one request "
               "serves them all; two different words take two requests, one after the other; eight take eight.")


def twelve():
    rows = {r["version"]: r for r in style.rows("h200.csv")}
    patterns, sources = ("block", "warp", "thread", "random"), ("constant", "global", "readonly")
    colors = {"constant": style.RED, "global": style.BLUE, "readonly": style.SKY}
    fig, ax = style.axes("time [us], logarithmic", size=(7.2, 4.4))
    said, y = [], 0
    for pattern in patterns:
        for source in sources:
            us = rows[f"{pattern}_{source}"]["median_ms"] * 1e3
            said.append(f"{pattern} {source} {us:.1f}")
            ax.barh(y, us, color=colors[source], height=0.8)
            ax.annotate(f"{us:.0f}  {source}", (us, y), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9)
            y -= 1
        y -= 0.6
    ax.set_xscale("log")
    ax.set_xlim(10, 6000)
    ax.xaxis.set_major_formatter(plt.FuncFormatter(lambda us, _: f"{us:,.0f}"))
    ax.set_yticks([-1 - 3.6 * k for k in range(4)],
                  ["one word\nper block", "one word\nper warp", "one word\nper thread", "scattered\nwords"])
    ax.grid(axis="y", visible=False)
    style.source(fig, list(rows.values()))
    style.save(fig, "twelve", "Time of the twelve versions",
               "Bars on a logarithmic axis, 12.8 million additions, microseconds: " + ", ".join(said) + ".")


def sweep(ax, name, title, label_at):
    """Measured points of one sweep and the line through those of constant memory. Returns rows and line."""
    rows = style.rows(name)
    found = {}
    for kind in ("distinct", "global"):
        chosen = [r for r in rows if str(r["version"]).startswith(kind + "=")]
        found[kind] = ([int(r["version"].split("=")[1]) for r in chosen], [r["rate"] for r in chosen])
    x, y = found["distinct"]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)
    base = mean_y - slope * mean_x
    ax.plot([0, 32], [base, base + 32 * slope], color="#F5C9A9", linewidth=6, solid_capstyle="round")
    ax.plot(x, y, color=style.RED, marker="o", markersize=3.5, linestyle="none")
    ax.plot(*found["global"], color=style.BLUE, marker="o", markersize=3.5, linewidth=1.2)
    fitted = f"constant, fitted:\n{base:.2f} + {slope:.2f} · words".replace("-", "\N{MINUS SIGN}")
    ax.text(*label_at, fitted, transform=ax.transAxes, color=style.RED)
    ax.text(32, found["global"][1][-1] + 0.02 * max(y), "global", color=style.BLUE, ha="right", va="bottom")
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_xlabel("different words per load")
    ax.set_xlim(0, 34)
    ax.set_ylim(bottom=0)
    return rows, base, slope


def sweeps():
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.2, 4.0))
    rows, base, slope = sweep(left, "h200_distinct.csv", "Side by side, 1 KiB in all", (0.05, 0.82))
    _, far_base, far_slope = sweep(right, "h200_spread.csv", "5 KiB apart, 64 KiB in all", (0.05, 0.82))
    left.set_ylabel("time per load of a warp, on its SM [ns]")
    style.source(fig, rows)
    style.save(fig, "sweep", "Time of a load from constant memory against the number of different words in it",
               f"Side by side the time grows along a straight line, {base:.2f} ns and {slope:.2f} ns for each word. With the "
               f"words 5 KiB apart it bends upwards; the line fitted to it has {far_base:.2f} and {far_slope:.2f}. "
               "Loads from global memory stay far below.")


requests()
twelve()
sweeps()
