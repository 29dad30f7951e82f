# SPDX-License-Identifier: MIT
"""What X-ray counted (the rows of a trace in results/xray.csv, written by make xray-traces), for the figures that draw it.

    from . import xray

    load = xray.only("versions", kernel="sum_strided", operation="load")
    load.lanes                  # byte offsets of the first request, None for an idle lane
    load.per_request("sectors")

The counts are X-ray's, and so are the passes through the banks. equal() ends the script when drawing and count
disagree.
"""

from . import style

LANES, BANKS = 32, 32  # of a warp; of shared memory
WORD, SECTOR, LINE = 4, 32, 128  # bytes


class Access(dict):
    """One load or store of a kernel: a row of the trace."""

    def __init__(self, row):
        super().__init__(row)
        self.bytes = row["bytes_per_lane"]
        self.lanes = [None if offset == "-" else int(offset) for offset in row["offsets"].split()]

    def per_request(self, column):
        return self[column] / self["requests"]

    def passes(self):
        """The passes through the banks that serve the first request: [{bank: lanes that it serves}]."""
        served = []
        pass_of = str(self["passes"]).split()
        for offset, lane in sorted((offset, lane) for lane, offset in enumerate(self.lanes) if offset is not None):
            number = int(pass_of[lane if len(pass_of) > 1 else 0])
            served += [{} for _ in range(number - len(served))]
            for word in range(offset // WORD, (offset + self.bytes - 1) // WORD + 1):
                served[number - 1].setdefault(word % BANKS, []).append(lane)
        return served


def equal(what, drawn, counted):
    """Returns `drawn`, if X-ray counted as many."""
    if drawn != counted:
        raise ValueError(f"{what}: {drawn:g} drawn, X-ray counted {counted:g}")
    return drawn


def accesses(topic, **wanted):
    """The rows of a trace in which these columns have these values."""
    wanted["trace"] = topic
    found = [Access(r) for r in style.rows("xray.csv") if all(r[k] == v for k, v in wanted.items())]
    if not found:
        raise ValueError(f"xray.csv: no row with {wanted}")
    return found


def only(topic, **wanted):
    """The one row of a trace in which these columns have these values."""
    found = accesses(topic, **wanted)
    if len(found) != 1:
        raise ValueError(f"xray.csv: {len(found)} rows with {wanted}, expected one")
    return found[0]


def sectors(access):
    """The 32-byte sectors that the first request touches, in their order."""
    first_bytes = [offset for offset in access.lanes if offset is not None]
    return sorted({byte // SECTOR for first in first_bytes for byte in (first, first + access.bytes - 1)})


def lines(access):
    """The 128-byte lines in which these lie."""
    return sorted({sector * SECTOR // LINE for sector in sectors(access)})


def strips(ax, x, y, cell, height, rows, face):
    """Rows of 32 cells, one below the other; in each row the cells of a set are filled."""
    for number, marked in enumerate(rows):
        runs = [i for i in sorted(marked) if i - 1 not in marked]  # neighbours are one rectangle
        for first in runs:
            last = next(i for i in range(first, LANES + 1) if i not in marked)
            style.box(ax, x + first * cell, y + number * height, (last - first) * cell, height, face, weight=0)
    across, down = [], []  # all lines of a direction are one path
    for i in range(len(rows) + 1):
        across += [(x, y + i * height), (x + LANES * cell, y + i * height), (None, None)]
    for i in range(LANES + 1):
        down += [(x + i * cell, y), (x + i * cell, y + len(rows) * height), (None, None)]
    for path in (across, down):
        ax.plot(*zip(*path), color=style.GREY, linewidth=0.5)


def strip(ax, x, y, cell, height, marked, face="#BDBDBD"):
    """One row of 32 cells."""
    strips(ax, x, y, cell, height, [marked], face)


def fan(ax, ends, top, bottom, color=style.GREY, **how):
    """Lines from points (x, top) to points (x, bottom), for the [(x above, x below)] given."""
    points = [point for above, below in ends for point in ((above, top), (below, bottom), (None, None))]
    ax.plot(*zip(*points), color=color, linewidth=0.6, **how)
