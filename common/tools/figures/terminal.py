# SPDX-License-Identifier: MIT
"""A captured output as a picture of a terminal: SVG with the text as text.

    import terminal

    terminal.save("terminal", "h200.txt", command="make run CH=05", title="...", desc="...")

writes chapters/NN_name/figures/terminal.svg from chapters/NN_name/results/h200.txt, character for
character. Only the colours are made up: the rules of tables are dimmed.
"""

import re
from xml.sax.saxutils import escape

import style

# Every text on its ground has a contrast of at least 4.5 (WCAG AA).
GROUND, BAR, TEXT, DIM, DOT = "#10151C", "#232B36", "#E6EDF3", "#8B98A8", "#5B6676"
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
CELL_WIDTH, LINE_HEIGHT, FONT_SIZE = 8, 19, 13
MARGIN, BAR_HEIGHT = 20, 34


def _dimmed(line):
    """The line as SVG, with the rules of a Markdown table in grey."""
    pieces = re.split(r"(\|(?: *:?-{2,}:? *\|)*)", line)
    return "".join(
        f'<tspan fill="{DIM}">{escape(piece)}</tspan>' if piece.startswith("|") else escape(piece) for piece in pieces
    )


def _text(line, x, y, content, fill=TEXT):
    # textLength keeps columns straight in whatever monospaced font there is.
    return (
        f'<text x="{x}" y="{y}" fill="{fill}" textLength="{len(line) * CELL_WIDTH}" xml:space="preserve">{content}</text>'
    )


def draw(text, command, title, desc):
    """The SVG of a terminal in which `command` has printed `text`."""
    lines = text.rstrip("\n").split("\n")
    width = max(len(line) for line in lines) * CELL_WIDTH + 2 * MARGIN
    first = BAR_HEIGHT + MARGIN + FONT_SIZE - 3
    height = first + (len(lines) - 1) * LINE_HEIGHT + MARGIN
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' role="img" aria-labelledby="title desc">',
        f' <title id="title">{escape(title)}</title>',
        f' <desc id="desc">{escape(desc)}</desc>',
        f' <rect width="{width}" height="{height}" rx="10" fill="{GROUND}"/>',
        f' <path d="M0 {BAR_HEIGHT}V10A10 10 0 0 1 10 0H{width - 10}A10 10 0 0 1 {width} 10V{BAR_HEIGHT}Z" fill="{BAR}"/>',
    ]
    svg += [f' <circle cx="{MARGIN + 18 * i}" cy="{BAR_HEIGHT // 2}" r="5" fill="{DOT}"/>' for i in range(3)]
    svg.append(f' <g font-family="{FONT}" font-size="{FONT_SIZE}">')
    prompt = "$ " + command
    content = f'<tspan fill="{DIM}">$ </tspan>{escape(command)}'
    svg.append("  " + _text(prompt, MARGIN + 64, BAR_HEIGHT // 2 + 5, content))
    for number, line in enumerate(lines):
        if line:
            svg.append("  " + _text(line, MARGIN, first + number * LINE_HEIGHT, _dimmed(line)))
    svg += [" </g>", "</svg>", ""]
    return "\n".join(svg)


def save(name, results, command, title, desc, of_chapter=None):
    """Writes chapters/NN_name/figures/NAME.svg from what results/RESULTS holds."""
    style.write(name, draw(style.output(results, of_chapter), command, title, desc), of_chapter)
