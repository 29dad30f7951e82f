# SPDX-License-Identifier: MIT
"""Terms are explained before they are used: reads the glossary beside the notes, in the order of the chapters.

An entry of chapters/GLOSSARY.md is a paragraph:

    <a id="sector"></a>**sector**: what it is. [03](03_coalesced_threads/README.md)

The chapter at its end is the one that explains it. The rules:

1. That chapter's notes have it in bold or italics, or link it to its entry: there it is explained.
2. The first use in the course, whichever chapter that is in, is a link to the entry: the first in the lessons alone,
   and the first for somebody who reads each chapter's lab_notes.md after its lesson.

A use is the term in running text: not in code, in regions that are filled, in headings, captions of pictures, or
the list of further reading. Plurals count, and a hyphen is as good as a blank. At the end of an entry a comment may
add `also: other, forms`, replace the term's own forms (`only: these, forms`), or name what is no use although the
words are in it (`but not: these, phrases`). Several of them have semicolons between them. A form in small letters may
begin with a capital one; any other is taken as it is written. Where one term is a part of a longer one, only the
longer one is used.
"""

import argparse
import glob
import os
import re
import sys

GLOSSARY = "chapters/GLOSSARY.md"
ENTRY = re.compile(r'<a id="([^"]*)"></a>\*\*([^*]+)\*\*(.*)')
CHAPTER = re.compile(r"\[(\d\d)\]\((\d\d_\w+)/README\.md\)")
REGION = re.compile(r"<!--\s*(?:code|table|pivot|output|plan):.*?-->.*?<!--\s*end\s*-->", re.S)
FENCE = re.compile(r"^ *(```+).*?^ *\1 *$", re.S | re.M)
COMMENT = re.compile(r"<!--.*?-->", re.S)
HEADING = re.compile(r"^#+ .*$", re.M)
FURTHER = re.compile(r"^## Further reading$.*", re.S | re.M | re.I)
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
CODE = re.compile(r"`[^`\n]*`")
TAG = re.compile(r"</?\w[^>\n]*>")
LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\n]*)\)")
EMPHASIS = re.compile(r"(?<!\*)(\*\*?)(?=[^\s*])(.+?)(?<=[^\s*])\1(?!\*)")


class Entry:
    def __init__(self, line, anchor, name):
        self.line, self.anchor, self.name = line, anchor, name
        self.chapter = None  # the folder of the one that explains it
        self.forms, self.no_use = [name], []
        self.first = self.first_in_lessons = self.explained = None  # uses


class Use:
    def __init__(self, path, line, linked, marked):
        self.path, self.line, self.linked, self.marked = path, line, linked, marked

    def __str__(self):
        return f"{self.path}:{self.line}"


def without(pattern, text, filler=" "):
    """The text with the same lines, but nothing to read where the pattern is."""
    return pattern.sub(lambda m: re.sub(r"[^\n]", filler, m.group()), text)


def as_pattern(form):
    """A form of a term as a regular expression: its plural too, a blank for a hyphen, a capital at its beginning."""
    words = [re.escape(word) for word in re.split(r"[ -]+", form)]
    if form == form.lower() and form[0].isalpha():
        words[0] = f"[{form[0]}{form[0].upper()}]{words[0][1:]}"
    last = words[-1]
    if last.endswith("y") and last[-2:-1] not in "aeiou":
        words[-1] = f"{last[:-1]}(?:y|ies)"
    elif last.endswith(("s", "x", "ch", "sh")):
        words[-1] = f"{last}(?:es)?"
    elif last[-1:].isalnum():
        words[-1] = f"{last}s?"
    begins = r"(?<!\w)" if form[0].isalnum() else ""
    ends = r"(?!\w)" if form[-1].isalnum() else ""
    return begins + r"[\s-]+".join(words) + ends


