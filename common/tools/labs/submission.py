# SPDX-License-Identifier: MIT
"""Looks at a file that a student handed in before it is compiled: is it a source text, and does it leave the checker
alone? The file and its check become one program, in which a trick could look like a right answer: so tricks are refused
here."""

import os
import re
import stat

import runner
from catalogue import read

MAX_BYTES = 256 * 1024
# Comments and literals; each becomes a blank.
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'', re.S
)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.M)
ODD_DIRECTIVE = re.compile(r"#\s*(line\b|\d|pragma\s+(push|pop)_macro|pragma\s+GCC\s+(poison|system_header)|include_next)")
# Names of the checker, and ways to run before it or beneath the compiler.
RESERVED = {"lab", "Catch", "xray", "LAB_FILE", "LAB_CHANNEL", "TEST_CASE", "SCENARIO", "SECTION"}
LOW_LEVEL = {"asm", "__asm", "__asm__", "_Pragma", "__attribute__", "__attribute", "gnu"}


class Refused(Exception):
    """Why a file is not even compiled."""


def fetch(path, root):
    """The text of a regular file that really lies below `root`; None when there is none."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISREG(info.st_mode):
        raise Refused("not a regular file")
    if not os.path.realpath(path).startswith(os.path.realpath(root) + os.sep):
        raise Refused("leads out of the student's folder")
    if info.st_size > MAX_BYTES:
        raise Refused(f"{info.st_size} bytes: at most {MAX_BYTES}")
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Refused("not a source text: it holds binary data")
    return text.replace("\r\n", "\n").rstrip("\n") + "\n"


def plain(text):
    """The text with continued lines joined, and comments and literals blanked out; includes keep their names."""
    joined = re.sub(r"\\[ \t]*\n", "", text)
    includes = re.compile(r'^([ \t]*#[ \t]*include[ \t]*)"([^"\n]*)"', re.M)
    joined = includes.sub(r"\1<\2>", joined)
    return NOISE.sub(" ", joined)


def inspect(text):
    """Raises Refused for what reaches for the checker. Returns the preprocessor's lines."""
    code = plain(text)
    used = set(IDENTIFIER.findall(code))
    for name in sorted(used & RESERVED):
        raise Refused(f"uses the name '{name}', which belongs to the checker")
    for name in sorted(n for n in used if n.startswith(("CATCH_", "INTERNAL_CATCH"))):
        raise Refused(f"uses the name '{name}', which belongs to the checker")
    for name in sorted(used & LOW_LEVEL):
        raise Refused(f"uses '{name}', which no exercise needs")
    if re.search(r"\bnamespace\s+std\b", code):
        raise Refused("adds to namespace std, which no exercise needs")
    if re.search(r"\?\?[=/'()!<>-]|^[ \t]*%:", text, re.M):
        raise Refused("disguises a preprocessor line (by a trigraph or %:)")
    directives = [line.strip() for line in DIRECTIVE.findall(code)]
    for line in directives:
        if ODD_DIRECTIVE.match(line):
            raise Refused(f"holds the line {line}, which no exercise needs")
    return directives


def inspect_starter(lab):
    return inspect(read(lab.starter))


def preprocessed(builder, lab, path, variant, folder, extra):
    """The preprocessor's output for the check with this file."""
    steps = list(builder.commands(lab, path, variant, folder))
    for command in steps:
        if "-c" not in command:
            if command[0] == "build/cpu/prepass":
                runner.run(command, runner.COMPILE)
            continue
        compile_command = [a for a in command if a not in ("-c", "-g")]
        if "-o" in compile_command:
            at = compile_command.index("-o")
            del compile_command[at : at + 2]
        return runner.run([*compile_command, "-E", *extra], runner.COMPILE)
    return None


def macros_and_files(builder, lab, path, variant, folder):
    """({name: definition} at the end of the check, files that were read); None when it does not preprocess."""
    os.makedirs(folder, exist_ok=True)
    dependencies = f"{folder}/dependencies"
    done = preprocessed(builder, lab, path, variant, folder, ["-dM", "-MD", "-MF", dependencies, "-MT", "x"])
    if done is None or done.status != 0 or not os.path.exists(dependencies):
        return None
    macros = dict(re.findall(r"^#define ([A-Za-z_]\w*)(.*)$", done.output, re.M))
    files = re.split(r"(?<!\\)\s+", read(dependencies).replace("\\\n", " ").partition(":")[2].strip())
    return macros, {f.replace("\\ ", " ") for f in files if f}


def system_folders(builder, variant):
    """Where the compiler looks for system headers."""
    compiler = builder.prepared[variant][0][0]
    said = runner.run([compiler, "-E", "-v", "-x", "c++", "/dev/null"], runner.COMPILE).output
    listed = re.search(r"search starts here:\n(.*?)End of search list", said, re.S)
    folders = re.findall(r"^ (\S+)", listed[1], re.M) if listed else []
    return [os.path.realpath(f) + os.sep for f in folders] or ["/usr/"]


class Baseline:
    """The macros and files that the starter's check uses: a submission may define and include no others."""

    def __init__(self, builder, lab, variant, folder):
        self.macros, self.files = macros_and_files(builder, lab, lab.starter, variant, folder) or ({}, set())
        text = preprocessed(builder, lab, lab.starter, variant, folder, [])
        used, inside = set(), False
        for line in text.output.split("\n") if text else []:
            marker = re.match(r'# \d+ "([^"]*)"', line)
            if marker:
                inside = marker[1].endswith(os.path.basename(lab.check))
            elif inside:
                used.update(IDENTIFIER.findall(line))
        own = "".join(read(p) for p in (lab.check, "tests/lab_testing.cuh", "tests/lab_report.h"))
        self.used = used | set(IDENTIFIER.findall(own))
        root = os.getcwd() + os.sep
        self.folders = [root + "common/", root + "build/cpu/src/common/", *system_folders(builder, variant)]

    def judge(self, builder, lab, path, variant, folder):
        """Raises Refused when the file changes a macro that the check uses, or includes what it may not."""
        found = macros_and_files(builder, lab, path, variant, folder)
        if found is None:
            return  # the compiler will say why
        macros, files = found
        for name in sorted(set(macros) | set(self.macros)):
            if macros.get(name) != self.macros.get(name) and name in self.used and name != "LAB_FILE":
                raise Refused(f"redefines '{name}', which the check uses")
        mine = {os.path.realpath(os.path.join(folder, n)) for n in ("lab.cu", "check.cu")} | {os.path.realpath(path)}
        for name in sorted(files - self.files):
            real = os.path.realpath(name)
            if real not in mine and not real.startswith(tuple(self.folders)):
                shown = os.path.relpath(real) if real.startswith(os.getcwd() + os.sep) else name
                raise Refused(f"includes {shown}: only common/common.cuh and the system's headers may be included")
