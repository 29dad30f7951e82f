# SPDX-License-Identifier: MIT
"""Makes the text of a region: one function per kind of marker. notes.py describes the markers."""

import glob
import html
import os
import re

from .cpp_declarations import cut, dedented, find_code, with_blocks_closed
from .features import make_features
from .keys import PLACEHOLDER, filled
from .lecture_minutes import make_minutes, make_plan, make_weeks
from .markers import Problem, allow, chapter_source, need, read_text, title_of
from .measurements import as_number, evaluate, formatted, read_rows, select, split_list
from .tables import markdown_table, table_of_results

CPP = ("cuda", "cpp")  # as fences call the languages of programs
GUESS = re.compile(r"<details><summary><b>Guess\.</b>.*?</details>", re.S)  # a question of a lesson, and its answer


def quotation(path, lines, first, where, attributes, language):
    """What `from` and `to` cut out of these lines of a file, which begin with line `first`, and where it stands."""
    lines, first = cut(lines, first, where, attributes.get("from"), attributes.get("to"))
    if language in CPP:
        lines = with_blocks_closed(lines, first, path)
    lines = dedented(lines)
    ticks = "```"
    while any(ticks in line for line in lines):
        ticks += "`"
    return "\n".join(["", ticks + language, *lines, ticks, ""]), f"{path}:{first}"


def make_code(folder, positional, attributes):
    allow(attributes, "file", "from", "to")
    if len(positional) != 1:
        raise Problem("expected one name")
    path = os.path.normpath(os.path.join(folder, attributes.get("file") or chapter_source(folder)))
    first, last = find_code(path, positional[0])
    language = CPP[0] if path.endswith((".cu", ".cuh")) else CPP[1]
    return quotation(path, read_text(path).split("\n")[first - 1 : last], first, f"{positional[0]} in {path}", attributes, language)


def make_output(folder, positional, attributes):
    allow(attributes, "from", "to")
    if len(positional) != 1:
        raise Problem("expected one file")
    path = os.path.normpath(os.path.join(folder, positional[0]))
    lines = [line.rstrip() for line in read_text(path).rstrip("\n").split("\n")]
    return quotation(path, lines, 1, path, attributes, "text")


def make_chapter_table(folder, attributes):
    """The table of chapters on the front page and in the opening deck: question and one measured number of each."""
    allow(attributes, "from", "to", "answers")
    is_folded = attributes.get("answers") == "folded"
    if "answers" in attributes and not is_folded:
        raise Problem(f'answers="{attributes["answers"]}": only "folded" is known')
    body, devices = [], {}
    for notes in sorted(glob.glob(os.path.join(folder, "chapters", "[0-9][0-9]_*", "README.md"))):
        chapter_folder = os.path.dirname(notes)
        chapter = os.path.basename(chapter_folder)
        if not attributes.get("from", "00") <= chapter[:2] <= attributes.get("to", "99"):
            continue
        source = read_text(os.path.join(chapter_folder, chapter_source(chapter_folder)))
        question = re.search(r"^// Chapter \d+: *(.*)$", source, re.M)
        lesson = read_text(notes)
        headline = re.search(r"<!--\s*headline:\s*(.*?)\s*-->", lesson, re.S)
        number_text = "-"
        if headline:
            for key in (placeholder[1] for placeholder in PLACEHOLDER.finditer(headline[1])):
                if any(f"<!--={key}-->" in answer for answer in GUESS.findall(lesson)):
                    raise Problem(f"the headline of {os.path.normpath(notes)} shows {key}, which answers a guess there")
            number_text, row = filled(chapter_folder, headline[1])
            devices[row.get("device", "")] = None  # chapter 00 measures nothing
        link = f"[{title_of(notes)}](chapters/{chapter}/README.md)"
        asked = question.group(1) if question else ""
        if is_folded:
            fold = f"<details><summary>{html.escape(asked, quote=False)}</summary>{html.escape(number_text, quote=False)}</details>"
            body.append([chapter[:2], link, fold])
        else:
            body.append([chapter[:2], link, asked, number_text])
    if not body:
        raise Problem("no chapter in that range")
    measured = f"measured on {', '.join(d for d in devices if d)}" if any(devices) else "measured"
    header = ["", "chapter", f"guess, then unfold what was {measured}"] if is_folded else ["", "chapter", "question", measured]
    return markdown_table(header, body, [False] * len(header)), "chapters/*/README.md"


def parse_column(spec):
    match = re.match(r"(?:(?P<label>[^=]+)=)?(?P<expression>[^:]+)(?::(?P<format>.+))?$", spec)
    if not match:
        raise Problem(f"not a column: {spec}")
    expression = match["expression"].strip()
    return (match["label"] or expression).strip(), expression, (match["format"] or "").strip()


def as_text(cell):
    """A text such as <cufft.h>, which Markdown would take for a tag; `<cufft.h>` stays."""
    return "".join(part if part.startswith("`") else re.sub(r"<(?=[A-Za-z/!?])", "&lt;", part) for part in re.split(r"(`[^`]*`)", cell))


def make_table(folder, positional, attributes):
    if positional == ["chapters"]:
        return make_chapter_table(folder, attributes)
    allow(attributes, "columns", "where", "sort", "first", "caption")
    columns = [parse_column(spec) for spec in split_list(need(attributes, "columns")[0])]
    rows = select(read_rows(folder, positional), attributes.get("where"))
    if "sort" in attributes:
        rows.sort(key=lambda r: (as_number(evaluate(attributes["sort"], r)) or 0))
    if "first" in attributes:
        rows = rows[: int(attributes["first"])]
    body = [[as_text(formatted(evaluate(e, row), f)) for _, e, f in columns] for row in rows]
    return table_of_results([label for label, _, _ in columns], body, rows, attributes), " ".join(positional)


def make_pivot(folder, positional, attributes):
    allow(attributes, "rows", "columns", "cell", "where", "caption")
    row_expression, column_expression, cell = need(attributes, "rows", "columns", "cell")
    row_label, row_expression, row_format = parse_column(row_expression)
    _, column_expression, column_format = parse_column(column_expression)
    _, expression, style = parse_column(cell)
    rows = select(read_rows(folder, positional), attributes.get("where"))
    cells = {}
    for row in rows:
        key = (
            formatted(evaluate(row_expression, row), row_format),
            formatted(evaluate(column_expression, row), column_format),
        )
        if key in cells:
            raise Problem(f"two values for {key[0]}, {key[1]}: narrow it with where")
        cells[key] = formatted(evaluate(expression, row), style)
    row_keys, column_keys = (list(dict.fromkeys(keys)) for keys in zip(*cells))
    body = [[r] + [cells.get((r, c), "-") for c in column_keys] for r in row_keys]
    return table_of_results([row_label] + column_keys, body, rows, attributes), " ".join(positional)


MAKERS = {
    "code": make_code,
    "table": make_table,
    "pivot": make_pivot,
    "output": make_output,
    "minutes": make_minutes,
    "plan": make_plan,
    "weeks": make_weeks,
    "features": make_features,
}
