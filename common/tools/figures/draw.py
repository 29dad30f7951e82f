#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the figure scripts NN_name.py of this folder.

--check draws into a temporary folder and fails when a committed figure has other bytes, is missing, or
is drawn by no script. Figures drawn with another version of matplotlib are not compared.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def run_scripts(chapters, root):
    """Runs the scripts; returns those that failed."""
    failed = []
    environment = dict(os.environ, FIGURES_ROOT=str(root), PYTHONDONTWRITEBYTECODE="1")
    for script in sorted(HERE.glob("[0-9][0-9]_*.py")):
        if chapters and script.stem not in chapters:
            continue
        done = subprocess.run([sys.executable, script], env=environment, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            # The last line of a traceback says what is wrong, be it a missing CSV or a typing error.
            said = done.stderr.strip().split("\n")[-1] if not os.environ.get("V") else "\n" + done.stderr
            failed.append(f"{script.relative_to(ROOT)}: {said}")
        elif done.stderr:
            print(done.stderr.rstrip())
    return failed


def figures_in(root, chapters=()):
    """{path below root: its bytes}, of these chapters or of all."""
    return {str(path.relative_to(root)): path.read_bytes()
            for chapter in chapters or ["*"] for path in sorted(root.glob(f"chapters/{chapter}/figures/*.svg"))}


def drawn_with(svg):
    match = re.search(rb"Matplotlib v([\d.]+)", svg)
    return match[1].decode() if match else None


def check(chapters):
    with tempfile.TemporaryDirectory() as scratch:
        faults = run_scripts(chapters, scratch)
        fresh, committed = figures_in(Path(scratch), chapters), figures_in(ROOT, chapters)
    others = set()
    for name, new in fresh.items():
        old = committed.get(name)
        if old is None:
            faults.append(f"{name}: not drawn yet; run make figures")
        elif old != new and drawn_with(old) in (None, drawn_with(new)):
            faults.append(f"{name}: drifted from its script or data; run make figures")
        elif old != new:
            others.add(drawn_with(old))
    faults += [f"{name}: no script draws it" for name, svg in committed.items() if name not in fresh and drawn_with(svg)]
    for fault in faults:
        print(fault)
    if others:
        print(f"note: figures drawn with matplotlib {', '.join(sorted(others))}: not compared")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER")
    options = parser.parse_args()
    if options.check:
        return check(options.chapters)
    before = figures_in(ROOT)
    failed = run_scripts(options.chapters, ROOT)
    for name, svg in figures_in(ROOT).items():
        if before.get(name) != svg:
            print(f"drew {name}")
    for script in failed:
        print(script, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
