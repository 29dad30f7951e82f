# SPDX-License-Identifier: MIT
"""Who includes whom. Prints which rooms of the CPU backend include which: a line for each room, from the bottom up. --check
prints only what goes against the order below, and units of one room that include each other in a circle. A room includes
those above it in this list, and no other; a unit is a .cpp with its header. .github/CONTRIBUTING.md draws the rooms. Nor does
a chapter include another one, or more of common/ than common.cuh.
"""

import argparse
import glob
import os
import re
import sys

ROOT = "common/cpu"
# From the bottom up, and which lower rooms each may include.
ENGINE = {"engine/state", "engine/memory", "engine/diagnosis", "engine/scheduling", "engine/meeting", "engine/arithmetic"}
ALLOWED = {
    "types": set(),
    "report": {"types"},
    "engine/state": {"types", "report"},
    "engine/memory": {"types", "report", "engine/state"},
    "engine/diagnosis": {"types", "report", "engine/state", "engine/memory"},
    "engine/scheduling": {"types", "report", "engine/state", "engine/memory", "engine/diagnosis"},
    "engine/meeting": {"types", "report", "engine/state", "engine/memory", "engine/diagnosis", "engine/scheduling"},
    "engine/arithmetic": {"types", "report", "engine/state", "engine/memory", "engine/scheduling", "engine/meeting"},
    "runtime": {"types", "report"} | ENGINE,
    "libs/driver": {"types", "report", "runtime"} | ENGINE,
    "libs/textures": {"types", "report", "runtime"} | ENGINE,
    "libs/graphs": {"types", "report", "runtime", "libs/textures"} | ENGINE,
    "libs/cublas": {"types", "report", "runtime"} | ENGINE,
    "libs/nccl": {"types", "report", "runtime"} | ENGINE,
    "libs/tensor": {"types", "report", "runtime"} | ENGINE,
    "cuda": {"types", "runtime", "libs/textures", "libs/graphs", "libs/cublas", "libs/driver", "libs/nccl", "libs/tensor"} | ENGINE,
    "libs/thrust": {"cuda"},
    "xray": {"types", "report", "cuda"} | ENGINE,
    "races": {"types", "report", "runtime"} | ENGINE,
    "watch": {"libs/textures", "xray", "races"} | ENGINE,
    "prepass": set(),
}
WITH_HEADERS = "15", "16", "17", "18"  # these chapters' programs include headers of their own, as experiments of all chapters may


def room_of(path):
    parts = os.path.relpath(path, ROOT).split("/")
    return "/".join(parts[:2]) if parts[0] in ("libs", "engine") else parts[0]


def includes():
    """(file, file that it includes), both in rooms"""
    for path in sorted(glob.glob(f"{ROOT}/**/*", recursive=True)):
        if room_of(path) not in ALLOWED or not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8") as file:
            for name in re.findall(r'^#\s*include ["<]([^">]+)[">]', file.read(), re.M):
                near = os.path.normpath(os.path.join(os.path.dirname(path), name))
                found = next((p for p in (near, f"{ROOT}/cuda/{name}") if os.path.isfile(p)), None)
                if found:
                    yield path, found


def circles(arrows):
    """Circles among units, each as the units that it goes through; one for each unit that closes one."""
    done = set()

    def walk(unit, way):
        if unit in way:
            yield way[way.index(unit) :] + [unit]
        elif unit not in done:
            for other in sorted(arrows.get(unit, ())):
                yield from walk(other, way + [unit])
            done.add(unit)

    for unit in sorted(arrows):
        yield from walk(unit, [])


def own_includes(path):
    with open(path, encoding="utf-8") as file:
        return re.findall(r'^#include "([^"]*)"', file.read(), re.M)


def chapters():
    """What a chapter's program, experiment or header includes and must not."""
    patterns = ("*.cu", "*.cuh", "experiments/*.cu*")
    for path in sorted(p for pattern in patterns for p in glob.glob(f"chapters/[0-9][0-9]_*/{pattern}")):
        allowed, named = r"(\.\./)+common/common\.cuh", "common/common.cuh"
        is_program = path.endswith(".cu") and "/experiments/" not in path
        if not is_program or path.startswith(tuple(f"chapters/{number}_" for number in WITH_HEADERS)):
            allowed, named = allowed + r"|(\.\./)?\w+\.cuh", named + " and headers of its own chapter"
        names = own_includes(path)
        for name in names:
            if not re.fullmatch(allowed, name):
                yield f"{path}: includes {name}: allowed: {named}"
        # Tools see by it that a program has the options of all programs.
        headers = [os.path.normpath(os.path.join(os.path.dirname(path), name)) for name in names]
        if path.endswith(".cu") and "common/common.cuh" not in headers:
            for header in filter(os.path.isfile, headers):
                if any(name.endswith("common/common.cuh") for name in own_includes(header)):
                    yield f"{path}: includes {header}, which includes common/common.cuh: include that, too"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    rooms, units, problems = {room: set() for room in ALLOWED}, {}, []
    for path, found in includes():
        room, other = room_of(path), room_of(found)
        if room != other:
            rooms[room].add(other)
            if other not in ALLOWED[room]:
                known = ", ".join(sorted(ALLOWED[room])) or "no other room"
                problems.append(f"{path}: includes {found}: {room} knows {known}")
        unit, its = os.path.splitext(path)[0], os.path.splitext(found)[0]
        if unit != its:
            units.setdefault(unit, set()).add(its)
    problems += ["a circle: " + " -> ".join(os.path.relpath(unit, ROOT) for unit in way) for way in circles(units)]
    problems += chapters()
    if not check:
        print("\n".join(f"{room:<18} -> {' '.join(sorted(others)) or '(none)'}" for room, others in rooms.items()))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
