# SPDX-License-Identifier: MIT
"""The output of grading: the JSON, the JUnit XML beside it, tables for gradebooks, the table on the screen, and what is kept
of an interrupted run. feedback.py has the students' pages. README.md describes the formats."""

import csv
import io
import json
import os
import re
import stat
import xml.etree.ElementTree as xml

from . import feedback
from .catalogue import UsageError
from .class_folder import CANVAS, shown
from .feedback import called, found, printable, short

SCHEMA = 1
NOTHING = "nothing handed in"


def beside(out, end):
    """The path of another output: grades.json -> grades + end."""
    return re.sub(r"\.json$", "", out) + end


def outputs(out, for_gradebooks):
    """{path: function that makes its text of the grades}"""
    found = {out: lambda grades: json.dumps(grades, indent=2, ensure_ascii=False) + "\n", beside(out, ".xml"): junit}
    if for_gradebooks:
        found |= {beside(out, ".csv"): moodle, beside(out, ".canvas.csv"): canvas}
    return found


class Kept:
    """OUT.partial: one line of JSON per finished exercise, so that a run that was killed goes on where it was. The
    lines hold a hash of all that decides a result; a torn last line is dropped, and `lost` is never kept."""

    def __init__(self, out, for_gradebooks=False):
        # A link is followed, once: what it leads to is replaced, not the link.
        self.out = os.path.realpath(out)
        self.path, self.known, self.problem = f"{self.out}.partial", {}, ""
        self.outputs = outputs(self.out, for_gradebooks)
        self.feedback = beside(self.out, ".feedback") if for_gradebooks else ""
        try:
            os.makedirs(os.path.dirname(self.out), exist_ok=True)
            if self.feedback:
                os.makedirs(self.feedback, exist_ok=True)
            for path in (*self.outputs, self.path, *([f"{self.feedback}.zip"] if self.feedback else [])):
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
        """Writes the files, each complete or not at all. Drops what was kept, unless something is to be done again.
        Returns the problem in one line, or ''."""
        try:
            for path, text_of in self.outputs.items():
                replace(path, text_of(grades))
            if self.feedback:
                pages = feedback.pages(grades)
                for name, (_, page) in pages.items():
                    replace(f"{self.feedback}/{name}", page)
                if feedback.takes_back(grades):
                    replace(f"{self.feedback}.zip", feedback.archive(pages))
        except OSError as error:
            return f"{shown(self.out)}: cannot be written: {error.strerror}; the grades are only in the table above"
        try:
            self.file.close()
            if not lost:
                os.remove(self.path)
        except OSError:
            pass  # all files are whole
        return ""


def replace(path, text):
    """The file is whole before it takes its name, also on a disk that notices late that it is full."""
    try:
        with open(f"{path}.new", "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.new", path)
    except OSError:
        try:
            os.remove(f"{path}.new")
        except OSError:
            pass
        raise


def points_for(lab, result):
    """(points, {"part": why there are some, though it is not passed}). Shares of predictions are rounded down to halves."""
    right = result.get("right")
    if result["verdict"] == "passed":
        return lab.points, {}
    if right == "results":
        return lab.points_for_results, {"part": "the results are right, what the exercise asks for beside them is missing"}
    if right and right[0] > 0:
        halves = 2 * lab.points * right[0] // right[1]
        return (halves // 2 if halves % 2 == 0 else halves / 2), {"part": f"{right[0]} of {right[1]} predictions are right"}
    return 0, {}


def grades(labs, names, results, about, backend, notes, not_kept_out, roster, handed):
    students = []
    for name in names:
        exercises, earned = [], 0
        for lab in labs:
            result = results[name][lab.label]
            points, part = points_for(lab, result)
            earned += points
            facts = {name: value for name, value in result.items() if name != "right"}
            exercises.append({"id": lab.label, "points": points, "possible": lab.points, **facts, **part})
        students.append(
            {
                "name": shown(name),
                "person": roster.people.get(name) or ({"ID": handed[name].number} if name in handed and handed[name].number else {}),
                "points": earned,
                "possible": sum(lab.points for lab in labs),
                "exercises": exercises,
                "notes": about[name],
                "returns": shown(handed[name].returns) if name in handed else "",
            }
        )
    return {
        "schema": SCHEMA,
        "backend": backend,
        "exercises": [
            {"id": lab.label, "title": lab.title, "kind": lab.kind, "points": lab.points} for lab in labs
        ],
        "students": students,
        "roster": roster.headers,
        "notes": notes,
        "not_kept_out": not_kept_out,
    }


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


def cell(text):
    """For a table: on one line, and no formula to a program that opens it."""
    text = " ".join(printable(text).split())
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def table(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[cell(value) for value in row] for row in rows])
    return text.getvalue()


def moodle(grades):
    """Columns are mapped on import: the first to the user's ID number (or user name), each other to a grade item or to
    its feedback. Imported feedback without its grade would delete the grade, so they stand side by side."""
    head = ["ID number"]
    for exercise in grades["exercises"]:
        head += [called(exercise), f"{called(exercise)}, feedback"]
    rows = [[s["person"].get("id") or s["name"], *(v for e in s["exercises"] for v in (e["points"], found(e)))] for s in grades["students"]]
    return table([head + ["all points"]] + [row + [s["points"]] for row, s in zip(rows, grades["students"])])


def canvas(grades):
    """The five columns that Canvas exports, then one for each assignment; the second row has what can be reached. An
    assignment that Canvas knows is called "title (its number)": as the roster has it, if Canvas exported that."""
    known = {re.sub(r" \(\d+\)$", "", header): header for header in grades["roster"]}
    rows = [[*CANVAS, *(known.get(called(e), called(e)) for e in grades["exercises"])]]
    rows.append(["Points Possible", "", "", "", "", *(e["points"] for e in grades["exercises"])])
    for student in grades["students"]:
        name, person = student["name"], student["person"]
        about = [person.get("name") or name, *(person.get(column, "") for column in CANVAS[1:])]
        about[3] = about[3] or name
        if "SIS User ID" not in person:
            about[2] = person.get("id", "")
        rows.append([*about, *(e["points"] for e in student["exercises"])])
    return table(rows)


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
        if all(e["message"] == NOTHING for e in student["exercises"]):
            text = NOTHING
        name = printable(student["name"])
        points = f"{student['points']}/{student['possible']}"
        print(f"{name:<{width}}  {points:>6}  {passed:>3}/{len(student['exercises']):<3}  {text}")
        for note in student["notes"]:
            print(f"{'':<{width}}  note: {printable(note)}")
    for note in grades["notes"]:
        print(f"note: {printable(note)}")
    if grades["not_kept_out"]:
        print(f"not kept out: {grades['not_kept_out']}")
