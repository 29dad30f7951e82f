# SPDX-License-Identifier: MIT
"""Puts one bug at a time into a chapter and sees whether its tests notice, on the CPU backend.

tests/NN_name.mutants names the bugs; edits.py says how they are written. A mutant is rejected when a test
fails under some schedule, one of kind `sanitize` when `make sanitize` fails. One that survives, or that does
not even compile, fails the run. The work is done in build/mutants/; the chapter itself is never touched.
"""

import argparse
import concurrent.futures
import glob
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import time

from . import edits, run_tests

TREES = "build/mutants"
LIMIT_SECONDS = 300


def chosen(names, arguments):
    """The chapters that the arguments name by number or in full, all without any; and the arguments that name none."""
    wanted = [a.zfill(2) if a.isdigit() else a for a in arguments]
    unknown = [w for w in wanted if not any(w in (n, n[:2]) for n in names)]
    return [n for n in names if not wanted or n in wanted or n[:2] in wanted], " ".join(unknown)


def prepare_trees(count):
    """A queue of so many trees."""
    shutil.rmtree(TREES, ignore_errors=True)
    trees = queue.Queue()
    for number in range(count):
        prepare_tree(f"{TREES}/{number}")
        trees.put(f"{TREES}/{number}")
    return trees


def prepare_tree(tree):
    """A copy of the sources beside a copy of what is built and depends on no chapter, so that a mutant
    costs one compilation."""
    os.makedirs(tree)
    for name in ("Makefile", "common", "chapters", "tests"):
        subprocess.run(["cp", "-Rp", name, tree], check=True)
    names = ["tests/flags", "tests/catch_main.o", "tests/catch_main.d", "cpu/src"]
    for variant in ("cpu", "cpu-asan", "cpu-xray"):
        files = sorted(os.path.relpath(p, "build") for p in glob.glob(f"build/{variant}/[!0-9]*") if os.path.isfile(p))
        names += files + [f"{variant}/obj/common"]
    for name in names:
        if os.path.exists(f"build/{name}"):
            to = os.path.dirname(f"{tree}/build/{name}")
            os.makedirs(to, exist_ok=True)
            subprocess.run(["cp", "-Rp", f"build/{name}", to], check=True)


def run(tree, *command, **extra):
    """Exit status of a command in the tree; 124 when it took too long."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CH")}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    try:
        return subprocess.run(
            command, cwd=tree, env={**inherited, **extra}, timeout=LIMIT_SECONDS, check=False, **quiet
        ).returncode
    except subprocess.TimeoutExpired:
        return 124


def verdict(tree, chapter, kind):
    """(rejected?, how) for what is in the tree."""
    compiled = run(tree, "make", "-j1", "test-programs", "BACKEND=cpu", f"CH={chapter}")
    if compiled != 0:
        return False, f"not compiled after {LIMIT_SECONDS} s" if compiled == 124 else "does not compile"
    if kind == "sanitize":
        noticed = run(tree, "make", "-j1", "sanitize", "BACKEND=cpu", f"CH={chapter}") != 0
        return noticed, "rejected by make sanitize" if noticed else "survives"
    for schedule in run_tests.USUAL:
        # --abort: the first failing check is enough
        if run(tree, f"build/cpu/tests/{chapter}.test", "--abort", **run_tests.setting_of(schedule)) != 0:
            return True, f"rejected, {schedule}"
    return False, "survives"


def attempt(trees, chapter, kind, program, text):
    """The verdict on a free tree that has `text` for the file `program`, and the seconds that it took."""
    original = pathlib.Path(program).read_text(encoding="utf-8")
    tree = trees.get()
    start, path = time.time(), pathlib.Path(tree, program)
    try:
        path.write_text(text, encoding="utf-8")
        return (*verdict(tree, chapter, kind), time.time() - start)
    finally:
        path.write_text(original, encoding="utf-8")
        trees.put(tree)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", default="", metavar="k/n", help="only the k-th of n parts of each chapter's mutants")
    parser.add_argument("chapters", nargs="*", metavar="CH", help="a chapter's number or name; without, all that have mutants")
    options = parser.parse_args()
    share = options.share
    names = [os.path.basename(f)[: -len(".mutants")] for f in sorted(glob.glob("tests/[0-9][0-9]_*.mutants"))]
    if edits.part_of([], share) is None:
        print(f"--share={share}: expected k/n, the k-th of n parts of the mutants, as in 1/3", file=sys.stderr)
        return 2
    names, unknown = chosen(names, options.chapters)
    if unknown:
        print(f"{unknown}: no tests/NN_name.mutants of that name or number", file=sys.stderr)
        return 2
    if not names:
        print("no tests/NN_name.mutants to try", file=sys.stderr)
        return 2
    mutants_of, problems = {}, []
    for name in names:
        try:
            mutants_of[name] = edits.part_of(edits.read(f"tests/{name}.mutants"), share)
        except edits.Wrong as wrong:
            problems.append(str(wrong))
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 2

    workers = min(8, os.cpu_count() or 1)
    os.environ["CUDA_CPU_WORKERS"] = "2"  # several mutants run side by side
    trees = prepare_trees(workers)
    not_rejected, tried = [], 0
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for chapter, mutants in mutants_of.items():
            print(f"\n{chapter}", flush=True)
            # Where the chapter itself fails, nothing can be told from its mutants.
            program = f"chapters/{chapter}/{chapter[3:]}.cu"
            text = pathlib.Path(program).read_text(encoding="utf-8")
            original = pool.submit(attempt, trees, chapter, "", program, text)
            tries = [pool.submit(attempt, trees, chapter, m.kind, m.program, m.text) for m in mutants]
            if original.result()[:2] != (False, "survives"):
                for future in tries:
                    future.cancel()
                print(f"  FAIL  the chapter as it is: {original.result()[1]}")
                not_rejected.append(f"{chapter[:2]} as it is")
                continue
            for mutant, future in zip(mutants, tries):
                rejected, how, seconds = future.result()
                name = f"{mutant.label}, line {mutant.at}"
                tried += 1
                print(f"  {'ok  ' if rejected else 'FAIL'}  {name:<38} {how:<26} {seconds:5.1f} s", flush=True)
                if not rejected:
                    not_rejected.append(f"{chapter[:2]} {name}")
    shutil.rmtree(TREES, ignore_errors=True)
    print(f"\n{tried} mutants, {len(not_rejected)} not rejected{': ' + '; '.join(not_rejected) if not_rejected else ''}")
    return 1 if not_rejected else 0


if __name__ == "__main__":
    sys.exit(main())
