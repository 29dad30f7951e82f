# SPDX-License-Identifier: MIT
"""Runs test programs and adds up their test cases. The last line printed is "N passed, M failed, K skipped", alone.

A TEST is a Catch2 program built from a .test.cu or .test.cpp, or a script tests/cli/*.test.sh. Kernels promise no order,
so on the CPU backend every .test.cu runs under several schedules, two with the usual sizes and the others with small ones. A
test case counts once: passed if it passed under each of them. A crash counts as a failed test case, and so does a program that
ran none.

On the CPU backend one test more than there are cores runs at a time, because some wait. Each script builds in a folder of
its own. On a GPU tests run one after the other, because some of them measure it.

From the environment: SCHEDULES="forward random:7" chooses other schedules; TEST_TIMEOUT is in seconds of an idle machine;
CXX is the compiler.
"""

import argparse
import concurrent.futures
import hashlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time

from . import terminal

USUAL = ["forward", "reverse", "random:1", "random:2", "random:3"]
# What depends on the order nearly always does so at small sizes, too: under these they are those for checkers (tests/awkward.h).
AT_SMALL_SIZES = ["reverse", "random:2", "random:3"]
ELSEWHERE = {"build", "work", ".git", "node_modules", "__pycache__"}  # no part of what tests look at
# Settings that decide whether a test passes.
DECIDES = re.compile(r"(PATH|TMPDIR|LANG|LC_[A-Z]*|CUDA_[A-Z_]*|CXX|CATCH2_DIR|TEST_[A-Z_]*|[A-Z]*SAN_OPTIONS|CHAPTERS)$")
# What programs and scripts below must not inherit: they are no part of this make.
OF_MAKE = "MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL MAKE_TERMOUT MAKE_TERMERR CH ARGS N V ARCH CUDA_CPU_SCHEDULE TEST_RESULTS".split()


def setting_of(schedule):
    """What the environment of a program says under a schedule; "" is none."""
    small = {"TEST_SIZES": "small"} if schedule in AT_SMALL_SIZES else {}
    return {"CUDA_CPU_SCHEDULE": schedule, **small} if schedule else {}


def files_of_the_tree():
    for folder, folders, files in os.walk("."):
        folders[:] = [f for f in folders if f not in ELSEWHERE]
        yield from (os.path.join(folder, f) for f in files)


def modified(path):
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")


