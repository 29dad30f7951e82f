# SPDX-License-Identifier: MIT
"""Keys of measured numbers, as `256mi:grid_chunked/256mi:grid_strided ms`: rows of results/*.csv, and what of them.
notes.py says how they are written."""

import functools
import glob
import os
import re
import statistics

from ..measure import settings
from .markers import Problem, root_of
from .measurements import as_number, conditions, evaluate, formatted, holds, read_rows, select

SHORT = {"ms": "median_ms", "us": "(median_ms*1000)", "ns": "(median_ms*1000000)", "%": "of_percent", "x": "speedup"}
SUMMARIES = {"least": min, "mean": statistics.geometric_mean}
NAMES = ("version", "kernel")  # a file has one of these columns: what a row is called


def listed(names):
    names = [n for n in dict.fromkeys(names) if n]
    return ", ".join(names[:12]) + (" ..." if len(names) > 12 else "")


def chapter_folder(folder, number):
    found = glob.glob(os.path.join(root_of(folder), "chapters", f"{number}_*"))
    if not found:
        raise Problem(f"there is no chapter {number}")
    return found[0]


@functools.lru_cache(maxsize=None)
def counters_of(folder):
    """{short name: counter}, which [counters] in the chapter's settings says."""
    return dict(settings.named_lines_of(os.path.basename(os.path.normpath(folder)), "counters"))


def rows_called(rows, text):
    """The rows that `SETTING:NAME, COLUMN=VALUE, ...` means."""
    file = rows[0]["_file"]
    setting, name = re.match(r"(?:(\w+):)?(.*)", text).groups()
    if setting and setting not in (r.get("setting") for r in rows):
        raise Problem(f"no setting {setting} in {file}; there are {listed(r.get('setting') for r in rows)}")
    parts = [p.strip() for p in name.split(",") if p.strip()]
    chosen = select(rows, f"setting={setting}" if setting else "")
    for part in parts:
        column = re.match(r"(\w*)[=!<>]", part)
        if column and column[1] in rows[0]:
            column, left = column[1], [r for r in chosen if holds(r, conditions(part)[0])]
        else:
            column = next((c for c in NAMES if c in rows[0]), None)
            if column is None:
                raise Problem(f"{part}: no column of {file}; there are {listed(k for k in rows[0] if k != '_file')}")
            left = [r for r in chosen if r[column] == part]
        if not left:
            raise Problem(f"no {part} in {file}; there are {listed(f'{column}={r[column]}' if '=' in part else r[column] for r in chosen)}")
        chosen = left
    return chosen


def the_one(rows, text):
    if len(rows) > 1:
        differing = (c for c in rows[0] if c != "_file" and len({r[c] for r in rows}) == len(rows))
        raise Problem(f"{text} are {len(rows)} rows of {rows[0]['_file']}; they differ in {listed(differing)}")
    return rows[0]


def with_counters(rows, text, counters):
    """One row of what these rows counted: for each counter's short name, what was measured and what was predicted."""
    row = dict(rows[0])
    for short, counter in counters.items():
        found = [r for r in rows if (r["metric"] if "metric" in r else r["counter"]) == counter]
        if not found:
            raise Problem(f"{text} in {row['_file']} has no {short}, {counter}")
        counted = the_one(found, f"{text} {short}")
        row.update({short: counted["measured"], f"{short}.predicted": counted["predicted"]})
    return row


def summary(function, argument, rows):
    """One number of all these rows."""
    if function == "count":
        return sum(all(holds(row, c) for c in conditions(argument)) for row in rows)
    if function not in SUMMARIES:
        raise Problem(f"no {function}(); there are count, {', '.join(SUMMARIES)}")
    values = [as_number(evaluate(argument, row)) for row in rows]
    if None in values:
        raise Problem(f"{argument} is no number in {values.count(None)} of {len(values)} rows")
    return SUMMARIES[function](values)


