# SPDX-License-Identifier: MIT
"""Grades a class: make grade DIR=submissions [OUT=grades.json|grades.csv] [JOBS=n] [TIME=s] [CH=05]. README.md beside
this file says what is expected in DIR, what comes out, and what the limits are."""

import collections
import hashlib
import multiprocessing
import multiprocessing.connection
import os
import re
import signal
import sys
import time
import traceback

from . import alike, audit, feedback, folders, grade_files, handed_in, outcome as outcomes, runner, sandbox, submission, todo
from .catalogue import UsageError, choose, jobs, read
from .class_folder import Roster, base_of, ignored_in, place_of, shown, students_in

GIB = 1 << 30
COMPILE = runner.Limits(wall=120, cpu=60, memory=4 * GIB, output=1 << 20, file=256 << 20, processes=32)
RUN = runner.Limits(wall=30, cpu=30, memory=2 * GIB, output=1 << 20, file=16 << 20, processes=32)
# A GPU's driver and compiler reserve address space that they never use.
COMPILE_GPU = runner.Limits(wall=300, cpu=200, memory=8 * GIB, output=1 << 20, file=256 << 20, processes=64, space=False)
RUN_GPU = runner.Limits(wall=60, cpu=60, memory=8 * GIB, output=1 << 20, file=16 << 20, processes=32, space=False)
READ = (20, 2 * GIB)  # seconds of CPU time and memory for the process that reads a submission and what is said of it
ATTEMPTS = 2  # for a job whose supervisor ends without a result

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


# ---- one exercise of one student -----------------------------------------------------------------


class Job:
    """One exercise of one student; `root` is None for one who has handed in nothing."""

    def __init__(self, student, root, base, lab):
        self.student, self.lab = student, lab
        self.text, self.result, self.key, self.attempts, self.why = None, None, None, 0, ""
        if root is None:
            self.result = verdict("missing", grade_files.NOTHING)
            return
        try:
            self.text = submission.fetch(place_of(base, lab), root)
            if self.text is None:
                self.result = verdict("missing")
            elif self.text.rstrip() == read(lab.starter).rstrip():
                self.result = verdict("untouched")
        except submission.Refused as why:
            self.result = verdict("refused", str(why))


def verdict(name, message="", seconds=0.0, **details):
    message = message or MESSAGES.get(name, name)
    return {"verdict": name, "message": message, "seconds": round(seconds, 2), "details": details}


