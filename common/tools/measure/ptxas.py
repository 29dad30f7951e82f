# SPDX-License-Identifier: MIT
"""What the assembler says of a chapter's kernels: nvcc with -Xptxas -v, which needs no GPU.

Writes results/ARCH_ptxas.txt, the lines as they are but with readable names and without the time that each
kernel took to compile.
"""

import argparse
import glob
import os
import re
import subprocess
import sys

from .csv_files import write_whole


def output_of(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout + done.stderr


def short_name(demangled):
    """'void sum<4u>(int const*)' -> 'sum<4>'"""
    return re.sub(r"^void |\(.*$|u(?=>)", "", demangled)


def programs_of(chapter):
    """The chapter's program and its experiments."""
    return [f"chapters/{chapter}/{chapter[3:]}.cu", *sorted(glob.glob(f"chapters/{chapter}/experiments/*.cu"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chapter", help="its folder's name")
    parser.add_argument("arch", nargs="?", default="sm_90")
    options = parser.parse_args()
    chapter, arch = options.chapter, options.arch
    # A kernel is the chapter's own if its sources name it; others are common/'s or a library's.
    paths = programs_of(chapter) + glob.glob(f"chapters/{chapter}/*.cuh")
    own = "".join(open(path, encoding="utf-8").read() for path in paths)
    said = ""
    for source in programs_of(chapter):
        said += output_of(["nvcc", "-std=c++17", "-O3", f"-arch={arch}", "-Xptxas", "-v", "-c", source, "-o", os.devnull])
    lines = output_of(["c++filt"], input=said).splitlines()
    kept, names, wanted = [], [], False
    for line in lines:
        if not line.startswith(("ptxas info    : Function prop", "ptxas info    : Used", "    ")):
            continue
        if "Function properties for" in line:
            name = short_name(line.split(" for ", 1)[1])
            is_own = f" {name.split('<')[0]}(" in own
            wanted = is_own and name not in names  # two programs may have the same kernel
            if wanted:
                names.append(name)
                line = line.split(" for ")[0] + " for " + name
        if wanted:
            kept.append(line)
    path = f"chapters/{chapter}/results/{arch}_ptxas.txt"
    write_whole(path, "\n".join(kept) + "\n")
    print(f"{len(names)} kernels -> {path}")


if __name__ == "__main__":
    main()
