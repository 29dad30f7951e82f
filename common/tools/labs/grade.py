# SPDX-License-Identifier: MIT
"""Grades a class: make grade DIR=submissions [OUT=grades.json] [JOBS=n] [TIME=s] [CH=05]. README.md beside this file
says what is expected in DIR, what comes out, and what the limits are."""

import collections
import hashlib
import multiprocessing
import multiprocessing.connection
import os
import re
import shutil
import signal
import sys
import tempfile
import time

import grade_files
import outcome as outcomes
import runner
import submission
import todo
from catalogue import UsageError, choose, jobs, read

GIB = 1 << 30
COMPILE = runner.Limits(wall=120, cpu=60, memory=4 * GIB, output=1 << 20, file=256 << 20, processes=32)
RUN = runner.Limits(wall=30, cpu=30, memory=2 * GIB, output=1 << 20, file=16 << 20, processes=32)
# A GPU's driver and compiler reserve address space that they never use.
COMPILE_GPU = runner.Limits(wall=300, cpu=200, memory=8 * GIB, output=1 << 20, file=256 << 20, processes=64, space=False)
RUN_GPU = runner.Limits(wall=60, cpu=60, memory=8 * GIB, output=1 << 20, file=16 << 20, processes=32, space=False)
FIRST_USER = 61000  # root runs each submission as a user of its own

MESSAGES = {
    "build": "does not compile",
    "crash": "crashed",
    "early": "ended before the check did",
    "time": "did not come to an end",
    "memory": "used more than its memory",
    "output": "printed more than it may",
    "processes": "started more processes than it may",
    "changed": "changes something outside of the TODO, in a prediction",
    "missing": "not handed in",
    "untouched": "still the starter",
    "refused": "refused",
    "lost": "its supervisor was killed, twice",
}


# ---- what was handed in --------------------------------------------------------------------------


def students_in(folder):
    """(names of the sub-folders, notes about anything else)."""
    names, notes = [], []
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            names.append(entry.name)
        else:
            notes.append(f"{entry.name}: not a folder, ignored")
    return names, notes


def place_of(root, lab):
    """Where a student's file for an exercise is: as in work/, or in a work/ of its own."""
    for path in (f"{root}/{lab.chapter}/{lab.name}.cu", f"{root}/work/{lab.chapter}/{lab.name}.cu"):
        if os.path.lexists(path):
            return path
    return f"{root}/{lab.chapter}/{lab.name}.cu"


def ignored_in(root, labs):
    """Files that no exercise asks for, among them changed checks. Paths relative to the student's folder."""
    wanted = {os.path.relpath(place_of(root, lab), root) for lab in labs}
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), root)
            if path not in wanted and not name.startswith(".") and ".saved-" not in name:
                found.append(path)
    notes = []
    for path in found[:20]:
        is_check = path.endswith(".check.cu")
        notes.append(f"{path}: ignored" + (", the check is the tutorial's own" if is_check else ""))
    if len(found) > 20:
        notes.append(f"{len(found) - 20} more files ignored")
    return notes


class Job:
    """One exercise of one student."""

    def __init__(self, student, root, lab):
        self.student, self.root, self.lab = student, root, lab
        self.text, self.result, self.key, self.attempts = None, None, None, 0
        try:
            self.text = submission.fetch(place_of(root, lab), root)
            if self.text is None:
                self.result = verdict("missing")
            elif self.text.rstrip() == read(lab.starter).rstrip():
                self.result = verdict("untouched")
        except submission.Refused as why:
            self.result = verdict("refused", str(why))


def verdict(name, message="", seconds=0.0, **details):
    message = message or MESSAGES.get(name, name)
    return {"verdict": name, "message": message, "seconds": round(seconds, 2), "details": details}


# ---- grading one ---------------------------------------------------------------------------------


