# SPDX-License-Identifier: MIT
"""Fills numbers and marked regions of the notes from sources and measurements, or checks that they are up to date.

A measured number stands before its mark, 0.79<!--=global_modulo ms-->, with the decimals that it is to have. The mark's
key names a row and, as its last word, what of it:

    KEY    [CHAPTER:][KIND:]ROW[/ROW] VALUE        with two rows: the ratio of the one's value to the other's
    ROW    [SETTING:]VERSION[, COLUMN=VALUE ...]   of results/h200.csv, or of results/h200_KIND.csv, of this chapter or of
                                                   CHAPTER, 05. Without SETTING: the default one, or the first row's; of
                                                   several processes the first. A file without versions has kernels, or only
                                                   conditions. An option of the program, as in `angle=30`, is a column where
                                                   there are options.
    VALUE  a column; the unit of a rate, GB/s; ms, us and ns, the median; % (of_percent); x (speedup); arithmetic over these
           without blanks, rate/1000; or a counter that [counters] in the chapter's settings names, as measured, or as
           predicted, loads.predicted, from results/h200_profile.csv. Of many rows: least() and mean() of a value,
           the last one geometric, and count() or count(over_lt<0.9).

    94<!--=04:four_in_flight %-->                  1.11<!--=global_modulo/shared_modulo ms-->
    0.56<!--=latency:ring=4 MiB us-->              4.42<!--=shared_sequential instructions/1e6-->
    16<!--=xray:sum_block_shuffle shared_loads-->  1.231<!--=shapes:seed=41|42 mean(over_default)-->

What equals a result of the chapter and has no mark is reported (unmarked.py). Where it is none, a comment behind the
number says what it is: 1.06<!-- computed --> ms.

A deck is always built and never read as it is. It has placeholders, {{=global_modulo ms .2}}, with the decimals last, or
none: {{=wide_loads GB/s}}. A headline, below, has them, too, and so have the lengths of bars. Neither works in any
other code block.

A region is the text between a marker and the next `<!-- end -->`. Paths are relative to the Markdown
file; in a deck, slides/NN_name.md, to its chapter, chapters/NN_name/, so that a marker reads the same in
notes and deck; in a deck without a chapter, to the repository's root. Quotes in a deck hold no links.
Markers:

<!-- code: NAME [file="path.cu"] [from="text"] [to="text"] -->
    The function, struct, enum or constant NAME of the chapter's program (or of `file`), with the comment
    directly above it. `from` and `to` cut out the lines from the first that contains the one text to the
    next that contains the other. Blocks that begin in these are closed; `// ...` stands for what is left out.

<!-- table: results/h200.csv [more.csv ...] columns="SPEC, SPEC, ..." [where="COND, COND"] [sort="EXPR"]
     [first="N"] [caption="no"] -->
    A Markdown table, one line per CSV row. SPEC is `[Label=]EXPR[:format]`, EXPR a column's name or
    arithmetic over columns; the format is Python's (`.1f`, `,.0f`).
    COND is `column=value`, `!=`, `<`, `<=`, `>`, `>=`; `a|b` as a value means either. A line below the
    table names device, CUDA version, date and file.

<!-- pivot: results/h200.csv rows="EXPR" columns="EXPR" cell="EXPR[:format]" [where="..."] [caption="no"] -->
    One line per value of `rows`, one column per value of `columns`.

<!-- output: results/h200.txt [from="text"] [to="text"] -->
    A captured terminal output, or part of it.

<!-- table: chapters [from="NN"] [to="NN"] [answers="folded"] -->
    For the front page and the opening deck: one line per chapter, its question and one measured number,
    with answers="folded" after the question, in a fold, so that a reader can guess first.
    The number comes from a marker in the chapter's notes (a comment that shows nothing and needs no
    end):
<!-- headline: {{=wide_loads GB/s}} GB/s -->

<!-- minutes: 05 -->45<!-- end -->
    How long the deck of a chapter takes, summed up from its speaker notes; several chapters are added. `labs 05`
    adds the minutes of exercises; `shortest` or `longest`, also after `labs`, looks at all chapters.

<!-- plan: from="09:00" until="17:00" rows="deck 02; lab 02 1 2; pause 15: coffee; talk 10: questions" -->
    A table of times. A row is a deck (`deck 00 slides 1-7` is part of one), a chapter's exercises (without
    numbers all of them), a pause, or anything else. It is refused if it ends late, or if more than two hours
    have no pause.

<!-- weeks: lecture="90" lab="160" words="HEADER" rows="01 02, 03 | 01 02 + 03: WORDS | WORDS; 04 | 04 | " -->
    A table with a row for each week: its lectures, with commas between them, its lab session and, after +, labs to
    do at home, and words. It adds the hours at home, half of one for each lesson and those labs, and which labs are
    handed in by then, with their points. It is refused if a lecture or a session takes more minutes than that, or
    if a chapter comes twice.

<!-- features: works -->
    What of CUDA works without a GPU, as lines above the backend's tests say. For common/cpu/README.md.
"""

