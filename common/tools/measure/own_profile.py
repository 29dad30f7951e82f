# SPDX-License-Identifier: MIT
"""What Nsight Compute counts for each kernel of a program of one's own.

A fixed set of metrics; of a kernel's launches the last one is shown, since those before it warm up.
"""

import argparse
import sys

from . import counters

# Each in words, as the notes call it. ncu runs a launch again until it has all of them.
METRICS = {
    "gpu__time_duration.sum": "time",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory, of its peak",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "multiprocessors, of their peak",
    "dram__bytes_read.sum": "read from memory",
    "dram__bytes_write.sum": "written to memory",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "resident warps, of the most possible",
    "smsp__inst_executed.sum": "instructions of warps",
    "smsp__thread_inst_executed_per_inst_executed.ratio": "lanes per instruction, of 32",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "global load requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "sectors that they touch",
    "l1tex__t_sector_hit_rate.pct": "sectors found in L1",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "wavefronts of shared loads",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "wavefronts of shared stores",
}


def last_launches(rows):
    """Of each kernel, in the order of first launches: its name, how often it ran, the rows of the last time."""
    launches = {}
    for row in rows:
        launches.setdefault(row["Kernel Name"], {}).setdefault(int(row["ID"]), []).append(row)
    return [(name, len(of_kernel), of_kernel[max(of_kernel)]) for name, of_kernel in launches.items()]


def show_kernel(name, times, rows):
    measured = {r["Metric Name"]: r for r in rows}
    print(f"\n{name}, the last of {times} launches\n" if times > 1 else f"\n{name}, one launch\n")
    print("| what | measured | unit | metric |")
    print("|------|---------:|------|--------|")
    for metric, words in METRICS.items():
        row = measured.get(metric)
        value = counters.show(counters.value_of(row)) if row else "n/a"
        print(f"| {words} | {value} | {row['Metric Unit'] if row else ''} | {metric} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", required=True)
    parser.add_argument("program")
    parser.add_argument("options", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    counters.Machine("profile", options.backend)
    try:
        rows, status = counters.read([options.program, *options.options], METRICS, ["--print-units", "base"], shown=True)
    except counters.Failure as problem:
        counters.stop(1, problem)
    for kernel in last_launches(rows):
        show_kernel(*kernel)
    return status


if __name__ == "__main__":
    sys.exit(main())
