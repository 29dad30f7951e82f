# SPDX-License-Identifier: MIT
"""A Markdown table, and the line below it that says where its numbers come from."""

import re


def caption(rows):
    """'NVIDIA H200, CUDA 13.0, driver 580.65, 2026-01-31; [results/h200.csv](results/h200.csv)'"""

    def values(column):
        return list(dict.fromkeys(r[column] for r in rows if r.get(column)))

    parts = values("device")
    parts += ["CUDA " + v for v in values("cuda")]
    dates = sorted(values("date"))
    if dates:
        parts.append(dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}")
    files = ", ".join(f"[{n}]({n})" for n in dict.fromkeys(r["_file"] for r in rows))
    return f"*{', '.join(parts)}{'; ' if parts else ''}data: {files}*"


def markdown_table(header, body, numeric, *below):
    """The text of a region: a table, and the lines below it. `numeric`: for each column, whether it has numbers."""
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in [header] + body]
    widths = [max(3, *map(len, column)) for column in zip(*escaped)]

    def line(cells):
        return "| " + " | ".join(c.rjust(w) if n else c.ljust(w) for c, w, n in zip(cells, widths, numeric)) + " |"

    rule = "|" + "|".join("-" * (w + 1) + ":" if n else "-" * (w + 2) for w, n in zip(widths, numeric)) + "|"
    return "\n".join(["", line(escaped[0]), rule, *map(line, escaped[1:]), *below, ""])


def table_of_results(header, body, rows, attributes):
    """A table in which columns of numbers are found, with its caption unless the marker wants none."""
    below = [] if attributes.get("caption") == "no" else ["", caption(rows)]
    return markdown_table(header, body, [is_number_column(column) for column in zip(*body)], *below)


def is_number_column(cells):
    shown = [c for c in cells if c != "-"]
    return bool(shown) and all(re.match(r"^-?[\d.,]+(?:e[+-]?\d+)?( [KMG]i)?$", c) for c in shown)
