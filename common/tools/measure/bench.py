# SPDX-License-Identifier: MIT
"""Measures chapters on a GPU, at full size, and stores what comes out in chapters/NN_name/results/: the rows of every run
in GPU.csv, the run's name in the column `setting`; a table that is not one of versions in GPU_NAME.csv; what a run prints
in GPU.txt or GPU_NAME.txt, where [terminal] asks for it. [bench] in the chapter's settings names the runs beside the program's own, `default`.

With --only the runs of that program alone are measured; all other rows stay. A run that fails leaves its rows as they
were, too.
"""

import argparse
import os
import subprocess
import sys
import tempfile

from . import counters, settings
from .csv_files import csv_text, rows_of, today, write_whole


def measure(program, source, options):
    """The rows of one run and what it printed; no rows when it failed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        plain = not options and "common.cuh" not in open(source, encoding="utf-8").read()
        command = [f"build/gpu/{program}", *options, *([] if plain else ["--csv", path])]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, end="", flush=True)
        return (rows_of(path) if done.returncode == 0 and os.path.exists(path) else []), done


def bench(chapter, gpu, only):
    """Returns whether every run succeeded."""
    runs = [("default", ""), *settings.named_lines_of(chapter, "bench")]
    kept_texts = settings.lines_of(chapter, "terminal")
    path = f"chapters/{chapter}/results/{gpu}.csv"
    when = {"date": today(), "commit": os.environ.get("TUTORIAL_COMMIT", "unknown")}
    rows, ok = {}, True
    for row in rows_of(path) if os.path.exists(path) else []:
        rows.setdefault(row["setting"], []).append(row)
    for name, options in runs:
        program, words = settings.program_of(chapter, options)
        if only not in (None, program):
            continue
        print(f"\n{program} {' '.join(words)}".rstrip(), flush=True)
        found, done = measure(program, settings.source_of(program, chapter), words)
        if done.returncode != 0:
            print(f"failed: {program} {' '.join(words)}: status {done.returncode}", file=sys.stderr)
            ok = False
            continue
        if found and "version" not in found[0]:  # a table of its own kind
            write_whole(f"chapters/{chapter}/results/{gpu}_{name}.csv", csv_text(found))
        elif found:
            rows[name] = [{"setting": name, **when, **row} for row in found]
        if name in kept_texts or not found:
            suffix = "" if name == "default" else f"_{name}"
            write_whole(f"chapters/{chapter}/results/{gpu}{suffix}.txt", done.stdout)
    ordered = [row for name, _ in runs for row in rows.get(name, [])]
    if ordered:
        write_whole(path, csv_text(ordered))
        print(f"\n-> {path}")
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PROGRAM", help="measure the runs of this program alone")
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER")
    options = parser.parse_args()
    gpu = counters.gpu_file_name("bench", "; BACKEND=cpu measures the CPU backend")
    return 0 if all([bench(chapter, gpu, options.only) for chapter in options.chapters]) else 1


if __name__ == "__main__":
    sys.exit(main())
