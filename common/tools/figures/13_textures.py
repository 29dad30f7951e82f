# SPDX-License-Identifier: MIT
"""Chapter 13: what a warp of either shape reads of a turned image, address modes, times and L1 hits against the angle,
the error of the unit's weights."""

import math

from . import style, xray

PIXEL, PER_SECTOR, PARTS = 4, 8, 512  # bytes; pixels; steps of cosine and sine, as in textures.cu
SHAPES = {"32 x 1": (32, 1), "8 x 4": (8, 4)}  # pixels of the result that a warp has
BLOCKS = {"32 x 1": "32x8x1", "8 x 4": "8x32x1"}


def source(x, y, side, degrees):
    """The pixel of the image under pixel (x, y) of the result: (column, row)."""
    angle = math.radians(degrees)
    cosine, sine = (round(f(angle) * PARTS) for f in (math.cos, math.sin))
    right, down = 2 * x + 1 - side, 2 * y + 1 - side
    u = cosine * right + sine * down + side * PARTS
    v = cosine * down - sine * right + side * PARTS
    return u // (2 * PARTS), v // (2 * PARTS)


def read_by(shape, side, degrees, x, y):
    """The pixels that a warp reads whose first pixel of the result is (x, y)."""
    width, height = SHAPES[shape]
    return [source(x + i % width, y + i // width, side, degrees) for i in range(width * height)]


def sectors_of(pixels):
    return {(column // PER_SECTOR, row) for column, row in pixels}


def warps():
    """One warp of each shape, in an image turned by 30 and by 90 degrees."""
    for shape, block in BLOCKS.items():  # X-ray saw the first warp of a small image
        load = xray.only("warps", kernel="rotate_plain", operation="load", block=block)
        drawn = [row * 64 * PIXEL + column * PIXEL for column, row in read_by(shape, 64, 90, 0, 0)]
        first = min(drawn)
        if [d - first for d in drawn] != [lane - min(load.lanes) for lane in load.lanes]:
            raise ValueError(f"{shape}: X-ray saw other pixels than the drawing has")
        xray.equal(f"{shape}: sectors", len(sectors_of(read_by(shape, 64, 90, 0, 0))), load.per_request("sectors"))
    fig, ax = style.canvas(2.65)
    cell, says = 2.95, []
    for column, (shape, degrees) in enumerate((s, d) for d in (30, 90) for s in SHAPES):
        x0, y0 = 3 + 112 * column, 36
        pixels = read_by(shape, 8192, degrees, 4096, 4096)
        sectors = sectors_of(pixels)
        left = min(c for c, _ in sectors) * PER_SECTOR
        right = (max(c for c, _ in sectors) + 1) * PER_SECTOR
        left -= (36 - (right - left)) // 2
        top = min(row for _, row in pixels)
        top -= (36 - (max(row for _, row in pixels) - top + 1)) // 2
        style.box(ax, x0, y0, 36 * cell, 36 * cell, "#F4F4F4", weight=0)
        for sector, row in sorted(sectors):
            style.box(ax, x0 + (sector * PER_SECTOR - left) * cell, y0 + (row - top) * cell, PER_SECTOR * cell, cell,
                      style.SKY, style.GREY, 0.3)
        for c, row in pixels:
            style.box(ax, x0 + (c - left) * cell, y0 + (row - top) * cell, cell, cell, style.RED, weight=0)
        style.words(ax, x0, 10, f"warp of {shape}", style.SMALL, weight="bold")
        style.words(ax, x0, 25, f"turned by {degrees}°")
        style.words(ax, x0, y0 + 36 * cell + 12, f"{len(sectors)} sectors", color=style.BLUE, weight="bold")
        says.append(f"a warp of {shape} pixels at {degrees} degrees reads {len(sectors)} sectors")
    style.words(ax, 3, 180, "red: pixels that the 32 lanes want; blue: the sectors of 8 pixels they lie in", color=style.GREY)
    style.save(fig, "warps", "The pixels that one warp reads of a turned image",
               "A warp that covers a row of 32 pixels of the result reads along a slanted line of the image, one that covers 8 "
               "by 4 pixels reads a slanted patch: " + "; ".join(says) + ".")


def modes():
    """What the four address modes return along a line through four texels, by the unit and by hand."""
    rows = [r for r in style.rows("modes") if ", " in str(r["version"]) and "not" not in r["version"]]
    texels = [10, 20, 30, 40]

    def texel(index, mode):
        if mode == "border":
            return texels[index] if 0 <= index < 4 else 0
        if mode == "wrap":
            return texels[index % 4]
        if mode == "mirror":
            return texels[min(index % 8, 7 - index % 8)]
        return texels[max(0, min(3, index))]

    def linear(x, mode):
        left = math.floor(x - 0.5)
        return texel(left, mode) + (x - 0.5 - left) * (texel(left + 1, mode) - texel(left, mode))

    fig, axes = style.axes("place [texels]", "value", 4.2, nrows=2, ncols=2, sharex=True, sharey=True)
    for ax, mode in zip(axes.flat, ("clamp", "border", "wrap", "mirror")):
        ax.axvspan(0, 4, color="#EEEEEE", zorder=0)
        for i in range(-6, 10):
            ax.plot([i, i + 1], [texel(i, mode)] * 2, color=style.BLUE, linewidth=1.6, solid_capstyle="butt")
        xs = [i / 8 for i in range(-48, 81)]
        ax.plot(xs, [linear(x, mode) for x in xs], color=style.RED, linewidth=1.2, linestyle="--")
        for name, color, marker in (("nearest", style.BLUE, "o"), ("linear", style.RED, "s")):
            found = [(float(r["rate_unit"]), r["rate"]) for r in rows if r["version"] == f"{mode}, {name}"]
            ax.plot(*zip(*found), color=color, marker=marker, markersize=4.5, linestyle="")
        ax.set_title(mode)
        ax.set_xlim(-6, 10)
        ax.set_ylim(-3, 48)
    style.label(axes[0][0], 6.6, 40, "nearest", style.BLUE, (0, 4), ha="center")
    style.label(axes[0][1], 4.35, 5, "linear", style.RED, (6, 8))
    style.save(fig, "modes", "What a texture of four texels returns inside and outside of it",
               "Texels 10, 20, 30 and 40 lie between 0 and 4. Outside, clamp repeats the edge, border returns 0, wrap begins "
               "again, mirror goes back. Nearest is a staircase; linear is a straight line between the centres. The unit's "
               "values, marked, lie on the lines computed by hand.", rows)


COLORS = {"plain": style.BLUE, "squarish": style.GREEN, "array": style.RED}


def angles():
    """Time against the angle, one pixel per thread and four."""
    rows = style.rows("angle") + style.rows("angle_four")
    fig, ax = style.axes("turned by [degrees]", "time [µs], 4096 x 4096 pixels", height=4.3)
    ends, says = [], []
    for prefix, marker, dashes in (("", "o", "--"), ("four_", "s", "-")):
        for kind, color in COLORS.items():
            name = prefix + kind
            points = [(int(match[1]), 1e3 * row["median_ms"]) for match, row in style.matched(rows, name + r"@(\d+)")]
            ax.plot(*zip(*points), color=color, marker=marker, linestyle=dashes, markersize=5)
            ends.append((*points[-1], name, color))
            says.append(f"{name} {points[0][1]:.0f} µs at 0 and {points[-1][1]:.0f} µs at 90 degrees")
    ax.set_xlim(0, 122)
    ax.set_xticks(range(0, 91, 15))
    ax.set_ylim(0, 1.08 * max(e[1] for e in ends))
    style.label_ends(ax, ends)
    style.save(fig, "angles", "Time to turn an image, against the angle", "; ".join(says) + ".", rows)


def hits():
    """The share of sectors that the L1 had, and what it asked the L2 for."""
    rows = style.rows("h200_profile.csv")
    by_loads, by_fetches = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld", "l1tex__t_sectors_pipe_tex_mem_texture_op_tex"
    asked = {"plain": by_loads, "squarish": by_loads, "array": by_fetches}
    fig, (left, right) = style.axes("turned by [degrees]", height=3.5, ncols=2)
    says = []
    for name, metric in asked.items():
        def counts(which):
            return {int(r["args"].split()[-1]): r["measured"] for r in rows
                    if r["version"] == f"nearest_{name}" and r["metric"] == which}
        sectors, found = counts(metric + ".sum"), counts(metric + "_lookup_hit.sum")
        from_l2 = counts("lts__t_sectors_srcunit_tex_op_read.sum")
        at = sorted(sectors)
        rate = [100 * found[a] / sectors[a] for a in at]
        left.plot(at, rate, color=COLORS[name], marker="o", markersize=5)
        right.plot(at, [from_l2[a] / 1e6 for a in at], color=COLORS[name], marker="o", markersize=5)
        says.append(f"nearest_{name}: {rate[0]:.0f} % at {at[0]} degrees, {rate[-1]:.0f} % at {at[-1]}")
    left.set_ylim(0, 100)
    right.set_ylim(0, None)
    left.set_title("sectors found in the L1 [%]")
    right.set_title("sectors from the L2 [million]")
    for ax in (left, right):
        ax.set_xticks(range(0, 91, 30))
    for x, y, name in ((52, 60, "plain"), (30, 83, "array"), (40, 28, "squarish")):
        style.words(left, x, y, f"nearest_{name}", color=COLORS[name], va="baseline")
    style.save(fig, "hits", "What the L1 holds of a turned image, by Nsight Compute",
               "Hit rates of " + "; ".join(says) + ".", rows)


def weights():
    """A part of the square between four pixels, six steps of the unit on a side: what it returns, and how far off."""
    rows = style.rows("h200_picture.csv")
    side = 1 + max(r["column"] for r in rows)
    error = [[0.0] * side for _ in range(side)]
    for r in rows:
        error[r["row"]][r["column"]] = 1e3 * (r["unit"] - r["exact"])
    most = max(abs(e) for line in error for e in line)
    fig, (left, right) = style.axes("place [1/256 of a pixel]", height=3.7, ncols=2, gridspec_kw={"width_ratios": [1, 1.12]})
    line = [r for r in rows if r["row"] == side // 2 + 4]
    steps = [(r["column"] + 0.5) / 8 for r in line]
    left.plot(steps, [r["exact"] for r in line], color=style.BLUE, linewidth=1.5)
    left.plot(steps, [r["unit"] for r in line], color=style.RED, drawstyle="steps-mid", linewidth=1.5)
    left.set_title("value along a line")
    style.words(left, 0.04, 0.93, "exact", color=style.BLUE, va="baseline", transform=left.transAxes)
    style.words(left, 0.04, 0.84, "by the unit", color=style.RED, va="baseline", transform=left.transAxes)
    drawn = right.imshow(error, cmap="RdBu_r", vmin=-most, vmax=most, interpolation="none", extent=(0, 6, 6, 0))
    right.grid(visible=False)
    right.set_title("error [1/1000]")
    fig.colorbar(drawn, ax=right, shrink=0.8)
    style.save(fig, "weights", "Four pixels mixed by the texture unit, enlarged 256 times and more",
               f"Between pixels of 0, 1, 0.75 and 0.25 the unit returns a staircase whose steps are 1/256 of a pixel wide, "
               f"where the exact value is a smooth surface. The error is at most {most / 1e3:.4f}.", style.rows("weights"))


warps()
modes()
angles()
hits()
weights()
