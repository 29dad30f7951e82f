# SPDX-License-Identifier: MIT
"""Compiles a program of one's own, of one or several files that may lie anywhere.

    name        "ok NAME", how the program is called below build/, or "error TEXT": one line in either case
    files       the sources, a line for each
    build       makes TARGET; what stands after -- is for the linker

From the environment, as they were typed: FILE, the sources; DEFINE, macros (N=512); INCLUDE, folders of headers; LIBS,
libraries (-lm). For the CPU backend also CUBLAS, the library for programs that include <cublas_v2.h>, and MAKE.

For the CPU backend each source goes through the pre-pass, and so does each header that it includes from its own folder or
from INCLUDE. The copies lie in build/own/src*/, below the path of the original.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import zlib

from .. import cpp
from ..measure.csv_files import write_whole
from . import device_code

SOURCES = (".cu", ".cpp", ".cc", ".cxx")
USES = {"-lcublas": re.compile(r"cublas(_v2|Lt)\.h$"), "-lcuda": re.compile(r"include/cuda\.h$")}
# Headers of cuda::std that the standard library has as well.
OF_STANDARD = set(
    "array bit cmath complex cstddef cstdint cstdlib cstring functional initializer_list iterator limits numeric optional"
    " ratio string_view tuple type_traits utility variant".split()
)
THRUST_FLAGS = (
    "-Ibuild/own/library -Icommon/cpu/libs/thrust -isystem build/own/library/home -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP"
    " -DTHRUST_IGNORE_CUB_VERSION_CHECK -DCCCL_DISABLE_FP16_SUPPORT"
).split()


class Wrong(Exception):
    """One line about what was typed."""


def typed(name):
    """The words of a setting, as a shell reads them: "a b.cu" is one."""
    try:
        return shlex.split(os.environ.get(name, ""))
    except ValueError:
        raise Wrong(f"{name}={os.environ[name]}: a quote is missing") from None


def own_files():
    """The sources in FILE. A FILE that is a file is one, whatever its name; else there may be several."""
    whole = os.environ.get("FILE", "")
    files = [whole] if os.path.isfile(whole) else typed("FILE")
    if not files:
        raise Wrong("FILE=: which program? e.g. FILE=work/hello.cu; make new NAME=hello makes one")
    for file in files:
        if os.path.isdir(file):
            raise Wrong(f'FILE={file}: a folder; its .cu files are expected, e.g. FILE="{file}/a.cu {file}/b.cu"')
        if not os.path.isfile(file):
            raise Wrong(f"FILE={file}: no such file")
        if not os.access(file, os.R_OK):
            raise Wrong(f"FILE={file}: may not be read")
        if not file.endswith(SOURCES):
            raise Wrong(f"FILE={file}: .cu is expected, or .cpp, .cc, .cxx for host code beside it")
    return files


def own_defines():
    """The macros in DEFINE, NAME or NAME=value."""
    for word in typed("DEFINE"):
        if not re.match(r"[A-Za-z_]\w*(=|$)", word, re.A):
            raise Wrong(
                f"DEFINE={word}: NAME or NAME=value is expected, and a name has letters, digits and _, "
                'e.g. DEFINE="N=512 FAST"'
            )
        if word.startswith("__"):
            raise Wrong(f"DEFINE={word}: names that begin with __ are the compiler's own")
    return typed("DEFINE")


def own_includes():
    for folder in typed("INCLUDE"):
        if not os.path.isdir(folder):
            raise Wrong(f"INCLUDE={folder}: no such folder")
    return typed("INCLUDE")


def own_name(files):
    """own/ and the first file's name, with _ for what is awkward there."""
    return "own/" + re.sub(rb"[^A-Za-z0-9_.-]", b"_", os.fsencode(os.path.splitext(os.path.basename(files[0]))[0])).decode()


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def run(command, **more):
    """A command that says itself what is wrong."""
    if subprocess.run(command, check=False, **more).returncode:
        sys.exit(1)


def is_old(made, *parts):
    """Whether one of the parts is newer than what was made of them, or gone."""
    if not os.path.exists(made):
        return True
    since = os.stat(made).st_mtime_ns
    return any(not os.path.exists(part) or os.stat(part).st_mtime_ns > since for part in parts)