def value_of(rows, text, wanted, counters):
    """What is wanted of the one row, or of all rows, that the text means; and the row."""
    chosen = rows_called(rows, text)
    function = re.fullmatch(r"([a-z]+)\((.*)\)", wanted)
    if function:
        return summary(*function.groups(), chosen), {}
    units = {r.get("rate_unit") for r in chosen}
    if counters:
        row = with_counters(chosen, text, counters)
    elif wanted in units and wanted not in chosen[0]:
        row = the_one([r for r in chosen if r["rate_unit"] == wanted], text)
        wanted = "rate"
    else:
        row = the_one(chosen, text)
    wanted = re.sub(r"%|(?<![\w.])[a-z]+\b", lambda m: m[0] if m[0] in row else SHORT.get(m[0], m[0]), wanted)
    value = evaluate(wanted, row)
    if value in (None, ""):
        raise Problem(f"{wanted} is empty where {text}")
    return value, row


def look_up(folder, key):
    """What a key means: a number or a text, and the row that it came from."""
    called, _, wanted = key.strip().rpartition(" ")
    if not called:
        raise Problem(f"not a key; expected ROW VALUE, as in global_modulo ms")
    number = re.match(r"(\d\d):", called)
    if number:
        folder, called = chapter_folder(folder, number[1]), called[3:].strip()
    kind = re.match(r"(\w+):", called)
    file = f"results/h200_{kind[1]}.csv" if kind else ""
    is_kind = kind is not None and os.path.exists(os.path.join(folder, file))
    known = counters_of(folder)
    counters = {name: known[name] for name in re.findall(r"[A-Za-z_]\w*", wanted) if name in known}
    if is_kind:
        called = called[kind.end() :].strip()
    else:
        file = "results/h200_profile.csv" if counters else "results/h200.csv"
    rows = read_rows(folder, [file])
    if "measured" not in rows[0]:
        counters = {}
    slashed = [re.escape(row[c]) for row in rows for c in (*NAMES, "rate_unit") if "/" in row.get(c, "")]
    texts = re.findall(f"(?:{'|'.join([*slashed, '[^/]'])})+", called)
    if len(texts) == 1:
        return value_of(rows, called, wanted, counters)
    if len(texts) != 2:
        raise Problem("a ratio has two rows")
    setting = re.match(r"\w+:", texts[0])
    if setting and not re.match(r"\w+:", texts[1]):
        texts[1] = setting[0] + texts[1]
    (top, row), (bottom, _) = (value_of(rows, text, wanted, counters) for text in texts)
    top, bottom = as_number(top), as_number(bottom)
    if top is None or not bottom:
        raise Problem(f"{wanted} has no ratio of {called}")
    return top / bottom, row


NUMBER = r"(?<![\w.,])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
MARK = re.compile(rf"({NUMBER}|[A-Za-z]+)?<!--=(.*?)-->")
PLACEHOLDER = re.compile(r"\{\{=(.+?)(?: \.(\d+)(e?))?\}\}")


def like(shown, value):
    """The value, with the decimals of what is shown. Commas part its thousands, unless it has four digits in a row there."""
    number = as_number(value)
    if number is None:
        return str(value)
    typed = re.fullmatch(r"-?([\d,]+)(?:\.(\d+))?(e[+-]?\d+)?", shown)
    if not typed:
        raise Problem(f"before it stands {shown or 'nothing'}; type a number with the decimals that you want, as in 0.00")
    whole, decimals, exponent = typed.groups("")
    comma = "" if exponent or re.search(r"\d{4}", whole) else ","
    return formatted(number, f"{comma}.{len(decimals)}{'e' if exponent else 'f'}")


def filled(folder, text):
    """A text, such as a deck's, with the numbers in place of its placeholders, and the row of the last one."""
    row = {}

    def number(match):
        nonlocal row
        key, decimals, exponent = match.groups("")
        value, row = look_up(folder, key)
        return like("0" + (f".{'0' * int(decimals)}" if decimals else "") + (exponent and "e0"), value)

    return PLACEHOLDER.sub(number, text), row
