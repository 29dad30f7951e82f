#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves that a chapter's tests can fail: edits the chapter, one bug at a time, and expects `make test` to reject it.

    mutants.py [CH ...]        chapters by number; without: every chapter that has a tests/NN_name.mutants

A line of tests/NN_name.mutants is

    name | regular expression | replacement        the expression must match exactly once
    name * regular expression | replacement        one mutant for each match
    name | regular expression | replacement | sanitize
                                                   only `make sanitize` shows it (memory ordering, for one)

`#` begins a comment line. The expressions are Python's, with ^ and $ at lines. Work is done in build/mutants/tree,
a copy of this repository; nothing else is touched. Exit status: 0 all mutants rejected, 1 one survived, 2 usage.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "mutants" / "tree"


def fail(message):
    print(f"mutants: {message}", file=sys.stderr)
    sys.exit(2)


def mutants_of(listing, source):
    """Yields (name, verb, mutated source) for every mutant that the listing asks for."""
    for number, line in enumerate(listing.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{listing.relative_to(ROOT)}:{number}"
        match = re.match(r"(\S+) ([|*]) (.*?) \| (.*?)(?: \| (sanitize))?$", line + (" " if line.endswith("|") else ""))
        if not match:
            fail(f"{where}: expected: name | expression | replacement")
        name, kind, pattern, replacement, verb = match.groups()
        found = list(re.finditer(pattern, source, re.M))
        if not found or (kind == "|" and len(found) != 1):
            fail(f"{where}: {pattern} matches {len(found)} times, expected {'once' if kind == '|' else 'at least once'}")
        for m in found:
            line_of = source.count("\n", 0, m.start()) + 1
            mutated = source[: m.start()] + m.expand(replacement.rstrip()) + source[m.end() :]
            yield f"{name}, line {line_of}", verb or "test", mutated


def copy_tree():
    """A copy with what has been built, so that each mutant compiles only what it changes."""
    if TREE.exists():
        shutil.rmtree(TREE)
    TREE.mkdir(parents=True)
    for name in ("Makefile", "chapters", "common", "tests"):
        subprocess.run(["cp", "-a", str(ROOT / name), str(TREE)], check=True)
    (TREE / "build").mkdir()
    for variant in ("cpu", "cpu-asan", "cpu-tsan"):
        if (ROOT / "build" / variant).exists():
            subprocess.run(["cp", "-a", str(ROOT / "build" / variant), str(TREE / "build")], check=True)


def main():
    listings = sorted((ROOT / "tests").glob("[0-9][0-9]_*.mutants"))
    wanted = [f"{int(a):02d}" for a in sys.argv[1:] if a.isdigit()]
    if len(wanted) != len(sys.argv) - 1:
        fail("expected chapter numbers")
    if wanted:
        listings = [l for l in listings if l.name[:2] in wanted]
    if not listings:
        fail("no such listing in tests/")
    copy_tree()
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    survived = total = 0
    for listing in listings:
        chapter = listing.name[: -len(".mutants")]
        source_path = TREE / "chapters" / chapter / f"{chapter[3:]}.cu"
        source = source_path.read_text()
        for name, verb, mutated in mutants_of(listing, source):
            total += 1
            source_path.write_text(mutated)
            # Stop at the first failing schedule: one is enough.
            run = subprocess.run(
                ["make", verb, f"CH={chapter[:2]}", "BACKEND=cpu"],
                cwd=TREE, env=environment, capture_output=True, text=True)
            output = run.stdout + run.stderr
            compiled = "error:" not in run.stderr or "CUDA" in run.stderr or "kernel '" in output
            rejected = run.returncode != 0 and compiled
            survived += not rejected
            word = "rejected" if rejected else ("SURVIVED" if run.returncode == 0 else "DID NOT COMPILE")
            print(f"{word:16} {chapter[:2]} {name} (make {verb})", flush=True)
            if not rejected:
                print("\n".join("    " + l for l in output.splitlines()[-12:]))
        source_path.write_text(source)
    print(f"{total - survived} of {total} mutants rejected")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
