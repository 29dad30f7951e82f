#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much of each chapter's program is the lesson: a table of its lines, its code, the device code in it, the line
of the first kernel, and the length of main.

    code_share.py [--check]      --check prints only what breaks a limit below, and fails if anything does

Blank lines and comments are no code. Device code is each definition marked __global__, __device__ or __constant__,
with its template line; of a struct only the members so marked.
"""

import glob
import os
import re
import sys

HOST_LESSONS = {"01", "09"}  # their lesson is host code: share and first kernel have no limit there
MOST_LINES, MOST_MAIN, LATEST_KERNEL = 250, 35, 50
LEAST_SHARE = 42  # per cent of the code, over all chapters with a lesson in device code

COMMENT_OR_LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DEVICE = re.compile(r"^(?:[ \t]*template\b[^\n]*\n)?[^\n]*?(__(?:global|device|constant)__)", re.M)


def only_code(text):
    """The text without comments and what stands in quotes; every line keeps its number."""
    text = re.sub(r"(?<=\d)'(?=\d)", "", text)  # 1'000
    return COMMENT_OR_LITERAL.sub(lambda m: '""' if m[0][0] in "\"'" else "\n" * m[0].count("\n"), text)


def end_of_definition(text, start):
    """Where the definition that begins at `start` ends: behind its body, or behind its semicolon."""
    depth = 0
    for match in re.compile("[{};]").finditer(text, start):
        depth += {"{": 1, "}": -1, ";": 0}[match[0]]
        if depth == 0:
            return match.end()
    return len(text)


def lines_of_code(text):
    return sum(1 for line in text.split("\n") if line.strip())


class Program:
    def __init__(self, path):
        self.path, self.chapter = path, path.split("/")[1]
        self.host_lesson = self.chapter[:2] in HOST_LESSONS
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.lines = text.count("\n")
        text = only_code(text)
        self.code = lines_of_code(text)
        self.device, self.first_kernel, behind = 0, None, 0
        for match in DEVICE.finditer(text):
            if match.start() < behind:  # within the definition before
                continue
            behind = end_of_definition(text, match.start(1))
            self.device += lines_of_code(text[match.start() : behind])
            if match[1] == "__global__" and not self.first_kernel:
                self.first_kernel = text.count("\n", 0, match.start(1)) + 1
        main = re.search(r"^int main\(", text, re.M)
        self.main = text.count("\n", main.start(), end_of_definition(text, main.start())) + 1 if main else 0

    def complaints(self):
        if self.lines > MOST_LINES:
            yield f"{self.path}: {self.lines} lines: at most {MOST_LINES}"
        if self.main > MOST_MAIN:
            yield f"{self.path}: main has {self.main} lines: at most {MOST_MAIN}"
        if not self.host_lesson and not self.first_kernel:
            yield f"{self.path}: no kernel"
        elif not self.host_lesson and self.first_kernel > LATEST_KERNEL:
            yield f"{self.path}:{self.first_kernel}: the first kernel: at most line {LATEST_KERNEL}"


def main():
    paths = (f"{folder}/{os.path.basename(folder)[3:]}.cu" for folder in sorted(glob.glob("chapters/[0-9][0-9]_*")))
    programs = [Program(path) for path in paths if os.path.exists(path)]
    lessons = [p for p in programs if not p.host_lesson]
    device, code = sum(p.device for p in lessons), sum(p.code for p in lessons)
    share = 100 * device / code if code else 100
    total = f"device code without chapters {', '.join(sorted(HOST_LESSONS))}: {device} of {code} lines, {share:.1f} %"
    if sys.argv[1:] == ["--check"]:
        complaints = [c for p in programs for c in p.complaints()]
        if share < LEAST_SHARE:
            complaints.append(f"{total}: at least {LEAST_SHARE} %")
        print("\n".join(complaints), end="\n" if complaints else "")
        return 1 if complaints else 0
    row = "{:<24}{:>7}{:>7}{:>13}{:>8}{:>14}{:>6}".format
    print(row("chapter", "lines", "code", "device code", "share", "first kernel", "main"))
    for p in programs:
        share_of_it = f"{100 * p.device / p.code:.0f} %"
        print(row(p.chapter, p.lines, p.code, p.device, share_of_it, p.first_kernel or "-", p.main))
    print(total)
    return 0


if __name__ == "__main__":
    sys.exit(main())
