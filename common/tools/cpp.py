# SPDX-License-Identifier: MIT
"""What stands in a C++ source: its tokens, directives and declarations, as the pre-pass of the CPU backend reads them."""

import collections
import functools
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
Token = collections.namedtuple("Token", "kind text begin end")  # kind: one of KINDS
KINDS = {"i": "name", "n": "number", "s": "text", "c": "character", "p": "mark"}
# kind: macro, type, function, value, other. body: (begin, end), or None. Places are offsets in Source.data.
Declaration = collections.namedtuple("Declaration", "kind names begin end body")
INCLUDE = re.compile(rb'#\s*include\s*(<[^<>"]+>|"[^"]+")$')


class Unreadable(Exception):
    """One line: what is wrong with a source."""


class Source:
    """`data`: the bytes of a file, `said`: what the pre-pass prints of it. Comments are no tokens; those of directives and
    in `#if 0` are among them."""

    def __init__(self, data, said):
        self.data = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
        seen = json.loads(said)
        self.places = seen["tokens"]
        self.directives = [tuple(place) for place in seen["directives"]]
        self.declarations = [
            Declaration(kind, [self.text(*place) for place in names], begin, end, tuple(body) if body else None)
            for kind, begin, end, names, body in seen.get("declarations", [])
        ]

    @functools.cached_property
    def tokens(self):
        return [Token(KINDS[kind], self.text(begin, end), begin, end) for kind, begin, end in self.places]

    def text(self, begin, end):
        return self.data[begin:end].decode("utf-8", "replace")

    def line(self, place):
        """The number of the line, from 1, in which a byte stands."""
        return self.data.count(b"\n", 0, place) + 1

    def top_level(self):
        """The declarations that stand in no class."""
        found, behind = [], 0
        for declared in sorted(self.declarations, key=lambda d: (d.begin, -d.end)):
            if declared.begin >= behind or declared.kind == "macro":
                found.append(declared)
                behind = max(behind, declared.end)
        return found

    def includes(self):
        """What is included, as it is written (<cstdio>, "own.cuh"), and where: {(begin, end) of the directive: name}."""
        found = {place: INCLUDE.match(self.data[slice(*place)]) for place in self.directives}
        return {place: match[1].decode("utf-8", "replace") for place, match in found.items() if match}

    def directive_tokens(self):
        """[(begin, end), its tokens behind the #] for each directive."""
        found, rest = [], iter(self.tokens)
        for begin, end in self.directives:
            found.append(((begin, end), []))
            for token in rest:
                if token.begin > begin:
                    found[-1][1].append(token)
                if token.end >= end:
                    break
        return found

    def conditionals(self):
        """(begin, end) of each, from its #if to its #endif; an inner one is part of the outer one."""
        found, begins = [], []
        for (begin, end), tokens in self.directive_tokens():
            word = tokens[0].text if tokens else ""
            if word in ("if", "ifdef", "ifndef"):
                begins.append(begin)
            elif word == "endif" and begins:
                start = begins.pop()
                found += [] if begins else [(start, end)]
        return found


@functools.lru_cache(maxsize=None)
def prepass():
    """The pre-pass, which make builds first where that has to be."""
    built, parts = f"{ROOT}/build/cpu/prepass", glob.glob(f"{ROOT}/common/cpu/prepass/*")
    if not os.path.exists(built) or os.path.getmtime(built) < max(map(os.path.getmtime, parts)):
        # What was told to a make around this one is not meant for it.
        told = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CH", "EX", "FILE", "BACKEND", "EXPERIMENT", "V")
        environment = {name: value for name, value in os.environ.items() if name not in told}
        make = [os.environ.get("MAKE", "make"), "-s", "--no-print-directory", "-C", ROOT, "build/cpu/prepass"]
        if subprocess.run(make, env=environment, check=False, stdout=sys.stderr).returncode != 0:
            raise Unreadable("the pre-pass, which reads C++, cannot be built")
    return built


@functools.lru_cache(maxsize=None)
def source(path):
    """A file with its declarations."""
    with open(path, "rb") as file:
        return source_of(file.read(), path)


def source_of(data, name):
    """The same of bytes; `name`: what a message calls them."""
    done = subprocess.run([prepass(), "--declarations", "/dev/stdin"], input=data, check=False, capture_output=True)
    if done.returncode != 0:
        raise Unreadable(done.stderr.decode("utf-8", "replace").strip().replace("/dev/stdin", name))
    return Source(data, done.stdout)
