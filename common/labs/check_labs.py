# SPDX-License-Identifier: MIT
"""Proves the labs: every starter compiles without a warning and fails the test case that its check names; every
solution passes under every schedule and under the sanitizers, every alternative under every schedule; every mutant is
rejected; hints are there and do not give the solution away; solutions, alternatives and mutants differ from the starter
only where its TODO stands, and in the system's headers that alternatives and mutants include; and what is stored of a
check's report about its starter (starters.py) is what it says.

A proof that held is remembered under a hash of everything that decides it (build/labs/proved), so a second
run is quick."""

import concurrent.futures
import contextlib
import fcntl
import glob
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import sys
import time

from . import build, catalogue, starters
from ..tools.checks import edits
from . import outcome as outcomes, page, report, runner, todo
from .catalogue import choose, read, write

PROVED = "build/labs/proved"
MIN_MUTANTS = 3
MIN_EVASIONS = 3  # of a lab that is no prediction: right results that evade its objective
# What does not compile is no wrong solution, but where nvcc would refuse it and a C++ compiler would not: what the
# pre-pass says then.
REFUSED = re.compile(r": error: (?:host code names |device code calls |std::\w+ is for the host)")
MUTANTS = "build/labs/mutants"  # each one as a file of its own, to compile and to look at
INCLUDE = re.compile(r"^#include <\S+>\n", re.M)
OUTSIDE = "differs from the starter outside of the TODO"
TODO = re.compile(r"// (?:end of )?TODO\b")


# ---- what the text alone shows -------------------------------------------------------------------


def code_of(line):
    """A line of code without its comment and blanks."""
    return re.sub(r"\s+", "", line.split("//")[0])


def complaints_about_text(lab):
    """Complaints about one exercise before anything is compiled: [(file, complaint)]."""
    found = []

    def complain(path, text):
        found.append((path, text))

    readme = f"{lab.folder}/README.md"
    for path in (lab.check, lab.solution, lab.mutants):
        if not os.path.exists(path):
            complain(path, "missing")
    if lab.kind is None:
        example = f"[{lab.name}.cu]({lab.name}.cu) · fix the bug · 10 minutes · 1 point"
        complain(readme, f"section `## {lab.number}. Title` with the line `{example}` is missing")
    elif lab.kind not in catalogue.KINDS:
        complain(readme, f"exercise {lab.number}: {lab.kind}: expected one of: {'; '.join(catalogue.KINDS)}")
    elif (lab.kind == "predict, then measure") != lab.predicts:
        complain(lab.check, 'must include "xray/counts.h" in a prediction, and nowhere else')

    starter = read(lab.starter)
    if f"make lab {lab.command}" not in starter:
        complain(lab.starter, f"does not say how to check it: make lab {lab.command}")
    if lab.starter_fails is None or lab.starter_fails not in lab.cases:
        complain(lab.check, "needs a line `// STARTER FAILS: NAME` with the name of one of its test cases")
    if f"#include LAB_FILE" not in lab.check_text():
        complain(lab.check, "does not include LAB_FILE")
    try:
        parts = todo.split(starter)
    except todo.Unclosed as problem:
        return [*found, (lab.starter, str(problem))]
    if not any(is_todo for is_todo, _, _ in parts):
        complain(lab.starter, "has no TODO")
    if not os.path.exists(lab.solution):
        return found

    text = read(lab.solution)
    if todo.bodies(starter, text) is None:
        line, wanted = todo.first_difference(starter, text)
        complain(f"{lab.solution}:{line}", f"{OUTSIDE}; the starter has: {wanted}")
    if TODO.search(text):
        complain(lab.solution, "still has a TODO")
    found += complaints_about_edits(lab, starter)
    found += complaints_about_hints(lab, starter, read(lab.solution), readme)
    if lab.asks_for_speed != bool(lab.too_slow):
        complain(lab.check, 'a check with "common/labs/speed.cuh", and no other, has a line `// TOO SLOW: NAME, ...`')
    if not found:
        known = {mutant.label for mutant in edits.read(lab.mutants, lab.name)}
        for name in lab.too_slow:
            if name not in known:
                complain(lab.check, f"TOO SLOW: {lab.mutants} has no {lab.name}/{name}")
    return found


def complaints_about_edits(lab, starter):
    if not os.path.exists(lab.mutants):
        return []  # said above
    try:
        programs = edits.read(lab.mutants, lab.name)
    except edits.Wrong as wrong:
        return wrong.problems
    found = []
    rejected = sum(program.section != "right" for program in programs)
    if rejected < MIN_MUTANTS:
        found.append((lab.mutants, f"[{lab.name}] {rejected} mutants: at least {MIN_MUTANTS}"))
    evasions = sum(program.section == "evasions" for program in programs)
    if not lab.predicts and evasions < MIN_EVASIONS:
        found.append((lab.mutants, f"[{lab.name}] {evasions} mutants below [evasions]: at least {MIN_EVASIONS}"))
    for program in programs:
        text = but_for_includes(starter, program.text)
        if todo.bodies(starter, text) is None:
            _, wanted = todo.first_difference(starter, text)
            found.append((place_of(lab, program), f"{OUTSIDE}; the starter has: {wanted}"))
        if TODO.search(program.text):
            found.append((place_of(lab, program), "still has a TODO"))
    return found