class Grader:
    def __init__(self, builder, backend, scratch, seconds):
        self.builder, self.backend, self.scratch = builder, backend, scratch
        self.limits = RUN_GPU if backend == "gpu" else RUN
        if seconds:
            self.limits.wall = self.limits.cpu = seconds
        self.baselines = {}

    def prepare(self, labs):
        self.builder.prepare(*sorted({outcomes.variant_of(lab, self.backend) for lab in labs}))
        for lab in labs:
            variant = outcomes.variant_of(lab, self.backend)
            self.baselines[lab.label] = submission.Baseline(
                self.builder, lab, variant, f"{self.scratch}/baseline/{lab.label}"
            )

    def grade(self, job, slot):
        """The result for one job; runs in a process of its own."""
        start = time.monotonic()
        result = self.attempt(job, slot)
        result["seconds"] = round(time.monotonic() - start, 2)
        return result

    def attempt(self, job, slot):
        lab = job.lab
        variant = outcomes.variant_of(lab, self.backend)
        folder = f"{self.scratch}/{slot}"
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(f"{folder}/build")
        os.makedirs(f"{folder}/empty")
        path = f"{folder}/{lab.name}.cu"
        with open(path, "w", encoding="utf-8") as file:
            file.write(job.text)
        os.chmod(path, 0o600)
        try:
            directives = submission.inspect(job.text)
            if lab.predicts and todo.bodies(read(lab.starter), job.text) is None:
                return verdict("changed")
            if set(directives) != set(submission.inspect_starter(lab)):
                self.baselines[lab.label].judge(self.builder, lab, path, variant, f"{folder}/build")
        except submission.Refused as why:
            return verdict("refused", str(why))
        limits = COMPILE_GPU if variant == "gpu" else COMPILE
        built, said = self.builder.build(lab, path, variant, f"{folder}/build", limits)
        if not built:
            return verdict("build", output=shortened(said, folder))
        user = user_for(slot, self.scratch)
        if user is not None:
            os.chown(f"{folder}/empty", user, user)
            os.chmod(f"{folder}/build", 0o711)
        outcome = outcomes.run_check(
            lab, f"{folder}/build", variant, outcomes.schedules_for(lab, variant), self.limits,
            drop_to=user, where=f"{folder}/empty", prefix=isolation(),
        )  # fmt: skip
        if outcome.passed:
            return verdict("passed", "passed")
        name = "failed" if outcome.verdict == "wrong" else outcome.verdict
        details = {"case": outcome.case, "schedule": outcome.schedule, **outcome.told}
        if outcome.backend_report():
            details["backend"] = shortened(outcome.backend_report(), folder)
        first = {"failed": what_failed(outcome), "crash": f"crashed: {outcome.signal}"}.get(name, "")
        return verdict(name, first, **{k: v for k, v in details.items() if v})


def what_failed(outcome):
    """The reason in one line."""
    told = outcome.told
    at = f" ({told['at']})" if "at" in told else ""
    if "wrong" in told:
        return f"{told['wrong']}: expected {told['expected']}, got {told['actual']}{at}"
    if outcome.backend_report():
        return re.sub(r"^\S+:\d+: ", "", outcome.backend_report().split("\n")[0]) + at
    if "cuda" in told:
        return told["cuda"].split(": ", 1)[-1] + at
    if "prediction" in told:
        return ", ".join(p for p in told["prediction"].split("\n") if not p.endswith(": right"))
    return f"fails '{outcome.case}'"


def shortened(text, folder):
    text = text.replace(folder + "/", "")
    return text if len(text) <= 2000 else text[:2000] + " ..."


def user_for(slot, scratch):
    """As root, each slot has a user of its own: so processes can be counted, and none can touch another slot's."""
    return FIRST_USER + slot if os.geteuid() == 0 and can_drop(scratch) else None


_answers = {}


def can_drop(scratch):
    """Whether another user could run what is built in the scratch folder."""
    if "drop" not in _answers:
        with open(f"{scratch}/probe", "w", encoding="utf-8"):
            pass
        os.chmod(f"{scratch}/probe", 0o644)
        done = runner.run(["test", "-r", f"{scratch}/probe"], runner.Limits(wall=10), drop_to=FIRST_USER)
        _answers["drop"] = done.status == 0
    return _answers["drop"]


def isolation():
    """A command prefix that keeps a submission's signals to itself, where the system lets everybody have one."""
    if os.geteuid() == 0 or sys.platform != "linux" or not shutil.which("unshare"):
        return []
    if "prefix" not in _answers:
        prefix = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
        _answers["prefix"] = prefix if runner.run([*prefix, "true"], runner.Limits(wall=10)).status == 0 else []
    return _answers["prefix"]


# ---- grading all ---------------------------------------------------------------------------------


