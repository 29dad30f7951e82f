# SPDX-License-Identifier: MIT
"""Checks one file: builds its check, runs it under every schedule, and says how that ended."""

import os
import re
import secrets

from . import runner, todo
from .catalogue import read

SCHEDULES = ["forward", "reverse", "random:1", "random:2", "random:3"]
# What checks draw (common/labs/drawn.cuh) is the same for all runs of one command, and for a whole class.
SEED = os.environ.get("LAB_SEED") or str(secrets.randbits(63))
RACES = "races"  # in place of a schedule: the backend looks for races (common/cpu/races/detector.h)
# A bug report of the CPU backend or of a sanitizer among what a check printed.
BACKEND_REPORT = re.compile(r"^\S+:\d+: (?:error|warning): .*$(?:\n(?:    |\S+:\d+: (?:note|error): ).*$)*", re.M)
SUMMARY = re.compile(r"^(?:SUMMARY: \w+Sanitizer: .*|\S+:\d+:\d+: runtime error: .*)$", re.M)
NOTE = re.compile(r"^\S+:\d+: note: .*$(?:\n    .*$)*\n?", re.M)
END_OF_TRIAL = re.compile("\036(right|wrong)\n")  # common/labs/channel.cpp
CATCH2 = re.compile(r"^(?:~{20}|-{20}|={20}).*", re.M | re.S)
SEEDED = re.compile(r"^(?:Filters: .*|Randomness seeded to: \d+)\n?", re.M)  # Catch2 3, before its first test case


class Outcome:
    """verdict: passed, or why not:
    wrong      a test case failed          build    it does not compile
    crash      a signal ended it           early    it ended before the check did
    time, memory, output, processes: that limit was hit
    forged     the checked code did what only the check may: `forgery` says what
    changed    something outside the TODO of a prediction differs from the starter
    `cases`: {name: passed | failed}; `told`: {key: value} of the first test case that failed."""

    def __init__(self, verdict, **facts):
        self.verdict = verdict
        self.cases, self.told, self.case = {}, {}, None
        self.output, self.schedule, self.signal, self.status = "", None, None, 0
        self.passed_schedules, self.seconds, self.variant = [], 0.0, None
        self.forgery = ""  # what the checked code did
        self.depends_on_order = False
        self.depends_on_multiprocessors = False  # or on what else the run that looks for races has otherwise
        self.printed = ""  # by the checked code: in the try that failed, or in the first that printed anything
        self.warnings = ""  # the compiler's, about the checked file
        self.speeds = []  # what a GPU measured, in words
        self.counts_alone = False  # it did not pass, by nothing but counts of what the kernel does
        self.__dict__.update(facts)

    @property
    def passed(self):
        return self.verdict == "passed"

    def and_then(self, other):
        """This one, which passed, and another run of the same check: its own variant must be passed, too."""
        if other.passed:
            self.speeds = other.speeds
            return self
        return other

    def backend_report(self):
        """The CPU backend's own diagnosis, or ''."""
        match = BACKEND_REPORT.search(self.output)
        return match[0] if match and self.verdict != "build" else ""

    def summaries(self):
        """What sanitizers say in one line each."""
        return SUMMARY.findall(self.output)


def signal_name(number):
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def judge(lab, done):
    """Outcome of one run of a check. Only the channel counts: every test case of the check, each passed once, the check
    at its end, and a good exit status."""
    cases, told = {}, {}
    for name, status in done.cases:
        cases[name] = status if name not in cases and name in lab.cases else "failed"
    failed = next((n for n in lab.cases if cases.get(n) not in ("passed", None)), None)
    for case, key, value in done.told:
        if case in (failed, done.unfinished):
            if value not in told.get(key, "").split("\n"):
                told[key] = f"{told[key]}\n{value}" if key in told else value
    speeds = [value for _, key, value in done.told if key == "speed"]
    output = END_OF_TRIAL.sub("", done.output)
    facts = {"speeds": speeds, "cases": cases, "told": told, "case": failed or done.unfinished, "output": output}
    not_passed = [name for name in lab.cases if cases.get(name) != "passed"]
    facts["counts_alone"] = all((name, "missed", "counts alone") in done.told for name in not_passed)
    facts.update(printed=printed(done.output), seconds=done.seconds, status=done.status)
    if done.forged:
        return Outcome("forged", forgery=done.forged, **facts)
    if done.ended_by:
        return Outcome(done.ended_by, **facts)
    if done.status < 0:
        return Outcome("crash", signal=signal_name(-done.status), **facts)
    if not done.complete:
        return Outcome("early", **facts)
    if failed or set(cases) - set(lab.cases):
        return Outcome("wrong", **facts)
    if any(cases.get(name) != "passed" for name in lab.cases) or not lab.cases:
        return Outcome("early", **facts)
    if done.status != 0:
        return Outcome("wrong", **facts)
    return Outcome("passed", **facts)


def printed(output):
    """What the checked code printed in the trial that was wrong first; when none was, in the first that printed, or
    since the last."""
    pieces = END_OF_TRIAL.split(output)
    texts, ends = pieces[0::2], pieces[1::2]
    own = [NOTE.sub("", BACKEND_REPORT.sub("", CATCH2.sub("", text))).strip("\n") for text in texts]
    own[0] = SEEDED.sub("", own[0], count=2).strip("\n")
    if "wrong" in ends:
        return own[ends.index("wrong")]
    return next((text for text in own if text.strip()), "")