# ---- what the backend has not --------------------------------------------------------------------

REFUSED = re.compile(
    r"^(.+?:\d+):\d+: error: (?:#error \"?|static assertion failed: )?(\S+?):? "
    r"(?=.*(?:the CPU backend has|not (?:supported )?(?:on|by) the CPU backend))"
)
SIGNS_OF_COLOUR = re.compile(r"\x1b\[[0-9;]*[mK]")


def refusals(said):
    """A line for each thing that the backend lacks, as the compiler said, with its first use and the other names that
    are missing with it. All else that the compiler said follows from that. Empty if it said nothing of the kind."""
    first, others = {}, {}
    for line in SIGNS_OF_COLOUR.sub("", said).splitlines():
        found = REFUSED.match(line)
        if not found:
            continue
        place, name = found.groups()
        text = line[found.start(2) :].strip('"')
        reason = text.partition(" ")[2]
        if reason not in first:
            first[reason] = f"{place}: error: {text}"
        elif name not in first[reason] and name not in others.setdefault(reason, []):
            others[reason].append(name)
    return [line + (f" (so it is with {', '.join(others[r])})" if others.get(r) else "") for r, line in first.items()]


def compile_for_cpu(command):
    colours = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    command = [*command, *(["-fdiagnostics-color=always"] if colours else [])]
    done = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True, errors="replace")
    lines = refusals(done.stderr) if done.returncode else []
    if any("as CUDA 13" not in line for line in lines):
        lines.append("    help: where there are a GPU and nvcc, it is built with BACKEND=gpu")
    sys.stderr.write("".join(f"{line}\n" for line in lines) or done.stderr)
    missing = re.search(r"fatal error: (\S+?): No such file|fatal error: '(\S+)' file not found", SIGNS_OF_COLOUR.sub("", done.stderr))
    if missing and not lines:
        name = missing[1] or missing[2]
        whose = " (NVIDIA's cuda-samples have it in Common/)" if re.match(r"(helper|exception)\w*\.h$", name) else ""
        sys.stderr.write(f"    help: INCLUDE=FOLDER names the folder where {name} is{whose}\n")
    if done.returncode:
        sys.exit(1)


# ---- headers that others bring -------------------------------------------------------------------


