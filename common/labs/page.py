# SPDX-License-Identifier: MIT
"""The exercises on the teacher's page, chapters/README.md, and on the decks' last slides: filled from the exercises'
READMEs, the only source of minutes and points.

    labs.sh page            fills every region between `<!-- labs: 05 -->` or `<!-- labs: all -->` and `<!-- end -->`
"""

import glob
import os
import re

from .catalogue import read, write

PAGE = "chapters/README.md"
DECKS = "slides/[0-9][0-9]_*.md"
REGION = re.compile(r"(<!-- labs: (\d\d|all) -->\n)(.*?)(<!-- end -->)", re.S)


def table(rows):
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def one_chapter(labs):
    if not labs:
        return "No exercises yet.\n"
    rows = [("exercise", "kind", "minutes", "points"), ("---", "---", "--:", "--:")]
    for lab in labs:
        link = f"[{lab.number}. {lab.title}]({lab.chapter}/exercises/README.md)"
        rows.append((link, lab.kind or "?", str(lab.minutes or "?"), str(lab.points or "?")))
    return table(rows)


def all_chapters(labs):
    rows = [("chapter", "exercises", "minutes", "points"), ("---", "--:", "--:", "--:")]
    for chapter in sorted({lab.chapter for lab in labs}):
        here = [lab for lab in labs if lab.chapter == chapter]
        minutes, points = sum(lab.minutes or 0 for lab in here), sum(lab.points or 0 for lab in here)
        link = f"[{chapter[:2]} {chapter[3:].replace('_', ' ')}]({chapter}/exercises/README.md)"
        rows.append((link, str(len(here)), str(minutes), str(points)))
    total = (sum(lab.minutes or 0 for lab in labs), sum(lab.points or 0 for lab in labs))
    rows.append(("together", str(len(labs)), *map(str, total)))
    return table(rows)


def on_a_slide(labs):
    return "".join(f"{lab.number}. **{lab.title}**: {lab.kind}, {lab.minutes} minutes\n" for lab in labs)


def pages():
    return [path for path in [PAGE, *sorted(glob.glob(DECKS))] if os.path.exists(path)]


def filled(path, labs):
    """The page or deck as it should be."""

    def fill(match):
        which = match[2]
        here = [lab for lab in labs if lab.chapter[:2] == which]
        form = on_a_slide if path != PAGE else one_chapter
        return match[1] + (all_chapters(labs) if which == "all" else form(here)) + match[4]

    return REGION.sub(fill, read(path))


def stale(labs):
    """Pages that differ from what the exercises say."""
    return [path for path in pages() if filled(path, labs) != read(path)]


def main(labs):
    for path in stale(labs):
        write(path, filled(path, labs))
        print(f"filled: {path}")
    return 0
