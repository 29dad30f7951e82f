# SPDX-License-Identifier: MIT
"""Reading a GPU's counters by Nsight Compute (ncu)."""

import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

from .csv_files import today

GPU_NAME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "setup", "gpu_name.sh")
HOW_TO_ALLOW = (
    "the driver does not let this user read the GPU's counters (ERR_NVGPUCTRPERM): run as root, or set "
    "NVreg_RestrictProfilingToAdminUsers=0 for the nvidia kernel module and restart; in a container "
    "add --cap-add=SYS_ADMIN. See https://developer.nvidia.com/ERR_NVGPUCTRPERM"
)


class Failure(Exception):
    pass


def stop(status, message):
    print(message, file=sys.stderr)
    sys.exit(status)


def answer(command, pattern="(.*)"):
    """What a command says: the first match's group, or nothing."""
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
    found = re.search(pattern, said)
    return found[1].strip() if found else ""


def gpu_file_name(verb, otherwise=""):
    """The GPU as results name it, `h200`; ends the program where there is none."""
    return answer([GPU_NAME]) or stop(77, f"make {verb} needs a GPU, and nvidia-smi lists none{otherwise}")


class Machine:
    """The GPU whose counters are read; ends the program where that cannot be."""

    def __init__(self, verb, backend):
        if backend != "gpu":
            stop(2, f"make {verb} reads a GPU's counters; here programs run on the CPU backend")
        if not shutil.which("ncu"):
            stop(2, f"make {verb} needs ncu (Nsight Compute): it comes with the CUDA toolkit, and its folder must be on PATH")
        self.file_name = gpu_file_name(verb)
        self.name = answer(["nvidia-smi", "-L"], r"GPU \d+: (.*) \(UUID")
        self.driver = answer(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
        self.cuda = answer(["nvcc", "--version"], r"release ([\d.]*)")
        self.date = today()


def read(command, metrics, options=(), shown=False):
    """Runs a command under ncu; what it prints is kept back unless `shown`. Returns the rows of ncu's CSV, one for each
    launch and metric, and the exit status."""
    with tempfile.NamedTemporaryFile("r", suffix=".csv", encoding="utf-8") as log:
        whole = ["ncu", "--clock-control", "none", "--csv", "--log-file", log.name, *options, "--metrics", ",".join(metrics)]
        sys.stdout.flush()
        kept = {} if shown else {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run([*whole, *command], check=False, **kept)
        report = log.read()
    said = report + (done.stdout or "")
    if "ERR_NVGPUCTRPERM" in said:
        raise Failure(HOW_TO_ALLOW)
    lines = report.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:  # nothing but messages
        why = [line for line in said.splitlines() if line.startswith(("==ERROR==", "==WARNING=="))] or said.splitlines()
        raise Failure(f"{' '.join(command)}: ncu saw no kernel, status {done.returncode}{': ' + why[-1] if why else ''}")
    return list(csv.DictReader(io.StringIO("\n".join(lines[start:])))), done.returncode


def value_of(row):
    """The number as text, without the commas of thousands."""
    return row["Metric Value"].replace(",", "")


def name_without_arguments(kernel):
    """'void a::k<3>(int const*)' -> 'a::k<3>', as report/program_image.h names it"""
    kernel = kernel.replace("(anonymous namespace)::", "")
    depth = 0
    for place in range(len(kernel) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(kernel[place], 0)
        if depth == 0 and kernel[place] == "(":
            kernel = kernel[:place]
            break
    return kernel[5:] if kernel.startswith("void ") else kernel


def base_name(kernel):
    """'void a::sum<(int)256>(const int *, ...)' -> 'sum'"""
    return name_without_arguments(kernel).partition("<")[0].split("::")[-1]


def show(value):
    """Four digits are enough for a table."""
    try:
        number = float(value)
    except ValueError:
        return value
    return f"{int(number)}" if number == int(number) else f"{number:.4g}"
