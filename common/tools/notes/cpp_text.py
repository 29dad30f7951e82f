# SPDX-License-Identifier: MIT
"""A C++ source as text in which brackets can be counted."""

import re

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