class Grader:
    def __init__(self, builder, backend, scratch, seconds):
        self.builder, self.backend, self.scratch = builder, backend, scratch
        self.limits = RUN_GPU if backend == "gpu" else RUN
        if seconds:
            self.limits.wall = self.limits.cpu = seconds
        self.guarded, self.box = {}, None
        self.threads_are_told = runner.threads_are_told()

    def prepare(self, labs, said):
        """What all submissions of these exercises are compared with; said(text) is told how far it is."""
        self.builder.prepare(*sorted({outcomes.variant_of(lab, self.backend) for lab in labs}))
        compiler = self.builder.prepared[outcomes.variant_of(labs[0], self.backend)][0][0]
        self.box = sandbox.Sandbox(self.scratch, self.backend, compiler)
        for number, lab in enumerate(labs, 1):
            said(f"preparing {number} of {len(labs)}: {lab.label}")
            variant = outcomes.variant_of(lab, self.backend)
            self.guarded[lab.label] = audit.guarded_by(lab), audit.called_by(lab)
            if variant != "gpu":
                audit.protected(self.builder, variant)

    def grade(self, job, slot, folder):
        """The result for one job; runs in a process of its own, in a folder that is not there yet."""
        start = time.monotonic()
        try:
            with runner.reading(*READ):
                result = self.attempt(job, slot, folder)
        except submission.Refused as why:
            result = verdict("refused", str(why))
        except runner.TooMuch:
            result = verdict("refused", "takes more time or memory to be read than any exercise needs")
        result["seconds"] = round(time.monotonic() - start, 2)
        return result

    def attempt(self, job, slot, folder):
        lab, box = job.lab, self.box
        variant = outcomes.variant_of(lab, self.backend)
        user, path = box.user(slot), f"{folder}/{lab.name}.cu"
        for part in ("build", "empty"):
            os.makedirs(f"{folder}/{part}")
        # A compiler that is stopped leaves its own temporary files; this process serves one attempt alone.
        os.environ["TMPDIR"] = f"{folder}/empty"
        folders.copy_text(job.text, path)
        os.chmod(folder, 0o711)
        if user is not None:
            for owned in (path, f"{folder}/build", f"{folder}/empty"):
                os.chown(owned, user, user)
        if lab.predicts and todo.bodies(read(lab.starter), job.text) is None:
            return verdict("changed")
        limits = COMPILE_GPU if variant == "gpu" else COMPILE
        built, said = audit.build(
            self.builder, lab, path, variant, f"{folder}/build", limits, box.to_build(folder, lab, path),
            user, *self.guarded[lab.label],
        )  # fmt: skip
        if not built:
            if not box.still_works(said):
                raise RuntimeError(said)
            said = shortened(said, folder)
            return verdict("build", output=said, **lines_named(lab, job.text, said))

        def run(schedules):
            return outcomes.run_check(
                lab, f"{folder}/build", variant, schedules, self.limits, drop_to=user, where=f"{folder}/empty",
                prefix=box.to_run(folder), threads=variant == "gpu" or not self.threads_are_told,
            )  # fmt: skip

        schedules = outcomes.schedules_for(lab, variant)
        outcome = run(schedules)
        if outcome.verdict == "wrong" and outcomes.RACES in schedules and not outcome.backend_report():
            # A wrong result may come from a race: then the message names that as well.
            again = run([outcomes.RACES]) if outcome.schedule != outcomes.RACES else outcome
            if again.backend_report():
                outcome.output = again.output
        if outcome.passed:
            return verdict("passed", "passed")
        if outcome.verdict == "early" and not box.still_works(outcome.output):
            raise RuntimeError(outcome.output)
        if outcome.verdict == "forged":
            return verdict("forged", outcome.forgery)
        name = "failed" if outcome.verdict == "wrong" else outcome.verdict
        earned = part_of(lab, outcome, run)
        details = {"case": outcome.case, "schedule": outcome.schedule, **outcome.told}
        if outcome.backend_report():
            details["backend"] = shortened(outcome.backend_report(), folder)
            details.update(lines_named(lab, job.text, details["backend"]))
        first = {"failed": what_failed(outcome), "crash": f"crashed: {outcome.signal}"}.get(name, "")
        return {**verdict(name, first, **{k: v for k, v in details.items() if v and k != "missed"}), **earned}


def part_of(lab, outcome, run):
    """What of an exercise that is not passed is there: {"right": "results"}, or {"right": [3, 5]} of its predictions."""
    if outcome.verdict != "wrong" or outcome.backend_report():
        return {}
    if lab.predicts:
        predictions = outcome.told.get("prediction", "").split("\n")
        return {"right": [sum(p.endswith(": right") for p in predictions), len(predictions)]}
    if lab.points_for_results and outcomes.has_right_results(outcome, run):
        return {"right": "results"}
    return {}


def what_failed(outcome):
    """The reason in one line."""
    told = outcome.told
    at = f" ({told['at']})" if "at" in told else ""
    seen = re.sub(r"^\S+:\d+: (?:error: |warning: )?", "", outcome.backend_report().split("\n")[0])
    if "wrong" in told:
        value = f"{told['wrong']}: expected {told['expected']}, got {told['actual']}{at}"
        return f"{value}; {seen}" if seen else value
    if seen:
        return seen + at
    if "cuda" in told:
        return told["cuda"].split(": ", 1)[-1] + at
    if "prediction" in told:
        return ", ".join(p for p in told["prediction"].split("\n") if not p.endswith(": right"))
    return f"fails '{outcome.case}'"


def lines_named(lab, text, said):
    """{"lines": the first lines of the student's file that a compiler or the CPU backend names, as they stand there}."""
    code = text.split("\n")
    numbers = [int(n) for n in re.findall(rf"\b{lab.name}\.cu[:(](\d+)", said)]
    named = [f"{n}: {code[n - 1].strip()[:160]}" for n in dict.fromkeys(numbers) if n <= len(code)]
    return {"lines": "\n".join(named[:4])} if named else {}


def shortened(text, folder):
    """Without the folder of the attempt, whole or in its last parts, as the backend may name it."""
    last = re.escape("/".join(folder.split("/")[-2:]))
    text = re.sub(rf"[^\s'\"(]*{last}/", "", text.replace(folder + "/", ""))
    return text if len(text) <= 2000 else text[:2000] + " ..."


# ---- grading all ---------------------------------------------------------------------------------