def environment_for(variant, schedule):
    kept = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_CPU_WORKERS")
    environment = {k: v for k, v in os.environ.items() if k in kept or k.startswith("NCCL_")}
    environment["NO_COLOR"] = "1"
    # The same on every machine; and each worker takes address space, which grading limits.
    environment.setdefault("CUDA_CPU_WORKERS", "2")
    if schedule == RACES:
        environment["CUDA_CPU_RACES"] = "all"
    elif schedule:
        environment["CUDA_CPU_SCHEDULE"] = schedule
    environment["CUDA_CPU_TIMEOUT"] = "5"
    environment["LAB_SEED"] = SEED
    if variant == "cpu-asan":
        environment.update(TEST_SIZES="small", ASAN_OPTIONS="detect_leaks=0")
        environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
    return environment


def variant_of(lab, backend):
    """Without a GPU every check is built for X-ray, whose hooks count and find races."""
    return "cpu-xray" if lab.predicts or lab.counts else {"cpu": "cpu-xray"}.get(backend, backend)


def run_check(lab, folder, variant, schedules, limits, drop_to=None, where=None, prefix=(), threads=True):
    """Runs folder/check under each schedule, up to the first that it does not pass. `threads`: whether it may have some
    before main."""
    program = [*prefix, os.path.abspath(f"{folder}/check")]
    passed, first = [], None
    for schedule in schedules:
        channel = runner.Channel(threads)
        done = runner.run(program, limits, environment_for(variant, schedule), where, channel, drop_to)
        outcome = judge(lab, done)
        outcome.schedule, outcome.variant, outcome.passed_schedules = schedule, variant, passed
        if not outcome.passed:
            return outcome
        passed, first = [*passed, schedule], first or outcome
    outcome.printed = first.printed if first else ""
    outcome.passed_schedules = passed
    return outcome


def schedules_for(lab, variant):
    """Orders of threads to try, and a run that looks for races. What X-ray counts does not depend on an order; on a GPU
    nobody can choose one."""
    if variant == "gpu":
        return [None]
    if lab.predicts:
        return ["forward"]
    return [*SCHEDULES, RACES] if variant == "cpu-xray" else ["forward"]


def has_right_results(outcome, run):
    """Whether a check, which did not pass, found nothing wrong but counts. run(schedules) runs it again: the run that
    looks for races counts nothing, so there every value is compared, and in no other order may a value be wrong."""

    def misses_counts(other):
        return other.passed or (other.verdict == "wrong" and other.counts_alone and not other.backend_report())

    left = [s for s in SCHEDULES if s != outcome.schedule and s not in outcome.passed_schedules]
    return outcome.schedule != RACES and misses_counts(outcome) and run([RACES]).passed and all(misses_counts(run([s])) for s in left)


def check_file(lab, path, builder, backend, folder, limits=runner.LEARNER, variant=None):
    """Checks the file at `path`. `folder` is for what is compiled."""
    if lab.predicts and todo.bodies(read(lab.starter), read_anything(path)) is None:
        return Outcome("changed")
    variant = variant or variant_of(lab, backend)
    builder.prepare(variant)
    built, said = builder.build(lab, path, variant, folder, calls=True)
    if not built:
        return Outcome("build", output=said, variant=variant)
    outcome = run_and_explain(lab, folder, variant, limits)
    outcome.warnings = about(path, said)
    if lab.asks_for_speed and backend == "gpu" and variant == "cpu-xray" and outcome.passed:
        return outcome.and_then(check_file(lab, path, builder, backend, f"{folder}/gpu", limits, "gpu"))
    return outcome


def run_and_explain(lab, folder, variant, limits):
    """Runs folder/check as a learner's check is run."""
    outcome = run_check(lab, folder, variant, schedules_for(lab, variant), limits)
    if outcome.verdict == "wrong" and RACES in schedules_for(lab, variant) and not outcome.backend_report():
        explain_by_races(lab, folder, variant, limits, outcome)
    return outcome


def explain_by_races(lab, folder, variant, limits, outcome):
    """A wrong result may come from a race, wherever it was wrong first. When only the run that looks for races was wrong,
    and found none, that says nothing about an order: the device has one multiprocessor there."""
    if outcome.schedule == RACES:
        outcome.depends_on_multiprocessors = True
        return
    again = run_check(lab, folder, variant, [RACES], limits)
    if again.backend_report():
        outcome.output = again.output
        return
    other = "reverse" if outcome.schedule == "forward" else "forward"
    again = run_check(lab, folder, variant, [other], limits)
    outcome.depends_on_order = (again.verdict, again.told) != (outcome.verdict, outcome.told)


def about(path, said):
    """Of a compiler's messages those about the file at `path`, with the lines that belong to them."""
    kept, keep = [], False
    for line in said.split("\n"):
        if re.match(r"\S.*[:(]\d+", line):
            keep = line.startswith((f"{path}:", f"{path}("))
        if keep:
            kept.append(line)
    return "\n".join(kept).strip()


def read_anything(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
