# SPDX-License-Identifier: MIT
"""The TODO contract: what a learner may change in a starter.

A learner may change everything between a line `// TODO ...` and the next line `// end of TODO`, both lines included, or
one line of code that ends in `// TODO ...`. Everything else is the same in starter, solution and mutants, and in the
predictions that a learner hands in.
"""

import re

OPEN = re.compile(r"^\s*// TODO\b")
CLOSE = re.compile(r"^\s*// end of TODO\s*$")
ONE_LINE = re.compile(r"\S.*// TODO\b")


class Unclosed(Exception):
    """A TODO without its end mark, or the other way round; the text says where."""


def split(text):
    """[(is_todo, first line number, lines)] for the parts of a starter, in order."""
    parts, inside = [], None
    for number, line in enumerate(text.split("\n"), 1):
        if inside is not None:
            if OPEN.match(line):
                raise Unclosed(f"line {number}: a TODO begins inside the one of line {inside}")
            parts[-1][2].append(line)
            if CLOSE.match(line):
                inside = None
            continue
        if CLOSE.match(line):
            raise Unclosed(f"line {number}: no TODO ends here")
        is_todo = bool(OPEN.match(line) or ONE_LINE.search(line))
        if OPEN.match(line):
            inside = number
        if is_todo or not parts or parts[-1][0]:
            parts.append((is_todo, number, []))
        parts[-1][2].append(line)
    if inside is not None:
        raise Unclosed(f"line {inside}: this TODO has no line `// end of TODO`")
    return parts


def bodies(starter, other):
    """The lines that stand in `other` in place of each TODO of `starter`; None when they differ elsewhere."""
    pattern = []
    for is_todo, _, lines in split(starter.rstrip()):
        if is_todo:
            pattern.append(r"((?:[^\n]*\n)*?)" if len(lines) > 1 else r"([^\n]*\n)")
        else:
            pattern.append("".join(re.escape(line.rstrip()) + r"[ \t\r]*\n" for line in lines))
    match = re.fullmatch("".join(pattern), other.rstrip() + "\n")
    return [group.split("\n") for group in match.groups()] if match else None


def first_difference(starter, other):
    """The line of `other` at which it leaves the fixed text of the starter, and what the starter has there."""
    lines = other.split("\n")
    position = passed_over = 0  # where the next line of the starter is sought; lines of TODOs that come before it
    for is_todo, _, fixed in split(starter):
        if is_todo:
            passed_over += len(fixed)
            continue
        for line in fixed:
            wanted = line.rstrip()
            if not wanted:
                continue
            found = next((i for i in range(position, len(lines)) if lines[i].rstrip() == wanted), None)
            if found is None:
                place = min(position + passed_over, len(lines) - 1)
                while place + 1 < len(lines) and not lines[place].strip():
                    place += 1
                return place + 1, wanted
            position, passed_over = found + 1, 0
    return len(lines), ""


def untouched(starter, text):
    """Lines of a learner's file at which a TODO is still as in the starter, if another one is not."""
    todos = ["\n".join(lines) for is_todo, _, lines in split(starter) if is_todo]
    places = [text.find(f"\n{todo}\n") for todo in todos]
    left = [text.count("\n", 0, place) + 2 for place in places if place >= 0]
    return left if len(left) < len(todos) else []


def todo_line(text):
    """Number of the first TODO line still in a learner's file, or None."""
    for number, line in enumerate(text.split("\n"), 1):
        if OPEN.match(line) or ONE_LINE.search(line):
            return number
    return None


def place_to_open(starter, text):
    """The line of the learner's file to look at: its first TODO, else where the starter had it."""
    line = todo_line(text)
    if line is not None:
        return line
    first = next((number for is_todo, number, _ in split(starter) if is_todo), 1)
    return min(first, text.count("\n") + 1)