def work(grader, job, slot, pipe):
    """The life of one supervisor: it watches one submission, and goes when the main process goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if runner.LIBC:
        runner.LIBC.prctl(runner.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    pipe.send(grader.grade(job, slot))
    pipe.close()


def grade_all(grader, open_jobs, count, finished):
    """Runs the jobs, `count` at a time, and calls finished(job) for each."""
    context = multiprocessing.get_context("fork")
    waiting = collections.deque(open_jobs)
    slots, running = list(range(count)), {}
    while waiting or running:
        while waiting and slots:
            job, slot = waiting.popleft(), slots.pop()
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=work, args=(grader, job, slot, theirs))
            process.start()
            theirs.close()
            running[ours] = (process, job, slot)
        for pipe in multiprocessing.connection.wait(list(running)):
            process, job, slot = running.pop(pipe)
            try:
                job.result = pipe.recv()
            except EOFError:
                job.result = None
            pipe.close()
            process.join()
            slots.append(slot)
            if job.result is None:
                job.attempts += 1
                if job.attempts < 2:
                    waiting.append(job)
                    continue
                job.result = verdict("lost")
            finished(job)


class Progress:
    """One line that is rewritten on a terminal; elsewhere one every few seconds."""

    def __init__(self, total):
        self.total, self.done, self.last = total, 0, time.monotonic()
        self.terminal = sys.stderr.isatty()

    def step(self, job):
        self.done += 1
        text = f"  {self.done} of {self.total}: {job.student} {job.lab.label}: {job.result['verdict']}"
        if self.terminal:
            print(f"\r{text[:100]:<100}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.last > 5 or self.done == self.total:
            self.last = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def end(self):
        if self.terminal and self.done:
            print("\r" + " " * 100 + "\r", end="", file=sys.stderr, flush=True)


def main(labs, settings, builder):
    folder, out = settings.get("DIR", ""), settings.get("OUT") or "grades.json"
    if not folder:
        raise UsageError("grade what? make grade DIR=FOLDER, with one sub-folder per student")
    if not os.path.isdir(folder):
        raise UsageError(f"DIR={folder}: no such folder")
    labs = choose(labs, settings.get("CH", ""), settings.get("EX", ""))
    unclear = [lab.label for lab in labs if lab.points is None]
    if unclear:
        raise UsageError(f"no points for {', '.join(unclear)}: make check-labs says what is missing")
    names, notes = students_in(folder)
    if not names:
        raise UsageError(f"DIR={folder}: no sub-folder in it; one per student is expected")
    count, seconds = jobs(settings), settings.get("TIME", "")
    if seconds and (not seconds.isdigit() or not 1 <= int(seconds) <= 3600):
        raise UsageError(f"TIME={seconds}: expected 1 to 3600 seconds for each run")
    backend = settings.get("BACKEND") or "cpu"
    kept = grade_files.Kept(out)

    scratch = tempfile.mkdtemp(prefix="grade.")
    os.chmod(scratch, 0o711)
    try:
        grader = Grader(builder, backend, scratch, int(seconds or 0))
        grader.prepare(labs)
        tools = "".join(read(f"common/tools/labs/{n}.py") for n in ("grade", "submission", "outcome", "runner"))
        all_jobs = [Job(name, f"{folder}/{name}", lab) for name in names for lab in labs]
        for job in all_jobs:
            if job.result is None:
                data = "\0".join((job.student, job.text, builder.key(job.lab, job.lab.starter), backend, seconds, tools))
                job.key = hashlib.sha256(data.encode()).hexdigest()
                job.result = kept.known.get(job.key)
        open_jobs = [job for job in all_jobs if job.result is None]
        known = sum(1 for job in all_jobs if job.key and job.result is not None)
        print(
            f"\n{len(names)} students, {len(labs)} exercises: {len(open_jobs)} to run"
            + (f", {known} known from before" if known else ""),
            flush=True,
        )
        progress = Progress(len(open_jobs))

        def finished(job):
            kept.add(job.key, job.result)
            progress.step(job)

        runner.become_subreaper()
        grade_all(grader, open_jobs, count, finished)
        progress.end()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)

    results = {}
    for job in all_jobs:
        results.setdefault(job.student, {})[job.lab.label] = job.result
    about = {name: ignored_in(f"{folder}/{name}", labs) for name in names}
    grades = grade_files.grades(labs, names, results, about, backend, notes)
    kept.finish(grades)
    grade_files.print_summary(grades)
    print(f"\n{out}, {grade_files.junit_path(out)}")
    return 0
