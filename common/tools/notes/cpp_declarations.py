# SPDX-License-Identifier: MIT
"""A C++ source as text in which brackets can be counted, and its declarations by their names, without a compiler."""

import re

from markers import Problem

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"""
    r"""|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*""",
    re.S | re.M,
)


def mask(text):
    """The text with comments, strings and preprocessor lines blanked out, every position kept."""
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def closing(text, at):
    """Where the bracket at text[at] is closed; the end if it is not. The text is masked."""
    depth = 0
    for match in re.compile(r"[(\[{)\]}]").finditer(text, at):
        depth += 1 if match[0] in "([{" else -1
        if depth == 0:
            return match.start()
    return len(text)


def without_template(head):
    """The head without the `template <...>` before it, which may hold defaults such as `class T = int`."""
    match = re.match(r"\s*template\s*<", head)
    if not match:
        return head
    depth, position = 1, match.end()
    while position < len(head) and depth > 0:
        depth += {"<": 1, ">": -1}.get(head[position], 0)
        position += 1
    return without_template(head[position:])


def declarations(text):
    """Top-level declarations of a C++ file (namespaces are looked into): (start, end, head, has_body)."""
    code = mask(text)
    found, start, position = [], 0, 0
    while match := re.compile("[;{}(]").search(code, position):
        position = match.end()
        if match[0] == "(":  # parameters may hold braces
            position = closing(code, match.start()) + 1
            continue
        head = code[start : match.start()].lstrip()
        if match[0] == ";":
            found.append((match.start() - len(head), position, head, False))
        elif match[0] == "{" and not re.search(r"\bnamespace\b[\s\w:]*$|\bextern\s*$", head):
            position = closing(code, match.start()) + 1
            plain = without_template(head)
            ends_in_parameters = re.search(r"\)\s*(?:const|noexcept|override|->[\s\w:<>,*&]+)*\s*$", plain)
            has_value = re.search(r"(?<![=!<>])=(?!=)\s*[^=]*$", re.sub(r"\([^()]*\)", "", plain))
            if not ends_in_parameters or has_value:  # a type or an initialised variable: up to the semicolon
                position = code.find(";", position) + 1 or len(code)
            found.append((match.start() - len(head), position, head, True))
        start = position  # also where a namespace begins or ends
    return found


def declares(head, name):
    """True when the declaration whose text before its body is `head` is one of `name`."""
    head = without_template(head)
    word = re.escape(name)
    if re.search(rf"\b(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(?:\w+\([^)]*\)\s+)?{word}\s*(?::[^:].*|final\s*)?$", head, re.S):
        return True
    if re.search(rf"\busing\s+{word}\s*=", head):
        return True
    before_value = re.split(r"(?<![=!<>])=(?!=)", head)[0]
    function = re.search(rf"(?<![\w.>]){word}\s*\(", before_value)
    if function:
        return bool(before_value[: function.start()].strip())  # a return type stands before it
    return bool(re.search(rf"[\w*&>\s]\s*\b{word}\s*(?:\[[^\]]*\]\s*)*(?:\{{.*)?$", before_value, re.S)) and bool(
        re.search(rf"\S\s+[*&]*{word}\b", before_value)
    )


def with_comment(text, first, last):
    """The lines, and the comment directly above them; a rule `// ----` is no comment."""
    lines = text.split("\n")
    while first > 1 and lines[first - 2].lstrip().startswith("//") and not lines[first - 2].startswith("// ----"):
        first -= 1
    return first, last


def find_code(text, name, where):
    """First and last line (1-based) of the declaration called `name`, its comment included."""
    macro = re.search(rf"^#\s*define\s+{re.escape(name)}\b(?:[^\n\\]|\\.|\\\n)*", text, re.M)
    if macro:
        return with_comment(text, text.count("\n", 0, macro.start()) + 1, text.count("\n", 0, macro.end()) + 1)
    if name == "header":
        lines = text.split("\n")
        last = 0
        while last < len(lines) and lines[last].startswith("//"):
            last += 1
        first = 2 if lines and "SPDX-License-Identifier" in lines[0] else 1
        return first, last
    matches = [d for d in declarations(text) if declares(d[2], name)]
    matches = [d for d in matches if d[3]] or matches
    if not matches:
        raise Problem(f"no function, type or constant called {name} in {where}")
    if len(matches) > 1:
        lines = ", ".join(str(text.count("\n", 0, start) + 1) for start, *_ in matches)
        raise Problem(f"{name} is declared several times in {where}, in lines {lines}")
    start, end, _, _ = matches[0]
    return with_comment(text, text.count("\n", 0, start) + 1, text.count("\n", 0, end - 1) + 1)


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
