# SPDX-License-Identifier: MIT
"""Chapter 18: what two kernels in two contexts take, beside the kernels and the switches."""

from . import style

default, short = style.rows("default"), style.rows("short")


def times(rows):
    return {row["version"]: row["median_ms"] for row in rows}


measured = times(default)
switches = measured["take_turns"] - measured["stay"]  # there and back

fig, axes = style.axes(height=4.1, nrows=2)
told = []
for ax, rows, title in ((axes[0], short, "64 Ki steps"), (axes[1], default, "4 Mi steps")):
    ms = times(rows)
    kernel, both = ms["one_kernel"], ms["two_contexts"]
    names = ["one_kernel", "one_context", "two_contexts", "kernels and switches"]
    ax.barh(0, kernel, color=style.BLUE, height=0.66)
    ax.barh(1, ms["one_context"], color=style.BLUE, height=0.66)
    ax.barh(2, both, color=style.RED, height=0.66)
    for k in range(2):
        ax.barh(3, kernel, left=k * kernel, color=style.BLUE, edgecolor="white", height=0.66)
    ax.barh(3, switches, left=2 * kernel, color=style.YELLOW, edgecolor=style.GREY, linewidth=0.6, height=0.66)
    for row, value in enumerate((kernel, ms["one_context"], both, 2 * kernel + switches)):
        style.label(ax, value, row, f"{value:.3f}" if value < 1 else f"{value:.2f}", shift=(4, 0), va="center")
    ax.set_title(title)
    ax.set_yticks(range(4), names)
    ax.set_ylim(3.6, -0.6)
    ax.set_xlim(0, 1.16 * max(both, 2 * kernel + switches))
    ax.grid(axis="y", visible=False)
    told.append(f"With {title} two_contexts takes {both:.3g} ms; two kernels and two switches make {2 * kernel + switches:.3g} ms.")
axes[-1].set_xlabel("time [ms]   (yellow: two switches)")
style.save(fig, "switches", "Two kernels in two contexts, and what they are made of",
           "Two kernels in one context take as long as one. " + " ".join(told), default)
