#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules that no formatter knows, over every file of the repository. Prints file:line: what is wrong.

    lines      line length in CUDA sources, tabs, trailing blanks, file sizes, licence lines, names of
               Python files
    notes      each chapter has notes, with all sections in order and at most 320 lines, a program
               and tests; its settings stand where they are read. Where lab_notes.md stands beside them
               they are a lesson: at most 1,600 words without code, tables and folds, and in every rung
               a guess before its number and the reason behind it. exam_questions.md has five questions
               for each chapter, with answers
    links      relative links and images in Markdown lead somewhere, anchors included; the section of
               a chapter that a lab's check names is there
"""

import argparse
import os
import re
import subprocess
import sys
import urllib.parse

MAX_COLUMNS = 100
MAX_NOTES_LINES = 320
MAX_LESSON_WORDS = 1600
MAX_MAKEFILE_LINES = 180  # verbs and what they need; rules go to common/*.mk
MAX_FILE_BYTES = 256 * 1024
SECTIONS = [
    "the question",
    "run it",
    "the idea",
    "the code",
    "measured",
    "then and now",
    "what goes wrong",
    "profile it",
    "exercises",
    "further reading",
]
OF_MEASUREMENTS = {"measured", "then and now", "profile it", "further reading"}  # chapter 00 has none
LESSON_SECTIONS = ["the question", "run it", "what limits each version", "what goes wrong", "exercises", "further reading"]
# What a rung of a lesson says, in this order; the marked ones it must say.
RUNG = ["What limits us.", "The idea.", "The change.", "Guess.", "The number.", "Why.", "What limits us now."]
OF_EVERY_RUNG = {"Guess.", "The number.", "Why."}
EXAM = "chapters/exam_questions.md"
UNTIDY = "tests/backend/prepass/"  # awkward sources on purpose
STANDARD_MODULES = getattr(sys, "stdlib_module_names", {"profile"})  # known since Python 3.10
SOURCES = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".inc", ".S", ".sh", ".py", ".mjs", ".mk")
TEXT = SOURCES + (".md", ".csv", ".txt", ".svg", ".json", ".yml", ".js", ".css", ".args", ".mutants")

problems = 0


def complain(path, line, message):
    global problems
    problems += 1
    print(f"{path}:{line}: {message}" if line else f"{path}: {message}")


def all_files():
    """The files that git tracks or would track; without git, all outside of generated folders."""
    try:
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
        return sorted({n for n in names if os.path.isfile(n)})
    except (OSError, subprocess.CalledProcessError):
        found = []
        for folder, folders, names in os.walk("."):
            folders[:] = [f for f in folders if f not in (".git", "build", "work", "node_modules", "__pycache__")]
            found += [os.path.relpath(os.path.join(folder, n)) for n in names]
        return sorted(found)


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n")


def check_lines(files):
    for path in files:
        if os.path.getsize(path) > MAX_FILE_BYTES:
            complain(path, 0, f"{os.path.getsize(path) // 1024} KiB: at most {MAX_FILE_BYTES // 1024}")
        if path.endswith(".py") and os.path.basename(path)[:-3] in STANDARD_MODULES:
            complain(path, 0, "a standard module has this name: the scripts beside it would import this file instead")
        is_script = path in (".ci/run", "Makefile")
        if not path.endswith(TEXT) and not is_script:
            continue
        try:
            lines = read_lines(path)
        except UnicodeDecodeError:
            complain(path, 0, "not UTF-8")
            continue
        if (path.endswith(SOURCES) or is_script) and not any("SPDX-License-Identifier: MIT" in l for l in lines[:3]):
            complain(path, 1, "the line SPDX-License-Identifier: MIT is missing")
        if path.startswith(UNTIDY):
            continue
        if path == "Makefile" and len(lines) - 1 > MAX_MAKEFILE_LINES:
            complain(path, len(lines) - 1, f"{len(lines) - 1} lines: at most {MAX_MAKEFILE_LINES}, rules go to common/*.mk")
        for number, line in enumerate(lines, 1):
            if "\t" in (line.lstrip("\t") if path.endswith(("Makefile", ".mk")) else line) and not path.endswith((".txt", ".csv")):
                complain(path, number, "a tab")
            if line != line.rstrip():
                complain(path, number, "blanks at the end of the line")
            # The backend's tests hold awkward launches and whole reports, each on a line of its own.
            if path.endswith((".cu", ".cuh")) and len(line) > MAX_COLUMNS and not path.startswith("tests/backend/"):
                complain(path, number, f"{len(line)} columns: at most {MAX_COLUMNS}")
        if lines[-1] != "" or (len(lines) > 1 and lines[-2] == ""):
            complain(path, len(lines), "the file must end in exactly one newline")


def check_notes(files):
    chapters = sorted({f.split("/")[1] for f in files if re.match(r"chapters/\d\d_[^/]+/", f)})
    check_exam(files, chapters)
    for chapter in chapters:
        folder = f"chapters/{chapter}"
        program = f"{folder}/{chapter[3:]}.cu"
        if program not in files:
            complain(folder, 0, f"{chapter[3:]}.cu is missing: make finds a chapter by it")
            continue
        if f"tests/{chapter}.test.cu" not in files:
            complain(program, 0, f"no tests/{chapter}.test.cu")
        for path in files:
            if re.fullmatch(f"{folder}/[^/]+", path) and not path.endswith(
                ("/README.md", "/lab_notes.md", "/settings", ".cu", ".cuh")
            ):
                complain(path, 0, "nobody reads it here: program, notes, settings and headers only")
        notes = f"{folder}/README.md"
        if notes not in files:
            complain(folder, 0, "README.md, the notes, is missing")
            continue
        lines = read_lines(notes)
        if len(lines) - 1 > MAX_NOTES_LINES:
            complain(notes, len(lines) - 1, f"{len(lines) - 1} lines: at most {MAX_NOTES_LINES}")
        if f"{folder}/lab_notes.md" in files:
            check_lesson(notes, lines)
            check_sections(notes, lines, LESSON_SECTIONS)
        else:
            check_sections(notes, lines, [s for s in SECTIONS if not (chapter.startswith("00_") and s in OF_MEASUREMENTS)])


def check_exam(files, chapters):
    """Each chapter has its five questions, numbered paragraphs, and each of these an answer, a quotation."""
    if EXAM not in files:
        return
    asked = {heading[:2]: (number, "\n".join(body)) for number, heading, body in sections_of(read_lines(EXAM))}
    for chapter in chapters:
        if chapter[:2] not in asked:
            complain(EXAM, 0, f"chapter {chapter[:2]} has no questions")
            continue
        number, text = asked.pop(chapter[:2])
        _, *parts = re.split(r"^(\d)\. ", text, flags=re.M)
        questions, answered = parts[::2], sum("\n   > " in part for part in parts[1::2])
        if questions != list("12345") or answered != 5:
            complain(EXAM, number, f"{len(questions)} questions, {answered} of them with an answer: expected 1 to 5")
    for chapter, (number, _) in asked.items():
        complain(EXAM, number, f"there is no chapter {chapter}")


def check_sections(notes, lines, sections):
    wanted = list(sections)
    for number, heading, _ in sections_of(lines):
        index = next((i for i, s in enumerate(wanted) if heading.lower().startswith(s)), None)
        if index is None and heading.lower().startswith(tuple(sections)):
            complain(notes, number, f'section "{heading}" stands out of order')
        elif index is not None:
            for missing in wanted[:index]:
                complain(notes, number, f'section "{missing}" is missing before this one')
            wanted = wanted[index + 1 :]
    for missing in wanted:
        complain(notes, len(lines) - 1, f'section "{missing}" is missing')


def words_to_read(lines):
    """How many words a lesson has without code, tables, folds, comments and pictures."""
    text = "\n".join(line for line in without_fences(lines) if not line.startswith("|"))
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"<details>.*?</details>", "", text, flags=re.S)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return sum(any(c.isalnum() for c in word) for word in text.split())


def check_lesson(notes, lines):
    words = words_to_read(lines)
    if words > MAX_LESSON_WORDS:
        complain(notes, 0, f"{words} words without code, tables and folds: at most {MAX_LESSON_WORDS}")
    rungs = 0
    for number, _, body in sections_of(lines):
        bold = (words for line in body for words in re.findall(r"<b>([^<]*)</b>|\*\*([^*]*)\*\*", line))
        said = [label for either in bold for label in either if label in RUNG]
        rungs += bool(said)
        for label in RUNG:
            if said and label in OF_EVERY_RUNG and label not in said:
                complain(notes, number, f'the rung says no "**{label}**"')
        if said != sorted(said, key=RUNG.index):
            complain(notes, number, f"the rung's parts stand out of order: {' '.join(said)}")
    if not rungs:
        complain(notes, 0, "no rung: a section with a guess, a number and a reason")


def without_fences(lines):
    """The lines with fenced blocks blanked out."""
    in_fence = False
    for line in lines:
        is_mark = re.match(r"\s*```", line) is not None
        in_fence = in_fence != is_mark
        yield "" if in_fence or is_mark else line


def sections_of(lines):
    """[(line of the heading, heading, lines below it without fenced blocks)]; what stands above the first belongs to none."""
    found = []
    for number, line in enumerate(without_fences(lines), 1):
        if line.startswith("## "):
            found.append((number, line[3:].strip(), []))
        elif found:
            found[-1][2].append(line)
    return found


def slug(heading):
    """GitHub's anchor for a heading."""
    text = re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path):
    found = set()
    for line in without_fences(read_lines(path)):
        match = re.match(r"#+ +(.*)", line)
        if match:
            found.add(slug(match.group(1)))
        found.update(re.findall(r'<a (?:name|id)="([^"]+)"', line))
    return found


