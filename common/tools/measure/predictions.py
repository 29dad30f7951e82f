#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what Nsight Compute counts with predictions.

    predictions.py GPU CHAPTER...

A chapter with something to profile has a settings/profile.csv with the columns

    version,args,metric,predicted,why

one row per metric: `version` goes to --only, `args` are further options of the program, `metric` is
Nsight Compute's name, `predicted` a number or a formula in words, `why` the reason in a few words.
The last launch of a version's kernel counts; the ones before it warm up. Prints a Markdown
table and writes results/GPU_profile.csv.
"""

import csv
import datetime
import io
import os
import shlex
import subprocess
import sys
import tempfile

COLUMNS = ["version", "args", "metric", "predicted", "why"]
HOW_TO_ALLOW = (
    "the driver does not let this user read the GPU's counters (ERR_NVGPUCTRPERM): run as root, or set "
    "NVreg_RestrictProfilingToAdminUsers=0 for the nvidia kernel module and restart; in a container "
    "add --cap-add=SYS_ADMIN. See https://developer.nvidia.com/ERR_NVGPUCTRPERM"
)


class Failure(Exception):
    pass


def read_plan(path):
    """The rows of a profile.csv, in groups of one version and its options."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            raise Failure(f"{path}:1: expected the header {','.join(COLUMNS)}")
        groups = {}
        for number, row in enumerate(reader, 2):
            if None in row.values() or None in row or not row["version"] or not row["metric"]:
                raise Failure(f"{path}:{number}: expected {len(COLUMNS)} fields, version and metric not empty")
            groups.setdefault((row["version"], row["args"]), []).append(row)
    return groups


def parse_report(text):
    """Rows of ncu's --csv output, without its messages (==PROF== ...)."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    return list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))


def base_name(kernel):
    """'void sum<(int)256>(const int *, ...)' -> 'sum'"""
    depth, name = 0, ""
    for char in kernel:
        if char == "<":
            depth += 1
        elif char == ">":
            depth -= 1
        elif char == "(" and depth == 0:
            break
        elif depth == 0:
            name += char
    return name.split()[-1].split("::")[-1] if name.split() else kernel


def choose_launch(rows, version):
    """Rows of the last launch of the version's kernel: one named like the version, else the last of all (but for the
    kernel that reads the clocks after each row)."""
    rows = [r for r in rows if base_name(r["Kernel Name"]) != "read_both_clocks"]
    if not rows:
        return []
    named = [r for r in rows if version in base_name(r["Kernel Name"])]
    rows = named or rows
    last = max(int(r["ID"]) for r in rows)
    return [r for r in rows if int(r["ID"]) == last]


def run_ncu(program, version, args, metrics, kernel_filter):
    with tempfile.NamedTemporaryFile("r", suffix=".csv", encoding="utf-8") as log:
        command = ["ncu", "--clock-control", "none", "--csv", "--log-file", log.name]
        command += ["--metrics", ",".join(metrics)]
        if kernel_filter:
            command += ["--kernel-name", f"regex:{version}"]
        command += [program, "--only", version, "--samples", "1"] + shlex.split(args)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        report = log.read()
    if "ERR_NVGPUCTRPERM" in report + done.stdout:
        raise Failure(HOW_TO_ALLOW)
    rows = parse_report(report)
    if done.returncode != 0 and not rows:
        said = (report + done.stdout).strip().splitlines()
        raise Failure(f"{' '.join(command)}\n  failed with status {done.returncode}: " + "\n  ".join(said[-8:]))
    return rows


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def show(value):
    number_or_none = number(value)
    if number_or_none is None:
        return value
    if number_or_none == int(number_or_none):
        return f"{int(number_or_none)}"
    return f"{number_or_none:.4g}"


def profile_chapter(gpu, chapter):
    plan_path = f"chapters/{chapter}/settings/profile.csv"
    results = []
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    device = os.environ.get("GPU_NAME", gpu)
    print(f"\n{chapter}\n")
    print("| version | metric | predicted | measured | unit | why |")
    print("|---------|--------|----------:|---------:|------|-----|")
    for (version, args), rows in read_plan(plan_path).items():
        metrics = list(dict.fromkeys(r["metric"] for r in rows))
        program = f"build/gpu/{chapter}"
        launch = choose_launch(run_ncu(program, version, args, metrics, True), version)
        if not launch:
            launch = choose_launch(run_ncu(program, version, args, metrics, False), version)
        measured = {r["Metric Name"]: r for r in launch}
        for row in rows:
            found = measured.get(row["metric"])
            value = found["Metric Value"].replace(",", "") if found else "n/a"
            unit = found["Metric Unit"] if found else ""
            kernel = base_name(found["Kernel Name"]) if found else ""
            label = version + (f" {args}" if args else "")
            print(f"| {label} | {row['metric']} | {row['predicted']} | {show(value)} | {unit} | {row['why']} |")
            results.append([version, args, kernel, row["metric"], row["predicted"], value, unit, row["why"], device, today])
    path = f"chapters/{chapter}/results/{gpu}_profile.csv"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".partial", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["version", "args", "kernel", "metric", "predicted", "measured", "unit", "why", "device", "date"]
        )
        writer.writerows(results)
    os.replace(path + ".partial", path)
    print(f"\n-> {path}")
    missing = [r for r in results if r[5] == "n/a"]
    if missing:
        raise Failure(f"{chapter}: ncu gave no value for " + ", ".join(f"{r[0]} {r[3]}" for r in missing))


def main():
    gpu, chapters = sys.argv[1], sys.argv[2:]
    planned = [c for c in chapters if os.path.exists(f"chapters/{c}/settings/profile.csv")]
    if not planned:
        print(f"nothing to profile: no settings/profile.csv in {', '.join('chapters/' + c for c in chapters)}", file=sys.stderr)
        return 2
    status = 0
    for chapter in planned:
        try:
            profile_chapter(gpu, chapter)
        except Failure as problem:
            print(problem, file=sys.stderr)
            status = 1
            if str(problem) == HOW_TO_ALLOW:
                return status
    return status


if __name__ == "__main__":
    sys.exit(main())
