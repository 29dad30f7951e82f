# SPDX-License-Identifier: MIT
"""Finds what is quoted: the declaration of a name in a source, and lines of it."""

from .. import cpp
from .markers import Problem, read_text


def with_comment(lines, first, last):
    """The lines, and the comment directly above them; a rule `// ----` is no comment."""
    while first > 1 and lines[first - 2].lstrip().startswith("//") and not lines[first - 2].startswith("// ----"):
        first -= 1
    return first, last


def find_code(path, name):
    """First and last line (1-based) of the declaration called `name`, its comment included."""
    lines = read_text(path).split("\n")
    try:
        source = cpp.source(path)
    except cpp.Unreadable as problem:
        raise Problem(str(problem)) from problem
    matches = [d for d in source.top_level() if name in d.names]
    matches = [d for d in matches if d.body or d.kind == "macro"] or matches
    if not matches:
        raise Problem(f"no function, type or constant called {name} in {path}")
    if len(matches) > 1:
        places = ", ".join(str(source.line(d.begin)) for d in matches)
        raise Problem(f"{name} is declared several times in {path}, in lines {places}")
    return with_comment(lines, source.line(matches[0].begin), source.line(matches[0].end - 1))


def cut(lines, first_number, where, start_text, end_text):
    """Lines from the first that contains start_text to the next that contains end_text, dedented."""
    begin, end = 0, len(lines) - 1
    if start_text is not None:
        begin = next((i for i, line in enumerate(lines) if start_text in line), None)
        if begin is None:
            raise Problem(f'from="{start_text}" is not in {where}')
    if end_text is not None:
        end = next((i for i in range(begin, len(lines)) if end_text in lines[i]), None)
        if end is None:
            raise Problem(f'to="{end_text}" is not in {where} after line {first_number + begin}')
    lines = lines[begin : end + 1]
    indent = min((len(l) - len(l.lstrip()) for l in lines if l.strip()), default=0)
    return [l[indent:] for l in lines], first_number + begin