def thrust_home():
    """The folder where Thrust's headers are: the toolkit's, or the system's."""
    toolkits = [os.path.dirname(os.path.dirname(path)) for path in (shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc") if path]
    folders = [f"{t}/include{more}" for t in toolkits for more in ("/cccl", "")] + ["/usr/include"]
    return next((folder for folder in folders if os.path.isfile(f"{folder}/thrust/version.h")), None)


def thrust_header(name):
    """Makes build/own/library/NAME, by which a program's <thrust/...> includes Thrust's own, with its system for the host.
    Meanwhile nvcc's macros are not defined, because with them Thrust would ask for a GPU's code."""
    home = thrust_home()
    os.makedirs("build/own/library/home", exist_ok=True)
    if name.startswith("cub/"):
        text = f'#error "<{name}>: CUB has nothing for the host and is not supported on the CPU backend; Thrust is"\n'
    elif not home:
        text = f'#error "<{name}>: Thrust is not here; the CUDA toolkit has it, and so has Debian\'s libthrust-dev"\n'
    else:
        for part in ("thrust", "cuda", "nv"):
            link = f"build/own/library/home/{part}"
            if os.path.isdir(f"{home}/{part}") and not (os.path.islink(link) and os.readlink(link) == f"{home}/{part}"):
                if os.path.lexists(link):
                    os.remove(link)
                os.symlink(f"{home}/{part}", link)
        hidden = ("__CUDACC__", "__NVCC__")
        text = "".join(f'#pragma push_macro("{macro}")\n#undef {macro}\n' for macro in hidden)
        text += f"#include_next <{name}>\n" + "".join(f'#pragma pop_macro("{macro}")\n' for macro in hidden)
    write_whole(f"build/own/library/{name}", text)


def standard_header(name):
    """Makes build/own/standard/NAME, where a program's <cuda/std/array> is the standard library's: one compilation serves
    host and device. Thrust brings NVIDIA's own headers, and then those are taken."""
    short = name[len("cuda/std/") :]
    text = f'#pragma GCC error "<{name}>: the CPU backend has no such header of cuda::std"\n'
    if short in OF_STANDARD:
        text = f"#include <{short}>\nnamespace cuda::std {{\nusing namespace ::std;\n}}\n"
    write_whole(f"build/own/standard/{name}", text)


# ---- building ------------------------------------------------------------------------------------


class Build:
    def __init__(self, target, library, compiler, link):
        self.target, self.library, self.link = target, library, link
        count = next((i for i, word in enumerate(compiler) if word.startswith("-")), len(compiler))
        self.tool, flags = compiler[:count], compiler[count:]  # "ccache g++" are two words
        self.files, self.includes, defines = own_files(), own_includes(), own_defines()
        self.flags = flags + [f"-D{d}" for d in defines]
        self.flags += [f"-I{os.path.dirname(f) or '.'}" for f in self.files] + [f"-I{i}" for i in self.includes]
        # Without a GPU the backend's own cuBLAS, driver API and NCCL take their place.
        self.libraries = [w for w in typed("LIBS") if not (library and w in ("-lcublas", "-lcublasLt", "-lcuda", "-lnccl"))]
        self.defines = [f"--define={d}" if "=" in d else f"--define={d}=1" for d in defines]
        if not library and self.uses_nccl():
            self.flags += self.nccl("compile")
        # What the pre-pass makes of a file depends on its macros, and on where headers are found.
        told = "".join(f"{word}\n" for word in self.defines + self.includes)
        self.mirror = "build/own/src" + (f"+{zlib.crc32(told.encode())}" if told else "")
        self.parts = f"{target}.parts"
        os.makedirs(self.parts, exist_ok=True)
        self.more_flags, self.uses, self.copies = [], set(), []
        self.originals = {}  # of copies

    def run(self):
        # Everything that decides what comes out; when it is as it was, only what is newer is compiled.
        decides = [*self.tool, *self.flags, "--", *self.link, "--", *self.files, "--", *self.libraries]
        now, then = "".join(f"{word}\n" for word in decides), f"{self.parts}/then"
        same = os.path.exists(then) and text_of(then) == now
        if os.path.exists(then):
            os.remove(then)
        compile_one = self.on_the_cpu if self.library else self.by_nvcc
        objects = [f"{self.parts}/{i}.o" for i in range(len(self.files))]
        for source, made in zip(self.files, objects):
            compile_one(source, made, same)
        last = []
        if self.library:
            last = [*self.libraries_of_the_backend(), self.library]
        else:
            self.libraries += sorted(self.uses) + (self.nccl("link") if self.uses_nccl() else [])
        if not same or is_old(self.target, *objects, *last):
            new = f"{self.target}.{os.getpid()}"
            of_backend = ["-ldl"] if self.library else []
            command = [*self.tool, *(["-pthread"] if self.library else []), *self.link, "-o", new, *objects, *last, *of_backend]
            done = subprocess.run([*command, *self.libraries], check=False, stderr=subprocess.PIPE, text=True, errors="replace")
            sys.stderr.write(done.stderr)
            if done.returncode and "undefined reference" in done.stderr:
                sys.stderr.write('    help: FILE="a.cu b.cpp" names all files of a program, LIBS="-lm" libraries\n')
            if done.returncode:
                sys.exit(1)
            os.replace(new, self.target)
        write_whole(then, now)

    def uses_nccl(self):
        return any(name[1:-1] == "nccl.h" for file in self.files for name in cpp.source(file).includes().values())

    def nccl(self, mode):
        """What nvcc is told to compile or link with NCCL; nothing where that is not found."""
        command = ["common/tools/setup/nccl.sh", mode, self.tool[-1], os.environ.get("NCCL_HOME", "")]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()

    def by_nvcc(self, source, made, same):
        def parts():
            if not os.path.exists(f"{made}.d"):
                return []
            return shlex.split(re.sub(r"^[^:]*:|\\\n", " ", text_of(f"{made}.d")))

        if not same or is_old(made, source, *parts()):
            print(f"  nvcc  {source}", flush=True)
            run([*self.tool, *self.flags, "-MD", "-MF", f"{made}.d", "-c", "-o", made, source])
        self.uses |= {library for library, header in USES.items() if any(header.search(part) for part in parts())}

    def on_the_cpu(self, source, made, same):
        copies = []
        self.copy(source, copies)
        self.copies += copies
        if same and not is_old(made, *copies, self.library):
            return
        print(f"  c++   {source}", flush=True)
        as_nvcc = ["-D__CUDACC__", "-D__NVCC__", "-include", "cuda_runtime.h"] if source.endswith(".cu") else []
        folders = [f"-I{self.mirror}{os.path.realpath(i)}" for i in self.includes]
        flags = [*folders, *self.flags, "-idirafter", "build/own/standard", *self.more_flags, *as_nvcc]
        # clang says nothing of calls.
        calls = f"{made}.calls" if source.endswith(".cu") and "clang" not in self.tool[-1] else None
        dump = [f"-fdump-ipa-cgraph={calls}"] if calls else []
        compile_for_cpu([*self.tool, *flags, *dump, "-x", "c++", "-c", "-o", made, self.where(source)])
        if calls:
            self.refuse_host_code(made, calls, copies)

    def refuse_host_code(self, made, calls, copies):
        """Ends, after a line for each use, where device code calls a function of the host or names a variable of it."""
        own = {self.originals[copy]: cpp.source(self.originals[copy]) for copy in copies}
        lines = device_code.complaints(calls, own)
        os.remove(calls)
        if lines:
            os.remove(made)
            sys.stderr.write("".join(f"{line}\n" for line in lines))
            sys.exit(1)

    def where(self, file):
        """The copy of a file."""
        return f"{self.mirror}{os.path.realpath(os.path.dirname(file) or '.')}/{os.path.basename(file)}"

    def copy(self, file, copies):
        """Through the pre-pass, with all that it includes from its own folder and from INCLUDE."""
        to = self.where(file)
        if to in copies:
            return
        copies.append(to)
        self.originals[to] = file
        if is_old(to, file, "build/cpu/prepass"):
            run(["build/cpu/prepass", *self.defines, file, to, *self.includes])
        for name in (included[1:-1] for included in cpp.source(file).includes().values()):
            if name.startswith(("thrust/", "cub/")):
                thrust_header(name)
                self.more_flags = THRUST_FLAGS
            elif name.startswith("cuda/std/"):
                standard_header(name)
            found = (os.path.join(folder, name) for folder in [os.path.dirname(file) or ".", *self.includes])
            header = next((path for path in found if os.path.isfile(path)), None)
            if header:
                self.copy(header, copies)

    def libraries_of_the_backend(self):
        """Those that the program uses; X-ray does not look into them."""
        found = []
        for name in ("driver", "graphs", "nccl", "tensor", "textures", "cublas"):
            if subprocess.run(["common/cpu/libs/users.sh", name, *self.copies], capture_output=True, check=False).stdout:
                folder = os.path.dirname(self.library).replace("cpu-xray", "cpu")
                found.append(os.environ["CUBLAS"] if name == "cublas" else f"{folder}/{name}.o")
        if found:
            # This make was told FILE=, which makes programs and not the backend's parts.
            told = ("MAKEFLAGS", "MAKELEVEL", "FILE", "DEFINE", "INCLUDE", "LIBS")
            environment = {k: v for k, v in os.environ.items() if k not in told}
            make = [os.environ.get("MAKE", "make"), "-s", "--no-print-directory", f"CXX={' '.join(self.tool)}"]
            run([*make, *found], env=environment)
        return found


def main():
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("name")
    verbs.add_parser("files")
    verb = verbs.add_parser("build")
    verb.add_argument("target")
    verb.add_argument("library", help="of the CPU backend; empty: compiled by nvcc")
    verb.add_argument("compiler", nargs=argparse.REMAINDER, help="with its flags")
    given = parser.parse_args(sys.argv[1:end])
    try:
        if given.verb == "build":
            Build(given.target, given.library, given.compiler, sys.argv[end + 1 :]).run()
        elif given.verb == "files":
            print("\n".join(own_files()))
        else:
            files = own_files()
            own_defines()
            print(f"ok {own_name(files)}")
    except Wrong as problem:
        if given.verb == "name":
            print(f"error {problem}")
            return 0
        print(problem, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