def compiler_version():
    try:
        command = shlex.split(os.environ.get("CXX") or "g++") + ["--version"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n")[0]
    except OSError:
        return "no compiler"


class Runner:
    def __init__(self, options):
        self.gpu = options.backend == "gpu"
        self.build = options.build or f"build/{options.backend}"
        self.schedules = os.environ.get("SCHEDULES", "").split()
        self.keeping = options.keep and not self.gpu
        self.tag = [f"[{options.tag}]"] if options.tag else []
        self.environment = {k: v for k, v in os.environ.items() if k not in OF_MAKE}
        variant = "gpu" if self.gpu else "cpu-xray"
        self.environment.update(PREPASS=os.path.abspath("build/cpu/prepass"), ZOO_DIR=os.path.abspath("build/cpu/zoo"),
                                PROGRAMS_DIR=os.path.abspath(f"build/{variant}"), BACKEND=options.backend, CHAPTERS=options.programs)
        self.began = time.time()
        self.worst = {}  # (test, case) -> 1 skipped, 2 passed, 3 failed
        self.unchanged, self.took = 0, []
        self.lock = threading.Lock()
        if self.keeping:
            known = sorted(f"{k}={v}" for k, v in self.environment.items() if DECIDES.match(k))
            self.surroundings = " ".join([compiler_version(), *known])
            self.tree = sorted(files_of_the_tree())
            self.files = hashlib.sha1("\n".join(self.tree).encode()).hexdigest()

    # ---- what has passed before and could only pass again

    def what_decides(self, label):
        """What decides beside a test itself whether it passes: its surroundings, and files. A program compiled from a
        .test.cu looks at data beside itself. Others look at sources, run compilers or programs: which files there are
        decides, too."""
        if not os.path.isfile(f"{label}.cu"):
            return f"{self.surroundings} {self.files}", self.tree
        return self.surroundings, [f for f in self.tree if f.startswith(("./tests/", "./chapters/")) and f.endswith((".csv", ".txt"))]

    def still_passes(self, test, label, kept):
        if not self.keeping or not os.path.exists(kept):
            return False
        surroundings, looked_at = self.what_decides(label)
        with open(kept, encoding="utf-8") as file:
            if file.read() != surroundings:
                return False
        since = modified(kept)
        return all(modified(path) <= since for path in [test, __file__, *looked_at])

    # ---- one test

    def run_once(self, test, schedule, label, log):
        """Runs one program under one schedule. Returns what became of its test cases, [(status, name, why)], and whether
        it ran; a result of before is taken where it could only be the same."""
        kept, stored = f"{log}.passed", f"{log}.results"
        if self.still_passes(test, label, kept):
            with open(stored, encoding="utf-8") as file:
                return [tuple(line.rstrip("\n").split("\t")) for line in file], False
        if os.path.exists(kept):
            os.remove(kept)
        environment = {**self.environment, **setting_of(schedule)}
        limit = float(os.environ.get("TEST_TIMEOUT") or (600 if test.endswith(".sh") else 300))  # some scripts compile
        with tempfile.NamedTemporaryFile("r", encoding="utf-8", prefix="results.") as lines:
            environment["TEST_RESULTS"] = lines.name
            tag = [] if test.endswith(".sh") else self.tag
            status = terminal.limited([test, *tag], limit, log, environment)
            told = [line.rstrip("\n").split("\t") for line in lines]
        why = f"ended with status {status}" if status else ""
        if status == 124:
            why = f"stopped after {limit:.0f} seconds"
        elif terminal.signal_in(status):
            why = f"killed by {terminal.signal_in(status)}"
        cases = [(what, name, "") for what, name in told if what != "started"]
        if told and told[-1][0] == "started":
            cases.append(("failed", told[-1][1], why))
        elif why and not any(what == "failed" for what, _, _ in cases):
            cases.append(("failed", f"(the program {why})", ""))
        elif not cases:
            cases.append(("failed", "(the program ran no test)", ""))
        with open(stored, "w", encoding="utf-8") as file:
            file.writelines("\t".join(case) + "\n" for case in cases)
        if self.keeping and all(what == "passed" for what, _, _ in cases):
            with open(kept, "w", encoding="utf-8") as file:
                file.write(self.what_decides(label)[0])
            os.utime(kept, (self.began, self.began))
        return cases, True

    def orders_of(self, test, label):
        if test.startswith("build/cpu-xray/"):  # what X-ray counts must not depend on the order; two tell as much as five
            return self.schedules or ["forward", "random:1"]
        if not self.gpu and not test.endswith(".sh") and os.path.isfile(f"{label}.cu"):
            return self.schedules or USUAL
        return [""]

    def run_test(self, test):
        """Runs one test under all its schedules. Returns the lines that say how it went."""
        label = test if test.endswith(".sh") else re.sub(r"^build/[^/]*/", "", test)
        name = re.sub(r"^tests/|(\.test)?(\.sh)?$", "", label)
        start, failed_under, ran, cases = time.time(), [], False, {}
        orders = self.orders_of(test, label)
        for schedule in orders:
            log = f"{self.build}/{re.sub('[.]sh$', '', label)}.{schedule.replace(':', '-') or 'default'}.log"
            os.makedirs(os.path.dirname(log), exist_ok=True)
            found, it_ran = self.run_once(test, schedule, label, log)
            ran = ran or it_ran
            for what, case, _ in found:
                rank = {"skipped": 1, "passed": 2, "failed": 3}[what]
                cases[case] = max(rank, cases.get(case, 0))
            if any(what == "failed" for what, _, _ in found):
                failed_under.append((schedule, log, found))
        seconds = time.time() - start
        with self.lock:
            self.worst.update({(test, case): rank for case, rank in cases.items()})
            if ran:
                self.took.append((int(1000 * seconds), test, name))
            else:
                self.unchanged += len(cases)
        what = f"{len(cases)} test{'s' if len(cases) != 1 else ''}"
        if len(orders) > 1:
            what += f", {len(orders)} schedules"
        colour, word = (terminal.RED, "FAIL") if failed_under else (terminal.GREEN, "ok")
        took = f"{seconds:.1f} s" if ran else "unchanged"
        said = [f"  {colour}{word}{terminal.PLAIN}{' ' * (6 - len(word))}{name:<34} {what:<24} {took:>9}"]
        if failed_under:
            schedule, log, found = failed_under[0]
            if schedule:
                said.append(f"      under {' '.join(s for s, _, _ in failed_under)}; here is {schedule}:")
            said += self.failure(test, schedule, log, found)
        return said

    @staticmethod
    def failure(test, schedule, log, found):
        """Up to 44 lines of a failed run, and how to repeat it."""
        failed = [f"        {name}{f'  [{why}]' if why else ''}" for what, name, why in found if what == "failed"]
        with open(log, encoding="utf-8", errors="replace") as file:
            shown = [line.rstrip("\n") for line in file if not line.startswith("passed: ")]
        if len(shown) > 44:
            shown = shown[:30] + ["..."] + shown[-12:]
        again = " ".join([*(f"{k}={v}" for k, v in setting_of(schedule).items()), test])
        return failed[:12] + [f"      | {line}" for line in shown] + [f"      again: {again}"]

    # ---- all of them

    def longest_first(self, tests):
        """The tests by the times of the last run, so that no long one runs alone at the end. Tests without a time may be
        long, and come first, scripts before the others."""
        try:
            with open(f"{self.build}/test_times", encoding="utf-8") as file:
                self.times = {line.split()[1]: int(line.split()[0]) for line in file}
        except OSError:
            self.times = {}
        return sorted(tests, key=lambda t: -self.times.get(t, 2e9 if t.endswith(".sh") else 1e9))

    def run(self, tests, at_a_time):
        os.makedirs(self.build, exist_ok=True)
        order = self.longest_first(tests)
        if tests:
            print(flush=True)
        with concurrent.futures.ThreadPoolExecutor(max(1, at_a_time)) as pool:
            for future in concurrent.futures.as_completed([pool.submit(self.run_test, t) for t in order]):
                print("\n".join(future.result()), flush=True)
        self.took.sort(reverse=True)
        self.times.update({test: ms for ms, test, _ in self.took})
        with open(f"{self.build}/test_times", "w", encoding="utf-8") as file:
            file.writelines(f"{ms} {test}\n" for test, ms in self.times.items())

        print("\nwhere the time went")
        for what, seconds in [(f"testing, {at_a_time} at a time", time.time() - self.began),
                              *((f"  {name}", ms / 1000) for ms, _, name in self.took[:6])]:
            print(f"  {what:<58} {seconds:7.1f} s")
        ranks = list(self.worst.values())
        if self.unchanged:
            print(f"\n{self.unchanged} of these passed before, and what they look at has not changed: FORCE=1 runs them again")
        print()
        if not any(rank > 1 for rank in ranks):
            print("no test ran: that is a failure")
        print(f"{ranks.count(2)} passed, {ranks.count(3)} failed, {ranks.count(1)} skipped")
        return 0 if any(rank > 1 for rank in ranks) and 3 not in ranks else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=("cpu", "gpu"))
    parser.add_argument("tests", nargs="*", metavar="TEST")
    parser.add_argument("--programs", default="", help="what tests/cli/programs.test.sh tries")
    parser.add_argument("--tag", help="only test cases with this tag")
    parser.add_argument("--keep", action="store_true", help="what passed and could only pass again is not run again")
    parser.add_argument("--at-a-time", type=int, help="how many tests run side by side")
    parser.add_argument("--build", help="where results are kept; build/BACKEND if left out")
    options = parser.parse_intermixed_args()
    if options.backend == "gpu" and not terminal.has_gpu("test", "tests"):
        print("0 passed, 0 failed, 0 skipped")
        return 77
    terminal.stop_on_interrupt()
    at_a_time = 1 if options.backend == "gpu" else options.at_a_time or terminal.cores() + 1
    return Runner(options).run(options.tests, at_a_time)


if __name__ == "__main__":
    sys.exit(main())
