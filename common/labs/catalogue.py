# SPDX-License-Identifier: MIT
"""Finds the labs in chapters/NN_name/exercises/.

An exercise is a starter exN_topic.cu, its check exN_topic.check.cu, solutions/exN_topic.cu, the bugs that make the
solution wrong (in solutions.mutants) and a section of exercises/README.md, the only place for its points:

    ## 1. Title
    [ex1_topic.cu](ex1_topic.cu) · fix the bug · 10 minutes · 1 point
    or, where results without the counts that the exercise asks for are a part: 3 points (1 for right results)
    (objective, what to do, then three hints)
    <details><summary>Hint 1</summary>
"""

import glob
import os
import re

from ..tools.measure.csv_files import write_whole as write

KINDS = ("fix the bug", "write the kernel", "write the code", "predict, then measure")
HEADING = re.compile(r"^## (\d+)\. (.+)$", re.M)
FACTS = re.compile(r"^\[(\w+)\.cu\]\((\w+)\.cu\) · ([^·]+) · (\d+) minutes · (\d+) points?(?: \((\d+) for right results\))?$", re.M)
HINT = re.compile(r"^<details><summary>Hint (\d+)</summary>\n(.*?)^</details>$", re.M | re.S)
STARTER_FAILS = re.compile(r"^// STARTER FAILS: (.+)$", re.M)
TOO_SLOW = re.compile(r"^// TOO SLOW: (.+)$", re.M)
OF_CHAPTER = re.compile(r'^#include "(chapters/[^"]+)"$', re.M)
TEST_CASE = re.compile(r'\bTEST_CASE\(\s*"((?:[^"\\]|\\.)*)"')


class UsageError(Exception):
    """One line: what is wrong, where, and what would be right. Ends a verb with status 2."""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Lab:
    """One exercise. Its facts are None where the README does not tell them; check-labs complains then."""

    def __init__(self, chapter, name, section):
        self.chapter = chapter
        self.name = name
        self.number = int(re.match(r"ex(\d+)_", name).group(1))
        self.folder = f"chapters/{chapter}/exercises"
        self.starter = f"{self.folder}/{name}.cu"
        self.check = f"{self.folder}/{name}.check.cu"
        self.solution = f"{self.folder}/solutions/{name}.cu"
        self.mutants = f"{self.folder}/solutions.mutants"
        self.work = f"work/{chapter}/{name}.cu"
        self.title, self.text, self.kind, self.minutes, self.points = name, "", None, None, None
        self.points_for_results = 0
        if section:
            self.title, self.text = section
            facts = FACTS.search(self.text)
            if facts and facts[1] == facts[2] == name:
                self.kind, self.minutes, self.points = facts[3], int(facts[4]), int(facts[5])
                self.points_for_results = int(facts[6] or 0)
        self.hints = {int(m[1]): m[2].strip() for m in HINT.finditer(self.text)}

    @property
    def label(self):
        return f"{self.chapter}/{self.name}"

    @property
    def command(self):
        """The arguments that name this exercise to make."""
        return f"CH={self.chapter[:2]} EX={self.number}"

    def check_text(self):
        return read(self.check) if os.path.exists(self.check) else ""

    @property
    def predicts(self):
        """Predictions are compared with what X-ray counts, which only the CPU backend can."""
        return '#include "xray/counts.h"' in self.check_text()

    @property
    def uses_driver(self):
        """Contexts, and what lives in them: the driver API, which is linked for such labs alone."""
        return "#include <cuda.h>" in self.check_text()

    @property
    def headers(self):
        """Those of a chapter that the starter includes: no others may stand in its place."""
        return OF_CHAPTER.findall(read(self.starter))

    @property
    def uses_tensor(self):
        """Instructions of tensor cores, as chapter 16's headers have them."""
        return any(header.startswith("chapters/16_") for header in self.headers)

    @property
    def uses_nccl(self):
        return "#include <nccl.h>" in self.check_text()

    @property
    def counts(self):
        """Goals in counts: X-ray counts what the learner's kernel asks for, on the CPU backend as well."""
        return '#include "common/labs/counts.cuh"' in self.check_text()

    @property
    def asks_for_speed(self):
        """Where there is a GPU, it times the solution as well."""
        return '#include "common/labs/speed.cuh"' in self.check_text()

    @property
    def too_slow(self):
        """Names of mutants that are right and that a GPU finds too slow."""
        match = TOO_SLOW.search(self.check_text())
        return [name.strip() for name in match[1].split(",")] if match else []

    @property
    def cases(self):
        """Names of the check's test cases."""
        return TEST_CASE.findall(self.check_text())

    @property
    def starter_fails(self):
        """The test case that the starter must fail."""
        match = STARTER_FAILS.search(self.check_text())
        return match[1] if match else None


def labs_of(chapter):
    folder = f"chapters/{chapter}/exercises"
    sections = {}
    if os.path.exists(f"{folder}/README.md"):
        text = read(f"{folder}/README.md")
        headings = list(HEADING.finditer(text))
        for heading, following in zip(headings, headings[1:] + [None]):
            sections[int(heading[1])] = (heading[2], text[heading.end() : following.start() if following else len(text)])
    names = [os.path.basename(p)[:-3] for p in glob.glob(f"{folder}/ex[0-9]*_*.cu") if not p.endswith(".check.cu")]
    labs = [Lab(chapter, n, sections.get(int(re.match(r"ex(\d+)_", n).group(1)))) for n in names]
    return sorted(labs, key=lambda lab: lab.number)


def all_labs():
    chapters = sorted(os.path.basename(os.path.dirname(p)) for p in glob.glob("chapters/[0-9][0-9]_*/exercises"))
    return [lab for chapter in chapters for lab in labs_of(chapter)]


def choose(labs, chapter, exercise):
    """The labs that CH (a chapter's number or full name, '' for all) and EX ('' for all) name."""
    if exercise and not chapter:
        raise UsageError(f"EX={exercise}: which chapter? Say CH=05 EX={exercise} as well")
    if chapter:
        here = [lab for lab in labs if chapter == lab.chapter or chapter.zfill(2) == lab.chapter.split("_")[0]]
        if not here:
            others = sorted({lab.chapter for lab in labs})
            raise UsageError(f"CH={chapter}: no exercises there; chapters with exercises: {' '.join(others) or 'none'}")
        if exercise:
            found = [lab for lab in here if exercise in (str(lab.number), lab.name, f"ex{lab.number}")]
            if not found:
                there = ", ".join(f"{lab.number} ({lab.name})" for lab in here)
                raise UsageError(f"EX={exercise}: no such exercise in {chapter}; there are: {there}")
            return found
        return here
    if not labs:
        raise UsageError("no chapter has exercises")
    return labs


def jobs(settings):
    """How many to run side by side: JOBS, else one per core."""
    text = settings.get("JOBS", "")
    if text and (not text.isdigit() or not 1 <= int(text) <= 512):
        raise UsageError(f"JOBS={text}: expected 1 to 512")
    return int(text) if text else os.cpu_count() or 1
