# SPDX-License-Identifier: MIT
"""Whether what the notes and decks tell a reader to type is there: in each `make VERB CH=NN ...` the experiment, the
options in ARGS, and the rows of --only. Rows of libraries (cub, cublas) are there on a GPU only. With --nvcc also whether
the line of a lesson that compiles its program without make does so.
"""

import argparse
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

COMMAND = re.compile(r"\bmake (?:run|xray|races|sanitize|profile|debug|bench|single|test) ([^`#\n]*)")
NVCC = re.compile(r"^nvcc (?:\\\n|[^`#&\n])*\.cu (?:\\\n|[^`#&\n])*", re.M)
EVERY = ("each", "all")  # of EXPERIMENT=
OF_LIBRARIES = re.compile(r"cu(b|blas)\w*$")


def said_by(program, option):
    return subprocess.run([program, option], capture_output=True, text=True, check=False).stdout


def complaints(command, chapter, folder):
    """What a command for that chapter names that does not exist."""
    experiment = re.search(r"EXPERIMENT=(\w+)", command)
    name = chapter if not experiment or experiment[1] in EVERY else f"{chapter[:2]}_{experiment[1]}"
    program = os.path.join(folder, name)
    if not os.path.exists(program):
        yield f"there is no program {name}"
        return
    options = re.search(r'ARGS="([^"]*)"', command)
    words = options[1].split() if options else []
    known = re.findall(r"--[a-z-]+", said_by(program, "--help")) if words else []
    for word, value in zip(words, [*words[1:], ""]):
        if word.startswith("--") and word not in known:
            yield f"{name} has no option {word}"
        if word == "--only":
            rows = said_by(program, "--list").split()
            yield from (f"{name} has no row {row}" for row in value.split(",") if row not in rows and not OF_LIBRARIES.match(row))


def compiled_by_hand(chapter, arch):
    """What is wrong with the lines of a lesson that call nvcc. They are for the GPU at hand; here one need not be."""
    with open(f"chapters/{chapter}/README.md", encoding="utf-8") as file:
        lines = NVCC.findall(file.read())
    if not any(f"chapters/{chapter}/{chapter[3:]}.cu" in line for line in lines):
        yield f"chapters/{chapter}/README.md: no line compiles the program by nvcc alone"
    for line in lines:
        with tempfile.TemporaryDirectory() as folder:
            words = shlex.split(line.replace("\\\n", "").replace("-arch=native", f"-arch={arch}").replace(" -o ", f" -o {folder}/"))
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            yield f"chapters/{chapter}/README.md: {line}\n{done.stdout}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", help="the folder where they are built")
    parser.add_argument("chapter", help="the folder's name of the chapter that commands are for")
    parser.add_argument("--nvcc", metavar="ARCH", help="only try the lesson's lines that call nvcc, for ARCH instead of native")
    options = parser.parse_args()
    if options.nvcc:
        wrong = list(compiled_by_hand(options.chapter, options.nvcc))
        print("\n".join(wrong or [f"{options.chapter}: what its lesson says compiles"]))
        return 1 if wrong else 0
    found = 0
    for path in sorted(["README.md", *glob.glob("chapters/**/*.md", recursive=True), *glob.glob("slides/*.md")]):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                for command in COMMAND.findall(line):
                    if f"CH={options.chapter[:2]}" in command:
                        for complaint in complaints(command, options.chapter, options.programs):
                            print(f"{path}:{number}: make ... {command.strip()}: {complaint}")
                            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