def check_links(files):
    for path in (f for f in files if f.endswith(".md")):
        for number, line in enumerate(without_fences(read_lines(path)), 1):
            line = re.sub(r"`[^`]*`", "", line)
            targets = re.findall(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", line)
            targets += re.findall(r'<(?:img|source)\b[^>]*?\bsrc(?:set)?="([^"]+)"', line)
            targets += re.findall(r'<a\b[^>]*?\bhref="([^"]+)"', line)
            for target in targets:
                if re.match(r"[a-z][a-z+.-]*:|//", target):
                    continue
                name, _, anchor = urllib.parse.unquote(target).partition("#")
                to = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
                if not os.path.exists(to):
                    complain(path, number, f"dead link {target}")
                elif anchor and to.endswith(".md") and anchor not in anchors(to):
                    complain(path, number, f"dead link {target}: no such heading")
    check_sections_named(files)


def check_sections_named(files):
    """A lab's check names notes and a section: "chapters/.../README.md: Tiles, two barriers", or in two strings."""
    for path in (f for f in files if f.endswith(".check.cu")):
        text = "\n".join(read_lines(path))
        named = [(m[1], m[2], m.start()) for m in re.finditer(r'"(chapters/[^"]*\.md): ([^"]+)"', text)]
        variables = dict(re.findall(r'(\w+) = "(chapters/[^"]*\.md): ";', text))
        for match in re.finditer(r'\b(\w+) \+\s*"([^"]+)"', text):
            if match[1] in variables:
                named.append((variables[match[1]], match[2], match.start()))
        for notes, section, at in named:
            line = text.count("\n", 0, at) + 1
            if not os.path.exists(notes):
                complain(path, line, f"no file {notes}")
                continue
            headings = [heading for _, heading, _ in sections_of(read_lines(notes))]
            if not any(section == h or section.startswith(h + ", ") for h in headings):
                complain(path, line, f'{notes} has no section "{section}"; there are: {", ".join(headings)}')


def main():
    checks = {"lines": check_lines, "notes": check_notes, "links": check_links}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=checks)
    checks[parser.parse_args().what](all_files())
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
