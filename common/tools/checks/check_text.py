# SPDX-License-Identifier: MIT
"""Rules that no formatter knows, over every file of the repository. Prints file:line: what is wrong.

    tabs, blanks at the ends of lines, licence lines, large files
    each chapter has a program, tests and notes, and no file in its folder that nobody reads
    relative links and images in Markdown lead somewhere, anchors included; the section of a chapter that a lab's
    check names is there
"""

import os
import re
import subprocess
import sys
import urllib.parse

MAX_FILE_BYTES = 256 * 1024
UNTIDY = "tests/backend/prepass/"  # awkward sources on purpose
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
        for number, line in enumerate(lines, 1):
            if "\t" in (line.lstrip("\t") if path.endswith(("Makefile", ".mk")) else line) and not path.endswith((".txt", ".csv")):
                complain(path, number, "a tab")
            if line != line.rstrip():
                complain(path, number, "blanks at the end of the line")
        if lines[-1] != "" or (len(lines) > 1 and lines[-2] == ""):
            complain(path, len(lines), "the file must end in exactly one newline")


def check_chapters(files):
    for chapter in sorted({f.split("/")[1] for f in files if re.match(r"chapters/\d\d_[^/]+/", f)}):
        folder = f"chapters/{chapter}"
        program = f"{folder}/{chapter[3:]}.cu"
        if program not in files:
            complain(folder, 0, f"{chapter[3:]}.cu is missing: make finds a chapter by it")
            continue
        if f"tests/{chapter}.test.cu" not in files:
            complain(program, 0, f"no tests/{chapter}.test.cu")
        if f"{folder}/README.md" not in files:
            complain(folder, 0, "README.md, the notes, is missing")
        for path in files:
            if re.fullmatch(f"{folder}/[^/]+", path) and not path.endswith(
                ("/README.md", "/lab_notes.md", "/settings", ".cu", ".cuh")
            ):
                complain(path, 0, "nobody reads it here: program, notes, settings and headers only")


def without_fences(lines):
    """The lines with fenced blocks blanked out."""
    in_fence = False
    for line in lines:
        is_mark = re.match(r"\s*```", line) is not None
        in_fence = in_fence != is_mark
        yield "" if in_fence or is_mark else line


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
            headings = [line[3:].strip() for line in without_fences(read_lines(notes)) if line.startswith("## ")]
            if not any(section == h or section.startswith(h + ", ") for h in headings):
                complain(path, line, f'{notes} has no section "{section}"; there are: {", ".join(headings)}')


def main():
    files = all_files()
    check_lines(files)
    check_chapters(files)
    check_links(files)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
