# SPDX-License-Identifier: MIT
"""Writes compile_commands.json, from which clangd learns how to read every source: errors, completion and jumps in the .cu
files, without a GPU and without the CUDA toolkit.

    python3 common tools.editor.compile_commands FLAGS...     the CPU backend's flags; a warning stays a warning in an editor

A .cu file is read in clang's own CUDA mode, host side, against the CPU backend's headers.
"""

import glob
import json
import os
import subprocess
import sys

from ..measure.csv_files import write_whole

CUDA = (
    "-I. -x cuda --cuda-host-only -nocudainc -nocudalib -Wno-unknown-cuda-version -Xclang -fcuda-allow-variadic-functions"
    " -include common/tools/editor/cuda_for_clang.h"
).split()
REFUSED = "tests/backend/prepass/"  # programs that the pre-pass must refuse


def catch2():
    """The compiler's flags for Catch2, where it is installed."""
    command = ["common/tools/setup/catch2.sh", "clang++", os.environ.get("CATCH2_DIR", "")]
    said = subprocess.run(command, env={**os.environ, "INSTALL": "no"}, capture_output=True, text=True, check=False).stdout
    return [word for word in said.split() if word.startswith(("-I", "-D"))]


def main():
    flags = [f for f in sys.argv[1:] if f not in ("-Werror", "-g") and not f.startswith("-Wno-error=")]
    compiler = ["clang++", *flags, *catch2()]
    found = (path for folder in ("chapters", "common", "tests", "work") for path in glob.glob(f"{folder}/**/*", recursive=True))
    sources = sorted(path for path in found if path.endswith((".cu", ".cuh", ".cpp")) and not path.startswith(REFUSED))
    entries = [
        {"directory": os.getcwd(), "file": file, "arguments": [*compiler, *([] if file.endswith(".cpp") else CUDA), "-c", file]}
        for file in sources
    ]
    write_whole("compile_commands.json", json.dumps(entries, indent=1) + "\n")
    print(f"compile_commands.json: {len(sources)} files; an editor with clangd finds it here")


if __name__ == "__main__":
    main()
