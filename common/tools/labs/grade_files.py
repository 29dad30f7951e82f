# SPDX-License-Identifier: MIT
"""The output of grading: the JSON, the JUnit XML beside it, the table on the screen, and what is kept of an interrupted
run. README.md describes the formats."""

import json
import os
import re
import xml.etree.ElementTree as xml

from catalogue import UsageError

SCHEMA = 1


def junit_path(out):
    return re.sub(r"\.json$", "", out) + ".xml"


class Kept:
    """OUT.partial: one line of JSON per finished exercise, so that a run that was killed goes on where it was. The
    lines hold a hash of all that decides a result; a torn last line is dropped."""

    def __init__(self, out):
        self.out, self.path, self.known = out, f"{out}.partial", {}
        try:
            os.makedirs(os.path.dirname(out) or ".", exist_ok=True)
            if os.path.isdir(out):
                raise IsADirectoryError(21, "is a folder")
            self.file = open(self.path, "a+", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"OUT={out}: cannot be written: {error.strerror}") from error
        self.file.seek(0)
        text = self.file.read()
        for line in text.split("\n"):
            try:
                entry = json.loads(line)
                self.known[entry["key"]] = entry["result"]
            except (ValueError, KeyError, TypeError):
                continue
        if text and not text.endswith("\n"):
            self.file.write("\n")

    def add(self, key, result):
        self.known[key] = result
        self.file.write(json.dumps({"key": key, "result": result}) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())

    def finish(self, grades):
        """Writes both files, each complete or not at all, and drops what was kept."""
        replace(self.out, json.dumps(grades, indent=2, ensure_ascii=False) + "\n")
        replace(junit_path(self.out), junit(grades))
        self.file.close()
        os.remove(self.path)


def replace(path, text):
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.new", path)


def grades(labs, names, results, about, backend, notes):
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
                "name": name,
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


def short(label):
    """05_shared_tree_reduction/ex1_block_sum -> 05.1"""
    return re.sub(r"^(\d+)_.*/ex(\d+)_.*$", r"\1.\2", label)
