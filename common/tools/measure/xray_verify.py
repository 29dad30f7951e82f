# SPDX-License-Identifier: MIT
"""Compares X-ray's counts with a GPU's counters: the same program with the same options, under both.

Every line of [xray] in a chapter's settings is a run. Launches are matched by kernel, grid and block; the first of
several that are alike counts. Each counter that is above zero on either side makes a pair: equal, or different for a
reason that the table [xray_reasons] gives:

    kernel,counter,reason        kernel as the launch names it, without template arguments; * is any

Local memory is compared where X-ray predicts any, because X-ray cannot know what else nvcc spills. How often a warp
diverges at a branch is compared for the kernels that [xray_branches] names, one on a line: those whose branches nvcc
keeps. In others it turns the short ones into predicates or selects.

A program of one's own (own/NAME, with FILE in the environment) runs without options; here what warps execute for no
lane is compared as well. Its counts go to build/xray/own/NAME.GPU.csv.

A reason says what the compiler did, as seen in the machine code. One that begins with "in some runs" may be there for
nothing. Prints one table per chapter, writes results/GPU_xray.csv, and fails when a pair differs without a reason, when
a reason explains nothing, or when fewer than 80 % of all pairs are equal.
"""

import argparse
import collections
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile

from . import accesses, counters as ncu, settings
from .csv_files import csv_text, rows_of, write_whole

LEAST_SHARE = 0.8

# Counter of the GPU -> (space, operation, column of X-ray's CSV). Mapped host memory is read and written by
# the same instructions as global memory.
MEMORY = ("global", "host")
COUNTERS = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": (MEMORY, "load", "requests"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": (MEMORY, "load", "sectors"),
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": (MEMORY, "store", "requests"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": (MEMORY, "store", "sectors"),
    # An atomic whose old value nobody uses is another instruction (RED) than one whose value is (ATOM).
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum+l1tex__t_requests_pipe_lsu_mem_global_op_red.sum": (
        MEMORY,
        "atomic",
        "requests",
    ),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum+l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum": (
        MEMORY,
        "atomic",
        "sectors",
    ),
    "smsp__inst_executed_op_shared_ld_pred_on_any.sum": (("shared",), "load", "requests"),
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": (("shared",), "load", "wavefronts"),
    "smsp__inst_executed_op_shared_st_pred_on_any.sum": (("shared",), "store", "requests"),
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum": (("shared",), "store", "wavefronts"),
    "smsp__inst_executed_op_shared_atom_pred_on_any.sum": (("shared",), "atomic", "requests"),
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum": (("shared",), "atomic", "wavefronts"),
    # The kernel's arguments are constants too, so this one is compared only where there are other constants.
    "idc__requests.sum": (("const",), "load", "words"),
}
# An asynchronous copy stores, too, by an instruction (LDGSTS) with counters of its own, and so has a load of matrices
# (LDSM). They are added, and named, where a kernel has such instructions.
ADDED_COUNTERS = {
    "smsp__inst_executed_op_shared_ld_pred_on_any.sum": "smsp__inst_executed_op_ldsm.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
    "smsp__inst_executed_op_shared_st_pred_on_any.sum": "smsp__inst_executed_op_ldgsts_pred_on_any.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
}
# Asked for only where X-ray predicts something of the kind.
LOCAL_COUNTERS = {
    # These count each 4-byte word of a lane by itself, also where one instruction moves several.
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum": (("local",), "load", "words"),
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum": (("local",), "load", "sectors"),
    "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum": (("local",), "store", "words"),
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum": (("local",), "store", "sectors"),
}
# With what warps execute for no lane, because nvcc made predicates of a branch. For programs of one's own only.
EXECUTED_COUNTERS = {
    f"smsp__inst_executed_op_{space}_{short}.sum": (MEMORY if space == "global" else (space,), operation, "executed")
    for space in ("shared", "global")
    for short, operation in (("ld", "load"), ("st", "store"))
}
# ncu runs a launch several times, and the programs repeat theirs: only those whose counts are compared are looked at.
FIRST_OF_EACH = ["--filter-mode", "per-launch-config", "--kernel-name-base", "mangled", "--launch-count", "1"]
BRANCH_COUNTER = "smsp__sass_branch_targets_threads_divergent.sum"
PARTINGS = ("branch", "part", "partings")
LAUNCH = ("kernel", "arguments", "launch", "grid", "block")
COLUMNS = ["run", "kernel", "grid", "block", "counter", "predicted", "measured", "verdict", "device", "driver", "cuda", "date"]