import argparse
import glob
import os
import re
import sys

from .keys import MARK, PLACEHOLDER, filled, like, look_up
from .markers import Problem, parse_marker
from .regions import MAKERS
from .unmarked import unmarked

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


def outside_fences(pattern, text):
    spans = [fence.span() for fence in FENCE.finditer(text) if not (pattern is PLACEHOLDER and fence[0].lstrip().startswith("```bars "))]
    return [match for match in pattern.finditer(text) if not any(a <= match.start() < b for a, b in spans)]


def line_of(text, match):
    return text.count("\n", 0, match.start()) + 1


def with_numbers(folder, text):
    """The text with the number before each mark refreshed, and the list of (line, message) of what was wrong or changed."""
    result, messages, position = "", [], 0
    for mark in outside_fences(MARK, text):
        shown, key = mark.groups("")
        try:
            wanted = like(shown, look_up(folder, key)[0])
        except Problem as problem:
            messages.append((line_of(text, mark), f"<!--={key}-->: {problem}"))
            continue
        if wanted != shown:
            messages.append((line_of(text, mark), f"{shown} drifted from {wanted}, which is {key}; run make notes"))
        result += text[position : mark.start()] + wanted
        position = mark.start() + len(shown)
    return result + text[position:], messages


def with_placeholders_filled(folder, text):
    """A deck's text as it is shown, and what is wrong with its placeholders."""
    result, messages, position = "", [], 0
    for placeholder in outside_fences(PLACEHOLDER, text):
        try:
            result += text[position : placeholder.start()] + filled(folder, placeholder[0])[0]
            position = placeholder.end()
        except Problem as problem:
            messages.append((line_of(text, placeholder), f"{placeholder[0]}: {problem}"))
    return result + text[position:], messages


def refresh(path, text):
    """The text with numbers and regions filled, and the list of (line, message) of what was wrong or changed."""
    folder, is_deck = start_of_paths(path)
    if is_deck:
        messages = with_placeholders_filled(folder, text)[1]
    else:
        text, messages = with_numbers(folder, text)
        if os.path.exists(os.path.join(folder, "results/h200.csv")):
            messages += unmarked(folder, text)
    result, position = "", 0
    for marker in outside_fences(MARKER, text):
        if marker.start() < position:
            continue
        line = line_of(text, marker)
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
        if kind == "minutes" and "\n" in text[marker.end() : end.start()]:
            wanted = wanted.strip()
        if text[marker.end() : end.start()] != wanted:
            messages.append((line, f"{kind} drifted from {source}; run make notes"))
        result += text[position : marker.end()] + wanted
        position = end.start()
    return result + text[position:], messages


def fill(folder, decks):
    """Writes the decks into the folder, with their numbers. Status 1 if a placeholder was left."""
    status = 0
    for path in decks:
        with open(path, encoding="utf-8") as file:
            text, messages = with_placeholders_filled(start_of_paths(path)[0], file.read())
        for line, message in messages:
            print(f"{path}:{line}: {message}")
            status = 1
        with open(os.path.join(folder, os.path.basename(path)), "w", encoding="utf-8") as file:
            file.write(text)
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail where a region has drifted")
    parser.add_argument("--fill", metavar="FOLDER", help="write the decks that are named into it, with numbers for placeholders")
    parser.add_argument("files", nargs="*", metavar="FILE.md", help="without: the front page, all notes and decks")
    options = parser.parse_args()
    files, check_only = options.files, options.check
    if options.fill:
        return fill(options.fill, files)
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
