# SPDX-License-Identifier: MIT
"""Mutants: bugs that the checks must reject, each written as an edit of a program that is right.

    python3 common tools.checks.edits FILE.mutants               what each mutant changes, as a diff
    python3 common tools.checks.edits FILE.mutants NAME          the program with that bug in it
    python3 common tools.checks.edits FILE.mutants exN           what each mutant of one exercise changes
    python3 common tools.checks.edits FILE.mutants exN/NAME      the solution of that exercise with that bug in it
    python3 common tools.checks.edits --check FILE.mutants...    whether every edit applies

tests/NN_name.mutants                           edits chapters/NN_name/name.cu
chapters/NN_name/exercises/solutions.mutants    edits solutions/exN_topic.cu beside it, below a line [exN_topic]

    # A comment stands on lines of its own.
    no_guard: if (i < n) y[i] => y[i]

    two_places:                            all edits are made to the program as it is
      i = 1; => i = 0;
      int sum = 0; =>                      nothing after the arrow: the text is deleted

    whole_lines:                           a block, as in a diff: lines that go, lines that come
    -  sum += x[i];
    -  count += 1;
    +  sum += count;
    @@                                     separates two blocks where no + line does
    -  return sum;

    @loop: for (unsigned i ... }           names lines of the program: from the one that begins with the first text to
                                           the next that begins with the second. } is the one as far indented as the
                                           first line; without ... it is one line. Only one line may begin so.
    no_loop:
    @loop                                  stands for these lines, each with a -
    +  count = n;

    no_barrier [each]: __syncthreads(); =>

The text before => must stand in the program exactly once; a blank in it matches any white space, line
ends too. C++ has no =>. After the name there may be words in brackets, with commas between them:

    each          every place where the text stands gives a mutant of its own
    regex         the text is a regular expression of Python (`^` and `$` of a line), \\1 a group of it
    in FILE...    the edit is made to FILE beside the program; with a slash, from the repository's root; @topic is
                  the experiment of that name. Several files, with blanks between them, give a mutant each
    sanitize      tests/ only: the bug shows under `make sanitize` alone

In the file of exercises a line [exN_topic] comes before all that is about exercise N, its @names included. Two exercises
may use one name.
Each has sections, which begin with lines of their own; before the first all mutants are wrong:

    [evasions]    the results are right, but the program does not do what the exercise teaches: to be rejected
    [wrong]       the results are wrong: to be rejected
    [right]       right solutions of other kinds: the check must pass them
"""

import argparse
import collections
import difflib
import os
import pathlib
import re
import signal
import sys

# Each kind of file: its path, the program that it edits, and the kinds of mutants and the sections that it may hold.
OWNERS = (
    (re.compile(r"tests/(\d\d_(\w+))\.mutants$"), r"chapters/\1/\2.cu", ("sanitize",), ()),
    (
        re.compile(r"chapters/(\w+)/exercises/solutions\.mutants$"),
        r"chapters/\1/exercises/solutions/",  # and the exercise's name
        (),
        ("evasions", "wrong", "right"),
    ),
)
SECTION = re.compile(r"\[(.*)\]$")
EXERCISES = re.compile(r"^\[(ex\d+_\w+)\]$", re.M)
NAME = re.compile(r"(\w+)(?: \[([^\]]*)\])?:(?:\s+(.*))?$")
REGION = re.compile(r"@(\w+)(?:: +(\S.*))?$")
ARROW = re.compile(r"\s+=>(?:\s+|$)")


Block = collections.namedtuple("Block", "line old new")  # lines that go and lines that come, as they are being read


class Wrong(Exception):
    """All that is wrong with a file of mutants: [(file:line, text)]; as a string, a line for each."""

    def __init__(self, problems):
        super().__init__("\n".join(f"{place}: {text}" for place, text in problems))
        self.problems = problems


def part_of(mutants, text):
    """Part k of n of the list when the text is k/n, all of it when there is none; None for any other text."""
    match = re.fullmatch(r"(\d+)/(\d+)", text or "1/1")
    part, parts = (int(n) for n in match.groups()) if match else (0, 0)
    return mutants[part - 1 :: parts] if 1 <= part <= parts else None


class Mutant:
    """One edited program. `program` is the file that is edited, `text` its text with the edit made, `at` the line of
    the edit there. `line` is the mutant's line in the file of mutants, `exercise` and `section` where it stands there,
    `kind` "" or what its brackets say; `label` is its name, and which it is where `each` or several files give several."""

    def __init__(self, entry, program, text, at, file="", number=None):
        self.program, self.text, self.at = program, text, at
        self.exercise, self.section, self.kind = entry.exercise, entry.section, entry.kind
        self.name, self.line = entry.name, entry.line
        self.label = self.name + (f".{file}" if len(entry.files) > 1 else "") + (f".{number}" if number else "")


