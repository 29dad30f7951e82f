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

import concurrent.futures
import glob
import os
import queue
import re
import shutil
import subprocess
import sys
import time

SCHEDULES = ["forward", "reverse", "random:1", "random:2", "random:3"]
TREES = "build/mutants"
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


def prepare_tree(tree):
    """A copy of the sources beside a copy of what is built and depends on no chapter, so that a mutant
    costs one compilation."""
    os.makedirs(tree)
    for name in ("Makefile", "common", "chapters", "tests"):
        subprocess.run(["cp", "-Rp", name, tree], check=True)
    names = ["tests/flags", "tests/catch_main.o", "tests/catch_main.d", "cpu/announced", "cpu/prepass", "cpu/src"]
    names += [f"{v}/{n}" for v in ("cpu", "cpu-asan", "cpu-tsan") for n in ("libcudacpu.a", "flags", "obj/common")]
    for name in names:
        if os.path.exists(f"build/{name}"):
            to = os.path.dirname(f"{tree}/build/{name}")
            os.makedirs(to, exist_ok=True)
            subprocess.run(["cp", "-Rp", f"build/{name}", to], check=True)


def run(tree, *command, **extra):
    """Exit status of a command in the tree; 124 when it took too long."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CH")}
    environment.update(extra)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    try:
        return subprocess.run(
            command, cwd=tree, env=environment, timeout=LIMIT_SECONDS, check=False, **quiet
        ).returncode
    except subprocess.TimeoutExpired:
        return 124


def verdict(tree, chapter, verb):
    """(rejected?, how) for what is in the tree."""
    if run(tree, "make", "-j1", "test-programs", "BACKEND=cpu", f"CH={chapter}") != 0:
        return False, "does not compile"
    if verb == "sanitize":
        noticed = run(tree, "make", "-j1", "sanitize", "BACKEND=cpu", f"CH={chapter}") != 0
        return noticed, "rejected by make sanitize" if noticed else "survives"
    for schedule in SCHEDULES:
        # --abort: the first failing check is enough
        if run(tree, f"build/cpu/tests/{chapter}.test", "--abort", CUDA_CPU_SCHEDULE=schedule) != 0:
            return True, f"rejected, {schedule}"
    return False, "survives"


def try_mutant(trees, chapter, verb, text):
    """Puts `text` for the chapter's program into a free tree, and takes it out again."""
    tree = trees.get()
    path = f"{tree}/chapters/{chapter}/{chapter[3:]}.cu"
    with open(path, encoding="utf-8") as file:
        original = file.read()
    start = time.time()
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return (*verdict(tree, chapter, verb), time.time() - start)
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(original)
        trees.put(tree)


def main(arguments):
    files = sorted(glob.glob("tests/[0-9][0-9]_*.mutants"))
    if arguments:
        wanted = [a.zfill(2) if a.isdigit() else a for a in arguments]
        names = {f: os.path.basename(f)[: -len(".mutants")] for f in files}
        files = [f for f in files if names[f] in wanted or names[f][:2] in wanted]
    if not files:
        print("no tests/NN_name.mutants to try", file=sys.stderr)
        return 2

    workers = min(8, os.cpu_count() or 1)
    os.environ["CUDA_CPU_WORKERS"] = "2"  # several mutants run side by side
    shutil.rmtree(TREES, ignore_errors=True)
    trees = queue.Queue()
    for index in range(workers):
        prepare_tree(f"{TREES}/{index}")
        trees.put(f"{TREES}/{index}")

    not_rejected, tried = [], 0
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for path in files:
            chapter = os.path.basename(path)[: -len(".mutants")]
            with open(f"chapters/{chapter}/{chapter[3:]}.cu", encoding="utf-8") as file:
                text = file.read()
            mutants = read_mutants(path, text)
            print(f"\n{chapter}", flush=True)
            # Where the chapter itself fails, nothing can be told from its mutants.
            original = pool.submit(try_mutant, trees, chapter, "test", text)
            tries = [pool.submit(try_mutant, trees, chapter, verb, mutated) for _, verb, mutated in mutants]
            if original.result()[:2] != (False, "survives"):
                for future in tries:
                    future.cancel()
                print(f"  FAIL  the chapter as it is: {original.result()[1]}")
                not_rejected.append(f"{chapter[:2]} as it is")
                continue
            for (name, _, _), future in zip(mutants, tries):
                rejected, how, seconds = future.result()
                tried += 1
                print(f"  {'ok  ' if rejected else 'FAIL'}  {name:<38} {how:<26} {seconds:5.1f} s", flush=True)
                if not rejected:
                    not_rejected.append(f"{chapter[:2]} {name}")
    shutil.rmtree(TREES, ignore_errors=True)
    print(f"\n{tried} mutants, {len(not_rejected)} not rejected{': ' + '; '.join(not_rejected) if not_rejected else ''}")
    return 1 if not_rejected else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
