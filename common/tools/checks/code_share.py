#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much of each chapter's program is the lesson: lines of kernel and device code among all lines of code.

    code_share.py [--check]

Blank lines and comments do not count. Device code is every definition marked __global__, __device__ or
__constant__, with its template line; a struct counts as device code only in the members so marked. With --check
the exit status is 1 when a limit below does not hold.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
HOST_LESSONS = {"01", "09"}  # their lesson is host code: no share and no first kernel is asked of them
LEAST_SHARE = 42  # per cent, over all chapters whose lesson is device code
MOST_LINES, MOST_MAIN, LATEST_KERNEL = 250, 35, 50

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def without_comments(text):
    """The text with comments blanked and literals emptied; every line stays where it is."""

    def blank(match):
        token = match.group()
        return '""' if token[0] in "\"'" else "\n" * token.count("\n")

    # A digit separator (1'000) is no literal.
    return TOKEN.sub(blank, re.sub(r"(?<=\d)'(?=\d)", "", text))


def end_of_definition(text, start):
    """Where the definition that begins at `start` ends: behind its body, or behind its semicolon."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at + (2 if text[at + 1 : at + 2] == ";" else 1)
        elif text[at] == ";" and depth == 0:
            return at + 1
    return len(text)


def lines_between(text, start, end):
    """Numbers of the lines (from 0) of text[start:end] that hold code."""
    first = text.count("\n", 0, start)
    return {first + k for k, line in enumerate(text[start:end].split("\n")) if line.strip()}


def measure(source):
    """Lines of code, of device code, of main; the line of the first kernel; all lines of the file."""
    raw = source.read_text()
    text = without_comments(raw)
    code = lines_between(text, 0, len(text))
    device, first_kernel = set(), None
    for mark in re.finditer(r"__(?:global|device|constant)__", text):
        start = text.rfind("\n", 0, mark.start()) + 1
        while re.match(r"\s*template\b", text[text.rfind("\n", 0, max(0, start - 1)) + 1 : start]):
            start = text.rfind("\n", 0, start - 1) + 1
        device |= lines_between(text, start, end_of_definition(text, mark.start()))
        if mark.group() == "__global__" and first_kernel is None:
            first_kernel = text.count("\n", 0, mark.start()) + 1
    main = re.search(r"^int main\(", text, re.M)
    main_lines = 0
    if main:
        main_lines = text.count("\n", main.start(), end_of_definition(text, main.start())) + 1
    return len(code), len(device), main_lines, first_kernel, raw.count("\n")


def main():
    rows, complaints, all_code, all_device = [], [], 0, 0
    for folder in sorted((ROOT / "chapters").glob("[0-9][0-9]_*")):
        source = folder / (folder.name[3:] + ".cu")
        if not source.exists():
            continue
        code, device, main_lines, first_kernel, lines = measure(source)
        counts = folder.name[:2] not in HOST_LESSONS
        if counts:
            all_code, all_device = all_code + code, all_device + device
        rows.append((folder.name, lines, code, device, f"{100 * device / code:.0f} %", first_kernel or "-", main_lines))
        for holds, text in (
            (lines <= MOST_LINES, f"{lines} lines, at most {MOST_LINES}"),
            (main_lines <= MOST_MAIN, f"main has {main_lines} lines, at most {MOST_MAIN}"),
            (not counts or (first_kernel or 10**9) <= LATEST_KERNEL, f"first kernel in line {first_kernel}, at most {LATEST_KERNEL}"),
        ):
            if not holds:
                complaints.append(f"{source.relative_to(ROOT)}: {text}")
    share = 100 * all_device / max(1, all_code)
    if share < LEAST_SHARE:
        complaints.append(f"device code is {share:.1f} % of the chapters without {', '.join(sorted(HOST_LESSONS))}, at least {LEAST_SHARE}")

    rows.insert(0, ("chapter", "lines", "code", "device code", "share", "first kernel", "main"))
    widths = [max(len(str(row[k])) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        print("  ".join(f"{cell:<{w}}" if k == 0 else f"{cell:>{w}}" for k, (cell, w) in enumerate(zip(row, widths))).rstrip())
    print(f"device code without chapters {', '.join(sorted(HOST_LESSONS))}: {all_device} of {all_code} lines, {share:.1f} %")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