def read_glossary(complain):
    """The entries, by anchor."""
    entries = {}
    before = ""
    with open(GLOSSARY, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = ENTRY.match(line)
            if not match:
                if "<a id=" in line:
                    complain(GLOSSARY, number, 'expected <a id="name"></a>**name**: what it is. [NN](NN_chapter/README.md)')
                continue
            entry = Entry(number, match[1], match[2])
            wanted = re.sub(r"[^a-z0-9]+", "-", entry.name.lower()).strip("-")
            if entry.anchor != wanted:
                complain(GLOSSARY, number, f"{entry.name}: its id must be {wanted}")
            if wanted <= before:
                complain(GLOSSARY, number, f"{entry.name} stands behind {before}: the order is that of the alphabet")
            before = wanted
            chapters = CHAPTER.findall(match.group(3))
            if not chapters or not chapters[-1][1].startswith(chapters[-1][0]):
                complain(GLOSSARY, number, f"{entry.name}: the chapter that explains it is missing at its end")
                continue
            entry.chapter = chapters[-1][1]
            for comment in re.findall(r"<!--(.*?)-->", match.group(3)):
                for part in comment.split(";"):
                    kind, _, phrases = (piece.strip() for piece in part.partition(":"))
                    listed = [p.strip() for p in phrases.split(",") if p.strip()]
                    if kind == "also":
                        entry.forms += listed
                    elif kind == "only":
                        entry.forms = listed
                    elif kind == "but not":
                        entry.no_use += listed
                    else:
                        complain(GLOSSARY, number, f"{entry.name}: expected also:, only: or but not:, found {kind}:")
            entries[entry.anchor] = entry
    return entries


def reader(entries):
    """A pattern that finds every form, the longest first, and the entry of each of its groups."""
    forms = [(form, entry) for entry in entries.values() for form in entry.forms]
    forms += [(phrase, None) for entry in entries.values() for phrase in entry.no_use]
    forms.sort(key=lambda f: -len(f[0]))
    return re.compile("|".join(f"({as_pattern(form)})" for form, _ in forms)), [entry for _, entry in forms]


def running_text(text):
    """What a reader reads from left to right, with all other characters blanked out."""
    for pattern in (FENCE, REGION, COMMENT, FURTHER, HEADING, IMAGE):
        text = without(pattern, text)
    return without(TAG, without(CODE, text, "\x01"))


def uses(path, pattern, entry_of):
    """(entry, use) for every use of a term in the notes, from top to bottom."""
    with open(path, encoding="utf-8") as file:
        text = running_text(file.read())
    marked = [match.span() for match in EMPHASIS.finditer(text)]
    links = [(*match.span(1), match[2]) for match in LINK.finditer(text)]
    text = LINK.sub(lambda m: f" {m[1]}{' ' * (len(m[0]) - len(m[1]) - 1)}", text).replace("*", " ")
    for match in pattern.finditer(text):
        entry = entry_of[match.lastindex - 1]
        if entry is None:
            continue
        own = f"../GLOSSARY.md#{entry.anchor}"
        linked = any(a < match.end() and match.start() < b and target == own for a, b, target in links)
        strong = any(a < match.end() and match.start() < b for a, b in marked)
        yield entry, Use(path, text.count("\n", 0, match.start()) + 1, linked, strong)


def find_uses(entries):
    pattern, entry_of = reader(entries)
    paths = [path for name in ("README.md", "lab_notes.md") for path in glob.glob(f"chapters/[0-9][0-9]_*/{name}")]
    for path in sorted(paths):
        chapter = os.path.basename(os.path.dirname(path))
        for entry, use in uses(path, pattern, entry_of):
            entry.first = entry.first or use
            if path.endswith("/README.md"):
                entry.first_in_lessons = entry.first_in_lessons or use
            if entry.explained is None and chapter == entry.chapter and (use.linked or use.marked):
                entry.explained = use


def check(entries, complain):
    for entry in entries.values():
        notes = f"chapters/{entry.chapter}/README.md"
        if not os.path.exists(notes):
            complain(GLOSSARY, entry.line, f"{entry.name}: there is no {notes}")
            continue
        if entry.explained is None:
            complain(notes, 1, f"{entry.name} is to be explained here: put it in bold or italics, or link its entry")
        for first in dict.fromkeys((entry.first, entry.first_in_lessons)):
            if first is None or first.linked:
                continue
            where = f", and is explained in {entry.explained}" if entry.explained not in (None, first) else ""
            complain(
                first.path,
                first.line,
                f"{entry.name} is used for the first time{where}: link ../GLOSSARY.md#{entry.anchor}, or say it otherwise",
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    problems = []
    complain = lambda path, line, message: problems.append((path, line, message))
    entries = read_glossary(complain)
    find_uses(entries)
    check(entries, complain)
    for path, line, message in sorted(problems):
        print(f"{path}:{line}: {message}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
