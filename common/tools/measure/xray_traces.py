# SPDX-License-Identifier: MIT
"""Stores what X-ray saw, for figures: chapters/NN_name/results/xray.csv, events.json, steps.json, banks.json and races.json.

[traces] in a chapter's settings names the traces, `name: options`; the name stands in the column `trace`. What is stored
is what `make xray CH=NN ARGS="options" CSV=FILE` writes where nvcc is not installed: what the source asks for, the same
everywhere. [events] names traces in the same way; with EVENTS=FILE they are what one block of each kernel does, step by
step (common/cpu/xray/events.h), and the name stands before the kernel as "trace". [steps] is for kernels with too many
requests for that. There one row is what all warps of the block do in a step, by one line of the source in one array:

  [step, line, space, op, name, [[first, bytes, distance, count], ..]]   `count` times `bytes` bytes, `distance` apart

[banks] has one line, load or store: how the banks of shared memory serve such a request (bank_positions.cpp).
[without_barriers] has one line of options: for each kernel that they run, what the race detector reports when the barriers
inside of its loops are taken away. --check writes nothing, and fails where something else would be stored. The order of the rows does not count: among rows
of the same line it is up to the compiler.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

from . import settings
from .csv_files import write_whole

XRAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run", "xray.sh")


def trace(folder, chapter, options, kind):
    """The lines of what X-ray writes, or what went wrong."""
    program, words = settings.program_of(chapter, options)
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "trace.csv")
        unset = dict.fromkeys(("CSV", "EVENTS", "HTML", "BLOCKS", "BLOCK"), "")
        environment = {**os.environ, **unset, kind: path, "XRAY_SOURCE": "1", "XRAY_PAGE": "all"}
        done = subprocess.run([XRAY, folder, program, *words], env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None, done.stdout + done.stderr
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines(), ""


def traced(folder, chapter, section, form, complaints):
    """Each line of a section of the settings that can be traced, as (name, options, lines of the trace)."""
    for name, options in settings.named_lines_of(chapter, section):
        if not re.fullmatch(r"[a-z0-9_]+", name):
            complaints.append(f"chapters/{chapter}/settings: [{section}]: '{name}': a name is made of a-z, 0-9 and _")
            continue
        found, problem = trace(folder, chapter, options, form)
        if found is None:
            complaints.append(f"{problem}chapters/{chapter}/settings: [{section}]: {name}: no trace")
        else:
            yield name, options, found


def traces_of(folder, chapter):
    """The text of the chapter's xray.csv, and complaints."""
    lines, complaints = [], []
    for name, _, found in traced(folder, chapter, "traces", "CSV", complaints):
        lines += ([] if lines else [f"trace,{found[0]}"]) + [f"{name},{line}" for line in found[1:]]
    return "".join(f"{line}\n" for line in lines), complaints


def events_of(folder, chapter):
    """The text of the chapter's events.json, and complaints."""
    kernels, complaints = [], []
    for name, _, found in traced(folder, chapter, "events", "EVENTS", complaints):
        text = "\n".join(found)[len('{"kernels":[\n') : -len("]}")]
        kernels.append(re.sub(r'^\{"kernel":', f'{{"trace":"{name}","kernel":', text, flags=re.M))
    return ("{\"kernels\":[\n" + ",\n".join(kernels) + "]}\n" if kernels else ""), complaints


def regions_of(places):
    """[[first, bytes, distance, count], ..] of a set of (offset, bytes)."""
    runs = []
    for first, size in sorted(places):
        if runs and first <= sum(runs[-1]):
            runs[-1][1] = max(runs[-1][1], first + size - runs[-1][0])
        else:
            runs.append([first, size])
    regions = []
    for first, size in runs:
        last = regions[-1] if regions else None
        if last and last[1] == size and last[3] == 1:
            last[2:] = [first - last[0], 2]
        elif last and last[1] == size and last[0] + last[2] * last[3] == first:
            last[3] += 1
        else:
            regions.append([first, size, 0, 1])
    return regions


