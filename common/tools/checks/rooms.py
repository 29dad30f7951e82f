#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which rooms of the CPU backend include which: a line for each room, from the bottom up. --check prints only what goes
against the order below: a room includes those above it in this list, and no other. .github/CONTRIBUTING.md draws it.
"""

import argparse
import glob
import os
import re
import sys

ROOT = "common/cpu"
# From the bottom up, and which lower rooms each may include.
ALLOWED = {
    "types": set(),
    "report": {"types"},
    "engine": {"types", "report"},
    "runtime": {"types", "report", "engine"},
    "libs/textures": {"types", "report", "engine", "runtime"},
    "libs/graphs": {"types", "report", "engine", "runtime", "libs/textures"},
    "libs/cublas": {"types", "report", "engine", "runtime"},
    "cuda": {"types", "engine", "runtime", "libs/textures", "libs/graphs", "libs/cublas"},
    "libs/thrust": {"cuda"},
    "xray": {"types", "report", "engine", "cuda"},
    "races": {"types", "report", "engine", "runtime"},
    "watch": {"engine", "libs/textures", "xray", "races"},
    "prepass": set(),
}


def room_of(path):
    parts = os.path.relpath(path, ROOT).split("/")
    return "/".join(parts[:2]) if parts[0] == "libs" else parts[0]


def includes():
    """(file, room, file that it includes, room of that)"""
    for path in sorted(glob.glob(f"{ROOT}/**/*", recursive=True)):
        room = room_of(path)
        if room not in ALLOWED or not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8") as file:
            for name in re.findall(r'^#\s*include ["<]([^">]+)[">]', file.read(), re.M):
                near = os.path.normpath(os.path.join(os.path.dirname(path), name))
                found = next((p for p in (near, f"{ROOT}/cuda/{name}") if os.path.isfile(p)), None)
                if found and room_of(found) != room:
                    yield path, room, found, room_of(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    seen, problems = {room: set() for room in ALLOWED}, []
    for path, room, found, other in includes():
        seen[room].add(other)
        if other not in ALLOWED[room]:
            problems.append(f"{path}: includes {found}: {room} knows {', '.join(sorted(ALLOWED[room])) or 'no other room'}")
    if not check:
        print("\n".join(f"{room:<14} -> {' '.join(sorted(others)) or '(none)'}" for room, others in seen.items()))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
