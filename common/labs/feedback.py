# SPDX-License-Identifier: MIT
"""What is told of an exercise in a line, and to each student on a page: HTML that needs nothing else, and the archive in which
Moodle or Canvas takes the pages back."""

import html
import io
import re
import zipfile

QUIET = ("passed", "missing", "untouched")  # verdicts of which there is no more to tell


def printable(text):
    """The text without the characters that XML cannot hold."""
    return re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", str(text))


def short(label):
    """05_shared_tree_reduction/ex1_block_sum -> 05.1"""
    return re.sub(r"^(\d+)_.*/ex(\d+)_.*$", r"\1.\2", label)


def called(exercise):
    return f"{short(exercise['id'])} {exercise['title']}"


def found(exercise):
    """What is told of an exercise, on one line: the compiler's first error, or what the CPU backend reported (a race with
    both its lines, a barrier that is missing), if it did, before the value that came out wrong."""
    said = exercise["details"].get("backend") or exercise["details"].get("output", "")
    report = re.search(r"\w+\.cu(?::\d+(?::\d+)?|\(\d+\)): (?:fatal )?error: .*", said)
    told = report[0] if report else exercise["message"]
    if report and "race" in told:
        other = re.search(r"^(\w+\.cu:\d+): note: (.*)", said[report.end() :], re.M)
        told += f"; {other[1]}: {other[2]}" if other else ""
    told = exercise["verdict"] if told in ("", exercise["verdict"]) else f"{exercise['verdict']}: {told}"
    return f"{exercise['part']}; {told}" if "part" in exercise else told


STYLE = """
:root { color-scheme: light dark; --line: #c4ccd4; --soft: #f3f5f8; --ink: #16202c; --quiet: #4c5967; --good: #00603f; --bad: #a8330a }
@media (prefers-color-scheme: dark) {
  :root { --line: #45505c; --soft: #1d2631; --ink: #e4e9ef; --quiet: #a9b5c1; --good: #5fd3a4; --bad: #ff9d73 }
  body { background: #121922 }
}
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink) }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; padding-top: .75rem; border-top: 1px solid var(--line) }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line) }
.points { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
.passed { color: var(--good) }
.failed { color: var(--bad) }
.facts th { width: 9rem; font-weight: 400; color: var(--quiet) }
h3 { font-size: .85rem; font-weight: 600; color: var(--quiet); margin: .75rem 0 .2rem }
p, pre { margin: .25rem 0; overflow-wrap: anywhere }
pre { font: .85rem/1.45 ui-monospace, monospace; white-space: pre-wrap; padding: .5rem .75rem; background: var(--soft); border: 1px solid var(--line); border-radius: 4px }
"""

NAMES = {
    "lines": "the lines that are named", "backend": "what the CPU backend reported", "output": "what the compiler said",
    "case": "test case", "schedule": "order of threads", "prediction": "predictions", "cuda": "CUDA",
    "broke_at": "a later try, which was ended", "passed": "right",
}  # fmt: skip
FIRST = ("lines", "output", "backend")


def escaped(text):
    return html.escape(printable(text))


def page(student, titles):
    """All that a student, or a student's program, had a say in is escaped."""
    name = escaped(student["person"].get("name") or student["name"])
    total = f"{student['points']} of {student['possible']} points"
    rows, sections = [], []
    for number, exercise in enumerate(student["exercises"], 1):
        title, verdict = escaped(titles[exercise["id"]]), exercise["verdict"]
        look = "passed" if verdict == "passed" else "failed"
        points = f"{exercise['points']} of {exercise['possible']}"
        linked = title if verdict in QUIET else f'<a href="#e{number}">{title}</a>'
        rows.append(f'<tr><td>{linked}<td class="{look}">{escaped(verdict)}<td class="points">{points}')
        if verdict in QUIET:
            continue
        told = [f'<h2 id="e{number}">{title}: {points}</h2>', f"<p>{escaped(found(exercise))}</p>"]
        if exercise["message"] not in found(exercise):
            told.append(f"<p>{escaped(exercise['message'])}</p>")
        details = sorted(exercise["details"].items(), key=lambda item: FIRST.index(item[0]) if item[0] in FIRST else len(FIRST))
        long = [(key, text) for key, text in details if key in FIRST or "\n" in text]
        told += [f"<h3>{escaped(NAMES.get(key, key))}</h3>\n<pre>{escaped(text)}</pre>" for key, text in long]
        facts = "\n".join(f"<tr><th>{escaped(NAMES.get(key, key))}<td>{escaped(text)}" for key, text in details if (key, text) not in long)
        told.append(f'<table class="facts">\n{facts}\n</table>' if facts else "")
        sections.append("\n".join(told))
    notes = "".join(f"<li>{escaped(note)}" for note in student["notes"])
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{name}: {total}</title><style>{STYLE}</style></head>
<body><h1>{name}</h1>
<p>{total}</p>
<table><tr><th>exercise<th>verdict<th class="points">points
{chr(10).join(rows)}
</table>
{f"<ul>{notes}</ul>" if notes else ""}
{chr(10).join(sections)}
</body></html>
"""


def pages(grades):
    """{file name: (student, page)}"""
    titles, found_pages = {e["id"]: called(e) for e in grades["exercises"]}, {}
    for student in grades["students"]:
        name = re.sub(r"[^\w.@+-]", "_", student["name"]).lstrip(".") or "_"
        while f"{name}.html" in found_pages:
            name += "_"
        found_pages[f"{name}.html"] = student, page(student, titles)
    return found_pages


def takes_back(grades):
    """Who takes the archive back, "" for nobody: Moodle's folders end their names with its plugin's."""
    returns = next((s["returns"] for s in grades["students"] if s["returns"]), "")
    return ("Moodle" if "_assignsubmission_" in returns else "Canvas") if returns else ""


def archive(found_pages):
    """feedback.html of each who handed something in, named as Moodle's and Canvas's own archives name that student's files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for student, text in found_pages.values():
            if student["returns"]:
                packed.writestr(f"{student['returns']}feedback.html", text.encode("utf-8", "backslashreplace"))
    return data.getvalue()
