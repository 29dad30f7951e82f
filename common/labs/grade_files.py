# SPDX-License-Identifier: MIT
"""The output of grading: the JSON, the JUnit XML beside it, the table on the screen, and what is kept of an interrupted
run. README.md describes the formats."""

import json
import os
import re
import stat
import xml.etree.ElementTree as xml

from catalogue import UsageError
from class_folder import shown

SCHEMA = 1


def junit_path(out):
    return re.sub(r"\.json$", "", out) + ".xml"


class Kept:
    """OUT.partial: one line of JSON per finished exercise, so that a run that was killed goes on where it was. The
    lines hold a hash of all that decides a result; a torn last line is dropped, and `lost` is never kept."""

    def __init__(self, out):
        # A link is followed, once: what it leads to is replaced, not the link.
        self.out = os.path.realpath(out)
        self.path, self.known, self.problem = f"{self.out}.partial", {}, ""
        try:
            os.makedirs(os.path.dirname(self.out), exist_ok=True)
            for path in (self.out, junit_path(self.out), self.path):
                if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
                    raise UsageError(f"OUT={out}: {shown(path)} is there and no ordinary file; give the name of a file")
            self.file = open(self.path, "a+b")
            self.file.seek(0)
            text = self.file.read()
        except OSError as error:
            raise UsageError(f"OUT={shown(out)}: cannot be written: {error.strerror}") from error
        for line in text.split(b"\n"):
            try:
                entry = json.loads(line)
                if entry["result"]["verdict"] != "lost":
                    self.known[entry["key"]] = entry["result"]
            except (ValueError, KeyError, TypeError):
                continue
        if text and not text.endswith(b"\n"):
            self.write(b"\n")

    def write(self, data):
        """A disk that is full ends nobody's grading: what could not be kept is only done again."""
        try:
            self.file.write(data)
            self.file.flush()
            os.fsync(self.file.fileno())
        except OSError as error:
            self.problem = f"{self.path}: {error.strerror}"

    def add(self, job):
        if job.result["verdict"] != "lost":
            self.known[job.key] = job.result
            self.write(json.dumps({"key": job.key, "result": job.result}).encode() + b"\n")

    def finish(self, grades, lost):
        """Writes both files, each complete or not at all. Drops what was kept, unless something is to be done again.
        Returns the problem in one line, or ''."""
        try:
            replace(self.out, json.dumps(grades, indent=2, ensure_ascii=False) + "\n")
            replace(junit_path(self.out), junit(grades))
        except OSError as error:
            return f"{shown(self.out)}: cannot be written: {error.strerror}; the grades are only in the table above"
        try:
            self.file.close()
            if not lost:
                os.remove(self.path)
        except OSError:
            pass  # both files are whole
        return ""


def replace(path, text):
    """The file is whole before it takes its name, also on a disk that notices late that it is full."""
    try:
        with open(f"{path}.new", "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.new", path)
    except OSError:
        try:
            os.remove(f"{path}.new")
        except OSError:
            pass
        raise


def grades(labs, names, results, about, backend, notes, not_kept_out=""):
    students = []
    for name in names:
        exercises, earned = [], 0
        for lab in labs:
            result = results[name][lab.label]
            points = lab.points if result["verdict"] == "passed" else 0
            earned += points
            exercises.append({"id": lab.label, "points": points, "possible": lab.points, **result})
        students.append(
            {
                "name": shown(name),
                "points": earned,
                "possible": sum(lab.points for lab in labs),
                "exercises": exercises,
                "notes": about[name],
            }
        )
    return {
        "schema": SCHEMA,
        "backend": backend,
        "exercises": [
            {"id": lab.label, "title": lab.title, "kind": lab.kind, "points": lab.points} for lab in labs
        ],
        "students": students,
        "notes": notes,
        "not_kept_out": not_kept_out,
    }


def printable(text):
    """The text without the characters that XML cannot hold."""
    return re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", str(text))


def junit(grades):
    """A suite per student, a case per exercise: failure with the verdict as type; not handed in is skipped."""
    suites = xml.Element("testsuites", name="labs")
    for student in grades["students"]:
        cases = student["exercises"]
        skipped = [c for c in cases if c["verdict"] in ("missing", "untouched")]
        failed = [c for c in cases if c["verdict"] != "passed" and c not in skipped]
        suite = xml.SubElement(
            suites,
            "testsuite",
            name=printable(student["name"]),
            tests=str(len(cases)),
            failures=str(len(failed)),
            errors="0",
            skipped=str(len(skipped)),
            time=f"{sum(c['seconds'] for c in cases):.2f}",
        )
        for case in cases:
            chapter, _, name = case["id"].partition("/")
            element = xml.SubElement(suite, "testcase", classname=chapter, name=name, time=f"{case['seconds']:.2f}")
            if case in skipped:
                xml.SubElement(element, "skipped", message=printable(case["message"]))
            elif case in failed:
                failure = xml.SubElement(
                    element, "failure", type=case["verdict"], message=printable(case["message"])
                )
                failure.text = printable("\n".join(f"{k}: {v}" for k, v in case["details"].items()))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(suites, encoding="unicode") + "\n"


def print_summary(grades):
    """One line per student, with the verdict of each exercise that was not passed."""
    width = max([len(s["name"]) for s in grades["students"]] + [7])
    print(f"\n{'student':<{width}}  points   passed  not passed")
    for student in grades["students"]:
        passed = sum(1 for e in student["exercises"] if e["verdict"] == "passed")
        others = {}
        for e in student["exercises"]:
            if e["verdict"] != "passed":
                others.setdefault(e["verdict"], []).append(short(e["id"]))
        parts = [f"{v}: {' '.join(ids[:6])}{' ...' if len(ids) > 6 else ''}" for v, ids in others.items()]
        text = "; ".join(parts)
        name = printable(student["name"])
        points = f"{student['points']}/{student['possible']}"
        print(f"{name:<{width}}  {points:>6}  {passed:>3}/{len(student['exercises']):<3}  {text}")
        for note in student["notes"]:
            print(f"{'':<{width}}  note: {printable(note)}")
    for note in grades["notes"]:
        print(f"note: {printable(note)}")
    if grades["not_kept_out"]:
        print(f"not kept out: {grades['not_kept_out']}")


def short(label):
    """05_shared_tree_reduction/ex1_block_sum -> 05.1"""
    return re.sub(r"^(\d+)_.*/ex(\d+)_.*$", r"\1.\2", label)
