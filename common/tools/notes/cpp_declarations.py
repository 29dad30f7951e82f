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
    """Lines from the first that contains start_text to the next that contains end_text, and the number of the first."""
    begin, end = 0, len(lines) - 1
    if start_text is not None:
        begin = next((i for i, line in enumerate(lines) if start_text in line), None)
        if begin is None:
            raise Problem(f'from="{start_text}" is not in {where}')
    if end_text is not None:
        end = next((i for i in range(begin, len(lines)) if end_text in lines[i]), None)
        if end is None:
            raise Problem(f'to="{end_text}" is not in {where} after line {first_number + begin}')
    return lines[begin : end + 1], first_number + begin


def with_blocks_closed(lines, first, path):
    """The lines, which begin with line `first` of a source, and the end of each block that they begin; `// ...` stands for
    what is left out before it."""
    source, whole = cpp.source(path), read_text(path).split("\n")
    last = shown = first + len(lines) - 1
    result, begun = list(lines), []
    for token in (t for t in source.tokens if t.text in ("{", "}")):
        line = source.line(token.begin)
        if line < first:
            continue
        if line > last and not begun:
            break
        if token.text == "{":
            begun.append(line)
            continue
        if not begun:
            raise Problem(f"the block that ends in line {line} of {path} begins above the quotation")
        begins = begun.pop()
        if begins <= last < line:
            indent = whole[begins - 1][: len(whole[begins - 1]) - len(whole[begins - 1].lstrip())]
            if any(text.strip() and not text.lstrip().startswith("//") for text in whole[shown : line - 1]):
                result.append(f"{indent}  // ...")
            result.append(whole[line - 1] if whole[line - 1].strip() in ("}", "};") else f"{indent}}}")
            shown = line
    return result


def dedented(lines):
    """The lines without the indentation that all have; a directive at the line's beginning has none to lose."""
    indent = min((len(l) - len(l.lstrip()) for l in lines if l.strip() and not l.startswith("#")), default=0)
    return [l if l.startswith("#") else l[indent:] for l in lines]
