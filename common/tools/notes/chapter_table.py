# SPDX-License-Identifier: MIT
"""The table of chapters on the front page and in the opening deck: question and one measured number of each."""

import glob
import html
import os
import re

from markers import Problem, allow, chapter_source, need, parse_marker, read_text, title_of
from measurements import measured_value
from tables import markdown_table


def make_chapter_table(folder, attributes):
    allow(attributes, "from", "to", "answers")
    is_folded = attributes.get("answers") == "folded"
    if "answers" in attributes and not is_folded:
        raise Problem(f'answers="{attributes["answers"]}": only "folded" is known')
    body, devices = [], {}
    for notes in sorted(glob.glob(os.path.join(folder, "chapters", "[0-9][0-9]_*", "README.md"))):
        chapter_folder = os.path.dirname(notes)
        chapter = os.path.basename(chapter_folder)
        if not attributes.get("from", "00") <= chapter[:2] <= attributes.get("to", "99"):
            continue
        source = read_text(os.path.join(chapter_folder, chapter_source(chapter_folder)))
        question = re.search(r"^// Chapter \d+: *(.*)$", source, re.M)
        headline = re.search(r"<!--\s*headline:\s*(.*?)\s*-->", read_text(notes), re.S)
        number_text = "-"
        if headline:
            positional, marks = parse_marker(headline.group(1))
            (number_text,) = need(marks, "text")
            if positional:  # chapter 00 measures nothing
                value, row = measured_value(chapter_folder, positional, marks)
                number_text = number_text.replace("{}", value)
                devices[row.get("device", "")] = None
        link = f"[{title_of(notes)}](chapters/{chapter}/README.md)"
        asked = question.group(1) if question else ""
        if is_folded:
            fold = f"<details><summary>{html.escape(asked, quote=False)}</summary>{html.escape(number_text, quote=False)}</details>"
            body.append([chapter[:2], link, fold])
        else:
            body.append([chapter[:2], link, asked, number_text])
    if not body:
        raise Problem("no chapter in that range")
    measured = f"measured on {', '.join(d for d in devices if d)}" if any(devices) else "measured"
    header = ["", "chapter", f"guess, then unfold what was {measured}"] if is_folded else ["", "chapter", "question", measured]
    return markdown_table(header, body, [False] * len(header)), "chapters/*/README.md"
