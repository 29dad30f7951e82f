# SPDX-License-Identifier: MIT
"""The tables of exercises on the teacher's page, chapters/README.md: filled from the exercises' own READMEs, which alone
say how many minutes and points an exercise is.

    labs.sh page            fills every region between `<!-- labs: 05 -->` or `<!-- labs: all -->` and `<!-- end -->`
"""

import os
import re

from catalogue import read

PAGE = "chapters/README.md"
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


def filled(labs):
    """The page as it should be."""

    def fill(match):
        which = match[2]
        text = all_chapters(labs) if which == "all" else one_chapter([l for l in labs if l.chapter[:2] == which])
        return match[1] + text + match[4]

    return REGION.sub(fill, read(PAGE))


def is_current(labs):
    return not os.path.exists(PAGE) or filled(labs) == read(PAGE)


def main(labs):
    text = filled(labs)
    if text != read(PAGE):
        with open(f"{PAGE}.partial", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{PAGE}.partial", PAGE)
        print(f"filled: {PAGE}")
    return 0
