# SPDX-License-Identifier: MIT
"""Numbers of a chapter's notes that were typed, though a result of the chapter says them: with three digits or more, and
equal to a result as far as they go. A number with a unit is held against the results of that unit, 0.713 and the like
against milliseconds, and one of five digits or more against counts. Sizes, years and round numbers are none of these. A
comment behind a number says that it is no result."""

import os
import re

from .keys import NUMBER, counters_of
from .measurements import as_number, read_rows

SHOWN_BY_TOOLS = re.compile(r"<!--\s*(?:code|table|pivot|output):.*?<!--\s*end\s*-->|^\s*(```+).*?^\s*\1\s*$", re.S | re.M)
NO_TEXT = re.compile(rf"{NUMBER}<!--.*?-->|<!--.*?-->|`[^`\n]*`|\]\([^)]*\)", re.S)
UNIT = re.compile(r"\s?(ms|µs|ns|%|times|[GTM]B/s|[GTM]FLOP/s)(?!\w)")
UNITS_OF_TIME = {"ms": 1, "µs": 1e3, "ns": 1e6}


def results_of(folder):
    """{unit: [(value, key)]} of the chapter's results; counts have the unit ''."""
    found = {}
    for row in read_rows(folder, ["results/h200.csv"]):
        name = row["version"] if row.get("setting", "default") == "default" else f"{row['setting']}:{row['version']}"
        values = [(unit, row.get("median_ms", ""), factor, unit.replace("µ", "u")) for unit, factor in UNITS_OF_TIME.items()]
        values += [("%", row.get("of_percent", ""), 1, "%"), ("times", row.get("speedup", ""), 1, "x")]
        values += [(row.get("rate_unit", ""), row.get("rate", ""), 1, "rate"), (row.get("rate_unit", "").replace("G", "T"), row.get("rate", ""), 1e-3, "rate/1000")]
        for unit, value, factor, wanted in values:
            if as_number(value):
                found.setdefault(unit, []).append((as_number(value) * factor, f"{name} {wanted}"))
    if os.path.exists(os.path.join(folder, "results/h200_profile.csv")):
        short = {counter: name for name, counter in counters_of(folder).items()}
        for row in read_rows(folder, ["results/h200_profile.csv"]):
            if as_number(row["measured"]):
                counter = short.get(row["metric"], row["metric"])
                found.setdefault("", []).append((as_number(row["measured"]), f"{row['version']} {counter}"))
    return found


def typed_numbers(text):
    """(position, number, unit) of the numbers that may be results."""

    def blank(match):
        return re.sub(r"[^\n]", "\0", match[0])

    text = NO_TEXT.sub(blank, SHOWN_BY_TOOLS.sub(blank, text))
    for match in re.finditer(NUMBER, text):
        number = match[0].rstrip(",")
        digits = re.sub(r"\D", "", number).lstrip("0")
        unit = UNIT.match(text, match.start() + len(number))
        if len(digits if "." in number else digits.rstrip("0")) < 3:
            continue
        if unit:
            yield match.start(), number, unit[1]
        elif re.fullmatch(r"0\.\d{3,}", number):
            yield match.start(), number, "ms"
        elif "." not in number and len(digits) > 4 and int(digits) & (int(digits) - 1):
            yield match.start(), number, ""


def unmarked(folder, text):
    """(line, message) for each."""
    results = results_of(folder)
    for position, number, unit in typed_numbers(text):
        value = float(number.replace(",", ""))
        decimals = len(number.partition(".")[2])
        key = next((key for result, key in results.get(unit, []) if round(result, decimals) == value), None)
        if key:
            advice = f"mark it, as in {number}<!--={key}-->, or say in a comment behind it what it is"
            yield text.count("\n", 0, position) + 1, f"{number} is typed, and a result: {advice}"
