# SPDX-License-Identifier: MIT
"""Chapter 18: when the device runs which of two kernels, in one context and in two."""

from . import style

rows = style.rows("slices")
panels = {"one_context": ("kernels in two streams of one context", ("stream 1", "stream 2")),
          "two_contexts": ("kernels in two contexts", ("context a", "context b"))}
fig, axes = style.axes(height=3.5, nrows=2, sharex=True)
told = {}
for ax, (version, (title, names)) in zip(axes, panels.items()):
    found = style.matched(rows, version + r" kernel=(\d) piece=(\d+) (begin|end)")
    at = {(int(match[1]), int(match[2]), match[3]): row["rate"] for match, row in found}
    pieces = sorted((at[k, n, "begin"], at[k, n, "end"], k) for k, n, mark in at if mark == "begin")
    for begin, end, k in pieces:
        ax.barh(k, end - begin, left=begin, color=(style.BLUE, style.ORANGE)[k], height=0.8)
    ax.set_title(title)
    ax.set_yticks(range(2), names)
    ax.set_ylim(1.6, -0.6)
    ax.grid(axis="y", visible=False)
    told[version] = max(end for _, end, _ in pieces), len(pieces)
axes[-1].set_xlabel("time by the clock of all multiprocessors [ms]")
axes[-1].set_xlim(0, 1.02 * told["two_contexts"][0])
style.save(fig, "slices", "When two kernels run, in one context and in two",
           f"In one context both run at once and end after {told['one_context'][0]:.1f} ms. In two contexts the device goes "
           f"from one to the other: {told['two_contexts'][1]} pieces, with a gap before each but the first; the end is at "
           f"{told['two_contexts'][0]:.1f} ms.", rows)
