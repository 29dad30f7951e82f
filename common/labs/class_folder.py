# SPDX-License-Identifier: MIT
"""The folder that a class handed in: who is in it, where each one's files are, what else lies there, and the list of
those who should be there. Archives from other systems bring names of all kinds; a name is shown so that it fits on one
line."""

import csv
import os
import re

from .catalogue import UsageError

ROSTER = "students.csv"
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")  # the columns of a gradebook that Canvas exports
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
        elif entry.name != ROSTER:
            notes.append(f"{shown(entry.name)}: not a folder, ignored")
    return names, notes


class Roster:
    """students.csv, if it is there: `people` is {name of the folder: {column: text}}, in its order, and `headers` the first
    row. It is a table with the columns folder, name and id, or a gradebook that Canvas exported; `numbers` then has the
    folders of those whose files Canvas named, by their ID."""

    def __init__(self, folder, names, numbers):
        self.people, self.headers = {}, []
        path = f"{folder}/{ROSTER}"
        if not os.path.lexists(path):
            return
        try:
            with open(path, encoding="utf-8-sig", newline="") as file:
                first = file.readline()
                file.seek(0)
                rows = list(csv.reader(file, delimiter=";" if first.count(";") > first.count(",") else ","))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise UsageError(f"{shown(path)}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
        self.headers = [header.strip() for header in rows[0]] if rows else []
        is_canvas = set(CANVAS[:2]) <= set(self.headers)
        if not is_canvas and "folder" not in self.headers:
            raise UsageError(f"{shown(path)}: no column folder, nor Canvas's columns Student and ID, in: {shown(', '.join(self.headers))[:80]}")
        for row in rows[1:]:
            person = dict(zip(self.headers, (text.strip() for text in row)))
            if not any(person.values()) or person.get("Student", "").startswith("Points Possible"):
                continue
            if is_canvas:
                called = [person[c] for c in ("SIS Login ID", "SIS User ID", "ID", "Student") if person.get(c)]
                name = next((c for c in [numbers.get(person["ID"]), *called] if c in names), called[0] if called else "")
                person = {"name": person["Student"], "id": person.get("SIS User ID") or name, **person}
            else:
                name = person["folder"]
            if not name or name in self.people:
                raise UsageError(f"{shown(path)}: {f'{shown(name)} comes twice' if name else 'a student without a folder'}")
            self.people[name] = person

    def everybody(self, names):
        """(the folders of those in the list, then the others; notes about the others)."""
        others = [name for name in names if name not in self.people]
        return [*self.people, *others], [f"{shown(name)}: not in {ROSTER}" for name in others if self.people]


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
    folders = {f"{lab.name}.cu": lab.chapter for lab in labs}
    told = []
    for path in found[:20]:
        why = ""
        if path.endswith(".check.cu"):
            why = ", the check is the tutorial's own"
        elif os.path.basename(path) in folders:
            why = f", its place is in a folder {folders[os.path.basename(path)]}"
        told.append(f"{shown(path)}: ignored{why}")
    if len(found) > 20:
        told.append(f"{len(found) - 20} more files ignored")
    return told + notes
