#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the figure scripts NN_name.py of this folder.

--check draws into a temporary folder and fails when a committed figure has other bytes, is missing, or
is drawn by no script. Figures drawn with another version of matplotlib are not compared.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))


def run_scripts(chapters, root):
    """Runs the scripts; returns those that failed."""
    failed = []
    for script in sorted(glob.glob(os.path.join(HERE, "[0-9][0-9]_*.py"))):
        if chapters and os.path.splitext(os.path.basename(script))[0] not in chapters:
            continue
        environment = dict(os.environ, FIGURES_ROOT=root, PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run([sys.executable, script], env=environment, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            # The last line of a traceback says what is wrong, be it a missing CSV or a typing error.
            said = done.stderr.strip().split("\n")[-1] if not os.environ.get("V") else "\n" + done.stderr
            failed.append(f"{os.path.relpath(script, ROOT)}: {said}")
        elif done.stderr:
            print(done.stderr.rstrip())
    return failed


def figures_in(root, chapters=()):
    """{path below root: path}, of these chapters or of all."""
    found = [p for c in chapters or ("*",) for p in glob.glob(os.path.join(root, "chapters", c, "figures", "*.svg"))]
    return {os.path.relpath(p, root): p for p in found}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def drawn_with(svg):
    match = re.search(rb"Matplotlib v([\d.]+)", svg)
    return match.group(1).decode() if match else None


def check(chapters):
    status = 0
    with tempfile.TemporaryDirectory() as scratch:
        for script in run_scripts(chapters, scratch):
            print(script)
            status = 1
        fresh, committed = figures_in(scratch, chapters), figures_in(ROOT, chapters)
        others = set()
        for name, path in sorted(fresh.items()):
            if name not in committed:
                print(f"{name}: not drawn yet; run make figures")
                status = 1
                continue
            new, old = read(path), read(committed[name])
            if new == old:
                continue
            if drawn_with(old) != drawn_with(new) and drawn_with(old):
                others.add(drawn_with(old))
                continue
            print(f"{name}: drifted from its script or data; run make figures")
            status = 1
        for name in sorted(set(committed) - set(fresh)):
            if drawn_with(read(committed[name])):
                print(f"{name}: no script draws it")
                status = 1
        if others:
            print(f"note: figures drawn with matplotlib {', '.join(sorted(others))}: not compared")
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER")
    options = parser.parse_args()
    if options.check:
        return check(options.chapters)
    before = {name: read(path) for name, path in figures_in(ROOT).items()}
    failed = run_scripts(options.chapters, ROOT)
    for name, path in sorted(figures_in(ROOT).items()):
        if before.get(name) != read(path):
            print(f"drew {name}")
    for script in failed:
        print(script, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
