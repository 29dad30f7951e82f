# SPDX-License-Identifier: MIT
"""A captured output as a picture of a terminal: SVG with the text as text.

    from . import terminal_picture

    terminal_picture.save("terminal", "h200.txt", command="make run CH=05", title="...", desc="...")

writes chapters/NN_name/figures/terminal.svg from chapters/NN_name/results/h200.txt, character for
character. Only the colours are made up: the rules of tables are dimmed. For a telephone narrowed() leaves out columns.
"""

import re
import textwrap
from xml.sax.saxutils import escape

from . import style

# Every text on its ground has a contrast of at least 4.5 (WCAG AA).
GROUND, BAR, TEXT, DIM, DOT = "#10151C", "#232B36", "#E6EDF3", "#8B98A8", "#5B6676"
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
CELL_WIDTH, LINE_HEIGHT, FONT_SIZE = 8, 19, 13
MARGIN, BAR_HEIGHT = 20, 34


def _dimmed(line):
    """The line as SVG, with the rules of a Markdown table in grey."""
    return re.sub(r"(\|(?: *:?-{2,}:? *\|)*)", rf'<tspan fill="{DIM}">\1</tspan>', escape(line))


def _text(line, x, y, content):
    # textLength keeps columns straight in whatever monospaced font there is.
    length = len(line) * CELL_WIDTH
    return f'  <text x="{x}" y="{y}" fill="{TEXT}" textLength="{length}" xml:space="preserve">{content}</text>'


def narrowed(text, columns):
    """A captured output for a telephone: of its table these columns, none wider than it must be; other lines are broken
    where they have a "·"."""
    lines = text.rstrip("\n").split("\n")
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines if line.startswith("|")]
    kept = [[row[rows[0].index(column)] for column in columns] for row in rows]
    to_right = [cell.endswith(":") for cell in kept[1]]
    widths = [max(len(cell) for cell in column[:1] + column[2:]) for column in zip(*kept)]
    kept[1] = ["-" * (width - right) + ":" * right for width, right in zip(widths, to_right)]
    table = [" | ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(row, widths, to_right))
             for row in kept]
    whole = "\u00a0"  # no line is broken here
    words = [re.sub("(?<!·) (?!·)", whole, line) for line in lines if not line.startswith("|")]
    above = [part.replace(whole, " ") for line in words for part in textwrap.wrap(line, len(table[0]) + 4) or [""]]
    return "\n".join(above + [f"| {row} |" for row in table])


def save(name, results, command, title, desc, columns=()):
    """Writes chapters/NN_name/figures/NAME.svg: a terminal in which `command` has printed what results/RESULTS holds, of its
    tables only these columns where some are named."""
    text = style.output(results)
    lines = (narrowed(text, columns) if columns else text).rstrip("\n").split("\n")
    width = max(len(line) for line in lines) * CELL_WIDTH + 2 * MARGIN
    first = BAR_HEIGHT + MARGIN + FONT_SIZE - 3
    height = first + (len(lines) - 1) * LINE_HEIGHT + MARGIN
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f' <rect width="{width}" height="{height}" rx="10" fill="{GROUND}"/>',
        f' <path d="M0 {BAR_HEIGHT}V10A10 10 0 0 1 10 0H{width - 10}A10 10 0 0 1 {width} 10V{BAR_HEIGHT}Z" fill="{BAR}"/>',
    ]
    svg += [f' <circle cx="{MARGIN + 18 * i}" cy="{BAR_HEIGHT // 2}" r="5" fill="{DOT}"/>' for i in range(3)]
    svg.append(f' <g font-family="{FONT}" font-size="{FONT_SIZE}">')
    prompt = f'<tspan fill="{DIM}">$ </tspan>{escape(command)}'
    svg.append(_text("$ " + command, MARGIN + 64, BAR_HEIGHT // 2 + 5, prompt))
    for number, line in enumerate(lines):
        if line:
            svg.append(_text(line, MARGIN, first + number * LINE_HEIGHT, _dimmed(line)))
    svg += [" </g>", "</svg>", ""]
    style.write(name, "\n".join(svg), title, desc)