def counters_of(launches, branching, is_own):
    """The counters to compare, where these launches are predicted."""
    counters = {**COUNTERS, **(EXECUTED_COUNTERS if is_own else {})}
    every = [counts for instances in launches.values() for counts in instances.values()]
    if any(space == "local" for counts in every for space, _, _ in counts):
        counters.update(LOCAL_COUNTERS)
    if branching:
        counters[BRANCH_COUNTER] = (PARTINGS[:1],) + PARTINGS[1:]
    return counters


@functools.lru_cache(maxsize=None)
def machine_code_of(program):
    """The file with what nvcc made of the program's accesses; "" where there is no nvcc."""
    if not shutil.which("nvcc"):
        return ""
    path = f"build/xray/{program}.code"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    accesses.write_table(path, program)
    return path


def predicted_launches(program, words):
    """{(kernel, grid, block): {full name: Counter over (space, operation, column)}}, the first launch of each."""
    command = [f"build/cpu-xray/{program}", *words]
    with tempfile.TemporaryDirectory() as scratch:
        out, passages = f"{scratch}/requests.csv", f"{scratch}/passages.csv"
        environment = {**os.environ, "XRAY_CSV": out, "XRAY_PASSAGES": passages, "XRAY_BLOCKS": "all"}
        environment["XRAY_MACHINE_CODE"] = machine_code_of(program)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ncu.Failure(f"{' '.join(command)}\n  failed: {done.stderr.strip()[-300:]}")
        rows, passages_rows = rows_of(out), rows_of(passages)
    partings = {}
    for row in passages_rows:
        partings.setdefault(tuple(row[c] for c in LAUNCH), int(row["partings"]))
    launches, first = {}, {}
    # Different instances of a template have one base name; they come in the same order on both sides.
    for row in rows:
        key = (ncu.base_name(row["kernel"]), row["grid"], row["block"])
        # The first of several launches counts.
        launch = (row["launch"], row["arguments"])
        if first.setdefault((key, row["kernel"]), launch) != launch:
            continue
        counts = launches.setdefault(key, {}).setdefault(row["kernel"], collections.Counter())
        if row["space"] == "local":
            row["words"] = int(row["requests"]) * max(1, int(row["bytes_per_lane"]) // 4)
        row["executed"] = int(row["requests"]) + int(row.get("switched_off", 0))
        for column in ("requests", "sectors", "wavefronts", "words", "executed"):
            counts[(row["space"], row["operation"], column)] += int(row[column])
        counts[PARTINGS] = partings.get(tuple(row[c] for c in LAUNCH), 0)
    return launches


def measured_launches(program, words, counters):
    """{(kernel, grid, block): {full name: {counter: value}}}, the first launch of each."""
    metrics = sorted({m for counter in [*counters, *ADDED_COUNTERS.values()] for m in counter.split("+")})
    rows, _ = ncu.read([f"build/gpu/{program}", *words], metrics, FIRST_OF_EACH + ["--cache-control", "none", "--print-units", "base"])
    first, launches = {}, {}
    for row in rows:
        extent = lambda text: re.sub(r"[() ]", "", text).replace(",", "x")
        key = (ncu.base_name(row["Kernel Name"]), extent(row["Grid Size"]), extent(row["Block Size"]))
        name = row["Kernel Name"]
        if first.setdefault((key, name), row["ID"]) != row["ID"]:
            continue
        values = launches.setdefault(key, {}).setdefault(name, {})
        if row["Metric Value"] != "n/a":  # before compute capability 8.0 there are no asynchronous copies
            values[row["Metric Name"]] = int(float(ncu.value_of(row)))
    return launches


def short(counter):
    return " + ".join(part.replace(".sum", "") for part in counter.split("+"))


def verify_chapter(machine, chapter):
    """(pairs, equal pairs, complaints)"""
    of_machine = [machine.name, machine.driver, machine.cuda, machine.date]
    is_own = chapter.startswith("own/")
    of_settings = lambda read, section: [] if is_own else read(chapter, section)
    reasons = {(row["kernel"], row["counter"]): row["reason"] for row in of_settings(settings.table_of, "xray_reasons")}
    used, branching = set(), set(of_settings(settings.lines_of, "xray_branches"))
    results, seen, complaints, elsewhere = [], set(), [], set()
    print(f"\n{chapter}\n")
    print("| kernel | counter | predicted | measured | verdict |")
    print("|--------|---------|----------:|---------:|---------|")
    for options in of_settings(settings.lines_of, "xray") or [""]:
        program, words = (chapter, []) if is_own else settings.program_of(chapter, options)
        predicted = predicted_launches(program, words)
        counters = counters_of(predicted, branching, is_own)
        measured = measured_launches(program, words, counters)
        for key, instances in predicted.items():
            base, grid, block = key
            if len(measured.get(key, {})) != len(instances):
                elsewhere.add(f"{base}<<<{grid}, {block}>>>")
                continue
            for (kernel, counts), values in zip(instances.items(), measured[key].values()):
                once = (options if "--only" in options else "", key, kernel)
                if once in seen:
                    continue
                seen.add(once)
                for counter, (spaces, operation, column) in counters.items():
                    if counter == BRANCH_COUNTER and base not in branching:
                        continue
                    want = sum(counts[(space, operation, column)] for space in spaces)
                    if values.get(ADDED_COUNTERS.get(counter)):
                        counter += "+" + ADDED_COUNTERS[counter]
                    got = sum(values.get(metric, 0) for metric in counter.split("+"))
                    if want == 0 and (got == 0 or spaces in (("const",), ("local",))):
                        continue
                    verdict = "equal"
                    if want != got:
                        where = next((k for k in ((base, counter), ("*", counter)) if k in reasons), None)
                        verdict = "no reason known" if where is None else reasons[where]
                        if where is None:
                            complaints.append(f"{chapter} {options}: {kernel}: {short(counter)}: {want} predicted, {got} measured")
                        else:
                            used.add(where)
                    print(f"| {kernel} {grid} x {block} | {short(counter)} | {want} | {got} | {verdict} |")
                    results.append([options, kernel, grid, block, counter, want, got, verdict] + of_machine)
    for kernel, counter in sorted(set(reasons) - used):
        if reasons[kernel, counter].startswith("in some runs"):
            continue
        complaints.append(f"chapters/{chapter}/settings: [xray_reasons]: {kernel}, {counter}: explains nothing")
    if elsewhere:
        print(f"\nlaunched otherwise on this GPU, so not compared: {', '.join(sorted(elsewhere))}")
    path = f"build/xray/{chapter}.{machine.file_name}.csv" if is_own else f"chapters/{chapter}/results/{machine.file_name}_xray.csv"
    write_whole(path, csv_text(results, COLUMNS))
    equal = sum(1 for row in results if row[7] == "equal")
    print(f"\n{equal} of {len(results)} pairs equal -> {path}")
    return len(results), equal, complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", required=True)
    parser.add_argument("chapters", nargs="+", metavar="CHAPTER")
    options = parser.parse_args()
    machine = ncu.Machine("xray-verify", options.backend)
    pairs = equal = 0
    complaints = []
    for chapter in options.chapters:
        if not chapter.startswith("own/") and not settings.lines_of(chapter, "xray"):
            continue
        try:
            counted = verify_chapter(machine, chapter)
        except ncu.Failure as problem:
            ncu.stop(1, problem)
        pairs += counted[0]
        equal += counted[1]
        complaints += counted[2]
    if pairs == 0:
        ncu.stop(2, "nothing to verify: no [xray] in these chapters' settings")
    print(f"\nin all {equal} of {pairs} pairs equal: {100 * equal / pairs:.1f} %")
    if equal < LEAST_SHARE * pairs:
        complaints.append(f"fewer than {100 * LEAST_SHARE:.0f} % of the pairs are equal")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