def but_for_includes(starter, text):
    """The text without the system's headers that the starter does not include."""
    known = set(INCLUDE.findall(starter))
    return INCLUDE.sub(lambda line: line[0] if line[0] in known else "", text)


def place_of(lab, mutant):
    """How messages name a mutant: by its line and its name."""
    return f"{lab.mutants}:{mutant.line}: {mutant.label}"


def complaints_about_hints(lab, starter, solution, readme):
    found = []
    if sorted(lab.hints) != [1, 2, 3]:
        found.append((readme, f"exercise {lab.number}: hints 1, 2 and 3 expected, found {sorted(lab.hints)}"))
    known = {code_of(line) for line in starter.split("\n")}
    bodies = todo.bodies(starter, solution) or []
    given = {code_of(line) for body in bodies for line in body} - known
    given = {line for line in given if len(line) >= 12}
    for level, text in lab.hints.items():
        if len(text) < 40:
            found.append((readme, f"exercise {lab.number}, hint {level}: says nothing"))
        flat = re.sub(r"\s+", "", text)
        for line in given:
            if line in flat:
                found.append((readme, f"exercise {lab.number}, hint {level}: contains the solution's line {line}"))
        if lab.predicts:
            # A constant and its number in one sentence.
            for name, number in re.findall(r"\b(k\w+)\s*=\s*([\d.]+)", "\n".join(l for b in bodies for l in b)):
                for sentence in re.split(r"(?<=[.?!])\s", text):
                    if name in sentence and re.search(rf"(?<![\w.]){re.escape(number)}(?![\w.])", sentence):
                        found.append((readme, f"exercise {lab.number}, hint {level}: gives {name} away"))
    return found


def complaints_about_chapters(labs, chapters):
    found = []
    for chapter in chapters:
        here = [lab for lab in labs if lab.chapter == chapter]
        folder = f"chapters/{chapter}/exercises"
        if not here:
            found.append((folder, "no exercise"))
            continue
        numbers = [lab.number for lab in here]
        if numbers != list(range(1, len(here) + 1)):
            found.append((folder, f"exercises are numbered {numbers}: expected 1, 2, 3, ..."))
        sections = [int(n) for n, _ in catalogue.HEADING.findall(read(f"{folder}/README.md"))] if os.path.exists(
            f"{folder}/README.md") else []  # fmt: skip
        if sections != numbers:
            found.append((f"{folder}/README.md", f"has sections {sections} for the exercises {numbers}"))
        names = {lab.name for lab in here}
        for path in glob.glob(f"{folder}/solutions/*") + glob.glob(f"{folder}/*"):
            if path in (f"{folder}/solutions", f"{folder}/README.md", here[0].mutants, starters.file_of(chapter)):
                continue
            empty = os.path.isdir(path) and not os.listdir(path)  # git does not know it
            if not empty and os.path.basename(path).split(".")[0] not in names:
                found.append((path, "belongs to no exercise"))
        listed = edits.EXERCISES.findall(read(here[0].mutants)) if os.path.exists(here[0].mutants) else []
        found += [(here[0].mutants, f"[{name}] belongs to no exercise") for name in listed if name not in names]
    return found


# ---- what has to be tried ------------------------------------------------------------------------


class Try:
    """One file to check, and what has to come out. Messages name `place`."""

    def __init__(self, lab, role, path, variant, place="", section=""):
        self.lab, self.role, self.path, self.variant = lab, role, path, variant
        self.place = place or path
        # A starter, and what is wrong, must not earn the points for right results.
        self.is_wrong = role == "starter" or section == "wrong"

    def folder(self):
        return f"build/labs/proof/{self.lab.chapter}/{os.path.basename(self.path)}.{self.role}/{self.variant}"

    def complaint(self, outcome, said):
        """'' when it came out as it has to."""
        if self.role == "starter":
            if said:
                return f"compiles with a warning:\n{said.strip()}"
            if "LaunchTimeout" in outcome.told.get("cuda", ""):
                return "must fail by a wrong result, but it never ends"
            if self.lab.counts and self.variant == "gpu" and outcome.verdict in ("passed", "wrong"):
                return ""  # only the CPU backend counts: a GPU rejects it in a later case, or not at all
            if outcome.verdict != "wrong" or outcome.case != self.lab.starter_fails:
                return f"must fail '{self.lab.starter_fails}', but {report.describe(outcome)}"
        elif self.role in ("solution", "alternative"):
            if said:
                return f"compiles with a warning:\n{said.strip()}"
            if not outcome.passed:
                return f"must pass, but {report.describe(outcome)}"
        elif self.role == "slow":
            if outcome.verdict != "wrong" or outcome.told.get("wrong") != "speed":
                return f"must be too slow for its check, but {report.describe(outcome)}"
        elif outcome.verdict == "build" and REFUSED.search(outcome.output):
            return ""
        elif outcome.passed or outcome.verdict in ("build", "changed"):
            return f"must be rejected, but {report.describe(outcome)}"
        return ""