class Entry:
    """All that stands under one name. `edits`: [(line, pattern, text to show, function from match to new text)]."""

    def __init__(self, line, name, exercise, section):
        self.line, self.name, self.exercise, self.section = line, name, exercise, section
        self.kind, self.files, self.each, self.regex = "", [], False, False
        self.edits = []
        self.refused = False  # there is a complaint about it


class Reader:
    """Reads a file; with `only`, what stands there about that exercise."""

    def __init__(self, path, only=None):
        self.path, self.only = path.replace(os.sep, "/"), only
        self.problems = []
        self.exercise, self.section = None, "wrong"
        self.begun, self.gone = {}, set()  # the line with which each exercise begins; those that have no solution
        self.entry = None  # to which an edit belongs
        self.regions = {}  # (exercise, name): [line that names it, lines of the program, whether an edit is made to them]
        for pattern, program, self.kinds, self.sections in OWNERS:
            owner = pattern.search(self.path)
            if owner:
                self.root = self.path[: owner.start()]
                self.program = self.root + owner.expand(program)
                if not self.sections and not os.path.exists(self.program):
                    raise Wrong([(path, f"{self.program}, whose mutants these are, is not there")])
                break
        else:
            raise Wrong([(path, "expected tests/NN_name.mutants or chapters/NN_name/exercises/solutions.mutants")])

    def complain(self, line, text, entry=None):
        if entry:
            entry.refused = True
            text = f"{entry.name}: {text}"
        if self.passes_over(entry.exercise if entry else self.exercise):
            return
        self.problems.append((f"{self.path}:{line}", text))

    def passes_over(self, exercise):
        """Whether only another exercise is asked for."""
        return bool(self.only and exercise and exercise != self.only)

    # ---- from lines to entries

    def entries(self):
        """The entries of the file; no edit is tried yet."""
        entries, block = [], None
        lines = pathlib.Path(self.path).read_text(encoding="utf-8").split("\n")
        for number, line in enumerate([*lines, ""], 1):
            region = REGION.match(line)
            goes = line[:1] == "-" or bool(region and not region[2])
            if block and (not (goes or line[:1] == "+") or (goes and block.new)):
                self.close(block)
                block = None
            if not line.strip() or line.startswith(("#", "@@")):
                continue
            if region and region[2]:
                self.name_region(number, *region.groups())
            elif goes or line[0] == "+":
                block = block or Block(number, [], [])
                (block.old if goes else block.new).extend(self.lines_of(number, region[1]) if region else [line[1:]])
            elif line[0].isspace():
                self.add_edit(number, line.strip())
            elif SECTION.match(line):
                self.begin_section(number, SECTION.match(line)[1])
            else:
                self.begin(entries, number, line)
        for entry in entries:
            if entry.each and len(entry.edits) > 1:
                self.complain(entry.line, f"'each' goes with one edit, {len(entry.edits)} are here", entry)
            elif not entry.edits and not entry.refused:
                self.complain(entry.line, "has no edit", entry)
        for (_, name), (line, _, used) in self.regions.items():
            if not used:
                self.complain(line, f"no edit is made to @{name}")
        if self.only and self.only not in self.begun:
            raise Wrong([(self.path, f"has no line [{self.only}]")])
        return [entry for entry in entries if not (entry.refused or self.passes_over(entry.exercise))]

    def begin_section(self, number, name):
        self.section, self.entry = name, None
        if self.sections and re.match(r"ex\d+_", name):
            self.exercise, self.section = name, "wrong"
            if name in self.begun:
                self.complain(number, f"line {self.begun[name]} begins [{name}] already")
            elif not os.path.exists(f"{self.program}{name}.cu"):
                self.complain(number, f"{self.program}{name}.cu, whose mutants these are, is not there")
                self.gone.add(name)
            self.begun.setdefault(name, number)
        elif name not in self.sections:
            there_are = f"there are: exN_topic, {', '.join(self.sections)}" if self.sections else "only exercises have sections"
            self.complain(number, f"[{name}] is no section here; {there_are}")

    def begin(self, entries, number, line):
        match = NAME.match(line)
        if not match:
            self.entry = Entry(number, line.split()[0], self.exercise, self.section)  # edits below it are nobody else's
            self.entry.refused = True
            self.complain(number, f"expected NAME: OLD => NEW, or NAME: with edits below it, found: {line}")
            return
        name, words, edit = match.groups()
        entry = self.entry = Entry(number, name, self.exercise, self.section)
        earlier = next((e for e in entries if (e.exercise, e.name) == (self.exercise, name)), None)
        entry.refused = self.exercise in self.gone
        if self.sections and not self.exercise:
            self.complain(number, "expected a line [exN_topic] before the first mutant", entry)
        if earlier:
            self.complain(number, f"line {earlier.line} has this name already", entry)
        for word in (w.strip() for w in words.split(",")) if words is not None else ():
            if word == "each":
                entry.each = True
            elif word == "regex":
                entry.regex = True
            elif word.startswith("in "):
                entry.files += word[3:].split()
            elif word in self.kinds:
                entry.kind = word
            else:
                known = ", ".join(("each", "regex", "in FILE", *self.kinds))
                self.complain(number, f"[{word}] is not known here; there are: {known}", entry)
        entries.append(entry)
        if edit:
            self.add_edit(number, edit.strip())

    def add_edit(self, number, text):
        entry = self.entry
        if not entry:
            self.complain(number, f"an edit before any NAME: {text}")
            return
        parts = ARROW.split(text)
        if len(parts) != 2 or not parts[0]:
            self.complain(number, f"expected OLD => NEW, found: {text}", entry)
            return
        old, new = parts
        if old == new:
            self.complain(number, f"changes nothing: {text}", entry)
        elif not entry.regex:
            pattern = r"\s+".join(re.escape(word) for word in old.split())
            entry.edits.append((number, re.compile(pattern), old, lambda _, new=new: new))
        else:
            try:
                entry.edits.append((number, re.compile(old, re.M), old, lambda match, new=new: match.expand(new)))
            except re.error as error:
                self.complain(number, f"no regular expression ({error}): {old}", entry)

    def name_region(self, number, name, text):
        """Finds the lines of the program that are to be called @name."""
        region = self.regions.setdefault((self.exercise, name), [number, [], False])
        if region[0] != number:
            self.complain(number, f"line {region[0]} has named @{name} already")
            return
        if self.exercise in self.gone:
            return
        program = f"{self.program}{self.exercise}.cu" if self.exercise else self.program
        lines = pathlib.Path(program).read_text(encoding="utf-8").split("\n")
        first, _, last = text.partition(" ... ")
        starts = [k for k, line in enumerate(lines) if line.lstrip().startswith(first)]
        if len(starts) != 1:
            how = f"lines {', '.join(str(k + 1) for k in starts)} do" if starts else "none does"
            self.complain(number, f"@{name}: one line of {program} must begin so, {how}: {first}")
            return
        start = end = starts[0]
        if last:
            indent = lines[start][: -len(lines[start].lstrip())] if last == "}" else ""
            wanted = re.compile(rf"{indent or ' *'}{re.escape(last)}")
            end = next((k for k in range(start + 1, len(lines)) if wanted.match(lines[k])), None)
            if end is None:
                self.complain(number, f"@{name}: no line below line {start + 1} of {program} begins so: {last}")
                return
        region[1] = lines[start : end + 1]

    def lines_of(self, number, name):
        """The lines that are called @name."""
        region = self.regions.get((self.exercise, name))
        if not region:
            self.complain(number, f"@{name} is not named above", self.entry)
            return [name]
        region[2] = True
        if self.entry and not region[1]:
            self.entry.refused = True  # what is wrong with the region has been said
        return region[1] or [name]

    def close(self, block):
        """A block is complete."""
        entry = self.entry
        if not entry:
            self.complain(block.line, "a block before any NAME")
        elif not block.old:
            self.complain(block.line, "lines with + need lines with - that they replace", entry)
        elif block.old == block.new:
            self.complain(block.line, f"changes nothing: {block.old[0].strip()}", entry)
        elif entry.regex:
            self.complain(block.line, "a block is no regular expression", entry)
        else:
            pattern = "".join(f"^{re.escape(line)}\n" for line in block.old)
            shown = " / ".join(line.strip() for line in block.old)
            new = "".join(line + "\n" for line in block.new)
            entry.edits.append((block.line, re.compile(pattern, re.M), shown, lambda _: new))

    # ---- from entries to programs

    def apply(self, entry, file=""):
        """The mutants of one entry, in its program or the file that it names; none where an edit does not apply."""
        program = f"{self.program}{entry.exercise}.cu" if entry.exercise else self.program
        if file:
            beside = re.sub(r"^@(\w+)$", r"experiments/\1.cu", file)
            program = f"{self.root}{file}" if "/" in file else f"{os.path.dirname(program)}/{beside}"
        try:
            original = pathlib.Path(program).read_text(encoding="utf-8")
        except OSError:
            self.complain(entry.line, f"no such file: {program}", entry)
            return []
        changes = []  # (start, end, new text, line) of each edit
        for line, pattern, shown, replacement in entry.edits:
            found = list(pattern.finditer(original))
            if not found or (len(found) > 1 and not entry.each):
                lines = ", ".join(str(line_of(original, match)) for match in found)
                how = f"{len(found)} times (lines {lines})" if found else "not at all"
                wanted = "at least once" if entry.each else "exactly once"
                self.complain(line, f"must stand {wanted} in {program}, stands there {how}: {shown}", entry)
                continue
            try:
                changes += [(m.start(), m.end(), replacement(m), line_of(original, m)) for m in found]
            except (re.error, IndexError) as error:
                self.complain(line, f"this replacement does not fit the expression ({error})", entry)
        if entry.refused:
            return []
        if entry.each:
            return [
                Mutant(entry, program, with_changes(original, [change]), change[3], file, number)
                for number, change in enumerate(changes, 1)
            ]
        changes.sort()
        for before, after in zip(changes, changes[1:]):
            if after[0] < before[1]:
                self.complain(entry.line, f"two of its edits meet in line {after[3]} of {program}", entry)
                return []
        return [Mutant(entry, program, with_changes(original, changes), changes[0][3], file)]

    def mutants(self):
        mutants = [m for entry in self.entries() for file in entry.files or [""] for m in self.apply(entry, file)]
        seen = {}
        for mutant in mutants:
            twin = seen.setdefault((mutant.program, mutant.text), mutant)
            if twin is not mutant:
                self.complain(mutant.line, f"{mutant.label}: makes the same program as {twin.name} of line {twin.line}")
        if self.problems:
            raise Wrong(self.problems)
        return mutants


