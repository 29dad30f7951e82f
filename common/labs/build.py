# SPDX-License-Identifier: MIT
"""Compiles a check together with the file it checks. Make builds what all checks share: backend, Catch2's main, the
mirrored headers (build/labs/VARIANT/ready). The check itself is one small translation unit."""

import glob
import hashlib
import itertools
import os
import re
import subprocess
import sys

from ..tools import cpp
from ..tools.own import device_code
from . import runner
from .catalogue import read, write

MAKE_VARIABLES = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKE_TERMOUT", "MAKE_TERMERR", "CH", "EX", "V")

FIRST = "first.h"  # build/labs/VARIANT/first.h

# In an exercise a warning is no error, but where the result would be left to chance; and `int i = blockIdx.x * ...;
# if (i < n)`, the first line of every CUDA book, is not even warned of.
LENIENT = ["-Wno-sign-compare", "-Werror=return-type"]
# Reading or writing a __device__ variable in host code, an error in common/cpu/prepass too.
ERRORS_OF_NVCC = ["-diag-error", "20091,20092"]
# What every check is linked with beside its own object and the backend.
OF_EVERY_CHECK = ("build/labs/channel.o", "build/labs/report.o", "build/tests/catch_main.o")
# channel.cpp's main comes first, and calls the other.
CHANNEL_FIRST = ["-Wl,--wrap=main"] if sys.platform == "linux" else []
STRICT = ["-Wsign-compare"]  # for starters and solutions, beside LENIENT


def lenient(command, variant):
    """The compile command of the chapters, for an exercise."""
    kept = []
    for word in command:
        if word.startswith("-Wall,"):  # what nvcc hands on to the host's compiler
            kept.append(",".join([w for w in word.split(",") if w != "-Werror"] + LENIENT))
        elif word not in ("-Werror", "all-warnings") and not word.startswith("-Wno-error="):
            kept.append(word)
    return kept + (ERRORS_OF_NVCC if variant == "gpu" else LENIENT)


def compiler_of(command):
    """The words of a command up to its first flag: ["g++"], or ["ccache", "g++"]."""
    return list(itertools.takewhile(lambda word: not word.startswith("-"), command))


def backend(variant, lab=None):
    """What the checks of a lab, or of any, are linked with. X-ray does not look into textures."""
    uses = [(lab is None or lab.uses_driver, "driver.o"), (lab is None or lab.uses_nccl, "nccl.o"),
            (lab is None or lab.uses_tensor, "tensor.o"), (True, "textures.o")]  # fmt: skip
    folder = f"build/{'cpu' if variant == 'cpu-xray' else variant}"
    return (*(f"{folder}/{name}" for used, name in uses if used), f"build/{variant}/libcudacpu.a")


def nccl(mode):
    """What nvcc is told to compile or link with NCCL; nothing where that is not found."""
    command = ["common/tools/setup/nccl.sh", mode, os.environ.get("NVCC", "nvcc"), os.environ.get("NCCL_HOME", "")]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


def is_clang(command):
    return "clang" in os.path.basename(compiler_of(command)[-1])


LONGEST = 1 << 15  # characters of a name in what the compiler says of calls
LIST = re.compile(r" |[A-Z][a-z]+ [a-z ]+: ")  # lines that hold many names: "  Called by: ...", "Removing unused symbols: ..."


def with_calls(command):
    """A command that compiles for the CPU, so that it also says who calls whom: without what is compiled already, of which
    g++ does not know that any more. clang says nothing of calls."""
    if "-include" not in command or is_clang(command):
        return command
    at = command.index("-include")
    made = command[command.index("-o") + 1]
    return [*command[:at], f"-fdump-ipa-cgraph={os.path.dirname(made)}/calls", *command[at + 2 :]]


def host_code(folder, path, source):
    """What nvcc refuses of the file at `path`: functions and variables of the host in device code, where g++ has said in
    `folder` who calls whom."""
    calls = f"{folder}/calls"
    if not os.path.exists(calls):
        return ""
    with open(calls, encoding="utf-8", errors="replace") as said:
        begins = True
        for piece in iter(lambda: said.readline(LONGEST), ""):
            if begins and len(piece) == LONGEST and not LIST.match(piece):
                return "has names that are too long to be read"
            begins = piece.endswith("\n")
    lines = device_code.complaints(calls, {path: source}, strict=True)
    os.remove(calls)
    return "\n".join(lines)


