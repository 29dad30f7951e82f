#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts one bug at a time into a chapter and sees whether its tests notice, on the CPU backend.

    mutants.py [CH...]        CH: a chapter's number or name; without, every chapter that has mutants

tests/NN_name.mutants names the bugs, one per line; `#` begins a comment line:

    NAME | PATTERN | REPLACEMENT             PATTERN must match exactly once (the first | may be left out)
    NAME * PATTERN | REPLACEMENT             each match gives a mutant of its own
    NAME | PATTERN | REPLACEMENT | sanitize  only `make sanitize` is expected to show it

PATTERN is a Python regular expression (`^` and `$` are those of a line), REPLACEMENT may use \\1. A mutant
is rejected when a test fails under some schedule. One that survives, or that does not even compile, fails
the run. The work is done in build/mutants/; the chapter itself is never touched.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import time

SCHEDULES = ["forward", "reverse", "random:1", "random:2", "random:3"]
TREE = "build/mutants"
LIMIT_SECONDS = 300


def read_mutants(path, text):
    """[(name, verb, mutated text)] for every line of the file and, with *, every match."""
    mutants = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            match = re.match(r"(\S+) (?:([|*]) )?(.*?) \|(?: (.*?))?(?: \| (sanitize))?$", line)
            if not match:
                sys.exit(f"{path}:{number}: expected NAME [|*] PATTERN | REPLACEMENT [| sanitize]")
            name, mode, pattern, replacement, verb = match.groups()
            found = list(re.finditer(pattern, text, re.M))
            if not found or (mode != "*" and len(found) != 1):
                wanted = "at least one match" if mode == "*" else "exactly one match"
                sys.exit(f"{path}:{number}: {name}: {wanted} expected, {len(found)} found: {pattern}")
            for m in found:
                label = f"{name}, line {text.count(chr(10), 0, m.start() + len(m[0]) - len(m[0].lstrip())) + 1}"
                mutated = text[: m.start()] + m.expand(replacement or "") + text[m.end() :]
                mutants.append((label, verb or "test", mutated))
    return mutants


def prepare_tree():
    """A copy of the sources beside a copy of what is built and depends on no chapter, so that a mutant
    costs one compilation."""
    shutil.rmtree(TREE, ignore_errors=True)
    os.makedirs(TREE)
    for name in ("Makefile", "common", "chapters", "tests"):
        subprocess.run(["cp", "-Rp", name, TREE], check=True)
    names = ["tests/flags", "tests/catch_main.o", "tests/catch_main.d", "cpu/announced", "cpu/prepass", "cpu/src"]
    names += [f"{v}/{n}" for v in ("cpu", "cpu-asan", "cpu-tsan") for n in ("libcudacpu.a", "flags", "obj/common")]
    for name in names:
        if os.path.exists(f"build/{name}"):
            to = os.path.dirname(f"{TREE}/build/{name}")
            os.makedirs(to, exist_ok=True)
            subprocess.run(["cp", "-Rp", f"build/{name}", to], check=True)


def run(*command, **extra):
    """Exit status of a command in the tree; 124 when it took too long."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CH")}
    environment.update(extra)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    try:
        return subprocess.run(
            command, cwd=TREE, env=environment, timeout=LIMIT_SECONDS, check=False, **quiet
        ).returncode
    except subprocess.TimeoutExpired:
        return 124


def verdict(chapter, verb):
    """(rejected?, how) for what is in the tree."""
    if run("make", "test-programs", "BACKEND=cpu", f"CH={chapter}") != 0:
        return False, "does not compile"
    if verb == "sanitize":
        return (True, "rejected by make sanitize") if run("make", "sanitize", "BACKEND=cpu", f"CH={chapter}") else (False, "survives")
    for schedule in SCHEDULES:
        # --abort: the first failing check is enough
        if run(f"build/cpu/tests/{chapter}.test", "--abort", CUDA_CPU_SCHEDULE=schedule) != 0:
            return True, f"rejected, {schedule}"
    return False, "survives"


def main(arguments):
    files = sorted(glob.glob("tests/[0-9][0-9]_*.mutants"))
    if arguments:
        wanted = [a.zfill(2) if a.isdigit() else a for a in arguments]
        names = {f: os.path.basename(f)[: -len(".mutants")] for f in files}
        files = [f for f in files if names[f] in wanted or names[f][:2] in wanted]
    if not files:
        print("no tests/NN_name.mutants to try", file=sys.stderr)
        return 2
    prepare_tree()
    survivors, tried = [], 0
    for path in files:
        chapter = os.path.basename(path)[: -len(".mutants")]
        source = f"chapters/{chapter}/{chapter[3:]}.cu"
        with open(source, encoding="utf-8") as file:
            text = file.read()
        print(f"\n{chapter}", flush=True)
        if verdict(chapter, "test") != (False, "survives"):
            print("  the chapter itself fails its tests: nothing can be told from mutants")
            return 1
        for name, verb, mutated in read_mutants(path, text):
            with open(f"{TREE}/{source}", "w", encoding="utf-8") as file:
                file.write(mutated)
            start = time.time()
            rejected, how = verdict(chapter, verb)
            tried += 1
            print(f"  {'ok  ' if rejected else 'FAIL'}  {name:<38} {how:<26} {time.time() - start:5.1f} s", flush=True)
            if not rejected:
                survivors.append(f"{chapter[:2]} {name}")
        with open(f"{TREE}/{source}", "w", encoding="utf-8") as file:
            file.write(text)
    print(f"\n{tried} mutants, {len(survivors)} not rejected{': ' + '; '.join(survivors) if survivors else ''}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
