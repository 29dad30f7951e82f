# SPDX-License-Identifier: MIT
"""Rows of results/*.csv: chosen by conditions, computed with, and written as numbers."""

import ast
import csv
import io
import operator
import os
import re
import statistics

from markers import Problem, need, read_text


def read_rows(folder, names):
    rows = []
    for name in names:
        text = read_text(os.path.join(folder, name))
        rows += [{**row, "_file": name} for row in csv.DictReader(io.StringIO(text))]
    if not rows:
        raise Problem(f"{' '.join(names)}: no rows")
    return rows


def as_number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


SUMMARIES = {"rows": len, "least": min, "greatest": max, "geometric mean": statistics.geometric_mean}
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow}


def evaluate(expression, row):
    """A column's text, or arithmetic over columns as a float; None where a column is empty."""
    expression = expression.strip()
    if expression in row:
        return row[expression]

    def walk(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return float(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -walk(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](walk(node.left), walk(node.right))
        if isinstance(node, ast.Name):
            if node.id not in row:
                raise Problem(f"no column {node.id}; there are {', '.join(k for k in row if k != '_file')}")
            return as_number(row[node.id])
        raise Problem(f"not an expression over columns: {expression}")

    try:
        return walk(ast.parse(expression, mode="eval").body)
    except SyntaxError as error:
        raise Problem(f"no column and no expression: {expression}") from error
    except (ZeroDivisionError, TypeError):  # the latter: of None, an empty column
        return None


def formatted(value, style):
    if value is None or value == "":
        return "-"
    if not style and isinstance(value, float):
        return f"{value:.4g}"
    number = as_number(value)
    if not style or number is None:
        return str(value)
    if style == "size":
        for shift, suffix in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
            if number >= 2**shift and number % 2**shift == 0:
                return f"{int(number) >> shift} {suffix}"
        return f"{int(number)}"
    try:
        return format(int(number) if style.endswith("d") else number, style)
    except ValueError as error:
        raise Problem(f"format {style}: {error}") from error


def split_list(text):
    """Splits at commas outside of parentheses; ",.0f" after a colon stays whole."""
    parts, depth, current = [], 0, ""
    for index, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0 and not (current.endswith(":") and text[index + 1 : index + 2] in (".", "d")):
            parts.append(current.strip())
            current = ""
        else:
            current += char
    parts.append(current.strip())
    return [p for p in parts if p]


def conditions(text):
    parsed = []
    for part in split_list(text):
        match = re.match(r"(.+?)\s*(!=|<=|>=|=|<|>)\s*(.*)$", part)
        if not match:
            raise Problem(f"not a condition: {part}")
        parsed.append(match.groups())
    return parsed


def holds(row, condition):
    column, sign, wanted = condition
    value = evaluate(column, row)
    number = as_number(value)
    if sign in ("=", "!="):
        hit = any(str(value) == w or (number is not None and number == as_number(w)) for w in wanted.split("|"))
        return hit == (sign == "=")
    bound = as_number(wanted)
    return number is not None and bound is not None and COMPARISONS[sign](number, bound)


def select(rows, text):
    """Without a word on the setting, the rows of results/GPU.csv that were measured with the default one."""
    wanted = conditions(text or "")
    if "setting" not in (column for column, _, _ in wanted):
        rows = [row for row in rows if row.get("setting", "default") == "default"]
    chosen = [row for row in rows if all(holds(row, c) for c in wanted)]
    if not chosen:
        raise Problem(f"no row where {text}")
    return chosen


def one_row(rows, text):
    chosen = select(rows, text)
    if len(chosen) > 1:
        raise Problem(f"{len(chosen)} rows where {text}: expected one")
    return chosen[0]


def of_all(what, rows, column):
    """One number of many rows. `at least X` and `under X` count."""
    values = [as_number(evaluate(column, row)) for row in rows]
    if None in values:
        raise Problem(f"{column} is empty in {values.count(None)} of {len(values)} rows")
    bound = re.fullmatch(r"(at least|under) ([\d.]+)", what)
    if bound:
        return sum((value < float(bound[2])) == (bound[1] == "under") for value in values)
    if what not in SUMMARIES:
        raise Problem(f'all="{what}": there are {", ".join(SUMMARIES)}, at least X and under X')
    return SUMMARIES[what](values)


def measured_value(folder, files, attributes):
    """The text of one number, and the row it came from."""
    condition, column = need(attributes, "row", "column")
    rows = read_rows(folder, files)
    if "all" in attributes:
        return formatted(of_all(attributes["all"], select(rows, condition), column), attributes.get("format", "")), {}
    row = one_row(rows, condition)
    value = evaluate(column, row)
    if "over" in attributes:
        top, bottom = as_number(value), as_number(evaluate(column, one_row(rows, attributes["over"])))
        value = None if top is None or not bottom else top / bottom
    text = formatted(value, attributes.get("format", ""))
    if text == "-":
        raise Problem(f"{column} is empty where {condition}")
    return text, row