def work(grader, job, slot, folder, pipe, main_process):
    """The life of one supervisor: it watches one submission, and goes when the main process goes."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    runner.end_with(main_process)
    try:
        pipe.send(grader.grade(job, slot, folder))
    except Exception as error:  # whatever it is, the class goes on
        where = traceback.extract_tb(error.__traceback__)[-1]
        pipe.send(f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"[:300])
    pipe.close()


class Class:
    """Runs jobs, `count` at a time, each attempt in a fresh folder, and calls finished(job) for each."""

    def __init__(self, grader, count, finished):
        self.grader, self.finished = grader, finished
        self.context = multiprocessing.get_context("fork")
        self.slots, self.running, self.serial, self.left = list(range(count)), {}, 0, []

    def run(self, open_jobs):
        waiting = collections.deque(open_jobs)
        while waiting or self.running:
            while waiting and self.slots:
                self.start(waiting.popleft())
            for pipe in multiprocessing.connection.wait(list(self.running)):
                job = self.ended(pipe)
                if job.result is None and job.attempts < ATTEMPTS:
                    waiting.append(job)
                    continue
                if job.result is None:
                    job.result = verdict("lost", job.why)
                self.finished(job)

    def start(self, job):
        slot = self.slots.pop()
        self.serial += 1
        folder = f"{self.grader.scratch}/{self.serial}"
        ours, theirs = self.context.Pipe(duplex=False)
        process = self.context.Process(target=work, args=(self.grader, job, slot, folder, theirs, os.getpid()))
        process.start()
        theirs.close()
        self.running[ours] = (process, job, slot, folder)

    def ended(self, pipe):
        process, job, slot, folder = self.running.pop(pipe)
        try:
            told = pipe.recv()
        except (EOFError, OSError):
            told = ""
        pipe.close()
        process.join()
        self.slots.append(slot)
        if not folders.remove_tree(folder):
            self.left.append(folder)
        if isinstance(told, dict):
            job.result = told
        else:
            job.attempts += 1
            job.why = told or MESSAGES["lost"]
        return job

    def stop(self):
        """Ends what runs, whatever state it is in."""
        for process, _, _, _ in self.running.values():
            process.kill()
        for process, _, _, _ in self.running.values():
            process.join()
        runner.end_all_below()


class Progress:
    """One line that is rewritten on a terminal; elsewhere one every few seconds."""

    def __init__(self):
        self.total, self.done, self.last = 0, 0, time.monotonic()
        self.terminal = sys.stderr.isatty()

    def say(self, text, at_once=False):
        if self.terminal:
            print(f"\r  {text[:96]:<98}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.last > 5 or at_once:
            self.last = time.monotonic()
            print(f"  {text}", file=sys.stderr, flush=True)

    def step(self, job):
        self.done += 1
        text = f"{self.done} of {self.total}: {shown(job.student)} {job.lab.label}: {job.result['verdict']}"
        self.say(text, self.done == self.total)

    def end(self):
        if self.terminal:
            print("\r" + " " * 100 + "\r", end="", file=sys.stderr, flush=True)


def checked(labs, settings, scratch):
    """(labs, the class's folder, its folders, notes, {folder: handed_in.Student}, roster, jobs at a time, TIME); one line
    for what cannot be."""
    folder = asked = settings.get("DIR", "")
    if not folder:
        raise UsageError("grade what? make grade DIR=FOLDER, with one sub-folder per student, or DIR=CLASS.zip")
    if not os.path.isdir(folder) and not os.path.isfile(folder):
        raise UsageError(f"DIR={shown(folder)}: no such folder or archive")
    labs = choose(labs, settings.get("CH", ""), settings.get("EX", ""))
    unclear = [lab.label for lab in labs if lab.points is None]
    if unclear:
        raise UsageError(f"no points for {', '.join(unclear)}: make check-labs says what is missing")
    students, notes = {}, []
    try:
        if handed_in.is_given_out(asked):
            folder = f"{scratch}/class"
            os.mkdir(folder, 0o700)
            given_out = handed_in.lay_out(asked, labs, folder)
            students, notes = given_out.students, given_out.notes
        names, others = students_in(folder)
    except handed_in.BROKEN as error:
        raise UsageError(f"DIR={shown(asked)}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    numbers = {student.number: name for name, student in students.items() if student.number}
    roster = Roster(asked if os.path.isdir(asked) else os.path.dirname(asked) or ".", names, numbers)
    if not names and not roster.people:
        raise UsageError(f"DIR={shown(asked)}: no sub-folder in it; one per student is expected")
    count, seconds = jobs(settings), settings.get("TIME", "")
    if seconds and (not seconds.isdigit() or not 1 <= int(seconds) <= 3600):
        raise UsageError(f"TIME={seconds}: expected 1 to 3600 seconds for each run")
    return labs, folder, names, notes + others, students, roster, count, seconds


class Ended(BaseException):
    """Somebody asked this process to end."""


def end(number, _):
    raise Ended(number)


def main(labs, settings, builder):
    try:
        scratch = folders.Scratch()
    except OSError as error:
        raise UsageError(f"no folder to work in can be made (TMPDIR): {error.strerror}") from error
    try:
        return graded(labs, settings, builder, scratch)
    finally:
        if not scratch.remove():
            print(f"{scratch.path}: something is left there that could not be removed", file=sys.stderr)


def graded(labs, settings, builder, scratch):
    labs, folder, there, notes, handed, roster, count, seconds = checked(labs, settings, scratch.path)
    names, others = roster.everybody(there)
    asked, backend = settings.get("OUT") or "grades.json", settings.get("BACKEND") or "cpu"
    for_gradebooks = asked.endswith(".csv")
    out = f"{asked[:-4]}.json" if for_gradebooks else asked
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr.reconfigure(errors="backslashreplace")
    kept = grade_files.Kept(out, for_gradebooks)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    runner.become_subreaper()
    progress = Progress()
    grader = Grader(builder, backend, scratch.path, int(seconds or 0))
    everybody = Class(grader, count, lambda job: (kept.add(job), progress.step(job)))
    try:
        grader.prepare(labs, progress.say)
        tools = "".join(read(f"common/labs/{n}.py") for n in ("grade", "submission", "audit", "outcome", "runner"))
        roots = {name: f"{folder}/{name}" if name in there else None for name in names}
        bases = {name: base_of(root) if root else None for name, root in roots.items()}
        all_jobs = [Job(name, roots[name], bases[name], lab) for name in names for lab in labs]
        keys = {lab.label: builder.key(lab, lab.starter) for lab in labs}
        for job in all_jobs:
            if job.result is None:
                data = "\0".join((shown(job.student), job.text, keys[job.lab.label], backend, seconds, tools))
                job.key = hashlib.sha256(data.encode("utf-8", "surrogateescape")).hexdigest()
                job.result = kept.known.get(job.key)
        open_jobs = [job for job in all_jobs if job.result is None]
        known = sum(1 for job in all_jobs if job.key and job.result is not None)
        progress.end()
        print(
            f"\n{len(names)} students, {len(labs)} exercises: {len(open_jobs)} to run"
            + (f", {known} known from before" if known else ""),
            flush=True,
        )
        progress.total = len(open_jobs)
        everybody.run(open_jobs)
        progress.say("looking for submissions that read alike")  # takes a minute for a large class
        alike_lines = alike.remarks(labs, all_jobs, lambda text: audit.tokens_of_text(text, f"{scratch.path}/text"))
        progress.end()
    except Ended as ended:
        print(f"\nended by {signal.Signals(ended.args[0]).name}; started again, it goes on from here", file=sys.stderr)
        return 128 + ended.args[0]
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        everybody.stop()

    results = {}
    for job in all_jobs:
        results.setdefault(job.student, {})[job.lab.label] = job.result
    about = {name: ignored_in(root, bases[name], labs) if root else [] for name, root in roots.items()}
    for name, student in handed.items():
        about[name] = student.notes + about[name]
    kept_out = grader.box.what_is_not_kept_out()
    grades = grade_files.grades(labs, names, results, about, backend, notes + others + alike_lines, kept_out, roster, handed)
    lost = sum(1 for job in all_jobs if job.result["verdict"] == "lost")
    problem = kept.finish(grades, lost)
    grade_files.print_summary(grades)
    if problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    print(f"\n{', '.join(grade_files.outputs(out, for_gradebooks))}")
    if for_gradebooks:
        pages = grade_files.beside(out, ".feedback")
        print(f"{pages}/: a page for each student")
        if feedback.takes_back(grades):
            print(f"{pages}.zip: the same, as {feedback.takes_back(grades)} takes them back")
    if lost:
        print(f"{lost} not graded ('lost'): the same command again tries those", file=sys.stderr)
        return 1
    return 0
