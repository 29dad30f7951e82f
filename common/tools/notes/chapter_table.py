# SPDX-License-Identifier: MIT
"""The table of chapters on the front page and in the opening deck: question and one measured number of each."""

import glob
import os
import re

from markers import Problem, allow, chapter_source, need, parse_marker, read_text
from measurements import measured_value
from tables import markdown_table


def make_chapter_table(folder, attributes):
    allow(attributes, "from", "to")
    body, devices = [], {}
    for notes in sorted(glob.glob(os.path.join(folder, "chapters", "[0-9][0-9]_*", "README.md"))):
        chapter_folder = os.path.dirname(notes)
        chapter = os.path.basename(chapter_folder)
        if not attributes.get("from", "00") <= chapter[:2] <= attributes.get("to", "99"):
            continue
        source = read_text(os.path.join(chapter_folder, chapter_source(chapter_folder)))
        question = re.search(r"^// Chapter \d+: *(.*)$", source, re.M)
        title = re.search(r"^# +(?:\d+ *[-:.·]* *)?(.*)$", read_text(notes), re.M)
        headline = re.search(r"<!--\s*headline:\s*(.*?)\s*-->", read_text(notes), re.S)
        number_text = "-"
        if headline:
            positional, marks = parse_marker(headline.group(1))
            (text,) = need(marks, "text")
            number_text = text
            if positional:  # chapter 00 measures nothing
                value, row = measured_value(chapter_folder, positional, marks)
                number_text = text.replace("{}", value)
                devices[row.get("device", "")] = None
        label = title.group(1) if title else chapter[3:].replace("_", " ")
        body.append([chapter[:2], f"[{label}](chapters/{chapter}/README.md)", question.group(1) if question else "", number_text])
    if not body:
        raise Problem("no chapter in that range")
    measured = f"measured on {', '.join(d for d in devices if d)}" if any(devices) else "measured"
    lines = markdown_table(["", "chapter", "question", measured], body, [False] * 4)
    return "\n" + "\n".join(lines) + "\n", "chapters/*/README.md"
