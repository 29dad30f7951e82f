#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much of the chapters' code is the lesson: for each program, experiment and header its lines, its code, and the
device code in it; for programs also the line of the first kernel and the length of main.

Blank lines and comments are no code. Device code is each definition marked __global__, __device__ or __constant__,
with its template line. A struct all of whose functions are so marked is device code as a whole, of another only these.
"""

import argparse
import glob
import os
import re
import sys

HOST_LESSONS = {"00", "01", "09"}  # their lesson is the host's code, or the first kernel: no share is asked of them
WITH_HEADERS = {"14"}  # their programs include headers of their own, as experiments of all chapters may
MOST_LINES, MOST_MAIN, LATEST_KERNEL = 350, 35, 50  # of a program
EXPERIMENT_LINES = range(40, 151)
# Per cent of the code that is device code, at least: of each program, of all programs, of all that is compiled.
# Ratchets: what is reached, which was the goal. A bound moves up with the code, never down.
OF_EACH, OF_PROGRAMS, OF_ALL = 45, 55, 45
HARNESS, MOST_HEADERS, MOST_HARNESS_LINES, MOST_FIRST_LINES = "common/*.cuh", 8, 1000, 200

COMMENT_OR_LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DEVICE = re.compile(r"^(?:[ \t]*template\b[^\n]*\n)?[^\n]*?(__(?:global|device|constant)__)", re.M)
STRUCT = re.compile(r"^(?:template\b[^\n]*\n)?(?:struct|class) \w+[^;{]*\{", re.M)
BODY = re.compile(r"\)[^;{}]*\{")  # of a function


def only_code(text):
    """The text without comments and what stands in quotes; every line keeps its number."""
    text = re.sub(r"(?<=\d)'(?=\d)", "", text)  # 1'000
    return COMMENT_OR_LITERAL.sub(lambda m: '""' if m[0][0] in "\"'" else "\n" * m[0].count("\n"), text)


def end_of_definition(text, start):
    """Where the definition that begins at `start` ends: after its body, or after its semicolon."""
    depth = 0
    for match in re.compile("[{};]").finditer(text, start):
        depth += {"{": 1, "}": -1, ";": 0}[match[0]]
        if depth == 0:
            return match.end()
    return len(text)


def definitions(text):
    """(begin, end) of each that is marked, in their order."""
    behind = 0
    for match in DEVICE.finditer(text):
        if match.start() >= behind:  # else within the definition before
            behind = end_of_definition(text, match.start(1))
            yield match.start(), behind


def device_structs(text):
    """(begin, end) of each struct whose functions are all marked."""
    for match in STRUCT.finditer(text):
        end = end_of_definition(text, match.end() - 1)
        rest = text[match.end() : end]
        marked = list(definitions(rest))
        for begin, stop in reversed(marked):
            rest = rest[:begin] + rest[stop:]
        if marked and not BODY.search(rest):
            yield match.start(), end


def lines_of_code(text):
    return sum(1 for line in text.split("\n") if line.strip())


class Source:
    """A file of a chapter that is compiled. `kind`: program, experiment or header."""

    def __init__(self, path):
        self.path, self.chapter = path, path.split("/")[1]
        name = os.path.basename(path)
        self.kind = "experiment" if "/experiments/" in path else "program" if name.endswith(".cu") else "header"
        self.lesson = self.chapter[:2] not in HOST_LESSONS
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.lines = text.count("\n")
        self.includes = re.findall(r'^#include "([^"]*)"', text, re.M)
        text = only_code(text)
        self.code = lines_of_code(text)
        kernel = re.search(r"\b__global__\b", text)
        self.first_kernel = text.count("\n", 0, kernel.start()) + 1 if kernel else None
        whole = list(device_structs(text))
        marked = [d for d in definitions(text) if not any(begin <= d[0] < end for begin, end in whole)]
        self.device = sum(lines_of_code(text[begin:end]) for begin, end in marked + whole)
        main = re.search(r"^int main\(", text, re.M)
        self.main = text.count("\n", main.start(), end_of_definition(text, main.start())) + 1 if main else 0

    def share(self):
        return 100 * self.device / self.code if self.code else 0

    def complaints(self):
        allowed, named = r"(\.\./)+common/common\.cuh", "common/common.cuh"
        if self.kind != "program" or self.chapter[:2] in WITH_HEADERS:
            allowed, named = allowed + r"|(\.\./)?\w+\.cuh", named + " and headers of its own chapter"
        for name in self.includes:
            if not re.fullmatch(allowed, name):
                yield f"{self.path}: includes {name}: allowed: {named}"
        if self.kind == "program":
            if self.lines > MOST_LINES:
                yield f"{self.path}: {self.lines} lines: at most {MOST_LINES}"
            if self.main > MOST_MAIN:
                yield f"{self.path}: main has {self.main} lines: at most {MOST_MAIN}"
            if self.lesson and (self.first_kernel or LATEST_KERNEL + 1) > LATEST_KERNEL:
                yield f"{self.path}: the first kernel stands in line {self.first_kernel}: at most {LATEST_KERNEL}"
            if self.lesson and self.share() < OF_EACH:
                yield f"{self.path}: {self.share():.1f} % of the code is device code: at least {OF_EACH} %"
        elif self.kind == "experiment" and self.lines not in EXPERIMENT_LINES:
            yield f"{self.path}: {self.lines} lines: {EXPERIMENT_LINES[0]} to {EXPERIMENT_LINES[-1]}"


def sources():
    patterns = ("[!_]*.cu", "*.cuh", "*.h", "experiments/*")
    paths = (p for pattern in patterns for p in glob.glob(f"chapters/[0-9][0-9]_*/{pattern}"))
    return [Source(p) for p in sorted(paths, key=lambda p: (p.split("/")[1], p.count("/"), p))]


def total(of, what):
    device, code = sum(s.device for s in of), sum(s.code for s in of)
    return 100 * device / code if code else 100, f"device code in {what}: {device} of {code} lines, {100 * device / max(code, 1):.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="print only what breaks a bound, and fail if anything does")
    check = parser.parse_args().check
    found = sources()
    lessons = [s for s in found if s.lesson]
    totals = (
        (*total([s for s in lessons if s.kind == "program"], "the programs"), OF_PROGRAMS),
        (*total(lessons, "programs, experiments and headers"), OF_ALL),
    )
    headers = {path: sum(1 for _ in open(path, encoding="utf-8")) for path in sorted(glob.glob(HARNESS))}
    first = sum(headers.get(f"common/{name}.cuh", 0) for name in ("check", "timer"))
    harness = f"{HARNESS}: {len(headers)} headers, {sum(headers.values())} lines; check.cuh and timer.cuh {first}"
    if not check:
        row = "{:<64}{:>6}{:>6}{:>8}{:>7}{:>8}{:>6}".format
        print(row("", "lines", "code", "device", "share", "kernel", "main"))
        for s in found:
            share = f"{s.share():.0f} %" if s.lesson else "-"
            print(row(s.path[len("chapters/") :], s.lines, s.code, s.device, share, s.first_kernel or "-", s.main or "-"))
        print("\n".join([text for _, text, _ in totals] + [harness]))
        return 0
    complaints = [c for s in found for c in s.complaints()]
    complaints += [f"{text}: at least {least} %" for share, text, least in totals if share < least]
    if len(headers) > MOST_HEADERS or sum(headers.values()) > MOST_HARNESS_LINES or first > MOST_FIRST_LINES:
        complaints.append(f"{harness}: at most {MOST_HEADERS}, {MOST_HARNESS_LINES}, {MOST_FIRST_LINES}")
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
