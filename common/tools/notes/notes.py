#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills the marked regions of the notes from sources and measurements, or checks that they are up to date.

A region is the text between a marker and the next `<!-- end -->`. Paths are relative to the Markdown
file; in a deck, slides/NN_name.md, to its chapter, chapters/NN_name/, so that a marker reads the same in
notes and deck; in a deck without a chapter, to the repository's root. Quotes in a deck hold no links.
Markers:

<!-- code: NAME [file="path.cu"] [from="text"] [to="text"] -->
    The function, struct, enum or constant NAME of the chapter's program (or of `file`), with the comment
    directly above it. `from` and `to` cut out the lines from the first that contains the one text to the
    next that contains the other. NAME `header` is the comment at the top of the file.

<!-- table: results/h200.csv [more.csv ...] columns="SPEC, SPEC, ..." [where="COND, COND"] [sort="EXPR"]
     [first="N"] [caption="no"] -->
    A Markdown table, one line per CSV row. SPEC is `[Label=]EXPR[:format]`, EXPR a column's name or
    arithmetic over columns; the format is Python's (`.1f`, `,.0f`), or `size` for 268435456 -> 256 Mi.
    COND is `column=value`, `!=`, `<`, `<=`, `>`, `>=`; `a|b` as a value means either. A line below the
    table names device, CUDA version, date and file.

<!-- pivot: results/h200.csv rows="EXPR" columns="EXPR" cell="EXPR[:format]" [where="..."] [caption="no"] -->
    One line per value of `rows`, one column per value of `columns`.

<!-- value: results/h200.csv row="COND, COND" column="EXPR" [over="COND"] [format=".1f"] -->...<!-- end -->
    One number inside a sentence. With `over`: divided by the same expression in that other row.
    Instead of `over`, all="geometric mean" is one number of all such rows; so are least, greatest and rows, and
    "at least 1" and "under 0.9", which count.

<!-- output: results/h200.txt [from="text"] [to="text"] -->
    A captured terminal output, or part of it.

<!-- table: chapters [from="NN"] [to="NN"] [answers="folded"] -->
    For the front page and the opening deck: one line per chapter, its question and one measured number,
    with answers="folded" after the question, in a fold, so that a reader can guess first.
    The number comes from a marker in the chapter's notes (a comment that shows nothing and needs no
    end):
<!-- headline: results/h200.csv row="COND" column="EXPR" [over="COND"] [format=".0f"] text="{} GB/s" -->

<!-- minutes: 05 -->45<!-- end -->
    How long the deck of a chapter takes, summed up from its speaker notes; several chapters are added. `labs 05`
    adds the minutes of exercises; `shortest` or `longest`, also after `labs`, looks at all chapters.

<!-- plan: from="09:00" until="17:00" rows="deck 02; lab 02 1 2; pause 15: coffee; talk 10: questions" -->
    A table of times. A row is a deck (`deck 00 slides 1-7` is part of one), a chapter's exercises (without
    numbers all of them), a pause, or anything else. It is refused if it ends late, or if more than two hours
    have no pause.

<!-- weeks: lecture="90" lab="160" words="HEADER" rows="01 02, 03 | 01 02: more is homework | WORDS; 04 | 03 | " -->
    A table with a row for each week: its lectures, with commas between them, its lab session, and words. It is
    refused if a lecture or a session takes more minutes than that, or if a chapter comes twice.

<!-- features: works -->
    What of CUDA works without a GPU, as lines above the backend's tests say, or, with `refused`, what is refused
    by name. For common/cpu/README.md.
"""

import argparse
import glob
import os
import re
import sys

from markers import Problem, parse_marker
from regions import MAKERS

MARKER = re.compile(rf"<!--\s*({'|'.join(MAKERS)}):\s*(.*?)\s*-->", re.S)
END = re.compile(r"<!--\s*end\s*-->")
FENCE = re.compile(r"^\s*(```+).*?^\s*\1\s*$", re.S | re.M)  # outside of regions; a marker in it is only an example


def start_of_paths(path):
    """The folder that the paths in a file's markers start from, and whether the file is a deck."""
    folder, name = os.path.split(path)
    folder = folder or "."
    if os.path.basename(os.path.abspath(folder)) != "slides":
        return folder, False
    root = os.path.normpath(os.path.join(folder, os.pardir))
    chapter = os.path.join(root, "chapters", os.path.splitext(name)[0])
    return (chapter if os.path.isdir(chapter) else root), True


def without_links(text):
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)


def refresh(path, text):
    """The text with every region filled, and the list of (line, message) of what was wrong or changed."""
    folder, is_deck = start_of_paths(path)
    result, messages = "", []
    position = 0
    spans = [fence.span() for fence in FENCE.finditer(text)]
    for marker in MARKER.finditer(text):
        if marker.start() < position or any(a <= marker.start() < b for a, b in spans):
            continue
        line = text.count("\n", 0, marker.start()) + 1
        end = END.search(text, marker.end())
        following = MARKER.search(text, marker.end())
        kind = marker.group(1)
        what = f"{kind}: {' '.join(marker.group(2).split())}"
        if end is None or (following and following.start() < end.start() and kind != "output"):
            messages.append((line, f"{what}: no <!-- end --> follows"))
            continue
        try:
            wanted, source = MAKERS[kind](folder, *parse_marker(marker.group(2)))
        except Problem as problem:
            messages.append((line, f"{kind}: {problem}"))
            continue
        if is_deck and kind in ("table", "pivot"):
            wanted = without_links(wanted)
        if kind in ("value", "minutes") and "\n" in text[marker.end() : end.start()]:
            wanted = wanted.strip()
        if text[marker.end() : end.start()] != wanted:
            messages.append((line, f"{kind} drifted from {source}; run make notes"))
        result += text[position : marker.end()] + wanted
        position = end.start()
    return result + text[position:], messages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail where a region has drifted")
    parser.add_argument("files", nargs="*", metavar="FILE.md", help="without: the front page, all notes and decks")
    options = parser.parse_args()
    files, check_only = options.files, options.check
    if not files:
        files = [f for f in ["README.md", "chapters/README.md", "chapters/exam_questions.md", "common/cpu/README.md"] if os.path.exists(f)]
        files += sorted(glob.glob("chapters/*/README.md") + glob.glob("chapters/*/lab_notes.md")) + sorted(glob.glob("slides/*.md"))
    status = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        refreshed, messages = refresh(path, text)
        for line, message in messages:
            is_drift = message.endswith("run make notes")
            if is_drift and not check_only:
                continue
            print(f"{path}:{line}: {message}")
            status = 1
        if not check_only and refreshed != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(refreshed)
            print(f"refreshed {path}")
    return status


if __name__ == "__main__":
    sys.exit(main())