def line_of(text, match):
    """The line on which a match begins, white space left out."""
    return text.count("\n", 0, match.start() + len(match[0]) - len(match[0].lstrip())) + 1


def with_changes(text, changes):
    for start, end, new, _ in reversed(changes):
        text = text[:start] + new + text[end:]
    return text


def read(path, exercise=None):
    """The mutants of a file, or those of one exercise in it, in their order. Raises Wrong with all that is wrong there."""
    return Reader(path, exercise).mutants()


def diff_of(program, text):
    """The lines of the diff from the file to the text, without its head."""
    original = pathlib.Path(program).read_text(encoding="utf-8")
    return list(difflib.unified_diff(original.splitlines(True), text.splitlines(True), n=0))[2:]


def show(path, mutant):
    """The diff that a mutant makes."""
    exercise = f"{mutant.exercise}/" if mutant.exercise else ""
    print(f"\n{path}:{mutant.line}: {exercise}{mutant.label}{' [right]' if mutant.section == 'right' else ''}")
    print("".join(diff_of(mutant.program, mutant.text)), end="")


def choose(path, mutants, name):
    """(mutants, whether it is one whose text is asked for) that NAME, exN/NAME, exN or "" names. Wrong says what there is."""
    exercises = list(dict.fromkeys(mutant.exercise for mutant in mutants if mutant.exercise))
    exercise, _, label = name.rpartition("/")
    if not exercise and (label in exercises or label in (e.split("_")[0] for e in exercises)):
        exercise, label = label, ""
    here = [m for m in mutants if not exercise or exercise in (m.exercise, (m.exercise or "").split("_")[0])]
    if not here:
        raise Wrong([(path, f"no exercise {exercise}; there are: {', '.join(exercises)}")])
    chosen = [mutant for mutant in here if label in ("", mutant.label)]
    if label and len(chosen) != 1:
        what = f"{label} of which exercise?" if chosen else f"no mutant {label};"
        of = (m.label if exercise or not m.exercise else f"{m.exercise}/{m.label}" for m in chosen or here)
        raise Wrong([(path, f"{what} there are: {', '.join(of)}")])
    return chosen, bool(label)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only see whether every edit of the files applies")
    parser.add_argument("file", metavar="FILE.mutants")
    parser.add_argument("more", nargs="*", metavar="NAME", help="the mutant to print, or the exercise; with --check further files")
    given = parser.parse_args()
    paths = [given.file, *given.more] if given.check else [given.file]
    names = [] if given.check else given.more or [""]
    status = 0
    for path in paths:
        try:
            mutants = read(path)
            for name in names:
                chosen, whole = choose(path, mutants, name)
                for mutant in chosen:
                    print(mutant.text, end="") if whole else show(path, mutant)
        except (Wrong, OSError) as problem:
            print(problem, file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # whoever read the output has seen enough
    sys.exit(main())