def tries_for(lab, backend):
    usual = outcomes.variant_of(lab, "cpu")
    yield Try(lab, "starter", lab.starter, usual)
    yield Try(lab, "solution", lab.solution, usual)
    for mutant in edits.read(lab.mutants, lab.name):
        role = "alternative" if mutant.section == "right" else "mutant"
        yield Try(lab, role, written(lab, mutant), usual, place_of(lab, mutant), mutant.section)
    if not lab.predicts:
        yield Try(lab, "solution", lab.solution, "cpu-asan")
        if backend == "gpu":
            yield Try(lab, "starter", lab.starter, "gpu")
            yield Try(lab, "solution", lab.solution, "gpu")
            for mutant in edits.read(lab.mutants, lab.name):
                if mutant.label in lab.too_slow:
                    yield Try(lab, "slow", written(lab, mutant), "gpu", place_of(lab, mutant))


def written(lab, mutant):
    """The file with the mutant's text."""
    path = f"{MUTANTS}/{lab.chapter}/{lab.name}.{mutant.label}.cu"
    write(path, mutant.text)
    return path


@contextlib.contextmanager
def alone_on_the_gpu(variant):
    """Runs on a GPU wait for each other: a speed that is measured beside another run says nothing."""
    if variant != "gpu":
        yield
        return
    with open("build/labs/gpu.lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def attempt(trial, builder):
    """Builds and runs one; returns (complaint, seconds, speeds in words)."""
    start = time.monotonic()
    own = trial.role in ("starter", "solution") and trial.variant != "gpu"
    right = trial.role in ("solution", "alternative")
    built, said = builder.build(
        trial.lab, trial.path, trial.variant, trial.folder(), more=build.STRICT if own else (), calls=right
    )
    if not built:
        outcome, said = outcomes.Outcome("build", output=said), ""
    else:
        sanitized = trial.variant == "cpu-asan"
        schedules = ["forward", "random:1"] if sanitized else outcomes.schedules_for(trial.lab, trial.variant)
        with alone_on_the_gpu(trial.variant):
            outcome = outcomes.run_check(trial.lab, trial.folder(), trial.variant, schedules, runner.PROOF)
    complaint = trial.complaint(outcome, said)
    if not complaint and trial.is_wrong and trial.lab.points_for_results and trial.variant != "gpu":
        if outcomes.has_right_results(outcome, lambda s: outcomes.run_check(trial.lab, trial.folder(), trial.variant, s, runner.PROOF)):
            complaint = f"would earn the points for right results, but {report.describe(outcome)}"
    if not complaint and trial.variant == "gpu" and trial.role == "solution":
        with alone_on_the_gpu(trial.variant):
            complaint = compute_sanitizer(trial)
    if not complaint and trial.role == "starter" and trial.variant != "gpu":
        complaint = starters.complaint(trial.lab, trial.folder(), trial.variant)
    shutil.rmtree(trial.folder(), ignore_errors=True)
    return complaint, time.monotonic() - start, outcome.speeds


def compute_sanitizer(trial):
    if not shutil.which("compute-sanitizer"):
        return "compute-sanitizer is not on PATH: it comes with the CUDA toolkit"
    for tool in ("memcheck", "racecheck"):
        # Some checks make a wrong call and look at the error that comes: no complaint about calls.
        command = ["compute-sanitizer", "--tool", tool, "--report-api-errors", "no", "--error-exitcode", "86",
                   f"{trial.folder()}/check"]  # fmt: skip
        done = runner.run(command, runner.Limits(wall=300, output=4 << 20), {**os.environ, "TEST_SIZES": "small"})
        if done.status != 0:
            return f"{tool} complains:\n" + "\n".join(report.excerpt(done.output, 12))
    return ""


def share_of(trials, text):
    """When the text is k/n, part k of n of the mutants, of the alternatives and of the solutions under the sanitizers,
    and of the starters and solutions, which every change of a lab wants to see, a part five times as large."""
    if not text:
        return trials
    kinds = {"starters and solutions": [], "mutants": [], "alternatives": [], "solutions under the sanitizers": []}
    for trial in trials:
        if trial.role in ("mutant", "alternative"):
            kinds[f"{trial.role}s"].append(trial)
        elif trial.variant == "cpu-asan":
            kinds["solutions under the sanitizers"].append(trial)
        else:
            kinds["starters and solutions"].append(trial)
    left_out, said = set(), []
    for name, kind in kinds.items():
        kept = edits.part_of(kind, text)
        if kept is None:
            raise catalogue.UsageError(f"SHARE={text}: expected k/n, the k-th of n parts of the labs' proofs, as in 1/3")
        if name == "starters and solutions":
            part, parts = map(int, text.split("/"))
            larger = max(1, parts // 5)
            labs = edits.part_of(list(dict.fromkeys(trial.lab for trial in kind)), f"{(part - 1) % larger + 1}/{larger}")
            kept = [trial for trial in kind if trial.lab in labs]
        left_out |= set(kind) - set(kept)
        said.append(f"{len(kept)} of {len(kind)} {name}")
    print(f"part {text.replace('/', ' of ')}: {', '.join(said)}")
    return [trial for trial in trials if trial not in left_out]


def key_of(trial, builder, tools):
    report = starters.stored(trial.lab.chapter).get(trial.lab.name, "") if trial.role == "starter" else ""
    return builder.key(trial.lab, trial.path, trial.role, trial.variant, tools, *([report] if report else []))


def main(labs, settings, builder):
    chapter = settings.get("CH", "")
    chapters = [chapter] if chapter else sorted(
        os.path.basename(os.path.dirname(p)) for p in glob.glob("chapters/[0-9][0-9]_*/")
    )  # fmt: skip
    chosen = choose(labs, chapter, settings.get("EX", ""))
    backend = settings.get("BACKEND") or "cpu"
    start = time.monotonic()
    jobs = catalogue.jobs(settings)

    complaints = [] if settings.get("EX") else complaints_about_chapters(labs, chapters)
    if not chapter:
        for path in page.stale(labs):
            complaints.append((path, "its exercises are not what their notes say; run: common/labs/labs.sh page"))
    sound = []
    for lab in chosen:
        about = complaints_about_text(lab)
        complaints += about
        if not about:
            sound.append(lab)
    trials = share_of([trial for lab in sound for trial in tries_for(lab, backend)], settings.get("SHARE", ""))
    tools = hashlib.sha256("".join(read(p) for p in sorted(glob.glob("common/labs/*.py"))).encode()).hexdigest()
    try:
        proved = set(json.loads(read(PROVED)))
    except (OSError, ValueError):
        proved = set()
    keys = {trial: key_of(trial, builder, tools) for trial in trials}
    open_trials = [trial for trial in trials if keys[trial] not in proved]
    builder.prepare(*sorted({trial.variant for trial in open_trials}))

    print(f"\n{len(chosen)} exercises, {len(trials)} checks, {len(trials) - len(open_trials)} of them known", flush=True)
    failed, spent, done, measured = {}, {}, 0, []
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = {pool.submit(attempt, trial, builder): trial for trial in open_trials}
        for future in concurrent.futures.as_completed(futures):
            trial = futures[future]
            complaint, seconds, speeds = future.result()
            measured += [(trial, speed) for speed in speeds]
            spent[trial.lab.chapter] = spent.get(trial.lab.chapter, 0) + seconds
            done += 1
            if complaint:
                failed.setdefault(trial.lab.label, []).append((trial, complaint))
            else:
                proved.add(keys[trial])
            if sys.stderr.isatty():
                print(f"\r  {done} of {len(open_trials)}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r" + " " * 20 + "\r", end="", file=sys.stderr)
    write(PROVED, json.dumps(sorted(proved)))

    for path, text in complaints:
        print(f"  {report.RED}FAIL{report.PLAIN}  {path}: {text}")
    for lab in chosen:
        bad = failed.get(lab.label, [])
        if lab in sound and not bad:
            rejected = sum(trial.lab is lab and trial.role == "mutant" for trial in trials)
            others = sum(trial.lab is lab and trial.role == "alternative" for trial in trials)
            also = f", {others} alternatives pass" if others else ""
            print(f"  {report.GREEN}ok{report.PLAIN}    {lab.label:<52} {rejected} mutants rejected{also}")
        for trial, speed in measured:
            if trial.lab is lab:
                print(f"        {os.path.basename(trial.path)}: {speed}")
        for trial, complaint in bad:
            print(f"  {report.RED}FAIL{report.PLAIN}  {trial.place} ({trial.variant}): {complaint}")
    wrong = len(complaints) + sum(len(f) for f in failed.values())
    drawn = f" (drawn with LAB_SEED={outcomes.SEED})" if wrong else ""
    print(f"\n{len(chosen)} exercises, {wrong} complaints{drawn}, {time.monotonic() - start:.1f} s")
    return 1 if wrong else 0
