# SPDX-License-Identifier: MIT
"""A learner's verbs: lab, hint, solution, reset, progress. The checks decide what is passed; only their answers are
remembered, under a hash of everything that decides them (build/labs/answers)."""

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys

from . import outcome as outcomes, report, todo
from .catalogue import UsageError, choose, read, write

ANSWERS = "build/labs/answers"


def folder_of(lab, variant):
    return f"build/labs/{lab.chapter}/{lab.name}/{variant}"


@contextlib.contextmanager
def alone_in(folder):
    """Two makes at once would compile to one place: the second one waits, and says so."""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/lock", "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("  another make checks this exercise: waiting for it", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Answers:
    """{key: passed?}: earlier answers of the checks."""

    def __init__(self):
        self.known = self.written()

    @staticmethod
    def written():
        try:
            return {k: v for k, v in json.loads(read(ANSWERS)).items() if isinstance(v, bool)}
        except (OSError, ValueError, AttributeError):
            return {}

    def remember(self, key, passed):
        self.known = {**self.written(), **self.known, key: passed}  # another make may have written meanwhile
        write(ANSWERS, json.dumps(self.known, indent=0))


class Learner:
    def __init__(self, labs, settings, builder):
        self.labs, self.settings, self.builder = labs, settings, builder
        self.backend = settings.get("BACKEND") or "cpu"
        self.answers = Answers()

    def key(self, lab):
        timed = ["timed"] if lab.asks_for_speed and self.backend == "gpu" else []
        return self.builder.key(lab, lab.work, outcomes.variant_of(lab, self.backend), *timed)

    def check(self, lab):
        folder = folder_of(lab, outcomes.variant_of(lab, self.backend))
        with alone_in(folder):
            result = outcomes.check_file(lab, lab.work, self.builder, self.backend, folder)
        self.answers.remember(self.key(lab), result.passed)
        return result

    def status(self, lab, tell=False):
        """passed, failed, or not started, which means no copy or an unchanged one. `tell`: report a pass that was not
        known before."""
        if not os.path.exists(lab.work) or read_bytes(lab.work) == read_bytes(lab.starter):
            return "not started"
        known = self.answers.known.get(self.key(lab))
        if known is None:
            print(f"  checking  {lab.work}", file=sys.stderr, flush=True)
            result = self.check(lab)
            known = result.passed
            if known and tell:
                report.show(lab, result, last=False)
        return "passed" if known else "failed"

    def first_open(self, labs, tell=False):
        """The first lab that is not passed. The chapter of the file edited last comes first, then those after it: a
        learner who began with chapter 05 goes on with 05, then 06."""
        begun = [lab for lab in labs if os.path.exists(lab.work)]
        if begun:
            stands = max(begun, key=lambda lab: os.path.getmtime(lab.work)).chapter
            labs = [lab for lab in labs if lab.chapter >= stands] + [lab for lab in labs if lab.chapter < stands]
        return next((lab for lab in labs if self.status(lab, tell) != "passed"), None)

    # ---- verbs -----------------------------------------------------------------------------------

    def lab(self):
        chosen = choose(self.labs, self.settings.get("CH", ""), self.settings.get("EX", ""))
        lab = chosen[0] if self.settings.get("EX") else self.first_open(chosen, tell=True)
        if lab is None:
            of = f"chapter {chosen[0].chapter[:2]}" if self.settings.get("CH") else "all chapters"
            print(f"\nAll exercises of {of} are passed: make progress")
            following = self.following(chosen[-1])
            if following:
                print(f"go on: make lab {following.command}   ({following.title})")
            return 0
        if (lab.predicts or lab.counts) and self.backend == "gpu":
            print(f"a {'prediction' if lab.predicts else 'goal in counts'}: the CPU backend counts, also on a machine with a GPU; the counts are the same"
                  + ("; then the GPU is timed" if lab.asks_for_speed else ""))  # fmt: skip
        self.copy(lab)
        if starter_was_edited(lab):
            print(f"{lab.starter} was edited: that is the starter. Your copy is {lab.work}, and only that is checked")
        if self.settings.get("GDB") not in (None, "", "0"):
            return self.debug(lab)
        result = self.check(lab)
        report.show(lab, result, self.following(lab) if result.passed else None)
        return 0 if result.passed else 1

    def copy(self, lab):
        if not os.path.exists(lab.work):
            write(lab.work, read(lab.starter))
            print(f"new: {lab.work}   (what to do: {lab.folder}/README.md, exercise {lab.number})", flush=True)

    def following(self, lab):
        """The next lab that is not passed; behind the last come those that were left out."""
        place = self.labs.index(lab)
        others = self.labs[place + 1 :] + self.labs[:place]
        return next((l for l in others if self.status(l) != "passed"), None)

    def debug(self, lab):
        """The same check, built so that a debugger shows variables, and how to start it."""
        # What counts is linked with X-ray, whose counts optimisation would change.
        variant, more = ("cpu-xray", ["-g"]) if lab.predicts or lab.counts else ("cpu", ["-Og", "-g"])
        folder = folder_of(lab, "gdb")
        self.builder.prepare(variant)
        built, said = self.builder.build(lab, lab.work, variant, folder, more=more)
        if not built:
            report.show(lab, outcomes.Outcome("build", output=said, variant=variant))
            return 1
        place = f"{lab.work}:{todo.place_to_open(read(lab.starter), read(lab.work))}"
        print(f"\n  gdb {folder}/check\n  (gdb) break {place}\n  (gdb) run\n\nThen: next, info locals, print x[0]@8, "
              "continue. A breakpoint takes a condition: `if i == 5`.\nthreadIdx is *(uint3*)&cuda_cpu_thread_index, "
              "blockIdx is *(uint3*)&cuda_cpu_block_index.")  # fmt: skip
        return 0

    def xray(self):
        """What each line of the learner's file asks of memory: the check's program, built to be counted."""
        lab = self.one_lab("xray")
        self.copy(lab)
        if lab.predicts and self.settings.get("FORCE") in (None, "", "0") and self.status(lab) != "passed":
            print(f"first predict: make lab {lab.command}; X-ray would give the answer away (FORCE=1 shows it)")
            return 1
        folder = folder_of(lab, "xray")
        self.builder.prepare("cpu-xray")
        # Comparing indices with bounds would change the counts.
        built, said = self.builder.build(lab, lab.work, "cpu-xray", folder, more=["-fno-sanitize=bounds"])
        if not built:
            report.show(lab, outcomes.Outcome("build", output=said, variant="cpu-xray"))
            return 1
        name = f"{lab.chapter}.{lab.name}"
        environment = {**os.environ, "CUDA_CPU_SCHEDULE": "forward", "CUDA_CPU_TIMEOUT": "20"}
        return subprocess.call(["common/tools/run/xray.sh", "--check", f"{folder}/check", lab.work, name], env=environment)

    def hint(self):
        lab = self.one_lab("hint")
        counter = f"work/.hints/{lab.chapter}.{lab.name}"
        if not lab.hints:
            raise UsageError(f"{lab.folder}/README.md: exercise {lab.number} has no hints")
        last = max(lab.hints)
        shown = int(read(counter)) if os.path.exists(counter) and read(counter).strip().isdigit() else 0
        level = min(shown + 1, last)
        write(counter, f"{level}\n")
        print(f"\n{report.BOLD}chapter {lab.chapter[:2]}, exercise {lab.number}: hint {level} of {last}{report.PLAIN}\n")
        print(lab.hints[level])
        following = f"make hint {lab.command}" if level < last else f"make solution {lab.command} FORCE=1"
        print(f"\nnext: make lab {lab.command}      if that was not enough: {following}")
        return 0

    def one_lab(self, verb):
        """The lab that CH and EX name; without EX the first that is not passed."""
        chosen = choose(self.labs, self.settings.get("CH", ""), self.settings.get("EX", ""))
        if self.settings.get("EX"):
            return chosen[0]
        if verb == "solution":
            raise UsageError("which exercise? Say CH=05 EX=1")
        return self.first_open(chosen) or chosen[-1]

    def solution(self):
        lab = self.one_lab("solution")
        if self.settings.get("FORCE") in (None, "", "0") and self.status(lab) != "passed":
            print(f"first your own: make lab {lab.command}; stuck: make hint {lab.command}; or FORCE=1")
            return 1
        starter, solution = read(lab.starter), read(lab.solution)
        print(f"\n{report.BOLD}{lab.solution}{report.PLAIN}: in place of the TODO\n")
        line = 0
        for body in todo.bodies(starter, solution) or [solution.split("\n")]:
            text = "\n".join(body).rstrip()
            line = solution.find(text, line)
            print(f"{report.DIM}line {solution.count(chr(10), 0, line) + 1}{report.PLAIN}\n{text}\n")
        if os.path.exists(lab.work):
            print(f"beside yours: diff {lab.work} {lab.solution}")
        return 0

    def reset(self):
        if not self.settings.get("CH"):
            raise UsageError("reset what? Say CH=05 for a chapter, CH=05 EX=1 for one exercise")
        for lab in choose(self.labs, self.settings["CH"], self.settings.get("EX", "")):
            note = ""
            if os.path.exists(lab.work):
                if read_bytes(lab.work) == read_bytes(lab.starter):
                    print(f"as it was: {lab.work}")
                    continue
                number = next(n for n in range(1, 10**6) if not os.path.exists(f"{lab.work}.saved-{n}"))
                shutil.move(lab.work, f"{lab.work}.saved-{number}")
                note = f"   (yours is now {os.path.basename(lab.work)}.saved-{number})"
            elif not self.settings.get("EX"):
                continue
            write(lab.work, read(lab.starter))
            print(f"fresh: {lab.work}{note}")
            if os.path.exists(f"work/.hints/{lab.chapter}.{lab.name}"):
                os.remove(f"work/.hints/{lab.chapter}.{lab.name}")
        return 0

    def progress(self):
        chosen = choose(self.labs, self.settings.get("CH", ""), self.settings.get("EX", ""))
        print()
        points = total = 0
        counts = {"passed": 0, "failed": 0, "not started": 0}
        colours = {"passed": report.GREEN, "failed": report.RED, "not started": report.DIM}
        chapter = None
        for lab in chosen:
            status = self.status(lab)
            counts[status] += 1
            worth = lab.points or 0
            total += worth
            points += worth if status == "passed" else 0
            if lab.chapter != chapter:
                chapter = lab.chapter
                print(f"{report.BOLD}{chapter}{report.PLAIN}")
            print(
                f"  {lab.number}  {colours[status]}{status:<11}{report.PLAIN}  "
                f"{worth if status == 'passed' else 0}/{worth} points  {lab.title}"
            )
        print(
            f"\n{counts['passed']} of {len(chosen)} passed, {counts['failed']} failed, "
            f"{counts['not started']} not started; {points} of {total} points"
        )
        following = self.first_open(chosen)
        print(f"next: make lab {following.command}" if following else "all done")
        return 0


def starter_was_edited(lab):
    """Whether the starter lost its TODO, or differs from what the history has, where there is one."""
    if todo.todo_line(read(lab.starter)) is None:
        return True
    try:
        command = ["git", "status", "--porcelain", "--", lab.starter]
        said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).stdout
        return said.strip().startswith(b"M")
    except OSError:
        return False


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()
