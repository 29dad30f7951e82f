#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stores what X-ray saw, for figures and for product_limits.py: chapters/NN_name/results/xray.csv and events.json.

[traces] in a chapter's settings names the traces, `name: options`; the name stands in the column `trace`. What is stored
is what `make xray CH=NN ARGS="options" CSV=FILE` writes where nvcc is not installed: what the source asks for, the same
everywhere. [events] names traces in the same way; with EVENTS=FILE they are what one block of each kernel does, step by
step (common/cpu/xray/events.h), and the name stands before the kernel as "trace". --check writes nothing, and fails where
something else would be stored. The order of the rows does not count: among rows of the same line it is up to the compiler.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import settings
from csv_files import write_whole

XRAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run", "xray.sh")


def trace(folder, chapter, options, kind="CSV"):
    """The lines of what X-ray writes, or what went wrong."""
    program, words = settings.program_of(chapter, options)
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "trace.csv")
        unset = dict.fromkeys(("CSV", "EVENTS", "HTML", "LINE", "SVG", "BLOCKS", "BLOCK"), "")
        environment = {**os.environ, **unset, kind: path, "XRAY_SOURCE": "1"}
        done = subprocess.run([XRAY, folder, program, *words], env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None, done.stdout + done.stderr
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines(), ""


def traces_of(folder, chapter):
    """The text of the chapter's xray.csv, and complaints."""
    lines, complaints = [], []
    for name, options in settings.named_lines_of(chapter, "traces"):
        if not re.fullmatch(r"[a-z0-9_]+", name):
            complaints.append(f"chapters/{chapter}/settings: [traces]: '{name}': a name is made of a-z, 0-9 and _")
            continue
        found, problem = trace(folder, chapter, options)
        if found is None:
            complaints.append(f"{problem}chapters/{chapter}/settings: [traces]: {name}: no trace")
            continue
        lines += ([] if lines else [f"trace,{found[0]}"]) + [f"{name},{line}" for line in found[1:]]
    return "".join(f"{line}\n" for line in lines), complaints


def events_of(folder, chapter):
    """The text of the chapter's events.json, and complaints."""
    kernels, complaints = [], []
    for name, options in settings.named_lines_of(chapter, "events"):
        found, problem = trace(folder, chapter, options, "EVENTS")
        if found is None:
            complaints.append(f"{problem}chapters/{chapter}/settings: [events]: {name}: no trace")
            continue
        text = "\n".join(found)[len('{"kernels":[\n') : -len("]}")]
        kernels.append(re.sub(r'^\{"kernel":', f'{{"trace":"{name}","kernel":', text, flags=re.M))
    return ("{\"kernels\":[\n" + ",\n".join(kernels) + "]}\n" if kernels else ""), complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("folder", help="where the programs that are built for X-ray lie")
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER")
    options = parser.parse_args()
    complaints = []
    for chapter in options.chapters:
        for name, made in (("xray.csv", traces_of), ("events.json", events_of)):
            path = f"chapters/{chapter}/results/{name}"
            stored = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
            text, problems = made(options.folder, chapter)
            complaints += problems
            if problems or text == stored:
                continue
            if not options.check:
                write_whole(path, text)
                print(f"traced {path}")
            elif sorted(text.splitlines()) != sorted(stored.splitlines()):
                complaints.append(f"{path}: the kernels do something else now; run make xray-traces figures")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