class Failure(Exception):
    """The common part could not be built; the text is make's output."""


class Builder:
    """Settings are what the user gave to make: CXX, NVCC, ARCH, CATCH2_DIR."""

    def __init__(self, settings):
        self.settings = {k: v for k, v in settings.items() if v}
        self.prepared = {}
        self.common = None

    def prepare(self, *variants):
        """Lets make build what every check of these variants needs, and names what is compiled on stderr."""
        for variant in variants:
            if variant in self.prepared:
                continue
            self.make(variant)
            compile_flags, _, link_flags = f"{read(f'build/{variant}/flags').strip()} ".partition(" / ")
            libraries = read(f"build/labs/{variant}/ready").split()
            # DWARF 4: of version 5, addr2line of binutils 2.40 names the first function's lines after the check.
            # -g1: reports name lines and functions, and variables would double the time to compile.
            command = lenient([f if f not in ("-O2", "-O3") else "-O1" for f in compile_flags.split()], variant)
            if variant != "gpu":
                # FIRST knows LAB_FILE, too, so that what is compiled of it fits.
                command += ["-gdwarf-4", "-g1", *self.catch_flags(), "-Ibuild/cpu/src", '-DLAB_FILE="lab.cu"']
                self.precompile(variant, command)
            self.prepared[variant] = (command, link_flags.split(), libraries)

    def precompile(self, variant, command):
        """Compiles once what every check includes: g++ takes FIRST.gch in place of FIRST where its flags fit. That
        halves the time to compile a check; everything also works without it."""
        first = f"build/labs/{variant}/{FIRST}"
        key = hashlib.sha256(f"{self.common_hash()} {command}".encode()).hexdigest()
        if os.path.exists(f"{first}.key") and read(f"{first}.key") == key:
            return
        if os.path.exists(f"{first}.gch"):
            os.remove(f"{first}.gch")  # g++ would take it, whatever has changed since
        with open(first, "w", encoding="utf-8") as file:
            file.write('#include "cuda_runtime.h"\n#include "common/labs/testing.cuh"\n')
        if is_clang(command):
            return
        made = f"{first}.{os.getpid()}"
        done = runner.run([*command, "-x", "c++-header", "-o", made, first], runner.COMPILE)
        if done.status == 0 and not done.ended_by:
            os.replace(made, f"{first}.gch")
            write(f"{first}.key", key)

    def make(self, variant):
        environment = {k: v for k, v in os.environ.items() if k not in MAKE_VARIABLES}
        command = [os.environ.get("MAKE", "make"), "--no-print-directory", f"build/labs/{variant}/ready"]
        command += [f"{k}={v}" for k, v in self.settings.items()]
        command += ["BACKEND=gpu"] if variant == "gpu" else []
        make = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = []
        for line in make.stdout:
            said.append(line)
            if re.match(r"  (c\+\+|nvcc) +\S", line):
                print(line, end="", file=sys.stderr, flush=True)
        if make.wait() != 0:
            shown = [l for l in said if l.strip() and not l.startswith("backend ")]
            text = "".join(shown[-20:]).replace("*** ", "").rstrip()
            raise Failure(text or f"{' '.join(command)}: ended with status {make.returncode}, and says nothing")

    def common_hash(self):
        """A hash of everything that is compiled into every check."""
        if self.common is None:
            digest = hashlib.sha256()
            paths = glob.glob("common/*.cuh") + glob.glob("common/labs/*.*") + glob.glob("common/cpu/**/*", recursive=True) + glob.glob("tests/*.*")
            for path in sorted(p for p in paths if p.endswith((".cuh", ".h", ".hpp", ".cpp", ".inc", ".S"))):
                with open(path, "rb") as file:
                    digest.update(path.encode() + b"\0" + file.read() + b"\0")
            self.common = digest.hexdigest()
        return self.common

    def key(self, lab, path, *more):
        """A hash of all that decides how a check of this file ends."""
        digest = hashlib.sha256(self.common_hash().encode())
        # A prediction is compared with its starter as well.
        of_chapter = sorted(glob.glob(f"chapters/{lab.chapter}/*.cuh")) if lab.headers else []
        for source in (lab.check, path, *([lab.starter] if lab.predicts else []), *of_chapter):
            with open(source, "rb") as file:
                digest.update(file.read() + b"\0")
        digest.update("\0".join(more).encode())
        return digest.hexdigest()

    def bounds(self, lab, variant):
        """Flags by which an index outside of a local or __constant__ array is reported. Where X-ray counts they are
        not compared: that would change the counts. What was compiled before (FIRST) fits either way."""
        if variant != "cpu-xray" or lab.predicts or lab.counts:
            return []
        return ["-fsanitize=array-bounds" if is_clang(self.prepared[variant][0]) else "-fsanitize=bounds"]

    def commands(self, lab, path, variant, folder, more=()):
        """The commands that make folder/check of the check and the file at `path`, in order. `more`: flags."""
        compile_command, link_flags, libraries = self.prepared[variant]
        # Found beside the check, or from the tree (-I.): no name in between may hold a quote.
        source, target = f"{folder}/lab.cu", f"{folder}/check"
        if variant == "gpu":
            to_compile, to_link = (nccl(mode) for mode in ("compile", "link")) if lab.uses_nccl else ([], [])
            of_hopper = read("build/gpu/tensor-flags").split() if lab.uses_tensor else []
            yield [*compile_command, *to_compile, *of_hopper, "-I.", f'-DLAB_FILE="{os.path.relpath(path)}"', *self.catch_flags(), *more, "-c", "-o",
                   f"{target}.o", lab.check]  # fmt: skip
            yield [*compiler_of(compile_command), *[f for f in compile_command if f.startswith("-arch")], "-o", target,
                   f"{target}.o", *OF_EVERY_CHECK, *libraries, *(["-lcuda"] if lab.uses_driver else []), *to_link]  # fmt: skip
            return
        yield ["build/cpu/prepass", path, source]
        yield ["build/cpu/prepass", lab.check, f"{target}.cu"]
        yield [*compile_command, *self.bounds(lab, variant), *more, "-include", f"build/labs/{variant}/{FIRST}", "-x", "c++",
               "-c", "-o", f"{target}.o", f"{target}.cu"]  # fmt: skip
        yield [*compiler_of(compile_command), "-pthread", *link_flags, *CHANNEL_FIRST, "-o", target, f"{target}.o", *OF_EVERY_CHECK,
               *backend(variant, lab), "-ldl", *libraries]  # fmt: skip

    def catch_flags(self):
        return [f for f in read("build/tests/flags").split() if f.startswith(("-I", "-D"))]

    def build(self, lab, path, variant, folder, limits=runner.COMPILE, more=(), calls=False):
        """(True, warnings) when folder/check is there, else (False, what the compiler said). `calls`: host functions that
        device code calls are refused as well. A check that was built from the same sources is left as it is."""
        flags = " ".join([*self.prepared[variant][0], *self.bounds(lab, variant), *more])
        key = self.key(lab, path, os.path.abspath(path), variant, flags, str(calls))
        if os.path.exists(f"{folder}/key"):
            built, _, warnings = read(f"{folder}/key").partition("\n")
            if built == key and os.path.exists(f"{folder}/check"):
                return True, warnings
        os.makedirs(folder, exist_ok=True)
        for name in ("key", "check"):
            if os.path.exists(f"{folder}/{name}"):
                os.remove(f"{folder}/{name}")
        warnings = ""
        for command in self.commands(lab, path, variant, folder, more):
            command = with_calls(command) if calls else command
            done = runner.run(command, limits)
            if done.ended_by or done.status != 0:
                said = done.output.strip()
                if done.ended_by:
                    said += f"\n(the compiler was stopped: {done.ended_by})"
                return False, said.strip() or f"{command[0]} ended with status {done.status}"
            warnings += done.output
        refused = host_code(folder, path, cpp.source(path)) if calls else ""
        if refused:
            return False, refused
        write(f"{folder}/key", f"{key}\n{warnings}")
        return True, warnings
