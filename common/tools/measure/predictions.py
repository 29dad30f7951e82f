# SPDX-License-Identifier: MIT
"""Compares what Nsight Compute counts with predictions, and stores both in results/GPU_profile.csv.

[profile] in a chapter's settings is a table with the columns

    version,args,metric,predicted,why

one row per metric: `version` goes to --only, `args` are further options of the program (or of the experiment `@topic`
that they begin with), `metric` is Nsight Compute's name, `predicted` a number or a formula in words, `why` the reason.
The last launch of a version's kernel counts; the ones before it warm up.
"""

import argparse
import sys

from . import counters, settings
from .csv_files import csv_text, write_whole

COLUMNS = ["version", "args", "metric", "predicted", "why"]


def plan_of(chapter):
    """The planned rows, in groups of one version and its options."""
    groups = {}
    for row in settings.table_of(chapter, "profile"):
        if list(row) != COLUMNS or None in row.values() or not row["version"] or not row["metric"]:
            raise counters.Failure(f"chapters/{chapter}/settings: [profile]: expected the fields {','.join(COLUMNS)}: {row}")
        groups.setdefault((row["version"], row["args"]), []).append(row)
    return groups


def last_launch(rows, version):
    """Rows of the last launch of the version's kernel: one named like the version, else the last of all (but for the
    kernel that reads the clock after each row)."""
    rows = [r for r in rows if counters.base_name(r["Kernel Name"]) != "measure_clock"]
    rows = [r for r in rows if version in counters.base_name(r["Kernel Name"])] or rows
    last = max((int(r["ID"]) for r in rows), default=None)
    return [r for r in rows if int(r["ID"]) == last]


def launch_of(chapter, version, args, metrics):
    program, words = settings.program_of(chapter, args)
    command = [f"build/gpu/{program}", "--only", version, "--samples", "1", *words]
    try:  # fewer launches to count if the kernel is named like the version
        return last_launch(counters.read(command, metrics, ["--kernel-name", f"regex:{version}"])[0], version)
    except counters.Failure as problem:
        if str(problem) == counters.HOW_TO_ALLOW:
            raise
        return last_launch(counters.read(command, metrics)[0], version)


def profile(machine, chapter):
    print(f"\n{chapter}\n")
    print("| version | metric | predicted | measured | unit | why |")
    print("|---------|--------|----------:|---------:|------|-----|")
    results = []
    for (version, args), rows in plan_of(chapter).items():
        launch = launch_of(chapter, version, args, list(dict.fromkeys(r["metric"] for r in rows)))
        measured = {r["Metric Name"]: r for r in launch}
        for row in rows:
            found = measured.get(row["metric"])
            value, unit = (counters.value_of(found), found["Metric Unit"]) if found else ("n/a", "")
            kernel = counters.base_name(found["Kernel Name"]) if found else ""
            label = f"{version} {args}".strip()
            print(f"| {label} | {row['metric']} | {row['predicted']} | {counters.show(value)} | {unit} | {row['why']} |")
            results.append([version, args, kernel, row["metric"], row["predicted"], value, unit, row["why"],
                            machine.name, machine.date])
    path = f"chapters/{chapter}/results/{machine.file_name}_profile.csv"
    columns = ["version", "args", "kernel", "metric", "predicted", "measured", "unit", "why", "device", "date"]
    write_whole(path, csv_text(results, columns))
    print(f"\n-> {path}")
    missing = [f"{r[0]} {r[3]}" for r in results if r[5] == "n/a"]
    if missing:
        raise counters.Failure(f"{chapter}: ncu gave no value for {', '.join(missing)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", required=True)
    parser.add_argument("chapters", nargs="+", metavar="CHAPTER")
    options = parser.parse_args()
    machine = counters.Machine("profile", options.backend)
    planned = [c for c in options.chapters if settings.lines_of(c, "profile")]
    if not planned:
        counters.stop(2, f"nothing to profile: no [profile] in the settings of {', '.join(options.chapters)}")
    status = 0
    for chapter in planned:
        try:
            profile(machine, chapter)
        except counters.Failure as problem:
            print(problem, file=sys.stderr)
            status = 1
            if str(problem) == counters.HOW_TO_ALLOW:
                break
    return status


if __name__ == "__main__":
    sys.exit(main())
