# SPDX-License-Identifier: MIT
"""What chapters/NN_name/settings says. A line of options is for the chapter's program, or, when it begins with @topic,
for that experiment; `name: ` before it names the run."""

import csv
import os
import re
import shlex


def lines_of(chapter, section):
    """The lines of one section, without comments."""
    path = f"chapters/{chapter}/settings"
    if not os.path.isfile(path):
        return []
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = re.search(rf"^\[{section}\]$(.*?)(?=^\[|\Z)", text, re.M | re.S)
    return [line for line in (found[1] if found else "").split("\n") if line.strip() and not line.startswith("#")]


def table_of(chapter, section):
    """The rows of a section that is a CSV with a header."""
    return list(csv.DictReader(lines_of(chapter, section)))


def named_lines_of(chapter, section):
    """[(name, options)] of lines `name: options`."""
    return [tuple(part.strip() for part in line.split(":", 1)) for line in lines_of(chapter, section)]


def program_of(chapter, options):
    """('05_end_to_end', ['--n', '1Mi']) of '@end_to_end --n 1Mi'."""
    words = shlex.split(options)
    if words and words[0].startswith("@"):
        return f"{chapter.split('_')[0]}_{words[0][1:]}", words[1:]
    return chapter, words


def source_of(program, chapter):
    """Where a program of the chapter stands."""
    name = program.split("_", 1)[1]
    return f"chapters/{chapter}/{name}.cu" if program == chapter else f"chapters/{chapter}/experiments/{name}.cu"
