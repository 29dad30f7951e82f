# SPDX-License-Identifier: MIT
"""Rows of results/*.csv: chosen by conditions, computed with, and written as numbers."""

import ast
import csv
import functools
import io
import operator
import os
import re

from .markers import Problem, read_text


@functools.lru_cache(maxsize=None)
def read_table(path, name):
    rows = list(csv.DictReader(io.StringIO(read_text(path))))
    options = [dict(re.findall(r"--(\S+) ([^-\s]\S*)", row.get("args") or row.get("run") or "")) for row in rows]
    no_options = {option: "" for given in options for option in given}
    return [{**no_options, **given, **row, "_file": name} for given, row in zip(options, rows)]


def read_rows(folder, names):
    """The rows of these files. An option that a row's program was run with is a column, too."""
    rows = [row for name in names for row in read_table(os.path.join(folder, name), name)]
    if not rows:
        raise Problem(f"{' '.join(names)}: no rows")
    return rows


def as_number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


DEFAULTS = {"setting": "default", "process": "1"}
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


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
        if isinstance(node, (ast.Name, ast.Attribute)):
            column = node.id if isinstance(node, ast.Name) else f"{getattr(node.value, 'id', '')}.{node.attr}"
            if column not in row:
                raise Problem(f"no column {column}; there are {', '.join(k for k in row if k != '_file')}")
            return as_number(row[column])
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
    """Without a word on the setting, the rows that were measured with the default one; on the process, by the first."""
    wanted = conditions(text or "")
    for column, default in DEFAULTS.items():
        if column not in (c for c, _, _ in wanted):
            rows = [row for row in rows if row.get(column, default) == default]
    chosen = [row for row in rows if all(holds(row, c) for c in wanted)]
    if not chosen:
        raise Problem(f"no row where {text}")
    return chosen
