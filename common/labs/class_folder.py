# SPDX-License-Identifier: MIT
"""The folder that a class handed in: who is in it, where each one's files are, and what else lies there. Archives from
other systems bring names of all kinds; a name is shown so that it fits on one line."""

import os
import re

MACOS = "__MACOSX"  # what macOS puts into an archive beside the files
MOST = 2000  # entries of a student's folder that are looked at
DEEPEST = 12


def shown(name):
    """A file's name as one line of text: what is no UTF-8, and what controls a terminal, is written as \\xNN."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", lambda m: ascii(m[0])[1:-1], text)


def students_in(folder):
    """(names of the sub-folders, notes about anything else)."""
    names, notes = [], []
    for entry in sorted(os.scandir(folder), key=lambda e: os.fsencode(e.name)):
        if entry.name.startswith("."):
            continue
        if entry.name == MACOS:
            notes.append(f"{MACOS}: made by macOS, ignored")
        elif entry.is_dir(follow_symlinks=False):
            names.append(entry.name)
        else:
            notes.append(f"{shown(entry.name)}: not a folder, ignored")
    return names, notes


def folders_in(path):
    try:
        with os.scandir(path) as entries:
            return sorted(
                e.name for e in entries
                if e.is_dir(follow_symlinks=False) and not e.name.startswith(".") and e.name != MACOS
            )  # fmt: skip
    except OSError:
        return []


def base_of(root):
    """The folder that holds the chapters: the student's own, a work/ in it, or the only folder in it, as archives
    of archives have it (ada/ada/work)."""
    base = root
    for _ in range(4):
        inner = folders_in(base)
        if any(re.match(r"\d\d_", name) for name in inner):
            return base
        if "work" in inner:
            base = f"{base}/work"
        elif len(inner) == 1:
            base = f"{base}/{inner[0]}"
        else:
            break
    return root


def place_of(base, lab):
    return f"{base}/{lab.chapter}/{lab.name}.cu"


def ignored_in(root, base, labs):
    """Files that no exercise asks for, among them changed checks. Paths relative to the student's folder."""
    wanted = {os.path.relpath(place_of(base, lab), root) for lab in labs}
    found, notes, looked_at, waiting = [], [], 0, [("", 0)]
    while waiting:
        folder, depth = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                here = []
                for entry in entries:
                    looked_at += 1
                    if looked_at > MOST:
                        break
                    here.append((entry.name, entry.is_dir(follow_symlinks=False)))
        except OSError as error:
            notes.append(f"{shown(folder) or '.'}: cannot be read: {error.strerror}")
            continue
        for name, is_folder in sorted(here, key=lambda h: os.fsencode(h[0])):
            path = os.path.join(folder, name)
            if name.startswith(".") or name == MACOS:
                continue
            if is_folder:
                if depth < DEEPEST:
                    waiting.append((path, depth + 1))
                else:
                    notes.append(f"{shown(path)[:80]}: folders below it were not looked at")
            elif path not in wanted and ".saved-" not in name:
                found.append(path)
        if looked_at > MOST:
            notes.append(f"more than {MOST} files: the rest was not looked at")
            break
    found.sort(key=os.fsencode)
    told = []
    for path in found[:20]:
        is_check = path.endswith(".check.cu")
        told.append(f"{shown(path)}: ignored" + (", the check is the tutorial's own" if is_check else ""))
    if len(found) > 20:
        told.append(f"{len(found) - 20} more files ignored")
    return told + notes
