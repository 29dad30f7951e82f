# SPDX-License-Identifier: MIT
"""Runs programs, at a small size or with the options that are given, under the checkers of the backend. Prints one table
of ok and FAIL, then the log of each FAIL.

On the CPU backend: AddressSanitizer with UBSan, and the backend's race detector; over test programs too. On a GPU: the four
tools of compute-sanitizer.
"""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys

from . import terminal

SETTINGS = "common/tools/run/settings.sh"
VARIANTS = {"cpu-asan": "ASan+UBSan", "cpu-xray": "races"}


class Checker:
    """One column of the table: runs a program, and keeps what it says in a log of its own."""

    def __init__(self, title, variant, prefix, settings):
        self.title, self.programs, self.logs, self.prefix = title, f"build/{variant}", f"build/{variant}/sanitize", prefix
        self.environment = {**os.environ, **settings}

    def look(self, name, options):
        """Whether every run of a program, small or with these options, or of a test program ends with status 0. Also its log and
        how many runs."""
        if name.startswith("tests/"):
            log, runs = f"{self.logs}/{os.path.basename(name)}.test.log", [[f"{self.programs}/{name}.test"]]
        else:
            log = f"{self.logs}/{os.path.basename(name)}.{self.title}.log"
            told = subprocess.run([SETTINGS, "small", name], capture_output=True, text=True, check=True).stdout
            small = [line.split() for line in told.split("\n")[:-1]]
            runs = [[f"{self.programs}/{name}", *words] for words in ([options] if options else small)]
        os.makedirs(self.logs, exist_ok=True)
        open(log, "w", encoding="utf-8").close()
        limit = float(os.environ.get("TEST_TIMEOUT") or 600)
        ok = True
        for run in runs:
            status = terminal.limited([*self.prefix, *run], limit, log, self.environment, "ab")
            if status == 124:
                with open(log, "a", encoding="utf-8") as file:
                    file.write(f"stopped after {limit:.0f} seconds\n")
            ok = ok and status == 0
        return ok, log, len(runs)


def of_the_gpu():
    tool = "compute-sanitizer"
    if not shutil.which(tool):
        sys.exit("make sanitize BACKEND=gpu needs compute-sanitizer: it comes with the CUDA toolkit (its bin folder must be on PATH)")
    if not terminal.has_gpu("sanitize", "checks"):
        sys.exit(77)
    # A call that returns an error is no fault: the programs check each of theirs, and some try one that is refused.
    command = [tool, "--error-exitcode", "86", "--report-api-errors", "no", "--tool"]
    return [Checker(t, "gpu", [*command, t], {}) for t in ("memcheck", "racecheck", "initcheck", "synccheck")]


def of_the_cpu():
    # Older sanitizers give up where the kernel randomises addresses a lot.
    fixed = ["setarch", os.uname().machine, "-R"]
    if not shutil.which("setarch") or subprocess.run([*fixed, "true"], capture_output=True, check=False).returncode:
        fixed = []
    settings = {
        "ASAN_OPTIONS": f"detect_leaks=0:{os.environ.get('ASAN_OPTIONS', '')}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:{os.environ.get('UBSAN_OPTIONS', '')}",
        "TEST_SIZES": "small",
    }
    return [
        Checker(title, v, fixed, {**settings, "CUDA_CPU_RACES": "all" if v == "cpu-xray" else "0"})
        for v, title in VARIANTS.items()
    ]


def row(cells):
    print(f"| {cells[0]:<36} |" + "".join(f" {cell:<12} |" for cell in cells[1:]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=("cpu", "gpu"))
    parser.add_argument("--programs", default="", help="chapters' programs and experiments, with blanks between")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="test programs: build/cpu-asan/tests/NAME.test")
    parser.add_argument("--options", nargs=argparse.REMAINDER, help="of the programs, in place of their small runs; comes last")
    options = parser.parse_intermixed_args()
    terminal.stop_on_interrupt()
    checkers = of_the_gpu() if options.backend == "gpu" else of_the_cpu()
    asan = "build/cpu-asan/"
    names = options.programs.split() + [t[len(asan) : -len(".test")] for t in options.tests if t.startswith(asan)]

    print()
    row(["program", *(c.title for c in checkers)])
    row(["-" * 7] + ["-" * 10] * len(checkers))
    failed, runs = [], 0
    # As many programs at a time as there are cores, on a GPU one; each under all checkers, one after the other.
    with concurrent.futures.ThreadPoolExecutor(1 if options.backend == "gpu" else terminal.cores()) as pool:
        for name, found in zip(names, pool.map(lambda name: [c.look(name, options.options) for c in checkers], names)):
            row([name, *("ok" if ok else "FAIL" for ok, _, _ in found)])
            failed += [log for ok, log, _ in found if not ok]
            runs += sum(count for _, _, count in found)
    for log in failed:
        with open(log, encoding="utf-8", errors="replace") as file:
            lines = [line.rstrip("\n") for line in file if not line.lstrip().startswith("|")]
        print(f"\n{terminal.RED}{log}{terminal.PLAIN}", *(f"  | {line}" for line in lines[:30]), sep="\n")
    print(f"\n{len(failed)} of {runs} runs with complaints" if failed else f"\n{runs} runs, no complaint")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
