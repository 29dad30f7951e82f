#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which features of CUDA work: builds and runs the programs of tests/compatibility/, and prints what came of each.

A file there has one area of CUDA, which its line `// GROUP: area` names. A program begins with the line
`// FEATURE: name: what it shows` and ends where the next one begins; what stands above the first belongs to all of them. Each
is compiled and run alone, so that one that does not compile takes no other with it. `// NVCC: -lcufft` gives flags for nvcc.

Without a GPU the table is compared with the stored one: the exit status is 1 where a program that worked does not work
any more. With one, every program must work; one that does not is itself wrong."""

import argparse
import concurrent.futures
import dataclasses
import glob
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "measure"))
import csv_files  # noqa: E402
from counters import answer  # noqa: E402

GROUP = re.compile(r"// GROUP: (.*)$", re.M)
FEATURE = re.compile(r"// FEATURE: (\w+): (.*)$")
NVCC = re.compile(r"// NVCC: (.*)$", re.M)
SECONDS = 60  # for a run
MOST_SAID = 110  # characters


class Problem(Exception):
    """One line: what keeps the table from being made."""


@dataclasses.dataclass
class Program:
    name: str
    group: str
    feature: str
    text: str
    result: str = "works"  # or refused, or differs
    said: str = ""

    @property
    def nvcc_flags(self):
        return " ".join(NVCC.findall(self.text)).split()


def programs_of(path):
    """The programs of a file. Lines of others are empty in their texts, so that a compiler names the file's own lines."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    group, lines = GROUP.search(text), text.split("\n")
    starts = [number for number, line in enumerate(lines) if FEATURE.match(line)]
    if not group or not starts:
        raise Problem(f"{path}: a line `// GROUP: area` and lines `// FEATURE: name: what it shows` are expected")
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        name, feature = FEATURE.match(lines[start]).groups()
        others = [""] * (start - starts[0])
        yield Program(name, group[1], feature, "\n".join([*lines[: starts[0]], *others, *lines[start:end]]))


def chosen_programs(folder, only):
    programs = {p.name: p for path in sorted(glob.glob(f"{folder}/*.cu")) for p in programs_of(path)}
    missing = [name for name in only if name not in programs]
    if missing or not programs:
        raise Problem(f"{' '.join(missing)}: no such program in {folder}")
    return [programs[name] for name in sorted(only or programs)]


def complaint(text):
    """The first line that says what is wrong, without its place."""
    lines = text.rstrip().split("\n")
    line = next((line for line in lines if re.search("error|not supported", line, re.I)), lines[-1])
    line = re.sub(r"^[^ ]*:\d+(:\d+)?: ", "", line)
    return re.sub(r"^(fatal )?error: ", "", line)[:MOST_SAID]


class Runner:
    def __init__(self, given):
        self.given = given
        self.folder = f"build/compatibility/{given.backend}"
        os.makedirs(self.folder, exist_ok=True)

    def make(self, *goals):
        command = [self.given.make, "-s", "--no-print-directory", f"CXX={self.given.cxx}", *goals]
        # Each program is a make of its own, told FILE=.
        environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "FILE")}
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def prepare(self):
        """Makes what all programs share, and says on what they run."""
        if self.given.backend == "gpu":
            name = answer(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
            return f"{name} with nvcc {answer([self.given.nvcc, '--version'], r'release ([0-9.]*)')}"
        done = self.make(*(f"build/cpu/{part}" for part in ("prepass", "libcudacpu.a", "graphs.o", "textures.o")))
        if done.returncode != 0:
            raise Problem(done.stdout + done.stderr)
        compiler = self.given.cxx.split()[-1]
        return f"CPU backend with {compiler} {answer([compiler, '-dumpfullversion', '-dumpversion'])}"

    def build(self, program):
        """What the compiler said, and the program's path."""
        source, target = f"{self.folder}/{program.name}.cu", f"{self.folder}/{program.name}"
        pathlib.Path(source).write_text(program.text, encoding="utf-8")
        if self.given.backend == "gpu":
            command = [self.given.nvcc, "-std=c++17", f"-arch={self.given.arch}", f"-I{self.given.programs}"]
            command += ["-o", target, source, *program.nvcc_flags]
            return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True), target
        own = (f"FILE={source}", f"INCLUDE={self.given.programs}", "RACES=0", "BACKEND=cpu", "build")
        return self.make(*own), f"build/cpu/own/{program.name}"

    def attempt(self, program):
        built, path = self.build(program)
        if built.returncode != 0:
            program.result, program.said = "refused", complaint(built.stdout + built.stderr)
            return
        try:
            run = subprocess.run([path], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            program.result, program.said = "refused", f"had not ended after {SECONDS} seconds"
            return
        answer = run.stdout.decode("utf-8", "replace").rstrip().split("\n")[-1]
        if run.returncode == 0 and answer == "ok":
            return
        program.result = "differs" if run.returncode == 0 or answer == "differs" else "refused"
        program.said = answer if run.returncode == 0 else complaint(run.stderr.decode("utf-8", "replace"))


def stored_rows(path):
    return csv_files.rows_of(path) if os.path.exists(path) else []


def store(path, programs, device, keep_others):
    """Writes the table; with `keep_others` the rows of other programs stay in it."""
    rows = [{"device": device, "date": csv_files.today(), "program": p.name, "group": p.group, "result": p.result, "feature": p.feature, "said": p.said}
            for p in programs]  # fmt: skip
    names = {program.name for program in programs}
    rows += [row for row in stored_rows(path) if keep_others and row["program"] not in names]
    csv_files.write_whole(path, csv_files.csv_text(sorted(rows, key=lambda row: (row["group"], row["program"]))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--only", type=str.split, default=[], metavar="NAMES", help="programs; only their rows are stored then")
    parser.add_argument("--out", metavar="FILE", help="where to store the table")
    parser.add_argument("--programs", metavar="FOLDER", default="tests/compatibility")
    parser.add_argument("--stored", metavar="FILE", default="common/cpu/results/compatibility.csv")
    parser.add_argument("--arch", default="native", help="nvcc's")
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--make", default="make")
    given = parser.parse_args()
    try:
        programs = chosen_programs(given.programs, given.only)
        runner = Runner(given)
        device = runner.prepare()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(runner.attempt, programs))
        for program in programs:
            print(f"  {program.result:<8} {program.name:<20} {program.said}")
        results = [program.result for program in programs]
        works, refused, differ = (results.count(result) for result in ("works", "refused", "differs"))
        print(f"{works} of {len(programs)} work; {refused} refused, {differ} differ")
        if given.out:
            store(given.out, programs, device, keep_others=bool(given.only))
    except (Problem, OSError) as problem:
        print(problem, file=sys.stderr)
        return 2

    worked = {row["program"] for row in stored_rows(given.stored) if row["result"] == "works"}
    worse = [p.name for p in programs if p.result != "works" and (given.backend == "gpu" or p.name in worked)]
    if not worse:
        return 0
    if given.backend == "gpu":
        print(f"do not work on this GPU, so they are wrong themselves: {' '.join(worse)}", file=sys.stderr)
    else:
        print(f"worked when {given.stored} was written, and do not any more: {' '.join(worse)}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
