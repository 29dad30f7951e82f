# SPDX-License-Identifier: MIT
"""What `make single` prints, of every program, experiment and lab's solution: compiled by the command that it names where nvcc
is here, and run on the CPU backend with the small options of its settings.
"""

import argparse
import concurrent.futures
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys

from . import edits
from ..run import single

FOLDER = "build/single"


def all_programs():
    """(name, source) of each: as settings.sh calls it, or the path of a solution."""
    found = []
    for source in sorted(glob.glob("chapters/[0-9]*/*.cu") + glob.glob("chapters/[0-9]*/experiments/*.cu")):
        chapter, name = source.split("/")[1], os.path.basename(source)[: -len(".cu")]
        found.append((chapter if f"_{name}" == chapter[2:] else f"{chapter[:2]}_{name}", source))
    return found + [(path, path) for path in sorted(glob.glob("chapters/[0-9]*/exercises/solutions/*.cu"))]


def said(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    return done.returncode, done.stdout


def settings_of(name, section):
    return [] if name.endswith(".cu") else said(["common/tools/run/settings.sh", section, name])[1].splitlines()


def attempt(program, arch):
    """What is wrong with one of them, or nothing."""
    name, source = program
    text = single.single(source)
    file = f"{FOLDER}/{re.sub(r'[^a-z0-9_]', '_', source[len('chapters/') : -len('.cu')])}.cu"
    pathlib.Path(file).write_text(text, encoding="utf-8")
    if re.search(r'^#include "', text, re.M):
        return "it includes a file that is not there"
    if arch:
        command = re.search(r"^// (nvcc .*)$", text, re.M)[1].replace("native", arch).replace("FILE.cu", os.path.basename(file))
        # A solution's constants may be there for its check, which is not in the file.
        strict = [] if name.endswith(".cu") else ["-Werror", "all-warnings"]
        status, output = said([*command.split(), *strict, "-o", os.path.basename(file)[:-3]], cwd=FOLDER)
        if status:
            return f"{command}\n{output}"
    bugs = settings_of(name, "bugs")
    options = (bugs or settings_of(name, "small") or [""])[0]
    command = ["make", "--no-print-directory", "run", "BACKEND=cpu", f"RACES={int(bool(bugs))}", f"FILE={file}"]
    status, output = said([*command, f"ARGS={options.split('=>')[0]}"])
    if bugs and not (status and options.split("=> ")[1] in output):
        return f"it must fail and say {options.split('=> ')[1]}\n{output}"
    return output if status and not bugs else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", default="", metavar="k/n", help="of experiments and solutions only the k-th of n parts")
    parser.add_argument("programs", nargs="*", metavar="NAME", help="only these, as in 05_shared_tree_reduction, 14_by_shape")
    parser.add_argument("--arch", default="sm_90", help="for nvcc")
    options = parser.parse_args()
    every = all_programs()
    unknown = set(options.programs) - {name for name, _ in every}
    if unknown:
        parser.error(f"{unknown.pop()}: no program of that name")
    every = [p for p in every if not options.programs or p[0] in options.programs]
    lessons = [p for p in every if p[0] == p[1].split("/")[1]]
    others = edits.part_of([p for p in every if p not in lessons], options.share)
    if others is None:
        parser.error(f"--share={options.share}: expected k/n, the k-th of n parts, as in 1/3")
    os.makedirs(FOLDER, exist_ok=True)
    arch = options.arch if shutil.which("nvcc") else ""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tries = [(p, pool.submit(attempt, p, arch)) for p in lessons + others]
        for (name, source), future in tries:
            problem = future.result()
            failed += bool(problem)
            if problem:
                print(f"  FAIL  {source}: {problem}")
    print(f"{len(tries)} single files{'' if arch else ', nvcc is not here'}: {failed} do not compile and run")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