def steps_of_kernel(kernel, texts):
    """A kernel of the page's events, with what all warps do together instead of each warp's."""
    rows, source = {}, {}
    for event in kernel["events"]:
        step, _, line, space, operation, size, offsets = event[:7]
        array = event[10] if len(event) > 10 else ""
        file, number = (line[0], line[1]) if isinstance(line, list) else (0, line)
        path = kernel["files"][file]
        source.setdefault(path, {})[number] = texts[path].split("\n")[number - 1].strip()
        if len(offsets) == 2:
            offsets = [offsets[0] + lane * offsets[1] for lane in range(32)]
        places = rows.setdefault((step, file, number, space, operation, array), set())
        places.update((offset, size) for offset in offsets if offset is not None)
    steps = [
        [step, number if file == 0 else [file, number], space, operation, name, regions_of(places)]
        for (step, file, number, space, operation, name), places in sorted(rows.items(), key=lambda row: row[0][0])
    ]
    kept = {key: kernel[key] for key in ("kernel", "block", "files")}
    return {**kept, "source": source, "steps": steps}


def steps_of(folder, chapter):
    """The text of the chapter's steps.json, and complaints."""
    kernels, complaints = [], []
    for name, options, _ in traced(folder, chapter, "steps", "HTML", complaints):
        with open(f"build/xray/{settings.program_of(chapter, options)[0]}.json", encoding="utf-8") as file:
            page = json.load(file)
        kernels += [{"trace": name, **steps_of_kernel(kernel, page["texts"])} for kernel in page["kernels"]]
    text = json.dumps({"kernels": kernels}, separators=(",", ":"))
    return (re.sub(r"(?=\[\d+,(?:\d+|\[\d+,\d+\]),(?:null|\"))|(?=\{\"trace\")", "\n", text) + "\n" if kernels else ""), complaints


def banks_of(_, chapter):
    """The text of the chapter's banks.json, and complaints."""
    for operation in settings.lines_of(chapter, "banks"):
        model = [f"common/cpu/xray/{unit}.cpp" for unit in ("model", "costs")]
        with tempfile.TemporaryDirectory() as scratch:
            program = f"{scratch}/bank_positions"
            compiler = [os.environ.get("CXX", "g++"), "-std=c++17", "-O1", "-I.", "-o", program]
            subprocess.run([*compiler, "common/tools/measure/bank_positions.cpp", *model], check=True)
            return subprocess.run([program, operation], capture_output=True, text=True, check=True).stdout, []
    return "", []


def races_of(_, chapter):
    """The text of the chapter's races.json, and complaints."""
    reports = {}
    for options in settings.lines_of(chapter, "without_barriers"):
        source = settings.source_of(chapter, chapter)
        copy = f"build/races/{os.path.basename(source)}"  # as deep as a chapter, so that it finds common/
        with open(source, encoding="utf-8") as file:
            write_whole(copy, re.sub(r"^ {4,}__syncthreads\(\);.*$", "", file.read(), flags=re.M))
        environment = {key: value for key, value in os.environ.items() if not re.match("MAKE|MFLAGS|CH$", key)}
        command = ["make", "-s", "races", f"FILE={copy}", f"ARGS={options}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        for report in re.findall(r"^[^\n]*: error: race: .*?^ *help: [^\n]*", done.stderr, re.M | re.S):
            kernel = re.search(r"in kernel '(\w+)'", report)[1]
            reports.setdefault(kernel, report.replace(copy, source).split("\n"))
        if not reports:
            return "", [f"{done.stdout}{done.stderr}chapters/{chapter}/settings: [without_barriers]: no race was reported"]
    return (json.dumps(reports, indent=1) + "\n" if reports else ""), []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("folder", help="where the programs that are built for X-ray lie")
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER")
    options = parser.parse_args()
    complaints = []
    for chapter in options.chapters:
        for name, made in (("xray.csv", traces_of), ("events.json", events_of), ("steps.json", steps_of), ("banks.json", banks_of), ("races.json", races_of)):
            path = f"chapters/{chapter}/results/{name}"
            stored = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
            text, problems = made(options.folder, chapter)
            complaints += problems
            if problems or text == stored:
                continue
            if not options.check:
                write_whole(path, text)
                print(f"traced {path}")
            elif sorted(text.splitlines()) != sorted(stored.splitlines()):
                complaints.append(f"{path}: the kernels do something else now; run make xray-traces figures")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
